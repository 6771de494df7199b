"""Learning while playing: what a learner is told is all its seats may know, in order, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from arena import play_match
from arena.report.tables import to_text
from arena.running.tournament import run_tournament
from arena.schedules.spec import AgentSpec, TournamentSpec
from common.errors import MasqueradeError
from envs import make_game
from envs.core.batch import Batch
from envs.core.position import Position
from tests.support.learning_agents import Forgetful, Notebook, PassCounter

HERE = "tests.support.learning_agents"


def recorder(histories: dict[int, list[int]]) -> Any:
    def keep(batch: Batch, rows: Any) -> None:
        histories.update({int(batch.numbers[row]): batch.history(int(row)) for row in rows})

    return keep


def test_a_learner_sees_every_round_also_those_after_it_is_out() -> None:
    game = make_game("liars_dice_v0", num_players=3, dice=(1, 2, 2))
    learner = Notebook(game)
    learner.begin_learning()
    other = make_agent("random", game)
    histories: dict[int, list[int]] = {}
    seats = [learner, other, other]
    result = play_match(game, seats, 12, seed=4, first_game=5, on_end=recorder(histories))
    for game_id, (number, history) in zip(learner.games(), histories.items(), strict=True):
        mine = [m for m in learner.steps if m.game_id == game_id]
        position, truths = Position(game, number), []
        for action in history:
            was_chance = position.is_chance
            position.apply(action)
            if not was_chance:
                truths.append((int(game.record(position.state).num_rounds), position.is_over))
        told = [(int(game.record(m.world).num_rounds), m.is_over) for m in mine]
        assert told == truths
        assert mine[-1].total == result.returns[number - 5, 0]
        # Every round's dice are public once it is over, whoever was in it.
        last = game.record(position.state).last_dice
        assert (game.record(mine[-1].world).last_dice == last).all()
        assert max(told)[0] >= 2
    assert len(histories) == 12
    # In some game it was out before the end.
    assert any(not game.record(m.world).dice_left[0] and not m.is_over for m in learner.steps)


def test_a_learner_is_told_its_own_card_and_not_the_others() -> None:
    game = make_game("kuhn_v0")
    learner = Notebook(game)
    learner.begin_learning()
    histories: dict[int, list[int]] = {}
    play_match(game, [make_agent("random", game), learner], 100, seed=1, on_end=recorder(histories))
    own, other = [], []
    truths = dict(zip(learner.games(), histories.values(), strict=True))
    for step in learner.steps:
        cards = game.record(step.world).cards
        truth = truths[step.game_id][:2]
        own.append(cards[1] == truth[1])
        other.append(cards[0] == truth[0])
    assert all(own)
    assert 0.3 < np.mean(other) < 0.7


def test_seats_of_one_learner_are_told_apart() -> None:
    game = make_game("kuhn_v0")
    learner = Notebook(game)
    learner.name = "both"
    learner.begin_learning()
    play_match(game, [learner, learner], 3)
    assert {m.seat for m in learner.steps} == {0, 1}
    assert {m.names for m in learner.steps} == {("both", "both")}
    ends = [(m.game_id, m.seat) for m in learner.steps if m.is_over]
    assert [seat for _, seat in ends] == [0, 1] * 3
    assert len({game_id for game_id, _ in ends}) == 6  # each seat knows a game by its own


def test_games_are_the_same_whether_somebody_takes_notes_or_not() -> None:
    game = make_game("leduc_v0")
    other = make_agent("random", game)
    frozen, learner = Notebook(game), Notebook(game)
    learner.begin_learning()
    matches = [play_match(game, [other, agent], 40, seed=2) for agent in (frozen, learner)]
    assert (matches[0].returns == matches[1].returns).all()
    assert not frozen.steps
    assert learner.steps


def test_a_forfeited_game_is_over_for_the_learner_too() -> None:
    game = make_game("kuhn_v0")
    learner = Notebook(game)
    learner.begin_learning()
    broken = make_agent("tests.support.planted_agents:Broken", game)
    play_match(game, [broken, learner], 4, has_forfeits=True)
    assert [(m.total, m.is_over) for m in learner.steps] == [(2.0, True)] * 4


def test_an_agent_that_cannot_learn_says_so() -> None:
    game = make_game("kuhn_v0")
    with pytest.raises(MasqueradeError, match="random cannot learn while it plays"):
        AgentSpec("random", learning=True).build(game)
    with pytest.raises(MasqueradeError, match="learning must be true or false"):
        AgentSpec.parse({"id": "random", "learning": "yes"})
    with pytest.raises(MasqueradeError, match="cannot learn within a time_per_move"):
        AgentSpec("random", learning=True, time_per_move=1.0)


def test_a_learner_that_fails_is_named() -> None:
    game = make_game("kuhn_v0")
    learner = Forgetful(game)
    learner.name = "goldfish"
    learner.begin_learning()
    with pytest.raises(MasqueradeError, match="goldfish failed while it watched a game: Runtime"):
        play_match(game, [learner, make_agent("random", game)], 4, has_forfeits=True)


# ---- tournaments ---------------------------------------------------------------------------------


def tournament(is_learning: bool, deals: int = 150) -> TournamentSpec:
    passer = AgentSpec("tests.support.planted_agents:Folder", {"passes": 1.0}, "passer")
    learner = AgentSpec(f"{HERE}:PassCounter", name="learner", learning=is_learning)
    return TournamentSpec("kuhn_v0", (passer, learner), deals=deals, seed=0)


def test_a_learner_learns_during_a_tournament_and_the_same_every_time(tmp_path: Path) -> None:
    learnt = run_tournament(tournament(True), tmp_path / "learnt")
    again = run_tournament(tournament(True), tmp_path / "again")
    frozen = run_tournament(tournament(False), tmp_path / "frozen")
    assert learnt.to_dict() == again.to_dict()
    # It passes in its first game, then always bets against one who always passes, and wins 1.
    leads = [summary.comparisons[0].lead.mean for summary in (learnt, frozen)]
    assert leads[0] < -0.98
    assert abs(leads[1]) < 0.3
    assert "Learning: learner." in to_text(learnt)
    assert '"learning": true' in (tmp_path / "learnt" / "tournament.json").read_text()


def test_what_depends_on_order_is_played_in_order_or_not_at_all(tmp_path: Path) -> None:
    for arguments in ({"workers": 2}, {"until": 0.1}):
        with pytest.raises(MasqueradeError, match="use one worker and no --until"):
            run_tournament(tournament(True), tmp_path / "a", **arguments)
    assert not (tmp_path / "a").exists()
    run_tournament(tournament(True), tmp_path / "b")
    with pytest.raises(MasqueradeError, match="begin anew with another --out"):
        run_tournament(tournament(True, deals=600), tmp_path / "b", has_resume=True)
    # Nothing is missing here.
    run_tournament(tournament(True), tmp_path / "b", has_resume=True)


def test_profiles_go_by_name() -> None:
    game = make_game("kuhn_v0")
    learner = PassCounter(game)
    learner.begin_learning()
    for name, passes in (("timid", 1.0), ("bold", 0.0)):
        other = make_agent("tests.support.planted_agents:Folder", game, passes=passes)
        other.name = name
        play_match(game, [other, learner], 7)
    assert learner.passes == {"timid": 7}
    assert learner.bets == {"bold": 7}
