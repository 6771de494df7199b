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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.games.liars_dice.cfr.extraction import Rows, extract_policy, make_rows
from agents.games.liars_dice.cfr.rounds import RoundSolver
from agents.games.liars_dice.cfr.shape import RoundShape
from agents.policy import Policy
from common.errors import MasqueradeError
from envs.core.game import Game
from envs.liars_dice.game import LiarsDice

__all__ = [
    "Dice",
    "MatchFigures",
    "SolvedRound",
    "finish_round",
    "match_figures",
    "round_actions",
    "rounds_of",
    "to_policy",
]

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
