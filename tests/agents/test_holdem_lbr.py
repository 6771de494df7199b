"""Local best response: what it believes, what it does, and what it wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent, make_responder
from agents.base import Actions, Agent, Views
from agents.games.holdem.lbr import LocalBestResponse
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.holdem.equity import all_hands
from envs.holdem.evaluator import parse_card
from envs.holdem.options import STATE
from tests.support.views import views_after

GAME = make_game("holdem_v0", num_players=2, menu=1.0, minimum=False, button=0)
ACE = 12


class RaisesAces(Agent):
    """Raises the pot with a pair of aces, and otherwise checks, calls or folds to raises."""

    def policy(self, views: Views) -> Any:
        holes = views.worlds().view(STATE)["hole"][:, 0]
        own = holes[np.arange(len(views)), views.seats] >> 2
        probs = np.zeros(views.masks.shape)
        is_aces = (own == ACE).all(axis=1) & (views.masks[:, 2] == 1)
        fallback = np.where(views.masks[:, 0] == 1, 0, 1)
        probs[np.arange(len(views)), np.where(is_aces, 2, fallback)] = 1.0
        return probs

    def act(self, views: Views) -> Actions:
        return self.policy(views).argmax(axis=1)  # type: ignore[no-any-return]


class Spy(RaisesAces):
    """Keeps the keys it was asked with."""

    asked: set[tuple[bytes, int]]

    def policy(self, views: Views) -> Any:
        worlds = views.worlds().view(STATE)
        for row, seat in enumerate(views.seats):
            hand = worlds["hole"][row, 0, seat].tobytes()
            self.asked.add((hand, int(views.keys[row])))
        return super().policy(views)


def position_after(*events: str | int) -> Any:
    position = GAME.new_position()
    for event in events:
        if isinstance(event, int):
            position.apply(event)
        else:
            for card in event.split():
                position.apply(parse_card(card))
    return position


def test_after_a_raise_of_aces_nothing_else_is_believed() -> None:
    responder = LocalBestResponse(GAME, RaisesAces(GAME))
    position = position_after("As Ah Kd Kc", 2)  # the dealer raises
    responder.act(views_after(position))
    (following,) = responder._in_play.values()
    likely = all_hands()[following.weights > 0]
    assert ((likely >> 2) == ACE).all()
    assert len(likely) == 6


def test_the_agent_is_asked_with_the_keys_of_its_own_infosets() -> None:
    spy = Spy(GAME)
    spy.asked = set()
    responder = LocalBestResponse(GAME, spy)
    responder.act(views_after(position_after("As Qh Kd Kc", 1, 1, "2s 7d 9c")))
    # It has imagined a bet here; what the dealer then sees must be what it would see in a game.
    after_bet = position_after("As Qh Kd Kc", 1, 1, "2s 7d 9c", 2)
    hand = GAME.record(after_bet.state).hole[0].tobytes()
    assert (hand, int(views_after(after_bet).keys[0])) in spy.asked


def choice(opponent: str, *events: str | int) -> int:
    responder = LocalBestResponse(GAME, make_agent(opponent, GAME))
    return int(responder.act(views_after(position_after(*events)))[0])


def test_against_a_caller_it_puts_all_in_with_the_better_hand_and_nothing_with_the_worse() -> None:
    assert choice("holdem_call", "As Ah Kd Kc") == 3
    assert choice("holdem_call", "7s 2h Kd Kc") in (0, 1)
    assert choice("holdem_call", "7s 2h Kd Kc", 1, 1, "As Kh Qd", 1) == 1


def test_equal_chances_and_a_good_price_are_called() -> None:
    # A raiser of any hand bets the pot, a third of the final pot is the price.
    assert choice("holdem_raise", "9s 8h Kd Kc", 1, 2) != 0


def test_who_always_folds_is_raised_every_time() -> None:
    agent = make_agent("holdem_fold", GAME)
    result = play_match(GAME, [make_responder("lbr", GAME, agent), agent], 20)
    assert (result.returns[:, 0] == 100).all()


@pytest.mark.parametrize("options", [{"num_players": 3}, {"menu": "exact"}, {"num_hands": 2}])
def test_other_tables_are_refused(options: dict[str, Any]) -> None:
    game = make_game("holdem_v0", **{"num_players": 2, **options})
    with pytest.raises(MasqueradeError, match="lbr answers heads-up hands"):
        make_responder("lbr", game, make_agent("random", game))
