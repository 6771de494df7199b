"""No Thanks! in time slices: features by hand, neighbours by a scan, databases, the player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.no_thanks.slices.database import Slices, main, make_slices
from agents.games.no_thanks.slices.features import CATEGORIES, features
from agents.games.no_thanks.slices.positions import played_position, random_position
from agents.games.no_thanks.slices.slice_game import SliceGame, nearest
from agents.search import Searcher, SearchSettings
from arena.playing.match import play_match
from envs.core import MasqueradeError, OptionError, Position
from envs.no_thanks import NoThanks

TAKE = 1
SMALL = {"highest": 14, "removed": 3, "chips": 2}
SEGMENTS = (3, 3, 3)


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


def test_the_nearest_neighbour_is_that_of_a_scan() -> None:
    rng = np.random.default_rng(1)
    weights = np.array([1.3, 0.45, 0.8, 0.66, 1.79])
    rows = rng.integers(-9, 10, (300, 15)).astype(np.int32)
    rows[100:200] = rows[:100]  # equal ones: the first counts
    game = SliceGame(NoThanks(known_future=True), 6, rows, weights)
    scale = weights[list(CATEGORIES)]
    for _ in range(100):
        query = rng.integers(-9, 10, 12)
        distances = (((rows[:, :12] - query) * scale) ** 2).sum(axis=1)
        assert nearest(game.rules, tuple(query.tolist())) == int(np.argmin(distances))


def test_a_slice_ends_at_its_boundary_and_pays_what_the_database_says() -> None:
    game = NoThanks(known_future=True, **SMALL)
    rows = np.zeros((1, 15), np.int32)
    rows[0, 12:] = (1, 2, 3)  # to be gained by the mover and those after him
    cut = SliceGame(game, 6, rows, [1.0] * 5)
    state = game.deal([14, 13, 12]).state.copy()
    for _ in range(3):
        assert cut.kernels.turn(state, cut.rules) == 0
        cut.kernels.step(state, cut.rules, TAKE)
    assert cut.kernels.turn(state, cut.rules) < 0
    out = np.empty(3)
    cut.kernels.returns(state, cut.rules, out)
    assert out.tolist() == [2 - 12 + 1, 2 + 2, 2 + 3]


def test_the_last_database_holds_solved_positions() -> None:
    game = NoThanks(**SMALL)
    slices = make_slices(game, 5, SEGMENTS, seed=3)
    assert sorted(slices.rows) == [3, 6]
    assert [slices.boundary(left) for left in (9, 7, 6, 4, 3, 1)] == [6, 6, 3, 3, 0, 0]
    known = NoThanks(known_future=True, **SMALL)
    for i, row in enumerate(slices.rows[3]):
        state = random_position(known, 3, np.random.default_rng([3, 3, i]))
        solved = Searcher(known, SearchSettings(table_bits=0, pruning="none")).search(state).values
        s = known.record(state)
        gains = np.array(solved) - (s.chips[:3] - s.leads[:3])
        assert row[12:].tolist() == np.roll(gains, -int(s.to_move)).tolist()
        assert row[:12].tolist() == features(known, state).tolist()


def test_slices_are_saved_and_loaded(tmp_path: Path) -> None:
    slices = make_slices(NoThanks(**SMALL), 3, SEGMENTS, (2, 1, 1, 0.5, 0.5), 1, "played")
    slices.save(tmp_path / "slices.npz")
    again = Slices.load(tmp_path / "slices.npz")
    assert (again.segments, again.weights, again.seed, again.source) == (
        SEGMENTS,
        (2, 1, 1, 0.5, 0.5),
        1,
        "played",
    )
    assert all((again.rows[left] == slices.rows[left]).all() for left in slices.rows)
    (tmp_path / "other.npz").write_text("nothing")
    with pytest.raises(MasqueradeError, match="holds no slices"):
        Slices.load(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"num_players": 4}, {}, "for three players"),
        ({}, {"segments": (3, 3)}, "must add up to the 9 cards"),
        ({}, {"weights": (1, 1)}, "need 5 weights"),
        ({}, {"source": "dreams"}, "one of"),
    ],
)
def test_slices_that_cannot_be_made_are_refused(
    options: dict[str, Any], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        make_slices(NoThanks(**{**SMALL, **options}), 2, **{"segments": SEGMENTS, **arguments})


@pytest.mark.parametrize("known_future", [False, True])
def test_the_player_plays_on_what_it_has_read(tmp_path: Path, known_future: bool) -> None:
    game = NoThanks(returns="place", first_player="alternate", known_future=known_future, **SMALL)
    path = tmp_path / "slices.npz"
    make_slices(game, 20, SEGMENTS).save(path)
    place = "agents.games.no_thanks.slices.agent:SlicesAgent"
    agent = make_agent(place, game, path=str(path), num_worlds=3)
    other = make_agent("random", game)
    result = play_match(game, [agent, other, other], 40, seed=1)
    assert result.returns[:, 0].mean() > 0.2
    with pytest.raises(OptionError, match="are for decks of 9 cards"):
        make_agent(place, NoThanks(), path=str(path))


def test_the_command_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "slices.npz"
    segments = ["--segments", "23", "1"]
    assert main([str(path), "--size", "2", *segments]) == 0
    assert list(Slices.load(path).rows) == [1]
