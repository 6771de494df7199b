"""One player of a tournament: which agent, made how, within what time.

Params come from YAML, JSON and command lines. What a constructor says of itself, its annotations,
is enough to refuse a wrong kind in one line; what range a number has is its own affair.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents import AGENTS, agent_class, make_agent, split_name, split_path
from agents.base import Agent
from agents.learning.device import AUTO, check_device, computing_on, resolve_device
from agents.learning.files import COMPLETE, checkpoint_folder
from agents.naming import check_keys, check_params
from agents.processes.hosted import HostedAgent
from agents.processes.outside import OutsideAgent
from common.errors import MasqueradeError, OptionError, one_line, reason_of
from common.files import checksum
from common.imports import is_ours
from envs.core.game import Game
from envs.core.options import read_number
from envs.core.rollouts import FAULTS

LARGEST = 2**63 - 1
"""Beyond that compiled code would take a whole number for another."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and _is_number(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    return not isinstance(value, np.complexfloating) and bool(-LARGEST <= value <= LARGEST)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _is_whole),
    "float": ("a number", _is_number),
    "bool": ("true or false", lambda value: isinstance(value, bool | np.bool_)),
    "str": ("text", lambda value: isinstance(value, str)),
    "None": ("null", lambda value: value is None),
    "Path": ("a path", lambda value: isinstance(value, str | Path)),
    "Callable": ("a function", callable),
    "Mapping": ("a mapping", lambda value: isinstance(value, Mapping)),
    "dict": ("a mapping", lambda value: isinstance(value, dict)),
    "State": ("a mapping", lambda value: isinstance(value, dict)),
    "Sequence": ("a list", _is_list),
    "tuple": ("a list", _is_list),
    "list": ("a list", _is_list),
}

PLAIN: tuple[type, ...] = (bool, int, float, str, bytes, list, tuple, dict, type(None))
"""What YAML, JSON and command lines can say."""
OBJECT = ("what only Python can make", lambda value: not isinstance(value, PLAIN))


