"""One YAML file describes one run completely.

::

    game:  {id: leduc_v0}
    agent: {id: dqn, params: {learning_rate: 3e-4}}
    train: {seed: 0, steps: 200_000, opponents: [self, leduc_rule]}
    eval:  {games: 2_000, opponents: [random, leduc_rule]}

Defaults live in the classes below and in the settings of the learner, nowhere else. A key that is
not known is refused with the nearest one that is. ``base: other.yaml`` takes over another file, of
which this one changes single values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

import yaml
from pydantic import (
    Field,
    PlainSerializer,
    PlainValidator,
    SerializeAsAny,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from agents import LEARNERS
from agents.learning.learner import Learner
from agents.naming import check_learner
from agents.spec import AgentSpec, foreign_names
from common.errors import OptionError
from common.imports import find_named, look_up
from envs import GAMES, game_class
from envs.core.game import Game
from envs.core.options import Options, option
from training.asked import read_yaml as read_yaml  # every reader of a run parses what it reads

MANY = 10**12
PLAYERS = BEST, LAST = "best", "last"


class GameSettings(Options):
    """The game, and those of its options that are not as usual."""

    id: str
    params: dict[str, Any] = Field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note every option, chosen or by default."""
        options = self.build().options.to_dict()
        self.params.clear()  # a preset is no option, but stands for some
        self.params.update(options)

    def build(self, **changes: Any) -> Game:
        """Make the game, perhaps with some options changed."""
        return game_class(self.id)(**{**self.params, **changes})


class AgentSettings(Options):
    """The learner and its settings."""

    id: str
    params: SerializeAsAny[Options] = Field(default_factory=dict, validate_default=True)  # type: ignore[assignment]

    @field_validator("id")
    @classmethod
    def _check_id(cls, learner_id: str) -> str:
        learner_class(learner_id)
        return learner_id

    @field_validator("params", mode="before")
    @classmethod
    def _read_params(cls, values: Any, info: ValidationInfo) -> Any:
        if not isinstance(values, Mapping) or "id" not in info.data:
            return values
        return learner_class(info.data["id"]).settings_class.parse(values)


class _Weight(Options):
    """Shares are made of weights: sums and quotients of these are numbers."""

    weight: float = option(1.0, low=1e-6, high=1e6, help="how often an opponent is met")


@dataclass(frozen=True)
class Opponent:
    """One opponent of the run with how often it is met."""

    agent: AgentSpec | None
    """``None``: the learner itself."""
    name: str
    """``self``, ``past``, ``league:RUN`` or the name of the agent."""
    weight: float = 1.0

    @classmethod
    def parse(cls, value: Opponent | str | Mapping[str, Any]) -> Opponent:
        """Read ``self``, ``past``, ``league:RUN``, an agent, or one with a weight."""
        if isinstance(value, Opponent):
            return value
        weight = 1.0
        if isinstance(value, Mapping):
            value = dict(value)
            weight = value.pop("weight", 1.0)
            if set(value) == {"id"}:
                value = str(value["id"])
        weight = _Weight(weight=weight).weight
        if isinstance(value, str) and (value in ("self", "past") or value.startswith("league:")):
            return cls(None, value, float(weight))
        agent = AgentSpec.parse(value)
        return cls(agent, agent.name, float(weight))

    def to_plain(self) -> Any:
        """As it would stand in a YAML file."""
        plain: Any = self.name if self.agent is None else self.agent.to_dict()
        if self.weight == 1.0:
            return plain
        return {**(plain if isinstance(plain, dict) else {"id": plain}), "weight": self.weight}


_ANY = WithJsonSchema({"type": ["string", "object"]})
_Trained = Annotated[
    Opponent, PlainValidator(Opponent.parse), PlainSerializer(Opponent.to_plain), _ANY
]
Evaluated = Annotated[
    AgentSpec, PlainValidator(AgentSpec.parse), PlainSerializer(AgentSpec.to_dict), _ANY
]


