"""Threads share the work of a solver, and the numbers are the same for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents.cfr.threads as division_module
from agents.cfr import CFRSolver, GameTree, Solver, VectorCFRSolver, best_response
from agents.cfr.public_tree import PublicTree
from agents.cfr.public_vectors import lay_out_public
from agents.cfr.threads import TOP, divide, make_team, work_together
from agents.cfr.variants import VARIANTS
from agents.cfr.vectors import Layout
from common.errors import MasqueradeError
from envs import make_game

NONE = -1


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small games, too."""
    monkeypatch.setattr(division_module, "SMALLEST_PART", 20)


def random_forest(seed: int, size: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    parents = np.array([rng.integers(-1 if v % 40 else -30, v) if v else NONE for v in range(size)])
    return np.maximum(parents, NONE).astype(np.int32), rng.integers(1, 50, size)


# ---- cutting -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("seed", range(5))
def test_parts_are_whole_subtrees_of_limited_weight(seed: int) -> None:
    parents, weights = random_forest(seed)
    parts, levels = divide(parents, weights)
    limit = max(weights.sum() // division_module.MOST_PARTS, 20)
    for v, parent in enumerate(parents):
        above = TOP if parent == NONE else parts[parent]
        assert parts[v] == above or above == TOP
        begins = parent == NONE or parts[v] != above
        assert levels[v] == (0 if begins else levels[parent] + 1)
    totals = np.bincount(parts, weights)
    assert len(totals) > 2
    assert (totals[1:] > 0).all()
    assert (totals[1:] <= limit).all()


def test_a_small_forest_is_one_part() -> None:
    parents, weights = random_forest(0, size=20)
    division = divide(parents, weights)
    assert division.num_parts == 1
    assert set(division.parts.tolist()) == {1}


def test_nothing_has_no_parts() -> None:
    assert divide(np.zeros(0, np.int32), np.zeros(0, np.int64)).num_parts == 0


# ---- solvers -------------------------------------------------------------------------------------

TREES: list[tuple[type[Solver], dict[str, Any]]] = [
    (VectorCFRSolver, {"game_id": "leduc_v0"}),
    (VectorCFRSolver, {"game_id": "liars_dice_v0", "preset": "openspiel", "faces": 4}),
    (CFRSolver, {"game_id": "leduc_v0"}),
    (CFRSolver, {"game_id": "kuhn_v0", "num_players": 4}),
]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(("kind", "options"), TREES, ids=str)
def test_numbers_do_not_depend_on_threads(
    kind: type[Solver], options: dict[str, Any], name: str, is_alternating: bool
) -> None:
    tree = GameTree(make_game(**options), has_keys=kind is VectorCFRSolver)
    alone, together = (kind(tree, name, n, is_alternating=is_alternating) for n in (1, 3))
    assert together.num_parts > 3
    for solver in (alone, together):
        solver.run(5)
        solver.run(6)
    for key, value in alone.state_dict().items():
        np.testing.assert_array_equal(together.state_dict()[key], value, err_msg=key)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("kind", "options"), TREES, ids=str)
def test_a_cut_game_is_the_same_game(
    kind: type[Solver], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = kind(GameTree(make_game(**options), has_keys=kind is VectorCFRSolver), "cfr+")
    monkeypatch.undo()
    whole = kind(GameTree(make_game(**options), has_keys=kind is VectorCFRSolver), "cfr+")
    assert whole.num_parts == 1 < cut.num_parts
    for solver in (cut, whole):
        solver.run(3)
    np.testing.assert_allclose(cut.average_policy(), whole.average_policy(), atol=1e-9)
    assert cut.exploitability() == pytest.approx(whole.exploitability(), abs=1e-12)
    for player in range(whole.tree.num_players):
        ours, theirs = (best_response(s.tree, whole.average_policy(), player) for s in (cut, whole))
        assert ours.value == pytest.approx(theirs.value, abs=1e-12)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "lay_out", [lambda tree: tree.layout, lambda tree: lay_out_public(PublicTree(tree))]
)
def test_every_part_has_its_own_slots_and_steps(lay_out: Callable[[GameTree], Layout]) -> None:
    layout = lay_out(GameTree(make_game("leduc_v0"), has_keys=True))
    vectors = layout.vectors
    owner = np.empty(layout.num_slots, int)
    for part in range(len(vectors.parts) - 1):
        here, beyond = vectors.parts[part], vectors.parts[part + 1]
        owner[here["first_slot"] : beyond["first_slot"]] = part
    for part in range(len(vectors.parts) - 1):
        here, beyond = vectors.parts[part], vectors.parts[part + 1]
        top = vectors.tops[np.searchsorted(vectors.tops, part, "right") - 1]
        for k in range(here["first_step"], beyond["first_step"]):
            step = vectors.steps[k]
            first = step["first_source"]
            sources = owner[vectors.sources[first : first + step["num_hands"]]]
            assert (sources == (top if k < here["first_inside"] else part)).all()
            assert owner[step["inner"]] == part
        paid = vectors.ends["own"] if len(vectors.ends) else vectors.combinations[:, 0]
        assert (owner[paid[here["first_end"] : beyond["first_end"]]] == part).all()


def test_a_state_goes_on_with_another_number_of_threads() -> None:
    tree = GameTree(make_game("liars_dice_v0", "openspiel", faces=5), has_keys=True)
    whole, first, second = (VectorCFRSolver(tree, "discounted", n) for n in (1, 2, 3))
    whole.run(8)
    first.run(3)
    second.load_state_dict(first.state_dict())
    second.run(5)
    np.testing.assert_array_equal(second.average_policy(), whole.average_policy())


def test_threads_are_counted_from_one() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    with pytest.raises(MasqueradeError, match="num_threads must be 1 or more, not 0"):
        CFRSolver(tree, num_threads=0)


def test_an_error_of_one_worker_is_not_lost() -> None:
    def work(worker: int) -> int:
        if worker == 1:
            raise ValueError("tired")
        return worker

    with pytest.raises(ValueError, match="tired"):
        work_together(3, work)
    assert make_team(3)[0] == 3
