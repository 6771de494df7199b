"""Search as the Phantom thesis describes it: a tree for each determinization, joint actions.

In every simulation a world is drawn, and its own tree, in which everybody sees everything, grows by
one child: UCT while all children of a node have been tried, a new child otherwise, random play to
the end, wins and visits back up the way. A child is a *joint action*: the moves of all pieces of
the side to move, one after the other, until somebody else is to move. In the end the visits of
equal joint actions are added up over all trees, and the one with the most is played, piece by
piece.

With five detectives a node has thousands of joint actions, which is why this player is weak; it is
here to measure the others by. Whether all of them have been tried is found out by drawing: when
``NUM_TRIES`` draws in a row are known, they have.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.base import Actions, Agent, Probs, Views
from agents.ismcts.searcher import Budget, SearchAnalysis, State, spend
from agents.ismcts.settings import OPTIONS, TreeSettings, make_options
from agents.ismcts.simulations import play_out
from agents.ismcts.tree import (
    COUNTERS,
    DEEPEST,
    LEFT_OUT,
    NONE,
    NUM_EDGES,
    NUM_NODES,
    SIMULATIONS,
    STAMP,
    STEPS,
    WORK,
    copy_bytes,
    make_work,
    random_of,
    state_key,
)
from common.errors import OptionError
from envs.core.batch import random_actions
from envs.core.compiling import compiled, inlined
from envs.core.game import Game
from envs.core.kernels import INT, KERNELS, OPTIONAL_KERNELS, OVER, RNG, RULES, STATE
from envs.core.rng import Words, fold, mix

NUM_TRIES = 20
ROOT = np.uint64(0x5BD1E995)
"""The key of the list of joint actions over all trees."""

JOINT = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),
            ("total", np.float64),  # wins of the side that chose this joint action
            ("visits", np.int32),
            ("first", np.int32),  # child, or NONE
            ("next", np.int32),  # sibling, or NONE
            ("first_move", np.int32),  # where the moves that lead here are written
            ("num_moves", np.int32),
            ("stamp", np.int32),
        ],
    )
)


class JointTrees(NamedTuple):
    """All trees of a search."""

    nodes: npt.NDArray[np.void]
    """[slots] of ``JOINT``."""
    moves: npt.NDArray[np.int32]
    counters: npt.NDArray[np.int64]
    sequence: npt.NDArray[np.int32]
    """[longest] the joint action that is being drawn."""


JOINT_TREES = types.NamedTuple(
    (
        types.Array(numba.from_dtype(JOINT), 1, "C"),
        types.int32[::1],
        types.int64[::1],
        types.int32[::1],
    ),
    JointTrees,
)
_OPTIONS = from_dtype(OPTIONS)[::1]


def make_trees(game: Game, max_nodes: int) -> JointTrees:
    """Memory for so many nodes of all trees together."""
    return JointTrees(
        nodes=np.zeros(1 << (2 * max_nodes - 1).bit_length(), JOINT),
        moves=np.zeros(8 * max_nodes, np.int32),
        counters=np.zeros(len(COUNTERS), np.int64),
        sequence=np.zeros(game.facts.max_length + 2, np.int32),
    )


@inlined
def find(trees, key):
    """The slot of a node, or that of the free place where it belongs."""
    last = np.uint64(trees.nodes.size - 1)
    stamp = trees.counters[STAMP]
    slot = np.int64(mix(key) & last)
    while trees.nodes[slot].stamp == stamp and trees.nodes[slot].key != key:
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & last)
    return slot


@inlined
def is_there(trees, slot, key):
    """Whether a slot holds the node of a key."""
    return trees.nodes[slot].stamp == trees.counters[STAMP] and trees.nodes[slot].key == key


@inlined
def add(trees, slot, key, parent, length):
    """Make a node, the child of another, with the moves that were drawn; NONE if there is no room.

    A parent of NONE has no list.
    """
    is_full = 2 * (trees.counters[NUM_NODES] + 1) > trees.nodes.size
    if is_full or trees.counters[NUM_EDGES] + length > trees.moves.size:
        trees.counters[LEFT_OUT] += 1
        return NONE
    trees.counters[NUM_NODES] += 1
    node = trees.nodes[slot]
    node.key = key
    node.total = 0.0
    node.visits = 0
    node.first = NONE
    node.next = NONE
    node.first_move = trees.counters[NUM_EDGES]
    node.num_moves = length
    node.stamp = trees.counters[STAMP]
    for i in range(length):
        trees.moves[node.first_move + i] = trees.sequence[i]
    trees.counters[NUM_EDGES] += length
    if parent != NONE:
        node.next = trees.nodes[parent].first
        trees.nodes[parent].first = slot
    return slot


@inlined
def draw_joint(kernels, rules, trees, work, mover, key, rng):
    """Play a random joint action on a copy of the state: its length, its free place, key, turn.

    One that a tree has is not played to its end, for nobody asks for that: its place is NONE.
    """
    copy_bytes(work.state, work.scratch)
    turn, length, place = mover, 0, np.int64(NONE)
    while turn == mover and length < trees.sequence.size:
        num_legal = kernels.legal(work.scratch, rules, work.mask[: work.weights.size])
        action = random_of(work.mask, num_legal, rng)
        trees.sequence[length] = action
        length += 1
        key = fold(key, action + 1)
        place = find(trees, key)
        if is_there(trees, place, key):
            return length, np.int64(NONE), key, turn
        kernels.step(work.scratch, rules, action)
        turn = kernels.turn(work.scratch, rules)
    return length, place, key, turn


@inlined
def best_child(trees, slot, exploration):
    """The child that UCT goes on with."""
    best, chosen = -np.inf, np.int64(NONE)
    visits = math.log(np.float64(max(trees.nodes[slot].visits, 1)))
    at = np.int64(trees.nodes[slot].first)
    while at != NONE:
        child = trees.nodes[at]
        worth = child.total / child.visits + exploration * math.sqrt(visits / child.visits)
        if worth > best:
            best, chosen = worth, at
        at = np.int64(child.next)
    return chosen


@inlined
def descend(kernels, rules, trees, work, o, slot, rng):
    """Walk down one tree to a new child; ``(turn, depth)`` of where it ends."""
    turn, depth = np.int64(o.seat), 1
    work.path[0, 0] = slot
    while turn != OVER:
        key, child = trees.nodes[slot].key, np.int64(NONE)
        mover = turn
        for _ in range(NUM_TRIES):
            length, place, after, turn = draw_joint(kernels, rules, trees, work, mover, key, rng)
            if place != NONE:
                child = np.int64(add(trees, place, after, slot, length))
                copy_bytes(work.scratch, work.state)
                if child != NONE:
                    work.path[0, depth] = child
                    work.path[1, depth] = mover
                    depth += 1
                return turn, depth
        child = best_child(trees, slot, o.exploration)
        node = trees.nodes[child]
        for i in range(node.num_moves):
            kernels.step(work.state, rules, trees.moves[node.first_move + i])
        turn = kernels.turn(work.state, rules)
        work.path[0, depth] = child
        work.path[1, depth] = mover
        depth += 1
        slot = child
    return turn, depth


@inlined
def back_up(trees, work, depth):
    """Add the result to every node on the way, and to the joint action over all trees."""
    trees.nodes[work.path[0, 0]].visits += 1
    for i in range(1, depth):
        node, mover = trees.nodes[work.path[0, i]], work.path[1, i]
        low, high = work.bounds[mover, 0], work.bounds[mover, 1]
        reward = (work.totals[mover] - low) / (high - low)
        node.visits += 1
        node.total += reward
        if i == 1:
            pooled_key = ROOT
            for j in range(node.num_moves):
                move = trees.moves[node.first_move + j]
                trees.sequence[j] = move
                pooled_key = fold(pooled_key, move + 1)
            slot = find(trees, pooled_key)
            if not is_there(trees, slot, pooled_key):
                slot = add(trees, slot, pooled_key, find(trees, ROOT), node.num_moves)
            if slot != NONE:
                trees.nodes[slot].visits += 1
                trees.nodes[slot].total += reward


@compiled(
    types.void(*(KERNELS, OPTIONAL_KERNELS, RULES, STATE, RNG, JOINT_TREES, WORK), *(_OPTIONS, INT))
)
def run_joint(kernels, optional, rules, world, rng, trees, work, options, count):
    """Run ``count`` simulations from worlds like ``world``."""
    o = options[0]
    root = find(trees, ROOT)
    if not is_there(trees, root, ROOT):
        add(trees, root, ROOT, NONE, 0)
    for _ in range(count):
        trees.counters[SIMULATIONS] += 1
        copy_bytes(world, work.state)
        kernels.determinize(work.state, rules, o.seat, rng)
        key = state_key(work.state)
        slot = find(trees, key)
        if not is_there(trees, slot, key):
            slot = np.int64(add(trees, slot, key, NONE, 0))
            if slot == NONE:
                return
        turn, depth = descend(kernels, rules, trees, work, o, slot, rng)
        _, num_more = play_out(kernels, optional, rules, work, o, turn, np.int64(NONE), rng)
        back_up(trees, work, depth)
        trees.counters[DEEPEST] = max(trees.counters[DEEPEST], depth - 1)
        trees.counters[STEPS] += depth + num_more


@compiled(INT(JOINT_TREES))
def find_joint(trees):
    """The slot of the joint action with the most visits over all trees, then the most wins."""
    slot = find(trees, ROOT)
    if not is_there(trees, slot, ROOT):
        return np.int64(NONE)
    best = np.int64(NONE)
    at = np.int64(trees.nodes[slot].first)
    while at != NONE:
        node = trees.nodes[at]
        if (
            best == NONE
            or node.visits > trees.nodes[best].visits
            or (node.visits == trees.nodes[best].visits and node.total > trees.nodes[best].total)
        ):
            best = at
        at = np.int64(node.next)
    return best


# ---- the player ----------------------------------------------------------------------------------


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
        self.last: list[SearchAnalysis] = []
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

        known = game.kernels, game.optional, game.rules, world, rng, trees

        def run(count: int) -> None:
            run_joint(*known, self._work, self._options, count)

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
            SearchAnalysis(
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
