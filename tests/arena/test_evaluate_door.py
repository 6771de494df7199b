"""The door to the arena: help that explains itself, games exactly as they were, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evaluate
from agents.base import RandomAgent, Views
from agents.spec import AgentSpec
from arena.folder import read_tournament
from arena.replay import Recording, frames, read_noted
from arena.replayer import Replayer
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from common.errors import MasqueradeError
from envs import make_game


class ByBatch(RandomAgent):
    """Leduc poker: folds as soon as it may when it is asked about one game alone."""

    def act(self, views: Views) -> Any:
        if len(views) > 1:
            return super().act(views)
        return np.array([0 if views.masks[0, 0] else 1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Leduc poker between two good agents and one that fails."""
    folder = tmp_path_factory.mktemp("door") / "leduc"
    agents = (
        AgentSpec.parse("random"),
        AgentSpec.parse("leduc_rule"),
        AgentSpec("tests.support.planted_agents:Broken", name="bad"),
    )
    run_tournament(TournamentSpec("leduc_v0", agents, deals=130, seed=4), folder)
    return folder


def run(capsys: Any, *arguments: str) -> str:
    assert evaluate.main(list(arguments)) == 0
    text: str = capsys.readouterr().out
    return text


def refusal(capsys: Any, *arguments: str) -> str:
    assert evaluate.main(list(arguments)) == 2
    text: str = capsys.readouterr().err
    assert text.count("\n") == 1
    return text


# ---- help ----------------------------------------------------------------------------------------

