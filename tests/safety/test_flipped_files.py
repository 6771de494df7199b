"""Files with bits flipped, cut, or with numbers that cannot be: read as they were, or one line.

A seeded loop damages every kind of file that is read; whoever reads it must come to the same, to
something that follows the rules, or refuse it in a line. Any other exception fails the test.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.learning.files import ARRAYS, COMPLETE, HEADER, _sum_of, checkpoints, players
from agents.spec import AgentSpec
from arena.folder import read_tournament
from arena.replay import read_noted, read_position, show
from arena.report import write_report
from arena.report.collect import read_run
from arena.report.tables import to_text
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from common.errors import MasqueradeError
from envs import make_game
from envs.pursuit.board import load_board
from experiments.no_thanks.filling import _kept
from play.catalogue import Catalogue
from play.session import Session
from play.store import Library, Store
from play.table import Table, TableSeat
from tests.support.sampling import IS_FULL
from tests.support.small_files import HAND, TABLE
from training.config import RunConfig
from training.metrics import MetricsFile
from training.run_folder import RunFolder
from training.runner import begin_run, resume_run

NUM_DAMAGED = 300 if IS_FULL else 12
SLOW = ("checkpoint", "summary", "tournament", "unit")
"""Whoever reads these plays or learns on."""
KUHN = make_game("kuhn_v0")
RUNS: dict[str, tuple[dict[str, Any], int]] = {
    "q_learning": ({}, 20),
    "mccfr": ({"threads": 1, "max_infosets": 100}, 40),
    "cfr": ({"threads": 1}, 6),
    "dqn": ({"hidden": [8], "num_envs": 2, "replay_size": 64, "learn_start": 8}, 24),
    "sb3": ({"hidden": [8], "num_envs": 2, "n_steps": 8, "batch_size": 8}, 16),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a run of every learner, a tournament, a game that was kept and a few more files."""
    folder = tmp_path_factory.mktemp("files")
    for agent, (params, steps) in RUNS.items():
        content = {
            "game": {"id": "kuhn_v0"},
            "agent": {"id": agent, "params": params},
            "train": {"steps": steps, "checkpoint_every": steps // 2},
            "eval": {"games": 2, "exploitability": False},
            "log": {"tensorboard": False},
        }
        begin_run(RunConfig.parse(content), folder / agent, is_shown=False)
    agents = tuple(AgentSpec.parse(name) for name in ("random", "kuhn_rule"))
    run_tournament(TournamentSpec("kuhn_v0", agents, deals=2), folder / "tournament")
    position = KUHN.new_position()
    for action in (0, 1, 1):
        position.apply(action)
    position.save(folder / "kept.json", {"names": ["a", "b"], "returns": [0.0, 0.0]})
    (folder / "hand.phh").write_text("\n".join(f"{key} = {text}" for key, text in HAND.items()))
    shutil.copy("envs/pursuit/maps/city.json", folder / "board.json")
    (folder / "abcd.json").write_text(json.dumps(TABLE))
    np.save(folder / "piece.npy", np.zeros(8))
    return folder


def play_table(path: Path) -> None:
    kept = Store(path.parent).read(path.stem)
    assert kept is not None
    seats = [TableSeat(**seat.model_dump()) for seat in kept.seats]
    Session.from_kept(path.stem, kept, Table(KUHN, seats))


def resume(path: Path) -> None:
    run = next(above for above in path.parents if (above / "config.yaml").is_file())
    resume_run(run, is_shown=False)


def go_on(path: Path) -> None:
    agents = tuple(AgentSpec.parse(name) for name in ("random", "kuhn_rule"))
    root = path.parent.parent if path.parent.name == "units" else path.parent
    run_tournament(TournamentSpec("kuhn_v0", agents, deals=2), root, has_resume=True)


def report(path: Path) -> None:
    to_text(read_tournament(path.parent).summary)
    write_report(path.parent)


def last_checkpoint(run: Path, name: str) -> Path:
    return checkpoints(run)[-1] / name


READERS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], object]]] = {
    "position": (lambda folder: folder / "kept.json", lambda path: show(read_position(path))),
    "kept game": (
        lambda folder: folder / "kept.json",
        lambda path: Library(path.parent, Catalogue()).read(path.name),
    ),
    "table": (lambda folder: folder / "abcd.json", play_table),
    "hand": (lambda folder: folder / "hand.phh", read_noted),
    "board": (lambda folder: folder / "board.json", lambda path: load_board(str(path))),
    "piece": (lambda folder: folder / "piece.npy", _kept),
    "summary": (lambda folder: folder / "tournament" / "summary.json", report),
    "tournament": (lambda folder: folder / "tournament" / "tournament.json", go_on),
    "unit": (lambda folder: next((folder / "tournament" / "units").iterdir()), go_on),
    "metrics": (
        lambda folder: folder / "q_learning" / "metrics.csv",
        lambda path: (MetricsFile(path, up_to=9), _curves(path.parent)),
    ),
    "configuration": (
        lambda folder: folder / "q_learning" / "config.yaml",
        lambda path: RunFolder.open(path.parent),
    ),
    **{
        f"{part} of {agent}": (
            lambda folder, agent=agent, name=name: players(folder / agent)[-1] / name,
            lambda path, agent=agent: make_agent(agent, KUHN, path=str(path.parent)),
        )
        for agent in ("q_learning", "cfr", "mccfr", "dqn", "sb3")
        for part, name in (("header", HEADER), ("arrays", ARRAYS))
    },
    **{
        f"{part} of a checkpoint of {agent}": (
            lambda folder, agent=agent, name=name: last_checkpoint(folder / agent, name),
            resume,
        )
        for agent in ("mccfr", "dqn", "sb3")
        for part, name in (("header", HEADER), ("arrays", ARRAYS))
    },
}


