"""Deep Q-learning (Mnih et al., 2015), with masks, many games at once, and exact resuming.

A network estimates the return of every action. Read the files in this order:

1. ``settings``: everything that can be set;
2. ``agents.learning.networks``: networks, their gradients, and the optimiser;
3. ``experience``: how decisions become transitions ``(state, action, reward, next state)``;
4. ``replay``: where transitions are kept and drawn from;
5. ``learner``: the loop that plays, keeps and learns;
6. ``agent``: the player.
"""

from __future__ import annotations

from common.errors import MasqueradeError

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MasqueradeError(
        "dqn needs torch: pip install -c constraints.txt -e '.[train]'"
    ) from error

__all__: list[str] = []
