"""A population of players who teach each other.

``python -m experiments.holdem.population --config FILE`` trains it.

Everybody begins with random play. Then, again and again, a member is chosen (at random, or the one
that now does worst), learns against the others at tables of mixed players, and takes its old place
only if it does better than before in the same games. Members may learn side by side, each in a
process of its own. Everything is kept in a folder; the same command goes on where it was stopped.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.learning.device import computing_on
from agents.learning.files import checkpoint_folder, reading
from agents.spec import AgentSpec
from arena.report.columns import aligned
from common.commands import MAX_WORKERS, Parser, answers_in_one_line, at_least
from common.errors import MasqueradeError, OptionError, one_line
from common.files import read_json, write_json
from common.processes import side_by_side
from common.progress import Progress
from common.saved import saved_number
from common.statistics import Interval, mean_interval
from envs.core.game import Game
from envs.core.options import Options, option
from envs.core.rollouts import Rollouts
from training.config import AgentSettings, GameSettings, RunConfig, read_yaml
from training.runner import finish, is_finished

# ---- tables of mixed players from one set --------------------------------------------------------

NUM_ROWS = 2048
Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def draw_tables(
    num_members: int, num_players: int, num_games: int, seed: int, member: int | None = None
) -> Indices:
    """[games, players] who sits where: different members at random, if there are enough.

    With ``member`` that one sits at every table.

    >>> draw_tables(9, 6, 2, seed=0, member=3).shape
    (2, 6)
    """
    rng = np.random.default_rng([seed, num_members, num_players])
    if num_members < num_players:
        seating = rng.integers(0, num_members, (num_games, num_players))
    else:
        order = rng.random((num_games, num_members)).argsort(axis=1)
        seating = order[:, :num_players]
    if member is not None:
        missing = ~(seating == member).any(axis=1)
        seats = rng.integers(0, num_players, num_games)
        seating[missing, seats[missing]] = member
    return seating.astype(np.int64)


def play_tables(game: Game, agents: Sequence[Agent], seating: Indices, seed: int) -> Floats:
    """[games, players] what every seat got; game *i* has the deal of (seed, *i*)."""
    rollouts = Rollouts(game, agents, min(NUM_ROWS, len(seating)), seed)
    found = np.zeros(seating.shape)
    for first in range(0, len(seating), NUM_ROWS):
        numbers = np.arange(first, min(first + NUM_ROWS, len(seating)))
        rows = numbers - first
        rollouts.begin(rows, numbers, seating[numbers])
        rollouts.run()
        found[numbers] = rollouts.batch.totals[rows]
    return found


def intervals(seating: Indices, returns: Floats, num_members: int) -> list[Interval]:
    """What each member got per game it sat in."""
    return [mean_interval(returns[seating == member]) for member in range(num_members)]


# ---- the population ------------------------------------------------------------------------------

WORST, RANDOM = "worst", "random"
DEVICE = "cpu"
"""Of everybody: what there is of processors is used up by members side by side."""


class GroupSettings(Options):
    """Members that are alike but for their seeds."""

    name: str
    size: int = option(1, low=1, high=10_000, help="how many")
    agent: AgentSettings
    steps: int = option(20_000, low=1, high=10**12, help="how much one learns in a session")

    def __post_init__(self) -> None:
        """Members' folders are named after it."""
        check_name(self.name)


def check_name(name: str) -> None:
    """Refuse a name that cannot be that of a folder, or is one elsewhere.

    >>> check_name("../x")
    Traceback (most recent call last):
    ...
    common.errors.OptionError: the name '../x' must be 1 to 60 letters, no /, no dot first
    """
    if not name.isprintable() or not 0 < len(name) <= 60 or "/" in name or name.startswith("."):
        shown = one_line(repr(name), 40)
        raise OptionError(f"the name {shown} must be 1 to 60 letters, no /, no dot first")


