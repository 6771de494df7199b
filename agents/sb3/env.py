"""The environment a model learns in: one seat in many games, all of them stepped at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv

from agents.learning.games import LearnerGames
from agents.learning.learner import State, Task, part
from agents.sb3.settings import spaces_of

__all__ = ["SchoolVecEnv"]

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


class SchoolVecEnv(VecEnv):
    """``size`` games with a seat for the model, against whoever is drawn for each of them.

    A step ends at the model's next decision or at the end of the game, and pays what its seat got
    in between. Opponents answer for all games in one call. An action that is not legal ends the
    game with the worst return there is: were it any better, it would be a way out of a lost game.

    Args:
        task: the game, the seed and the opponents.
        size: how many games side by side.
    """

    def __init__(self, task: Task, size: int) -> None:
        """Set up the tables; ``reset`` begins the games."""
        self.games = LearnerGames(task, size)
        super().__init__(size, *spaces_of(task.game))
        self._rows: Indices = np.arange(size)
        self._num_decisions: Indices = np.zeros(size, np.int64)
        self._masks = np.zeros((size, task.game.facts.num_actions), np.int8)
        self._actions: Indices = np.zeros(size, np.int64)
        self._returns: list[float] = []
        self._lengths: list[int] = []

    # ---- playing ---------------------------------------------------------------------------------

    def reset(self) -> Floats:
        """Begin the games, up to the first decision of the model in each."""
        self.games.deal(on_end=self._forget)
        return self._look()

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
        self._note_ends(np.flatnonzero(is_over), infos)
        games.deal(on_end=self._forget)
        return self._look(), rewards, is_over, infos

    def _note_ends(self, rows: Indices, infos: list[dict[str, Any]]) -> None:
        """What the library wants to know of games that are over, and what our curves do."""
        games, batch = self.games, self.games.batch
        observations, _ = games.observe(rows)
        for row, seen in zip(rows, observations, strict=True):
            total = float(batch.totals[row, games.seats[row]])
            episode = {"r": total, "l": int(self._num_decisions[row]), "t": 0.0}
            infos[row].update(terminal_observation=seen, episode=episode)
            self._returns.append(total)
            self._lengths.append(int(batch.lengths[row]))

    def _forget(self, rows: Indices) -> None:
        """New games begin in the rows."""
        self._num_decisions[rows] = 0

    def _look(self) -> Floats:
        observations, self._masks = self.games.observe(self._rows)
        return observations

    def take_log(self) -> dict[str, float]:
        """Averages over the games that have ended since this was last asked."""
        found = {}
        if self._returns:
            found["charts/return"] = float(np.mean(self._returns))
            found["charts/length"] = float(np.mean(self._lengths))
        self._returns, self._lengths = [], []
        return found

    # ---- what the library asks of an environment -------------------------------------------------

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """[size, num_actions] what is legal, for MaskablePPO."""
        return self._masks.astype(np.bool_)

    def has_attr(self, attr_name: str) -> bool:
        """Whether its games have something by this name."""
        return attr_name == "action_masks"

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

    # ---- memory ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """All games in play."""
        state = {f"games.{name}": value for name, value in self.games.state_dict().items()}
        return {
            **state,
            "num_decisions": self._num_decisions.copy(),
        }

    def load_state_dict(self, state: State) -> None:
        """Go on with the games that ``state`` was taken from."""
        self.games.load_state_dict(part(state, "games."))
        self._num_decisions[:] = state["num_decisions"]
        self._look()
