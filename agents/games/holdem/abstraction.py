"""The information abstraction of table learners for hold'em: what the observation's blocks say.

``blocks`` tells two positions apart if the blocks that the game shows (options ``blocks`` and
``history``) differ in them, so a table and a network can be given exactly the same information.
"""

from __future__ import annotations

import numpy as np

from agents.abstraction import ENCODE, Abstraction
from envs.core.compiling import compiled, helper
from envs.core.rng import mix
from envs.holdem.observation import block_values, pack_decision, past_decision
from envs.holdem.options import MAX_HISTORY, RULES, STATE

NEXT = np.uint64(0x9E3779B97F4A7C15)
NO_DECISION = np.uint64(1)


@helper
def fold_decision(s, r, player, packed, key):
    """A key that holds ``key`` and what the blocks say at a decision."""
    for word in block_values(s, r, player, packed):
        key = mix(key ^ (np.uint64(word) + NEXT))
    return key


@compiled(ENCODE)
def encode_blocks(state, rules, player, infoset_key, keys):
    """The blocks now and at the earlier decisions that are shown, and the action."""
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    key = fold_decision(s, r, player, pack_decision(s, r, player), np.uint64(0))
    for back in range(1, min(r.history, MAX_HISTORY) + 1):
        packed = past_decision(s, player, back)
        key = mix(key ^ NO_DECISION) if packed < 0 else fold_decision(s, r, player, packed, key)
    for action in range(keys.size):
        keys[action] = mix(key + np.uint64(action + 1) * NEXT)


BLOCKS = Abstraction(encode_blocks, needs_infosets=False, game_ids=("holdem_v0",))
