"""A whole game as flat arrays: nodes, information sets, sequences and what they pay.

Nodes lie in the order of a depth-first walk, so a parent comes before its children and a subtree is
one stretch, ``node .. end``.

Solvers need less than the nodes: *pairs* (information set, action) and what is paid for every
combination of last pairs, one of each player, that some history ends with (see ``form``).

Pairs and information sets are numbered player by player, and for each player parents come before
children.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.forms.sequence_form import Form, Payoffs, make_form
from agents.cfr.forms.walk import (
    FINE,
    FIRST_TABLE_SIZE,
    INFOSET,
    NO_RECALL,
    NODE,
    NONE,
    NUM_COUNTS,
    TOO_LARGE,
    TOO_LONG,
    Book,
    Stack,
    count_nodes,
    renumber,
    write_tree,
)
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.position import Position

__all__ = ["DEFAULT_MAX_NODES", "GameTree", "Probs", "TooLargeError"]

DEFAULT_MAX_NODES = 20_000_000

Probs = npt.NDArray[np.float64]
"""A policy on a tree: one probability for every pair, [num_pairs] float64."""


class TooLargeError(MasqueradeError):
    """A game with more nodes than somebody wants to write down."""


class GameTree:
    """Every node and every information set of a game.

    Attributes:
        nodes: [num_nodes] record ``NODE``.
        infosets: [num_infosets] record ``INFOSET``.
        pair_actions: [num_pairs] int32, the action of each pair.
        pair_infosets: [num_pairs] int32, the information set of each pair.
        infoset_starts: [players + 1] int64; player *p* owns ``starts[p] .. starts[p + 1]``.
        terminal_probs: [num_terminals] float64, the probability that chance allows for each.
        terminal_returns: [num_terminals, players] float64.
        terminal_pairs: [num_terminals, players] int32, ``num_pairs`` for one who never moved.
        open_keys: [n, players + 1] uint64 keys, the public's last, a row for each of the *n* nodes
            where the game is not over; empty without ``has_keys``.

    >>> from envs import make_game
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> len(tree.nodes), tree.num_infosets, tree.num_pairs
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
        book, counts = _write(game, max_nodes, has_keys, number)
        self.nodes, self.open_keys = book.nodes, book.open_keys
        self.terminal_probs, self.terminal_returns = book.terminal_probs, book.terminal_returns
        num_infosets, num_pairs = int(counts[3]), int(counts[4])
        self.num_infosets, self.num_pairs = num_infosets, num_pairs
        self._sort_by_player(book)

    def _sort_by_player(self, book: Book) -> None:
        """Number information sets and pairs player by player; the walk met them all mixed."""
        found = book.infosets[: self.num_infosets]
        order = np.argsort(found["player"], kind="stable")
        self.infosets = found[order]
        sizes = self.infosets["num_actions"].astype(np.int64)
        firsts = np.concatenate([[0], np.cumsum(sizes)])
        self.pair_infosets = np.repeat(np.arange(self.num_infosets, dtype=np.int32), sizes)
        ranks = np.arange(self.num_pairs) - firsts[self.pair_infosets]
        old_pairs = self.infosets["first_pair"][self.pair_infosets] + ranks
        self.pair_actions = book.pair_actions[old_pairs]

        # The last entry is for NONE: terminals have num_pairs where somebody never moved.
        new_pairs = np.empty(self.num_pairs + 1, np.int32)
        new_pairs[old_pairs] = np.arange(self.num_pairs)
        new_pairs[NONE] = self.num_pairs
        new_infosets = np.empty(self.num_infosets, np.int32)
        new_infosets[order] = np.arange(self.num_infosets)
        renumber(book, new_infosets, new_pairs)
        self.terminal_pairs = book.terminal_pairs
        self.infosets["first_pair"] = firsts[:-1]
        self.infosets["parent_pair"] = new_pairs[self.infosets["parent_pair"]]
        self.infoset_starts = np.searchsorted(
            self.infosets["player"], np.arange(self.num_players + 1)
        )

    @cached_property
    def payoffs(self) -> Payoffs:
        """Terminals that end with the same pairs, added up."""
        values = self.terminal_probs[:, None] * self.terminal_returns
        order = np.lexsort(self.terminal_pairs.T[::-1])
        pairs = self.terminal_pairs[order]
        is_first = np.ones(len(pairs), bool)
        is_first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
        sums = np.add.reduceat(values[order], np.flatnonzero(is_first))
        return Payoffs(np.ascontiguousarray(pairs[is_first]), np.ascontiguousarray(sums))

    @cached_property
    def form(self) -> Form:
        """The sequence form, divided for threads."""
        return make_form(self.infosets, self.infoset_starts, self.pair_infosets, self.payoffs)

    # ---- looking ---------------------------------------------------------------------------------

    def infosets_of(self, player: int) -> range:
        """The numbers of a player's information sets."""
        return range(int(self.infoset_starts[player]), int(self.infoset_starts[player + 1]))

    def pairs_of(self, player: int) -> range:
        """The numbers of a player's pairs."""
        firsts = np.append(self.infosets["first_pair"], self.num_pairs)
        own = self.infosets_of(player)
        return range(int(firsts[own.start]), int(firsts[own.stop]))

    def children(self, node: int) -> Iterator[int]:
        """The nodes that follow ``node`` at once, in the order of their actions."""
        child = node + 1
        while child < self.nodes[node]["end"]:
            yield child
            child = int(self.nodes[child]["end"])

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
        shares: Probs = 1.0 / self.infosets["num_actions"][self.pair_infosets]
        return shares

    def normalized(self, weights: Probs) -> tuple[Probs, npt.NDArray[np.bool_]]:
        """Weights of pairs as probabilities; uniform, and marked as unreached, where all are 0.

        Returns:
            The policy, and for every information set whether it has any weight.
        """
        sums = np.add.reduceat(weights, self.infosets["first_pair"])
        is_reached = sums > 0.0
        sums[~is_reached] = 1.0
        probs = weights / sums[self.pair_infosets]
        return np.where(is_reached[self.pair_infosets], probs, self.uniform()), is_reached

    def check_policy(self, probs: Probs) -> Probs:
        """The policy as contiguous float64, or an error that says what is wrong with it."""
        probs = np.ascontiguousarray(probs, np.float64)
        if probs.shape != (self.num_pairs,):
            raise MasqueradeError(
                f"a policy of {self.game!r} has {self.num_pairs} probabilities, one for each pair "
                f"(information set, action), not an array of shape {probs.shape}"
            )
        sums = np.add.reduceat(probs, self.infosets["first_pair"])
        if not (probs >= 0.0).all() or not np.allclose(sums, 1.0, atol=1e-6):
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
) -> tuple[Book, npt.NDArray[np.int64]]:
    stack = Stack.of(game, number)
    counts = np.zeros(NUM_COUNTS, np.int64)
    _check(game, count_nodes(game.kernels, game.rules, stack, max_nodes, counts), max_nodes)
    num_nodes, num_terminals, num_decisions = (int(count) for count in counts[:3])
    num_open = num_nodes - num_terminals
    players = game.facts.num_players
    book = Book(
        nodes=np.zeros(num_nodes, NODE),
        infosets=np.zeros(num_decisions + 1, INFOSET),
        pair_actions=np.zeros(num_nodes, np.int32),
        terminal_probs=np.zeros(num_terminals),
        terminal_returns=np.zeros((num_terminals, players)),
        terminal_pairs=np.zeros((num_terminals, players), np.int32),
        open_keys=np.zeros((num_open if has_keys else 0, players + 1), np.uint64),
        table=np.zeros(max(1 << (2 * num_decisions).bit_length(), FIRST_TABLE_SIZE), np.int32),
    )
    counts[:] = 0
    _check(game, write_tree(game.kernels, game.rules, stack, book, counts), max_nodes)
    return book, counts


def _check(game: Game, verdict: Any, max_nodes: int) -> None:
    if verdict == FINE:
        return
    if verdict == TOO_LARGE:
        raise TooLargeError(
            f"{game!r} has more than {max_nodes:,} nodes: choose smaller options, or raise "
            f"max_nodes (about 100 bytes a node)"
        )
    if verdict == TOO_LONG:
        raise MasqueradeError(
            f"{game!r} goes on beyond its declared max_length of {game.facts.max_length}"
        )
    reason = (
        "with different moves of the player before them"
        if verdict == NO_RECALL
        else "with different legal actions"
    )
    raise MasqueradeError(
        f"{game!r} has one information set for histories {reason}: its 'seen' must tell a player's "
        f"own actions and what becomes legal"
    )
