"""One YAML file describes one run completely.

::

    game:  {id: leduc_v0}
    agent: {id: dqn, params: {learning_rate: 3e-4}}
    train: {seed: 0, amount: 200_000, opponents: [self, leduc_rule]}
    eval:  {games: 2_000, opponents: [random, leduc_rule]}

Defaults live in the classes below and in the settings of the learner, nowhere else. A key that is
not known is refused with the nearest one that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agents import LEARNERS
from agents.learning.learner import Learner
from agents.spec import AgentSpec
from envs import make_game
from envs.core.errors import MasqueradeError, OptionError, UnknownNameError, nearest
from envs.core.game import Game
from envs.core.lazily import look_up
from envs.core.options import Options, option

__all__ = ["EvalSettings", "RunConfig", "TrainSettings", "learner_class", "read_yaml"]

MANY = 10**12


class TrainSettings(Options):
    """How much is learnt, and what is kept on the way. Amounts are in the learner's unit."""

    amount: int = option(100_000, low=1, high=MANY, help="how much to learn")
    seed: int = option(0, low=0, high=2**63 - 1, help="root of all randomness")
    log_every: int | None = option(
        None, low=1, high=MANY, help="a point on the curves (default: 100 points)"
    )
    eval_every: int | None = option(
        None, low=1, high=MANY, help="an evaluation (default: 10 of them)"
    )
    checkpoint_every: int | None = option(
        None, low=1, high=MANY, help="a checkpoint (default: 10 of them)"
    )
    keep: int = option(2, low=1, high=1000, help="full checkpoints kept; players are all kept")

    def every(self, name: str, share: int) -> int:
        """How often something is done: as told, or ``share`` times in the run."""
        told: int | None = getattr(self, f"{name}_every")
        return told if told is not None else max(1, self.amount // share)

    @property
    def cadences(self) -> dict[str, int]:
        """How often each thing is done."""
        return {
            "log": self.every("log", 100),
            "eval": self.every("eval", 10),
            "checkpoint": self.every("checkpoint", 10),
        }


class EvalSettings(Options):
    """How the present skill is measured."""

    games: int = option(1000, low=2, high=10**9, help="games against each opponent, in pairs")
    confidence: float = option(0.95, low=0.5, high=0.9999, help="of every interval")
    exploitability: bool = option(True, help="exact, where the game is small enough")
    max_nodes: int = option(
        400_000, low=1, high=10**9, help="largest game tree for exact exploitability"
    )


class LogSettings(Options):
    """What is written beside the metrics file."""

    tensorboard: bool = option(True, help="event files for TensorBoard")


@dataclass(frozen=True)
class Entry:
    """One opponent of the run with how often it is met."""

    agent: AgentSpec | None
    """``None``: the learner itself."""
    name: str
    """``self``, ``past``, ``league:RUN`` or the name of the agent."""
    weight: float = 1.0

    @classmethod
    def parse(cls, value: str | Mapping[str, Any]) -> Entry:
        """Read ``self``, ``past``, ``league:RUN``, an agent, or one with a weight."""
        weight = 1.0
        if isinstance(value, Mapping):
            value = dict(value)
            weight = value.pop("weight", 1.0)
            if set(value) == {"id"}:
                value = str(value["id"])
        if not isinstance(weight, int | float) or isinstance(weight, bool) or weight <= 0:
            raise OptionError(f"the weight of an opponent must be above 0, not {weight!r}")
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


@dataclass(frozen=True)
class RunConfig:
    """All there is to know about a run."""

    game_id: str
    game_params: dict[str, Any]
    agent_id: str
    settings: Options
    train: TrainSettings
    opponents: tuple[Entry, ...]
    eval: EvalSettings
    eval_opponents: tuple[AgentSpec, ...]
    log: LogSettings = field(default_factory=LogSettings)

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> RunConfig:
        """Read the mapping of a YAML file."""
        _check_keys("", values, ("game", "agent", "train", "eval", "log"))
        game = _section(values, "game", ("id", "params"))
        agent = _section(values, "agent", ("id", "params"))
        train = dict(_section(values, "train"))
        evaluation = dict(_section(values, "eval"))
        for name, section in (("game", game), ("agent", agent)):
            if "id" not in section:
                raise OptionError(f"{name} must be a mapping with an id, such as {{id: ...}}")
        opponents = _listed("train", train.pop("opponents", ["self"]))
        measured = _listed("eval", evaluation.pop("opponents", ["random"]))
        config = cls(
            game_id=str(game["id"]),
            game_params=dict(game.get("params") or {}),
            agent_id=str(agent["id"]),
            settings=_parse("agent.params", _settings_class(agent["id"]), agent.get("params")),
            train=_parse("train", TrainSettings, train),
            opponents=tuple(Entry.parse(entry) for entry in opponents),
            eval=_parse("eval", EvalSettings, evaluation),
            eval_opponents=tuple(AgentSpec.parse(entry) for entry in measured),
            log=_parse("log", LogSettings, values.get("log")),
        )
        config.build_game()
        return config

    def build_game(self) -> Game:
        """Make the game."""
        return make_game(self.game_id, **self.game_params)

    def to_dict(self) -> dict[str, Any]:
        """Every value, chosen or by default, as it would stand in a YAML file."""
        return {
            "game": {"id": self.game_id, "params": self.build_game().options.to_dict()},
            "agent": {"id": self.agent_id, "params": self.settings.to_dict()},
            "train": {
                **self.train.to_dict(),
                "opponents": [entry.to_plain() for entry in self.opponents],
            },
            "eval": {
                **self.eval.to_dict(),
                "opponents": [agent.to_dict() for agent in self.eval_opponents],
            },
            "log": self.log.to_dict(),
        }

    def to_yaml(self) -> str:
        """The file that repeats the run."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False, width=100)


def learner_class(learner_id: str) -> type[Learner]:
    """The class of a learner by its id.

    >>> learner_class("q_lerning")
    Traceback (most recent call last):
    ...
    envs.core.errors.UnknownNameError: unknown learner 'q_lerning': did you mean 'q_learning'? ...
    """
    found: type[Learner] = look_up("learner", LEARNERS, learner_id)
    return found


def read_yaml(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Read a YAML file and apply ``section.key=value`` texts to it."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MasqueradeError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MasqueradeError(f"{path} is no valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise MasqueradeError(f"{path} must be a mapping with game, agent and train")
    for text in overrides:
        _override(content, text)
    return content


def _override(content: dict[str, Any], text: str) -> None:
    place, equals, value = text.partition("=")
    *sections, key = place.split(".")
    if not equals or not sections:
        raise OptionError(f"--set takes SECTION.KEY=VALUE, such as train.amount=1000, not {text!r}")
    target = content
    for section in sections:
        if not isinstance(target.setdefault(section, {}), dict):
            target[section] = {}
        target = target[section]
    try:
        target[key] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise OptionError(f"--set {place}: {value!r} is no valid YAML value") from error


def _settings_class(learner_id: Any) -> type[Options]:
    try:
        return learner_class(str(learner_id)).settings_class
    except UnknownNameError as error:
        raise UnknownNameError(f"agent.id: {error}") from error


def _parse(place: str, cls: type[Any], values: Any) -> Any:
    if values is not None and not isinstance(values, Mapping):
        raise OptionError(f"{place} must be a mapping, not {values!r}")
    try:
        return cls.parse(values or {})
    except OptionError as error:
        raise OptionError(f"{place}: {error}") from error


def _section(
    values: Mapping[str, Any], name: str, known: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    section = values.get(name) or {}
    if not isinstance(section, Mapping):
        raise OptionError(f"{name} must be a mapping, not {section!r}")
    if known:
        _check_keys(name, section, known)
    return section


def _check_keys(place: str, values: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in values:
        if key not in known:
            where = f"{place}: " if place else ""
            raise OptionError(f"{where}unknown key '{key}': {nearest(str(key), known)}")


def _listed(place: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise OptionError(f"{place}.opponents must be a list, such as [random], not {value!r}")
    return value
