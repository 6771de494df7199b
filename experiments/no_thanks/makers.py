"""Slices made: databases of solved positions, and models of strength that are fitted or learnt.

``python -m experiments.no_thanks.makers KIND FILE`` makes one for the full game. What is done is
kept beside the file: the same command goes on where it was stopped.

=============  ==================================================================================
``database``   at every boundary, from the last one backwards, positions are searched to the next
               boundary, where the database that was made there says what becomes of them
``network``    the same with a model of strength, which is fitted to their expected places
``self_play``  a model for hidden decks. In each round three players with the present model play
               games, now and then a move at random; every position after a take is noted, with the
               places in which the game ended; and the model goes on from there to fit what was
               noted in this round and the one before. In the first round they take at thresholds
=============  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import types

from agents.games.no_thanks.rules import takes_below
from agents.games.no_thanks.slices.estimates import CARDS_PER_SLICE, STORED, Weights
from agents.games.no_thanks.slices.features import (
    NUM_CATEGORIES,
    NUM_INPUTS,
    NUM_PLAYERS,
    NUM_TRAITS,
    features,
    inputs_of,
)
from agents.games.no_thanks.slices.files import Slices, StrengthSlices
from agents.games.no_thanks.solver import NoThanksSolver
from common.commands import AMOUNT, COUNT, SEED, WORKERS, Parser, answers_in_one_line, at_least
from common.errors import OptionError
from common.files import check_out
from envs.core.compiling import compiled
from envs.core.kernels import INT, KERNELS, RULES, STATE, TOTALS
from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE, can_pay
from envs.no_thanks.kernels import RULES as RULES_RECORD
from envs.no_thanks.kernels import STATE as STATE_RECORD
from experiments.no_thanks.filling import Filling, fill

Array = npt.NDArray[np.float64]
State = npt.NDArray[np.uint8]

SEGMENTS = (3, 3, 3, 3, 3, 3, 6)
ONES = (1.0,) * NUM_CATEGORIES
FINAL_WEIGHTS = (1.3, 0.45, 0.8, 0.66, 1.79)
"""What the thesis ended with after 19 generations."""


# ---- positions with a given number of cards left -------------------------------------------------

SOURCES = ("random", "played")
HIGHEST_THRESHOLD = 20


def make_position(game: NoThanks, cards_left: int, source: str, rng: np.random.Generator) -> State:
    """A position from one of the ``SOURCES``."""
    make = random_position if source == "random" else played_position
    return make(game, cards_left, rng)


def random_position(game: NoThanks, cards_left: int, rng: np.random.Generator) -> State:
    """Owners, chips and mover at random; the mover has a chip, as play would have it."""
    o = game.options
    position = game.deal(rng.permutation(o.values).tolist())
    s = game.record(position.state)
    for _ in range(o.deck_size - cards_left):
        s.to_move = rng.integers(o.num_players)
        game.kernels.step(position.state, game.rules, TAKE)
    total = o.num_players * o.starting_chips
    while True:
        cuts = np.sort(rng.integers(0, total + 1, o.num_players - 1))
        chips = np.diff([0, *cuts, total])
        mover = int(rng.integers(o.num_players))
        if chips[mover] > 0:
            break
    s.chips[: o.num_players] = chips
    s.to_move = mover
    return position.state


@compiled(types.boolean(STATE, RULES, types.float64))
def takes_at(state, rules, threshold):
    """Whether who is to move takes at a threshold, or must."""
    s = state.view(STATE_RECORD)[0]
    r = rules.view(RULES_RECORD)[0]
    return takes_below(s, r, threshold) or not can_pay(s, r)


@compiled(types.void(KERNELS, RULES, STATE, TOTALS, INT))
def _play_on(kernels, rules, state, thresholds, num_taken):
    s = state.view(STATE_RECORD)[0]
    while s.num_taken < num_taken:
        takes = takes_at(state, rules, thresholds[s.to_move])
        kernels.step(state, rules, TAKE if takes else PAY)


def played_position(game: NoThanks, cards_left: int, rng: np.random.Generator) -> State:
    """From a game of players who take at thresholds of their own."""
    o = game.options
    state = game.deal(rng.permutation(o.values).tolist()).state
    thresholds = rng.integers(0, HIGHEST_THRESHOLD, o.num_players).astype(np.float64)
    _play_on(game.kernels, game.rules, state, thresholds, o.deck_size - cards_left)
    return state


# ---- rows of a boundary --------------------------------------------------------------------------


def known_game(game: NoThanks, segments: Sequence[int]) -> NoThanks:
    """The game with its deck known and scores paid, if it can be cut into ``segments``."""
    o = game.options
    if o.num_players != 3 or o.card_step != 1 or o.chips == "unlimited":
        raise OptionError("slices are for three players, cards in steps of one, and counted chips")
    if sum(segments) != o.deck_size or min(segments) < 1:
        raise OptionError(f"segments {tuple(segments)} must add up to the {o.deck_size} cards")
    return NoThanks(**{**o.to_dict(), "known_future": True, "returns": "score", "first_player": 0})


@dataclass(frozen=True)
class BoundaryRows:
    """Positions at one boundary, each searched to the next: rows for ``fill``.

    For a database a row has the features, and what each player will still gain and his final score,
    from the mover on; for a model of strength the inputs and everybody's expected place.
    """

    game: NoThanks
    slices: Slices | StrengthSlices
    left: int
    seed: int
    source: str
    made: str
    """How the slices were made so far."""

    @property
    def about(self) -> str:
        """What tells these rows from all others."""
        return f"{type(self.slices).__name__} {self.game!r} {self.made} {self.left}"

    @property
    def title(self) -> str:
        """What they are, for somebody who waits for them."""
        return f"positions with {self.left} cards left"

    def worker(self) -> Callable[[int, int], npt.NDArray[np.generic]]:
        """A function that makes some of the rows; it keeps the memory of its searches."""
        slices, boundary = self.slices, self.slices.boundary(self.left)
        solver = NoThanksSolver(self.game, slices.settings, slices.estimate)
        params = slices.params(boundary) if boundary else None

        def make(i: int) -> npt.NDArray[np.generic]:
            rng = np.random.default_rng([self.seed, self.left, i])
            state = make_position(self.game, self.left, self.source, rng)
            values = np.array(solver.solve(state, boundary, params).values)
            s = self.game.record(state)
            if isinstance(slices, StrengthSlices):
                inputs = inputs_of(self.game, state, slices.kind).ravel()
                return np.concatenate([inputs, np.roll(values, -int(s.to_move))])
            results = np.rint(values)
            gains = results - (s.chips[:3] - s.leads[:3])
            turned = [np.roll(part, -int(s.to_move)) for part in (gains, results)]
            return np.concatenate([features(self.game, state), *turned]).astype(np.int32)

        return lambda first, last: np.stack([make(i) for i in range(first, last)])


# ---- databases -----------------------------------------------------------------------------------


def make_slices(
    game: NoThanks,
    size: int,
    segments: Sequence[int] = SEGMENTS,
    weights: Sequence[float] = ONES,
    seed: int = 0,
    source: str = "random",
    stored: str = "results",
    filling: Filling | None = None,
    fit: Callable[[npt.NDArray[np.int32], int], Sequence[float]] | None = None,
) -> Slices:
    """Make the databases of all boundaries, from the last one backwards.

    Args:
        game: three players and cards in steps of one.
        size: positions in each database.
        segments: cards taken in each, from the start of the game.
        weights: of the five categories of features.
        seed: position *i* of a boundary depends on it and on nothing before.
        source: of the positions: ``random`` or ``played``.
        stored: what the value of a position is: its ``results`` or the ``gains`` from there on.
        filling: in how many processes, what is told, and where it is kept meanwhile.
        fit: finds the weights of a boundary by its rows and the cards left, not ``weights``.
    """
    known = known_game(game, segments)
    slices = Slices(tuple(segments), {}, stored, seed, source)
    for left in list(accumulate(reversed(segments)))[:-1]:
        made = f"{slices.segments} {slices.weights} {stored} {seed} {source}"
        rows = fill(BoundaryRows(known, slices, left, seed, source, made), size, filling)
        slices.weights[left] = tuple(weights if fit is None else fit(rows, left))
        slices.rows[left] = rows
    return slices


# ---- models of strength --------------------------------------------------------------------------

EPOCHS = 60
BATCH = 256
RATE, RATE_END = 3e-3, 2e-4
DECAY = 1e-4
"""Weight decay: what the data do not ask for fades."""


def new_models(game: NoThanks, num_hidden: int, rng: np.random.Generator) -> list[Weights]:
    """A model for every slice, to begin with."""
    count = game.options.deck_size // CARDS_PER_SLICE + 1
    return [new_weights(num_hidden, rng) for _ in range(count)]


def make_strength(
    game: NoThanks,
    size: int,
    segments: Sequence[int] = SEGMENTS,
    num_hidden: int = 16,
    seed: int = 0,
    source: str = "played",
    filling: Filling | None = None,
) -> StrengthSlices:
    """Fit a model at every boundary, from the last one backwards; see ``make_slices``."""
    known = known_game(game, segments)
    rng = np.random.default_rng([seed, num_hidden])
    models = new_models(game, num_hidden, rng)
    about = f"{size} {source} positions a boundary, {num_hidden} hidden units, seed {seed}"
    slices = StrengthSlices(tuple(segments), "known", models, [], about)
    for left in list(accumulate(reversed(segments)))[:-1]:
        made = f"{slices.segments} {about}"
        rows = fill(BoundaryRows(known, slices, left, seed, source, made), size, filling)
        traits = rows[:, :NUM_INPUTS].reshape(size, NUM_PLAYERS, NUM_TRAITS)
        index = left // CARDS_PER_SLICE
        models[index] = fit(models[index], traits, rows[:, NUM_INPUTS:], EPOCHS, rng)
        slices.boundaries.append(left)
    return slices


def new_weights(num_hidden: int, rng: np.random.Generator) -> Weights:
    """Weights to begin with: all strengths are equal."""
    hidden = rng.normal(0.0, 1.0 / np.sqrt(NUM_INPUTS), (num_hidden, NUM_INPUTS + 1))
    return Weights(np.zeros(NUM_INPUTS), hidden, np.zeros(num_hidden))


def predict(weights: Weights, traits: Array) -> Array:
    """[N, players] expected places from the middle, of ``traits`` [N, players, traits]."""
    return _places(_strengths(weights, _turned(traits))[0])


def _turned(traits: Array) -> Array:
    """[N, players, inputs]: each player's own features first, then those of who follows him."""
    flat = traits.reshape(len(traits), NUM_INPUTS)
    turned = [np.roll(flat, -NUM_TRAITS * player, axis=1) for player in range(NUM_PLAYERS)]
    return np.stack(turned, axis=1)


