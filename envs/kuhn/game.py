"""Kuhn poker for two to five players.

**Rules.** A deck has one card more than there are players. Everybody antes one chip and is dealt
one card, unseen by the others. In turn each player passes or bets one more chip. As long as nobody
has bet, the turn goes round once; after the first bet every other player answers exactly once,
passing (which is now a fold) or betting (a call). The highest card among those who bet, or among
all if nobody did, takes the pot.

**Source.** H. W. Kuhn, "A simplified two-person poker" (1950); the game for more players is the one
of OpenSpiel, whose action numbers are used.

**Actions.** 0 pass, 1 bet. **Chance.** One card at a time, in seat order; outcome = card number.

**Who sees what.** Everybody sees the betting and that a card was dealt; only its owner sees which.

**Returns.** Chips won or lost. **Version history.** v0: first version.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from envs.core.facts import CHIPS, Facts, ObservationField, equal_seats
from envs.core.kernels import OVER, Kernels, OptionalKernels
from envs.core.options import Options, option
from envs.core.small_poker import SmallPoker
from envs.kuhn import kernels as functions
from envs.kuhn.kernels import MAX_PLAYERS, NOBODY, STATE, turn


class KuhnOptions(Options):
    """Options of Kuhn poker."""

    num_players: int = option(
        2, low=2, high=MAX_PLAYERS, help="players at the table; the deck has one card more"
    )


class Kuhn(SmallPoker):
    """Kuhn poker; see the module for the rules."""

    id = "kuhn_v0"
    title = "Kuhn poker"
    summary = "Three cards, one bet: the smallest poker there is."
    Options = KuhnOptions
    move_names = ("pass", "bet")
    state_dtype = STATE
    kernels = Kernels.of(functions)
    optional = OptionalKernels.of(functions)
    options: KuhnOptions

    def make_rules(self) -> Any:
        """Just the number of players."""
        return np.array([self.options.num_players], np.int32)

    def make_facts(self) -> Facts:
        """Everybody can win two chips from each opponent and lose two."""
        n = self.options.num_players
        return Facts(
            num_actions=2,
            num_chance_outcomes=n + 1,
            max_length=n + (2 * n - 1),
            seats=equal_seats(n, -2.0, 2.0 * (n - 1)),
            unit=CHIPS,
        )

    def make_fields(self) -> tuple[ObservationField, ...]:
        """Seat, own card, and the betting move by move."""
        n = self.options.num_players
        return (
            ObservationField("seat", n, "one-hot seat of the viewer"),
            ObservationField("card", n + 1, "one-hot own card, all zero before the deal"),
            ObservationField("moves", 2 * (2 * n - 1), "for each move in order: passed, bet"),
        )

    # ---- words -----------------------------------------------------------------------------------

    def moves(self, s: Any) -> dict[str, list[tuple[int, str]]]:
        """Who passed and who bet; the record keeps the first bettor and who has bet."""
        moves = []
        for number in range(s.num_moves):
            seat = number % self.options.num_players
            # The first bettor's seat is the number of the first bet; nobody bets before it.
            made_bet = NOBODY < s.first_bettor <= number and s.has_bet[seat]
            moves.append((seat, "bet" if made_bet else "pass"))
        return {"betting": moves}

    def chips(self, s: Any, seat: int) -> int:
        """The ante, and a bet."""
        return 1 + int(s.has_bet[seat])

    def has_folded(self, s: Any, seat: int) -> bool:
        """A pass after the first bet gives up the pot."""
        moves = self.moves(s)["betting"]
        return bool(s.first_bettor != NOBODY and (seat, "pass") in moves[s.first_bettor :])

    def is_showdown(self, state: Any) -> bool:
        """Whether the game is over and nobody has passed a bet: then all cards are turned up."""
        s, n = self.record(state), self.options.num_players
        is_over = turn(state, self.rules) == OVER
        return is_over and bool(s.first_bettor == NOBODY or s.has_bet[:n].all())
