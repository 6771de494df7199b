"""Vectors of games: ``VectorEnv`` shows whoever is to move, ``SeatVectorEnv`` one learner's seat.

Both begin the next game in a row as soon as one ends ("same step" automatic reset in Gymnasium's
words).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numba import types

from common.errors import IllegalActionError, MasqueradeError
from envs import make_game
from envs.core.compiling import compiled, direct
from envs.core.engine import ROWS, advance_row, begin_row, make_rows
from envs.core.game import Game
from envs.core.kernels import INT, KERNELS, OPTIONAL_KERNELS, OVER, RNG, RULES
from envs.core.records import Grid, Row, tuple_type
from envs.core.rng import new_rng, seed_stream, stream
from envs.core.rollouts import Player, check_illegal, make_seat_games

NEVER_ASKED = -2
MAX_DEALS = 1_000


class VectorStep(NamedTuple):
    """What one step of all games shows."""

    observations: Grid[np.float32]
    """[n, observation_size] of the player to move."""
    masks: Grid[np.int8]
    """[n, num_actions] of that player."""
    seats: Row[np.int64]
    """[n] who that is."""
    rewards: Grid[np.float64]
    """[n, num_players] what the step paid to everybody, in the game that the action belonged to."""
    dones: Row[np.bool_]
    """[n] whether that game ended; the row already shows the first decision of the next one."""


_STEP = tuple_type(VectorStep)


@compiled(
    INT(
        *(KERNELS, OPTIONAL_KERNELS, RULES, INT, ROWS),
        *(RNG, types.int64[::1], types.int64[::1], types.boolean, _STEP),
    )
)
def _step_all(kernels, optional, rules, num_openings, rows, root, numbers, actions, begins, shown):
    """Play one action in every row and show the next decision; -1, or the first illegal row.

    ``root`` is that of all generators; where every row ``begins`` a game, actions mean nothing.
    """
    masks, rewards = shown.masks, shown.rewards
    for row in range(actions.size):
        action = actions[row]
        if not begins and not (0 <= action < masks.shape[1] and masks[row, action]):
            return row
    for row in range(actions.size):
        shown.dones[row] = False
        turn = OVER
        if begins:
            rewards[row, :] = 0.0
        else:
            paid = rewards[row]
            turn, _ = advance_row(kernels, optional, rules, rows, row, actions[row], paid)
            if turn == OVER:
                shown.dones[row] = True
                numbers[row] += actions.size
        num_deals = 0
        while turn == OVER:
            num_deals += 1
            if num_deals > MAX_DEALS:
                return NEVER_ASKED
            if num_deals > 1:  # over before anybody decided: such a game is dealt again
                numbers[row] += actions.size
            seed_stream(root, numbers[row], rows.rngs[row])
            opening = numbers[row] % num_openings
            turn = begin_row(kernels, optional, rules, rows, row, opening)
        shown.seats[row] = turn
    # Moves of all rows and then what they show keeps machine code and jumps warm.
    for row in range(actions.size):
        kernels.observe(rows.states[row], rules, shown.seats[row], shown.observations[row])
        kernels.legal(rows.states[row], rules, masks[row])
    return -1


_step_rows = direct(_step_all)


class VectorEnv:
    """``num_envs`` games stepped in one compiled call, each row showing the player to move.

    >>> from envs import make_game
    >>> env = VectorEnv(make_game("kuhn_v0"), 4)
    >>> shown = env.reset(seed=0)
    >>> env.step([1, 1, 1, 1]).seats.tolist()
    [1, 1, 1, 1]

    A game that is over before anybody decides is dealt again.

    Args:
        game: the game all rows play.
        num_envs: how many rows.
        has_copies: hand out arrays that stay as they are. Without it the same arrays are written
            again at every step, which is faster, and right for code that uses them up at once.
    """

    def __init__(self, game: Game, num_envs: int, has_copies: bool = True) -> None:
        """Make room for the rows; ``reset`` begins the games."""
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, not {num_envs}")
        self.game = game
        self.num_envs = num_envs
        self.has_copies = has_copies
        self._rows = make_rows(game, num_envs, has_keys=False)
        self._root = new_rng()
        self._numbers = np.zeros(num_envs, np.int64)
        self._shown = VectorStep(
            np.zeros((num_envs, game.observation_size), np.float32),
            np.zeros((num_envs, game.facts.num_actions), np.int8),
            np.zeros(num_envs, np.int64),
            np.zeros((num_envs, game.facts.num_players)),
            np.zeros(num_envs, np.bool_),
        )
        self._has_begun = False

    def reset(self, seed: int | None = None) -> VectorStep:
        """Begin new games in all rows; row *i* plays games *i*, *i* + n, *i* + 2n ..."""
        self._root = new_rng() if seed is None else stream(seed, "chance")
        self._numbers[:] = np.arange(self.num_envs)
        self._has_begun = True
        return self._play(np.zeros(self.num_envs, np.int64), True)

    def step(self, actions: Sequence[int] | npt.NDArray[np.int64]) -> VectorStep:
        """Play one action in every row; if any of them is illegal, none is played."""
        if not self._has_begun:
            raise RuntimeError("call reset() before step()")
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise ValueError(
                f"step needs {self.num_envs} actions, one for each row, not shape {chosen.shape}"
            )
        return self._play(chosen, False)

    def _play(self, actions: npt.NDArray[np.int64], begins: bool) -> VectorStep:
        game, shown = self.game, self._shown
        if self.has_copies:  # the largest array is made anew, the others are copied below
            self._shown = shown = shown._replace(observations=np.empty_like(shown.observations))
        tables = game.kernels, game.optional, game.rules, game.facts.num_openings
        games = self._rows, self._root, self._numbers
        wrong = _step_rows(*tables, *games, actions, begins, shown)
        if wrong == NEVER_ASKED:
            raise MasqueradeError(f"nobody was asked in {MAX_DEALS} games of {game!r}")
        if wrong >= 0:
            legal = ", ".join(str(a) for a in np.flatnonzero(shown.masks[wrong])[:12])
            raise IllegalActionError(
                f"row {wrong}: action {actions[wrong]} is not legal here: choose from {legal}"
            )
        if self.has_copies:
            return VectorStep._make([shown.observations, *(array.copy() for array in shown[1:])])
        return shown


class SeatVectorEnv(
    gymnasium.vector.VectorEnv[npt.NDArray[np.float32], npt.NDArray[np.int64], Any]
):
    """A Gymnasium vector environment: one learner's seat in many games, against opponents.

    Masks are in ``infos["action_mask"]``, and the last observation and info of a finished game in
    ``infos["final_obs"]`` and ``infos["final_info"]``. Rewards reach the learner up to its next
    decision or the end of the game. With seed *s* row *i* plays the same games as the single-agent
    environment with seed *s* + *i*.

    >>> from envs import make_game
    >>> env = SeatVectorEnv(make_game("kuhn_v0"), 8, seat="rotate")
    >>> observations, infos = env.reset(seed=0)
    >>> observations.shape, infos["action_mask"].shape
    ((8, 11), (8, 2))

    Args:
        game: the game all rows play.
        num_envs: how many rows.
        seat: the learner's seat, ``"rotate"`` to move one seat on with every game, or a role.
        opponents: one for all other seats or one for each; uniform random players by default.
        illegal: what an illegal action does: ``"lose"`` that game, or ``"raise"`` an error.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seat: int | str = 0,
        opponents: Player | Sequence[Player] | None = None,
        illegal: str = "lose",
    ) -> None:
        """Seat the learner and the opponents (see ``make_seat_games``)."""
        self.game = game
        self.num_envs = num_envs
        self.illegal = check_illegal(illegal)
        self.single_observation_space = spaces.Box(0.0, 1.0, (game.observation_size,), np.float32)
        self.single_action_space = spaces.Discrete(game.facts.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._table = game, num_envs, seat, opponents
        self._games = make_seat_games(*self._table)
        self._rows = np.arange(num_envs)

    def reset(  # type: ignore[override]
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin new games in all rows, or in those of ``options["reset_mask"]``.

        Args:
            seed: of row 0, each further row has the next; or one for each row.
            options: ``reset_mask``: [num_envs] bool.
        """
        if seed is not None:
            seeds = list(seed) if isinstance(seed, Sequence) else [seed + i for i in self._rows]
            if len(seeds) != self.num_envs:
                raise ValueError(f"{self.num_envs} rows need as many seeds, not {len(seeds)}")
            self._games = make_seat_games(*self._table, seeds=[int(one) for one in seeds])
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ValueError(f"reset_mask must be {self.num_envs} booleans")
        self._games.abandon(self._rows[mask])
        self._games.deal()
        return self._look({})

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[
        npt.NDArray[np.float32],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Play the learner's actions; finished rows begin their next game at once."""
        games = self._games
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"step needs {self.num_envs} actions, not shape {chosen.shape}")
        is_illegal = ~games.batch.is_legal(self._rows, chosen)
        games.act(self._rows, chosen, loses_illegal=self.illegal == "lose")
        rewards, is_over = games.rewards(self._rows), games.is_over
        infos: dict[str, Any] = {}
        if is_over.any():
            infos["final_obs"], masks = games.observe(self._rows)
            masks[is_over] = 1  # as in the single-agent environment
            infos["final_info"] = {
                "action_mask": masks,
                "_action_mask": is_over.copy(),
                "seat": games.seats.copy(),
                "_seat": is_over.copy(),
                "is_illegal": is_illegal,
                "_is_illegal": is_over.copy(),
            }
            infos["_final_obs"], infos["_final_info"] = is_over.copy(), is_over.copy()
            games.deal()
        observations, infos = self._look(infos)
        return observations, rewards, is_over, np.zeros_like(is_over), infos

    def _look(self, infos: dict[str, Any]) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        observations, masks = self._games.observe(self._rows)
        everywhere = np.ones(self.num_envs, np.bool_)
        shown = {"action_mask": masks, "seat": self._games.seats.copy()}
        for name, array in shown.items():
            infos[name], infos[f"_{name}"] = array, everywhere.copy()
        return observations, infos


def make_seat_vector_env(game_id: str, num_envs: int = 1, **kwargs: Any) -> SeatVectorEnv:
    """What ``gymnasium.make_vec`` calls: a game by id with its options, and the seats.

    >>> import gymnasium, envs.adapters
    >>> env = gymnasium.make_vec("masquerade/leduc-v0", num_envs=4, seat="rotate")
    >>> env.num_envs
    4
    """
    own = {name: kwargs.pop(name) for name in ("seat", "opponents", "illegal") if name in kwargs}
    return SeatVectorEnv(make_game(game_id, **kwargs), num_envs, **own)
