"""The public-tree form: the same iterations as the tree form and as OpenSpiel, only faster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
import pytest

from agents.cfr.public_tree import PublicTree
from agents.cfr.public_vectors import lay_out_public
from agents.cfr.response import exploitability
from agents.cfr.solver import CFRSolver, VectorCFRSolver
from agents.cfr.tree import GameTree, Probs
from agents.cfr.variants import VARIANTS
from common.errors import MasqueradeError
from envs import make_game
from envs.core.kernels import OVER
from tests.support.broken_games import Guess, Nim
from tests.support.openspiel_solvers import check_against

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("kuhn_v0", {}),
    ("leduc_v0", {}),
    ("liars_dice_v0", {"preset": "openspiel", "faces": 3}),
    ("liars_dice_v0", {"preset": "openspiel", "dice": [2, 1], "faces": 2}),
    # A match: dice are shown, lost and rolled again, so hands split and vanish on the way.
    ("liars_dice_v0", {"dice": [2, 1], "faces": 2}),
    ("liars_dice_v0", {"dice": 1, "faces": 3, "first_player": "random", "single_round": True}),
]


def tree_of(game_id: str, options: dict[str, Any]) -> GameTree:
    return GameTree(make_game(game_id, **options), has_keys=True)


@pytest.fixture(params=GAMES, ids=str, scope="module")
def tree(request: pytest.FixtureRequest) -> GameTree:
    return tree_of(*request.param)


def random_start(tree: GameTree) -> Probs:
    """A policy that leaves no regret at exactly 0, where rounding would decide."""
    return tree.normalized(np.random.default_rng(0).uniform(0.5, 1.0, tree.num_sequences))[0]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("is_alternating", [True, False])
def test_every_iteration_equals_the_tree_form(
    tree: GameTree, name: str, is_alternating: bool
) -> None:
    start = random_start(tree)
    plain = CFRSolver(tree, name, is_alternating=is_alternating)
    vector = VectorCFRSolver(tree, name, is_alternating=is_alternating)
    for solver in (plain, vector):
        solver.warm_start(start, weight=0.1)
    for _ in range(12):
        plain.run(1)
        vector.run(1)
        np.testing.assert_allclose(vector.current_policy(), plain.current_policy(), atol=1e-9)
        np.testing.assert_allclose(vector.average_policy(), plain.average_policy(), atol=1e-9)
    np.testing.assert_array_equal(vector.is_reached(), plain.is_reached())


@pytest.mark.parametrize(
    ("game_id", "options", "their_name", "num"),
    [
        ("kuhn_v0", {}, "kuhn_poker", 40),
        ("leduc_v0", {}, "leduc_poker", 15),
        ("liars_dice_v0", {"preset": "openspiel", "faces": 3}, "liars_dice(dice_sides=3)", 15),
        (
            "liars_dice_v0",
            {"preset": "openspiel", "dice": 2, "faces": 2},
            "liars_dice(numdice=2,dice_sides=2)",
            10,
        ),
    ],
)
@pytest.mark.parametrize(
    ("name", "solver"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)]
)
def test_every_iteration_equals_openspiels(
    game_id: str, options: dict[str, Any], their_name: str, num: int, name: str, solver: Any
) -> None:
    tree = tree_of(game_id, options)
    theirs = solver(pyspiel.load_game(their_name))
    check_against(tree, their_name, VectorCFRSolver(tree, name), theirs, num)


def test_exploitability_is_that_of_the_tree(tree: GameTree) -> None:
    solver = VectorCFRSolver(tree, "cfr+")
    for _ in range(3):
        expected = exploitability(tree, solver.average_policy())
        assert solver.exploitability() == pytest.approx(expected, abs=1e-12)
        solver.run(7)


@pytest.mark.parametrize("name", VARIANTS)
def test_resuming_changes_no_bit_and_either_form_goes_on(name: str) -> None:
    tree = tree_of("leduc_v0", {})
    whole, first, second = (VectorCFRSolver(tree, name) for _ in range(3))
    whole.run(13)
    first.run(6)
    second.load_state_dict(first.state_dict())
    second.run(7)
    for key, value in whole.state_dict().items():
        np.testing.assert_array_equal(second.state_dict()[key], value, err_msg=key)
    other = CFRSolver(tree, name)
    other.load_state_dict(first.state_dict())
    other.run(1)
    first.run(1)
    np.testing.assert_allclose(other.current_policy(), first.current_policy(), atol=1e-9)


def test_a_game_may_begin_with_a_decision_and_hide_nothing() -> None:
    tree = GameTree(Nim(), has_keys=True)
    plain, vector = CFRSolver(tree, "cfr+"), VectorCFRSolver(tree, "cfr+")
    for solver in (plain, vector):
        solver.run(40)
    np.testing.assert_allclose(vector.average_policy(), plain.average_policy(), atol=1e-9)
    assert vector.exploitability() < 0.01


# ---- the public tree -----------------------------------------------------------------------------


def test_public_tree_of_kuhn_is_the_betting() -> None:
    tree = PublicTree(tree_of("kuhn_v0", {}))
    # Two hidden cards, then: start, pass, bet, pass-bet, and five ways to end.
    assert len(tree.public) == 2 + 4 + 5
    decisions = tree.public[tree.public["player"] >= 0]
    assert decisions["num_hands"].tolist() == [[3, 3]] * 4


def test_one_die_liars_dice_has_a_public_node_for_every_set_of_bids() -> None:
    tree = PublicTree(tree_of("liars_dice_v0", {"preset": "openspiel", "faces": 4}))
    assert (tree.public["player"] >= 0).sum() == 2**8
    assert (tree.public["player"] == OVER).sum() == 2**8 - 1


def test_every_node_finds_its_hand_again(tree: GameTree) -> None:
    public = PublicTree(tree)
    rows = np.cumsum(tree.nodes["player"] != OVER) - 1
    rng = np.random.default_rng(0)
    for node in rng.choice(len(tree.nodes), 200):
        at = public.public[public.node_public[node]]
        assert at["player"] == tree.nodes[node]["player"]
        if at["player"] == OVER:
            continue
        for player in (0, 1):
            hand = public.hands[at["first_hand"][player] + public.node_hands[node, player]]
            assert hand["key"] == tree.open_keys[rows[node], player]
            if node:
                parent = tree.nodes[node]["parent"]
                assert hand["parent"] == public.node_hands[parent, player]


def shuffled(tree: PublicTree, seed: int) -> PublicTree:
    """The same public tree with the hands of every public node in another order."""
    rng = np.random.default_rng(seed)
    public, old = tree.public, tree.hands.copy()
    over = public["player"] == OVER
    for player in (0, 1):
        new = [rng.permutation(n) for n in public["num_hands"][:, player]]
        for q in np.flatnonzero(~over):
            first, before = public[q]["first_hand"][player], public[q]["parent"]
            for place, hand in enumerate(old[first : first + len(new[q])]):
                hand["parent"] = new[before][hand["parent"]] if q else 0
                tree.hands[first + new[q][place]] = hand
        for node, q in enumerate(tree.node_public):
            at = public[q]["parent"] if over[q] else q
            tree.node_hands[node, player] = new[at][tree.node_hands[node, player]]
    return tree


def test_the_order_of_hands_does_not_matter(
    tree: GameTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = VectorCFRSolver(tree, "cfr")
    monkeypatch.setattr("agents.cfr.solver.PublicTree", lambda tree: shuffled(PublicTree(tree), 1))
    other = VectorCFRSolver(tree, "cfr")
    assert plain.layout.slots.tolist() != other.layout.slots.tolist()
    start = random_start(tree)
    for solver in (plain, other):
        solver.warm_start(start, weight=0.1)
        solver.run(2)
    states = plain.state_dict(), other.state_dict()
    np.testing.assert_allclose(states[0]["regrets"], states[1]["regrets"], atol=1e-9)


def test_every_pair_has_one_slot_and_equal_payoffs_are_kept_once(tree: GameTree) -> None:
    layout = lay_out_public(PublicTree(tree))
    assert len(set(layout.slots.tolist())) == tree.num_sequences
    matrices = layout.vectors.ends["matrix"]
    if tree.game.id == "liars_dice_v0" and tree.game.options.to_dict()["faces"] == 3:
        assert len(set(matrices.tolist())) < len(matrices)


def test_games_without_such_a_public_tree_are_refused_with_the_way_out() -> None:
    with pytest.raises(MasqueradeError, match="not for two players: use CFRSolver"):
        VectorCFRSolver.of(make_game("kuhn_v0", num_players=3))
    with pytest.raises(MasqueradeError, match="has_keys=True"):
        VectorCFRSolver(GameTree(make_game("kuhn_v0")))
    # In this game a move is hidden from the other player.
    with pytest.raises(MasqueradeError, match="use CFRSolver"):
        VectorCFRSolver.of(Guess())
    CFRSolver(GameTree(Guess())).run(10)
