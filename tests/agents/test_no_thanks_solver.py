"""Known decks of No Thanks! solved round by round: the values of plain search, and limits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents.games.no_thanks.solver import MARGIN, NoThanksSolver, Solution, SolverSettings
from agents.max_n import Searcher, SearchSettings
from common.errors import OptionError
from envs.core.position import Position
from envs.no_thanks import NoThanks
from tests.support.no_thanks_decks import PAY, TAKE, small

TIES = {"take": "high", "pay": "low", "average": "average"}


def solve(position: Position, **settings: Any) -> Solution:
    chosen = SolverSettings(**{"table_bits": 16, **settings})
    return NoThanksSolver(position.game, chosen).solve(position.state)  # type: ignore[arg-type]


def plain(position: Position, ties: str, **more: Any) -> tuple[float, ...]:
    settings = SearchSettings(table_bits=16, pruning="none", ties=TIES[ties], **more)
    return Searcher(position.game, settings).search(position.state).values


def random_positions(number: int, seed: int, **options: Any) -> Iterator[Position]:
    """Starts and middles of games, some with chips on the card."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        deck = rng.permutation(np.arange(3, 15))[: rng.integers(3, 6)].tolist()
        position = small(*deck, chips=int(rng.choice([1, 2, 4])), **options)
        for _ in range(rng.integers(4)):
            if not position.is_over:
                position.apply(int(rng.choice(position.legal_actions())))
        yield position


@pytest.mark.parametrize(
    ("deck", "chips", "take", "pay", "mean"),
    [
        ([3], 1, (0, 0, 0), None, None),
        ([3], 2, (1, 1, 1), None, None),
        ([5], 6, (4, 4, 5), None, None),
        ([3, 4], 2, (-1, -1, 1), None, None),
        ([5, 6], 3, (1, 1, 2), None, None),
        ([10, 12, 11], 6, (2, 2, 4), None, None),
        ([3, 6, 4], 3, (-1, 1, 0), (-1, 0, 1), (-1, 0.5, 0.5)),
        ([6, 3, 5], 3, (1, 0, 0), (0, 1, 0), (0.5, 0.5, 0)),
        ([35, 34, 33], 11, (0, 0, 0), (0, -1, 1), (0, -0.25, 0.25)),
        ([20, 22, 21, 5], 6, (-14, -14, 0), None, None),
        ([7, 14, 8, 13], 6, (-2, 0, 0), None, None),
    ],
)
def test_small_decks_have_known_values(
    deck: list[int], chips: int, take: Any, pay: Any, mean: Any
) -> None:
    position = small(*deck, chips=chips)
    for ties, value in (("take", take), ("pay", pay or take), ("average", mean or take)):
        assert solve(position, ties=ties).values == value


@pytest.mark.parametrize(
    ("deck", "take", "pay", "mean"),
    [
        ([3, 6, 4], (-2, -2, 0), (-2, -2, 0), (-2, -2, 0)),
        ([6, 3, 5], (-1, 1, 1), (-3, -2, 0), (-11 / 8, 9 / 16, 11 / 16)),
    ],
)
def test_the_cap_changes_values(deck: list[int], take: Any, pay: Any, mean: Any) -> None:
    for ties, value in (("take", take), ("pay", pay), ("average", mean)):
        assert solve(small(*deck), ties=ties, cap=True).values == value
        assert solve(small(*deck, cap=True), ties=ties).values == value


@pytest.mark.parametrize("ties", list(TIES))
@pytest.mark.parametrize("cap", [False, True])
def test_values_are_those_of_plain_search(ties: str, cap: bool) -> None:
    num_prunings = 0
    for position in random_positions(350, seed=1):
        found = solve(position, ties=ties, cap=cap)
        assert found.values == plain(position, ties, assumed={"cap": cap})
        num_prunings += found.counters["prunings"]
    assert (num_prunings > 100) == (ties != "average")


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 4},
        {"num_players": 7},
        {"card_step": 2, "chips": "unlimited", "cap": True, "highest": 9, "removed": 0},
        {"lowest": -2, "highest": 3, "removed": 1, "chips": 2},
    ],
)
def test_every_variant_is_solved(options: dict[str, Any]) -> None:
    chosen = {"highest": 7, "removed": 1, "chips": 1, "known_future": True, **options}
    game = NoThanks(**chosen)
    rng = np.random.default_rng(0)
    for _ in range(4):
        position = game.deal(rng.permutation(game.options.values).tolist())
        for ties in TIES:
            assert solve(position, ties=ties).values == plain(position, ties)


