"""The rule players of No Thanks!: hand-worked decisions, known results, the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.no_thanks.rules import EQUILIBRIUM_THRESHOLD
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.position import Position
from envs.core.rng import new_rng, stream
from envs.no_thanks import NoThanks
from experiments.no_thanks.thresholds import (
    find_equilibrium,
    mean_return,
    mixed_equilibrium,
)

PAY, TAKE = 0, 1
RULES = ("rule", "greedy", "sequence", "always_pay", "always_take")


def choice(rule: str, position: Position, **params: Any) -> int:
    batch = Batch(position.game, 1, new_rng(0), new_rng(1))
    batch.begin(np.arange(1), np.arange(1))
    batch._states[0] = position.state
    batch.turns[0] = position.turn
    agent = make_agent(f"no_thanks_{rule}", position.game, **params)
    return int(agent.act(batch.views(np.arange(1)))[0])


def after(deck: Sequence[int], actions: Sequence[int], **options: Any) -> Position:
    position = NoThanks(**options).deal(list(deck))
    for action in actions:
        position.apply(action)
    return position


def test_the_rule_compares_cost_less_chips_with_its_threshold() -> None:
    assert choice("rule", after([12], [])) == TAKE
    assert choice("rule", after([13], [])) == PAY
    assert choice("rule", after([13], [PAY])) == TAKE
    assert choice("rule", after([13], [PAY]), threshold=11) == PAY
    assert choice("rule", after([35, 34], [TAKE]), threshold=-1) == TAKE  # saves a point
    assert choice("rule", after([34, 35], [TAKE]), threshold=-1) == PAY  # costs nothing
    assert choice("rule", after([33, 35, 34], [TAKE, TAKE]), threshold=-35) == TAKE


def test_the_greedy_player_wants_a_share_of_the_cost() -> None:
    assert choice("greedy", after([4], [PAY] * 3)) == PAY
    assert choice("greedy", after([4], [PAY] * 4)) == TAKE
    assert choice("greedy", after([4], [PAY] * 2), share=0.5) == TAKE
    assert choice("greedy", after([20, 21], [TAKE])) == TAKE


def test_the_sequence_player_counts_what_may_still_come() -> None:
    # Of a hidden deck all of 3 to 35 may come: 20 / 33 is 0.
    assert choice("sequence", after([20], [PAY])) == TAKE
    assert choice("sequence", after([20], [])) == PAY
    # 20 is alone where the others are known not to come.
    few = {"lowest": 18, "highest": 22, "removed": 2, "known_future": True}
    assert choice("sequence", after([20, 18, 22], [PAY] * 20, **few)) == PAY
    assert choice("sequence", after([20, 18, 22], [PAY] * 21, **few)) == TAKE
    assert choice("sequence", after([20, 21, 22], [PAY] * 7, **few)) == TAKE
    # What another player has taken does not come any more.
    assert choice("sequence", after([21, 20, 18], [TAKE, *[PAY] * 10], **few)) == PAY
    assert choice("sequence", after([21, 20, 18], [TAKE, *[PAY] * 12], **few)) == TAKE


def test_two_players_never_think() -> None:
    assert choice("always_pay", after([3], [PAY] * 32)) == PAY
    assert choice("always_pay", after([3], [PAY] * 33)) == TAKE
    assert choice("always_take", after([35], [])) == TAKE


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "options", [{}, {"preset": "small"}, {"preset": "always_pay"}, {"num_players": 7}]
)
def test_rules_play_every_variant_alike_whatever_the_batch(
    rule: str, options: dict[str, Any]
) -> None:
    game = make_game("no_thanks_v0", **options)
    agent, other = make_agent(f"no_thanks_{rule}", game), make_agent("random", game)
    seats = [agent, other, *[agent] * (game.facts.num_players - 2)]
    whole = play_match(game, seats, 50, seed=2)
    small = play_match(game, seats, 50, seed=2, batch_size=7)
    assert (whole.returns == small.returns).all()


@pytest.mark.parametrize(
    ("rule", "params", "options", "expected"),
    [
        ("greedy", {}, {}, (-45, -53, -55)),
        ("greedy", {"share": 0.4}, {}, (-52, -53, -52)),
        ("sequence", {}, {"known_future": True}, (-71, -72, -72)),
    ],
)
def test_among_themselves_rules_get_known_scores(
    rule: str, params: dict[str, Any], options: dict[str, Any], expected: Sequence[float]
) -> None:
    game = make_game("no_thanks_v0", **options)
    agent = make_agent(f"no_thanks_{rule}", game, **params)
    found = play_match(game, [agent] * 3, 4000, seed=0).returns
    errors = found.std(axis=0) / np.sqrt(len(found))
    # Both means have an error, and the known ones are rounded to whole points.
    assert (np.abs(found.mean(axis=0) - expected) < 4 * np.sqrt(2) * errors + 0.5).all()


def test_the_yardstick_is_the_threshold_against_which_least_is_gained() -> None:
    game = NoThanks(returns="place")
    threshold, rows = find_equilibrium(game, range(-10, 19, 2), num_games=100)
    assert threshold == EQUILIBRIUM_THRESHOLD
    gains = {row.threshold: row.gain for row in rows}
    assert gains[12] < min(gains[10], gains[14])


def test_equal_thresholds_share_the_places() -> None:
    game = NoThanks(returns="place")
    mean, error = mean_return(game, [12, 12, 12], 50, stream(0, "x"))
    assert mean == pytest.approx(0, abs=1e-12)
    assert error > 0


def test_thresholds_drawn_by_chance_leave_nothing_to_gain() -> None:
    game = NoThanks(returns="place")
    mix, gain = mixed_equilibrium(game, [-5, 7, 12, 14], num_games=60)
    assert mix.sum() == pytest.approx(1)
    assert gain < 0.01
    assert 0.2 < mix[0] < 0.6  # some leave every card to the others
    assert mix.max() < 0.9
    with pytest.raises(OptionError, match="three players only"):
        mixed_equilibrium(NoThanks(num_players=4), [0, 12], num_games=1)
