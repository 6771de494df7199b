"""Bad input to the doors: one line that names the fix, exit code 2, and nothing lost."""

from __future__ import annotations

import argparse
import copy
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evaluate
import train
from agents.spec import AgentSpec
from arena.spec import KEYS, LIMITS, TournamentSpec, read_config
from common.commands import parse_option
from common.errors import MasqueradeError
from experiments.runner import Row, Settings, reproduce, table_text
from play.messages import ASKED, parse_message
from tests.support.small_files import RIGHT
from training.config import Opponent, RunConfig, read_yaml

TOURNAMENT: dict[str, Any] = {
    "game": {"id": "kuhn_v0", "params": {}},
    "agents": ["random", {"id": "kuhn_rule", "name": "rule"}],
    "deals": 10,
}
RUN: dict[str, Any] = {
    "game": {"id": "kuhn_v0", "params": {}},
    "agent": {"id": "q_learning", "params": {}},
    "train": {"steps": 10},
    "eval": {"games": 2},
    "log": {"tensorboard": False},
}
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["random", "os:getcwd", "external:x", "1e9", "-1", "\x1b[0m", "a\nb"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=5,
)
RUN_FIELDS = [
    (section, name)
    for section, field in RunConfig.model_fields.items()
    for name in ("", *getattr(field.annotation, "model_fields", {}))
]


def refused(capsys: pytest.CaptureFixture[str], door: str) -> str:
    """The one line that a door has said."""
    lines = capsys.readouterr().err.splitlines()
    assert "Traceback" not in "\n".join(lines)
    assert lines[-1].startswith(f"{door}: ")
    return lines[-1]


# ---- every field, with anything in it ------------------------------------------------------------


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(key=st.sampled_from([*KEYS, *LIMITS, "gaem", "1"]), value=ANYTHING)
def test_a_tournament_with_anything_in_a_field_is_played_or_refused(key: str, value: Any) -> None:
    try:
        spec = TournamentSpec.parse({**TOURNAMENT, key: value})
        spec.build_game()
    except MasqueradeError as error:
        assert len(str(error).splitlines()) <= 1  # noqa: PT017, either is fine
    else:
        assert key in (*KEYS, *LIMITS)
        assert all(agent.name.isprintable() for agent in spec.agents)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    key=st.sampled_from(["id", "params", "name", "time_per_move", "device", "x"]),
    value=ANYTHING,
)
def test_an_agent_with_anything_in_a_field_is_made_or_refused(key: str, value: Any) -> None:
    try:
        spec = AgentSpec.parse({"id": "random", key: value})
    except MasqueradeError as error:
        assert len(str(error).splitlines()) <= 1  # noqa: PT017
    else:
        assert spec.name.isprintable()
        assert spec.time_per_move is None or 0 < spec.time_per_move < math.inf


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(field=st.sampled_from(RUN_FIELDS), value=ANYTHING)
def test_a_run_with_anything_in_a_field_is_made_or_refused(
    field: tuple[str, str], value: Any
) -> None:
    section, name = field
    content = {**RUN, section: {**RUN[section], name: value} if name else value}
    try:
        config = RunConfig.parse(content)
    except MasqueradeError as error:
        assert str(error)  # noqa: PT017
        return
    assert RunConfig.parse(config.to_dict()).to_dict() == config.to_dict()


KEPT = {"seed": 0, "scale": 1.0, "rows": [asdict(Row("wins, %", 1.0, 0.5, 1.5, 9, 1.2))]}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(key=st.sampled_from([*KEPT, *KEPT["rows"][0], "x"]), value=ANYTHING)
def test_kept_rows_with_anything_in_them_are_shown_or_refused(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: Any
) -> None:
    kept = copy.deepcopy(KEPT)
    (kept if key in KEPT else kept["rows"][0])[key] = value
    path = tmp_path_factory.getbasetemp() / "kept.json"
    path.write_text(json.dumps({"R1": kept}))
    groups: dict[str, Any] = {"R1": lambda settings: [Row("again", 1.0)]}
    try:
        rows = reproduce(groups, Settings(), path)
    except MasqueradeError as error:
        assert len(str(error).splitlines()) <= 1  # noqa: PT017
    else:
        assert len(table_text(rows).splitlines()) == 2 + len(rows)


