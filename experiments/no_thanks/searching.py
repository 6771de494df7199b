"""Search orders and prunings, what the order of the cards does, and how far one can solve."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.solver import NoThanksSolver, SolverSettings
from agents.max_n import Searcher, SearchSettings
from common.statistics import mean_interval, wilson
from envs.core.position import Position
from envs.no_thanks import NoThanks
from experiments.no_thanks.makers import played_position, random_position
from experiments.runner import Row, Settings

Floats = npt.NDArray[np.float64]

PRINTED_SETS = (
    (12, 9, 4, 10, 13, 11, 3, 14),
    (9, 3, 11, 4, 10, 12, 13, 7),
    (10, 6, 8, 14, 4, 3, 9, 13),
    (12, 3, 14, 7, 8, 5, 10, 4),
    (8, 3, 4, 6, 5, 10, 11, 12),
    (7, 3, 5, 12, 8, 11, 14, 6),
    (5, 8, 7, 13, 10, 12, 6, 9),
    (6, 5, 10, 13, 12, 3, 11, 9),
    (7, 9, 8, 11, 6, 13, 5, 4),
    (3, 13, 6, 5, 8, 11, 14, 10),
)
"""The ten sets of eight cards of the published experiment."""

PRINTED_PRUNINGS = {
    ("E1c", "take first"): 0.0,
    ("E1c", "pay first"): 5322.73,
    ("E1d", "take first"): 496.0,
    ("E1d", "pay first"): 73.0,
}

ORDERS: dict[str, dict[str, Any]] = {
    "none": {"pruning": "none"},
    "take first": {"order": "high_first"},
    "pay first": {"order": "low_first"},
}


def _measure(positions: list[Position], settings: SearchSettings) -> dict[str, Floats]:
    """Seconds of processor time, nodes and prunings of every search."""
    searcher = Searcher(positions[0].game, settings)
    found: dict[str, list[float]] = {"seconds": [], "nodes": [], "prunings": []}
    for position in positions:
        begun = time.process_time()
        counters = searcher.search(position.state).counters
        found["seconds"].append(time.process_time() - begun)
        found["nodes"].append(counters["nodes"])
        found["prunings"].append(counters["prunings"])
    return {name: np.array(values) for name, values in found.items()}


def _random_decks(game: NoThanks, number: int, seed: int) -> list[Position]:
    rng = np.random.default_rng(seed)
    values = game.options.values
    return [game.deal(rng.permutation(values).tolist()) for _ in range(number)]


def _ratio(quantity: str, over: Floats, under: Floats, **more: Any) -> Row:
    """The ratio of two sums over the same decks, its interval by the bootstrap."""
    rng = np.random.default_rng(0)
    draws = rng.integers(len(over), size=(2000, len(over)))
    ratios = over[draws].sum(axis=1) / under[draws].sum(axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    ours = float(over.sum() / under.sum())
    return Row(quantity, ours, float(low), float(high), len(over), **more)


def search_orders(settings: Settings) -> Iterator[Row]:
    """E1: time, nodes and prunings with no pruning, taking first and paying first."""
    small = _random_decks(NoThanks("small"), settings.games(50), settings.seed)
    options = {"ties": "average", "table_bits": 0, "assumed": {"cap": True}}
    found = {
        name: _measure(small, SearchSettings(**{**options, **order}))
        for name, order in ORDERS.items()
    }
    none, take, pay = (found[name] for name in ORDERS)
    ratio = partial(_ratio, id="E1a")
    time_of = "time against no pruning, random small game"
    for name, seconds, printed, wanted in (
        ("take first", take["seconds"], 0.44, (0.2, 0.5)),
        ("pay first", pay["seconds"], 1.02, (0.85, 1.2)),
    ):
        what = f"{name}: {time_of}"
        yield ratio(what, seconds, none["seconds"], published=printed, wanted=wanted)
    what, nodes = "take first: nodes against no pruning", (take["nodes"], none["nodes"])
    yield ratio(what, *nodes, published="", wanted=(0.2, 0.5))
    for name, printed in (("take first", 59370.8), ("pay first", 54336.76)):
        cuts = {"published": printed, "wanted": (printed / 3, printed * 3), "id": "E1b"}
        interval = mean_interval(found[name]["prunings"])
        yield Row.of(f"{name}: prunings a game", interval, games=len(small), **cuts)
    yield from _against_solver(small[: settings.games(20)], none["seconds"], cap=True)
    yield from _extremes()


def _against_solver(decks: list[Position], seconds: Floats, cap: bool) -> Iterator[Row]:
    """How much faster the solver is than search without pruning."""
    game = decks[0].game
    assert isinstance(game, NoThanks)
    for with_cap in (cap, False):
        chosen = SolverSettings(cap=with_cap, table_bits=16)
        solver, plain = NoThanksSolver(game, chosen), seconds[: len(decks)]
        if not with_cap:
            decks = decks[:3]  # 60 million nodes each without pruning
            plain = _measure(decks, SearchSettings(pruning="none", table_bits=0))["seconds"]
        taken = []
        for position in decks:
            solver.forget()
            begun = time.process_time()
            solver.solve(position.state)
            taken.append(time.process_time() - begun)
        what = "solver: times as fast as no pruning, small game "
        what += "with the cap" if with_cap else "without the cap"
        yield _ratio(what, plain, np.array(taken), wanted=(100, None), id="E1a")


def _extremes() -> Iterator[Row]:
    """Games in which one pays always, and takes always."""
    games: dict[str, tuple[str, NoThanks, dict[str, Any]]] = {
        "E1c": ("always pay", NoThanks("always_pay"), {}),
        "E1d": ("always take", NoThanks("always_take"), {"ties": "average"}),
    }
    for id, (words, game, more) in games.items():
        values = game.options.values
        decks = [game.deal(values if id == "E1c" else [5, 2, 0, 6, 1, -1, 4, 3])]
        found = {
            name: _measure(decks, SearchSettings(**{"table_bits": 0, **more, **order}))
            for name, order in ORDERS.items()
        }
        none = found["none"]
        for name in ("take first", "pay first"):
            nodes = float(none["nodes"][0] / found[name]["nodes"][0])
            cuts = float(found[name]["prunings"][0])
            wants_cuts = (0, 0) if (id, name) == ("E1c", "take first") else (1, None)
            printed = PRINTED_PRUNINGS[id, name]
            yield Row(
                f"{words}, {name}: prunings",
                cuts,
                published=printed,
                wanted=wants_cuts,
                note=f"{none['nodes'][0]:,.0f} nodes unpruned",
                id=id,
            )
            wanted = {("E1d", "take first"): (600, None), ("E1d", "pay first"): (None, 1.1)}
            yield Row(
                f"{words}, {name}: times fewer nodes than no pruning",
                nodes,
                published={("E1d", "take first"): "660 (time)"}.get((id, name)),
                wanted=wanted.get((id, name), (0.9, None)),
                id=id,
            )


def card_order(settings: Settings) -> Iterator[Row]:
    """E3: how far results of one set of cards lie apart that differ in the order alone."""
    game = NoThanks("small")
    rng = np.random.default_rng(settings.seed)
    number = settings.games(20)
    for ties, cap in product(("average", "take"), (True, False)):
        solver = NoThanksSolver(game, SolverSettings(ties=ties, cap=cap))
        squares, firsts = [], []
        for cards in PRINTED_SETS:
            results = np.array(
                [
                    solver.solve(game.deal(rng.permutation(cards).tolist()).state).values
                    for _ in range(number)
                ]
            )
            differences = results[:, :1] - results[:, 1:]
            squares.append(((differences - differences.mean(axis=0)) ** 2).sum(axis=1))
            firsts.append(results.mean(axis=0))
        every = np.concatenate(squares)
        draws = rng.choice(every, (2000, len(every)))
        low, high = np.quantile(np.sqrt(draws.mean(axis=1)), [0.025, 0.975])
        words = "equal branches averaged" if ties == "average" else "ties taken"
        words += ", with the cap" if cap else ", without the cap"
        yield Row(
            f"deviation by order, points; {words}",
            float(np.sqrt(every.mean())),
            float(low),
            float(high),
            len(every),
            2.679609,
            (2.0, 4.5),
        )
        best = np.argmax(firsts, axis=1)
        what = f"sets of ten in which player 3 does best; {words}"
        yield Row(what, float((best == 2).sum()), games=len(every), published=8, wanted=(6, 10))


def exact_segment(settings: Settings) -> Iterator[Row]:
    """E13: how many cards before the end a position is solved within one second."""
    game = NoThanks("known_future")
    solver = NoThanksSolver(game, SolverSettings(table_bits=24))  # half a gigabyte
    number = settings.games(20)
    for make, words in ((played_position, "from play"), (random_position, "random")):
        for left in (6, 7, 8, 9, 10):
            times, solved = [], 0
            for i in range(number):
                state = make(game, left, np.random.default_rng([settings.seed, left, i]))
                solver.forget()
                begun = time.process_time()
                solved += solver.solve(state, seconds=5.0).is_complete
                times.append(time.process_time() - begun)
            within = sum(seconds <= 1.0 for seconds in times)
            quantile = float(np.quantile(times, 0.95))
            yield Row.of(
                f"{left} cards left, {words}: solved within 1 s, %",
                wilson(within, number).times(100),
                games=number,
                published=100 if left == 6 else None,
                wanted=(100, None) if left == 6 else None,
                note=f"95 % within {quantile:.2f} s; {solved} of {number} within 5 s",
            )
