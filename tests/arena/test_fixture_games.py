"""Games unlike the suite's first ones go through learners, tournaments, forfeits and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envs
from agents import AGENTS, LEARNERS, make_agent
from agents.base import Actions, Agent, Views
from agents.learning.learner import Opponents, Task
from agents.spec import AgentSpec
from arena.match import play_match
from arena.report import write_report
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from common.errors import MasqueradeError
from envs import make_game
from envs.core.facts import side_returns
from envs.core.game import Game
from tests.support.fixture_games import FIXTURES, Hideout, Market, Showdown
from training.config import learner_class

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("market_v0", {}),
    ("hideout_v0", {}),
    ("hideout_v0", {"num_seats": 3}),
    ("showdown_v0", {"num_players": 3}),
    ("showdown_v0", {}),
]
every_game = pytest.mark.parametrize(("game_id", "options"), GAMES)


@pytest.fixture(autouse=True)
def fixtures_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for game_id, place in FIXTURES.items():
        monkeypatch.setitem(envs.GAMES, game_id, place)
    # Agents of the house: strange ones would need a process for every seat.
    for agent in (Stubborn, Searcher, Fugitive):
        monkeypatch.setitem(AGENTS, agent.__name__.lower(), f"{__name__}:{agent.__name__}")


class Stubborn(Agent):
    """Always the last legal action."""

    is_deterministic = True

    def act(self, views: Views) -> Actions:
        return views.masks.shape[1] - 1 - views.masks[:, ::-1].argmax(axis=1)


class Illegal(Agent):
    """Chooses what no game has."""

    def act(self, views: Views) -> Actions:
        return np.full(len(views), 10**6)


class Searcher(Stubborn):
    """Searches, and cannot hide."""

    roles = ("searcher",)


class Fugitive(Stubborn):
    """Hides, and cannot search."""

    roles = ("fugitive",)


def tournament(game_id: str, options: dict[str, Any], *agents: str, **more: Any) -> TournamentSpec:
    specs = tuple(AgentSpec.parse(agent) for agent in agents)
    return TournamentSpec(game_id, specs, options=options, **{"deals": 40, "seed": 0, **more})


# ---- learners ------------------------------------------------------------------------------------

SETTINGS: dict[str, dict[str, Any]] = {
    "dqn": {"hidden": [8], "num_envs": 8, "learn_start": 16, "batch_size": 8},
    "sb3": {"hidden": [8], "num_envs": 4, "n_steps": 16, "batch_size": 16},
    "mccfr": {"max_infosets": 50_000},
}
GENERIC = [name for name in LEARNERS if "rounds" not in name]


@pytest.mark.parametrize("learner_id", GENERIC)
@every_game
def test_every_learner_that_can_play_it_learns_and_plays(
    game_id: str, options: dict[str, Any], learner_id: str
) -> None:
    game = make_game(game_id, **options)
    found = learner_class(learner_id)
    task = Task(game, seed=0, opponents=Opponents(["self"]), total=64)
    settings = found.settings_class.parse(SETTINGS.get(learner_id, {}))
    if learner_id == "cfr" and game.facts.num_players == 10:
        # A solver that writes the whole tree down refuses what is too large, in one line.
        with pytest.raises(MasqueradeError, match=r"^[^\n]*nodes[^\n]*$"):
            found(task, settings)
        return
    learner = found(task, settings)
    learner.update(64)
    player = learner.player()
    seats = [player] * game.facts.num_players
    result = play_match(game, seats, 20, seed=1)
    assert np.isfinite(result.returns).all()


@pytest.mark.parametrize("role", ["fugitive", "searcher"])
def test_a_role_bound_learner_sits_in_its_role_alone(role: str) -> None:
    game = Hideout(num_seats=3)
    others = Opponents([make_agent("random", game)])
    task = Task(game, seed=0, opponents=others, total=64, role=role)
    found = learner_class("dqn")
    learner = found(task, found.settings_class.parse(SETTINGS["dqn"]))
    learner.update(64)
    assert learner.player().roles == (role,)


# ---- tournaments ---------------------------------------------------------------------------------


@every_game
def test_a_tournament_ends_with_a_report(
    game_id: str, options: dict[str, Any], tmp_path: Path
) -> None:
    spec = tournament(game_id, options, "random", "other=random", "third=random", "stubborn")
    summary = run_tournament(spec, tmp_path / "t")
    again = run_tournament(spec, tmp_path / "u")
    assert summary.to_dict() == again.to_dict()
    assert summary.objective == make_game(game_id, **options).facts.objective
    assert not summary.faults
    page = write_report(tmp_path / "t", summary=summary).read_text()
    assert "stubborn" in page


def test_one_role_meets_the_other_in_rows_and_columns(tmp_path: Path) -> None:
    spec = tournament("hideout_v0", {"num_seats": 3}, "random", "hider=fugitive", "seeker=searcher")
    summary = run_tournament(spec, tmp_path / "t")
    assert summary.is_two_sided
    assert summary.roles[0] == "fugitive"
    played = {(result.agent, result.role) for result in summary.by_role}
    assert ("hider", "fugitive") in played
    assert ("seeker", "fugitive") not in played
    page = write_report(tmp_path / "t", summary=summary).read_text()
    assert "fugitive" in page


def test_many_agents_at_ten_seats_finish(tmp_path: Path) -> None:
    agents = [f"a{i}=random" for i in range(12)]
    spec = tournament("showdown_v0", {}, *agents, deals=2)
    summary = run_tournament(spec, tmp_path / "t")
    assert len(summary.standings) == 12
    assert summary.unit.name == "bb/100"


# ---- forfeits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [Market(), Hideout(), Hideout(num_seats=3), Showdown()], ids=repr)
def test_a_forfeit_costs_the_culprits_side_and_pays_nobody_too_much(game: Game) -> None:
    facts = game.facts
    honest = make_agent("random", game)
    for seat in range(facts.num_players):
        agents: list[Agent] = [honest] * facts.num_players
        agents[seat] = Illegal(game)
        result = play_match(game, agents, 60, seed=2, has_forfeits=True)
        lost = [fault.game for fault in result.faults if fault.seat == seat]
        assert len(lost) == len(result.faults)
        for number in lost:
            own = facts.seats[seat]
            assert result.returns[number, seat] == own.low
            for other, total in zip(facts.seats, result.returns[number], strict=True):
                assert other.low <= total <= other.high
                if other.team == own.team:
                    assert total == other.low
        if facts.return_sum is not None:
            sums = side_returns(facts, result.returns).sum(axis=1)
            assert (sums <= facts.return_sum + 1e-9).all()


# ---- best responses ------------------------------------------------------------------------------


def test_the_best_response_to_random_hiding_and_searching_is_known() -> None:
    from agents.cfr.evaluation import make_evaluator

    game = Hideout()
    result, _ = make_evaluator(game).evaluate(make_agent("random", game), num_samples=1)
    # Two of four places are searched whatever anybody does: nobody can gain.
    assert result.nash_conv == pytest.approx(0.0, abs=1e-12)
    stubborn, _ = make_evaluator(game).evaluate(Stubborn(game), num_samples=1)
    # Who always hides in the west is found, and who never looks in the north finds nobody there.
    assert stubborn.best[0] == pytest.approx(1.0)
    assert stubborn.best[1] == pytest.approx(1.0)
