"""Do sampling solvers make the same tables compiled and as plain Python?

By hand: ``NUMBA_DISABLE_JIT=1 PYTHONPATH=. python tests/support/plain_mccfr.py``.
"""

from __future__ import annotations

import hashlib
from typing import Any

from agents.cfr.mccfr import SamplingSolver
from envs import make_game

WAYS: dict[str, dict[str, Any]] = {
    "external": {"sampling": "external"},
    "external with baselines": {"sampling": "external", "baselines": "history"},
    "outcome": {"sampling": "outcome"},
    "outcome by infoset": {"sampling": "outcome", "baselines": "infoset"},
    "outcome by history": {"sampling": "outcome", "baselines": "history"},
    "chance": {"sampling": "chance"},
}


def digest() -> str:
    """All tables after a few iterations of everything, the room too small for the game."""
    sha = hashlib.sha256()
    game = make_game("kuhn_v0", num_players=3)
    for way in WAYS.values():
        solver = SamplingSolver(
            game, 7, max_infosets=20, max_histories=30, when_full="freeze", **way
        )
        solver.run(12)
        state = solver.state_dict()
        for name in sorted(name for name in state if hasattr(state[name], "tobytes")):
            sha.update(state[name].tobytes())
    return sha.hexdigest()


if __name__ == "__main__":
    print(digest())
