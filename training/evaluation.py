"""How good is it now: the present player against named opponents, every deal in every seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.base import Agent
from agents.cfr import GameTree, exploitability, tabulate
from arena.playing.match import play_match
from arena.statistics.intervals import Interval, mean_interval, wilson
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from training.config import EvalSettings

__all__ = ["Exact", "Score", "evaluate"]


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
        place = f"eval/{self.opponent}"
        return {
            f"{place}/return": self.mean_return.mean,
            f"{place}/return_low": self.mean_return.low,
            f"{place}/return_high": self.mean_return.high,
            f"{place}/win_rate": self.win_rate.mean,
            f"{place}/win_rate_low": self.win_rate.low,
            f"{place}/win_rate_high": self.win_rate.high,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"opponent": self.opponent, "games": self.games, **self.metrics()}


class Exact:
    """How far from optimal, where the whole tree of a game can be walked."""

    def __init__(self, game: Game, settings: EvalSettings) -> None:
        """Write the tree down once; a game that is too large has none."""
        self._tree: GameTree | None = None
        if settings.exploitability:
            try:
                self._tree = GameTree(game, settings.max_nodes)
            except MasqueradeError:
                return  # too large: evaluations say nothing about it

    def metrics(self, player: Agent) -> dict[str, float]:
        """What a best response gains, averaged over the seats; nothing for a large game."""
        if self._tree is None:
            return {}
        return {
            "eval/exploitability": exploitability(self._tree, tabulate(player, self._tree).probs)
        }


def evaluate(
    game: Game, player: Agent, opponents: Sequence[Agent], settings: EvalSettings, seed: int
) -> list[Score]:
    """Play ``settings.games`` games against each opponent.

    Every deal is played with the player in every seat, and counts once for the intervals.
    """
    return [_against(game, player, opponent, settings, seed) for opponent in opponents]


def _against(
    game: Game, player: Agent, opponent: Agent, settings: EvalSettings, seed: int
) -> Score:
    num_players = game.facts.num_players
    num_deals = max(2, -(-settings.games // num_players))
    returns, wins, lengths = [], [], []
    for seat in range(num_players):
        seats = [player if place == seat else opponent for place in range(num_players)]
        result = play_match(game, seats, num_deals, seed=seed)
        best = result.returns.max(axis=1, keepdims=True)
        is_best = result.returns == best
        returns.append(result.returns[:, seat])
        wins.append(is_best[:, seat] / is_best.sum(axis=1))
        lengths.append(result.lengths.mean())
    win_rate = float(np.mean(wins))
    return Score(
        opponent.name,
        num_deals * num_players,
        mean_interval(np.mean(returns, axis=0), settings.confidence),
        wilson(win_rate * num_deals, num_deals, settings.confidence),
        float(np.mean(lengths)),
    )
