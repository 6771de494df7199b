"""One PettingZoo AEC environment over any game.

A step is one compiled call: the action, the chance after it, the rewards and the next mask. The
guarantees of PettingZoo's three classic wrappers (order enforced, actions out of range refused, an
illegal move ends the game at -1 for the mover) are built in, because the wrappers cost more than
the game.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger, spaces
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from envs.adapters.picture import draw_text
from envs.core.batch import advance_game, begin_game, observe_game
from envs.core.compiling import direct
from envs.core.errors import IllegalActionError, OptionError
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.position import Position
from envs.core.rng import new_rng, seed_rng

__all__ = ["GameEnv"]

RENDER_MODES = ("ansi", "rgb_array")
ILLEGAL_REWARD = -1.0

_begin_game = direct(begin_game)
_advance_game = direct(advance_game)
_observe_game = direct(observe_game)
_seed_rng = direct(seed_rng)

# What PettingZoo does not let one read before reset.
_AFTER_RESET = {
    "agents",
    "agent_selection",
    "num_agents",
    "rewards",
    "terminations",
    "truncations",
    "infos",
    "_cumulative_rewards",
}


class GameEnv(AECEnv[str, dict[str, npt.NDArray[Any]], int]):
    """Any game as a PettingZoo environment; see ``envs.make_env`` and ``envs.make_raw_env``.

    Observations are dictionaries: ``observation`` (float32) and ``action_mask`` (int8, all zero for
    a player who is not to move). A player who is out stays in ``agents``, is never selected, and
    terminates with the others.

    >>> from envs import leduc_v0
    >>> env = leduc_v0.env()
    >>> env.reset(seed=3)
    >>> observation, reward, terminated, truncated, info = env.last()
    >>> observation["action_mask"].tolist()
    [0, 1, 1]

    Args:
        game: the game to play.
        render_mode: ``"ansi"`` for text, ``"rgb_array"`` for a picture, or ``None``.
        is_raw: raise an error on an illegal action instead of ending the game.
    """

    def __init__(self, game: Game, render_mode: str | None = None, is_raw: bool = False) -> None:
        """Make the spaces and the buffers; ``reset`` starts the first game."""
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise OptionError(
                f"render_mode must be one of {', '.join(RENDER_MODES)} or None, not {render_mode!r}"
            )
        self.game = game
        self.metadata = {
            "name": game.id,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.render_mode = render_mode
        self.is_raw = is_raw
        facts = game.facts
        self.possible_agents = [f"player_{player}" for player in range(facts.num_players)]
        self.observation_spaces = {
            agent: _observation_space(game) for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(facts.num_actions) for agent in self.possible_agents
        }
        self._players = {agent: player for player, agent in enumerate(self.possible_agents)}
        self._openings = game.openings
        self._rng = new_rng()
        self._number = -1
        self._turn = OVER
        self._length = 0
        self._has_updated = False
        self._state = np.zeros(game.state_size, np.uint8)
        self._history = np.zeros(facts.max_length, np.int32)
        self._no_keys = np.zeros((1, 0), np.uint64)
        self._mask = np.zeros(facts.num_actions, np.int8)
        self._no_mask = np.zeros(facts.num_actions, np.int8)
        self._totals = np.zeros(facts.num_players)
        self._paid = np.zeros(facts.num_players)

    def __getattr__(self, name: str) -> Any:
        """Reached only for what does not exist: say so kindly before the first reset."""
        if name in _AFTER_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset: call env.reset() first")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    # ---- spaces
    # -----------------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same for every seat."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same for every seat."""
        return self.action_spaces[agent]

    # ---- playing
    # ----------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. With a seed the whole series of games from here on is determined."""
        if seed is not None:
            _seed_rng(self._rng, operator.index(seed) & 0xFFFFFFFFFFFFFFFF)
            self._number = -1
        self._number += 1
        game = self.game
        self._turn, self._length = _begin_game(
            game.kernels,
            self._openings,
            game.rules,
            self._number,
            self._state,
            self._rng,
            self._history,
            self._no_keys,
            self._totals,
            self._mask,
        )
        agents = self.possible_agents
        self.agents = agents.copy()
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        self._has_rewards = False
        self._has_updated = True
        self.agent_selection = agents[self._turn]

    def step(self, action: int | None) -> None:
        """Play the selected agent's action; after the end, ``None`` takes the agents off."""
        agents = self.agents
        self._has_updated = True
        if self._turn == OVER:
            self._dead_step(action)
            return
        agent = self.agent_selection
        number = self._checked(action)
        if number is None:
            self._end_by_illegal_move(agent)
            return
        game = self.game
        self._turn, self._length, has_paid = _advance_game(
            game.kernels,
            game.rules,
            self._state,
            self._rng,
            number,
            self._history,
            self._length,
            self._no_keys,
            self._totals,
            self._paid,
            self._mask,
        )
        self._cumulative_rewards[agent] = 0.0
        if has_paid:
            self.rewards = dict(zip(agents, self._paid.tolist(), strict=True))
            self._accumulate_rewards()
            self._has_rewards = True
        elif self._has_rewards:
            self.rewards = dict.fromkeys(agents, 0.0)
            self._has_rewards = False
        if self._turn == OVER:
            self.terminations = dict.fromkeys(agents, True)
            self.agent_selection = agents[0]
        else:
            self.agent_selection = agents[self._turn]

    def _checked(self, action: Any) -> int | None:
        """The action as a number, or ``None`` if it is an illegal one that ends the game."""
        num_actions = self.game.facts.num_actions
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if not 0 <= number < num_actions:
            raise IllegalActionError(
                f"action {action!r} is out of range: choose from 0 to {num_actions - 1}"
            )
        if self._mask[number]:
            return number
        if self.is_raw:
            self.position().apply(number)  # raises, and names what is legal
        return None

    def _end_by_illegal_move(self, mover: str) -> None:
        EnvLogger.warn_on_illegal_move()
        self._turn = OVER
        self._cumulative_rewards[mover] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[mover] = ILLEGAL_REWARD
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def _dead_step(self, action: int | None) -> None:
        """Take one agent of a finished game off; they go in seat order."""
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        if action is not None:
            raise ValueError("the game is over: the only valid action is None, until reset")
        agent = self.agents.pop(0)
        for table in (self.terminations, self.truncations, self._cumulative_rewards, self.infos):
            del table[agent]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if self.agents:
            self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """What ``agent`` sees now; fresh arrays, to keep."""
        if self._number < 0:
            EnvLogger.error_observe_before_reset()
        game, player = self.game, self._players[agent]
        observation = np.empty(game.observation_size, np.float32)
        _observe_game(game.kernels, game.rules, self._state, player, observation)
        mask = self._mask.copy() if player == self._turn else self._no_mask.copy()
        return {"observation": observation, "action_mask": mask}

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, npt.NDArray[Any]] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, terminated, truncated and info of the agent."""
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """Yield the selected agent until nobody is left; the loop must step or reset each time."""
        if self._number < 0:
            EnvLogger.error_agent_iter_before_reset()
        return self._iterate(max_iter)

    def _iterate(self, max_iter: int) -> Iterator[str]:
        while self.agents and max_iter > 0:
            if not self._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            self._has_updated = False
            max_iter -= 1
            yield self.agent_selection

    # ---- looking
    # ----------------------------------------------------------------------------------------

    def position(self) -> Position:
        """A copy of the game so far, with its log: to save, replay, search or look at."""
        position = Position(self.game, max(self._number, 0))
        position.state[:] = self._state
        position.history = [int(action) for action in self._history[: self._length]]
        return position

    def state(self) -> npt.NDArray[np.float32]:
        """Everybody's observation side by side, for training with a central critic."""
        if self._number < 0:
            EnvLogger.error_state_before_reset()
        return np.concatenate(
            [self.observe(agent)["observation"] for agent in self.possible_agents]
        )

    def render(self) -> str | npt.NDArray[np.uint8] | None:  # type: ignore[override]
        """The whole table, as text or as a picture, whichever ``render_mode`` asks for."""
        if self._number < 0:
            EnvLogger.error_render_before_reset()
        if self.render_mode is None:
            logger.warn(
                "render_mode is None: make the environment with render_mode='ansi' or 'rgb_array'"
            )
            return None
        text = self.game.render(self._state)
        return text if self.render_mode == "ansi" else draw_text(text)

    def close(self) -> None:
        """Nothing is held open."""


def _observation_space(game: Game) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(0.0, 1.0, (game.observation_size,), np.float32),
            "action_mask": spaces.Box(0, 1, (game.facts.num_actions,), np.int8),
        }
    )
