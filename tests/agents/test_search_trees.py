"""Search on trees that are known by heart, and against plain recursion on thousands of others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from agents.max_n import Searcher, SearchResult, SearchSettings
from agents.max_n.preference import EPSILON, PREFERENCES, place_weight, utility_of
from common.errors import OptionError
from tests.support.sampling import IS_FULL
from tests.support.tree_game import Tree, TreeGame, ragged_tree, random_tree

A, B, C = 0, 1, 2
SAFE_TIES = ("first", "low", "high", "random")


def compare(
    player: int, one: Sequence[float], other: Sequence[float], preference: str = "place"
) -> int:
    """1 if ``player`` prefers ``one``, -1 if he prefers ``other``, 0 if they are alike to him."""
    both = np.array([one, other], np.float64)
    weight = place_weight(both.shape[1], float(both.min()), float(both.max()))
    code = PREFERENCES.index(preference)
    first, second = (utility_of(v, both.shape[1], player, code, weight) for v in both)
    return int(first > second + EPSILON) - int(second > first + EPSILON)


def search(tree: Tree, low: float = -20, hero: int | None = None, **settings: Any) -> SearchResult:
    game = TreeGame(tree, low=low)
    defaults = {"table_bits": 0, "order": "low_first", "ties": "first"}
    return Searcher(game, SearchSettings(**{**defaults, **settings})).search(game.root, hero)


def korf(tree: Tree, sum_bound: float) -> SearchResult:
    settings = {"preference": "return", "pruning": "korf", "sum_bound": sum_bound}
    return search(tree, low=0, **settings)


def plain_max_n(tree: Tree, preference: str = "place") -> tuple[float, ...]:
    """By recursion, the first of equals."""
    if not isinstance(tree, list):
        return tuple(map(float, tree))
    best: tuple[float, ...] = ()
    for child in tree[1:]:
        value = plain_max_n(child, preference)
        if not best or compare(tree[0], value, best, preference) > 0:
            best = value
    return best


def plain_paranoid(tree: Tree, hero: int) -> float:
    """By recursion, without windows: the hero's own result."""
    if not isinstance(tree, list):
        return float(tree[hero])
    values = [plain_paranoid(child, hero) for child in tree[1:]]
    return max(values) if tree[0] == hero else min(values)


def plain_best_reply(tree: Tree, hero: int, has_replied: bool = False) -> float:
    """By recursion: after the hero's move one opponent chooses, others play their first move."""
    if not isinstance(tree, list):
        return float(tree[hero])
    if tree[0] == hero:
        return max(plain_best_reply(child, hero) for child in tree[1:])
    if has_replied:
        return plain_best_reply(tree[1], hero, True)
    first, *rest = tree[1:]
    values = [plain_best_reply(first, hero), *(plain_best_reply(c, hero, True) for c in rest)]
    return min(values)


# ---- what players want ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("player", "better", "worse"),
    [
        (B, (3, 2, 0), (3, 4, 5)),
        (A, (1, 1, 1), (2, 4, 4)),
        (C, (2, 2, 5), (3, 3, 3)),
        (A, (1, 10, 1), (3, 5, 4)),  # shared second before last
        (A, (1, 11, 0), (1, 10, 1)),  # second before shared second
        (A, (5, 5, 0), (4, 4, 4)),  # two winners before three
        (A, (6, 1, 0), (9, 8, 8)),  # of two wins, the larger margin
        (B, (10, 10, 10), (-14, -8, 11)),  # equal place, better differences
        (B, (-15, -6, 10), (12, 9, 9)),  # second before shared second
        (A, (7.5, 4, 7.5), (2, 2, 2)),
    ],
)
def test_players_want_places_first_and_differences_second(
    player: int, better: Sequence[float], worse: Sequence[float]
) -> None:
    assert compare(player, better, worse) == 1
    assert compare(player, worse, better) == -1


@pytest.mark.parametrize(
    ("one", "other"),
    [((3, 2, 0), (0, 2, 3)), ((0, 2, 4), (4, 2, 0)), ((8, 4, 7), (7, 4, 8))],
)
def test_who_is_ahead_does_not_matter_to_the_one_behind(
    one: Sequence[int], other: Sequence[int]
) -> None:
    assert compare(B, one, other) == 0
    assert compare(A, one, other) != 0


