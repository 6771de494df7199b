"""Any player of Liar's Dice, made wary: it calls more often who has lied more often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from agents import make_agent
from agents.base import Actions, Agent, TimeStep, Views
from agents.games.liars_dice.lies.profile import LieProfiles, adjust_call
from agents.games.liars_dice.lies.settings import LieSettings
from agents.tabular.hooks import IDS, MEMORY
from common.errors import OptionError
from envs.core.batch import weighted_actions
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import OVER, RULES

__all__ = ["ProfiledAgent"]


@compiled(
    types.void(
        *(RULES, types.uint8[:, ::1], types.int8[:, ::1], types.int64[::1]),
        *(IDS, MEMORY, types.float64[:, ::1]),
    )
)
def _adjust_rows(rules, worlds, masks, seats, ids, memory, weights):
    """Raise the weight of a call in every row, and make the weights add up to 1 again."""
    for i in range(seats.size):
        adjust_call(worlds[i], rules, seats[i], masks[i], weights[i], -1.0, ids, memory)
        total = 0.0
        for action in range(weights.shape[1]):
            total += weights[i, action]
        for action in range(weights.shape[1]):
            weights[i, action] /= total


class ProfiledAgent(Agent):
    """Plays like another agent, but weighs a call by what it knows of the bidder.

    It learns only the profile, and only while it is asked to learn; the other agent stays as it is.

    >>> from envs import make_game
    >>> agent = ProfiledAgent(make_game("liars_dice_v0"), base="sarsa")
    >>> agent.profiles.ratios()
    {'low': 0.0, 'mid': 0.0, 'high': 0.0}

    Args:
        game: Liar's Dice.
        base: the other agent: an id, or ``id:path``.
        base_params: what it is made with.
        settings: of the profile, such as ``reading="code"``.
    """

    game_ids = ("liars_dice_v0",)
    settings_class = LieSettings

    def __init__(
        self,
        game: Game,
        base: str,
        base_params: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """Make the other agent; nothing is known yet."""
        super().__init__(game)
        if settings.get("highest") == "table":
            raise OptionError("a policy has no table: set highest to 'legal'")
        self.base = make_agent(base, game, **(base_params or {}))
        self.profiles = LieProfiles(game, {**settings, "highest": "legal"})
        self.wants_tokens = self.base.wants_tokens
        self.num_past = self.base.num_past
        self._opponents: dict[str, int] = {}
        self._ids = np.zeros(game.facts.num_players, np.int64)

    def begin_match(self) -> None:
        """The other agent begins a match."""
        self.base.begin_match()

    def base_policy(self, views: Views) -> npt.NDArray[np.float64]:
        """The other agent's probabilities, as an array to be changed: [n, num_actions]."""
        probs = self.base.policy(views)
        if probs is None:
            raise OptionError(f"{self.base!r} gives no probabilities that a profile could change")
        return np.array(probs, np.float64, order="C")

    def policy(self, views: Views) -> npt.NDArray[np.float64]:
        """The other agent's probabilities, with those of calls raised: [n, num_actions]."""
        weights = self.base_policy(views)
        known = views.worlds(), views.masks, views.seats, self._ids, self.profiles.memory
        _adjust_rows(self.game.rules, *known, weights)
        return weights

    def act(self, views: Views) -> Actions:
        """Draw from the changed probabilities."""
        return weighted_actions(self.policy(views), views.rngs)

    def begin_learning(self) -> None:
        """Keep the profile up to date from now on."""
        self.is_learning = True

    def observe(self, step: TimeStep) -> None:
        """When a round has ended: check every bid of the others."""
        if self.profiles.by_opponent:
            for name in step.names:
                self._opponents.setdefault(name, 1 + len(self._opponents))
            self._ids = np.array([self._opponents[name] for name in step.names])
            self.profiles.grow(1 + len(self._opponents))
        # A game that was forfeited is over without another move.
        if not step.is_over or self.game.kernels.turn(step.world, self.game.rules) == OVER:
            self.profiles.observe(step.world, step.seat, self._ids)
