"""Matches: the same for any batch size, every game accounted for, agents served in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Agent, RowsFailed, Views
from arena.match import play_match
from common.errors import IllegalActionError, UnknownNameError
from envs import make_game
from envs.core.engine import random_playouts
from envs.core.game import Game
from envs.core.rng import new_rng
from tests.support.option_sets import every_option_set
from tests.support.sampling import IS_FULL


class Spy(Agent):
    """A random player that notes how many rows each call brought."""

    wants_tokens = True

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.calls: list[int] = []
        self._random = make_agent("random", game)

    def act(self, views: Views) -> Any:
        self.calls.append(len(views))
        assert len(views.tokens(0)) >= 1
        return self._random.act(views)


@every_option_set
def test_the_result_does_not_depend_on_the_batch_size_or_the_pieces(game: Game) -> None:
    seats = [make_agent("random", game)] * game.facts.num_players
    whole = play_match(game, seats, 60, seed=3)
    small = play_match(game, seats, 60, seed=3, batch_size=7)
    first, rest = (
        play_match(game, seats, 25, seed=3),
        play_match(game, seats, 35, seed=3, first_game=25),
    )
    assert (whole.returns == small.returns).all()
    assert (whole.lengths == small.lengths).all()
    assert (whole.returns == np.concatenate([first.returns, rest.returns])).all()
    assert (play_match(game, seats, 60, seed=4).returns != whole.returns).any()


@every_option_set
def test_random_agents_agree_with_compiled_random_playouts(game: Game) -> None:
    seats = [make_agent("random", game)] * game.facts.num_players
    match = play_match(game, seats, 2000 if IS_FULL else 400, seed=0)
    playouts = random_playouts(game, 20_000 if IS_FULL else 4000, new_rng(1))
    error = match.half_widths / 1.96 + playouts.standard_errors
    if game.facts.num_openings == 1:  # playouts always start from the first opening
        assert (abs(match.mean_returns - playouts.mean_returns) < 5 * error).all()
    assert match.lengths.max() <= game.facts.max_length


def test_an_agent_in_several_seats_is_asked_once_a_turn_for_all_its_rows() -> None:
    game = make_game("kuhn_v0")
    spy = Spy(game)
    play_match(game, [spy, spy], 50)
    assert spy.calls[0] == 50
    assert len(spy.calls) <= 3


def test_progress_counts_every_game_once() -> None:
    game = make_game("liars_dice_v0", dice=1)
    ended: list[int] = []
    player = make_agent("random", game)
    play_match(game, [player, player], 100, batch_size=16, on_progress=ended.append)
    assert sum(ended) == 100


class Stubborn(Agent):
    """Always folds, legal or not."""

    def act(self, views: Views) -> Any:
        return np.zeros(len(views), np.int64)


def test_an_illegal_action_of_an_agent_is_named() -> None:
    game = make_game("leduc_v0")
    with pytest.raises(
        IllegalActionError, match=r"row 0: action 0 is not legal here: choose from 1 \(call\)"
    ):
        play_match(game, [Stubborn(game), Stubborn(game)], 10)


def test_wrong_numbers_are_refused() -> None:
    game = make_game("kuhn_v0")
    player = make_agent("random", game)
    with pytest.raises(ValueError, match="has 2 seats"):
        play_match(game, [player], 10)
    with pytest.raises(ValueError, match="at least 1"):
        play_match(game, [player, player], 0)
    with pytest.raises(UnknownNameError, match="did you mean 'random'"):
        make_agent("randon", game)


def test_one_game_has_no_interval() -> None:
    game = make_game("kuhn_v0")
    player = make_agent("random", game)
    assert np.isinf(play_match(game, [player, player], 1).half_widths).all()


class Flawed(Agent):
    """A random player that fails in games whose key says so."""

    def __init__(self, game: Game, fault: str) -> None:
        super().__init__(game)
        self.fault = fault
        self._random = make_agent("random", game)

    def act(self, views: Views) -> Any:
        is_bad = views.keys % 5 == 0
        if self.fault == "raises" and is_bad.any():
            raise RuntimeError("out of cheese")
        if self.fault == "floats":
            return self._random.act(views) + 0.5
        return np.where(is_bad, 99 if self.fault == "out of range" else 0, self._random.act(views))


@pytest.mark.parametrize("fault", ["raises", "illegal", "out of range"])
def test_a_mistake_costs_the_agent_that_game_and_no_other(fault: str) -> None:
    game = make_game("leduc_v0")
    honest = make_agent("random", game)
    clean = play_match(game, [honest, honest], 200, seed=1)
    result = play_match(game, [honest, Flawed(game, fault)], 200, seed=1, has_forfeits=True)
    lost = {f.game for f in result.faults}
    assert 0 < len(lost) == len(result.faults) < 200
    assert all(f.seat == 1 for f in result.faults)
    for number in range(200):
        if number in lost:
            assert result.returns[number].tolist() == [13.0, -13.0]
    small = play_match(
        game, [honest, Flawed(game, fault)], 200, seed=1, has_forfeits=True, batch_size=7
    )
    assert (small.returns == result.returns).all()
    # In games without a mistake the flawed player draws and plays just like the honest one.
    same = [n for n in range(200) if n not in lost]
    if fault != "illegal":  # folding is sometimes legal, and then it is played
        assert (result.returns[same] == clean.returns[same]).all()


def test_an_agent_that_always_fails_loses_every_game() -> None:
    game = make_game("kuhn_v0")
    honest = make_agent("random", game)
    result = play_match(game, [Flawed(game, "floats"), honest], 20, has_forfeits=True)
    assert len(result.faults) == 20
    assert "whole numbers expected" in result.faults[0].reason
    assert (result.returns == [-2.0, 2.0]).all()


def test_without_forfeits_a_mistake_stops_the_match() -> None:
    game = make_game("leduc_v0")
    with pytest.raises(RuntimeError, match="out of cheese"):
        play_match(game, [Flawed(game, "raises")] * 2, 200)


class HalfSure(Agent):
    """A random player that says for itself in which rows it has no answer, and what the rest is."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.calls: list[int] = []
        self.matches = 0
        self._random = make_agent("random", game)

    def begin_match(self) -> None:
        self.matches += 1

    def act(self, views: Views) -> Any:
        self.calls.append(len(views))
        actions = self._random.act(views)
        bad = np.flatnonzero(views.keys % 5 == 0)
        if len(bad):
            raise RowsFailed(actions, {int(row): "no idea" for row in bad})
        return actions


def test_rows_that_an_agent_says_it_failed_in_are_lost_and_the_others_are_not_asked_again() -> None:
    game = make_game("leduc_v0")
    honest = make_agent("random", game)
    clean = play_match(game, [honest, honest], 200, seed=1)
    agent = HalfSure(game)
    result = play_match(game, [honest, agent], 200, seed=1, has_forfeits=True)
    lost = sorted({f.game for f in result.faults})
    assert 0 < len(lost) == len(result.faults) < 200
    assert {(f.seat, f.reason) for f in result.faults} == {(1, "no idea")}
    assert (result.returns[lost] == [13.0, -13.0]).all()
    same = [n for n in range(200) if n not in lost]
    assert (result.returns[same] == clean.returns[same]).all()
    decisions = sum(agent.calls)
    agent.calls.clear()
    play_match(game, [honest, agent], 200, seed=1, has_forfeits=True, batch_size=1)
    assert decisions == sum(agent.calls), "no row is asked twice"
    assert agent.matches == 2
    with pytest.raises(ValueError, match=r"\d+ of 200 rows failed, the first: no idea"):
        play_match(game, [agent, honest], 200)
