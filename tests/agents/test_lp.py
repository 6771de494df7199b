"""Exact values of small games by linear programming, as published or as fractions known to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.cfr.lp import solve_lp
from agents.cfr.response import expected_values, exploitability
from agents.cfr.tree import GameTree
from common.errors import MasqueradeError
from envs import make_game

ROUND: dict[str, Any] = {"single_round": True, "dice": 1}

VALUES: list[tuple[str, dict[str, Any], float]] = [
    ("kuhn_v0", {}, -1 / 18),
    ("leduc_v0", {}, -0.0856064240780),
    ("liars_dice_v0", ROUND, -1 / 9),
    ("liars_dice_v0", {**ROUND, "raising": "count_first", "wild": "ones_unbiddable"}, -7 / 327),
]
SLOW_VALUES: list[tuple[str, dict[str, Any], float]] = [
    ("liars_dice_v0", {**ROUND, "raising": "count_first"}, -1 / 9),
    ("liars_dice_v0", {"preset": "openspiel"}, -7 / 258),
    ("liars_dice_v0", {**ROUND, "dice": [2, 1], "wild": "ones_unbiddable"}, 7 / 27),
]


def check(game_id: str, options: dict[str, Any], value: float) -> None:
    tree = GameTree(make_game(game_id, **options))
    solution = solve_lp(tree)
    assert solution.value == pytest.approx(value, abs=1e-10)
    # Both players' policies are in equilibrium, and they are worth what was promised.
    assert exploitability(tree, solution.probs) < 1e-8
    np.testing.assert_allclose(
        expected_values(tree, solution.probs), [solution.value, -solution.value], atol=1e-8
    )


@pytest.mark.parametrize(("game_id", "options", "value"), VALUES)
def test_value_and_equilibrium(game_id: str, options: dict[str, Any], value: float) -> None:
    check(game_id, options, value)


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "options", "value"), SLOW_VALUES)
def test_value_of_larger_games(game_id: str, options: dict[str, Any], value: float) -> None:
    check(game_id, options, value)


def test_seat_matters_but_not_who_is_called_first() -> None:
    options = {**ROUND, "faces": 3, "dice": [2, 1]}
    first = solve_lp(GameTree(make_game("liars_dice_v0", **options))).value
    options |= {"dice": [1, 2], "first_player": 1}
    assert solve_lp(GameTree(make_game("liars_dice_v0", **options))).value == pytest.approx(-first)


@pytest.mark.parametrize("method", ["highs-ds", "highs-ipm"])
def test_every_method_finds_the_value(method: str) -> None:
    tree = GameTree(make_game("leduc_v0"))
    assert solve_lp(tree, method).value == pytest.approx(-0.0856064240780, abs=1e-9)


def test_what_the_players_own_choices_rule_out_is_marked() -> None:
    tree = GameTree(make_game("leduc_v0"))
    solution = solve_lp(tree)
    assert 0 < solution.is_reached.sum() < tree.num_infosets
    is_out = ~solution.is_reached[tree.sequence_infosets]
    np.testing.assert_array_equal(solution.probs[is_out], tree.uniform()[is_out])


def test_games_for_more_players_are_refused() -> None:
    with pytest.raises(
        MasqueradeError, match="is no game of two players for a constant sum: use CFRSolver"
    ):
        solve_lp(GameTree(make_game("kuhn_v0", num_players=3)))


def test_unknown_method_is_refused() -> None:
    with pytest.raises(MasqueradeError, match="choose from highs, highs-ds, highs-ipm"):
        solve_lp(GameTree(make_game("kuhn_v0")), "simplex")
