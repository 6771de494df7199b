"""Players of No Thanks! that go by one rule.

==========================  ======================================================================
``no_thanks_rule``          takes when the cost of the card minus the chips on it is small enough
``no_thanks_greedy``        takes when the chips pay for a given share of what the card costs
``no_thanks_sequence``      takes when the chips pay for a card's share of the longest run it can
                            still become part of
``no_thanks_always_pay``    pays as long as it may
``no_thanks_always_take``   takes everything
==========================  ======================================================================

The cost of a card is what it adds to the player's lead cards: nothing above a run of his own, below
zero when it joins two. All of them read what is public and nothing else.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.base import Actions, Agent, Views
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import INT, RULES
from envs.no_thanks.kernels import PAY, STATE, TAKE, can_pay, card_value, cost_of
from envs.no_thanks.kernels import RULES as RULES_RECORD

EQUILIBRIUM_THRESHOLD = 12
"""With three players the threshold against which another one gains least, by places and by scores:
``python -m experiments no_thanks --only T`` finds it."""

THRESHOLD, SHARE, SEQUENCE, ALWAYS_PAY, ALWAYS_TAKE = range(5)


@helper
def takes_below(s, r, threshold):
    """Whether the cost of the card for the player to move, less its chips, is low enough."""
    return cost_of(s, r, s.to_move, s.deck[s.num_taken]) - s.pot <= threshold


@helper
def longest_run(s, r, card):
    """Length of the longest run through ``card`` of own cards and cards that may still come."""
    if r.step != 1:
        return 1
    # Of a hidden deck all cards may come that were not seen, the removed ones included.
    may_come = np.int64(0) if r.is_open else ~np.int64(0)
    for place in range(s.deck.size if r.is_open else s.num_taken + 1):
        other = s.deck[place]
        if other >= 0:
            bit = np.int64(1) << other
            if not r.is_open:
                may_come &= ~bit
            elif place > s.num_taken:
                may_come |= bit
    length = 1
    for side in (-1, 1):
        other = card + side
        while 0 <= other < r.num_cards:
            if s.owner[other] != s.to_move and not (may_come >> other) & 1:
                break
            length += 1
            other += side
    return length


@helper
def wants_to_take(s, r, rule, number):
    """What a rule with its parameter ``number`` does, had it chips enough."""
    if rule == THRESHOLD:
        return takes_below(s, r, number)
    card = s.deck[s.num_taken]
    if rule == SHARE:
        return s.pot >= number * cost_of(s, r, s.to_move, card)
    if rule == SEQUENCE:
        return s.pot > card_value(r, card) // longest_run(s, r, card)
    return rule == ALWAYS_TAKE


@compiled(types.void(types.uint8[:, ::1], RULES, INT, types.float64, types.int64[::1]))
def _choose(worlds, rules, rule, number, actions):
    r = rules.view(RULES_RECORD)[0]
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        actions[i] = TAKE if not can_pay(s, r) or wants_to_take(s, r, rule, number) else PAY


class _OneRule(Agent):
    """A rule with at most one number."""

    game_ids = ("no_thanks_v0",)
    is_deterministic = True
    rule: int
    number: float = 0.0

    def act(self, views: Views) -> Actions:
        """Of the worlds, only what is public is read."""
        actions = np.empty(len(views), np.int64)
        _choose(views.worlds(), self.game.rules, self.rule, self.number, actions)
        return actions


class NoThanksRule(_OneRule):
    """Takes when the cost of the card, less the chips on it, is at most ``threshold``.

    >>> from agents import make_agent
    >>> from envs import make_game
    >>> make_agent("no_thanks_rule", make_game("no_thanks_v0")).number
    12
    """

    is_usual = True
    rule = THRESHOLD

    def __init__(self, game: Game, threshold: float = EQUILIBRIUM_THRESHOLD) -> None:
        """A ``threshold`` of 0 never loses a point by taking; higher ones save chips."""
        super().__init__(game)
        self.number = threshold


class NoThanksGreedy(_OneRule):
    """Takes when the card costs nothing, or the chips on it are ``share`` of its cost."""

    rule = SHARE

    def __init__(self, game: Game, share: float = 1.0) -> None:
        """With a ``share`` of 1 no card may cost anything."""
        super().__init__(game)
        self.number = share


class NoThanksSequence(_OneRule):
    """Shares the value of a card among the longest run it can still belong to.

    Takes when there are more chips on the card than that. Where the deck is hidden, every card that
    was not seen counts as one that may come.
    """

    rule = SEQUENCE


class NoThanksAlwaysPay(_OneRule):
    """Pays as long as it has chips."""

    rule = ALWAYS_PAY


class NoThanksAlwaysTake(_OneRule):
    """Takes every card."""

    rule = ALWAYS_TAKE
