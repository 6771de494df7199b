"""Every option of every command that takes a number: its range is known, and kept."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import evaluate
import train
from benchmarks import harness
from benchmarks.report import Job
from common.commands import answers_in_one_line, at_least
from envs.core import warming
from envs.pursuit import boards
from experiments import runner
from experiments.holdem import population, selection
from experiments.no_thanks import makers
from play import command_line
from tests.support.parsers import PROJECT, ROOMS, Main, parser_of

JOB = Job("a", "b", lambda: lambda: 1.0, lambda: lambda: 1.0, "c")
MEASURING = [
    import_module(name)
    for name in [
        "benchmarks.coverage",
        "benchmarks.dqn_quality",
        "benchmarks.play_load",
        "benchmarks.search_time",
        "benchmarks.variance_gain",
        "tests.support.holdem_oracle",
    ]
]

DOORS: dict[str, Main] = {
    "evaluate.py": evaluate.main,
    "train.py": train.main,
    "play.py": command_line.main,
    "population": population.main,
    "selection": selection.main,
    "reproduce": runner.main,
    "boards": boards.main,
    "warming": warming.main,
    "makers": makers.main,
    **{module.__name__: module.main for module in MEASURING},
    "harness": lambda words: harness.main("x", "", [JOB], argv=words),
}
NO_NUMBERS = ("", "x", "nan", "1e", "--", "9" * 5000, "\x1b[31m", "1e999999")
OUT_OF_RANGE = ("-1e300", "inf", "-inf", str(-(10**30)), str(10**40))


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from options(below)
        else:
            yield action


@pytest.mark.parametrize("name", DOORS)
def test_every_number_has_a_range_and_nothing_else_is_read(name: str) -> None:
    found = list(options(parser_of(DOORS[name])))
    assert not [each.dest for each in found if each.type in (int, float)], "numbers without a range"
    numbers = [each for each in found if each.type not in (None, str) and "at_least" in repr(each)]
    assert numbers
    for each in numbers:
        read: Any = each.type
        for text in NO_NUMBERS + OUT_OF_RANGE:
            if text == str(10**40) and each.dest in ("seat", "seating", "viewer"):
                continue  # refused when it is known how many there are
            with pytest.raises((ValueError, argparse.ArgumentTypeError)):
                read(text)


def test_every_command_reads_its_line_by_the_one_parser() -> None:
    """So that all of them keep ranges, name the nearest word and refuse in one line."""
    files = [path for room in ROOMS for path in (PROJECT / room).rglob("*.py")]
    own = [path.name for path in files if ".ArgumentParser(" in path.read_text(encoding="utf-8")]
    assert own == []


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("evaluate.py", ["match", "kuhn_v0", "random", "b=random", "--games", "-5"], "from 1 to"),
        ("evaluate.py", ["match", "kuhn_v0", "random", "--gaems", "5"], "did you mean --games?"),
        ("evaluate.py", ["match", "kuhn_v0", "random", "--until", "nan"], "not nan"),
        ("evaluate.py", ["leaderboard", "kuhn", "--games", "-1"], "from 1 to"),
        ("evaluate.py", ["behaviour", "holdem_v0", "random", "--games", "0"], "from 2 to"),
        ("evaluate.py", ["mach"], "invalid choice: 'mach'"),
        ("train.py", ["--config", "x.yaml", "--threads", "-5"], "from 1 to 1024, not -5"),
        ("train.py", [], "is required"),
        ("play.py", ["--terminal", "kuhn_v0", "--seed", "-1"], "from 0 to"),
        (
            "play.py",
            ["kuhn_v0", "--no-open", "--port", "0", "--option", "num_players=99"],
            "2 to 5",
        ),
        ("play.py", ["--terminl"], "did you mean --terminal?"),
        ("population", ["--config", "x.yaml", "--workers", "1000000000"], "from 1 to 1024"),
        ("reproduce", ["holdem", "--scale", "nan"], "not nan"),
        ("boards", ["make", "random", "--seed", "9" * 5000], "--seed: invalid number value"),
        ("evaluate.py", ["advise", "--moves", "pay", "no_thanks_v0", "max_n"], "before --moves"),
        ("evaluate.py", ["advise", "kuhn_v0", "randm"], "did you mean 'random'?"),
        ("evaluate.py", ["advise", "kuhn_v0", "random", "--moves", "pass", "pass"], "nobody is to"),
        ("evaluate.py", ["replay", "--pair", "a", "b", "folder"], "position file first"),
        ("evaluate.py", ["best-response", "--learner", "dqn", "kuhn_v0"], "one agent first"),
        ("evaluate.py", ["advise", "kuhn_v0", "random", "--option", "self=1"], "option 'self'"),
        ("evaluate.py", ["advise", "kuhn_v0", "random", "--option", "game_id=1"], "'game_id'"),
        ("evaluate.py", ["advise", "kuhn_v0", "random", "--option", "x"], "takes NAME=VALUE"),
        ("play.py", ["kuhn_v0", "--option", "x=["], "no valid value"),
        ("reproduce", ["--only", "E1", "no_thanks"], "name an experiment before --only"),
    ],
)
def test_what_cannot_be_read_gets_one_line_and_does_nothing(
    name: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert DOORS[name](words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"{name}: ")
    assert told.err.count("\n") == 1
    assert len(told.err) < 500
    assert said in told.err


def test_a_range_is_kept_at_both_ends() -> None:
    assert [at_least(1, most=3)(text) for text in ("1", "3")] == [1, 3]
    for text in ("0", "4"):
        with pytest.raises(argparse.ArgumentTypeError, match="must be from 1 to 3"):
            at_least(1, most=3)(text)


@pytest.mark.parametrize(
    "words",
    [
        "match kuhn_v0 --option num_players=3 a b",
        "match kuhn_v0 a --option num_players=3 b",
        "match --option num_players=3 kuhn_v0 a b",
        "match kuhn_v0 a b --option num_players=3",
    ],
)
def test_options_stand_anywhere(words: str) -> None:
    read = evaluate.parse_arguments([*words.split(), "--games", "7"])
    assert (read.game, read.agents, read.games) == ("kuhn_v0", ["a", "b"], 7)
    assert read.option == [("num_players", 3)]


def test_what_needs_more_memory_than_there_is_gets_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @answers_in_one_line("x")
    def main() -> int:
        raise MemoryError("Unable to allocate 7 PiB")

    assert main() == 2
    assert capsys.readouterr().err.startswith("x: Unable to allocate 7 PiB: choose less")
