"""The game of a hidden deck, whose cards are turned up by chance, for exact solutions.

Nothing in No Thanks! is known to one player alone, so the game of a hidden deck is one of perfect
information with chance: after a take any card that nobody has seen may be next. ``TurnedGame`` says
it that way, and what has gone before leaves nothing behind but who has which cards. So a search
with a transposition table solves tiny decks exactly: everybody's expected returns, and the best
moves.
"""

from __future__ import annotations

from envs.core.kernels import CHANCE, OVER, OptionalKernels, kernel
from envs.core.position import Position
from envs.core.rng import below
from envs.no_thanks import NoThanks
from envs.no_thanks import kernels as base
from envs.no_thanks.kernels import NO_CARD, NOBODY, PAY, RULES, STATE, TAKE, cost_of

__all__ = ["TurnedGame"]

FIRST_PLAYER = 0
"""Who begins where the options do not name a seat."""


@kernel
def new(state, rules, opening):
    base.new(state, rules, opening)
    s = state.view(STATE)[0]
    if s.starter == NOBODY:
        s.starter = FIRST_PLAYER
    # The card that is face up lies first in the deck, whatever was taken before it.
    s.num_dealt = 1


@kernel
def legal(state, rules, mask):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    mask[:] = 0
    if s.to_move != CHANCE:
        pays = r.is_unlimited or s.chips[s.to_move] > 0
        if r.has_cap and s.pot >= r.lowest + r.step * s.deck[0]:
            pays = False
        mask[PAY] = pays
        mask[TAKE] = 1
        return 1 + pays
    count = 0
    for card in range(r.num_cards):
        mask[card] = s.owner[card] == NOBODY
        count += mask[card]
    return count


@kernel
def chance(state, rules, probs):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    probs[:] = 0.0
    for card in range(r.num_cards):
        if s.owner[card] == NOBODY:
            probs[card] = 1.0 / (r.num_cards - s.num_taken)


@kernel
def sample(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    while True:
        card = below(rng, r.num_cards)
        if s.owner[card] == NOBODY:
            return card


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    player = s.to_move
    if player == CHANCE:
        s.deck[0] = action
        s.to_move = s.starter
        s.starter = FIRST_PLAYER  # who took the card before does not matter any more
    elif action == PAY:
        s.chips[player] -= 1
        s.pot += 1
        s.to_move = player + 1 if player + 1 < r.num_players else 0
    else:
        card = s.deck[0]
        s.leads[player] += cost_of(s, r, player, card)
        s.owner[card] = player
        s.chips[player] += s.pot
        s.pot = 0
        s.num_taken += 1
        s.deck[0] = NO_CARD
        s.starter = player  # who moves when the next card is turned up
        s.to_move = OVER if s.num_taken == r.deck_size else CHANCE


@kernel
def seen(state, rules, action, player):
    return action + 1


class TurnedGame(NoThanks):
    """No Thanks! of a hidden deck as a game of perfect information with chance.

    >>> from agents.max_n import Searcher, SearchSettings
    >>> game = TurnedGame(highest=5, removed=1, chips=1)
    >>> position = game.turned(4)
    >>> settings = SearchSettings(preference="return", pruning="none")
    >>> Searcher(game, settings).search(position.state).values
    (-0.5, 0.0, 0.0)
    """

    kernels = NoThanks.kernels.but(
        new=new, legal=legal, chance=chance, sample=sample, step=step, seen=seen
    )
    optional = OptionalKernels(evaluate=base.evaluate)

    def turned(self, value: int) -> Position:
        """The start of a game whose first card has this value."""
        position = self.new_position()
        position.apply((value - self.options.lowest) // self.options.card_step)
        return position
