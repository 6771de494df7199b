"""What table learners keep while they learn, as records and arrays for compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from agents.tabular.hooks import HOOKS, KEYS, MEMORY
from envs.core.kernels import MASK, TOTALS

__all__ = [
    "AT_END",
    "CHANGES",
    "DOUBLE_Q",
    "EVENTS",
    "EXPECTED_SARSA",
    "MODEL",
    "MODEL_ARRAYS",
    "Q_LEARNING",
    "SARSA",
    "SEAT",
    "WORKSPACE",
    "ModelArrays",
    "Workspace",
]

SARSA, Q_LEARNING, EXPECTED_SARSA, DOUBLE_Q = range(4)
AT_END, CHANGES, EVENTS = range(3)

MODEL = np.dtype(
    (
        np.record,
        [
            ("rule", np.int64),
            ("is_learning", np.int64),  # 0: the table stays as it is
            ("learning_rate", np.float64),
            ("is_averaging", np.int64),  # the rate is 1 / visits instead
            ("discount", np.float64),
            ("has_episode", np.int64),  # all own actions of the game are kept until its end
            ("trace_decay", np.float64),
            ("is_accumulating", np.int64),
            ("is_backward", np.int64),
            ("policy", np.int64),
            ("exploration", np.float64),  # epsilon or temperature of the first game
            ("exploration_end", np.float64),
            ("schedule", np.int64),
            ("schedule_games", np.float64),
            ("vdbe_sensitivity", np.float64),
            ("vdbe_weight", np.float64),  # 0: one over the number of legal actions
            ("initial", np.float64),  # value of what is not in the table
            ("reward_kind", np.int64),
            ("has_final_update", np.int64),
            ("has_snapshot", np.int64),
            ("has_overwrite", np.int64),
            ("is_shared", np.int64),  # all seats use the same entries
            ("has_opponent_model", np.int64),
            ("wants_table_max", np.int64),
            # Counts, of which Python takes the last four away after every chunk.
            ("num_games", np.int64),
            ("num_turns", np.int64),
            ("num_updates", np.int64),
            ("exploration_sum", np.float64),
            ("error_sum", np.float64),
        ],
    )
)
SEAT = np.dtype(
    (
        np.record,
        [
            ("last_slot", np.int64),  # of the last action, ABSENT before the first
            ("last_value", np.float64),  # what the table said when it was chosen
            ("last_total", np.float64),  # what the player had got by then
            ("state_slot", np.int64),  # of the state's own epsilon, or ABSENT
            ("num_legal", np.int64),
            ("episode_length", np.int64),
        ],
    )
)


class ModelArrays(NamedTuple):
    """What compiled code needs of a model."""

    record: Any
    """[1] MODEL."""
    keys: Any
    values: Any
    visits: Any
    size: Any
    """[1] number of entries."""
    hooks: Any
    memory: Any
    levels: Any
    """[3] for rewards of events."""


class Workspace(NamedTuple):
    """What is remembered while games last: a place for each row and seat; then scratch space."""

    seats: Any
    before: Any
    """[places, state_size] the state at the last decision; empty unless events are rewarded."""
    episode_slots: Any
    """[places, longest] own actions of the game."""
    episode_weights: Any
    """Their eligibility traces, or in backward updates the reward of each."""
    episode_values: Any
    """In backward updates: the bootstrap value of the position of each action."""
    episode_is_best: Any
    """In backward updates: whether the action was the best."""
    keys: Any
    slots: Any
    values: Any
    """[2, actions]; one row is used unless learning is double."""
    means: Any
    adjusted: Any
    probs: Any
    mask: Any
    totals: Any


def _records(dtype: Any) -> Any:
    return types.Array(from_dtype(dtype), 1, "C")


_FLOATS = types.float64[:, ::1]
_INTS = types.int64[:, ::1]
_ROW = types.int64[::1]
MODEL_ARRAYS = types.NamedTuple(
    (_records(MODEL), KEYS, _FLOATS, _INTS, _ROW, HOOKS, MEMORY, TOTALS), ModelArrays
)
WORKSPACE = types.NamedTuple(
    (
        *(_records(SEAT), MEMORY, _INTS, _FLOATS, _FLOATS, types.int8[:, ::1]),
        *(KEYS, _ROW, _FLOATS, TOTALS, TOTALS, TOTALS, MASK, TOTALS),
    ),
    Workspace,
)
