"""The Phantom's tournament without search: simple players, and those who reason about the belief.

Three maps that were drawn once and are kept with the project, both orders of placement. A thesis
played 50 games on each of three maps that are lost; here a cell has 2,000. Detectives who start on
the Phantom's place win in the first round, which says nothing about play, so every rate is given
with and without such games.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from common.statistics import Interval, wilson
from envs.pursuit.tables import named_board
from experiments.pursuit_cells import MAPS, Entrant, PursuitCell, Wins, join, play_cells
from experiments.runner import Group, Row, Settings

ORDERS = {"fugitive_first": "blind starts", "detectives_first": "starts seen"}
GAMES = 2000
SHORT = {"pursuit_heuristic": "heuristic", "pursuit_belief": "belief", "random": "random"}
CAPTURE, FORESIGHT = "pursuit_capture", "pursuit_foresight"


def cells_of(
    settings: Settings, detectives: str, phantom: str, order: str = "fugitive_first"
) -> list[PursuitCell]:
    """The cells of a pairing, one for each map."""
    players = Entrant(phantom, phantom), Entrant(detectives, detectives)
    games = settings.games(GAMES)
    return play_cells("phantom_v0", *players, games, settings, placement_order=order)


def rate_row(what: str, cell: PursuitCell, has_first: bool = True, **more: Any) -> Row:
    """How many of so many games the detectives won."""
    games = len(cell.is_won) if has_first else int((~cell.is_first).sum())
    return Row.of(what, cell.rate(has_first), games=games, **more)


def pairing(
    detectives: str, phantom: str, published: float | None, wanted: tuple[float, float] | None
) -> Group:
    """The rows of one pairing: all maps, each map, without the first round, both orders."""

    def rows(settings: Settings) -> Iterator[Row]:
        who = f"{SHORT[detectives]} detectives v. {SHORT[phantom]} Phantom"
        for order, words in ORDERS.items():
            cells = cells_of(settings, detectives, phantom, order)
            is_main = order == "fugitive_first"
            more: dict[str, Any] = {"published": published, "wanted": wanted} if is_main else {}
            whole = join(cells)
            yield rate_row(f"{who}, detectives win, %, {words}", whole, **more)
            yield rate_row(f"the same without round 1, {words}", whole, has_first=False)
            if not is_main:
                continue
            for board, cell in zip(MAPS, cells, strict=True):
                yield rate_row(f"the same on {board}", cell)
            yield from _rounds(whole)

    return rows


def _rounds(cell: PursuitCell) -> Iterator[Row]:
    """When detectives win: in the first round, and by the twelfth."""
    rounds = cell.rounds[cell.is_won]
    if len(rounds) < 2:
        return
    for last, words in ((1, "in round 1"), (12, "by round 12")):
        found = wilson(int((rounds <= last).sum()), len(rounds)).times(100)
        yield Row.of(f"of the detectives' wins, % {words}", found, games=len(rounds))
    yield Row("median round of the detectives' wins", float(np.median(rounds)))


def _difference(first: Wins, second: Wins) -> Interval:
    """Rate of the first minus rate of the second, in points; maps weigh the same in both."""
    mean = float(first.mean() - second.mean())
    variances = [won.var(ddof=1) / len(won) for won in (first, second)]
    reach = 1.96 * float(np.sqrt(sum(variances)))
    return Interval(mean, mean - reach, mean + reach).times(100)


def ahead(words: str, better: tuple[str, str], plain: tuple[str, str]) -> Group:
    """How far the better players are ahead of the plain ones, against the same opponents."""
    sign = 1 if better[1] == plain[1] else -1  # detectives, or the Phantom

    def rows(settings: Settings) -> Iterator[Row]:
        for order, starts in ORDERS.items():
            new, old = (join(cells_of(settings, *pair, order)) for pair in (better, plain))
            interval = _difference(new.is_won, old.is_won).times(sign)
            own, other = new.rate().mean, old.rate().mean
            held = "excludes" if interval.low > 0 else "holds"
            note = f"interval {held} 0; detectives win {own:.1f} % and {other:.1f} %"
            games = len(new.is_won) + len(old.is_won)
            what = f"{words}, points, {starts}"
            yield Row.of(what, interval, games=games, wanted=(0.0, None), note=note)

    return rows


def chosen_start(settings: Settings) -> Iterator[Row]:
    """A Phantom who sees the detectives' starts chooses his own well: no loss in round 1."""
    cell = join(cells_of(settings, "random", "pursuit_belief", "detectives_first"))
    what = "random detectives v. belief Phantom who sees their starts, detectives win, %"
    yield rate_row(what, cell, published=12.0, wanted=(0.0, 7.7))
    games, lost = len(cell.is_won), int(cell.is_first.sum())
    yield Row("games that he lost in round 1", lost, games=games, wanted=(0, 0))
    blind = join(cells_of(settings, "random", "pursuit_belief"))
    floor = 100 * np.mean([5 / len(named_board(board).nodes) for board in MAPS])
    note = f"with blind starts 5 / places = {floor:.1f} are lost whatever he does"
    yield rate_row("the same with blind starts", blind, note=note)


