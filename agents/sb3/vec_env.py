"""Our games as an environment of Stable-Baselines3: one seat in many games, all stepped at once.

>>> from envs import make_game
>>> env = SeatVecEnv(make_game("kuhn_v0"), num_envs=4)
>>> _ = env.seed(0)
>>> env.reset().shape, env.action_masks().shape
((4, 11), (4, 2))

Any algorithm of the library learns in it; MaskablePPO asks for the masks by itself::

    from sb3_contrib import MaskablePPO

    game = make_game("leduc_v0")
    env = SeatVecEnv(game, num_envs=16, opponents=make_agent("leduc_rule", game))
    MaskablePPO("MlpPolicy", env).learn(100_000)

A step ends at the model's next decision or at the end of the game, and pays what its seat got in
between. Opponents answer for all games in one call. An action that is not legal forfeits the game:
that costs the lowest return of the seat, so it is no way out of a lost game.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv

from agents.learning.games import LearnerGames
from agents.learning.learner import State, Task, named, part
from agents.sb3.player import spaces_of
from common.saved import restore
from envs.core.game import Game
from envs.core.rollouts import Player, SeatGames, make_seat_games

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


class GamesVecEnv(VecEnv):
    """A ``VecEnv`` over games with a seat for the model.

    Args:
        games: the games, with the others who sit in them.
    """

    def __init__(self, games: SeatGames) -> None:
        """Make room for what the model is told; ``reset`` begins the games."""
        game, size = games.batch.game, games.batch.size
        super().__init__(size, *spaces_of(game))
        self.games = games
        self._rows: Indices = np.arange(size)
        self._num_decisions: Indices = np.zeros(size, np.int64)
        self._masks = np.zeros((size, game.facts.num_actions), np.int8)
        self._actions: Indices = np.zeros(size, np.int64)

    # ---- playing ---------------------------------------------------------------------------------

    def reset(self) -> Floats:
        """Begin new games in all rows, up to the first decision of the model in each."""
        self.games.abandon(self._rows)
        return self._deal()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Note what the model has decided."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> tuple[Floats, Floats, npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play it, let the others answer, and begin new games where one is over."""
        games, rows = self.games, self._rows
        games.act(rows, self._actions, loses_illegal=True)
        self._num_decisions += 1
        rewards = games.rewards(rows).astype(np.float32)
        is_over = games.is_over
        infos: list[dict[str, Any]] = [{} for _ in rows]
        ended = np.flatnonzero(is_over)
        observations, _ = games.observe(ended)
        for row, seen in zip(ended, observations, strict=True):
            total = float(games.batch.totals[row, games.seats[row]])
            episode = {"r": total, "l": int(self._num_decisions[row]), "t": 0.0}
            infos[row].update(terminal_observation=seen, episode=episode)
        self._note_ends(ended)
        return self._deal(), rewards, is_over, infos

    def _note_ends(self, rows: Indices) -> None:
        """Games are over."""

    def _deal(self) -> Floats:
        self.games.deal(on_end=self._forget)
        return self._look()

    def _forget(self, rows: Indices) -> None:
        """New games begin in the rows."""
        self._num_decisions[rows] = 0

    def _look(self) -> Floats:
        observations, self._masks = self.games.observe(self._rows)
        return observations

    # ---- what the library asks of an environment -------------------------------------------------

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """[num_envs, num_actions] what is legal, for MaskablePPO."""
        return self._masks.astype(np.bool_)

    def has_attr(self, attr_name: str) -> bool:
        """Whether its games have something by this name."""
        return attr_name in ("action_masks", "render_mode")

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Nothing can be read but that nothing is drawn."""
        if attr_name != "render_mode":
            raise AttributeError(attr_name)
        return [None] * self._num_of(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set."""
        raise AttributeError(attr_name)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **more: Any) -> Any:
        """The masks, which is all that is ever asked for."""
        if method_name != "action_masks":
            raise AttributeError(method_name)
        return self.action_masks()[list(self._get_indices(indices))]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Not in anything."""
        return [False] * self._num_of(indices)

    def _num_of(self, indices: Iterable[int] | int | None) -> int:
        return len(list(self._get_indices(indices)))

    def close(self) -> None:
        """There is nothing to close."""


class SeatVecEnv(GamesVecEnv):
    """For use outside ``train.py``: a seat, and opponents around it, as in ``SeatVectorEnv``.

    After ``seed(s)`` row *i* plays the same games as our other environments do with seed *s* + *i*.

    Args:
        game: the game all rows play.
        num_envs: how many games side by side.
        seat: the model's seat; ``"rotate"`` moves on with every game, the name of a role moves on
            among its seats.
        opponents: one for all other seats, or a list with one for each other seat in order after
            the model's; uniform random players by default. Every agent of this project can be one.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seat: int | str = "rotate",
        opponents: Player | Sequence[Player] | None = None,
    ) -> None:
        """Seat the model and the opponents."""
        self._seats = game, num_envs, seat, opponents
        super().__init__(make_seat_games(*self._seats))

    def reset(self) -> Floats:
        """Begin new games in all rows; after ``seed``, those of the seed."""
        if self._seeds[0] is not None:
            self.games = make_seat_games(*self._seats, [seed or 0 for seed in self._seeds])
            self._reset_seeds()
        return super().reset()


class TrainingVecEnv(GamesVecEnv):
    """The games of a run of ``train.py``: opponents are drawn for every game, all can be resumed.

    Args:
        task: the game, the seed, the opponents and the role.
        size: how many games side by side.
    """

    games: LearnerGames

    def __init__(self, task: Task, size: int) -> None:
        """Set up the games; ``reset`` begins them."""
        super().__init__(LearnerGames(task, size))
        self._returns: list[float] = []
        self._lengths: list[int] = []

    def _note_ends(self, rows: Indices) -> None:
        batch = self.games.batch
        self._returns += batch.totals[rows, self.games.seats[rows]].tolist()
        self._lengths += batch.lengths[rows].tolist()

    def take_log(self) -> dict[str, float]:
        """Averages over the games that have ended since this was last asked."""
        found = {}
        if self._returns:
            found["charts/return"] = float(np.mean(self._returns))
            found["charts/length"] = float(np.mean(self._lengths))
        self._returns, self._lengths = [], []
        return found

    def state_dict(self) -> State:
        """All games in play."""
        games = named("games.", self.games.state_dict())
        return {**games, "num_decisions": self._num_decisions.copy()}

    def load_state_dict(self, state: State) -> None:
        """Go on with the games that ``state`` was taken from."""
        self.games.load_state_dict(part(state, "games."))
        restore({"num_decisions": self._num_decisions}, state)
        self._look()
