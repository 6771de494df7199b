"""The laws of ``seen``: what players notice, and what follows when they notice the same.

Two histories are the same to a player when the player has seen the same tokens along both.
:class:`Double` keeps such a second history beside the one that is played, without any knowledge of
the game: at every step it plays an action at random, among those of which the player sees just what
he sees of the true one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from envs.core.checking.positions import Node, field_at, look, something_is_at_stake
from envs.core.checking.probe import Broken, Probe, law
from envs.core.game import State
from envs.core.kernels import CHANCE, PUBLIC, UNSEEN
from envs.core.rng import Words, below

_MOST_ACTIONS = 24
"""Where more actions are legal, so many of them stand for all."""


def some_actions(actions: tuple[int, ...], rng: Words, wanted: int | None = None) -> list[int]:
    """All actions, or a random choice of too many; ``wanted`` is among them if it is legal."""
    if len(actions) <= _MOST_ACTIONS:
        return list(actions)
    chosen = {actions[below(rng, len(actions))] for _ in range(_MOST_ACTIONS)}
    return sorted(chosen | ({wanted} & set(actions) if wanted is not None else set()))


# ---- one position --------------------------------------------------------------------------------


def check_tokens(probe: Probe, node: Node, rng: Words) -> None:
    """Check what everybody would see of the actions that are legal now."""
    actions = some_actions(node.actions, rng)
    if node.turn in probe.players:
        movers_see_their_own_action(probe, node, actions)
    public = {action: probe.seen(node.state, action, PUBLIC) for action in actions}
    for player in probe.players:
        everybody_sees_what_is_public(probe, node, player, public)


@law
def movers_see_their_own_action(probe: Probe, node: Node, actions: list[int]) -> None:
    """A player notices his own action and can tell it from every other (perfect recall)."""
    tokens: dict[int, int] = {}
    for action in actions:
        token = probe.seen(node.state, action, node.turn)
        if token == UNSEEN:
            raise Broken("the mover does not notice it", player=node.turn, action=action)
        if token in tokens:
            raise Broken(
                f"the mover sees {token}, as for action {tokens[token]}",
                player=node.turn,
                action=action,
            )
        tokens[token] = action


@law
def everybody_sees_what_is_public(
    probe: Probe, node: Node, player: int, public: dict[int, int]
) -> None:
    """Two actions that differ for ``PUBLIC`` differ for every player, and are noticed.

    Equivalently, the public token is a function of the token of any player, with ``UNSEEN`` going
    to ``UNSEEN``.
    """
    publics = {UNSEEN: (UNSEEN, "nothing happens")}
    for action, token in public.items():
        own = probe.seen(node.state, action, player)
        known, source = publics.setdefault(own, (token, f"action {action} is played"))
        if known != token:
            found = f"he sees {own}, as when {source}, but the public sees {token}, not {known}"
            raise Broken(found, player=player, action=action)


# ---- two histories that are the same to a player -------------------------------------------------


class View(NamedTuple):
    """All that the contract gives to a player at a position, and the history that led there."""

    is_mover: bool
    actions: tuple[int, ...]
    """Legal actions if the player is to move."""
    observation: bytes
    stake: float
    """What is at stake if the player is to move."""
    history: tuple[int, ...]


def view(probe: Probe, node: Node, player: int, history: list[int]) -> View:
    """What ``player`` is given at ``node``."""
    is_mover = node.turn == player
    observation = probe.observe(node.state, player).tobytes()
    stake = something_is_at_stake(probe, node.state) if is_mover else 0.0
    return View(is_mover, node.actions if is_mover else (), observation, stake, tuple(history))


def check_same_information(probe: Probe, player: int, one: View, other: View) -> None:
    """Check two views of a player who has seen the same in both histories."""
    players_notice_that_they_are_to_move(probe, player, one, other)
    an_information_set_has_one_set_of_actions(probe, player, one, other)
    observations_tell_no_more_than_was_seen(probe, player, one, other)
    stakes_tell_no_more_than_was_seen(probe, player, one, other)


@law
def players_notice_that_they_are_to_move(probe: Probe, player: int, one: View, other: View) -> None:
    """If a player has seen the same in two histories, it is his turn after both or after neither.

    So whatever hands him the turn is noticed by him, if only as "something happened".
    """
    if one.is_mover != other.is_mover:
        raise Broken(
            f"only one of {_both(one, other)}, where he has seen the same, is his turn",
            player=player,
        )


@law
def an_information_set_has_one_set_of_actions(
    probe: Probe, player: int, one: View, other: View
) -> None:
    """If a player to move has seen the same in two histories, the same actions are legal."""
    if one.actions != other.actions:
        legal = f"{list(one.actions)} and {list(other.actions)}"
        found = f"he has seen the same in {_both(one, other)}, but legal are {legal}"
        raise Broken(found, player=player)


@law
def observations_tell_no_more_than_was_seen(
    probe: Probe, player: int, one: View, other: View
) -> None:
    """If a player has seen the same in two histories, his observations are equal, bit for bit."""
    if one.observation != other.observation:
        first, second = (np.frombuffer(v.observation, np.float32) for v in (one, other))
        at = int(np.flatnonzero(first.view(np.uint32) != second.view(np.uint32))[0])
        entry = f"entry {at}, in field '{field_at(probe, at)}'"
        found = f"{entry}, tells {_both(one, other)} apart, where he has seen the same"
        raise Broken(found, player=player)


@law
def stakes_tell_no_more_than_was_seen(probe: Probe, player: int, one: View, other: View) -> None:
    """If a player to move has seen the same in two histories, as much is at stake for him."""
    if one.stake != other.stake:
        found = f"{one.stake} and {other.stake} tell {_both(one, other)} apart"
        raise Broken(f"{found}, where he has seen the same", player=player)


def _both(one: View, other: View) -> str:
    return f"histories {list(one.history)} and {list(other.history)}"


class Double:
    """A history that ``player`` cannot tell from the one that is played.

    Attributes:
        log_ratio: how much likelier chance makes this history than the true one, as a logarithm.
        could_differ: whether there ever was anything that the player could not see.
    """

    def __init__(self, player: int, state: State) -> None:
        """Begin as the truth."""
        self.player = player
        self.could_differ = False
        self.restart(state, [])

    def restart(self, state: State, history: list[int]) -> None:
        """Become the truth again, after the truth has shown something that rules the double out."""
        self.state = state
        self.history = list(history)
        self.log_ratio = 0.0

    def follow(self, probe: Probe, node: Node, action: int, after: State, rng: Words) -> None:
        """Play something of which the player sees just what he sees of ``action`` in ``node``."""
        token = probe.seen(node.state, action, self.player)
        mine = look(probe, self.state)
        actions = some_actions(mine.actions, rng, action)
        tokens = [probe.seen(self.state, b, self.player) for b in actions]
        choices = [b for b, other in zip(actions, tokens, strict=True) if other == token]
        was_cut = len(actions) < len(mine.actions)
        self.could_differ |= len(choices) > 1 or UNSEEN in (token, *tokens) or was_cut
        if choices:
            choice = choices[below(rng, len(choices))]
            self.log_ratio += _log_prob(probe, mine, choice) - _log_prob(probe, node, action)
            self.state = probe.step(self.state, choice)
            self.history.append(choice)
        elif token != UNSEEN:
            self.restart(after, [*probe.history, action])


def _log_prob(probe: Probe, node: Node, action: int) -> float:
    return math.log(probe.chance(node.state)[action]) if node.turn == CHANCE else 0.0
