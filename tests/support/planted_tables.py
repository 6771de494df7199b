"""Abstractions, rewards, an opponent model and a player for tests of table learners."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.base import Actions, Agent, Views
from agents.tabular.games import act_rows, make_workspace
from agents.tabular.hooks import ADJUST, ENCODE, OBSERVE, REWARD
from agents.tabular.model import TabularModel
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.kuhn.kernels import STATE
from envs.liars_dice.kernels import STATE as DICE_STATE


@compiled(ENCODE)
def encode_card(state, rules, player, infoset_key, keys):
    """Kuhn poker by the own card alone."""
    card = state.view(STATE)[0].cards[player]
    for action in range(keys.size):
        keys[action] = np.uint64(1 + 2 * card + action)


@compiled(ENCODE)
def encode_others_card(state, rules, player, infoset_key, keys):
    """Kuhn poker by the card of the other: a cheat."""
    encode_card(state, rules, 1 - player, infoset_key, keys)


@compiled(ENCODE)
def encode_nothing(state, rules, player, infoset_key, keys):
    """No keys at all."""
    keys[:] = 0


@compiled(ENCODE)
def encode_alike(state, rules, player, infoset_key, keys):
    """The same key for all actions."""
    keys[:] = infoset_key


@compiled(ADJUST)
def adjust_by_hidden_die(state, rules, player, mask, values, table_max, opponent_ids, memory):
    """Liar's Dice: look at the first die of the other."""
    values[0] += state.view(DICE_STATE)[0].dice[1 - player, 0]


@compiled(OBSERVE)
def observe_nothing(state, rules, player, opponent_ids, memory):
    """Nothing is remembered."""


class CheatingModel:
    """An opponent model that looks under the cup of the other."""

    observe_hook = staticmethod(observe_nothing)
    adjust_hook = staticmethod(adjust_by_hidden_die)
    uses_table_max = by_opponent = False

    def __init__(self, game: Game, _settings: Any) -> None:
        self.memory = np.zeros((1, 1), np.uint8)

    def grow(self, num_rows: int) -> None:
        """One row is enough."""


@compiled(REWARD)
def reward_seven(before, after, rules, player, levels):
    """Seven at every turn."""
    return 7.0


@compiled(REWARD)
def reward_coin(before, after, rules, player, levels):
    """Liar's Dice: 1 or -1 by whether the others' dice add up to an even number."""
    s = before.view(DICE_STATE)[0]
    total = 0
    for seat in range(rules[0]):
        if seat != player:
            for die in range(s.dice_left[seat]):
                total += s.dice[seat, die]
    return 1.0 if total % 2 == 0 else -1.0


class FrozenTable(Agent):
    """Plays as a table would in compiled games: without drawing for the hidden part of a world."""

    def __init__(self, game: Game, model: TabularModel) -> None:
        super().__init__(game)
        self.model = model
        self.work = make_workspace(game, 1, model.has_episode, model.has_events)

    def act(self, views: Views) -> Actions:
        actions = np.empty(len(views), np.int64)
        worlds = views.first_worlds()
        who = np.zeros(self.game.facts.num_players, np.int64)
        policy = int(self.model.record["policy"][0])
        game = self.game
        act_rows(
            game.kernels,
            game.rules,
            self.model.arrays,
            views.seats,
            worlds,
            views.keys,
            views.rngs,
            who,
            policy,
            -1.0,
            self.work,
            actions,
            np.empty((0, 0)),
        )
        return actions
