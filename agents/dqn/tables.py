"""The games that a learner practises in: many at once, its opponents included.

Game *n* is dealt from (seed, *n*), and who is met in it depends on (seed, *n*) too. Against others
the learner has one seat, which changes from game to game; against itself it has all of them, and
``learns_from`` says whether it learns from all or from that one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.dqn.experience import Experience
from agents.dqn.log import Log
from agents.dqn.replay import Replay
from agents.dqn.settings import ALL, DQNSettings
from agents.learner import State, Task
from agents.opponents import Opponents
from envs.core.batch import Batch
from envs.core.errors import MasqueradeError
from envs.core.kernels import OVER
from envs.core.rng import stream

__all__ = ["Asked", "Tables"]

Indices = npt.NDArray[np.int64]

# Games that may end in all rows before the learner is asked anything.
MAX_DEALS = 1_000


class Asked(NamedTuple):
    """Decisions that the network is to make, one in each of ``rows``."""

    rows: Indices
    slots: Indices
    """[n] row and seat in one number."""
    inputs: npt.NDArray[np.float32]
    masks: npt.NDArray[np.int8]
    is_own: npt.NDArray[np.bool_]
    """[n] whether it learns from the decision."""


class Tables:
    """``num_envs`` games in play.

    Args:
        task: the game, the seed and the opponents.
        settings: how many games, and what is learnt from.
        replay: where transitions go.
    """

    def __init__(self, task: Task, settings: DQNSettings, replay: Replay) -> None:
        """Set up the tables; ``deal`` begins the games."""
        game, seed, size = task.game, task.seed, settings.num_envs
        self._opponents = task.opponents
        agents = task.opponents.agents if task.opponents else []
        has_past = task.opponents is not None and task.opponents.has_past
        has_record = any(agent.wants_tokens for agent in agents) or (
            has_past and settings.history > 1
        )
        self.batch = Batch(game, size, stream(seed, "chance"), stream(seed, "choice"), has_record)
        self._num_players = game.facts.num_players
        self._num_openings = len(game.openings)
        self._learns_from_all = settings.learns_from == ALL
        self._experience = Experience(
            replay,
            size * self._num_players,
            game.observation_size,
            settings.history,
            settings.n_steps,
            settings.discount,
            settings.reward_scale,
        )
        self._seats: Indices = np.zeros(size, np.int64)
        """[size] the learner's seat."""
        self._met: Indices = np.full(size, Opponents.LEARNER, np.int64)
        """[size] who has the other seats."""
        self._next_number = 0
        for agent in agents:
            agent.begin_match()

    # ---- the network's decisions -----------------------------------------------------------------

    def ask(self, at_most: int) -> Asked:
        """What the network is to decide now, with no more than ``at_most`` own decisions."""
        batch = self.batch
        rows, seats = np.arange(batch.size), batch.turns.copy()
        is_own = (seats == self._seats) | self._learns_from_all
        if np.count_nonzero(is_own) > at_most:
            has_room = np.cumsum(is_own) <= at_most
            rows, seats, is_own = rows[has_room], seats[has_room], is_own[has_room]
        observations, masks = batch.observe(rows, seats)
        slots = rows * self._num_players + seats
        inputs = self._experience.see(slots, observations)
        asked = Asked(rows, slots, inputs, masks, is_own)
        own = _own(asked)
        self._experience.close(own.slots, own.inputs, own.masks, self._totals(own.slots))
        return asked

    def play(self, asked: Asked, actions: Indices) -> int:
        """Play what the network has decided; how many of these were own decisions."""
        own = _own(asked)
        self._experience.open(own.slots, own.inputs, actions[asked.is_own])
        self.batch.step(asked.rows, actions)
        return len(own.rows)

    def _totals(self, slots: Indices) -> npt.NDArray[np.float64]:
        return self.batch.totals.ravel()[slots]

    # ---- the rest of the table -------------------------------------------------------------------

    def deal(self, log: Log) -> None:
        """Play on until the network is to move in every row: others move, new games begin."""
        batch = self.batch
        num_deals = 0
        if not self._next_number:
            self._begin(np.arange(batch.size))
        while True:
            over = np.flatnonzero(batch.turns == OVER)
            if len(over):
                self._finish(over, log)
                self._begin(over)
                num_deals += len(over)
                if num_deals > MAX_DEALS * batch.size:
                    raise MasqueradeError(
                        f"the learner was never asked in {num_deals} games of {batch.game!r}"
                    )
                continue
            is_others = (self._met != Opponents.LEARNER) & (batch.turns != self._seats)
            waiting = np.flatnonzero(is_others)
            if not len(waiting):
                return
            self._let_others_play(waiting)

    def _let_others_play(self, waiting: Indices) -> None:
        """Rows that wait for the same agent go to it in one call, whatever its seats."""
        assert self._opponents is not None
        agents, met = self._opponents.agents, self._met[waiting]
        for place in np.unique(met):
            rows = waiting[met == place]
            views = self.batch.views(rows)
            self.batch.step(rows, agents[place].act(views))
            self.batch.keep_draws(rows, views)

    def _begin(self, rows: Indices) -> None:
        numbers = self._next_number + np.arange(len(rows))
        self._next_number += len(rows)
        self.batch.begin(rows, numbers)
        # Whoever opens changes from game to game as well, and must not always be the learner.
        self._seats[rows] = numbers // self._num_openings % self._num_players
        if self._opponents is not None:
            self._met[rows] = self._opponents.draw(numbers)

    def _finish(self, rows: Indices, log: Log) -> None:
        """Games are over: close what waits in all their seats."""
        batch, players = self.batch, self._num_players
        log.note_games(batch.totals[rows, self._seats[rows]], batch.lengths[rows])
        slots = (rows[:, None] * players + np.arange(players)).ravel()
        self._experience.close_for_good(slots, self._totals(slots))
        self._experience.forget(slots)

    # ---- memory ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """All games in play."""
        state: State = {
            "seats": self._seats.copy(),
            "met": self._met.copy(),
            "next_number": self._next_number,
        }
        for name, array in self.batch.state_dict().items():
            state[f"batch.{name}"] = array
        for name, array in self._experience.state_dict().items():
            state[f"experience.{name}"] = array
        return state

    def load_state_dict(self, state: State) -> None:
        """Go on with the games that ``state`` was taken from."""
        self._seats[:] = state["seats"]
        self._met[:] = state["met"]
        self._next_number = int(state["next_number"])
        self.batch.load_state_dict(part(state, "batch."))
        self._experience.load_state_dict(part(state, "experience."))


def _own(asked: Asked) -> Asked:
    if asked.is_own.all():
        return asked
    return Asked._make(array[asked.is_own] for array in asked)


def part(state: State, prefix: str) -> State:
    """The entries whose name begins with ``prefix``, by the rest of it.

    >>> part({"replay.size": 3, "seed": 0}, "replay.")
    {'size': 3}
    """
    return {
        name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
    }
