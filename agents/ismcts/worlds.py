"""Worlds by what opponents would have done in them: weighted determinization, compiled.

Who bids many sixes probably has some. A game's own ``determinize`` does not know that: it asks
which worlds are possible, not how the others play. Here the game is played again from its start in
many worlds at once. In each, chance and players do what shows the searcher just what it has seen,
and a world counts by how likely the game's quick policy was to move like that in it; where there is
none, every legal action is as likely. After everything that was seen worlds are drawn anew by
weight.

When hardly a world survives, because dice or cards were shown, what is hidden now has little to do
with what was: then ``determinize`` draws all worlds afresh, and counting begins anew from there.
"""

from __future__ import annotations

from numba import types

from agents.ismcts.tree import copy_bytes
from envs.core.compiling import compiled, inlined
from envs.core.kernels import (
    CHANCE,
    INT,
    KERNELS,
    OPTIONAL_KERNELS,
    OVER,
    RNG,
    RULES,
    STATE,
    UNSEEN,
)
from envs.core.rng import uniform

NUM_DRAWS = 4
"""Of the quick policy, to see how likely it makes an action; estimates need not be exact."""
_EPSILON = 0.1
"""How often an opponent does anything, whatever the quick policy says."""
_FEW = 0.1
"""Of all worlds: if fewer survive, they are drawn afresh."""
_MAX_TRIES = 20_000
"""Worlds that are tried when none survives."""

_FLOATS = types.float64[::1]
_STATES = types.uint8[:, ::1]


@inlined
def weigh_actions(kernels, optional, rules, state, turn, seat, weights, mask, rng):
    """Write how likely the player to move is to play each action."""
    num_legal = kernels.legal(state, rules, mask)
    is_modelled = optional.has_rollout and turn != seat
    share = (_EPSILON if is_modelled else 1.0) / num_legal
    for action in range(mask.size):
        weights[action] = share * mask[action]
    if is_modelled:
        for _ in range(NUM_DRAWS):
            weights[optional.rollout(state, rules, rng)] += (1.0 - _EPSILON) / NUM_DRAWS


@inlined
def advance(kernels, optional, rules, state, seat, token, weights, mask, rng):
    """Play on until ``seat`` has seen ``token``; how likely that was, 0 if it cannot be."""
    likely = 1.0
    while True:
        turn = kernels.turn(state, rules)
        if turn == OVER:
            return 0.0
        if turn == CHANCE:
            kernels.chance(state, rules, weights)
        else:
            weigh_actions(kernels, optional, rules, state, turn, seat, weights, mask, rng)
        total, num_weights = 0.0, weights.size if turn == CHANCE else mask.size
        for action in range(num_weights):
            if weights[action] > 0.0:
                seen = kernels.seen(state, rules, action, seat)
                if seen != token and seen != UNSEEN:
                    weights[action] = 0.0
                total += weights[action]
        if total <= 0.0:
            return 0.0
        left, chosen = uniform(rng) * total, 0
        for action in range(num_weights):
            if weights[action] > 0.0:
                chosen = action
                left -= weights[action]
                if left < 0.0:
                    break
        # A player's own choices say nothing about the others.
        likely *= 1.0 if turn == seat else total
        is_seen = kernels.seen(state, rules, chosen, seat) == token
        kernels.step(state, rules, chosen)
        if is_seen:
            return likely


@inlined
def draw_again(worlds, spare, likely, total, rng):
    """Draw as many worlds as there are, by weight; one number places all of them."""
    num_worlds = worlds.shape[0]
    step, at = total / num_worlds, 0
    mark, sum_so_far = step * uniform(rng), likely[0]
    for i in range(num_worlds):
        while sum_so_far < mark and at < num_worlds - 1:
            at += 1
            sum_so_far += likely[at]
        copy_bytes(worlds[at], spare[i])
        mark += step
    for i in range(num_worlds):
        copy_bytes(spare[i], worlds[i])


@inlined
def draw_afresh(kernels, rules, reference, seat, worlds, rng):
    """Let the game's own function draw all worlds."""
    for i in range(worlds.shape[0]):
        copy_bytes(reference, worlds[i])
        kernels.determinize(worlds[i], rules, seat, rng)


@compiled(
    types.boolean(
        *(KERNELS, OPTIONAL_KERNELS, RULES, types.int64[::1], INT, RNG),
        *(STATE, _STATES, _STATES, _FLOATS, _FLOATS, types.int8[::1]),
    )
)
def replay_worlds(
    kernels, optional, rules, tokens, seat, rng, reference, worlds, spare, likely, weights, mask
):
    """Fill ``worlds`` by what ``seat`` has seen since the start of a game; whether it worked.

    Args:
        kernels: of the game.
        optional: what else it has.
        rules: of the game.
        tokens: [n] everything that the seat has seen.
        seat: who searches.
        rng: of the searcher.
        reference: [state_size] the start of the game; scratch memory afterwards.
        worlds: [m, state_size] what is filled.
        spare: [m, state_size] scratch memory, as are all that follow.
        likely: [m].
        weights: [actions or chance outcomes].
        mask: [actions].
    """
    num_worlds = worlds.shape[0]
    draw_afresh(kernels, rules, reference, seat, worlds, rng)
    for token in tokens:
        num_left, total, kept = 0, 0.0, 0
        for i in range(num_worlds):
            likely[i] = advance(
                kernels, optional, rules, worlds[i], seat, token, weights, mask, rng
            )
            total += likely[i]
            if likely[i] > 0.0:
                num_left += 1
                kept = i
        num_tries = 0
        while num_left == 0:
            if num_tries == _MAX_TRIES:
                return False
            num_tries += 1
            copy_bytes(reference, worlds[0])
            kernels.determinize(worlds[0], rules, seat, rng)
            num_left += (
                advance(kernels, optional, rules, worlds[0], seat, token, weights, mask, rng) > 0.0
            )
        copy_bytes(worlds[kept], reference)
        if num_left < _FEW * num_worlds:
            draw_afresh(kernels, rules, reference, seat, worlds, rng)
        else:
            draw_again(worlds, spare, likely, total, rng)
    return True
