"""Variance reduction: returns from which the chance of dice and cards is taken out.

Let V be any guess of what a state is worth to each player. Wherever chance acts, add to the returns
of the game ``E[V(what could have followed)] - V(what did)``. Given the game up to there, such a
term has mean zero, whoever plays and however bad V is. So corrected returns have the same mean as
the returns, and the better V, the less they vary. ``full`` adds the same term at the decisions of
players whose probabilities are known (``Agent.policy``).

What counts as one event is all chance between two decisions, such as a whole deal. If it can go in
few ways, the expectation is exact; if not, it is the mean of a few independent draws, which keeps
the mean at zero.

The idea is the advantage sum of Zinkevich and others (2006), MIVAT (White and Bowling 2009) and
AIVAT (Burch and others 2018). As in MIVAT, V is linear in features of a state, with the weights
that leave the least variance in other games (``values``). AIVAT's average over the hands that a
player could have held is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from arena.match import MatchResult, play_recorded
from arena.variance_terms import MEMO_BITS, NO_POLICY, add_values, line_up
from common.errors import FileError, MasqueradeError, reason_of
from common.files import read_arrays, write_arrays
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import fill_streams, stream
from envs.core.rollouts import FAULTS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Lines = tuple[npt.NDArray[np.uint8], Floats, Ints]
"""[rows] states, weights and games; the weights of an event add up to zero."""

# Chance that takes more rows than this to list, inner ones included, is drawn instead. Of what V
# can explain, one part in NUM_DRAWS is then lost to the spread of the draws.
MAX_LISTED = 128
NUM_DRAWS = 16
ROWS_AT_A_TIME = 4096
# Policies of this many games are held in memory.
GAMES_AT_A_TIME = 512
MAX_ROUNDING = 1e-6


# ---- records -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Records:
    """What happened in games of a series, in the order of their numbers."""

    numbers: Ints
    """[games]"""
    histories: npt.NDArray[np.int32]
    """[games, longest] actions and chance outcomes, then zeros."""
    lengths: Ints
    """[games]"""

    @classmethod
    def collect(cls, histories: dict[int, list[int]]) -> Records:
        """From the history of each game by its number.

        >>> Records.collect({7: [2, 1, 0, 0], 5: [0, 1, 1]}).numbers.tolist()
        [5, 7]
        """
        numbers = np.array(sorted(histories), np.int64)
        ordered = [histories[number] for number in numbers.tolist()]
        lengths = np.array([len(history) for history in ordered], np.int64)
        rows = np.zeros((len(numbers), lengths.max(initial=0)), np.int32)
        is_filled = np.arange(rows.shape[1]) < lengths[:, None]
        rows[is_filled] = np.fromiter(chain.from_iterable(ordered), np.int32)
        return cls(numbers, rows, lengths)

    def __len__(self) -> int:
        """How many games."""
        return len(self.numbers)

    def part(self, first: int, end: int) -> Records:
        """Some of the games."""
        block = slice(first, end)
        return Records(self.numbers[block], self.histories[block], self.lengths[block])


def record_match(
    game: Game, agents: Sequence[Agent], num_games: int, **options: Any
) -> tuple[MatchResult, Records]:
    """Play a match, with the options of ``play_match``, and keep what happened."""
    result, histories = play_recorded(game, agents, num_games, **options)
    return result, Records.collect(histories)


# ---- policies ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Policies:
    """How likely each action was at the decisions for which that is known."""

    rows: npt.NDArray[np.int64]
    """[games, longest] where the probabilities of each event of a record are, or ``NO_POLICY``."""
    probs: Floats
    """[rows, actions]"""


NO_POLICIES = Policies(np.zeros((0, 0), np.int64), np.zeros((0, 0)))


def read_policies(game: Game, agents: Sequence[Agent], records: Records, seed: int) -> Policies:
    """Ask the agents for their probabilities at every decision they had.

    Args:
        game: the game that was played.
        agents: who sat in each seat; agents without a policy are left out.
        records: games that these agents have played.
        seed: the seed of that match.
    """
    rows = np.arange(len(records))
    places = np.full(records.histories.shape, NO_POLICY, np.int64)
    found: list[Floats] = [np.zeros((0, game.facts.num_actions))]
    num_found = 0
    batch = Batch(
        game,
        len(rows),
        stream(seed, "chance"),
        stream(seed, "choice"),
        has_tokens=any(agent.wants_tokens for agent in agents),
        num_past=max(agent.num_past for agent in agents),
    )
    batch.begin(rows, records.numbers)
    while len(rows := rows[batch.lengths[rows] < records.lengths[rows]]):
        moves = batch.lengths[rows]
        actions = records.histories[rows, moves].astype(np.int64)
        for seat, agent in enumerate(agents):
            mine = batch.turns[rows] == seat
            if not mine.any():
                continue
            views = batch.views(rows[mine])
            try:
                probs = agent.policy(views)
            except FAULTS as error:
                raise MasqueradeError(
                    f"the policy of {agent.name or agent!r} cannot be asked ({reason_of(error)}): "
                    "mend it, or take out chance only (variance_reduction 'chance')"
                ) from error
            if probs is None:
                continue
            found.append(_check_policy(agent, np.asarray(probs), views.masks, actions[mine]))
            places[rows[mine], moves[mine]] = num_found + np.arange(len(views))
            num_found += len(views)
        batch.step(rows, actions)
    return Policies(places, np.concatenate(found))


def _check_policy(
    agent: Agent, probs: Floats, masks: npt.NDArray[np.int8], actions: Ints
) -> Floats:
    """A policy that is not what the agent does would shift the mean: refuse what can be seen."""
    wrong = ""
    if probs.shape != masks.shape:
        wrong = f"is of shape {probs.shape}, not {masks.shape}"
    elif not (probs >= 0).all() or (np.abs(probs.sum(axis=1) - 1) > MAX_ROUNDING).any():
        wrong = "does not add up to 1"
    elif probs[masks == 0].any():
        wrong = "allows illegal actions"
    elif not probs[np.arange(len(actions)), actions].all():
        wrong = "says that it never does what it did"
    if wrong:
        raise MasqueradeError(
            f"the policy of {agent!r} {wrong}: mend it, or take out chance only "
            "(variance_reduction 'chance')"
        )
    normal: Floats = probs / probs.sum(axis=1, keepdims=True)
    return normal


# ---- values --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """What a state is worth to each player, as a sum over products of what is observed there."""

    columns: Ints
    """Entries of all players' observations, one after the other, that are looked at."""
    scales: Floats
    """What each player's total and then each column is multiplied with."""
    max_entries: int
    """Entries of a state that can count; more than that are left out."""
    degree: int
    """Factors of a product, 1 to 3."""
    table: Floats
    """[buckets, players] weights; the number of buckets is a power of two."""

    @property
    def features(self) -> tuple[Ints, Floats, int, int]:
        """What compiled code needs to know to make the products."""
        return self.columns, self.scales, self.degree, len(self.table).bit_length() - 1

    def room(self, game: Game) -> tuple[npt.NDArray[Any], ...]:
        """Memory for compiled code to work in."""
        return (
            np.zeros(game.observation_size, np.float32),
            np.zeros(game.facts.num_players),
            np.zeros(self.max_entries, np.int64),
            np.zeros(self.max_entries),
        )

    def save(self, path: Path) -> None:
        """Write to an ``npz`` file."""
        parts = {name: np.asarray(value) for name, value in vars(self).items()}
        write_arrays(path, parts)

    @classmethod
    def load(cls, path: Path) -> Values:
        """Read what ``save`` has written."""
        fix = "remove it, and it is made again"
        names = ("columns", "scales", "max_entries", "degree", "table")
        parts = read_arrays(path, fix, names=names)
        columns, scales, table = parts["columns"], parts["scales"], parts["table"]
        kept = zip(names, "ifiif", (1, 1, 0, 0, 2), strict=True)
        if any(parts[name].dtype.kind != kind or parts[name].ndim != n for name, kind, n in kept):
            raise FileError(f"{path} is damaged: {fix}")
        return cls(columns, scales, int(parts["max_entries"]), int(parts["degree"]), table)

    def fits(self, game: Game) -> bool:
        """Whether compiled code can work with it; what was read from a file might be anything."""
        num_players, num_buckets = game.facts.num_players, len(self.table)
        most = num_players * game.observation_size
        return bool(
            ((self.columns >= 0) & (self.columns < most)).all()
            and len(self.scales) == num_players + len(self.columns)
            and 1 <= self.max_entries <= num_players + most
            and 1 <= self.degree <= 3
            and num_buckets.bit_count() == 1
            and self.table.shape == (num_buckets, num_players)
            and np.isfinite(self.table).all()
            and np.isfinite(self.scales).all()
        )


