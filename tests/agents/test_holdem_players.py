"""Rule players of hold'em: what they do in chosen positions, and whom they beat."""

from __future__ import annotations

from typing import Any

import pytest

from agents import AGENTS, make_agent
from arena.match import play_match
from envs import make_game
from envs.core.position import Position
from tests.support.holdem_table import deal, play
from tests.support.views import views_of

PLAYERS = sorted(name for name in AGENTS if name.startswith("holdem_") and name != "holdem_search")


def choice(name: str, position: Position, **params: Any) -> int:
    """What an agent plays in a position."""
    agent = make_agent(name, position.game, **params)
    return int(agent.act(views_of([position]))[0])


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize(
    "options", [{}, {"preset": "thesis"}, {"preset": "exact", "num_players": 3}]
)
def test_everybody_plays_legal_moves_at_every_table(name: str, options: dict[str, Any]) -> None:
    game = make_game("holdem_v0", **options)
    result = play_match(game, [make_agent(name, game)] * game.facts.num_players, 60)
    assert abs(result.mean_returns.sum()) < 1e-9


@pytest.mark.parametrize("name", ["holdem_tight", "holdem_loose", "holdem_odds", "holdem_push"])
@pytest.mark.parametrize("other", ["random", "holdem_raise", "holdem_call"])
def test_players_who_look_at_their_cards_win_from_those_who_do_not(name: str, other: str) -> None:
    game = make_game("holdem_v0", num_players=2, stacks=5000)
    result = play_match(game, [make_agent(name, game), make_agent(other, game)], 6000)
    assert result.mean_returns[0] > result.half_widths[0]


def test_aces_are_raised_and_seven_deuce_is_folded() -> None:
    for name in ("holdem_tight", "holdem_loose", "holdem_odds"):
        assert choice(name, deal(["As Ad", "Ks Kd", "Qs Qd"])) > 1
    assert choice("holdem_tight", deal(["7s 2d", "Ks Kd", "Qs Qd"])) == 0


def test_a_good_draw_is_called_when_the_price_is_right() -> None:
    # Open straight and flush draw: about 54 % with two cards to come.
    draw = play(deal(["8h 7h", "As Ac"]), 300, "call", "6h 5h Kd", 100)
    assert choice("holdem_odds", draw, num_samples=2000) != 0
    nothing = play(deal(["8s 3c", "As Ac"]), "call", "call", "Kh Qh Jd", 9000)
    assert choice("holdem_odds", nothing, num_samples=2000) == 0


def test_with_few_big_blinds_it_is_all_or_nothing() -> None:
    strong = deal(["As Kd", "9s 9d"], stacks=800)
    assert choice("holdem_push", strong) == 801
    weak = deal(["7s 2d", "9s 9d"], stacks=800)
    assert choice("holdem_push", weak) == 0
    deep = deal(["As Kd", "9s 9d"], stacks=10_000)
    assert choice("holdem_push", deep) == choice("holdem_odds", deep) < 2000
