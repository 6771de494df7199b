"""The order of hands, against counts, a naive evaluator and phevaluator."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import phevaluator
import pytest

from common.errors import MasqueradeError
from envs.core.rng import new_rng
from envs.holdem.equity import (
    all_hands,
    class_name,
    compared_equity,
    equity,
    equity_against,
    expand_classes,
    starting_class,
    starting_equities,
    strength_now,
)
from envs.holdem.evaluator import (
    BEST_STRENGTH,
    TABLES,
    card_name,
    category,
    evaluate,
    parse_card,
    parse_hands,
    strength_name,
    tables,
)
from tests.support.holdem_counts import count_categories

FIVE = (4, 36, 624, 3744, 5108, 10200, 54912, 123552, 1098240, 1302540)
SEVEN = (4324, 37260, 224848, 3473184, 4047644, 6180020, 6461620, 31433400, 58627800, 23294460)


def naive(cards: tuple[int, ...]) -> tuple[int, ...]:
    """The worth of five cards, from the definitions of the combinations."""
    ranks = sorted((card // 4 for card in cards), reverse=True)
    counts = Counter(ranks)
    groups = sorted(counts, key=lambda rank: (-counts[rank], -rank))
    is_flush = len({card % 4 for card in cards}) == 1
    top = ranks[0] if ranks[0] - ranks[4] == 4 and len(counts) == 5 else -1
    top = 3 if ranks == [12, 3, 2, 1, 0] else top
    shape = tuple(sorted(counts.values(), reverse=True))
    if top >= 0:
        return (8 if is_flush else 4, top)
    kinds = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}
    return (5 if is_flush else kinds.get(shape, 0), *groups)


def random_hands(count: int, size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((count, 52)), axis=1)[:, :size].astype(np.int8)


@pytest.mark.parametrize(("num_cards", "expected"), [(5, FIVE), (7, SEVEN)])
def test_all_hands_of_five_and_seven_cards_are_counted(
    num_cards: int, expected: tuple[int, ...]
) -> None:
    assert tuple(reversed(count_categories(num_cards).values())) == expected


def test_there_are_7462_strengths() -> None:
    t = tables().view(TABLES)[0]
    strengths = set(t.rank_strengths.tolist()) | set(t.flush_strengths.tolist())
    assert strengths - {0} == set(range(1, BEST_STRENGTH + 1))
    assert BEST_STRENGTH == 7462


def test_strengths_follow_the_definitions_of_the_combinations() -> None:
    hands = random_hands(4000, 7, seed=1)
    found = evaluate(hands)
    worths = [max(naive(five) for five in combinations(hand.tolist(), 5)) for hand in hands]
    order = np.argsort(found, kind="stable")
    for one, other in pairwise(order):
        assert (found[one] < found[other]) == (worths[one] < worths[other])
    assert [category(int(x)) for x in found] == [worth[0] for worth in worths]


@pytest.mark.parametrize("size", [5, 6, 7])
def test_strengths_are_those_of_phevaluator(size: int) -> None:
    hands = random_hands(4000, size, seed=size)
    theirs = [phevaluator.evaluate_cards(*map(card_name, hand.tolist())) for hand in hands]
    assert (7463 - np.array(theirs)).tolist() == evaluate(hands).tolist()


def test_the_ace_is_low_in_the_wheel_only() -> None:
    wheel, six_high, round_the_corner = evaluate(
        parse_hands(["As 2h 3d 4c 5s Kh Kd", "2h 3d 4c 5s 6h Kd Qc", "Qs Kh As 2d 3c 7h 8d"])
    )
    assert strength_name(int(wheel)) == "straight"
    assert six_high == wheel + 1
    assert strength_name(int(round_the_corner)) == "high card"


def test_kickers_decide_and_a_sixth_card_does_not() -> None:
    king, queen, same = evaluate(
        parse_hands(["As Ad Kc 9h 8d 3c 2s", "As Ad Qc 9h 8d 3c 2s", "As Ad Kc 9h 8d 5c 4s"])
    )
    assert king > queen
    assert king == same


def test_suits_break_no_ties() -> None:
    one, other = evaluate(parse_hands(["As Ks Qs Js 9s 2h 3d", "Ah Kh Qh Jh 9h 2s 3d"]))
    assert one == other


def test_the_royal_flush_has_its_own_name() -> None:
    assert strength_name(7462) == "royal flush"
    assert strength_name(7461) == "straight flush"


def test_cards_are_numbered_by_rank_and_by_suit_from_spades() -> None:
    assert [card_name(card) for card in range(4)] == ["2s", "2h", "2c", "2d"]
    assert [parse_card(card_name(card)) for card in range(52)] == list(range(52))
    with pytest.raises(MasqueradeError, match="is no card"):
        parse_card("1x")
    with pytest.raises(MasqueradeError, match="5 to 7"):
        evaluate([[1, 2, 3]])


# ---- equity --------------------------------------------------------------------------------------


def test_strength_is_that_of_the_published_example() -> None:
    # Billings and others (2002): ace-queen on jack, four, three.
    hole, board = parse_hands(["Ad Qc"])[0], parse_hands(["Jh 4c 3h"])[0]
    assert round(strength_now(tables().view(TABLES)[0], hole, board, 3), 3) == 0.585


def test_an_open_straight_draw_comes_in_17_percent_with_a_card_and_31_with_two() -> None:
    counts = Counter[int]()
    known = parse_hands(["8s 7h 6d 5c 2s"])[0].tolist()
    rest = [card for card in range(52) if card not in known]
    for extra in ([(card,) for card in rest], list(combinations(rest, 2))):
        hands = np.array([[*known, *cards] for cards in extra], np.int8)
        makes = np.mean([category(int(x)) == 4 for x in evaluate(hands)])
        counts[len(extra[0])] = round(1000 * float(makes))
    assert counts == {1: 170, 2: 315}


def test_equity_against_a_range_is_that_of_its_hands() -> None:
    kings = np.zeros(169)
    kings[14] = 1.0
    share = equity_against("As Ah", kings, rng=new_rng(1), num_boards=20_000)
    assert abs(share - 0.8195) < 0.006
    # Queens are behind kings and ahead of jacks, on any board without a king, queen or jack.
    two = np.zeros(169)
    two[14] = two[3 * 14] = 1.0
    assert equity_against("Qs Qh", two, "Ad 9c 7h 2s 3d", rng=new_rng(1)) == 0.5
    with pytest.raises(MasqueradeError, match="no hand of the range"):
        equity_against("As Ah", np.eye(169)[14], "Ks Kh Kd Kc 2s", rng=new_rng(0))


def test_equity_against_more_opponents_falls() -> None:
    shares = [equity("Ks Kh", num_opponents=n, rng=new_rng(n)) for n in (1, 2, 5)]
    assert shares == sorted(shares, reverse=True)
    assert abs(shares[0] - 0.824) < 0.015


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.6), (0.45, 0.5), (0.9, 1.2), (-0.1, 0.1)])
def test_a_comparison_that_ends_early_says_what_all_samples_say(low: float, high: float) -> None:
    t, rng = tables().view(TABLES)[0], np.random.default_rng(0)
    num_ended_early = 0
    for seed in range(40):
        cards = rng.permutation(52)[:5].astype(np.int8)
        one, other = new_rng(seed), new_rng(seed)
        whole = compared_equity(t, cards[:2], cards[2:], 3, 2, 50, np.nan, np.nan, one)
        early = compared_equity(t, cards[:2], cards[2:], 3, 2, 50, low, high, other)
        assert (early > low, early > high) == (whole > low, whole > high)
        num_ended_early += (one != other).any()
    assert num_ended_early > 0


def test_there_are_169_kinds_of_starting_hands() -> None:
    kinds = Counter(starting_class(int(a), int(b)) for a, b in all_hands())
    assert len(kinds) == 169
    sizes = {"pair": 6, "suited": 4, "offsuit": 12}
    for kind, size in kinds.items():
        name = class_name(kind)
        shape = "pair" if len(name) == 2 else {"s": "suited", "o": "offsuit"}[name[2]]
        assert size == sizes[shape]
    assert expand_classes(np.ones(169)).sum() == 1326
    best = np.argsort(-starting_equities())[:3]
    assert [class_name(int(kind)) for kind in best] == ["AA", "KK", "QQ"]


def test_impossible_cards_are_refused() -> None:
    with pytest.raises(MasqueradeError, match="both in the hand"):
        equity("As Kd", "As 2c 3d", rng=new_rng(0))
    with pytest.raises(MasqueradeError, match="2 different cards"):
        equity("As As", rng=new_rng(0))
    with pytest.raises(MasqueradeError, match="num_opponents"):
        equity("As Ks", num_opponents=0, rng=new_rng(0))
    with pytest.raises(MasqueradeError, match="1326 or 169"):
        equity_against("As Ks", [1.0, 2.0], rng=new_rng(0))
