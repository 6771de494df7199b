"""A whole game as flat arrays: nodes, information sets, sequences and what they pay.

Nodes lie in the order of a depth-first walk, so a parent comes before its children and a subtree is
one stretch, ``node .. end``.

Solvers need less than the nodes: *sequences*, each an (information set, action), and what is paid
for every combination of last sequences, one of each player, that some history ends with (see
``sequence_form``).

Sequences and information sets are numbered player by player, and for each player parents come
before children.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.sequence_form import Payoffs, lay_out_sequences
from agents.cfr.tree_walk import (
    FINE,
    FIRST_TABLE_SIZE,
    INFOSET,
    NO_RECALL,
    NODE,
    NONE,
    NUM_COUNTS,
    TOO_LARGE,
    TOO_LONG,
    TreeArrays,
    WalkStack,
    count_nodes,
    renumber,
    write_tree,
)
from agents.cfr.vectors import Layout
from common.errors import MasqueradeError
from envs.core.game import Game
from envs.core.position import Position

DEFAULT_MAX_NODES = 20_000_000

Probs = npt.NDArray[np.float64]
"""A policy on a tree: one probability for every sequence, [num_sequences] float64."""


class TooLargeError(MasqueradeError):
    """A game with more nodes than somebody wants to write down."""


class GameTree:
    """Every node and every information set of a game.

    Attributes:
        nodes: [num_nodes] record ``NODE``.
        infosets: [num_infosets] record ``INFOSET``.
        sequence_actions: [num_sequences] int32, the action of each sequence.
        sequence_infosets: [num_sequences] int32, the information set of each sequence.
        infoset_starts: [players + 1] int64; player *p* owns ``starts[p] .. starts[p + 1]``.
        terminal_probs: [num_terminals] float64, the probability that chance allows for each.
        terminal_returns: [num_terminals, players] float64.
        terminal_sequences: [num_terminals, players] int32, ``num_sequences`` for one who never
            moved.
        open_keys: [n, players + 1] uint64 keys, the public's last, a row for each of the *n* nodes
            where the game is not over; empty without ``has_keys``.

    >>> from envs import make_game
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> len(tree.nodes), tree.num_infosets, tree.num_sequences
    (58, 12, 24)
    """

    def __init__(
        self,
        game: Game,
        max_nodes: int = DEFAULT_MAX_NODES,
        has_keys: bool = False,
        number: int = 0,
    ) -> None:
        """Write down game ``number`` of a series, which matters only if openings differ."""
        self.game = game
        self.number = number
        self.num_players = game.facts.num_players
        arrays, counts = _write(game, max_nodes, has_keys, number)
        self.nodes, self.open_keys = arrays.nodes, arrays.open_keys
        self.terminal_probs, self.terminal_returns = arrays.terminal_probs, arrays.terminal_returns
        num_infosets, num_sequences = int(counts[3]), int(counts[4])
        self.num_infosets, self.num_sequences = num_infosets, num_sequences
        self._sort_by_player(arrays)

    def _sort_by_player(self, arrays: TreeArrays) -> None:
        """Number information sets and sequences player by player; the walk met them all mixed."""
        found = arrays.infosets[: self.num_infosets]
        order = np.argsort(found["player"], kind="stable")
        self.infosets = found[order]
        sizes = self.infosets["num_actions"].astype(np.int64)
        firsts = np.concatenate([[0], np.cumsum(sizes)])
        self.sequence_infosets = np.repeat(np.arange(self.num_infosets, dtype=np.int32), sizes)
        ranks = np.arange(self.num_sequences) - firsts[self.sequence_infosets]
        old_sequences = self.infosets["first_sequence"][self.sequence_infosets] + ranks
        self.sequence_actions = arrays.sequence_actions[old_sequences]

        # The last entry is for NONE: terminals have num_sequences where somebody never moved.
        new_sequences = np.empty(self.num_sequences + 1, np.int32)
        new_sequences[old_sequences] = np.arange(self.num_sequences)
        new_sequences[NONE] = self.num_sequences
        new_infosets = np.empty(self.num_infosets, np.int32)
        new_infosets[order] = np.arange(self.num_infosets)
        renumber(arrays, new_infosets, new_sequences)
        self.terminal_sequences = arrays.terminal_sequences
        self.infosets["first_sequence"] = firsts[:-1]
        self.infosets["parent_sequence"] = new_sequences[self.infosets["parent_sequence"]]
        self.infoset_starts = np.searchsorted(
            self.infosets["player"], np.arange(self.num_players + 1)
        )

    @cached_property
    def payoffs(self) -> Payoffs:
        """Terminals that end with the same sequences, added up."""
        values = self.terminal_probs[:, None] * self.terminal_returns
        order = np.lexsort(self.terminal_sequences.T[::-1])
        sequences = self.terminal_sequences[order]
        is_first = np.ones(len(sequences), bool)
        is_first[1:] = (sequences[1:] != sequences[:-1]).any(axis=1)
        totals = np.add.reduceat(values[order], np.flatnonzero(is_first))
        return Payoffs(np.ascontiguousarray(sequences[is_first]), np.ascontiguousarray(totals))

    @cached_property
    def layout(self) -> Layout:
        """The sequence form, divided for threads."""
        known = self.infosets, self.infoset_starts, self.sequence_infosets, self.payoffs
        return lay_out_sequences(*known)

    # ---- looking ---------------------------------------------------------------------------------

    def infosets_of(self, player: int) -> range:
        """The numbers of a player's information sets."""
        return range(int(self.infoset_starts[player]), int(self.infoset_starts[player + 1]))

    def sequences_of(self, player: int) -> range:
        """The numbers of a player's sequences."""
        firsts = np.append(self.infosets["first_sequence"], self.num_sequences)
        own = self.infosets_of(player)
        return range(int(firsts[own.start]), int(firsts[own.stop]))

    def history(self, node: int) -> list[int]:
        """Actions and chance outcomes from the start to ``node``."""
        actions = []
        while self.nodes[node]["parent"] != NONE:
            actions.append(int(self.nodes[node]["action"]))
            node = int(self.nodes[node]["parent"])
        return actions[::-1]

    @cached_property
    def positions(self) -> list[Position]:
        """A position in every information set; made once, for whoever asks agents what they do."""
        nodes = self.infosets["node"].tolist()
        return [self.game.replay(self.history(node), self.number) for node in nodes]

    # ---- policies --------------------------------------------------------------------------------

    def uniform(self) -> Probs:
        """The policy that plays all legal actions alike."""
        shares: Probs = 1.0 / self.infosets["num_actions"][self.sequence_infosets]
        return shares

    def normalized(self, weights: Probs) -> tuple[Probs, npt.NDArray[np.bool_]]:
        """Weights of sequences as probabilities; uniform, and marked as unreached, where all are 0.

        Returns:
            The policy, and for every information set whether it has any weight.
        """
        totals = np.add.reduceat(weights, self.infosets["first_sequence"])
        is_reached = totals > 0.0
        totals[~is_reached] = 1.0
        probs = weights / totals[self.sequence_infosets]
        return np.where(is_reached[self.sequence_infosets], probs, self.uniform()), is_reached

    def check_policy(self, probs: Probs) -> Probs:
        """The policy as contiguous float64, or an error that says what is wrong with it."""
        probs = np.ascontiguousarray(probs, np.float64)
        if probs.shape != (self.num_sequences,):
            raise MasqueradeError(
                f"a policy of {self.game!r} has {self.num_sequences} probabilities, one for each "
                f"sequence (information set, action), not an array of shape {probs.shape}"
            )
        totals = np.add.reduceat(probs, self.infosets["first_sequence"])
        if not (probs >= 0.0).all() or not np.allclose(totals, 1.0, atol=1e-6):
            raise MasqueradeError(
                "probabilities of an information set must add up to 1 and none be negative: "
                "use GameTree.normalized"
            )
        return probs

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; the merged payoffs, made on demand, come on top."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def __repr__(self) -> str:
        """The game and the size."""
        return (
            f"GameTree({self.game!r}: {len(self.nodes):,} nodes, {self.num_infosets:,} information "
            f"sets, {self.nbytes / 1e6:.1f} MB)"
        )


