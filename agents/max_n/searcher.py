"""Searches from Python: to the end of the game, to a depth, or deeper and deeper."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from agents.max_n.frames import (
    COMPLETE,
    COUNTERS,
    MAX_PLAYERS,
    NO_ACTION,
    ORDERS,
    SETTINGS,
    make_stack,
    make_table,
)
from agents.max_n.preference import PREFERENCES, place_weight
from agents.max_n.search import PRUNINGS, TIES, search_frames
from common.errors import OptionError
from envs.core.game import Game
from envs.core.kernels import OptionalKernels
from envs.core.options import Options, option

METHODS = ("max_n", "paranoid", "best_reply")
NODES_PER_CALL = 4096
"""So many nodes are searched between two looks at the clock."""

State = npt.NDArray[np.uint8]


class SearchSettings(Options):
    """How to search.

    >>> SearchSettings(pruning="korf")
    Traceback (most recent call last):
    ...
    common.errors.OptionError: korf prunes for players who want their return: set preference ...
    """

    method: str = option("max_n", choices=METHODS, help="what players do")
    preference: str = option(
        "place", choices=PREFERENCES, help="what players want: their return, or their place first"
    )
    pruning: str = option(
        "placement", choices=PRUNINGS, help="of max^n: korf goes by return, placement by place"
    )
    ties: str = option("high", choices=TIES, help="of children alike to the mover")
    order: str = option("high_first", choices=ORDERS, help="of moves; guess: the best by estimate")
    table_bits: int = option(16, low=0, high=28, help="2**bits slots of the table; 0: none")
    depth: int | None = option(
        None, low=1, high=COMPLETE, help="decisions to look ahead; null: to the end of the game"
    )
    is_iterative: bool = option(False, help="search to depth 1, 2, 3 ... until a limit is reached")
    max_nodes: int | None = option(
        None, low=1, high=2**62, help="of one search; null: as many as it takes"
    )
    sum_bound: float | None = option(
        None, low=-1e9, high=1e9, help="for korf; null: what the game says of its returns' sum"
    )
    assumed: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game that are otherwise in the search than at the table."""
    seed: int = option(0, low=0, high=2**62, help="of ties at random")

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        wanted = {"korf": ("their return", "return"), "placement": ("places", "place")}
        words, preference = wanted.get(self.pruning, ("", self.preference))
        if self.method == "max_n" and self.preference != preference:
            raise OptionError(
                f"{self.pruning} prunes for players who want {words}: "
                f"set preference to '{preference}'"
            )


@dataclass(frozen=True)
class SearchResult:
    """What a search has found."""

    action: int
    """The best action of the player to move; -1 when the game is over."""
    values: tuple[float, ...]
    """Max^n: the result of every player. Otherwise the utility of the one who searches."""
    is_complete: bool
    """Whether nothing was estimated and no limit was reached."""
    depth: int
    """Of the last search that was finished; 0: to the end."""
    counters: dict[str, int]
    """Nodes, leaves, prunings, hits and entries of the table, and the deepest node."""


