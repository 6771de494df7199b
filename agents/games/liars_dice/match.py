"""A whole match of Liar's Dice between two players, from solved rounds.

What is at stake in a round is one die, the opener's or the other's, so a round is played for one of
two continuations. Whatever their values, **as long as winning is worth at least as much as
losing**, the best one can do is to win the round as often as possible: rounds can be solved by
themselves, and the match follows from how often they are won.

A best response to such a player also wins a round as often as possible, or, where the player is so
bad with other dice that losing leads to the better continuation, it loses as often as possible:
nothing between the two can be better, because the match is worth a straight line between its two
continuations. So the exploitability of the whole match is exact for any policy that goes by rounds,
though nobody could write down its tree.

The policy of a round has rows for the hands and bids that the player's own choices lead to,
whatever the other does: a player who never makes a bid never needs to know what comes after it.
Actions below a least probability are dropped first, because averages keep a trace of everything
that was ever tried; the weights are changed accordingly, so that their exploitability is that of
the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.cfr.evaluation import BestResponseResult
from agents.games.liars_dice.abstractions import fold_hand, fold_table, openers_of
from agents.games.liars_dice.round_tree import NO_BID_YET, SHAPE, RoundShape, ShapeArrays
from agents.games.liars_dice.round_walk import (
    FRAME,
    NOT_BEGUN,
    begin_at,
    go_down,
    num_raises_at,
    standing_after,
    width_at,
)
from agents.games.liars_dice.rounds import RoundSolver
from agents.policy import Policy
from common.errors import MasqueradeError
from envs.core.compiling import compiled, inlined
from envs.core.game import Game
from envs.core.kernels import INT
from envs.core.records import Cube, Grid, Row, tuple_type
from envs.core.rng import fold
from envs.liars_dice.game import LiarsDice

NUM_ROWS, NUM_ENTRIES = range(2)
ZERO = np.float32(0.0)


class PolicyRows(NamedTuple):
    """Rows of a policy, in no order."""

    keys: Row[np.uint64]
    sizes: Row[np.int64]
    """Actions of each row."""
    actions: Row[np.int32]
    probs: Row[np.float64]


class Field(NamedTuple):
    """What the walk of one player needs."""

    shape: Annotated[ShapeArrays, SHAPE]
    player: Annotated[int, INT]
    actions: Row[np.int32]
    """[standing] what the match calls the bid; the call comes in place 0."""
    hands: Cube[np.int64]
    """[level, hand, face] live dice of every kind of hand of the player."""
    frames: Annotated[npt.NDArray[Any], FRAME]
    keys: Row[np.uint64]
    """[depth] of the bids so far."""
    has_hand: Grid[np.int8]
    """[depth, hand] whether the player can have got here with it."""


FIELD = tuple_type(Field)


@inlined
def get_below(field, depth, weights):
    """Which hands the player can still have after the raise that is looked at; False if none."""
    shape, player, frame = field.shape, field.player, field.frames[depth]
    has_hand, below = field.has_hand[depth], field.has_hand[depth + 1]
    width, after_level = width_at(shape, player, frame), shape.levels[standing_after(shape, frame)]
    kinds = shape.maps[player, shape.levels[frame.standing], after_level]
    for h in range(shape.widths[player, after_level]):
        below[h] = 0
    is_possible = False
    for h in range(width):
        at = frame.place + frame.child * width + h
        if has_hand[h] and (frame.mover != player or weights[at] > ZERO):
            below[kinds[h]] = 1
            is_possible = True
    return is_possible


@inlined
def go_on(field, weights, depth):
    """Go to the next node that the player's choices in ``weights`` lead to; returns its depth."""
    shape, frame = field.shape, field.frames[depth]
    frame.child += 1
    if frame.child >= num_raises_at(shape, frame):
        return depth - 1
    if not get_below(field, depth, weights):
        return depth
    child = field.frames[depth + 1]
    go_down(shape, frame, child)
    field.keys[depth + 1] = fold(field.keys[depth], 1 + field.actions[child.standing])
    return depth + 1


@inlined
def num_actions_at(field, depth):
    """How many actions the player has at a node that the walk comes to; 0 elsewhere."""
    frame = field.frames[depth]
    num_raises = num_raises_at(field.shape, frame)
    if frame.child != NOT_BEGUN or frame.mover != field.player or num_raises == 0:
        return 0
    return num_raises + (frame.standing != NO_BID_YET)


@inlined
def action_of(field, depth, rank):
    """What the match calls an action of the node at ``depth``; the call comes after the raises."""
    shape, frame = field.shape, field.frames[depth]
    if rank == num_raises_at(shape, frame):
        return field.actions[NO_BID_YET]
    return field.actions[shape.raises[shape.first_raise[frame.standing] + rank]]


