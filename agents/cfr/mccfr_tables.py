"""Regrets and averages by information set, in arrays that never grow.

Open addressing with linear probing. A slot is two words: the key of an information set, and where
its *entries* begin with how many there are, one for each legal action. Everything is made before
the start, so that the memory of a run is known and compiled code allocates nothing. When there is
no room left, information sets that come up are counted and left out.

Threads may share a table. A row is entered by exactly one of them (compare and swap); regrets and
policies are added up without locks, and now and then one of two additions at the same moment is
lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.cfr.threads import add, swap
from common.errors import OptionError
from common.saved import DamagedStateError, restore, saved_array
from envs.core.compiling import compiled, inlined
from envs.core.records import Grid, Row, tuple_type

_Array = npt.NDArray[Any]

ABSENT = np.uint64(0)
"""``find``: there is no such row."""
ONE, TWO = np.uint64(1), np.uint64(2)
SIZE_BITS = np.uint64(16)
MAX_ACTIONS = 1 << 16
MAX_ENTRIES = 2**47

# What a table counts: rows, entries taken, and visits of information sets that had no room.
NUM_ROWS, NUM_ENTRIES, LEFT_OUT = range(3)
_ENTRY_ARRAYS = ("actions", "regrets", "cumulative_policy")
_SLOT_BYTES, _ENTRY_BYTES, _BASELINE_BYTES, _COUNT_BYTES = 16, 8 + 8 + 4, 4, 8 * (3 + 2)


class HashTable(NamedTuple):
    """What is known of every information set that has come up."""

    slots: Row[np.uint64]
    """[2 * 2**k]: key and place of every row, 0 where there is none."""
    counts: Row[np.int64]
    limits: Row[np.int64]
    """[2]: how many rows and entries there may be."""
    regrets: Row[np.float64]
    """One for each entry. In single precision a sum of ones stops growing at 2**24, after less than
    a minute on a small game: hence double."""
    cumulative_policy: Row[np.float64]
    """For the average."""
    actions: Row[np.int32]
    """The legal ones, rising. A table of baselines alone has none, and no regrets and policies."""
    baselines: Grid[np.float32]
    """[entries, players]: what each player may expect after the action; empty without baselines.
    They are moving averages, for which single precision will do."""


TABLE = tuple_type(HashTable)


class TableRows(NamedTuple):
    """All rows without gaps."""

    keys: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]
    """The entries of all rows, one row after the other."""


# ---- rows ----------------------------------------------------------------------------------------


@inlined
def first_entry(place):
    """Where the entries of a row begin."""
    return np.int64(place >> SIZE_BITS)


@inlined
def num_entries(place):
    """How many legal actions the information set of a row has."""
    return np.int64(place & np.uint64(MAX_ACTIONS - 1))


@inlined
def find(table, key):
    """The place of the row with this key, or ``ABSENT``."""
    # Unsigned indices spare the compiler the check for negative ones.
    slots = table.slots
    last = np.uint64(slots.size - 2)
    at = (key << ONE) & last
    while slots[at] != key:
        if slots[at] == ABSENT:
            return ABSENT
        at = (at + TWO) & last
    place = slots[at + ONE]
    while place == ABSENT:  # another thread is just entering it
        place = swap(slots, np.int64(at + ONE), ABSENT, ABSENT)
    return place


@inlined
def enter(table, key, mask, size):
    """The place of a new row for ``size`` actions of a mask; ``ABSENT`` when there is no room."""
    slots = table.slots
    has_room = table.counts[NUM_ROWS] < table.limits[0]
    if has_room:
        first = add(table.counts, NUM_ENTRIES, size)
        has_room = first + size <= table.limits[1]
        if not has_room:
            add(table.counts, NUM_ENTRIES, -size)
    if not has_room:
        add(table.counts, LEFT_OUT, 1)
        return ABSENT
    if table.actions.size:
        entry = first
        for action in range(mask.size):
            if mask[action]:
                table.actions[entry] = action
                entry += 1
    place = (np.uint64(first) << SIZE_BITS) | np.uint64(size)
    last = np.uint64(slots.size - 2)
    at = (key << ONE) & last
    while True:
        found = swap(slots, np.int64(at), ABSENT, key)
        if found == ABSENT:
            swap(slots, np.int64(at + ONE), ABSENT, place)
            add(table.counts, NUM_ROWS, 1)
            return place
        if found == key:  # another thread was quicker: these entries stay unused
            return find(table, key)
        at = (at + TWO) & last


# ---- whole tables --------------------------------------------------------------------------------


def _num_slots(max_infosets: int) -> int:
    """Two thirds of the slots are taken at most: searches stay short."""
    return 1 << (max_infosets * 3 // 2).bit_length()


def table_bytes(
    max_rows: int, max_entries: int, num_baselines: int = 0, has_regrets: bool = True
) -> int:
    """Bytes of a table, before it is made.

    >>> table_bytes(1000, 3000)
    92808
    """
    entry = _BASELINE_BYTES * num_baselines + (_ENTRY_BYTES if has_regrets else 0)
    return _SLOT_BYTES * _num_slots(max_rows) + entry * max_entries + _COUNT_BYTES


def make_table(
    max_rows: int, max_entries: int, num_baselines: int = 0, has_regrets: bool = True
) -> HashTable:
    """An empty table.

    Args:
        max_rows: rows it may ever have.
        max_entries: entries it may ever have, one for each legal action of each row.
        num_baselines: baselines of every entry, one for each player or none.
        has_regrets: whether it has more than baselines.
    """
    if max_rows < 1 or not 1 <= max_entries < MAX_ENTRIES:
        raise OptionError(f"no table holds {max_rows:,} rows with {max_entries:,} entries")
    num_regrets = max_entries if has_regrets else 0
    try:
        return HashTable(
            np.zeros(2 * _num_slots(max_rows), np.uint64),
            np.zeros(3, np.int64),
            np.array([max_rows, max_entries]),
            np.zeros(num_regrets),
            np.zeros(num_regrets),
            np.zeros(num_regrets, np.int32),
            np.zeros((max_entries if num_baselines else 0, num_baselines), np.float32),
        )
    except MemoryError as error:
        size = table_bytes(max_rows, max_entries, num_baselines, has_regrets) / 1e9
        raise OptionError(
            f"{size:,.1f} GB of memory are not available: lower max_infosets"
        ) from error


def read_rows(table: HashTable) -> TableRows:
    """Where everything is, in the order in which it was entered."""
    keys, places = table.slots[0::2], table.slots[1::2]
    taken = np.flatnonzero(keys)
    taken = taken[np.argsort(places[taken])]
    sizes = (places[taken] & np.uint64(MAX_ACTIONS - 1)).astype(np.int64)
    firsts = (places[taken] >> SIZE_BITS).astype(np.int64)
    ends = np.cumsum(sizes)
    entries = np.repeat(firsts - (ends - sizes), sizes) + np.arange(ends[-1] if len(ends) else 0)
    return TableRows(keys[taken], sizes, entries)


def rows_by_key(table: HashTable) -> TableRows:
    """Where everything is, in the order of the keys, as policies have it."""
    rows = read_rows(table)
    order = np.argsort(rows.keys)
    sizes = rows.sizes[order]
    firsts = (np.cumsum(rows.sizes) - rows.sizes)[order]
    ranks = np.arange(len(rows.entries)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return TableRows(rows.keys[order], sizes, rows.entries[np.repeat(firsts, sizes) + ranks])


def average_rows(
    table: HashTable, least: float | None = None
) -> tuple[_Array, _Array, _Array, _Array, _Array]:
    """The average policy: keys, firsts, actions, probabilities and what was reached.

    Args:
        table: the table.
        least: drop actions below this probability, but the most frequent one of each row, and rows
            that were never reached; ``None`` keeps all, and unreached rows are uniform.
    """
    keys, sizes, entries = rows_by_key(table)
    owners, weights = np.repeat(np.arange(len(keys)), sizes), table.cumulative_policy[entries]
    totals = np.bincount(owners, weights, len(keys))
    if least is None:
        weights = np.where(totals[owners] > 0.0, weights, 1.0)
    else:
        largest = np.maximum.reduceat(weights, np.cumsum(sizes) - sizes)[owners]
        is_kept = (weights >= least * totals[owners]) | (weights == largest)
        is_kept &= weights > 0.0
        weights, owners, entries = weights[is_kept], owners[is_kept], entries[is_kept]
    probs = weights / np.bincount(owners, weights, len(keys))[owners]
    sizes = np.bincount(owners, minlength=len(keys))
    firsts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
    return keys[sizes > 0], firsts, table.actions[entries], probs, (totals > 0.0)[sizes > 0]


@compiled(types.void(TABLE, types.uint64[::1], types.int64[::1], types.int32[::1], types.int8[::1]))
def _enter_all(table, keys, sizes, actions, mask):
    at = 0
    for row in range(keys.size):
        for i in range(mask.size):
            mask[i] = 0
        if actions.size:
            for i in range(at, at + sizes[row]):
                mask[actions[i]] = 1
        at += sizes[row]
        enter(table, keys[row], mask, sizes[row])


def enter_rows(
    table: HashTable,
    keys: npt.NDArray[np.uint64],
    sizes: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int32],
) -> None:
    """Put rows into an empty table; their entries lie one row after the other, from the first.

    A table of baselines alone takes no actions.
    """
    num_entries = int(sizes.sum())
    if len(keys) > table.limits[0] or num_entries > table.limits[1]:
        raise OptionError(
            f"{len(keys):,} rows with {num_entries:,} entries do not fit into this table: raise "
            f"max_infosets"
        )
    mask = np.zeros(int(actions.max(initial=0)) + 1, np.int8)
    _enter_all(
        table,
        np.ascontiguousarray(keys, np.uint64),
        np.ascontiguousarray(sizes, np.int64),
        np.ascontiguousarray(actions, np.int32),
        mask,
    )


def rows_state(table: HashTable) -> dict[str, npt.NDArray[Any]]:
    """A copy of all rows, for a checkpoint."""
    rows = read_rows(table)
    entries = {name: getattr(table, name)[rows.entries] for name in _ENTRY_ARRAYS}
    return {"keys": rows.keys, "sizes": rows.sizes, **entries}


def load_rows(table: HashTable, state: Mapping[str, Any], num_actions: int) -> None:
    """Put the rows of a checkpoint into an empty table, which may have other room."""
    keys, sizes = check_rows(state, "keys", "sizes", num_actions)
    number, firsts = int(sizes.sum()), np.cumsum(sizes) - sizes
    actions = saved_array(state, "actions", np.int32, (number,), 0, num_actions - 1)
    is_first = np.zeros(number, np.bool_)
    is_first[firsts] = True
    if (actions[1:] <= actions[:-1])[~is_first[1:]].any():
        raise DamagedStateError("the actions of a row do not rise")
    saved = {name: getattr(table, name)[:number] for name in _ENTRY_ARRAYS}
    enter_rows(table, keys, sizes, actions)
    restore(saved, state)


def check_rows(
    state: Mapping[str, Any], keys_name: str, sizes_name: str, num_actions: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Keys and sizes of the rows of a checkpoint: a table with a key twice would not end."""
    keys = saved_array(state, keys_name, np.uint64, (None,), 1)
    sizes = saved_array(state, sizes_name, np.int64, (len(keys),), 1, num_actions)
    if len(np.unique(keys)) != len(keys):
        raise DamagedStateError(f"{keys_name} has a key twice")
    return keys, sizes
