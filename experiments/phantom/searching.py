"""The Phantom's tournament with search: the thesis's players rerun, and ours against them.

The thesis gave its search 2.5 seconds for a decision, the moves of all five detectives together.
Its maps, its hardware and the number of simulations are lost, so the main tables are at equal
simulations: ``SIMULATIONS`` for a joint action of the thesis's search, and as many for the moves of
our detectives together, a fifth each. ``phantom_search_timed`` is at equal time instead; a cell of
that takes hours.

Our Phantom (``pursuit_search``) takes detectives for players who know no more of his place than
they do, and judges by their moves whether they hunt by the belief or go to where he was last seen.
All that was chosen on three other maps (``map_seed`` 101 to 103) with other seeds than those of the
tables. ``UNGUESSED`` is the one before, who expects the latter one time in four.

Maps are the three that are kept with the project; starts are blind, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from arena.match import play_shown
from common.statistics import Interval, wilson
from envs import make_game
from experiments.kept_games import Pairing, Player, play_kept
from experiments.phantom import JOINT_SEARCH
from experiments.phantom.exact import distances
from experiments.runner import Group, Row, Settings

__all__ = ["GROUPS", "TIMED"]

MAPS = ("map_1", "map_2", "map_3")
GAMES = 100
"""On each map."""
SIMULATIONS = 1000
MORE = 5000
"""For our Phantom in R3++: less than a tenth of the 2.5 seconds that were published."""
MORE_FOR_THESIS = 10_000
"""For the thesis's Phantom in R3x: does the unknown number of simulations explain R3?"""
SECONDS = 2.5
ROUND_LENGTH = 6
"""Moves of a round: the Phantom and five detectives."""

Wins = npt.NDArray[np.bool_]


PUCT = {"selection": "puct", "prior": "rule"}
RANDOM = Player("random", "random")
HEURISTIC = Player("heuristic", "pursuit_heuristic")
THESIS = Player("the thesis's search", JOINT_SEARCH)
OUR_DETECTIVES = Player("our search", "mo_ismcts", PUCT, shares_budget=True)
OUR_PHANTOM = Player("our search", "pursuit_search")
UNGUESSED = Player(
    "our search without a guess",
    "mo_ismcts",
    {
        "selection": "ucb",
        "opponents": "rule",
        "epsilon": 0.0,
        "rollout_depth": 6 * ROUND_LENGTH,
    },
)
PLAYERS = {
    "detectives": {
        "random": RANDOM,
        "heuristic": HEURISTIC,
        "thesis": THESIS,
        "ours": OUR_DETECTIVES,
    },
    "phantom": {
        "random": RANDOM,
        "heuristic": HEURISTIC,
        "thesis": THESIS,
        "ours": OUR_PHANTOM,
        "unguessed": UNGUESSED,
    },
}


def win_rate(won: Wins) -> Interval:
    """Games that were won, in %."""
    return wilson(int(won.sum()), len(won)).times(100)


@dataclass(frozen=True)
class Cell:
    """Games of one pairing on all maps."""

    is_won: Wins
    """[games] by the detectives."""
    is_first: Wins
    """[games] in the first round, by a start on the Phantom's place."""
    simulations: float = 0.0
    """Of a search on average, if that went by the clock."""

    def rate(self) -> Interval:
        """Games that the detectives won, in %."""
        return win_rate(self.is_won)

    def later_rate(self) -> Interval:
        """The same without games that ended in the first round."""
        return win_rate(self.is_won[~self.is_first])


def cell_of(
    detectives: str,
    phantom: str,
    settings: Settings,
    simulations: int = SIMULATIONS,
    seconds: float | None = None,
) -> Cell:
    """The games of one pairing, by simulations or by the clock."""
    games = settings.games(GAMES)
    if seconds is None:
        return play_cell(detectives, phantom, games, settings.seed, simulations)
    sides = PLAYERS["phantom"][phantom], PLAYERS["detectives"][detectives]
    kept = []
    for number, board in enumerate(MAPS):
        pairing = Pairing("phantom_v0", {"board": board}, *sides, seconds)
        kept += play_kept(pairing, games, 1000 * settings.seed + number, settings)
    is_won = np.array([game.caught == 1 for game in kept])
    is_first = is_won & (np.array([game.length for game in kept]) <= ROUND_LENGTH)
    return Cell(
        is_won, is_first, sum(g.simulations for g in kept) / max(sum(g.searches for g in kept), 1)
    )