@inlined
def drop_small(row, least):
    """Make 0 of what is improbable for one hand; returns the total that remains.

    That is added up in double precision: the probabilities of a row then add up to 1.
    """
    total = ZERO
    largest = ZERO
    for rank in range(row.size):
        total += row[rank]
        largest = max(largest, row[rank])
    limit = min(least * total, largest)
    kept = np.float64(0.0)
    for rank in range(row.size):
        if row[rank] < limit:
            row[rank] = ZERO
        kept += row[rank]
    return kept


@inlined
def write_row(field, depth, h, row, total, rows, counts):
    """One hand at one node; a row without a known probability is left out."""
    entry = counts[NUM_ENTRIES]
    num_kept = 0
    for rank in range(row.size):
        if row[rank] > ZERO:
            if rows.actions.size:
                rows.actions[entry + num_kept] = action_of(field, depth, rank)
                rows.probs[entry + num_kept] = row[rank] / total
            num_kept += 1
    if num_kept == 0:
        return
    if rows.keys.size:
        hand = field.hands[field.shape.levels[field.frames[depth].standing], h]
        rows.keys[counts[NUM_ROWS]] = fold_hand(field.keys[depth], hand)
        rows.sizes[counts[NUM_ROWS]] = num_kept
    counts[NUM_ROWS] += 1
    counts[NUM_ENTRIES] += num_kept


@compiled(
    types.void(FIELD, types.float32[::1], types.float32, tuple_type(PolicyRows), types.int64[::1])
)
def extract_side(field, weights, least, rows, counts):
    """Write, or with empty arrays just count, the rows of one player."""
    begin_at(field.frames[0], 0, NO_BID_YET, 0)
    depth = 0
    while depth >= 0:
        num_actions = num_actions_at(field, depth)
        if num_actions:
            frame = field.frames[depth]
            width = width_at(field.shape, field.player, frame)
            end = frame.place + num_actions * width
            for h in range(width):
                if field.has_hand[depth, h]:
                    row = weights[frame.place + h : end : width]
                    total = drop_small(row, least)
                    write_row(field, depth, h, row, total, rows, counts)
        depth = go_on(field, weights, depth)


def make_rows(num_rows: int, num_entries: int) -> PolicyRows:
    """Room for so many rows."""
    return PolicyRows(
        np.zeros(num_rows, np.uint64),
        np.zeros(num_rows, np.int64),
        np.zeros(num_entries, np.int32),
        np.zeros(num_entries),
    )


def make_field(shape: RoundShape, player: int, actions: npt.NDArray[np.int32]) -> Field:
    """What a walk of one player needs; ``actions`` as for :func:`extract_policy`."""
    depth, width = shape.longest_bidding + 2, int(shape.arrays.widths.max())
    hands = np.zeros((len(shape.alive), width, shape.options.faces), np.int64)
    for level, kinds in enumerate(shape.hands[player]):
        for h, hand in enumerate(kinds):
            for face in hand:
                if face:
                    hands[level, h, face - 1] += 1
    field = Field(
        shape.arrays,
        player,
        actions,
        hands,
        np.zeros(depth, FRAME),
        np.zeros(depth, np.uint64),
        np.zeros((depth, width), np.int8),
    )
    field.keys[0] = fold_table(shape.dice[player], np.array([shape.dice[1 - player]], np.int64))
    field.has_hand[0, : len(shape.hands[player][shape.levels[0]])] = 1
    return field


def extract_policy(
    shape: RoundShape,
    player: int,
    weights: npt.NDArray[np.float32],
    least: float,
    actions: npt.NDArray[np.int32],
) -> PolicyRows:
    """The rows of one player of a round.

    Args:
        shape: the round.
        player: 0 for the opener.
        weights: of the average policy; small ones are made 0.
        least: the least probability that is kept.
        actions: what the match calls each bid, with the call in place 0.
    """
    field = make_field(shape, player, actions)
    counts = np.zeros(2, np.int64)
    extract_side(field, weights, least, make_rows(0, 0), counts)
    rows = make_rows(*counts.tolist())
    counts[:] = 0
    extract_side(field, weights, least, rows, counts)
    return rows


Dice = tuple[int, int]
"""Dice of the opener and of the other."""


class SolvedRound(NamedTuple):
    """One round's policy and its values, which are from -1 to 1."""

    dice: Dice
    value: float
    """What the opener gets from itself."""
    best_values: tuple[float, float]
    """What best responses of the opener and of the other get."""
    worst_values: tuple[float, float]
    """What the two get who do all they can to lose."""
    rows: PolicyRows
    """Of both players."""

    @property
    def exploitability(self) -> float:
        """What a best response wins, per player."""
        return sum(self.best_values) / 2


