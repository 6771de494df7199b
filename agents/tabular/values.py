"""All that one table learner knows, and the compiled code's view of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.liars_dice.lies.profile import LieProfiles, bend_call, watch_move
from agents.tabular.abstraction import find_coding, find_reward
from agents.tabular.hooks import Hooks, no_bend, no_reward, no_watch
from agents.tabular.records import (
    AT_END,
    CHANGES,
    DOUBLE_Q,
    EVENTS,
    EXPECTED_SARSA,
    MIND,
    Q_LEARNING,
    SARSA,
    MindArrays,
)
from agents.tabular.selection import POLICIES, SCHEDULES, VDBE
from agents.tabular.settings import TabularSettings
from agents.tabular.table import Table
from envs.core.errors import OptionError
from envs.core.game import Game

__all__ = ["RULES", "Mind"]

RULES: dict[str, int] = {
    "q_learning": Q_LEARNING,
    "sarsa": SARSA,
    "expected_sarsa": EXPECTED_SARSA,
    "double_q": DOUBLE_Q,
    "q_lambda": Q_LEARNING,
    "sarsa_lambda": SARSA,
}
"""Learning rules by the ids of their learners."""

_DEFAULT_TRACE = 0.8
_PORTION = ("num_turns", "num_updates", "exploration_sum", "error_sum")


class Mind:
    """A table, how it is used and changed, and what is remembered of the opponents.

    Args:
        game: what it plays.
        rule: a key of ``RULES``.
        settings: everything else.
        total: games of the whole run, for schedules; 0: unknown.
    """

    def __init__(self, game: Game, rule: str, settings: TabularSettings, total: int = 0) -> None:
        """Begin with nothing learnt."""
        self.game = game
        self.rule = rule
        self.settings = settings
        self.coding = find_coding(settings.coding, game)
        self.record: Any = _record(rule, settings, total)
        is_double = rule == "double_q"
        self.table = Table(2 if is_double else 1, settings.max_entries)
        self.profiles = LieProfiles(settings, 1 if settings.lies != "off" else 0)
        self._levels = np.array(settings.reward_levels, np.float64)
        self._check()
        self._hooks = self._make_hooks()
        if settings.initial == "coding" and self.coding.initial is not None:
            keys, values = self.coding.initial(game)
            for seat in range(1 if settings.shared else game.facts.num_players):
                tag = 0 if settings.shared else (seat + 1) << 60
                self.table.put(keys ^ np.uint64(tag), values)

    def _check(self) -> None:
        settings = self.settings
        if settings.lies != "off" and self.game.id != "liars_dice_v0":
            raise OptionError(f"lies are profiled in liars_dice_v0, not {self.game.id}: lies: off")
        uses_table = settings.lies != "off" and settings.reading("lie_max") == "table"
        if uses_table and not (self.coding.is_small and self.rule != "double_q"):
            raise OptionError(
                f"lie_max: table looks through all of coding '{settings.coding}' at every move: "
                "set lie_max: legal"
            )
        if settings.initial == "coding" and self.coding.initial is None:
            raise OptionError(f"coding '{settings.coding}' has no values to begin with: initial: 0")

    def _make_hooks(self) -> Hooks:
        settings = self.settings
        reward = no_reward
        if self.record["reward_kind"][0] == EVENTS:
            reward = find_reward(settings.reward, self.game)
        has_lies = settings.lies != "off"
        watch, bend = (watch_move, bend_call) if has_lies else (no_watch, no_bend)
        return Hooks(self.coding.encode, reward, watch, bend)

    @property
    def arrays(self) -> MindArrays:
        """For compiled code; good until the table grows."""
        table = self.table
        return MindArrays(
            self.record,
            table.keys,
            table.values,
            table.visits,
            table.size,
            self._hooks,
            self.profiles.memory,
            self._levels,
        )

    @property
    def has_trail(self) -> bool:
        """Whether the actions of a game are remembered until its end."""
        return bool(self.record["has_trail"][0])

    @property
    def has_events(self) -> bool:
        """Whether rewards compare states."""
        return bool(self.record["reward_kind"][0] == EVENTS)

    @property
    def entries_per_turn(self) -> int:
        """How many entries a turn can add."""
        return 2 if self.record["policy"][0] == VDBE else 1

    def take_portion(self) -> dict[str, float]:
        """Averages since the last time it was asked."""
        counts = {name: float(self.record[name][0]) for name in _PORTION}
        for name in _PORTION:
            self.record[name] = 0
        turns, updates = max(counts["num_turns"], 1.0), max(counts["num_updates"], 1.0)
        return {
            "charts/exploration": counts["exploration_sum"] / turns,
            "losses/td": counts["error_sum"] / updates,
            "charts/table_size": float(len(self.table)),
            "charts/visits": float(self.table.visits.sum()) / max(len(self.table), 1),
        }

    # ---- memory ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning has changed, and the settings it needs to be read."""
        keys, values, visits = self.table.entries()
        return {
            "rule": self.rule,
            "settings": self.settings.to_dict(),
            "keys": keys,
            "values": values,
            "visits": visits,
            "profiles": self.profiles.memory.copy(),
            "num_games": int(self.record["num_games"][0]),
            "schedule_games": float(self.record["schedule_games"][0]),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Become the mind that ``state_dict`` was taken from."""
        table = Table(len(self.table.values), self.settings.max_entries)
        table.put(state["keys"], state["values"], state["visits"])
        self.table = table
        memory: npt.NDArray[np.uint8] = np.array(state["profiles"], np.uint8)
        self.profiles.memory = np.ascontiguousarray(memory)
        self.record["num_games"] = state["num_games"]
        self.record["schedule_games"] = state["schedule_games"]

    @classmethod
    def from_state(cls, game: Game, state: Mapping[str, Any]) -> Mind:
        """A mind as it was saved."""
        mind = cls(game, state["rule"], TabularSettings.parse(state["settings"]))
        mind.load_state_dict(state)
        return mind


def _record(rule: str, settings: TabularSettings, total: int) -> Any:
    record = np.zeros(1, MIND)
    m = record[0]
    is_sweep = settings.updates == "sweep"
    has_traces = rule.endswith("_lambda")
    decay = settings.trace_decay
    if decay is not None and not (has_traces or is_sweep):
        raise OptionError(f"{rule} has no traces: take q_lambda or sarsa_lambda for trace_decay")
    if is_sweep and rule == "double_q":
        raise OptionError("double_q learns turn by turn: set updates: turn")
    if decay is None:
        decay = 1.0 if is_sweep else _DEFAULT_TRACE if has_traces else 0.0
    m.rule = RULES[rule]
    m.is_learning = True
    m.is_averaging = settings.learning_rate == "1/n"
    m.learning_rate = 0.0 if m.is_averaging else settings.learning_rate
    m.discount = settings.discount
    m.has_trail = has_traces or is_sweep
    m.trace_decay = decay
    m.is_accumulating = settings.traces == "accumulating"
    m.is_sweep = is_sweep
    m.policy = POLICIES.index(settings.policy)
    m.exploration = settings.exploration
    m.exploration_end = settings.last_exploration
    m.schedule = SCHEDULES.index(settings.exploration_schedule)
    m.schedule_games = settings.exploration_games or total or np.inf
    m.vdbe_sensitivity = settings.vdbe_sensitivity
    m.vdbe_weight = settings.vdbe_weight or 0.0
    m.initial = 0.0 if isinstance(settings.initial, str) else settings.initial
    m.reward_kind = {"end": AT_END, "change": CHANGES}.get(settings.reward, EVENTS)
    m.has_final_update = settings.final_update
    m.has_snapshot = settings.snapshot
    m.has_overwrite = settings.overwrite
    m.is_shared = settings.shared
    m.has_memory = settings.lies != "off"
    m.wants_table_max = settings.lies != "off" and settings.reading("lie_max") == "table"
    return record
