"""The Phantom's tournament without search: simple players, and those who reason about the belief.

Three maps that were drawn once and are kept with the project, both orders of placement. A thesis
played 50 games on each of three maps that are lost; here a cell has 2,000. Detectives who start on
the Phantom's place win in the first round, which says nothing about play, so every rate is given
with and without such games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agents import make_agent
from arena.match import play_shown
from common.statistics import Interval, wilson
from envs import make_game
from envs.pursuit.tables import named_board
from experiments.runner import Group, Row, Settings

__all__ = ["GROUPS"]

MAPS = ("map_1", "map_2", "map_3")
ORDERS = {"fugitive_first": "blind starts", "detectives_first": "starts seen"}
GAMES = 2000
PLACEMENT = 6
"""Actions of the first round: the Phantom and five detectives choose their starts."""
SHORT = {"pursuit_heuristic": "heuristic", "pursuit_belief": "belief", "random": "random"}
CAPTURE, FORESIGHT = "pursuit_capture", "pursuit_foresight"

Bools = npt.NDArray[np.bool_]


class Cell:
    """Games of one pairing on one map: who won, and in which round."""

    def __init__(self, is_won: Bools, lengths: npt.NDArray[np.int64]) -> None:
        """``is_won``: by the detectives."""
        self.is_won = is_won
        self.rounds = -(-lengths // PLACEMENT)

    @property
    def is_first(self) -> Bools:
        """[games] whether it ended in the first round."""
        found: Bools = self.is_won & (self.rounds == 1)
        return found


@lru_cache(maxsize=256)
def play_cell(detectives: str, phantom: str, board: str, order: str, games: int, seed: int) -> Cell:
    """Play one cell."""
    game = make_game("phantom_v0", board=board, placement_order=order)
    agents = [make_agent(phantom, game), make_agent(detectives, game)]
    result = play_shown(game, agents, games, seed=seed)
    return Cell(result.returns[:, 1] > 0, result.lengths)


def cells_of(
    settings: Settings, detectives: str, phantom: str, order: str = "fugitive_first"
) -> list[Cell]:
    """The cells of a pairing, one for each map."""
    games = settings.games(GAMES)
    return [
        play_cell(detectives, phantom, board, order, games, 1000 * settings.seed + number)
        for number, board in enumerate(MAPS)
    ]


def rate(cells: Sequence[Cell], has_first: bool = True) -> tuple[Interval, int]:
    """Share of games that the detectives won, in %, and of how many."""
    won = np.concatenate([cell.is_won for cell in cells])
    first = np.concatenate([cell.is_first for cell in cells])
    if not has_first:
        won = won[~first]
    return wilson(int(won.sum()), len(won)).times(100), len(won)


def pairing(
    id: str,
    detectives: str,
    phantom: str,
    published: float | None,
    wanted: tuple[float, float] | None,
) -> Group:
    """The rows of one pairing: all maps, each map, without the first round, both orders."""

    def rows(settings: Settings) -> Iterator[Row]:
        who = f"{SHORT[detectives]} detectives v. {SHORT[phantom]} Phantom"
        for order, words in ORDERS.items():
            cells = cells_of(settings, detectives, phantom, order)
            interval, games = rate(cells)
            is_main = order == "fugitive_first"
            yield Row.of(
                id,
                f"{who}, detectives win, %, {words}",
                interval,
                games=games,
                published=published if is_main else None,
                wanted=wanted if is_main else None,
            )
            interval, games = rate(cells, has_first=False)
            yield Row.of(id, f"the same without round 1, {words}", interval, games=games)
            if not is_main:
                continue
            for board, cell in zip(MAPS, cells, strict=True):
                interval, games = rate([cell])
                yield Row.of(id, f"the same on {board}", interval, games=games)
            yield from _rounds(id, cells)

    return rows


def _rounds(id: str, cells: Sequence[Cell]) -> Iterator[Row]:
    """When detectives win: in the first round, and by the twelfth."""
    rounds = np.concatenate([cell.rounds[cell.is_won] for cell in cells])
    if len(rounds) < 2:
        return
    for last, words in ((1, "in round 1"), (12, "by round 12")):
        found = wilson(int((rounds <= last).sum()), len(rounds)).times(100)
        yield Row.of(id, f"of the detectives' wins, % {words}", found, games=len(rounds))
    yield Row(id, "median round of the detectives' wins", float(np.median(rounds)))


def _difference(first: Sequence[Cell], second: Sequence[Cell]) -> tuple[Interval, int]:
    """Rate of the first minus rate of the second, in points; maps weigh the same in both."""
    means, variance, games = 0.0, 0.0, 0
    for sign, cells in ((1, first), (-1, second)):
        won = np.concatenate([cell.is_won for cell in cells])
        means += sign * won.mean()
        variance += won.var(ddof=1) / len(won)
        games += len(won)
    reach = 1.96 * np.sqrt(variance)
    return Interval(float(means), float(means - reach), float(means + reach)).times(100), games


def ahead(id: str, words: str, better: tuple[str, str], plain: tuple[str, str], sign: int) -> Group:
    """How far the better players are ahead of the plain ones, against the same opponents."""

    def rows(settings: Settings) -> Iterator[Row]:
        for order, starts in ORDERS.items():
            new, old = (cells_of(settings, *pair, order) for pair in (better, plain))
            interval, games = _difference(new, old)
            interval = interval.times(sign)
            own, other = (rate(cells)[0].mean for cells in (new, old))
            held = "excludes" if interval.low > 0 else "holds"
            note = f"interval {held} 0; detectives win {own:.1f} % and {other:.1f} %"
            yield Row.of(
                id,
                f"{words}, points, {starts}",
                interval,
                games=games,
                wanted=(0.0, None),
                note=note,
            )

    return rows


def chosen_start(settings: Settings) -> Iterator[Row]:
    """A Phantom who sees the detectives' starts chooses his own well: no loss in round 1."""
    cells = cells_of(settings, "random", "pursuit_belief", "detectives_first")
    interval, games = rate(cells)
    yield Row.of(
        "R1+",
        "random detectives v. belief Phantom who sees their starts, detectives win, %",
        interval,
        games=games,
        published=12.0,
        wanted=(0.0, 7.7),
    )
    lost = sum(int(cell.is_first.sum()) for cell in cells)
    yield Row("R1+", "games that he lost in round 1", lost, games=games, wanted=(0, 0))
    blind = cells_of(settings, "random", "pursuit_belief")
    interval, games = rate(blind)
    floor = 100 * np.mean([5 / len(named_board(board).nodes) for board in MAPS])
    note = f"with blind starts 5 / places = {floor:.1f} are lost whatever he does"
    yield Row.of("R1+", "the same with blind starts", interval, games=games, note=note)


