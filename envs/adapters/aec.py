"""One PettingZoo AEC environment over any game.

A step is one compiled call: the action, the chance after it, the rewards and the next mask. The
guarantees of PettingZoo's three classic wrappers (order enforced, actions out of range refused, an
illegal move loses the game) are built in, because the wrappers cost more than the game.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from common.errors import IllegalActionError, MasqueradeError
from envs.adapters.rendering import RENDER_MODES, Screen
from envs.core.engine import ILLEGAL, Frame, advance_game, begin_game, observe_game
from envs.core.facts import forfeit_returns
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.position import Position
from envs.core.rng import new_rng

MAX_DEALS = 1_000

# How many observations and masks are made at once.
PAGES_PER_BLOCK = 256

Page = tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]


class _Pages:
    """Observations and masks to write, each handed out once and never written again.

    Rows of a block that are taken one by one cost a fraction of arrays of their own.
    """

    def __init__(self, observation_size: int, mask_size: int) -> None:
        self._sizes = observation_size, mask_size
        self.block: Iterator[Page] = iter(())

    def more(self) -> Page:
        """The first page of a new block."""
        observation_size, mask_size = self._sizes
        observations = np.empty((PAGES_PER_BLOCK, observation_size), np.float32)
        masks = np.empty((PAGES_PER_BLOCK, mask_size), np.int8)
        self.block = zip(observations, masks, strict=True)
        return next(self.block)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy of an environment fills pages of its own."""
        return _Pages, self._sizes