def test_a_kept_row_stays_one_row_of_plain_text() -> None:
    row = Row("a\nb | <script>", 1.0, note="\x1b[31m", id="R\n1")
    assert table_text([row]).splitlines()[2:] == [
        "| R 1 | a b &#124; &lt;script> | |  | 1 | | ?[31m |"
    ]


# What every field of a message may be, by its name.
MESSAGES = {get_args(message.model_fields["type"].annotation)[0]: message for message in ASKED}
SAID = [(kind, name) for kind in MESSAGES for name in (*MESSAGES[kind].model_fields, "x")]


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_right_message_is_read(kind: str) -> None:
    fields = MESSAGES[kind].model_fields
    needed = {name: RIGHT[name] for name, field in fields.items() if field.is_required()
              and name != "type"}  # fmt: skip
    assert type(parse_message(json.dumps({"type": kind, **needed}))) is MESSAGES[kind]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(field=st.sampled_from(SAID), value=ANYTHING)
def test_a_message_with_anything_in_a_field_is_read_or_refused(
    field: tuple[str, str], value: Any
) -> None:
    kind, name = field
    fields = MESSAGES[kind].model_fields
    content = {key: value for key, value in RIGHT.items() if key in fields}
    try:
        message = parse_message(json.dumps({"type": kind, **content, name: value}))
    except MasqueradeError as error:
        assert len(str(error).splitlines()) <= 1  # noqa: PT017
    else:
        assert name in fields
        read = getattr(message, name)
        assert type(read) is not float or math.isfinite(read)


@settings(max_examples=150, deadline=None)
@given(content=st.binary(max_size=60))
def test_any_bytes_as_a_file_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "file.yaml"
    path.write_bytes(content)
    for read in (read_config, read_yaml):
        try:
            read(path)
        except MasqueradeError as error:
            assert "\n" not in str(error)  # noqa: PT017


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=12))
def test_any_text_as_an_option_is_refused_or_read(text: str) -> None:
    try:
        parse_option(f"x={text}")
    except argparse.ArgumentTypeError as error:
        assert "\n" not in str(error)  # noqa: PT017


# ---- the doors -----------------------------------------------------------------------------------

BAD_TOURNAMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "deals as text": ({"deals": "many"}, "deals must be a whole number"),
    "deals as a list": ({"deals": [1]}, "deals must be a whole number"),
    "half a deal": ({"deals": 1.5}, "deals must be a whole number"),
    "a seed as text": ({"seed": "lucky"}, "seed must be a whole number"),
    "a seed below 0": ({"seed": -1}, "seed must be a whole number from 0"),
    "confidence as text": ({"confidence": "high"}, "confidence must be a number"),
    "no confidence": ({"confidence": float("nan")}, "confidence must be a number"),
    "a device that is a list": ({"device": ["cpu"]}, "device must be plain text"),
    "params that are a list": (
        {"agents": [{"id": "random", "params": [1]}, "kuhn_rule"]},
        "params",
    ),
    "a name that is a number": ({"agents": [{"id": "random", "name": 3}, "kuhn_rule"]}, "name"),
    "game params that are a list": ({"game": {"id": "kuhn_v0", "params": [1]}}, "game.params"),
    "a misspelt key in game": ({"game": {"id": "kuhn_v0", "parms": {}}}, "did you mean 'params'"),
    "an id that is a number": ({"game": {"id": 3}}, "game must be a mapping with an id"),
    "a unit without end": ({"unit": {"name": "x", "scale": float("inf")}}, "scale of a unit"),
}


