"""The public tree of one round of Liar's Dice between two players, which is never written down.

**Public nodes** are the bids so far. What may follow depends on the standing bid alone, so all
subtrees below the same standing bid, with the same player to move, have the same shape. If arrays
hold the nodes depth first, the place of every node follows from the sizes of these few shapes:
a node's own rows come first, then the subtrees of its raises, one after the other. After the last
bid, which can only be called, there is nothing to choose and nothing to keep.

**Hands** are sorted dice, but a face that can be bid no more is as good as any other such face.
Once sixes stand under ``never_lower`` all that matters of a hand is its number of sixes: 6 kinds
instead of 252. Dice of two players are independent, so hands that differ only in dead faces have
the same regrets for ever, and merging them changes nothing. A *level* is a set of faces that are
still alive; every standing bid has one, and *maps* lead from kinds of hands at one level to those
at the next.

The rules are written here a second time, because the kernels know one deal and one state at a time,
while this tree has no states at all and one node for all deals. Options that it does not know are
refused, and tests compare it with trees that the kernels write.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.cfr.tree import TooLargeError
from agents.games.liars_dice.abstractions import refuse_unknown
from common.errors import MasqueradeError
from envs.core.records import Cube, Grid, Row, tuple_type
from envs.liars_dice.game import LiarsDice, LiarsDiceOptions
from envs.liars_dice.kernels import RULES

LANES = 8
"""Vectors over hands are padded to a multiple of this, so that loops over them become vector
instructions without a rest."""
NO_BID_YET = 0
"""Standing before the first bid; bid *k* of a round stands as *k + 1*."""

MOST_ENTRIES = 2**40

Hand = tuple[int, ...]


class ShapeArrays(NamedTuple):
    """The shape, as compiled code reads it; *standing* is the index in the first axis of most."""

    dice: Row[np.int32]
    """[player]"""
    counts: Row[np.int32]
    """[standing] dice that the standing bid claims."""
    levels: Row[np.int32]
    """[standing] which faces are alive."""
    first_raise: Row[np.int32]
    """[standing + 1] where its raises begin in ``raises``."""
    raises: Row[np.int32]
    """What stands after each raise."""
    offsets: Grid[np.int64]
    """[mover, raise] from the first entry of a node to that of its child."""
    widths: Grid[np.int32]
    """[player, level] length of a vector over hands, padded."""
    fits: Cube[np.int32]
    """[player, standing, hand] dice of a hand that fit the standing bid."""
    maps: Annotated[npt.NDArray[np.int32], 4]
    """[player, level, next level, hand] the kind that a hand becomes."""


SHAPE = tuple_type(ShapeArrays)


class RoundShape:
    """One round with so many dice for the opener and for the other player.

    Args:
        options: of the game; only its faces, wild face and raising matter here.
        dice: of the opener and of the other.

    >>> shape = RoundShape(LiarsDiceOptions(), (5, 5))
    >>> f"{shape.num_nodes:,} public nodes, {shape.num_entries:,} entries"
    '8,579,072 public nodes, 343,318,016 entries'
    >>> [len(kinds) for kinds in shape.hands[0]]
    [252, 252, 126, 56, 21, 6]
    """

    def __init__(self, options: LiarsDiceOptions, dice: tuple[int, int]) -> None:
        """Find levels, hands, and the place of everything."""
        if options.num_players != 2:
            raise MasqueradeError(
                f"rounds are solved for two players, not for {options.num_players}: use mccfr"
            )
        refuse_unknown(options)
        self.options = options
        self.dice = dice
        alike = {name: getattr(options, name) for name in ("faces", "wild", "raising")}
        self.game = LiarsDice(num_players=2, dice=dice, single_round=True, **alike)
        self._rules = self.game.rules.view(RULES)[0]
        num_bids = int(self._rules.liar)
        self.bids = [self.game.bid(bid) for bid in range(num_bids)]
        """Count and face of every bid."""
        all_bids = range(num_bids)
        self.raises = [[*all_bids], *([k for k in all_bids if self._rises(k, b)] for b in all_bids)]
        """What may follow each standing bid, as bids."""
        self._find_levels()
        self.arrays = self._make_arrays()

    def _rises(self, bid: int, before: int) -> bool:
        (count, face), (old_count, old_face) = self.bids[bid], self.bids[before]
        if self.options.raising == "never_lower":
            return count >= old_count and face >= old_face and bid != before
        # Bids are numbered in the order in which they rise.
        return bid > before

    # ---- hands -----------------------------------------------------------------------------------

    def _find_levels(self) -> None:
        """Which faces are alive under each standing bid, and the kinds of hands that remain."""
        wild = int(self._rules.wild_face)
        alive_by_standing = []
        for standing, raises in enumerate(self.raises):
            named = {self.bids[bid][1] for bid in raises}
            if standing != NO_BID_YET:
                named.add(self.bids[standing - 1][1])
            if wild:
                named.add(wild)
            alive_by_standing.append(frozenset(named))
        self.alive = sorted(set(alive_by_standing), key=lambda faces: (-len(faces), sorted(faces)))
        """The faces that are alive at each level."""
        self.levels = [self.alive.index(alive) for alive in alive_by_standing]
        """The level of each standing bid."""
        faces = range(1, self.options.faces + 1)
        all_hands = [list(combinations_with_replacement(faces, n)) for n in self.dice]
        self.hands = [
            [sorted({self.kind(hand, level) for hand in hands}) for level in range(len(self.alive))]
            for hands in all_hands
        ]
        """Kinds of hands of each player at each level; dead faces are written 0."""
        self._all_hands = all_hands

    def kind(self, hand: Sequence[int], level: int) -> Hand:
        """A hand with its dead faces written as 0."""
        alive = self.alive[level]
        return tuple(sorted(face if face in alive else 0 for face in hand))

    @cached_property
    def priors(self) -> list[npt.NDArray[np.float64]]:
        """Chance of each kind of hand of each player before the first bid, padded."""
        priors = []
        for player, hands in enumerate(self._all_hands):
            prior = np.zeros(int(self.arrays.widths[player, self.levels[0]]))
            index = {kind: i for i, kind in enumerate(self.hands[player][self.levels[0]])}
            for hand in hands:
                ways = factorial(len(hand))
                for face in set(hand):
                    ways //= factorial(hand.count(face))
                prior[index[self.kind(hand, self.levels[0])]] += ways / self.options.faces ** len(
                    hand
                )
            priors.append(prior)
        return priors

    def _fitting(self, hand: Hand, standing: int) -> int:
        if standing == NO_BID_YET:
            return 0
        face, wild = self.bids[standing - 1][1], int(self._rules.wild_face)
        return sum(1 for die in hand if die == face or (wild and die == wild))

    # ---- places ----------------------------------------------------------------------------------

    def num_actions(self, standing: int) -> int:
        """Raises, and the call if there is something to call; no choice is no action."""
        num_raises = len(self.raises[standing])
        return num_raises + (standing != NO_BID_YET) if num_raises else 0

    def _make_arrays(self) -> ShapeArrays:
        num_standing, num_levels = len(self.raises), len(self.alive)
        kinds = np.array([[len(k) for k in levels] for levels in self.hands], np.int32)
        widths = -(-kinds // LANES) * LANES
        most = int(widths.max())
        fits = np.zeros((2, num_standing, most), np.int32)
        maps = np.zeros((2, num_levels, num_levels, most), np.int32)
        for player in (0, 1):
            for standing, level in enumerate(self.levels):
                for i, hand in enumerate(self.hands[player][level]):
                    fits[player, standing, i] = self._fitting(hand, standing)
            for before in range(num_levels):
                for after in range(num_levels):
                    if self.alive[after] <= self.alive[before]:
                        index = {hand: i for i, hand in enumerate(self.hands[player][after])}
                        for i, hand in enumerate(self.hands[player][before]):
                            maps[player, before, after, i] = index[self.kind(hand, after)]
        counts = [0] + [count for count, _ in self.bids]
        first_raise = np.cumsum([0] + [len(raises) for raises in self.raises])
        return ShapeArrays(
            np.array(self.dice, np.int32),
            np.array(counts, np.int32),
            np.array(self.levels, np.int32),
            first_raise.astype(np.int32),
            np.array([bid + 1 for raises in self.raises for bid in raises], np.int32),
            self._find_places(widths),
            widths.astype(np.int32),
            fits,
            maps,
        )

    def _find_places(self, widths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Sizes of subtrees from the highest bid down, and the offsets of children."""
        num_standing = len(self.raises)
        sizes, infosets = ([[0, 0] for _ in range(num_standing)] for _ in range(2))
        nodes = [1] * num_standing
        offsets: list[list[list[int]]] = [[[] for _ in self.raises] for _ in (0, 1)]
        for standing in sorted(range(num_standing), key=lambda s: len(self.raises[s])):
            level, num_actions = self.levels[standing], self.num_actions(standing)
            for mover in (0, 1):
                at = num_actions * int(widths[mover, level])
                infosets[standing][mover] = len(self.hands[mover][level]) * (num_actions > 0)
                for bid in self.raises[standing]:
                    offsets[mover][standing].append(at)
                    at += sizes[bid + 1][1 - mover]
                    infosets[standing][mover] += infosets[bid + 1][1 - mover]
                sizes[standing][mover] = at
            nodes[standing] += sum(nodes[bid + 1] for bid in self.raises[standing])
        if sizes[NO_BID_YET][0] > MOST_ENTRIES:
            raise TooLargeError(
                f"{self.dice[0]} dice against {self.dice[1]} have {nodes[NO_BID_YET]:.1e} public "
                "nodes, more than any memory holds: take fewer dice, or raising=never_lower"
            )
        self.sizes = np.array(sizes, np.int64)
        """[standing, mover] entries of all nodes from such a node on."""
        self.num_nodes = nodes[NO_BID_YET]
        """Public nodes at which somebody has to move."""
        self.num_infosets = infosets[NO_BID_YET][0]
        """Sequences of a public node with a choice and a kind of hand."""
        return np.array([[o for per in offsets[m] for o in per] for m in (0, 1)], np.int64)

    @property
    def num_entries(self) -> int:
        """Entries of a table: one for each public node, action and kind of hand, with padding."""
        return int(self.sizes[NO_BID_YET, 0])

    @property
    def nbytes(self) -> int:
        """Bytes of the two arrays that a solver needs."""
        return 2 * self.num_entries * np.dtype(np.float32).itemsize

    @property
    def longest_bidding(self) -> int:
        """The largest number of bids in a round."""
        return self.game.longest_bidding(sum(self.dice))
