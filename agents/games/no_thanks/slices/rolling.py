"""How a game goes on if everybody takes at one threshold: a look at the order of the cards.

A card goes round until its cost, less the chips on it, is low enough for somebody, or somebody has
no chips left. Who that is and when can be worked out without playing the payments one by one.
"""

from __future__ import annotations

from envs.core.compiling import helper, inlined

__all__ = ["roll_out"]


@helper
def trial_cost(b, player, card):
    """By how much the lead cards of ``player`` grow with ``card`` in the rollout."""
    value = b.lowest + b.step * card
    if b.step != 1:
        return value
    owned = b.trial_owned[player]
    cost = 0 if card > 0 and (owned >> (card - 1)) & 1 else value
    if (owned >> (card + 1)) & 1:
        cost -= value + 1
    return cost


@inlined
def roll_out(b, threshold):
    """Play on to the end with one ``threshold`` for all; the trial fields hold what comes of it.

    It starts where no chips lie on the card, and chips are counted.
    """
    n = b.num_players
    for player in range(n):
        b.trial_owned[player] = b.owned[player]
        b.trial_chips[player] = b.chips[player]
        b.trial_leads[player] = b.leads[player]
    mover = b.to_move
    for place in range(b.num_taken, b.deck_size):
        card = b.deck[place]
        first = 1 << 30
        taker = mover
        for ahead in range(n):
            player = mover + ahead if mover + ahead < n else mover + ahead - n
            wanted = trial_cost(b, player, card) - threshold - ahead
            laps = 0 if wanted <= 0 else (wanted + n - 1) // n
            turn = ahead + n * min(laps, b.trial_chips[player])
            if turn < first:
                first = turn
                taker = player
        b.trial_leads[taker] += trial_cost(b, taker, card)
        b.trial_owned[taker] |= 1 << card
        for ahead in range(n):
            player = mover + ahead if mover + ahead < n else mover + ahead - n
            if first > ahead:
                b.trial_chips[player] -= (first - ahead + n - 1) // n
        b.trial_chips[taker] += first
        mover = taker
