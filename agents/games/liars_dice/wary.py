"""Players of Liar's Dice made wary: they call more often who has lied more often.

:class:`ProfiledAgent` is any player whose calls are weighed by what it knows of the bidder.
:class:`LeaningAgent` is an equilibrium player that leans towards what it has seen of the others.

Where an equilibrium mixes between calling and raising, both are equally good against an opponent
who plays it too, but not against others: who lies more often than an equilibrium player should be
called more often, who lies less often, less. So at such decisions the odds of a call are multiplied
by ``exp(strength * (lies - expected lies))``, and the probability of a call moves by at most
``bound``. Where the equilibrium is sure of itself it is left alone.

The lies of the others are counted for low, middle and high bids (``lies``), and
begin as if a few bids of an equilibrium player had been seen. What the expected ones are is found
by letting the player play itself.

What leaning may cost is known exactly for any profile: :class:`Leaning` says how to ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents import make_agent
from agents.base import Actions, Agent, TimeStep, Views
from agents.games.liars_dice.lies import (
    CATEGORIES,
    PROFILE,
    LieProfiles,
    LieSettings,
    adjust_call,
    category,
    multiply_odds,
)
from agents.tabular.hooks import IDS, MEMORY
from common.errors import OptionError
from envs.core.batch import weighted_actions
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import OVER, RULES, TOTALS
from envs.core.rng import new_rng
from envs.core.rollouts import Rollouts
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import NO_BID, STATE, bid_count, bid_face
from envs.liars_dice.kernels import RULES as DICE_RULES


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


DEFAULT_BOUND = 0.3
DEFAULT_STRENGTH = 20.0
_SELF_GAMES = 1000


@helper
def call_factor(gap, strength):
    """What the odds of a call are multiplied by, when so many more bids are lies than should be."""
    return exp(min(max(strength * gap, -50.0), 50.0))


@helper
def lean(call, gap, strength, bound):
    """The probability of a call, when so many more bids are lies than should be."""
    return multiply_odds(call, call_factor(gap, strength), bound)


class Leaning(NamedTuple):
    """A player that leans for good, as ``evaluate_match`` takes it.

    >>> Leaning((0.0, 0.1, 0.2), strength=20.0, bound=0.3).factor(LiarsDice(), 1, 1, num_dice=10)
    1.0
    """

    gaps: tuple[float, float, float]
    """Lies seen beyond those expected, of low, middle and high bids."""
    strength: float
    bound: float

    def factor(self, game: LiarsDice, count: int, face: int, num_dice: int) -> float:
        """What the odds of a call are multiplied by, with so many dice on the table."""
        rules = game.rules.view(DICE_RULES)[0]
        gap = self.gaps[category(rules, count, face, num_dice, False)]
        return float(call_factor(gap, self.strength))


@compiled(
    types.void(
        *(RULES, types.uint8[:, ::1], IDS, MEMORY, TOTALS),
        *(types.float64, types.float64, types.float64, types.float64[:, ::1]),
    )
)
def _lean_rows(rules, worlds, ids, memory, expected, num_imagined, strength, bound, probs):
    r = rules.view(DICE_RULES)[0]
    for i in range(probs.shape[0]):
        s = worlds[i].view(STATE)[0]
        call = probs[i, r.liar]
        if s.bid == NO_BID or call <= 0.0 or call >= 1.0:
            continue
        p = memory[ids[s.bidder]].view(PROFILE)[0]
        count, face = bid_count(r, s.bid), bid_face(r, s.bid)
        c = category(r, count, face, s.num_in_play, p.has_ceilings)
        lies = (p.num_lies[c] + num_imagined * expected[c]) / (p.num_bids[c] + num_imagined)
        leant = lean(call, lies - expected[c], strength, bound)
        for action in range(r.liar):
            probs[i, action] *= (1.0 - leant) / (1.0 - call)
        probs[i, r.liar] = leant


class LeaningAgent(ProfiledAgent):
    """Plays a policy that leans within a bound; it profiles while it is asked to learn.

    Args:
        game: Liar's Dice.
        base: the policy: an agent that tells its probabilities, such as ``cfr_rounds:RUN``.
        base_params: what it is made with.
        bound: by how much the probability of a call may change.
        strength: how strongly the odds of a call follow the lies.
        imagined: so many bids of each category are taken as seen before, with the expected lies.
        expected: the share of lies that is expected of low, middle and high bids; found by
            letting the policy play itself when not given.
        settings: of the profile; by default it forgets nothing, and keeps one for every opponent.

    >>> from envs import make_game
    >>> agent = LeaningAgent(make_game("liars_dice_v0"), base="random", bound=0.1)
    >>> agent.expected["low"] < agent.expected["mid"] < agent.expected["high"]
    True
    """

    def __init__(
        self,
        game: Game,
        base: str,
        base_params: Mapping[str, Any] | None = None,
        bound: float = DEFAULT_BOUND,
        strength: float = DEFAULT_STRENGTH,
        imagined: float = 20.0,
        expected: Sequence[float] | None = None,
        **settings: Any,
    ) -> None:
        """Make the policy, and find out how often it lies itself."""
        super().__init__(game, base, base_params, **{"reset": 0, "by_opponent": True, **settings})
        if not 0.0 <= bound <= 1.0:
            raise OptionError(f"bound must be from 0 to 1, not {bound}")
        if strength < 0.0 or imagined <= 0.0:
            raise OptionError("strength must be 0 or more and imagined above 0")
        if expected is not None and len(expected) != len(CATEGORIES):
            raise OptionError(f"expected lists {len(CATEGORIES)} shares: {', '.join(CATEGORIES)}")
        self.bound, self.strength, self.imagined = bound, strength, imagined
        self._expected = expected_lies(self.base) if expected is None else np.array(expected, float)

    @property
    def expected(self) -> dict[str, float]:
        """The share of lies that the policy itself shows."""
        return dict(zip(CATEGORIES, self._expected.tolist(), strict=True))

    def policy(self, views: Views) -> npt.NDArray[np.float64]:
        """The policy's probabilities, with those of calls moved: [n, num_actions]."""
        probs = self.base_policy(views)
        known = views.worlds(), self._ids, self.profiles.memory, self._expected
        how = self.imagined, self.strength, self.bound
        _lean_rows(self.game.rules, *known, *how, probs)
        return probs


def expected_lies(agent: Agent, num_games: int = _SELF_GAMES) -> npt.NDArray[np.float64]:
    """The share of low, middle and high bids that are lies when an agent plays itself."""
    game = agent.game
    profiles = LieProfiles(game, LieSettings(reset=0))
    rollouts, rng = Rollouts(game, [agent], num_games), new_rng(0)
    num_players = game.facts.num_players
    rollouts.begin(
        np.arange(num_games), np.arange(num_games), np.zeros((num_games, num_players), int)
    )
    while len(rows := np.flatnonzero(rollouts.batch.turns >= 0)):
        rollouts.advance()
        # Cups are lifted after a call: every seat knows what the round was like.
        for row in rows:
            for seat in range(num_players):
                profiles.observe(rollouts.batch.world(int(row), seat, rng), seat)
    return np.array(profiles.records[0]["ratios"])
