"""What table learners go by in a pursuit: the last sighting, and rewards at sightings.

With the abstraction ``sighting`` a detective's decision is where all detectives stand, who of them
moves now and who has moved, where the fugitive was last seen and how many of his moves ago. The
fugitive knows his own place as well. Tickets are left out.

The reward ``sightings`` pays three ``reward_levels``: the first for a win, the second for a loss,
and the third is taken from detectives, and given to the fugitive, for every step between him and
the nearest of them whenever he is seen.
"""

from __future__ import annotations

import numpy as np

from agents.abstraction import ENCODE, Abstraction
from agents.games.pursuit.simple import PURSUITS, header_of, record_of
from agents.tabular.hooks import REWARD, Reward
from envs.core.compiling import compiled
from envs.core.kernels import OVER
from envs.core.rng import mix
from envs.pursuit.kernels import nearest_detective
from envs.pursuit.options import ESCAPED, FUGITIVE, NOWHERE, map_of


@compiled(ENCODE)
def encode_sighting(state, rules, player, infoset_key, keys):
    """Places, who moves, and the last sighting."""
    s, r = record_of(state), header_of(rules)
    word = mix(np.uint64(1 + s.phase + 16 * s.piece + 256 * s.moved + 65536 * (s.map + 1)))
    for piece in range(1, 1 + r.num_detectives):
        word = mix(word + np.uint64(s.place[piece] + 2))
    word = mix(word + np.uint64(s.seen_place + 2))
    word = mix(word + np.uint64(s.num_moves - s.seen_move))
    if player == FUGITIVE:
        word = mix(word + np.uint64(s.place[FUGITIVE] + 2 + 1024))
    for action in range(keys.size):
        keys[action] = mix(word + np.uint64(action + 1) * np.uint64(0x9E3779B97F4A7C15))


SIGHTING = Abstraction(encode_sighting, needs_infosets=False, game_ids=PURSUITS)


@compiled(REWARD)
def reward_sightings(before, after, rules, player, levels):
    """``levels``: a win, a loss, and a step of distance at a sighting."""
    old = record_of(before)
    new, r = record_of(after), header_of(rules)
    m = map_of(rules, new.map)
    if new.turn == OVER:
        return levels[0] if (new.reason >= ESCAPED) == (player == FUGITIVE) else levels[1]
    if new.seen_move == old.seen_move or new.seen_place == NOWHERE:
        return 0.0
    steps = nearest_detective(new, r, rules, m, new.seen_place)
    return levels[2] * steps * (1.0 if player == FUGITIVE else -1.0)


SIGHTINGS = Reward(reward_sightings, game_ids=PURSUITS)
