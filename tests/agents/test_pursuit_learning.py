"""Q-learning of the reduced game: updates by hand, symmetry, and that both sides learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envs import make_game
from envs.pursuit.generators import grid_board
from experiments.scotland_yard.reduced.graph import (
    SYMMETRIES,
    TeamGraph,
    board_symmetries,
    find_symmetry,
    num_classes,
    team_graph,
)
from experiments.scotland_yard.reduced.learning import (
    FugitiveLearner,
    PieceLearner,
    QSettings,
    TeamLearner,
    update,
)
from experiments.scotland_yard.reduced.plans import BestFugitive, fugitive_anywhere, play_plans
from experiments.scotland_yard.reduced.search import AlphaBetaSettings, fugitive_table, plan_table


@pytest.fixture(scope="module")
def graph() -> TeamGraph:
    return team_graph(make_game("scotland_yard_v0", "reduced"))


@pytest.fixture(scope="module")
def replies(graph: TeamGraph) -> Any:
    return fugitive_table(graph, AlphaBetaSettings(plies=3))


@pytest.fixture(scope="module")
def small() -> TeamGraph:
    return team_graph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))


def test_updates_are_those_worked_out_by_hand() -> None:
    settings = QSettings(learning_rate=0.1, discount=0.9).record(1)[0]
    for reward, best_next, wanted in ((0.0, 0.5, 0.225), (1.0, 0.0, 0.28)):
        values = np.array([[0.2]])
        update(settings, values, 0, 0, reward, best_next)
        assert values[0, 0] == pytest.approx(wanted)


def test_there_are_46875_states_with_16_actions(graph: TeamGraph, replies: Any) -> None:
    assert TeamLearner(graph, QSettings(), replies, total=1).values.shape == (46_875, 16)


# ---- symmetry ------------------------------------------------------------------------------------


def test_twenty_five_cells_are_seven_by_turns_and_six_with_mirror_images() -> None:
    board = grid_board(5, 5)
    for has_reflections, wanted in ((False, 7), (True, 6)):
        images = np.array(board_symmetries(board, has_reflections))
        assert len(np.unique(images.min(axis=0))) == wanted
    classes = np.array(board_symmetries(board, False)).min(axis=0).reshape(5, 5)
    pattern = [[1, 2, 5, 3, 1], [3, 4, 6, 4, 2], [5, 6, 7, 6, 5], [2, 4, 6, 4, 3], [1, 3, 5, 2, 1]]
    pairs = set(zip(classes.ravel().tolist(), np.array(pattern).ravel().tolist(), strict=True))
    assert len(pairs) == 7


def test_13800_starts_are_3450_1755_and_904(graph: TeamGraph) -> None:
    found = [num_classes(graph, find_symmetry(graph, kind)) for kind in SYMMETRIES]
    assert found == [13_800, 3_450, 1_755, 904]


@pytest.mark.parametrize("kind", SYMMETRIES)
def test_turning_a_position_and_its_move_together_commutes_with_the_step(
    graph: TeamGraph, kind: str
) -> None:
    """Two positions of one class have moves that lead into one class again."""
    symmetry, a = find_symmetry(graph, kind), graph.arrays
    rng = np.random.default_rng(0)
    for root in rng.choice(np.flatnonzero(graph.is_start), 200):
        team, place = divmod(int(root), graph.num_places)
        twin = int(symmetry.roots[root])
        twin_team, twin_place = divmod(twin, graph.num_places)
        first = a.team_starts[twin_team]
        for edge in range(a.team_starts[team], a.team_starts[team + 1]):
            slot = int(symmetry.slots[symmetry.elements[root], edge])
            after = a.team_targets[edge] * graph.num_places + place
            twin_after = a.team_targets[first + slot] * graph.num_places + twin_place
            assert symmetry.roots[after] == symmetry.roots[twin_after]


def test_the_one_that_stands_for_a_class_stands_for_itself(graph: TeamGraph) -> None:
    for kind in SYMMETRIES:
        roots = find_symmetry(graph, kind).roots
        assert (roots[roots] == roots).all()


# ---- learning ------------------------------------------------------------------------------------


def test_detectives_learn_what_the_thesis_could_not(graph: TeamGraph, replies: Any) -> None:
    learner = TeamLearner(graph, QSettings(), replies, total=100_000)
    before = play_plans(graph, learner.plans(), replies).win_rate
    curve = learner.learn(100_000)
    games = play_plans(graph, learner.plans(), replies)
    assert before < 0.2
    assert games.win_rate > 0.97
    assert games.mean_length < 7
    # Games get shorter and rewards higher, and nearly every action is a learnt one.
    assert curve[-1000:, 0].mean() < curve[:1000, 0].mean() - 5
    assert curve[-1000:, 1].mean() > 0.9
    assert curve[-1000:, 2].mean() > 0.9 * curve[-1000:, 0].mean()


@pytest.mark.parametrize(
    "settings",
    [
        {"symmetry": "exchange"},
        {"credit": "sweep"},
        {"credit": "result"},
        {"sighting_reward": 0.02},
        {"initial": 1.0, "epsilon": 0.0, "epsilon_end": 0.0},
        {"exploration": "threshold", "threshold": -0.5},
    ],
)
def test_every_way_to_learn_wins_on_a_small_board(
    small: TeamGraph, settings: dict[str, Any]
) -> None:
    anywhere = fugitive_anywhere(small)
    learner = TeamLearner(small, QSettings(**settings), anywhere, total=20_000)
    learner.learn(20_000)
    assert play_plans(small, learner.plans(), anywhere, seed=3).win_rate > 0.9


def test_a_threshold_that_is_never_reached_blocks_everything_learnt(small: TeamGraph) -> None:
    settings = QSettings(exploration="threshold", threshold=1e3)
    learner = TeamLearner(small, settings, fugitive_anywhere(small), total=100)
    assert learner.learn(100)[:, 2].max() == 0


@pytest.mark.parametrize(("rounds", "most"), [(3, 1), (6, 2)])
def test_the_last_known_place_changes_at_sightings_only(rounds: int, most: int) -> None:
    """He moves in every round, and states tell of one place until the third, of two until then."""
    options = {"rows": 3, "columns": 3, "rounds": rounds}
    graph = TeamGraph(make_game("scotland_yard_v0", "reduced", **options))
    counts = []
    for seed in range(40):
        settings = QSettings(initial=0.5)
        learner = TeamLearner(graph, settings, fugitive_anywhere(graph), total=1, seed=seed)
        learner.learn(1)
        changed = np.flatnonzero((learner.values != 0.5).any(axis=1))
        counts.append(len({int(row) // graph.period % graph.num_places for row in changed}))
    assert max(counts) == most


def test_detectives_who_learn_one_by_one_share_a_table(small: TeamGraph) -> None:
    anywhere = fugitive_anywhere(small)
    learner = PieceLearner(small, QSettings(), anywhere, total=30_000)
    assert learner.values.shape == (9 * 9 * 9 * 3, 4)
    learner.learn(30_000)
    plans = learner.plans()
    assert play_plans(small, plans, anywhere, seed=3).win_rate > 0.9
    a = small.arrays
    for root in np.flatnonzero(small.is_start):
        team = int(root) // small.num_places
        for target in plans[root]:
            assert target in a.team_targets[a.team_starts[team] : a.team_starts[team + 1]]
            team = int(target)


def test_a_fugitive_learns_the_best_response(small: TeamGraph) -> None:
    plans = plan_table(small, AlphaBetaSettings(version="v2", plies=3))
    learner = FugitiveLearner(small, QSettings(), plans, total=100_000)
    learner.learn(100_000)
    assert 1.0 - learner.play().win_rate == pytest.approx(
        BestFugitive(small, plans[None]).survival, abs=0.02
    )