COMMANDS = (
    "tournament",
    "match",
    "report",
    "replay",
    "export",
    "leaderboard",
    "exploitability",
    "best-response",
    "behaviour",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_can_be_parsed(command: str, capsys: Any) -> None:
    with pytest.raises(SystemExit, match="0"):
        evaluate.main([command, "--help"])
    text = capsys.readouterr().out
    examples = re.findall(rf"python evaluate\.py ({command}.*?)(?:  .*)?$", text, re.MULTILINE)
    assert len(examples) >= 2
    for example in examples:
        words = example.partition(" (")[0].split()
        assert evaluate.parse_arguments(words).command == command


def test_the_first_page_of_help_names_every_command(capsys: Any) -> None:
    with pytest.raises(SystemExit, match="0"):
        evaluate.main(["--help"])
    text = capsys.readouterr().out
    assert all(f"python evaluate.py {command}" in text for command in COMMANDS)


# ---- reports -------------------------------------------------------------------------------------


def test_a_tournament_ends_with_a_report(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    text = run(capsys, "match", "kuhn_v0", "random", "kuhn_rule", "--games=20", f"--out={out}")
    assert f"report in {out / 'report.html'}" in text
    before = (out / "report.html").read_text()
    elsewhere = tmp_path / "again.html"
    assert f"report in {elsewhere}" in run(capsys, "report", str(out), "--out", str(elsewhere))
    assert elsewhere.read_text() == before


# ---- games again ---------------------------------------------------------------------------------


def test_replayed_games_end_as_in_the_tournament(folder: Path) -> None:
    replayer = Replayer(read_tournament(folder), is_trusted=True)
    results = set()
    for group in range(len(replayer.groups)):
        for seating in (0, 1):
            for deal in (0, 1, 99, 100, 129):  # on both sides of the border of two units
                recording = replayer.play(deal, group, seating)
                played = replayer.tournament.find(replayer.groups, group, seating, deal)
                assert played is not None
                assert recording.returns == played[0].returns[0].tolist()
                assert len(recording.history) == played[0].lengths[0]
                assert (recording.fault is not None) == ("bad" in recording.names)
                assert recording.notes == []
                results.add(tuple(recording.returns))
    assert len(results) > 5


def test_replay_follows_the_rules_to_the_end(folder: Path) -> None:
    replayer = Replayer(read_tournament(folder), is_trusted=True)
    recording = replayer.play(17, 0, 1)
    position = recording.game.replay(recording.history, recording.number)
    assert position.is_over
    assert position.returns().tolist() == recording.returns
    *_, last = frames(recording)
    assert last.board == position.text()


def test_an_agent_that_plays_otherwise_in_a_batch_is_replayed_in_one(tmp_path: Path) -> None:
    agents = (AgentSpec.parse("random"), AgentSpec(f"{__name__}:ByBatch", name="by batch"))
    run_tournament(TournamentSpec("leduc_v0", agents, deals=40, seed=0), tmp_path)
    replayer = Replayer(read_tournament(tmp_path), is_trusted=True)
    for deal in range(10):
        assert replayer.play(deal).notes == []


def test_a_game_that_can_no_longer_be_repeated_says_so(folder: Path, tmp_path: Path) -> None:
    for name in ("tournament.json", "summary.json"):
        text = (folder / name).read_text()
        (tmp_path / name).write_text(text.replace('"seed": 4', '"seed": 5'))
    assert Replayer(read_tournament(tmp_path), is_trusted=True).play(3).notes == [
        "the tournament's own result of this game is no longer in its folder"
    ]
    (tmp_path / "units").symlink_to(folder / "units")
    notes = [
        Replayer(read_tournament(tmp_path), is_trusted=True).play(deal).notes for deal in range(5)
    ]
    assert any("an agent has changed" in line for note in notes for line in note)


def test_replay_prints_the_game(folder: Path, capsys: Any) -> None:
    text = run(
        capsys,
        "replay",
        str(folder),
        "--trust",
        "--pair",
        "leduc_rule",
        "random",
        "--deal=7",
        "--seating=1",
    )
    recording = Replayer(read_tournament(folder), is_trusted=True).play(7, 0, 1)
    assert "player 0: leduc_rule" in text
    assert "player 1: random" in text
    assert "1. chance: deals " in text
    actions = re.findall(r"^\d+\. player \d \(\w+\): (\w+)$", text, re.MULTILINE)
    position = recording.game.new_position(recording.number)
    expected = []
    for action in recording.history:
        if not position.is_chance:
            expected.append(position.action_text(action))
        position.apply(action)
    assert actions == expected
    assert text.endswith(f"returns {', '.join(f'{x:+g}' for x in recording.returns)}\n")


def test_replay_shows_a_forfeit(folder: Path, capsys: Any) -> None:
    text = run(capsys, "replay", str(folder), "--trust", "--group", "bad", "random")
    assert "player 1 forfeits: RuntimeError: always" in text
    assert "returns +13, -13" in text


def test_a_viewer_sees_only_its_own_card(folder: Path, capsys: Any) -> None:
    whole = run(capsys, "replay", str(folder), "--trust", "--deal=5")
    cards = re.search(r"1\. chance: deals (\w\w) (\w\w)", whole)
    assert cards is not None
    for viewer in (0, 1):
        text = run(capsys, "replay", str(folder), "--trust", "--deal=5", f"--viewer={viewer}")
        hidden = "a hidden event"
        seen = [f"deals {cards[1]}", hidden] if viewer == 0 else [hidden, f"deals {cards[2]}"]
        assert f"1. chance: {', '.join(seen)}" in text
        assert f"player {1 - viewer}: card ?" in text
        assert f"player {viewer}: card ?" not in text
        # At a showdown, the last board, cards are turned up.
        before_the_end = text.rpartition("public card")[0]
        assert not re.search(rf"player {1 - viewer}: card [JQK]", before_the_end)


def test_dice_of_others_stay_hidden_until_they_are_shown() -> None:
    game = make_game("liars_dice_v0", dice=2)
    recording = Recording(game, ["a", "b"], 0, [0, 1, 2, 3, 5], [0.0, 0.0])
    words = [[frame.words for frame in frames(recording, viewer)] for viewer in (None, 0, 1)]
    assert words[0][1] == "player 0 rolls 1 2, player 1 rolls 3 4"
    assert "player 1" not in words[1][1]
    assert "player 0" not in words[2][1]
    assert words[0][2] == words[1][2] == words[2][2] == game.action_text(None, 5)


def test_a_new_game_is_the_same_each_time(capsys: Any) -> None:
    arguments = ["replay", "--game", "leduc_v0", "--agents", "random", "random", "--seed", "3"]
    first = run(capsys, *arguments)
    assert first == run(capsys, *arguments)
    assert first != run(capsys, *arguments, "--deal", "1")
    assert "player 1: random" in first
    three = run(capsys, *arguments[:5], "random", "b=random", "--option", "num_players=3")
    assert "player 2: b" in three


def test_a_saved_position_is_shown_with_its_moves(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "position.json"
    make_game("leduc_v0", num_players=3).replay([0, 3, 5, 2]).save(path)
    text = run(capsys, "replay", str(path))
    assert "leduc_v0(num_players=3)" in text
    assert "2. player 0: raise" in text


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["FOLDER", "--deal", "130"], "deal must be from 0 to 129, not 130"),
        (["FOLDER", "--seating", "2"], "seating must be from 0 to 1, not 2"),
        (["FOLDER", "--viewer", "2"], "viewer must be a seat from 0 to 1, not 2"),
        (["FOLDER", "--pair", "random", "nobody"], "choose random leduc_rule; random bad; "),
        (["FOLDER", "--game", "kuhn_v0"], "either a tournament's folder or --game"),
        (["nowhere"], "nowhere is neither a folder nor a file"),
        ([], "name a tournament's folder"),
        (["--game", "kuhn_v0", "--agents", "random"], "2 seats: give as many --agents, not 1"),
        (["--game", "kuhn_v9", "--agents", "random"], "did you mean 'kuhn_v0'"),
        (["--game=kuhn_v0", "--agents", "random", "a=random", "--deal=-3"], "must be from 0"),
        (["README.md"], "README.md is cut or damaged"),
    ],
)
def test_bad_replays_get_one_line(
    arguments: list[str], message: str, folder: Path, capsys: Any
) -> None:
    words = [str(folder) if word == "FOLDER" else word for word in arguments]
    assert evaluate.main(["replay", "--trust", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_damaged_position_is_refused(tmp_path: Path) -> None:
    from arena.replay import read_position

    path = tmp_path / "position.json"
    make_game("kuhn_v0").replay([0, 1]).save(path)
    content = json.loads(path.read_text())
    for change in ({"history": [0, 0]}, {"game": 7}, {"options": {"num_players": 99}}):
        path.write_text(json.dumps({**content, **change}))
        with pytest.raises(MasqueradeError) as error:
            read_position(path)
        assert "\n" not in str(error.value)


def test_another_match_gets_another_folder(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for agents in (["random", "kuhn_rule"], ["a=kuhn_rule", "b=kuhn_rule"]):
        assert evaluate.main(["match", "kuhn_v0", *agents, "--games", "20"]) == 0
    assert evaluate.main(["match", "kuhn_v0", "random", "kuhn_rule", "--games", "20"]) == 2
    assert "--resume" in capsys.readouterr().err
    names = sorted(path.name for path in (tmp_path / "runs" / "tournaments").iterdir())
    assert names == ["kuhn_v0-match-a_vs_b-seed0", "kuhn_v0-match-random_vs_kuhn_rule-seed0"]


def test_leaderboards_are_made_in_the_repository_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert evaluate.main(["leaderboard", "kuhn"]) == 2
    error = capsys.readouterr().err
    assert "change to its folder first" in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_games_and_agents_are_made_once_for_a_command(tmp_path: Path) -> None:
    """The table, exploitability and the report's sample games share them."""
    made: list[str] = []
    build = AgentSpec.build

    def note(spec: AgentSpec, game: Any) -> Any:
        made.append(spec.name)
        return build(spec, game)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AgentSpec, "build", note)
        out = str(tmp_path / "out")
        match = ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "20", "--out", out]
        assert evaluate.main(match) == 0
    assert sorted(made) == ["kuhn_rule", "random"]


# ---- hand histories ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tournament of hold'em."""
    folder = tmp_path_factory.mktemp("door") / "holdem"
    agents = (AgentSpec.parse("random"), AgentSpec.parse("holdem_tight"))
    options = {"num_players": 2, "menu": "thesis", "fold_when_free": "check"}
    run_tournament(TournamentSpec("holdem_v0", agents, options, deals=15, seed=4), folder)
    return folder


def test_hands_of_a_tournament_are_exported_and_replayed(
    hands: Path, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "all.phhs"
    assert "30 games" in run(capsys, "export", str(hands), "--out", str(out))
    # Deal 3 of the second seating is the nineteenth hand of the file.
    noted = read_noted(out, 18)
    played = Replayer(read_tournament(hands)).play(3, 0, 1)
    by_name = dict(zip(played.names, played.returns, strict=True))
    assert dict(zip(noted.names, noted.returns, strict=True)) == by_name
    shown = run(capsys, "replay", str(out), "--deal", "18")
    assert "holdem_tight" in shown
    assert "30 games: --deal must be from 0 to 29" in refusal(
        capsys, "replay", str(out), "--deal", "30"
    )


def test_a_hand_history_with_an_impossible_action_is_refused(
    hands: Path, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "one.phhs"
    run(capsys, "export", str(hands), "--deals", "1", "--out", str(out))
    out.write_text(re.sub(r"'p(\d) (f|cc|cbr \d+)'", r"'p\1 cbr 7'", out.read_text(), count=1))
    assert re.search(
        r"hand \[1\]: action 3 of the hand, 'p. cbr 7'", refusal(capsys, "replay", str(out))
    )


def test_games_without_a_notation_are_not_exported(folder: Path, capsys: Any) -> None:
    assert "no other program's notation is known" in refusal(
        capsys, "export", str(folder), "--trust"
    )


# ---- parameters of agents ------------------------------------------------------------------------


def simulations(text: str) -> set[str]:
    return set(re.findall(r"\((\d+) simulations", text))


def test_params_of_the_command_line_are_those_of_the_agents_that_they_name(capsys: Any) -> None:
    game = ("replay", "--game", "leduc_v0", "--agents", "quick=ismcts", "slow=search:mo_ismcts")
    params = ("--param", "quick.iterations=11", "--param", "slow.iterations=22")
    assert simulations(run(capsys, *game, *params)) == {"11", "22"}
    advice = ("advise", "leduc_v0", "ismcts", "--param", "ismcts.iterations=0")
    assert "50.0 %" in run(capsys, *advice)


def test_params_go_into_what_a_tournament_keeps(tmp_path: Path, capsys: Any) -> None:
    """Also on top of a file, whose other agents stay what they are."""
    config = tmp_path / "some.yaml"
    config.write_text("game: {id: kuhn_v0}\nagents: [ismcts, {id: pimc, params: {gamma: 0.1}}]\n")
    params = ("--param", "pimc.iterations=5", "--param", "ismcts.exploration=3e-1")
    common = ("--games", "20", "--out", str(tmp_path / "out"), *params)
    run(capsys, "tournament", "--config", str(config), *common)
    kept = read_tournament(tmp_path / "out").spec.agents
    assert [agent.params for agent in kept] == [
        {"exploration": "3e-1"},
        {"gamma": 0.1, "iterations": 5},
    ]


@pytest.mark.parametrize(
    ("param", "words"),
    [
        ("iterations=5", "such as ismcts.iterations="),
        ("ismcts.=5", "AGENT.NAME=VALUE"),
        ("ismcts.iterations", "NAME=VALUE"),
        ("ismct.iterations=5", "did you mean 'ismcts'?"),
        ("ismcts.iteration=5", "did you mean 'iterations'?"),
        ("ismcts.iterations=many", "must be a whole number"),
        ("ismcts.game=1", "cannot be made"),
        ("random.iterations=5", "unknown parameter 'iterations'"),
    ],
)
def test_params_that_no_agent_takes_get_one_line(param: str, words: str, capsys: Any) -> None:
    text = refusal(capsys, "match", "kuhn_v0", "ismcts", "random", "--games", "4", "--param", param)
    assert words in text


def test_only_players_that_search_are_called_by_that_word(capsys: Any) -> None:
    assert "search:random" in refusal(capsys, "match", "kuhn_v0", "search:random", "random")
