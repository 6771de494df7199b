"""Rounds of Liar's Dice by samples: exact measures, keys, continuation values, checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import train
from agents import make_agent
from agents.abstraction import ALL, DecisionKeys
from agents.cfr.evaluation import tabulate
from agents.cfr.response import expected_values, nash_conv
from agents.cfr.tree import GameTree
from agents.games.liars_dice.abstractions import (
    fold_table,
)
from agents.games.liars_dice.best_response import evaluate_match
from agents.games.liars_dice.learners import SampledRoundsLearner
from agents.games.liars_dice.sampled_match import (
    SampledMatch,
    SampledMatchSettings,
    first_values,
    position_number,
)
from agents.learning.learner import Task
from agents.policy import PolicyAgent
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.batch import Batch
from envs.core.rng import fold, new_rng
from envs.liars_dice.game import LiarsDice
from tests.support.sampling import IS_FULL


def solve(game: LiarsDice, num_iterations: int, seed: int = 0, **settings: object) -> SampledMatch:
    solver = SampledMatch(game, seed, SampledMatchSettings(**settings))  # type: ignore[arg-type]
    solver.run(num_iterations)
    return solver


# ---- strength, exactly ---------------------------------------------------------------------------


TWO = [
    ({"dice": 1}, 0.01),
    ({"dice": (2, 1), "faces": 3}, 0.01),
    ({"dice": (1, 2), "faces": 3, "raising": "face_first", "first_player": 1}, 0.03),
    ({"dice": (2, 1), "faces": 3, "rewards": "dice", "first_player": "random"}, 0.03),
    ({"dice": (2, 1), "faces": 3, "wild": "ones_unbiddable", "single_round": True}, 0.02),
    ({"dice": 1, "raising": "count_first", "wild": "highest", "faces": 4}, 0.04),
]


@pytest.mark.parametrize(("options", "bound"), TWO)
def test_two_players_come_near_their_equilibrium(options, bound) -> None:
    solver = solve(LiarsDice(**options), 40_000)
    figures = evaluate_match(solver.to_policy())
    assert figures.exploitability < bound
    # What it expects of a match is the value of the match.
    scale = 2.0 if options.get("rewards") == "dice" else 1.0
    assert solver.opening_values()[0] == pytest.approx(figures.values[0], abs=0.03 * scale)
    assert solver.opening_values().sum() == pytest.approx(0.0, abs=0.03 * scale)


def test_passing_hopeless_bids_over_leads_there_too() -> None:
    """It takes more iterations, but shorter ones."""
    game = LiarsDice(dice=1)
    pruned, plain = (solve(game, 40_000, pruning=share) for share in (0.95, 0.0))
    assert not same(pruned, plain)
    assert evaluate_match(pruned.to_policy()).exploitability < 0.03


THREE = [
    {"dice": 1, "faces": 2},
    {"dice": 1, "faces": 2, "rewards": "dice", "starter_after_elimination": "winner"},
    {"dice": 1, "faces": 3, "raising": "face_first", "first_player": 2, "single_round": True},
]


@pytest.mark.parametrize("options", THREE)
def test_three_players_come_near_an_equilibrium(options) -> None:
    """CFR promises nothing for three; the written tree of the whole match tells."""
    game = LiarsDice(num_players=3, **options)
    tree = GameTree(game)
    found = []
    for num_iterations in (100, 30_000):
        distances = []
        for seed in range(3):
            solver = solve(game, num_iterations, seed, least=0.0)
            agent = PolicyAgent(game, policy=solver.to_policy())
            probs = tabulate(agent, tree).probs
            distances.append(nash_conv(tree, probs))
        found.append(np.median(distances))
    assert agent.num_unknown == 0
    assert found[1] < 0.05
    assert found[1] < found[0] / 3
    np.testing.assert_allclose(solver.opening_values(), expected_values(tree, probs), atol=0.05)


@pytest.mark.parametrize(
    ("num_players", "settings"),
    [(2, {"memory": 1}), (3, {"memory": 1}), (6, {"memory": 1})],
)
def test_abstractions_play_legally_and_beat_chance(num_players, settings) -> None:
    game = LiarsDice(num_players=num_players, dice=2 if num_players < 6 else 1, faces=3)
    solver = solve(game, 6_000, **settings)
    policy = solver.to_policy()
    assert policy.abstraction == solver.settings.policy_abstraction
    agent, chance = PolicyAgent(game, policy=policy), make_agent("random", game)
    returns = play_match(game, [agent] + [chance] * (num_players - 1), 3_000).returns[:, 0]
    assert returns.mean() - 3 * returns.std() / np.sqrt(len(returns)) > 0.2 / (num_players - 1)
    assert agent.num_unknown < 300


# ---- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"memory": 1}, {"memory": 2}, {}])
def test_the_walk_names_decisions_as_the_player_does(settings) -> None:
    """Every decision of random matches is known once the solver has been everywhere."""
    game = LiarsDice(num_players=3, dice=(1, 2, 1), faces=2, wild="ones")
    solver = solve(game, 4_000, exploration=0.5, **settings)
    decisions = DecisionKeys(solver.settings.policy_abstraction, game)
    known = set(solver.state_dict()["keys"].tolist())
    batch, rows = Batch(game, 200, chance=new_rng(0)), np.arange(200)
    batch.begin(rows, rows)
    met = set()
    draws = np.random.default_rng(0)
    while len(rows := np.flatnonzero(batch.turns >= 0)):
        views = batch.views(rows)
        met |= set(decisions.keys(views).tolist())
        batch.step(rows, np.array([draws.choice(np.flatnonzero(mask)) for mask in views.masks]))
    assert len(met) > 30
    assert len(met - known) <= len(met) // 50


def test_dice_of_others_are_not_mistaken_for_bids() -> None:
    others = {name: np.array(dice) for name, dice in (("2 0", [2, 0]), ("2 1", [2, 1]))}
    lone, pair = (fold_table(1, dice) for dice in others.values())
    assert fold(lone, 1) != pair
    assert fold_table(1, np.array([0, 2])) == lone, "an empty seat changes nothing"


def test_abstractions_by_name() -> None:
    game = LiarsDice(num_players=3)
    assert DecisionKeys("round:2", game).memory == 2
    assert DecisionKeys("round", game).memory == ALL
    odds = solve(LiarsDice(dice=1), 10, abstraction="odds").to_policy()
    with pytest.raises(MasqueradeError, match="only policies that go by rounds"):
        evaluate_match(odds)


def test_what_a_short_memory_costs_is_evaluated_exactly() -> None:
    game = LiarsDice(dice=(2, 1), faces=3 if IS_FULL else 2)
    policy = solve(game, 2_000, memory=1).to_policy()
    tree = GameTree(game)
    probs = tabulate(PolicyAgent(game, policy=policy), tree).probs
    assert evaluate_match(policy).exploitability == pytest.approx(
        nash_conv(tree, probs) / 2, abs=1e-5
    )


# ---- continuation values -------------------------------------------------------------------------


def number_of(dice: list[int], starter: int, player: int) -> int:
    return int(position_number(np.array(dice), len(dice), starter, player))


def test_positions_are_seen_from_the_seat() -> None:
    assert number_of([1, 2, 3], 0, 1) == number_of([3, 1, 2], 1, 2)
    assert number_of([1, 2, 0], 0, 1) == number_of([1, 0, 2], 0, 2)
    numbers = {
        number_of([a, b, c], starter, player)
        for a in range(1, 4)
        for b in range(1, 4)
        for c in range(1, 4)
        for starter in range(3)
        for player in range(3)
    }
    assert len(numbers) == 27 * 3
    assert max(numbers) < len(first_values(LiarsDice(num_players=3)))


@pytest.mark.parametrize("rewards", ["winner", "dice"])
def test_first_guess_is_zero_sum_and_exact_at_the_end(rewards) -> None:
    game = LiarsDice(num_players=3, rewards=rewards)
    values = first_values(game)

    def of(dice: list[int]) -> list[float]:
        return [float(values[number_of(dice, 0, player)]) for player in range(3)]

    assert of([0, 4, 0]) == ([-0.5, 1.0, -0.5] if rewards == "winner" else [0.0, 0.0, 0.0])
    assert sum(of([5, 3, 1])) == pytest.approx(0.0)
    assert of([5, 3, 1])[0] > of([5, 3, 1])[2] or rewards == "dice"


def test_values_of_those_who_are_out_are_learnt_where_dice_are_paid() -> None:
    """Whoever is out goes on to earn half a die for every one that the others lose."""
    game = LiarsDice(num_players=3, dice=(1, 1, 2), faces=2, rewards="dice")
    solver = solve(game, 20_000, exploration=0.5)
    assert solver.continuation_values((0, 1, 1), 1)[0] == pytest.approx(0.5, abs=1e-6)
    assert 0.5 < solver.continuation_values((0, 1, 2), 1)[0] < 1.0


# ---- checkpoints, room, refusals -----------------------------------------------------------------


def same(one: SampledMatch, other: SampledMatch) -> bool:
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )


def test_interrupted_learning_is_the_same_to_the_last_bit() -> None:
    game = LiarsDice(num_players=3, dice=2, faces=3, first_player="alternate")
    whole = solve(game, 300, seed=3, memory=2)
    stopped = solve(game, 117, seed=3, memory=2)
    settings = SampledMatchSettings(memory=2, max_infosets=50_000)  # room may differ
    resumed = SampledMatch(game, 99, settings)
    resumed.run(50)  # whatever it had learnt is forgotten
    resumed.load_state_dict(stopped.state_dict())
    assert same(resumed, stopped)
    resumed.run(183)
    assert same(resumed, whole)
    assert not same(solve(game, 300, seed=4, memory=2), whole)


def test_a_full_table_says_what_to_do() -> None:
    game = LiarsDice(dice=2)
    solver = SampledMatch(game, 0, SampledMatchSettings(max_infosets=500))
    with pytest.raises(MasqueradeError, match=r"is full after \d+ iterations \(500 information"):
        solver.run(1_000)
    assert len(solver.to_policy()) > 100
    frozen = solve(game, 1_000, max_infosets=500, when_full="freeze")
    assert frozen.iteration == 1_000
    assert frozen.num_infosets == 500
    assert frozen.num_left_out > 0


def test_a_run_whose_table_is_full_ends_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ["--config", "configs/liars_dice/mccfr_three.yaml", "--out", str(tmp_path / "run")]
    settings = ["agent.params.max_infosets=50", "train.steps=400", "log.tensorboard=false"]
    changes = [part for text in settings for part in ("--set", text)]
    assert train.main([*config, *changes, "--quiet"]) == 2
    told = capsys.readouterr().err
    assert "a table for 50 information sets takes" in told
    assert "raise max_infosets or max_entries, shorten memory, or set when_full to freeze" in told
    assert "Traceback" not in told


def test_rare_actions_are_dropped_and_the_rest_adds_up_to_one() -> None:
    solver = solve(LiarsDice(dice=1), 3_000)
    full = SampledMatch(solver.game, 0, SampledMatchSettings(least=0.0))
    coarse = SampledMatch(solver.game, 0, SampledMatchSettings(least=0.3))
    for other in (full, coarse):
        other.load_state_dict(solver.state_dict())
    full_policy, coarse_policy = full.to_policy(), coarse.to_policy()
    assert (full_policy.keys == coarse_policy.keys).all()
    assert len(coarse_policy.probs) < len(full_policy.probs)
    for policy in (full_policy, coarse_policy):
        np.testing.assert_allclose(np.add.reduceat(policy.probs, policy.firsts[:-1]), 1.0)
        assert (np.diff(policy.keys.astype(object)) > 0).all()
        assert (np.diff(policy.firsts) > 0).all()
    # The largest stay, however small.
    largest = np.maximum.reduceat(full_policy.probs, full_policy.firsts[:-1])
    sizes = np.diff(coarse_policy.firsts)
    assert (coarse_policy.probs[np.repeat(largest >= 0.3, sizes)] >= 0.3).all()
    evenly = np.repeat(1.0 / sizes, sizes)
    is_low = np.repeat(largest < 0.3, sizes)
    np.testing.assert_allclose(coarse_policy.probs[is_low], evenly[is_low])
    assert 0 < is_low.sum() < len(is_low)


def test_a_policy_of_nothing_is_empty() -> None:
    assert len(SampledMatch(LiarsDice(dice=1)).to_policy()) == 0


def test_refuses_what_it_cannot_do() -> None:
    solver = solve(LiarsDice(dice=1), 10)
    state = solver.state_dict()
    with pytest.raises(MasqueradeError, match="this state has settings"):
        solve(LiarsDice(dice=1), 0, memory=1).load_state_dict(state)
    with pytest.raises(MasqueradeError, match="this state has options"):
        solve(LiarsDice(dice=2), 0).load_state_dict(state)
    with pytest.raises(MasqueradeError, match="continuation must be float64"):
        solver.load_state_dict({**state, "continuation": np.zeros(3)})
    del state["visits"]
    with pytest.raises(MasqueradeError, match="visits must be"):
        solver.load_state_dict(state)
    with pytest.raises(MasqueradeError, match="liars_dice_v0, not kuhn_v0"):
        SampledRoundsLearner(Task(make_game("kuhn_v0")), SampledMatchSettings())
    with pytest.raises(MasqueradeError, match="0 or more"):
        solver.run(-1)