class PopulationSettings(Options):
    """How a population learns."""

    groups: tuple[GroupSettings, ...]
    sessions: int = option(10, low=1, high=10**6, help="how often somebody learns")
    choice: str = option(WORST, choices=(WORST, RANDOM), help="who learns next")
    measure_games: int = option(6000, low=2, high=10**9, help="games that compare old and new")
    final_games: int = option(60_000, low=2, high=10**9, help="games of the table in the end")
    checkpoints: int = option(5, low=1, high=1000, help="players of a session, the best is kept")
    seed: int = option(0, low=0, high=2**40, help="root of all randomness")


class PopulationConfig(Options):
    """The game and the population."""

    game: GameSettings
    population: PopulationSettings


class Member:
    """One player of the population."""

    def __init__(self, number: int, group: GroupSettings, spec: AgentSpec) -> None:
        """Begin with ``spec``, which learning replaces."""
        self.number = number
        self.group = group
        self.spec = spec
        self.num_sessions = 0
        self.num_accepted = 0

    @property
    def name(self) -> str:
        """Group and number."""
        return f"{self.group.name}-{self.number}"


class Population:
    """The members, their folder, and what has been done.

    Args:
        config: the game and the groups.
        folder: where everything is kept; what is there is gone on with.
        workers: members that learn side by side.
        is_shown: whether to show progress.
    """

    def __init__(
        self, config: PopulationConfig, folder: Path, workers: int = 1, is_shown: bool = True
    ) -> None:
        """Make the members, or find them as they were left."""
        self.config = config
        self.settings = config.population
        self.folder = folder
        self.workers = workers
        self.game: Game = config.game.build()
        groups = [group for group in self.settings.groups for _ in range(group.size)]
        if len(groups) < 2:
            raise OptionError("a population needs two members at least: raise size, or add groups")
        random = AgentSpec.parse("random")
        self.members = [Member(number, group, random) for number, group in enumerate(groups)]
        self.num_done = 0
        self.log: list[dict[str, Any]] = []
        self._load()
        self._progress = Progress(self.settings.sessions, "sessions", is_shown, self.num_done)

    # ---- the loop --------------------------------------------------------------------------------

    def run(self) -> list[Interval]:
        """Learn until all sessions are over; what every member gets in the end."""
        while self.num_done < self.settings.sessions:
            self._step()
            self._progress.show(self.num_done, self._headline())
        self._progress.close()
        return self.measure(self.settings.final_games, self.settings.seed + 1)

    def measure(self, num_games: int, seed: int) -> list[Interval]:
        """What every member gets per game, at tables of mixed members."""
        n = self.game.facts.num_players
        seating = draw_tables(len(self.members), n, num_games, seed)
        returns = play_tables(self.game, self._agents(), seating, seed)
        return intervals(seating, returns, len(self.members))

    def _step(self) -> None:
        """Some members learn side by side; then each is compared with what it was."""
        chosen = self._choose()
        runs = {number: self._run_of(number) for number in chosen}
        train_all([(self._config_of(i), runs[i]) for i in chosen], self.workers)
        for number in chosen:
            self._accept(number, runs[number])
        self.num_done += len(chosen)
        self._save()

    def _choose(self) -> list[int]:
        count = min(self.workers, self.settings.sessions - self.num_done, len(self.members))
        seed = self.settings.seed + 1000 + self.num_done
        if self.settings.choice == RANDOM:
            order = np.random.default_rng([seed, 7]).permutation(len(self.members))
        else:
            found = self.measure(self.settings.measure_games, seed)
            # Who has never learnt is worse than anybody.
            keys = [(member.num_sessions > 0, value.mean)
                    for member, value in zip(self.members, found, strict=True)]  # fmt: skip
            order = np.array(sorted(range(len(keys)), key=lambda i: keys[i]))
        return [int(number) for number in order[:count]]

    def _accept(self, number: int, run: Path) -> None:
        """Take the new player if it does better in the same games."""
        member = self.members[number]
        spec = AgentSpec(
            member.group.agent.id, {"path": str(checkpoint_folder(run))}, name=member.name
        )
        old, new = (self._score(number, each) for each in (member.spec, spec))
        gain = mean_interval(new - old)
        is_better = gain.mean > 0.0
        member.num_sessions += 1
        member.num_accepted += is_better
        if is_better:
            member.spec = spec
        scale = self.game.facts.unit.scale
        self.log.append(
            {
                "session": self.num_done + len(self.log) % max(self.workers, 1),
                "member": member.name,
                "before": scale * float(old.mean()),
                "after": scale * float(new.mean()),
                "gain_low": scale * gain.low,
                "gain_high": scale * gain.high,
                "is_accepted": bool(is_better),
            }
        )

    def _score(self, number: int, spec: AgentSpec) -> Any:
        """[games] what a member gets with this player, at tables with the others."""
        agents = self._agents()
        with computing_on(DEVICE):
            agents[number] = spec.build(self.game)
        seed = self.settings.seed + 5_000 + self.num_done
        n = self.game.facts.num_players
        seating = draw_tables(len(agents), n, self.settings.measure_games, seed, number)
        returns = play_tables(self.game, agents, seating, seed)
        is_own = seating == number
        return (returns * is_own).sum(axis=1) / is_own.sum(axis=1)

    def _agents(self) -> list[Agent]:
        with computing_on(DEVICE):
            return [member.spec.build(self.game) for member in self.members]

    # ---- one session -----------------------------------------------------------------------------

    def _run_of(self, number: int) -> Path:
        member = self.members[number]
        return self.folder / member.name / f"session_{member.num_sessions:04d}"

    def _config_of(self, number: int) -> RunConfig:
        """A run of one member against all others, who are as they are now."""
        member, group = self.members[number], self.members[number].group
        agent = group.agent.to_dict()
        path = member.spec.params.get("path")
        if path and "start" in agent["params"]:
            agent["params"]["start"] = path
        others = [each.spec.to_dict() for each in self.members if each is not member]
        every = max(1, group.steps // self.settings.checkpoints)
        return session_of(
            self.config.game,
            agent,
            {
                "seed": self.settings.seed + 100 * number + member.num_sessions,
                "steps": group.steps,
                "opponents": _counted(others),
                "mixed": True,
            },
            every,
            {"games": self.settings.measure_games, "opponents": others[:5]},
        )

    # ---- keeping ---------------------------------------------------------------------------------

    def _save(self) -> None:
        content = {
            "config": self.config.to_dict(),
            "num_done": self.num_done,
            "members": [
                {
                    "spec": member.spec.to_dict(),
                    "num_sessions": member.num_sessions,
                    "num_accepted": member.num_accepted,
                }
                for member in self.members
            ],
            "log": self.log,
        }
        write_json(self.folder / "population.json", content)

    def _load(self) -> None:
        path = self.folder / "population.json"
        if not path.exists():
            return
        with kept_work(path, "population", "sessions", self.config) as content:
            self.num_done, self.log = saved_number(content, "num_done"), list(content["log"])
            for member, kept in zip(self.members, content["members"], strict=True):
                member.spec = self._own_spec(kept["spec"])
                member.num_sessions = saved_number(kept, "num_sessions")
                member.num_accepted = saved_number(kept, "num_accepted")
            if self.num_done:
                self._headline()

    def _own_spec(self, value: Any) -> AgentSpec:
        """A member as it was kept: random, or a player of ours; a file starts nothing else."""
        spec = AgentSpec.parse(value)
        if spec.foreign_code():
            raise MasqueradeError(
                f"{self.folder} names code that is not ours ({', '.join(spec.foreign_code())}): "
                "choose another --out"
            )
        return spec

    def _headline(self) -> str:
        last = self.log[-1]
        word = "accepted" if last["is_accepted"] else "refused"
        return f"{last['member']}: {last['before']:+.1f} to {last['after']:+.1f}, {word}"

    def table(self, found: Sequence[Interval]) -> list[list[str]]:
        """Everybody's result in the unit of the game, the best first, and the means of groups."""
        unit = self.game.facts.unit
        rows = [["member", unit.name, "sessions", "accepted"]]
        order = sorted(range(len(found)), key=lambda i: -found[i].mean)
        for i in order:
            member = self.members[i]
            value = f"{found[i].times(unit.scale):.1f}"
            rows.append([member.name, value, str(member.num_sessions), str(member.num_accepted)])
        return rows

    def group_means(self, found: Sequence[Interval]) -> dict[str, float]:
        """The mean of every group, in the unit of the game."""
        scale = self.game.facts.unit.scale
        means: dict[str, list[float]] = {}
        for member, value in zip(self.members, found, strict=True):
            means.setdefault(member.group.name, []).append(scale * value.mean)
        return {name: float(np.mean(values)) for name, values in means.items()}


def _counted(specs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Equal players once, with how many there are as their weight."""
    counts: dict[str, int] = {}
    for spec in specs:
        counts[json.dumps(spec)] = counts.get(json.dumps(spec), 0) + 1
    return [{**json.loads(text), "weight": float(count)} for text, count in counts.items()]


@contextmanager
def kept_work(path: Path, kind: str, more: str, config: Options) -> Iterator[Any]:
    """Read what was done before by the same settings; of ``more`` there may be more."""
    fix = "choose another --out"
    content = read_json(path, fix)
    with reading(path, f"a {kind}", fix):
        before, now = content["config"], config.to_dict()
        before[kind][more] = now[kind][more]
        if before != now:
            raise MasqueradeError(f"{path.parent} is of another {kind}: {fix}")
        yield content


# ---- learning side by side -----------------------------------------------------------------------


def session_of(
    game: GameSettings, agent: Any, train: dict[str, Any], every: int, tried: dict[str, Any]
) -> RunConfig:
    """A run that is tried and kept every so many steps, and tells nobody."""
    return RunConfig.parse(
        {
            "game": game.to_dict(),
            "agent": agent,
            "train": {**train, "eval_every": every, "checkpoint_every": every},
            "eval": {**tried, "exploitability": False},
            "log": {"tensorboard": False},
        }
    )


def train_all(jobs: Sequence[tuple[RunConfig, Path]], workers: int = 1) -> None:
    """Finish these runs, so many at a time, each in a process of its own if there are several."""
    waiting = [(config.to_dict(), folder) for config, folder in jobs if not is_finished(folder)]
    list(side_by_side(_finish, waiting, workers))


def _finish(job: tuple[dict[str, Any], Path]) -> None:
    """Begin a run, or go on with it."""
    content, folder = job
    finish(RunConfig.parse(content), folder, DEVICE, "experiments.holdem.population", False)


# ---- the command line ----------------------------------------------------------------------------

Work = Callable[[dict[str, Any], Path, int], Iterable[str]]
"""From a configuration, a folder and a number of workers to the lines to print at the end."""


def run_command(name: str, description: str | None, work: Work, arguments: list[str] | None) -> int:
    """Run from the command line; bad input gets one line and exit code 2."""
    runs = Path("runs") / f"{name}s"
    parser = Parser(prog=f"python -m training.{name}", description=description)
    parser.add_argument("--config", type=Path, required=True, help="in experiments/holdem/configs/")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    parser.add_argument("--workers", type=at_least(1, MAX_WORKERS), default=1, help="side by side")
    parser.add_argument("--out", type=Path, help=f"the folder (in {runs}/)")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    @answers_in_one_line(name, "stopped; the same command goes on")
    def run() -> int:
        parsed = parser.parse_args(arguments)
        content = read_yaml(parsed.config, parsed.set)
        print("\n".join(work(content, parsed.out or runs / parsed.config.stem, parsed.workers)))
        return 0

    return run()


def _run(content: dict[str, Any], folder: Path, workers: int) -> Iterator[str]:
    population = Population(PopulationConfig.parse(content), folder, workers)
    found = population.run()
    yield from aligned(population.table(found))
    for name, mean in population.group_means(found).items():
        yield f"mean of {name}: {mean:+.1f} {population.game.facts.unit.name}"


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return run_command("population", __doc__, _run, arguments)


if __name__ == "__main__":
    sys.exit(main())
