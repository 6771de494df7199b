"""Skull for two in one round.

**Rules.** Whoever starts is drawn. In turn both lay down a card unseen, a rose or a skull. The
starter then bids to turn one card or two; after a bid of one the other passes or bids two. The
bidder turns its own card first: it wins as many points as it bid if there are only roses, and loses
one at a skull.

**Actions.** 0 rose, 1 skull, 2 one card, 3 two cards, 4 pass. **Chance.** Who starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from envs.core.facts import Facts, ObservationField, equal_seats
from envs.core.game import Game
from envs.core.kernels import Kernels, OptionalKernels
from envs.core.options import Options
from tests.support.skull import kernels as functions

WORDS = ("rose", "skull", "one card", "two cards", "pass")


class SkullOptions(Options):
    """Skull for two has none."""


class Skull(Game):
    """Skull for two; see the module for the rules."""

    id = "skull_v0"
    Options = SkullOptions
    state_dtype = functions.STATE
    kernels = Kernels.of(functions)
    optional = OptionalKernels.of(functions)

    def make_rules(self) -> Any:
        """Nothing varies."""
        return np.zeros(1, np.int32)

    def make_facts(self) -> Facts:
        """Two cards, two bids, and who starts."""
        return Facts(5, 2, 5, equal_seats(2, -2.0, 2.0))

    def make_fields(self) -> tuple[ObservationField, ...]:
        """All that a seat has seen."""
        return (
            ObservationField("seat", 2, "one-hot seat of the viewer"),
            ObservationField("starter", 2, "one-hot seat of whoever starts"),
            ObservationField("cards", 4, "for each seat a rose or a skull, as far as it is seen"),
            ObservationField("stage", 2, "moves so far and the bid, as shares"),
        )

    def action_text(self, state: Any, action: int) -> str:
        """Such as ``two cards``."""
        return WORDS[action]

    def chance_text(self, state: Any, outcome: int) -> str:
        """Who starts."""
        return f"player {outcome} starts"

    def render(self, state: Any, viewer: int | None = None) -> str:
        """One line per player."""
        s = self.record(state)
        lines = []
        for seat in range(2):
            is_seen = viewer in (None, seat) or (s.is_over and seat == s.bidder)
            card = "nothing" if s.cards[seat] < 0 else WORDS[s.cards[seat]] if is_seen else "a card"
            bid = f", bids {s.bid}" if s.bidder == seat else ""
            lines.append(f"player {seat}: {card}{bid}")
        return "\n".join(lines)
