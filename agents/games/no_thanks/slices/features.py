"""What is known of a position in numbers: twelve for a neighbour, or some for each player.

The twelve, from the player to move on, forget which cards are to come and in which order:

=============  ====  =============================================================================
lead cards     0, 1  those of the next player and of the one after him, less the mover's
extensions     2-4   cards to come that extend a run of each player
their values   5, 6  the sums, less the mover's
chips          7, 8  less the mover's
joins          9-11  gaps between runs of each player all of whose cards are still to come
=============  ====  =============================================================================

A model of strength has ``NUM_TRAITS`` for every player. ``known`` sees the deck, and with it the
order of the cards, by playing the game on at two thresholds; ``hidden`` sees what everybody sees,
the cards that may still come.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.board import cost_of_card, load_board, make_board
from envs.core.compiling import helper, inlined
from envs.no_thanks import NoThanks

CATEGORIES = (0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Which category each number belongs to."""
NUM_FEATURES = len(CATEGORIES)
NUM_CATEGORIES = 5
NUM_PLAYERS = 3
THRESHOLDS = (7, 14)
NUM_TRAITS = 14
"""Features of a player."""
NUM_INPUTS = NUM_PLAYERS * NUM_TRAITS


@helper
def count_bits(cards):
    """How many cards a set has."""
    count = 0
    while cards != 0:
        cards &= cards - 1
        count += 1
    return count


@helper
def sum_values(b, cards):
    """The sum of the values of a set."""
    total = 0
    card = 0
    while cards != 0:
        if cards & 1:
            total += b.lowest + b.step * card
        cards >>= 1
        card += 1
    return total


@helper
def extensions(b, coming, player):
    """The cards of ``coming`` that lie beside a run of ``player``, as a set."""
    owned = b.owned[player]
    return coming & ((owned << 1) | (owned >> 1))


@helper
def joins(b, coming, player):
    """How many gaps between runs of ``player`` can still be closed by cards of ``coming``.

    Carrying from the card above a run through cards to come ends on a card of the player's if and
    only if all of the gap is to come.
    """
    owned = b.owned[player]
    tops = (owned << 1) & ~owned & coming  # the first card of every gap
    after = (coming + tops) & ~coming  # the first card beyond each stretch that begins there
    return count_bits(after & owned)


# ---- for the nearest neighbour -------------------------------------------------------------------


@inlined
def write_features(b):
    """Write the twelve numbers into the board."""
    n = 3
    at = b.features
    coming = b.rest[b.num_taken]
    mover = b.to_move
    total = 0
    for ahead in range(n):
        player = mover + ahead if mover + ahead < n else mover + ahead - n
        beside = extensions(b, coming, player)
        values = sum_values(b, beside)
        at[2 + ahead] = count_bits(beside)
        at[9 + ahead] = joins(b, coming, player)
        if ahead == 0:
            total = values
        else:
            at[ahead - 1] = b.leads[player] - b.leads[mover]
            at[4 + ahead] = values - total
            at[6 + ahead] = b.chips[player] - b.chips[mover]


def features(game: NoThanks, state: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """The twelve numbers of a state, from Python."""
    board = make_board()
    load_board(board, state, game.rules, 0)
    write_features(board[0])
    found: npt.NDArray[np.int32] = board[0]["features"][:NUM_FEATURES].astype(np.int32)
    return found


# ---- for a model of strength ---------------------------------------------------------------------


@inlined
def roll_out(b, threshold):
    """Play on to the end with one ``threshold`` for all; the trial fields hold what comes of it.

    It starts where no chips lie on the card, and chips are counted.
    """
    n = b.num_players
    for player in range(n):
        b.trial_owned[player] = b.owned[player]
        b.trial_chips[player] = b.chips[player]
        b.trial_leads[player] = b.leads[player]
    mover = b.to_move
    for place in range(b.num_taken, b.deck_size):
        card = b.deck[place]
        first = 1 << 30
        taker = mover
        for ahead in range(n):
            player = mover + ahead if mover + ahead < n else mover + ahead - n
            wanted = cost_of_card(b, b.trial_owned[player], card) - threshold - ahead
            laps = 0 if wanted <= 0 else (wanted + n - 1) // n
            turn = ahead + n * min(laps, b.trial_chips[player])
            if turn < first:
                first = turn
                taker = player
        b.trial_leads[taker] += cost_of_card(b, b.trial_owned[taker], card)
        b.trial_owned[taker] |= 1 << card
        for ahead in range(n):
            player = mover + ahead if mover + ahead < n else mover + ahead - n
            if first > ahead:
                b.trial_chips[player] -= (first - ahead + n - 1) // n
        b.trial_chips[taker] += first
        mover = taker


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
        b.features[NUM_TRAITS * ahead + 11] = cost_of_card(b, b.owned[player], card) / 10.0
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


WRITERS = {"known": write_known, "hidden": write_hidden}
"""By the name of a set of features."""


def inputs_of(game: NoThanks, state: npt.NDArray[np.uint8], kind: str) -> npt.NDArray[np.float64]:
    """[players, traits] of a state, from the mover on."""
    board = make_board()
    load_board(board, state, game.rules, 0)
    WRITERS[kind](board[0])
    found: npt.NDArray[np.float64] = board[0]["features"][:NUM_INPUTS].copy()
    return found.reshape(NUM_PLAYERS, NUM_TRAITS)
