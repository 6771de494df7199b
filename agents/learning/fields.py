"""Which part of an observation a learner sees: fields of the game by their names."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from common.errors import OptionError, nearest
from envs.core.game import Game

__all__ = ["Inputs"]


class Inputs:
    """The named fields of an observation, in the order of the game.

    >>> from envs import make_game
    >>> game = make_game("holdem_v0", preset="thesis")
    >>> Inputs(game).size, Inputs(game, ["own_cards*", "position"]).size
    (330, 62)
    >>> Inputs(game, ["own_card"])
    Traceback (most recent call last):
    ...
    common.errors.OptionError: inputs: holdem_v0 has no field 'own_card': did you mean ...

    Args:
        game: whose observations they are.
        names: fields, with ``*`` for any letters; empty: all of them.
    """

    def __init__(self, game: Game, names: Sequence[str] = ()) -> None:
        """Find the places of the fields."""
        fields = [field.name for field in game.fields]
        for name in names:
            if not any(fnmatchcase(field, name) for field in fields):
                raise OptionError(
                    f"inputs: {game.id} has no field '{name}': {nearest(name, fields)}"
                )
        is_wanted = [
            not names or any(fnmatchcase(field.name, name) for name in names)
            for field in game.fields
        ]
        sizes = [field.size for field in game.fields]
        self._columns = np.flatnonzero(np.repeat(is_wanted, sizes))
        self._has_all = all(is_wanted)
        self.size = len(self._columns)
        """How many numbers are left of an observation."""

    def of(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The columns that are seen: [..., observation_size] -> [..., size]."""
        if self._has_all:
            return observations
        return np.ascontiguousarray(observations[..., self._columns])
