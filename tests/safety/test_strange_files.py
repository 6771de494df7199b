"""Files that never end, never begin, grow when they are read or lead elsewhere: one line each."""

from __future__ import annotations

import copy
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.spec import AgentSpec, content_mark
from arena.folder import read_tournament
from arena.report import write_report
from arena.report.collect import read_run
from arena.report.tables import to_text
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from common import files
from common.errors import MasqueradeError
from common.files import append_text, read_arrays, read_json, read_text, read_yaml
from envs import make_game
from envs.holdem.phh import read_hands
from play.catalogue import Catalogue
from play.store import Library
from tests.support.small_files import HAND

KUHN = make_game("kuhn_v0")
READ: dict[str, Callable[[Path], object]] = {
    "text": lambda path: read_text(path, "mend it"),
    "json": lambda path: read_json(path, "mend it"),
    "yaml": lambda path: read_yaml(path, "game"),
    "arrays": lambda path: read_arrays(path, "mend it"),
}


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def silent(path: Path) -> None:
    os.mkfifo(path)


def hollow(path: Path) -> None:
    """A terabyte that takes no room."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


def bomb(path: Path) -> None:
    """Says that its array has a terabyte; what is really in it does not matter."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", b"\0" * (1 << 20))
    content = path.read_bytes()
    size = (1 << 20).to_bytes(4, "little")
    assert content.count(size) == 2
    path.write_bytes(content.replace(size, (0xFFFFFFF0).to_bytes(4, "little")))


STRANGE = {"endless": endless, "silent": silent, "hollow": hollow, "bomb": bomb}


