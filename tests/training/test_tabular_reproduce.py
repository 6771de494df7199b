"""Repeating published experiments: counts, blocks, checks, and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from common.errors import MasqueradeError
from envs import make_game
from experiments.liars_dice.tables import (
    Block,
    Check,
    MatchPlan,
    _count,
    main,
    play_plan,
    read_experiment,
    row_of,
    values_of,
)
from tests.support.liars_dice_table import random_game
from tests.support.tabular import THESIS

CONFIGS = Path(__file__).parents[2] / "experiments" / "liars_dice" / "configs"
EXPERIMENTS = [path for path in sorted(CONFIGS.glob("*.yaml")) if "\ntitle:" in path.read_text()]
SARSA = {"id": "sarsa", "params": {**THESIS, "opponent_model": {"id": "lies", "reading": "code"}}}
Q = {"id": "q_learning", "params": THESIS}


def plan(blocks: Any) -> MatchPlan:
    return MatchPlan(name="match", agents=[SARSA, Q], blocks=blocks)


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
    block = _count(game, np.array(returns), 1.0, ())
    assert block.games == 40
    assert block.wins == tuple(wins)
    assert block.rounds_lost == tuple(lost)


def test_a_new_start_between_blocks_forgets_nothing() -> None:
    def total(blocks: list[Block]) -> list[Any]:
        lost = np.sum([block.rounds_lost for block in blocks], axis=0)
        return [sum(block.games for block in blocks), lost.tolist()]

    whole = play_plan(plan(120), seed=3)
    parts = play_plan(plan([50, 40, 30]), seed=3)
    assert [block.games for block in parts] == [50, 40, 30]
    assert total(whole) == total(parts)
    other = play_plan(plan(120), seed=4)
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


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda p: p.stem)
def test_every_configuration_can_be_played(path: Path) -> None:
    experiment = read_experiment(path)
    assert experiment.seeds >= 10
    for match in experiment.plans():
        short = match.replace(blocks=(2,) * len(match.blocks))
        assert sum(block.games for block in play_plan(short, 0)) == 2 * len(match.blocks)
    for check in experiment.checks:
        match = next(match for match in experiment.matches if match.name == check.match)
        assert check.block is None or check.block < len(match.blocks)


def small(tmp_path: Path, **changes: Any) -> Path:
    content = {
        "title": "small",
        "seeds": 2,
        "matches": [{"name": "m", "agents": [SARSA, "random"], "blocks": [5, 5]}],
        "checks": [{"id": "A", "what": "win_rate", "match": "m", "low": -1e4, "high": 1e4}],
        **changes,
    }
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_the_command_prints_a_table_and_writes_all_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    assert main(["--config", str(small(tmp_path)), "--out", str(out)]) == 0
    assert "| A | win_rate: m, all blocks |" in capsys.readouterr().out
    written = json.loads(out.read_text())
    assert written["checks"][0]["verdict"] == "hit"
    assert [block["games"] for block in written["matches"]["m"][1]] == [5, 5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seedz": 1}, "unknown option 'seedz': did you mean 'seeds'"),
        ({"matches": [{"name": "m", "agents": ["sarsa", "salsa"], "blocks": [1]}]}, "'salsa'"),
        ({"checks": [{"id": "A", "what": "win_rate", "match": "n"}]}, "unknown match 'n'"),
        ({"checks": [{"id": "A", "what": "winrate", "match": "m"}]}, "what must be 'win_rate' or"),
        ({"seeds": 1}, "seeds must be a whole number from 2"),
        ({"seeds": "x"}, "seeds must be a whole number from 2"),
        ({"matches": 7}, "matches must be a list, not 7"),
        ({"matches": [{"nane": "m", "agents": ["sarsa", "random"]}]}, "did you mean 'name'"),
        ({"matches": [{"name": "m", "agents": [7, "random"]}]}, "an agent must be a name"),
        ({"matches": [{"name": "m", "agents": ["sarsa"], "blocks": [0]}]}, "blocks must be"),
        ({"checks": [{"id": "A", "match": "m", "block": 2}]}, "has no block 2"),
        ({"game": {"dise": 3}}, "did you mean 'dice'"),
        ({"defaults": {"exploration": "much"}}, "exploration must be"),
    ],
)
def test_bad_configurations_get_one_line(
    changes: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = small(tmp_path, **changes)
    assert main(["--config", str(path), "--out", str(tmp_path / "out.json")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_three_learners_are_too_many() -> None:
    three = MatchPlan(name="m", agents=[SARSA, Q, Q], blocks=1, game={"num_players": 3})
    with pytest.raises(MasqueradeError, match="needs one learner or two, not 3"):
        play_plan(three, 0)
