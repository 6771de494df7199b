"""Learning while playing: what a learner is told is all its seats may know, in order, once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.spec import AgentSpec
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.batch import Batch
from envs.core.position import Position
from tests.support.learning_agents import Forgetful, Notebook, PassCounter


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
        make_agent("random", game).begin_learning()
    with pytest.raises(MasqueradeError, match="unknown agent key 'learning'"):
        AgentSpec.parse({"id": "random", "learning": True})


def test_a_learner_that_fails_is_named() -> None:
    game = make_game("kuhn_v0")
    learner = Forgetful(game)
    learner.name = "goldfish"
    learner.begin_learning()
    with pytest.raises(MasqueradeError, match="goldfish failed while it watched a game: Runtime"):
        play_match(game, [learner, make_agent("random", game)], 4, has_forfeits=True)


def test_a_learner_learns_during_a_match_and_the_same_every_time() -> None:
    game = make_game("kuhn_v0")
    passer = make_agent("tests.support.planted_agents:Folder", game, passes=1.0)

    def won(is_learning: bool) -> Any:
        learner = PassCounter(game)
        if is_learning:
            learner.begin_learning()
        return play_match(game, [passer, learner], 150, seed=0).returns[:, 1]

    # It passes in its first game, then always bets against one who always passes, and wins 1.
    assert (won(is_learning=True) == won(is_learning=True)).all()
    assert won(is_learning=True).mean() > 0.98
    assert abs(won(is_learning=False).mean()) < 0.3


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
