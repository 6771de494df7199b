"""The replay: the latest transitions in arrays, drawn uniformly, by their error, or the newest.

Prioritised drawing is that of Schaul et al. (2016): a transition is drawn in proportion to a power
of its last error, and its weight in the update is lowered by as much as it is drawn too often. A
tree of sums over the priorities makes drawing and changing one take a logarithm of their number.
"""

from __future__ import annotations

import zlib
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from numba import types

from agents.learning.experience import TRANSITIONS, Transitions
from common.saved import DamagedStateError, restore, saved_array
from envs.core.compiling import compiled, direct, helper
from envs.core.kernels import INT, RNG
from envs.core.rng import Words, below, uniform

Columns = TypeVar("Columns")
Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

# Added to every error, so that nothing is never drawn again.
LEAST_ERROR = 1e-3

# How checkpoints hold the columns.
_PACKED = ("inputs", "next_inputs")
_PLAIN = ("actions", "rewards", "discounts", "next_masks")

_ROWS = types.int64[::1]
_COLUMN = types.float32[::1]
_TABLE = types.float32[:, ::1]
_TREE = types.float64[::1]


# ---- drawing -------------------------------------------------------------------------------------


@compiled(types.void(RNG, INT, _ROWS))
def _draw_uniform(rng, size, rows):
    for i in range(rows.size):
        rows[i] = below(rng, size)


@helper
def _find(tree, first_leaf, target):
    """The leaf at which the priorities, added up from the left, exceed ``target``."""
    node = 1
    while node < first_leaf:
        node *= 2
        # Rounding can leave a target that nothing is left for on the right.
        if target >= tree[node] and tree[node + 1] > 0.0:
            target -= tree[node]
            node += 1
    return node - first_leaf


@compiled(types.void(RNG, _TREE, INT, types.float64, _ROWS, types.float32[::1]))
def _draw_by_priority(rng, tree, size, importance, rows, weights):
    """One draw from each of equal parts of the sum, so that a batch is spread over it."""
    first_leaf = tree.size // 2
    part = tree[1] / rows.size
    largest = 0.0
    for i in range(rows.size):
        rows[i] = _find(tree, first_leaf, (i + uniform(rng)) * part)
        prob = tree[first_leaf + rows[i]] / tree[1]
        weights[i] = (size * prob) ** -importance
        largest = max(largest, weights[i])
    for i in range(rows.size):
        weights[i] /= largest


@compiled(types.void(_TREE, _ROWS, _TREE))
def _set_priorities(tree, rows, priorities):
    first_leaf = tree.size // 2
    for i in range(rows.size):
        node = first_leaf + rows[i]
        tree[node] = priorities[i]
        while node > 1:
            node //= 2
            tree[node] = tree[2 * node] + tree[2 * node + 1]


@compiled(types.void(_ROWS, TRANSITIONS, _TABLE, _ROWS, _COLUMN, _COLUMN, _TABLE, _TABLE))
def _gather(rows, kept, inputs, actions, rewards, discounts, next_inputs, penalties):
    """Copy the rows; a mask becomes 0 for a legal action and minus infinity for another."""
    for i in range(rows.size):
        row = rows[i]
        for j in range(inputs.shape[1]):
            inputs[i, j] = kept.inputs[row, j]
        for j in range(inputs.shape[1]):
            next_inputs[i, j] = kept.next_inputs[row, j]
        for j in range(penalties.shape[1]):
            penalties[i, j] = 0.0 if kept.next_masks[row, j] else -np.inf
        actions[i] = kept.actions[row]
        rewards[i] = kept.rewards[row]
        discounts[i] = kept.discounts[row]


_uniform_rows, _rows_by_priority = direct(_draw_uniform), direct(_draw_by_priority)
_rate_rows, _gather_rows = direct(_set_priorities), direct(_gather)


# ---- keeping -------------------------------------------------------------------------------------


class Minibatch(NamedTuple, Generic[Columns]):
    """Transitions of one update, as arrays that the next draw writes again, or as tensors.

    What is one number a transition is [n], and in tensors [n, 1].
    """

    rows: Indices
    """[n] where they lie in the replay."""
    inputs: Columns
    actions: Columns
    rewards: Columns
    discounts: Columns
    """[n] weight of the next position's value: 0 when the game was over."""
    next_inputs: Columns
    penalties: Columns
    """[n, num_actions] to be added to the next position's values: -inf where illegal."""
    weights: Columns
    """[n] importance; 1 unless drawn by priority."""


Arrays = Minibatch[npt.NDArray[Any]]


