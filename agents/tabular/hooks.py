"""What a game may add to a table learner: four compiled functions, as one cheap argument.

==========  =======================================================================================
``encode``  writes one key for every action: which entry of the table holds its value
``reward``  what a player earned between two decisions, where the game's own returns will not do
``watch``   told of every move, so that a learner can remember what was shown
``bend``    changes the values that the next move is chosen by, and only those
==========  =======================================================================================

``encode`` and ``bend`` are handed the true state and must read only what ``player`` knows: the own
hand, what is public, and the perfect-recall key.

Like the functions of a game (``envs.core.kernels``), hooks travel as a row of addresses
(``envs.core.addresses``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from numba import types

from envs.core.addresses import Addresses, AddressesType
from envs.core.compiling import compiled
from envs.core.kernels import INT, MASK, RULES, STATE, TOTALS

__all__ = [
    "BEND",
    "ENCODE",
    "HOOKS",
    "KEYS",
    "MEMORY",
    "PLACES",
    "REWARD",
    "WATCH",
    "Hooks",
    "no_bend",
    "no_reward",
    "no_watch",
]

KEYS = types.uint64[::1]
PLACES = types.int64[::1]
MEMORY = types.uint8[:, ::1]

ENCODE = types.void(STATE, RULES, INT, types.uint64, KEYS)
"""``encode(state, rules, player, infoset_key, keys)``; 0 is no key."""
REWARD = types.float64(STATE, STATE, RULES, INT, TOTALS)
"""``reward(before, after, rules, player, levels)``: from one own decision to the next, or to the
end; ``levels`` are three numbers from the settings."""
WATCH = types.void(STATE, RULES, INT, INT, PLACES, MEMORY)
"""``watch(state, rules, player, action, who, memory)`` after ``action`` was played, by whomever;
``memory[who[seat]]`` are the bytes kept about the player in ``seat``."""
BEND = types.void(STATE, RULES, INT, MASK, TOTALS, types.float64, PLACES, MEMORY)
"""``bend(state, rules, player, mask, values, table_max, who, memory)`` before a choice."""

HOOKS = AddressesType(
    "masquerade.Hooks", {"encode": ENCODE, "reward": REWARD, "watch": WATCH, "bend": BEND}
)


@compiled(REWARD)
def no_reward(before, after, rules, player, levels):
    """Nothing between the ends of a game."""
    return 0.0


@compiled(WATCH)
def no_watch(state, rules, player, action, who, memory):
    """Nothing is remembered."""


@compiled(BEND)
def no_bend(state, rules, player, mask, values, table_max, who, memory):
    """Moves are chosen by what the table says."""


class Hooks(Addresses):
    """The four functions, as one cheap argument for compiled code."""

    numba_type = HOOKS
    decorator = "@compiled({}) from agents.tabular.hooks"
    encode: Callable[..., None]
    reward: Callable[..., float]
    watch: Callable[..., None]
    bend: Callable[..., None]

    def __new__(
        cls,
        encode: Callable[..., None],
        reward: Callable[..., float] = no_reward,
        watch: Callable[..., None] = no_watch,
        bend: Callable[..., None] = no_bend,
    ) -> Self:
        """Note the addresses of compiled functions with the right signatures."""
        return super().__new__(
            cls, {"encode": encode, "reward": reward, "watch": watch, "bend": bend}
        )
