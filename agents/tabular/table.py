"""Numbers by 64-bit key, and the choice of an action by them.

The table is arrays with open addressing and linear probing.
Looking up a key that is not there costs nothing but the look: only what is learnt gets an entry.
Compiled code fills free places; a table that gets crowded grows in Python, between games.

From the values of a decision to the probability of every action:

* ``epsilon``: with probability epsilon any legal action, all alike, otherwise the best;
* ``epsilon_other``: with probability epsilon one of the *other* legal actions;
* ``vdbe``: ``epsilon`` with an epsilon of its own for every state, large where values still change
  (M. Tokic, "Adaptive epsilon-greedy exploration in reinforcement learning based on value
  differences", 2010);
* ``softmax``: in proportion to exp(value / temperature);
* ``matching``: in proportion to the size of the value, a roulette wheel.

Equally good actions share the probability of the best.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import MasqueradeError
from envs.core.compiling import compiled, helper
from envs.core.rng import Words, mix

ABSENT = -1
EMPTY = np.uint64(0)

_MIN_CAPACITY = 256
# Of ten places at most so many are taken: searches stay short.
_MAX_TAKEN, _OF = 6, 10

_KEYS = types.uint64[::1]
_VALUES = types.float64[:, ::1]
_VISITS = types.int64[:, ::1]
_SLOTS = types.int64[::1]


class TableFullError(MasqueradeError):
    """More entries are needed than the settings allow."""


@helper
def find(keys, key):
    """The place of ``key``, or ``ABSENT``."""
    last = keys.size - 1
    slot = np.int64(mix(key) & np.uint64(last))
    while keys[slot] != key:
        if keys[slot] == EMPTY:
            return ABSENT
        slot = (slot + 1) & last
    return slot


@helper
def insert(keys, values, size, key, initial):
    """The place of ``key``, which is taken with the value ``initial`` if it is new."""
    last = keys.size - 1
    slot = np.int64(mix(key) & np.uint64(last))
    while keys[slot] != key:
        if keys[slot] == EMPTY:
            keys[slot] = key
            for i in range(values.shape[0]):
                values[i, slot] = initial
            size[0] += 1
            return slot
        slot = (slot + 1) & last
    return slot


@helper
def has_room(keys, size, num_new):
    """Whether so many more keys fit before the table has to grow."""
    return size[0] + num_new <= keys.size * _MAX_TAKEN // _OF


@compiled(types.void(_KEYS, _VALUES, _VISITS, _KEYS, _VALUES, _VISITS, _SLOTS, _SLOTS))
def _copy_entries(keys, values, visits, new_keys, new_values, new_visits, size, moved):
    """Put every entry into new arrays and note in ``moved`` where it has gone."""
    for old in range(keys.size):
        moved[old] = ABSENT
        if keys[old] == EMPTY:
            continue
        slot = insert(new_keys, new_values, size, keys[old], 0.0)
        moved[old] = slot
        for i in range(values.shape[0]):
            new_values[i, slot] = values[i, old]
            new_visits[i, slot] = visits[i, old]


@compiled(types.void(_KEYS, _KEYS, _SLOTS))
def _find_all(keys, wanted, slots):
    for i in range(wanted.size):
        slots[i] = find(keys, wanted[i])


class ValueTable:
    """Values and visits by key.

    >>> table = ValueTable()
    >>> table.put(np.array([7, 9], np.uint64), np.array([0.5, 0.25]))
    >>> len(table), table.get(np.array([9, 8], np.uint64), absent=1.0).tolist()
    (2, [0.25, 1.0])

    Args:
        num_values: values under each key: 1, or 2 for double learning.
        max_entries: how many keys there may be.
        forgets: whether the least visited give way when there would be more.
    """

    def __init__(
        self, num_values: int = 1, max_entries: int = 1 << 30, forgets: bool = False
    ) -> None:
        """Begin empty."""
        self.max_entries = max_entries
        self.forgets = forgets
        self.size = np.zeros(1, np.int64)
        self._allocate(_MIN_CAPACITY, num_values)

    def _allocate(self, capacity: int, num_values: int) -> None:
        self.keys: Words = np.zeros(capacity, np.uint64)
        self.values = np.zeros((num_values, capacity))
        self.visits = np.zeros((num_values, capacity), np.int64)

    def __len__(self) -> int:
        """How many keys there are."""
        return int(self.size[0])

    def make_room(self, num_new: int) -> npt.NDArray[np.int64] | None:
        """Grow until ``num_new`` keys fit; where each place has gone, or ``None`` if none has.

        A table that forgets loses a quarter of its keys when it is full, those that were visited
        least; their places have gone to ``ABSENT``.

        Raises:
            TableFullError: when that would be more than ``max_entries``.
        """
        needed = len(self) + num_new
        if needed <= min(_most(len(self.keys)), self.max_entries):
            return None
        if needed > self.max_entries:
            if not self.forgets or num_new > self.max_entries:
                raise TableFullError(
                    f"the table is full: {len(self):,} of at most {self.max_entries:,} entries; "
                    "raise max_entries, choose a coarser abstraction, or set when_full to forget"
                )
            self._forget(min(3 * self.max_entries // 4, self.max_entries - num_new))
            needed = len(self) + num_new
        capacity = len(self.keys)
        while _most(capacity) < needed:
            capacity *= 2
        return self._move(capacity)

    def trim(self) -> None:
        """Forget what is more than ``max_entries``; only when nobody holds a place."""
        if len(self) > self.max_entries:
            self._forget(self.max_entries)
            self._move(len(self.keys))

    def _forget(self, num_kept: int) -> None:
        """Take out all keys but the most visited ones; the arrays must be moved afterwards."""
        taken = np.flatnonzero(self.keys)
        order = np.lexsort((self.keys[taken], -self.visits[:, taken].sum(axis=0)))
        self.keys[taken[order[num_kept:]]] = EMPTY
        self.size[0] = min(len(taken), num_kept)

    def _move(self, capacity: int) -> npt.NDArray[np.int64]:
        """Put everything into new arrays; where each place has gone."""
        old = self.keys, self.values, self.visits
        self._allocate(capacity, len(self.values))
        self.size[0] = 0
        moved = np.empty(len(old[0]), np.int64)
        _copy_entries(*old, self.keys, self.values, self.visits, self.size, moved)
        return moved

    def entries(self) -> tuple[Words, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Keys, values [num_values, n] and visits [num_values, n], with nothing in between."""
        taken = np.flatnonzero(self.keys)
        order = taken[np.argsort(self.keys[taken])]
        return self.keys[order], self.values[:, order], self.visits[:, order]

    def put(
        self, keys: Words, values: npt.NDArray[np.float64], visits: npt.NDArray[np.int64] | int = 0
    ) -> None:
        """Add entries, or overwrite them: values [n] for all alike, or [num_values, n]."""
        keys = np.ascontiguousarray(keys, np.uint64)
        shape = len(self.values), len(keys)
        self.make_room(len(keys))
        source = keys, np.full(shape, values, np.float64), np.full(shape, visits, np.int64)
        moved = np.empty(len(keys), np.int64)
        _copy_entries(*source, self.keys, self.values, self.visits, self.size, moved)

    def get(self, keys: Words, absent: float = np.nan) -> npt.NDArray[np.float64]:
        """The value of each key, the mean where there are two, or ``absent``."""
        slots = np.empty(len(keys), np.int64)
        _find_all(self.keys, np.ascontiguousarray(keys, np.uint64), slots)
        values: npt.NDArray[np.float64] = self.values.mean(axis=0)[slots]
        return np.where(slots == ABSENT, absent, values)


