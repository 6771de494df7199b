"""The sequence form of a game, laid out for the passes of ``vectors``.

With perfect recall the last (information set, action) that a player went through stands for all of
the player's own actions so far: a *sequence*. So a game is the information sets of every player,
each with the sequence before it, and for every combination of last sequences that some history ends
with the chance of it times what each player gets.

Every information set is a stop with a single hand, which comes from the sequence before it. What
follows a sequence is added up from the last information set to the first, in whatever steps they
are: so values are those of a pass that takes one information set after the other.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.cfr.threads import TOP, Division, divide
from agents.cfr.tree_walk import NONE
from agents.cfr.vectors import Layout, Places, Side, make_side, put_together, sort_ends


class Payoffs(NamedTuple):
    """What is paid for every combination of the players' last sequences."""

    sequences: npt.NDArray[np.int32]
    """[n, players]: last sequence of each player, ``num_sequences`` for one who never moved."""
    values: npt.NDArray[np.float64]
    """[n, players]: chance probability times return, summed over the histories that end so."""


def lay_out_sequences(
    infosets: npt.NDArray[Any],
    infoset_starts: npt.NDArray[np.int64],
    sequence_infosets: npt.NDArray[np.int32],
    payoffs: Payoffs,
) -> Layout:
    """Divide and sort a game; the arguments are those of ``GameTree``."""
    firsts, before = infosets["first_sequence"], infosets["parent_sequence"]
    # Each player's sets are counted from 0; the empty sequence, the last, belongs to none.
    numbers = np.arange(len(infosets)) - infoset_starts[infosets["player"]]
    owners = np.append(numbers[sequence_infosets], NONE).astype(np.int32)
    ranges = [slice(*ends) for ends in pairwise(infoset_starts.tolist())]
    sides: list[Side] = []
    for own in ranges:
        actions = infosets["num_actions"][own].astype(np.int64)
        division = divide(owners[before[own]], actions)
        order = _order(before[own], actions, division)
        hands, last = np.ones_like(actions), sides[-1] if sides else None
        sides.append(make_side(hands, actions, division, order, last, widest=len(order)))

    places = Places(*map(np.concatenate, zip(*(side.places for side in sides), strict=True)))
    ranks = np.arange(len(sequence_infosets), dtype=np.int32) - firsts[sequence_infosets]
    slots = places.first_sequence[sequence_infosets] + ranks * places.stride[sequence_infosets]
    sources = np.zeros(len(infosets), np.int32)
    ends = np.empty(payoffs.sequences.shape, np.uint32)
    for player, side in enumerate(sides):
        own_slots = np.append(slots, np.int32(side.root))
        sources[side.places.first_source] = own_slots[before[ranges[player]]]
        ends[:, player] = own_slots[payoffs.sequences[:, player]]
    combinations, amounts = [], []
    for player, side in enumerate(sides):
        own_last = payoffs.sequences[:, player]
        order = sort_ends(side, player, owners[own_last], own_last)
        others = np.delete(ends[order], player, axis=1)
        combinations.append(np.column_stack([ends[order, player], others]))
        amounts.append(payoffs.values[order, player])
    rows = {"combinations": np.concatenate(combinations), "amounts": np.concatenate(amounts)}
    return Layout(put_together(sides, sources, **rows), slots)


def _order(
    before: npt.NDArray[np.int32], actions: npt.NDArray[np.int64], division: Division
) -> npt.NDArray[np.int64]:
    """A player's information sets by parts, levels and numbers of actions.

    Values go up from the last to the first, and from parts to the top from the first to the last.
    So that what follows a sequence is added up in that order, steps with many actions come first,
    and all over again in another *round* as often as a set has more actions than the one before it
    that follows the same sequence.
    """
    families = division.parts * (before.max(initial=0) + 1) + before
    by_family = np.argsort(families, kind="stable")
    is_first = np.diff(families[by_family], prepend=NONE) != 0
    rises = np.cumsum(np.diff(actions[by_family], prepend=0) > 0)
    rounds = np.empty_like(actions)
    rounds[by_family] = rises - np.maximum.accumulate(np.where(is_first, rises, 0))
    hangs_on_top = (division.parts != TOP) & (division.levels == 0)
    numbers = np.arange(len(actions))
    turned = np.where(hangs_on_top, numbers, -numbers)
    return np.lexsort((turned, -actions, rounds, division.levels, division.parts))
