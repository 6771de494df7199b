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

from envs.core.drawing import Layout
from envs.core.facts import CHIPS, Facts, ObservationField, equal_seats
from envs.core.game import Game
from envs.core.kernels import OVER, Kernels, OptionalKernels
from envs.core.options import Options, option
from envs.kuhn import kernels as functions
from envs.kuhn.kernels import MAX_PLAYERS, NO_CARD, NOBODY, STATE, turn

__all__ = ["Kuhn", "KuhnOptions"]


class KuhnOptions(Options):
    """Options of Kuhn poker."""

    num_players: int = option(
        2, low=2, high=MAX_PLAYERS, help="players at the table; the deck has one card more"
    )


class Kuhn(Game):
    """Kuhn poker; see the module for the rules."""

    id = "kuhn_v0"
    title = "Kuhn poker"
    summary = "Three cards, one bet: the smallest poker there is."
    Options = KuhnOptions
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

    def action_text(self, state: Any, action: int) -> str:
        """``pass`` or ``bet``."""
        return ("pass", "bet")[action]

    def chance_text(self, state: Any, outcome: int) -> str:
        """The card that is dealt."""
        return f"deals {self.card_name(outcome)}"

    def card_name(self, card: int) -> str:
        """Rank of a card, or a dash for none."""
        names = (
            "JQK" if self.options.num_players == 2 else "9TJQKA"[-(self.options.num_players + 1) :]
        )
        return names[card] if card >= 0 else "-"

    def render(self, state: Any, viewer: int | None = None) -> str:
        """One line per player: card, chips in the pot, and who is to move."""
        s = self.record(state)
        to_move = turn(state, self.rules)
        lines = []
        for player in range(self.options.num_players):
            is_visible = viewer in (None, player) or s.cards[player] == NO_CARD
            card = self.card_name(s.cards[player]) if is_visible else "?"
            mark = ">" if to_move == player else " "
            lines.append(f"{mark} player {player}: card {card}, {1 + s.has_bet[player]} in the pot")
        return "\n".join(lines)

    def draw(self, state: Any, viewer: int | None = None, layout: Layout = "wide") -> str:
        """See ``envs/kuhn/picture.py``."""
        from envs.kuhn.picture import draw

        return draw(self, state, viewer)

    def is_showdown(self, state: Any) -> bool:
        """Whether the game is over and nobody has passed a bet: then all cards are turned up."""
        s, n = self.record(state), self.options.num_players
        is_over = turn(state, self.rules) == OVER
        return is_over and bool(s.first_bettor == NOBODY or s.has_bet[:n].all())

    def conserved(self, state: Any) -> dict[str, float]:
        """No card may be dealt twice."""
        cards = self.record(state).cards
        dealt = [int(card) for card in cards if card != NO_CARD]
        return {"duplicate cards": float(len(dealt) - len(set(dealt)))}