def _curves(run: Path) -> object:
    return read_run(AgentSpec("random", {"path": str(run)}, name="x"), KUHN)


def damaged(content: bytes, rng: np.random.Generator, number: int) -> Iterator[bytes]:
    """The same with something wrong in it, in several ways."""
    yield from (b"", b'{"a": 1}', content[: len(content) // 2])
    for _ in range(number):
        bytes_ = bytearray(content)
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.integers(len(bytes_)))
            way = int(rng.integers(4))
            if way == 0:
                bytes_[place] ^= 1 << int(rng.integers(8))
            elif way == 1:
                bytes_[place] = int(rng.choice(list(b'0123456789-.eE"[]{},:\n x\xff')))
            elif way == 2:
                del bytes_[place : place + int(rng.integers(1, 9))]
            else:
                bytes_[place:place] = bytes_[place : place + int(rng.integers(1, 40))]
            if not bytes_:
                bytes_ = bytearray(b"\0")
        yield bytes(bytes_)
    yield from impossible(content, number)


NO_NUMBERS = (float("inf"), float("nan"), 10**400, -1, 1e308, "\x1b[31m", [], {}, None, True)


def impossible(content: bytes, number: int) -> Iterator[bytes]:
    """Of a JSON file: other values in every place."""
    try:
        whole = json.loads(content)
    except ValueError:
        return
    places = list(_places(whole))
    step = max(1, len(places) * len(NO_NUMBERS) // (2 * number))
    for case in range(0, len(places) * len(NO_NUMBERS), step):
        *above, last = places[case // len(NO_NUMBERS)]
        changed = json.loads(content)
        reduce(getitem, above, changed)[last] = NO_NUMBERS[case % len(NO_NUMBERS)]
        yield json.dumps(changed).encode()


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) \
            else ():  # fmt: skip
        yield from _places(value[key], (*place, key))


@pytest.mark.parametrize("kind", READERS)
def test_a_damaged_file_is_read_or_refused_in_one_line(
    kind: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    find, read = READERS[kind]
    whole = find(folder)
    copy = tmp_path / "copy"
    num_refused = 0
    number = NUM_DAMAGED // 4 if any(word in kind for word in SLOW) else NUM_DAMAGED
    for content in damaged(whole.read_bytes(), np.random.default_rng(len(kind)), number):
        shutil.rmtree(copy, ignore_errors=True)
        part = next(
            (each for each in folder.iterdir() if each.is_dir() and whole.is_relative_to(each)),
            None,
        )
        if part is None:
            copy.mkdir()
            path = copy / whole.name
        else:
            shutil.copytree(part, copy)
            path = copy / whole.relative_to(part)
        path.write_bytes(content)
        if (path.parent / COMPLETE).is_file():  # a checksum is made by anybody
            (path.parent / COMPLETE).write_text(f"{_sum_of(path.parent)}\n")
        try:
            read(path)
        except MasqueradeError as error:
            num_refused += 1
            assert "\n" not in str(error)  # noqa: PT017, either is fine
        shown = capsys.readouterr()
        assert "\x1b[31m" not in shown.out + shown.err
    assert num_refused > 3 or "checkpoint" in kind or kind in ("piece", "unit", "metrics")
