"""R1 to R12: what the thesis reports of alpha-beta, and what can be learnt of it by heart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from common.statistics import mean_interval
from experiments.runner import Group, Row, Settings
from experiments.scotland_yard.reduced.evaluation import AlphaBetaSettings
from experiments.scotland_yard.reduced.graph import TeamGraph
from experiments.scotland_yard.reduced.response import BestResponse
from experiments.scotland_yard.reduced.search import plan_table
from experiments.scotland_yard.tables import (
    EXACT,
    PUBLISHED,
    READING,
    VERSIONS,
    WANTED,
    Plans,
    plans_of,
    play,
    reduced,
    replies_of,
    solved,
)

__all__ = [
    "corner_rows",
    "cycle_rows",
    "gain_rows",
    "length_rows",
    "order_rows",
    "response_rows",
    "version_rows",
]


def version_rows(id: str, version: str) -> Group:
    """Win rate and length of one version, and of the solver against the same fugitive."""

    def rows(_settings: Settings) -> Iterator[Row]:
        games = play(plans_of(version), replies_of())
        rate, length = PUBLISHED[version]
        yield Row(
            id,
            f"detectives {version} win, %",
            round(100 * games.win_rate, 2),
            games=len(games.starts),
            published=rate,
            wanted=WANTED[version],
            note=EXACT,
        )
        yield Row(
            id,
            f"mean rounds of a game that {version} wins",
            round(games.mean_length, 2),
            published=length,
        )
        if id == "R4":
            best = play(solved().plans, replies_of())
            rate = round(100 * best.win_rate, 2)
            yield Row(id, "certain-win detectives win, %", rate, wanted=(100.0, 100.0))
            length = round(best.mean_length, 2)
            yield Row(id, "their mean rounds", length, wanted=(None, 5.3), note="better than v4")

    return rows


def order_rows(settings: Settings) -> Iterator[Row]:
    """R5: which version is ahead of which, over orders of trying and over fugitives."""
    orders = [("compass", 0), ("numbers", 0), *(("shuffled", seed) for seed in range(4))]
    gaps, holds = [], 0
    for try_order, seed in orders:
        replies = replies_of("v4", 1, try_order, settings.seed + seed)
        rates = {
            v: 100 * play(plans_of(v, try_order, settings.seed + seed), replies).win_rate
            for v in VERSIONS
        }
        shown = ", ".join(f"{v} {rate:.1f}" for v, rate in rates.items())
        gap = (rates["v1"] + rates["v4"] - rates["v2"] - rates["v3"]) / 2
        gaps.append(gap)
        holds += rates["v1"] >= rates["v4"] > rates["v3"] > rates["v2"]
        words = f"both counted minus nearer only, points, {try_order} {seed or ''}".rstrip()
        yield Row("R5", words, round(gap, 2), wanted=(0.0, None), note=shown)
    mean = mean_interval(gaps)
    yield Row.of("R5", "mean of these over the orders", mean, wanted=(0.0, None))
    words = f"orders of {len(orders)} in which v1 >= v4 > v3 > v2 holds"
    yield Row("R5", words, holds, published="holds")
    for fugitive in VERSIONS:
        replies = replies_of(fugitive)
        for version in VERSIONS:
            games = play(plans_of(version), replies)
            rate = round(100 * games.win_rate, 2)
            yield Row("R5", f"detectives {version} v. Mr. X who minimises {fugitive}, win, %", rate)


def gain_rows(settings: Settings) -> Iterator[Row]:
    """R6: what leaving out the depth from distances is worth."""
    exact = [100 * play(plans_of(v), replies_of()).win_rate for v in ("v2", "v3")]
    yield Row("R6", "v3 - v2, points, the reading", round(exact[1] - exact[0], 2), published=9.0)
    gains = []
    for seed in range(8):
        replies = replies_of("v4", 1, "shuffled", settings.seed + seed)
        v2, v3 = (
            100 * play(plans_of(v, "shuffled", settings.seed + seed), replies).win_rate
            for v in ("v2", "v3")
        )
        gains.append(v3 - v2)
    interval = mean_interval(gains)
    note = "noise: the interval holds 0" if not interval.excludes(0.0) else "differs from 0"
    yield Row.of("R6", "v3 - v2, points, mean over 8 shuffled orders", interval, note=note)


def length_rows(_settings: Settings) -> Iterator[Row]:
    """R7: when the catch comes."""
    for name, plans in [*((v, plans_of(v)) for v in VERSIONS), ("certain win", solved().plans)]:
        games = play(plans, replies_of())
        rounds = games.rounds[games.is_won]
        shares = ", ".join(
            f"by {last}: {100 * (rounds <= last).mean():.0f} %" for last in (3, 6, 9)
        )
        mean = round(float(rounds.mean()), 2)
        yield Row("R7", f"mean round of a catch, {name}", mean, published=6.0, note=shares)


def response_rows(id: str, version: str, published: str) -> Group:
    """R8 to R10: what a fugitive gets who knows the plans, in place of people who learn them."""

    def rows(_settings: Settings) -> Iterator[Row]:
        response = BestResponse(reduced(), plans_of(version)[None])
        yield Row(
            id,
            f"best response escapes from {version}, % of starts",
            round(100 * response.survival, 2),
            published=published,
            wanted=(60.0, 75.0),
            note=EXACT,
        )
        if id == "R10":
            certain = BestResponse(reduced(), solved().plans[None])
            own = round(100 * certain.survival, 2)
            yield Row(
                id, "best response escapes from certain-win detectives, %", own, wanted=(0, 0)
            )
            yield from _drawn_rows(id)

    return rows


def _drawn_rows(id: str) -> Iterator[Row]:
    """How exploitability falls when detectives draw one of several plans that are equally good."""
    graph = reduced()
    tables = []
    for seed in range(16):
        drawn = {**READING, "version": "v4", "ties": "random"}
        tables.append(plan_table(graph, AlphaBetaSettings.parse(drawn), seed=seed))
    for number in (1, 2, 4, 8, 16):
        response = BestResponse(graph, np.stack(tables[:number]))
        words = f"best response escapes from v4 that draws among {number} tables of equal plans, %"
        yield Row(id, words, round(100 * response.survival, 2))


def corner_rows(_settings: Settings) -> Iterator[Row]:
    """R11: where he is caught."""
    graph = reduced()
    degrees = np.diff(graph.arrays.starts)
    for version in VERSIONS:
        games = play(plans_of(version), replies_of())
        ends = degrees[games.places[games.is_won]]
        shares = [100 * float((ends == degree).mean()) for degree in (2, 3, 4)]
        note = f"border {shares[1]:.1f}, inside {shares[2]:.1f}; of cells 16, 48, 36"
        published = "in most games" if version == "v4" else None
        words = f"catches of {version} in a corner, %"
        yield Row("R11", words, round(shares[0], 2), published=published, note=note)


def cycle_rows(_settings: Settings) -> Iterator[Row]:
    """R12: games that go round in circles."""
    graph = reduced()
    for version in VERSIONS:
        plans, replies = plans_of(version), replies_of()
        games = play(plans, replies)
        lost = games.starts[~games.is_won]
        cycles = [_cycle(graph, plans, replies, int(start)) for start in lost]
        share = 100 * sum(cycle > 0 for cycle in cycles) / len(games.starts)
        lengths = [cycle for cycle in cycles if cycle]
        note = f"{100 * len(lengths) / max(len(lost), 1):.1f} % of those he escapes from"
        if lengths:
            root = int(lost[int(np.argmax(np.array(cycles) > 0))])
            a, b = (int(place) + 1 for place in graph.arrays.places[root // graph.num_places])
            note += f", e.g. detectives on {a} and {b}, Mr. X on {root % graph.num_places + 1}"
        published = "for ever" if version == "v1" else None
        words = f"games of {version} in which a sighting repeats, %"
        yield Row("R12", words, round(share, 2), published=published, note=note)


def _cycle(graph: TeamGraph, plans: Plans, replies: Plans, root: int) -> int:
    """After how many rounds a sighting is the same as an earlier one; 0: never."""
    seen, number = {root: 0}, 0
    while number + graph.period <= graph.rounds:
        place = root % graph.num_places
        for step in range(graph.period):
            team = int(plans[root, step])
            place = int(replies[team * graph.num_places + place])
        number += graph.period
        root = team * graph.num_places + place
        if root in seen:
            return number - seen[root]
        seen[root] = number
    return 0
