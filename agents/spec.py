"""One player of a tournament: which agent, made how, within what time, learning or not."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from agents import AGENTS, agent_class, make_agent, split_name, split_path
from agents.base import Agent
from agents.learning.device import AUTO, check_device, computing_on, resolve_device
from agents.learning.files import COMPLETE, checkpoint_folder
from agents.naming import check_keys
from agents.params import annotations_of, check_names, read_params
from agents.processes.hosted import HostedAgent
from agents.processes.outside import OutsideAgent
from envs.core.errors import MasqueradeError, OptionError, one_line, reason_of
from envs.core.files import checksum
from envs.core.game import Game
from envs.core.rollouts import FAULTS

MAX_NAME = 200

__all__ = ["AgentSpec", "content_mark", "foreign_names"]


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
    learning: bool = False
    """Whether it is to learn from the games it plays."""

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
        if seconds is not None and not (_is_number(seconds) and 0 < seconds < math.inf):
            raise OptionError(f"time_per_move must be seconds above 0, not {seconds!r}")
        if not isinstance(self.learning, bool):
            raise OptionError(f"learning must be true or false, not {self.learning!r}")
        if self.learning and seconds is not None:
            raise OptionError(
                f"agent '{self.name or self.id}' cannot learn within a time_per_move: a player "
                "that is stopped forgets what it has learnt; leave one of them out"
            )

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
            path = _without_machine(path)
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
            try:
                check_names(params, found)
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
        if self.learning:
            agent.begin_learning()
        return agent

    def foreign_code(self) -> list[str]:
        """Programs and modules that are not ours and would run if the agent were made.

        >>> AgentSpec.parse("cfr:runs/leduc").foreign_code()
        []
        >>> AgentSpec.parse("mine=external:./player.py").foreign_code()
        ['external:./player.py']
        """
        if self.id not in AGENTS:
            return [self.id]
        code = agent_class(self.id).code_params
        found = [f"{self.id}:{self.params[name]}" for name in code if name in self.params]
        rest = {key: value for key, value in self.params.items() if key not in ("path", *code)}
        return found + list(foreign_names(rest))

    @property
    def can_remember(self) -> bool:
        """Whether it could carry what it saw from one game to another, wherever that is hidden.

        Whoever learns could, and whoever runs code that is not ours: a program, a module, a bot of
        OpenSpiel. It is for those who seat players to see to it that this tells it nothing.
        """
        return self.learning or bool(self.foreign_code())

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
        if not path or agent_class(agent_id).code_params:
            yield value


def _without_machine(path: str) -> str:
    """A path below the working folder as seen from there: results travel to other machines."""
    folder = os.getcwd() + os.sep
    return path.removeprefix(folder)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
