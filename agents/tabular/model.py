"""All that one table learner knows, and the compiled code's view of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.tabular.checking import check_abstraction, check_opponent_model
from agents.tabular.components import find_abstraction, find_reward, make_opponent_model
from agents.tabular.hooks import Hooks, no_adjust, no_observe, no_reward
from agents.tabular.records import (
    AT_END,
    CHANGES,
    DOUBLE_Q,
    EVENTS,
    EXPECTED_SARSA,
    MODEL,
    Q_LEARNING,
    SARSA,
    ModelArrays,
)
from agents.tabular.selection import POLICIES, SCHEDULES, VDBE
from agents.tabular.settings import TabularSettings
from agents.tabular.table import ValueTable
from common.errors import MasqueradeError, OptionError, reason_of
from common.imports import is_module_name, names_from_a_file
from common.saved import DamagedStateError, saved_array, saved_number
from envs.core.game import Game
from envs.core.kernels import Kernels
from envs.core.rollouts import FAULTS

__all__ = ["RULES", "TabularModel"]

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
_SUMS = ("num_turns", "num_updates", "exploration_sum", "error_sum")
_NO_MEMORY = np.zeros((0, 1), np.uint8)


class TabularModel:
    """A table of values, how it is used and changed, and a model of the opponents if there is one.

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
        self.abstraction = find_abstraction(settings.abstraction, game)
        self.record: Any = _record(rule, settings, total)
        self.table = ValueTable(2 if rule == "double_q" else 1, settings.max_entries, self._forgets)
        self.opponents = None
        if settings.opponent_model is not None:
            self.opponents = make_opponent_model(settings.opponent_model, game)
            self.record["wants_table_max"] = self.opponents.uses_table_max
        self._levels = np.array(settings.reward_levels, np.float64)
        try:
            self._check()
            self._hooks = self._make_hooks()
        except MasqueradeError:
            raise
        except FAULTS as error:
            names = ", ".join(foreign_of(settings)) or self.settings.abstraction
            raise OptionError(f"{names} cannot be used here: {reason_of(error)}") from error
        if settings.initial == "abstraction" and self.abstraction.initial is not None:
            keys, values = self.abstraction.initial(game)
            for seat in range(1 if settings.shared else game.facts.num_players):
                tag = 0 if settings.shared else (seat + 1) << 60
                self.table.put(keys ^ np.uint64(tag), values)

    def _check(self) -> None:
        name, opponent_model = self.settings.abstraction, self.settings.opponent_model
        # What somebody else has written is not taken at its word.
        if ":" in name:
            check_abstraction(self.abstraction, self.game)
        if opponent_model is not None and ":" in opponent_model["id"]:
            check_opponent_model(opponent_model, self.game)
        if self._forgets and (self.has_episode or self.entries_per_turn > 1):
            raise OptionError(
                "traces, backward updates and vdbe hold on to entries: when_full must be stop"
            )
        is_small = self.abstraction.is_small and self.rule != "double_q"
        if self.record["wants_table_max"][0] and not is_small:
            raise OptionError(
                f"the opponent model looks through all of abstraction '{name}' at every move: "
                "set its highest: legal"
            )
        if self.settings.initial == "abstraction" and self.abstraction.initial is None:
            raise OptionError(f"abstraction '{name}' has no values to begin with: initial: 0")

    def _make_hooks(self) -> Hooks:
        reward, observe, adjust = no_reward, no_observe, no_adjust
        if self.has_events:
            reward = find_reward(self.settings.reward, self.game)
        if self.opponents is not None:
            observe, adjust = self.opponents.observe_hook, self.opponents.adjust_hook
        return Hooks(self.abstraction.encode, reward, observe, adjust)

    @property
    def arrays(self) -> ModelArrays:
        """For compiled code; good until the table grows."""
        table = self.table
        memory = _NO_MEMORY if self.opponents is None else self.opponents.memory
        entries = table.keys, table.values, table.visits, table.size
        return ModelArrays(self.record, *entries, self._hooks, memory, self._levels)

    @property
    def compiled(self) -> tuple[Kernels, npt.NDArray[np.int32], ModelArrays]:
        """What compiled turns take first: the game's kernels and rules, and the arrays."""
        return self.game.kernels, self.game.rules, self.arrays

    @property
    def _forgets(self) -> bool:
        return self.settings.when_full == "forget"

    @property
    def has_episode(self) -> bool:
        """Whether the actions of a game are kept until its end."""
        return bool(self.record["has_episode"][0])

    @property
    def has_events(self) -> bool:
        """Whether rewards compare states."""
        return bool(self.record["reward_kind"][0] == EVENTS)

    @property
    def entries_per_turn(self) -> int:
        """How many entries a turn can add."""
        return 2 if self.record["policy"][0] == VDBE else 1

    def take_metrics(self) -> dict[str, float]:
        """Averages since the last time it was asked."""
        sums = {name: float(self.record[name][0]) for name in _SUMS}
        for name in _SUMS:
            self.record[name] = 0
        turns, updates = max(sums["num_turns"], 1.0), max(sums["num_updates"], 1.0)
        return {
            "charts/exploration": sums["exploration_sum"] / turns,
            "losses/td": sums["error_sum"] / updates,
            "charts/table_size": float(len(self.table)),
            "charts/visits": float(self.table.visits.sum()) / max(len(self.table), 1),
        }

    def values_at(
        self, world: npt.NDArray[np.uint8], seat: int, key: int
    ) -> npt.NDArray[np.float64]:
        """[num_actions] what the table says of every action there; NaN: nothing.

        Args:
            world: a state that the seat cannot tell from the true one.
            seat: whose decision it is.
            key: of its information set.
        """
        keys = np.zeros(self.game.facts.num_actions, np.uint64)
        self.abstraction.encode(world, self.game.rules, seat, np.uint64(key), keys)
        tag = np.uint64(0 if self.settings.shared else (seat + 1) << 60)
        return np.where(keys == 0, np.nan, self.table.get(keys ^ tag))

    def know_opponents(self, num_opponents: int) -> None:
        """Have room for a model of each of them, if they are told apart."""
        if self.opponents is not None and self.opponents.by_opponent:
            self.opponents.grow(1 + num_opponents)

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
            "memory": self.arrays.memory.copy(),
            "num_games": int(self.record["num_games"][0]),
            "schedule_games": float(self.record["schedule_games"][0]),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Become the model that ``state_dict`` was taken from."""
        num_values = len(self.table.values)
        keys = saved_array(state, "keys", np.uint64, (None,), 1)
        shape = num_values, len(keys)
        if (keys[1:] <= keys[:-1]).any():
            raise DamagedStateError("its keys do not rise")
        table = ValueTable(num_values, self.settings.max_entries, self._forgets)
        values = saved_array(state, "values", np.float64, shape)
        table.put(keys, values, saved_array(state, "visits", np.int64, shape, 0))
        self.table = table
        if self.opponents is not None:
            width = self.opponents.memory.shape[1]
            memory = saved_array(state, "memory", np.uint8, (None, width))
            if len(memory) < len(self.opponents.memory):
                raise DamagedStateError("its opponent model has another size")
            self.opponents.memory = memory.copy()
        self.record["num_games"] = saved_number(state, "num_games")
        self.record["schedule_games"] = saved_number(
            state, "schedule_games", 0, math.inf, is_whole=False
        )

    @classmethod
    def from_state(cls, game: Game, state: Mapping[str, Any]) -> TabularModel:
        """A model as it was saved."""
        settings = TabularSettings.parse(state["settings"])
        with names_from_a_file():
            model = cls(game, state["rule"], settings)
        model.load_state_dict(state)
        return model


def foreign_of(settings: TabularSettings) -> list[str]:
    """What settings name that is not ours."""
    opponent_model = settings.opponent_model or {}
    names = settings.abstraction, settings.reward, opponent_model.get("id")
    return [str(name) for name in names if is_module_name(name)]


def _record(rule: str, settings: TabularSettings, total: int) -> Any:
    record = np.zeros(1, MODEL)
    m = record[0]
    is_backward = settings.updates == "backward"
    has_traces = rule.endswith("_lambda")
    decay = settings.trace_decay
    if decay is not None and not (has_traces or is_backward):
        raise OptionError(f"{rule} has no traces: take q_lambda or sarsa_lambda for trace_decay")
    if is_backward and rule == "double_q":
        raise OptionError("double_q learns turn by turn: set updates: turn")
    if decay is None:
        decay = 1.0 if is_backward else _DEFAULT_TRACE if has_traces else 0.0
    m.rule = RULES[rule]
    m.is_learning = True
    m.is_averaging = settings.learning_rate == "1/n"
    m.learning_rate = 0.0 if m.is_averaging else settings.learning_rate
    m.discount = settings.discount
    m.has_episode = has_traces or is_backward
    m.trace_decay = decay
    m.is_accumulating = settings.traces == "accumulating"
    m.is_backward = is_backward
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
    m.has_opponent_model = settings.opponent_model is not None
    return record
