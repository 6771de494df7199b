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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from common.errors import MasqueradeError
from envs.core.facts import seats_of_role
from envs.core.game import Game
from envs.core.options import Options
from envs.core.rng import Words, fill_streams, stream

SELF = "self"
PAST = "past"

Indices = npt.NDArray[np.int64]


class Opponents:
    """A draw for every game: who plays the seats that are not the learner's.

    Fixed agents, ``self`` (the learner as it is now) and ``past`` (one of its earlier selves). Who
    is met in game *n* depends on the seed and *n*, so a run that is resumed meets the same ones.

    >>> Opponents(["self"], seed=0).draw(np.arange(3), num_players=2).tolist()
    [[-1, -1], [-1, -1], [-1, -1]]

    Args:
        entries: agents, ``"self"`` and ``"past"``.
        seed: root of the draws.
        weights: how often each is met; all alike by default.
        is_mixed: draw every seat by itself, instead of one opponent for all other seats.
    """

    LEARNER = -1
    """What ``draw`` gives where the learner plays the other seats itself."""

    def __init__(
        self,
        entries: Sequence[Agent | str],
        seed: int = 0,
        weights: Sequence[float] | None = None,
        is_mixed: bool = False,
    ) -> None:
        """Note who there is; earlier selves come later, by ``add_past``."""
        shares = np.ones(len(entries)) if weights is None else np.array(weights, float)
        self._entries = list(entries)
        self._edges = np.cumsum(shares / shares.sum())
        self._is_mixed = is_mixed
        self._root: Words = stream(seed, "opponents")
        self._fixed = [entry for entry in entries if isinstance(entry, Agent)]
        self._past: list[Agent] = []

    @property
    def has_past(self) -> bool:
        """Whether earlier selves are wanted."""
        return PAST in self._entries

    @property
    def agents(self) -> list[Agent]:
        """All but the learner itself; ``draw`` gives places in this list."""
        return self._fixed + self._past

    def add_past(self, player: Agent) -> None:
        """An earlier self joins."""
        self._past.append(player)

    def draw(self, numbers: Indices, num_players: int = 1) -> Indices:
        """[n, players] for each seat of each game a place in ``agents``, or ``LEARNER``.

        The seats of a game are drawn alike, or each by itself at mixed tables.
        """
        if self._is_mixed:
            slots = numbers[:, None] * num_players + np.arange(num_players)
            return self._draw(slots.ravel()).reshape(slots.shape)
        return np.repeat(self._draw(numbers)[:, None], num_players, axis=1)

    def _draw(self, numbers: Indices) -> Indices:
        words = np.empty((len(numbers), 4), np.uint64)
        fill_streams(self._root, np.ascontiguousarray(numbers, np.int64), words)
        uniforms = (words[:, :2] >> np.uint64(11)).astype(np.float64) / 2.0**53
        chosen = np.searchsorted(self._edges, uniforms[:, 0], side="right")
        places = np.empty(len(numbers), np.int64)
        for i, entry in enumerate(self._entries):
            mine = chosen == i
            places[mine] = self._place(entry, uniforms[mine, 1])
        return places

    def _place(self, entry: Agent | str, uniforms: npt.NDArray[np.float64]) -> Indices | int:
        if isinstance(entry, Agent):
            return next(i for i, agent in enumerate(self._fixed) if agent is entry)
        if entry == SELF or not self._past:  # before there is a past, there is the present
            return self.LEARNER
        return len(self._fixed) + (uniforms * len(self._past)).astype(np.int64)


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


def named(prefix: str, state: Mapping[str, Any]) -> State:
    """The same entries with ``prefix`` before their names, as :func:`part` reads them.

    >>> named("replay.", {"size": 3})
    {'replay.size': 3}
    """
    return {f"{prefix}{name}": value for name, value in state.items()}


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
    player_id: ClassVar[str] = ""
    """Of a learner that is named as ``module:Class``: the agent that plays its runs, by id or as
    ``module:Class``."""

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
