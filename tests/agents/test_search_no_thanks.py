"""Search in No Thanks! with a known deck: values, sizes of trees, and the players."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent
from agents.max_n import Searcher, SearchResult, SearchSettings
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.no_thanks import NoThanks

PAY, TAKE = 0, 1
HALF = 0.5


def known(deck: list[int], chips: int | str = 6, **options: Any) -> Position:
    """The start of a game with just these cards in this order."""
    low, high = min(deck), max(deck)
    removed = (high - low) // options.get("card_step", 1) + 1 - len(deck)
    fixed = {"lowest": low, "highest": high, "removed": removed, "chips": chips}
    return NoThanks(**fixed, known_future=True, **options).deal(deck)


def search(position: Position, **settings: Any) -> SearchResult:
    chosen = SearchSettings(**{"table_bits": 0, **settings})
    return Searcher(position.game, chosen).search(position.state)


def random_decks(number: int, seed: int) -> Iterator[Position]:
    rng = np.random.default_rng(seed)
    for _ in range(number):
        deck = rng.permutation(np.arange(3, 15))[: rng.integers(3, 5)].tolist()
        yield known(deck, int(rng.choice([2, 3, 5])))


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deck", "chips", "take", "pay", "mean"),
    [
        ([3], 1, (0, 0, 0), None, None),
        ([3], 2, (1, 1, 1), None, None),
        ([5], 6, (4, 4, 5), None, None),
        ([3, 4], 2, (-1, -1, 1), None, None),
        ([5, 6], 3, (1, 1, 2), None, None),
        ([10, 12, 11], 6, (2, 2, 4), None, None),
        ([3, 6, 4], 3, (-1, 1, 0), (-1, 0, 1), (-1, HALF, HALF)),
        ([6, 3, 5], 3, (1, 0, 0), (0, 1, 0), (HALF, HALF, 0)),
        ([35, 34, 33], 11, (0, 0, 0), (0, -1, 1), (0, -0.25, 0.25)),
        ([20, 22, 21, 5], 6, (-14, -14, 0), None, None),
        ([7, 14, 8, 13], 6, (-2, 0, 0), None, None),
    ],
)
def test_small_decks_have_known_values(
    deck: list[int], chips: int, take: Any, pay: Any, mean: Any
) -> None:
    position = known(deck, chips)
    expected = {"high": take, "low": pay or take, "average": mean or take}
    for (ties, value), bits, pruning in itertools.product(
        expected.items(), (0, 12), ("none", "placement")
    ):
        found = search(position, ties=ties, table_bits=bits, pruning=pruning)
        assert found.values == value
        assert found.is_complete


@pytest.mark.parametrize(
    ("deck", "take", "pay", "mean"),
    [
        ([3, 6, 4], (-2, -2, 0), (-2, -2, 0), (-2, -2, 0)),
        ([6, 3, 5], (-1, 1, 1), (-3, -2, 0), (-11 / 8, 9 / 16, 11 / 16)),
    ],
)
def test_the_cap_changes_values(deck: list[int], take: Any, pay: Any, mean: Any) -> None:
    position = known(deck, 3)
    for ties, value in (("high", take), ("low", pay), ("average", mean)):
        assert search(position, ties=ties, assumed={"cap": True}).values == value
    # Assumed by the search or a rule of the game: the same.
    capped = known(deck, 3, cap=True)
    assert search(capped, ties="high").values == take


def test_a_three_way_tie_is_worth_more_than_the_risk() -> None:
    """All cards from 3 on, of which the first player has taken all but the last one, the 20."""
    deck = [card for card in range(3, 36) if card != 20] + [20]
    position = known(deck, 11)
    for _ in range(32):
        position.apply(TAKE)
    position.apply(PAY)
    for mover in (1, 2):
        found = search(position)
        assert (position.turn, found.action, found.values) == (mover, PAY, (10, 10, 10))
        position.apply(PAY)
    found = search(position)
    assert (position.turn, found.action, found.values) == (0, TAKE, (10, 10, 10))
    position.apply(PAY)  # a mistake: now somebody takes who is second by it, and he is last
    assert search(position).values == (-15, 9, -5)
    position.apply(TAKE)
    assert position.returns().tolist() == [-15, -6, 10]


def test_all_orders_prunings_and_tables_agree() -> None:
    num_prunings = 0
    for position in random_decks(120, seed=1):
        for ties in ("high", "low"):
            full = search(position, ties=ties, pruning="none")
            orders = (("high_first", 0), ("low_first", 0), ("high_first", 14), ("guess", 14))
            for order, bits in orders:
                found = search(position, ties=ties, order=order, table_bits=bits)
                assert found.values == full.values
                assert found.action == full.action
                num_prunings += found.counters["prunings"]
    assert num_prunings > 1000


def test_a_table_filled_by_a_pruned_search_holds_nothing_but_exact_values() -> None:
    """Every position below is asked again with the table that the search of the root has left."""
    for position in random_decks(15, seed=3):
        game = position.game
        warm = Searcher(game, SearchSettings(table_bits=14))
        warm.search(position.state)
        full = Searcher(game, SearchSettings(table_bits=0, pruning="none"))
        rng = np.random.default_rng(4)
        for _ in range(10):
            below = position.copy()
            while not below.is_over:
                again, once = warm.search(below.state), full.search(below.state)
                assert again.values == once.values
                assert again.action == once.action
                below.apply(int(rng.choice(below.legal_actions())))


def test_a_table_too_small_loses_positions_and_no_truth() -> None:
    for position in random_decks(20, seed=6):
        values = {search(position, table_bits=bits).values for bits in (0, 3, 14)}
        assert len(values) == 1


# ---- sizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chips", "num_cards", "nodes", "leaves"),
    [
        (1, 4, 176, 67),
        (2, 4, 856, 357),
        (6, 3, 3169, 1477),
        (6, 4, 22_374, 10_341),
        (6, 5, 157_541, 72_754),
        (6, 6, 1_127_879, 521_546),
        (11, 3, 15_844, 7602),
        (11, 4, 183_988, 87_873),
        (11, 5, 2_151_529, 1_027_707),
    ],
)
def test_trees_have_known_sizes(chips: int, num_cards: int, nodes: int, leaves: int) -> None:
    found = search(known(list(range(3, 3 + num_cards)), chips), pruning="none")
    assert (found.counters["nodes"], found.counters["leaves"]) == (nodes, leaves)


@pytest.mark.parametrize(
    ("chips", "num_cards", "states"),
    [
        *[(6, 1, 19), (6, 2, 215), (6, 3, 1350), (6, 4, 6557), (6, 5, 26_657), (6, 6, 97_426)],
        *[(11, 1, 34), (11, 2, 640), (11, 3, 6185), (11, 5, 149_387)],
    ],
)
def test_a_table_holds_every_position_once(chips: int, num_cards: int, states: int) -> None:
    position = known(list(range(3, 3 + num_cards)), chips)
    assert search(position, pruning="none", table_bits=20).counters["stored"] == states


def test_taking_first_cuts_nearly_everything_where_taking_is_best() -> None:
    position = known(list(range(-1, 7)), 6)
    found = search(position, ties="average")
    assert (found.counters["nodes"], found.counters["prunings"]) == (235, 46)
    assert found.values == (9, 5, 5)


def test_taking_first_never_cuts_where_paying_is_best() -> None:
    deck = [3, 5, 7, 9, 11]
    take_first, pay_first, full = (
        search(known(deck, "unlimited", cap=True, card_step=2), **settings)
        for settings in ({}, {"order": "low_first"}, {"pruning": "none"})
    )
    assert take_first.counters["prunings"] == 0
    assert take_first.counters["nodes"] == full.counters["nodes"]
    assert pay_first.counters["prunings"] > 0
    assert take_first.values == pay_first.values == full.values


# ---- limits --------------------------------------------------------------------------------------


def test_deeper_and_deeper_ends_with_the_truth() -> None:
    for position in random_decks(20, seed=2):
        truth = search(position)
        deepened = search(position, is_iterative=True, table_bits=14)
        assert deepened.is_complete
        assert (deepened.values, deepened.action) == (truth.values, truth.action)


def test_a_search_to_a_depth_estimates_what_is_beyond() -> None:
    position = known([10, 20, 12, 30, 5, 8], 6)
    found = search(position, depth=1)
    assert found.counters["nodes"] == 3
    assert not found.is_complete
    # As if the game ended after one move: paying costs less than the 10.
    assert (found.action, found.values) == (PAY, (5, 6, 6))


def test_a_search_of_few_nodes_gives_a_legal_move() -> None:
    position = known([10, 20, 12, 30, 5, 8], 6)
    for max_nodes in (1, 2, 10, 100):
        for is_iterative in (False, True):
            found = search(position, max_nodes=max_nodes, is_iterative=is_iterative)
            assert found.action in (PAY, TAKE)
            assert found.counters["nodes"] <= max_nodes
            assert not found.is_complete


def test_a_search_stops_when_its_time_is_up() -> None:
    ticks = itertools.count()
    position = known([10, 20, 12, 30, 5, 8, 9, 16], 11)
    settings = SearchSettings(is_iterative=True, table_bits=10)
    searcher = Searcher(position.game, settings, clock=lambda: float(next(ticks)))
    found = searcher.search(position.state, seconds=9.5)
    assert next(ticks) == 11
    assert not found.is_complete
    assert found.action in (PAY, TAKE)
    assert found.depth >= 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "minimax"}, "method must be 'max_n' or 'paranoid' or 'best_reply'"),
        ({"preference": "return"}, "set preference to 'place'"),
        ({"table_bits": 40}, "table_bits must be a whole number from 0 to 28"),
        ({"depth": 0}, "depth must be a whole number from 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SearchSettings(**settings)


def test_assumed_options_may_not_make_another_game() -> None:
    with pytest.raises(OptionError, match="make another game"):
        Searcher(NoThanks(), SearchSettings(assumed={"num_players": 4}))


# ---- players -------------------------------------------------------------------------------------


def decisions(agent: Agent, positions: list[Position]) -> Actions:
    rows = np.arange(len(positions))
    batch = Batch(positions[0].game, len(rows), new_rng(0), new_rng(1))
    batch.begin(rows, rows)
    for row, position in enumerate(positions):
        batch._states[row] = position.state
        batch.turns[row] = position.turn
    return agent.act(batch.views(rows))


@pytest.mark.parametrize("vote", ["majority", "mean"])
def test_with_a_known_deck_a_player_finds_the_best_move(vote: str) -> None:
    for deck in ([3, 6, 4], [6, 3, 5], [10, 12, 11]):
        position = known(deck, 3)
        agent = make_agent("max_n", position.game, max_nodes=10**6, vote=vote)
        assert decisions(agent, [position])[0] == search(position).action


@pytest.mark.parametrize("agent_id", ["max_n", "paranoid", "best_reply"])
def test_a_searching_player_beats_random_ones(agent_id: str) -> None:
    game = make_game("no_thanks_v0", "small", returns="place", first_player="alternate")
    agent = make_agent(agent_id, game, max_nodes=3000, num_worlds=1)
    other = make_agent("random", game)
    result = play_match(game, [agent, other, other], 30, seed=1)
    assert result.returns[:, 0].mean() > 0.5


def test_a_player_needs_a_world_and_a_way_to_vote() -> None:
    game = make_game("no_thanks_v0")
    with pytest.raises(OptionError, match="num_worlds"):
        make_agent("max_n", game, num_worlds=0)
    with pytest.raises(OptionError, match="'majority' or 'mean'"):
        make_agent("max_n", game, vote="loudest")
