"""Who may sit at a table: the project's agents, runs, and what the command line names."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from common.errors import MasqueradeError
from envs import GAMES, make_game
from play.agents import Thinkers
from play.catalogue import Catalogue, find_own, game_of

OWN = '''
import numpy as np
from agents.base import Agent


class FirstMove(Agent):
    """Plays the first legal move."""

    def act(self, views):
        return views.masks.argmax(axis=1)


class SlowMove(Agent):
    """Never comes to a decision."""

    def act(self, views):
        while True:
            pass
'''


@pytest.mark.parametrize("game_id", list(GAMES))
def test_every_game_has_a_card_and_usual_opponents_that_may_sit_there(game_id: str) -> None:
    catalogue = Catalogue()
    game = make_game(game_id)
    assert catalogue.card(game_id).words
    for choice in catalogue.usual_seats(game):
        if choice.who == "agent":
            catalogue.check(game, choice.agent)


def test_classes_of_a_folder_are_found_and_play(tmp_path: Path) -> None:
    (tmp_path / "own_players_of_a_test.py").write_text(OWN)
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "notes.txt").write_text("nothing")
    own = find_own([str(tmp_path)])
    module = "own_players_of_a_test"
    assert own == [f"{module}:FirstMove", f"{module}:SlowMove", f"external:{program}"]
    catalogue = Catalogue(own)
    game = make_game("kuhn_v0")
    labels = [card.label for card in catalogue.players(game) if card.kind == "own"]
    assert labels == ["FirstMove", "SlowMove", "program"]
    catalogue.check(game, own[0])
    with pytest.raises(MasqueradeError, match="choose from the list"):
        Catalogue().check(game, own[0])


def test_a_folder_without_players_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MasqueradeError, match="no players"):
        find_own([str(tmp_path)])


def test_a_run_is_listed_where_its_options_fit(tmp_path: Path) -> None:
    run = tmp_path / "kuhn_v0" / "cfr-seed0"
    run.mkdir(parents=True)
    (run / "config.yaml").write_text("game: {id: kuhn_v0}\nagent: {id: cfr}\n")
    (tmp_path / "kuhn_v0" / "broken").mkdir()
    (tmp_path / "kuhn_v0" / "broken" / "config.yaml").write_text("]")
    catalogue = Catalogue(runs=tmp_path)

    def runs(**options: int) -> list[str]:
        players = catalogue.players(make_game("kuhn_v0", **options))
        return [card.label for card in players if card.kind == "run"]

    assert runs() == ["cfr-seed0"]
    assert runs(num_players=3) == []


@pytest.mark.parametrize("board", ["/etc/passwd", "../x", "a.json", "..\\x"])
def test_a_board_that_is_a_path_is_refused(board: str) -> None:
    with pytest.raises(MasqueradeError, match="not a file"):
        game_of("scotland_yard_v0", {"board": board})


def test_agents_are_shared_and_their_number_is_bounded() -> None:
    thinkers = Thinkers(max_agents=2)
    game = make_game("kuhn_v0")
    first = thinkers.agent(game, "random")
    assert thinkers.agent(game, "random") is first
    for players in (3, 4, 5):
        thinkers.agent(make_game("kuhn_v0", num_players=players), "random")
    assert thinkers.agent(game, "random") is not first
    thinkers.close()


@pytest.mark.parametrize(
    "options",
    [
        {"self": 1},
        {"game_id": "kuhn_v0"},
        {"preset": []},
        {"num_maps": 1000},
        {"num_maps": "1e3"},
        {"num_maps": 10, "max_imbalance": 0.01},
        {"num_maps": float("nan")},
        {"rows": 10**400},
    ],
    ids=str,
)
def test_strange_options_are_refused_in_a_line(options: dict[str, object]) -> None:
    with pytest.raises(MasqueradeError):
        game_of("phantom_v0", options)
