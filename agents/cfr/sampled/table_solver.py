"""What solvers by samples share: a table of what has come up, its room, and checkpoints of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from agents.cfr.sampled.hash_tables import (
    LEFT_OUT,
    NUM_ENTRIES,
    NUM_ROWS,
    ROW_ARRAYS,
    HashTable,
    load_rows,
    rows_state,
)
from agents.cfr.sampled.settings import TableSettings
from agents.cfr.states import check_header, damaged, make_header
from envs.core.errors import MasqueradeError
from envs.core.game import Game

__all__ = ["TableSolver"]


class TableSolver(ABC):
    """Regrets and averages of the information sets that samples come to.

    Args:
        game: what to solve.
        settings: how much room there is, and what to do when it is full.
    """

    learning: ClassVar[tuple[str, ...]]
    """Settings that a solver must share with one that it goes on from."""
    more_room: ClassVar[str] = "raise max_infosets or max_entries"
    """What to do when the table is full."""

    def __init__(self, game: Game, settings: TableSettings) -> None:
        """Make the tables."""
        self.game = game
        self.settings = settings
        self.iteration = 0
        self._table = self._make_tables()

    @abstractmethod
    def _make_tables(self) -> HashTable:
        """Empty ones, of which the one with regrets is returned."""

    # ---- iterations ------------------------------------------------------------------------------

    def run(self, num_iterations: int) -> None:
        """Run so many iterations: in each, one walk for every player.

        Raises:
            MasqueradeError: when the table is full, unless the settings say to go on. What was
                learnt until then stays, and so does the policy.
        """
        if num_iterations < 0:
            raise MasqueradeError(f"iterations must be 0 or more, not {num_iterations}")
        left_out, first = self.num_left_out, self.iteration + 1
        self.iteration = self._run(first, first + num_iterations) - 1
        if self.settings.when_full == "error" and self.num_left_out > left_out:
            raise MasqueradeError(
                f"the table is full after {self.iteration:,} iterations ({self.num_infosets:,} "
                f"information sets, {self._table.counts[NUM_ENTRIES]:,} entries): "
                f"{self.more_room}, or set when_full to freeze"
            )

    @abstractmethod
    def _run(self, first: int, end: int) -> int:
        """Run iterations up to ``end``; returns the first that was not run to its end."""

    @property
    def num_infosets(self) -> int:
        """Information sets that have come up and have a row."""
        return int(self._table.counts[NUM_ROWS])

    @property
    def num_left_out(self) -> int:
        """Visits of information sets for which there was no room."""
        return int(self._table.counts[LEFT_OUT])

    @property
    def nbytes(self) -> int:
        """Bytes of the tables, however full they are."""
        return self.settings.table_bytes(self.game)

    # ---- checkpoints -----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on, without the empty part of the tables."""
        return {
            **self._header(),
            "iteration": self.iteration,
            "num_left_out": self.num_left_out,
            **rows_state(self._table),
            **self._more_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where another solver of the same game and settings was; room may differ."""
        check_header(state, self._header())
        shapes = self._more_shapes()
        missing = {"iteration", "num_left_out", *ROW_ARRAYS, *shapes} - state.keys()
        wrong = missing or {
            name
            for name, shape in shapes.items()
            if shape is not None and np.shape(state[name]) != shape
        }
        if wrong:
            raise damaged(wrong)
        # New tables take no memory where they stay empty; those that are cleared would.
        self._table = self._make_tables()
        load_rows(self._table, state)
        self._table.counts[LEFT_OUT] = state["num_left_out"]
        self._load_more(state)
        self.iteration = int(state["iteration"])

    def _header(self) -> dict[str, Any]:
        settings = self.settings.to_dict()
        return make_header(self.game, settings={name: settings[name] for name in self.learning})

    @abstractmethod
    def _more_state(self) -> dict[str, Any]:
        """Arrays beside those of the table."""

    @abstractmethod
    def _more_shapes(self) -> dict[str, tuple[int, ...] | None]:
        """The shape that each of them must have; ``None``: any."""

    @abstractmethod
    def _load_more(self, state: dict[str, Any]) -> None:
        """Take them over."""
