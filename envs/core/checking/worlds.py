"""The laws of ``determinize``, checked without knowing the game tree.

Three things stand in for the tree: the worlds that ``determinize`` makes, the double of the true
history (a world that is possible beyond doubt), and playing on from a world, which must go on
obeying every law of a game.

What remains for the tree (see ``trees.py``): whether a world that breaks no law is really possible
for this player, whether every possible world is reached, and whether each is drawn as often as it
should.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from envs.core.checking.information import Double, some_actions
from envs.core.checking.positions import (
    Node,
    check_position,
    conserved_amounts_never_change,
    field_at,
    look,
    sample_gives_legal_outcomes,
    something_is_at_stake,
)
from envs.core.checking.probe import Broken, Probe, law
from envs.core.game import State
from envs.core.kernels import CHANCE, OVER
from envs.core.rng import Words, below

_NUM_PAIRS = 8
"""Draws from the truth and from its double that must be equal."""
_PATIENCE = 2000
"""Draws after which ``determinize`` should have shown a second world."""
_SIMILAR = math.log(20.0)
"""Two worlds are about equally likely when neither is more than 20 times likelier."""
_LONGEST_PLAY = 60


def check_world(
    probe: Probe, node: Node, player: int, amounts: dict[str, float], rng: Words
) -> State:
    """Draw one world of ``player``, check it, and return it."""
    words = rng.copy()
    world = probe.determinize(node.state, player, rng)
    probe.enter_world(player, words)
    conserved_amounts_never_change(probe, world, amounts)
    determinize_keeps_the_turn(probe, node, player, world)
    other = look(probe, world)
    determinize_keeps_the_observation(probe, node, player, world)
    determinize_keeps_the_legal_actions(probe, node, player, other)
    determinize_keeps_the_stakes(probe, node, player, world)
    probe.leave_world()
    for generator in (words, rng):
        determinize_depends_only_on_what_was_seen(probe, player, node.state, world, generator)
    return world


@law
def determinize_keeps_the_turn(probe: Probe, node: Node, player: int, world: State) -> None:
    """In every world of a player it is the same player's turn, or chance's."""
    turn = probe.turn(world)
    if turn != node.turn:
        raise Broken(f"the turn is {turn} and was {node.turn}", player=player)


@law
def determinize_keeps_the_observation(probe: Probe, node: Node, player: int, world: State) -> None:
    """In every world of a player his observation is the same, to the last bit."""
    before, after = probe.observe(node.state, player), probe.observe(world, player)
    if before.tobytes() != after.tobytes():
        at = next(i for i in range(len(before)) if before[i].tobytes() != after[i].tobytes())
        found = f"entry {at}, in field '{field_at(probe, at)}', is {after[at]} and was {before[at]}"
        raise Broken(found, player=player)


@law
def determinize_keeps_the_legal_actions(probe: Probe, node: Node, player: int, world: Node) -> None:
    """In every world of a player who is to move the same actions are legal."""
    if node.turn == player and world.actions != node.actions:
        raise Broken(
            f"legal are {list(world.actions)} and were {list(node.actions)}", player=player
        )


@law
def determinize_keeps_the_stakes(probe: Probe, node: Node, player: int, world: State) -> None:
    """What is at stake for the player to move is known to all: every world has it."""
    if node.turn in probe.players:
        before, after = (something_is_at_stake(probe, state) for state in (node.state, world))
        if before != after:
            raise Broken(f"at stake is {after} and was {before}", player=player)


@law
def determinize_depends_only_on_what_was_seen(
    probe: Probe, player: int, state: State, same_to_player: State, rng: Words
) -> None:
    """From two states that are the same to a player, equal generators draw the same world."""
    words = rng.copy()
    one = probe.determinize(state, player, words.copy())
    other = probe.determinize(same_to_player, player, words.copy())
    if one.tobytes() != other.tobytes():
        differing = [i for i in range(len(one)) if one[i] != other[i]]
        found = (
            f"two states that are the same to him give worlds different in bytes {differing[:6]}, "
            f"with generator words {words.tolist()}"
        )
        raise Broken(found, player=player)


@law
def determinize_keeps_the_returns_at_the_end(
    probe: Probe, node: Node, player: int, rng: Words
) -> None:
    """When a game is over everybody knows everybody's returns, so every world has the same."""
    before = probe.returns(node.state)
    for _ in range(_NUM_PAIRS):
        after = probe.returns(probe.determinize(node.state, player, rng))
        if after.tobytes() != before.tobytes():
            raise Broken(
                f"the returns are {after.tolist()} and were {before.tolist()}", player=player
            )


# ---- the double ----------------------------------------------------------------------------------