def test_preferences_are_an_order() -> None:
    results = list(itertools.product(range(3), repeat=3))
    for player in range(3):
        order = {(a, b): compare(player, a, b) for a in results for b in results}
        assert all(order[a, b] == -order[b, a] for a in results for b in results)
        assert all(
            order[a, c] >= 0
            for a, b, c in itertools.product(results, repeat=3)
            if order[a, b] >= 0 and order[b, c] >= 0
        )


def test_a_preference_must_be_known() -> None:
    with pytest.raises(OptionError, match="'return' or 'place'"):
        SearchSettings(preference="money")


# ---- max^n ---------------------------------------------------------------------------------------


def test_each_mover_chooses_for_himself() -> None:
    tree = [A, [B, (3, 4, 5), (3, 2, 0)], [B, (5, 7, 6), (9, 8, 7)]]
    found = search(tree)
    assert (found.values, found.action) == ((3, 2, 0), 0)
    assert found.counters["nodes"] == 6  # A wins on the left, B would on the right
    full = search(tree, pruning="none")
    assert full.values == (3, 2, 0)
    assert (full.counters["nodes"], full.counters["leaves"]) == (7, 4)


def test_where_another_is_indifferent_a_win_is_luck() -> None:
    """A would win by (3, 2, 0), but B is as well off with (0, 2, 3), in which A is last."""
    right = [B, (5, 7, 6), (9, 8, 7)]
    for ties, value in (("low", (5, 7, 6)), ("high", (3, 2, 0))):
        assert search([A, [B, (0, 2, 3), (3, 2, 0)], right], ties=ties).values == value


def test_the_own_number_of_points_moves_nobody() -> None:
    assert search([C, (3, 3, 3), (2, 2, 5)]).values == (2, 2, 5)
    assert search([A, (2, 4, 4), (1, 1, 1)]).values == (1, 1, 1)  # shared first, with fewer points


def test_by_return_only_the_own_result_counts() -> None:
    tree = [A, [B, (3, 4, 5), (3, 2, 0)], [B, (5, 7, 6), (9, 8, 7)]]
    assert search(tree, preference="return", pruning="none").values == (9, 8, 7)


def test_means_of_equal_branches_keep_a_player_from_trusting_to_luck() -> None:
    tree = [A, [B, (0, 2, 4), (4, 2, 0)], [B, (8, 4, 7), (7, 4, 8)]]
    found = search(tree, ties="average", pruning="none")
    assert (found.values, found.action) == ((7.5, 4, 7.5), 1)
    assert search(tree, ties="high").values == (4, 2, 0)
    assert search(tree, ties="low").values == (8, 4, 7)


def test_ties_at_random_follow_the_seed_and_nothing_else() -> None:
    tree = [B, (0, 2, 4), (4, 2, 0)]
    found = {search(tree, ties="random", seed=seed).values for seed in range(20)}
    assert found == {(0, 2, 4), (4, 2, 0)}
    for seed in range(5):
        results = {search(tree, ties="random", seed=seed, table_bits=b).values for b in (0, 4)}
        assert len(results) == 1


# ---- Korf's shallow pruning ----------------------------------------------------------------------


def test_korf_cuts_what_leaves_too_little_for_the_player_above() -> None:
    tree = [A, [B, (3, 3, 3)], [B, (1, 7, 1), (0, 9, 0), (4, 5, 0)]]
    found = korf(tree, 9)
    assert found.values == (3, 3, 3)
    assert found.counters["prunings"] == 2
    assert found.counters["leaves"] == 2


def test_korf_may_not_look_two_players_up() -> None:
    """At d nothing can reach the root any more, yet what d returns decides what c chooses."""
    for last, root in (((2, 3, 4), (5, 2, 2)), ((3, 0, 6), (6, 1, 2))):
        tree = [A, (5, 2, 2), [B, [C, (2, 2, 5), last], (6, 1, 2)]]
        assert korf(tree, 9).values == root
    cut_too_deep = [A, (5, 2, 2), [B, [C, (2, 2, 5)], (6, 1, 2)]]
    assert korf(cut_too_deep, 9).values == (5, 2, 2)


def test_a_bound_on_the_sum_is_wrong_for_players_who_want_places() -> None:
    tree = [A, (3, 5, 4), [B, (1, 10, 1), (1, 11, 0)]]
    assert search(tree).values == (1, 11, 0)
    cut_like_korf = [A, (3, 5, 4), [B, (1, 10, 1)]]
    assert search(cut_like_korf).values == (1, 10, 1)
    assert korf(tree, 12).values == (3, 5, 4)
    with pytest.raises(OptionError, match="set preference to 'return'"):
        search(tree, pruning="korf")


