"""The reading of the thesis, what it reports of alpha-beta by that, and what solvers add."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.games.pursuit.capture import capture_table
from arena.match import play_shown
from common.statistics import mean_interval, wilson
from envs import make_game
from envs.pursuit.tables import named_board
from experiments.runner import Group, Row, Settings
from experiments.scotland_yard.reduced.certain import CertainWins, certain_wins, solve_seen
from experiments.scotland_yard.reduced.graph import TeamGraph, team_graph
from experiments.scotland_yard.reduced.mixed import MixedPlay, exploitability
from experiments.scotland_yard.reduced.plans import (
    BestFugitive,
    Games,
    fugitive_anywhere,
    play_plans,
)
from experiments.scotland_yard.reduced.search import AlphaBetaSettings, fugitive_table, plan_table

# ---- the reading of the thesis -------------------------------------------------------------------


VERSIONS = ("v1", "v2", "v3", "v4")
READING = {"plies": 5, "nodes": "after_fugitive", "try_order": "compass"}
FUGITIVE = {"version": "v4", "plies": 1, "try_order": "compass"}
PUBLISHED = {"v1": (92.0, 5.8), "v2": (65.0, 6.4), "v3": (74.0, 6.3), "v4": (89.0, 6.7)}
WANTED = {"v1": (85.0, 95.9), "v2": (55.3, 73.6), "v3": (64.6, 81.6), "v4": (81.4, 93.7)}
"""Wilson intervals of what was published, from 100 games each."""
EXACT = "exact, all 13,800 starts"
Plans = npt.NDArray[np.int32]


def reduced(**options: int) -> TeamGraph:
    """The board of the thesis."""
    return team_graph(make_game("scotland_yard_v0", "reduced", **options))


@lru_cache(maxsize=64)
def plans_of(version: str, try_order: str = "compass", seed: int = 0) -> Plans:
    """The plans of a version."""
    game = make_game("scotland_yard_v0", "reduced")
    graph = team_graph(game, try_order, "steps", seed)
    own = {**READING, "version": version, "try_order": try_order, "seed": seed}
    return plan_table(graph, AlphaBetaSettings.parse(own))


@lru_cache(maxsize=64)
def replies_of(
    version: str = "v4", plies: int = 1, try_order: str = "compass", seed: int = 0
) -> Plans:
    """The moves of a fugitive."""
    game = make_game("scotland_yard_v0", "reduced")
    graph = team_graph(game, try_order, "steps", seed)
    own = {**FUGITIVE, "version": version, "plies": plies, "try_order": try_order, "seed": seed}
    return fugitive_table(graph, AlphaBetaSettings.parse(own))


def solved() -> CertainWins:
    """The certain wins of the board."""
    return certain_wins(reduced())


def play(plans: Plans, replies: Plans) -> Games:
    """All starts."""
    return play_plans(reduced(), plans, replies)


def won(plans: Plans, replies: Plans) -> float:
    """All starts that the detectives win, in %."""
    return 100 * play(plans, replies).win_rate


def escaped(*plans: Plans) -> float:
    """Starts from which the best response escapes from plans, or from a draw of them, in %."""
    return round(100 * BestFugitive(reduced(), np.stack(plans)).survival, 2)


# ---- R1 to R12: alpha-beta, and what can be learnt of it by heart --------------------------------


def version_rows(version: str) -> Group:
    """Win rate and length of one version, and of the solver against the same fugitive."""

    def rows(_settings: Settings) -> Iterator[Row]:
        games = play(plans_of(version), replies_of())
        rate, length = PUBLISHED[version]
        yield Row(
            f"detectives {version} win, %",
            round(100 * games.win_rate, 2),
            games=len(games.starts),
            published=rate,
            wanted=WANTED[version],
            note=EXACT,
        )
        what = f"mean rounds of a game that {version} wins"
        yield Row(what, round(games.mean_length, 2), published=length)
        if version == "v4":
            best = play(solved().plans, replies_of())
            rate = round(100 * best.win_rate, 2)
            yield Row("certain-win detectives win, %", rate, wanted=(100.0, 100.0))
            length = round(best.mean_length, 2)
            yield Row("their mean rounds", length, wanted=(None, 5.3), note="better than v4")

    return rows


def order_rows(settings: Settings) -> Iterator[Row]:
    """R5: which version is ahead of which, over orders of trying and over fugitives."""
    orders = [("compass", 0), ("numbers", 0), *(("shuffled", seed) for seed in range(4))]
    gaps, holds = [], 0
    for try_order, seed in orders:
        replies = replies_of("v4", 1, try_order, settings.seed + seed)
        rates = {v: won(plans_of(v, try_order, settings.seed + seed), replies) for v in VERSIONS}
        shown = ", ".join(f"{v} {rate:.1f}" for v, rate in rates.items())
        gap = (rates["v1"] + rates["v4"] - rates["v2"] - rates["v3"]) / 2
        gaps.append(gap)
        holds += rates["v1"] >= rates["v4"] > rates["v3"] > rates["v2"]
        words = f"both counted minus nearer only, points, {try_order} {seed or ''}".rstrip()
        yield Row(words, round(gap, 2), wanted=(0.0, None), note=shown)
    mean = mean_interval(gaps)
    yield Row.of("mean of these over the orders", mean, wanted=(0.0, None))
    words = f"orders of {len(orders)} in which v1 >= v4 > v3 > v2 holds"
    yield Row(words, holds, published="holds")
    for fugitive in VERSIONS:
        replies = replies_of(fugitive)
        for version in VERSIONS:
            rate = round(won(plans_of(version), replies), 2)
            yield Row(f"detectives {version} v. Mr. X who minimises {fugitive}, win, %", rate)


def gain_rows(settings: Settings) -> Iterator[Row]:
    """R6: what leaving out the depth from distances is worth."""
    exact = [won(plans_of(v), replies_of()) for v in ("v2", "v3")]
    yield Row("v3 - v2, points, the reading", round(exact[1] - exact[0], 2), published=9.0)
    gains = []
    for seed in range(8):
        replies = replies_of("v4", 1, "shuffled", settings.seed + seed)
        v2, v3 = (won(plans_of(v, "shuffled", settings.seed + seed), replies) for v in ("v2", "v3"))
        gains.append(v3 - v2)
    interval = mean_interval(gains)
    note = "noise: the interval holds 0" if not interval.excludes(0.0) else "differs from 0"
    yield Row.of("v3 - v2, points, mean over 8 shuffled orders", interval, note=note)


def length_rows(_settings: Settings) -> Iterator[Row]:
    """R7: when the catch comes."""
    for name, plans in [*((v, plans_of(v)) for v in VERSIONS), ("certain win", solved().plans)]:
        games = play(plans, replies_of())
        rounds = games.rounds[games.is_won]
        shares = ", ".join(
            f"by {last}: {100 * (rounds <= last).mean():.0f} %" for last in (3, 6, 9)
        )
        mean = round(float(rounds.mean()), 2)
        yield Row(f"mean round of a catch, {name}", mean, published=6.0, note=shares)


def response_rows(version: str, published: str) -> Group:
    """R8 to R10: what a fugitive gets who knows the plans, in place of people who learn them."""

    def rows(_settings: Settings) -> Iterator[Row]:
        yield Row(
            f"best response escapes from {version}, % of starts",
            escaped(plans_of(version)),
            published=published,
            wanted=(60.0, 75.0),
            note=EXACT,
        )
        if version == "v4":
            what = "best response escapes from certain-win detectives, %"
            yield Row(what, escaped(solved().plans), wanted=(0, 0))
            yield from _drawn_rows()

    return rows


def _drawn_rows() -> Iterator[Row]:
    """How exploitability falls when detectives draw one of several plans that are equally good."""
    graph = reduced()
    tables = []
    for seed in range(16):
        drawn = {**READING, "version": "v4", "ties": "random"}
        tables.append(plan_table(graph, AlphaBetaSettings.parse(drawn), seed=seed))
    for number in (1, 2, 4, 8, 16):
        words = f"best response escapes from v4 that draws among {number} tables of equal plans, %"
        yield Row(words, escaped(*tables[:number]))


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
        yield Row(words, round(shares[0], 2), published=published, note=note)


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
        yield Row(words, round(share, 2), published=published, note=note)


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


# ---- S, L, C, D: what no player can beat, short games, capture tables of the city ----------------


def solver_rows(_settings: Settings) -> Iterator[Row]:
    """S: what no player can beat."""
    graph = reduced()
    seen = solve_seen(graph)[0][graph.is_start]
    shown = ", ".join(str(count) for count in np.bincount(seen)[1:])
    yield Row("always seen: most rounds to a catch", int(seen.max()), wanted=(7, 7),
              note=f"starts by rounds: {shown}")  # fmt: skip
    for period, wanted in ((3, 12), (2, 11)):
        other = reduced(reveals=period)
        rounds = certain_wins(other).rounds[other.is_start]
        counts = zip(*np.unique(rounds, return_counts=True), strict=True)
        found = ", ".join(f"{number}: {count}" for number, count in counts)
        words = f"seen at every {period}. move: most rounds to a certain catch"
        yield Row(words, int(rounds.max()), wanted=(wanted, wanted),
                  note=f"mean {rounds.mean():.3f}; {found}")  # fmt: skip
    promised = solved().rounds[graph.is_start]
    opponents = {
        "random": fugitive_anywhere(graph),
        "v4, 1 ply": replies_of(),
        "v4, 3 plies": replies_of("v4", 3),
        "danger, 3 plies": replies_of("danger", 3),
    }
    for name, replies in opponents.items():
        games = play(solved().plans, replies)
        is_kept = bool((games.rounds <= promised).all() and games.is_won.all())
        note = (
            f"mean {games.mean_length:.2f} rounds; every promise {'kept' if is_kept else 'BROKEN'}"
        )
        rate = round(100 * games.win_rate, 2)
        yield Row(f"certain-win detectives v. {name}, win, %", rate, wanted=(100, 100),
                  note=note)  # fmt: skip


def capture_rows(_settings: Settings) -> Iterator[Row]:
    """C: capture tables of the board with 200 stations, the fugitive always seen."""
    for num_detectives in (1, 2, 3):
        begun = time.perf_counter()
        table = capture_table(named_board("city"), num_detectives)
        seconds = time.perf_counter() - begun
        note = f"{table.num_bytes / 1e6:,.1f} MB, {seconds:.1f} s on a machine that others used too"
        words = f"{num_detectives} on 200 stations: positions from which he is caught, %"
        share = round(100 * table.share_lost, 3)
        yield Row(words, share, games=table.num_positions, note=note)
        words = f"{num_detectives} on 200 stations: most rounds to a catch"
        counts = ", ".join(f"{count:,}" for count in table.counts)
        yield Row(words, len(table.counts), note=f"positions by rounds: {counts}")


def city_rows(settings: Settings) -> Iterator[Row]:
    """D: what capture tables are worth in the original game on 200 stations."""
    game = make_game("scotland_yard_v0")
    games = settings.games(2000)
    for fugitive in ("pursuit_heuristic", "pursuit_belief"):
        for detectives in ("pursuit_heuristic", "pursuit_belief", "pursuit_capture"):
            agents = [make_agent(fugitive, game), make_agent(detectives, game)]
            won = play_shown(game, agents, games, seed=settings.seed).returns[:, 1] > 0
            words = f"original game: {detectives} v. {fugitive} as Mr. X, detectives win, %"
            yield Row.of(words, wilson(int(won.sum()), games).times(100), games=games)


def mixed_rows(_settings: Settings) -> Iterator[Row]:
    """L: short games, in which both sides must mix, and what can be gained against the mixture."""
    wanted = {2: 28.9, 5: 63.4, 8: 93.9, 11: 99.5, 14: 100.0}
    mixed = MixedPlay(reduced())
    for rounds, goal in wanted.items():
        found = mixed.values(rounds)
        rate = round(100 * found.win_rate(reduced()), 2)
        words = f"{rounds} rounds, best mixed play of both: detectives win, %"
        note = f"{found.num_programmes} linear programmes"
        yield Row(words, rate, wanted=(goal - 0.1, goal + 0.1), note=note)
        for side, gain in zip(("Mr. X", "detectives"), exploitability(mixed, rounds), strict=True):
            words = f"{rounds} rounds: what the best {side} gain against pursuit_mixed, points"
            yield Row(words, round(100 * gain, 4), wanted=(-0.001, 0.001), note=EXACT)
