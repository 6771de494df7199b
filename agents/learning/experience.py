"""Experience: a learner's decisions in many games at once, and what each of them led to.

The outcome of a decision is known at the same seat's next decision, or at the end of the game. Its
reward is what the seat's total has changed in between, so the rewards of a game add up to its
return less what the seat had before it was first asked. With ``n_steps`` above 1 a decision waits
for more of its seat's decisions.

:class:`ExperienceGames` plays the games and hands the learner the decisions that are due;
:class:`Experience` keeps those whose outcome is not known yet, for every row and seat in a slot of
its own, and writes the others into :class:`Transitions`, where any learner may read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.learning.games import LearnerGames
from agents.learning.learner import State, Task, named, part
from agents.learning.networks import Inputs, NetworkSettings
from common.saved import DamagedStateError, restore, saved_array
from envs.core.compiling import compiled, direct, inlined
from envs.core.kernels import TOTALS
from envs.core.options import option
from envs.core.records import Cube, Grid, Row, tuple_type

ONE, ALL = "one", "all"

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

_ROWS = types.int64[::1]
_INPUTS = types.float32[:, ::1]
_MASKS = types.int8[:, ::1]


class ExperienceSettings(NetworkSettings):
    """What games a learner plays, and what it makes of their rewards."""

    n_steps: int = option(1, low=1, high=1_000, help="own decisions between a value and its target")
    discount: float = option(1.0, low=0.0, high=1.0, help="weight of the next decision's value")
    reward_scale: float = option(1.0, low=1e-9, high=1e9, help="rewards are multiplied by this")
    # Where much is at stake outcomes vary more. In such units errors are alike everywhere.
    stake_power: float = option(
        0.0,
        low=0.0,
        high=1.0,
        help="values are divided by this power of what is at stake, where a game tells it",
    )
    num_envs: int = option(64, low=1, high=65_536, help="games side by side")
    learns_from: str = option(
        ALL, choices=(ONE, ALL), help="seats whose decisions teach when it plays against itself"
    )


class Transitions(NamedTuple):
    """Decisions with their outcomes, a row for each; the newest is written over the oldest."""

    inputs: Grid[np.float32]
    actions: Row[np.int64]
    rewards: Row[np.float32]
    discounts: Row[np.float32]
    """[n] weight of the next position's value: 0 when the game was over."""
    next_inputs: Grid[np.float32]
    next_masks: Grid[np.int8]
    slots: Row[np.int64]
    """[n] row and seat in one number: whose decisions follow each other."""
    num_added: Row[np.int64]
    """[1] how many there have ever been."""
    masks: Grid[np.int8]
    """[n, num_actions] what was legal at the decision; [n, 0] where no learner asks for it."""

    @classmethod
    def room(
        cls, capacity: int, input_size: int, num_actions: int, has_masks: bool = False
    ) -> Transitions:
        """Room for so many; there are none yet."""
        return cls(
            inputs=np.zeros((capacity, input_size), np.float32),
            actions=np.zeros(capacity, np.int64),
            rewards=np.zeros(capacity, np.float32),
            discounts=np.zeros(capacity, np.float32),
            next_inputs=np.zeros((capacity, input_size), np.float32),
            next_masks=np.zeros((capacity, num_actions), np.int8),
            slots=np.zeros(capacity, np.int64),
            num_added=np.zeros(1, np.int64),
            masks=np.zeros((capacity, num_actions if has_masks else 0), np.int8),
        )


TRANSITIONS = tuple_type(Transitions)


class Waiting(NamedTuple):
    """Decisions whose outcome is not known yet: for each slot a ring of ``n_steps`` places."""

    num_decisions: Row[np.int64]
    """[slots] of the game so far; the next one goes to that place, round the ring."""
    num_waiting: Row[np.int64]
    """[slots] so many of the last ones wait."""
    paid: Row[np.float64]
    """[slots] the total when a slot was last asked."""
    inputs: Cube[np.float32]
    """[slots, n_steps, input_size]"""
    actions: Grid[np.int64]
    rewards: Grid[np.float64]
    """[slots, n_steps] so far."""
    weights: Grid[np.float64]
    """[slots, n_steps] of the next reward."""
    masks: Cube[np.int8]
    """[slots, n_steps, num_actions], or of no actions where they are not kept."""


_WAITING = tuple_type(Waiting)


@inlined
def _keep(waiting, slot, place, is_over, next_input, next_mask, unit, kept):
    """Write a decision and its outcome into the replay, over the oldest there."""
    row = kept.num_added[0] % kept.actions.size
    for j in range(next_input.size):
        kept.inputs[row, j] = waiting.inputs[slot, place, j]
        kept.next_inputs[row, j] = next_input[j]
    for j in range(next_mask.size):
        kept.next_masks[row, j] = next_mask[j]
    for j in range(kept.masks.shape[1]):
        kept.masks[row, j] = waiting.masks[slot, place, j]
    kept.actions[row] = waiting.actions[slot, place]
    kept.rewards[row] = waiting.rewards[slot, place]
    kept.discounts[row] = 0.0 if is_over else waiting.weights[slot, place] * unit
    kept.slots[row] = slot
    kept.num_added[0] += 1


