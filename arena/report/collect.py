"""Everything a report shows, gathered once for all its formats."""

from __future__ import annotations

import csv
import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.policy import FILE_NAME, Policy, PolicyError
from agents.spec import AgentSpec
from arena.folder import Tournament, read_tournament
from arena.replay import Recording, frames, winner_in_words
from arena.replayer import Replayer
from arena.report.words import verdict
from arena.spec import TournamentSpec, to_yaml
from arena.summary import Summary
from arena.workers import WorkerContext
from common.errors import MasqueradeError
from common.files import read_json, read_text
from envs.core.game import Game

MAX_GAMES = 40
MAX_GAMES_OF_A_GROUP = 4
# Letters of all samples together: a report is a page to be sent by mail.
MAX_LETTERS = 1_500_000


# ---- sample games, the first deals of each group, not chosen ones --------------------------------


@dataclass(frozen=True)
class Sample:
    """A game in a form that a page can show."""

    deal: int
    seating: int
    names: list[str]
    returns: list[float]
    end: str
    """How it ended, and what a reader must know."""
    texts: list[str]
    """Every text and every part of a picture once."""
    pictures: list[list[int]]
    """Every picture once: runs of texts, the number of the first and how many, again and again."""
    steps: list[tuple[int | None, list[tuple[int, int, int]]]]
    """For each step who acted and, for the spectator and each seat, the words and the board as
    numbers of texts, and the number of a picture."""


@dataclass(frozen=True)
class Samples:
    """The games of a report."""

    games: list[Sample] = field(default_factory=list)
    num_groups: int = 0
    """Groups that have a game here."""
    trouble: str = ""
    """Why there are fewer than there should be."""


def read_samples(
    tournament: Tournament, context: WorkerContext | None = None, is_trusted: bool = False
) -> Samples:
    """Play the first games of each group again, as many as a page can hold."""
    games: list[Sample] = []
    groups: set[int] = set()
    num_letters = 0
    try:
        replayer = Replayer(tournament, context, is_trusted)
        for group, deal, seating in sample_games(replayer):
            recording = replayer.play(deal, group, seating, has_patience=False)
            if not recording.is_exact:
                continue
            sample = _sample(recording, seating)
            num_letters += len(json.dumps(vars(sample)))
            if games and num_letters > MAX_LETTERS:
                break
            games.append(sample)
            groups.add(group)
    except MasqueradeError as error:
        # Such as an agent whose files are gone: the figures of the report do not need it.
        return Samples(games, len(groups), str(error))
    trouble = "" if games else "its agents do not repeat themselves"
    return Samples(games, len(groups), trouble)


