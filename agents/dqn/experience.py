"""Decisions that wait for their outcome, and how they become transitions.

The outcome of a decision is known at the same seat's next decision, or at the end of the game. Its
reward is what the seat's total has changed in between, so the rewards of a game add up to its
return less what the seat had before it was first asked. With ``n_steps`` above 1 a decision waits
for more of its seat's decisions.

Every row of the batch and every seat has a slot of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.dqn.replay import TRANSITIONS, Replay
from common.saved import DamagedStateError, restore, saved_array
from envs.core.compiling import compiled, direct, inlined
from envs.core.kernels import TOTALS

__all__ = ["Experience"]

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

_ROWS = types.int64[::1]
_INPUTS = types.float32[:, ::1]
_QUEUES = types.float64[:, ::1]


class Waiting(NamedTuple):
    """Decisions whose outcome is not known yet: for each slot a ring of ``n_steps`` places."""

    num_decisions: Indices
    """[slots] of the game so far; the next one goes to that place, round the ring."""
    num_waiting: Indices
    """[slots] so many of the last ones wait."""
    paid: npt.NDArray[np.float64]
    """[slots] the total when a slot was last asked."""
    inputs: Floats
    """[slots, n_steps, input_size]"""
    actions: Indices
    rewards: npt.NDArray[np.float64]
    """[slots, n_steps] so far."""
    weights: npt.NDArray[np.float64]
    """[slots, n_steps] of the next reward."""


_WAITING = types.NamedTuple(
    (_ROWS, _ROWS, TOTALS, types.float32[:, :, ::1], types.int64[:, ::1], _QUEUES, _QUEUES),
    Waiting,
)


@compiled(types.void(_ROWS, _INPUTS, _INPUTS, _INPUTS))
def _see_all(slots, observations, windows, inputs):
    """Move each slot's window on by one observation, and copy it to ``inputs``."""
    size, length = observations.shape[1], windows.shape[1]
    for i in range(slots.size):
        window = windows[slots[i]]
        for j in range(length - size):
            window[j] = window[j + size]
        for j in range(size):
            window[length - size + j] = observations[i, j]
        for j in range(length):
            inputs[i, j] = window[j]


@inlined
def _keep(waiting, slot, place, is_over, next_input, next_mask, unit, kept):
    """Write a decision and its outcome into the replay, over the oldest there."""
    row = kept.num_added[0] % kept.actions.size
    for j in range(next_input.size):
        kept.inputs[row, j] = waiting.inputs[slot, place, j]
        kept.next_inputs[row, j] = next_input[j]
    for j in range(next_mask.size):
        kept.next_masks[row, j] = next_mask[j]
    kept.actions[row] = waiting.actions[slot, place]
    kept.rewards[row] = waiting.rewards[slot, place]
    kept.discounts[row] = 0.0 if is_over else waiting.weights[slot, place] * unit
    kept.num_added[0] += 1


