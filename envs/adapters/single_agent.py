"""A Gymnasium environment: one seat for a learner, the other seats played by agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from common.errors import IllegalActionError
from envs import make_game
from envs.adapters.rendering import RENDER_MODES, Screen
from envs.core.game import Game
from envs.core.rollouts import Player, check_illegal, make_seat_games

_ROW = np.zeros(1, np.int64)


class SingleAgentEnv(gymnasium.Env[npt.NDArray[np.float32], np.int64]):
    """One learner among opponents; ``action_masks`` is what sb3-contrib's MaskablePPO looks for.

    The reward of a step is all the learner is paid until its next decision or the end of the game,
    so a loser sees the loss. When the game is over every action is in the mask: Gymnasium's vectors
    ask for one more, which nobody looks at, before they begin the next game.

    >>> import gymnasium, envs.adapters
    >>> env = gymnasium.make("masquerade/kuhn-v0", seat=1)
    >>> observation, info = env.reset(seed=0)
    >>> info["action_mask"].tolist()
    [1, 1]

    Args:
        game: the game to play.
        seat: the learner's seat, ``"rotate"`` to move one seat on with every game, or a role.
        opponents: one for all other seats or one for each; uniform random players by default.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (a window) or ``None``; shows what the
            learner sees.
        illegal: what an illegal action does: ``"lose"`` the game with the lowest return of the
            learner's side, so that learners without masks can be trained, or ``"raise"`` an error
            that names the legal ones.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: Game,
        seat: int | str = 0,
        opponents: Player | Sequence[Player] | None = None,
        render_mode: str | None = None,
        illegal: str = "lose",
    ) -> None:
        """Seat the learner and the opponents (see ``make_seat_games``)."""
        self.game = game
        self.render_mode = render_mode
        self._screen = Screen(game.id, render_mode)
        self.illegal = check_illegal(illegal)
        self.observation_space = spaces.Box(0.0, 1.0, (game.observation_size,), np.float32)
        self.action_space = spaces.Discrete(game.facts.num_actions)
        self._table = game, 1, seat, opponents
        self._games = make_seat_games(*self._table)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin a game and let the others move until the learner is asked."""
        super().reset(seed=seed)
        if seed is not None:
            self._games = make_seat_games(*self._table, seeds=[seed])
        self._games.abandon(_ROW)
        self._games.deal()
        return self._look()

    def step(
        self, action: np.int64 | int
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play the learner's action and let the others answer."""
        games, chosen = self._games, np.array([action], np.int64)
        if games.is_over[0]:
            raise IllegalActionError("the game is over: call reset() before step()")
        is_legal = bool(games.batch.is_legal(_ROW, chosen)[0])
        games.act(_ROW, chosen, loses_illegal=self.illegal == "lose")
        observation, info = self._look()
        if not is_legal:
            info["is_illegal"] = True
        return observation, float(games.rewards(_ROW)[0]), bool(games.is_over[0]), False, info

    def _look(self) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        observations, masks = self._games.observe(_ROW)
        if self._games.is_over[0]:
            masks.fill(1)
        self._mask = masks[0]
        if self.render_mode == "human":
            self.render()
        return observations[0], {"action_mask": masks[0], "seat": int(self._games.seats[0])}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now, for MaskablePPO."""
        masks: npt.NDArray[np.bool_] = self._mask.astype(np.bool_)
        return masks

    def render(self) -> str | npt.NDArray[np.uint8] | None:  # type: ignore[override]
        """The table as the learner sees it."""
        batch, seat = self._games.batch, int(self._games.seats[0])
        return self._screen.show(lambda: batch.text(0, seat), lambda: batch.draw(0, seat))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()


def make_single_agent_env(game_id: str, **kwargs: Any) -> SingleAgentEnv:
    """What Gymnasium's registry calls: a game by id with its options, and the seats."""
    names = ("seat", "opponents", "render_mode", "illegal")
    own = {name: kwargs.pop(name) for name in names if name in kwargs}
    return SingleAgentEnv(make_game(game_id, **kwargs), **own)