def lines_of(
    game: Game, records: Records, seed: int, policies: Policies = NO_POLICIES
) -> Iterator[tuple[Lines, int]]:
    """For each event of the games what could have followed and what did; see ``terms``.

    Yields:
        Lines and the number of their rows that count, in memory that is used again.
    """
    rngs = np.empty((len(records), 4), np.uint64)
    # The name of the stream is older than that of the method; another would draw otherwise.
    fill_streams(stream(seed, "luck"), records.numbers, rngs)
    files = records.numbers, records.histories, records.lengths, rngs
    probs = np.zeros(max(game.facts.num_chance_outcomes, 1))
    scratch = np.zeros(game.state_size, np.uint8), probs, np.zeros(4, np.uint64)
    tables, limits = (policies.rows, policies.probs), (MAX_LISTED, NUM_DRAWS)
    openings = game.facts.num_openings
    lines, first, num_rows = _new_lines(game, ROWS_AT_A_TIME), 0, 0
    while first < len(records):
        begun = first
        first, num_rows = line_up(
            game.kernels, game.rules, openings, files, tables, first, limits, scratch, lines
        )
        if first == begun:
            lines = _new_lines(game, 2 * len(lines[1]))
        else:
            yield lines, num_rows


def _new_lines(game: Game, num_rows: int) -> Lines:
    states = np.zeros((num_rows, game.state_size), np.uint8)
    return states, np.zeros(num_rows), np.zeros(num_rows, np.int64)


