"""The laws of hidden information on the whole tree of a small game, where all can be known.

The tree is that of the first opening. Grouping its histories by what a player has seen gives the
information sets, and the states in one set, weighted by how likely chance makes them, are exactly
what ``determinize`` should draw. Where the game is over nobody asks for a world.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from envs.core.checking.information import View, check_same_information, view
from envs.core.checking.positions import (
    P_THRESHOLD,
    Node,
    fit_p_value,
    games_end_within_max_length,
    look,
    settle_plays_chance_one_by_one,
)
from envs.core.checking.probe import Broken, Probe, law
from envs.core.checking.worlds import determinize_depends_only_on_what_was_seen
from envs.core.game import State
from envs.core.kernels import CHANCE, OVER, PUBLIC
from envs.core.rng import Words, below, first_key, fold

_SETS_PER_PLAYER = 6
"""Sets of worlds of each player that are counted out, and as many with a single world."""
_DRAWS_PER_WORLD = 60
_FEWEST_DRAWS, _MOST_DRAWS = 300, 4000
_SURELY_MET = 40.0
"""A world that should have been drawn so often on average is missed once in e**40 runs."""


@dataclass(frozen=True)
class TreeCounts:
    """The size of a game tree."""

    chance: int
    decision: int
    terminal: int
    infosets: tuple[int, ...]
    """Information sets of each player, counted at that player's decisions."""
    depth: int
    """Actions and chance events on the longest path."""


@dataclass
class Leaf:
    """A history as the tree has it."""

    node: Node
    parent: int
    action: int
    """What was played last."""
    weight: float
    """The product of the probabilities of all chance outcomes on the way."""
    moves: tuple[int, ...]
    """What the players did, without chance."""


class Tree(list[Leaf]):
    """Every history of a game in order of length."""

    def history(self, index: int) -> list[int]:
        """The actions and outcomes of a history."""
        history = []
        while index > 0:
            history.append(self[index].action)
            index = self[index].parent
        return history[::-1]

    def keys(self, probe: Probe, player: int) -> list[int]:
        """What ``player`` (or ``PUBLIC``) has seen along every history, as one number each."""
        keys = [int(first_key(player))]
        for leaf in self[1:]:
            token = probe.seen(self[leaf.parent].node.state, leaf.action, player)
            keys.append(int(fold(keys[leaf.parent], token)))
        return keys


@dataclass
class WorldSet:
    """Histories that are the same to ``player`` and in which it is the same turn."""

    player: int
    members: list[int] = field(default_factory=list)
    weights: dict[bytes, float] = field(default_factory=lambda: defaultdict(float))
    """How likely each state is, up to a factor."""
    has_hidden_moves: bool = False
    """Whether players did different things, so that the odds depend on how they play."""

    def add(self, tree: Tree, index: int) -> None:
        """Take in one history."""
        self.members.append(index)
        self.weights[tree[index].node.state.tobytes()] += tree[index].weight
        self.has_hidden_moves |= tree[index].moves != tree[self.members[0]].moves


def grow_tree(probe: Probe, max_nodes: int) -> Tree | None:
    """Walk the whole tree, unless it has more than ``max_nodes`` nodes."""
    probe.move_to(0, [])
    if not _is_small(probe, max_nodes):
        return None
    tree = Tree([Leaf(look(probe, probe.new(0)), -1, -1, 1.0, ())])
    for index, here in enumerate(tree):  # grows while it is walked
        state, is_chance = here.node.state, here.node.turn == CHANCE
        probs = probe.chance(state) if is_chance else None
        history = tree.history(index)
        for action in here.node.actions:
            probe.move_to(0, [*history, action])
            games_end_within_max_length(probe)
            weight = here.weight * (1.0 if probs is None else float(probs[action]))
            moves = here.moves if is_chance else (*here.moves, action)
            tree.append(Leaf(look(probe, probe.step(state, action)), index, action, weight, moves))
    return tree


def _is_small(probe: Probe, max_nodes: int) -> bool:
    """Whether the tree has at most ``max_nodes`` nodes; a bare walk, as most are large."""
    kernels: Any = probe.game.kernels
    rules = probe.rules
    mask = np.zeros(probe.game.mask_size, np.int8)
    stack = [probe.new(0)]
    num_nodes = 0
    while stack and num_nodes + len(stack) <= max_nodes:
        state = stack.pop()
        num_nodes += 1
        if kernels.turn(state, rules) != OVER:
            kernels.legal(state, rules, mask)
            for action in np.flatnonzero(mask).tolist():
                child = state.copy()
                kernels.step(child, rules, action)
                stack.append(child)
    return num_nodes + len(stack) <= max_nodes


