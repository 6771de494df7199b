"""A policy file from a stranger: what is no policy is refused in one line, and nothing crashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from agents.cfr.evaluation import to_policy
from agents.cfr.tree import GameTree
from agents.policy import ARRAYS, Policy, PolicyError, _checksum
from common.errors import MasqueradeError
from envs import make_game

KUHN = make_game("kuhn_v0")
TREE = GameTree(KUHN)
POLICY = to_policy(TREE, TREE.uniform())


def forged(path: Path, header: dict[str, Any] | None = None, **changes: Any) -> Path:
    """A policy file with some parts changed and a checksum that fits, as anybody can make one."""
    POLICY.save(path)
    with np.load(path) as file:
        parts = dict(file)
    told = json.loads(bytes(parts.pop("header"))) | (header or {})
    parts |= changes
    told["checksum"] = _checksum(parts)
    if header is not None and "checksum" in header:
        told["checksum"] = header["checksum"]
    text = np.frombuffer(json.dumps(told).encode(), np.uint8)
    np.savez(path, header=text, **parts)
    return path


def one(name: str, place: int, value: Any) -> Any:
    array = getattr(POLICY, name).copy()
    array[place] = value
    return array


BAD_ARRAYS = {
    "an action that does not exist": ({"actions": one("actions", 0, 10**6)}, "from 0 to 1"),
    "a negative action": ({"actions": one("actions", 3, -1)}, "from 0 to 1"),
    "an action twice": ({"actions": one("actions", 1, 0)}, "do not rise"),
    "rows that end beyond the entries": ({"firsts": one("firsts", -1, 10**9)}, "follow each other"),
    "rows that begin later": ({"firsts": one("firsts", 0, 2)}, "follow each other"),
    "rows that go back": ({"firsts": one("firsts", 3, 0)}, "follow each other"),
    "rows of another number": ({"firsts": POLICY.firsts[:-1]}, "lengths"),
    "no number": ({"probs": one("probs", 0, np.nan)}, "from 0 to 1"),
    "a negative probability": ({"probs": one("probs", 0, -0.5)}, "from 0 to 1"),
    "infinity": ({"probs": one("probs", 0, np.inf)}, "from 0 to 1"),
    "a sum of more than one": ({"probs": np.ones_like(POLICY.probs)}, "add up to 2, not 1"),
    "a sum of less than one": ({"probs": one("probs", 0, 0.0)}, "add up to 0.5, not 1"),
    "keys that do not rise": ({"keys": POLICY.keys[::-1].copy()}, "keys do not rise"),
    "a key twice": ({"keys": one("keys", 1, POLICY.keys[0])}, "keys do not rise"),
    "no row of keys": ({"keys": np.uint64(3)}, "keys must be a row of uint64"),
    "a table of keys": ({"keys": POLICY.keys[:, None]}, "keys must be a row of uint64"),
    "keys of another type": ({"keys": POLICY.keys.astype(float)}, "keys must be a row of uint64"),
    "other marks": ({"is_reached": POLICY.is_reached[1:]}, "lengths"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_arrays_that_are_no_policy_are_refused(tmp_path: Path, case: str) -> None:
    changes, message = BAD_ARRAYS[case]
    path = forged(tmp_path / "forged.npz", **changes)
    with pytest.raises(PolicyError, match=message) as raised:
        Policy.load(path, KUHN)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"exploitability": "low"}, "exploitability must be a number"),
        ({"exploitability": float("nan")}, "exploitability must be a number"),
        ({"exploitability": -1}, "exploitability must be a number"),
        ({"exploitability": True}, "exploitability must be a number"),
        ({"abstraction": ["infoset"]}, "abstraction must be text"),
        ({"abstraction": "os:getlogin"}, "which is not ours"),
        ({"abstraction": "os.path"}, "unknown abstraction"),
        ({"abstraction": "round:²"}, "is no abstraction"),
        ({"abstraction": "round:" + "9" * 5000}, "is no abstraction"),
        ({"abstraction": "round:2"}, "is for liars_dice_v0"),
        ({"notes": None}, "has no notes"),
        ({"options": [1]}, "play it with these options"),
        ({"options": {"num_players": "2"}}, "play it with these options"),
        ({"encoding": None}, "solve the game again"),
        ({"game": None}, "is for None"),
        ({"version": [2]}, "version"),
    ],
)
def test_headers_that_are_no_policys_are_refused(
    tmp_path: Path, header: dict[str, Any], message: str
) -> None:
    path = forged(tmp_path / "forged.npz", header)
    with pytest.raises(MasqueradeError, match=message):
        Policy.load(path, KUHN)


def test_a_policy_without_information_sets_is_one(tmp_path: Path) -> None:
    empty: dict[str, Any] = {name: np.zeros(0, kind) for name, kind in ARRAYS.items()}
    path = forged(tmp_path / "forged.npz", **{**empty, "firsts": np.zeros(1, np.int64)})
    assert len(Policy.load(path, KUHN)) == 0


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(ARRAYS)),
    array=arrays_of.arrays(
        st.sampled_from([np.uint64, np.int64, np.int32, np.float64, np.bool_, np.int8]),
        arrays_of.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=30),
    ),
)
def test_any_array_in_place_of_another_is_refused_or_a_policy(
    tmp_path_factory: pytest.TempPathFactory, name: str, array: Any
) -> None:
    path = forged(tmp_path_factory.mktemp("forged") / "forged.npz", **{name: array})
    try:
        loaded = Policy.load(path, KUHN)
    except PolicyError:
        return
    # Marks say where something was learnt, and keys of nowhere are never asked for.
    assert name in ("is_reached", "keys")
    assert len(loaded) == 12