def test_by_return_results_are_places_from_the_middle_with_a_trace_of_margin() -> None:
    for position in random_positions(40, seed=2):
        scores = np.array(solve(position).values)
        places = np.sign(scores[:, None] - scores[None, :]).sum(axis=1) / 2
        margins = MARGIN * (3 * scores - scores.sum())
        found = solve(position, preference="return").values
        assert found == pytest.approx((places + margins).tolist(), abs=1e-12)


def test_what_a_solver_remembers_stays_true() -> None:
    for position in random_positions(10, seed=3):
        warm = NoThanksSolver(position.game, SolverSettings(table_bits=14))  # type: ignore[arg-type]
        rng = np.random.default_rng(4)
        below = position.copy()
        while not below.is_over:
            again, once = warm.solve(below.state), solve(below)
            assert (again.values, again.action, again.branches) == (
                once.values,
                once.action,
                once.branches,
            )
            below.apply(int(rng.choice(below.legal_actions())))


def test_branches_are_what_the_moves_lead_to() -> None:
    for position in random_positions(25, seed=5):
        if position.is_over:
            continue
        found = solve(position)
        assert sorted(found.branches) == position.legal_actions()
        for action, values in found.branches.items():
            child = position.copy()
            child.apply(action)
            assert solve(child).values == values
        assert found.branches[found.action] == found.values


def test_a_table_too_small_loses_positions_and_no_truth() -> None:
    for position in random_positions(10, seed=6):
        assert len({solve(position, table_bits=bits).values for bits in (1, 4, 16)}) == 1


@pytest.mark.parametrize(
    ("chips", "num_cards", "states"),
    [*[(6, 1, 19), (6, 2, 215), (6, 3, 1350), (6, 4, 6557)], *[(11, 2, 640), (11, 3, 6185)]],
)
def test_every_decision_but_the_last_is_looked_at_once(
    chips: int, num_cards: int, states: int
) -> None:
    """With ties averaged nothing is cut, and nodes are the positions that can be told apart.

    The round of the last card, whose ends are the leaves, is quicker than a look into the table.
    """
    position = small(*range(3, 3 + num_cards), chips=chips)
    taken = [int(position.game.record(state).num_taken) for state in told_apart(position)]
    assert len(taken) == states
    counters = solve(position, ties="average").counters
    assert counters["nodes"] - counters["leaves"] == sum(n < num_cards - 1 for n in taken)


def told_apart(position: Position) -> list[npt.NDArray[np.uint8]]:
    """Every position with a decision that can come of this one, each once."""
    found, waiting = {position.state.tobytes()}, [position]
    while waiting:
        before = waiting.pop()
        for action in before.legal_actions():
            after = before.copy()
            after.apply(action)
            if not after.is_over and after.state.tobytes() not in found:
                found.add(after.state.tobytes())
                waiting.append(after)
    return [np.frombuffer(state, np.uint8) for state in found]


def test_a_search_gives_up_when_told_to() -> None:
    position = small(10, 20, 12, 30, 5, 8, 9, 16, chips=11)
    game = position.game
    ticks = itertools.count()
    solver = NoThanksSolver(game, clock=lambda: float(next(ticks)))  # type: ignore[arg-type]
    found = solver.solve(position.state, seconds=3.5)
    assert not found.is_complete
    assert (found.action, found.branches) == (-1, {})
    assert next(ticks) == 5


def test_a_game_that_is_over_has_a_result_and_no_move() -> None:
    position = small(3)
    position.apply(TAKE)
    found = solve(position)
    assert (found.action, found.values) == (-1, (0, 3, 3))


def test_who_cannot_pay_takes() -> None:
    position = small(9, 3, chips=1)
    for _ in range(3):
        position.apply(PAY)
    assert solve(position).branches.keys() == {TAKE}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ties": "coin"}, "ties must be 'take' or 'pay' or 'average'"),
        ({"preference": "glory"}, "preference must be 'return' or 'place'"),
        ({"table_bits": 40}, "table_bits must be a whole number from 1 to 26"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SolverSettings(**settings)
