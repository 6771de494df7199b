"""The table of hold'em's blocks: what it tells apart, and that it learns within its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.holdem.abstraction import encode_blocks
from agents.learning.learner import Opponents, Task
from agents.tabular.learner import QLearning
from agents.tabular.model import TabularSettings
from arena.match import play_match
from envs import make_game
from envs.core.position import Position
from tests.support.holdem_table import deal, play

HANDS = ["Ah Kh", "7d 2c", "Qs Qd"]


def key(position: Position, player: int) -> int:
    keys = np.zeros(position.game.facts.num_actions, np.uint64)
    encode_blocks(position.state, position.game.rules, player, np.uint64(0), keys)
    assert len(set(keys.tolist())) == len(keys)
    return int(keys[0])


def position_of(hands: list[str], *events: str | int, **options: Any) -> Position:
    options = {"observation": "blocks", "menu": "thesis", "fold_when_free": "fold", **options}
    return play(deal(hands, **options), *events)


@pytest.mark.parametrize("blocks", [1, (1, 2), (2, 7), (3, 4, 5, 6), (1, 2, 3, 4, 5, 6, 7)])
@pytest.mark.parametrize("history", [0, 1])
def test_positions_have_one_entry_exactly_if_their_observations_are_equal(
    blocks: Any, history: int
) -> None:
    seen: dict[bytes, int] = {}
    game = make_game("holdem_v0", preset="thesis", blocks=blocks, history=history)
    rng = np.random.default_rng(0)
    for number in range(120):
        position = game.new_position(number)
        while not position.is_over:
            if position.turn >= 0:
                shown = position.observation(position.turn).tobytes()
                found = key(position, position.turn)
                assert seen.setdefault(shown, found) == found
            position.apply(int(rng.choice(position.legal_actions())))
    assert len(set(seen.values())) == len(seen)


def test_a_table_of_own_cards_has_169_states() -> None:
    game = make_game("holdem_v0", preset="thesis", blocks=1, history=0)
    settings = TabularSettings(abstraction="blocks", reward="change", exploration=1.0)
    learner = QLearning(Task(game), settings)
    learner.update(20_000)
    assert len(learner.model.table) == 169 * 5


def test_a_bounded_table_of_cards_and_odds_wins_from_random_play() -> None:
    game = make_game("holdem_v0", preset="thesis", num_players=2, blocks=(1, 2, 6), history=0)
    settings = TabularSettings(
        abstraction="blocks",
        reward="change",
        learning_rate="1/n",
        exploration=0.3,
        max_entries=2000,
        when_full="forget",
    )
    learner = QLearning(Task(game, 0, Opponents([make_agent("random", game)])), settings)
    learner.update(30_000)
    assert len(learner.model.table) <= 2000
    result = play_match(game, [learner.player(), make_agent("random", game)], 20_000)
    assert result.mean_returns[0] > result.half_widths[0]


def test_the_same_cards_in_another_order_of_the_flop_are_the_same_state() -> None:
    flops = ("Kd 9s 4c", "4c Kd 9s")
    keys = {
        key(position_of(HANDS, "call", "call", "call", flop, blocks=(1, 2)), 1) for flop in flops
    }
    assert len(keys) == 1
