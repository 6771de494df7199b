"""Every field of every schema, with what it must not be: made, or refused in one line.

The schemas are all classes of options and of messages that the project's sources have; none is
listed by hand.
"""

from __future__ import annotations

import datetime
import itertools
import json
import math
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

import evaluate
import train
from arena.spec import KEYS, TournamentSpec
from common.errors import MasqueradeError
from common.files import read_yaml
from envs.core.options import Options
from envs.pursuit import boards
from experiments import runner
from experiments.holdem import population
from play.messages import ASKED, Message, parse_message
from play.store import Kept, KeptTable
from tests.support.parsers import name_of, sources
from tests.support.sampling import IS_FULL
from tests.support.small_files import POPULATION, RIGHT, RUN, SELECTION, TABLE
from training.config import learner_class

IS_SCHEMA = re.compile(r"^class \w+\((\w*Options|\w*Settings|Message|Kept)\):", re.M)
for path in sources():
    if IS_SCHEMA.search(path.read_text(encoding="utf-8")):
        import_module(name_of(path))


def below(base: type[BaseModel]) -> list[type[BaseModel]]:
    """All classes of the project that derive from another."""
    found = [each for cls in base.__subclasses__() for each in (cls, *below(cls))]
    return [cls for cls in found if cls.__module__.partition(".")[0] not in ("tests", "__main__")]


SCHEMAS = {f"{cls.__module__}.{cls.__name__}": cls for cls in below(Options) if cls.model_fields}
KEPT = {cls.__name__: cls for cls in below(Kept)}

NEEDED: dict[str, dict[str, Any]] = {
    "GameSettings": {"id": "kuhn_v0"},
    "AgentSettings": {"id": "q_learning"},
    "RunConfig": RUN,
    "PopulationConfig": POPULATION,
    "PopulationSettings": POPULATION["population"],  # type: ignore[dict-item]
    "GroupSettings": {"name": "a", "agent": {"id": "q_learning"}},
    "SelectionConfig": SELECTION,
    "SelectionSettings": SELECTION["selection"],  # type: ignore[dict-item]
    "SeatOptions": {"num_players": 2},
}
"""What a schema cannot be made without."""
LOOP: list[Any] = []
LOOP.append(LOOP)
WRONG: list[Any] = [
    *(math.nan, math.inf, -math.inf, 10**40, -(10**40), 10**12, -1, 1.5, True, None, "", "x"),
    *("1e400", "\x1b[31m", "a\nb", "nan", "9" * 5000, "on", "\ud800", "é" * 100_000, b"\xff\xfe"),
    *([], [[]], [math.nan], {}, {"a": [1]}, object, LOOP, datetime.date(2020, 1, 2), {1}),
]


def check_line(error: MasqueradeError) -> str:
    text = str(error)
    assert "\n" not in text
    assert len(text) < 1500
    return text


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_refuses_in_one_line_that_names_it(name: str) -> None:
    schema = SCHEMAS[name]
    needed = NEEDED.get(schema.__name__, {})
    made = schema(**needed)
    num_refused = 0
    for field, value in itertools.product(schema.model_fields, WRONG):
        try:
            made = schema(**{**needed, field: value})
        except MasqueradeError as error:
            num_refused += 1
            text = check_line(error)
            words = {*field.split("_"), *schema.model_fields, "unknown"}
            assert any(word in text for word in words), (field, value, text)
        else:
            got, usual = getattr(made, field), schema.model_fields[field].default
            assert not (isinstance(got, float) and math.isnan(got)), (field, value)
            if isinstance(usual, int | float):
                assert isinstance(got, bool) == isinstance(usual, bool), (field, value)
            assert type(made)(**dict(made)) == made
    assert num_refused > len(schema.model_fields)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_misspelt_field_is_answered_with_the_right_word(name: str) -> None:
    schema = SCHEMAS[name]
    field = max(schema.model_fields, key=len)
    with pytest.raises(MasqueradeError, match=f"did you mean '{field}'"):
        schema(**{field[:-1]: 1})


