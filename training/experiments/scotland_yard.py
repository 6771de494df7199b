"""The reduced game of Scotland Yard: what a thesis reports, over all 13,800 starts, and beyond.

Both sides of a pairing are tables (``agents/games/pursuit/reduced``), so every start is played once
and rates are exact: no interval is given where nothing was sampled. The reading of the thesis that
all rows use unless they say otherwise is ``READING``: trees of five plies, nodes after the
fugitive's moves and catches summed, moves tried up, down, right, left, and a fugitive who looks at
his own next move with version 4.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.games.pursuit.capture import capture_table
from agents.games.pursuit.reduced.certain import CertainWins, certain_wins
from agents.games.pursuit.reduced.evaluation import AlphaBetaSettings
from agents.games.pursuit.reduced.graph import TeamGraph, team_graph
from agents.games.pursuit.reduced.learning import QSettings, TeamLearner
from agents.games.pursuit.reduced.mixed import mixed_values
from agents.games.pursuit.reduced.plans import Games, fugitive_anywhere, play_plans
from agents.games.pursuit.reduced.response import BestResponse
from agents.games.pursuit.reduced.rivals import FugitiveLearner, PieceLearner
from agents.games.pursuit.reduced.search import fugitive_table, plan_table
from agents.games.pursuit.reduced.symmetry import board_symmetries, find_symmetry, num_classes
from agents.games.pursuit.reduced.visible import rounds_to_win
from arena.playing.match import play_match
from envs import make_game
from envs.core.statistics import mean_interval, wilson
from envs.pursuit.pool import named_board
from training.reproduce import Group, Row, Settings

__all__ = ["GROUPS", "READING"]

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
def plans_of(version: str, try_order: str = "compass", seed: int = 0, nodes: str = "") -> Plans:
    """The plans of a version."""
    game = make_game("scotland_yard_v0", "reduced")
    reading = {**READING, "try_order": try_order} | ({"nodes": nodes} if nodes else {})
    graph = team_graph(game, try_order, "steps", seed)
    return plan_table(graph, AlphaBetaSettings.parse({**reading, "version": version, "seed": seed}))


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


# ---- Table 5.1 -----------------------------------------------------------------------------------


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


# ---- Q-learning ----------------------------------------------------------------------------------

NEEDED = 90.0
"""% of all starts; how many games are needed for that?"""
PLANNED = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)


def learnt(
    games: int, seed: int, replies: Plans, is_by_piece: bool = False, **settings: object
) -> TeamLearner | PieceLearner:
    """Detectives after so many games, planned from the start."""
    kind = PieceLearner if is_by_piece else TeamLearner
    learner = kind(reduced(), QSettings.parse(settings), replies, games, seed)
    for _ in range(0, games, 100_000):
        learner.learn(min(games, 100_000))
    return learner


def rate_rows(
    id: str, words: str, games: int, settings: Settings, wanted: object = None, **more: object
) -> Row:
    """The mean over five seeds of what the learnt table wins."""
    replies = replies_of("v4", 3)
    rates = [
        100 * play(learnt(games, settings.seed + k, replies, **more).plans(), replies).win_rate  # type: ignore[arg-type]
        for k in range(5)
    ]
    return Row.of(id, words, mean_interval(rates), games=games, wanted=wanted)  # type: ignore[arg-type]


def learning_rows(settings: Settings) -> Iterator[Row]:
    """R13: the learner that failed, and one that does not."""
    for games, low in ((1_000, None), (10_000, 80.0), (100_000, 97.0), (1_000_000, 99.0)):
        wanted = None if low is None else (low, None)
        words = "Q-learning detectives, greedy, win, % (5 seeds)"
        row = rate_rows("R13", words, settings.games(games), settings, wanted)
        yield Row(**{**vars(row), "published": "no learning" if games == 100_000 else None})
    words = "the same with all symmetries, % (5 seeds)"
    row = rate_rows(
        "R13", words, settings.games(10_000), settings, (80.0, None), symmetry="exchange"
    )
    yield row
    replies = fugitive_anywhere(reduced())
    table = learnt(settings.games(100_000), settings.seed, replies).plans()
    random = round(100 * play(table, replies).win_rate, 2)
    yield Row("R13", "the same against a random Mr. X, %", random, games=settings.games(100_000))
    table = learnt(settings.games(100_000), settings.seed, replies_of("v4", 3)).plans()
    own = round(100 * BestResponse(reduced(), table[None]).survival, 2)
    yield Row("R13", "best response escapes from the learnt table, %", own)


def threshold_rows(settings: Settings) -> Iterator[Row]:
    """R14: how often learnt actions are used, with the rule of the thesis and with epsilon."""
    games, replies = settings.games(100_000), replies_of("v4", 3)
    rules: list[tuple[str, dict[str, object]]] = [
        (f"threshold {theta:g}", {"exploration": "threshold", "threshold": theta, "epsilon": 0.5,
                                  "epsilon_end": 0.5})
        for theta in (0.0, 0.5, 1.0, 2.0)
    ]  # fmt: skip
    for name, rule in [*rules, ("epsilon-greedy", {})]:
        learner = TeamLearner(reduced(), QSettings.parse(rule), replies, games, settings.seed)
        curve = learner.learn(games)[-1000:]
        rate = 100 * play(learner.plans(), replies).win_rate
        used, length = curve[:, 2].mean(), curve[:, 0].mean()
        note = f"of {length:.1f} moves a game; the table then wins {rate:.1f} %"
        words = f"learnt actions used a game, last 1,000 of {games:,}, {name}"
        yield Row("R14", words, round(float(used), 2), games=games, published="2 to 4", note=note)


def speed_rows(settings: Settings) -> Iterator[Row]:
    """R15: how long a million games take."""
    games, replies = settings.games(1_000_000), replies_of("v4", 3)
    learner = TeamLearner(reduced(), QSettings(), replies, games, settings.seed)
    learner.learn(10)
    begun = time.perf_counter()
    for _ in range(0, games, 100_000):
        learner.learn(min(games, 100_000))
    seconds = time.perf_counter() - begun
    note = f"{games / seconds:,.0f} games/s on a machine that others used too"
    words = "seconds for the games, detectives"
    yield Row("R15", words, round(seconds, 1), games=games, published="6 to 8 h", wanted=(0, 60),
              note=note)  # fmt: skip
    rate = round(100 * play(learner.plans(), replies).win_rate, 2)
    yield Row("R15", "what they then win, %", rate, published="no success", wanted=(99.0, 100.0))


def games_needed(settings: Settings, **more: object) -> tuple[int, list[float]]:
    """The fewest of ``PLANNED`` games after which three seeds win enough on average."""
    replies, means = replies_of("v4", 3), []
    for games in PLANNED:
        rates = [
            100 * play(learnt(games, settings.seed + k, replies, **more).plans(), replies).win_rate  # type: ignore[arg-type]
            for k in range(3)
        ]
        means.append(float(np.mean(rates)))
        if means[-1] >= NEEDED:
            return games, means
    return 0, means


def needed_row(id: str, name: str, settings: Settings, **more: object) -> Row:
    """Games needed, with what was won after each number."""
    games, means = games_needed(settings, **more)
    shown = ", ".join(
        f"{number:,}: {mean:.0f}" for number, mean in zip(PLANNED, means, strict=False)
    )
    return Row(
        id, f"games needed for {NEEDED:g} % wins, {name}", games, note=f"% by games: {shown}"
    )


def symmetry_rows(settings: Settings) -> Iterator[Row]:
    """R16: remedy 1."""
    graph = reduced()
    cells = len(np.unique(np.array(board_symmetries(graph.board, False)).min(axis=0)))
    saved = 100 * (1 - cells / 25)
    yield Row("R16", "cells saved by turning the board, %", saved, published="70", wanted=(72, 72))
    for kind, wanted in (("rotations", 75.0), ("reflections", 87.28), ("exchange", 93.45)):
        number = num_classes(graph, find_symmetry(graph, kind))
        saved = round(100 * (1 - number / 13_800), 2)
        words = f"positions saved, {kind}, %"
        yield Row("R16", words, saved, wanted=(wanted, wanted), note=f"{number:,} of 13,800 left")
    for kind in ("none", "rotations", "exchange"):
        yield needed_row("R16", f"symmetry {kind}", settings, symmetry=kind)


def piece_rows(settings: Settings) -> Iterator[Row]:
    """R17: remedy 2."""
    games = settings.games(100_000)
    yield rate_rows("R17", "two learners, one table, win, % (5 seeds)", games, settings,
                    is_by_piece=True)  # fmt: skip
    yield rate_rows("R17", "one learner for both, win, % (5 seeds)", games, settings)
    yield needed_row("R17", "two learners, one table", settings, is_by_piece=True)


def sighting_rows(settings: Settings) -> Iterator[Row]:
    """R18: remedy 3."""
    for reward in (0.0, 0.01, 0.05, 0.2):
        name = f"{reward:g} taken off for a step at sightings"
        yield needed_row("R18", name, settings, sighting_reward=reward)
    for credit in ("sweep", "result"):
        yield needed_row("R18", f"credit {credit} instead", settings, credit=credit)


def degree_rows(settings: Settings) -> Iterator[Row]:
    """R19: none, one or both of the sides learnt."""
    graph, replies = reduced(), replies_of("v4", 3)
    searched = plans_of("v4")
    learner = learnt(settings.games(300_000), settings.seed, replies)
    table = learner.plans()
    total = settings.games(1_000_000)
    fugitive = FugitiveLearner(graph, QSettings(), searched, total, settings.seed)
    fugitive.learn(total)
    rival = FugitiveLearner(graph, QSettings(), table, total, settings.seed)
    rival.learn(total)
    rows = [
        ("none: alpha-beta v4 v. alpha-beta Mr. X", play(searched, replies)),
        ("detectives: learnt v. alpha-beta Mr. X", play(table, replies)),
        ("Mr. X: alpha-beta v4 v. learnt Mr. X", fugitive.play()),
        ("both, each against alpha-beta: learnt v. learnt", fugitive.play(table)),
        ("both, Mr. X last: learnt v. Mr. X who learnt against them", rival.play()),
    ]
    for words, games in rows:
        note = f"mean rounds of a win {games.mean_length:.2f}"
        rate = round(100 * games.win_rate, 2)
        yield Row("R19", f"{words}, detectives win, %", rate, games=len(games.starts), note=note)
    certain = round(100 * rival.play(solved().plans).win_rate, 2)
    yield Row("R19", "certain-win detectives v. that Mr. X, %", certain, wanted=(100.0, 100.0))


def survival_rows(settings: Settings) -> Iterator[Row]:
    """R20: Mr. X against each version: the one of the thesis, the best, and one who learns."""
    graph, total = reduced(), settings.games(1_000_000)
    for version, published in zip(VERSIONS, (8.0, 35.0, 26.0, 11.0), strict=True):
        plans = plans_of(version)
        own = round(100 * (1 - play(plans, replies_of()).win_rate), 2)
        low, high = WANTED[version]
        wanted = (round(100 - high, 1), round(100 - low, 1))
        yield Row("R20", f"Mr. X v4 survives {version}, %", own, published=published, wanted=wanted)
        best = round(100 * BestResponse(graph, plans[None]).survival, 2)
        learner = FugitiveLearner(graph, QSettings(), plans, total, settings.seed)
        learner.learn(total)
        reached = round(100 * (1 - learner.play().win_rate), 2)
        yield Row(
            "R20",
            f"learnt Mr. X survives {version}, %",
            reached,
            games=total,
            wanted=(best - 2.0, best),
            note=f"best response {best:g}",
        )


# ---- beyond --------------------------------------------------------------------------------------


def solver_rows(_settings: Settings) -> Iterator[Row]:
    """S: what no player can beat."""
    graph = reduced()
    seen = rounds_to_win(graph)[graph.is_start]
    shown = ", ".join(str(count) for count in np.bincount(seen)[1:])
    yield Row("S", "always seen: most rounds to a catch", int(seen.max()), wanted=(7, 7),
              note=f"starts by rounds: {shown}")  # fmt: skip
    for period, wanted in ((3, 12), (2, 11)):
        other = reduced(reveals=period)
        rounds = certain_wins(other).rounds[other.is_start]
        counts = zip(*np.unique(rounds, return_counts=True), strict=True)
        found = ", ".join(f"{number}: {count}" for number, count in counts)
        words = f"seen at every {period}. move: most rounds to a certain catch"
        yield Row("S", words, int(rounds.max()), wanted=(wanted, wanted),
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
        yield Row("S", f"certain-win detectives v. {name}, win, %", rate, wanted=(100, 100),
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
        yield Row("C", words, share, games=table.num_positions, note=note)
        words = f"{num_detectives} on 200 stations: most rounds to a catch"
        counts = ", ".join(f"{count:,}" for count in table.counts)
        yield Row("C", words, len(table.counts), note=f"positions by rounds: {counts}")


def city_rows(settings: Settings) -> Iterator[Row]:
    """D: what capture tables are worth in the original game on 200 stations."""
    game = make_game("scotland_yard_v0")
    games = settings.games(2000)
    for fugitive in ("pursuit_heuristic", "pursuit_belief"):
        for detectives in ("pursuit_heuristic", "pursuit_belief", "pursuit_capture"):
            agents = [make_agent(fugitive, game), make_agent(detectives, game)]
            won = play_match(game, agents, games, seed=settings.seed).returns[:, 1] > 0
            words = f"original game: {detectives} v. {fugitive} as Mr. X, detectives win, %"
            yield Row.of("D", words, wilson(int(won.sum()), games).times(100), games=games)


def mixed_rows(_settings: Settings) -> Iterator[Row]:
    """L: short games, in which both sides must mix."""
    wanted = {2: 28.9, 5: 63.4, 8: 93.9, 11: 99.5, 14: 100.0}
    for found in mixed_values(reduced(), 14):
        rate = round(100 * found.win_rate(reduced()), 2)
        goal = wanted[found.rounds]
        words = f"{found.rounds} rounds, best mixed play of both: detectives win, %"
        note = f"{found.num_programmes} linear programmes"
        yield Row("L", words, rate, wanted=(goal - 0.1, goal + 0.1), note=note)


GROUPS: dict[str, Group] = {
    "R1": version_rows("R1", "v1"),
    "R2": version_rows("R2", "v2"),
    "R3": version_rows("R3", "v3"),
    "R4": version_rows("R4", "v4"),
    "R5": order_rows,
    "R6": gain_rows,
    "R7": length_rows,
    "R8": response_rows("R8", "v1", "people: 90 after 20 games"),
    "R9": response_rows("R9", "v2", "people: weak spots known"),
    "R10": response_rows("R10", "v4", "people: no clear win"),
    "R11": corner_rows,
    "R12": cycle_rows,
    "R13": learning_rows,
    "R14": threshold_rows,
    "R15": speed_rows,
    "R16": symmetry_rows,
    "R17": piece_rows,
    "R18": sighting_rows,
    "R19": degree_rows,
    "R20": survival_rows,
    "S": solver_rows,
    "L": mixed_rows,
    "C": capture_rows,
    "D": city_rows,
}
"""R1 to R20: what the thesis reports. S: a solver. L: short games. C, D: capture tables."""
