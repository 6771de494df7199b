"""What solvers by samples share: walks that fill a table, its room, and checkpoints of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.cfr.passes.thread_team import work_together
from agents.cfr.sampled.hash_tables import (
    LEFT_OUT,
    NUM_ENTRIES,
    NUM_ROWS,
    check_rows,
    enter_rows,
    load_rows,
    make_table,
    read_rows,
    rows_state,
)
from agents.cfr.sampled.hooks import SampledGame
from agents.cfr.sampled.settings import WalkSettings, bytes_text
from agents.cfr.sampled.walk import TOO_LONG, run_walks
from agents.cfr.sampled.workspace import Workspace
from agents.cfr.states import check_header, make_header
from common.errors import MasqueradeError
from common.saved import restore, saved_array, saved_number
from envs.core.game import Game
from envs.core.rng import Words, stream

__all__ = ["WalkSolver"]


class WalkSolver(ABC):
    """Regrets and policies of the information sets that walks come to.

    Args:
        game: what to solve.
        seed: of all draws. With one thread the same seed gives the same tables to the last bit.
        settings: how regrets are kept, how much room there is, and what to do when it is full.
    """

    learning: ClassVar[tuple[str, ...]]
    """Settings that a solver must share with one that it goes on from."""
    more_room: ClassVar[str] = "raise max_infosets or max_entries"
    """What to do when the table is full."""

    def __init__(self, game: Game, seed: int, settings: WalkSettings) -> None:
        """Make the tables; nothing is drawn yet."""
        self.game = game
        self.settings = settings
        self.iteration = 0
        self._make_tables()
        self._plan = settings.record()
        self._sampled = self._make_sampled()
        workers = range(settings.threads)
        self._workspaces = [
            self._make_workspace(stream(seed, "mccfr", worker)) for worker in workers
        ]

    def _make_tables(self) -> None:
        tables = [make_table(*sizes) for sizes in self.settings.table_sizes(self.game)]
        self._table = tables[0]
        self._baselines = tables[-1]
        """Where baselines are, which may be a table of their own."""

    def _make_sampled(self) -> SampledGame:
        """The game with its hooks."""
        game = self.game
        openings = range(game.facts.num_openings)
        roots = np.stack([game.new_position(number).state for number in openings])
        return SampledGame(game.kernels, game.optional, game.rules, roots)

    def _make_workspace(self, rng: Words) -> Workspace:
        return Workspace.of(self.game, self._sampled.roots[0], rng)

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
                f"{self.more_room}, or set when_full to freeze{self._other_walks()}"
            )

    def _other_walks(self) -> str:
        """What helps where walks go through more than any table holds."""
        sampling = getattr(self.settings, "sampling", "outcome")
        return "" if sampling == "outcome" else " and sampling to outcome, for games of any size"

    def _run(self, first: int, end: int) -> int:
        """Run iterations up to ``end``; returns the first that was not run to its end."""
        num_workers = len(self._workspaces)

        def work(worker: int) -> int:
            tables = self._table, self._baselines, self._plan
            args = self._sampled, self._workspaces[worker], *tables
            return int(run_walks(*args, first + worker, end, num_workers))

        reached = work_together(num_workers, work)
        if TOO_LONG in reached:
            raise MasqueradeError(
                f"{self.game!r} goes on beyond its declared max_length of "
                f"{self.game.facts.max_length}"
            )
        return min(end, *reached)

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

    def __repr__(self) -> str:
        """The game, what is particular about this solver, and the memory."""
        return (
            f"{type(self).__name__}({self.game!r}: {self._what()}, room for "
            f"{self.settings.max_infosets:,} information sets in {bytes_text(self.nbytes)})"
        )

    @abstractmethod
    def _what(self) -> str:
        """What is particular about this solver, in a word."""

    # ---- checkpoints -----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on, without the empty part of the tables."""
        return {
            **self._header(),
            "iteration": self.iteration,
            "num_left_out": self.num_left_out,
            **rows_state(self._table),
            **self._arrays(),
            **self._baseline_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where another solver of the same game and settings was; room may differ."""
        check_header(state, self._header())
        arrays, baselines = self._arrays(), self._baseline_state()
        self.iteration = saved_number(state, "iteration")
        num_left_out = saved_number(state, "num_left_out")
        spans = arrays.pop("spans")
        spans[:] = saved_array(state, "spans", spans.dtype, spans.shape, is_finite=False)
        saved_array(state, "visits", np.int64, arrays["visits"].shape, 0)
        restore(arrays, state)
        self._check_roots(arrays["roots"])
        # New tables take no memory where they stay empty; those that are cleared would.
        self._make_tables()
        load_rows(self._table, state, self._num_actions)
        self._table.counts[LEFT_OUT] = num_left_out
        num_entries = len(state["actions"])
        if self._baselines is not self._table:
            keys, sizes = check_rows(state, "history_keys", "history_sizes", self._num_actions)
            enter_rows(self._baselines, keys, sizes, np.zeros(0, np.int32))
            num_entries = int(sizes.sum())
        if baselines:
            shape = num_entries, self._baselines.baselines.shape[1]
            self._baselines.baselines[:num_entries] = saved_array(
                state, "baselines", np.float32, shape
            )
        self._sampled.continuation[:] = arrays["continuation"]
        self._sampled.visits[:] = arrays["visits"]
        for i, work in enumerate(self._workspaces):
            work.rng[:], work.root[:] = arrays["rngs"][i], arrays["roots"][i]
            work.span[:] = spans[i]

    @property
    def _num_actions(self) -> int:
        """How many actions a row may have."""
        return self.game.facts.num_actions

    def _check_roots(self, roots: npt.NDArray[np.uint8]) -> None:
        """Refuse positions to go on from that are none; by default each walk begins at its own."""
        return

    def _header(self) -> dict[str, Any]:
        settings = self.settings.to_dict()
        return make_header(self.game, settings={name: settings[name] for name in self.learning})

    def _arrays(self) -> dict[str, Any]:
        """What the next iterations depend on, beside the tables."""
        return {
            "rngs": np.stack([work.rng for work in self._workspaces]),
            "roots": np.stack([work.root for work in self._workspaces]),
            "spans": np.stack([work.span for work in self._workspaces]),
            "continuation": self._sampled.continuation.copy(),
            "visits": self._sampled.visits.copy(),
        }

    def _baseline_state(self) -> dict[str, Any]:
        if not self._baselines.baselines.size:
            return {}
        rows = read_rows(self._baselines)
        state: dict[str, Any] = {"baselines": self._baselines.baselines[rows.entries]}
        if self._baselines is not self._table:
            state |= {"history_keys": rows.keys, "history_sizes": rows.sizes}
        return state
