"""What is to be played: a game, agents by name, deals, seed and design; from YAML or by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from agents import make_agent
from agents.base import Agent
from arena.design import Group, make_groups
from envs import make_game
from envs.core.errors import OptionError, nearest
from envs.core.game import Game

__all__ = ["AgentSpec", "TournamentSpec"]


@dataclass(frozen=True)
class AgentSpec:
    """One player of a tournament."""

    id: str
    params: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    """How tables call it; the id when empty."""

    @classmethod
    def parse(cls, value: str | Mapping[str, Any]) -> AgentSpec:
        """Read ``"random"``, ``"my name=random"`` or a mapping with id, params and name.

        >>> AgentSpec.parse("zero=random")
        AgentSpec(id='random', params={}, name='zero')
        """
        if isinstance(value, str):
            name, _, agent_id = value.rpartition("=")
            return cls(agent_id, name=name or agent_id)
        for key in value:
            if key not in ("id", "params", "name"):
                raise OptionError(
                    f"unknown agent key '{key}': {nearest(key, ('id', 'params', 'name'))}"
                )
        if "id" not in value:
            raise OptionError(f"agent {dict(value)} has no id: give one, such as 'random'")
        params = dict(value.get("params") or {})
        return cls(value["id"], params, value.get("name") or value["id"])

    def build(self, game: Game) -> Agent:
        """Make the agent."""
        try:
            return make_agent(self.id, game, **self.params)
        except TypeError as error:
            raise OptionError(f"agent '{self.id}' cannot be made: {error}") from error


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

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> TournamentSpec:
        """Read the mapping of a YAML file."""
        known = ("game", "agents", "deals", "seed", "design", "confidence")
        for key in values:
            if key not in known:
                raise OptionError(f"unknown key '{key}': {nearest(key, known)}")
        game = values.get("game")
        if not isinstance(game, Mapping) or "id" not in game:
            raise OptionError("game must be a mapping with an id, such as {id: kuhn_v0}")
        agents = values.get("agents")
        if not isinstance(agents, Sequence) or isinstance(agents, str):
            raise OptionError("agents must be a list, such as [random, kuhn_rule]")
        rest = {key: values[key] for key in known[2:] if key in values}
        players = tuple(AgentSpec.parse(agent) for agent in agents)
        return cls(game["id"], players, dict(game.get("params") or {}), **rest)

    def build_game(self) -> Game:
        """Make the game."""
        return make_game(self.game_id, **self.options)

    def groups(self, game: Game) -> list[Group]:
        """Who is compared with whom, and in which seats."""
        return make_groups(len(self.agents), game.facts.num_players, self.design)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)
