"""Policies to and from OpenSpiel, which must be installed.

Their information states are strings and ours are keys; the same history gives both. So a game of
ours and one of theirs that number actions and chance outcomes alike are walked side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agents.cfr.tree import GameTree, Probs
from common.errors import MasqueradeError


def infostate_names(tree: GameTree, their_game: Any) -> list[str]:
    """OpenSpiel's information state string of every information set, in our order."""
    names = [state.information_state_string() for state in _states(tree, their_game)]
    if len(set(names)) != len(names):
        raise MasqueradeError(
            f"OpenSpiel's {their_game} does not tell apart what {tree.game!r} does: "
            f"give the same game with the same options"
        )
    return names


def policy_table(
    tree: GameTree, probs: Probs, names: list[str]
) -> dict[str, list[tuple[int, float]]]:
    """A policy as the dictionary that ``pyspiel`` takes wherever it takes a policy."""
    probs = tree.check_policy(probs)
    rows = zip(tree.sequence_actions.tolist(), probs.tolist(), strict=True)
    table: dict[str, list[tuple[int, float]]] = {name: [] for name in names}
    for infoset, row in zip(tree.sequence_infosets.tolist(), rows, strict=True):
        table[names[infoset]].append(row)
    return table


def to_openspiel(tree: GameTree, probs: Probs, their_game: Any) -> Any:
    """A policy as a ``pyspiel.TabularPolicy``."""
    import pyspiel

    return pyspiel.TabularPolicy(policy_table(tree, probs, infostate_names(tree, their_game)))


def from_openspiel(tree: GameTree, policy: Any, their_game: Any) -> Probs:
    """Any OpenSpiel policy, of ``pyspiel`` or of ``open_spiel.python``, on our tree."""
    probs = np.zeros(tree.num_sequences)
    for s, state in enumerate(_states(tree, their_game)):
        infoset = tree.infosets[s]
        first, end = infoset["first_sequence"], infoset["first_sequence"] + infoset["num_actions"]
        answer = dict(policy.action_probabilities(state))
        for sequence in range(first, end):
            probs[sequence] = answer.get(int(tree.sequence_actions[sequence]), 0.0)
    return tree.check_policy(probs)


def _states(tree: GameTree, their_game: Any) -> Iterator[Any]:
    """A state of OpenSpiel's in every information set of ours."""
    for infoset in tree.infosets:
        state = their_game.new_initial_state()
        for action in tree.history(int(infoset["node"])):
            if action not in state.legal_actions():
                break
            state.apply_action(action)
        first = infoset["first_sequence"]
        ours = tree.sequence_actions[first : first + infoset["num_actions"]].tolist()
        if state.current_player() != infoset["player"] or state.legal_actions() != ours:
            raise MasqueradeError(
                f"OpenSpiel's {their_game} has other rules than {tree.game!r}: "
                f"give the same game with the same options"
            )
        yield state
