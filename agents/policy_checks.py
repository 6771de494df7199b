"""What a policy must be before compiled code may play it.

A checksum only tells that a file is as somebody wrote it. Shapes, ranges, order and sums are
checked here, for files from anywhere: compiled code checks no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.abstraction import as_action_abstraction, find_abstraction
from envs.core.game import Game

ARRAYS: dict[str, Any] = {
    "keys": np.uint64,
    "firsts": np.int64,
    "actions": np.int32,
    "probs": np.float64,
    "is_reached": np.bool_,
}
"""The arrays of a policy and what each holds."""
NOTED = ("exploitability", "notes", "abstraction")
"""What else belongs to it."""
# Sums of probabilities and differences of values are off by so much at most.
_ROUNDING = 1e-6
# What adding one more number in single precision can change, for files from before rows were
# added up in double precision.
_SINGLE = 2.0**-24


def policy_fault(values: Mapping[str, Any], game: Game) -> str:
    """What is wrong with the parts of a policy; empty: nothing.

    Args:
        values: what ``ARRAYS`` and ``NOTED`` name.
        game: the game it is for.
    """
    for name, kind in ARRAYS.items():
        array = values[name]
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != kind:
            return f"{name} must be a row of {np.dtype(kind).name}"
    keys, firsts, actions, probs, is_reached = (values[name] for name in ARRAYS)
    if not len(firsts) == 1 + len(keys) == 1 + len(is_reached) or len(actions) != len(probs):
        return "its arrays have lengths that do not fit each other"
    if (keys[1:] <= keys[:-1]).any():
        return "its keys do not rise"
    if firsts[0] != 0 or firsts[-1] != len(actions) or (firsts[1:] <= firsts[:-1]).any():
        return "its rows do not follow each other"
    abstraction = values.get("abstraction")
    if not isinstance(abstraction, str):
        return f"abstraction must be text, not {abstraction!r}"
    own = as_action_abstraction(find_abstraction(abstraction, game))
    num_actions = game.facts.num_actions if own is None else own.num_actions
    if len(actions) and not 0 <= actions.min() <= actions.max() < num_actions:
        return f"its actions must be from 0 to {num_actions - 1}"
    is_first = np.zeros(len(actions), bool)
    is_first[firsts[:-1]] = True
    if (actions[1:] <= actions[:-1])[~is_first[1:]].any():
        return "the actions of a row do not rise"
    if not ((probs >= 0.0) & (probs <= 1.0 + _ROUNDING)).all():
        return "its probabilities are not all from 0 to 1"
    sums = _sums(values)
    if (abs(sums - 1.0) > np.maximum(_ROUNDING, _SINGLE * np.diff(firsts))).any():
        return f"the probabilities of a row add up to {sums[abs(sums - 1.0).argmax()]:.7g}, not 1"
    return _fault_of_notes(values)


def normalized(values: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """The probabilities of parts without a fault, as rows that add up to 1.

    Rows of old files, which single precision has left further from it, are divided by their sums.
    """
    sums = _sums(values)
    sums[abs(sums - 1.0) <= _ROUNDING] = 1.0
    probs: npt.NDArray[np.float64] = values["probs"] / np.repeat(sums, np.diff(values["firsts"]))
    return probs


def _sums(values: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """What the probabilities of each row add up to; rows are not empty."""
    probs, firsts = values["probs"], values["firsts"]
    sums: npt.NDArray[np.float64] = np.add.reduceat(probs, firsts[:-1]) if len(probs) else probs
    return sums


def _fault_of_notes(values: Mapping[str, Any]) -> str:
    value = values.get("exploitability")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and -_ROUNDING <= value < math.inf):
        return f"exploitability must be a number from 0 up, not {value!r}"
    return "" if isinstance(values.get("notes"), Mapping) else "it has no notes"
