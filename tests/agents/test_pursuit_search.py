"""Alpha-beta of the reduced game: evaluations by hand, lines, plans, and the published table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from common.errors import OptionError
from envs import make_game
from envs.pursuit.game import Pursuit
from envs.pursuit.generators import grid_board
from experiments.scotland_yard.reduced.graph import TeamGraph, team_graph
from experiments.scotland_yard.reduced.plans import BestFugitive, fugitive_anywhere, play_plans
from experiments.scotland_yard.reduced.search import (
    AlphaBetaSettings,
    fugitive_table,
    node_value,
    plan_table,
)
from tests.support.pursuits import cell, principal_line, thesis_plans
from tests.support.sampling import IS_FULL
from tests.support.written_trees import Tree, search_tree


@pytest.fixture(scope="module")
def game() -> Pursuit:
    found = make_game("scotland_yard_v0", "reduced")
    assert isinstance(found, Pursuit)
    return found


@pytest.fixture(scope="module")
def graph(game: Pursuit) -> TeamGraph:
    return team_graph(game)


# ---- trees ---------------------------------------------------------------------------------------


def test_the_worked_example_is_walked_step_by_step() -> None:
    """Node 4 reads one leaf and answers 9 although its bound is 8; node 5 reads all of its own."""
    example = [
        [[8, 1, 2], [9, 7, 7], [2, 4, 3]],
        [[5, 6, 6], [7, 7, 7], [8, 8, 8]],
        [[1], [2], [3]],
    ]
    walk = search_tree(example)
    infinite = float("inf")
    done = [(v.path, v.low, v.high, v.value, v.num_read) for v in walk.visits]
    assert done[:4] == [
        ((0, 0), -infinite, infinite, 8, 3),
        ((0, 1), -infinite, 8, 9, 1),
        ((0, 2), -infinite, 8, 4, 3),
        ((0,), -infinite, infinite, 4, 3),
    ]
    later = next(v for v in walk.visits if v.path == (1, 0))
    assert (later.low, later.high) == (4, infinite)
    assert walk.line[:2] == (1, 0)  # the first player goes to node 6, the other replies with 7


def random_tree(rng: np.random.Generator, depth: int) -> Tree:
    if depth == 0:
        return int(rng.integers(-9, 10))
    return [random_tree(rng, depth - 1) for _ in range(rng.integers(1, 4))]


def value_along(tree: Tree, line: tuple[int, ...]) -> float:
    for branch in line:
        assert not isinstance(tree, float | int)
        tree = tree[branch]
    assert isinstance(tree, float | int)
    return tree


@pytest.mark.parametrize("seed", range(60))
def test_cuts_change_neither_value_nor_line_and_never_add_nodes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 6)))
    order = list(rng.permutation(3))
    cut, full = search_tree(tree, order=order), search_tree(tree, has_cuts=False, order=order)
    assert (cut.value, cut.line) == (full.value, full.line)
    assert cut.num_nodes <= full.num_nodes
    assert value_along(tree, cut.line) == cut.value


def test_the_order_of_trying_decides_among_equals() -> None:
    assert search_tree([[3], [3]]).line == (0, 0)
    assert search_tree([[3], [3]], order=[1, 0]).line == (1, 0)


# ---- evaluations ---------------------------------------------------------------------------------

# (cells of detective 1, detective 2 and the fugitive, depth) and the four values of each node.
PATH_A = [
    ((1, 2), (4, 1), (2, 4), 1, (-8, -3, -3, -5.5)),
    ((1, 2), (4, 1), (3, 4), 2, (-8, -4, -4, -6)),
    ((1, 3), (4, 2), (3, 4), 3, (-12, -6, -3, -4.5)),
    ((1, 3), (4, 2), (4, 4), 4, (-12, -4, -2, -4)),
    ((2, 3), (4, 3), (4, 4), 5, (-12, -3, -1, -2.5)),
    ((2, 3), (4, 3), (3, 4), 6, (-12, -6, -2, -3)),
]
PATH_B = [
    ((2, 2), (0, 3), (3, 3), 1, (-5, -2, -2, -3.5)),
    ((2, 2), (0, 3), (3, 2), 2, (-5, -1, -1, -3)),
    ((3, 2), (1, 3), (3, 2), 3, (50, 44, 47, 47)),
    ((3, 2), (1, 3), (3, 3), 4, (-6, -2, -1, -2)),
    ((2, 2), (1, 2), (3, 3), 5, (-15, -6, -2, -3.5)),
]
Cells = tuple[int, int]
Nodes = list[tuple[Cells, Cells, Cells, int, tuple[float, ...]]]


def value_of(graph: TeamGraph, nodes: Any, version: str, **settings: Any) -> float:
    a, b, x, ply = nodes[:4]
    record = AlphaBetaSettings(version=version, **settings).record()[0]
    team = graph.team(cell(*a), cell(*b))
    return node_value(graph.arrays, record, team, cell(*x), ply) / 2


@pytest.mark.parametrize(
    ("path", "sums"),
    [
        (PATH_A, (-64, -26, -15, -25.5)),
        (PATH_A[:5], (-52, -20, -13, -22.5)),
        (PATH_B, (19, 33, 41, 35)),
        (PATH_B[:3], (40, 41, 44, 40.5)),  # a tree that stops at the catch
    ],
)
def test_evaluations_are_those_worked_out_by_hand(
    graph: TeamGraph, path: Nodes, sums: tuple[float, ...]
) -> None:
    for number, version in enumerate(("v1", "v2", "v3", "v4")):
        values = [value_of(graph, node, version) for node in path]
        assert values == [node[4][number] for node in path]
        assert sum(values) == sums[number]


def test_a_catch_is_worth_100_50_and_nothing_by_depth() -> None:
    graph = team_graph(make_game("scotland_yard_v0", "reduced", num_detectives=1))
    for ply, published, corrected in ((1, 100, 150), (3, 50, 100), (5, 0, 50)):
        for is_corrected, wanted in ((False, published), (True, corrected)):
            record = AlphaBetaSettings(corrected=is_corrected).record()[0]
            for version in range(4):
                record.version = version
                assert node_value(graph.arrays, record, 7, 7, ply) / 2 == wanted


def test_a_late_catch_with_the_partner_far_away_is_worth_less_than_none(graph: TeamGraph) -> None:
    """As published: with the partner eight cells away it is -24, -8 and -8."""
    far = (0, 0), (4, 4), (0, 0), 5
    near = (0, 1), (1, 0), (0, 0), 5
    assert [value_of(graph, far, version) for version in ("v2", "v3", "v4")] == [-24, -8, -8]
    assert [value_of(graph, near, version) for version in ("v2", "v3", "v4")] == [-3, -1, -1.5]
    assert value_of(graph, far, "v4", corrected=True) > value_of(graph, near, "v4")


def test_depth_counts_plies_if_asked(graph: TeamGraph) -> None:
    node = (1, 1), (3, 3), (2, 2), 4
    assert value_of(graph, node, "v1") == -8
    assert value_of(graph, node, "v1", depth_unit="plies") == -16


# ---- the quick search ----------------------------------------------------------------------------


def written_down(
    graph: TeamGraph, settings: AlphaBetaSettings, is_team: bool, team: int, place: int, ply: int
) -> tuple[Tree, list[int]]:
    """The same tree by plain Python: sums at its leaves, and the moves of its root.

    Values are those of the side that moves first.
    """
    sign = 1 if is_team else -1

    def grow(is_team: bool, team: int, place: int, ply: int, total: float) -> Tree:
        if ply == settings.plies:
            return sign * total
        branches: list[Tree] = []
        for target in moves(is_team, team, place):
            now = (target, place) if is_team else (team, target)
            record = settings.record()[0]
            value = total + node_value(graph.arrays, record, *now, ply + 1) / 2
            branches.append(grow(not is_team, *now, ply + 1, value))
        if not branches:
            h = (ply + 2) // 2
            return sign * (total + (settings.depth - h) * settings.reward)
        return branches

    def moves(is_team: bool, team: int, place: int) -> list[int]:
        a = graph.arrays
        if is_team:
            return a.team_targets[a.team_starts[team] : a.team_starts[team + 1]].tolist()
        ways = a.targets[a.starts[place] : a.starts[place + 1]].tolist()
        return [way for way in ways if way not in a.places[team]]

    return grow(is_team, team, place, ply, 0), moves(is_team, team, place)


@pytest.mark.parametrize("version", ["v1", "v2", "v3", "v4", "danger"])
@pytest.mark.parametrize("is_team", [True, False])
def test_the_quick_search_agrees_with_trees_that_are_written_down(
    graph: TeamGraph, version: str, is_team: bool
) -> None:
    rng = np.random.default_rng(5)
    settings = AlphaBetaSettings(version=version, plies=3)
    for _ in range(6):
        a, b, x = (int(place) for place in rng.choice(25, 3, replace=False))
        tree, first_moves = written_down(graph, settings, is_team, graph.team(a, b), x, 0)
        slow = search_tree(tree)
        value, line, num_nodes = principal_line(graph, settings, graph.team(a, b), x, is_team)
        assert value == (slow.value if is_team else -slow.value)
        if first_moves and slow.line:
            assert line[0] == first_moves[slow.line[0]]
        assert num_nodes <= search_tree(tree, has_cuts=False).num_nodes


@pytest.mark.parametrize("ties", ["first", "last"])
def test_cuts_change_nothing_but_the_work(graph: TeamGraph, ties: str) -> None:
    rng = np.random.default_rng(6)
    for plies in (2, 3, 4):
        for _ in range(8):
            a, b, x = (int(place) for place in rng.choice(25, 3, replace=False))
            team = graph.team(a, b)
            cut = AlphaBetaSettings(plies=plies, ties=ties)
            found = principal_line(graph, cut, team, x)
            full = principal_line(graph, cut.replace(cuts=False), team, x)
            assert found[:2] == full[:2]
            assert found[2] <= full[2]


def test_the_value_of_the_best_line_is_the_value_of_the_root(graph: TeamGraph) -> None:
    rng = np.random.default_rng(7)
    for version in ("v1", "v2", "v3", "v4"):
        settings = AlphaBetaSettings(version=version, plies=5)
        record = settings.record()[0]
        for _ in range(5):
            a, b, x = (int(place) for place in rng.choice(25, 3, replace=False))
            value, line, _ = principal_line(graph, settings, graph.team(a, b), x)
            total, team, place = 0.0, graph.team(a, b), x
            for ply, move in enumerate(line, start=1):
                team, place = (move, place) if ply % 2 else (team, move)
                total += node_value(graph.arrays, record, team, place, ply) / 2
            if len(line) < settings.plies:  # he is stuck at the end of it
                total += (settings.depth - (len(line) + 2) // 2) * settings.reward
            assert total == value


def test_random_ties_come_from_their_seed(graph: TeamGraph) -> None:
    settings = AlphaBetaSettings(plies=3, ties="random")
    roots = np.flatnonzero(graph.is_start)[::50]
    tables = [plan_table(graph, settings, roots, seed=seed) for seed in (0, 0, 1)]
    assert (tables[0] == tables[1]).all()
    assert (tables[0] != tables[2]).any()


# ---- plans and games -----------------------------------------------------------------------------


def test_every_plan_is_three_legal_joint_moves(graph: TeamGraph) -> None:
    plans = plan_table(graph, AlphaBetaSettings(plies=3, version="v1"))
    a = graph.arrays
    for root in np.flatnonzero(graph.is_start)[::37]:
        team = int(root) // graph.num_places
        for target in plans[root]:
            assert target in a.team_targets[a.team_starts[team] : a.team_starts[team + 1]]
            team = int(target)


# Win rate in % and mean length, from all 13,800 starts, as a second program found them.
TABLE = [
    ("all", 3, {"v1": (78.6, 4.2), "v2": (68.9, 5.4)}),
    ("after_fugitive", 1, {"v4": (88.5, 7.4)}),
]


@pytest.mark.parametrize(("nodes", "plies", "wanted"), TABLE if IS_FULL else TABLE[1:])
def test_all_starts_give_what_a_second_program_gave(
    graph: TeamGraph, nodes: str, plies: int, wanted: dict[str, Any]
) -> None:
    replies = fugitive_table(graph, AlphaBetaSettings(plies=plies))
    for version, (win_rate, length) in wanted.items():
        games = play_plans(graph, thesis_plans(version, nodes), replies)
        assert len(games.starts) == 13_800
        assert 100 * games.win_rate == pytest.approx(win_rate, abs=0.05)
        assert games.mean_length == pytest.approx(length, abs=0.05)


# Planning on the whole board takes a quarter of a minute.
@pytest.mark.parametrize(
    ("columns", "bounds"), [(4, (0.9, 0.75)), (5, (0.85, 0.7))][: 2 if IS_FULL else 1]
)
def test_a_random_fugitive_is_caught_more_often_by_those_who_count_both(
    columns: int, bounds: tuple[float, float]
) -> None:
    graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=5, columns=columns))
    anywhere = fugitive_anywhere(graph)
    rates = []
    for version in ("v1", "v2"):
        plans = plan_table(graph, AlphaBetaSettings(plies=3, version=version))
        rates.append(play_plans(graph, plans, anywhere, seed=1).win_rate)
    assert rates[0] > bounds[0] > rates[1] > bounds[1]


def test_nobody_escapes_more_often_than_whoever_knows_the_plans() -> None:
    graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=4, columns=4))
    plans = plan_table(graph, AlphaBetaSettings(plies=3, version="v1"))
    survival = BestFugitive(graph, plans[None]).survival
    for replies in (fugitive_anywhere(graph), fugitive_table(graph, AlphaBetaSettings(plies=1))):
        assert 1 - play_plans(graph, plans, replies).win_rate < survival


if IS_FULL:  # plans for the whole board take long
    # Share of all starts from which he survives 20 rounds, as a second program found it.
    @pytest.mark.parametrize(("version", "wanted"), [("v1", 70.0), ("v2", 72.0)])
    def test_whoever_knows_the_plans_escapes_from_seven_starts_in_ten(
        graph: TeamGraph, version: str, wanted: float
    ) -> None:
        plans = thesis_plans(version, "all")
        assert 100 * BestFugitive(graph, plans[None]).survival == pytest.approx(wanted, abs=0.05)


# ---- other boards --------------------------------------------------------------------------------


def test_any_grid_and_any_number_of_detectives_has_its_graph() -> None:
    for rows, columns, detectives in ((3, 4, 1), (4, 4, 3), (2, 3, 2)):
        options = {"rows": rows, "columns": columns, "num_detectives": detectives}
        game = make_game("scotland_yard_v0", "reduced", **options)
        graph = TeamGraph(game)
        a = graph.arrays
        board = grid_board(rows, columns)
        assert len(a.targets) == 2 * len(board.edges[0])
        for root in np.flatnonzero(graph.is_start)[:: max(1, graph.num_roots // 40)]:
            team, place = divmod(int(root), graph.num_places)
            position = game.replay([*a.places[team].tolist(), place])
            number = a.team_starts[team + 1] - a.team_starts[team]
            assert number == count_joint_moves(position, detectives, place)


def count_joint_moves(position: Any, left: int, place: int) -> int:
    """Joint moves by the rules of the game itself; a catch ends it, and the others may still move.

    The fugitive is put where nobody can be, so that nobody catches him on the way.
    """
    state = position.state.copy()
    record = position.game.record(state)
    record.place[0] = -1
    return _count(position.game, state, left)


def _count(game: Pursuit, state: Any, left: int) -> int:
    if left == 0:
        return 1
    mask = np.zeros(game.facts.num_actions, np.int8)
    game.kernels.legal(state, game.rules, mask)
    total = 0
    for action in np.flatnonzero(mask):
        after = state.copy()
        record = game.record(after)
        piece = int(record.piece)
        record.place[piece] = action
        record.moved |= 1 << (piece - 1)
        record.piece = piece + 1
        total += _count(game, after, left - 1)
    return total


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"moving": "in_order"}, "moving='at_once'"),
        ({"first": "fugitive"}, "first='detectives'"),
        ({"black_tickets": 1}, "black_tickets=0"),
        ({"reveals": (3, 8)}, "reveals to a number"),
        ({"rows": 9, "columns": 9}, "at most 64 places"),
        ({"board": "city"}, "one transport"),
    ],
)
def test_other_rules_are_refused_with_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words) as caught:
        TeamGraph(make_game("scotland_yard_v0", "reduced", **options))
    assert "\n" not in str(caught.value)
