"""The settings of a table learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field

from agents.tabular.components import ABSTRACTIONS, REWARDS
from agents.tabular.selection import POLICIES, SCHEDULES
from common.errors import OptionError
from envs.core.options import Options, option

__all__ = ["TabularSettings"]

_MAX_GAMES = 10**12


class TabularSettings(Options):
    """Settings of a table learner.

    >>> TabularSettings(abstraction="blind", learning_rate=0.5).learning_rate
    0.5
    >>> TabularSettings(policy="softmax", exploration=0.0)
    Traceback (most recent call last):
    ...
    common.errors.OptionError: softmax needs a temperature: set exploration above 0
    """

    abstraction: str = option(
        "infoset",
        choices=tuple(ABSTRACTIONS),
        can_import=True,
        help="what the entries of the table stand for",
    )
    opponent_model: dict[str, Any] | None = Field(
        default=None,
        description="what is remembered of opponents: {id: lies}, and its own settings",
    )
    shared: bool = option(True, help="one table for all seats instead of one for each")
    max_entries: int = option(5_000_000, low=1, high=10**9, help="where the table stops growing")
    when_full: str = option(
        "stop", choices=("stop", "forget"), help="stop with a word, or forget what was rarely met"
    )
    initial: float | str = option(
        0.0,
        low=-1e6,
        high=1e6,
        choices=("abstraction",),
        help="value of what is new; high is optimistic; 'abstraction': as it says itself",
    )
    learning_rate: float | str = option(
        0.1, low=0.0, high=1.0, choices=("1/n",), help="constant, or one over the visits"
    )
    discount: float = option(1.0, low=0.0, high=1.0, help="weight of the next decision's value")
    trace_decay: float | None = option(
        None,
        low=0.0,
        high=1.0,
        help="lambda; null: 0.8 for the lambda rules, 1 in backward updates, otherwise 0",
    )
    traces: str = option(
        "replacing", choices=("replacing", "accumulating"), help="what a second visit does"
    )
    updates: str = option(
        "turn", choices=("turn", "backward"), help="learn at every turn, or backward after the game"
    )
    policy: str = option(
        "epsilon", choices=POLICIES, help="how actions are selected while learning"
    )
    exploration: float = option(
        0.1, low=0.0, high=1000.0, help="epsilon, or the temperature of softmax"
    )
    exploration_end: float | None = option(
        None, low=0.0, high=1000.0, help="where a schedule ends; null: where it began"
    )
    exploration_schedule: str = option("constant", choices=SCHEDULES, help="how it gets there")
    exploration_games: int | None = option(
        None, low=1, high=_MAX_GAMES, help="games it takes; null: all of the run"
    )
    vdbe_sensitivity: float = option(
        1.0, low=1e-9, high=1e9, help="changes of this size keep a state explored"
    )
    vdbe_weight: float | None = option(
        None, low=0.0, high=1.0, help="of the newest change; null: one over the legal actions"
    )
    reward: str = option(
        "end",
        choices=("end", "change", *REWARDS),
        can_import=True,
        help="the return at the end, its changes, or events",
    )
    reward_levels: tuple[float, ...] = option(
        (1.0, 0.5, 0.0),
        low=-1e6,
        high=1e6,
        is_list=True,
        help="three numbers for events; 'rounds': another lost a die, nobody did, I did; "
        "'sightings': a win, a loss, a step of distance when he is seen",
    )
    final_update: bool = option(True, help="learn from the last action of a game")
    snapshot: bool = option(
        False, help="compare with the value at the time of the choice, not with the present one"
    )
    overwrite: bool = option(
        False, help="credit rewards to the new action, a fault that one program may have had"
    )
    play: str | None = option(
        None,
        choices=("greedy", "policy"),
        help="how the player moves; null: greedy, but softmax and matching as they learnt",
    )

    def __post_init__(self) -> None:
        """Check what no single setting can."""
        super().__post_init__()
        if self.policy == "softmax" and min(self.exploration, self.last_exploration) <= 0:
            raise OptionError("softmax needs a temperature: set exploration above 0")
        if self.policy != "softmax" and max(self.exploration, self.last_exploration) > 1:
            raise OptionError(f"exploration is a probability with {self.policy}: at most 1")
        is_falling = self.exploration_schedule == "exponential"
        if is_falling and min(self.exploration, self.last_exploration) <= 0:
            raise OptionError("an exponential schedule never reaches 0: set both ends above 0")
        if self.updates == "backward" and not self.final_update:
            raise OptionError("backward updates begin at the last action: leave final_update on")
        if len(self.reward_levels) != 3:
            raise OptionError(f"reward_levels must be 3 numbers, not {len(self.reward_levels)}")

    @property
    def last_exploration(self) -> float:
        """Where the schedule ends."""
        return self.exploration if self.exploration_end is None else self.exploration_end

    @property
    def is_greedy_player(self) -> bool:
        """Whether the player takes the best action."""
        if self.play is None:
            return self.policy not in ("softmax", "matching")
        return self.play == "greedy"

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Self:
        """Make settings from a mapping; a name of earlier versions is answered with the new one."""
        for name in values:
            if name == "coding":
                raise OptionError("'coding' is called 'abstraction' now")
            if name == "lies" or name.startswith("lie_"):
                raise OptionError(f"'{name}' is set in opponent_model now: {{id: lies, ...}}")
        return super().parse(values)
