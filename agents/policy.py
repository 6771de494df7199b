"""Policies as tables and as files, and the agent that plays them.

A :class:`Policy` has one row of probabilities for each information set it knows, found by the key
of what the player has seen, or of an *abstraction* of that: in Liar's Dice, say, by the
round alone. A policy file is one ``npz`` archive: the arrays, and a header in JSON
that says which game with which options it is for, how information sets were encoded, how
exploitable it is, and how it came about. All of that is checked on loading.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.abstraction import INFOSET, AbstractViews, DecisionKeys, Keys, probe_encoding
from agents.base import Actions, Agent, Views
from agents.learning.files import load_state, read_header
from agents.learnt import Exhibit
from common.errors import FileError, MasqueradeError
from common.files import read_arrays, write_arrays
from common.imports import names_from_a_file
from envs.core.batch import random_actions
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.records import Row, tuple_type
from envs.core.rng import Words, uniform

FORMAT = "masquerade policy"
FILE_VERSION = 2
ENCODING_VERSION = 1
"""Rises when the keys of information sets are folded in another way."""
FILE_NAME = "policy.npz"
"""What a policy is called in the folder of a run."""

UNKNOWN = -1

Floats = npt.NDArray[np.float64]


class PolicyError(MasqueradeError):
    """A policy file that is missing, damaged, of another version, or of another game."""


@dataclass(frozen=True)
class Policy:
    """What to do in every information set that is known.

    Args:
        game: the game it is for.
        keys: [n] uint64, rising.
        firsts: [n + 1] int64; row *i* has the entries ``firsts[i] .. firsts[i + 1]``.
        actions: [m] int32, the legal or abstract actions of each row, rising.
        probs: [m] float64.
        is_reached: [n] bool; in rows without it, which the policy's own choices rule out, nothing
            has been learnt and the probabilities are uniform.
        exploitability: what it can lose to best responses per player, if that is known.
        notes: how it came about, in words and numbers.
        abstraction: what its keys stand for.
    """

    game: Game
    keys: Keys
    firsts: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int32]
    probs: Floats
    is_reached: npt.NDArray[np.bool_]
    exploitability: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    abstraction: str = INFOSET

    def __len__(self) -> int:
        """How many information sets it knows."""
        return len(self.keys)

    @property
    def arrays(self) -> PolicyTable:
        """As compiled code reads it."""
        return PolicyTable(self.keys, self.firsts, self.actions, self.probs)

    def find(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The rows of these keys, ``UNKNOWN`` for those that are not in the table."""
        rows = np.empty(len(keys), np.int64)
        _find(self.keys, keys, rows)
        return rows

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write a file, whole or not at all; a folder gets a ``policy.npz``."""
        path = _file(Path(path))
        arrays = self._arrays()
        header = {
            "format": FORMAT,
            "version": FILE_VERSION,
            "game": self.game.id,
            "options": self.game.options.to_dict(),
            "abstraction": self.abstraction,
            "encoding": _encoding(self.game, self.abstraction),
            "exploitability": self.exploitability,
            "num_infosets": len(self),
            "num_unreached": int((~self.is_reached).sum()),
            "notes": dict(self.notes),
            "checksum": _checksum(arrays),
        }
        text = np.frombuffer(json.dumps(header, indent=1).encode(), np.uint8)
        try:
            write_arrays(path, {"header": text, **arrays}, is_compressed=True)
        except FileError as error:
            raise PolicyError(str(error)) from error
        return path

    @classmethod
    def load(cls, path: str | Path, game: Game) -> Policy:
        """Read a file, the ``policy.npz`` of a folder, or a run of ``train.py``.

        It must be for ``game``, with the same structural options.
        """
        path, header = Path(path), None
        if path.is_dir() and not (path / FILE_NAME).exists():
            values = load_state(path, game)
            if values.keys() != {*ARRAYS, *NOTED}:
                raise PolicyError(f"{path} holds no policy: give the folder of a run of cfr")
            solved = _solved(path, read_header(path)["options"], game)
        else:
            path = _file(path)
            header, arrays = _read(path)
            solved = _check(path, header, game)
            values = {**arrays, **{name: header.get(name) for name in NOTED}}
        encoding = values.pop("encoding")
        _check_values(path, values, game, encoding, solved)
        if header is not None and _checksum(arrays) != header.get("checksum"):
            raise PolicyError(f"{path} is damaged (its checksum is wrong): use an intact copy")
        policy = cls(solved, **values)
        # With other options nobody knows how exploitable it is.
        return policy if solved == game else replace(policy, game=game, exploitability=None)

    def state_dict(self) -> dict[str, Any]:
        """All of it, as ``agents.learning.files`` can keep it."""
        return {
            **self._arrays(),
            "abstraction": self.abstraction,
            "encoding": _encoding(self.game, self.abstraction),
            "exploitability": self.exploitability,
            "notes": dict(self.notes),
        }

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {name: getattr(self, name) for name in ARRAYS}


def _file(path: Path) -> Path:
    return path / FILE_NAME if path.is_dir() or not path.suffix else path


def _checksum(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    if not path.exists():
        raise PolicyError(f"there is no policy at {path}: give the path of one")
    fix = "use an intact copy of a policy file"
    arrays = read_arrays(path, fix, PolicyError)
    try:
        header = json.loads(bytes(arrays.pop("header")))
    except (KeyError, ValueError, RecursionError):
        header = None
    is_ours = isinstance(header, dict) and header.get("format") == FORMAT
    if not is_ours or arrays.keys() != ARRAYS.keys():
        raise PolicyError(f"{path} is no policy file: expected one written by Policy.save")
    return header, arrays


def _check_values(
    path: Path, values: Mapping[str, Any], game: Game, encoding: Any, solved: Game
) -> None:
    with names_from_a_file():
        fault = policy_fault(values, game)
        if fault:
            raise PolicyError(f"{path} is damaged ({fault}): use an intact copy, or solve again")
        if encoding != _encoding(solved, values["abstraction"]):
            raise PolicyError(
                f"{path} encodes what players see as an older version did: solve the game again"
            )


def _check(path: Path, header: Mapping[str, Any], game: Game) -> Game:
    """Refuse what does not fit; the game, with the options for which the policy was made."""
    if header.get("version") != FILE_VERSION:
        raise PolicyError(
            f"{path} has version {header.get('version')!r}, this is version {FILE_VERSION}: solve "
            "the game again"
        )
    if header.get("game") != game.id:
        raise PolicyError(f"{path} is for {header.get('game')}, not for {game.id}")
    return _solved(path, header.get("options"), game)


def _solved(path: Path, theirs: Any, game: Game) -> Game:
    """The game with the options for which the policy was made.

    Random games, from which the fingerprint is made, depend on all options.
    """
    theirs = theirs if isinstance(theirs, dict) else {}
    misfit = game.options.misfit(theirs)
    if misfit or theirs.keys() != game.options.to_dict().keys():
        told = misfit or "other options"
        raise PolicyError(f"{path} is for {game.id} with {told}: play it with these options")
    try:
        return type(game)(**theirs)
    except (MasqueradeError, TypeError) as error:
        raise PolicyError(f"{path} is for no game of ours ({error}): solve again") from error


def _encoding(game: Game, abstraction: str) -> list[Any]:
    return [ENCODING_VERSION, probe_encoding(game, abstraction)]


# ---- playing -------------------------------------------------------------------------------------


@helper
def find_row(keys, key):
    """The row of a key by binary search, or UNKNOWN."""
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < keys.size and keys[low] == key else UNKNOWN


@compiled(types.void(types.uint64[::1], types.uint64[::1], types.int64[::1]))
def _find(keys, wanted, rows):
    for i in range(wanted.size):
        rows[i] = find_row(keys, wanted[i])


class PolicyTable(NamedTuple):
    """The arrays of a policy, as compiled code reads them."""

    keys: Row[np.uint64]
    firsts: Row[np.int64]
    actions: Row[np.int32]
    probs: Row[np.float64]


TABLE, _ROWS = tuple_type(PolicyTable), types.int64[::1]


@compiled(types.void(TABLE, _ROWS, types.uint64[:, ::1], types.int64[::1]))
def _choose(table, rows, rngs, chosen):
    """Draw an action for every row that is known."""
    for i in range(rows.size):
        if rows[i] != UNKNOWN:
            left = uniform(rngs[i])
            for entry in range(table.firsts[rows[i]], table.firsts[rows[i] + 1]):
                # An action of probability 0 is never played, not even when rounding leaves a rest.
                if table.probs[entry] > 0.0:
                    chosen[i] = table.actions[entry]
                    left -= table.probs[entry]
                    if left < 0.0:
                        break


@compiled(types.void(TABLE, _ROWS, types.float64[:, ::1]))
def _spread(table, rows, out):
    """Write the probabilities of every row that is known."""
    for i in range(rows.size):
        if rows[i] != UNKNOWN:
            for entry in range(table.firsts[rows[i]], table.firsts[rows[i] + 1]):
                out[i, table.actions[entry]] = table.probs[entry]


class PolicyAgent(Agent):
    """Plays a policy; where the policy knows nothing it plays uniformly, and counts that.

    An action abstraction says itself what to do where nothing is known.

    Args:
        game: the game to play.
        path: a policy file, a folder with a ``policy.npz``, or a run of ``train.py``.
        policy: a policy in memory, instead of a path.
        abstraction: that of the policy, if it is somebody's own, to say that its code may run.

    >>> import numpy as np
    >>> from agents.cfr import VectorCFRSolver, to_policy
    >>> from envs import make_game
    >>> from envs.core.batch import Batch
    >>> from envs.core.rng import new_rng
    >>> game = make_game("kuhn_v0")
    >>> solver = VectorCFRSolver.of(game, "cfr+")
    >>> solver.run(1000)
    >>> agent = PolicyAgent(game, policy=to_policy(solver.tree, solver.average_policy()))
    >>> batch, rows = Batch(game, 4, chance=new_rng(0)), np.arange(4)
    >>> batch.begin(rows, rows)
    >>> set(agent.act(batch.views(rows)).tolist()) <= {0, 1}, agent.num_unknown
    (True, 0)
    """

    keeps_time = True

    def __init__(
        self,
        game: Game,
        path: str | Path | None = None,
        policy: Policy | None = None,
        abstraction: str | None = None,
    ) -> None:
        """Load the policy and check that it is for this game."""
        super().__init__(game)
        if abstraction is not None:
            DecisionKeys(abstraction, game)
        if policy is None:
            if path is None:
                raise PolicyError("give the path of a policy, such as cfr:runs/leduc")
            policy = Policy.load(path, game)
        elif policy.game != game:
            raise PolicyError(f"this policy is for {policy.game!r}, not for {game!r}")
        self.table = policy
        self._decisions = DecisionKeys(policy.abstraction, game)
        self.num_unknown = 0
        """Decisions so far in information sets that the policy does not know."""

    def act(self, views: Views) -> Actions:
        """Draw once from each row's generator."""
        found, rows = self._look_up(views)
        actions = np.empty(len(views), np.int64)
        _choose(self.table.arrays, rows, views.rngs, actions)
        unknown = np.flatnonzero(rows == UNKNOWN)
        self.num_unknown += len(unknown)
        if found:
            known = np.flatnonzero(rows != UNKNOWN)
            actions[known] = found.actions[known, actions[known]]
            actions[unknown] = found.fallbacks[unknown]
        elif len(unknown):
            rngs: Words = views.rngs[unknown]
            actions[unknown] = random_actions(views.masks[unknown], rngs)
            views.rngs[unknown] = rngs
        return actions

    def learnt(self, _views: Views | None) -> list[Exhibit]:
        """How large the policy is, and what is known of it."""
        table = self.table
        words = f"{len(table):,} information sets, {int(table.is_reached.sum()):,} of them reached."
        if table.exploitability is not None:
            words += f" A best response wins {table.exploitability:.3g} a game from it at most."
        notes = [[str(name), str(value)[:80]] for name, value in table.notes.items()]
        rows = [["note", "value"], *notes] if notes else []
        return [Exhibit("The policy", words, rows)]

    def _look_up(self, views: Views) -> tuple[AbstractViews | None, npt.NDArray[np.int64]]:
        """What abstract actions stand for, if there are such, and the row of every view."""
        if not self._decisions.num_actions:
            return None, self.table.find(self._decisions.keys(views))
        found = self._decisions.look(views)
        return found, self.table.find(found.keys)

    def policy(self, views: Views) -> Floats:
        """The probability of every action in every row: [n, num_actions] float64."""
        found, rows = self._look_up(views)
        table = self.table.arrays
        out = np.zeros((len(views), self.game.facts.num_actions))
        unknown = np.flatnonzero(rows == UNKNOWN)
        if found:
            probs = np.zeros(found.actions.shape)
            _spread(table, rows, probs)
            np.add.at(out, (np.arange(len(views))[:, None], found.actions), probs)
            out[unknown, found.fallbacks[unknown]] = 1.0
            return out
        _spread(table, rows, out)
        if len(unknown):
            masks = views.masks[unknown]
            out[unknown] = masks / masks.sum(axis=1, keepdims=True)
        return out