@lru_cache(maxsize=64)
def play_cell(
    detectives: str,
    phantom: str,
    games: int,
    seed: int,
    simulations: int = SIMULATIONS,
) -> Cell:
    """Play one pairing at so many simulations a round."""
    won, first = [], []
    for number, board in enumerate(MAPS):
        game = make_game("phantom_v0", board=board)
        sides = PLAYERS["phantom"][phantom], PLAYERS["detectives"][detectives]
        agents = [side.make(game, simulations, None) for side in sides]
        result = play_shown(game, agents, games, seed=1000 * seed + number)
        is_won = result.returns[:, 1] > 0
        won.append(is_won)
        first.append(is_won & (result.lengths <= ROUND_LENGTH))
    return Cell(np.concatenate(won), np.concatenate(first))


def difference(one: Wins, other: Wins) -> Interval:
    """How much more often the first won, in points.

    Newcombe's interval of Wilson's two, which holds for few games, too, and if one side won all.

    >>> print(difference(np.ones(6, bool), np.zeros(6, bool)))
    100.000 [44.798, 100.000]
    """
    a, b = (wilson(int(won.sum()), len(won)) for won in (one, other))
    low = np.hypot(a.mean - a.low, b.high - b.mean)
    high = np.hypot(a.high - a.mean, b.mean - b.low)
    mean = a.mean - b.mean
    return Interval(mean, float(mean - low), float(mean + high)).times(100)


def pairing(
    id: str,
    detectives: str,
    phantom: str,
    published: float | None = None,
    wanted: tuple[float | None, float | None] | None = None,
    seconds: float | None = None,
    simulations: int = SIMULATIONS,
) -> Group:
    """The rows of one pairing: with and without the first round."""

    def rows(settings: Settings) -> Iterator[Row]:
        cell = cell_of(detectives, phantom, settings, simulations, seconds)
        names = PLAYERS["detectives"][detectives].name, PLAYERS["phantom"][phantom].name
        budget = f"{seconds} s" if seconds else f"{simulations:,} simulations"
        what = f"detectives win, %: {names[0]} v. Phantom by {names[1]}, {budget}"
        total = len(cell.is_won)
        note = f"{cell.simulations:,.0f} simulations a search" if seconds else ""
        more = {"published": published, "wanted": wanted, "note": note}
        yield Row.of(id, what, cell.rate(), games=total, **more)
        if wanted and wanted[0] is None:
            # What is to be beaten must lie outside of the interval.
            high = cell.rate().high
            yield Row(id, "the upper end of that interval", high, games=total, wanted=wanted)
        later = int((~cell.is_first).sum())
        if 2 <= later < total:
            yield Row.of(id, "the same without round 1", cell.later_rate(), games=later)

    return rows


def ahead(id: str, plain: str, is_phantom: bool = False, seconds: float | None = None) -> Group:
    """How far our side is ahead of another of that side, against heuristic opponents."""

    def rows(settings: Settings) -> Iterator[Row]:
        side = "phantom" if is_phantom else "detectives"
        whose = (plain, "ours") if is_phantom else ("ours", plain)
        pairs = [("heuristic", who) if is_phantom else (who, "heuristic") for who in whose]
        cells = [cell_of(*pair, settings, SIMULATIONS, seconds) for pair in pairs]
        gap = difference(*(cell.is_won for cell in cells))
        what = (
            f"points that our {side} are ahead of {PLAYERS[side][plain].name}, heuristic opponents"
        )
        note = "interval excludes 0" if gap.low > 0 else "interval holds 0"
        total = sum(len(cell.is_won) for cell in cells)
        yield Row.of(id, what, gap, games=total, wanted=(0.0, None), note=note)

    return rows


BOTH_KINDS = {"thesis": "the thesis's", "ours": "our"}


