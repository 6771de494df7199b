"""An information abstraction of table learners for No Thanks!.

``offer`` knows what the card that is face up costs the player and whoever of the others it costs
least, the chips on it and his own, and how far the game is; all of them in a few steps.
"""

from __future__ import annotations

import numpy as np

from agents.abstraction import ENCODE, Abstraction
from envs.core.compiling import compiled, helper
from envs.no_thanks.kernels import NUM_ACTIONS, STATE, cost_of
from envs.no_thanks.kernels import RULES as CARD_RULES

MOST_CHIPS = 11
SLICES = 4


@helper
def in_steps(number, size, low, high):
    """Which step of ``size`` a number lies in, from 0, between ``low`` and ``high``."""
    return (min(max(number, low), high) - low) // size


@compiled(ENCODE)
def encode_offer(state, rules, player, infoset_key, keys):
    """What is on offer, in steps; paying and taking have entries of their own."""
    s = state.view(STATE)[0]
    r = rules.view(CARD_RULES)[0]
    card = s.deck[s.num_taken]
    least = 1 << 20
    for other in range(r.num_players):
        if other != player:
            least = min(least, cost_of(s, r, other, card))
    own = in_steps(cost_of(s, r, player, card) - s.pot, 2, -24, 38)
    others = in_steps(least - s.pot, 6, -12, 38)
    chips = in_steps(s.chips[player], 1, 0, MOST_CHIPS)
    slice_of = (SLICES * s.num_taken) // r.deck_size
    entry = ((own * 16 + others) * 16 + chips) * SLICES + slice_of
    for action in range(NUM_ACTIONS):
        keys[action] = np.uint64(1 + NUM_ACTIONS * entry + action)


OFFER = Abstraction(encode_offer, needs_infosets=False, game_ids=("no_thanks_v0",))
