"""A game whose rules are a tree that is given, for search on trees that are known by heart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from envs.core.facts import Facts, ObservationField, equal_seats
from envs.core.game import Game
from envs.core.kernels import OVER, Kernels, kernel
from envs.core.options import Options

STATE = np.dtype((np.record, [("node", np.int32)]))
HEAD = 2  # players, then numbers a node
MOVER, FIRST_CHILD, NUM_CHILDREN, FIRST_VALUE = range(4)


@kernel
def new(state, rules, opening):
    state.view(STATE)[0].node = 0


@kernel
def turn(state, rules):
    return rules[HEAD + rules[1] * state.view(STATE)[0].node + MOVER]


@kernel
def legal(state, rules, mask):
    count = rules[HEAD + rules[1] * state.view(STATE)[0].node + NUM_CHILDREN]
    mask[:] = 0
    mask[:count] = 1
    return count


@kernel
def chance(state, rules, probs):
    probs[:] = 0.0


@kernel
def sample(state, rules, rng):
    return 0


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    s.node = rules[HEAD + rules[1] * s.node + FIRST_CHILD] + action


@kernel
def seen(state, rules, action, player):
    return 1 + action


@kernel
def returns(state, rules, out):
    at = HEAD + rules[1] * state.view(STATE)[0].node
    for player in range(rules[0]):
        out[player] = rules[at + FIRST_VALUE + player] if rules[at] == OVER else 0.0


@kernel
def observe(state, rules, player, out):
    out[:] = 0.0


@kernel
def determinize(state, rules, player, rng):
    pass


class TreeOptions(Options):
    """None."""


Tree = Any
"""A leaf is a tuple of results; a node is a list: the mover, then its children."""


class TreeGame(Game):
    """Whatever the tree says."""

    id = "tree_v0"
    Options = TreeOptions
    state_dtype = STATE
    kernels = Kernels(
        new=new,
        turn=turn,
        legal=legal,
        chance=chance,
        sample=sample,
        step=step,
        seen=seen,
        returns=returns,
        observe=observe,
        determinize=determinize,
    )

    def __init__(self, tree: Tree, low: float = -20.0, high: float = 20.0) -> None:
        leaf = tree
        while isinstance(leaf, list):
            leaf = leaf[1]
        self._num_players = len(leaf)
        self._bounds = low, high
        self._tree = tree
        self._width = 1
        super().__init__()

    def _shared_rules(self) -> Any:
        """Games of other trees have the same options."""
        return np.ascontiguousarray(self.make_rules(), np.int32)

    def make_rules(self) -> Any:
        """Level by level, so that the children of a node lie side by side."""
        rows: list[list[int]] = []
        waiting = [self._tree]
        num_nodes = 1
        for node in waiting:
            if isinstance(node, list):
                children = node[1:]
                self._width = max(self._width, len(children))
                rows.append([node[0], num_nodes, len(children), *[0] * self._num_players])
                num_nodes += len(children)
                waiting.extend(children)
            else:
                rows.append([OVER, 0, 0, *node])
        return np.array([self._num_players, len(rows[0]), *(x for row in rows for x in row)])

    def make_facts(self) -> Facts:
        seats = equal_seats(self._num_players, *self._bounds)
        return Facts(self._width, 0, 64, seats, return_sum=None)

    def make_fields(self) -> tuple[ObservationField, ...]:
        return (ObservationField("nothing", 1, "trees are searched, not played"),)

    def action_text(self, state: Any, action: int) -> str:
        return str(action)

    def chance_text(self, state: Any, outcome: int) -> str:
        return ""

    def render(self, state: Any, viewer: int | None = None) -> str:
        return str(self.record(state).node)

    @property
    def root(self) -> Any:
        return self.new_position().state


def random_tree(
    rng: np.random.Generator, depth: int, num_players: int, top: int, mover: int = 0
) -> Tree:
    """Binary: the first child has the same mover, the second the next one; results 0 .. ``top``."""
    if depth == 0:
        return tuple(int(x) for x in rng.integers(0, top + 1, num_players))
    movers = (mover, (mover + 1) % num_players)
    return [mover, *(random_tree(rng, depth - 1, num_players, top, m) for m in movers)]


def ragged_tree(rng: np.random.Generator, depth: int, num_players: int, top: int) -> Tree:
    """Nodes of one to three children and leaves at any depth, with movers in any order."""
    if depth == 0 or (depth < 5 and rng.random() < 0.1):
        return tuple(int(x) for x in rng.integers(0, top + 1, num_players))
    count = int(rng.integers(1, 4))
    mover = int(rng.integers(num_players))
    return [mover, *(ragged_tree(rng, depth - 1, num_players, top) for _ in range(count))]


def leaves(tree: Tree) -> Sequence[tuple[int, ...]]:
    """All leaves from left to right."""
    return [x for child in tree[1:] for x in leaves(child)] if isinstance(tree, list) else [tree]
