"""Blind tables and their profiles as one JSON file: parallel arrays, and the profile beside them.

The names are those of an earlier program, so that its files can be compared. What it lacked is
added: a version, and the number of dice the table was made for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agents.games.liars_dice.lies import CATEGORIES, LieProfiles
from agents.games.liars_dice.tables import ANNOUNCE, CALL_LIAR, blind_key
from agents.learning.files import CheckpointError
from agents.tabular.model import TabularModel
from common.errors import OptionError
from common.files import read_json, write_json
from envs.liars_dice.kernels import RULES, bid_count, bid_face

__all__ = ["load_table", "save_table"]

VERSION = 1
# In the file, 0 announces a bid and 1 calls it.
_CALL, _LIAR = 0, 1


def save_table(path: Path, model: TabularModel) -> None:
    """Write the table and the profile of a learner; the file is whole or not there."""
    actions, counts, faces, keys = _layout(model)
    saved: dict[str, Any] = {
        "version": VERSION,
        "maxDice": int(model.game.rules.view(RULES)[0].num_dice),
        "actions": actions,
        "quantityField": counts,
        "faceField": faces,
        "qValues": model.table.get(keys).tolist(),
    }
    if isinstance(model.opponents, LieProfiles):
        profile = model.opponents.records[0]
        for i, name in enumerate(CATEGORIES):
            saved[f"{name}GameCount"] = int(profile["num_bids"][i])
            saved[f"{name}GameLieCount"] = int(profile["num_lies"][i])
            saved[f"{name}GameLying"] = float(profile["ratios"][i])
        saved["gamesPlayed"] = int(profile["num_rounds"])
    write_json(path, saved)


def load_table(path: Path, model: TabularModel) -> None:
    """Fill a model with what was saved from one like it."""
    actions, counts, faces, keys = _layout(model)
    try:
        saved = read_json(path, "save it again", CheckpointError)
        version, max_dice = saved["version"], saved["maxDice"]
        values = np.array(saved["qValues"], np.float64)
        layout = saved["actions"], saved["quantityField"], saved["faceField"]
    except CheckpointError:
        raise
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{path} is no saved table: {error}") from error
    num_dice = int(model.game.rules.view(RULES)[0].num_dice)
    if version != VERSION:
        raise CheckpointError(f"{path} is of version {version}, not {VERSION}: train again")
    if max_dice != num_dice:
        raise CheckpointError(
            f"{path} is for {max_dice} dice and the game has {num_dice}: train a table for it"
        )
    if layout != (actions, counts, faces) or values.shape != keys.shape:
        raise CheckpointError(f"{path} does not list every bid once: train again")
    model.table.put(keys, values)
    if isinstance(model.opponents, LieProfiles):
        _load_profile(path, saved, model.opponents.records[0])


def _load_profile(path: Path, saved: dict[str, Any], profile: Any) -> None:
    try:
        for i, name in enumerate(CATEGORIES):
            profile["num_bids"][i] = saved[f"{name}GameCount"]
            profile["num_lies"][i] = saved[f"{name}GameLieCount"]
            profile["ratios"][i] = saved[f"{name}GameLying"]
        profile["num_rounds"] = saved["gamesPlayed"]
    except KeyError as error:
        raise CheckpointError(f"{path} has no profile: {error} is missing") from error


def _layout(model: TabularModel) -> tuple[list[int], list[int], list[int], Any]:
    """Actions, counts, faces and keys of all entries, in the order of the file."""
    if model.settings.abstraction != "blind" or not model.settings.shared:
        raise OptionError("only a shared table with abstraction 'blind' can be kept as JSON")
    r = model.game.rules.view(RULES)[0]
    actions, counts, faces, keys = [], [], [], []
    for bid in range(int(r.liar)):
        for action, kind in ((_LIAR, CALL_LIAR), (_CALL, ANNOUNCE)):
            actions.append(action)
            counts.append(int(bid_count(r, bid)))
            faces.append(int(bid_face(r, bid)))
            keys.append(blind_key(r, bid, kind))
    return actions, counts, faces, np.array(keys, np.uint64)
