"""What agents show of what they have learnt."""

from __future__ import annotations

import numpy as np
import pytest

from agents import make_agent
from agents.advice import views_of
from agents.learnt import Exhibit, exhibits
from agents.tabular.learner import TabularAgent
from envs import make_game
from envs.core.position import Position
from envs.liars_dice.game import LiarsDice


def first_bid(game: LiarsDice) -> Position:
    """Everybody has rolled ones, and player 0 has said that there is one."""
    num_rolls = 2 * int(game.options.dice) if isinstance(game.options.dice, int) else 0
    return game.replay([0] * num_rolls + [game.parse_action("1*1")])


@pytest.fixture
def game() -> LiarsDice:
    made = make_game("liars_dice_v0", dice=2)
    assert isinstance(made, LiarsDice)
    return made


def shown(agent: TabularAgent, position: Position) -> dict[str, Exhibit]:
    return {exhibit.title: exhibit for exhibit in exhibits(agent, views_of(position))}


def test_a_table_shows_the_values_that_it_has(game: LiarsDice) -> None:
    agent = make_agent("sarsa", game, abstraction="blind", initial="abstraction")
    assert isinstance(agent, TabularAgent)
    found = shown(agent, first_bid(game))
    values = dict(found["Its values here"].rows[1:])
    # Low bids look good at first, and high ones worth a call: see ``blind_entries``.
    assert values["1*2"] == "0.5"
    assert values["4*2"] == "0.125"
    assert values["liar"] == "0.125"
    assert f"{len(agent.model.table):,} entries" in found["The table"].words
    for title in ("The value of every bid", "The value of calling every bid"):
        assert found[title].svg.count("<rect") > game.facts.num_actions - 1


def test_what_was_never_met_is_said_to_be_unknown(game: LiarsDice) -> None:
    agent = make_agent("q_learning", game)
    assert isinstance(agent, TabularAgent)
    found = shown(agent, first_bid(game))
    assert {value for _, value in found["Its values here"].rows[1:]} == {"not met"}
    assert "The value of every bid" not in found  # an information set is one decision


def test_a_lie_profile_shows_its_counts(game: LiarsDice) -> None:
    model = {"id": "lies", "reading": "code"}
    agent = make_agent("sarsa", game, abstraction="blind", opponent_model=model)
    assert isinstance(agent, TabularAgent)
    assert agent.model.opponents is not None
    position = game.replay([0, 0, 0, 0, game.parse_action("4*6"), game.facts.num_actions - 1])
    agent.model.opponents.observe(position.state, 1)  # type: ignore[attr-defined]
    rows = shown(agent, first_bid(game))["The lie profile"].rows
    assert ["high", "1", "1", "100.0%"] in rows


def test_what_is_shown_does_not_depend_on_what_the_seat_cannot_see(game: LiarsDice) -> None:
    agent = make_agent("sarsa", game, abstraction="hand")
    bid = game.parse_action("1*1")
    one, other = game.replay([0, 0, 3, 4, bid]), game.replay([5, 2, 3, 4, bid])
    assert not np.array_equal(one.state, other.state)
    seen = [[e.to_dict() for e in exhibits(agent, views_of(p))] for p in (one, other)]
    assert seen[0] == seen[1]
