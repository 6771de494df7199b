"""A model of strength for hidden decks, learnt from games against itself.

``python -m experiments.no_thanks.self_play runs/hidden.npz`` learns one. In each round
three players with the present model play games, now and then a move at random; every position after
a take is noted, with the places in which the game ended; and the model goes on from there to fit
what was noted in this round and the one before. In the first round the players take at thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.database import known_game
from agents.games.no_thanks.slices.features import NUM_PLAYERS
from agents.games.no_thanks.slices.filling import Filling, fill
from agents.games.no_thanks.slices.fitting import fit, new_weights
from agents.games.no_thanks.slices.models import StrengthSlices
from agents.games.no_thanks.slices.positions import HIGHEST_THRESHOLD
from agents.games.no_thanks.slices.strength import (
    CARDS_PER_SLICE,
    NUM_INPUTS,
    NUM_TRAITS,
    inputs_of,
)
from agents.games.no_thanks.solving import Solver
from common.commands import COUNT, SEED, WORKERS, Parser, answers_in_one_line, at_least
from common.files import check_out
from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE

__all__ = ["Lessons", "learn", "main"]

Rows = npt.NDArray[np.float64]
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

    def worker(self) -> Callable[[int, int], Rows]:
        """A function that plays some of the games."""
        solver = Solver(self.game, self.slices.settings, self.slices.estimate)
        params = self.slices.params(0)

        def play(first: int, last: int) -> Rows:
            return np.stack([self._play(solver, params, i) for i in range(first, last)])

        return play

    def _play(self, solver: Solver, params: Rows, i: int) -> Rows:
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
                    action = TAKE if _wants(game, s, int(thresholds[s.to_move])) else PAY
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


def _wants(game: NoThanks, s: np.record, threshold: int) -> bool:
    """Whether the cost of the card, less its chips, is low enough for the player to move."""
    card, own = int(s.deck[s.num_taken]), s.owner == s.to_move
    value = game.value(card)
    cost = 0 if card > 0 and own[card - 1] else value
    if card + 1 < game.options.num_cards and own[card + 1]:
        cost -= value + 1
    return bool(cost - int(s.pot) <= threshold)


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
    count = game.options.deck_size // CARDS_PER_SLICE + 1
    models = [new_weights(num_hidden, rng) for _ in range(count)]
    about = f"{rounds} x {num_games} games, {num_hidden} hidden units, {epochs} epochs, seed {seed}"
    slices = StrengthSlices(segments, "hidden", models, [], about)
    before = np.zeros((0, COLUMNS))
    for number in range(rounds + 1):
        rows = fill(Lessons(known, slices, seed, number), num_games, filling or Filling())
        now = rows.reshape(-1, COLUMNS)
        every = np.concatenate([before, now])
        for index in range(count):
            mine = every[every[:, LEFT] // CARDS_PER_SLICE == index]
            if len(mine):
                traits = mine[:, :NUM_INPUTS].reshape(len(mine), NUM_PLAYERS, NUM_TRAITS)
                places = mine[:, NUM_INPUTS:LEFT]
                models[index] = fit(models[index], traits, places, epochs, rng)
        before = now
    return slices


@answers_in_one_line("self_play")
def main(argv: Sequence[str] | None = None) -> int:
    """Learn the model of the full game with a hidden deck and save it."""
    parser = Parser(prog="python -m experiments.no_thanks.self_play")
    parser.add_argument("path", type=Path, help="file to write, .npz")
    parser.add_argument("--rounds", type=COUNT, default=5, help="of self-play (%(default)s)")
    parser.add_argument("--games", type=COUNT, default=3000, help="of a round (%(default)s)")
    parser.add_argument(
        "--hidden", type=at_least(0, most=10_000), default=16, help="0: regression (%(default)s)"
    )
    parser.add_argument("--epochs", type=COUNT, default=12, help="(%(default)s)")
    parser.add_argument("--seed", type=SEED, default=0, help="(%(default)s)")
    parser.add_argument("--workers", type=WORKERS, default=1, help="processes (%(default)s)")
    parser.add_argument("--force", action="store_true", help="write over a file of another kind")
    a = parser.parse_args(argv)
    check_out(a.path, "a command for slices", a.force)
    filling = Filling(a.workers, print, a.path.with_suffix(".part"))
    slices = learn(NoThanks(), a.rounds, a.games, a.hidden, a.epochs, a.seed, filling)
    slices.save(a.path)
    print(a.path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
