"""How hold'em players are described: charts, bluffs and draws of players who are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evaluate
from agents import make_agent
from agents.advice import policy_at
from agents.games.holdem.behaviour import describe, draw_positions, position_names, starting_hands
from envs import make_game
from envs.core.game import Game
from envs.holdem.betting import call_to
from envs.holdem.equity import class_name
from envs.holdem.options import RULES

OPTIONS: list[dict[str, Any]] = [{"num_players": 2}, {}, {"preset": "thesis"}]


def by_name(game: Game, name: str) -> Any:
    return describe(lambda table: make_agent(name, table), game, name, 300, 0)


@pytest.mark.parametrize("options", OPTIONS)
def test_whoever_always_calls_calls_everything(options: dict[str, Any]) -> None:
    found = by_name(make_game("holdem_v0", **options), "holdem_call")
    assert (found.starting == [0.0, 1.0, 0.0]).all()
    assert found.checked_to["weak"].mean == 0.0
    # A caller is right at a good price and wrong at a bad one.
    assert sorted(found.draws.values()) == [(0, 8), (0, 8), (8, 8), (8, 8)]


def test_whoever_always_raises_bluffs_whenever_it_is_checked_to() -> None:
    game = make_game("holdem_v0", num_players=3)
    found = by_name(game, "holdem_raise")
    assert (found.starting == [0.0, 0.0, 1.0]).all()


def test_a_tight_player_raises_aces_and_folds_seven_deuce_in_every_position() -> None:
    game = make_game("holdem_v0")
    found, positions = starting_hands(make_agent("holdem_tight", game), game)
    assert positions == position_names(6)
    kinds = {class_name(kind): kind for kind in range(169)}
    assert (found[:, kinds["AA"], 2] == 1.0).all()
    assert (found[:, kinds["72o"], 0] == 1.0).all()
    assert np.allclose(found.sum(axis=2), 1.0)


@pytest.mark.parametrize("options", OPTIONS)
def test_prices_of_draws_are_what_they_say(options: dict[str, Any]) -> None:
    questions = list(draw_positions(make_game("holdem_v0", **options)))
    assert len(questions) == 4
    for question in questions:
        for position in question.positions:
            s = question.game.record(position.state)
            r = question.game.rules.view(RULES)[0]
            price = int(call_to(s, r, position.turn) - s.bets[position.turn])
            share = 100 * price / (price + int(s.pot))
            assert f"{share:.0f} %" in question.name
            assert s.num_board == (4 if "turn" in question.name else 3)


def test_agents_that_look_back_are_shown_what_they_saw() -> None:
    game = make_game("leduc_v0")
    position = game.replay([0, 1, 1, 1, 4])  # both players have decided once

    class Looks(type(make_agent("random", game))):  # type: ignore[misc]
        num_past = 2

        def policy(self, views: Any) -> Any:
            self.shown = views.past_observations(2)
            return super().policy(views)

    agent = Looks(game)
    policy_at(agent, [position])
    first = game.replay([0, 1])
    assert (agent.shown[0, 0] == 0.0).all()
    assert (agent.shown[0, 1] == first.observation(position.turn)).all()


def test_the_command_writes_tables_and_a_picture(tmp_path: Path, capsys: Any) -> None:
    arguments = ["behaviour", "holdem_v0", "holdem_tight", "--option", "num_players=2"]
    assert evaluate.main([*arguments, "--games", "50", "--out", str(tmp_path)]) == 0
    assert "answered right" in capsys.readouterr().out
    picture = (tmp_path / "holdem_tight.svg").read_text()
    assert picture.count("AKs") == 1
    assert "holdem_tight.svg" in (tmp_path / "holdem_tight.md").read_text()
    assert evaluate.main(["behaviour", "kuhn_v0", "random"]) == 2
    assert "only holdem_v0 has one" in capsys.readouterr().err
