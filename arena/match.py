"""A match: N games between agents, played in lock-step batches.

All games of a batch advance together. At every turn the rows that wait for the same agent go to it
in one call, whatever seats it sits in, and a row whose game has ended takes the next game at once.
Game *i* draws its dice and cards from (seed, *i*) and its players' choices from (seed, *i*, seat),
so the result is the same for any batch size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import stream

__all__ = ["MatchResult", "play_match"]

DEFAULT_BATCH = 1024


@dataclass(frozen=True)
class MatchResult:
    """What came of a match, game by game."""

    returns: npt.NDArray[np.float64]
    """[games, players] what each seat got."""
    lengths: npt.NDArray[np.int64]
    """[games] actions and chance events."""

    @property
    def num_games(self) -> int:
        """How many games were played."""
        return len(self.returns)

    @property
    def mean_returns(self) -> npt.NDArray[np.float64]:
        """[players] average of each seat."""
        means: npt.NDArray[np.float64] = self.returns.mean(axis=0)
        return means

    @property
    def half_widths(self) -> npt.NDArray[np.float64]:
        """[players] half the width of a 95 % interval around each average."""
        if self.num_games < 2:
            return np.full(self.returns.shape[1], np.inf)
        errors: npt.NDArray[np.float64] = self.returns.std(axis=0, ddof=1) / np.sqrt(self.num_games)
        return 1.96 * errors


def play_match(
    game: Game,
    agents: Sequence[Agent],
    num_games: int,
    seed: int = 0,
    first_game: int = 0,
    batch_size: int = DEFAULT_BATCH,
    on_progress: Callable[[int], None] | None = None,
) -> MatchResult:
    """Play games ``first_game`` .. ``first_game + num_games - 1`` of a seed.

    >>> from agents import make_agent
    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> player = make_agent("random", game)
    >>> play_match(game, [player, player], num_games=100).num_games
    100

    Args:
        game: the game to play.
        agents: one for each seat; the same object may sit in several.
        num_games: how many games.
        seed: root of all randomness.
        first_game: number of the first game, for a match that is played in pieces.
        batch_size: games in play at a time.
        on_progress: called with the number of games that have just ended.
    """
    num_players = game.facts.num_players
    if len(agents) != num_players:
        raise ValueError(
            f"{game!r} has {num_players} seats: give {num_players} agents, not {len(agents)}"
        )
    if num_games < 1:
        raise ValueError(f"num_games must be at least 1, not {num_games}")
    result = MatchResult(np.zeros((num_games, num_players)), np.zeros(num_games, np.int64))
    size = min(batch_size, num_games)
    has_record = any(agent.wants_tokens for agent in agents)
    batch = Batch(game, size, stream(seed, "chance"), stream(seed, "choice"), has_record)
    players, seat_to_player = _distinct(agents)

    rows = np.arange(size)
    batch.begin(rows, first_game + rows)
    num_begun = size
    while len(rows):
        is_over = batch.turns[rows] == OVER
        if is_over.any():
            ended = rows[is_over]
            games = batch.numbers[ended] - first_game
            result.returns[games] = batch.totals[ended]
            result.lengths[games] = batch.lengths[ended]
            if on_progress:
                on_progress(len(ended))
            refilled = ended[: num_games - num_begun]
            if len(refilled):
                batch.begin(refilled, first_game + num_begun + np.arange(len(refilled)))
                num_begun += len(refilled)
            rows = np.sort(np.concatenate([rows[~is_over], refilled]))
            continue
        _play_turn(batch, rows, players, seat_to_player)
    return result


def _distinct(agents: Sequence[Agent]) -> tuple[list[Agent], npt.NDArray[np.int64]]:
    """The different agents, and for each seat the index of its agent among them."""
    players = list({id(agent): agent for agent in agents}.values())
    index = {id(agent): i for i, agent in enumerate(players)}
    return players, np.array([index[id(agent)] for agent in agents])


def _play_turn(
    batch: Batch,
    rows: npt.NDArray[np.int64],
    players: list[Agent],
    seat_to_player: npt.NDArray[np.int64],
) -> None:
    """Let every agent act once on all the rows that wait for it."""
    waiting_for = seat_to_player[batch.turns[rows]]
    for i, player in enumerate(players):
        mine = rows[waiting_for == i]
        if len(mine):
            views = batch.views(mine)
            batch.step(mine, player.act(views))
            batch.keep_draws(mine, views)
