"""Chasers and hunters told apart by their moves, and the fugitive who goes by that."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.pursuit.chasers import (
    CARELESS,
    CERTAIN,
    MOST_PER_MOVE,
    as_guessed,
    chaser_share,
    total_log_odds,
)
from arena.playing.match import play_match
from envs import make_game
from envs.core import Batch, Position, new_rng
from envs.pursuit.game import Pursuit
from envs.pursuit.record import DETECTIVE_MOVE, FUGITIVE, distance, map_of
from envs.pursuit.rollout import plain_choice
from tests.support.pursuits import belief, record, slots


def phantom(**options: Any) -> Pursuit:
    game = make_game("phantom_v0", **options)
    assert isinstance(game, Pursuit)
    return game


def histories(game: Pursuit, detectives: str, number: int) -> list[list[int]]:
    """Games of these detectives against the simple fugitive."""
    found: list[list[int]] = []

    def keep(batch: Batch, rows: Any) -> None:
        found.extend(batch.history(row) for row in rows.tolist())

    players = [make_agent(name, game) for name in ("pursuit_heuristic", detectives)]
    play_match(game, players, number, seed=5, on_end=keep)
    return found


def seen_by_him(game: Pursuit, history: list[int]) -> np.ndarray:
    return np.array(game.replay(history).tokens(FUGITIVE), np.int64)


def shares(game: Pursuit, detectives: str, num_rounds: int) -> np.ndarray:
    """What he thinks of detectives after some rounds, where the game lasted as long."""
    length = 6 * num_rounds
    return np.array(
        [
            chaser_share(game, seen_by_him(game, history[:length]))
            for history in histories(game, detectives, 40)
            if len(history) > length
        ]
    )


def test_detectives_are_known_by_their_moves_after_five_rounds() -> None:
    game = phantom(board="map_1")
    chasers, hunters = (shares(game, who, 5) for who in ("pursuit_heuristic", "pursuit_belief"))
    assert min(len(chasers), len(hunters)) > 5
    assert np.median(chasers) > 0.9
    assert np.median(hunters) < 0.1
    assert (chasers > 0.5).mean() > 0.9
    assert (hunters < 0.5).mean() > 0.9


def test_nothing_is_ever_ruled_out() -> None:
    game = phantom(board="map_1")
    for who in ("pursuit_heuristic", "pursuit_belief", "random"):
        found = shares(game, who, 8)
        assert ((found >= 0.02) & (found <= 0.98)).all()


def share_of_best(position: Position, action: int, goal: int | None) -> float:
    """The probability of a move for somebody who goes as near to a goal as he can."""
    game = position.game
    m = map_of(game.rules, record(position).map)
    steps = {
        move: 0
        if goal is None
        else distance(game.rules, m, slots(position), move % slots(position), goal)
        for move in position.legal_actions()
    }
    best = [move for move in steps if steps[move] == min(steps.values())]
    return (action in best) / len(best)


def log_odds_by_hand(position: Position, action: int) -> float:
    s, any_move = record(position), CARELESS / len(position.legal_actions())
    seen = int(s.seen_place)
    goal = None if seen in (-1, int(s.place[s.piece])) else seen
    weights = belief(position)
    chased = share_of_best(position, action, goal)
    hunted = sum(w * share_of_best(position, action, place) for place, w in weights.items())
    hunted /= sum(weights.values())
    kinds = [math.log((1 - CARELESS) * share + any_move) for share in (chased, hunted)]
    return max(-MOST_PER_MOVE, min(MOST_PER_MOVE, kinds[0] - kinds[1]))


@pytest.mark.parametrize("detectives", ["pursuit_heuristic", "pursuit_belief", "random"])
def test_odds_are_those_of_a_count_by_hand(detectives: str) -> None:
    game = phantom(rows=4, columns=4, num_detectives=2, map_seed=3)
    for history in histories(game, detectives, 4):
        position, total = game.new_position(), 0.0
        for action in history:
            if record(position).phase == DETECTIVE_MOVE:
                total += log_odds_by_hand(position, action)
            position.apply(action)
        tokens = seen_by_him(game, history)
        found = total_log_odds(game.rules, game.new_position().state.copy(), tokens)
        assert found == pytest.approx(total)


def test_guessed_detectives_chase_as_often_as_they_are_told() -> None:
    """Never, or always but for a random move in ten, where both kinds differ."""
    game = phantom(board="map_1")
    states = [
        game.replay(history[:40]).state
        for history in histories(game, "pursuit_belief", 40)
        if len(history) > 40
    ]
    certain, never = (np.append(game.rules, share).astype(np.int32) for share in (CERTAIN, 0))
    same = {}
    for name, rules in (("chasers", certain), ("hunters", never)):
        agree = 0
        for state in states * 20:
            if game.record(state).phase != DETECTIVE_MOVE:
                continue
            rng = new_rng(agree)
            chased = plain_choice(state, game.rules, new_rng(1)) % game.header.num_slots
            agree += as_guessed(state, rules, rng) % game.header.num_slots == chased
        same[name] = agree
    assert same["chasers"] > 1.2 * same["hunters"]


def test_the_fugitive_of_the_search_outlives_chasers() -> None:
    game = phantom(board="map_1")
    players = [
        make_agent("pursuit_search", game, iterations=100),
        make_agent("pursuit_heuristic", game),
    ]
    won = play_match(game, players, 24, seed=2).returns[:, FUGITIVE] > 0
    simple = [make_agent("pursuit_heuristic", game), players[1]]
    assert won.sum() > (play_match(game, simple, 24, seed=2).returns[:, FUGITIVE] > 0).sum()


def test_given_settings_are_for_both_sides() -> None:
    game = phantom(board="map_1")
    agent = make_agent("pursuit_search", game, iterations=20, exploration=0.3, rollout_depth=7)
    own = agent._fugitive_searcher.settings
    assert (agent.settings.exploration, own.exploration) == (0.3, 0.3)
    assert (agent.settings.rollout_depth, own.rollout_depth) == (7, 7)
    assert (agent.settings.selection, own.selection) == ("puct", "ucb")
