"""All that one table learner knows, and the compiled code's view of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from agents.abstraction import ABSTRACTIONS, BY_DECISION, table_abstraction
from agents.spec import foreign_names
from agents.tabular.hooks import (
    HOOKS,
    REWARDS,
    Hooks,
    check_abstraction,
    check_opponent_model,
    find_reward,
    make_opponent_model,
)
from agents.tabular.table import POLICIES, SCHEDULES, VDBE, ValueTable
from common.errors import MasqueradeError, OptionError, reason_of
from common.imports import names_from_a_file
from common.saved import DamagedStateError, saved_array, saved_number
from envs.core.game import Game
from envs.core.kernels import Kernels
from envs.core.options import Options, option
from envs.core.records import Grid, Row, record, tuple_type
from envs.core.rollouts import FAULTS

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
        choices=tuple(name for name in ABSTRACTIONS if name not in BY_DECISION),
        can_import=True,
        help="what the entries of the table stand for",
    )
    opponent_model: dict[str, Any] | None = Field(
        default=None,
        description="what is remembered of opponents: {id: lies}, and its own settings",
    )
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


SARSA, Q_LEARNING, EXPECTED_SARSA, DOUBLE_Q = range(4)
AT_END, CHANGES, EVENTS = range(3)

MODEL = record(
    rule=np.int64,
    is_learning=np.int64,  # 0: the table stays as it is
    learning_rate=np.float64,
    is_averaging=np.int64,  # the rate is 1 / visits instead
    discount=np.float64,
    has_episode=np.int64,  # all own actions of the game are kept until its end
    trace_decay=np.float64,
    is_backward=np.int64,
    policy=np.int64,
    exploration=np.float64,  # epsilon or temperature of the first game
    exploration_end=np.float64,
    exploration_schedule=np.int64,
    exploration_games=np.float64,
    vdbe_sensitivity=np.float64,
    vdbe_weight=np.float64,  # 0: one over the number of legal actions
    initial=np.float64,  # value of what is not in the table
    reward_kind=np.int64,
    final_update=np.int64,
    snapshot=np.int64,
    overwrite=np.int64,
    wants_table_max=np.int64,
    # Counts, of which Python takes the last four away after every chunk.
    num_games=np.int64,
    num_turns=np.int64,
    num_updates=np.int64,
    exploration_sum=np.float64,
    error_sum=np.float64,
)
SEAT = record(
    last_slot=np.int64,  # of the last action, ABSENT before the first
    last_value=np.float64,  # what the table said when it was chosen
    last_total=np.float64,  # what the player had got by then
    state_slot=np.int64,  # of the state's own epsilon, or ABSENT
    num_legal=np.int64,
    episode_length=np.int64,
)


class ModelArrays(NamedTuple):
    """What compiled code needs of a model."""

    record: Annotated[Any, MODEL]
    """[1]."""
    keys: Row[np.uint64]
    values: Grid[np.float64]
    visits: Grid[np.int64]
    size: Row[np.int64]
    """[1] number of entries."""
    hooks: Annotated[Hooks, HOOKS]
    memory: Grid[np.uint8]
    levels: Row[np.float64]
    """[3] for rewards of events."""


class Workspace(NamedTuple):
    """What is remembered while games last: a place for each row and seat; then scratch space."""

    seats: Annotated[Any, SEAT]
    before: Grid[np.uint8]
    """[places, state_size] the state at the last decision; empty unless events are rewarded."""
    episode_slots: Grid[np.int64]
    """[places, longest] own actions of the game."""
    episode_weights: Grid[np.float64]
    """Their eligibility traces, or in backward updates the reward of each."""
    episode_values: Grid[np.float64]
    """In backward updates: the bootstrap value of the position of each action."""
    episode_is_best: Grid[np.int8]
    """In backward updates: whether the action was the best."""
    keys: Row[np.uint64]
    values: Grid[np.float64]
    """[2, actions]; one row is used unless learning is double."""
    means: Row[np.float64]
    adjusted: Row[np.float64]
    probs: Row[np.float64]
    mask: Row[np.int8]
    totals: Row[np.float64]


MODEL_ARRAYS, WORKSPACE = tuple_type(ModelArrays), tuple_type(Workspace)


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
        self.abstraction = table_abstraction(settings.abstraction, game)
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
            names = ", ".join(foreign_names(settings.to_dict())) or settings.abstraction
            raise OptionError(f"{names} cannot be used here: {reason_of(error)}") from error
        if settings.initial == "abstraction" and self.abstraction.initial is not None:
            self.table.put(*self.abstraction.initial(game))

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
        chosen: dict[str, Callable[..., Any]] = {}
        if self.has_events:
            chosen["reward"] = find_reward(self.settings.reward, self.game)
        if self.opponents is not None:
            chosen["observe"] = self.opponents.observe_hook
            chosen["adjust"] = self.opponents.adjust_hook
        return Hooks(encode=self.abstraction.encode, **chosen)

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
        return np.where(keys == 0, np.nan, self.table.get(keys))

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
            "schedule_games": float(self.record["exploration_games"][0]),
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
        self.record["exploration_games"] = saved_number(
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


def _record(rule: str, settings: TabularSettings, total: int) -> Any:
    is_backward = settings.updates == "backward"
    has_traces = rule.endswith("_lambda")
    decay = settings.trace_decay
    if decay is not None and not (has_traces or is_backward):
        raise OptionError(f"{rule} has no traces: take q_lambda or sarsa_lambda for trace_decay")
    if is_backward and rule == "double_q":
        raise OptionError("double_q learns turn by turn: set updates: turn")
    if decay is None:
        decay = 1.0 if is_backward else _DEFAULT_TRACE if has_traces else 0.0
    return settings.as_record(
        MODEL,
        rule=RULES[rule],
        is_learning=True,
        is_averaging=settings.learning_rate == "1/n",
        has_episode=has_traces or is_backward,
        trace_decay=decay,
        is_backward=is_backward,
        exploration_end=settings.last_exploration,
        exploration_games=settings.exploration_games or total or np.inf,
        reward_kind={"end": AT_END, "change": CHANGES}.get(settings.reward, EVENTS),
    )
