"""Randomness that is always handed in: a generator is four ``uint64`` words in an array.

The words are the state of xoshiro256++ (Blackman and Vigna, 2019). An array of four words is what a
compiled kernel can take, what a checkpoint can hold, and what a batch of a thousand games has a
thousand of.

One root seed gives every stream of a run:

* ``stream(seed, "chance")`` is a named stream, independent of all other names;
* ``fill_streams(stream, first, rngs)`` seeds one generator per game from its number, so that game
  17 rolls the same dice whichever process or batch plays it.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, direct
from envs.core.kernels import INT, RNG

__all__ = [
    "Words",
    "below",
    "fill_streams",
    "new_rng",
    "next_word",
    "seed_rng",
    "seed_stream",
    "stream",
    "uniform",
]

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
    """Return a uniform integer in ``0 ..

    bound - 1`` for a bound below 2**32 (bias at most bound / 2**32).
    """
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