@pytest.mark.parametrize("case", BAD_TOURNAMENTS)
def test_a_wrong_value_in_a_tournament_gets_one_line(
    tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    changes, message = BAD_TOURNAMENTS[case]
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump({**TOURNAMENT, **changes}))
    assert evaluate.main(["tournament", "--config", str(path)]) == 2
    said = refused(capsys, "evaluate.py")
    assert message in said
    assert str(path) in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1: 2\ngame: {id: kuhn_v0}", "the key 1 is no text"),
        (b"game: {true: 1}", "the key True is no text"),
        ("game: \u00fc".encode("latin-1"), "not written in UTF-8"),
        (b"\xff\xfeg\x00", "not written in UTF-8"),
        (b"game: [1", "no valid YAML"),
        (b"game: 2020-99-99", "no valid YAML"),
        (b"[" * 5000, "no valid YAML"),
        (b"", "must be a mapping"),
        (b"- 1", "must be a mapping"),
    ],
)
@pytest.mark.parametrize("door", ["train", "evaluate"])
def test_a_file_that_is_no_configuration_gets_one_line(
    tmp_path: Path, door: str, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    if door == "train":
        assert train.main(["--config", str(path)]) == 2
    else:
        assert evaluate.main(["tournament", "--config", str(path)]) == 2
    assert message in refused(capsys, f"{door}.py")


@pytest.mark.parametrize(
    "words",
    [
        ["match", "kuhn_v0", "random", "kuhn_rule", "--seed", "-1"],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--option", "x=[1"],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--option", "num_players=[1, 2]"],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--games", str(10**12)],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "-5"],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--time-per-move", "nan"],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--workers", "-2"],
        ["match", "kuhn_v0", "random", "os:getcwd"],
        ["match", "kuhn_v0", "random", "no.such.module:Player"],
        ["replay", "--game", "kuhn_v0", "--agents", "random", "random", "--deal", "9" * 30],
        ["replay", "--game", "kuhn_v0", "--agents", "random", "random", "--seed", "-1"],
        ["report", "no such folder"],
    ],
)
def test_a_wrong_argument_gets_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert evaluate.main(words) == 2
    refused(capsys, "evaluate.py")


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "game.params=[1]"],
        ["--set", "agent.params.abstraction=os:getcwd"],
        ["--set", "agent.id=os:getpid"],
        ["--set", "train.opponents=[{id: random, weight: .nan}]"],
        ["--set", "train.seed=-1"],
        ["--set", "train.steps={"],
        ["--seed", "-1"],
        ["--threads", "-5"],
        ["--device", "gpu"],
        ["--out", "FILE"],
    ],
)
def test_a_wrong_setting_of_a_run_gets_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(RUN))
    (tmp_path / "FILE").write_text("in the way")
    monkeypatch.chdir(tmp_path)
    assert train.main(["--config", str(path), "--quiet", *words]) == 2
    refused(capsys, "train.py")
    assert (tmp_path / "FILE").read_text() == "in the way"


def test_a_place_that_cannot_be_written_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    words = ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "4"]
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        assert evaluate.main([*words, "--out", str(place)]) == 2
        assert "cannot be written" in refused(capsys, "evaluate.py")


@pytest.mark.parametrize(
    "weight",
    ["1e308", 1e308, 10**400, 1e-320, 0, -1, True, "3", float("inf"), float("nan")],
    ids=lambda weight: repr(weight)[:8],
)
def test_a_weight_that_is_out_of_range_is_refused_for_that(weight: Any) -> None:
    with pytest.raises(MasqueradeError, match="weight must be a number from 1e-06 to 1000000"):
        Opponent.parse({"id": "random", "weight": weight})
    assert Opponent.parse({"id": "self", "weight": "1e3"}).weight == 1000.0


@pytest.mark.parametrize(
    "name",
    [
        "=random",
        " =random",
        "=",
        " a=random",
        "a\nb=random",
        "\u202ex=random",
        "x" * 300 + "=random",
    ],
)
def test_a_strange_name_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate.main(["match", "kuhn_v0", name, "kuhn_rule"]) == 2
    assert "name" in refused(capsys, "evaluate.py")
