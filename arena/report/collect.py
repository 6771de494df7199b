"""Everything a report shows, gathered once for all its formats."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from arena.report.samples import Samples, read_samples
from arena.report.training import Run, read_runs
from arena.report.words import verdict
from arena.running.context import WorkerContext
from arena.running.folder import Tournament, read_tournament
from arena.schedules.config import to_yaml
from arena.schedules.spec import AgentSpec, TournamentSpec
from arena.statistics.summary import Summary

__all__ = ["Report", "collect"]


@dataclass(frozen=True)
class Report:
    """A tournament with what its agents left behind and a few of its games."""

    summary: Summary
    folder: Path
    versions: dict[str, str]
    runs: list[Run]
    samples: Samples

    @property
    def spec(self) -> TournamentSpec:
        """What was played."""
        return self.summary.spec

    @property
    def percent(self) -> str:
        """The confidence of all intervals."""
        return f"{100 * self.spec.confidence:g} %"

    @property
    def title(self) -> str:
        """Game and number of agents."""
        return f"{self.spec.game_id}: {len(self.spec.agents)} agents"

    @property
    def verdict(self) -> str:
        """The result in words."""
        return verdict(self.summary)

    @property
    def config(self) -> str:
        """The tournament as a YAML file."""
        return to_yaml(self.spec.to_dict())

    @property
    def command(self) -> str:
        """What to type to play it again."""
        spec = self.spec
        agents = [_in_words(agent) for agent in spec.agents]
        parsed = tuple(AgentSpec.parse(agent) for agent in agents)
        said = TournamentSpec(
            spec.game_id, parsed, spec.options, spec.deals, spec.seed, spec.schedule
        )
        if said != spec:
            return "python evaluate.py tournament --config tournament.yaml  # the file below"
        options = [f"--option={name}={value}" for name, value in spec.options.items()]
        num_seatings = max(group.num_seatings for group in self.summary.groups)
        settings = ["--games", str(spec.deals * num_seatings), "--seed", str(spec.seed)]
        settings += [] if spec.schedule == "auto" else ["--schedule", spec.schedule]
        words = ["python", "evaluate.py", "tournament", spec.game_id, *agents, *options, *settings]
        return " ".join(shlex.quote(word) for word in words)


def _in_words(agent: AgentSpec) -> str:
    """An agent as a command line names it, as far as it can."""
    path = agent.params.get("path")
    text = f"{agent.id}:{path}" if path else agent.id
    return text if agent.name == text else f"{agent.name}={text}"


def collect(
    folder: Path,
    summary: Summary | None = None,
    context: WorkerContext | None = None,
    is_trusted: bool = False,
) -> Report:
    """All that belongs to a tournament.

    Args:
        folder: of the tournament.
        summary: its summary; read from the folder if it is not at hand.
        context: its game and agents, if they have been made already.
        is_trusted: run programs and modules that the folder names, to show a few games again.
    """
    tournament = read_tournament(folder) if summary is None else Tournament(folder, summary)
    runs = read_runs(tournament.spec.agents, tournament.spec.build_game())
    samples = read_samples(tournament, context, is_trusted)
    return Report(tournament.summary, folder, tournament.versions, runs, samples)