@compiled(
    types.void(
        *(_ROWS, _INPUTS, _MASKS, TOTALS, TOTALS, types.boolean),
        *(types.float64, types.float64, _WAITING, TRANSITIONS),
    )
)
def _close_all(
    slots, next_inputs, next_masks, totals, units, is_over, discount, scale, waiting, kept
):
    """Pay every waiting decision of the slots, and keep those that have waited long enough."""
    n_steps = waiting.actions.shape[1]
    for i in range(slots.size):
        slot = slots[i]
        reward = scale * (totals[i] - waiting.paid[slot])
        waiting.paid[slot] = totals[i]
        num_waiting = waiting.num_waiting[slot]
        oldest = waiting.num_decisions[slot] - num_waiting
        for number in range(oldest, oldest + num_waiting):
            place = number % n_steps
            waiting.rewards[slot, place] += waiting.weights[slot, place] * reward
            waiting.weights[slot, place] *= discount
        num_leaving = num_waiting if is_over else np.int64(num_waiting == n_steps)
        for number in range(oldest, oldest + num_leaving):
            place = number % n_steps
            _keep(waiting, slot, place, is_over, next_inputs[i], next_masks[i], units[i], kept)
        waiting.num_waiting[slot] -= num_leaving


@compiled(types.void(_ROWS, _INPUTS, _MASKS, _ROWS, TOTALS, _WAITING))
def _open_all(slots, inputs, masks, chosen, units, waiting):
    n_steps = waiting.actions.shape[1]
    for i in range(slots.size):
        slot = slots[i]
        place = waiting.num_decisions[slot] % n_steps
        for j in range(inputs.shape[1]):
            waiting.inputs[slot, place, j] = inputs[i, j]
        for j in range(waiting.masks.shape[2]):
            waiting.masks[slot, place, j] = masks[i, j]
        waiting.actions[slot, place] = chosen[i]
        waiting.rewards[slot, place] = 0.0
        waiting.weights[slot, place] = 1.0 / units[i]
        waiting.num_decisions[slot] += 1
        waiting.num_waiting[slot] += 1


_close_rows, _open_rows = direct(_close_all), direct(_open_all)


