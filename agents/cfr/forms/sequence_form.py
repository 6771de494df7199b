"""The sequence form of a game, as the passes of ``sequences`` work through it.

With perfect recall the last (information set, action) that a player went through stands for all of
the player's own actions so far: a *sequence*. So a game is the information sets of every player,
each with the sequence before it, and for every combination of last sequences that some history ends
with the chance of it times what each player gets.

Every player has its own copy of the payoffs, sorted as its information sets are: by the parts of
its division (see ``division``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.forms.division import TOP, divide
from agents.cfr.forms.records import NONE

__all__ = ["FORM", "Form", "Payoffs", "make_form"]

DECISION = np.dtype(
    (
        np.record,
        [
            ("first_sequence", np.int32),
            ("num_actions", np.int32),
            ("parent_sequence", np.int32),
        ],
    )
)
PART = np.dtype(
    (
        np.record,
        [
            ("first_decision", np.int64),
            ("first_inside", np.int64),  # the decisions before it hang on the top
            ("first_row", np.int64),
        ],
    )
)


@dataclass(frozen=True)
class Payoffs:
    """What is paid for every combination of the players' last sequences."""

    sequences: npt.NDArray[np.int32]
    """[n, players]: last sequence of each player, ``num_sequences`` for one who never moved."""
    values: npt.NDArray[np.float64]
    """[n, players]: chance probability times return, summed over the histories that end so."""


class Form(NamedTuple):
    """A game, as compiled code reads it."""

    parts: npt.NDArray[Any]
    """Each player's top and then its parts, and one more that says where all end."""
    tops: npt.NDArray[np.int64]
    """Parts of player *p*: ``tops[p] .. tops[p + 1]``."""
    decisions: npt.NDArray[Any]
    """Information sets; in every part, and in the top, parents come before children."""
    sequences: npt.NDArray[np.int32]
    """[row, player]: the payoffs, once for each player."""
    values: npt.NDArray[np.float64]
    """[row]: of the player whose row it is."""

    @property
    def num_parts(self) -> int:
        """Parts of the player who has the fewest; so many threads can work side by side."""
        return int(np.diff(self.tops).min()) - 1


FORM = types.NamedTuple(
    (
        from_dtype(PART)[::1],
        types.int64[::1],
        from_dtype(DECISION)[::1],
        types.int32[:, ::1],
        types.float64[::1],
    ),
    Form,
)


def make_form(
    infosets: npt.NDArray[Any],
    infoset_starts: npt.NDArray[np.int64],
    sequence_infosets: npt.NDArray[np.int32],
    payoffs: Payoffs,
) -> Form:
    """Divide and sort a game; the arguments are those of ``GameTree``."""
    num_players = payoffs.sequences.shape[1]
    # One more at the end: the empty sequence comes before the roots, and belongs to no set.
    owners = np.append(sequence_infosets, np.int32(NONE))
    sides = [
        _make_side(
            infosets[infoset_starts[player] : infoset_starts[player + 1]],
            int(infoset_starts[player]),
            owners,
            payoffs.sequences[:, player],
        )
        for player in range(num_players)
    ]
    for player, side in enumerate(sides):
        side.parts["first_row"] += player * len(payoffs.sequences)
    beyond = np.zeros(1, PART)
    beyond[0] = len(infosets), len(infosets), num_players * len(payoffs.sequences)
    return Form(
        np.concatenate([*(side.parts for side in sides), beyond]),
        np.cumsum([0, *(len(side.parts) for side in sides)]),
        np.concatenate([side.decisions for side in sides]),
        np.concatenate([payoffs.sequences[side.rows] for side in sides]),
        np.concatenate([payoffs.values[side.rows, p] for p, side in enumerate(sides)]),
    )


class Side(NamedTuple):
    """One player's part of a form; its rows are counted from 0."""

    parts: npt.NDArray[Any]
    decisions: npt.NDArray[Any]
    rows: npt.NDArray[np.int64]
    """The payoffs in the order of the player's parts."""


def _make_side(
    infosets: npt.NDArray[Any],
    start: int,
    owners: npt.NDArray[np.int32],
    own_sequences: npt.NDArray[np.int32],
) -> Side:
    """Divide the information sets of a player, the first of which has the number ``start``.

    Args:
        infosets: of the player.
        start: the number of the first one.
        owners: the number of every sequence's information set.
        own_sequences: the player's last sequence in each row of the payoffs.
    """
    parents = owners[infosets["parent_sequence"]]
    parents[parents != NONE] -= start
    division = divide(parents, infosets["num_actions"].astype(np.int64))
    hangs_on_top = (division.parts != TOP) & (division.levels == 0)
    order = np.lexsort((~hangs_on_top, division.parts))
    decisions = np.empty(len(infosets), DECISION)
    for name in DECISION.names or ():
        decisions[name] = infosets[name][order]

    # Who never moves ends with the empty sequence, which belongs to the top.
    own = owners[own_sequences]
    row_parts = np.append(division.parts, TOP)[np.where(own == NONE, NONE, own - start)]
    rows = np.lexsort((own_sequences, row_parts))

    parts = np.zeros(division.num_parts + 1, PART)
    numbers = np.arange(len(parts))
    num_hanging = np.bincount(division.parts, hangs_on_top, len(parts)).astype(np.int64)
    parts["first_decision"] = start + np.searchsorted(division.parts[order], numbers)
    parts["first_inside"] = parts["first_decision"] + num_hanging
    parts["first_row"] = np.searchsorted(row_parts[rows], numbers)
    return Side(parts, decisions, rows)
