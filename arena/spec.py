"""What is to be played: a game, agents by name, deals, seed and schedule; from YAML or by hand."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

import yaml

from agents import agent_class
from agents.base import Agent
from agents.naming import check_keys, check_names
from agents.spec import AgentSpec, read_params
from arena.schedule import Group, make_groups
from common.errors import MasqueradeError, OptionError, one_line
from common.files import read_yaml
from envs import game_class
from envs.core.facts import Unit, roles_of
from envs.core.game import Game
from envs.core.rng import stream

VARIANCE_REDUCTION = ("none", "chance", "full")
"""What is taken out of returns: nothing, chance, or chance and the decisions of known policies."""
MIN_PILOT = 100
DEFAULT_SEED = 0
SEED_BITS = 63
MAX_DEALS = 10**9
MAX_TABLES = 100_000
GAME_KEYS, UNIT_KEYS = ("id", "params"), ("name", "scale")
MAX_UNIT = 40

KEYS = (
    "game", "agents", "deals", "seed", "schedule", "tables", "confidence",
    "unit", "variance_reduction", "pilot", "shared_deals",
)  # fmt: skip
LIMITS = ("time_per_move", "device")


class Seeds(TypedDict):
    """The seeds of some games, as ``play_match`` takes them."""

    seed: int
    choice_seed: int


@dataclass(frozen=True)
class TournamentSpec:
    """A whole tournament; two equal specs play the same games."""

    game_id: str
    agents: tuple[AgentSpec, ...]
    options: dict[str, Any] = field(default_factory=dict)
    deals: int = 1000
    """Deals of every group; each is played in every seating."""
    seed: int | None = None
    """Root of all chance; see ``with_seed`` for what None means."""
    schedule: str = "auto"
    tables: int | None = None
    """Sets of agents that play together in a balanced schedule; None: enough of them."""
    confidence: float = 0.95
    unit: Unit | None = None
    """In which results are read; None: the unit of the game."""
    variance_reduction: str = "none"
    """What is taken out of the returns, one of ``VARIANCE_REDUCTION``."""
    pilot: int = 4000
    """Games of every group from which variance reduction learns, before those that count."""
    shared_deals: bool = False
    """Whether all groups play the same deals; otherwise each draws its own."""

    def __post_init__(self) -> None:
        """Refuse what cannot be played before anything is, with what it may be."""
        for name, value in read_params(vars(self), type(self).__annotations__).items():
            object.__setattr__(self, name, value)
        whole = {
            "deals": (1, MAX_DEALS),
            "seed": (0, 2**SEED_BITS - 1),
            "tables": (1, MAX_TABLES),
            "pilot": (MIN_PILOT, MAX_DEALS),
        }
        for name, (low, high) in whole.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise OptionError(
                    f"{name} must be a whole number from {low} to {high}, not {value!r}"
                )
        if not 0.5 <= self.confidence < 1.0:
            raise OptionError(
                f"confidence must be a number from 0.5 to below 1, not {self.confidence!r}"
            )
        check_names(agent.to_dict() for agent in self.agents)
        if self.variance_reduction not in VARIANCE_REDUCTION:
            raise OptionError(
                f"variance_reduction must be one of {', '.join(VARIANCE_REDUCTION)}, "
                f"not {self.variance_reduction!r}"
            )

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> TournamentSpec:
        """Read the mapping of a YAML file."""
        check_keys(KEYS + LIMITS, values, what="key")
        game = values.get("game")
        if not isinstance(game, Mapping) or not isinstance(game.get("id"), str):
            raise OptionError("game must be a mapping with an id, such as {id: kuhn_v0}")
        check_keys(GAME_KEYS, game, "game: ", "key")
        params = game.get("params") or {}
        if not isinstance(params, Mapping):
            raise OptionError(f"game.params must be a mapping, not {params!r}")
        agents = values.get("agents")
        if not isinstance(agents, Sequence) or isinstance(agents, str):
            raise OptionError("agents must be a list, such as [random, kuhn_rule]")
        rest = {key: values[key] for key in KEYS[2:] if key in values}
        if rest.get("unit") is not None:
            rest["unit"] = _parse_unit(rest["unit"])
        players = tuple(AgentSpec.parse(agent) for agent in agents)
        spec = cls(game["id"], players, dict(params), **rest)
        return spec.within(**{key: values[key] for key in LIMITS if key in values})

    def within(
        self, time_per_move: float | None = None, device: str | None = None
    ) -> TournamentSpec:
        """The same tournament with limits for all agents that have none of their own."""
        agents = tuple(agent.within(time_per_move, device) for agent in self.agents)
        return replace(self, agents=agents)

    def with_seed(self) -> TournamentSpec:
        """The same tournament with a seed, if it has none.

        It is 0, or drawn from the system's entropy where somebody from outside plays: a program
        that knows the seed, or can guess it, knows the cards.
        """
        if self.seed is not None:
            return self
        seed = secrets.randbits(SEED_BITS) if self.has_outsiders else DEFAULT_SEED
        return replace(self, seed=seed)

    @property
    def root_seed(self) -> int:
        """The seed, which must have been chosen."""
        assert self.seed is not None, "with_seed chooses one"
        return self.seed

    @property
    def has_outsiders(self) -> bool:
        """Whether anybody plays in a process of its own or with code that is not ours."""
        return any(agent.time_per_move is not None or agent.foreign_code() for agent in self.agents)

    def seeds_of(self, groups: Sequence[Group], group: int, seating: int) -> Seeds:
        """The seeds of a seating's games.

        Seatings of a paired group play the same deals. Whatever players are given (ids, generators,
        the order of games) is another for every seating, so that nobody can tell which game is
        which. Whoever could remember more than that meets no deal twice.
        """
        members, is_paired = groups[group].agents, groups[group].is_paired
        # By its members, not its number: others who take part change no games of a group.
        number = sum(other.agents == members for other in groups[:group])
        names: list[str | int] = [*members, "table", number]
        deals = [] if is_paired and self.shared_deals else [*names]
        deals += [] if is_paired else ["seating", seating]
        return {
            "seed": _derive(self.root_seed, "deals", *deals),
            "choice_seed": _derive(self.root_seed, "players", *names, "seating", seating),
        }

    def build_game(self) -> Game:
        """The game, made once for equal options."""
        return _build_game(self.game_id, json.dumps(self.options))

    def read_in(self, game: Game) -> Unit:
        """The unit in which results are read."""
        return self.unit or game.facts.unit

    def groups(self, game: Game, agents: Sequence[Agent] = ()) -> list[Group]:
        """Who is compared with whom, and in which seats.

        Args:
            game: the game.
            agents: the agents, once they are made; until then their classes say what they play.
        """
        known = roles_of(game.facts)
        plays = [agent_class(agent.id).roles for agent in self.agents]
        for i, agent in enumerate(agents):
            plays[i] = agent.roles or plays[i]  # in a process of its own it has those of its class
        # A role that the game does not have says nothing about the roles that it has.
        plays = [tuple(role for role in roles if role in known) for roles in plays]
        groups = make_groups(plays, game.facts, self.schedule, self.tables, self.seed or 0)
        seated = {agent for group in groups for agent in group.agents}
        idle = [agent.name for i, agent in enumerate(self.agents) if i not in seated]
        if idle:
            raise OptionError(
                f"there are no opponents for {', '.join(idle)}: add agents for the other roles of "
                f"{game.id} ({', '.join(known)})"
            )
        knowing = [agent.can_remember for agent in self.agents]
        return [
            replace(group, is_paired=not any(knowing[agent] for agent in group.agents))
            for group in groups
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "agents": [agent.to_dict() for agent in self.agents]}


@lru_cache(maxsize=8)
def _build_game(game_id: str, options: str) -> Game:
    return game_class(game_id)(**json.loads(options))


def _derive(seed: int, *names: str | int) -> int:
    return int(stream(seed, *names)[0]) >> (64 - SEED_BITS)


def _parse_unit(value: Any) -> Unit:
    """Read ``{name: bb/100, scale: 50}``."""
    try:
        unit = Unit(str(value["name"]), float(value.get("scale", 1.0)))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise OptionError(
            f"unit must be a name and a scale, such as {{name: bb/100, scale: 50}}, not {value!r}"
        ) from error
    if not unit.name.isprintable() or not 0 < len(unit.name) <= MAX_UNIT:
        raise OptionError(
            f"the name of a unit is plain text of 1 to {MAX_UNIT} letters, not "
            f"{one_line(repr(unit.name), 60)}"
        )
    check_keys(UNIT_KEYS, value, "unit: ", "key")
    if not 0 < unit.scale < math.inf:
        raise OptionError(f"the scale of a unit must be above 0, not {unit.scale}")
    return unit


# ---- as a YAML file, there and back --------------------------------------------------------------


def read_config(path: Path) -> TournamentSpec:
    """Read the tournament that a YAML file describes."""
    content = read_yaml(path, "game and agents")
    try:
        return TournamentSpec.parse(content)
    except MasqueradeError as error:
        raise type(error)(f"{path}: {error}") from error


def with_games(spec: TournamentSpec, games: int) -> TournamentSpec:
    """The same tournament with so many games of every group, rounded up to whole deals.

    >>> from agents.spec import AgentSpec
    >>> agents = AgentSpec.parse("random"), AgentSpec.parse("kuhn_rule")
    >>> with_games(TournamentSpec("kuhn_v0", agents), 101).deals  # each deal in both seatings
    51
    """
    groups = spec.groups(spec.build_game())
    seatings = max(len(group.seatings) for group in groups)
    return replace(spec, deals=-(-games // seatings))


def config_of(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification, as plain types, as the mapping of a YAML file without what is empty.

    >>> from agents.spec import AgentSpec
    >>> agents = AgentSpec("random", name="zero"), AgentSpec("kuhn_rule", name="kuhn_rule")
    >>> config_of(TournamentSpec("kuhn_v0", agents, deals=50).to_dict())["agents"]
    [{'id': 'random', 'name': 'zero'}, 'kuhn_rule']
    """
    game = {"id": spec["game_id"], "params": spec.get("options")}
    agents = []
    for agent in spec["agents"]:
        entry = _filled(agent)
        if entry.get("name") == entry["id"]:
            entry.pop("name")
        agents.append(entry["id"] if list(entry) == ["id"] else entry)
    rest = {
        key: value for key, value in spec.items() if key not in ("game_id", "agents", "options")
    }
    return {"game": _filled(game), "agents": agents, **_filled(rest)}


def _filled(entry: dict[str, Any]) -> dict[str, Any]:
    """What is neither missing nor empty; numbers stay, zero or not."""
    return {key: value for key, value in entry.items() if value not in (None, {}, [], (), "")}


def to_yaml(spec: dict[str, Any]) -> str:
    """The file that ``evaluate.py tournament --config`` takes to play this tournament again."""
    plain = json.loads(json.dumps(config_of(spec)))  # tuples become lists
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)
