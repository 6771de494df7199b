"""Strategies, whose files are made when they are first asked for, and what they win in matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.spec import AgentSpec
from common.statistics import mean_interval
from envs.no_thanks import NoThanks
from experiments.no_thanks.filling import Filling
from experiments.no_thanks.makers import FINAL_WEIGHTS, ONES, make_slices, make_strength
from experiments.no_thanks.matches import Match, PairedMatch, Strategy, compare_strategies
from experiments.no_thanks.tuning import make_fitted_slices
from experiments.runner import Row, Settings
from training.config import EvalSettings
from training.evaluation import evaluate
from training.missing import train_missing

KNOWN = NoThanks("known_future")
BEST = Strategy("no_thanks_slices")
"""The network that comes with the project, for known decks."""
BEST_HIDDEN = Strategy("no_thanks_value")
"""The one for hidden decks."""


def _folder(settings: Settings) -> Path:
    return settings.folder / "no_thanks"


def filling(settings: Settings) -> Filling:
    """As many processes as wanted; what is done is kept."""
    return Filling(settings.workers, None, _folder(settings) / "rows")


def file_of(
    settings: Settings,
    size: int,
    weights: Sequence[float] = ONES,
    kind: str = "nearest",
    seed: int = 0,
    **more: Any,
) -> Path:
    """A file of slices: a database with ``weights``, a ``fitted`` one, or a model."""
    told = "-".join([kind, str(size), *(f"{w:g}" for w in weights), str(settings.seed + seed)])
    told += "".join(f"-{value}" for value in more.values())
    path = _folder(settings) / f"{told}.npz"
    if not path.exists():
        game, chance = NoThanks(), settings.seed + seed
        rows = filling(settings)
        if kind == "nearest":
            made: Any = make_slices(game, size, weights=weights, seed=chance, filling=rows, **more)
        elif kind == "fitted":
            made = make_fitted_slices(game, size, seed=chance, filling=rows, **more)
        else:
            hidden = 0 if kind == "regression" else 16
            made = make_strength(game, size, num_hidden=hidden, seed=chance, filling=rows, **more)
        made.save(path)
    return path


def database(
    settings: Settings, size: int, weights: Sequence[float] = ONES, **more: Any
) -> Strategy:
    """The published player with databases of ``size`` positions."""
    return Strategy("no_thanks_slices", {"path": str(file_of(settings, size, weights, **more))})


def final(settings: Settings, size: int = 1000) -> Strategy:
    """The strategy that the thesis ended with."""
    return database(settings, size, FINAL_WEIGHTS)


def compare(
    settings: Settings,
    one: Strategy,
    other: Strategy,
    num_games: int,
    game: NoThanks = KNOWN,
    is_rotated: bool = False,
) -> PairedMatch:
    """A mirrored comparison of about ``num_games`` games, scaled."""
    match = Match(game, one, other, settings.seed, is_rotated)
    decks = max(2, settings.games(num_games) // len(match.sides))
    return compare_strategies(match, decks, filling(settings))


POOL = {
    **{f"threshold {t}": Strategy("no_thanks_rule", {"threshold": t}) for t in (0, 4, 8, 12)},
    "ISMCTS, 500 simulations": Strategy("ismcts", {"iterations": 500}),
}
"""Nobody beats all the others by as much: strength is told against each of them."""
SLOW = frozenset({"ISMCTS, 500 simulations", "search to depth 8"})


def _place_row(words: str, found: PairedMatch, most: float | None = None) -> Row:
    """The mean place of the first side, and whether 2, which an equal has, can be excluded."""
    place = found.mean_place()
    told = "excludes 2" if place.excludes(2.0) else "does not exclude 2"
    scores = f"{found.mean_score().mean:.1f} : {found.mean_score(1).mean:.1f}"
    return Row.of(
        f"{words}: mean place",
        place,
        games=found.num_games,
        wanted=None if most is None else (None, most),
        note=f"interval {told}; scores {scores}",
    )


PRINTED_SEATS = {
    0: ("one final, two base", ("10 20 20", "18 15 17", "25 14 11")),
    3: ("one base, two final", ("19 17 14", "10 20 20", "23 17 10")),
}
"""Places of 50 games by seat, for two line-ups."""


def third_player(settings: Settings) -> Iterator[Row]:
    """E2: does the player after the single one fare worse, or is it the seat?"""
    base = database(settings, 1000)
    found = compare(settings, final(settings), base, 2100, is_rotated=True)
    games, places = found.num_games, found.places
    for line, (words, printed) in PRINTED_SEATS.items():
        for seat in range(3):
            what = f"{words}, seat {seat + 1}: mean place"
            counts = " ".join(str(count) for count in found.counts(line, seat))
            note = f"places {counts}; published of 50: {printed[seat]}"
            yield Row.of(what, found.seat_places(line, seat), games=len(places), note=note)
    for seat in range(3):
        what = f"seat {seat + 1}: mean place over all line-ups"
        yield Row.of(what, mean_interval(places[:, :, seat].mean(axis=1)), games=games)
    singles = [
        int(np.flatnonzero(np.bincount(side, minlength=2)[side] == 1)[0]) for side in found.sides
    ]
    own, after, before = (
        np.mean([places[:, line, (seat + k) % 3] for line, seat in enumerate(singles)], axis=0)
        for k in range(3)
    )
    what = "of an equal pair, seats rotated: place of the one after the single player "
    what += "less that of the one before him"
    note = "0: the published effect is the seat"
    yield Row.of(what, mean_interval(after - before), games=games, note=note)
    yield Row.of("place of the single player, seats rotated", mean_interval(own), games=games)


def final_against_base(settings: Settings) -> Iterator[Row]:
    """E8: the final strategy against the base, and better players against the final one."""
    found = compare(settings, final(settings), database(settings, 1000), 400)
    games = found.num_games
    what = "mean place of the final strategy against the base"
    yield Row.of(what, found.mean_place(), games=games, published=1.978, wanted=(1.9, 2.1))
    yield Row.of("its mean score", found.mean_score(), games=games, published=-78.58)
    yield Row.of("mean score of the base", found.mean_score(1), games=games, published=-79.31)
    others = {
        "gains in place of results": database(settings, 1000, stored="gains"),
        "weights fitted a slice": database(settings, 400, kind="fitted"),
        "regression": database(settings, 1000, kind="regression"),
        "network": BEST,
        "threshold 12, no search": POOL["threshold 12"],
    }
    for name, strategy in others.items():
        number = 1200 if strategy is BEST else 400
        found = compare(settings, strategy, final(settings), number, is_rotated=True)
        most = 1.85 if strategy is BEST else None
        yield _place_row(f"{name} against the final strategy", found, most)


def against_rules(settings: Settings) -> Iterator[Row]:
    """E11: the published player and the network against the pool, rules and shallow search."""
    rules = {
        **POOL,
        "random": Strategy("random"),
        "greedy 0.4": Strategy("no_thanks_greedy", {"share": 0.4}),
        "sequence": Strategy("no_thanks_sequence"),
        "search to depth 8": Strategy("max_n", {"depth": 8, "max_nodes": 5000}),
    }
    for one, words in ((BEST, "network"), (final(settings), "published player")):
        for name, other in rules.items():
            number = 120 if name in SLOW else 300
            found = compare(settings, one, other, number, is_rotated=True)
            most = 2.0 if one is BEST else None
            yield _place_row(f"{words} against {name}", found, most)


def hidden_deck(settings: Settings) -> Iterator[Row]:
    """E12: the real game, whose deck nobody knows, against the pool."""
    game = NoThanks()
    for name, other in POOL.items():
        number = 300 if name in SLOW else 1200
        found = compare(settings, BEST_HIDDEN, other, number, game, is_rotated=True)
        yield _place_row(f"learnt values against {name}", found, 2.0)
    for vote in ("majority", "mean"):
        one = Strategy("no_thanks_slices", {"vote": vote, "num_worlds": 8})
        found = compare(settings, one, POOL["threshold 12"], 300, game, is_rotated=True)
        yield _place_row(f"8 sampled decks, {vote}, against threshold 12", found)


NUM_SEEDS = 3
MET = {
    "dqn": frozenset({"threshold 12", "threshold 0"}),
    "sarsa_lambda": frozenset({"threshold 12"}),
}
"""Whom they were trained against, next to themselves, by their files in configs/no_thanks/."""
OTHERS = {
    **{name: other for name, other in POOL.items() if other.agent != "ismcts"},
    "sequence": Strategy("no_thanks_sequence"),
    "learnt values": BEST_HIDDEN,
    "ISMCTS, 60 simulations": Strategy("ismcts", {"iterations": 60}),
}


def learners(settings: Settings) -> Iterator[Row]:
    """L: one learner against two others with hidden decks; missing runs are trained first."""
    game = NoThanks(returns="place", first_player="alternate")
    for learner, met in MET.items():
        runs = [
            AgentSpec.parse(f"{learner}:runs/no_thanks_v0/{learner}-seed{seed}")
            for seed in range(NUM_SEEDS)
        ]
        train_missing(runs, workers=settings.workers)
        players = [run.build(game) for run in runs]
        for name, other in OTHERS.items():
            number = EvalSettings(games=settings.games(300 if other.agent == "ismcts" else 1500))
            scores = [
                evaluate(game, player, other.build(game), number, settings.seed)
                for player in players
            ]
            means = [score.mean_return.mean for score in scores]
            yield Row.of(
                f"{learner} against two of {name}, {'met' if name in met else 'never met'} in "
                "training: places above the middle",
                mean_interval(means),
                games=sum(score.games for score in scores),
                note="seeds " + ", ".join(f"{mean:.2f}" for mean in means),
            )
