"""Play one of our games and OpenSpiel's side by side, and stop at the first difference.

Nothing here knows a particular game, nor imports OpenSpiel: a game of ours and a ``pyspiel`` game
are handed in. They must number players, actions and chance outcomes alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from envs.core.checking.trees import TreeCounts
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER
from envs.core.position import Position


def compare(
    our_game: Game, their_game: Any, num_games: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Play random games step for step on both sides.

    At every node the player to move, the legal actions, the chance outcomes with their
    probabilities and the returns must agree. At a player's own decisions our key and their
    information state string must be two
    names of the same thing: two histories share the one exactly when they share the other.

    Returns:
        How many information sets of each player were visited.
    """
    check_facts(our_game, their_game)
    pairs = [Bijection() for _ in range(our_game.facts.num_players)]
    for _ in range(num_games):
        ours, theirs = our_game.new_position(), their_game.new_initial_state()
        while not ours.is_over:
            check_node(ours, theirs)
            if not ours.is_chance:
                pairs[ours.turn].add(
                    ours.key(ours.turn), theirs.information_state_string(ours.turn)
                )
            # Uniform over the outcomes, likely or not: rare branches deserve a visit too.
            action = int(rng.choice(ours.legal_actions()))
            ours.apply(action)
            theirs.apply_action(action)
        check_node(ours, theirs)
    return tuple(len(pair) for pair in pairs)


def check_facts(our_game: Game, their_game: Any) -> None:
    """The sizes and bounds both sides declare agree.

    Our longest game counts chance events, theirs does not; and their own count of chance events is
    too small for Leduc poker with more than two players, so the lengths are only compared one way.
    """
    facts = our_game.facts
    assert facts.num_players == their_game.num_players()
    assert facts.num_actions == their_game.num_distinct_actions()
    assert facts.num_chance_outcomes == their_game.max_chance_outcomes()
    assert facts.max_length > their_game.max_game_length()
    assert facts.min_return == their_game.min_utility()
    assert facts.max_return == their_game.max_utility()
    assert facts.return_sum == their_game.utility_sum()


def check_node(ours: Position, theirs: Any) -> None:
    """Both sides agree on everything that can be asked at this node."""
    path = f"{ours.game!r} after {ours.history}"
    assert ours.turn == _turn(theirs), path
    assert list(ours.returns()) == theirs.returns(), path
    assert ours.legal_actions() == theirs.legal_actions(), path
    if ours.is_chance:
        our_outcomes, our_probs = zip(*ours.chance_outcomes(), strict=True)
        their_outcomes, their_probs = zip(*theirs.chance_outcomes(), strict=True)
        assert our_outcomes == their_outcomes, path
        np.testing.assert_allclose(our_probs, their_probs, rtol=1e-12, err_msg=path)


class Bijection:
    """Pairs of names for the same things: a name met again must bring the same partner."""

    def __init__(self) -> None:
        """Start with no pair."""
        self._forward: dict[int, str] = {}
        self._backward: dict[str, int] = {}

    def add(self, key: int, string: str) -> None:
        """Enter a pair, and fail if either half already belongs to another one."""
        known_string = self._forward.setdefault(key, string)
        assert known_string == string, (
            f"one key of ours for two of theirs: {known_string!r} and {string!r}"
        )
        known_key = self._backward.setdefault(string, key)
        assert known_key == key, f"two keys of ours for one of theirs: {string!r}"

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self._forward)


def their_counts(their_game: Any) -> TreeCounts:
    """Walk a whole OpenSpiel game, for comparison with ``count_tree``."""
    counts = {"chance": 0, "decision": 0, "terminal": 0}
    infosets: list[set[str]] = [set() for _ in range(their_game.num_players())]
    depth = 0
    for state in _nodes(their_game.new_initial_state()):
        turn = _turn(state)
        counts["terminal" if turn == OVER else "chance" if turn == CHANCE else "decision"] += 1
        depth = max(depth, len(state.history()))
        if turn >= 0:
            infosets[turn].add(state.information_state_string(turn))
    return TreeCounts(**counts, infosets=tuple(map(len, infosets)), depth=depth)


def _turn(state: Any) -> int:
    if state.is_terminal():
        return OVER
    return CHANCE if state.is_chance_node() else int(state.current_player())


def _nodes(state: Any) -> Iterator[Any]:
    stack = [state]
    while stack:
        state = stack.pop()
        yield state
        stack.extend(state.child(action) for action in state.legal_actions())
