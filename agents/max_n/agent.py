"""Players that search worlds which they cannot tell from the true one.

In a game of perfect information there is one world, the truth. Elsewhere several are drawn, each is
searched as if everybody knew it, and the answers are put together: the action that is best most
often (``majority``), or the one with the best mean (``mean``). That is known as perfect-information
Monte Carlo; it never plays to learn or to hide anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.advice import PLACES, Analysis
from agents.base import Actions, Agent, Views
from agents.max_n.preference import PREFERENCES, place_of, place_weight, utility_of
from agents.max_n.searcher import Searcher, SearchResult, SearchSettings, State
from common.errors import OptionError
from envs.core.game import Game

LONGEST_LINE = 12
"""Moves of a line that are shown."""


def check_worlds(num_worlds: int, vote: str) -> None:
    """Refuse what cannot be drawn or put together."""
    if num_worlds < 1:
        raise OptionError(f"num_worlds must be at least 1, not {num_worlds}")
    if vote not in ("majority", "mean"):
        raise OptionError(f"vote must be 'majority' or 'mean', not '{vote}'")


class SearchAgent(Agent):
    """Searches deeper and deeper until its nodes or its time are used up."""

    thinks_long = True

    settings_class = SearchSettings
    defaults: ClassVar[dict[str, Any]] = {}
    """Settings of this player where it is given none."""

    def __init__(
        self,
        game: Game,
        num_worlds: int = 8,
        time_per_move: float | None = None,
        vote: str = "majority",
        **settings: Any,
    ) -> None:
        """Prepare to search ``game``.

        Args:
            game: any game.
            num_worlds: drawn for a decision.
            time_per_move: seconds for all worlds of a decision; ``max_nodes`` then does not count.
            vote: how the answers of several worlds are put together.
            settings: any field of ``SearchSettings``; ``preference`` is what standings of the game
                go by where it is left out, and ``pruning`` the best that is exact.
        """
        super().__init__(game)
        check_worlds(num_worlds, vote)
        if time_per_move is not None and time_per_move < 0:
            raise OptionError(f"time_per_move must be at least 0 seconds, not {time_per_move}")
        given = {name: value for name, value in settings.items() if value is not None}
        SearchSettings(**given)  # what is wrong is refused before anything takes its place
        chosen = {"max_nodes": 2000, "table_bits": 12, **self.defaults, **given}
        by_place = "place" if game.facts.objective == "place" else "return"
        self.preference = chosen["preference"] = chosen.get("preference") or by_place
        chosen.setdefault("pruning", self._pruning(chosen.get("ties", "high")))
        if time_per_move is not None:
            chosen["max_nodes"] = None
        if time_per_move is not None or chosen.get("depth") is None:
            chosen["is_iterative"] = True
        self.num_worlds = num_worlds
        self.vote = vote
        self.time_per_move = time_per_move
        self.is_reproducible = time_per_move is None
        self._searcher = Searcher(game, SearchSettings(**chosen))
        self.method = self._searcher.settings.method

    def _pruning(self, ties: str) -> str:
        """What is exact: means of equal branches may not be pruned."""
        if ties == "average":
            return "none"
        if self.preference == "place":
            return "placement"
        return "none" if self.game.facts.return_sum is None else "korf"

    def analyse(self, views: Views) -> list[Analysis]:
        """What the search says of every row: votes, the mean value of each action, the line.

        Values are returns where players want returns; where they want places, places from the
        middle. The line is that of the likeliest world.
        """
        return [self._analyse(*row) for row in self._rows(views)]

    def act(self, views: Views) -> Actions:
        """Search every row by itself."""
        return np.array([self._decide(*row) for row in self._rows(views)], np.int64)

    def _rows(self, views: Views) -> Iterator[tuple[State, npt.NDArray[np.int64], int, Any]]:
        """Different worlds of every row and how often each was drawn, the seat and the mask."""
        worlds = np.stack([views.worlds() for _ in range(self.num_worlds)], axis=1)
        for drawn, seat, mask in zip(worlds, views.seats, views.masks, strict=True):
            self._searcher.forget()  # what a row is answered may not depend on the rows before it
            yield *_distinct(drawn), int(seat), mask

    def _seconds(self, num_searches: int) -> float | None:
        return None if self.time_per_move is None else self.time_per_move / num_searches

    def _decide(self, kinds: State, counts: npt.NDArray[np.int64], seat: int, mask: Actions) -> int:
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        seconds, scores = self._seconds(len(kinds)), np.zeros(len(mask))
        for world, count in zip(kinds, counts, strict=True):
            if self.vote == "majority":
                scores[self._search(world, seat, seconds).action] += count
            else:
                for action in legal:
                    scores[action] += count * self._value(world, seat, int(action), seconds)
        best = scores[legal].max()
        tied = legal[scores[legal] == best]
        return int(tied[-1] if self._searcher.settings.ties == "high" else tied[0])

    def _analyse(
        self, kinds: State, counts: npt.NDArray[np.int64], seat: int, mask: Actions
    ) -> Analysis:
        legal, seconds = np.flatnonzero(mask), self._seconds(len(kinds))
        shares, values = np.zeros(len(mask)), np.zeros(len(mask))
        for world, count in zip(kinds, counts, strict=True):
            part = count / self.num_worlds
            shares[self._search(world, seat, seconds).action] += part
            for action in legal:
                result = self._after(world, seat, int(action), seconds).values
                values[action] += part * self._return_of(result, seat)
        line = self._line(kinds[int(np.argmax(counts))], seat, seconds)
        unit = PLACES if self.preference == "place" else ""
        return Analysis(legal, shares[legal], values[legal], line, unit)

    def _return_of(self, result: tuple[float, ...], seat: int) -> float:
        """A result as a person reads it: the return, or the place from the middle."""
        if self.method != "max_n":
            return result[0] if self.preference == "return" else np.nan
        if self.preference == "return":
            return result[seat]
        count = len(result)
        return (count + 1) / 2 - float(place_of(np.array(result), count, seat))

    def _line(self, world: State, seat: int, seconds: float | None) -> tuple[int, ...]:
        """The moves that the search expects in a world, as far as one search each goes."""
        game, state = self._searcher.game, np.array(world)
        line: list[int] = []
        while len(line) < LONGEST_LINE and game.kernels.turn(state, game.rules) >= 0:
            line.append(self._search(state, seat, seconds).action)
            game.kernels.step(state, game.rules, line[-1])
        return tuple(line)

    def _search(self, state: State, seat: int, seconds: float | None) -> SearchResult:
        return self._searcher.search(np.ascontiguousarray(state), seat, seconds)

    def _after(self, world: State, seat: int, action: int, seconds: float | None) -> SearchResult:
        """What the search finds after an action."""
        child = np.array(world)
        game = self._searcher.game
        game.kernels.step(child, game.rules, action)
        return self._search(child, seat, seconds)

    def _value(self, world: State, seat: int, action: int, seconds: float | None) -> float:
        """What an action is worth to ``seat`` in one world."""
        found = self._after(world, seat, action, seconds).values
        facts = self._searcher.game.facts
        if self.method != "max_n":
            return found[0]
        weight = place_weight(facts.num_players, facts.min_return, facts.max_return)
        code = PREFERENCES.index(self.preference)
        return float(utility_of(np.array(found), facts.num_players, seat, code, weight))


class MaxNAgent(SearchAgent):
    """Expects everybody to look after themselves."""

    defaults: ClassVar[dict[str, Any]] = {"method": "max_n"}


class ParanoidAgent(SearchAgent):
    """Expects everybody else to join forces against it."""

    defaults: ClassVar[dict[str, Any]] = {"method": "paranoid"}


class BestReplyAgent(SearchAgent):
    """Expects the opponent who can harm it most to do so, and the others to play on."""

    defaults: ClassVar[dict[str, Any]] = {"method": "best_reply", "order": "low_first"}


def _distinct(worlds: State) -> tuple[State, npt.NDArray[np.int64]]:
    """Different worlds, and how often each is there."""
    # Rows as one value each: along an axis NumPy would make a field of every byte.
    rows = np.ascontiguousarray(worlds).view(f"V{worlds.shape[1]}").ravel()
    kinds, counts = np.unique(rows, return_counts=True)
    return kinds.view(np.uint8).reshape(len(kinds), -1), counts
