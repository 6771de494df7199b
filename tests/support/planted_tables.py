"""A coding, a reward and a player for tests of table learners."""

from __future__ import annotations

import numpy as np

from agents.base import Actions, Agent, Views
from agents.tabular.games import act_rows, make_desk
from agents.tabular.hooks import ENCODE, REWARD
from agents.tabular.values import Mind
from envs.core import Game
from envs.core.compiling import compiled
from envs.kuhn import STATE
from envs.liars_dice import STATE as DICE_STATE


@compiled(ENCODE)
def encode_card(state, rules, player, infoset_key, keys):
    """Kuhn poker by the own card alone."""
    card = state.view(STATE)[0].cards[player]
    for action in range(keys.size):
        keys[action] = np.uint64(1 + 2 * card + action)


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
    """Plays as a mind would in compiled games: without drawing for the hidden part of a world."""

    def __init__(self, game: Game, mind: Mind) -> None:
        super().__init__(game)
        self.mind = mind
        self.desk = make_desk(game, 1, mind.has_trail, mind.has_events)

    def act(self, views: Views) -> Actions:
        actions = np.empty(len(views), np.int64)
        worlds = views._make_worlds(views.rngs.copy())
        who = np.zeros(self.game.facts.num_players, np.int64)
        policy = int(self.mind.record["policy"][0])
        game = self.game
        act_rows(
            game.kernels,
            game.rules,
            self.mind.arrays,
            views.seats,
            worlds,
            views.keys,
            views.rngs,
            who,
            policy,
            -1.0,
            self.desk,
            actions,
            np.empty((0, 0)),
        )
        return actions
