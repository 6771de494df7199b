"""A player of Liar's Dice that counts: what do my own dice make of the bids?

1. Take the legal raise that is most likely true given my dice; of equals the highest.
2. Call liar if the standing bid is more likely false than that raise is true.
3. Otherwise make the raise.

The hidden dice are taken as independent and fair, so the number of them that fit a bid is binomial.
The rule reads nothing into what others bid.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.base import Actions, Agent, Views
from agents.games.liars_dice.abstractions import NUM_NUMBERS, follow_rule, make_chances
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import RNG, RULES

_NUMBERS, _CHANCES = types.int64[::1], types.float64[::1]


@compiled(types.void(types.uint8[:, ::1], RULES, RNG, _NUMBERS, _CHANCES, types.int64[::1]))
def _choose(worlds, rules, rng, numbers, chances, actions):
    """What the rule does in every row."""
    for i in range(actions.size):
        actions[i] = follow_rule(worlds[i], rules, rng, numbers, chances)


class LiarsDiceRule(Agent):
    """Raises to the likeliest bid, unless a call is likelier to be right than that bid.

    The same view gives the same action: nothing is left to chance.

    >>> import numpy as np
    >>> from envs import make_game
    >>> from envs.core.batch import Batch
    >>> from envs.core.rng import new_rng
    >>> game = make_game("liars_dice_v0")
    >>> batch, rows = Batch(game, 4, chance=new_rng(0)), np.arange(4)
    >>> batch.begin(rows, rows)
    >>> [game.action_text(None, int(a)) for a in LiarsDiceRule(game).act(batch.views(rows))]
    ['2*6', '3*5', '2*2', '2*2']
    """

    is_usual = True
    game_ids = ("liars_dice_v0",)
    is_deterministic = True

    def __init__(self, game: Game) -> None:
        """Work out every chance that can come up in this game."""
        super().__init__(game)
        self._chances = make_chances(game)

    def act(self, views: Views) -> Actions:
        """Of the worlds, only the mover's own dice and what is public are read."""
        actions = np.empty(len(views), np.int64)
        scratch, no_chance = np.zeros(NUM_NUMBERS, np.int64), np.zeros(4, np.uint64)
        _choose(views.worlds(), self.game.rules, no_chance, scratch, self._chances, actions)
        return actions
