"""Databases of the published kind: distances, sizes, weights, time of a move, and their errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from agents.advice import views_of
from agents.games.no_thanks.slices.features import features
from agents.games.no_thanks.slices.files import Slices, load_slices
from agents.games.no_thanks.solver import NoThanksSolver, SolverSettings
from common.statistics import mean_interval
from envs.core.position import Position
from envs.core.rng import new_rng
from experiments.no_thanks.makers import FINAL_WEIGHTS, ONES, played_position, random_position
from experiments.no_thanks.strength import BEST, KNOWN, compare, database, file_of, final
from experiments.no_thanks.tuning import TuningSettings, neighbour_error, tune
from experiments.runner import Row, Settings

PRINTED_DISTANCES = {
    100: 48.21,
    200: 41.31,
    400: 36.48,
    800: 31.75,
    1600: 27.86,
    3200: 24.55,
    6400: 21.74,
    12800: 19.30,
}
PRINTED_PLACES = {
    200: 1.949,
    400: 1.957,
    800: 2.05,
    1600: 1.982,
    3200: 1.8825,
    6400: 1.968,
    12800: 2.039,
}
BOUNDARIES = (6, 9, 12, 15, 18, 21)
NUM_QUERIES = 500
NUM_SEEDS = 3
CATEGORIES = ("lead cards", "number of extensions", "their values", "chips", "joins")


def neighbour_distance(settings: Settings) -> Iterator[Row]:
    """E4: the mean distance to the nearest of N random positions, and how it falls with N."""
    sizes = list(PRINTED_DISTANCES)
    slopes = []
    for left in BOUNDARIES:
        points = np.array(
            [
                features(KNOWN, random_position(KNOWN, left, np.random.default_rng([left, i])))
                for i in range(sizes[-1] + NUM_QUERIES)
            ]
        )
        queries = points[sizes[-1] :]
        means = [cKDTree(points[:size]).query(queries)[0].mean() for size in sizes]
        slopes.append(np.polyfit(np.log(sizes), np.log(means), 1)[0])
        for size, mean in zip(sizes, means, strict=True):
            if size in (100, 1600, 12800):
                what = f"distance to the nearest of {size}, {left} cards left"
                yield Row(what, float(mean), games=NUM_QUERIES, published=PRINTED_DISTANCES[size])
        what = f"exponent of N, {left} cards left"
        yield Row(
            what, float(slopes[-1]), games=NUM_QUERIES, published=-0.188, wanted=(-0.22, -0.16)
        )
    what = "exponent of N, mean of all boundaries"
    yield Row(what, float(np.mean(slopes)), published=-0.188, wanted=(-0.22, -0.16))


def database_size(settings: Settings) -> Iterator[Row]:
    """E5: twice the database against the single one; from --scale 2 on up to 12,800 positions."""
    largest = 1600 if settings.scale < 2 else 12800
    for size, printed in PRINTED_PLACES.items():
        if size > largest:
            break
        pair = database(settings, size), database(settings, size // 2)
        found = compare(settings, *pair, 400)
        what = f"mean place of {size} positions against {size // 2}"
        yield Row.of(what, found.mean_place(), games=found.num_games, published=printed)
    pair = database(settings, largest), database(settings, 100)
    found = compare(settings, *pair, 1000)
    what = f"mean place of {largest} positions against 100"
    yield Row.of(what, found.mean_place(), games=found.num_games, wanted=(None, 2.0))


def one_weight_raised(settings: Settings) -> Iterator[Row]:
    """E6: the fifth weight at 8 against all at 1, after more and more games."""
    raised = database(settings, 1000, (1.0, 1.0, 1.0, 1.0, 8.0))
    found = compare(settings, raised, database(settings, 1000), 2048)
    for games, printed in ((32, 2.062), (128, 2.039), (512, 1.977), (2048, 1.972)):
        decks = settings.games(games) // 2
        places = found.places[:decks][:, found.sides == 0].mean(axis=1)
        if len(places) > 1:
            what = f"(1,1,1,1,8) against (1,1,1,1,1), {2 * len(places)} games"
            yield Row.of(what, mean_interval(places), games=2 * len(places), published=printed)


def weights(settings: Settings) -> Iterator[Row]:
    """E7: weights by tuning in matches, and fitted to solved positions, over several seeds."""
    generations = max(2, settings.games(19) // 3)
    tuned = []
    for seed in range(NUM_SEEDS):
        chosen = TuningSettings(
            generations,
            200,
            settings.games(40),
            1.3,
            100 * seed + settings.seed,
            workers=settings.workers,
        )
        tuned.append(tune(KNOWN, chosen, _tuning(settings))[-1])
    yield from _weight_rows(np.array(tuned), f"after {generations} generations of matches")
    fitted = []
    for seed in range(NUM_SEEDS):
        slices = load_slices(file_of(settings, 400, kind="fitted", seed=seed))
        assert isinstance(slices, Slices)
        fitted.append(np.mean([slices.weights[left] for left in BOUNDARIES], axis=0))
        if seed == 0:
            for left in (6, 21):
                before = neighbour_error(slices.rows[left], ONES, slices.stored)
                after = neighbour_error(slices.rows[left], slices.weights[left], slices.stored)
                yield Row(
                    f"squared error with fitted weights, share of that with equal "
                    f"ones, {left} cards left",
                    after / before,
                    wanted=(None, 1.0),
                )
    yield from _weight_rows(np.array(fitted), "fitted to solved positions")


def _tuning(settings: Settings) -> Path:
    return settings.folder / "no_thanks" / "tuning"


def _weight_rows(table: npt.NDArray[np.float64], words: str) -> Iterator[Row]:
    """[seeds, categories]: each weight over the seeds, and whether 1 and 5 are the largest."""
    for i, name in enumerate(CATEGORIES):
        what = f"weight of {name} {words}"
        yield Row.of(what, mean_interval(table[:, i]), games=len(table), published=FINAL_WEIGHTS[i])
    gaps = table[:, [0, 4]].min(axis=1) - table[:, 1:4].max(axis=1)
    yield Row.of(
        f"weights 1 and 5 above the others, {words}: smaller of both less the largest other",
        mean_interval(gaps),
        games=len(table),
        wanted=(0.0, None),
        note="seeds " + ", ".join(f"{gap:.2f}" for gap in gaps),
    )


def small_databases(settings: Settings) -> Iterator[Row]:
    """E9: tuning with databases of ten positions and ten games a pair does not settle."""
    generations = max(3, settings.games(25) // 4)
    for factor in (2.0, 1.15):
        lasts = []
        for seed in range(3):
            chosen = TuningSettings(
                generations, 10, 5, factor, 100 * seed + settings.seed, workers=settings.workers
            )
            lasts.append(tune(KNOWN, chosen, _tuning(settings))[-1])
        spread = float(np.std(lasts, axis=0).mean())
        yield Row(
            f"spread of weights over seeds after {generations} generations, factor {factor}",
            spread,
            games=3,
            published="no convergence",
            note=f"first weight {', '.join(f'{w[0]:.2f}' for w in lasts)}; fifth "
            f"{', '.join(f'{w[4]:.2f}' for w in lasts)}",
        )


def time_of_a_move(settings: Settings) -> Iterator[Row]:
    """E10: processor time of single moves, from the start of the game to its end."""
    size = settings.games(4000)
    for strategy, words in (
        (final(settings, size), f"published player, {size} positions"),
        (BEST, "network"),
    ):
        agent = strategy.build(KNOWN)
        times = []
        for number in range(settings.games(6)):
            position, rng = Position(KNOWN), new_rng(settings.seed + number)
            position.play_chance(rng)
            while not position.is_over:
                views = views_of(position, agent)
                begun = time.process_time()
                action = int(agent.act(views)[0])
                times.append(time.process_time() - begun)
                position.apply(action)
        for percent in (50, 99):
            yield Row(
                f"{words}: {percent}th percentile of the time of a move, s",
                float(np.percentile(times, percent)),
                games=len(times),
                published="a few seconds at most",
                wanted=(None, 1.0),
            )


Floats = npt.NDArray[np.float64]
State = npt.NDArray[np.uint8]


def _places(values: Floats) -> Floats:
    """Places from the middle, of vectors of scores."""
    ahead = np.sign(values[:, :, None] - values[:, None, :])
    found: Floats = ahead.sum(axis=2) / 2
    return found


def predicted_places(settings: Settings) -> Iterator[Row]:
    """A: mean error of a place, by the size of the database, its weights, and the estimate."""
    estimates = {
        "100 positions": file_of(settings, 100),
        "400 positions": file_of(settings, 400),
        "1000 positions": file_of(settings, 1000),
        "1000 positions, final weights": file_of(settings, 1000, FINAL_WEIGHTS),
        "1000 positions, gains": file_of(settings, 1000, stored="gains"),
        "400 positions, fitted weights": file_of(settings, 400, ONES, "fitted"),
        "regression, 1000 positions": file_of(settings, 1000, kind="regression"),
        "network, 1000 positions": file_of(settings, 1000, kind="network"),
    }
    number = settings.games(200)
    sources = ((random_position, "random"), (played_position, "played"))
    for make, words in sources:
        found = {left: _positions(settings, make, left, number) for left in (6, 9)}
        for left, boundary in ((6, 6), (9, 9), (9, 6)):
            states, truth = found[left]
            way = "asked there" if left == boundary else f"searched to {boundary}"
            for name, path in estimates.items():
                errors = np.abs(_predicted(states, path, boundary) - truth).mean(axis=1)
                what = f"error of a place, {words} positions, {left} cards left, {way}: {name}"
                yield Row.of(what, mean_interval(errors), games=number)


def _positions(
    settings: Settings, make: Callable[..., State], left: int, number: int
) -> tuple[list[State], Floats]:
    """Positions with so many cards left, and everybody's true places."""
    seeds = ([settings.seed, 7, left, i] for i in range(number))
    states = [make(KNOWN, left, np.random.default_rng(seed)) for seed in seeds]
    solver = NoThanksSolver(KNOWN, SolverSettings(table_bits=22))
    values = []
    for state in states:
        solver.forget()
        values.append(solver.solve(state).values)
    return states, _places(np.array(values))


def _predicted(states: list[State], path: object, boundary: int) -> Floats:
    slices = load_slices(path)  # type: ignore[arg-type]
    solver = NoThanksSolver(KNOWN, slices.settings, slices.estimate)
    params = slices.params(boundary)
    values = np.array([solver.solve(state, boundary, params).values for state in states])
    return _places(values) if slices.settings.preference == "place" else values