def check_tree(probe: Probe, tree: Tree, rng: Words) -> tuple[TreeCounts, int]:
    """Check every information set; return the tree's size and how many were counted out."""
    nodes = [leaf.node for leaf in tree]
    for index, node in enumerate(nodes):
        if node.turn == CHANCE:
            probe.move_to(0, tree.history(index))
            settle_plays_chance_one_by_one(probe, node, rng)
    public = tree.keys(probe, PUBLIC)
    states = {node.state.tobytes() for node in nodes}
    num_counted = 0
    num_infosets = []
    for player in probe.players:
        keys = tree.keys(probe, player)
        num_infosets.append(
            len({key for key, node in zip(keys, nodes, strict=True) if node.turn == player})
        )
        _check_views(probe, tree, player, keys)
        _check_public(probe, tree, player, keys, public)
        sets = _world_sets(probe, tree, player, keys)
        for worlds in _spread(sets):
            _count_worlds(probe, tree, worlds, states, rng)
            num_counted += 1
        for worlds in sets:
            _check_two_draws(probe, tree, worlds, states, rng)
    turns = [node.turn for node in nodes]
    num_chance, num_terminal = turns.count(CHANCE), turns.count(OVER)
    num_decision = len(turns) - num_chance - num_terminal
    depth = len(tree.history(len(turns) - 1))
    return TreeCounts(
        num_chance, num_decision, num_terminal, tuple(num_infosets), depth
    ), num_counted


def _check_views(probe: Probe, tree: Tree, player: int, keys: list[int]) -> None:
    first: dict[int, View] = {}
    for index, (key, leaf) in enumerate(zip(keys, tree, strict=True)):
        history = tree.history(index)
        probe.move_to(0, history)
        mine = view(probe, leaf.node, player, history)
        check_same_information(probe, player, first.setdefault(key, mine), mine)


def _check_public(
    probe: Probe, tree: Tree, player: int, keys: list[int], public: list[int]
) -> None:
    first: dict[int, int] = {}
    for index, key in enumerate(keys):
        other = first.setdefault(key, index)
        if public[other] != public[index]:
            probe.move_to(0, tree.history(index))
            everybody_sees_what_is_public(probe, player, tree.history(other))


@law
def everybody_sees_what_is_public(probe: Probe, player: int, other: list[int]) -> None:
    """If a player has seen the same in two histories, so has the public."""
    raise Broken(f"only the public can tell this history from {other}", player=player)


def _world_sets(probe: Probe, tree: Tree, player: int, keys: list[int]) -> list[WorldSet]:
    """The sets of worlds of ``player``, from early to late; at the end returns are known too."""
    sets: dict[tuple[int, int, bytes], WorldSet] = {}
    for index, key in enumerate(keys):
        node = tree[index].node
        known = probe.returns(node.state).tobytes() if node.turn == OVER else b""
        sets.setdefault((key, node.turn, known), WorldSet(player)).add(tree, index)
    return list(sets.values())


def _spread(sets: list[WorldSet]) -> Iterable[WorldSet]:
    """A few sets with several worlds and a few with one, spread over the course of the game."""
    for is_single in (False, True):
        chosen = [worlds for worlds in sets if (len(worlds.weights) == 1) == is_single]
        places = np.linspace(0, len(chosen) - 1, min(_SETS_PER_PLAYER, len(chosen)))
        yield from (chosen[round(place)] for place in places)


# ---- worlds --------------------------------------------------------------------------------------


def _check_two_draws(
    probe: Probe, tree: Tree, worlds: WorldSet, states: set[bytes], rng: Words
) -> None:
    """Every set of worlds: one draw, and the same from its first and from its last history."""
    first, last = (tree[worlds.members[i]].node.state for i in (0, -1))
    probe.move_to(0, tree.history(worlds.members[0]))
    determinize_depends_only_on_what_was_seen(probe, worlds.player, first, last, rng)
    world = probe.determinize(first, worlds.player, rng)
    _check_membership(probe, worlds, world, states)


