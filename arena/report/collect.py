"""Everything a report shows, gathered once for all its formats."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.report.samples import Samples, read_samples
from arena.report.training import Run, read_runs
from arena.report.words import verdict
from arena.running.folder import Tournament, read_tournament
from arena.schedules.config import to_yaml
from arena.schedules.spec import AgentSpec, TournamentSpec

__all__ = ["Report", "collect"]


@dataclass(frozen=True)
class Report:
    """A tournament with what its agents left behind and a few of its games."""

    tournament: Tournament
    runs: list[Run]
    samples: Samples

    @property
    def summary(self) -> dict[str, Any]:
        """What ``summary.json`` holds."""
        return self.tournament.summary

    @property
    def folder(self) -> str:
        """Where the tournament is kept, as a command line names it."""
        return str(self.tournament.folder)

    @property
    def percent(self) -> str:
        """The confidence of all intervals."""
        return f"{100 * self.tournament.spec.confidence:g} %"

    @property
    def title(self) -> str:
        """Game and number of agents."""
        return f"{self.tournament.spec.game_id}: {len(self.tournament.spec.agents)} agents"

    @property
    def verdict(self) -> str:
        """The result in words."""
        return verdict(self.summary)

    @property
    def config(self) -> str:
        """The tournament as a YAML file."""
        return to_yaml(self.tournament.spec.to_dict())

    @property
    def command(self) -> str:
        """What to type to play it again."""
        spec = self.tournament.spec
        agents = [_in_words(agent) for agent in spec.agents]
        parsed = tuple(AgentSpec.parse(agent) for agent in agents)
        said = TournamentSpec(
            spec.game_id, parsed, spec.options, spec.deals, spec.seed, spec.design
        )
        if said != spec:
            return "python evaluate.py tournament --config tournament.yaml  # the file below"
        options = [f"--option={name}={value}" for name, value in spec.options.items()]
        num_seatings = self.summary["groups"][0]["num_seatings"]
        settings = ["--games", str(spec.deals * num_seatings), "--seed", str(spec.seed)]
        settings += [] if spec.design == "auto" else ["--design", spec.design]
        words = ["python", "evaluate.py", "tournament", spec.game_id, *agents, *options, *settings]
        return " ".join(shlex.quote(word) for word in words)


def _in_words(agent: AgentSpec) -> str:
    """An agent as a command line names it, as far as it can."""
    path = agent.params.get("path")
    text = f"{agent.id}:{path}" if path else agent.id
    return text if agent.name == text else f"{agent.name}={text}"


def collect(folder: Path) -> Report:
    """Read a tournament's folder and all that belongs to it."""
    tournament = read_tournament(folder)
    runs = read_runs(tournament.spec.agents, tournament.spec.build_game())
    return Report(tournament, runs, read_samples(tournament))
