"""``Learner``: what gets better with practice, and what a run of ``train.py`` is made of.

A learner owns everything that training changes: tables or weights, replay, generators, games in
play. A training run asks it for work in chunks (``update``), for a player of its present skill
(``player``), and for all of its memory (``state_dict``). The promise that makes runs resumable:

    ``update(a)`` and then ``update(b)``, with the memory saved and loaded in between or not, leaves
    the same learner as the same two calls without the break, to the last bit.

A learner is no agent: it need not be able to play at any moment, and an agent need not be able to
learn. ``player()`` is the bridge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from agents.base import Agent
from agents.learning.opponents import Opponents
from common.errors import MasqueradeError
from envs.core.game import Game
from envs.core.options import Options
from envs.core.sides import seats_of_role

__all__ = ["Learner", "State", "Task", "part"]

State = dict[str, Any]
"""Names to arrays, numbers, strings, or lists of these: what ``agents.learning.files`` can keep."""


def part(state: State, prefix: str) -> State:
    """The entries whose name begins with ``prefix``, by the rest of it.

    >>> part({"replay.size": 3, "seed": 0}, "replay.")
    {'size': 3}
    """
    return {
        name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
    }


class Task(NamedTuple):
    """What a learner is to learn, and under which conditions."""

    game: Game
    seed: int = 0
    """Root of all randomness of the run."""
    opponents: Opponents | None = None
    """Who else sits at the table; ``None``: the learner in every seat."""
    device: str = "cpu"
    folder: Path | None = None
    """Where a library may keep logs of its own, once learning has begun."""
    total: int = 0
    """How much training there will be in all, in the learner's unit: for schedules; 0: unknown."""
    role: str = ""
    """The role it learns to play; empty: every role of the game."""

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that the learner takes in turn."""
        facts = self.game.facts
        return seats_of_role(facts, self.role) if self.role else tuple(range(facts.num_players))


class Learner(ABC):
    """Something that learns one game.

    Args:
        task: the game, the seed and the opponents.
        settings: the learner's own settings.
    """

    settings_class: ClassVar[type[Options]] = Options
    """Its settings, with defaults and ranges."""
    unit: ClassVar[str] = "games"
    """What ``num_steps`` counts: games, steps (its own decisions) or iterations."""
    converges: ClassVar[bool] = False
    """Whether its last player is its best, as a solver's is; then no evaluation chooses one."""
    game_ids: ClassVar[tuple[str, ...]] = ()
    """The games it can learn; empty: every game."""

    def __init__(self, task: Task, settings: Options) -> None:
        """Prepare to learn; nothing is played before the first ``update``."""
        if self.game_ids and task.game.id not in self.game_ids:
            raise MasqueradeError(
                f"{type(self).__name__} learns {' and '.join(self.game_ids)}, not {task.game.id}"
            )
        self.task = task
        self.game = task.game
        self.settings = settings
        self.num_steps = 0

    @classmethod
    def needs_gb(cls, game: Game) -> float:
        """Memory beyond the usual, for forecasts, if it is much."""
        return 0.0

    @classmethod
    def num_weights(cls, game: Game, settings: Options) -> int | None:
        """Of the network that it trains on ``device``, if it has one; ``None``: not known."""
        return 0

    @abstractmethod
    def update(self, num_steps: int) -> Mapping[str, float]:
        """Learn for ``num_steps`` more of its unit and say what is worth a curve.

        Names are those of TensorBoard, such as ``charts/return``, ``charts/length``,
        ``charts/exploration``, ``losses/td``. Averages are over this chunk. A name that begins
        with ``histograms/`` may carry an array.
        """

    @abstractmethod
    def player(self) -> Agent:
        """An agent that plays as well as the learner now can, and stays so while it learns on."""

    @abstractmethod
    def state_dict(self) -> State:
        """All of its memory."""

    def player_state(self) -> State:
        """The part of its memory that a player needs; overridden where the rest is large."""
        return self.state_dict()

    @abstractmethod
    def load_state_dict(self, state: State) -> None:
        """Become the learner that ``state_dict`` was taken from."""

    def close(self) -> None:
        """Let go of files that it holds open; nothing is learnt after that."""
        return
