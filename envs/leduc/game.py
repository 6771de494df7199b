"""Leduc poker for two to five players.

**Rules.** The deck has two suits and one rank more than there are players. Everybody antes one chip
and is dealt one card, unseen by the others. A round of betting follows, then one public card is
turned up, then comes a second round. In both, the lowest seat still in speaks first and the turn
goes round until everybody has answered the last raise. A player calls (a check when there is
nothing to pay), raises, or folds, which is allowed only when facing a bet. A raise matches the bet
and adds two chips in the first round, four in the second; there are at most two raises a round, by
whomever. If all but one have folded, that one takes the pot. Otherwise a private card that pairs
the public card wins, failing that the highest private rank; suits count for nothing, and equal
hands share the pot.

**Source.** F. Southey and others, "Bayes' bluff: opponent modelling in poker" (2005); the game for
more players is the one of OpenSpiel's ``leduc_poker``, whose card and action numbers are used.

**Options.** ``num_players``, 2 to 5.

**Actions.** 0 fold, 1 call, 2 raise. **Chance.** One card at a time, the private cards in seat
order and later the public card; outcome = card number, which is twice the rank plus the suit.

**Who sees what.** Everybody sees the betting, the public card, and that a private card was dealt;
only its owner sees which.

**Returns.** Chips won or lost. **Version history.** v0: first version.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from envs.core.facts import CHIPS, Facts, ObservationField, equal_seats
from envs.core.kernels import OVER, Kernels, OptionalKernels
from envs.core.options import Options, option
from envs.core.small_poker import SmallPoker
from envs.leduc import kernels as functions
from envs.leduc.kernels import FOLD, MAX_CHIPS, MAX_PLAYERS, NO_MOVE, NUM_ACTIONS, NUM_ROUNDS, STATE


class LeducOptions(Options):
    """Options of Leduc poker."""

    num_players: int = option(
        2, low=2, high=MAX_PLAYERS, help="players at the table; there is one rank more"
    )


class Leduc(SmallPoker):
    """Leduc poker; see the module for the rules."""

    id = "leduc_v0"
    title = "Leduc poker"
    summary = "Six cards, two rounds of betting."
    Options = LeducOptions
    move_names = ("fold", "call", "raise")
    state_dtype = STATE
    kernels = Kernels.of(functions)
    optional = OptionalKernels.of(functions)
    options: LeducOptions

    def make_rules(self) -> Any:
        """The number of players and the two sizes that follow from it."""
        n = self.options.num_players
        # The longest round: n - 1 calls, a raise, n - 2 calls, a raise, n - 1 calls.
        return np.array([n, 2 * (n + 1), 3 * n - 2], np.int32)

    def make_facts(self) -> Facts:
        """Everybody can win ``MAX_CHIPS`` from each opponent and lose as many."""
        n, deck_size, longest_round = (int(x) for x in self.rules)
        return Facts(
            num_actions=NUM_ACTIONS,
            num_chance_outcomes=deck_size,
            max_length=n + 1 + NUM_ROUNDS * longest_round,
            seats=equal_seats(n, -float(MAX_CHIPS), float(MAX_CHIPS * (n - 1))),
            unit=CHIPS,
        )

    def make_fields(self) -> tuple[ObservationField, ...]:
        """Seat, cards, chips, and the betting move by move."""
        n, deck_size, longest_round = (int(x) for x in self.rules)
        num_places = NUM_ACTIONS * longest_round
        moves = "for each move in order: folded, called, raised"
        return (
            ObservationField("seat", n, "one-hot seat of the viewer"),
            ObservationField("card", deck_size, "one-hot own card, all zero before the deal"),
            ObservationField(
                "public_card", deck_size, "one-hot card that all share, once it is turned up"
            ),
            ObservationField("chips", n, f"put in by each seat, as a share of {MAX_CHIPS}"),
            ObservationField("first_round", num_places, moves),
            ObservationField("second_round", num_places, moves),
        )

    # ---- words -----------------------------------------------------------------------------------

    def moves(self, s: Any) -> dict[str, list[tuple[int, str]]]:
        """Who did what in each round, in order; the record keeps the actions alone."""
        rounds = {}
        seats = list(range(self.options.num_players))
        for name, actions in zip(("1st round", "2nd round"), s.moves, strict=True):
            moves: list[tuple[int, str]] = []
            waiting = seats.copy()
            for action in actions:
                if action == NO_MOVE:
                    break
                seat = waiting.pop(0)
                moves.append((seat, self.move_names[action]))
                if action == FOLD:
                    seats.remove(seat)
                else:
                    waiting.append(seat)
            rounds[name] = moves
        return rounds

    def chips(self, s: Any, seat: int) -> int:
        """The ante, and what was called and raised."""
        return int(s.chips[seat])

    def has_folded(self, s: Any, seat: int) -> bool:
        """Whether a seat is out."""
        return bool(s.has_folded[seat])

    def public_card(self, s: Any) -> int | None:
        """The card between the rounds."""
        return int(s.public)

    def card_name(self, card: int) -> str:
        """Rank and suit of a card, or a dash for none."""
        return super().card_name(card // 2) + "sh"[card % 2] if card >= 0 else "-"

    def seat_text(self, s: Any, seat: int) -> str:
        """Chips, and who is out."""
        return super().seat_text(s, seat) + (", folded" if s.has_folded[seat] else "")

    def is_showdown(self, state: Any) -> bool:
        """Whether the game is over and nobody has folded: then all cards are turned up."""
        s = self.record(state)
        return bool(s.to_move == OVER and s.num_in == self.options.num_players)
