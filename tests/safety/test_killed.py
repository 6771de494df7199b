"""kill -9 in the middle of a write, again and again: going on ends as if nothing had happened.

A child process kills itself with SIGKILL when it puts its k-th file in place, a little before or a
little after. Runs, tournaments, populations and selections of the larger games then go on, and what
they leave is compared, byte for byte, with one that was never disturbed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluate
import train
from agents.learning.files import players
from experiments.holdem import population, selection
from tests.support.sampling import IS_FULL, sample
from tests.support.tiny_runs import CONFIGS, tiny

pytestmark = pytest.mark.alone

GAMES = ("holdem", "no_thanks", "phantom", "scotland_yard")
KILLS = ((2, "before"), (6, "after"), (11, "before"), (17, "after"))
"""At which file, and on which side of putting it in place; later ones by ``make test-all``."""


def dies_at(number: int, side: str, work: Callable[[], int]) -> bool:
    """Work in a child that kills itself at so many files; whether it came so far."""
    pid = os.fork()
    if pid == 0:
        replace, count = os.replace, [0]

        def counted(*paths: Any, **more: Any) -> None:
            count[0] += 1
            if count[0] == number and side == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*paths, **more)
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

        os.replace = counted
        code = 99
        try:
            code = work()
        finally:
            sys.stderr.flush()
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL), f"it ended by itself with {status}"
    return status != 0


def kinds_of(path: Path) -> tuple[str, str]:
    return path.parent.name, tiny(path)[1] if IS_FULL else ""


RUNS = sample([path for path in CONFIGS if path.parent.name in GAMES], kinds_of)


@pytest.mark.parametrize("path", RUNS, ids=str)
def test_a_run_that_is_killed_again_and_again_ends_as_if_it_had_not(
    path: Path, tmp_path: Path
) -> None:
    words, _ = tiny(path)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    begin = ["--config", str(path), "--quiet", *words, "--out"]
    assert train.main([*begin, str(whole)]) == 0

    def work() -> int:
        if (killed / "config.yaml").exists():
            return train.main(["--resume", str(killed), "--quiet"])
        return train.main([*begin, str(killed)])

    num_killed = sum(dies_at(number, side, work) for number, side in KILLS)
    assert num_killed >= 2
    assert work() == 0
    assert (killed / "metrics.csv").read_bytes() == (whole / "metrics.csv").read_bytes()
    assert [p.name for p in players(killed)] == [p.name for p in players(whole)]
    for one, other in zip(players(killed), players(whole), strict=True):
        files = sorted(file.name for file in other.iterdir())
        assert sorted(file.name for file in one.iterdir()) == files
        for name in files:
            assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert not list(killed.rglob("*.partial"))


TOURNAMENTS = {
    "holdem": ["holdem_v0", "holdem_tight", "holdem_call", "random", "--option", "num_players=2"],
    "no_thanks": ["no_thanks_v0", "no_thanks_rule", "no_thanks_greedy", "random"],
    "phantom": ["phantom_v0", "pursuit_belief", "random"],
    "scotland_yard": ["scotland_yard_v0", "pursuit_belief", "random", "--option", "preset=reduced"],
}


@pytest.mark.parametrize("game", list(TOURNAMENTS) if IS_FULL else ["holdem", "scotland_yard"])
def test_a_tournament_that_is_killed_again_and_again_has_the_same_table(
    game: str, tmp_path: Path
) -> None:
    words = ["tournament", *TOURNAMENTS[game], "--games", "60", "--seed", "3", "--out"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert evaluate.main([*words, str(whole)]) == 0

    def work() -> int:
        has_begun = (killed / "tournament.json").exists()
        return evaluate.main([*words, str(killed), *["--resume"] * has_begun])

    num_killed = sum(dies_at(number, side, work) for number, side in ((2, "after"), (3, "before")))
    assert num_killed == 2
    assert work() == 0
    for name in ("summary.json", "report.md"):
        text = (killed / name).read_text().replace(str(killed), str(whole))
        assert text == (whole / name).read_text(), name


SMALL = {"hidden": 8, "learn_start": 32, "num_envs": 8, "batch_size": 16}
POPULATION = {
    "game": {"id": "holdem_v0", "params": {"num_players": 2}},
    "population": {
        "groups": [
            {"name": "net", "size": 2, "steps": 100, "agent": {"id": "dqn", "params": SMALL}},
        ],
        **{"sessions": 3, "measure_games": 40, "final_games": 40, "checkpoints": 2},
    },
}
SELECTION = {
    "game": {"id": "leduc_v0"},
    "selection": {
        "candidates": {"cards": ["*card*"], "all": ["*"]},
        "agent": {"id": "dqn", "params": SMALL},
        **{"rounds": 2, "networks": 1, "steps": 100, "measure_games": 40},
    },
}


@pytest.mark.parametrize(
    ("main", "name", "content"),
    [
        (population.main, "population.json", POPULATION),
        (selection.main, "selection.json", SELECTION),
    ],
    ids=["population", "selection"],
)
def test_a_population_or_selection_that_is_killed_goes_on_to_the_same_end(
    main: Callable[[list[str]], int],
    name: str,
    content: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(content))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    words = ["--config", str(config), "--out"]
    assert main([*words, str(whole)]) == 0
    table = capsys.readouterr().out
    kills = [(5, "before"), (14, "after"), (9, "before"), (20, "after")]
    num_killed = sum(dies_at(*kill, lambda: main([*words, str(killed)])) for kill in kills)
    assert num_killed >= 2
    capsys.readouterr()
    assert main([*words, str(killed)]) == 0
    assert capsys.readouterr().out == table
    text = (killed / name).read_text().replace(str(killed), str(whole))
    assert json.loads(text) == json.loads((whole / name).read_text())