def _write(
    game: Game, max_nodes: int, has_keys: bool, number: int
) -> tuple[TreeArrays, npt.NDArray[np.int64]]:
    stack = WalkStack.of(game, number)
    counts = np.zeros(NUM_COUNTS, np.int64)
    _check(game, count_nodes(game.kernels, game.rules, stack, max_nodes, counts), max_nodes)
    num_nodes, num_terminals, num_decisions = (int(count) for count in counts[:3])
    num_open = num_nodes - num_terminals
    players = game.facts.num_players
    arrays = TreeArrays(
        nodes=np.zeros(num_nodes, NODE),
        infosets=np.zeros(num_decisions + 1, INFOSET),
        sequence_actions=np.zeros(num_nodes, np.int32),
        terminal_probs=np.zeros(num_terminals),
        terminal_returns=np.zeros((num_terminals, players)),
        terminal_sequences=np.zeros((num_terminals, players), np.int32),
        open_keys=np.zeros((num_open if has_keys else 0, players + 1), np.uint64),
        table=np.zeros(max(1 << (2 * num_decisions).bit_length(), FIRST_TABLE_SIZE), np.int32),
    )
    counts[:] = 0
    _check(game, write_tree(game.kernels, game.rules, stack, arrays, counts), max_nodes)
    return arrays, counts


def _check(game: Game, result: Any, max_nodes: int) -> None:
    if result == FINE:
        return
    if result == TOO_LARGE:
        raise TooLargeError(
            f"{game!r} has more than {max_nodes:,} nodes: choose smaller options, or raise "
            f"max_nodes (about 100 bytes a node)"
        )
    if result == TOO_LONG:
        raise MasqueradeError(
            f"{game!r} goes on beyond its declared max_length of {game.facts.max_length}"
        )
    reason = (
        "with different moves of the player before them"
        if result == NO_RECALL
        else "with different legal actions"
    )
    raise MasqueradeError(
        f"{game!r} has one information set for histories {reason}: its 'seen' must tell a player's "
        f"own actions and what becomes legal"
    )
