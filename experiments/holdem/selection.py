"""Forward selection of inputs: ``python -m experiments.holdem.selection --config FILE``.

Begin with no input. In every round a few networks learn with the inputs chosen so far and one more,
for every one that is left; all of them meet at tables of mixed players, and the input of the group
with the best mean is chosen. Networks learn side by side in processes. Everything is kept in a
folder; the same command goes on where it was stopped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from agents.learning.device import computing_on
from agents.spec import AgentSpec
from arena.report.columns import aligned
from common.errors import OptionError
from common.files import write_json
from common.statistics import Interval, mean_interval
from envs.core.options import Options, option
from experiments.holdem.population import (
    DEVICE,
    check_name,
    draw_tables,
    intervals,
    kept_work,
    play_tables,
    run_command,
    session_of,
    train_all,
)
from training.config import AgentSettings, GameSettings, RunConfig


class SelectionSettings(Options):
    """What is chosen from, and how."""

    candidates: dict[str, tuple[str, ...]] = Field(
        description="name of an input: fields of the observation, with * for any letters"
    )
    chosen: tuple[str, ...] = Field(default=(), description="inputs that everybody has anyway")
    agent: AgentSettings
    rounds: int = option(2, low=1, high=1000, help="inputs to choose")
    networks: int = option(2, low=1, high=1000, help="that learn with every set of inputs")
    steps: int = option(20_000, low=1, high=10**12, help="how much each learns")
    opponents: tuple[str, ...] = Field(default=("self",), description="who they learn against")
    measure_games: int = option(60_000, low=2, high=10**9, help="games of all together in a round")
    seed: int = option(0, low=0, high=2**40, help="root of all randomness")


class SelectionConfig(Options):
    """The game and the selection."""

    game: GameSettings
    selection: SelectionSettings

    def __post_init__(self) -> None:
        """Refuse learners whose inputs cannot be chosen, and inputs that there are not."""
        settings = self.selection
        if "inputs" not in type(settings.agent.params).model_fields:
            raise OptionError(
                f"'{settings.agent.id}' sees everything: choose a learner with inputs, such as dqn"
            )
        for name in settings.candidates:
            check_name(name)
        for name in settings.chosen:
            if name not in settings.candidates:
                raise OptionError(f"chosen: '{name}' is no candidate: list it among them")
        if len(settings.chosen) + settings.rounds > len(settings.candidates):
            raise OptionError("there are fewer candidates than rounds: lower rounds")


class Selection:
    """The rounds so far.

    Args:
        config: the game, the candidates and the learner.
        folder: where everything is kept; what is there is gone on with.
        workers: networks that learn side by side.
    """

    def __init__(self, config: SelectionConfig, folder: Path, workers: int = 1) -> None:
        """Find what was done before."""
        self.config = config
        self.settings = config.selection
        self.folder = folder
        self.workers = workers
        self.game = config.game.build()
        self.rounds: list[dict[str, Any]] = []
        path = folder / "selection.json"
        if path.exists():
            with kept_work(path, "selection", "rounds", config) as content:
                self.rounds = content["rounds"]
                for each in self.rounds:
                    if each["best"] not in self.settings.candidates:
                        raise KeyError(each["best"])
                self.table()

    @property
    def chosen(self) -> list[str]:
        """The inputs that have been chosen, in their order."""
        return [*self.settings.chosen, *(each["best"] for each in self.rounds)]

    def run(self) -> list[dict[str, Any]]:
        """Choose until all rounds are over."""
        while len(self.rounds) < self.settings.rounds:
            print(f"round {len(self.rounds) + 1}: {self._round_words()}", file=sys.stderr)
            self.rounds.append(self._round())
            self._save()
        return self.rounds

    def _round_words(self) -> str:
        return f"{' + '.join(self.chosen) or 'nothing'} and one of {', '.join(self._left())}"

    def _left(self) -> list[str]:
        return [name for name in self.settings.candidates if name not in self.chosen]

    def _round(self) -> dict[str, Any]:
        """Train all networks, let them meet, and name the best group."""
        names = [name for name in self._left() for _ in range(self.settings.networks)]
        jobs = [self._job(name, number) for number, name in enumerate(names)]
        train_all(jobs, self.workers)
        agent_id = self.settings.agent.id
        with computing_on(DEVICE):
            agents = [
                AgentSpec(agent_id, {"path": str(folder)}, name=name).build(self.game)
                for name, (_, folder) in zip(names, jobs, strict=True)
            ]
        seed = self.settings.seed + len(self.rounds)
        n = self.game.facts.num_players
        seating = draw_tables(len(agents), n, self.settings.measure_games, seed)
        returns = play_tables(self.game, agents, seating, seed)
        members = intervals(seating, returns, len(agents))
        groups = {
            name: self._group([value for other, value in zip(names, members, strict=True)
                               if other == name])
            for name in self._left()
        }  # fmt: skip
        best = max(groups, key=lambda name: groups[name].mean)
        return {
            "inputs": self.chosen,
            "groups": {name: [each.mean, each.low, each.high] for name, each in groups.items()},
            "best": best,
        }

    def _group(self, members: list[Interval]) -> Interval:
        """The mean over networks, in the unit of the game; over one, its own interval."""
        scale = self.game.facts.unit.scale
        if len(members) == 1:
            return members[0].times(scale)
        return mean_interval(np.array([member.mean for member in members])).times(scale)

    def _job(self, name: str, number: int) -> tuple[RunConfig, Path]:
        settings = self.settings
        agent = settings.agent.to_dict()
        fields = [f for each in (*self.chosen, name) for f in settings.candidates[each]]
        agent["params"]["inputs"] = fields
        folder = self.folder / f"round_{len(self.rounds)}" / f"{name}-{number}"
        train = {
            "seed": settings.seed + number,
            "steps": settings.steps,
            "opponents": list(settings.opponents),
        }
        tried = {"games": 60, "opponents": ["random"]}
        return session_of(self.config.game, agent, train, settings.steps, tried), folder

    def _save(self) -> None:
        content = {"config": self.config.to_dict(), "rounds": self.rounds}
        write_json(self.folder / "selection.json", content)

    def table(self) -> list[list[str]]:
        """Every candidate of every round, the best first."""
        rows = [["round", "with", "added", self.game.facts.unit.name]]
        for number, each in enumerate(self.rounds):
            order = sorted(each["groups"], key=lambda name: -each["groups"][name][0])
            for name in order:
                value = f"{Interval(*each['groups'][name]):.1f}"
                rows.append([str(number + 1), " + ".join(each["inputs"]) or "-", name, value])
        return rows


def _run(content: dict[str, Any], folder: Path, workers: int) -> Iterator[str]:
    selection = Selection(SelectionConfig.parse(content), folder, workers)
    selection.run()
    yield from aligned(selection.table())
    yield f"chosen: {', '.join(selection.chosen)}"


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; bad input gets one line and exit code 2."""
    return run_command("selection", __doc__, _run, arguments)


if __name__ == "__main__":
    sys.exit(main())
