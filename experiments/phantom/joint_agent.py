"""The player of the Phantom thesis: it searches joint actions and hands them out piece by piece."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from agents.base import Actions, Agent, Probs, Views
from agents.ismcts.searcher import Analysis, Budget, State, spend
from agents.ismcts.settings import TreeSettings, make_options
from agents.ismcts.tree import (
    DEEPEST,
    LEFT_OUT,
    NONE,
    NUM_NODES,
    SIMULATIONS,
    STAMP,
    STEPS,
    make_work,
)
from common.errors import OptionError
from envs.core.batch import random_actions
from envs.core.game import Game
from envs.core.rng import Words, fold
from experiments.phantom.joint import find_joint, make_trees, run_joint

__all__ = ["JointSearchAgent"]


class JointSearchAgent(Agent):
    """Searches one tree for each world, over joint actions of all pieces of a side."""

    game_ids = ("phantom_v0", "scotland_yard_v0")
    thinks_long = True
    keeps_time = True

    def __init__(
        self,
        game: Game,
        iterations: int | None = None,
        time_per_move: float | None = None,
        exploration: float = math.sqrt(2.0),
        max_nodes: int = 1 << 16,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to search ``game``.

        Args:
            game: a pursuit.
            iterations: simulations for a joint action; 1000 if there is no ``time_per_move``.
            time_per_move: seconds for a joint action.
            exploration: the constant of UCT.
            max_nodes: memory, for all trees of a search together.
            clock: what time it is.
        """
        super().__init__(game)
        if iterations is None and time_per_move is None:
            iterations = 1000
        if (iterations or 0) < 0 or (time_per_move or 0) < 0:
            raise OptionError("iterations and time_per_move must be at least 0")
        self.iterations = iterations
        self.time_per_move = time_per_move
        self.is_reproducible = time_per_move is None
        settings = TreeSettings(
            exploration=exploration,
            rollout="random",
            horizon="end",
            preference="return",
            max_nodes=max_nodes,
        )
        self._options = make_options(game, settings)
        self._work = make_work(game)
        self._trees = make_trees(game, max_nodes)
        self._clock = clock
        self._plans: dict[tuple[int, int], dict[int, int]] = {}
        self.last: list[Analysis] = []
        """What the last call of ``act`` has found; rows that followed a plan have nothing."""

    def act(self, views: Views) -> Actions:
        """Follow the plan of a joint action, or make one."""
        worlds = views.worlds()
        self.last = []
        lines = [""] * len(views)
        chosen = np.empty(len(views), np.int64)
        for row in range(len(views)):
            place = int(views.game_ids[row]), int(views.seats[row])
            planned = self._plans.get(place, {}).get(int(views.keys[row]))
            if planned is not None and views.masks[row, planned]:
                chosen[row] = planned
                continue
            moves = self._search(worlds[row], int(views.seats[row]), views.rngs[row])
            if not moves:
                rest = views.rngs[row : row + 1]
                moves = [int(random_actions(views.masks[row : row + 1], rest)[0])]
            else:
                lines[row] = str(self.last[-1])
            self._plans[place] = self._plan(worlds[row], views.keys[row], place[1], moves)
            chosen[row] = moves[0]
        if self.log is not None:
            self.log += lines
        return chosen

    def end_games(self, game_ids: Words, seats: Actions, returns: Probs) -> None:  # type: ignore[override]
        """Forget the plans of games that are over."""
        for place in zip(game_ids.tolist(), seats.tolist(), strict=True):
            self._plans.pop(place, None)

    def _search(self, world: State, seat: int, rng: Words) -> list[int]:
        """The best joint action for the player to move; empty if there was no time for any."""
        trees, game, start = self._trees, self.game, self._clock()
        stamp = int(trees.counters[STAMP]) + 1
        trees.counters[:] = 0
        trees.counters[STAMP] = stamp
        self._options["seat"] = seat

        def run(count: int) -> None:
            run_joint(
                game.kernels,
                game.optional,
                game.rules,
                world,
                rng,
                trees,
                self._work,
                self._options,
                count,
            )

        spend(Budget(self.iterations, self.time_per_move), start, self._clock, run)
        slot = int(find_joint(trees))
        if slot == NONE:
            return []
        node = trees.nodes[slot]
        first = int(node["first_move"])
        moves: list[int] = trees.moves[first : first + int(node["num_moves"])].tolist()
        self._note(seat, moves, node, self._clock() - start)
        return moves

    def _note(self, seat: int, moves: list[int], node: np.void, seconds: float) -> None:
        counters, visits = self._trees.counters, int(node["visits"])
        one = np.ones(1)
        self.last.append(
            Analysis(
                seat=seat,
                actions=np.array(moves[:1]),
                visits=np.array([visits]),
                shares=one * visits / max(int(counters[SIMULATIONS]), 1),
                values=one * float(node["total"]) / max(visits, 1),
                policy=one,
                variation=tuple(moves),
                simulations=int(counters[SIMULATIONS]),
                nodes=int(counters[NUM_NODES]),
                depth=int(counters[DEEPEST]),
                steps=int(counters[STEPS]),
                left_out=int(counters[LEFT_OUT]),
                seconds=seconds,
            )
        )

    def _plan(self, world: State, key: np.uint64, seat: int, moves: list[int]) -> dict[int, int]:
        """What to do at the decisions that follow the first, by the keys they will have."""
        kernels, rules, state = self.game.kernels, self.game.rules, world.copy()
        plan: dict[int, int] = {}
        for move, following in pairwise(moves):
            key = fold(key, kernels.seen(state, rules, move, seat))
            kernels.step(state, rules, move)
            if kernels.turn(state, rules) != seat:
                break  # in this world the game is over or another's: the rest is searched again
            plan[int(key)] = following
        return plan