def test_no_schema_is_forgotten() -> None:
    """Those of all learners and games, and all that has a base of ours, are among them."""
    from agents import LEARNERS
    from envs import GAMES, game_class

    found = set(SCHEMAS.values())
    assert {learner_class(name).settings_class for name in LEARNERS} <= found
    assert {game_class(game_id).Options for game_id in GAMES} <= found
    assert set(ASKED) <= set(below(Message))
    own = [
        path.name
        for path in sources()
        if re.search(r"^class \w+\(BaseModel\)", path.read_text(encoding="utf-8"), re.M)
    ]
    assert sorted(own) == ["messages.py", "options.py", "store.py"], "a base of schemas is new"


@pytest.mark.parametrize("field", KeptTable.model_fields)
def test_a_kept_table_is_read_by_its_schema(field: str) -> None:
    KeptTable.model_validate(TABLE)
    num_refused = 0
    for value in WRONG:
        try:
            KeptTable.model_validate({**TABLE, field: value})
        except ValidationError:
            num_refused += 1
    assert num_refused > len(WRONG) // 2


@pytest.mark.parametrize("kind", [get_args(cls.model_fields["type"].annotation)[0]
                                  for cls in ASKED])  # fmt: skip
def test_every_field_of_every_message_is_of_its_kind(kind: str) -> None:
    cls = next(c for c in ASKED if kind in get_args(c.model_fields["type"].annotation))
    fields = {name: RIGHT[name] for name in cls.model_fields if name in RIGHT}
    for field, value in itertools.product(cls.model_fields, WRONG):
        try:
            text = json.dumps({"type": kind, **fields, field: value})
        except (TypeError, ValueError):
            continue  # no JSON has it
        try:
            read = parse_message(text)
        except MasqueradeError as error:
            check_line(error)
        else:
            assert json.dumps(getattr(read, field)) == json.dumps(value)


# ---- what YAML makes of it -----------------------------------------------------------------------


def test_a_few_lines_do_not_stand_for_billions_of_values(tmp_path: Path) -> None:
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in itertools.pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join(['*' + before] * 9)}]")
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(MasqueradeError, match="stands for more than"):
        read_yaml(path, "a game")


SURPRISES = (
    *("on", "1e3", "1_000", "0x10", "010", "1:30", "2020-01-02", "2020-01-02 03:04:05", "~", "''"),
    *("&a [*a]", "&a {b: *a}", "!!python/object:os.system {}", "!!set {a}", "!!binary aGk=", "="),
    *("{1: 2}", "[[[]]]", "'\\ud800'", '"\\uD800"', "-.inf", ".nan", "{<<: {a: 1}}", "9" * 400),
)
DOORS: dict[str, tuple[Callable[[list[str]], int], dict[str, Any], list[str]]] = {
    "train": (train.main, RUN, ["--dry-run", "--config"]),
    "tournament": (
        evaluate.main,
        {"game": {"id": "kuhn_v0"}, "agents": ["random", "kuhn_rule"], "deals": 2},
        ["exploitability", "--samples", "1", "--config"],
    ),
}
PLACES = {
    "train": [
        *("game", "game.id", "game.params", "game.params.num_players", "agent.id", "agent.params"),
        *("agent.params.learning_rate", "agent.params.abstraction", "train.steps", "train.seed"),
        *("train.opponents", "eval.games", "log.tensorboard", "base", "x"),
    ],
    "tournament": [*KEYS, "game.id", "game.params", "game.params.num_players", "x"],
}
CASES = [(door, place) for door in PLACES for place in PLACES[door]]


