"""The games that learners play: who sits where, and learners of one role alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import LEARNERS, make_agent
from agents.base import Actions, Agent, Views
from agents.learning.files import save_state
from agents.learning.games import draw_seats
from agents.learning.learner import Learner, Opponents, Task
from common.errors import MasqueradeError
from common.imports import look_up
from envs.core.batch import random_actions
from envs.core.facts import Facts
from envs.core.game import Game
from envs.kuhn.game import Kuhn

LEARNER = Opponents.LEARNER
SMALL: dict[str, dict[str, Any]] = {
    "q_learning": {},
    "dqn": {"hidden": [8], "num_envs": 8, "learn_start": 16, "batch_size": 8},
    "sb3": {"hidden": [8], "num_envs": 4, "n_steps": 16, "batch_size": 16},
}


class TwoRoles(Kuhn):
    """Kuhn poker for three, one of whom has a role of its own."""

    def make_facts(self) -> Facts:
        facts = super().make_facts()
        one, *many = facts.seats
        seats = replace(one, role="one"), *(replace(seat, role="many") for seat in many)
        return replace(facts, seats=seats)


def two_roles() -> Game:
    return TwoRoles(num_players=3)


class OneRole(Agent):
    """Plays one role at random and notes its seats."""

    def __init__(self, game: Game, role: str) -> None:
        super().__init__(game)
        self.roles = (role,)
        self.seats: set[int] = set()

    def act(self, views: Views) -> Actions:
        self.seats.update(views.seats.tolist())
        return random_actions(views.masks, views.rngs)


def role_task(role: str, other: str) -> tuple[Task, OneRole]:
    game = two_roles()
    opponent = OneRole(game, other)
    return Task(game, 1, Opponents([opponent]), total=200, role=role), opponent


@pytest.mark.parametrize(
    ("role", "other", "expected"),
    [("one", "many", [[LEARNER, 0, 0]]), ("many", "one", [[0, LEARNER, LEARNER]])],
)
def test_a_role_is_played_in_its_seats_alone(role: str, other: str, expected: Any) -> None:
    task, _ = role_task(role, other)
    seats, places = draw_seats(task, np.arange(12))
    assert np.unique(places, axis=0).tolist() == expected
    assert set(seats.tolist()) == set(task.seats)


@pytest.mark.parametrize("opponents", [None, ["self"], ["past"]])
def test_a_role_is_not_learnt_from_the_other_side(opponents: list[Any] | None) -> None:
    others = None if opponents is None else Opponents(opponents)
    task = Task(two_roles(), opponents=others, role="one")
    with pytest.raises(MasqueradeError, match="'one' sits in no seat of another role: give"):
        draw_seats(task, np.arange(3))


@pytest.mark.parametrize("agent_id", SMALL)
@pytest.mark.parametrize(("role", "other"), [("one", "many"), ("many", "one")])
def test_learners_of_a_role_and_their_players_keep_to_it(
    agent_id: str, role: str, other: str, tmp_path: Path
) -> None:
    task, opponent = role_task(role, other)
    found = look_up("learner", LEARNERS, agent_id)
    learner: Learner = found(task, found.settings_class.parse(SMALL[agent_id]))
    learner.update(100)
    assert opponent.seats == set(range(3)) - set(task.seats)
    save_state(tmp_path / "player", task.game, learner.player_state(), agent=agent_id)
    loaded = make_agent(f"{agent_id}:{tmp_path / 'player'}", task.game)
    for player in (learner.player(), loaded):
        assert player.roles == (role,)
        assert [player.can_sit(seat) for seat in range(3)] == [s in task.seats for s in range(3)]
