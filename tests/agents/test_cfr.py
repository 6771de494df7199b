"""CFR and its variants: equal to OpenSpiel's solvers, and to themselves after a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr, discounted_cfr

from agents.cfr.openspiel import infostate_names
from agents.cfr.response import expected_values, exploitability
from agents.cfr.solver import CFRSolver
from agents.cfr.tree import GameTree
from agents.cfr.variants import VARIANTS, make_variant
from common.errors import MasqueradeError, OptionError
from envs import make_game
from tests.support.openspiel_solvers import check_against

KUHN = GameTree(make_game("kuhn_v0"))
KUHN_3 = GameTree(make_game("kuhn_v0", num_players=3))
LEDUC = GameTree(make_game("leduc_v0"))


# (our variant, its changed settings, their solver)
SIMULTANEOUS: dict[str, Any] = {"is_alternating": False}
SOLVERS = [
    ("cfr", {}, cfr.CFRSolver),
    ("cfr+", {}, cfr.CFRPlusSolver),
    ("linear", {}, discounted_cfr.LCFRSolver),
    ("discounted", {}, discounted_cfr.DCFRSolver),
    (
        "discounted",
        {"alpha": 2.0, "beta": 0.5, "averaging": 3.0},
        lambda game: discounted_cfr.DCFRSolver(game, alpha=2.0, beta=0.5, gamma=3.0),
    ),
    (
        "cfr",
        SIMULTANEOUS,
        lambda game: cfr._CFRSolver(
            game, alternating_updates=False, linear_averaging=False, regret_matching_plus=False
        ),
    ),
    (
        "cfr+",
        SIMULTANEOUS,
        lambda game: cfr._CFRSolver(
            game, alternating_updates=False, linear_averaging=True, regret_matching_plus=True
        ),
    ),
    ("cfr", {}, pyspiel.CFRSolver),
    ("cfr+", {}, pyspiel.CFRPlusSolver),
]
FAST = SOLVERS[-2:]


def cases() -> Iterator[tuple[Any, ...]]:
    for row in SOLVERS:
        yield KUHN, "kuhn_poker", 40, *row
        if row[1] != SIMULTANEOUS:
            yield KUHN_3, "kuhn_poker(players=3)", 8, *row
    for row in FAST:
        yield LEDUC, "leduc_poker", 20, *row
    yield LEDUC, "leduc_poker", 2, *SOLVERS[3]


@pytest.mark.parametrize(("tree", "their_name", "num", "name", "changes", "solver"), list(cases()))
def test_every_iteration_equals_openspiels(
    tree: GameTree,
    their_name: str,
    num: int,
    name: str,
    changes: dict[str, Any],
    solver: Any,
) -> None:
    theirs = solver(pyspiel.load_game(their_name))
    check_against(tree, their_name, CFRSolver(tree, name, **changes), theirs, num)


def test_simultaneous_regrets_of_three_players_equal_openspiels() -> None:
    # After one iteration some regrets are exactly 0, and which side of it they are rounded to
    # decides the next policy: so regrets are compared, not policies.
    game = pyspiel.load_game("kuhn_poker(players=3)")
    theirs = next(row[2] for row in SOLVERS if row[1] == SIMULTANEOUS)(game)
    theirs.evaluate_and_update_policy()
    ours = CFRSolver(KUHN_3, "cfr", **SIMULTANEOUS)
    ours.run(1)
    rows = [theirs._info_state_nodes[name] for name in infostate_names(KUHN_3, game)]
    infosets, actions = KUHN_3.sequence_infosets.tolist(), KUHN_3.sequence_actions.tolist()
    sequences = zip(infosets, actions, strict=True)
    expected = [rows[s].cumulative_regret[a] for s, a in sequences]
    np.testing.assert_allclose(ours.state_dict()["regrets"], expected, atol=1e-14)


# ---- the variants by themselves ------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_finds_the_value_of_kuhn(name: str) -> None:
    solver = CFRSolver(KUHN, name)
    solver.run(2000)
    assert solver.exploitability() < 1e-3
    assert expected_values(KUHN, solver.average_policy())[0] == pytest.approx(-1 / 18, abs=1e-3)


@pytest.mark.parametrize("name", ["cfr+", "discounted", "pcfr+"])
def test_exploitability_falls_on_leduc(name: str) -> None:
    solver = CFRSolver(LEDUC, name)
    before = solver.exploitability()
    assert before == pytest.approx(exploitability(LEDUC, LEDUC.uniform()))
    solver.run(800)
    assert solver.exploitability() < 1e-3 < before


def test_predictive_plays_as_if_the_last_regrets_came_again() -> None:
    plain, predictive = CFRSolver(KUHN, "cfr+"), CFRSolver(KUHN, "pcfr+", averaging=1.0)
    plain.run(1)
    predictive.run(1)
    # Player 0 is first to move: both have seen the same. Regrets were 0, so they count twice.
    own = slice(0, KUHN.sequences_of(0).stop)
    regrets, twice = (s.state_dict()["regrets"][own] for s in (plain, predictive))
    np.testing.assert_array_equal(regrets, twice)
    doubled = np.where(regrets > 0, 2 * regrets, 0.0)
    weights = np.zeros(KUHN.num_sequences)
    # Where an action was regretted negatively, the prediction keeps it out as well.
    weights[own] = doubled
    expected = KUHN.normalized(weights)[0][own]
    np.testing.assert_allclose(predictive.current_policy()[own], expected, atol=1e-12)
    plain.run(1)
    predictive.run(1)
    differences = plain.current_policy() - predictive.current_policy()
    assert np.abs(differences).max() > 0.01


def test_delay_leaves_the_first_iterations_out_of_the_average() -> None:
    late, whole = CFRSolver(KUHN, "cfr+", delay=10), CFRSolver(KUHN, "cfr+")
    late.run(10)
    np.testing.assert_array_equal(late.average_policy(), KUHN.uniform())
    assert not late.is_reached().any()
    late.run(1)
    whole.run(10)
    current = whole.current_policy()
    cumulative = late.state_dict()["cumulative_policy"]
    firsts = KUHN.infosets["parent_sequence"] == KUHN.num_sequences
    own = firsts[KUHN.sequence_infosets]
    np.testing.assert_allclose(cumulative[own], current[own], atol=1e-12)


def test_averaging_is_by_power_of_the_iteration() -> None:
    quadratic = CFRSolver(KUHN, "cfr+", averaging="quadratic")
    plain = CFRSolver(KUHN, "cfr+")
    cumulative = np.zeros(KUHN.num_sequences)
    own = (KUHN.infosets["parent_sequence"] == KUHN.num_sequences)[KUHN.sequence_infosets]
    for t in range(1, 6):
        cumulative += t**2 * plain.current_policy()
        plain.run(1)
    quadratic.run(5)
    found = quadratic.state_dict()["cumulative_policy"]
    np.testing.assert_allclose(found[own], cumulative[own], rtol=1e-12)


# ---- going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("is_alternating", [True, False])
def test_resuming_from_a_checkpoint_changes_no_bit(name: str, is_alternating: bool) -> None:
    whole = CFRSolver(LEDUC, name, is_alternating=is_alternating)
    whole.run(13)
    first = CFRSolver(LEDUC, name, is_alternating=is_alternating)
    first.run(6)
    second = CFRSolver(LEDUC, name, is_alternating=is_alternating)
    second.load_state_dict(first.state_dict())
    first.run(1)  # which must not reach into what was saved
    second.run(7)
    for key, value in whole.state_dict().items():
        np.testing.assert_array_equal(second.state_dict()[key], value, err_msg=key)


def test_a_state_of_something_else_is_refused() -> None:
    state = CFRSolver(KUHN, "cfr+").state_dict()
    with pytest.raises(MasqueradeError, match="variant"):
        CFRSolver(KUHN, "cfr").load_state_dict(state)
    with pytest.raises(MasqueradeError, match="game 'kuhn_v0'"):
        CFRSolver(LEDUC, "cfr+").load_state_dict(state)
    with pytest.raises(MasqueradeError, match="options"):
        CFRSolver(KUHN_3, "cfr+").load_state_dict(state)
    with pytest.raises(MasqueradeError, match="regrets must be float64"):
        CFRSolver(KUHN, "cfr+").load_state_dict({**state, "regrets": np.zeros(3)})


def test_warm_start_begins_with_the_policy_and_pays_off() -> None:
    expert = CFRSolver(LEDUC, "cfr+")
    expert.run(2000)
    warm, cold = CFRSolver(LEDUC, "cfr+"), CFRSolver(LEDUC, "cfr+")
    policy = expert.average_policy()
    warm.warm_start(policy)
    np.testing.assert_array_equal(warm.current_policy(), policy)
    # Player 1 still has the policy when player 0 answers it: the first average is the policy.
    warm.run(1)
    reached = warm.is_reached()[LEDUC.sequence_infosets]
    np.testing.assert_allclose(warm.average_policy()[reached], policy[reached], atol=1e-12)
    warm.run(19)
    cold.run(20)
    assert warm.exploitability() < cold.exploitability() / 20


def test_warm_start_is_refused_when_it_would_mean_nothing() -> None:
    solver = CFRSolver(KUHN, "cfr+")
    with pytest.raises(MasqueradeError, match="above 0"):
        solver.warm_start(KUHN.uniform(), weight=0.0)
    with pytest.raises(MasqueradeError, match="add up to 1"):
        solver.warm_start(np.ones(KUHN.num_sequences))
    solver.run(1)
    with pytest.raises(MasqueradeError, match="before the first iteration"):
        solver.warm_start(KUHN.uniform())


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("cfr++", {}, "did you mean 'cfr\\+'"),
        ("cfr", {"alfa": 1.0}, "did you mean 'alpha'"),
        ("cfr", {"averaging": "cubic"}, "unknown averaging"),
        ("cfr", {"averaging": -1.0}, "0 or more"),
        ("cfr", {"delay": -1}, "0 or more"),
        ("cfr", {"alpha": float("nan")}, "must be numbers"),
    ],
)
def test_wrong_settings_are_refused(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make_variant(name, **changes)


def test_negative_iterations_are_refused() -> None:
    with pytest.raises(MasqueradeError, match="0 or more"):
        CFRSolver(KUHN).run(-1)
