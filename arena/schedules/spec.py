"""What is to be played: a game, agents by name, deals, seed and design; from YAML or by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from agents.spec import AgentSpec
from arena.schedules.schedule import Group, Sides, make_groups, make_sides
from envs import make_game
from envs.core.errors import OptionError, nearest
from envs.core.game import Game

__all__ = ["LUCK", "AgentSpec", "TournamentSpec"]

LUCK = ("none", "chance", "full")
"""What can be corrected: nothing, chance, or chance and the decisions of known policies."""
MIN_PILOT = 100


@dataclass(frozen=True)
class TournamentSpec:
    """A whole tournament; two equal specs play the same games."""

    game_id: str
    agents: tuple[AgentSpec, ...]
    options: dict[str, Any] = field(default_factory=dict)
    deals: int = 1000
    """Deals of every group; each is played in every seating."""
    seed: int = 0
    design: str = "auto"
    confidence: float = 0.95
    big_blind: float | None = None
    """Chips of a big blind, or the ante of a game without blinds: asks for returns in bb/100."""
    teams: tuple[tuple[int, ...], ...] = ()
    """The seats of each team, all of them played by one agent; empty: every seat for itself."""
    roles: tuple[str, ...] = ()
    """What to call each team, or each seat when there are none; empty: "seat 0" and so on."""
    luck: str = "none"
    """What is taken out of the returns, one of ``LUCK``."""
    pilot: int = 4000
    """Games of every group from which luck correction learns, before those that count."""

    def __post_init__(self) -> None:
        """Refuse what cannot be played before anything is."""
        names = [agent.name for agent in self.agents]
        doubles = sorted({name for name in names if names.count(name) > 1})
        if doubles:
            raise OptionError(f"two agents are called {doubles}: name them, such as 'other=random'")
        if self.deals < 1:
            raise OptionError(f"deals must be at least 1, not {self.deals}")
        if not 0.5 <= self.confidence < 1.0:
            raise OptionError(f"confidence must be from 0.5 to below 1, not {self.confidence}")
        if self.big_blind is not None and not (_is_number(self.big_blind) and self.big_blind > 0):
            raise OptionError(f"big_blind must be a number above 0, not {self.big_blind}")
        if self.luck not in LUCK:
            raise OptionError(f"luck must be one of {', '.join(LUCK)}, not {self.luck!r}")
        if self.luck != "none" and self.has_learners:
            raise OptionError("luck correction needs agents that do not learn: set luck to none")
        if not isinstance(self.pilot, int) or self.pilot < MIN_PILOT:
            raise OptionError(f"pilot must be at least {MIN_PILOT} games, not {self.pilot}")

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> TournamentSpec:
        """Read the mapping of a YAML file."""
        known: tuple[str, ...] = ("game", "agents", "deals", "seed", "design", "confidence")
        known += ("big_blind", "teams", "roles", "luck", "pilot")
        limits = ("time_per_move", "device")
        for key in values:
            if key not in known + limits:
                raise OptionError(f"unknown key '{key}': {nearest(key, known + limits)}")
        game = values.get("game")
        if not isinstance(game, Mapping) or "id" not in game:
            raise OptionError("game must be a mapping with an id, such as {id: kuhn_v0}")
        agents = values.get("agents")
        if not isinstance(agents, Sequence) or isinstance(agents, str):
            raise OptionError("agents must be a list, such as [random, kuhn_rule]")
        rest = {key: values[key] for key in known[2:] if key in values}
        players = tuple(AgentSpec.parse(agent) for agent in agents)
        if "teams" in rest:
            rest["teams"] = _parse_teams(rest["teams"])
        if "roles" in rest:
            rest["roles"] = _parse_roles(rest["roles"])
        spec = cls(game["id"], players, dict(game.get("params") or {}), **rest)
        return spec.within(**{key: values[key] for key in limits if key in values})

    def within(
        self, time_per_move: float | None = None, device: str | None = None
    ) -> TournamentSpec:
        """The same tournament with limits for all agents that have none of their own."""
        agents = tuple(agent.within(time_per_move, device) for agent in self.agents)
        return replace(self, agents=agents)

    @property
    def has_learners(self) -> bool:
        """Whether anybody learns: then the order of games matters."""
        return any(agent.learning for agent in self.agents)

    def build_game(self) -> Game:
        """Make the game."""
        return make_game(self.game_id, **self.options)

    def groups(self, game: Game) -> list[Group]:
        """Who is compared with whom, and in which seats."""
        return make_groups(len(self.agents), game.facts.num_players, self.design, self.teams)

    def sides(self, game: Game) -> Sides:
        """The seats of each side: of each team, or every seat for itself."""
        return make_sides(game.facts.num_players, self.teams)

    def role_names(self, game: Game) -> tuple[str, ...]:
        """What to call each side."""
        sides = self.sides(game)
        if self.roles and len(self.roles) != len(sides):
            raise OptionError(f"roles must be {len(sides)} names, one a side, not {self.roles}")
        return self.roles or tuple(
            f"{'seats' if len(side) > 1 else 'seat'} {'+'.join(map(str, side))}" for side in sides
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "agents": [agent.to_dict() for agent in self.agents]}


def _parse_teams(value: Any) -> tuple[tuple[int, ...], ...]:
    try:
        return tuple(tuple(int(seat) for seat in team) for team in value)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"teams must be lists of seats, such as [[0], [1, 2, 3]], not {value!r}"
        ) from error


def _parse_roles(value: Any) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise OptionError(f"roles must be a list of names, such as [hider, seekers], not {value!r}")
    return tuple(str(role) for role in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
