"""``Agent``: whatever can fill a seat.

An agent acts on a batch of views, one row per game that waits for it, and returns one action per
row. So a network makes one forward pass for a thousand games, a search spreads its rows over
threads, and a single game is a batch of one.

Three rules keep matches fair and repeatable:

* an agent knows what is in its views, and nothing else: ``views.worlds()`` are already
  determinized;
* its chance comes from ``views.rngs``, row by row, so its choice in a game does not depend on which
  games share the batch;
* what it keeps between moves belongs to a game (``views.game_ids`` tell them apart), so that no row
  depends on another.

An agent is as it was made: it does not learn while it plays, unless it is asked to
(``begin_learning``). Then it is told after every move what each of its seats may know
(``observe``), and games are played one after the other.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from common.errors import MasqueradeError
from envs.core.batch import random_actions
from envs.core.facts import roles_of
from envs.core.game import Game
from envs.core.rng import Words
from envs.core.rollouts import RowsFailed
from envs.core.views import Views

__all__ = ["Actions", "Agent", "Probs", "RandomAgent", "RowsFailed", "TimeStep", "Views"]

Actions = npt.NDArray[np.int64]
Probs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TimeStep:
    """What a learner in one seat may know after a move, its own or another's."""

    game_id: int
    """A new id is a new game; it is that of the views."""
    seat: int
    names: tuple[str, ...]
    """Who sits in each seat."""
    world: npt.NDArray[np.uint8]
    """[state_size] a state that the seat cannot tell from the true one."""
    total: float
    """What the seat has got so far; its return when the game is over."""
    is_over: bool


class Agent(ABC):
    """A player of one game.

    What its constructor takes says what it can be given: ``path`` if it comes from a file (then it
    enters as ``id:path``), ``device`` if it computes on one, ``time_per_move`` if it thinks by the
    clock.
    """

    wants_tokens: bool = False
    """Set it to use ``views.tokens``; games then keep what every player has seen."""
    num_past: int = 0
    """How many earlier observations ``views.past_observations`` is to have."""
    game_ids: ClassVar[tuple[str, ...]] = ()
    """The games it plays; empty: every game."""
    is_usual: ClassVar[bool] = False
    """Whether a newcomer to its games meets it first: it answers at once and plays sensibly."""
    roles: tuple[str, ...] = ()
    """The roles it can play; empty: every role of its games."""
    end_games: Callable[[Words, Actions, Probs], None] | None = None
    """Define ``end_games(self, game_ids, seats, returns)`` to hear which of its games are over: the
    ids that its views had, [n], its seats in them, [n], and everybody's returns, [n, players]."""
    code_params: ClassVar[tuple[str, ...]] = ()
    """Parameters that name a program or a module: from the user's own hand only, no result's."""
    thinks_long: ClassVar[bool] = False
    """Whether a move takes work, as in a search: a tournament does not ask it for its policy."""
    keeps_time: ClassVar[bool] = False
    """Whether ``act`` comes back in time whatever happens; who cannot promise it is watched."""
    log: list[str] | None = None
    """Set it to a list, and a player that searches appends a line about every move it makes; an
    empty one where there was nothing to search."""
    name: str = ""
    """How tables call it, and how others know it again."""
    time_per_move: float | None = None
    """Seconds it thinks about a move; ``None`` when the clock does not matter."""
    is_learning: bool = False
    """Whether it changes while it plays; tables say so of every agent."""
    is_deterministic: bool = False
    """Whether equal views always get the same action, whatever is in their generators."""
    is_reproducible: bool = True
    """Whether the same views and generators always give the same actions."""

    def __init__(self, game: Game) -> None:
        """Prepare to play ``game``."""
        if not self.plays(game.id):
            raise MasqueradeError(
                f"{_name(type(self))} plays {' and '.join(self.game_ids)}, not {game.id}"
            )
        self.game = game

    @classmethod
    def plays(cls, game_id: str) -> bool:
        """Whether it can play a game.

        >>> from agents import agent_class
        >>> agent_class("random").plays("kuhn_v0"), agent_class("leduc_rule").plays("kuhn_v0")
        (True, False)
        """
        return not cls.game_ids or game_id in cls.game_ids

    def can_sit(self, seat: int) -> bool:
        """Whether it can play the role of a seat."""
        role = self.game.facts.seats[seat].role
        # A role that the game does not have says nothing about the roles that it has.
        own = set(self.roles) & set(roles_of(self.game.facts))
        return role in own or not own

    @classmethod
    def takes(cls, parameter: str) -> bool:
        """Whether its constructor has a parameter of this name.

        >>> from agents import agent_class
        >>> agent_class("external").takes("path"), agent_class("random").takes("path")
        (True, False)
        """
        return parameter in inspect.signature(cls).parameters

    @classmethod
    def default_of(cls, parameter: str) -> object:
        """What its constructor takes for a parameter that is not given."""
        return inspect.signature(cls).parameters[parameter].default

    @abstractmethod
    def act(self, views: Views) -> Actions:
        """Choose a legal action for every row: [n] int64.

        Who fails in some rows only may raise ``RowsFailed``, so that the others are not lost.
        """

    def policy(self, views: Views) -> Probs | None:
        """How likely ``act`` is to choose each action: [n, num_actions], or ``None`` if not known.

        It must be the truth about ``act``, not an estimate: variance reduction takes the chance of
        decisions out with it, and would be wrong with anything else.
        """
        return None

    def begin_match(self) -> None:  # noqa: B027, most agents have nothing to do
        """Called before the first game of a match, or of a piece of one."""

    def begin_learning(self) -> None:
        """Learn from now on; an agent that can sets ``is_learning`` and overrides ``observe``."""
        raise MasqueradeError(f"{_name(type(self))} cannot learn while it plays")

    def observe(self, step: TimeStep) -> None:  # noqa: B027, only learners are told
        """Called for each of a learner's seats after every move of its games, and at their end."""

    def __repr__(self) -> str:
        """The class and its game."""
        return f"{type(self).__name__}({self.game!r})"


def _name(cls: type[Agent]) -> str:
    """The id of an agent, or the name of its class when it is in no table."""
    from agents import AGENTS

    place = f"{cls.__module__}:{cls.__qualname__}"
    return next((agent_id for agent_id in AGENTS if AGENTS[agent_id] == place), cls.__name__)


class RandomAgent(Agent):
    """Plays uniformly among the legal actions."""

    def act(self, views: Views) -> Actions:
        """Draw once from each row's generator."""
        return random_actions(views.masks, views.rngs)

    def policy(self, views: Views) -> Probs:
        """The same for every legal action."""
        probs: Probs = views.masks / views.masks.sum(axis=1, keepdims=True)
        return probs