def rounds_of(game: Game) -> list[Dice]:
    """The rounds that a game can come to, those with few dice first.

    >>> rounds_of(LiarsDice(dice=2))
    [(1, 1), (1, 2), (2, 1), (2, 2)]
    >>> rounds_of(LiarsDice(dice=(2, 1), single_round=True))
    [(2, 1)]
    """
    if not isinstance(game, LiarsDice) or game.options.num_players != 2:
        raise MasqueradeError(f"rounds are those of Liar's Dice for two players, not of {game!r}")
    seats = game.options.dice_by_seat
    if game.options.single_round:
        return sorted({(seats[seat], seats[1 - seat]) for seat in openers_of(game)})
    rounds = {
        (own, other)
        for seat in (0, 1)
        for own in range(1, seats[seat] + 1)
        for other in range(1, seats[1 - seat] + 1)
    }
    return sorted(rounds, key=lambda dice: (sum(dice), dice))


def round_actions(game: LiarsDice, shape: RoundShape) -> npt.NDArray[np.int32]:
    """What the match calls each bid of a round, with the call in place 0."""
    bid_of = {game.bid(action): action for action in range(game.facts.num_actions - 1)}
    actions = [game.facts.num_actions - 1, *(bid_of[bid] for bid in shape.bids)]
    return np.array(actions, np.int32)


def finish_round(solver: RoundSolver, game: LiarsDice, least: float) -> SolvedRound:
    """The policy of a round that has been solved, without improbable actions."""
    table = solver.arrays.cumulative_policy.copy()
    actions = round_actions(game, solver.shape)
    sides = [extract_policy(solver.shape, player, table, least, actions) for player in (0, 1)]
    rows = PolicyRows(*(np.concatenate(arrays) for arrays in zip(*sides, strict=True)))
    best, worst = solver.best_values(table), solver.worst_values(table)
    return SolvedRound(solver.shape.dice, solver.value(table), best, worst, rows)


def to_policy(game: Game, rounds: Mapping[Dice, SolvedRound], **notes: Any) -> Policy:
    """The policy of a match, or of as much of it as has been solved."""
    solved = list(rounds.values())
    none = make_rows(0, 0)  # as long as no round is solved
    rows_of = [none, *(each.rows for each in solved)]
    parts = [
        np.concatenate([getattr(rows, name) for rows in rows_of]) for name in PolicyRows._fields
    ]
    rows = sort_rows(PolicyRows(*parts))
    figures = match_figures(game, rounds)
    return Policy(
        game,
        rows.keys,
        np.concatenate([[0], np.cumsum(rows.sizes)]),
        rows.actions,
        rows.probs,
        np.ones(len(rows.keys), np.bool_),
        None if figures is None else figures.exploitability,
        {**notes, "rounds": len(solved)},
        "round",
    )


def sort_rows(rows: PolicyRows) -> PolicyRows:
    """The rows by rising keys, the actions of each by rising numbers."""
    row_of = np.repeat(np.argsort(np.argsort(rows.keys)), rows.sizes)
    order = np.lexsort((rows.actions, row_of))
    by_key = np.argsort(rows.keys)
    return PolicyRows(rows.keys[by_key], rows.sizes[by_key], rows.actions[order], rows.probs[order])


def match_figures(game: Game, rounds: Mapping[Dice, SolvedRound]) -> BestResponseResult | None:
    """Values of a match, from -1 to 1, or ``None`` while rounds are missing.

    Everybody plays the same policy.
    """
    assert isinstance(game, LiarsDice)
    if set(rounds_of(game)) - set(rounds):
        return None
    played = {dice: ((solved.value,), (-solved.value,)) for dice, solved in rounds.items()}
    responses = {
        dice: tuple(zip(solved.best_values, solved.worst_values, strict=True))
        for dice, solved in rounds.items()
    }
    value = _seat_value(game, 0, played)
    best = _seat_value(game, 0, responses), _seat_value(game, 1, responses)
    return BestResponseResult((value, -value), best)


def _seat_value(
    game: LiarsDice, seat: int, rounds: Mapping[Dice, Sequence[Sequence[float]]]
) -> float:
    """The value of a match for a seat that does the best of what it can in every round.

    Args:
        game: the match.
        seat: whose value.
        rounds: what the opener and the other can get of each, such as the most and the least.
    """
    seats = game.options.dice_by_seat
    is_single, pays_dice = game.options.single_round, game.options.rewards == "dice"

    @cache
    def value(own: int, other: int, is_opener: bool) -> float:
        of_round = rounds[own, other][0] if is_opener else rounds[other, own][1]
        if is_single:
            return max(of_round)
        won = 0.0 if pays_dice else 1.0
        lost = -won
        if other > 1:
            won = value(own, other - 1, False)
        if own > 1:
            lost = value(own - 1, other, True)
        if pays_dice:
            won, lost = won + 1.0, lost - 1.0
        return max(lost + (1.0 + each) / 2.0 * (won - lost) for each in of_round)

    openers = openers_of(game)
    own, other = seats[seat], seats[1 - seat]
    return sum(value(own, other, opener == seat) for opener in openers) / len(openers)
