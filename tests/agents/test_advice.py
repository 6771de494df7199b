"""Advice: what agents would do in somebody's place, and the command that prints it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import evaluate
from agents import make_agent
from agents.advice import Analysis, advise, legal_words, views_of
from agents.base import Actions, Agent, Views
from agents.max_n import Searcher, SearchSettings
from common.errors import MasqueradeError
from envs import make_game
from envs.core.position import Position
from tests.support.no_thanks_decks import PAY, TAKE, small


def leduc() -> Position:
    """The king and a queen are dealt, and player 0 is to move."""
    return make_game("leduc_v0").replay([4, 2])


def test_a_search_tells_what_each_move_is_worth() -> None:
    position = small(3, 6, 4)
    agent = make_agent("max_n", position.game, max_nodes=10**6)
    advice = advise(agent, views_of(position, agent))
    truth = Searcher(position.game, SearchSettings()).search(position.state)
    assert advice.source == "search"
    assert advice.bars[0].action == truth.action == TAKE
    assert advice.bars[0].share == 1.0
    for bar in advice.bars:  # places above the middle
        child = position.copy()
        child.apply(bar.action)
        values = np.array(Searcher(position.game, SearchSettings()).search(child.state).values)
        place = 1 + (values > values[0]).sum() + 0.5 * ((values == values[0]).sum() - 1)
        assert bar.value == 2 - place
    assert advice.variation[0] == TAKE
    below = position.copy()
    for action in advice.variation:
        below.apply(action)
    assert below.is_over, "the line goes to the end of so short a game"


def test_the_players_by_slices_tell_expected_places() -> None:
    game = make_game("no_thanks_v0")
    position = game.deal([20, 3, 30])  # type: ignore[attr-defined]
    for agent_id in ("no_thanks_slices", "no_thanks_value"):
        agent = make_agent(agent_id, game)
        views = views_of(position, agent)
        advice = advise(agent, views)
        assert {bar.words for bar in advice.bars} == {"pay", "take"}
        assert all(bar.value is not None and -1.01 <= bar.value <= 1.01 for bar in advice.bars)
        assert sum(bar.share for bar in advice.bars) == pytest.approx(1)
        assert agent.act(views_of(position, agent))[0] in (PAY, TAKE)


def test_a_policy_is_believed_and_a_rule_is_asked_once() -> None:
    position = leduc()
    policy = advise(make_agent("random", position.game), views_of(position))
    assert (policy.source, {bar.share for bar in policy.bars}) == ("policy", {0.5})
    table = small(3, 6, 4)
    choice = advise(make_agent("no_thanks_greedy", table.game), views_of(table))
    assert choice.source == "choice"
    assert [bar.share for bar in choice.bars] == [1.0]


class Coin(Agent):
    """Says nothing of itself."""

    def act(self, views: Views) -> Actions:
        """The second action now and then."""
        return (views.rngs[:, 0] % np.uint64(4) == 0).astype(np.int64)


def test_who_tells_nothing_is_asked_many_times() -> None:
    position = small(9, 6, 4)
    advice = advise(Coin(position.game), views_of(position))
    assert advice.source == "samples"
    assert sum(bar.share for bar in advice.bars) == pytest.approx(1)
    assert advice.bars[0].action == 0
    assert 0.5 < advice.bars[0].share < 1


class Analyst(Coin):
    """Knows the value of one action."""

    num_past = 2

    def analyse(self, views: Views) -> list[Analysis]:
        """Nothing is known of the last action."""
        actions = np.flatnonzero(views.masks[0])
        values = np.where(actions == actions[-1], np.nan, 2.0)
        assert views.past_observations(2).shape[1] == 2
        return [Analysis(actions, np.full(len(actions), 1 / len(actions)), values)]


def test_values_are_in_the_unit_of_the_game_and_may_be_unknown() -> None:
    position = leduc()
    agent = Analyst(position.game)
    advice = advise(agent, views_of(position, agent))
    unit = position.game.facts.unit
    assert advice.unit == unit.name
    assert [bar.value for bar in advice.bars] == [2.0 * unit.scale, None]
    assert asdict(advice)["bars"][0]["action"] == advice.bars[0].action
    assert advice.bar(99) is None


def test_an_adviser_knows_what_the_player_knows() -> None:
    game = make_game("leduc_v0")
    views = [views_of(game.replay([4, other])) for other in (0, 2)]
    assert (views[0].observations == views[1].observations).all()
    assert views[0].keys == views[1].keys
    assert (views[0].worlds() == views[1].worlds()).all()
    assert legal_words(views[0]) == legal_words(views[1])


def test_earlier_observations_are_those_of_the_player() -> None:
    position = small(9, 6, 4)
    agent = Analyst(position.game)
    assert not views_of(position, agent).past_observations(2).any()
    first = position.observation(0)
    for action in (PAY, PAY, PAY):
        position.apply(action)
    past = views_of(position, agent).past_observations(2)[0]
    assert not past[0].any()
    assert (past[1] == first).all()


def test_where_nobody_is_to_move_there_is_no_advice() -> None:
    with pytest.raises(MasqueradeError, match="nobody is to move"):
        views_of(make_game("leduc_v0").new_position())


def test_the_command_advises_in_a_new_game_and_in_a_saved_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["advise", "no_thanks_v0", "max_n", "no_thanks_rule", "--moves", "pay", "take"]
    assert evaluate.main([*command, "--option", "highest=8", "--option", "removed=1"]) == 0
    told = capsys.readouterr().out
    assert "max_n (search)" in told
    assert "no_thanks_rule (choice)" in told
    assert "places above the middle" in told
    position = leduc()
    position.save(tmp_path / "position.json")
    assert evaluate.main(["advise", str(tmp_path / "position.json"), "random"]) == 0
    assert "50.0 %" in capsys.readouterr().out


def test_moves_after_the_end_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--option", "highest=4", "--option", "removed=1"]
    moves = ["--moves", "take", "take"]
    assert evaluate.main(["advise", "no_thanks_v0", "random", *options, *moves]) == 2
    assert "over before the move" in capsys.readouterr().err
