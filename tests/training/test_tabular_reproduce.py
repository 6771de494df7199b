"""Repeating published experiments on Liar's Dice: counts, blocks and checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envs import make_game
from experiments.liars_dice import tables
from experiments.liars_dice.tables import (
    GROUPS,
    Block,
    Check,
    MatchPlan,
    count,
    play_plan,
    row_of,
    values_of,
)
from experiments.runner import Settings
from tests.support.liars_dice_table import random_game
from tests.support.tabular import THESIS

SARSA = {"id": "sarsa", "params": {**THESIS, "opponent_model": {"id": "lies", "reading": "code"}}}
Q = {"id": "q_learning", "params": THESIS}


def plan(blocks: list[int]) -> MatchPlan:
    return MatchPlan("match", [SARSA, Q], blocks, {}, {})


@pytest.mark.parametrize("num_players", [2, 3])
def test_wins_and_lost_rounds_follow_from_what_was_paid(num_players: int) -> None:
    game = make_game("liars_dice_v0", num_players=num_players, dice=3, rewards="dice")
    returns, lost, wins = [], np.zeros(num_players, int), np.zeros(num_players, int)
    for seed in range(40):
        position = random_game(game, seed)
        left = game.record(position.state).dice_left[:num_players]
        returns.append(position.returns())
        lost += 3 - left
        wins += left > 0
    block = count(game, np.array(returns), 1.0, ())
    assert block.games == 40
    assert block.wins == tuple(wins)
    assert block.rounds_lost == tuple(lost)


def test_a_new_start_between_blocks_forgets_nothing() -> None:
    def total(blocks: list[Block]) -> list[Any]:
        lost = np.sum([block.rounds_lost for block in blocks], axis=0)
        return [sum(block.games for block in blocks), lost.tolist()]

    whole = play_plan(plan([120]), seed=3)
    parts = play_plan(plan([50, 40, 30]), seed=3)
    assert [block.games for block in parts] == [50, 40, 30]
    assert total(whole) == total(parts)
    other = play_plan(plan([120]), seed=4)
    assert total(whole) != total(other)


def blocks(wins: int, games: int = 10) -> list[Block]:
    return [Block(games, (wins, games - wins), (30, 40), 2.0, (120, 120))]


def test_checks_take_the_right_numbers() -> None:
    played = {"a": [blocks(7), blocks(9)], "b": [blocks(5), blocks(5)]}

    def values(**check: Any) -> list[float]:
        return values_of(Check(id="x", match="a", **check), played).tolist()

    assert values(what="win_rate") == [70.0, 90.0]
    assert values(what="gain", minus="b") == [20.0, 40.0]
    assert values(what="rounds") == [7.0, 7.0]
    assert values(what="lost_share") == pytest.approx([300 / 7, 300 / 7])
    assert values(what="entries") == [120.0, 120.0]
    assert values(what="speed", published=16.0) == [80.0, 80.0]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(50, 60, "hit"), (56, 60, "MISS"), (None, 54, "MISS"), (55, None, "hit"), (None, None, "")],
)
def test_a_miss_is_called_a_miss(low: float | None, high: float | None, verdict: str) -> None:
    check = Check(id="x", match="a", low=low, high=high)
    row = row_of(check, {"a": [blocks(55, 100), blocks(55, 100)]})
    assert (row.ours, row.verdict) == (pytest.approx(55.0), verdict)
    unsure = row_of(check, {"a": [blocks(4), blocks(7)]})
    assert unsure.verdict == ("not decided" if verdict else "")
    assert unsure.note == "(40.00 to 70.00)"


@pytest.mark.parametrize("name", ["plain", "profiled", "gain", "others"])
def test_every_experiment_can_be_played(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = tables.read(name)
    assert content["seeds"] >= 10
    monkeypatch.setattr(tables, "read", lambda _: {**content, "seeds": 2})
    rows = list(GROUPS[name](Settings(scale=1e-6)))
    assert [row.id for row in rows] == [check["id"] for check in content["checks"]]