def _strengths(weights: Weights, x: Array) -> tuple[Array, Array]:
    units = np.maximum(x @ weights.hidden[:, :-1].T + weights.hidden[:, -1], 0.0)
    return x @ weights.direct + units @ weights.out, units


def _places(strengths: Array) -> Array:
    differences = strengths[:, :, None] - strengths[:, None, :]
    chances: Array = (1.0 / (1.0 + np.exp(-differences)) - 0.5).sum(axis=2)
    return chances


def fit(
    weights: Weights, traits: Array, places: Array, epochs: int, rng: np.random.Generator
) -> Weights:
    """Go on fitting ``weights``.

    Args:
        weights: to begin with.
        traits: [N, players, traits] from the mover on.
        places: [N, players] from the middle, from the mover on.
        epochs: passes over all rows.
        rng: for the order of the rows.
    """
    x = _turned(traits)
    # In units of its spread each feature learns at the same pace.
    scale = 1.0 / np.maximum(x.std(axis=(0, 1)), 1e-6)
    x = x * scale
    values = [
        weights.direct / scale,
        np.concatenate([weights.hidden[:, :-1] / scale, weights.hidden[:, -1:]], axis=1),
        weights.out.copy(),
    ]
    first = [np.zeros_like(value) for value in values]
    second = [np.zeros_like(value) for value in values]
    num_steps = epochs * -(-len(x) // BATCH)
    step = 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            rows = order[start : start + BATCH]
            rate = RATE + (RATE_END - RATE) * step / num_steps
            step += 1
            slopes = _gradients(Weights(*values), x[rows], places[rows])
            for i, slope in enumerate(slopes):
                first[i] += 0.1 * (slope - first[i])
                second[i] += 0.001 * (slope**2 - second[i])
                mean = first[i] / (1.0 - 0.9**step)
                size = np.sqrt(second[i] / (1.0 - 0.999**step)) + 1e-8
                values[i] = values[i] - rate * (mean / size + DECAY * values[i])
    direct, hidden, out = values
    hidden = np.concatenate([hidden[:, :-1] * scale, hidden[:, -1:]], axis=1)
    return Weights(direct * scale, hidden, out)


def _gradients(weights: Weights, x: Array, places: Array) -> Sequence[Array]:
    """Of the mean squared error of expected places."""
    strengths, units = _strengths(weights, x)
    differences = strengths[:, :, None] - strengths[:, None, :]
    chances = 1.0 / (1.0 + np.exp(-differences))
    errors = (chances - 0.5).sum(axis=2) - places
    slopes = chances * (1.0 - chances)
    by_strength = errors * slopes.sum(axis=2) - np.einsum("nij,nj->ni", slopes, errors)
    by_strength *= 2.0 / len(x)
    by_unit = by_strength[:, :, None] * weights.out * (units > 0.0)
    ones = np.ones((*x.shape[:2], 1))
    return (
        np.einsum("np,npi->i", by_strength, x),
        np.einsum("nph,npi->hi", by_unit, np.concatenate([x, ones], axis=2)),
        np.einsum("np,nph->h", by_strength, units),
    )


# ---- learning from games against itself ----------------------------------------------------------

EXPLORATION = 0.03
"""How often a player moves at random."""
LEFT = NUM_INPUTS + NUM_PLAYERS  # the column with the number of cards left
COLUMNS = LEFT + 1


@dataclass(frozen=True)
class Lessons:
    """Games of a round, as rows for ``fill``: one row holds all positions of a game."""

    game: NoThanks
    slices: StrengthSlices
    seed: int
    number: int
    """Of the round; in round 0 everybody takes at a threshold."""

    @property
    def about(self) -> str:
        """What tells these rows from all others."""
        return f"self-play {self.game!r} {self.slices.about}, round {self.number}"

    @property
    def title(self) -> str:
        """What they are, for somebody who waits for them."""
        return f"games of round {self.number}"

    def worker(self) -> Callable[[int, int], Array]:
        """A function that plays some of the games."""
        solver = NoThanksSolver(self.game, self.slices.settings, self.slices.estimate)
        params = self.slices.params(0)

        def play(first: int, last: int) -> Array:
            return np.stack([self._play(solver, params, i) for i in range(first, last)])

        return play

    def _play(self, solver: NoThanksSolver, params: Array, i: int) -> Array:
        """[positions, columns] of one game: features, places and cards left."""
        rng = np.random.default_rng([self.seed, self.number, i])
        game, o = self.game, self.game.options
        position = game.deal(rng.permutation(o.values).tolist())
        s = game.record(position.state)
        thresholds = rng.integers(0, HIGHEST_THRESHOLD, o.num_players)
        rows = np.zeros((o.deck_size - 1, COLUMNS))
        movers: list[int] = []
        while not position.is_over:
            action = TAKE
            if PAY in position.legal_actions():
                if rng.random() < EXPLORATION:
                    action = int(rng.integers(2))
                elif self.number == 0:
                    takes = takes_at(position.state, game.rules, thresholds[s.to_move])
                    action = TAKE if takes else PAY
                else:
                    left = o.deck_size - int(s.num_taken)
                    action = solver.solve(position.state, left - 1, params).action
            position.apply(action)
            if action == TAKE and not position.is_over:
                row = rows[len(movers)]
                row[:NUM_INPUTS] = inputs_of(game, position.state, "hidden").ravel()
                row[LEFT] = o.deck_size - int(s.num_taken)
                movers.append(int(s.to_move))
        scores = position.returns()
        ahead = np.sign(scores[:, None] - scores[None, :]).sum(axis=1) / 2
        for row, mover in zip(rows, movers, strict=True):
            row[NUM_INPUTS:LEFT] = np.roll(ahead, -mover)
        return rows


def learn(
    game: NoThanks,
    rounds: int,
    num_games: int,
    num_hidden: int = 16,
    epochs: int = 12,
    seed: int = 0,
    filling: Filling | None = None,
) -> StrengthSlices:
    """Learn a model for hidden decks.

    Args:
        game: three players and cards in steps of one.
        rounds: of self-play, and one of thresholds before them.
        num_games: of each round.
        num_hidden: units of the network; 0 is regression.
        epochs: passes over the positions of two rounds.
        seed: of everything.
        filling: in how many processes, what is told, and where it is kept meanwhile.
    """
    segments = (game.options.deck_size,)
    known = known_game(game, segments)
    rng = np.random.default_rng([seed, num_hidden])
    models = new_models(game, num_hidden, rng)
    about = f"{rounds} x {num_games} games, {num_hidden} hidden units, {epochs} epochs, seed {seed}"
    slices = StrengthSlices(segments, "hidden", models, [], about)
    before = np.zeros((0, COLUMNS))
    for number in range(rounds + 1):
        rows = fill(Lessons(known, slices, seed, number), num_games, filling)
        now = rows.reshape(-1, COLUMNS)
        every = np.concatenate([before, now])
        for index, model in enumerate(models):
            mine = every[every[:, LEFT] // CARDS_PER_SLICE == index]
            if len(mine):
                traits = mine[:, :NUM_INPUTS].reshape(len(mine), NUM_PLAYERS, NUM_TRAITS)
                places = mine[:, NUM_INPUTS:LEFT]
                models[index] = fit(model, traits, places, epochs, rng)
        before = now
    return slices


# ---- the command ---------------------------------------------------------------------------------

KINDS = {"database": 1000, "network": 3000, "self_play": 3000}
"""With how many positions a boundary, or games of a round."""


@answers_in_one_line("makers")
def main(argv: Sequence[str] | None = None) -> int:
    """Make slices of the full game and save them."""
    parser = Parser(prog="python -m experiments.no_thanks.makers", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind, size in KINDS.items():
        add = kinds.add_parser(kind).add_argument
        add("path", type=Path, help="file to write, .npz")
        add("--seed", type=SEED, default=0, help="(%(default)s)")
        add("--workers", type=WORKERS, default=1, help="processes (%(default)s)")
        add("--force", action="store_true", help="write over a file of another kind")
        if kind == "self_play":
            add("--rounds", type=COUNT, default=5, help="of self-play (%(default)s)")
            add("--games", type=COUNT, default=size, help="of a round (%(default)s)")
            add("--epochs", type=COUNT, default=12, help="(%(default)s)")
        else:
            cards = at_least(0, most=100)
            add("--size", type=COUNT, default=size, help="positions a boundary (%(default)s)")
            add("--segments", type=cards, nargs="+", default=list(SEGMENTS), help="cards in each")
        if kind == "database":
            add("--weights", type=AMOUNT, nargs=NUM_CATEGORIES, default=list(ONES))
            add("--source", choices=SOURCES, default="random", help="(%(default)s)")
            add("--stored", choices=STORED, default="results", help="(%(default)s)")
        else:
            units = at_least(0, most=10_000)
            add("--hidden", type=units, default=16, help="units, 0: regression (%(default)s)")
    a = parser.parse_args(argv)
    check_out(a.path, "a command for slices", a.force)
    game, filling = NoThanks(), Filling(a.workers, print, a.path.with_suffix(".part"))
    made: Slices | StrengthSlices
    if a.kind == "database":
        known = a.size, a.segments, a.weights, a.seed, a.source, a.stored
        made = make_slices(game, *known, filling)
    elif a.kind == "network":
        made = make_strength(game, a.size, a.segments, a.hidden, a.seed, "played", filling)
    else:
        made = learn(game, a.rounds, a.games, a.hidden, a.epochs, a.seed, filling)
    made.save(a.path)
    print(a.path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