class Searcher:
    """Searches states of one game; not for two threads at once.

    >>> from envs import make_game
    >>> game = make_game("no_thanks_v0", highest=6, removed=1, chips=3, known_future=True)
    >>> Searcher(game).search(game.deal([3, 6, 4]).state).values
    (-1.0, 1.0, 0.0)
    """

    def __init__(
        self,
        game: Game,
        settings: SearchSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allocate all memory that searches of ``game`` may need."""
        self.settings = settings or SearchSettings()
        self.game = _assumed_game(game, self.settings.assumed)
        self._clock = clock
        facts = self.game.facts
        if facts.num_players > MAX_PLAYERS:
            raise OptionError(f"searches are for at most {MAX_PLAYERS} players")
        bound = facts.return_sum if self.settings.sum_bound is None else self.settings.sum_bound
        self._options = self.settings.as_record(
            SETTINGS,
            num_players=facts.num_players,
            state_size=self.game.state_size,
            is_best_reply=self.settings.method == "best_reply",
            is_scalar=self.settings.method != "max_n",
            weight=place_weight(facts.num_players, facts.min_return, facts.max_return),
            low=facts.min_return,
            sum_bound=facts.num_players * facts.max_return if bound is None else bound,
        )
        # The game's own estimate, or its returns so far if it has none.
        has_own, plain = self.game.optional.has_evaluate, self.game.kernels.returns
        self._evaluation = self.game.optional if has_own else OptionalKernels(evaluate=plain)
        self._stack = make_stack(self.game)
        self._table = make_table(self.settings.table_bits, facts.num_players)

    def forget(self) -> None:
        """Empty the transposition table."""
        self._table.keys[:] = 0

    def search(
        self, state: State, hero: int | None = None, seconds: float | None = None
    ) -> SearchResult:
        """Search from ``state``.

        Args:
            state: the root.
            hero: who searches, in paranoid and best-reply search; the player to move by default.
            seconds: after so long the best move found so far is returned.
        """
        turn = int(self.game.kernels.turn(state, self.game.rules))
        hero = turn if hero is None else hero
        if hero != self._options["hero"][0]:
            self._options["hero"][0] = hero
            if self.settings.method != "max_n":
                self.forget()
        self._stack.progress[:] = 0
        deadline = None if seconds is None else self._clock() + seconds
        if not self.settings.is_iterative:
            depth = COMPLETE if self.settings.depth is None else self.settings.depth
            is_over = self._run(state, depth, deadline)
            return self._result(depth, is_over)
        return self._deepen(state, deadline)

    def _deepen(self, state: State, deadline: float | None) -> SearchResult:
        """Search deeper and deeper; an iteration that is not finished is given up."""
        last = self.settings.depth or self.game.facts.max_length
        best: SearchResult | None = None
        for depth in range(1, last + 1):
            is_over = self._run(state, depth, deadline)
            if best is not None and not is_over:
                counters = self._count()
                return replace(best, is_complete=False, counters=counters)
            best = self._result(depth, is_over)
            if best.is_complete or not is_over:
                break
        assert best is not None
        return best

    def _run(self, state: State, depth: int, deadline: float | None) -> bool:
        """Search until the root has its value (true) or a limit is reached."""
        stack, settings = self._stack, self.settings
        stack.states[0, : self.game.state_size] = state
        stack.frames["depth_left"][0] = depth
        stack.frames["best"][0] = NO_ACTION
        stack.progress["depth"], stack.progress["is_entering"] = 0, 1
        tables = (self.game.kernels, self._evaluation, self.game.rules)
        while True:
            num_nodes = NODES_PER_CALL if deadline is not None else COMPLETE
            if settings.max_nodes is not None:
                num_nodes = min(num_nodes, settings.max_nodes - int(stack.progress["nodes"][0]))
            if num_nodes <= 0:
                return False
            if search_frames(*tables, stack, self._table, self._options, num_nodes):
                return True
            if deadline is not None and self._clock() >= deadline:
                return False

    def _count(self) -> dict[str, int]:
        return {name: int(self._stack.progress[name][0]) for name in COUNTERS}

    def _result(self, depth: int, is_over: bool) -> SearchResult:
        stack = self._stack
        action = int(stack.frames["best"][0])
        if action == NO_ACTION and not is_over:  # stopped before the first child was done
            action = int(stack.moves[0, 0])
        count = len(stack.result) if self.settings.method == "max_n" else 1
        return SearchResult(
            action=action,
            values=tuple(stack.result[:count].tolist()),
            is_complete=is_over and bool(stack.progress["is_complete"][0]),
            depth=0 if depth == COMPLETE else depth,
            counters=self._count(),
        )


def _assumed_game(game: Game, assumed: Mapping[str, Any]) -> Game:
    """The game with other options, if states and actions stay what they are."""
    if not assumed:
        return game
    other = type(game)(**{**game.options.to_dict(), **assumed})
    same = (other.state_size, other.facts.num_actions, other.facts.num_players)
    if same != (game.state_size, game.facts.num_actions, game.facts.num_players):
        raise OptionError(f"assumed options {dict(assumed)} make another game")
    return other
