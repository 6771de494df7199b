"""Sampling solvers: unbiased, convergent, bounded in memory, and exact after a checkpoint."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents.cfr.evaluation import from_policy, to_policy
from agents.cfr.mccfr import SamplingSettings, SamplingSolver
from agents.cfr.response import expected_values, reach_of
from agents.cfr.solver import CFRSolver
from agents.cfr.tree import GameTree, Probs
from agents.learning.files import load_state, save_state
from agents.policy import Policy, PolicyAgent, PolicyError
from arena.match import play_match
from common.errors import MasqueradeError, OptionError
from envs import make_game
from envs.core.facts import Facts
from envs.kuhn.game import Kuhn
from tests.support.plain_mccfr import WAYS, digest

PROJECT = Path(__file__).resolve().parents[2]

KUHN = GameTree(make_game("kuhn_v0"))
KUHN_3 = GameTree(make_game("kuhn_v0", num_players=3))
LEDUC = GameTree(make_game("leduc_v0"))

every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def solver_of(tree: GameTree, seed: int = 0, **settings: Any) -> SamplingSolver:
    room = {
        "max_infosets": tree.num_infosets,
        "max_entries": tree.num_sequences,
        "max_histories": int((tree.nodes["player"] >= 0).sum()),
    }
    return SamplingSolver(tree.game, seed, **{**room, **settings})


# ---- estimates -----------------------------------------------------------------------------------


def some_policy(tree: GameTree, seed: int = 3) -> Probs:
    """Not uniform, and no action without a chance."""
    return tree.normalized(0.2 + np.random.default_rng(seed).random(tree.num_sequences))[0]


def estimates(
    tree: GameTree, probs: Probs, way: dict[str, Any], name: str, portion: int = 2000
) -> tuple[Probs, Probs]:
    """What an iteration adds to a table while the policy stays: mean and its standard error.

    The solver begins with regrets so large that nothing it adds can change the policy.
    """
    num_portions = 40
    solver = solver_of(tree, variant="cfr", **way)
    solver.warm_start(to_policy(tree, probs), weight=1e9)
    totals = [solver.state_dict()[name]]
    for _ in range(num_portions):
        solver.run(portion)
        totals.append(solver.state_dict()[name])
    portions = np.diff(totals, axis=0) / portion
    sequences = np.empty(tree.num_sequences, np.int64)
    firsts = dict(zip(tree.infosets["key"].tolist(), tree.infosets["first_sequence"], strict=True))
    state, at = solver.state_dict(), 0
    for key, size in zip(state["keys"].tolist(), state["sizes"].tolist(), strict=True):
        sequences[at : at + size] = firsts[key] + np.arange(size)
        at += size
    mean, error = np.empty(tree.num_sequences), np.empty(tree.num_sequences)
    mean[sequences] = portions.mean(axis=0)
    error[sequences] = portions.std(axis=0, ddof=1) / np.sqrt(num_portions)
    return mean, error


def exact_regrets(tree: GameTree, probs: Probs) -> Probs:
    """The counterfactual regrets of a policy, by the solver that walks the whole tree."""
    exact = CFRSolver(tree, "cfr", is_alternating=False)
    exact.warm_start(probs)
    before = exact.state_dict()["regrets"]
    exact.run(1)
    regrets: Probs = exact.state_dict()["regrets"] - before
    return regrets


@every_way
@pytest.mark.parametrize("tree", [KUHN, KUHN_3], ids=["two players", "three players"])
def test_estimated_regrets_are_unbiased(tree: GameTree, way: dict[str, Any]) -> None:
    probs = some_policy(tree)
    mean, error = estimates(tree, probs, way, "regrets")
    exact = exact_regrets(tree, probs)
    assert np.abs(exact).max() > 0.1
    assert error.max() < 0.02
    assert (np.abs(mean - exact) < 5 * error + 1e-4).all()


@every_way
def test_policies_count_in_the_average_as_their_player_comes_to_use_them(
    way: dict[str, Any],
) -> None:
    tree, probs = KUHN, some_policy(KUHN)
    mean, error = estimates(tree, probs, way, "cumulative_policy")
    reach = reach_of(tree.layout, probs)[tree.layout.slots]
    chance = np.ones(len(tree.nodes))
    for node in range(1, len(tree.nodes)):
        chance[node] = chance[tree.nodes["parent"][node]] * tree.nodes["prob"][node]
    is_decision = tree.nodes["player"] >= 0
    deals = np.bincount(tree.nodes["index"][is_decision], chance[is_decision], tree.num_infosets)
    exact = reach * deals[tree.sequence_infosets]
    assert (np.abs(mean - exact) < 5 * error + 1e-4).all()
    assert error.max() < 0.01


def test_baselines_take_variance_out_of_outcome_sampling() -> None:
    probs = some_policy(LEDUC)
    plain, by_infoset, by_history = (
        (estimates(LEDUC, probs, WAYS[name], "regrets", portion=5000)[1] ** 2).sum()
        for name in ("outcome", "outcome by infoset", "outcome by history")
    )
    assert by_infoset < 0.75 * plain
    assert by_history < 0.75 * by_infoset


# ---- convergence ---------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["cfr", "cfr+", "linear"])
@every_way
def test_every_way_finds_the_value_of_kuhn(way: dict[str, Any], variant: str) -> None:
    solver = solver_of(KUHN, variant=variant, **way)
    solver.run(60_000)
    policy = solver.to_policy(KUHN)
    assert policy.exploitability is not None
    assert policy.exploitability < 0.02
    value = expected_values(KUHN, from_policy(KUHN, policy))[0]
    assert value == pytest.approx(-1 / 18, abs=0.01)


@every_way
def test_nash_conv_of_three_players_falls(way: dict[str, Any]) -> None:
    solver = solver_of(KUHN_3, variant="cfr+", **way)
    solver.run(500)
    before = 3 * solver.exploitability(KUHN_3)
    solver.run(60_000)
    assert 3 * solver.exploitability(KUHN_3) < 0.12 < before


@pytest.mark.parametrize(
    ("name", "num_iterations", "bound"),
    [
        ("external", 100_000, 0.09),
        ("chance", 25_000, 0.15),
        ("outcome", 250_000, 0.30),
        ("outcome by infoset", 250_000, 0.22),
        ("outcome by history", 250_000, 0.14),
    ],
)
def test_exploitability_falls_on_leduc(name: str, num_iterations: int, bound: float) -> None:
    solver = solver_of(LEDUC, **WAYS[name])
    solver.run(num_iterations)
    assert 930 <= solver.num_infosets <= LEDUC.num_infosets
    assert solver.exploitability(LEDUC) < bound


def test_openings_take_turns() -> None:
    options = {"dice": 1, "faces": 2, "single_round": True}
    game = make_game("liars_dice_v0", first_player="alternate", **options)
    solver = SamplingSolver(game, max_infosets=100)
    solver.run(200)
    parts = [
        SamplingSolver(make_game("liars_dice_v0", first_player=seat, **options), max_infosets=100)
        for seat in (0, 1)
    ]
    for part in parts:
        part.run(200)
    keys = np.concatenate([part.to_policy().keys for part in parts])
    np.testing.assert_array_equal(solver.to_policy().keys, np.unique(keys))


# ---- memory --------------------------------------------------------------------------------------


def test_a_full_table_stops_the_run_and_keeps_what_was_learnt() -> None:
    solver = solver_of(LEDUC, max_infosets=100)
    with pytest.raises(MasqueradeError, match=r"full after \d+ iterations \(100 information sets"):
        solver.run(10_000)
    assert 0 < solver.iteration < 10_000
    assert len(solver.to_policy()) == 100
    few_entries = solver_of(LEDUC, max_entries=250)
    with pytest.raises(MasqueradeError, match="raise max_infosets or max_entries"):
        few_entries.run(10_000)
    assert few_entries.num_infosets < LEDUC.num_infosets


@every_way
def test_a_frozen_table_learns_on_with_what_it_has(way: dict[str, Any]) -> None:
    solver = solver_of(LEDUC, max_infosets=300, when_full="freeze", **way)
    solver.run(2_000)
    keys, before = solver.to_policy().keys, solver.to_policy().probs
    assert len(keys) == 300
    assert solver.num_left_out > 0
    solver.run(2_000)
    np.testing.assert_array_equal(solver.to_policy().keys, keys)
    assert np.abs(solver.to_policy().probs - before).max() > 0.01


@pytest.mark.parametrize("baselines", ["none", "infoset", "history"])
def test_bytes_are_known_before_the_start(baselines: str) -> None:
    settings = SamplingSettings(
        sampling="outcome", baselines=baselines, max_infosets=5_000, max_entries=9_000
    )
    solver = SamplingSolver(LEDUC.game, settings=settings)
    tables = {id(table): table for table in (solver._table, solver._baselines)}.values()
    used = sum(array.nbytes for table in tables for array in table)
    assert settings.table_bytes(LEDUC.game) == solver.nbytes == used
    assert used > (0 if baselines == "none" else 9_000 * 2 * 4)


def test_room_for_entries_follows_the_game_unless_it_is_told() -> None:
    sizes = SamplingSettings(max_infosets=50).table_sizes
    assert sizes(LEDUC.game) == [(50, 50 * 3, 0, True)]
    assert sizes(make_game("liars_dice_v0")) == [(50, 50 * 8, 0, True)]
    told = SamplingSettings(max_infosets=50, max_entries=120, baselines="history")
    assert told.table_sizes(LEDUC.game) == [(50, 120, 0, True), (200, 480, 2, False)]


# ---- going on ------------------------------------------------------------------------------------


@every_way
def test_resuming_from_a_checkpoint_changes_no_bit(way: dict[str, Any], tmp_path: Path) -> None:
    whole, first = solver_of(LEDUC, seed=5, **way), solver_of(LEDUC, seed=5, **way)
    whole.run(700)
    first.run(300)
    save_state(tmp_path / "step", LEDUC.game, first.state_dict())
    first.run(50)  # which must not reach into what was saved
    second = solver_of(LEDUC, seed=99, max_infosets=2_000, max_entries=5_000, **way)
    second.run(20)  # of which nothing may remain
    second.load_state_dict(load_state(tmp_path / "step", LEDUC.game))
    assert second.iteration == 300
    second.run(400)
    for name, value in whole.state_dict().items():
        np.testing.assert_array_equal(second.state_dict()[name], value, err_msg=name)


def test_seeds_make_runs() -> None:
    def regrets(seed: int) -> npt.NDArray[np.float64]:
        solver = solver_of(KUHN, seed=seed)
        solver.run(100)
        found: npt.NDArray[np.float64] = solver.state_dict()["regrets"]
        return found

    np.testing.assert_array_equal(regrets(1), regrets(1))
    assert not np.array_equal(regrets(1), regrets(2))


def test_a_state_of_something_else_is_refused() -> None:
    state = solver_of(KUHN).state_dict()
    with pytest.raises(MasqueradeError, match="settings"):
        solver_of(KUHN, sampling="outcome").load_state_dict(state)
    with pytest.raises(MasqueradeError, match="settings"):
        solver_of(KUHN, threads=2).load_state_dict(state)
    with pytest.raises(MasqueradeError, match="game 'kuhn_v0'"):
        solver_of(LEDUC).load_state_dict(state)
    with pytest.raises(MasqueradeError, match="options"):
        solver_of(KUHN_3).load_state_dict(state)
    with pytest.raises(MasqueradeError, match="must be"):
        solver_of(KUHN).load_state_dict({**state, "rngs": np.zeros(3)})
    trained = solver_of(LEDUC)
    trained.run(200)
    with pytest.raises(MasqueradeError, match="raise max_infosets"):
        solver_of(LEDUC, max_infosets=10).load_state_dict(trained.state_dict())


def test_plain_python_makes_the_same_tables() -> None:
    answer = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.support.plain_mccfr"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(PROJECT)},
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    assert answer.stdout.strip() == digest()


# ---- two threads ---------------------------------------------------------------------------------


def test_threads_share_a_table() -> None:
    solver = solver_of(LEDUC, threads=2, max_entries=2 * LEDUC.num_sequences)
    solver.run(100_001)
    assert solver.iteration == 100_001
    keys = solver.to_policy().keys
    np.testing.assert_array_equal(keys, np.sort(LEDUC.infosets["key"]))
    assert solver.exploitability(LEDUC) < 0.12
    other = solver_of(LEDUC, threads=2)
    other.load_state_dict(solver.state_dict())
    np.testing.assert_array_equal(other.to_policy().probs, solver.to_policy().probs)


# ---- policies ------------------------------------------------------------------------------------


def test_a_policy_is_saved_found_again_and_played(tmp_path: Path) -> None:
    solver = solver_of(LEDUC)
    solver.run(20_000)
    policy = solver.to_policy(LEDUC, made_by="samples")
    assert policy.exploitability == pytest.approx(solver.exploitability(LEDUC))
    found = Policy.load(policy.save(tmp_path / "leduc.npz"), LEDUC.game)
    np.testing.assert_array_equal(from_policy(LEDUC, found), from_policy(LEDUC, policy))
    assert found.notes == {"made_by": "samples"}
    agent = PolicyAgent(LEDUC.game, policy=found)
    assert play_match(LEDUC.game, [agent, agent], 100).num_games == 100
    assert agent.num_unknown == 0


def test_information_sets_without_an_average_are_uniform_and_marked() -> None:
    solver = solver_of(LEDUC)
    solver.run(1)
    policy = solver.to_policy()
    assert 0 < policy.is_reached.sum() < len(policy) < LEDUC.num_infosets
    unreached = int(np.flatnonzero(~policy.is_reached)[0])
    own = policy.probs[policy.firsts[unreached] : policy.firsts[unreached + 1]]
    np.testing.assert_array_equal(own, 1.0 / len(own))


def test_warm_start_begins_with_the_policy_and_pays_off() -> None:
    expert = CFRSolver(LEDUC, "cfr+")
    expert.run(500)
    policy = to_policy(LEDUC, expert.average_policy())
    warm, cold = solver_of(LEDUC, variant="cfr"), solver_of(LEDUC, variant="cfr")
    warm.warm_start(policy, weight=1000.0)
    for solver in (warm, cold):
        solver.run(5_000)
    assert warm.exploitability(LEDUC) < cold.exploitability(LEDUC) / 3
    with pytest.raises(MasqueradeError, match="before the first iteration"):
        warm.warm_start(policy)
    with pytest.raises(MasqueradeError, match="above 0"):
        solver_of(LEDUC).warm_start(policy, weight=0.0)
    with pytest.raises(PolicyError, match="not for kuhn_v0"):
        solver_of(KUHN).warm_start(policy)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampling": "externl"}, "sampling must be"),
        ({"variant": "discounted"}, "variant must be"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"sampling": "chance", "baselines": "history"}, "baselines must be none"),
        ({"max_infoset": 3}, "did you mean 'max_infosets'"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SamplingSolver(KUHN.game, **settings)


class HastyKuhn(Kuhn):
    """Says that a game has one move at most."""

    def make_facts(self) -> Facts:
        return replace(super().make_facts(), max_length=1)


@every_way
def test_a_game_longer_than_it_says_is_refused(way: dict[str, Any]) -> None:
    with pytest.raises(MasqueradeError, match="beyond its declared max_length of 1"):
        SamplingSolver(HastyKuhn(), max_infosets=100, **way).run(100)


def test_negative_iterations_are_refused() -> None:
    with pytest.raises(MasqueradeError, match="0 or more"):
        solver_of(KUHN).run(-1)