def added_values(
    game: Game, values: Values, records: Records, seed: int, policies: Policies = NO_POLICIES
) -> Floats:
    """Sum ``E[V(what could have followed)] - V(what did)`` over each game: [games, players].

    Args:
        game: the game that was played.
        values: V.
        records: the games.
        seed: root of the draws where chance can go in too many ways to list.
        policies: probabilities of decisions that count as events too.
    """
    sums = np.zeros((len(records), game.facts.num_players))
    room, memo = values.room(game), np.zeros((1 << MEMO_BITS, game.facts.num_players))
    known = values.table, np.zeros(1 << MEMO_BITS, np.uint64), memo
    for lines, num_rows in lines_of(game, records, seed, policies):
        add_values(game.kernels, game.rules, lines, num_rows, values.features, room, known, sums)
    return sums


# ---- matches -------------------------------------------------------------------------------------


def in_parts(
    game: Game, agents: Sequence[Agent], records: Records, seed: int, reduction: str
) -> Iterator[tuple[Records, Policies]]:
    """So many games at a time that their policies fit in memory; ``chance`` needs no policies."""
    for first in range(0, len(records), GAMES_AT_A_TIME):
        part = records.part(first, first + GAMES_AT_A_TIME)
        yield part, read_policies(game, agents, part, seed) if reduction == "full" else NO_POLICIES


def corrections(
    game: Game, agents: Sequence[Agent], values: Values, records: Records, seed: int, reduction: str
) -> Floats:
    """What to add to the returns of a match to take chance out of them: [games, players].

    >>> from agents import make_agent
    >>> from arena.variance_values import pilot_values
    >>> from envs import make_game
    >>> game = make_game("leduc_v0")
    >>> players = [make_agent("leduc_rule", game), make_agent("leduc_rule", game)]
    >>> [values] = pilot_values(game, [players], seed=0, reduction="chance", num_games=500)
    >>> result, records = record_match(game, players, 1000, seed=0)
    >>> corrected = result.returns + corrections(game, players, values, records, 0, "chance")
    >>> bool(corrected.var() < result.returns.var() / 100)
    True

    Args:
        game: the game that was played.
        agents: who sat in each seat.
        values: what states are worth; it must not come from these games.
        records: the games.
        seed: the seed of their match.
        reduction: ``chance``, or ``full`` for the decisions of known policies as well.
    """
    if not values.table.any():
        return np.zeros((len(records), game.facts.num_players))
    parts = in_parts(game, agents, records, seed, reduction)
    return np.concatenate(
        [added_values(game, values, part, seed, policies) for part, policies in parts]
    )
