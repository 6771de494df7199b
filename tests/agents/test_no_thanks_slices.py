"""No Thanks! in time slices: features by hand, neighbours by a scan, databases, the player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

from agents import make_agent
from agents.games.no_thanks.board import BOARDS, PARAMS, make_board
from agents.games.no_thanks.slices.estimates import (
    FIRST_WEIGHT,
    NUMBER,
    nearest_estimate,
    nearest_params,
    nearest_row,
)
from agents.games.no_thanks.slices.features import CATEGORIES, features
from agents.games.no_thanks.slices.files import Slices, load_slices
from agents.games.no_thanks.solver import NoThanksSolver
from agents.max_n import Searcher, SearchSettings
from arena.match import play_match
from common.errors import MasqueradeError, OptionError
from envs.core.compiling import compiled
from envs.core.kernels import INT
from envs.core.position import Position
from envs.no_thanks import NoThanks
from experiments.no_thanks.filling import Filling
from experiments.no_thanks.makers import main, make_slices, played_position, random_position

TAKE = 1
SMALL = {"highest": 14, "removed": 3, "chips": 2}
SEGMENTS = (3, 3, 3)


@compiled(INT(BOARDS, PARAMS))
def number_of_nearest(board, params):
    return np.int64(params[nearest_row(board[0], params) + NUMBER])


def find_nearest(params: Any, query: list[int]) -> int:
    """The number of the row that is nearest to a query."""
    board = make_board()
    weights = params[FIRST_WEIGHT : FIRST_WEIGHT + 12]
    board[0]["features"][:12] = np.asarray(query) * weights
    return int(number_of_nearest(board, params))


def position(
    hands: dict[int, list[int]], coming: list[int], chips: list[int], mover: int
) -> Position:
    """Cards taken by each player, cards to come in order, chips and the player to move."""
    taken = [(card, player) for player, cards in hands.items() for card in cards]
    removed = 33 - len(taken) - len(coming)
    game = NoThanks(removed=removed, known_future=True)
    found = game.deal([card for card, _ in taken] + coming)
    s = game.record(found.state)
    for _, player in taken:
        s.to_move = player
        game.kernels.step(found.state, game.rules, TAKE)
    s.chips[:3] = chips
    s.to_move = mover
    return found


def test_features_are_told_from_the_mover_on() -> None:
    hands = {0: [10, 14, 16], 1: [20, 21], 2: [30, 34]}
    found = position(hands, [15, 11, 22, 31, 33, 3], [10, 11, 12], mover=0)
    assert features(found.game, found.state).tolist() == [
        *(20 - 40, 64 - 40),  # lead cards 10 + 14 + 16; 20; 30 + 34
        *(2, 1, 2),  # 11 and 15; 22; 31 and 33
        *(22 - 26, 64 - 26),
        *(1, 2),
        *(1, 0, 0),  # 15 joins 14 and 16; of 31, 32, 33 the 32 does not come
    ]
    game = found.game
    game.record(found.state).to_move = 2
    turned = features(game, found.state).tolist()
    assert turned[:2] == [40 - 64, 20 - 64]
    assert turned[2:5] == [2, 2, 1]
    assert turned[7:9] == [-2, -1]
    assert turned[9:] == [0, 1, 0]


def test_a_longer_gap_can_be_closed_if_all_its_cards_come() -> None:
    found = position({0: [30, 34], 1: [5], 2: [9]}, [31, 33, 32], [11, 11, 11], mover=0)
    assert features(found.game, found.state).tolist()[9:] == [1, 0, 0]


@pytest.mark.parametrize("make", [random_position, played_position])
def test_positions_keep_what_play_keeps(make: Any) -> None:
    game = NoThanks(known_future=True)
    rng = np.random.default_rng(0)
    for left in (6, 12, 21):
        for _ in range(20):
            state = make(game, left, rng)
            s = game.record(state)
            assert game.options.deck_size - s.num_taken == left
            amounts = game.conserved(state)
            assert amounts.pop("chips") == 33
            assert not any(amounts.values())
            assert s.pot == 0


@pytest.mark.parametrize("size", [1, 2, 3, 300])
def test_the_nearest_neighbour_is_that_of_a_scan_and_of_scipy(size: int) -> None:
    rng = np.random.default_rng(1)
    weights = np.array([1.3, 0.45, 0.8, 0.66, 1.79])
    rows = rng.integers(-9, 10, (size, 18)).astype(np.int32)
    rows[size // 3 : 2 * size // 3] = rows[
        : 2 * size // 3 - size // 3
    ]  # of equals the first counts
    params = nearest_params(rows, weights, "gains")
    scale = weights[list(CATEGORIES)]
    tree = cKDTree(rows[:, :12] * scale)
    for _ in range(100):
        query = rng.integers(-9, 10, 12)
        distances = (((rows[:, :12] - query) * scale) ** 2).sum(axis=1)
        found = find_nearest(params, query.tolist())
        first = int(np.flatnonzero(np.isclose(distances, distances.min()))[0])
        assert found == first
        assert np.sqrt(distances[found]) == pytest.approx(tree.query(query * scale)[0])


def test_equal_coordinates_on_both_sides_of_a_median_are_found() -> None:
    rows = np.zeros((40, 18), np.int32)
    rows[:, 1] = np.arange(40) % 4
    params = nearest_params(rows, [1.0] * 5, "results")
    for value in range(4):
        assert find_nearest(params, [0, value, *[0] * 10]) == value


@pytest.mark.parametrize(
    ("stored", "expected"), [("gains", [2 - 12 + 1, 2 + 2, 2 + 3]), ("results", [7, 8, 9])]
)
def test_a_search_ends_at_its_boundary_with_what_the_database_says(
    stored: str, expected: list[int]
) -> None:
    game = NoThanks(known_future=True, **SMALL)
    rows = np.zeros((1, 18), np.int32)
    rows[0, 12:] = (1, 2, 3, 7, 8, 9)  # of the mover and those after him: gains, and results
    params = nearest_params(rows, [1.0] * 5, stored)
    position = game.deal([14, 13, 12])
    for _ in range(3):
        position.apply(TAKE)
    found = NoThanksSolver(game, estimate=nearest_estimate).solve(position.state, 6, params)
    assert found.values == tuple(expected)
    assert found.action == -1, "nothing was decided"


def test_the_last_database_holds_solved_positions() -> None:
    game = NoThanks(**SMALL)
    slices = make_slices(game, 5, SEGMENTS, seed=3)
    assert sorted(slices.rows) == [3, 6]
    assert [slices.boundary(left) for left in (9, 7, 6, 4, 3, 1)] == [6, 6, 3, 3, 0, 0]
    known = NoThanks(known_future=True, **SMALL)
    plain = SearchSettings(table_bits=0, pruning="none", ties="average", assumed={"cap": True})
    for i, row in enumerate(slices.rows[3]):
        state = random_position(known, 3, np.random.default_rng([3, 3, i]))
        solved = np.rint(Searcher(known, plain).search(state).values)
        s = known.record(state)
        gains = solved - (s.chips[:3] - s.leads[:3])
        assert row[:12].tolist() == features(known, state).tolist()
        assert row[12:15].tolist() == np.roll(gains, -int(s.to_move)).tolist()
        assert row[15:].tolist() == np.roll(solved, -int(s.to_move)).tolist()


def test_slices_are_the_same_for_any_number_of_processes_and_after_a_stop(tmp_path: Path) -> None:
    game = NoThanks(**SMALL)
    alone = make_slices(game, 110, SEGMENTS, seed=1)
    told: list[str] = []
    together = make_slices(game, 110, SEGMENTS, seed=1, filling=Filling(2, told.append, tmp_path))
    assert told
    kept = sorted(tmp_path.glob("*.npy"))
    assert len(kept) == 4, "two pieces at two boundaries"
    kept[0].unlink()  # as if it had been stopped
    told.clear()
    again = make_slices(game, 110, SEGMENTS, seed=1, filling=Filling(1, told.append, tmp_path))
    assert len(told) == 1, "only what is missing is made"
    for left in alone.rows:
        assert (alone.rows[left] == together.rows[left]).all()
        assert (alone.rows[left] == again.rows[left]).all()


def test_slices_are_saved_and_loaded(tmp_path: Path) -> None:
    slices = make_slices(NoThanks(**SMALL), 3, SEGMENTS, (2, 1, 1, 0.5, 0.5), 1, "played", "gains")
    slices.save(tmp_path / "slices.npz")
    again = load_slices(tmp_path / "slices.npz")
    assert isinstance(again, Slices)
    assert (again.segments, again.weights, again.seed, again.source, again.stored) == (
        SEGMENTS,
        {3: (2, 1, 1, 0.5, 0.5), 6: (2, 1, 1, 0.5, 0.5)},
        1,
        "played",
        "gains",
    )
    assert all((again.rows[left] == slices.rows[left]).all() for left in slices.rows)
    (tmp_path / "other.npz").write_text("nothing")
    with pytest.raises(MasqueradeError, match=r"other\.npz is truncated or damaged .*anew"):
        load_slices(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"num_players": 4}, {}, "for three players"),
        ({}, {"segments": (3, 3)}, "must add up to the 9 cards"),
    ],
)
def test_slices_that_cannot_be_made_are_refused(
    options: dict[str, Any], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        make_slices(NoThanks(**{**SMALL, **options}), 2, **{"segments": SEGMENTS, **arguments})


@pytest.mark.parametrize(
    ("known_future", "vote"), [(False, "majority"), (False, "mean"), (True, "mean")]
)
def test_the_player_plays_on_what_it_has_read(
    tmp_path: Path, known_future: bool, vote: str
) -> None:
    game = NoThanks(returns="place", first_player="alternate", known_future=known_future, **SMALL)
    path = tmp_path / "slices.npz"
    make_slices(game, 20, SEGMENTS).save(path)
    agent = make_agent("no_thanks_slices", game, path=str(path), num_worlds=3, vote=vote)
    other = make_agent("random", game)
    result = play_match(game, [agent, other, other], 40, seed=1)
    assert result.returns[:, 0].mean() > 0.2
    with pytest.raises(OptionError, match="are for decks of 9 cards"):
        make_agent("no_thanks_slices", NoThanks(), path=str(path))


def test_the_command_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "slices.npz"
    segments = ["--segments", "23", "1"]
    assert main(["database", str(path), "--size", "2", *segments]) == 0
    made = load_slices(path)
    assert isinstance(made, Slices)
    assert list(made.rows) == [1]