def _check_membership(probe: Probe, worlds: WorldSet, world: State, states: set[bytes]) -> None:
    if world.tobytes() not in worlds.weights:
        determinize_gives_possible_worlds(probe, worlds.player, world, states)
        seen_and_determinize_agree(probe, worlds.player)


@law
def determinize_gives_possible_worlds(
    probe: Probe, player: int, world: State, states: set[bytes]
) -> None:
    """Every world is a state that some history of the game leads to."""
    if world.tobytes() not in states:
        raise Broken(f"no history leads to the state {probe.game.record(world)}", player=player)


@law
def seen_and_determinize_agree(probe: Probe, player: int) -> None:
    """``determinize`` redraws only what ``seen`` has kept from the player."""
    found = (
        "every history that leads to a world that was drawn looks different to him: "
        "either 'seen' tells him too much or 'determinize' changes what he knows"
    )
    raise Broken(found, player=player)


def _count_worlds(
    probe: Probe, tree: Tree, worlds: WorldSet, states: set[bytes], rng: Words
) -> None:
    """Draw many worlds, each from a random history of the set, and compare with chance."""
    num_draws = min(max(_DRAWS_PER_WORLD * len(worlds.weights), _FEWEST_DRAWS), _MOST_DRAWS)
    counts = dict.fromkeys(worlds.weights, 0)
    num_unchanged = 0
    for _ in range(num_draws):
        start = worlds.members[below(rng, len(worlds.members))]
        state = tree[start].node.state
        probe.move_to(0, tree.history(start))
        world = probe.determinize(state, worlds.player, rng)
        _check_membership(probe, worlds, world, states)
        counts[world.tobytes()] += 1
        num_unchanged += world.tobytes() == state.tobytes()
    determinize_does_not_give_away_the_truth(probe, worlds, num_draws, num_unchanged)
    first, last = (tree[worlds.members[i]].node.state for i in (0, -1))
    determinize_depends_only_on_what_was_seen(probe, worlds.player, first, last, rng)
    determinize_reaches_every_world(probe, worlds, counts, num_draws)
    if not worlds.has_hidden_moves:
        determinize_draws_worlds_as_often_as_chance_makes_them(probe, worlds, counts, num_draws)


@law
def determinize_does_not_give_away_the_truth(
    probe: Probe, worlds: WorldSet, num_draws: int, num_unchanged: int
) -> None:
    """Where a player cannot know the state, ``determinize`` does not simply leave it as it is."""
    if len(worlds.weights) > 1 and num_unchanged == num_draws:
        possible = f"{len(worlds.weights)} worlds are possible"
        found = f"{possible} and {num_draws} draws gave the one they began with"
        raise Broken(found, player=worlds.player)


@law
def determinize_reaches_every_world(
    probe: Probe, worlds: WorldSet, counts: dict[bytes, int], num_draws: int
) -> None:
    """Every world that is possible for a player can be drawn.

    Where players' moves are hidden, a game may weigh histories alike or worlds alike; a world
    counts as missed if both would have given it for certain.
    """
    total = math.fsum(worlds.weights.values())
    for state, count in counts.items():
        prob = worlds.weights[state] / total
        if worlds.has_hidden_moves:
            prob = min(prob, 1.0 / len(counts))
        if count == 0 and num_draws * prob >= _SURELY_MET:
            record = probe.game.record(np.frombuffer(state, np.uint8))
            found = (
                f"{num_draws} draws never gave the state {record}, which has probability {prob:.3g}"
            )
            raise Broken(found, player=worlds.player)


@law
def determinize_draws_worlds_as_often_as_chance_makes_them(
    probe: Probe, worlds: WorldSet, counts: dict[bytes, int], num_draws: int
) -> None:
    """A world is drawn with its chance probability, given what the player has seen.

    A chi-square test of the draws against the sum, over the histories that lead to a world and are
    the same to the player, of the product of chance probabilities; what players do counts nothing.
    Left out where players' moves are hidden: there the right weights depend on how they play.
    """
    total = math.fsum(worlds.weights.values())
    probs = [weight / total for weight in worlds.weights.values()]
    p_value = fit_p_value(list(counts.values()), probs)
    if p_value < P_THRESHOLD:
        shown = ", ".join(
            f"{count} instead of {num_draws * p:.1f}"
            for count, p in list(zip(counts.values(), probs, strict=True))[:6]
        )
        found = f"the {len(counts)} possible worlds were drawn {shown} times (p = {p_value:.1e})"
        raise Broken(found, player=worlds.player)
