"""Expected places from a model of strength: regression, or a small network.

Every player of a position has a few features; from his own, those of the next player and those of
the one after, the model makes his strength. The chance that one player ends before another is the
logistic function of the difference of their strengths, and chances add up to expected places. Each
slice of the game has weights of its own. Without hidden units that is logistic regression.

Two sets of features: ``known`` sees the deck, and with it the order of the cards, by playing the
game on at two thresholds; ``hidden`` sees what everybody sees, the cards that may still come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.features import (
    NUM_PLAYERS,
    count_bits,
    extensions,
    joins,
    sum_values,
)
from agents.games.no_thanks.slices.rolling import roll_out
from agents.games.no_thanks.solving.board import (
    EVALUATE,
    cost_on_board,
    load_board,
    make_board,
)
from envs.core.compiling import compiled, helper, inlined
from envs.no_thanks import NoThanks

__all__ = ["KINDS", "NUM_INPUTS", "NUM_TRAITS", "Weights", "inputs_of", "strength_params"]

THRESHOLDS = (7, 14)
NUM_TRAITS = 14
"""Features of a player."""
NUM_INPUTS = NUM_PLAYERS * NUM_TRAITS
CARDS_PER_SLICE = 3
# The head of the parameters: hidden units, slices, and where the first slice begins.
NUM_HIDDEN, NUM_SLICES, HEAD = 0, 1, 2


class Weights(NamedTuple):
    """Of the model in one slice."""

    direct: npt.NDArray[np.float64]
    """[inputs]: from the features to the strength."""
    hidden: npt.NDArray[np.float64]
    """[units, inputs + 1]: from the features, and a constant, to the hidden units."""
    out: npt.NDArray[np.float64]
    """[units]: from there to the strength."""


# ---- features ------------------------------------------------------------------------------------


@helper
def soon(b, player):
    """Cards to come beside a run of ``player``, the next one counting 1 and later ones less."""
    owned = b.owned[player]
    beside = (owned << 1) | (owned >> 1)
    total = 0.0
    share = 1.0
    for place in range(b.num_taken, b.deck_size):
        if (beside >> b.deck[place]) & 1:
            total += share
        share *= 0.8
    return total


@inlined
def write_common(b, coming, share):
    """The features that both sets have; ``share`` is how likely a card of ``coming`` comes."""
    n = NUM_PLAYERS
    for ahead in range(n):
        player = b.to_move + ahead if b.to_move + ahead < n else b.to_move + ahead - n
        at = NUM_TRAITS * ahead
        beside = extensions(b, coming, player)
        owned = b.owned[player]
        b.features[at] = (b.chips[player] - b.leads[player]) / 10.0
        b.features[at + 1] = b.chips[player] / 10.0
        b.features[at + 2] = min(b.chips[player], 3)
        b.features[at + 3] = 1.0 if b.chips[player] == 0 else 0.0
        b.features[at + 4] = share * count_bits(beside)
        b.features[at + 5] = share * sum_values(b, beside) / 20.0
        b.features[at + 6] = share * joins(b, coming, player)
        b.features[at + 7] = count_bits(owned & ~(owned << 1))
        b.features[at + 8] = ahead == 0
        b.features[at + 9] = ahead == 1


@inlined
def write_known(b):
    """Features of every player from the mover on, with the deck as it lies."""
    n = NUM_PLAYERS
    write_common(b, b.rest[b.num_taken], 1.0)
    card = b.deck[b.num_taken]
    for ahead in range(n):
        player = b.to_move + ahead if b.to_move + ahead < n else b.to_move + ahead - n
        b.features[NUM_TRAITS * ahead + 10] = soon(b, player)
        b.features[NUM_TRAITS * ahead + 11] = cost_on_board(b, player, card) / 10.0
    for number in range(2):
        roll_out(b, THRESHOLDS[number])
        for ahead in range(n):
            player = b.to_move + ahead if b.to_move + ahead < n else b.to_move + ahead - n
            score = b.trial_chips[player] - b.trial_leads[player]
            b.features[NUM_TRAITS * ahead + 12 + number] = score / 10.0


@inlined
def write_hidden(b):
    """Features of every player from the mover on, without the cards that nobody has seen."""
    n = NUM_PLAYERS
    unseen = (1 << b.num_cards) - 1
    for player in range(n):
        unseen &= ~b.owned[player]
    left = b.deck_size - b.num_taken
    share = left / (b.num_cards - b.num_taken)
    write_common(b, unseen, share)
    for ahead in range(n):
        player = b.to_move + ahead if b.to_move + ahead < n else b.to_move + ahead - n
        owned = b.owned[player]
        both = unseen & (owned << 1) & (owned >> 1)  # a single card joins two runs
        below = unseen & (owned >> 1) & ~(owned << 1)
        at = NUM_TRAITS * ahead
        b.features[at + 10] = share * count_bits(both)
        b.features[at + 11] = share * sum_values(b, both) / 20.0
        b.features[at + 12] = share * count_bits(below)
        b.features[at + 13] = left * (ahead == 0) / 10.0


# ---- the model -----------------------------------------------------------------------------------


@inlined
def strength(b, params, at, num_hidden, ahead):
    """The strength of the player so many seats after the mover."""
    x = b.features
    first = NUM_TRAITS * ahead
    total = 0.0
    for i in range(NUM_INPUTS):
        place = first + i if first + i < NUM_INPUTS else first + i - NUM_INPUTS
        total += params[at + i] * x[place]
    at += NUM_INPUTS
    for _ in range(num_hidden):
        unit = params[at + NUM_INPUTS]
        for i in range(NUM_INPUTS):
            place = first + i if first + i < NUM_INPUTS else first + i - NUM_INPUTS
            unit += params[at + i] * x[place]
        if unit > 0.0:
            total += unit * params[at + NUM_INPUTS + 1]
        at += NUM_INPUTS + 2
    return total


@inlined
def expected_places(b, params, out):
    """Places from the middle, of which the features on the board speak."""
    n = NUM_PLAYERS
    num_hidden = np.int64(params[NUM_HIDDEN])
    index = (b.deck_size - b.num_taken) // CARDS_PER_SLICE
    index = min(index, np.int64(params[NUM_SLICES]) - 1)
    at = HEAD + index * (NUM_INPUTS + num_hidden * (NUM_INPUTS + 2))
    a = strength(b, params, at, num_hidden, 0)
    c = strength(b, params, at, num_hidden, 1)
    d = strength(b, params, at, num_hidden, 2)
    a_c = 1.0 / (1.0 + np.exp(c - a)) - 0.5
    a_d = 1.0 / (1.0 + np.exp(d - a)) - 0.5
    c_d = 1.0 / (1.0 + np.exp(d - c)) - 0.5
    following = b.to_move + 1 if b.to_move + 1 < n else 0
    last = following + 1 if following + 1 < n else 0
    out[b.to_move] = a_c + a_d
    out[following] = c_d - a_c
    out[last] = -a_d - c_d


@compiled(EVALUATE)
def known_estimate(board, params, out):
    """Expected places with the deck as it lies."""
    write_known(board[0])
    expected_places(board[0], params, out)


@compiled(EVALUATE)
def hidden_estimate(board, params, out):
    """Expected places with an unknown deck."""
    write_hidden(board[0])
    expected_places(board[0], params, out)


KINDS = {"known": (write_known, known_estimate), "hidden": (write_hidden, hidden_estimate)}
"""Every set of features: what writes them, and the estimate that goes by them."""


def inputs_of(game: NoThanks, state: npt.NDArray[np.uint8], kind: str) -> npt.NDArray[np.float64]:
    """[players, traits] of a state, from the mover on."""
    board = make_board()
    load_board(board, state, game.rules, 0)
    KINDS[kind][0](board[0])
    found: npt.NDArray[np.float64] = board[0]["features"][:NUM_INPUTS].copy()
    return found.reshape(NUM_PLAYERS, NUM_TRAITS)


def strength_params(slices: list[Weights]) -> npt.NDArray[np.float64]:
    """Weights of all slices as the numbers that the estimates read."""
    num_hidden = len(slices[0].out)
    parts: list[npt.NDArray[np.float64]] = [np.array([num_hidden, len(slices)], np.float64)]
    for weights in slices:
        units = np.concatenate([weights.hidden, weights.out[:, None]], axis=1)
        parts += [weights.direct, units.ravel()]
    params = np.concatenate(parts)
    params.flags.writeable = False
    return params
