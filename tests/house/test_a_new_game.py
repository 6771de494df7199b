"""A new game is one folder and one line: everything else finds it by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import envs
import train
from agents import make_agent
from agents.spec import AgentSpec
from arena.match import play_match
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from envs import make_game
from envs.core.checking import check_game
from envs.describe import describe
from play.catalogue import Catalogue

SKULL = "skull_v0"


@pytest.fixture(autouse=True)
def skull_is_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(envs.GAMES, SKULL, "tests.support.skull.game:Skull")


def test_it_keeps_the_contract() -> None:
    report = check_game(make_game(SKULL))
    assert report.has_hidden_information
    assert report.tree


def test_the_documentation_shows_it() -> None:
    page = describe(SKULL)
    assert page.startswith("# Skull for two in one round (`skull_v0`)")
    assert "| cards | 4 |" in page


def test_it_lies_in_the_lobby() -> None:
    catalogue, game = Catalogue(), make_game(SKULL)
    assert SKULL in [card.id for card in catalogue.games()]
    assert [choice.agent for choice in catalogue.usual_seats(game)][1:] == ["random"]
    assert "mo_ismcts" in [player.spec for player in catalogue.players(game)]


def test_train_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    train.main(["--list"])
    assert SKULL in capsys.readouterr().out


def test_it_is_searched() -> None:
    game = make_game(SKULL)
    searcher = make_agent("mo_ismcts", game, iterations=50)
    result = play_match(game, [searcher, make_agent("random", game)], 10, seed=0)
    assert np.isfinite(result.returns).all()


def test_it_is_played_in_a_tournament(tmp_path: Path) -> None:
    agents = tuple(AgentSpec.parse(name) for name in ("random", "other=random"))
    summary = run_tournament(TournamentSpec(SKULL, agents, deals=20, seed=0), tmp_path / "t")
    assert not summary.faults
