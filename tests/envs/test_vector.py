"""Vectors of games: the same games as one at a time, automatic reset, the learner's seat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from common.errors import IllegalActionError, OptionError
from envs import make_game
from envs.adapters import SeatVectorEnv, VectorEnv
from envs.core.batch import random_actions
from envs.core.game import Game
from envs.core.rng import new_rng, seed_stream, stream
from tests.support.option_sets import every_option_set

ROWS = 5
STEPS = 60


def row_generators(count: int) -> Any:
    return np.stack([new_rng(i) for i in range(count)])


@every_option_set
def test_every_row_plays_the_very_games_of_its_numbers(game: Game) -> None:
    """Row i plays games i, i + n, i + 2n ...: each is compared with a checked position."""
    env = VectorEnv(game, ROWS)
    shown = env.reset(seed=3)
    chance, generators = stream(3, "chance"), row_generators(ROWS)
    numbers = list(range(ROWS))
    positions, rngs = [], []

    def begin(number: int) -> tuple[Any, Any]:
        rng = np.empty(4, np.uint64)
        seed_stream(chance, number, rng)
        position = game.new_position(number)
        position.play_chance(rng)
        return position, rng

    for number in numbers:
        position, rng = begin(number)
        positions.append(position)
        rngs.append(rng)
    for _ in range(STEPS):
        for row, position in enumerate(positions):
            assert shown.seats[row] == position.turn
            assert (shown.observations[row] == position.observation(position.turn)).all()
            assert np.flatnonzero(shown.masks[row]).tolist() == position.legal_actions()
        actions = random_actions(shown.masks, generators)
        before = [position.returns() for position in positions]
        shown = env.step(actions)
        for row in range(ROWS):
            positions[row].apply(int(actions[row]))
            positions[row].play_chance(rngs[row])
            assert shown.dones[row] == positions[row].is_over
            np.testing.assert_allclose(shown.rewards[row], positions[row].returns() - before[row])
            if positions[row].is_over:
                numbers[row] += ROWS
                positions[row], rngs[row] = begin(numbers[row])


def test_one_illegal_action_stops_the_whole_step() -> None:
    env = VectorEnv(make_game("leduc_v0"), 3)
    before = env.reset(seed=0)
    with pytest.raises(
        IllegalActionError, match="row 1: action 0 is not legal here: choose from 1, 2"
    ):
        env.step([1, 0, 1])
    after = env.step([1, 1, 1])
    assert (before.seats == 0).all()
    assert (after.seats == 1).all()


@pytest.mark.parametrize("actions", [[1, 1], [[1, 1, 1]], [1, 1, -1], [1, 1, 99]])
def test_a_wrong_number_of_actions_or_one_out_of_range_is_refused(actions: Any) -> None:
    env = VectorEnv(make_game("leduc_v0"), 3)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"3 actions|negative|not legal"):
        env.step(actions)


def test_step_before_reset_and_no_rows_are_refused() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        VectorEnv(make_game("kuhn_v0"), 2).step([0, 0])
    with pytest.raises(ValueError, match="at least 1"):
        VectorEnv(make_game("kuhn_v0"), 0)


def test_copies_stay_as_they_were_and_shared_arrays_do_not() -> None:
    for has_copies in (True, False):
        env = VectorEnv(make_game("kuhn_v0"), 4, has_copies=has_copies)
        first = env.reset(seed=0)
        kept = first.observations.copy()
        env.step([1, 1, 1, 1])
        assert (first.observations == kept).all() == has_copies


# ---- the learner's seat --------------------------------------------------------------------------


@every_option_set
@pytest.mark.parametrize("seat", ["first", "last", "rotate"])
def test_the_learner_is_paid_everything_until_the_end(game: Game, seat: int | str) -> None:
    seat = {"first": 0, "last": game.facts.num_players - 1}.get(str(seat), seat)
    env = SeatVectorEnv(game, 16, seat=seat)
    _, infos = env.reset(seed=1)
    generators = row_generators(16)
    paid, num_ended = np.zeros(16), 0
    bounds = game.facts.min_return - 1e-9, game.facts.max_return + 1e-9
    for _ in range(150):
        seats = infos["seat"]
        if seat != "rotate":
            assert (seats == seat).all()
        assert infos["action_mask"].any(axis=1).all(), (
            "the learner is only asked when it has a choice"
        )
        actions = random_actions(infos["action_mask"], generators)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert observations in env.observation_space
        assert not truncated.any()
        paid += rewards
        if terminated.any():
            assert (infos["_final_obs"] == terminated).all()
            assert infos["final_obs"].shape == observations.shape
            assert (paid[terminated] >= bounds[0]).all()
            assert (paid[terminated] <= bounds[1]).all()
            paid[terminated] = 0.0
            num_ended += int(terminated.sum())
    assert num_ended > 0


def test_random_against_random_is_zero_sum_over_the_two_seats() -> None:
    """What seat 0 wins with a policy, seat 1 loses with the same policy."""
    game = make_game("kuhn_v0")
    totals = []
    for seat in (0, 1):
        env = SeatVectorEnv(game, 2000, seat=seat)
        _, infos = env.reset(seed=7)
        generators, total, alive = row_generators(2000), np.zeros(2000), np.ones(2000, np.bool_)
        while alive.any():
            _, rewards, over, _, infos = env.step(random_actions(infos["action_mask"], generators))
            total += np.where(alive, rewards, 0.0)
            alive &= ~over
        totals.append(total)
    error = np.sqrt(sum(t.var() / 2000 for t in totals))
    assert abs(totals[0].mean() + totals[1].mean()) < 5 * error


def test_the_same_seed_gives_the_same_games_against_agents() -> None:
    game = make_game("liars_dice_v0", num_players=3, dice=2)
    logs = []
    for _ in range(2):
        env = SeatVectorEnv(game, 8, seat="rotate", opponents=[make_agent("random", game)] * 2)
        _, infos = env.reset(seed=5)
        generators, log = row_generators(8), []
        for _ in range(40):
            observations, rewards, *_, infos = env.step(
                random_actions(infos["action_mask"], generators)
            )
            log.append((observations.tolist(), rewards.tolist()))
        logs.append(log)
    assert logs[0] == logs[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 2}, "from 0 to 1, 'rotate' or a role"),
        ({"seat": "any"}, "from 0 to 1, 'rotate' or a role"),
        ({"opponents": [None, None]}, "1 other seats: give one opponent for each, not 2"),
    ],
)
def test_impossible_seats_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SeatVectorEnv(make_game("kuhn_v0"), 2, **arguments)
