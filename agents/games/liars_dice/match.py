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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.games.liars_dice.abstractions import fold_hand, fold_table
from agents.games.liars_dice.round_tree import NO_BID_YET, SHAPE, RoundShape
from agents.games.liars_dice.round_walk import FRAME, NOT_BEGUN
from agents.games.liars_dice.rounds import RoundSolver
from agents.policy import Policy
from common.errors import MasqueradeError
from envs.core.compiling import compiled, inlined
from envs.core.game import Game
from envs.core.kernels import INT
from envs.core.rng import Words, fold
from envs.liars_dice.game import LiarsDice

NUM_ROWS, NUM_ENTRIES = range(2)
ZERO = np.float32(0.0)


class Rows(NamedTuple):
    """Rows of a policy, in no order."""

    keys: Words
    sizes: npt.NDArray[np.int64]
    """Actions of each row."""
    actions: npt.NDArray[np.int32]
    probs: npt.NDArray[np.float64]


class Field(NamedTuple):
    """What the walk needs besides the shape."""

    actions: npt.NDArray[np.int32]
    """[standing] what the match calls the bid; the call comes in place 0."""
    hands: npt.NDArray[np.int64]
    """[level, hand, face] live dice of every kind of hand of the player."""
    frames: npt.NDArray[Any]
    keys: Words
    """[depth] of the bids so far."""
    has_hand: npt.NDArray[np.int8]
    """[depth, hand] whether the player can have got here with it."""


_ROWS = types.NamedTuple(
    (types.uint64[::1], types.int64[::1], types.int32[::1], types.float64[::1]), Rows
)
FIELD = types.NamedTuple(
    (
        types.int32[::1],
        types.int64[:, :, ::1],
        from_dtype(FRAME)[::1],
        types.uint64[::1],
        types.int8[:, ::1],
    ),
    Field,
)


@inlined
def drop_small(weights, place, width, num_actions, h, least):
    """Make 0 of what is improbable for one hand; returns the total that remains.

    That is added up in double precision: the probabilities of a row then add up to 1.
    """
    total = ZERO
    largest = ZERO
    for action in range(num_actions):
        weight = weights[place + action * width + h]
        total += weight
        largest = max(largest, weight)
    limit = min(least * total, largest)
    kept = np.float64(0.0)
    for action in range(num_actions):
        at = place + action * width + h
        if weights[at] < limit:
            weights[at] = ZERO
        kept += weights[at]
    return kept


@inlined
def write_row(shape, field, frame, weights, width, num_actions, h, key, total, rows, counts):
    """One hand at one node; a row without a known probability is left out."""
    entry = counts[NUM_ENTRIES]
    first = shape.first_raise[frame.standing]
    num_raises = shape.first_raise[frame.standing + 1] - first
    num_kept = 0
    for action in range(num_actions):
        weight = weights[frame.place + action * width + h]
        if weight > ZERO:
            if rows.actions.size:
                standing = NO_BID_YET if action == num_raises else shape.raises[first + action]
                rows.actions[entry + num_kept] = field.actions[standing]
                rows.probs[entry + num_kept] = weight / total
            num_kept += 1
    if num_kept == 0:
        return
    if rows.keys.size:
        level = shape.levels[frame.standing]
        rows.keys[counts[NUM_ROWS]] = fold_hand(key, field.hands[level, h])
        rows.sizes[counts[NUM_ROWS]] = num_kept
    counts[NUM_ROWS] += 1
    counts[NUM_ENTRIES] += num_kept


@inlined
def get_below(shape, player, frame, weights, width, has_hand, below):
    """Which hands the player can still have after the raise that is looked at; False if none."""
    after = shape.raises[shape.first_raise[frame.standing] + frame.child]
    before_level, after_level = shape.levels[frame.standing], shape.levels[after]
    kinds = shape.maps[player, before_level, after_level]
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
def begin(field):
    """Put the walk before the first bid."""
    field.frames[0].place = 0
    field.frames[0].standing = NO_BID_YET
    field.frames[0].mover = 0
    field.frames[0].child = NOT_BEGUN


@inlined
def go_on(shape, player, weights, field, depth):
    """Go to the next node that the player's choices in ``weights`` lead to; returns its depth."""
    frame = field.frames[depth]
    first = shape.first_raise[frame.standing]
    width = shape.widths[player, shape.levels[frame.standing]]
    frame.child += 1
    if frame.child >= shape.first_raise[frame.standing + 1] - first:
        return depth - 1
    has_hand, below = field.has_hand[depth], field.has_hand[depth + 1]
    if not get_below(shape, player, frame, weights, width, has_hand, below):
        return depth
    after = shape.raises[first + frame.child]
    child = field.frames[depth + 1]
    child.place = frame.place + shape.offsets[frame.mover, first + frame.child]
    child.standing = after
    child.mover = 1 - frame.mover
    child.child = NOT_BEGUN
    field.keys[depth + 1] = fold(field.keys[depth], 1 + field.actions[after])
    return depth + 1