class TrainSettings(Options):
    """How long to learn, against whom, and what is kept on the way; steps are the learner's."""

    steps: int = option(100_000, low=1, high=MANY, help="how long to learn, in the learner's unit")
    seed: int = option(0, low=0, high=2**63 - 1, help="root of all randomness")
    opponents: tuple[_Trained, ...] = Field(
        default=(Opponent(None, "self"),),
        description="who has the other seats: self, past, league:RUN or agents",
    )
    mixed: bool = option(False, help="draw an opponent for every other seat by itself")
    role: str = Field(default="", description="the role to learn; empty: all roles of the game")
    log_every: int | None = option(
        None, low=1, high=MANY, help="steps between two points of the curves (default: 100 points)"
    )
    eval_every: int | None = option(
        None, low=1, high=MANY, help="steps between two evaluations (default: 10 evaluations)"
    )
    checkpoint_every: int | None = option(
        None, low=1, high=MANY, help="steps between two checkpoints (default: 10 checkpoints)"
    )
    keep: int = option(2, low=1, high=1000, help="full checkpoints kept; players are all kept")
    player: str = option(
        BEST, choices=PLAYERS, help="the run's player: that of its best evaluation, or its last"
    )

    def __post_init__(self) -> None:
        """Refuse seats that nobody sits in."""
        if not self.opponents:
            raise OptionError("opponents must name somebody, such as [self]")

    @property
    def cadences(self) -> dict[str, int]:
        """How often each thing is done: as the file says, or so many times in the run."""
        usual = {"log": 100, "eval": 10, "checkpoint": 10}
        return {
            name: getattr(self, f"{name}_every") or max(1, self.steps // times)
            for name, times in usual.items()
        }


class EvalSettings(Options):
    """How the present skill is measured."""

    games: int = option(1000, low=2, high=10**9, help="games against each opponent, in pairs")
    opponents: tuple[Evaluated, ...] = Field(
        default=(AgentSpec.parse("random"),), description="agents to play against"
    )
    confidence: float = option(0.95, low=0.5, high=0.9999, help="of every interval")
    exploitability: bool = option(True, help="exact, where the game is small enough")
    max_nodes: int = option(
        400_000, low=1, high=10**9, help="largest game tree for exact exploitability"
    )
    game_params: dict[str, Any] = Field(
        default_factory=dict,
        description="options of the game that differ from those in training; not structural ones",
    )


class LogSettings(Options):
    """What is written beside the metrics file."""

    tensorboard: bool = option(True, help="event files for TensorBoard")


class RunConfig(Options):
    """All there is to know about a run."""

    game: GameSettings
    agent: AgentSettings
    train: TrainSettings = TrainSettings()
    eval: EvalSettings = EvalSettings()
    log: LogSettings = LogSettings()

    def __post_init__(self) -> None:
        """Refuse evaluations on a game that the player cannot play."""
        try:
            misfit = self.build_eval_game().options.misfit(self.game.params)
        except OptionError as error:
            raise OptionError(f"eval.game_params: {error}") from error
        if misfit:
            raise OptionError(
                f"eval.game_params: a player trained with {misfit} cannot play with another value: "
                "it changes actions or observations"
            )

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Self:
        """Read the mapping of a YAML file; what is empty there is as usual."""
        return cls(**_without_empty(values))

    def foreign_code(self) -> list[str]:
        """Programs and modules that are not ours and would run with it, by their names."""
        agents = [opponent.agent for opponent in self.train.opponents if opponent.agent]
        agents += self.eval.opponents
        found = [code for agent in agents for code in agent.foreign_code()]
        return [*foreign_names(self.agent.to_dict()), *found]

    def build_game(self) -> Game:
        """Make the game."""
        return self.game.build()

    def build_eval_game(self) -> Game:
        """Make the game of the evaluations, which may have other options."""
        return self.game.build(**self.eval.game_params)

    def to_yaml(self) -> str:
        """The file that repeats the run."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False, width=100)


def learner_class(learner_id: str) -> type[Learner]:
    """The class of a learner by its id, or a learner of yours as ``"module:Class"``.

    >>> learner_class("q_lerning")
    Traceback (most recent call last):
    ...
    common.errors.UnknownNameError: unknown learner 'q_lerning': did you mean 'q_learning'? ...
    """
    check_learner(learner_id)
    found: type[Learner] = find_named("learner", LEARNERS, learner_id)
    if not (isinstance(found, type) and issubclass(found, Learner)):
        raise OptionError(
            f"'{learner_id}' is not a learner: derive it from agents.learning.learner.Learner"
        )
    return found


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out ``train:`` with nothing after it, and ``params:`` likewise."""
    return {
        key: {k: v for k, v in value.items() if (k, v) != ("params", None)}
        if isinstance(value, Mapping)
        else value
        for key, value in values.items()
        if value is not None
    }


# ---- the JSON Schema of a run's file, by which editors complete, explain and mark wrong keys -----
#
# ``python train.py --schema > configs/schema.json`` writes it anew; a test fails when it no longer
# says what the code does.


def run_schema() -> dict[str, Any]:
    """What a file may say, with the options of every game and the settings of every learner."""
    schema = RunConfig.json_schema()
    definitions = schema["$defs"]
    settings = {learner_id: learner_class(learner_id).settings_class for learner_id in LEARNERS}
    definitions |= {cls.__name__: cls.json_schema() for cls in settings.values()}
    definitions |= {game_id: _options_of(game_id) for game_id in GAMES}
    definitions["GameSettings"] |= _by_id({game_id: game_id for game_id in GAMES})
    definitions["AgentSettings"] |= _by_id({key: cls.__name__ for key, cls in settings.items()})
    del definitions[Options.__name__]
    for part in (schema, definitions["GameSettings"], definitions["AgentSettings"]):
        del part["required"]  # a base may have said it
    schema["properties"]["base"] = {"type": "string", "description": "a file that this one changes"}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


def _options_of(game_id: str) -> dict[str, Any]:
    game: type[Game] = look_up("game", GAMES, game_id)
    schema = game.Options.json_schema()
    if game.presets:
        text = "options that are given together"
        schema["properties"]["preset"] = {"enum": [*game.presets], "description": text}
    return schema


def _by_id(definitions: Mapping[str, str]) -> dict[str, Any]:
    """An ``id``, and with each id its own ``params``."""
    return {
        "properties": {"id": {"enum": [*definitions]}, "params": {"type": ["object", "null"]}},
        "allOf": [
            {
                "if": {"properties": {"id": {"const": name}}, "required": ["id"]},
                "then": {"properties": {"params": {"$ref": f"#/$defs/{definition}"}}},
            }
            for name, definition in definitions.items()
        ],
    }
