"""Matches: third players, the final strategy, rules, and the hidden deck."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agents.games.no_thanks.slices.matches import Strategy
from envs.core.statistics import mean_interval
from envs.no_thanks import NoThanks
from training.experiments.no_thanks.making import (
    BEST,
    BEST_HIDDEN,
    compare,
    database,
    final,
)
from training.reproduce import Row, Settings

__all__ = ["against_rules", "final_against_base", "hidden_deck", "third_player"]


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
        "threshold 12, no search": Strategy("no_thanks_rule"),
    }
    for name, strategy in others.items():
        found = compare(settings, strategy, final(settings), 400, is_rotated=True)
        wanted = (None, 1.85) if name == "network" else None
        yield Row.of(
            "E8",
            f"{name}: mean place against the final strategy",
            found.mean_place(),
            games=found.scores[..., 0].size,
            wanted=wanted,
            note=f"scores {found.mean_score().mean:.1f} : {found.mean_score(1).mean:.1f}",
        )


def against_rules(settings: Settings) -> Iterator[Row]:
    """E11: the published player and the network against rules and shallow search."""
    rules = {
        "random": Strategy("random"),
        "greedy": Strategy("no_thanks_greedy"),
        "greedy 0.4": Strategy("no_thanks_greedy", {"share": 0.4}),
        "sequence": Strategy("no_thanks_sequence"),
        "search to depth 8": Strategy("max_n", {"depth": 8, "max_nodes": 5000}),
        "threshold 0": Strategy("no_thanks_rule", {"threshold": 0}),
        "threshold 8": Strategy("no_thanks_rule", {"threshold": 8}),
        "threshold 12": Strategy("no_thanks_rule"),
    }
    for one, words in ((final(settings), "published player"), (BEST, "network")):
        for name, other in rules.items():
            found = compare(settings, one, other, 180, is_rotated=True)
            wanted = (None, 2.0) if words == "network" else None
            yield Row.of(
                "E11",
                f"{words} against {name}: mean place",
                found.mean_place(),
                games=found.scores[..., 0].size,
                wanted=wanted,
            )


def hidden_deck(settings: Settings) -> Iterator[Row]:
    """E12: the real game, whose deck nobody knows, against a pool."""
    game = NoThanks()
    pool = {f"threshold {t}": Strategy("no_thanks_rule", {"threshold": t}) for t in (0, 4, 8, 12)}
    ismcts = {"ISMCTS, 500 simulations": Strategy("ismcts", {"iterations": 500})}
    for name, other in {**pool, **ismcts}.items():
        number = 1200 if name in pool else 36
        found = compare(settings, BEST_HIDDEN, other, number, game, is_rotated=True)
        yield Row.of(
            "E12",
            f"learnt values against {name}: mean place",
            found.mean_place(),
            games=found.scores[..., 0].size,
            wanted=(None, 2.0),
            note=f"scores {found.mean_score().mean:.1f} : {found.mean_score(1).mean:.1f}",
        )
    for vote in ("majority", "mean"):
        one = Strategy("no_thanks_slices", {"vote": vote, "num_worlds": 8})
        found = compare(settings, one, pool["threshold 12"], 60, game, is_rotated=True)
        yield Row.of(
            "E12",
            f"8 sampled decks, {vote}, against threshold 12: mean place",
            found.mean_place(),
            games=found.scores[..., 0].size,
        )
