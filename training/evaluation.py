"""How good is it now: the present player against named opponents, every deal on every side."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from agents import make_agent
from agents.base import Agent
from agents.cfr import GameTree, exploitability, tabulate
from agents.learning.files import save_state
from agents.learning.learner import Learner
from arena.match import play_match
from common.errors import MasqueradeError
from common.statistics import Interval, mean_interval, wilson
from envs.core.facts import side_returns, sides_of
from envs.core.game import Game
from envs.core.rng import stream
from training.config import EvalSettings, RunConfig


@dataclass(frozen=True)
class Score:
    """The player against one opponent, who fills all other seats."""

    opponent: str
    games: int
    mean_return: Interval
    win_rate: Interval
    """Share of games in which nobody did better, shared with those who did as well."""
    mean_length: float

    def metrics(self) -> dict[str, float]:
        """Numbers for the curves."""
        found: dict[str, float] = {}
        for name, value in (("return", self.mean_return), ("win_rate", self.win_rate)):
            place = f"eval/{self.opponent}/{name}"
            found |= {place: value.mean, f"{place}_low": value.low, f"{place}_high": value.high}
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"opponent": self.opponent, "games": self.games, **self.metrics()}


class Evaluation:
    """The evaluations of one run: opponents, and the game tree where it is small enough."""

    def __init__(self, config: RunConfig) -> None:
        """Make the opponents; write the tree down once."""
        self._config = config
        self._game = config.build_eval_game()
        self._opponents = [spec.build(self._game) for spec in config.eval.opponents]
        self._tree: GameTree | None = None
        if config.eval.exploitability and not config.train.role:
            # A game that is too large has no tree, and its evaluations no exploitability.
            with suppress(MasqueradeError):
                self._tree = GameTree(self._game, config.eval.max_nodes)

    def run(self, learner: Learner) -> tuple[list[Score], dict[str, float]]:
        """The present player against each opponent, and what is exactly known about it."""
        player = self._player_of(learner)
        seed, step = self._config.train.seed, learner.num_steps
        scores = [
            evaluate(
                *(self._game, player, opponent, self._config.eval, seed),
                fresh=step if spec.can_remember else None,
            )
            for spec, opponent in zip(self._config.eval.opponents, self._opponents, strict=True)
        ]
        if self._tree is None:
            return scores, {}
        probs = tabulate(player, self._tree).probs
        return scores, {"eval/exploitability": exploitability(self._tree, probs)}

    def _player_of(self, learner: Learner) -> Agent:
        """The learner's player; on other options than in training, as if loaded from its file."""
        if self._game == learner.game:
            return learner.player()
        with TemporaryDirectory() as folder:
            path = Path(folder) / "player"
            save_state(path, learner.game, learner.player_state())
            return make_agent(self._config.agent.id, self._game, path=str(path))


def evaluate(
    game: Game,
    player: Agent,
    opponent: Agent,
    settings: EvalSettings,
    seed: int,
    fresh: int | None = None,
) -> Score:
    """Play ``settings.games`` games against an opponent, who fills all other seats.

    Every deal is played with the player on every side that it can play, and counts once for the
    intervals. On a side of several seats it has them all. For an opponent that could remember
    deals, ``fresh`` is a number that no other evaluation has: it then meets no deal twice.
    """
    facts = game.facts
    own_sides = [
        (number, side)
        for number, side in enumerate(sides_of(facts))
        if all(player.can_sit(seat) for seat in side)
    ]
    num_deals = max(2, -(-settings.games // len(own_sides)))
    returns, wins, lengths = [], [], []
    for number, side in own_sides:
        seats = [player if seat in side else opponent for seat in range(facts.num_players)]
        # The same deals, which nobody can know again by what it is given.
        of_side = int(stream(seed, "side", number)[0] >> np.uint64(1))
        deals = seed
        if fresh is not None:
            deals = int(stream(seed, "fresh", fresh, "side", number)[0] >> np.uint64(1))
        result = play_match(game, seats, num_deals, seed=deals, choice_seed=of_side)
        totals = side_returns(facts, result.returns)
        is_best = totals == totals.max(axis=1, keepdims=True)
        returns.append(totals[:, number])
        wins.append(is_best[:, number] / is_best.sum(axis=1))
        lengths.append(result.lengths.mean())
    win_rate = float(np.mean(wins))
    return Score(
        opponent.name,
        num_deals * len(own_sides),
        mean_interval(np.mean(returns, axis=0), settings.confidence),
        wilson(win_rate * num_deals, num_deals, settings.confidence),
        float(np.mean(lengths)),
    )