# ---- pruning by placement ------------------------------------------------------------------------

KINDS = {"sole": 1.0, "shared": 1.5, "three": 2.0, "second": 2.0, "last": 3.0}
RESULTS = {  # for the first player; of another one, turned round the table
    "sole": (5, 2, 2),
    "shared": (5, 5, 2),
    "three": (4, 4, 4),
    "second": (3, 5, 1),
    "last": (1, 5, 3),
}


@pytest.mark.parametrize("above", KINDS)
@pytest.mark.parametrize("mine", KINDS)
def test_only_two_first_places_that_exclude_each_other_cut(above: str, mine: str) -> None:
    first = RESULTS[above]
    second = tuple(np.roll(RESULTS[mine], 1).tolist())
    found = search([A, first, [B, second, (0, 0, 0)]])
    excludes = {("sole", "sole"), ("sole", "shared"), ("shared", "sole")}
    assert found.counters["prunings"] == ((above, mine) in excludes)


def test_a_cut_spares_every_other_move() -> None:
    found = search([A, (5, 2, 2), [B, (3, 5, 2), (9, 9, 9), [C, (1, 1, 1), (2, 2, 2)]]])
    assert found.values == (5, 2, 2)
    assert found.counters["prunings"] == 2
    assert found.counters["nodes"] == 4


def test_all_moves_of_a_player_in_a_row_are_cut_together() -> None:
    group = [A, [A, (3, 2, 1), (0, 9, 9)], (0, 9, 8)]
    found = search([C, (1, 1, 5), group])
    assert found.values == (1, 1, 5)
    assert found.counters["prunings"] == 2


def test_the_same_player_above_is_no_reason_to_cut() -> None:
    found = search([A, (5, 2, 2), [A, (6, 2, 2), (9, 1, 1)]])
    assert found.values == (9, 1, 1)
    assert found.counters["prunings"] == 0


def test_a_result_higher_up_in_the_group_above_cuts_as_well() -> None:
    found = search([A, (5, 2, 2), [A, [B, (3, 5, 2), (9, 9, 9)], (0, 1, 1)]])
    assert found.values == (5, 2, 2)
    assert found.counters["prunings"] == 1


def two_takes(leaves: Iterator[Sequence[int]], mover: int, takes: int = 2, pays: int = 0) -> Tree:
    """Two takes end the game and leave the turn; a payment, up to three in a row, passes it on."""
    if takes == 0:
        return tuple(next(leaves))
    moves = [two_takes(leaves, mover, takes - 1)]
    if pays < 3:
        moves.append(two_takes(leaves, (mover + 1) % 3, takes, pays + 1))
    return [mover, *moves]


def test_of_a_lopsided_tree_taking_first_cuts_more_with_as_many_cuts() -> None:
    """Three cuts are the most that paying first has been seen to make, of 36 nodes one each."""
    winners = itertools.cycle([(1, 0, 0), (0, 1, 0), (0, 0, 1)])  # whoever takes last wins
    takers = search(two_takes(winners, 0))
    assert (takers.counters["nodes"], takers.counters["prunings"]) == (8, 3)
    told = "111 111 111 153 551 111 113 113 111 111 311 311 153 111 355 111"
    best = [[int(number) for number in leaf] for leaf in told.split()]
    payers = search(two_takes(iter(best), 0), order="high_first")
    assert (payers.counters["nodes"], payers.counters["prunings"]) == (33, 3)
    full = search(two_takes(iter(best), 0), pruning="none")
    assert (full.counters["nodes"], full.values) == (36, payers.values)


# ---- against plain recursion ---------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [3, 4])
@pytest.mark.parametrize("order", ["low_first", "high_first"])
def test_placement_pruning_changes_no_value(num_players: int, order: str) -> None:
    rng = np.random.default_rng(num_players)
    num_prunings = 0
    for number in range(500):
        tree = (
            random_tree(rng, 6, num_players, top=4)
            if number % 2
            else ragged_tree(rng, 6, num_players, top=3)
        )
        ties = SAFE_TIES[number % len(SAFE_TIES)]
        full = search(tree, pruning="none", order=order, ties=ties)
        pruned = search(tree, order=order, ties=ties)
        stored = search(tree, order=order, ties=ties, table_bits=10)
        assert pruned.values == stored.values == full.values
        assert pruned.action == full.action
        num_prunings += pruned.counters["prunings"]
        if ties == "first" and order == "low_first":
            assert full.values == plain_max_n(tree)
    assert num_prunings > 500


