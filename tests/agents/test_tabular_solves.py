"""Every table learner finds the best answer to a fixed opponent, and double learning its point."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.learning.learner import Opponents
from agents.tabular.learner import TabularAgent
from envs import make_game
from envs.core.position import Position
from tests.support.tabular import learner
from tests.support.views import views_of

KUHN = make_game("kuhn_v0")

Policy = dict[tuple[int, ...], int]


def value_of(position: Position, seat: int, policy: Policy) -> float:
    """What ``policy`` earns in ``seat`` against uniform random play, by enumeration."""
    if position.is_over:
        return float(position.returns()[seat])
    if position.is_chance:
        outcomes = position.chance_outcomes()
    elif position.turn == seat:
        outcomes = [(policy[tuple(position.tokens(seat))], 1.0)]
    else:
        legal = position.legal_actions()
        outcomes = [(action, 1 / len(legal)) for action in legal]
    total = 0.0
    for action, prob in outcomes:
        after = position.copy()
        after.apply(action)
        total += prob * value_of(after, seat, policy)
    return total


def decisions(position: Position, seat: int, found: dict[tuple[int, ...], Position]) -> None:
    """All decisions of ``seat``, with one position of each."""
    if position.is_over:
        return
    if position.turn == seat and not position.is_chance:
        found.setdefault(tuple(position.tokens(seat)), position)
    actions = (
        [a for a, _ in position.chance_outcomes()]
        if position.is_chance
        else position.legal_actions()
    )
    for action in actions:
        after = position.copy()
        after.apply(action)
        decisions(after, seat, found)


def best_value(seat: int) -> float:
    """The value of the best of all policies of a seat, each tried."""
    places: dict[tuple[int, ...], Position] = {}
    decisions(KUHN.new_position(), seat, places)
    return max(
        value_of(KUHN.new_position(), seat, dict(zip(places, actions, strict=True)))
        for actions in itertools.product((0, 1), repeat=len(places))
    )


BEST = [best_value(seat) for seat in range(2)]


def learnt_value(player: TabularAgent, seat: int) -> float:
    places: dict[tuple[int, ...], Position] = {}
    decisions(KUHN.new_position(), seat, places)
    policy = {}
    for tokens, position in places.items():
        views = views_of([position])
        views.keys = np.array([position.key(seat)], np.uint64)
        policy[tokens] = int(player.policy(views)[0].argmax())
    return value_of(KUHN.new_position(), seat, policy)


FALLING = {"exploration": 1.0, "exploration_end": 0.02, "exploration_schedule": "exponential"}
SOLVERS: list[tuple[str, dict[str, Any]]] = [
    ("q_learning", {"learning_rate": "1/n"}),
    ("sarsa", {"learning_rate": 0.02}),
    ("expected_sarsa", {"learning_rate": 0.02}),
    ("double_q", {"learning_rate": 0.02}),
    ("q_lambda", {"learning_rate": 0.02}),
    ("sarsa_lambda", {"learning_rate": 0.02}),
    ("sarsa", {"learning_rate": 0.02, "updates": "backward"}),
    ("q_learning", {"learning_rate": 0.02, "updates": "backward"}),
]


def test_the_best_answers_are_those_known() -> None:
    """Worked out by hand: bet with the king, and with everything against a folder half the time."""
    assert pytest.approx([0.5, 5 / 12]) == BEST


@pytest.mark.parametrize(("rule", "settings"), SOLVERS)
def test_it_learns_the_best_answer_to_random_play(rule: str, settings: dict[str, Any]) -> None:
    opponents = Opponents([make_agent("random", KUHN)], seed=0)
    made = learner(
        KUHN, rule, seed=1, opponents=opponents, exploration_games=30_000, **FALLING, **settings
    )
    made.update(30_000)
    player = made.player()
    assert isinstance(player, TabularAgent)
    for seat in range(2):
        assert learnt_value(player, seat) == pytest.approx(BEST[seat])


def test_an_untrained_table_does_not_know_the_best_answer() -> None:
    player = make_agent("q_learning", KUHN)
    assert isinstance(player, TabularAgent)
    assert all(learnt_value(player, seat) < BEST[seat] - 0.05 for seat in range(2))


def test_double_learning_does_not_believe_in_luck() -> None:
    """Rewards are a coin's, whatever is played: all is worth 0, yet the best of many looks good."""
    game = make_game("liars_dice_v0", dice=3)
    luck = {
        "abstraction": "blind",
        "reward": "tests.support.planted_tables:reward_coin",
        "exploration": 1.0,
    }
    means = {}
    for rule in ("q_learning", "double_q"):
        made = learner(game, rule, seed=2, learning_rate=0.1, **luck)
        made.update(3000)
        _, values, visits = made.model.table.entries()
        means[rule] = float(np.average(values, weights=visits))
    assert means["q_learning"] > 3.0
    assert abs(means["double_q"]) < 0.5