@pytest.mark.parametrize("how", STRANGE)
@pytest.mark.parametrize("kind", READ)
def test_a_strange_file_is_refused_at_once(kind: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    STRANGE[how](path)
    with pytest.raises(MasqueradeError, match="file") as refused:
        READ[kind](path)
    assert "\n" not in str(refused.value)


def test_large_arrays_of_our_own_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored as it is may be of any size, and what is packed well if it is small."""
    monkeypatch.setattr(files, "MAX_ARRAYS", 100_000)
    stored, packed = np.zeros(1 << 20, np.uint8), np.zeros(90_000, np.uint8)
    np.savez(tmp_path / "stored.npz", x=stored)
    np.savez_compressed(tmp_path / "packed.npz", x=packed)
    np.savez_compressed(tmp_path / "bomb.npz", x=stored)
    assert read_arrays(tmp_path / "stored.npz", "")["x"].size == stored.size
    assert read_arrays(tmp_path / "packed.npz", "")["x"].size == packed.size
    with pytest.raises(MasqueradeError, match="out of far fewer"):
        read_arrays(tmp_path / "bomb.npz", "")


@pytest.mark.parametrize("how", ["endless", "silent"])
def test_an_agent_of_a_strange_file_has_no_mark(how: str, tmp_path: Path) -> None:
    STRANGE[how](tmp_path / "policy.npz")
    assert content_mark(tmp_path) == ""


def test_nothing_is_added_to_what_a_link_leads_to(tmp_path: Path) -> None:
    """The run of a stranger, resumed, must not write into a file of yours."""
    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    (tmp_path / "metrics.csv").symlink_to(mine)
    with pytest.raises(MasqueradeError, match=r"metrics\.csv cannot be written"):
        append_text(tmp_path / "metrics.csv", "1,2,3\n")
    assert mine.read_text() == "mine\n"


METRICS = {
    "bytes": b"step,eval/x\n1,\xff\xfe\n",
    "zeros": b"step,eval/x\n1,\0\n",
    "a long field": b"step,eval/x\n1," + b"9" * 200_000 + b"\n",
    "no numbers": b"step,eval/x\nx,nan\n",
    "nothing": b"",
}


@pytest.mark.parametrize("how", METRICS)
def test_a_report_does_without_strange_curves(how: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_bytes(METRICS[how])
    (tmp_path / "eval").mkdir()
    endless(tmp_path / "eval" / "a.json")
    silent(tmp_path / "eval" / "b.json")
    (tmp_path / "eval" / "c.json").write_bytes(b"[" * 100_000)
    run = read_run(AgentSpec("random", {"path": str(tmp_path)}, name="x"), KUHN)
    assert run is not None
    assert run.exploitability is None


RUNS = {
    "deep": b"[" * 100_000,
    "an agent that is a list": b"game: {id: kuhn_v0}\nagent: {id: [cfr]}",
    "params that are a list": b"game: {id: kuhn_v0, params: [1]}\nagent: {id: cfr}",
    "params called self": b"game: {id: kuhn_v0, params: {self: 1}}\nagent: {id: cfr}",
    "params that are numbers": b"game: {id: kuhn_v0, params: {1: 2}}\nagent: {id: cfr}",
    "a game that is a list": b"game: {id: [kuhn_v0]}\nagent: {id: cfr}",
    "bytes": b"\xff\xfe",
    "text": b"game: kuhn_v0\nagent: cfr",
    "names that name each other": b"a: &a [x, x]\nb: &b [*a, *a]\ngame: {id: *b}\nagent: {id: cfr}",
}


def test_a_lobby_lists_what_can_be_played_whatever_else_lies_in_runs(tmp_path: Path) -> None:
    for number, content in enumerate(RUNS.values()):
        folder = tmp_path / "kuhn_v0" / f"run{number}"
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_bytes(content)
    for name, how in STRANGE.items():
        folder = tmp_path / "kuhn_v0" / name
        folder.mkdir()
        how(folder / "config.yaml")
    dangling = tmp_path / "kuhn_v0" / "dangling"
    dangling.mkdir()
    (dangling / "config.yaml").symlink_to(tmp_path / "nowhere")
    found = Catalogue(runs=tmp_path).players(KUHN)
    assert "random" in [card.spec for card in found]
    assert not [card.spec for card in found if str(tmp_path) in card.spec]


NO_VALUES = (
    *("inf", "[nan, 1]", "[inf, inf]", "[1e999999999, 1]", "9" * 5000, "'x'", "{a = 1}"),
    *("[" * 3000, "['p1 cbr 1e999999999']", "['p1 cbr']", "['d dh p0 AhKh']", "['d dh p9 AhKh']"),
    *("['d']", "['# no move']", "['p1 sm']", "['px cc']", "['d dh p99999999999999999999 AhKh']"),
)


@pytest.mark.parametrize("key", HAND)
def test_a_hand_that_cannot_be_is_refused_in_one_line(key: str) -> None:
    """Such as with amounts that a few characters say and no memory holds."""
    for value in NO_VALUES:
        fields = {**HAND, key: value}
        try:
            read_hands("\n".join(f"{name} = {text}" for name, text in fields.items()))
        except MasqueradeError as error:
            assert "\n" not in str(error)  # noqa: PT017


NO_PARTS = (10**400, "x", [], {"a": 1}, None, [[]], True)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(min(len(value), 2)):
            yield from places(value[key], (*place, key))


def test_a_summary_is_read_whole_or_refused_in_one_line(tmp_path: Path) -> None:
    agents = tuple(AgentSpec.parse(name) for name in ("random", "kuhn_rule"))
    run_tournament(TournamentSpec("kuhn_v0", agents, deals=2), tmp_path)
    path = tmp_path / "summary.json"
    whole = json.loads(path.read_text())
    num_refused = 0
    for number, (*above, last) in enumerate(filter(None, places(whole))):
        content = copy.deepcopy(whole)
        reduce(getitem, above, content)[last] = NO_PARTS[number % len(NO_PARTS)]
        path.write_text(json.dumps(content))
        try:
            to_text(read_tournament(tmp_path).summary)
            if number % 10 == 0:
                write_report(tmp_path)
        except MasqueradeError as error:
            num_refused += 1
            assert "\n" not in str(error)  # noqa: PT017
    assert num_refused > 50


def test_a_list_of_games_leaves_out_what_a_browser_cannot_read(tmp_path: Path) -> None:
    library = Library(tmp_path, Catalogue(), tmp_path)
    about = {"names": ["a", "b"], "returns": [1.0, -1.0]}
    game = {"game": "kuhn_v0", "about": about}
    for name, values in {
        "good": about,
        "no number": {**about, "returns": [float("nan"), 1.0]},
        "too large": {**about, "returns": [10**400, 1.0]},
        "without end": {**about, "returns": [float("inf"), 1.0]},
        "many": {**about, "names": ["a"] * 1000},
        "none": None,
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({**game, "about": values}))
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "not there")
    endless(tmp_path / "endless.json")
    listed = library.listing()
    assert [row["name"] for row in listed] == ["good.json"]
    assert json.dumps(listed, allow_nan=False)