@pytest.mark.parametrize("ties", ["first", "high"])
def test_korfs_pruning_changes_no_value(ties: str) -> None:
    rng = np.random.default_rng(5)
    num_prunings = 0
    for number in range(500):
        tree = shared_out(random_tree(rng, 6, 3, top=1), rng, total=9)
        by_return = {"preference": "return", "ties": ties, "low": 0}
        full = search(tree, pruning="none", **by_return)
        bits = 8 * (number % 2)
        pruned = search(tree, pruning="korf", sum_bound=9, table_bits=bits, **by_return)
        assert pruned.values == full.values
        num_prunings += pruned.counters["prunings"]
        if ties == "first":
            assert full.values == plain_max_n(tree, "return")
    assert num_prunings > 1000


def shared_out(tree: Tree, rng: np.random.Generator, total: int) -> Tree:
    """The same tree with leaves that share out ``total``, mostly to one player."""
    if isinstance(tree, list):
        return [tree[0], *(shared_out(child, rng, total) for child in tree[1:])]
    return tuple(rng.multinomial(total, rng.dirichlet([0.3] * len(tree))).tolist())


def test_with_averages_pruning_is_not_exact() -> None:
    """(3, 4, 0) and (3, 0, 4) are alike to the first player, second in both; in their mean he wins.

    With the mover's own next move searched first no tree was found on which it matters; with the
    other player's first, about one in ten thousand such trees.
    """
    tree = random_tree(np.random.default_rng(9288), 6, 3, top=4)
    for order, is_exact in (("low_first", True), ("high_first", False)):
        full = search(tree, pruning="none", ties="average", order=order)
        pruned = search(tree, pruning="placement", ties="average", order=order)
        assert (pruned.values == full.values) == is_exact


def test_guesses_change_the_order_and_not_the_value() -> None:
    rng = np.random.default_rng(8)
    for _ in range(200):
        tree = ragged_tree(rng, 6, 3, top=3)
        values = {
            search(tree, ties="low", order=order, table_bits=bits).values
            for order in ("low_first", "high_first", "guess")
            for bits in (0, 8)
        }
        assert len(values) == 1


# ---- one against all -----------------------------------------------------------------------------


def test_alpha_beta_cuts_shallow_and_deep() -> None:
    """The root is MIN's, and MAX is player 0."""
    leaf = {x: (x, -x) for x in (2, 8, -3, 4, 6, -5, 9, 7)}
    tree = [
        1,
        [0, [1, leaf[2], leaf[8]], [1, leaf[-3], leaf[9]]],
        [0, [1, leaf[4], leaf[6]], [1, leaf[-5], leaf[7]]],
    ]
    found = search(tree, method="paranoid", preference="return", pruning="none", hero=0)
    assert found.values == (2,)
    assert found.counters["leaves"] == 5
    assert found.counters["prunings"] == 2


def test_the_paranoid_expects_the_worst() -> None:
    tree = [A, [B, (9, 5, 0), (1, 0, 0)], [B, (2, 0, 0), (3, 9, 0)]]
    paranoid = search(tree, method="paranoid", preference="return", pruning="none")
    assert (paranoid.values, paranoid.action) == ((2,), 1)
    assert search(tree, preference="return", pruning="none").values == (9, 5, 0)


def test_of_two_opponents_only_one_replies() -> None:
    # Together B and C bring A down to 0; alone, B can do no worse than 3 and C no worse than 4.
    tree = [A, [B, [C, (6, 0, 0), (4, 0, 0)], [C, (3, 0, 0), (0, 0, 0)]]]
    settings = {"preference": "return", "pruning": "none"}
    assert search(tree, method="paranoid", **settings).values == (0,)
    assert search(tree, method="best_reply", **settings).values == (3,)


@pytest.mark.parametrize(
    ("method", "plain"), [("paranoid", plain_paranoid), ("best_reply", plain_best_reply)]
)
def test_windows_and_tables_change_no_value(method: str, plain: Any) -> None:
    rng = np.random.default_rng(6)
    num_prunings, num_trees = 0, 500 if IS_FULL else 60
    for _ in range(num_trees):
        tree = ragged_tree(rng, 7, 3, top=9)
        for hero in range(3):
            for bits in (0, 8):
                found = search(
                    tree,
                    hero=hero,
                    method=method,
                    preference="return",
                    pruning="none",
                    table_bits=bits,
                )
                assert found.values == (plain(tree, hero),)
                num_prunings += found.counters["prunings"]
    assert num_prunings > 2 * num_trees
