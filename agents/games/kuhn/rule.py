"""A player of Kuhn poker that needs no learning.

1. Two players: the equilibrium that bets the jack a third of the time and the king always.
2. Three to five: bet and call with the highest card.
3. With the second highest too, to call a single bet or to bet when all others have passed.

The two-player strategy is the member alpha = 1/3 of the family in H. W. Kuhn, "A simplified
two-person poker" (1950). Nobody can win against it in the long run: its exploitability is 0.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.base import Actions, Agent, Probs, Views
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.rng import uniform
from envs.kuhn.kernels import BET, PASS, STATE


def bet_probs(num_players: int) -> Probs:
    """How often to bet, by seat, bets before, and own card: [players, players, cards] float64.

    >>> bet_probs(2)[0, 0].round(3).tolist()  # the opener with jack, queen, king
    [0.333, 0.0, 1.0]
    """
    probs = np.zeros((num_players, num_players, num_players + 1))
    probs[:, :, -1] = 1.0
    if num_players == 2:
        probs[:, 0, 0] = 1 / 3
        probs[0, 1, 1] = 2 / 3
        probs[1, 1, 1] = 1 / 3
    else:
        probs[:, 1, -2] = 1.0
        probs[-1, 0, -2] = 1.0
    return probs


_ROW = types.int64[::1]


@compiled(
    types.void(types.uint8[:, ::1], _ROW, types.uint64[:, ::1], types.float64[:, :, ::1], _ROW)
)
def _choose(worlds, seats, rngs, probs, actions):
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        num_bets = 0
        for seat in range(probs.shape[0]):
            num_bets += s.has_bet[seat]
        prob = probs[seats[i], num_bets, s.cards[seats[i]]]
        actions[i] = BET if uniform(rngs[i]) < prob else PASS


class KuhnRule(Agent):
    """The equilibrium of two players, and a cautious rule for more.

    Only the two-player game leaves anything to chance, which comes from ``views.rngs``.

    >>> import numpy as np
    >>> from envs import make_game
    >>> from envs.core.batch import Batch
    >>> from envs.core.rng import new_rng
    >>> game = make_game("kuhn_v0")
    >>> batch, rows = Batch(game, 4, chance=new_rng(0)), np.arange(4)
    >>> batch.begin(rows, rows)
    >>> [game.action_text(None, int(a)) for a in KuhnRule(game).act(batch.views(rows))]
    ['pass', 'bet', 'bet', 'pass']
    """

    is_usual = True
    game_ids = ("kuhn_v0",)

    def __init__(self, game: Game) -> None:
        """Look up how often to bet with each card."""
        super().__init__(game)
        self._probs = bet_probs(game.facts.num_players)

    def act(self, views: Views) -> Actions:
        """Of the worlds, only the mover's own card and the bets are read."""
        actions = np.empty(len(views), np.int64)
        _choose(views.worlds(), views.seats, views.rngs, self._probs, actions)
        return actions

    def policy(self, views: Views) -> Probs:
        """How often it bets, from the same table."""
        worlds = views.worlds().view(STATE)[:, 0]
        seats, num_bets = views.seats, worlds["has_bet"].sum(axis=1)
        cards = worlds["cards"][np.arange(len(views)), seats]
        bets = self._probs[seats, num_bets, cards]
        probs: Probs = np.stack([1.0 - bets, bets], axis=1)
        return probs
