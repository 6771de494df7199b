"""``Agent``: whatever can fill a seat.

An agent acts on a batch of views, one row per game that waits for it, and returns one action per
row. So a network makes one forward pass for a thousand games, a search spreads its rows over
threads, and a single game is a batch of one.

Three rules keep matches fair and repeatable:

* an agent knows what is in its views, and nothing else: ``views.worlds()`` are already
  determinized;
* its chance comes from ``views.rngs``, row by row, so its choice in a game does not depend on which
  games share the batch;
* it may hold no state that ties one row to another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.views import Views

__all__ = ["Actions", "Agent", "Views"]

Actions = npt.NDArray[np.int64]


class Agent(ABC):
    """A player of one game."""

    wants_tokens: ClassVar[bool] = False
    """Set it to use ``views.tokens``; matches then keep the actions of every game."""
    game_ids: ClassVar[tuple[str, ...]] = ()
    """The games it plays; empty: every game."""

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

    @abstractmethod
    def act(self, views: Views) -> Actions:
        """Choose a legal action for every row: [n] int64."""

    def __repr__(self) -> str:
        """The class and its game."""
        return f"{type(self).__name__}({self.game!r})"


def _name(cls: type[Agent]) -> str:
    """The id of an agent, or the name of its class when it is in no table."""
    from agents import AGENTS

    place = f"{cls.__module__}:{cls.__qualname__}"
    return next((agent_id for agent_id in AGENTS if AGENTS[agent_id] == place), cls.__name__)