class Replay:
    """The last ``capacity`` transitions; the oldest gives way to the newest.

    >>> replay = Replay(capacity=100, input_size=4, num_actions=2)
    >>> len(replay)
    0

    Args:
        capacity: transitions kept.
        input_size: length of the network's input.
        num_actions: length of a mask.
        priority_exponent: draw in proportion to this power of the error; ``None``: uniformly.
    """

    def __init__(
        self,
        capacity: int,
        input_size: int,
        num_actions: int,
        priority_exponent: float | None = None,
    ) -> None:
        """Make room; nothing is kept yet."""
        self.capacity = capacity
        self.kept = Transitions.room(capacity, input_size, num_actions)
        self._exponent = priority_exponent
        # Node 1 is the sum of all, nodes 2i and 2i + 1 add up to node i, and leaves come last.
        num_leaves = 1 << (capacity - 1).bit_length() if priority_exponent is not None else 0
        self._tree = np.zeros(2 * num_leaves)
        self._largest = 1.0
        self._num_rated = 0
        self._batch = _new_batch(0, input_size, num_actions)

    def __len__(self) -> int:
        """How many transitions there are."""
        return min(self.num_added, self.capacity)

    @property
    def num_added(self) -> int:
        """How many there have ever been."""
        return int(self.kept.num_added[0])

    @property
    def priorities(self) -> npt.NDArray[np.float64]:
        """What the transitions are drawn in proportion to."""
        self._rate_new()
        first_leaf = len(self._tree) // 2
        return self._tree[first_leaf : first_leaf + len(self)]

    def _rate_new(self) -> None:
        """Give transitions that have come since the last time the largest priority so far."""
        first = max(self._num_rated, self.num_added - self.capacity)
        if self._exponent is not None and first < self.num_added:
            rows = np.arange(first, self.num_added) % self.capacity
            _rate_rows(self._tree, rows, np.full(len(rows), self._largest))
        self._num_rated = self.num_added

    def rate(self, rows: Indices, errors: npt.NDArray[np.float64]) -> None:
        """Set priorities after an update, from the sizes of its errors."""
        if self._exponent is None:
            return
        self._rate_new()
        priorities = (np.abs(errors) + LEAST_ERROR) ** self._exponent
        self._largest = max(self._largest, float(priorities.max()))
        _rate_rows(self._tree, rows, priorities)

    def draw(self, number: int, rng: Words, importance: float = 1.0) -> Arrays:
        """Draw transitions, with replacement; their weights correct for priority."""
        batch = self._room(number)
        self._rate_new()
        if self._exponent is None:
            _uniform_rows(rng, len(self), batch.rows)
        else:
            _rows_by_priority(rng, self._tree, len(self), importance, batch.rows, batch.weights)
        return self._gathered(batch)

    def latest(self, number: int) -> Arrays:
        """The newest transitions, the oldest of them first."""
        batch = self._room(min(number, len(self)))
        batch.rows[:] = np.arange(self.num_added - len(batch.rows), self.num_added) % self.capacity
        return self._gathered(batch)

    def _room(self, number: int) -> Arrays:
        if len(self._batch.rows) != number:
            sizes = self.kept.inputs.shape[1], self.kept.next_masks.shape[1]
            self._batch = _new_batch(number, *sizes)
        return self._batch

    def _gathered(self, batch: Arrays) -> Arrays:
        _gather_rows(batch.rows, self.kept, *batch[1:-1])
        return batch

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All transitions, packed: observations are mostly zeros."""
        state: dict[str, npt.NDArray[Any]] = {
            name: _packed(getattr(self.kept, name)[: len(self)]) for name in _PACKED
        }
        for name in _PLAIN:
            state[name] = getattr(self.kept, name)[: len(self)].copy()
        state["num_added"] = self.kept.num_added.copy()
        state["priorities"] = self.priorities.copy()
        state["largest"] = np.array([self._largest])
        return state

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Keep the same transitions as the replay that ``state`` was taken from."""
        self.kept.num_added[:] = saved_array(state, "num_added", np.int64, (1,), 0, 2**48)
        number, most = len(self), self.kept.next_masks.shape[1] - 1
        for name in _PACKED:
            rows = getattr(self.kept, name)[:number]
            packed = saved_array(state, name, np.uint8, (None,))
            rows[:] = _unpacked(packed, rows.nbytes).reshape(rows.shape)
        saved_array(state, "actions", np.int64, (number,), 0, most)
        restore({name: getattr(self.kept, name)[:number] for name in _PLAIN}, state)
        self._largest = float(saved_array(state, "largest", np.float64, (1,), 0.0)[0])
        rated = number if self._exponent is not None else 0
        priorities = saved_array(state, "priorities", np.float64, (rated,), 0.0)
        if self._exponent is not None:
            self._tree[:] = 0.0
            _rate_rows(self._tree, np.arange(number), priorities)
        self._num_rated = self.num_added


def _new_batch(number: int, input_size: int, num_actions: int) -> Arrays:
    return Minibatch(
        rows=np.zeros(number, np.int64),
        inputs=np.zeros((number, input_size), np.float32),
        actions=np.zeros(number, np.int64),
        rewards=np.zeros(number, np.float32),
        discounts=np.zeros(number, np.float32),
        next_inputs=np.zeros((number, input_size), np.float32),
        penalties=np.zeros((number, num_actions), np.float32),
        weights=np.ones(number, np.float32),
    )


def _packed(array: Floats) -> npt.NDArray[np.uint8]:
    return np.frombuffer(zlib.compress(array.tobytes(), level=1), np.uint8)


def _unpacked(packed: npt.NDArray[np.uint8], size: int) -> Floats:
    """What was packed, which must be so many bytes: a small file may hold very many."""
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(packed.tobytes(), size + 1)
    except zlib.error as error:
        raise DamagedStateError(f"the replay cannot be unpacked ({error})") from error
    is_whole = len(plain) == size and not unpacking.unused_data
    found = np.frombuffer(plain, np.float32) if is_whole else np.full(1, np.nan, np.float32)
    if not np.isfinite(found).all():
        raise DamagedStateError("the replay has another size, or numbers that are none")
    return found
