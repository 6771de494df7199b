"""Players in processes of their own: timed, ended when they hang, and started again.

Nothing inside a process can stop code that does not want to stop: a loop in compiled code, or one
that catches every exception. The operating system can. So a player whose time counts lives in a
process, is asked a few rows at a time, and is killed when it does not answer. What it failed in is
lost for it, and nothing else:

1. Rows are asked in parts of ``max_rows``, with ``limit`` seconds a row and a little grace; the
   first row, and the first after trouble, alone.
2. If a part gets no answer, its rows are asked one by one; those that fail again are lost.
3. A player that fails too often in one match is not asked again in it, so that hanging on every row
   does not cost rows x limit. One that was late in match after match is not asked again at all.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, RowsFailed, Views
from common.errors import MasqueradeError
from envs.core.game import Game

NO_ACTION = -1


class NoAnswer(Exception):
    """A process has not answered a question.

    Args:
        reason: what tables say.
        is_broken: the process is of no use any more and is ended.
        is_late: it took too long, which another time it may not.
    """

    def __init__(self, reason: str, is_broken: bool = True, is_late: bool = False) -> None:
        """Note the reason."""
        super().__init__(reason)
        self.is_broken = is_broken
        self.is_late = is_late


def late(seconds: float) -> NoAnswer:
    """The failure of a player that took too long."""
    return NoAnswer(f"took longer than {seconds:g} s a move", is_late=True)


class OutsideAgent(Agent):
    """Base of players in processes; see the module for what it promises."""

    keeps_time: ClassVar[bool] = True
    clock: ClassVar[staticmethod[[], float]] = staticmethod(time.monotonic)
    start_limit: ClassVar[float] = 60.0
    """Seconds it has to get ready."""
    grace: ClassVar[float] = 1.0
    """Seconds on top of every question: this machine has other work too."""
    first_grace: ClassVar[float] = 2.0
    """The same for the first question to a process: much is loaded at its first use."""
    max_failures: ClassVar[int] = 20
    """Failures in one match after which it is not asked again."""
    max_failures_in_row: ClassVar[int] = 3
    max_late_matches: ClassVar[int] = 3
    """Matches in a row that it has given up for being late after which it is not asked again."""
    is_foreign: bool = True
    """Whether its process runs code that is not ours: nothing of it outlives a match."""

    def __init__(self, game: Game, limit: float, max_rows: int) -> None:
        """Set the rules of time; the subclass starts its process."""
        super().__init__(game)
        if not limit > 0:
            raise MasqueradeError(f"time_per_move must be above 0 seconds, not {limit:g}")
        self.limit = limit
        self.max_rows = max_rows
        self._is_running = False
        self._is_fresh = True
        self._late_matches = 0
        self._last_word = ""
        self.begin_match()

    # ---- what a kind of process must say ---------------------------------------------------------

    @abstractmethod
    def start(self) -> None:
        """Start the process and wait until it is ready."""

    @abstractmethod
    def stop(self, has_failed: bool) -> None:
        """End the process and leave nothing of it; one that has failed is not waited for."""

    @abstractmethod
    def prepare(self, views: Views) -> Any:
        """Make the questions of all rows, once for each batch."""

    @abstractmethod
    def ask(self, questions: Any, rows: npt.NDArray[np.int64], seconds: float) -> Actions:
        """Ask about some rows and wait so long for the answer."""

    # ---- asking ----------------------------------------------------------------------------------

    def begin_match(self) -> None:
        """Failures are counted match by match, so that no process's past changes a result.

        Except for being late, which is a matter of the clock anyway. For the same reason code that
        is not ours gets a new process, whatever it remembers.
        """
        self._failures = 0
        self._failures_in_row = 0
        self._is_proven = False
        if self.is_foreign and self._is_running and not self._is_fresh:
            self.end()
        if self._late_matches < self.max_late_matches:
            self._last_word = ""

    def act(self, views: Views) -> Actions:
        """Ask part by part; the rows without an answer are named in a ``RowsFailed``."""
        questions = self.prepare(views)
        actions = np.full(len(views), NO_ACTION)
        reasons: dict[int, str] = {}
        end = 0
        while end < len(views):
            start, end = end, end + (self.max_rows if self._is_proven else 1)
            self._ask(questions, np.arange(start, min(end, len(views))), actions, reasons)
        if reasons:
            raise RowsFailed(actions, reasons)
        return actions

    def _ask(
        self,
        questions: Any,
        rows: npt.NDArray[np.int64],
        actions: Actions,
        reasons: dict[int, str],
    ) -> None:
        if self._last_word:
            reasons.update((int(row), self._last_word) for row in rows)
            return
        try:
            actions[rows] = self._ask_in_time(questions, rows)
        except NoAnswer as failure:
            if failure.is_broken:
                self.end(has_failed=True)
            if len(rows) > 1:
                for row in rows:
                    self._ask(questions, np.array([row]), actions, reasons)
                return
            reasons[int(rows[0])] = str(failure)
            if failure.is_broken:
                self._count(failure)
        else:
            self._failures_in_row = 0
            self._late_matches = 0
            self._is_proven = True

    def _ask_in_time(self, questions: Any, rows: npt.NDArray[np.int64]) -> Actions:
        if not self._is_running:
            self._begin()
        grace = self.first_grace if self._is_fresh else self.grace
        self._is_fresh = False
        return self.ask(questions, rows, len(rows) * self.limit + grace)

    def _begin(self) -> None:
        self._is_running = True  # from here on there may be something to end
        self._is_fresh = True
        self.start()

    def end(self, has_failed: bool = False) -> None:
        """End the process, if there is one; the next question starts another."""
        self._is_running = False
        self.stop(has_failed)

    def _count(self, failure: NoAnswer) -> None:
        self._failures += 1
        self._failures_in_row += 1
        self._is_proven = False
        allowed = 1 if self._late_matches else self.max_failures_in_row
        if self._failures_in_row >= allowed or self._failures >= self.max_failures:
            self._last_word = f"not being asked again, having failed before: {failure}"
            self._late_matches += failure.is_late
