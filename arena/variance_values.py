"""What states are worth, learned from a pilot: games that count for nothing else.

The pilot is played by the same agents in the same seats, from a seed of its own. Values are linear
in products of what the players observe, so the correction of a game is linear in the weights, and
the weights that leave the least variance in the corrected returns are a regression of the returns
on the corrections of each product (MIVAT). Seatings of a group learn from each other: each has
weights of its own on top of weights that all of them share (Daumé, "Frustratingly easy domain
adaptation", 2007). The regression is solved by conjugate gradients, stopped where games that were
left out are predicted best: with little to learn from, little is corrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from agents.base import Agent
from arena.match import MatchResult
from arena.schedule import WorkUnit
from arena.spec import Seeds, TournamentSpec
from arena.variance_reduction import (
    Policies,
    Records,
    Values,
    corrections,
    in_parts,
    lines_of,
    record_match,
)
from arena.variance_terms import add_products
from common.errors import FileError
from common.files import make_folder
from common.progress import Progress
from envs.core.game import Game
from envs.core.rng import stream

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NUM_BUCKETS = 2048
# Products of three factors if a state has at most so many of them, else of two, else of one.
MAX_PRODUCTS = 1000
# States that are looked at to find out what varies.
MAX_STATES = 4096
NUM_FOLDS = 4
MAX_STEPS = 100
# Steps without a better prediction after which there will be none.
PATIENCE = 10
# What is best for the single game is taken if it costs whole deals no more than this: a factor of
# what is left of them, and a share of all there was.
MAX_WORSE = 1.02
TINY_SHARE = 1e-3
TINY = 1e-9


def pilot_values(
    game: Game, seatings: Sequence[Sequence[Agent]], seed: int, reduction: str, num_games: int
) -> list[Values]:
    """Play a pilot and learn from it what states are worth in each seating of a group.

    Args:
        game: the game to play.
        seatings: for each seating who sits in each seat.
        seed: the seed of the tournament; the pilot's follows from it and is another.
        reduction: what is to be taken out, ``chance`` or ``full``.
        num_games: how many games to play in each seating.
    """
    own_seed = int(stream(seed, "pilot")[0])
    matches = [
        record_match(game, agents, num_games, seed=own_seed, has_forfeits=True)
        for agents in seatings
    ]
    played = [(agents, records) for agents, (_, records) in zip(seatings, matches, strict=True)]
    begun = [next(in_parts(game, agents, part, own_seed, reduction)) for agents, part in played]
    values = choose_features(game, begun, own_seed)
    products = [
        sparse.vstack(
            [
                sum_products(game, values, part, policies, own_seed)
                for part, policies in in_parts(game, agents, whole, own_seed, reduction)
            ]
        )
        for agents, whole in played
    ]
    shared = sparse.vstack(products)
    inputs = sparse.hstack([shared, sparse.block_diag(products)]).tocsr()
    deals = np.concatenate([records.numbers for _, records in played])
    centred = np.concatenate([match.returns - match.mean_returns for match, _ in matches])
    weights = fit_weights(inputs, centred, deals, partial(_by_agent, seatings))
    shared_weights, *own_weights = np.split(weights, len(seatings) + 1)
    return [replace(values, table=_zero_sum(game, shared_weights + own)) for own in own_weights]


def _by_agent(seatings: Sequence[Sequence[Agent]], values: Floats) -> Floats:
    """What each agent got from each deal, in all seatings together: [deals, agents].

    That is what tables compare, and in it chance has already cancelled where a deal was played both
    ways: correction must make it surer, not only the single game.
    """
    agents = list({id(agent): agent for agents in seatings for agent in agents}.values())
    by_seating = values.reshape(len(seatings), -1, values.shape[1])
    sums = np.zeros((by_seating.shape[1], len(agents)))
    for seated, games in zip(seatings, by_seating, strict=True):
        for seat, agent in enumerate(seated):
            sums[:, [other is agent for other in agents]] += games[:, [seat]]
    return sums


def _zero_sum(game: Game, table: Floats) -> Floats:
    """What one player wins another loses, in corrected returns too."""
    if game.facts.return_sum is not None:
        table = table - table.mean(axis=1, keepdims=True)
    return table


def choose_features(game: Game, games: Sequence[tuple[Records, Policies]], seed: int) -> Values:
    """Look at entries that vary and that no other entry repeats; all values are still zero."""
    samples = []
    for records, policies in games:
        (states, weights, _), num_rows = next(lines_of(game, records, seed, policies))
        rows = np.flatnonzero(weights[:num_rows])[: MAX_STATES // len(games)]
        samples.append(states[rows])
    states = np.concatenate(samples)
    num_players = game.facts.num_players
    seen = np.zeros((len(states), num_players, game.observation_size), np.float32)
    for i, state in enumerate(states):
        for player in range(num_players):
            game.kernels.observe(state, game.rules, player, seen[i, player])
    entries = seen.reshape(len(states), -1)
    varying = np.flatnonzero(np.ptp(entries, axis=0) > 0)
    columns = sorted({entries[:, c].tobytes(): int(c) for c in varying}.values())
    highest = np.abs(entries[:, columns]).max(axis=0)
    bounds = [abs(game.facts.min_return), abs(game.facts.max_return)]
    scales = 1.0 / np.concatenate([np.full(num_players, max(bounds)), highest])
    num_entries = np.count_nonzero(entries[:, columns], axis=1).max(initial=0)
    max_entries = 1 + num_players + int(num_entries)
    degree = max(d for d in (1, 2, 3) if d == 1 or comb(max_entries + d - 1, d) <= MAX_PRODUCTS)
    table = np.zeros((NUM_BUCKETS, num_players))
    return Values(np.array(columns, np.int64), scales, max_entries, degree, table)


def sum_products(
    game: Game, values: Values, records: Records, policies: Policies, seed: int
) -> sparse.csr_array:
    """The correction of each game if one product alone were the value: [games, buckets]."""
    sums = np.zeros((len(records), len(values.table)))
    room = values.room(game)
    for lines, num_rows in lines_of(game, records, seed, policies):
        add_products(game.kernels, game.rules, lines, num_rows, values.features, room, sums)
    sums[np.abs(sums) < TINY] = 0.0
    return sparse.csr_array(sums)


# ---- regression ----------------------------------------------------------------------------------


def fit_weights(
    inputs: Any, returns: Floats, deals: Ints, count: Callable[[Floats], Floats]
) -> Floats:
    """Weights for which ``returns + inputs @ weights`` varies least: [inputs, players].

    One descent by conjugate gradients learns from all games, and ``NUM_FOLDS`` others, step by step
    beside it, each leave out a part of the deals, to predict these. All are columns of the same
    arrays, and every sum is made in a fixed order, so that all workers find the same weights.

    >>> rng = np.random.default_rng(0)
    >>> chance = rng.normal(size=(400, 1))
    >>> fit_weights(sparse.csr_array(chance), -2.0 * chance, np.arange(400), np.copy).round(2)
    array([[2.]])

    Args:
        inputs: [games, inputs] sparse, with mean zero.
        returns: [games, players] with mean zero.
        deals: [games] games of the same deal are left out together.
        count: makes what counts in the end, such as sums over games, of what is predicted for them.
    """
    num_players = returns.shape[1]
    is_left_out = deals[:, None] % NUM_FOLDS == np.arange(NUM_FOLDS + 1)
    counts = np.repeat(~is_left_out, num_players, axis=1)
    back = inputs.T.tocsr()
    residual = back @ (counts * np.tile(-returns, NUM_FOLDS + 1))
    direction, size = residual, np.sum(residual**2, axis=0)
    arrived = TINY**2 * size
    weights, guesses = np.zeros_like(residual), np.zeros(counts.shape)
    of_games, of_deals = _Best(np.copy, returns, weights), _Best(count, returns, weights)
    for _ in range(MAX_STEPS):
        shadow = inputs @ direction
        pushed = back @ (counts * shadow)
        curvature = np.sum(direction * pushed, axis=0)
        is_moving = (size > arrived) & (curvature > 0)
        step = _ratio(size, curvature, is_moving)
        weights = weights + step * direction
        guesses += step * shadow
        residual = residual - step * pushed
        before, size = size, np.sum(residual**2, axis=0)
        direction = residual + _ratio(size, before, is_moving) * direction
        guess = guesses[~counts].reshape(returns.shape)
        of_games.look(weights, guess)
        of_deals.look(weights, guess)
        if of_games.age == PATIENCE or not is_moving.any():
            break
    spared = MAX_WORSE * of_deals.left(of_deals) + TINY_SHARE * np.sum(returns**2)
    best = of_games if of_deals.left(of_games) <= spared else of_deals
    found: Floats = best.share * best.weights[:, -num_players:]
    return found


class _Best:
    """The best step of a descent by what is left of the returns, measured in one way."""

    def __init__(
        self, measure: Callable[[Floats], Floats], returns: Floats, weights: Floats
    ) -> None:
        self.measure, self.returns = measure, returns
        self.wanted = measure(returns)
        self.weights, self.guess, self.age = weights, np.zeros_like(returns), 0
        self.error = float(np.sum(self.wanted**2))

    def look(self, weights: Floats, guess: Floats) -> None:
        """After another step."""
        error = float(np.sum((self.wanted + self.measure(guess)) ** 2))
        self.age += 1
        if error < self.error:
            self.weights, self.guess, self.error, self.age = weights, guess, error, 0

    @property
    def share(self) -> float:
        """Guesses that go too far are taken back: this share fits the left out games best."""
        guess = self.measure(self.guess)
        share = -np.sum(guess * self.wanted) / max(float(np.sum(guess**2)), TINY)
        return float(np.clip(share, 0.0, 1.0))

    def left(self, other: _Best) -> float:
        """What would be left with the best of ``other``, by the measure of this one."""
        return float(np.sum((self.wanted + self.measure(other.share * other.guess)) ** 2))


def _ratio(above: Floats, below: Floats, is_moving: npt.NDArray[np.bool_]) -> Floats:
    """The ratio where a descent still moves; zero where it has arrived."""
    ratio: Floats = np.where(is_moving, above, 0.0) / np.where(is_moving, below, 1.0)
    return ratio


# ---- in a tournament: a pilot for each group -----------------------------------------------------
#
# What a state is worth depends on who plays, so every group has a pilot, and every seating values
# of its own. Pilots are work units like others: they can be played anywhere, and what they find
# depends on the specification alone. It is kept in the folder of the tournament, for ``--resume``.


def play_corrected(
    spec: TournamentSpec,
    game: Game,
    seatings: Sequence[Sequence[Agent]],
    unit: WorkUnit,
    seeds: Seeds,
) -> MatchResult:
    """Play a pilot and learn from it, or play a unit and correct it.

    Args:
        spec: the tournament.
        game: its game.
        seatings: for each seating of the unit's group the agent in each seat.
        unit: what to play.
        seeds: of the unit's seating.
    """
    reduction = spec.variance_reduction
    if unit.is_pilot:
        values = pilot_values(game, seatings, spec.root_seed, reduction, unit.num_deals)
        nothing = np.zeros((0, game.facts.num_players)), np.zeros(0, np.int64)
        return MatchResult(*nothing, values=values)
    agents = seatings[unit.seating]
    block = {**seeds, "first_game": unit.first_deal}
    result, records = record_match(game, agents, unit.num_deals, has_forfeits=True, **block)
    added = corrections(game, agents, unit.values, records, seeds["seed"], reduction)
    return replace(result, corrected=result.returns + added)


def with_values(
    spec: TournamentSpec,
    units: Sequence[WorkUnit],
    folder: Path,
    play: Callable[[list[WorkUnit]], Generator[tuple[WorkUnit, MatchResult]]],
) -> list[WorkUnit]:
    """Give every unit the values of its seating, from pilots that are played if need be.

    Args:
        spec: the tournament.
        units: what is to be played.
        folder: where the values are kept.
        play: plays units wherever that is done.
    """
    make_folder(folder)
    game = spec.build_game()
    seatings = sorted({(unit.group, unit.seating) for unit in units})
    paths = {place: folder / "group{:04d}_seating{:02d}.npz".format(*place) for place in seatings}
    missing = sorted({group for (group, _), path in paths.items() if _read(path, game) is None})
    num_seatings = Counter(group for group, _ in seatings)
    pilots = [
        WorkUnit(group, 0, 0, -(-spec.pilot // num_seatings[group]), is_pilot=True)
        for group in missing
    ]
    if pilots:
        total = spec.pilot * len(pilots)
        with (
            closing(Progress(total, "games of the pilot", has_pulse=True)) as progress,
            closing(play([*pilots])) as played,
        ):
            progress.show(0)
            for unit, result in played:
                for seating, values in enumerate(result.values):
                    values.save(paths[unit.group, seating])
                progress.add(spec.pilot)
    values_of = {place: Values.load(path) for place, path in paths.items()}
    return [replace(unit, values=values_of[unit.group, unit.seating]) for unit in units]


def _read(path: Path, game: Game) -> Values | None:
    """What is there; a file that is damaged counts as one that is not."""
    try:
        values = Values.load(path) if path.exists() else None
    except FileError:
        return None
    return values if values is not None and values.fits(game) else None
