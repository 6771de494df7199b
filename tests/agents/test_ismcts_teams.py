"""Fewer actions in a tree, team-mates who share a success, levels, and beliefs by path counts."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from arena.match import play_match
from envs import make_game
from envs.core.batch import Batch, random_actions
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.pursuit.game import Pursuit
from envs.pursuit.options import FUGITIVE
from tests.support.pursuits import belief, record, started
from tests.support.sampling import IS_FULL
from tests.support.views import views_of

OPEN: dict[str, Any] = {
    "board": "grid",
    "start_is_known": True,
    "first": "detectives",
    "moving": "in_order",
    "reveals": 1,
    "fugitive_tickets": "unlimited",
    "detective_tickets": "unlimited",
    "black_tickets": 0,
    "double_moves": 0,
}
"""Everybody sees everything, and detectives begin."""


def some_views(game: Game, num_steps: int = 9) -> Any:
    """A decision some random moves into a game."""
    batch, rows = Batch(game, 1, chance=new_rng(3)), np.arange(1)
    batch.begin(rows, rows)
    for _ in range(num_steps):
        views = batch.views(rows)
        batch.step(rows, random_actions(views.masks, views.rngs))
    return batch.views(rows)


# ---- width ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", ["phantom_v0", "no_thanks_v0", "liars_dice_v0"])
@pytest.mark.parametrize("observers", ["single", "many", "perfect"])
@pytest.mark.parametrize("selection", ["ucb", "puct", "regret"])
def test_a_node_keeps_the_actions_that_the_estimate_likes_best(
    game_id: str, observers: str, selection: str
) -> None:
    game = make_game(game_id)
    views = some_views(game)
    settings = {"observers": observers, "selection": selection, "num_worlds": 1}
    for width in (1, 2):
        agent = make_agent("ismcts", game, iterations=400, width=width, **settings)
        (found,) = agent.analyse(views)
        tried = found.actions[found.visits > 0]
        assert len(tried) == min(width, len(found.actions))


def test_the_best_by_the_estimate_are_those_of_a_count_by_hand() -> None:
    game = make_game("scotland_yard_v0", **{**OPEN, "num_detectives": 1})
    position = started(game, [12], fugitive=4)  # type: ignore[arg-type]
    worth = {}
    for action in position.legal_actions():
        after, out = position.copy(), np.zeros(2)
        after.apply(action)
        game.optional.evaluate(after.state, game.rules, out)
        worth[action] = out[position.turn]
    best = [action for action in worth if worth[action] == max(worth.values())]
    agent = make_agent("mo_ismcts", game, iterations=100, width=len(best))
    (found,) = agent.analyse(views_of([position]))
    assert 0 < len(best) < len(worth)
    assert found.actions[found.visits > 0].tolist() == best


# ---- team-mates ----------------------------------------------------------------------------------


def beside_him() -> Position:
    """The fugitive in a corner of a grid, seen, with a detective on either side of him."""
    game = make_game(
        "scotland_yard_v0",
        **{**OPEN, "rows": 3, "columns": 3, "num_detectives": 2, "seats": "each"},
    )
    return started(game, [1, 3], fugitive=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("agent_id", ["ismcts", "mo_ismcts"])
def test_who_loses_by_a_mate_s_success_makes_the_catch_himself(agent_id: str) -> None:
    """What he leaves to the other is worth as much without coalition reduction, and less with."""
    position = beside_him()
    assert position.turn == 1
    others = {}
    for coalition in (0.0, 0.5):
        agent = make_agent(agent_id, position.game, iterations=4000, coalition=coalition)
        (found,) = agent.analyse(views_of([position]))
        is_catch = found.actions % 9 == 0
        assert found.values[is_catch] == pytest.approx(1.0)
        others[coalition] = float(found.values[~is_catch].max())
        if coalition:
            assert found.best % 9 == 0
    assert others[0.0] > 0.6
    # A catch by the other counts halfway between losing (-1) and winning (1); one of his own, if
    # the other lets the fugitive go, counts in full.
    assert others[0.5] < 0.2


def test_one_player_for_all_detectives_has_nobody_to_leave_work_to() -> None:
    game = make_game("phantom_v0", board="map_1")
    plain, reduced = (
        make_agent("mo_ismcts", game, iterations=200, coalition=share).analyse(some_views(game))[0]
        for share in (0.0, 0.9)
    )
    assert (plain.visits == reduced.visits).all()


# ---- levels --------------------------------------------------------------------------------------


def test_higher_levels_catch_more_and_take_fewer_points() -> None:
    """Two detectives on a small map, and a player of No Thanks! between rule players."""
    pursuit = make_game("phantom_v0", rows=6, columns=6, num_detectives=2, map_seed=3)
    cards = make_game("no_thanks_v0")
    fugitive, rule = make_agent("pursuit_belief", pursuit), make_agent("no_thanks_rule", cards)
    caught, points = [], []
    for level in (1, 2, 3, 4) if IS_FULL else (1, 3):
        players = [fugitive, make_agent("mo_ismcts", pursuit, level=level)]
        caught.append((play_match(pursuit, players, 100, seed=8).returns[:, 1] > 0).mean())
        players = [make_agent("ismcts", cards, level=level), rule, rule]
        points.append(play_match(cards, players, 40, seed=8).returns[:, 0].mean())
    assert all(higher > lower for lower, higher in pairwise(caught)), caught
    assert all(higher > lower for lower, higher in pairwise(points)), points


# ---- worlds by path counts -----------------------------------------------------------------------


def test_counting_paths_tells_more_of_where_he_is_than_places_alone() -> None:
    """Log-loss of his true place, against every possible place being as likely."""
    game = make_game("phantom_v0", board="map_1")
    assert isinstance(game, Pursuit)
    gains = []
    for seed in range(60):
        position, rng = game.new_position(), np.random.default_rng(seed)
        while not position.is_over:
            if position.turn == 1 and record(position).place[FUGITIVE] >= 0:
                weights = belief(position)
                share = weights[int(record(position).place[FUGITIVE])] / sum(weights.values())
                gains.append(math.log(share) + math.log(len(weights)))
            position.apply(int(rng.choice(position.legal_actions())))
    mean, deviation = np.mean(gains), np.std(gains) / len(gains) ** 0.5
    assert len(gains) > 1000
    assert mean > 4 * deviation
