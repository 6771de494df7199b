"""What can be proved about No Thanks!, tested on random games and on the contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test

from envs.adapters.aec import GameEnv
from envs.core.checking import check_game
from envs.core.position import Position
from envs.no_thanks import NoThanks
from tests.support.sampling import IS_FULL

PAY, TAKE = 0, 1
VARIANTS: list[dict[str, Any]] = [
    {"preset": "known_future"},
    {"preset": "official"},
    {"preset": "small"},
    {"preset": "always_pay"},
    {"preset": "always_take"},
    {"num_players": 7, "returns": "win"},
    {"num_players": 6, "returns": "place", "removed": 0},
    {"highest": 5, "removed": 1, "chips": 1},
    {"highest": 5, "removed": 1, "chips": 1, "known_future": True, "returns": "place"},
    {"lowest": -3, "highest": 9, "removed": 2, "chips": "unlimited", "cap": True},
]


def random_games(game: NoThanks, num_games: int, seed: int) -> Iterator[list[Position]]:
    """All positions of games in which each player pays with a probability of his own."""
    rng = np.random.default_rng(seed)
    for _ in range(num_games):
        position = game.deal(rng.permutation(game.options.values).tolist())
        pays = rng.random(game.options.num_players) ** 0.2
        positions = [position.copy()]
        while not position.is_over:
            can_pay = PAY in position.legal_actions()
            position.apply(PAY if can_pay and rng.random() < pays[position.turn] else TAKE)
            positions.append(position.copy())
        yield positions


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_variant_keeps_the_contract(options: dict[str, Any]) -> None:
    game = NoThanks(**options)
    report = check_game(game, num_games=None if IS_FULL else 4)
    assert report.has_hidden_information != game.options.known_future


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_pettingzoo_accepts_every_variant(options: dict[str, Any]) -> None:
    game = NoThanks(**options)
    api_test(GameEnv(game), num_cycles=200)
    seed_test(lambda: GameEnv(game), num_cycles=50)


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(3, 36)), st.lists(st.booleans(), max_size=300))
def test_all_scores_together_never_exceed_thirty(deck: list[int], pays: list[bool]) -> None:
    game = NoThanks()
    position = game.deal(deck[:24])
    for wants_to_pay in [*pays, *[False] * 24]:
        if position.is_over:
            break
        position.apply(PAY if wants_to_pay and PAY in position.legal_actions() else TAKE)
    assert position.is_over
    assert -531 <= position.returns().sum() <= 30


def test_a_total_of_thirty_is_reached_by_one_player_taking_the_run_from_three_on() -> None:
    deck = list(range(3, 27))
    for start, scores in (([], [8, 11, 11]), ([PAY, PAY], [10, 10, 10])):
        position = NoThanks().deal(deck)
        for action in [*start, *[TAKE] * 24]:
            position.apply(action)
        assert position.returns().tolist() == scores
        assert position.returns().sum() == 30


def test_a_game_has_24_to_816_moves() -> None:
    game = NoThanks()
    assert game.facts.max_length == 24 + 24 * 34
    for positions in random_games(game, 60, seed=1):
        assert 24 <= len(positions) - 1 <= 816
        states = {position.state.tobytes() for position in positions}
        assert len(states) == len(positions), "a state never comes again"


@pytest.mark.parametrize("chips", [1, 2, 11])
def test_nobody_is_forced_to_take_twice_in_a_row(chips: int) -> None:
    """Who is forced has been paid for: there is a chip on the card, or he has one."""
    for positions in random_games(NoThanks(chips=chips), 60, seed=chips):
        forced = []
        for position in positions[:-1]:
            s = position.game.record(position.state)
            assert s.chips[s.to_move] + s.pot >= 1
            forced.append(position.legal_actions() == [TAKE])
        movers = [position.turn for position in positions[:-1]]
        for i in range(1, len(forced)):
            assert not (forced[i] and forced[i - 1] and movers[i] == movers[i - 1])


def test_chips_and_cards_are_conserved() -> None:
    game = NoThanks(num_players=5)
    for positions in random_games(game, 20, seed=5):
        for position in positions:
            amounts = game.conserved(position.state)
            assert amounts.pop("chips") == 55
            assert not any(amounts.values())


def test_the_invariant_catches_a_position_that_play_never_reaches() -> None:
    position = NoThanks().deal([20])
    position.game.record(position.state).chips[0] = 0
    assert position.game.conserved(position.state)["players without a choice for ever"] == 1


def nodes_and_leaves(position: Position) -> tuple[int, int]:
    if position.is_over:
        return 1, 1
    nodes, leaves = 1, 0
    for action in position.legal_actions():
        child = position.copy()
        child.apply(action)
        below = nodes_and_leaves(child)
        nodes, leaves = nodes + below[0], leaves + below[1]
    return nodes, leaves


@pytest.mark.parametrize(
    ("chips", "sizes"),
    [
        (1, [(8, 4), (26, 11), (69, 27), (176, 67)]),
        (2, [(14, 7), (67, 30), (247, 105), (856, 357)]),
        (6, [(38, 19), (411, 196)]),
        (11, [(68, 34), (1246, 606)]),
    ],
)
def test_trees_have_the_size_they_should(chips: int, sizes: list[tuple[int, int]]) -> None:
    for num_cards, size in enumerate(sizes, start=1):
        game = NoThanks(highest=2 + num_cards, removed=0, chips=chips, known_future=True)
        assert nodes_and_leaves(game.deal(list(range(3, 3 + num_cards)))) == size
