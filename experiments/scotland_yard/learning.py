"""R13 to R20: Q-learning, which the thesis reports as a failure, and its remedies."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from common.statistics import mean_interval
from experiments.runner import Row, Settings
from experiments.scotland_yard.reduced.graph import board_symmetries, find_symmetry, num_classes
from experiments.scotland_yard.reduced.learning import (
    FugitiveLearner,
    PieceLearner,
    QSettings,
    TeamLearner,
)
from experiments.scotland_yard.reduced.plans import fugitive_anywhere
from experiments.scotland_yard.tables import (
    VERSIONS,
    WANTED,
    Plans,
    escaped,
    plans_of,
    play,
    reduced,
    replies_of,
    solved,
    won,
)

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


def rates_of(games: int, settings: Settings, num_seeds: int, **more: object) -> list[float]:
    """What tables that are learnt with these seeds win, in %."""
    replies = replies_of("v4", 3)
    seeds = range(settings.seed, settings.seed + num_seeds)
    return [won(learnt(games, seed, replies, **more).plans(), replies) for seed in seeds]  # type: ignore[arg-type]


def rate_rows(
    words: str, games: int, settings: Settings, wanted: object = None, **more: object
) -> Row:
    """The mean over five seeds of what the learnt table wins."""
    rates = rates_of(games, settings, 5, **more)
    return Row.of(words, mean_interval(rates), games=games, wanted=wanted)  # type: ignore[arg-type]


def learning_rows(settings: Settings) -> Iterator[Row]:
    """R13: the learner that failed, and one that does not."""
    for games, low in ((1_000, None), (10_000, 80.0), (100_000, 97.0), (1_000_000, 99.0)):
        wanted = None if low is None else (low, None)
        words = "Q-learning detectives, greedy, win, % (5 seeds)"
        row = rate_rows(words, settings.games(games), settings, wanted)
        yield Row(**{**vars(row), "published": "no learning" if games == 100_000 else None})
    few = settings.games(10_000), settings, (80.0, None)
    yield rate_rows("the same, symmetries, % (5 seeds)", *few, symmetry="exchange")
    for credit, words in (("sweep", "learnt backward"), ("result", "all learn the result")):
        words = f"the same, {words} when a game is over, % (5 seeds)"
        yield rate_rows(words, *few, credit=credit)
    replies = fugitive_anywhere(reduced())
    table = learnt(settings.games(100_000), settings.seed, replies).plans()
    random = round(won(table, replies), 2)
    yield Row("the same against a random Mr. X, %", random, games=settings.games(100_000))
    table = learnt(settings.games(100_000), settings.seed, replies_of("v4", 3)).plans()
    yield Row("best response escapes from the learnt table, %", escaped(table))


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
        rate = won(learner.plans(), replies)
        used, length = curve[:, 2].mean(), curve[:, 0].mean()
        note = f"of {length:.1f} moves a game; the table then wins {rate:.1f} %"
        words = f"learnt actions used a game, last 1,000 of {games:,}, {name}"
        yield Row(words, round(float(used), 2), games=games, published="2 to 4", note=note)


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
    yield Row(words, round(seconds, 1), games=games, published="6 to 8 h", wanted=(0, 60),
              note=note)  # fmt: skip
    rate = round(won(learner.plans(), replies), 2)
    yield Row("what they then win, %", rate, published="no success", wanted=(99.0, 100.0))


def games_needed(settings: Settings, **more: object) -> tuple[int, list[float]]:
    """The fewest of ``PLANNED`` games after which three seeds win enough on average."""
    means: list[float] = []
    for games in PLANNED:
        means.append(float(np.mean(rates_of(games, settings, 3, **more))))
        if means[-1] >= NEEDED:
            return games, means
    return 0, means


def needed_row(name: str, settings: Settings, **more: object) -> Row:
    """Games needed, with what was won after each number."""
    games, means = games_needed(settings, **more)
    shown = ", ".join(
        f"{number:,}: {mean:.0f}" for number, mean in zip(PLANNED, means, strict=False)
    )
    return Row(f"games needed for {NEEDED:g} % wins, {name}", games, note=f"% by games: {shown}")


def symmetry_rows(settings: Settings) -> Iterator[Row]:
    """R16: remedy 1."""
    graph = reduced()
    cells = len(np.unique(np.array(board_symmetries(graph.board, False)).min(axis=0)))
    saved = 100 * (1 - cells / 25)
    yield Row("cells saved by turning the board, %", saved, published="70", wanted=(72, 72))
    for kind, wanted in (("rotations", 75.0), ("reflections", 87.28), ("exchange", 93.45)):
        number = num_classes(graph, find_symmetry(graph, kind))
        saved = round(100 * (1 - number / 13_800), 2)
        words = f"positions saved, {kind}, %"
        yield Row(words, saved, wanted=(wanted, wanted), note=f"{number:,} of 13,800 left")
    for kind in ("none", "rotations", "exchange"):
        yield needed_row(f"symmetry {kind}", settings, symmetry=kind)


def piece_rows(settings: Settings) -> Iterator[Row]:
    """R17: remedy 2."""
    games = settings.games(100_000)
    yield rate_rows("two learners, one table, win, % (5 seeds)", games, settings,
                    is_by_piece=True)  # fmt: skip
    yield rate_rows("one learner for both, win, % (5 seeds)", games, settings)
    yield needed_row("two learners, one table", settings, is_by_piece=True)


def sighting_rows(settings: Settings) -> Iterator[Row]:
    """R18: remedy 3."""
    for reward in (0.0, 0.01, 0.05, 0.2):
        name = f"{reward:g} taken off for a step at sightings"
        yield needed_row(name, settings, sighting_reward=reward)
    for credit in ("sweep", "result"):
        yield needed_row(f"credit {credit} instead", settings, credit=credit)


def fugitive_against(plans: Plans, settings: Settings) -> FugitiveLearner:
    """A fugitive after a million games against these plans."""
    total = settings.games(1_000_000)
    learner = FugitiveLearner(reduced(), QSettings(), plans, total, settings.seed)
    learner.learn(total)
    return learner


def degree_rows(settings: Settings) -> Iterator[Row]:
    """R19: none, one or both of the sides learnt."""
    replies, searched = replies_of("v4", 3), plans_of("v4")
    table = learnt(settings.games(300_000), settings.seed, replies).plans()
    fugitive, rival = (fugitive_against(plans, settings) for plans in (searched, table))
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
        yield Row(f"{words}, detectives win, %", rate, games=len(games.starts), note=note)
    certain = round(100 * rival.play(solved().plans).win_rate, 2)
    yield Row("certain-win detectives v. that Mr. X, %", certain, wanted=(100.0, 100.0))


def survival_rows(settings: Settings) -> Iterator[Row]:
    """R20: Mr. X against each version: the one of the thesis, the best, and one who learns."""
    total = settings.games(1_000_000)
    for version, published in zip(VERSIONS, (8.0, 35.0, 26.0, 11.0), strict=True):
        plans = plans_of(version)
        own = round(100 * (1 - play(plans, replies_of()).win_rate), 2)
        low, high = WANTED[version]
        wanted = (round(100 - high, 1), round(100 - low, 1))
        yield Row(f"Mr. X v4 survives {version}, %", own, published=published, wanted=wanted)
        best = escaped(plans)
        reached = round(100 * (1 - fugitive_against(plans, settings).play().win_rate), 2)
        what = f"learnt Mr. X survives {version}, %"
        yield Row(
            what, reached, games=total, wanted=(best - 2.0, best), note=f"best response {best:g}"
        )
