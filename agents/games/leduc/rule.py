"""A player of Leduc poker that goes by the strength of its hand.

1. With a pair, raise; with the highest rank, raise until somebody else has, then call.
2. With a rank in the upper half (the queen of jack, queen, king), check and call.
3. With less, check, and fold to any bet.

The ranks 0 .. n of n players are split so that rank k calls when 2k >= n. When the raises of a
round are used up, who would raise calls. The rule never bluffs.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.base import Actions, Agent, Views
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT
from envs.leduc.kernels import CALL, FOLD, NO_CARD, RAISE, STATE


@helper
def wish(s, card, top_rank, is_facing_bet):
    """What to do with a hand, were every action legal."""
    rank = card // 2
    has_pair = s.public != NO_CARD and s.public // 2 == rank
    if has_pair or (rank == top_rank and not is_facing_bet):
        return RAISE
    if is_facing_bet and 2 * rank < top_rank:
        return FOLD
    return CALL


@compiled(
    types.void(types.uint8[:, ::1], types.int8[:, ::1], types.int64[::1], INT, types.int64[::1])
)
def _choose(worlds, masks, seats, top_rank, actions):
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        action = wish(s, s.cards[seats[i]], top_rank, masks[i, FOLD] == 1)
        actions[i] = action if masks[i, action] else CALL


class LeducRule(Agent):
    """Raises, calls or folds by its hand.

    The same view gives the same action: nothing is left to chance.

    >>> import numpy as np
    >>> from envs import make_game
    >>> from envs.core.batch import Batch
    >>> from envs.core.rng import new_rng
    >>> game = make_game("leduc_v0")
    >>> batch, rows = Batch(game, 4, chance=new_rng(0)), np.arange(4)
    >>> batch.begin(rows, rows)
    >>> [game.action_text(None, int(a)) for a in LeducRule(game).act(batch.views(rows))]
    ['call', 'raise', 'call', 'call']
    """

    is_usual = True
    game_ids = ("leduc_v0",)
    is_deterministic = True

    def act(self, views: Views) -> Actions:
        """Of the worlds, only the mover's own card and the public card are read."""
        actions = np.empty(len(views), np.int64)
        top_rank = self.game.facts.num_players
        _choose(views.worlds(), views.masks, views.seats, top_rank, actions)
        return actions
