"""What checkpoints of all solvers begin with, and how a solver refuses those it cannot go on from.

>>> from envs import make_game
>>> kuhn, leduc = make_game("kuhn_v0"), make_game("leduc_v0")
>>> check_header({**make_header(kuhn), "iteration": 7}, make_header(kuhn))
>>> check_header(make_header(kuhn), make_header(leduc))
Traceback (most recent call last):
...
common.errors.MasqueradeError: this state has game 'kuhn_v0', the solver 'leduc_v0': make the \
solver that saved it
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.errors import MasqueradeError
from envs.core.game import Game

__all__ = ["check_header", "make_header"]

STATE_VERSION = 2


def make_header(game: Game, **learning: Any) -> dict[str, Any]:
    """The game, and whatever else a solver must have in common with the one that it goes on from.

    Args:
        game: what is solved.
        learning: such as the variant, in plain JSON types.
    """
    return {
        "version": STATE_VERSION,
        "game": game.id,
        "options": game.options.to_dict(),
        **learning,
    }


def check_header(state: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse a state of another game, or of a solver that learns otherwise."""
    for name, value in own.items():
        if state.get(name) != value:
            raise MasqueradeError(
                f"this state has {name} {state.get(name)!r}, the solver {value!r}: make the "
                f"solver that saved it"
            )