class Experience:
    """The decisions in play of ``num_slots`` seats, on their way to the transitions.

    For each decision call ``close`` and ``open`` in this order, at the end of a game
    ``close_for_good``.

    Args:
        kept: where decisions go when their outcome is known.
        num_slots: seats of all games in play.
        settings: decisions that a transition spans, and what becomes of rewards.
    """

    def __init__(self, kept: Transitions, num_slots: int, settings: ExperienceSettings) -> None:
        """Nobody has decided anything yet."""
        n_steps, input_size = settings.n_steps, kept.inputs.shape[1]
        self.kept = kept
        self._settings = settings
        self.waiting = Waiting(
            num_decisions=np.zeros(num_slots, np.int64),
            num_waiting=np.zeros(num_slots, np.int64),
            paid=np.zeros(num_slots),
            inputs=np.zeros((num_slots, n_steps, input_size), np.float32),
            actions=np.zeros((num_slots, n_steps), np.int64),
            rewards=np.zeros((num_slots, n_steps)),
            weights=np.zeros((num_slots, n_steps)),
            masks=np.zeros((num_slots, n_steps, kept.masks.shape[1]), np.int8),
        )
        # After the end there is no next position. Everything is legal there, so that the best value
        # is a number, and its weight is zero.
        self._no_inputs = np.zeros((num_slots, input_size), np.float32)
        self._ones = np.ones(num_slots)
        self._no_masks = np.ones((num_slots, kept.next_masks.shape[1]), np.int8)

    def close(
        self,
        slots: Indices,
        inputs: Floats,
        masks: npt.NDArray[np.int8],
        totals: npt.NDArray[np.float64],
        units: npt.NDArray[np.float64] | None = None,
        is_over: bool = False,
    ) -> None:
        """The slots are asked again: pay what they decided before.

        ``units``: [n] what a value of 1 stands for at these decisions; 1 if not given.
        """
        how = is_over, self._settings.discount, self._settings.reward_scale
        units = self._ones[: len(slots)] if units is None else units
        _close_rows(slots, inputs, masks, totals, units, *how, self.waiting, self.kept)

    def close_for_good(self, slots: Indices, totals: npt.NDArray[np.float64]) -> None:
        """The games of the slots are over: nothing waits any more."""
        number = len(slots)
        self.close(slots, self._no_inputs[:number], self._no_masks[:number], totals, is_over=True)
        self.waiting.num_decisions[slots] = 0

    def open(
        self,
        slots: Indices,
        inputs: Floats,
        masks: npt.NDArray[np.int8],
        actions: Indices,
        units: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """The slots have decided, in the same units."""
        units = self._ones[: len(slots)] if units is None else units
        _open_rows(slots, inputs, masks, actions, units, self.waiting)

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All that waits."""
        return {name: array.copy() for name, array in self.waiting._asdict().items()}

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Wait for the same things as the one that ``state`` was taken from."""
        waiting, (slots, n_steps) = self.waiting, self.waiting.actions.shape
        most = self.kept.next_masks.shape[1] - 1
        saved_array(state, "num_decisions", np.int64, (slots,), 0, 2**48)
        saved_array(state, "num_waiting", np.int64, (slots,), 0, n_steps)
        saved_array(state, "actions", np.int64, waiting.actions.shape, 0, most)
        if (state["num_waiting"] > state["num_decisions"]).any():
            raise DamagedStateError("more decisions wait than were made")
        restore(self.waiting._asdict(), state)


class Decisions(NamedTuple):
    """Decisions that a learner is to make, one in each of ``rows``."""

    rows: Indices
    slots: Indices
    """[n] row and seat in one number."""
    inputs: Floats
    masks: npt.NDArray[np.int8]
    is_own: npt.NDArray[np.bool_]
    """[n] whether it learns from the decision."""

    @property
    def own(self) -> Decisions:
        """Those that it learns from."""
        if self.is_own.all():
            return self
        return Decisions._make(array[self.is_own] for array in self)


class ExperienceGames(LearnerGames):
    """``num_envs`` games in play: ``deal``, then ``next_decisions``, then ``play``, and so on.

    Against others the learner has one seat, which changes from game to game; against itself it has
    all of them, and ``learns_from`` says whether it learns from all or from that one.

    Args:
        task: the game, the seed and the opponents.
        settings: how many games, what is learnt from, and what a decision shows.
        kept: where decisions go when their outcome is known.
    """

    def __init__(self, task: Task, settings: ExperienceSettings, kept: Transitions) -> None:
        """Set up the games; ``deal`` begins them."""
        super().__init__(task, settings.num_envs, settings.history - 1)
        self._num_past = settings.history - 1
        self._num_players = task.game.facts.num_players
        self._inputs = Inputs(task.game, settings.inputs)
        self._stake_power = settings.stake_power
        self._learns_from_all = settings.learns_from == ALL
        self._experience = Experience(kept, settings.num_envs * self._num_players, settings)

    def next_decisions(self, at_most: int) -> Decisions:
        """What the learner is to decide now, with no more than ``at_most`` own decisions."""
        rows, seats = np.arange(self.batch.size), self.batch.turns.copy()
        is_own = (seats == self.seats) | self._learns_from_all
        if np.count_nonzero(is_own) > at_most:
            has_room = np.cumsum(is_own) <= at_most
            rows, seats, is_own = rows[has_room], seats[has_room], is_own[has_room]
        observations, masks = self.batch.observe(rows, seats)
        slots = rows * self._num_players + seats
        inputs = self._inputs.of(observations)
        if self._num_past:
            past = self._inputs.of(self.batch.past(rows, seats))
            inputs = np.concatenate([past.reshape(len(rows), -1), inputs], axis=1)
        decisions = Decisions(rows, slots, inputs, masks, is_own)
        own = decisions.own
        units = self._units(own.rows)
        self._experience.close(own.slots, own.inputs, own.masks, self._totals(own.slots), units)
        return decisions

    def play(self, decisions: Decisions, actions: Indices) -> int:
        """Play what the learner has decided; how many of these were own decisions."""
        own = decisions.own
        chosen = actions[decisions.is_own]
        self._experience.open(own.slots, own.inputs, own.masks, chosen, self._units(own.rows))
        self.rollouts.step(decisions.rows, actions)
        return len(own.rows)

    def _units(self, rows: Indices) -> npt.NDArray[np.float64] | None:
        """[n] what a value of 1 stands for in the decisions that are due; ``None``: itself."""
        return self.batch.stakes(rows) ** self._stake_power if self._stake_power else None

    def _totals(self, slots: Indices) -> npt.NDArray[np.float64]:
        return self.batch.totals.ravel()[slots]

    def deal(
        self, rows: Indices | None = None, on_end: Callable[[Indices], None] | None = None
    ) -> None:
        """Play on until the learner is to move in every row: others move, new games begin."""

        def finish(ended: Indices) -> None:
            if on_end is not None:
                on_end(ended)
            slots = (ended[:, None] * self._num_players + np.arange(self._num_players)).ravel()
            self._experience.close_for_good(slots, self._totals(slots))

        super().deal(rows, finish)

    def state_dict(self) -> State:
        """All games in play, and the decisions that wait."""
        return {**super().state_dict(), **named("experience.", self._experience.state_dict())}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the games that ``state`` was taken from."""
        super().load_state_dict(state)
        self._experience.load_state_dict(part(dict(state), "experience."))