# ---- what a policy must be before compiled code may play it --------------------------------------
# A checksum only tells that a file is as somebody wrote it. Shapes, ranges, order and sums are
# checked here, for files from anywhere: compiled code checks no bounds.


ARRAYS: dict[str, Any] = {
    "keys": np.uint64,
    "firsts": np.int64,
    "actions": np.int32,
    "probs": np.float64,
    "is_reached": np.bool_,
}
"""The arrays of a policy and what each holds."""
NOTED = ("exploitability", "notes", "abstraction", "encoding")
"""What else belongs to it."""
# Sums of probabilities and differences of values are off by so much at most.
_ROUNDING = 1e-6


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
    num_actions = DecisionKeys(abstraction, game).num_actions or game.facts.num_actions
    if len(actions) and not 0 <= actions.min() <= actions.max() < num_actions:
        return f"its actions must be from 0 to {num_actions - 1}"
    is_first = np.zeros(len(actions), bool)
    is_first[firsts[:-1]] = True
    if (actions[1:] <= actions[:-1])[~is_first[1:]].any():
        return "the actions of a row do not rise"
    if not ((probs >= 0.0) & (probs <= 1.0 + _ROUNDING)).all():
        return "its probabilities are not all from 0 to 1"
    sums = np.add.reduceat(probs, firsts[:-1]) if len(probs) else probs
    if (abs(sums - 1.0) > _ROUNDING).any():
        return f"the probabilities of a row add up to {sums[abs(sums - 1.0).argmax()]:.7g}, not 1"
    value = values.get("exploitability")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and -_ROUNDING <= value < math.inf):
        return f"exploitability must be a number from 0 up, not {value!r}"
    return "" if isinstance(values.get("notes"), Mapping) else "it has no notes"