def check_against_double(probe: Probe, node: Node, double: Double, rng: Words) -> bool:
    """Check ``determinize`` if a second world is possible for certain; tell whether one is."""
    twin = look(probe, double.state)
    if twin.turn != node.turn or node.turn == OVER or twin.state.tobytes() == node.state.tobytes():
        return False
    determinize_does_not_give_away_the_truth(probe, node.state, double, rng)
    for _ in range(_NUM_PAIRS):
        determinize_depends_only_on_what_was_seen(
            probe, double.player, node.state, double.state, rng
        )
        probe.determinize(node.state, double.player, rng)  # moves the generator on
    if abs(double.log_ratio) <= _SIMILAR:
        determinize_reaches_every_world(probe, node.state, double, rng)
    return True


@law
def determinize_does_not_give_away_the_truth(
    probe: Probe, state: State, double: Double, rng: Words
) -> None:
    """Where a player cannot know the state, ``determinize`` does not simply leave it as it is."""
    player = double.player
    for _ in range(_NUM_PAIRS):
        # With equal generators a right kernel makes one world of both, so it changes one at least.
        words = rng.copy()
        if probe.determinize(state, player, rng).tobytes() != state.tobytes():
            return
        if probe.determinize(double.state, player, words).tobytes() != double.state.tobytes():
            return
    found = f"history {double.history} is the same to him, and no draw changes either state"
    raise Broken(found, player=player)


@law
def determinize_reaches_every_world(probe: Probe, state: State, double: Double, rng: Words) -> None:
    """Every world that is possible for a player can be drawn.

    Without the tree: where two worlds are about equally likely, not all draws give the same one.
    """
    player = double.player
    first = probe.determinize(state, player, rng).tobytes()
    for _ in range(_PATIENCE):
        if probe.determinize(state, player, rng).tobytes() != first:
            return
    found = (
        f"history {double.history} is the same to him, yet {_PATIENCE} draws gave a single world"
    )
    raise Broken(found, player=player)


# ---- before and after an action ------------------------------------------------------------------


@law
def seen_and_determinize_agree(
    probe: Probe, before: Node, action: int, after: Node, player: int, rng: Words
) -> None:
    """``determinize`` redraws only what ``seen`` has kept from the player.

    Without the tree: draw a world after an action. Suppose that one action leads to it from a world
    before, and that another one there shows the player what he has seen; then the former must show
    him the same. (A game may forget, in the very step that uses it, a secret that decides what is
    seen. There this could be wrong, and only there.)
    """
    token = probe.seen(before.state, action, player)
    words = rng.copy()
    drawn = probe.determinize(after.state, player, rng)
    if drawn.tobytes() == after.state.tobytes():
        return
    for state in (before.state, probe.determinize(before.state, player, words)):
        actions = look(probe, state).actions
        some = some_actions(actions, rng, action)
        other = _other_token(probe, state, some, player, token, drawn)
        if other is not None and len(some) < len(actions):
            # The action that clears the game may have been left out.
            other = _other_token(probe, state, actions, player, token, drawn)
        if other is not None:
            found = (
                f"he has just seen {token} and gets a world in which he would have seen {other}: "
                "either 'seen' tells him too much or 'determinize' changes what he knows"
            )
            raise Broken(found, player=player)


def _other_token(
    probe: Probe, before: State, actions: Iterable[int], player: int, token: int, drawn: State
) -> int | None:
    """What the actions from ``before`` to ``drawn`` show, if only others show ``token``."""
    tokens = {action: probe.seen(before, action, player) for action in actions}
    if token not in tokens.values():
        return None
    leading = [
        action for action in tokens if probe.step(before, action).tobytes() == drawn.tobytes()
    ]
    shown = {tokens[action] for action in leading}
    return None if token in shown or not shown else shown.pop()


# ---- playing on ----------------------------------------------------------------------------------


def play_on(probe: Probe, node: Node, player: int, amounts: dict[str, float], rng: Words) -> None:
    """Play at random from a world of ``player``: it obeys the laws of any other state."""
    words = rng.copy()
    world = probe.determinize(node.state, player, rng)
    probe.enter_world(player, words)
    here = look(probe, world)
    place = probe.world_note
    played: list[int] = []
    while here.turn != OVER and len(played) < _LONGEST_PLAY:
        if here.turn == CHANCE:
            action = sample_gives_legal_outcomes(probe, here, rng)
        else:
            action = here.actions[below(rng, len(here.actions))]
        played.append(action)
        probe.world_note = f"{place} and then {played}"
        here = look(probe, probe.step(here.state, action))
        check_position(probe, here, amounts)
    probe.leave_world()
