"""Two strategies compared: every deck is played by one against two and by two against one.

Each pair of games gives three results to each side, and their mean places add up to 4: 1.333 is the
best and 2.667 the worst. The single player sits in seat 0, as published, or every seat in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.base import Agent
from common.statistics import Interval, mean_interval
from envs.core.rollouts import Rollouts
from envs.no_thanks import NoThanks
from experiments.no_thanks.filling import Filling, fill

Scores = npt.NDArray[np.float64]
NUM_SEATS = 3
AT_ONCE = 10


@dataclass(frozen=True)
class Strategy:
    """An agent by its id and settings, so that any process can make it."""

    agent: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def build(self, game: NoThanks) -> Agent:
        """Make the agent."""
        return make_agent(self.agent, game, **self.params)


@dataclass(frozen=True)
class PairedMatch:
    """What came of a comparison."""

    scores: Scores
    """[decks, lines, seats]: of every game."""
    sides: npt.NDArray[np.int64]
    """[lines, seats]: which of the two sat there."""

    @property
    def num_games(self) -> int:
        """Of all decks and line-ups."""
        return int(self.scores[..., 0].size)

    @property
    def places(self) -> Scores:
        """[decks, lines, seats]: equal scores share the mean of their places."""
        own, others = self.scores[..., :, None], self.scores[..., None, :]
        halves = (others > own).sum(axis=-1) + 0.5 * (others == own).sum(axis=-1)
        found: Scores = halves + 0.5
        return found

    def mean_place(self, side: int = 0) -> Interval:
        """The mean place of a side with its 95 % interval, deck by deck."""
        return mean_interval(self.places[:, self.sides == side].mean(axis=1))

    def mean_score(self, side: int = 0) -> Interval:
        """The mean score of a side."""
        return mean_interval(self.scores[:, self.sides == side].mean(axis=1))

    def seat_places(self, line: int, seat: int) -> Interval:
        """The mean place in one seat of one line-up."""
        return mean_interval(self.places[:, line, seat])

    def counts(self, line: int, seat: int) -> list[int]:
        """How often a seat was first, second, third; equals all get the better place."""
        scores = self.scores[:, line]
        ahead = (scores > scores[:, seat : seat + 1]).sum(axis=1)
        return [int((ahead == place).sum()) for place in range(NUM_SEATS)]


@dataclass(frozen=True)
class Match:
    """The games of a comparison, as rows for ``fill``."""

    game: NoThanks
    one: Strategy
    other: Strategy
    seed: int = 0
    is_rotated: bool = False

    @property
    def sides(self) -> npt.NDArray[np.int64]:
        """[lines, seats]: who sits where in each game of a deck."""
        lines = np.array([[0, 1, 1], [1, 0, 0]])
        if not self.is_rotated:
            return lines
        turns = [np.roll(line, turn) for line in lines for turn in range(NUM_SEATS)]
        return np.array(turns)

    @property
    def about(self) -> str:
        """What tells these games from all others."""
        turned = ", rotated" if self.is_rotated else ""
        return f"{self.game!r} {self.one} against {self.other}, seed {self.seed}{turned}"

    @property
    def title(self) -> str:
        """What they are, for somebody who waits for them."""
        return f"decks of {self.one.agent} against {self.other.agent}"

    def worker(self) -> Callable[[int, int], Scores]:
        """A function that plays some of the decks."""
        agents = [self.one.build(self.game), self.other.build(self.game)]

        def play(first: int, last: int) -> Scores:
            # Few decks at a time: a search then still remembers what it found a move before.
            starts = range(first, last, AT_ONCE)
            return np.concatenate([play_some(i, min(i + AT_ONCE, last)) for i in starts])

        def play_some(first: int, last: int) -> Scores:
            decks, lines = np.arange(first, last), self.sides
            size = len(decks) * len(lines)
            games = Rollouts(self.game, agents, size, self.seed)
            seating = np.tile(lines, (len(decks), 1))
            games.begin(np.arange(size), np.repeat(decks, len(lines)), seating)
            games.run()
            return games.batch.totals.reshape(len(decks), -1).copy()

        return play


def compare_strategies(match: Match, num_decks: int, filling: Filling | None = None) -> PairedMatch:
    """Play ``num_decks`` decks, in every line-up of both sides."""
    rows = fill(match, num_decks, filling)
    return PairedMatch(rows.reshape(num_decks, -1, NUM_SEATS), match.sides)
