"""Where the learner of a Gymnasium environment sits, and who sits around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from common.errors import OptionError
from envs.core.game import Game
from envs.core.rng import new_rng
from envs.core.rollouts import CALLER, Player, Rollouts, UniformPlayer
from envs.core.seat_games import SeatGames
from envs.core.sides import seats_of_role

__all__ = ["check_illegal", "make_seat_games"]

Indices = npt.NDArray[np.int64]


def make_seat_games(
    game: Game,
    size: int,
    seat: int | str = 0,
    opponents: Player | Sequence[Player] | None = None,
    seeds: Sequence[int] | None = None,
) -> SeatGames:
    """Set up ``size`` games with a seat for the learner.

    Args:
        game: the game to play.
        size: how many games side by side.
        seat: the learner's seat; ``"rotate"`` moves on with every game, and the name of a role
            moves on among its seats.
        opponents: one for all other seats, or a list with one for each other seat in order after
            the learner's; uniform random players by default.
        seeds: one for each row, from which all its games follow; by default from the system's
            entropy.
    """
    num_players = game.facts.num_players
    own = _own_seats(game, seat)
    others = list(opponents) if isinstance(opponents, Sequence) else [opponents or UniformPlayer()]
    if len(others) == 1:
        others *= num_players - 1
    if len(others) != num_players - 1:
        raise OptionError(
            f"{game!r} has {num_players - 1} other seats: give one opponent for each, "
            f"not {len(others)}"
        )
    players = list({id(player): player for player in others}.values())
    place = {id(player): i for i, player in enumerate(players)}
    # From the learner's seat on: itself, then the others in order.
    around = np.array([CALLER, *(place[id(player)] for player in others)])

    def seating(numbers: Indices) -> tuple[Indices, Indices]:
        # Whoever opens changes from game to game as well, and must not always be the learner.
        seats = own[numbers // game.facts.num_openings % len(own)]
        return seats, around[(np.arange(num_players) - seats[:, None]) % num_players]

    roots = [int(new_rng()[0]) for _ in range(size)] if seeds is None else seeds
    return SeatGames(Rollouts(game, players, size, roots), seating, is_by_row=True)


def check_illegal(illegal: str) -> str:
    """What an illegal action does to a learner: ``"lose"`` or ``"raise"``."""
    if illegal not in ("raise", "lose"):
        raise OptionError(f"illegal must be 'raise' or 'lose', not {illegal!r}")
    return illegal


def _own_seats(game: Game, seat: int | str) -> Indices:
    num_players = game.facts.num_players
    if seat == "rotate":
        return np.arange(num_players)
    if isinstance(seat, str) and seats_of_role(game.facts, seat):
        return np.array(seats_of_role(game.facts, seat))
    if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < num_players:
        return np.array([seat])
    raise OptionError(f"seat must be from 0 to {num_players - 1}, 'rotate' or a role, not {seat!r}")
