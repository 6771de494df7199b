"""Boards: the file format, one line for every fault, generators, the pool of maps, balance."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from common.errors import OptionError
from envs import make_game
from envs.core.rng import below, new_rng
from envs.pursuit.board import (
    MAX_NODES,
    Board,
    BoardError,
    check_connections,
    load_board,
    parse_board,
)
from envs.pursuit.generators import MapRecipe, city_board, grid_board, random_board
from envs.pursuit.tables import FOLDER, balance, distances, named_board

Change = Callable[[dict[str, Any]], Any]


def content() -> dict[str, Any]:
    return {
        "format": "masquerade board",
        "version": 1,
        "name": "square",
        "transports": [
            {"name": "taxi", "color": "#aa0"},
            {"name": "ferry", "color": "#000", "needs_black": True},
        ],
        "nodes": [{"number": n, "x": n % 2, "y": n // 2} for n in (1, 2, 3, 4)],
        "edges": {"taxi": [[1, 2], [2, 4], [4, 3]], "ferry": [[1, 3]]},
        "starts": {"detective": [1, 2], "fugitive": [4]},
        "water": [[[0, 3], [2, 3.5]]],
        "origin": "by hand",
    }


FAULTS: list[tuple[Change, str]] = [
    (
        lambda c: c["nodes"].append({"number": 7, "x": 5, "y": 5}),
        "node 7 has no edges: join it to another or leave it out",
    ),
    (
        lambda c: c["edges"]["taxi"].append([3, 99]),
        "taxi edge 3-99 leads to nowhere: there is no node 99",
    ),
    (
        lambda c: c["edges"].update(rocket=[[1, 2]]),
        "unknown transport 'rocket' in edges: known: ferry, taxi",
    ),
    (
        lambda c: c["edges"].update(taxi=[[1, 3], [2, 4]]),
        "the board falls into 2 parts: no way leads from node 1 to node 2",
    ),
    (
        lambda c: c.update(nodes=[{"number": n, "x": n, "y": 0} for n in range(1, 258)]),
        "257 nodes are too many: a board has at most 256",
    ),
    (
        lambda c: c["nodes"].append({"number": 300, "x": 5, "y": 5}),
        "node 300: numbers are whole and go from 1 to 256",
    ),
    (lambda c: c["nodes"].append({"number": 1, "x": 5, "y": 5}), "there are two nodes 1"),
    (
        lambda c: c["nodes"].append({"number": 5, "x": 1, "y": 0}),
        "nodes 1 and 5 lie on the same spot",
    ),
    (
        lambda c: c["nodes"].append({"number": 5, "x": "far", "y": 0}),
        "node 5 has no proper coordinates: x is 'far', y is 0",
    ),
    (
        lambda c: c["edges"]["taxi"].append([1, 1]),
        "taxi edge 1-1 goes round in a circle: leave it out",
    ),
    (lambda c: c["edges"]["taxi"].append([2, 1]), "taxi edge 1-2 is there twice"),
    (lambda c: c["edges"]["taxi"].append([1]), "taxi edge [1] is no pair of numbers"),
    (lambda c: c.pop("edges"), "'edges' is missing"),
    (
        lambda c: c.update(edgse={}),
        "unknown key 'edgse': did you mean 'edges'? (known: edges, format, name, nodes, origin, "
        "starts, transports, version, water)",
    ),
    (
        lambda c: c.update(version=2),
        'a board begins with "format": "masquerade board", "version": 1',
    ),
    (
        lambda c: c["starts"].update(detective=[9]),
        "start card 9 of 'detective': there is no such node",
    ),
    (lambda c: c["starts"].update(fugitive=[4, 4]), "starts of 'fugitive' name a node twice"),
    (
        lambda c: c["transports"][0].update(needs_black=True),
        "at least one transport must have tickets of its own",
    ),
    (
        lambda c: c.update(water=[3]),
        "water must be a list of lines, each a list of points [x, y]",
    ),
    (
        lambda c: c["transports"][0].update(name="black"),
        "'black' cannot name a transport, or names two",
    ),
]


@pytest.mark.parametrize(("change", "message"), FAULTS, ids=[message for _, message in FAULTS])
def test_every_fault_of_a_board_is_one_line_that_names_it(change: Change, message: str) -> None:
    broken = content()
    change(broken)
    with pytest.raises(BoardError) as caught:
        parse_board(broken)
    assert str(caught.value) == message


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    with pytest.raises(BoardError, match=r"board\.json cannot be read \(No such file.*it$"):
        load_board(path)
    path.write_text("{")
    with pytest.raises(BoardError, match=r"board\.json is no JSON \(.*describes it$"):
        load_board(path)
    path.write_text("[]")
    with pytest.raises(BoardError, match=r"board\.json: a board is an object with name"):
        load_board(path)
    with pytest.raises(BoardError, match=r"^there is no board 'vienna': name one of grid, random"):
        make_game("scotland_yard_v0", board="vienna")


def every_board() -> list[Board]:
    made = [random_board(MapRecipe(edge_mode=mode), 3, 1) for mode in ("ring", "radius")]
    shipped = [load_board(path) for path in sorted(FOLDER.glob("*.json"))]
    return [parse_board(content()), grid_board(5, 5), grid_board(16, 16), *made, *shipped]


def test_a_board_survives_the_way_to_its_file_and_back(tmp_path: Path) -> None:
    for board in every_board():
        (tmp_path / "board.json").write_text(board.to_text())
        assert load_board(tmp_path / "board.json") == board
        check_connections(board)


def test_a_game_on_a_loaded_map_is_the_same_game(tmp_path: Path) -> None:
    """Places keep their numbers, so the same actions are legal."""
    game = make_game("phantom_v0", rows=4, columns=5, num_detectives=2)
    path = tmp_path / "map.json"
    path.write_text(game.boards[0].to_text())  # type: ignore[attr-defined]
    loaded = make_game("phantom_v0", board=str(path), num_detectives=2)
    positions = [g.new_position() for g in (game, loaded)]
    rng = new_rng(4)
    while not positions[0].is_over:
        words = [[p.action_text(a) for a in p.legal_actions()] for p in positions]
        assert words[0] == words[1]
        nth = int(below(rng, len(words[0])))
        for position in positions:
            position.apply(position.legal_actions()[nth])
    assert (positions[0].returns() == positions[1].returns()).all()


# ---- grids and the city --------------------------------------------------------------------------


def test_the_grid_has_forty_edges_and_the_right_degrees() -> None:
    board = grid_board(5, 5)
    degrees = [len(board.neighbours(node.number)) for node in board.nodes]
    assert len(board.edges[0]) == 40
    assert [degrees.count(n) for n in (2, 3, 4)] == [4, 12, 9]
    assert board.neighbours(1) == [2, 6]


def test_grids_of_any_size_up_to_the_room_of_a_state() -> None:
    assert len(grid_board(1, 2).nodes) == 2
    assert len(grid_board(16, 16).nodes) == MAX_NODES
    with pytest.raises(OptionError, match="a grid has 2 to 256 cells: 17 x 16 are 272"):
        grid_board(17, 16)
    with pytest.raises(OptionError, match="rows x columns must be from 2 to 256, not 1 x 1"):
        make_game("scotland_yard_v0", board="grid", rows=1, columns=1)


def test_the_shipped_city_is_what_its_code_draws() -> None:
    assert named_board("city") == city_board()


def test_the_city_is_a_board_for_the_full_rules() -> None:
    board = named_board("city")
    assert len(board.nodes) == 200
    assert [t.name for t in board.transports] == ["taxi", "bus", "underground", "ferry"]
    assert len(board.edges[3]) == 3
    assert len({end for pair in board.edges[3] for end in pair}) == 4
    taxi, bus, tube = (
        np.mean([_length(board, pair) for pair in pairs]) for pairs in board.edges[:3]
    )
    assert taxi < bus < tube
    stops = [len({end for pair in pairs for end in pair}) for pairs in board.edges[:3]]
    assert stops[0] == 200 > stops[1] > stops[2]
    assert not set(board.detective_starts) & set(board.fugitive_starts)
    assert distances(board, 200).max() < 20


def _length(board: Board, pair: tuple[int, int]) -> float:
    a, b = (board.places[number] for number in pair)
    return float(np.hypot(a.x - b.x, a.y - b.y))


@pytest.mark.parametrize("transport", [0, 1, 2])
def test_lines_of_one_kind_never_cross(transport: int) -> None:
    board = named_board("city")
    pairs = board.edges[transport]
    for i, one in enumerate(pairs):
        for other in pairs[:i]:
            if not set(one) & set(other):
                assert not _cross(board, one, other), (one, other)


def _cross(board: Board, one: tuple[int, int], other: tuple[int, int]) -> bool:
    a, b, c, d = (board.places[number] for number in (*one, *other))

    def side(p: Any, q: Any, r: Any) -> float:
        return float((q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x))

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


# ---- random maps ---------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_map_and_another_number_another() -> None:
    recipe = MapRecipe()
    assert random_board(recipe, 5, 2) == random_board(recipe, 5, 2)
    assert random_board(recipe, 5, 2).edges != random_board(recipe, 5, 3).edges
    assert random_board(recipe, 5, 2).edges != random_board(recipe, 6, 2).edges


def test_shares_of_places_and_stops_are_those_of_the_recipe() -> None:
    boards = [random_board(MapRecipe(10, 12), 1, number) for number in range(40)]
    num_nodes = sum(len(board.nodes) for board in boards)
    assert abs(num_nodes / (40 * 120) - 0.8) < 0.03
    for transport, share in ((1, 0.4), (2, 0.2)):
        stops = sum(len({e for pair in board.edges[transport] for e in pair}) for board in boards)
        # A stop with no other in reach has no edge, so a few are missing.
        assert share - 0.1 < stops / num_nodes < share + 0.02
    for board in boards:
        assert {end for pair in board.edges[0] for end in pair} <= set(board.places)


def brute_force_edges(board: Board, transport: int, recipe: MapRecipe) -> set[tuple[int, int]]:
    """Pairs of stops by a search from every stop, path by path."""
    stops = {end for pair in board.edges[transport] for end in pair}
    found = set()
    for start in stops:
        paths, known = [start], {start}
        distance = 0
        while paths:
            distance += 1
            if recipe.edge_mode == "radius" and distance > recipe.radius:
                break
            paths = sorted({cell for at in paths for cell in beside(recipe, at)} - known)
            known |= set(paths)
            met = [cell for cell in paths if cell in stops]
            found |= {(min(start, cell), max(start, cell)) for cell in met}
            if met and recipe.edge_mode == "ring":
                break
            paths = [cell for cell in paths if cell not in stops]
    return found


def beside(recipe: MapRecipe, number: int) -> list[int]:
    row, column = divmod(number - 1, recipe.columns)
    near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [
        1 + recipe.columns * r + c
        for r, c in near
        if 0 <= r < recipe.rows and 0 <= c < recipe.columns
    ]


@pytest.mark.parametrize(
    "recipe",
    [
        MapRecipe(6, 7, edge_mode="ring"),
        MapRecipe(6, 7, radius=2),
        MapRecipe(6, 7, radius=3),
        MapRecipe(6, 7, edge_mode="unbounded"),
    ],
    ids=str,
)
def test_edges_join_the_stops_of_their_mode_across_holes(recipe: MapRecipe) -> None:
    for number in range(5):
        board = random_board(recipe, 2, number)
        if "; 0 places cut off" in board.origin:
            for transport in (1, 2):
                assert set(board.edges[transport]) == brute_force_edges(board, transport, recipe)


def test_maps_that_fall_apart_keep_nine_tenths_or_are_drawn_anew() -> None:
    recipe = MapRecipe(6, 6, keep=0.5, radius=1)
    for number in range(20):
        board = random_board(recipe, 0, number)
        check_connections(board)
        num_cut = int(board.origin.rpartition("; ")[2].split()[0])
        assert len(board.nodes) >= 0.9 * (len(board.nodes) + num_cut)
    with pytest.raises(OptionError, match=r"was accepted in 200 attempts \(0 were unfair"):
        random_board(MapRecipe(8, 8, keep=0.0), 0, 0)


def test_pools_to_train_and_to_test_on_have_no_map_in_common() -> None:
    pools = [
        make_game("phantom_v0", rows=5, columns=5, num_detectives=2, num_maps=8, first_map=first)
        for first in (0, 8)
    ]
    train, test = ({board.edges for board in game.boards} for game in pools)  # type: ignore[attr-defined]
    assert len(train) == len(test) == 8
    assert not train & test
    assert pools[0].observation_size == pools[1].observation_size
    assert pools[0].options.structural() == pools[1].options.structural()
    position = pools[0].new_position()
    assert [p for _, p in position.chance_outcomes()] == [1 / 8] * 8
    position.apply(3)
    assert {int(a) for a in position.legal_actions()} == {
        node.number - 1
        for node in pools[0].boards[3].nodes  # type: ignore[attr-defined]
    }


def test_accepted_maps_differ_less_in_balance_than_all_maps() -> None:
    options = {"rows": 9, "columns": 11, "num_maps": 12}
    every = make_game("phantom_v0", **options)
    fair = make_game("phantom_v0", max_imbalance=0.08, **options)
    scores = [
        # Judged with other games than those by which they were accepted.
        [balance(board, game.options, 600, seed=9) for board in game.boards]  # type: ignore[attr-defined, arg-type]
        for game in (every, fair)
    ]
    assert np.std(scores[1]) < 0.7 * np.std(scores[0])
    assert np.abs(np.array(scores[1]) - 0.5).mean() < np.abs(np.array(scores[0]) - 0.5).mean()


def test_a_shipped_map_names_its_seed_and_is_what_that_makes() -> None:
    recipes = [MapRecipe(), MapRecipe(10, 12), MapRecipe(radius=3)]
    for number, recipe in enumerate(recipes):
        board = named_board(f"map_{number + 1}")
        made = random_board(recipe, 2024, number)
        assert (board.nodes, board.edges, board.origin) == (made.nodes, made.edges, made.origin)


def test_json_of_a_shipped_board_is_plain() -> None:
    for path in FOLDER.glob("*.json"):
        assert json.loads(path.read_text())["format"] == "masquerade board"
