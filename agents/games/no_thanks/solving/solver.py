"""Searches of known decks from Python: to the end of the game, or to a number of cards left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.solving.board import EVALUATE, Estimate, load_board, make_board
from agents.games.no_thanks.solving.memory import (
    CAN_PAY,
    COUNTERS,
    FRAME,
    NODES,
    SETTINGS,
    TAKES,
    TIES,
    Memory,
)
from agents.games.no_thanks.solving.rounds import begin_rounds, search_rounds
from agents.max_n.preference import PREFERENCES, place_weight
from common.errors import OptionError
from envs.core.compiling import compiled
from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE

__all__ = ["MARGIN", "Solution", "Solver", "SolverSettings", "no_estimate"]

State = npt.NDArray[np.uint8]
MARGIN = 1e-6
"""By return, a point of difference counts so much of a place: it decides between equal places."""
NODES_PER_CALL = 1 << 16
WHOLE = 1 << 60


@compiled(EVALUATE)
def no_estimate(board, params, out):
    """For searches that go to the end."""
    for player in range(out.size):
        out[player] = 0.0


@dataclass(frozen=True)
class SolverSettings:
    """How to solve.

    >>> SolverSettings(ties="coin")
    Traceback (most recent call last):
    ...
    common.errors.OptionError: ties must be one of take, pay, average, not 'coin'
    """

    preference: str = "place"
    """``place``: results are scores, and players want places before differences. ``return``:
    results are places from the middle, expected ones where a position is estimated."""
    ties: str = "take"
    """Of equal branches: ``take``, ``pay``, or their ``average``."""
    table_bits: int = 18
    """The table has ``2**table_bits`` slots of 8 bytes and 8 for every player."""
    cap: bool = False
    """Assume that a card with as many chips as its value is taken."""

    def __post_init__(self) -> None:
        """Refuse what is unknown."""
        for name, allowed in (("preference", PREFERENCES), ("ties", TIES)):
            if getattr(self, name) not in allowed:
                choices = ", ".join(allowed)
                raise OptionError(f"{name} must be one of {choices}, not '{getattr(self, name)}'")
        if not 1 <= self.table_bits <= 26:
            raise OptionError(f"table_bits must be from 1 to 26, not {self.table_bits}")


@dataclass(frozen=True)
class Solution:
    """What a search has found."""

    action: int
    """The best action; -1 when the game is over or the search was given up."""
    values: tuple[float, ...]
    """The result of every player."""
    is_complete: bool
    """Whether the search came to its end."""
    branches: dict[int, tuple[float, ...]]
    """The same after each legal action, when the search is complete."""
    counters: dict[str, int]
    """Decisions looked at, ends and estimates, and hits and entries of the table."""


class Solver:
    """Solves positions of one game, with the deck as it lies; not for two threads at once.

    What it remembers stays true from one search to the next, so later moves of a game are mostly
    known already.

    >>> game = NoThanks(highest=6, removed=1, chips=3, known_future=True)
    >>> Solver(game).solve(game.deal([3, 6, 4]).state).values
    (-1.0, 1.0, 0.0)
    """

    def __init__(
        self,
        game: NoThanks,
        settings: SolverSettings | None = None,
        estimate: Callable[..., None] = no_estimate,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allocate all memory; ``estimate`` is asked where a search stops before the end."""
        self.settings = settings or SolverSettings()
        self.game = game
        self._clock = clock
        self._estimate = Estimate({"evaluate": estimate})
        o, facts = game.options, game.facts
        self._rules = game.rules
        if self.settings.cap:
            self._rules = NoThanks(**{**o.to_dict(), "cap": True}).rules
        longest = facts.max_length if o.chips == "unlimited" else o.num_players * o.starting_chips
        table = np.zeros((1 << self.settings.table_bits, 1 + o.num_players), np.uint64)
        self._memory = Memory(
            frames=np.zeros(o.deck_size + 1, FRAME),
            takes=np.zeros((o.deck_size + 1, longest + 2, o.num_players)),
            result=np.zeros(o.num_players),
            paid=np.zeros(o.num_players),
            keys=table,
            values=table.view(np.float64),
            progress=np.zeros(4, np.int64),
            counters=np.zeros(len(COUNTERS), np.int64),
        )
        self._board = make_board()
        self._options = np.zeros(1, SETTINGS)
        self._options["preference"] = PREFERENCES.index(self.settings.preference)
        self._options["ties"] = TIES.index(self.settings.ties)
        self._options["margin"] = MARGIN
        self._options["sum_bound"] = 0.0
        self._options["low"] = -(o.num_players - 1) / 2 - 1e-3  # and a trace of margin
        # Scores, whatever the game pays: the bounds of its returns may be those of places.
        most = sum(abs(value) for value in o.values) + longest
        self._options["weight"] = place_weight(o.num_players, -most, most)

    def forget(self) -> None:
        """Empty the table."""
        self._memory.keys[:, 0] = 0

    def solve(
        self,
        state: State,
        cards_left: int = 0,
        params: npt.NDArray[np.float64] | None = None,
        max_nodes: int | None = None,
        seconds: float | None = None,
    ) -> Solution:
        """Search from ``state``.

        Args:
            state: a position that waits for a player, or is over.
            cards_left: the search stops when so many are left, and asks the estimate.
            params: of the estimate.
            max_nodes: give up after so many decisions.
            seconds: give up after so long.
        """
        memory = self._memory
        stop = self.game.options.deck_size - cards_left
        load_board(self._board, state, self._rules, stop)
        self._options["stop"] = stop
        memory.counters[:] = 0
        begin_rounds(memory)
        handed = _NO_PARAMS if params is None else params
        deadline = None if seconds is None else self._clock() + seconds
        is_over = False
        while not is_over:
            num_nodes = WHOLE if deadline is None else NODES_PER_CALL
            if max_nodes is not None:
                num_nodes = min(num_nodes, max_nodes - int(memory.counters[NODES]))
            late = deadline is not None and self._clock() >= deadline
            if num_nodes <= 0 or late:
                break
            is_over = bool(
                search_rounds(self._estimate, handed, self._board, memory, self._options, num_nodes)
            )
        branches = self._branches() if is_over and self._is_decision(stop) else {}
        return Solution(
            action=(TAKE if memory.progress[TAKES] else PAY) if branches else -1,
            values=tuple(memory.result.tolist()),
            is_complete=is_over,
            branches=branches,
            counters=dict(zip(COUNTERS, memory.counters.tolist(), strict=True)),
        )

    def _is_decision(self, stop: int) -> bool:
        """Whether the root was searched, and not estimated or over."""
        return int(self._board["num_taken"][0]) < stop

    def _branches(self) -> dict[int, tuple[float, ...]]:
        memory = self._memory
        found = {TAKE: tuple(memory.takes[0, 0].tolist())}
        if memory.progress[CAN_PAY]:
            found[PAY] = tuple(memory.paid.tolist())
        return found


_NO_PARAMS = np.zeros(1)
_NO_PARAMS.flags.writeable = False
