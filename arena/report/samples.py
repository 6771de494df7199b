"""A few games of a tournament to step through, the first deals of each group, not chosen ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arena.playing.replay import Recording, frames, winner_in_words
from arena.running.context import WorkerContext
from arena.running.folder import Tournament
from arena.running.replayer import Replayer
from common.errors import MasqueradeError

__all__ = ["Sample", "Samples", "read_samples", "sample_games"]

MAX_GAMES = 40
MAX_GAMES_OF_A_GROUP = 4
# Letters of all samples together: a report is a page to be sent by mail.
MAX_LETTERS = 1_500_000


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

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return dict(vars(self))


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
            num_letters += len(json.dumps(sample.to_dict()))
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
    # Who learns or thinks by the clock plays another game each time, and may take long for it.
    steady = [s.name for s in standings if s.is_reproducible and not s.is_learning]
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