@pytest.mark.parametrize(("door", "place"), CASES)
def test_what_yaml_makes_of_it_gets_one_line_or_is_meant(
    door: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main, whole, words = DOORS[door]
    *above, last = place.split(".")
    path = tmp_path / "file.yaml"
    for surprise in SURPRISES if IS_FULL else SURPRISES[len(place) % 3 :: 3]:
        content = json.loads(json.dumps(whole))
        inner = content
        for key in above:
            inner = inner.setdefault(key, {})
        inner[last] = "SURPRISE"
        path.write_text(json.dumps(content).replace('"SURPRISE"', surprise), errors="surrogatepass")
        code = main([*words, str(path)])
        said = capsys.readouterr().err
        assert code in (0, 2), (surprise, said)
        assert "Traceback" not in said
        if code == 2:
            assert len(said.splitlines()[-1]) < 1500
            told = (str(tmp_path), last, "unknown game")
            assert any(word in said for word in told), (surprise, said)


def test_a_key_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text("game: {id: kuhn_v0}\nagents: [random, kuhn_rule]\ndeals: 10\ndeals: 20\n")
    with pytest.raises(MasqueradeError, match="'deals' twice"):
        read_yaml(path, "a game")
    path.write_text("game: {id: kuhn_v0, id: leduc_v0}\n")
    with pytest.raises(MasqueradeError, match="'id' twice"):
        read_yaml(path, "a game")
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n")
    assert read_yaml(path, "a game")["b"] == {"x": 3, "y": 2}, "what is taken over may be changed"


def test_the_tournaments_own_schema_names_path_and_value() -> None:
    whole = {"game": {"id": "kuhn_v0"}, "agents": ["random", "kuhn_rule"], "deals": 2}
    for key, value in itertools.product(KEYS, WRONG):
        try:
            spec = TournamentSpec.parse({**whole, key: value})
            spec.build_game()
        except MasqueradeError as error:
            check_line(error)


# ---- what is kept -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["check", "no_such_board"],
        ["make", "random", "--seed", "-1"],
        ["make", "random", "--number", "-1"],
        ["make", "city", "--seed", str(2**70)],
        ["make", "grid", "--rows", "0"],
        ["make", "random", "--keep", "nan"],
        ["make", "grid", "--out", ""],
        ["draw", "no_such_board"],
    ],
)
def test_a_bad_board_exits_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert boards.main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "content", ["", "[1]", "[" * 50_000, '{"R1": 7}', '{"R1": {"rows": [{}]}}']
)
def test_kept_rows_of_an_experiment_are_not_believed(tmp_path: Path, content: str) -> None:
    path = tmp_path / "kept.json"
    path.write_text(content)
    with pytest.raises(MasqueradeError, match="begin again with --fresh") as refused:
        runner.reproduce({}, runner.Settings(), path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"members": 7}, "does not hold a population"),
        ({"num_done": -5}, "num_done must be"),
        ({"num_done": 1, "log": []}, "does not hold a population"),
        ({"spec": "os:getcwd"}, "not ours"),
        ({"spec": "external:/tmp/x"}, "not ours"),
    ],
)
def test_a_kept_population_is_not_believed(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    from common.files import write_json

    config = population.PopulationConfig.parse(POPULATION)
    member = {"spec": change.get("spec", "random"), "num_sessions": 0, "num_accepted": 0}
    kept = {"config": config.to_dict(), "num_done": 0, "members": [member, member], "log": []}
    write_json(tmp_path / "population.json", {**kept, **change})
    with pytest.raises(MasqueradeError, match=said):
        population.Population(config, tmp_path, is_shown=False)


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "agent.params={1: 2}"],
        ["--set", "game.params={1: 2}"],
        ["--set", "agent.params=&a [*a]"],
        ["--set", "train.steps=2020-01-02"],
        ["--set", "agent.params.learning_rate=!!binary aGk="],
        ["--set", "train.opponents=[{1: 2}]"],
    ],
)
def test_what_yaml_makes_of_a_setting_gets_one_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(json.dumps(RUN))
    assert train.main(["--config", str(path), "--dry-run", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