def quicker(settings: Settings) -> Iterator[Row]:
    """Belief detectives against the random Phantom: as certain, and sooner."""
    for detectives in ("pursuit_heuristic", "pursuit_belief"):
        cell = join(cells_of(settings, detectives, "random"))
        rounds = cell.rounds[cell.is_won]
        who = f"{SHORT[detectives]} detectives v. random Phantom"
        yield rate_row(f"{who}, detectives win, %", cell, wanted=(97.5, 100.0))
        error = 1.96 * rounds.std(ddof=1) / np.sqrt(len(rounds))
        mean = Interval(rounds.mean(), rounds.mean() - error, rounds.mean() + error)
        yield Row.of(f"{who}, mean round of a win", mean, games=len(rounds))


HEURISTIC, BELIEF = "pursuit_heuristic", "pursuit_belief"
GROUPS: dict[str, Group] = {
    "R1": pairing("random", HEURISTIC, 12.0, (7.7, 18.2)),
    "R2": pairing(HEURISTIC, "random", 100.0, (97.5, 100.0)),
    "M1": pairing(HEURISTIC, HEURISTIC, None, (61.0, 86.0)),
    "M2": pairing("random", "random", None, (71.0, 88.0)),
    "R1+": chosen_start,
    "R2+": quicker,
    "B1": ahead(
        "belief detectives ahead of heuristic ones, against the heuristic Phantom",
        (BELIEF, HEURISTIC),
        (HEURISTIC, HEURISTIC),
    ),
    "B2": ahead(
        "belief Phantom ahead of the heuristic one, against heuristic detectives",
        (HEURISTIC, BELIEF),
        (HEURISTIC, HEURISTIC),
    ),
    "B3": ahead(
        "belief Phantom ahead of the heuristic one, against belief detectives",
        (BELIEF, BELIEF),
        (BELIEF, HEURISTIC),
    ),
    "B4": ahead(
        "detectives with capture tables ahead of belief ones, against the belief Phantom",
        (CAPTURE, BELIEF),
        (BELIEF, BELIEF),
    ),
    "B5": ahead(
        "the same against the heuristic Phantom", (CAPTURE, HEURISTIC), (BELIEF, HEURISTIC)
    ),
    "B6": ahead(
        "Phantom with foresight ahead of the belief one, against belief detectives",
        (BELIEF, FORESIGHT),
        (BELIEF, BELIEF),
    ),
    "B7": ahead(
        "the same against heuristic detectives", (HEURISTIC, FORESIGHT), (HEURISTIC, BELIEF)
    ),
    "B8": ahead(
        "the same against detectives with capture tables", (CAPTURE, FORESIGHT), (CAPTURE, BELIEF)
    ),
}
"""By id: what a thesis reports (R), what it leaves out (M), and what beats it (R+, B)."""