@inlined
def num_actions_at(shape, player, frame):
    """How many actions the player has at a node that the walk comes to; 0 elsewhere."""
    num_raises = shape.first_raise[frame.standing + 1] - shape.first_raise[frame.standing]
    if frame.child != NOT_BEGUN or frame.mover != player or num_raises == 0:
        return 0
    return num_raises + (frame.standing != NO_BID_YET)


@compiled(types.void(SHAPE, INT, types.float32[::1], types.float32, FIELD, _ROWS, types.int64[::1]))
def extract_side(shape, player, weights, least, field, rows, counts):
    """Write, or with empty arrays just count, the rows of one player."""
    begin(field)
    depth = 0
    while depth >= 0:
        frame = field.frames[depth]
        num_actions = num_actions_at(shape, player, frame)
        if num_actions:
            width = shape.widths[player, shape.levels[frame.standing]]
            key = field.keys[depth]
            for h in range(width):
                if field.has_hand[depth, h]:
                    total = drop_small(weights, frame.place, width, num_actions, h, least)
                    write_row(
                        shape,
                        field,
                        frame,
                        weights,
                        width,
                        num_actions,
                        h,
                        key,
                        total,
                        rows,
                        counts,
                    )
        depth = go_on(shape, player, weights, field, depth)


def make_rows(num_rows: int, num_entries: int) -> Rows:
    """Room for so many rows."""
    return Rows(
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
) -> Rows:
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
    extract_side(shape.arrays, player, weights, least, field, make_rows(0, 0), counts)
    rows = make_rows(*counts.tolist())
    counts[:] = 0
    extract_side(shape.arrays, player, weights, least, field, rows, counts)
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
    rows: Rows
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
    first = game.options.first_player
    if game.options.single_round:
        openers = [first] if isinstance(first, int) else [0, 1]
        return sorted({(seats[seat], seats[1 - seat]) for seat in openers})
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
    rows = Rows(*(np.concatenate(arrays) for arrays in zip(*sides, strict=True)))
    best, worst = solver.best_values(table), solver.worst_values(table)
    return SolvedRound(solver.shape.dice, solver.value(table), best, worst, rows)


def to_policy(game: Game, rounds: Mapping[Dice, SolvedRound], **notes: Any) -> Policy:
    """The policy of a match, or of as much of it as has been solved."""
    solved = list(rounds.values())
    none = make_rows(0, 0)  # as long as no round is solved
    rows_of = [none, *(each.rows for each in solved)]
    parts = [np.concatenate([getattr(rows, name) for rows in rows_of]) for name in Rows._fields]
    rows = sort_rows(Rows(*parts))
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


def sort_rows(rows: Rows) -> Rows:
    """The rows by rising keys, the actions of each by rising numbers."""
    row_of = np.repeat(np.argsort(np.argsort(rows.keys)), rows.sizes)
    order = np.lexsort((rows.actions, row_of))
    by_key = np.argsort(rows.keys)
    return Rows(rows.keys[by_key], rows.sizes[by_key], rows.actions[order], rows.probs[order])


class MatchFigures(NamedTuple):
    """Values of a match, from -1 to 1."""

    value: float
    """To the player in seat 0, who plays against the same policy."""
    best_values: tuple[float, float]
    """To a best response in each seat."""

    @property
    def exploitability(self) -> float:
        """What a best response wins, per player."""
        return sum(self.best_values) / 2


def match_figures(game: Game, rounds: Mapping[Dice, SolvedRound]) -> MatchFigures | None:
    """Values of a match, or ``None`` while rounds are missing."""
    assert isinstance(game, LiarsDice)
    if set(rounds_of(game)) - set(rounds):
        return None
    played = {dice: ((solved.value,), (-solved.value,)) for dice, solved in rounds.items()}
    responses = {
        dice: tuple(zip(solved.best_values, solved.worst_values, strict=True))
        for dice, solved in rounds.items()
    }
    return MatchFigures(
        _seat_value(game, 0, played),
        (_seat_value(game, 0, responses), _seat_value(game, 1, responses)),
    )


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

    first = game.options.first_player
    openers = [first] if isinstance(first, int) else [0, 1]
    own, other = seats[seat], seats[1 - seat]
    return sum(value(own, other, opener == seat) for opener in openers) / len(openers)
