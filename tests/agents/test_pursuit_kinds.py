"""Kinds of detectives told apart by their moves, and the fugitive who goes by that."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Views
from agents.games.pursuit.capture_player import expectation_at, with_table
from agents.games.pursuit.search import (
    CAPTURER,
    CARELESS,
    CERTAIN,
    COVERER,
    MIXED,
    MOST_PER_MOVE,
    PursuitSearch,
    as_expected,
    judge,
    weigh_moves,
)
from agents.ismcts.searcher import Root, TreeSearcher
from agents.ismcts.tree import Pool
from arena.match import play_match
from envs import make_game
from envs.core.batch import Batch
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.pursuit.game import Pursuit
from envs.pursuit.kernels import plain_choice
from envs.pursuit.options import DETECTIVE_MOVE, FUGITIVE, distance, map_of
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


def judged(game: Pursuit, detectives: str, num_rounds: int) -> list[tuple[int, float]]:
    """What he thinks of detectives after some rounds, where the game lasted as long."""
    length, rules = 6 * num_rounds, with_table(game)
    return [
        judge(game, rules, seen_by_him(game, history[:length]))
        for history in histories(game, detectives, 40)
        if len(history) > length
    ]


def shares(game: Pursuit, detectives: str, num_rounds: int) -> np.ndarray:
    """Of chasers in what he thinks."""
    return np.array([share for _, share in judged(game, detectives, num_rounds)])


def test_detectives_are_known_by_their_moves_after_five_rounds() -> None:
    game = phantom(board="map_1")
    chasers, hunters = (shares(game, who, 5) for who in ("pursuit_heuristic", "pursuit_belief"))
    assert min(len(chasers), len(hunters)) > 5
    assert np.median(chasers) > 0.9
    assert np.median(hunters) < 0.1
    assert (chasers > 0.5).mean() > 0.9
    assert (hunters < 0.5).mean() > 0.9


@pytest.mark.parametrize(
    ("detectives", "kind"), [("pursuit_belief", COVERER), ("pursuit_capture", CAPTURER)]
)
def test_detectives_with_a_best_move_are_known_after_five_rounds(
    detectives: str, kind: int
) -> None:
    found = [known for known, _ in judged(phantom(board="map_1"), detectives, 5)]
    assert len(found) > 3
    assert np.mean([known == kind for known in found]) > 0.8


@pytest.mark.parametrize("detectives", ["pursuit_heuristic", "random"])
def test_others_are_not_taken_for_them(detectives: str) -> None:
    for num_rounds in (3, 8):
        assert {known for known, _ in judged(phantom(board="map_1"), detectives, num_rounds)} == {
            MIXED
        }


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
        odds, start = np.zeros(3), game.new_position().state.copy()
        weigh_moves(with_table(game), start, seen_by_him(game, history), new_rng(0), odds)
        assert odds[MIXED] == pytest.approx(total)


def expecting(game: Pursuit, kind: int, share: int = 0) -> np.ndarray:
    """The rules with an expectation behind them."""
    rules = with_table(game)
    at = expectation_at(rules)
    rules[at : at + 2] = kind, share
    return rules


def middles(game: Pursuit, length: int = 40) -> list[np.ndarray]:
    """States in which a detective is to move, after so many actions."""
    found = [game.replay(h[:length]).state for h in histories(game, "pursuit_belief", 40)]
    return [state for state in found if game.record(state).phase == DETECTIVE_MOVE]


def test_expected_detectives_chase_as_often_as_they_are_told() -> None:
    """Never, or always but for a random move in ten, where both kinds differ."""
    game = phantom(board="map_1")
    states, num_slots = middles(game), game.header.num_slots
    assert len(states) > 5
    same = []
    for share in (CERTAIN, 0):
        rules, agree = expecting(game, MIXED, share), 0
        for number, state in enumerate(states * 20):
            chased = plain_choice(state, game.rules, new_rng(1)) % num_slots
            agree += as_expected(state, rules, new_rng(number)) % num_slots == chased
        same.append(agree)
    assert same[0] > 1.2 * same[1]


@pytest.mark.parametrize(
    ("kind", "detectives"), [(COVERER, "pursuit_belief"), (CAPTURER, "pursuit_capture")]
)
def test_who_is_known_moves_as_he_does(kind: int, detectives: str) -> None:
    """All the way, wherever his own generator does not decide among equals."""
    game = phantom(board="map_1")
    rules, agree, number = expecting(game, kind), 0, 0
    for history in histories(game, detectives, 6):
        position = game.new_position()
        for action in history:
            if record(position).phase == DETECTIVE_MOVE:
                drawn = {as_expected(position.state, rules, new_rng(seed)) for seed in range(8)}
                agree += action in drawn
                number += 1
            position.apply(action)
    assert number > 50
    assert agree > 0.98 * number


def test_the_fugitive_of_the_search_outlives_chasers() -> None:
    game = phantom(board="map_1")
    players = [
        make_agent("pursuit_search", game, iterations=100),
        make_agent("pursuit_heuristic", game),
    ]
    won = play_match(game, players, 24, seed=2).returns[:, FUGITIVE] > 0
    simple = [make_agent("pursuit_heuristic", game), players[1]]
    assert won.sum() > (play_match(game, simple, 24, seed=2).returns[:, FUGITIVE] > 0).sum()


def test_the_fugitive_of_the_search_outlives_those_whom_he_knows() -> None:
    """Next to the one who hides by the belief, before detectives who cover it."""
    game = phantom(board="map_1")
    detectives = make_agent("pursuit_belief", game)
    won = []
    for fugitive in (
        make_agent("pursuit_search", game, iterations=100),
        make_agent("pursuit_belief", game),
    ):
        result = play_match(game, [fugitive, detectives], 40, seed=2)
        won.append(int((result.returns[:, FUGITIVE] > 0).sum()))
    assert won[0] > won[1] + 4


def test_judging_takes_its_time_from_the_search() -> None:
    """By a clock that runs while he judges: nothing is left of his second."""
    now = [0.0]

    class Slow(PursuitSearch):
        def _searcher_for(self, root: Root) -> TreeSearcher:
            now[0] += 1.0
            return super()._searcher_for(root)

    game = phantom(board="map_1")
    batch, rows = Batch(game, 1, chance=new_rng(0), has_tokens=True), np.arange(1)
    batch.begin(rows, rows)
    agent = Slow(game, time_per_move=1.0, clock=lambda: now[0])
    (found,) = agent.analyse(batch.views(rows))
    assert (found.simulations, found.seconds) == (0, 1.0)


def test_given_settings_are_for_both_sides() -> None:
    game = phantom(board="map_1")
    agent = make_agent("pursuit_search", game, iterations=20, exploration=0.3, rollout_depth=7)
    for fugitive in (agent._unsure_fugitive, agent._sure_fugitive):
        own = fugitive.settings
        assert (agent.settings.exploration, own.exploration) == (0.3, 0.3)
        assert (agent.settings.rollout_depth, own.rollout_depth) == (7, 7)
        assert (agent.settings.selection, own.selection) == ("puct", "ucb")


def test_only_detectives_keep_their_trees() -> None:
    """A fugitive's is of detectives whom he may judge otherwise at the next move."""
    game, kept = phantom(board="map_1"), []

    class Watched(PursuitSearch):
        def _trees(self, views: Views, row: int) -> list[Pool] | None:
            found = super()._trees(views, row)
            kept.append((int(views.seats[row]), found is not None))
            return found

    agent = Watched(game, iterations=5, keep_tree=True)
    play_match(game, [agent, agent], 1, seed=1)
    assert set(kept) == {(FUGITIVE, False), (1, True)}