def quicker(settings: Settings) -> Iterator[Row]:
    """Belief detectives against the random Phantom: as certain, and sooner."""
    for detectives in ("pursuit_heuristic", "pursuit_belief"):
        cells = cells_of(settings, detectives, "random")
        rounds = np.concatenate([cell.rounds[cell.is_won] for cell in cells])
        interval, games = rate(cells)
        who = f"{SHORT[detectives]} detectives v. random Phantom"
        yield Row.of(
            "R2+", f"{who}, detectives win, %", interval, games=games, wanted=(97.5, 100.0)
        )
        error = 1.96 * rounds.std(ddof=1) / np.sqrt(len(rounds))
        mean = Interval(rounds.mean(), rounds.mean() - error, rounds.mean() + error)
        yield Row.of("R2+", f"{who}, mean round of a win", mean, games=len(rounds))


HEURISTIC, BELIEF = "pursuit_heuristic", "pursuit_belief"
GROUPS: dict[str, Group] = {
    "R1": pairing("R1", "random", HEURISTIC, 12.0, (7.7, 18.2)),
    "R2": pairing("R2", HEURISTIC, "random", 100.0, (97.5, 100.0)),
    "M1": pairing("M1", HEURISTIC, HEURISTIC, None, (61.0, 86.0)),
    "M2": pairing("M2", "random", "random", None, (71.0, 88.0)),
    "R1+": chosen_start,
    "R2+": quicker,
    "B1": ahead(
        "B1",
        "belief detectives ahead of heuristic ones, against the heuristic Phantom",
        (BELIEF, HEURISTIC),
        (HEURISTIC, HEURISTIC),
        1,
    ),
    "B2": ahead(
        "B2",
        "belief Phantom ahead of the heuristic one, against heuristic detectives",
        (HEURISTIC, BELIEF),
        (HEURISTIC, HEURISTIC),
        -1,
    ),
    "B3": ahead(
        "B3",
        "belief Phantom ahead of the heuristic one, against belief detectives",
        (BELIEF, BELIEF),
        (BELIEF, HEURISTIC),
        -1,
    ),
    "B4": ahead(
        "B4",
        "detectives with capture tables ahead of belief ones, against the belief Phantom",
        (CAPTURE, BELIEF),
        (BELIEF, BELIEF),
        1,
    ),
    "B5": ahead(
        "B5",
        "the same against the heuristic Phantom",
        (CAPTURE, HEURISTIC),
        (BELIEF, HEURISTIC),
        1,
    ),
    "B6": ahead(
        "B6",
        "Phantom with foresight ahead of the belief one, against belief detectives",
        (BELIEF, FORESIGHT),
        (BELIEF, BELIEF),
        -1,
    ),
    "B7": ahead(
        "B7",
        "the same against heuristic detectives",
        (HEURISTIC, FORESIGHT),
        (HEURISTIC, BELIEF),
        -1,
    ),
    "B8": ahead(
        "B8",
        "the same against detectives with capture tables",
        (CAPTURE, FORESIGHT),
        (CAPTURE, BELIEF),
        -1,
    ),
}
"""By id: what a thesis reports (R), what it leaves out (M), and what beats it (R+, B)."""
