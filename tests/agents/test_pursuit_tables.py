"""What table learners go by in a pursuit: keys at sightings, and what a sighting pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.pursuit.abstraction import SIGHTING, SIGHTINGS
from agents.learning.learner import Opponents, Task
from agents.tabular.learner import QLearning
from agents.tabular.model import TabularSettings
from envs import make_game
from envs.core.position import Position
from envs.core.rng import below, new_rng
from tests.support.pursuits import belief, play, record, started

LEVELS = np.array([1.0, -1.0, 0.1])


def keys_of(position: Position, player: int, state: Any = None) -> bytes:
    """The keys of all actions."""
    game = position.game
    keys = np.zeros(game.facts.num_actions, np.uint64)
    world = position.state if state is None else state
    SIGHTING.encode(world, game.rules, player, np.uint64(0), keys)
    assert (keys != 0).all()
    assert len(np.unique(keys)) == len(keys)
    return keys.tobytes()


def reward(before: Any, position: Position, player: int) -> float:
    """What a player gets between two states."""
    game = position.game
    return float(SIGHTINGS.function(before, position.state, game.rules, player, LEVELS))


def test_keys_of_detectives_are_the_same_in_every_world_they_cannot_tell_apart() -> None:
    game = make_game("phantom_v0", board="map_1")
    rng = new_rng(4)
    num_compared = 0
    while num_compared < 20:
        position = game.new_position()
        while not position.is_over:
            if position.turn == 1 and len(belief(position)) > 1:
                world = position.determinized(1, rng)
                assert keys_of(position, 1) == keys_of(position, 1, world)
                num_compared += 1
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])


def test_keys_tell_apart_what_the_thesis_tells_apart() -> None:
    """The same cells are three states, by how long ago he was seen; and who moves matters."""
    game: Any = make_game("scotland_yard_v0", "reduced")
    position = started(game, (0, 24), 12)
    found = {keys_of(position, 1)}
    play(position, 1)
    found.add(keys_of(position, 1))
    play(position, 23, 11, 0, 24, 12)
    assert [int(place) for place in record(position).place[:3]] == [12, 0, 24]
    found.add(keys_of(position, 1))
    assert len(found) == 3
    # The fugitive knows more than detectives do.
    world = position.state.copy()
    game.record(world).place[0] = 7
    assert keys_of(position, 0) != keys_of(position, 0, world)


def test_a_sighting_pays_by_distance_and_the_end_by_its_result() -> None:
    game: Any = make_game("scotland_yard_v0", "reduced")
    position = started(game, (0, 24), 12)
    before = position.state.copy()
    play(position, 1, 23, 11)
    assert reward(before, position, 1) == 0.0
    play(position, 0, 24, 12, 1, 23, 11)  # the third move of his shows him
    assert reward(before, position, 1) == pytest.approx(-0.2)
    assert reward(before, position, 0) == pytest.approx(0.2)
    position = started(game, (0, 24), 1)
    before = position.state.copy()
    play(position, 1)
    assert position.is_over
    assert reward(before, position, 1) == 1.0
    assert reward(before, position, 0) == -1.0


def test_detectives_learn_from_a_table_of_sightings() -> None:
    options = {"rows": 3, "columns": 3}
    game = make_game("scotland_yard_v0", "reduced", **options)
    anybody = make_agent("random", game)
    task = Task(game, seed=1, opponents=Opponents([anybody]), total=6000, role="detective")
    for reward_name in ("end", "sightings"):
        settings = TabularSettings(
            abstraction="sighting",
            exploration=0.2,
            discount=0.95,
            reward=reward_name,
            reward_levels=(1.0, -1.0, 0.01),
        )
        learner = QLearning(task, settings)
        first = learner.update(500)["charts/return"]
        learner.update(5000)
        last = learner.update(500)["charts/return"]
        assert last > max(first, 0.8)
