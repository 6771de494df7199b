"""Optional compiled functions of a game for a table learner, as one cheap argument.

==========  =======================================================================================
``encode``  the information abstraction: writes the table's key for every action
``reward``  what a player earned between two decisions, where the game's own returns will not do
``observe`` told of the position after every move, so that an opponent model can remember it
``adjust``  changes the values that the next action is selected by, and only those
==========  =======================================================================================

What they are handed is a state that ``player`` cannot tell from the true one: a determinized world
where others play, the simulator's own state in compiled self-play. They may depend only on what is
the same in all such worlds: the own hand, what is public, and the perfect-recall key
(``check_components`` tests it).

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
    "ADJUST",
    "ENCODE",
    "HOOKS",
    "IDS",
    "KEYS",
    "MEMORY",
    "OBSERVE",
    "REWARD",
    "Hooks",
    "no_adjust",
    "no_observe",
    "no_reward",
]

KEYS = types.uint64[::1]
IDS = types.int64[::1]
MEMORY = types.uint8[:, ::1]

ENCODE = types.void(STATE, RULES, INT, types.uint64, KEYS)
"""``encode(state, rules, player, infoset_key, keys)``; 0 is no key."""
REWARD = types.float64(STATE, STATE, RULES, INT, TOTALS)
"""``reward(before, after, rules, player, levels)``: from one own decision to the next, or to the
end; ``levels`` are three numbers from the settings."""
OBSERVE = types.void(STATE, RULES, INT, IDS, MEMORY)
"""``observe(state, rules, player, opponent_ids, memory)`` after every move, whoever made it;
``memory[opponent_ids[seat]]`` are the bytes kept about the player in ``seat``."""
ADJUST = types.void(STATE, RULES, INT, MASK, TOTALS, types.float64, IDS, MEMORY)
"""``adjust(state, rules, player, mask, values, table_max, opponent_ids, memory)`` before an action
is selected; ``table_max`` is the highest value of the table, or -1 if nobody asked for it."""

HOOKS = AddressesType(
    "masquerade.Hooks", {"encode": ENCODE, "reward": REWARD, "observe": OBSERVE, "adjust": ADJUST}
)


@compiled(REWARD)
def no_reward(before, after, rules, player, levels):
    """Nothing between the ends of a game."""
    return 0.0


@compiled(OBSERVE)
def no_observe(state, rules, player, opponent_ids, memory):
    """Nothing is remembered."""


@compiled(ADJUST)
def no_adjust(state, rules, player, mask, values, table_max, opponent_ids, memory):
    """Actions are selected by what the table says."""


class Hooks(Addresses):
    """The four functions, as one cheap argument for compiled code."""

    numba_type = HOOKS
    decorator = "@compiled({}) from agents.tabular.hooks"
    encode: Callable[..., None]
    reward: Callable[..., float]
    observe: Callable[..., None]
    adjust: Callable[..., None]

    def __new__(
        cls,
        encode: Callable[..., None],
        reward: Callable[..., float] = no_reward,
        observe: Callable[..., None] = no_observe,
        adjust: Callable[..., None] = no_adjust,
    ) -> Self:
        """Note the addresses of compiled functions with the right signatures."""
        functions = {"encode": encode, "reward": reward, "observe": observe, "adjust": adjust}
        return super().__new__(cls, functions)
