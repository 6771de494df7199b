"""Players that search information sets; they need no training and play every game.

``ismcts``      one tree on what the searcher sees
``mo_ismcts``   every decision is looked up by what its own player has seen
``pimc``        a tree for each of a few worlds in which everybody sees everything
``flat_mc``     no tree: the mean of every action over worlds and rollouts

None of them sees a true state: a world that the player cannot tell from it is determinized again
for every simulation.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, Probs, Views
from agents.ismcts.searcher import Budget, GameAdvice, Root, SearchAnalysis, State, TreeSearcher
from agents.ismcts.settings import TreeSettings
from agents.ismcts.tree import Pool
from common.errors import OptionError
from envs.core.game import Game
from envs.core.rng import Words, below, uniform

LEVELS: dict[int, tuple[int, float]] = {
    1: (30, 0.3),
    2: (100, 0.15),
    3: (300, 0.05),
    4: (1_000, 0.0),
    5: (10_000, 0.0),
}
"""Difficulty -> simulations a move, and how often any legal action is played instead."""
MAX_KEPT = 64
"""Games whose trees are kept at the same time; more begin anew at every move."""


class SearchingAgent(Agent):
    """Searches every decision by itself, for so many simulations or so long."""

    thinks_long = True
    keeps_time = True
    blunders = 0.0
    """How often it plays any legal action instead of searching."""

    def __init__(
        self,
        game: Game,
        iterations: int | None = None,
        time_per_move: float | None = None,
        stops_early: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """1000 simulations if neither they nor seconds are given."""
        super().__init__(game)
        if iterations is None and time_per_move is None:
            iterations = 1000
        for name, value in (("iterations", iterations), ("time_per_move", time_per_move)):
            if value is not None and value < 0:
                raise OptionError(f"{name} must be at least 0, not {value}")
        self.budget = Budget(iterations, time_per_move, stops_early)
        self.time_per_move = time_per_move
        self.is_reproducible = time_per_move is None
        self.last: list[SearchAnalysis] = []
        """What the last call of ``act`` has found, row by row."""
        self._clock = clock

    def act(self, views: Views) -> Actions:
        """Search every row by itself and draw from what it found."""
        self.last, search = [], self._search_of(views, self.budget)
        chosen = np.empty(len(views), np.int64)
        for row, rng in enumerate(views.rngs):
            if self.blunders and uniform(rng) < self.blunders:
                legal = np.flatnonzero(views.masks[row])
                chosen[row] = legal[below(rng, len(legal))]
                self._log("")
                continue
            analysis = search(row)
            self.last.append(analysis)
            self._log(str(analysis))
            chosen[row] = draw(analysis, rng)
        return chosen

    def _log(self, line: str) -> None:
        if self.log is not None:
            self.log.append(line)

    def analyse(self, views: Views, budget: Budget | None = None) -> list[SearchAnalysis]:
        """Search every row without choosing: shares, values and principal variation.

        All of the budget is used, because more than the choice is asked for.
        """
        search = self._search_of(views, budget or replace(self.budget, stops_early=False))
        return [search(row) for row in range(len(views))]

    def _search_of(self, views: Views, budget: Budget) -> Callable[[int], SearchAnalysis]:
        """What searches a row of views."""
        return partial(self._search, views, views.worlds(), budget)

    @abstractmethod
    def _search(self, views: Views, worlds: State, budget: Budget, row: int) -> SearchAnalysis:
        """Search a row, by a world for each."""


class ISMCTSAgent(SearchingAgent):
    """Searches one tree on what it sees itself (SO-ISMCTS)."""

    settings_class = TreeSettings
    defaults: dict[str, Any] = {"observers": "single"}
    """Settings of this player where it is given none."""
    advice: GameAdvice | None = None
    """What it searches with in place of the game's own functions, if it knows the game."""
    refuses_guide = ""
    """Why it takes no guide, if it takes none."""

    def __init__(
        self,
        game: Game,
        iterations: int | None = None,
        time_per_move: float | None = None,
        level: int | None = None,
        blunders: float | None = None,
        keep_tree: bool = False,
        stops_early: bool = False,
        guide: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        **settings: Any,
    ) -> None:
        """Prepare to search ``game``.

        Args:
            game: any game.
            iterations: simulations a move; 1000 if neither this nor ``time_per_move`` is given.
            time_per_move: seconds a move.
            level: from 1 (easy) to 5: sets iterations and blunders where they are not given.
            blunders: how often it plays any legal action instead of searching.
            keep_tree: go on with the tree of the last move of the same game.
            stops_early: play as soon as no other action can get as many visits any more. The move
                is the same, and a tree that is kept has less in it.
            guide: a trained player whose policy and values lead the search, such as
                ``dqn:runs/leduc_v0/dqn-seed0``; selection then is ``puct``.
            clock: what time it is.
            settings: any field of ``TreeSettings``.
        """
        if level is not None and level not in LEVELS:
            raise OptionError(f"level must be from 1 to {max(LEVELS)}, not {level}")
        by_level = LEVELS[level] if level is not None else (1000, 0.0)
        if iterations is None and time_per_move is None:
            iterations = by_level[0]
        super().__init__(game, iterations, time_per_move, stops_early, clock)
        self.blunders = by_level[1] if blunders is None else blunders
        if not 0 <= self.blunders <= 1:
            raise OptionError(f"blunders must be from 0 to 1, not {self.blunders}")
        if guide and self.refuses_guide:
            raise OptionError(f"{self.refuses_guide}: give mo_ismcts the guide")
        self._guide: Agent | None = None
        if guide:  # refused before the first move
            # Imported when needed: it loads whatever guides there are.
            from agents.ismcts.guided import make_guide

            self._guide = make_guide(game, guide)
        by_guide = {"selection": "puct"} if guide else {}
        self.given = settings
        """What was asked for of the settings; the others are defaults."""
        self.settings = self.settings_class(**{**self.defaults, **by_guide, **settings})
        self.wants_tokens = self.settings.belief == "policy"
        self.guide = guide
        if stops_early and (self.settings.final != "visits" or self.settings.threads > 1):
            raise OptionError("stops_early needs final 'visits' and one thread")
        self.keep_tree = keep_tree
        self._kept: dict[tuple[int, int], tuple[int, list[Pool]]] = {}
        self._free: list[list[Pool]] = []

    @cached_property
    def searcher(self) -> TreeSearcher:
        """Made when it is first needed: players that only wait take no memory."""
        if self._guide is None:
            return TreeSearcher(self.game, self.settings, self._clock, self.advice)
        from agents.ismcts.guided import GuidedSearcher

        return GuidedSearcher(self.game, self.settings, self._guide, self._clock)

    def end_games(self, game_ids: Words, seats: Actions, returns: Probs) -> None:  # type: ignore[override]
        """Take back the memory of games that are over."""
        for game_id, seat in zip(game_ids.tolist(), seats.tolist(), strict=True):
            kept = self._kept.pop((game_id, seat), None)
            if kept:
                self._free.append(kept[1])

    def _search(self, views: Views, worlds: State, budget: Budget, row: int) -> SearchAnalysis:
        start = self._clock()
        tokens = np.array(views.tokens(row), np.int64) if self.wants_tokens else None
        seat, key = int(views.seats[row]), views.keys[row]
        mask = self._actions_to_try(worlds[row], views.masks[row])
        root = Root(worlds[row], seat, key, mask, tokens)
        if root.mask.sum() == 1 and not self.keep_tree:
            budget = Budget(0, None)  # there is nothing to decide
        trees = self._trees(views, row)
        return self._searcher_for(root).search(root, views.rngs[row], budget, trees, start)

    def _searcher_for(self, root: Root) -> TreeSearcher:
        """Who searches a decision: one for all of them."""
        return self.searcher

    def _actions_to_try(self, world: State, mask: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """What may be played at a root: all that is legal."""
        return mask

    def _trees(self, views: Views, row: int) -> list[Pool] | None:
        """The trees that are kept for a game, if they are."""
        if not self.keep_tree:
            return None
        place = int(views.game_ids[row]), int(views.seats[row])
        key = int(views.keys[row])
        kept = self._kept.get(place)
        if kept is None:
            if len(self._kept) >= MAX_KEPT:
                return None
            trees = self._free.pop() if self._free else self.searcher.new_trees()
            self.searcher.forget(trees)
        else:
            trees = kept[1]
            if kept[0] == key:
                self.searcher.forget(trees)  # asked again: the answer must be the same
        self._kept[place] = key, trees
        return trees


class MOISMCTSAgent(ISMCTSAgent):
    """Looks every decision up by what its own player has seen (MO-ISMCTS)."""

    defaults = {"observers": "many"}


class PIMCAgent(ISMCTSAgent):
    """Searches a few worlds as if everybody knew them (perfect-information Monte Carlo)."""

    defaults = {"observers": "perfect", "num_worlds": 16}


class FlatMonteCarloAgent(ISMCTSAgent):
    """Tries every action equally often and plays the one with the best mean."""

    defaults = {"observers": "single", "tree_depth": 1, "selection": "uniform", "final": "value"}


def draw(analysis: SearchAnalysis, rng: Words) -> int:
    """An action by the policy that was found; one draw."""
    left = uniform(rng)
    chosen = analysis.best
    for action, prob in zip(analysis.actions.tolist(), analysis.policy.tolist(), strict=True):
        if prob > 0.0:
            chosen = action
            left -= prob
            if left < 0.0:
                break
    return chosen
