"""A player of Liar's Dice that counts: what do my own dice make of the bids?

1. Take the legal raise that is most likely true given my dice; of equals the highest.
2. Call liar if the standing bid is more likely false than that raise is true.
3. Otherwise make the raise.

The hidden dice are taken as independent and fair, so the number of them that fit a bid is binomial.
The rule reads nothing into what others bid.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt
from numba import types

from agents.base import Actions, Agent, Views
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import RULES
from envs.liars_dice.kernels import NO_BID, STATE, bid_count, bid_face
from envs.liars_dice.kernels import RULES as DICE_RULES

__all__ = ["LiarsDiceRule", "count_chances"]

Chances = npt.NDArray[np.float64]

FEWER, AT_LEAST = 0, 1
ALONE, WITH_WILD = 0, 1


def count_chances(faces: int, num_fitting: int, max_dice: int) -> Chances:
    """How likely it is that enough dice fit, if each shows one of ``num_fitting`` faces.

    Entry ``[FEWER, n, k]`` is the chance that fewer than ``k`` of ``n`` dice fit,
    ``[AT_LEAST, n, k]`` that at least ``k`` do: [2, max_dice + 1, max_dice + 1] float64.

    >>> count_chances(faces=6, num_fitting=1, max_dice=2)[AT_LEAST, 2].round(3).tolist()
    [1.0, 0.306, 0.028]
    """
    num_fitting = min(num_fitting, faces)
    chances = np.zeros((2, max_dice + 1, max_dice + 1))
    for n in range(max_dice + 1):
        num_rolls = faces**n
        num_fewer = 0
        for k in range(max_dice + 1):
            # One division of whole numbers, rounded once: equal chances stay equal.
            chances[FEWER, n, k] = num_fewer / num_rolls
            chances[AT_LEAST, n, k] = (num_rolls - num_fewer) / num_rolls
            if k <= n:
                num_fewer += comb(n, k) * num_fitting**k * (faces - num_fitting) ** (n - k)
    return chances


@helper
def bid_chance(chances, s, r, seat, bid, side):
    """How likely ``bid`` is false (``FEWER``) or true (``AT_LEAST``) for whoever sits there."""
    face = bid_face(r, bid)
    num_needed = bid_count(r, bid)
    for die in range(s.dice_left[seat]):
        value = s.dice[seat, die]
        num_needed -= value == face or value == r.wild_face
    num_hidden = s.num_in_play - s.dice_left[seat]
    help_of_wild = ALONE if r.wild_face == 0 or r.wild_face == face else WITH_WILD
    return chances[help_of_wild, side, num_hidden, max(num_needed, 0)]


@compiled(
    types.void(
        RULES,
        types.uint8[:, ::1],
        types.int8[:, ::1],
        types.int64[::1],
        types.float64[:, :, :, ::1],
        types.int64[::1],
    )
)
def _choose(rules, worlds, masks, seats, chances, actions):
    r = rules.view(DICE_RULES)[0]
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        best_chance = -1.0
        for bid in range(r.liar):
            if masks[i, bid]:
                chance = bid_chance(chances, s, r, seats[i], bid, AT_LEAST)
                if chance >= best_chance:
                    best_chance = chance
                    actions[i] = bid
        if s.bid != NO_BID:
            chance = bid_chance(chances, s, r, seats[i], s.bid, FEWER)
            if chance > best_chance:
                actions[i] = r.liar


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
        r = game.rules.view(DICE_RULES)[0]
        sizes = int(r.faces), int(r.num_dice)
        self._chances = np.stack([count_chances(sizes[0], k, sizes[1]) for k in (1, 2)])

    def act(self, views: Views) -> Actions:
        """Of the worlds, only the mover's own dice and what is public are read."""
        actions = np.empty(len(views), np.int64)
        rules = self.game.rules
        _choose(rules, views.worlds(), views.masks, views.seats, self._chances, actions)
        return actions
