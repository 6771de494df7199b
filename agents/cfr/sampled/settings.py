"""The settings of sampling solvers, and the memory that follows from them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.cfr.sampled.hash_tables import table_bytes
from agents.cfr.sampled.workspace import (
    BY_HISTORY,
    BY_INFOSET,
    CHANCE_ONLY,
    EXTERNAL,
    NO_BASELINES,
    OUTCOME,
    PLAN,
)
from common.errors import OptionError
from envs.core.game import Game
from envs.core.options import Options, option

__all__ = ["SamplingSettings", "WalkSettings", "bytes_text"]

HISTORIES_PER_INFOSET = 4
"""Room for baselines by history where nobody says how much."""

SAMPLINGS = MappingProxyType({"external": EXTERNAL, "outcome": OUTCOME, "chance": CHANCE_ONLY})
BASELINES = MappingProxyType({"none": NO_BASELINES, "infoset": BY_INFOSET, "history": BY_HISTORY})


class _Weights(NamedTuple):
    is_plus: bool
    regret_power: float
    average_power: float


_VARIANTS = MappingProxyType(
    {
        "cfr": _Weights(False, 0.0, 0.0),
        "cfr+": _Weights(True, 0.0, 1.0),
        "linear": _Weights(False, 1.0, 1.0),
    }
)


class WalkSettings(Options):
    """How regrets are kept, how much memory there is, and what to do when it is full.

    >>> from envs import make_game
    >>> WalkSettings(max_infosets=1000).room(make_game("kuhn_v0"))
    (1000, 2000)
    """

    entries_per_infoset: ClassVar[int] = 8
    """Where nobody says how many there may be."""

    max_infosets: int = option(
        1_000_000, low=1, high=10**10, help="information sets that the table has room for"
    )
    max_entries: int | None = option(
        None, low=1, high=10**11, help="legal actions of all of them together (default: a few each)"
    )
    when_full: str = option(
        "error", choices=("error", "freeze"), help="stop, or learn on with what is in the table"
    )
    variant: str = option("linear", choices=tuple(_VARIANTS), help="how regrets are kept")
    pruning: float = option(
        0.0, low=0.0, high=1.0, help="how often a walk passes hopeless actions over"
    )
    threads: int = option(1, low=1, high=64, help="workers; with more than 1, runs differ")

    def room(self, game: Game) -> tuple[int, int]:
        """Information sets and entries that there is room for."""
        per_infoset = min(game.facts.num_actions, self.entries_per_infoset)
        return self.max_infosets, self.max_entries or self.max_infosets * per_infoset

    def table_sizes(self, game: Game) -> list[tuple[int, int, int, bool]]:
        """The tables as ``make_table`` wants them: the main one, perhaps one of baselines."""
        return [(*self.room(game), 0, True)]

    def table_bytes(self, game: Game) -> int:
        """How much memory the tables take, all of it from the start."""
        return sum(table_bytes(*sizes) for sizes in self.table_sizes(game))

    def record(self) -> npt.NDArray[Any]:
        """As one record, for compiled code."""
        plan = np.zeros(1, PLAN)
        plan["sampling"] = EXTERNAL
        plan["stops_when_full"] = self.when_full == "error"
        plan["pruning"] = self.pruning
        for name, value in _VARIANTS[self.variant]._asdict().items():
            plan[name] = value
        return plan


class SamplingSettings(WalkSettings):
    """What is drawn, how regrets are kept, and how much memory there is."""

    sampling: str = option("external", choices=tuple(SAMPLINGS), help="what is drawn, not walked")
    epsilon: float = option(
        0.6, low=0.001, high=1.0, help="outcome sampling: how often the player plays anything"
    )
    baselines: str = option(
        "none", choices=tuple(BASELINES), help="less variance where one action is drawn"
    )
    baseline_rate: float = option(
        0.5, low=0.0, high=1.0, help="how far a baseline follows the last result"
    )
    max_histories: int | None = option(
        None, low=1, high=10**10, help="with baselines of their own (default: 4 an infoset)"
    )

    def __post_init__(self) -> None:
        """Refuse what changes nothing."""
        super().__post_init__()
        if self.baselines != "none" and self.sampling == "chance":
            raise OptionError("chance sampling draws no actions: baselines must be none")
        if self.pruning and self.sampling == "outcome":
            raise OptionError("outcome sampling tries one action at a time: pruning must be 0")

    def table_sizes(self, game: Game) -> list[tuple[int, int, int, bool]]:
        """The tables as ``make_table`` wants them: the main one, perhaps one of baselines."""
        infosets, entries = self.room(game)
        players = game.facts.num_players
        main = infosets, entries, players if self.baselines == "infoset" else 0, True
        if self.baselines != "history":
            return [main]
        rows = self.max_histories or HISTORIES_PER_INFOSET * infosets
        return [main, (rows, -(-rows * entries // infosets), players, False)]

    def record(self) -> npt.NDArray[Any]:
        """As one record, for compiled code."""
        plan = super().record()
        plan["sampling"] = SAMPLINGS[self.sampling]
        plan["baselines"] = BASELINES[self.baselines]
        plan["epsilon"] = self.epsilon
        plan["baseline_rate"] = self.baseline_rate
        return plan


def bytes_text(size: float) -> str:
    """A number of bytes in words.

    >>> bytes_text(92_768), bytes_text(3.2e9)
    ('92.8 kB', '3.2 GB')
    """
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