class GameEnv(AECEnv[str, dict[str, npt.NDArray[Any]], int]):
    """Any game as a PettingZoo environment; see ``envs.make_env`` and ``envs.make_raw_env``.

    Observations are dictionaries: ``observation`` (float32) and ``action_mask`` (int8, all zero for
    a player who waits, and all one when the game is over: libraries that draw an action from every
    observation, the last one too, must be able to). A player who is out stays in ``agents``, is
    never selected, and terminates with the others. An illegal move ends the game and costs the
    mover's side its lowest return.

    >>> from envs import leduc_v0
    >>> env = leduc_v0.env()
    >>> env.reset(seed=3)
    >>> observation, reward, terminated, truncated, info = env.last()
    >>> observation["action_mask"].tolist()
    [0, 1, 1]

    Args:
        game: the game to play.
        render_mode: ``"ansi"`` for text, ``"rgb_array"`` for a picture, ``"human"`` for a window,
            or ``None``.
        is_raw: raise an error on an illegal action instead of ending the game.
    """

    def __init__(self, game: Game, render_mode: str | None = None, is_raw: bool = False) -> None:
        """Make the spaces and the buffers; ``reset`` starts the first game."""
        super().__init__()
        self.game = game
        self.metadata = {
            "name": game.id,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.render_mode = render_mode
        self._is_live = render_mode == "human"
        self._screen = Screen(game.id, render_mode)
        self.is_raw = is_raw
        facts = game.facts
        self.possible_agents = [f"player_{player}" for player in range(facts.num_players)]
        self.observation_spaces = {
            agent: _observation_space(game) for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(facts.num_actions) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(
            0.0, 1.0, (facts.num_players * game.observation_size,), np.float32
        )
        self._players = {agent: player for player, agent in enumerate(self.possible_agents)}
        self._num_openings = facts.num_openings
        self._frame = Frame(game)
        self._frame["rng"][:] = new_rng()
        self._pages = _Pages(game.observation_size, facts.num_actions)
        self._zeros = dict.fromkeys(self.possible_agents, 0.0)
        self._falses = dict.fromkeys(self.possible_agents, False)
        self._trues = dict.fromkeys(self.possible_agents, True)
        self._number = -1
        self._turn = OVER
        self._viewer = ""  # who is to be shown what the last step made, once
        self._shown: dict[str, npt.NDArray[Any]] = {}
        self._has_updated = False

    # ---- spaces ----------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same for every seat."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same for every seat."""
        return self.action_spaces[agent]

    # ---- playing ---------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. With a seed the whole series of games from here on is determined.

        Nobody may be done after a reset, says PettingZoo: a game that is over before anybody
        decides is dealt again.
        """
        game, frame, pages = self.game, self._frame, self._pages
        if seed is not None:
            frame["rng"][:] = new_rng(operator.index(seed))
            self._number = -1
        observation, mask = next(pages.block, None) or pages.more()
        first = self._number + 1
        turn = OVER
        while turn < 0:
            self._number += 1
            if self._number - first == MAX_DEALS:
                raise MasqueradeError(f"nobody was asked in {MAX_DEALS} games of {game!r}")
            opening = self._number % self._num_openings
            turn = begin_game(game.kernels, game.rules, frame.buffer, opening, observation, mask)
        self._shown = {"observation": observation, "action_mask": mask}
        agents = self.possible_agents
        self.agents = agents.copy()
        self.rewards = self._zeros.copy()
        self._cumulative_rewards = self._zeros.copy()
        self.terminations = self._falses.copy()
        self.truncations = self._falses.copy()
        self.infos: dict[str, dict[str, Any]] = {}
        for agent in agents:  # a comprehension takes twice as long
            self.infos[agent] = {}
        self._has_rewards = False
        self._has_updated = True
        self._turn = turn
        self.agent_selection = self._viewer = agents[turn]
        if self._is_live:
            self.render()

    def step(self, action: int | None) -> None:
        """Play the selected agent's action; after the end, ``None`` takes the agents off."""
        self._has_updated = True
        if self._turn == OVER:
            self._dead_step(action)
            return
        game, frame, pages = self.game, self._frame, self._pages
        number = action if type(action) is int else self._whole_number(action)
        observation, mask = next(pages.block, None) or pages.more()
        code = advance_game(game.kernels, game.rules, frame.buffer, number, observation, mask)
        if code == ILLEGAL:
            self._refuse(number)
            return
        agents, agent, turn = self.agents, self.agent_selection, code >> 1
        self._turn = turn
        self._shown = {"observation": observation, "action_mask": mask}
        self._cumulative_rewards[agent] = 0.0
        if code & 1:  # somebody was paid
            self._pay(frame.paid.tolist())
        elif self._has_rewards:
            self.rewards = self._zeros.copy()
            self._has_rewards = False
        if turn == OVER:
            mask.fill(1)
            self.terminations = self._trues.copy()
            turn = 0
        self.agent_selection = self._viewer = agents[turn]
        if self._is_live:
            self.render()

    def _pay(self, amounts: list[float]) -> None:
        """Set the rewards and accumulate them; PettingZoo's own method takes a second loop."""
        rewards, cumulative = {}, self._cumulative_rewards
        for agent, amount in zip(self.agents, amounts, strict=True):
            rewards[agent] = amount
            cumulative[agent] += amount
        self.rewards = rewards
        self._has_rewards = True

    def _whole_number(self, action: Any) -> int:
        try:
            return operator.index(action)
        except TypeError:
            last = self.game.facts.num_actions - 1
            raise IllegalActionError(
                f"action {action!r} is out of range: choose from 0 to {last}"
            ) from None

    def _refuse(self, action: int) -> None:
        """An action out of range is an error; an illegal one too in a raw env, else it loses."""
        last = self.game.facts.num_actions - 1
        if not 0 <= action <= last:
            raise IllegalActionError(f"action {action!r} is out of range: choose from 0 to {last}")
        if self.is_raw:
            self.position().apply(action)  # raises, and names what is legal
        self._end_by_illegal_move(self.agent_selection)

    def _end_by_illegal_move(self, mover: str) -> None:
        EnvLogger.warn_on_illegal_move()
        game, frame = self.game, self._frame
        totals = frame["totals"]
        so_far = np.zeros(len(totals))
        game.kernels.returns(frame["state"], game.rules, so_far)
        returns = forfeit_returns(game.facts, self._turn, so_far)
        self._turn = OVER
        self._cumulative_rewards[mover] = 0.0
        self._pay((returns - totals).tolist())
        self.terminations = self._trues.copy()
        self.truncations = self._trues.copy()
        self._viewer = ""
        self.agent_selection = self.agents[0]

    def _dead_step(self, action: int | None) -> None:
        """Take one agent of a finished game off; they go in seat order."""
        if action is not None or self._number < 0 or not self.agents:
            self._refuse_dead_step()
            return
        agents = self.agents
        agent = agents.pop(0)
        del self.terminations[agent], self.truncations[agent], self.infos[agent]
        del self._cumulative_rewards[agent]
        self._viewer = ""
        self.rewards = rewards = {}
        for agent in agents:  # twice as fast as ``dict.fromkeys``
            rewards[agent] = 0.0
        if agents:
            self.agent_selection = agents[0]

    def _refuse_dead_step(self) -> None:
        if self._number < 0:
            EnvLogger.error_step_before_reset()
        elif self.agents:
            raise ValueError("the game is over: the only valid action is None, until reset")
        EnvLogger.warn_step_after_terminated_truncated()

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """What ``agent`` sees now; the arrays are yours to keep."""
        if agent == self._viewer:
            self._viewer = ""  # whoever asks again gets arrays of its own
            return self._shown
        if self._number < 0:
            EnvLogger.error_observe_before_reset()
        game, pages, player = self.game, self._pages, self._players[agent]
        observation, mask = next(pages.block, None) or pages.more()
        buffer, turn = self._frame.buffer, self._turn
        observe_game(game.kernels, game.rules, buffer, player, turn, observation, mask)
        if self._turn == OVER:
            mask.fill(1)
        return {"observation": observation, "action_mask": mask}

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, npt.NDArray[Any]] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, terminated, truncated and info of the agent."""
        try:
            agent = self.agent_selection
        except AttributeError:
            EnvLogger.error_observe_before_reset()
            raise
        shown: dict[str, npt.NDArray[Any]] | None
        if not observe:
            shown = None
        elif agent is self._viewer:
            self._viewer = ""
            shown = self._shown
        else:
            shown = self.observe(agent)
        return (
            shown,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """Yield the selected agent until nobody is left.

        Every turn of the loop must step or reset; a raw env trusts the caller with that.
        """
        if self._number < 0:
            EnvLogger.error_agent_iter_before_reset()
        return self._iterate(max_iter)

    def _iterate(self, max_iter: int) -> Iterator[str]:
        turns = repeat(None, min(max_iter, sys.maxsize))
        if self.is_raw:
            for _ in turns:
                if not self.agents:
                    return
                yield self.agent_selection
            return
        for _ in turns:
            if not self.agents:
                return
            if not self._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            self._has_updated = False
            yield self.agent_selection

    # ---- looking ---------------------------------------------------------------------------------

    def position(self) -> Position:
        """A copy of the game so far, with its log: to save, replay, search or look at."""
        position = Position(self.game, max(self._number, 0))
        frame = self._frame
        position.state[:] = frame["state"]
        position.history = frame["history"][: frame["length"][0]].tolist()
        return position

    def state(self) -> npt.NDArray[np.float32]:
        """Everybody's observation side by side, for training with a central critic."""
        if self._number < 0:
            EnvLogger.error_state_before_reset()
        return np.concatenate(
            [self.observe(agent)["observation"] for agent in self.possible_agents]
        )

    def render(self) -> str | npt.NDArray[np.uint8] | None:  # type: ignore[override]
        """The whole table: as text, as a picture or in a window, as ``render_mode`` asks for."""
        if self._number < 0:
            EnvLogger.error_render_before_reset()
        game, state = self.game, self._frame["state"]
        return self._screen.show(lambda: game.render(state), lambda: game.draw(state))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()


def _observation_space(game: Game) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(0.0, 1.0, (game.observation_size,), np.float32),
            "action_mask": spaces.Box(0, 1, (game.facts.num_actions,), np.int8),
        }
    )
