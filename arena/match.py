"""A match: N games between agents, played in lock-step batches.

All games of a batch advance together (``envs/core/rollouts.py``), and a row whose game has ended
takes the next game at once. Game *i* draws its dice and cards from (seed, *i*) and its players'
choices from (choice seed, *i*, seat), so the result is the same for any batch size.

Games are begun in an order of their own, drawn from the choice seed: neither the place of a game in
a batch nor its id says which deal it is. Two matches with one seed and two choice seeds play the
same deals, and no player can tell which game of the one is which of the other.

A tournament cannot stop because one agent fails: with ``has_forfeits`` an agent that raises an
error or chooses an illegal action loses that game, the fault is noted, and all others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent, TimeStep
from agents.processes.outside import OutsideAgent
from common.errors import MasqueradeError, reason_of
from common.progress import LOG_EVERY, Progress
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import seed_stream, stream
from envs.core.rollouts import FAULTS, Rollouts


class Learners:
    """The agents of a match that learn; without any it does nothing."""

    def __init__(self, agents: Sequence[Agent], seed: int) -> None:
        """Find the seats of the learners."""
        self._agents = agents
        self._seats = [seat for seat, agent in enumerate(agents) if agent.is_learning]
        self._names = tuple(agent.name for agent in agents)
        self._number = -1
        self._root = stream(seed, "watching")
        self._rngs = np.zeros((len(agents), 4), np.uint64)

    def __bool__(self) -> bool:
        """Whether anybody learns."""
        return bool(self._seats)

    def tell(self, batch: Batch, row: int) -> None:
        """Something has happened in the game of ``row``, the only one in play."""
        number, is_over = int(batch.numbers[row]), int(batch.turns[row]) == OVER
        if number != self._number:
            self._number = number
            for seat, rng in enumerate(self._rngs):
                seed_stream(self._root, number * len(self._rngs) + seat, rng)
        for seat in self._seats:
            world = batch.world(row, seat, self._rngs[seat])
            total = float(batch.totals[row, seat])
            game_id = int(batch.game_ids(np.array([row]), np.array([seat]))[0])
            self._tell_agent(TimeStep(game_id, seat, self._names, world, total, is_over))

    def _tell_agent(self, step: TimeStep) -> None:
        agent = self._agents[step.seat]
        try:
            agent.observe(step)
        except FAULTS as error:
            raise MasqueradeError(
                f"{agent.name or repr(agent)} failed while it watched a game: {reason_of(error)}"
            ) from error


FEWEST_ROWS, MOST_ROWS, QUICK_BYTES = 1024, 2048, 1 << 19
"""A batch has states that fit a processor's nearest memory, but never so few rows that most of the
time goes into calls, nor more than are of use."""


@dataclass(frozen=True)
class Fault:
    """A game that was lost by a mistake of the agent, not by play."""

    game: int
    """The number of the game."""
    seat: int
    reason: str


@dataclass(frozen=True)
class MatchResult:
    """The results of a match, game by game."""

    returns: npt.NDArray[np.float64]
    """[games, players] what each seat got."""
    lengths: npt.NDArray[np.int64]
    """[games] actions and chance events."""
    faults: list[Fault] = field(default_factory=list)
    """Forfeited games, in the order they were met."""
    corrected: npt.NDArray[np.float64] | None = None
    """[games, players] the returns without luck, if it was corrected."""
    values: Sequence[Any] = ()
    """For each seating what states are worth, if that was learnt."""

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
    batch_size: int | None = None,
    has_forfeits: bool = False,
    on_progress: Callable[[int], None] | None = None,
    on_end: Callable[[Batch, npt.NDArray[np.int64]], None] | None = None,
    choice_seed: int | None = None,
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
        batch_size: games in play at a time (as many as are quick); one if anybody learns.
        has_forfeits: let an agent's mistake cost it the game instead of stopping the match.
        on_progress: called with the number of games that have just ended.
        on_end: called with the batch and the rows whose games have just ended; all games are then
            recorded, so that ``batch.history`` has them.
        choice_seed: root of the order of games and of all that players are given; ``seed``, unless
            the same deals are played in several matches.
    """
    num_players = game.facts.num_players
    if len(agents) != num_players:
        raise ValueError(
            f"{game!r} has {num_players} seats: give {num_players} agents, not {len(agents)}"
        )
    if num_games < 1:
        raise ValueError(f"num_games must be at least 1, not {num_games}")
    result = MatchResult(np.zeros((num_games, num_players)), np.zeros(num_games, np.int64))
    players = list({id(agent): agent for agent in agents}.values())
    choice_seed = seed if choice_seed is None else choice_seed
    learners = Learners(agents, choice_seed)
    size = 1 if learners else min(batch_size or _quick_size(game), num_games)

    def note_fault(row: int, seat: int, reason: str) -> None:
        result.faults.append(Fault(int(rollouts.batch.numbers[row]), seat, reason))

    on_fault = note_fault if has_forfeits else None
    rollouts = Rollouts(
        game, players, size, seed, on_end is not None, on_fault, choice_seed=choice_seed
    )
    shuffler = np.random.default_rng(stream(choice_seed, "order", first_game))
    numbers = first_game + shuffler.permutation(num_games)
    # Somebody has several seats, or players in processes could leave each other messages.
    is_shared = len(players) < num_players or any(isinstance(p, OutsideAgent) for p in players)
    place = {id(player): i for i, player in enumerate(players)}
    seating = np.array([place[id(agent)] for agent in agents])
    for player in players:
        try:
            player.begin_match()
        except FAULTS as error:
            name = player.name or type(player).__name__
            raise MasqueradeError(
                f"{name} failed before the first game ({reason_of(error)}): leave it out"
            ) from error

    def note(rows: npt.NDArray[np.int64]) -> None:
        batch = rollouts.batch
        games = batch.numbers[rows] - first_game
        result.returns[games] = batch.totals[rows]
        result.lengths[games] = batch.lengths[rows]
        if on_progress:
            on_progress(len(rows))
        if on_end:
            on_end(batch, rows)

    rollouts.begin(np.arange(size), numbers[:size], seating)
    num_begun = size
    while True:
        # Whoever has the most rows goes first, a player or the dealer: few calls with many rows are
        # faster than many with few, and what happens in a row does not depend on the others.
        most, mine = rollouts.busiest(counts_ended=num_begun < num_games)
        if not len(mine):
            break
        if most == OVER:
            ended = mine[: num_games - num_begun]
            note(ended)
            rollouts.begin(ended, numbers[num_begun : num_begun + len(ended)], seating)
            num_begun += len(ended)
        else:
            if is_shared:  # rows in the same order would tell which seats are at one table
                mine = shuffler.permutation(mine)
            rollouts.move(mine, most)
            if learners:
                learners.tell(rollouts.batch, int(mine[0]))
    note(np.arange(size))
    return result


def _quick_size(game: Game) -> int:
    """How many games side by side are quick."""
    return min(max(QUICK_BYTES // game.state_size, FEWEST_ROWS), MOST_ROWS)


def play_shown(game: Game, agents: Sequence[Agent], num_games: int, **how: Any) -> MatchResult:
    """Play like ``play_match``, and tell how far it is if that takes long."""
    with closing(Progress(num_games, "games", after=LOG_EVERY)) as progress:
        return play_match(game, agents, num_games, on_progress=progress.add, **how)


def play_recorded(
    game: Game,
    agents: Sequence[Agent],
    num_games: int,
    play: Callable[..., MatchResult] = play_match,
    **how: Any,
) -> tuple[MatchResult, dict[int, list[int]]]:
    """Play like ``play_match``, and keep the history of every game by its number."""
    histories: dict[int, list[int]] = {}

    def keep(batch: Batch, rows: npt.NDArray[np.int64]) -> None:
        histories.update({int(batch.numbers[row]): batch.history(int(row)) for row in rows})

    return play(game, agents, num_games, on_end=keep, **how), histories
