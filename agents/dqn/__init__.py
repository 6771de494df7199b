"""Deep Q-learning (Mnih et al., 2015), with masks, many games at once, and exact resuming.

A network estimates the return of every action. Read the files in this order:

1. ``agents.learning.networks``: networks, their gradients, and the optimiser;
2. ``agents.learning.experience``: how decisions become transitions ``(state, action, reward, next
   state)``;
3. ``replay``: where transitions are kept and drawn from;
4. ``learner``: the loop that plays, keeps and learns;
5. ``agent``: everything that can be set, and the player.
"""

# It says what to install where torch is missing.
from agents.learning import networks as _networks  # noqa: F401
