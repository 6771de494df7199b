"""Matches: third players, the final strategy, rules, and the hidden deck."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from common.statistics import mean_interval
from envs.no_thanks import NoThanks
from experiments.no_thanks.making import (
    BEST,
    BEST_HIDDEN,
    compare,
    database,
    final,
)
from experiments.no_thanks.matches import Comparison, Strategy
from experiments.runner import Row, Settings

__all__ = ["against_rules", "final_against_base", "hidden_deck", "third_player"]

POOL = {
    **{f"threshold {t}": Strategy("no_thanks_rule", {"threshold": t}) for t in (0, 4, 8, 12)},
    "ISMCTS, 500 simulations": Strategy("ismcts", {"iterations": 500}),
}
"""Nobody beats all the others by as much: strength is told against each of them."""
SLOW = frozenset({"ISMCTS, 500 simulations", "search to depth 8"})


def _place_row(id: str, words: str, found: Comparison, most: float | None = None) -> Row:
    """The mean place of the first side, and whether 2, which an equal has, can be excluded."""
    place = found.mean_place()
    told = "excludes 2" if place.excludes(2.0) else "does not exclude 2"
    scores = f"{found.mean_score().mean:.1f} : {found.mean_score(1).mean:.1f}"
    return Row.of(
        id,
        f"{words}: mean place",
        place,
        games=found.scores[..., 0].size,
        wanted=None if most is None else (None, most),
        note=f"interval {told}; scores {scores}",
    )


def third_player(settings: Settings) -> Iterator[Row]:
    """E2: does the player after the single one fare worse, or is it the seat?"""
    base = database(settings, 1000)
    found = compare(settings, final(settings), base, 2100, is_rotated=True)
    games = found.scores[..., 0].size
    places, sides = found.places, found.sides
    for line, words in ((0, "one final, two base"), (3, "one base, two final")):
        for seat in range(3):
            first, second, third = found.counts(line, seat)
            printed = {
                (0, 0): "10 20 20",
                (0, 1): "18 15 17",
                (0, 2): "25 14 11",
                (3, 0): "19 17 14",
                (3, 1): "10 20 20",
                (3, 2): "23 17 10",
            }[line, seat]
            yield Row.of(
                "E2",
                f"{words}, seat {seat + 1}: mean place",
                found.seat_places(line, seat),
                games=len(places),
                note=f"places {first} {second} {third}; published of 50: {printed}",
            )
    for seat in range(3):
        yield Row.of(
            "E2",
            f"seat {seat + 1}: mean place over all line-ups",
            mean_interval(places[:, :, seat].mean(axis=1)),
            games=games,
        )
    after, before = [], []
    for line, line_sides in enumerate(sides):
        single = int(np.flatnonzero(np.bincount(line_sides, minlength=2)[line_sides] == 1)[0])
        after.append(places[:, line, (single + 1) % 3])
        before.append(places[:, line, (single + 2) % 3])
    gap = np.mean(after, axis=0) - np.mean(before, axis=0)
    yield Row.of(
        "E2",
        "of an equal pair, seats rotated: place of the one after the single player "
        "less that of the one before him",
        mean_interval(gap),
        games=games,
        note="0: the published effect is the seat",
    )
    yield Row.of(
        "E2",
        "place of the single player, seats rotated",
        mean_interval(
            np.mean(
                [
                    places[:, line, np.flatnonzero(np.bincount(side, minlength=2)[side] == 1)[0]]
                    for line, side in enumerate(sides)
                ],
                axis=0,
            )
        ),
        games=games,
    )


def final_against_base(settings: Settings) -> Iterator[Row]:
    """E8: the final strategy against the base, and better players against the final one."""
    found = compare(settings, final(settings), database(settings, 1000), 400)
    games = found.scores[..., 0].size
    yield Row.of(
        "E8",
        "mean place of the final strategy against the base",
        found.mean_place(),
        games=games,
        published=1.978,
        wanted=(1.9, 2.1),
    )
    yield Row.of("E8", "its mean score", found.mean_score(), games=games, published=-78.58)
    yield Row.of("E8", "mean score of the base", found.mean_score(1), games=games, published=-79.31)
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
        yield _place_row("E8", f"{name} against the final strategy", found, most)


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
            yield _place_row("E11", f"{words} against {name}", found, most)


def hidden_deck(settings: Settings) -> Iterator[Row]:
    """E12: the real game, whose deck nobody knows, against the pool."""
    game = NoThanks()
    for name, other in POOL.items():
        number = 300 if name in SLOW else 1200
        found = compare(settings, BEST_HIDDEN, other, number, game, is_rotated=True)
        yield _place_row("E12", f"learnt values against {name}", found, 2.0)
    for vote in ("majority", "mean"):
        one = Strategy("no_thanks_slices", {"vote": vote, "num_worlds": 8})
        found = compare(settings, one, POOL["threshold 12"], 300, game, is_rotated=True)
        yield _place_row("E12", f"8 sampled decks, {vote}, against threshold 12", found)