def sample_games(replayer: Replayer) -> Iterator[tuple[int, int, int]]:
    """Group, deal and seating of each sample game; groups of the best agents first."""
    tournament = replayer.tournament
    standings = tournament.summary.standings
    # Who thinks by the clock plays another game each time, and may take long for it.
    steady = [s.name for s in standings if s.is_reproducible]
    members = [[replayer.names[agent] for agent in group.agents] for group in replayer.groups]
    order = [g for g, names in enumerate(members) if set(names) <= set(steady)]
    order.sort(key=lambda g: sorted(steady.index(name) for name in members[g]))
    each = max(1, min(MAX_GAMES_OF_A_GROUP, MAX_GAMES // max(1, len(order))))
    for group in order[:MAX_GAMES]:
        # The same deal in two seatings: what the cards did, and what the players did.
        num_seatings = min(2, len(replayer.groups[group].seatings))
        for number in range(min(each, num_seatings * tournament.spec.deals)):
            deal, seating = divmod(number, num_seatings)
            yield group, deal, seating


def _sample(recording: Recording, seating: int) -> Sample:
    texts: dict[str, int] = {}
    pictures: dict[tuple[int, ...], int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def picture(svg: str) -> int:
        runs = _runs([number(part) for part in _parts(svg)])
        return pictures.setdefault(tuple(runs), len(pictures))

    seats = (None, *range(len(recording.names)))
    views = [frames(recording, viewer, has_drawings=True) for viewer in seats]
    steps = [
        (
            step[0].actor,
            [(number(frame.words), number(frame.board), picture(frame.drawing)) for frame in step],
        )
        for step in zip(*views, strict=True)
    ]
    ends = [f"{note[0].upper()}{note[1:]}." for note in recording.notes]
    if recording.fault:
        loser = recording.names[recording.fault.seat]
        ends.insert(0, f"{loser} forfeits: {recording.fault.reason}.")
    winner = winner_in_words(recording)
    ends.append(f"{winner[0].upper()}{winner[1:]}")
    return Sample(
        recording.number,
        seating,
        recording.names,
        recording.returns,
        " ".join(ends),
        list(texts),
        [list(runs) for runs in pictures],
        steps,
    )


def _parts(svg: str) -> list[str]:
    r"""A drawing cut between its outermost elements: most of them are the same in many pictures.

    >>> _parts("<svg>\n<g>\n<rect/>\n</g>\n<rect/>\n</svg>")
    ['<svg>', '<g><rect/></g>', '<rect/>', '</svg>']
    """
    parts: list[str] = []
    depth = 0
    for line in svg.splitlines():
        if depth:
            parts[-1] += line
        else:
            parts.append(line)
        depth += line.startswith("<g") - (line == "</g>")
    return parts


def _runs(numbers: list[int]) -> list[int]:
    """Numbers as runs of consecutive ones: first, count, first, count.

    >>> _runs([3, 4, 5, 9, 1, 2])
    [3, 3, 9, 1, 1, 2]
    """
    runs: list[int] = []
    for number in numbers:
        if runs and number == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [number, 1]
    return runs


# ---- how agents were made: the curves in the folders of their runs -------------------------------
#
# An agent that was trained has a parameter with the path of its run, or of a checkpoint in it. A
# run's folder holds ``metrics.csv``, a row for each time something was measured (an empty cell was
# not), and perhaps ``eval/*.json``. A solver's policy file has its exploitability in itself.


Points = list[tuple[float, float]]

STEPS = ("step", "steps", "global_step", "iteration", "iterations")
ENDS = ("_low", "_high")
# A checkpoint lies in runs/<name>/checkpoints/<step>/ at most.
MAX_PARENTS = 3
MAX_POINTS = 400


@dataclass(frozen=True)
class Run:
    """What a training run has noted."""

    agent: str
    curves: dict[str, Points] = field(default_factory=dict)
    """For each metric (step, value), in the order of steps."""
    bands: dict[str, tuple[Points, Points]] = field(default_factory=dict)
    """For metrics that have columns ``.._low`` and ``.._high`` beside them, these."""
    exploitability: float | None = None
    """The last value there is."""


def read_run(agent: AgentSpec, game: Game) -> Run | None:
    """The run that an agent comes from, or None when it has no folder with measurements."""
    for value in agent.params.values():
        if not isinstance(value, str) or not value or not Path(value).exists():
            continue
        folder, exploitability = _run_folder(Path(value)), _from_policy(Path(value), game)
        if folder is None and exploitability is not None:
            return Run(agent.name, exploitability=exploitability)
        if folder is not None:
            columns = _read_metrics(folder / "metrics.csv")
            if exploitability is None:
                exploitability = _last(columns)
            if exploitability is None:
                exploitability = _from_json(folder / "eval")
            shown = _shown(columns)
            ends = {f"{name}{end}" for name in shown for end in ENDS} & set(shown)
            curves = {name: points for name, points in shown.items() if name not in ends}
            bands = {
                name: (shown[name + ENDS[0]], shown[name + ENDS[1]])
                for name in curves
                if all(name + end in ends for end in ENDS)
            }
            return Run(agent.name, curves, bands, exploitability)
    return None


def _run_folder(path: Path) -> Path | None:
    for folder in (path, *list(path.parents)[:MAX_PARENTS]):
        if (folder / "metrics.csv").is_file():
            return folder
    return path if path.is_dir() and (path / "eval").is_dir() else None


def _read_metrics(path: Path) -> dict[str, Points]:
    """Every numeric column over the column of steps, or over rows when there is none."""
    columns: dict[str, Points] = {}
    if not path.is_file():
        return columns
    try:
        rows = list(csv.DictReader(read_text(path, "").splitlines()))
    except (MasqueradeError, csv.Error):
        return columns  # damaged or not ours: a report does without
    for number, row in enumerate(rows):
        step = next((x for name in STEPS if (x := _number(row.get(name))) is not None), number)
        for name, text in row.items():
            value = _number(text)
            if isinstance(name, str) and name not in STEPS and value is not None:
                columns.setdefault(name, []).append((step, value))
    return columns


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _shown(columns: dict[str, Points]) -> dict[str, Points]:
    """The curves of evaluations, or those of training where there are none."""
    for start in ("eval/", "charts/"):
        chosen = {name: points for name, points in columns.items() if name.startswith(start)}
        if chosen:
            return {name: _thinned(points) for name, points in chosen.items()}
    return {}


def _thinned(points: Points) -> Points:
    """At most ``MAX_POINTS`` of them, the last included."""
    stride = -(-len(points) // MAX_POINTS)
    return points if stride == 1 else [*points[:-1:stride], points[-1]]


def _last(columns: dict[str, Points]) -> float | None:
    """The last exploitability there is, whatever the rest of its name."""
    for name, points in columns.items():
        if "exploitability" in name.lower():
            return points[-1][1]
    return None


def _from_policy(path: Path, game: Game) -> float | None:
    """What a solver has noted in its policy's file, if there is one."""
    file = path / FILE_NAME if path.is_dir() else path
    if file.suffix != Path(FILE_NAME).suffix or not file.is_file():
        return None
    try:
        return Policy.load(file, game).exploitability
    except PolicyError:
        return None  # another kind of file, or no longer for this game


def _from_json(folder: Path) -> float | None:
    """The exploitability in the last file, by name, that has one."""
    for path in sorted(folder.glob("*.json"), reverse=True):
        try:
            content = read_json(path, "")
        except MasqueradeError:
            continue  # half-written or not ours: a report does without
        named = {key: [(0.0, x)] for key in content if (x := _number(content[key])) is not None}
        if (value := _last(named)) is not None:
            return value
    return None


# ---- the report ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report(Tournament):
    """A tournament with what its agents left behind and a few of its games."""

    runs: list[Run]
    samples: Samples

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
    spec, game = tournament.spec, tournament.spec.build_game()
    runs = [run for agent in spec.agents if (run := read_run(agent, game)) is not None]
    samples = read_samples(tournament, context, is_trusted)
    return Report(folder, tournament.summary, runs, samples)
