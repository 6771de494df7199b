"""What the benchmark of pursuits measures: both sides count the moves of whole games."""

from __future__ import annotations

import numpy as np

from benchmarks import pursuit_speed
from benchmarks.pursuit_speed import random_game
from envs.pursuit.tables import named_board


def test_both_sides_play_games_of_the_same_length() -> None:
    rng = np.random.default_rng(1)
    board = named_board("city")
    plain = [pursuit_speed.num_moves(random_game(board, 5, rng)) for _ in range(60)]
    ours = pursuit_speed.our_games(pursuit_speed.city())
    mean = sum(ours() for _ in range(20)) / (20 * pursuit_speed.NUM_GAMES)
    error = np.std(plain) / np.sqrt(len(plain))
    assert abs(np.mean(plain) - mean) < 4 * error


def test_the_goal_is_200_times_plain_python() -> None:
    targets = {job.name: job.target for job in pursuit_speed.JOBS}
    assert targets["random_play"] == 200.0
