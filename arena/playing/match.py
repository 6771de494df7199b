"""A match: N games between agents, played in lock-step batches.

All games of a batch advance together. At every turn the rows that wait for the same agent go to it
in one call, whatever seats it sits in, and a row whose game has ended takes the next game at once.
Game *i* draws its dice and cards from (seed, *i*) and its players' choices from (seed, *i*, seat),
so the result is the same for any batch size.

A tournament cannot stop because one agent fails: with ``has_forfeits`` an agent that raises an
error or chooses an illegal action loses that game, the fault is noted, and all others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, RowsFailed, Views
from arena.playing.watching import Learners
from envs.core.batch import Batch
from envs.core.errors import IllegalActionError
from envs.core.game import Game
from envs.core.rng import stream

__all__ = ["Fault", "MatchResult", "play_match"]

DEFAULT_BATCH = 2048


@dataclass(frozen=True)
class Fault:
    """A game that was lost by a mistake of the agent, not by play."""

    game: int
    """The number of the game."""
    seat: int
    reason: str


@dataclass(frozen=True)
class MatchResult:
    """What came of a match, game by game."""

    returns: npt.NDArray[np.float64]
    """[games, players] what each seat got."""
    lengths: npt.NDArray[np.int64]
    """[games] actions and chance events."""
    faults: list[Fault] = field(default_factory=list)
    """Forfeited games, in the order they were met."""
    corrected: npt.NDArray[np.float64] | None = None
    """[games, players] the returns without luck, if it was corrected."""

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
    has_forfeits: bool = False,
    on_progress: Callable[[int], None] | None = None,
    on_end: Callable[[Batch, npt.NDArray[np.int64]], None] | None = None,
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
        batch_size: games in play at a time; one if anybody learns.
        has_forfeits: let an agent's mistake cost it the game instead of stopping the match.
        on_progress: called with the number of games that have just ended.
        on_end: called with the batch and the rows whose games have just ended; all games are then
            recorded, so that ``batch.history`` has them.
    """
    num_players = game.facts.num_players
    if len(agents) != num_players:
        raise ValueError(
            f"{game!r} has {num_players} seats: give {num_players} agents, not {len(agents)}"
        )
    if num_games < 1:
        raise ValueError(f"num_games must be at least 1, not {num_games}")
    result = MatchResult(np.zeros((num_games, num_players)), np.zeros(num_games, np.int64))
    learners = Learners(game, agents, seed)
    size = 1 if learners else min(batch_size, num_games)
    has_record = on_end is not None or bool(learners) or any(agent.wants_tokens for agent in agents)
    batch = Batch(game, size, stream(seed, "chance"), stream(seed, "choice"), has_record)
    players, player_of_turn = _distinct(agents)
    for player in players:
        player.begin_match()

    def note(rows: npt.NDArray[np.int64]) -> None:
        games = batch.numbers[rows] - first_game
        result.returns[games] = batch.totals[rows]
        result.lengths[games] = batch.lengths[rows]
        if on_progress:
            on_progress(len(rows))
        if on_end:
            on_end(batch, rows)

    dealer = len(players)
    batch.begin(np.arange(size), first_game + np.arange(size))
    num_begun = size
    while True:
        # Whoever has the most rows goes first, a player or the dealer: few calls with many rows are
        # faster than many with few, and what happens in a row does not depend on the others.
        waiting_for = player_of_turn[batch.turns]
        counts = np.bincount(waiting_for, minlength=dealer + 1)
        if num_begun == num_games:
            counts[dealer] = 0  # there is nothing to deal; games that have ended wait for the end
        most = int(counts.argmax())
        if not counts[most]:
            break
        mine = np.flatnonzero(waiting_for == most)
        if most == dealer:
            ended = mine[: num_games - num_begun]
            note(ended)
            batch.begin(ended, first_game + num_begun + np.arange(len(ended)))
            num_begun += len(ended)
        elif has_forfeits:
            _play_or_forfeit(batch, mine, players[most], result.faults)
        else:
            _play_rows(batch, mine, players[most])
        if learners and most < dealer:
            learners.tell(batch, int(mine[0]))
    note(np.arange(size))
    return result


def _distinct(agents: Sequence[Agent]) -> tuple[list[Agent], npt.NDArray[np.int64]]:
    """The different agents, and the index among them of whoever a turn waits for.

    Seats come first; a game that is over (``OVER`` is -2) waits for the dealer, one past the last.
    """
    players = list({id(agent): agent for agent in agents}.values())
    index = {id(agent): i for i, agent in enumerate(players)}
    dealer = len(players)
    return players, np.array([*(index[id(agent)] for agent in agents), dealer, dealer])


def _play_rows(batch: Batch, rows: npt.NDArray[np.int64], player: Agent) -> None:
    """Let an agent act on all the rows that wait for it."""
    views = batch.views(rows)
    batch.step(rows, player.act(views))
    batch.keep_draws(rows, views)


def _play_or_forfeit(
    batch: Batch, rows: npt.NDArray[np.int64], player: Agent, faults: list[Fault]
) -> None:
    """The same, but rows in which the agent fails are lost for it and the others go on."""
    views = batch.views(rows)
    try:
        actions, reasons = _ask(player, views)
    except Exception as error:
        if len(rows) == 1:
            _forfeit(batch, int(rows[0]), f"{type(error).__name__}: {error}", faults)
            return
        # One bad game must not cost the others: look for it in ever smaller parts.
        for part in np.array_split(rows, 2):
            _play_or_forfeit(batch, part, player, faults)
        return
    batch.keep_draws(rows, views)
    try:
        batch.step(rows, actions)
        return
    except IllegalActionError:
        pass  # then none was played, and those that are to blame must be found
    is_in_range = (actions >= 0) & (actions < batch.game.facts.num_actions)
    is_legal = is_in_range & (
        views.masks[np.arange(len(rows)), np.where(is_in_range, actions, 0)] == 1
    )
    for i in np.flatnonzero(~is_legal):
        reason = reasons.get(int(i), f"illegal action {actions[i]}")
        _forfeit(batch, int(rows[i]), reason, faults)
    if is_legal.any():
        batch.step(rows[is_legal], actions[is_legal])


def _ask(player: Agent, views: Views) -> tuple[Actions, Mapping[int, str]]:
    """An action for each row, and reasons for those in which the agent has none."""
    reasons: Mapping[int, str] = {}
    try:
        actions = np.asarray(player.act(views))
    except RowsFailed as failure:
        actions, reasons = np.array(failure.actions), failure.reasons
        actions[list(reasons)] = -1  # nowhere legal
    if actions.shape != views.seats.shape or actions.dtype.kind not in "iu":
        raise TypeError(f"{len(views)} whole numbers expected, not {actions!r}")
    return actions, reasons


def _forfeit(batch: Batch, row: int, reason: str, faults: list[Fault]) -> None:
    """The player to move gets the lowest return there is; the others share what is left."""
    facts, seat = batch.game.facts, int(batch.turns[row])
    total = 0.0 if facts.return_sum is None else facts.return_sum
    others = (total - facts.min_return) / max(facts.num_players - 1, 1)
    totals = np.full(facts.num_players, others)
    totals[seat] = facts.min_return
    faults.append(Fault(int(batch.numbers[row]), seat, reason))
    batch.end(row, totals)