@compiled(
    types.void(
        *(_ROWS, _INPUTS, types.int8[:, ::1], TOTALS, TOTALS, types.boolean),
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


@compiled(types.void(_ROWS, _INPUTS, _ROWS, TOTALS, _WAITING))
def _open_all(slots, inputs, chosen, units, waiting):
    n_steps = waiting.actions.shape[1]
    for i in range(slots.size):
        slot = slots[i]
        place = waiting.num_decisions[slot] % n_steps
        for j in range(inputs.shape[1]):
            waiting.inputs[slot, place, j] = inputs[i, j]
        waiting.actions[slot, place] = chosen[i]
        waiting.rewards[slot, place] = 0.0
        waiting.weights[slot, place] = 1.0 / units[i]
        waiting.num_decisions[slot] += 1
        waiting.num_waiting[slot] += 1


_see_rows, _close_rows, _open_rows = direct(_see_all), direct(_close_all), direct(_open_all)


class Experience:
    """The decisions in play of ``num_slots`` seats, on their way into a replay.

    For each decision call ``see``, ``close`` and ``open`` in this order, at the end of a game
    ``close_for_good`` and then ``forget``.

    Args:
        replay: where transitions go.
        num_slots: seats of all games in play.
        observation_size: length of one observation.
        history: observations that make an input.
        n_steps: decisions that a transition spans.
        discount: weight of the next decision's value.
        reward_scale: rewards are multiplied by this.
    """

    def __init__(
        self,
        replay: Replay,
        num_slots: int,
        observation_size: int,
        history: int = 1,
        n_steps: int = 1,
        discount: float = 1.0,
        reward_scale: float = 1.0,
    ) -> None:
        """Nobody has decided anything yet."""
        input_size = history * observation_size
        self.replay = replay
        self._discount = discount
        self._scale = reward_scale
        self._windows = np.zeros((num_slots, input_size), np.float32)
        self.waiting = Waiting(
            num_decisions=np.zeros(num_slots, np.int64),
            num_waiting=np.zeros(num_slots, np.int64),
            paid=np.zeros(num_slots),
            inputs=np.zeros((num_slots, n_steps, input_size), np.float32),
            actions=np.zeros((num_slots, n_steps), np.int64),
            rewards=np.zeros((num_slots, n_steps)),
            weights=np.zeros((num_slots, n_steps)),
        )
        # After the end there is no next position. Everything is legal there, so that the best value
        # is a number, and its weight is zero.
        self._no_inputs = np.zeros((num_slots, input_size), np.float32)
        self._ones = np.ones(num_slots)
        self._no_masks = np.ones((num_slots, replay.kept.next_masks.shape[1]), np.int8)

    def see(self, slots: Indices, observations: Floats) -> Floats:
        """Add observations to what the slots have seen; returns the inputs of the network."""
        if observations.shape[1] == self._windows.shape[1]:  # nothing earlier is looked at
            return observations
        inputs = np.empty((len(slots), self._windows.shape[1]), np.float32)
        _see_rows(slots, observations, self._windows, inputs)
        return inputs

    def close(
        self,
        slots: Indices,
        inputs: Floats,
        masks: npt.NDArray[np.int8],
        totals: npt.NDArray[np.float64],
        units: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """The slots are asked again: pay what they decided before.

        ``units``: [n] what a value of 1 stands for at these decisions; 1 if not given.
        """
        self._close(slots, inputs, masks, totals, False, units)

    def close_for_good(self, slots: Indices, totals: npt.NDArray[np.float64]) -> None:
        """The games of the slots are over: nothing waits any more."""
        number = len(slots)
        self._close(slots, self._no_inputs[:number], self._no_masks[:number], totals, True)

    def _close(
        self,
        slots: Indices,
        inputs: Floats,
        masks: npt.NDArray[np.int8],
        totals: npt.NDArray[np.float64],
        is_over: bool,
        units: npt.NDArray[np.float64] | None = None,
    ) -> None:
        replay = self.replay
        num_before = replay.num_added
        how = is_over, self._discount, self._scale
        units = self._ones[: len(slots)] if units is None else units
        _close_rows(slots, inputs, masks, totals, units, *how, self.waiting, replay.kept)
        replay.rate_new(num_before)

    def open(
        self,
        slots: Indices,
        inputs: Floats,
        actions: Indices,
        units: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """The slots have decided, in the same units."""
        units = self._ones[: len(slots)] if units is None else units
        _open_rows(slots, inputs, actions, units, self.waiting)

    def forget(self, slots: Indices) -> None:
        """New games begin in the slots."""
        self._windows[slots] = 0.0
        self.waiting.num_decisions[slots] = 0
        self.waiting.num_waiting[slots] = 0

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All that waits."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Wait for the same things as the one that ``state`` was taken from."""
        waiting, (slots, n_steps) = self.waiting, self.waiting.actions.shape
        most = self.replay.kept.next_masks.shape[1] - 1
        saved_array(state, "num_decisions", np.int64, (slots,), 0, 2**48)
        saved_array(state, "num_waiting", np.int64, (slots,), 0, n_steps)
        saved_array(state, "actions", np.int64, waiting.actions.shape, 0, most)
        if (state["num_waiting"] > state["num_decisions"]).any():
            raise DamagedStateError("more decisions wait than were made")
        restore(self._arrays(), state)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"windows": self._windows, **self.waiting._asdict()}