def read_params(params: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    """The same params, each of a kind that its annotation names; what is unknown is left alone.

    >>> read_params({"depth": "1e3", "ties": "low"}, {"depth": "int | None", "ties": "str"})
    {'depth': 1000, 'ties': 'low'}
    >>> read_params({"depth": 1.5}, {"depth": "int | None"})
    Traceback (most recent call last):
    ...
    common.errors.OptionError: depth must be a whole number or null, not 1.5
    """
    read = {}
    for name, value in params.items():
        names = set(_alternatives(annotations.get(name, "Any")))
        if names & {"int", "float"} and "str" not in names:
            value = read_number(value)
        read[name] = value
        kinds = [kind for name, kind in KINDS.items() if name in names]
        kinds += [] if names <= KINDS.keys() else [OBJECT]
        if "Any" not in names and not any(accepts(value) for _, accepts in kinds):
            words = " or ".join(dict.fromkeys(word for word, _ in kinds))
            raise OptionError(f"{name} must be {words}, not {one_line(repr(value), 80)}")
    return read


def _alternatives(annotation: str) -> Iterator[str]:
    """The kinds of a union, without what is in brackets.

    >>> list(_alternatives("Sequence[int | float] | Path | None"))
    ['Sequence', 'Path', 'None']
    """
    depth, word = 0, ""
    for letter in f"{annotation}|":
        depth += (letter == "[") - (letter == "]")
        if depth == 0 and letter == "|":
            yield word.strip().partition("[")[0].rpartition(".")[2]
            word = ""
        else:
            word += letter


def annotations_of(made: type) -> dict[str, str]:
    """What constructors say of their parameters, through all to which the rest is handed on."""
    found: dict[str, str] = {}
    for each in made.__mro__:
        if "__init__" not in vars(each):
            continue
        parameters = inspect.signature(vars(each)["__init__"]).parameters.values()
        for parameter in parameters:
            if parameter.annotation is not parameter.empty:
                kind = parameter.annotation
                text = kind if isinstance(kind, str) else getattr(kind, "__name__", "Any")
                found.setdefault(parameter.name, text)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return found


MAX_NAME = 200


@dataclass(frozen=True)
class AgentSpec:
    """One player of a tournament."""

    id: str
    params: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    """How tables call it; the id when empty."""
    time_per_move: float | None = None
    """Seconds a move; who takes longer loses the game. ``None``: no limit."""
    device: str = "auto"
    """Where an agent that can choose computes."""

    def __post_init__(self) -> None:
        """Refuse what no agent can be made with."""
        texts = {"id": self.id, "name": self.name, "device": self.device}
        for key, text in texts.items():
            if not isinstance(text, str) or not text.isprintable():
                raise OptionError(
                    f"an agent's {key} must be plain text, not {one_line(repr(text))}"
                )
        if self.name != self.name.strip():
            raise OptionError(
                f"an agent's name must not begin or end with a space, as {self.name!r} does"
            )
        if len(self.name) > MAX_NAME:
            raise OptionError(f"an agent's name has at most {MAX_NAME} letters: shorten it")
        if not isinstance(self.params, dict) or not all(isinstance(k, str) for k in self.params):
            raise OptionError(f"params of agent '{self.id}' must be a mapping, not {self.params!r}")
        check_device(self.device)
        seconds = self.time_per_move
        if seconds is not None and not (_is_number(seconds) and seconds > 0):
            raise OptionError(f"time_per_move must be seconds above 0, not {seconds!r}")

    @classmethod
    def parse(cls, value: AgentSpec | str | Mapping[str, Any]) -> AgentSpec:
        """Read ``"random"``, ``"my name=random"``, ``"id:path"`` or a mapping of the fields.

        >>> AgentSpec.parse("zero=random").to_dict()
        {'id': 'random', 'params': {}, 'name': 'zero'}
        >>> AgentSpec.parse("mine=external:./player.py").to_dict()
        {'id': 'external', 'params': {'path': './player.py'}, 'name': 'mine'}
        """
        if isinstance(value, AgentSpec):
            return value
        if isinstance(value, str):
            name, text = split_name(value)
            value = {"id": text, "name": name} if name else {"id": text}
        if not isinstance(value, Mapping):
            raise OptionError(f"an agent must be a name or a mapping with an id, not {value!r}")
        check_keys([each.name for each in fields(cls)], value, what="agent key")
        if not value.get("id"):
            raise OptionError(f"agent {dict(value)} has no id: give one, such as 'random'")
        text, params = value["id"], value.get("params") or {}
        if not isinstance(text, str) or not isinstance(params, Mapping):
            raise OptionError(f"an agent must have an id and perhaps params, not {value!r}")
        agent_id, path = split_path(text)
        params = dict(params)
        if path:
            # As seen from the working folder: results travel to other machines.
            path = path.removeprefix(os.getcwd() + os.sep)
            params = {"path": path, **params}
            text = f"{agent_id}:{path}"
        rest = {"params": params, "name": value.get("name") or text}
        return cls(**{**value, "id": agent_id, **rest})

    def within(self, time_per_move: float | None = None, device: str | None = None) -> AgentSpec:
        """The same player with a tournament's limits, where it has none of its own."""
        spec = self
        if time_per_move is not None and self.time_per_move is None:
            spec = replace(spec, time_per_move=time_per_move)
        if device is not None and self.device == "auto":
            spec = replace(spec, device=device)
        return spec

    def build(self, game: Game, is_apart: bool = False) -> Agent:
        """Make the agent; one with a limit and no clock of its own gets a process to itself.

        Args:
            game: the game to play.
            is_apart: give it a process in any case, so that it can be stopped and shares no memory.
        """
        with computing_on(self.device):  # whatever it consists of, too
            return self._build(game, is_apart)

    def _build(self, game: Game, is_apart: bool) -> Agent:
        found = agent_class(self.id)
        params = dict(self.params)
        if self.id in AGENTS:  # classes of users may say what they take in words of their own
            check_params(self.id, params)
            try:
                params = read_params(params, annotations_of(found))
            except OptionError as error:
                raise OptionError(f"agent '{self.id}' cannot be made: {error}") from error
        # Ours weigh by their network whether a card is worth it.
        if found.takes("device") and found.default_of("device") != AUTO:
            params.setdefault("device", resolve_device(self.device))
        if found.takes("time_per_move") and self.time_per_move is not None:
            params.setdefault("time_per_move", self.time_per_move)
        is_apart |= self.time_per_move is not None and not found.keeps_time
        agent: Agent
        try:
            if is_apart and not issubclass(found, OutsideAgent):
                limit = self.time_per_move or math.inf
                agent = HostedAgent(game, self.id, params, limit, bool(self.foreign_code()))
            else:
                agent = make_agent(self.id, game, **params)
        except MasqueradeError:
            raise
        except FAULTS as error:  # whatever somebody's constructor does
            reason = one_line(error) if isinstance(error, TypeError) else reason_of(error)
            raise OptionError(f"agent '{one_line(self.id)}' cannot be made: {reason}") from error
        agent.name = self.name or self.id
        # Who thinks by the clock thinks further on a faster machine.
        agent.is_reproducible &= params.get("time_per_move") is None
        return agent

    def foreign_code(self) -> list[str]:
        """Programs and modules that are not ours and would run if the agent were made.

        >>> AgentSpec.parse("cfr:runs/leduc").foreign_code()
        []
        >>> AgentSpec.parse("mine=external:./player.py").foreign_code()
        ['external:./player.py']
        """
        if self.id not in AGENTS and not is_ours(self.id):
            return [self.id]
        code = agent_class(self.id).code_params
        found = [f"{self.id}:{self.params[name]}" for name in code if name in self.params]
        rest = {key: value for key, value in self.params.items() if key not in ("path", *code)}
        return found + list(foreign_names(rest))

    @property
    def can_remember(self) -> bool:
        """Whether it could carry what it saw from one game to another, wherever that is hidden.

        Whoever runs code that is not ours could: a program, a module, a bot of OpenSpiel. It is for
        those who seat players to see to it that this tells it nothing.
        """
        return bool(self.foreign_code())

    def fingerprint(self) -> str:
        """Changes with what the agent is read from: a run that is trained anew is another player.

        >>> AgentSpec.parse("random").fingerprint()
        ''
        """
        paths = [Path(v) for v in self.params.values() if isinstance(v, str) and v]
        marks = [content_mark(path) for path in paths if os.path.exists(path)]
        return "-".join(marks)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what is as usual is left out."""
        always = ("id", "params", "name")
        usual = {f.name: f.default for f in fields(self) if f.name not in always}
        values = asdict(self)
        return {key: value for key, value in values.items() if key in always or value != usual[key]}


def content_mark(path: Path) -> str:
    """A checksum of what an agent is read from: a file, a folder with a policy, or a run."""
    try:
        if path.is_dir():
            policy = path / "policy.npz"
            path = policy if policy.exists() else checkpoint_folder(path) / COMPLETE
        return checksum([path])
    except (MasqueradeError, OSError):
        return ""


def foreign_names(value: Any) -> Iterator[str]:
    """All texts in settings that name a program or a module: ``module:name``, ``external:...``.

    >>> list(foreign_names({"reward": "end", "opponent_model": {"id": "my.module:Model"}}))
    ['my.module:Model']
    """
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from foreign_names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from foreign_names(inner)
    elif isinstance(value, str) and ":" in value:
        agent_id, path = split_path(value)
        if is_ours(value):
            return
        if not path or agent_class(agent_id).code_params:
            yield value
