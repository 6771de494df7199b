"""Our solvers against OpenSpiel's, iteration by iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from agents.cfr.openspiel import infostate_names
from agents.cfr.solver import Solver
from agents.cfr.tree import GameTree, Probs


def theirs_on(tree: GameTree, names: list[str], policy: Any) -> Probs:
    """OpenSpiel's policy in the order of our pairs."""
    if hasattr(policy, "policy_for_key"):
        rows = {name: policy.policy_for_key(name) for name in names}
    else:
        rows = {name: dict(policy.get_state_policy(name)) for name in names}
    pairs = zip(tree.sequence_infosets.tolist(), tree.sequence_actions.tolist(), strict=True)
    return np.array([rows[names[s]][a] for s, a in pairs])


def check_against(tree: GameTree, their_name: str, ours: Solver, theirs: Any, num: int) -> None:
    """Current and average policy agree in every information set after every iteration."""
    names = infostate_names(tree, pyspiel.load_game(their_name))
    for _ in range(num):
        ours.run(1)
        theirs.evaluate_and_update_policy()
        np.testing.assert_allclose(
            ours.current_policy(),
            theirs_on(tree, names, theirs.current_policy()),
            atol=1e-10,
            rtol=0,
        )
        np.testing.assert_allclose(
            ours.average_policy(),
            theirs_on(tree, names, theirs.average_policy()),
            atol=1e-10,
            rtol=0,
        )
