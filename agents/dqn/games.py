"""The decisions of the network in many games at once, on their way to the replay.

Against others the learner has one seat, which changes from game to game; against itself it has all
of them, and ``learns_from`` says whether it learns from all or from that one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.dqn.experience import Experience
from agents.dqn.log import Log
from agents.dqn.replay import Replay
from agents.dqn.settings import ALL, DQNSettings
from agents.learning.fields import Inputs
from agents.learning.games import LearnerGames
from agents.learning.learner import State, Task, part

__all__ = ["DQNGames", "Decisions"]

Indices = npt.NDArray[np.int64]


class Decisions(NamedTuple):
    """Decisions that the network is to make, one in each of ``rows``."""

    rows: Indices
    slots: Indices
    """[n] row and seat in one number."""
    inputs: npt.NDArray[np.float32]
    masks: npt.NDArray[np.int8]
    is_own: npt.NDArray[np.bool_]
    """[n] whether it learns from the decision."""


class DQNGames:
    """``num_envs`` games in play.

    Args:
        task: the game, the seed and the opponents.
        settings: how many games, and what is learnt from.
        replay: where transitions go.
    """

    def __init__(self, task: Task, settings: DQNSettings, replay: Replay) -> None:
        """Set up the games; ``deal`` begins them."""
        game, size = task.game, settings.num_envs
        has_past = task.opponents is not None and task.opponents.has_past
        self._games = LearnerGames(task, size, settings.history - 1 if has_past else 0)
        self.batch = self._games.batch
        self._num_players = game.facts.num_players
        self._inputs = Inputs(game, settings.inputs)
        self._stake_power = settings.stake_power
        self._learns_from_all = settings.learns_from == ALL
        self._experience = Experience(
            replay,
            size * self._num_players,
            self._inputs.size,
            settings.history,
            settings.n_steps,
            settings.discount,
            settings.reward_scale,
        )

    # ---- the network's decisions -----------------------------------------------------------------

    def next_decisions(self, at_most: int) -> Decisions:
        """What the network is to decide now, with no more than ``at_most`` own decisions."""
        batch = self.batch
        rows, seats = np.arange(batch.size), batch.turns.copy()
        is_own = (seats == self._games.seats) | self._learns_from_all
        if np.count_nonzero(is_own) > at_most:
            has_room = np.cumsum(is_own) <= at_most
            rows, seats, is_own = rows[has_room], seats[has_room], is_own[has_room]
        observations, masks = batch.observe(rows, seats)
        slots = rows * self._num_players + seats
        inputs = self._experience.see(slots, self._inputs.of(observations))
        decisions = Decisions(rows, slots, inputs, masks, is_own)
        own = _own(decisions)
        units = self._units(own.rows)
        self._experience.close(own.slots, own.inputs, own.masks, self._totals(own.slots), units)
        return decisions

    def play(self, decisions: Decisions, actions: Indices) -> int:
        """Play what the network has decided; how many of these were own decisions."""
        own = _own(decisions)
        chosen = actions[decisions.is_own]
        self._experience.open(own.slots, own.inputs, chosen, self._units(own.rows))
        self._games.rollouts.step(decisions.rows, actions)
        return len(own.rows)

    def _units(self, rows: Indices) -> npt.NDArray[np.float64] | None:
        """[n] what a value of 1 stands for in the decisions that are due; ``None``: itself."""
        return self.batch.stakes(rows) ** self._stake_power if self._stake_power else None

    def _totals(self, slots: Indices) -> npt.NDArray[np.float64]:
        return self.batch.totals.ravel()[slots]

    # ---- everybody else --------------------------------------------------------------------------

    def deal(self, log: Log) -> None:
        """Play on until the network is to move in every row: others move, new games begin."""
        self._games.deal(on_end=lambda rows: self._finish(rows, log))

    def _finish(self, rows: Indices, log: Log) -> None:
        """Games are over: close what waits in all their seats."""
        batch, players = self.batch, self._num_players
        log.note_games(batch.totals[rows, self._games.seats[rows]], batch.lengths[rows])
        slots = (rows[:, None] * players + np.arange(players)).ravel()
        self._experience.close_for_good(slots, self._totals(slots))
        self._experience.forget(slots)

    # ---- memory ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """All games in play."""
        state = self._games.state_dict()
        for name, array in self._experience.state_dict().items():
            state[f"experience.{name}"] = array
        return state

    def load_state_dict(self, state: State) -> None:
        """Go on with the games that ``state`` was taken from."""
        self._games.load_state_dict(state)
        self._experience.load_state_dict(part(state, "experience."))


def _own(decisions: Decisions) -> Decisions:
    if decisions.is_own.all():
        return decisions
    return Decisions._make(array[decisions.is_own] for array in decisions)
