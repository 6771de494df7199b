"""``Views``: what the players to move may know, one row per waiting game.

An agent gets views and nothing else. The true states are out of its reach: ``worlds`` are already
determinized for the player who asks, so an agent that searches cannot cheat, not even by mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from envs.core.game import Game

__all__ = ["Views"]

Words = npt.NDArray[np.uint64]


class Views:
    """A batch of decisions: row *i* is one game in which seat ``seats[i]`` is to move.

    What costs time to make (masks, observations, worlds) is made when it is first asked for.
    """

    def __init__(
        self,
        game: Game,
        seats: npt.NDArray[np.int64],
        keys: Words,
        rngs: Words,
        masks: Callable[[], npt.NDArray[np.int8]],
        observations: Callable[[], npt.NDArray[np.float32]],
        worlds: Callable[[Words], npt.NDArray[np.uint8]],
        tokens: Callable[[int], list[int]],
        past: Callable[[int], npt.NDArray[np.float32]] | None = None,
    ) -> None:
        """Called by ``Batch.views``; the last five make their part on demand."""
        self.game = game
        self.seats = seats
        """[n] int64: the seat to move."""
        self.keys = keys
        """[n] uint64: the perfect-recall information set of that seat."""
        self.rngs = rngs
        """[n, 4] uint64: one generator per row; all of an agent's chance must come from its row."""
        self._make_masks = masks
        self._make_observations = observations
        self._make_worlds = worlds
        self._make_tokens = tokens
        self._make_past = past

    def __len__(self) -> int:
        """How many games wait."""
        return len(self.seats)

    @cached_property
    def masks(self) -> npt.NDArray[np.int8]:
        """[n, num_actions] int8: 1 for a legal action."""
        return self._make_masks()

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """[n, observation_size] float32."""
        return self._make_observations()

    def worlds(self) -> npt.NDArray[np.uint8]:
        """[n, state_size] uint8: states that the rows' players cannot tell from the true ones.

        Every call draws anew, from the rows' own generators.
        """
        return self._make_worlds(self.rngs)

    def past_observations(self, count: int) -> npt.NDArray[np.float32]:
        """[n, count, observation_size]: what each row's player saw at its last earlier decisions.

        The latest is last; zeros stand before a player's first decision. Needs a batch that
        records its games.
        """
        if self._make_past is None:
            raise ValueError("earlier observations are not known here: only matches record them")
        return self._make_past(count)

    def tokens(self, row: int) -> list[int]:
        """Everything the player of ``row`` has seen since the start of the game."""
        return self._make_tokens(row)