def budgets(
    id: str, kinds: Sequence[str], simulations: Sequence[int] = (), seconds: Sequence[float] = ()
) -> Group:
    """Strength against simulations, or against seconds a decision, for both sides of searches."""
    by_number = [(number, None, f"{number:,} simulations") for number in simulations]
    by_clock = [(SIMULATIONS, each, f"{each:g} s") for each in seconds]

    def rows(settings: Settings) -> Iterator[Row]:
        for number, each, words in (*by_number, *by_clock):
            for kind in kinds:
                for who in ("detectives", "Phantom"):
                    pair = (kind, "heuristic") if who == "detectives" else ("heuristic", kind)
                    cell = cell_of(*pair, settings, number, each)
                    what = f"detectives win, %: {BOTH_KINDS[kind]} {who}, {words}, heuristic"
                    note = f"{cell.simulations:,.0f} simulations a search" if each else ""
                    yield Row.of(id, what, cell.rate(), games=len(cell.is_won), note=note)

    return rows


GROUPS: dict[str, Group] = {
    "R4": pairing("R4", "thesis", "heuristic", 10.0, (6.2, 15.8)),
    "R4+": pairing("R4+", "ours", "heuristic", 10.0, (50.0, None)),
    "R3": pairing("R3", "heuristic", "thesis", 37.3, (30.0, 45.3)),
    "R3x": pairing("R3x", "heuristic", "thesis", 37.3, (30.0, 45.3), simulations=MORE_FOR_THESIS),
    "R3+": pairing("R3+", "heuristic", "ours", 37.3, (None, 20.0)),
    "R3++": pairing("R3++", "heuristic", "ours", 37.3, (None, 20.0), simulations=MORE),
    "R3u": pairing("R3u", "heuristic", "unguessed", 37.3, (None, 20.0)),
    "M1": pairing("M1", "heuristic", "heuristic", None, (61.0, 86.0)),
    "M3": pairing("M3", "random", "thesis"),
    "M3+": pairing("M3+", "random", "ours"),
    "M4": pairing("M4", "thesis", "random"),
    "M4+": pairing("M4+", "ours", "random"),
    "M5": pairing("M5", "thesis", "thesis"),
    "M5+": pairing("M5+", "ours", "ours"),
    "M6": budgets("M6", ("thesis", "ours"), simulations=(100, 300)),  # R3 to R4+ have 1,000
    "M7": ahead("M7", "thesis"),
    "M7r": ahead("M7r", "random"),
    "M7h": ahead("M7h", "heuristic"),
    "M7p": ahead("M7p", "thesis", is_phantom=True),
    "X": distances,
}
TIMED: dict[str, Group] = {
    "R4T": pairing("R4T", "thesis", "heuristic", 10.0, (6.2, 15.8), SECONDS),
    "R4T+": pairing("R4T+", "ours", "heuristic", 10.0, (50.0, None), SECONDS),
    "R3T": pairing("R3T", "heuristic", "thesis", 37.3, (30.0, 45.3), SECONDS),
    "R3T+": pairing("R3T+", "heuristic", "ours", 37.3, (None, 20.0), SECONDS),
    "R3Tu": pairing("R3Tu", "heuristic", "unguessed", 37.3, (None, 20.0), SECONDS),
    "M3T": pairing("M3T", "random", "thesis", seconds=SECONDS),
    "M4T": pairing("M4T", "thesis", "random", seconds=SECONDS),
    "M5T": pairing("M5T", "thesis", "thesis", seconds=SECONDS),
    "M5T+": pairing("M5T+", "ours", "ours", seconds=SECONDS),
    "M6T": budgets("M6T", ("thesis", "ours"), seconds=(0.1, 0.5, SECONDS)),
    "M6TT": budgets("M6TT", ("ours",), seconds=(10.0,)),
    "M7T": ahead("M7T", "thesis", seconds=SECONDS),
    "M7Tr": ahead("M7Tr", "random", seconds=SECONDS),
    "M7Th": ahead("M7Th", "heuristic", seconds=SECONDS),
    "M7Tp": ahead("M7Tp", "thesis", is_phantom=True, seconds=SECONDS),
}
