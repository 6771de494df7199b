"""Information sets as numbers: everything a player has seen, folded token by token into 64 bits.

Two histories have the same key for a player exactly when the player has seen the same tokens in the
same order (up to a hash collision, about one chance in 10**19 for a given pair).
"""

from __future__ import annotations

import numpy as np
from numba import types

from envs.core.compiling import compiled
from envs.core.kernels import INT, UNSEEN
from envs.core.rng import mix

__all__ = ["first_key", "fold"]


@compiled(types.uint64(INT))
def first_key(player):
    """The key of ``player`` before anything was seen; seats never share a key."""
    return mix(np.uint64(player + 2) * np.uint64(0xD1342543DE82EF95))


@compiled(types.uint64(types.uint64, INT))
def fold(key, token):
    """The key after seeing one more token; an unnoticed action leaves it as it was."""
    if token == UNSEEN:
        return key
    return mix(key ^ (mix(np.uint64(np.int64(token))) + np.uint64(0x9E3779B97F4A7C15)))
