"""Randomness that is always handed in: a generator is four ``uint64`` words in an array.

The words are the state of xoshiro256++ (Blackman and Vigna, 2019). An array of four words is what a
compiled kernel can take, what a checkpoint can hold, and what a batch of a thousand games has a
thousand of.

One root seed gives every stream of a run:

* ``stream(seed, "chance")`` is a named stream, independent of all other names;
* ``fill_streams(stream, numbers, rngs)`` seeds one generator per game from its number, so that game
  17 rolls the same dice whichever process or batch plays it.

What a player is given (its generator, the id of a game) comes from ``one_way_block``: from all that
a player ever gets, neither the root nor anybody else's stream can be worked out.

What a player has seen is a number too, a key: two histories have the same key for a player exactly
when the player has seen the same tokens in the same order (up to a hash collision, about one chance
in 10**19 for a given pair).
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, direct, helper
from envs.core.kernels import INT, RNG, UNSEEN

Words = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled(types.uint64(types.uint64))
def mix(word):
    """Scramble 64 bits so that neighbours become strangers (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled(types.uint64(RNG))
def next_word(rng):
    """Advance the generator and return 64 random bits."""
    total = rng[0] + rng[3]
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + rng[0]
    shifted = rng[1] << np.uint64(17)
    rng[2] ^= rng[0]
    rng[3] ^= rng[1]
    rng[1] ^= rng[2]
    rng[0] ^= rng[3]
    rng[2] ^= shifted
    rng[3] = (rng[3] << np.uint64(45)) | (rng[3] >> np.uint64(19))
    return result


@compiled(INT(RNG, INT))
def below(rng, bound):
    """Return a uniform integer below ``bound``, which is at most 2**32; bias: bound / 2**32."""
    return np.int64(((next_word(rng) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@compiled(types.float64(RNG))
def uniform(rng):
    """Return a uniform number in ``[0, 1)`` with 53 random bits."""
    return np.float64(next_word(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled(types.void(RNG, types.uint64))
def seed_rng(rng, seed):
    """Set the generator from one 64-bit seed, the way its authors recommend."""
    for i in range(4):
        seed += _GOLDEN
        rng[i] = mix(seed)


@compiled(types.void(RNG, INT, RNG))
def seed_stream(root, number, rng):
    """Seed the generator of game ``number`` of the stream ``root``."""
    word = mix(np.uint64(number) * _GOLDEN + root[0])
    for i in range(4):
        word = mix(word + root[i] + _GOLDEN)
        rng[i] = word


_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
# "expand 32-byte k", the constant of the ChaCha family.
_CONSTANT = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
_NUM_DOUBLE_ROUNDS = 6


@helper
def _rotate(word, left, right):
    return ((word << np.uint64(left)) | (word >> np.uint64(right))) & _LOW


@helper
def _quarter_round(a, b, c, d):
    a = (a + b) & _LOW
    d = _rotate(d ^ a, 16, 16)
    c = (c + d) & _LOW
    b = _rotate(b ^ c, 12, 20)
    a = (a + b) & _LOW
    d = _rotate(d ^ a, 8, 24)
    c = (c + d) & _LOW
    b = _rotate(b ^ c, 7, 25)
    return a, b, c, d


@compiled(types.void(RNG, INT, INT, types.uint64[::1]))
def one_way_block(key, number, part, out):
    """Write the 512 bits that belong to ``number`` and ``part`` under a secret 256-bit ``key``.

    It is the block function of ChaCha12 (Bernstein, 2008): nobody who sees any number of blocks can
    tell them from noise, let alone find the key.

    Args:
        key: [4] uint64, such as a named stream.
        number: of a game.
        part: of that game, such as a seat.
        out: [8] uint64.
    """
    n, p = np.uint64(number), np.uint64(part)
    x0, x1 = np.uint64(_CONSTANT[0]), np.uint64(_CONSTANT[1])
    x2, x3 = np.uint64(_CONSTANT[2]), np.uint64(_CONSTANT[3])
    x4, x5, x6, x7 = key[0] & _LOW, key[0] >> _HALF, key[1] & _LOW, key[1] >> _HALF
    x8, x9, x10, x11 = key[2] & _LOW, key[2] >> _HALF, key[3] & _LOW, key[3] >> _HALF
    x12, x13, x14, x15 = p & _LOW, p >> _HALF, n & _LOW, n >> _HALF
    for _ in range(_NUM_DOUBLE_ROUNDS):
        x0, x4, x8, x12 = _quarter_round(x0, x4, x8, x12)
        x1, x5, x9, x13 = _quarter_round(x1, x5, x9, x13)
        x2, x6, x10, x14 = _quarter_round(x2, x6, x10, x14)
        x3, x7, x11, x15 = _quarter_round(x3, x7, x11, x15)
        x0, x5, x10, x15 = _quarter_round(x0, x5, x10, x15)
        x1, x6, x11, x12 = _quarter_round(x1, x6, x11, x12)
        x2, x7, x8, x13 = _quarter_round(x2, x7, x8, x13)
        x3, x4, x9, x14 = _quarter_round(x3, x4, x9, x14)
    # The input is added to the output: without it every step could be undone.
    x0 = (x0 + np.uint64(_CONSTANT[0])) & _LOW
    x1 = (x1 + np.uint64(_CONSTANT[1])) & _LOW
    x2 = (x2 + np.uint64(_CONSTANT[2])) & _LOW
    x3 = (x3 + np.uint64(_CONSTANT[3])) & _LOW
    out[0] = x0 | (x1 << _HALF)
    out[1] = x2 | (x3 << _HALF)
    out[2] = ((x4 + (key[0] & _LOW)) & _LOW) | (((x5 + (key[0] >> _HALF)) & _LOW) << _HALF)
    out[3] = ((x6 + (key[1] & _LOW)) & _LOW) | (((x7 + (key[1] >> _HALF)) & _LOW) << _HALF)
    out[4] = ((x8 + (key[2] & _LOW)) & _LOW) | (((x9 + (key[2] >> _HALF)) & _LOW) << _HALF)
    out[5] = ((x10 + (key[3] & _LOW)) & _LOW) | (((x11 + (key[3] >> _HALF)) & _LOW) << _HALF)
    out[6] = ((x12 + (p & _LOW)) & _LOW) | (((x13 + (p >> _HALF)) & _LOW) << _HALF)
    out[7] = ((x14 + (n & _LOW)) & _LOW) | (((x15 + (n >> _HALF)) & _LOW) << _HALF)


@compiled(types.void(RNG, types.int64[::1], types.uint64[:, ::1]))
def fill_streams(root, numbers, rngs):
    """Seed ``rngs[i]`` for game ``numbers[i]``: [n] int64 -> [n, 4] uint64."""
    for i in range(numbers.size):
        seed_stream(root, numbers[i], rngs[i])


_seed_rng = direct(seed_rng)


def new_rng(seed: int | None = None) -> Words:
    """Make a generator from a seed, or from the operating system's entropy when there is none.

    >>> rng = new_rng(7)
    >>> int(below(rng, 6)) in range(6)
    True
    """
    if seed is None:
        return _words(np.random.SeedSequence())
    rng = np.empty(4, np.uint64)
    _seed_rng(rng, int(seed) & 0xFFFFFFFFFFFFFFFF)
    return rng


def stream(seed: int, *names: str | int) -> Words:
    """Make the generator of a named stream of a run, such as ``stream(0, "agent", 1)``.

    >>> bool((stream(0, "chance") == stream(0, "chance")).all())
    True
    >>> bool((stream(0, "chance") == stream(0, "agent", 1)).all())
    False
    """
    key = [zlib.crc32(name.encode()) if isinstance(name, str) else int(name) for name in names]
    return _words(np.random.SeedSequence(seed, spawn_key=tuple(key)))


def _words(sequence: np.random.SeedSequence) -> Words:
    return np.asarray(sequence.generate_state(4, np.uint64), np.uint64)


# ---- what a player has seen, folded token by token into 64 bits ----------------------------------


@compiled(types.uint64(INT))
def first_key(player):
    """The key of ``player`` before anything was seen; seats never share a key."""
    return mix(np.uint64(player + 2) * np.uint64(0xD1342543DE82EF95))


@compiled(types.uint64(types.uint64, INT))
def fold(key, token):
    """The key after seeing one more token; an unnoticed action leaves it as it was."""
    if token == UNSEEN:
        return key
    return mix(key ^ (mix(np.uint64(np.int64(token))) + np.uint64(0x9E3779B97F4A7C15)))


# ---- draws from what is possible -----------------------------------------------------------------

# Draws from all actions, hoping for a legal one, before the legal ones are counted.
_NUM_TRIES = 4


@helper
def random_legal(mask, rng):
    """A uniform legal action: a few quick tries, which mostly succeed, then a count and a scan."""
    for _ in range(_NUM_TRIES):
        action = below(rng, mask.size)
        if mask[action]:
            return action
    num_legal = np.int64(0)  # in plain Python a sum of int8 would overflow
    for action in range(mask.size):
        num_legal += mask[action]
    nth = below(rng, num_legal)
    for action in range(mask.size):
        nth -= mask[action]
        if nth < 0:
            return action
    return -1


@helper
def card_bit(card):
    """The card as a set of one, in 64 bits (``1 << card`` would have the 8 of ``card``)."""
    return np.int64(1) << card


@helper
def draw_card(taken, num_cards, rng):
    """A card that is not in the set ``taken``, all being equally likely.

    Drawing again until one fits is quicker than counting: it takes 42 draws for 24 of 33 cards.
    """
    while True:
        card = below(rng, num_cards)
        if not (taken >> card) & 1:
            return card


@helper
def nth_card_left(taken, n):
    """The ``n``-th card, counted from 0, that is not in the set ``taken``."""
    card = 0
    while True:
        if not (taken >> card) & 1:
            if n == 0:
                return card
            n -= 1
        card += 1
