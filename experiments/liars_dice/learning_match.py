"""Learning while measured: ``python -m experiments.liars_dice.learning_match --config FILE``.

Each learner of the file begins with nothing and plays one game after the other against a fixed
player, every deal in both seatings. Its share of games won so far is noted every few games. All is
repeated with several seeds: the line is their mean, the band a 95 % interval over them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.spec import AgentSpec
from arena.match import play_match
from benchmarks.report import INK, PAINTER, TITLE, Progress, dress, save_figure
from common.commands import COUNT, MAX_GAMES, Parser, answers_in_one_line
from common.errors import OptionError
from common.files import check_out, signed, write_text
from common.statistics import mean_interval
from envs.core.options import Options, option
from experiments.ablations import COLORS
from training.config import Evaluated, GameSettings, read_yaml
from training.missing import train_missing

__all__ = ["LearningMatch", "main", "play"]

COMMAND = "python -m experiments.liars_dice.learning_match"

RUNS = Path("runs/reproduce")

Shares = npt.NDArray[np.float64]


class LearningMatch(Options):
    """What a file says; see experiments/liars_dice/configs/cfr.yaml."""

    game: GameSettings
    against: Evaluated
    learners: tuple[Evaluated, ...]
    games: int = option(1000, low=2, high=MAX_GAMES, help="of each learner and seed, even")
    every: int = option(10, low=1, high=MAX_GAMES, help="games between points of the curve")
    seeds: int = option(5, low=1, high=10**6, help="how often all is played")

    def __post_init__(self) -> None:
        """Refuse games that do not come in pairs."""
        if self.games % 2:
            raise OptionError(f"games must be even, for both seatings of a deal, not {self.games}")
        if not self.learners:
            raise OptionError("learners must name at least one")


def play(match: LearningMatch, learner: AgentSpec, seed: int) -> Shares:
    """Whether each game was won, in the order of play: [games] float64."""
    game = match.game.build()
    own, other = learner.build(game), match.against.build(game)
    own.begin_learning()
    won = np.zeros(match.games)
    for number in range(match.games):
        seat = number % 2
        seats = [own, other] if seat == 0 else [other, own]
        result = play_match(game, seats, 1, seed, first_game=number // 2)
        won[number] = result.returns[0, seat] > 0
    return won


def draw(curves: Mapping[str, Shares], match: LearningMatch, path: Path) -> None:
    """The share won so far over games, one line and one band for each learner."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panel = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    for color, (name, won) in zip(COLORS, curves.items(), strict=False):
        games, shares = so_far(won, match.every)
        bands = [mean_interval(column) for column in shares.T]
        panel.plot(games, 100 * shares.mean(axis=0), color=color, linewidth=2, label=name)
        low, high = (100 * np.array([getattr(b, side) for b in bands]) for side in ("low", "high"))
        panel.fill_between(games, low.clip(0), high.clip(0, 100), color=color, alpha=0.15, lw=0)
    title = f"games won against {match.against.name} so far, %: {match.seeds} seeds"
    panel.set_title(title, **TITLE)
    panel.set_xlabel("games", color=INK)
    panel.set_ylim(bottom=0)
    dress(panel)
    save_figure(figure, path)


def so_far(won: Shares, every: int) -> tuple[npt.NDArray[np.int64], Shares]:
    """Numbers of games, and the share won up to each: [seeds, points].

    >>> so_far(np.array([[1.0, 0.0, 1.0, 1.0]]), every=2)[1].tolist()
    [[0.5, 0.75]]
    """
    games = np.arange(every, won.shape[1] + 1, every)
    return games, won.cumsum(axis=1)[:, games - 1] / games


@answers_in_one_line("learning_match")
def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = Parser(
        prog=COMMAND,
        description=__doc__,
    )
    parser.add_argument("--config", type=Path, required=True, help="what to play")
    parser.add_argument("--games", type=COUNT, help="instead of the file's number, such as 200")
    parser.add_argument("--seeds", type=COUNT, help="instead of the file's number")
    parser.add_argument("--plot", type=Path, help="the picture (default: beside the JSON)")
    parser.add_argument("--out", type=Path, default=RUNS, help="folder of the results")
    parser.add_argument("--force", action="store_true", help="write over others' files")
    arguments = parser.parse_args(argv)
    name = arguments.config.stem
    plot = arguments.plot or arguments.out / f"{name}.png"
    check_out(plot, PAINTER, arguments.force)
    check_out(arguments.out / f"{name}.json", COMMAND, arguments.force)
    told = {key: getattr(arguments, key) for key in ("games", "seeds")}
    changed = {key: value for key, value in told.items() if value is not None}
    match = LearningMatch.parse({**read_yaml(arguments.config), **changed})
    train_missing([match.against])
    curves = _play_all(match)
    draw(curves, match, plot)
    kept = {learner: won.astype(int).tolist() for learner, won in curves.items()}
    text = signed(json.dumps(kept), ".json", COMMAND)
    write_text(arguments.out / f"{name}.json", text)
    print(f"plot: {plot}")
    return 0


def _play_all(match: LearningMatch) -> dict[str, Shares]:
    progress = Progress(len(match.learners) * match.seeds)
    curves = {}
    for learner in match.learners:
        won = []
        for seed in range(match.seeds):
            progress.advance(f"{learner.name}, seed {seed}")
            won.append(play(match, learner, seed))
        curves[learner.name] = np.array(won)
    progress.close()
    for name, shares in curves.items():
        last = 100 * shares[:, -match.games // 5 :].mean(axis=1)
        print(
            f"{name}: wins {mean_interval(100 * shares.mean(axis=1))} % of {match.games:,} "
            f"games, {mean_interval(last)} % of the last fifth"
        )
    return curves


if __name__ == "__main__":
    sys.exit(main())
