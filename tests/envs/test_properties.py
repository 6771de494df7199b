"""Properties of every game, tried on games that hypothesis makes up.

A game is an option set and a list of numbers; each number picks one of the legal actions, chance
outcomes included. So a failure shrinks to few options and a short game.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.errors import IllegalActionError
from envs import make_game
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER
from envs.core.position import Position

few_examples = settings(
    derandomize=True,
    deadline=None,
    max_examples=100,
    # Plain Python, which this is run as too, is slow.
    suppress_health_check=[HealthCheck.too_slow],
)


# ---- games that are made up ----------------------------------------------------------------------


@st.composite
def liars_dice_options(draw: st.DrawFn) -> dict[str, Any]:
    """Any table of Liar's Dice, small ones first."""
    num_players = draw(st.integers(2, 6))
    dice = st.integers(1, 5)
    seats = st.integers(0, num_players - 1)
    return {
        "num_players": num_players,
        "dice": draw(dice | st.lists(dice, min_size=num_players, max_size=num_players)),
        "faces": draw(st.integers(2, 6)),
        "wild": draw(st.sampled_from(["none", "ones", "ones_unbiddable", "highest"])),
        "raising": draw(st.sampled_from(["never_lower", "count_first", "face_first"])),
        "single_round": draw(st.sampled_from([False, False, True])),
        "first_player": draw(seats | st.sampled_from(["random", "alternate"])),
        "starter_after_elimination": draw(st.sampled_from(["next", "winner"])),
        "rewards": draw(st.sampled_from(["winner", "dice"])),
    }


def games() -> st.SearchStrategy[Game]:
    """Any game with any options."""
    poker_options = st.fixed_dictionaries({"num_players": st.integers(2, 5)})
    return st.one_of(
        liars_dice_options().map(lambda options: make_game("liars_dice_v0", **options)),
        poker_options.map(lambda options: make_game("kuhn_v0", **options)),
        poker_options.map(lambda options: make_game("leduc_v0", **options)),
    )


numbers = st.integers(0, 5)
# All lengths are equally likely; left alone, hypothesis hardly ever reaches a second round.
choices = st.integers(0, 100).flatmap(
    lambda length: st.lists(st.integers(0, 200), min_size=length, max_size=length)
)


def positions(game: Game, number: int, picks: list[int]) -> Iterator[Position]:
    """Every position on the way, the first and the last one included."""
    position = game.new_position(number)
    yield position
    for pick in picks:
        legal = position.legal_actions()
        if not legal:
            return
        position.apply(legal[pick % len(legal)])
        yield position


def last_position(game: Game, number: int, picks: list[int]) -> Position:
    """Where the choices lead."""
    *_, position = positions(game, number, picks)
    return position


def content(position: Position) -> tuple[Any, ...]:
    """All that a position consists of."""
    return position.game, position.number, tuple(position.history), position.state.tobytes()


# ---- one position --------------------------------------------------------------------------------


@few_examples
@given(games(), numbers, choices)
def test_legal_actions_are_sorted_unique_and_never_missing(
    game: Game, number: int, picks: list[int]
) -> None:
    for position in positions(game, number, picks):
        legal = position.legal_actions()
        assert legal == sorted(set(legal))
        assert bool(legal) == (position.turn != OVER)
        size = game.facts.num_chance_outcomes if position.is_chance else game.facts.num_actions
        assert all(0 <= action < size for action in legal)
        assert np.flatnonzero(position.mask()).tolist() == legal
        assert position.turn in {CHANCE, OVER, *range(game.facts.num_players)}


@few_examples
@given(games(), numbers, choices)
def test_chance_outcomes_are_a_distribution_over_what_is_legal(
    game: Game, number: int, picks: list[int]
) -> None:
    for position in positions(game, number, picks):
        if position.is_chance:
            outcomes, probs = zip(*position.chance_outcomes(), strict=True)
            assert list(outcomes) == position.legal_actions()
            assert min(probs) > 0.0
            assert sum(probs) == pytest.approx(1.0)


@few_examples
@given(games(), numbers, choices)
def test_an_illegal_action_is_refused_and_changes_nothing(
    game: Game, number: int, picks: list[int]
) -> None:
    for position in positions(game, number, picks):
        before, legal = content(position), position.legal_actions()
        illegal = [action for action in range(game.mask_size) if action not in legal]
        for action in {-1, *illegal[:1], *illegal[-1:], game.mask_size}:
            with pytest.raises(IllegalActionError, match=f"action {action} "):
                position.apply(action)
            assert content(position) == before


@few_examples
@given(games(), numbers, choices)
def test_observations_are_shares_of_one_in_the_declared_pieces(
    game: Game, number: int, picks: list[int]
) -> None:
    for position in positions(game, number, picks):
        for player in range(game.facts.num_players):
            observation = position.observation(player)
            assert observation.shape == (game.observation_size,)
            assert observation.min() >= 0.0
            assert observation.max() <= 1.0
            sizes = [len(part) for part in game.observation_fields(observation).values()]
            assert sizes == [piece.size for piece in game.fields]


@few_examples
@given(games(), numbers, choices)
def test_conserved_amounts_never_change(game: Game, number: int, picks: list[int]) -> None:
    amounts = game.conserved(game.new_position(number).state)
    for position in positions(game, number, picks):
        assert game.conserved(position.state) == amounts


# ---- copies, logs, files -------------------------------------------------------------------------


@few_examples
@given(games(), numbers, choices)
def test_a_copy_is_equal_and_goes_its_own_way(game: Game, number: int, picks: list[int]) -> None:
    for position in positions(game, number, picks):
        before, twin = content(position), position.copy()
        assert content(twin) == before
        if not position.is_over:
            twin.apply(twin.legal_actions()[-1])
            assert content(position) == before
            assert content(twin) != before


@few_examples
@given(games(), numbers, choices)
def test_the_log_leads_to_the_same_state(game: Game, number: int, picks: list[int]) -> None:
    played = [position.copy() for position in positions(game, number, picks)]
    replayed = game.new_position(number)
    for action, position in zip(played[-1].history, played, strict=False):
        assert content(replayed) == content(position)
        replayed.apply(action)
    assert content(replayed) == content(played[-1])
    assert content(game.replay(played[-1].history, number)) == content(played[-1])
    for player in range(game.facts.num_players):
        assert replayed.key(player) == played[-1].key(player)


@few_examples
@given(games(), numbers, choices)
def test_a_saved_position_is_loaded_whole(game: Game, number: int, picks: list[int]) -> None:
    position = last_position(game, number, picks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "position.json"
        position.save(path)
        assert content(Position.load(path, game)) == content(position)
        assert list(Path(folder).iterdir()) == [path]


# ---- to the end ----------------------------------------------------------------------------------


@few_examples
@given(games(), numbers, choices)
def test_games_end_in_time_with_returns_in_bounds_that_add_up(
    game: Game, number: int, picks: list[int]
) -> None:
    position = last_position(game, number, picks)
    while not position.is_over:
        assert len(position.history) < game.facts.max_length
        # The last action is the call in Liar's Dice, and the raise or call in poker.
        position.apply(position.legal_actions()[-1])
    assert len(position.history) <= game.facts.max_length
    returns = position.returns()
    assert returns.min() >= game.facts.min_return - 1e-9
    assert returns.max() <= game.facts.max_return + 1e-9
    assert returns.sum() == pytest.approx(game.facts.return_sum, abs=1e-9)
