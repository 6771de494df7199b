"""For which games the solvers promise an equilibrium."""

from __future__ import annotations

import sys

from envs.core.game import Game
from envs.core.sides import is_zero_sum_duel

__all__ = ["has_guarantee", "say_if_no_guarantee"]


def has_guarantee(game: Game) -> bool:
    """Whether two players play for a constant sum: there, what CFR averages is an equilibrium.

    >>> from envs import make_game
    >>> has_guarantee(make_game("kuhn_v0")), has_guarantee(make_game("kuhn_v0", num_players=3))
    (True, False)
    """
    return is_zero_sum_duel(game.facts)


def say_if_no_guarantee(game: Game) -> None:
    """Tell people, in one line, that a run of CFR need not end in an equilibrium."""
    if not has_guarantee(game):
        print(
            f"masquerade: {game!r} is not a game of two players for a constant sum, so CFR need "
            "not come to an equilibrium",
            file=sys.stderr,
        )
