"""The Offline player: a table learns by Q-learning, then a network learns to name its best actions.

1. ``learner``: Q-learning over a bounded table (``agents.tabular``);
2. ``examples``: games are played with the table, and every position met is noted with the action
   that the table thinks best;
3. ``classifier``: a network with one output for each action is trained on these by softmax and
   cross-entropy;
4. ``agent``: the player asks the network, not the table.
"""

from __future__ import annotations

from common.errors import MasqueradeError

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MasqueradeError(
        "offline needs torch: pip install -c constraints.txt -e '.[train]'"
    ) from error

__all__: list[str] = []
