"""The settings of the Offline learner."""

from __future__ import annotations

from pydantic import Field

from agents.tabular.settings import TabularSettings
from envs.core.options import Options, option

__all__ = ["OfflineSettings"]


class OfflineSettings(Options):
    """Settings of the table, of the games that examples are taken from, and of the network.

    >>> OfflineSettings(table={"max_entries": 50_000}).table.max_entries
    50000
    """

    table: TabularSettings = TabularSettings()
    inputs: tuple[str, ...] = Field(
        default=(), description="fields of the observation the network sees; empty: all"
    )
    sample_games: int = option(
        20_000, low=1, high=10**9, help="games with the table in which examples are collected"
    )
    sample_exploration: float = option(
        0.1, low=0.0, high=1.0, help="share of random moves in these games"
    )
    max_examples: int = option(10_000, low=1, high=10**8, help="positions kept, the most frequent")
    hidden: tuple[int, ...] = option(
        (100,), low=1, high=8192, is_list=True, help="units of each hidden layer"
    )
    learning_rate: float = option(3e-3, low=0.0, high=1.0, help="step size of Adam")
    batch_size: int = option(64, low=1, high=65_536, help="examples of one update")
    epochs: int = option(100, low=1, high=10**6, help="passes over the examples, at most")
    patience: int = option(
        20, low=1, high=10**6, help="passes without a better accuracy before it stops"
    )