def _most(capacity: int) -> int:
    return capacity * _MAX_TAKEN // _OF


POLICIES = ("epsilon", "epsilon_other", "vdbe", "softmax", "matching")
EPSILON, EPSILON_OTHER, VDBE, SOFTMAX, MATCHING = range(5)
GREEDY = -1
SCHEDULES = ("constant", "linear", "exponential")
CONSTANT, LINEAR, EXPONENTIAL = range(3)


@helper
def best_value(mask, values):
    """The highest value of a legal action."""
    best = -np.inf
    for action in range(mask.size):
        if mask[action] and values[action] > best:
            best = values[action]
    return best


@helper
def write_probs(policy, amount, mask, values, probs):
    """Write the probability of every action; ``amount`` is epsilon or the temperature."""
    best = best_value(mask, values)
    num_legal = 0
    num_best = 0
    for action in range(mask.size):
        if mask[action]:
            num_legal += 1
            num_best += values[action] == best
    of_other, of_best = 0.0, 1.0 / num_best
    if policy in (EPSILON, VDBE):
        of_other = amount / num_legal
        of_best = of_other + (1.0 - amount) / num_best
    elif policy == EPSILON_OTHER and num_legal > 1:
        # One of the best is taken as the best; the rest of them are "other" actions.
        of_other = amount / (num_legal - 1)
        of_best = (1.0 - amount + (num_best - 1) * of_other) / num_best
    if policy not in (SOFTMAX, MATCHING):
        for action in range(mask.size):
            probs[action] = 0.0
            if mask[action]:
                probs[action] = of_best if values[action] == best else of_other
        return
    total = 0.0
    for action in range(mask.size):
        probs[action] = 0.0
        if mask[action]:
            if policy == MATCHING:
                probs[action] = abs(values[action])
            else:
                probs[action] = math.exp((values[action] - best) / amount)
            total += probs[action]
    share = 1.0 / total if total > 0.0 else 0.0
    for action in range(mask.size):
        probs[action] *= share
        if total == 0.0 and mask[action]:  # a wheel without any weight
            probs[action] = 1.0 / num_legal


@helper
def draw(probs, number):
    """The action that a uniform ``number`` in [0, 1) falls on."""
    chosen = 0
    reached = 0.0
    for action in range(probs.size):
        if probs[action] > 0.0:
            chosen = action  # also if rounding leaves a gap before 1
            reached += probs[action]
            if number < reached:
                break
    return chosen


@helper
def scheduled(schedule, start, end, share):
    """Where an amount stands after a share of its schedule."""
    share = min(share, 1.0)
    if schedule == LINEAR:
        return start + (end - start) * share
    if schedule == EXPONENTIAL:
        return start * (end / start) ** share
    return start


@helper
def vdbe_epsilon(epsilon, change, sensitivity, weight):
    """The epsilon of a state after one of its values has changed by ``change``."""
    decay = math.exp(-abs(change) / sensitivity)
    return weight * (1.0 - decay) / (1.0 + decay) + (1.0 - weight) * epsilon
