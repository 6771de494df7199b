"""One game moving on, compiled: the steps that batches and environments are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, helper
from envs.core.kernels import (
    CHANCE,
    INT,
    KERNELS,
    MASK,
    OBSERVATION,
    OVER,
    RULES,
    STATE,
)
from envs.core.keys import fold

if TYPE_CHECKING:
    from envs.core.game import Game

__all__ = [
    "ILLEGAL",
    "Frame",
    "advance_game",
    "begin_game",
    "observe_game",
    "pay",
    "settle",
    "settle_seen",
    "step_seen",
]

Page = tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]

ILLEGAL = -100
"""``advance_game``: the action was not legal, and nothing was played."""


@helper
def step_seen(kernels, rules, state, action, keys):
    """Play an action and fold what each player sees of it into the keys of information sets."""
    for player in range(keys.size):
        keys[player] = fold(keys[player], kernels.seen(state, rules, action, player))
    kernels.step(state, rules, action)


@helper
def settle_seen(kernels, rules, state, rng, keys):
    """Play all chance that is due, folding what each player sees; who is to move then."""
    turn = kernels.turn(state, rules)
    while turn == CHANCE:
        step_seen(kernels, rules, state, kernels.sample(state, rules, rng), keys)
        turn = kernels.turn(state, rules)
    return turn


@helper
def settle(kernels, optional, rules, state, rng):
    """Play all chance that is due, in one call if the game has one for it; who is to move then."""
    turn = kernels.turn(state, rules)
    if turn == CHANCE and optional.has_settle:
        return optional.settle(state, rules, rng)
    while turn == CHANCE:
        kernels.step(state, rules, kernels.sample(state, rules, rng))
        turn = kernels.turn(state, rules)
    return turn


@helper
def _settle_recorded(kernels, rules, state, rng, history, length):
    """Play all chance that is due and write it down: ``(turn, length)``."""
    turn = kernels.turn(state, rules)
    while turn == CHANCE:
        outcome = kernels.sample(state, rules, rng)
        if length < history.size:
            history[length] = outcome
        length += 1
        kernels.step(state, rules, outcome)
        turn = kernels.turn(state, rules)
    return turn, length


@helper
def pay(kernels, rules, state, totals, rewards):
    """Update ``totals`` and write the differences to ``rewards``; 1 if there are any."""
    for player in range(totals.size):
        rewards[player] = -totals[player]
    kernels.returns(state, rules, totals)
    has_paid = 0
    for player in range(totals.size):
        rewards[player] += totals[player]
        has_paid |= rewards[player] != 0.0
    return has_paid


# ---- a game of its own ---------------------------------------------------------------------------

# The parts of a frame, those with the longest entries first, so that each begins where the last
# ends. The header holds where they begin, and the end.
_LENGTH, _RNG, _TOTALS, _REWARDS, _HISTORY, _MASK, _STATE = range(7)
_HEADER_SIZE = 8 * 8

# How many observations and masks are made at once. Each is handed out once and never written again,
# and rows of a block that are taken one by one cost a fraction of arrays of their own.
_PAGES_PER_BLOCK = 256


class Frame:
    """All memory of one game in progress, in one array, so that a call takes one argument for it.

    The parts are views of ``buffer``: ``length`` (one int64), ``rng``, ``totals``, ``rewards``,
    ``history``, ``mask`` of the player to move, and ``state``. A copy of a frame is independent of
    it.
    """

    def __init__(self, game: Game) -> None:
        """Make room for one game."""
        facts = game.facts
        self._parts: list[tuple[str, Any, int]] = [
            ("length", np.int64, 1),
            ("rng", np.uint64, 4),
            ("totals", np.float64, facts.num_players),
            ("rewards", np.float64, facts.num_players),
            ("history", np.int32, facts.max_length),
            ("mask", np.int8, facts.num_actions),
            ("state", np.uint8, game.state_size),
        ]
        sizes = [size * np.dtype(dtype).itemsize for _, dtype, size in self._parts]
        places = np.cumsum([_HEADER_SIZE, *sizes])
        self._bind(np.zeros(places[-1], np.uint8))
        self.buffer[:_HEADER_SIZE].view(np.int64)[:] = places
        self._page_sizes = game.observation_size, facts.num_actions
        self.pages: Iterator[Page] = iter(())
        """Observations and masks to write, which nobody has seen before."""

    def next_page(self) -> Page:
        """The next of ``pages``; where there is none left, new ones are made."""
        page = next(self.pages, None)
        if page is None:
            observation_size, mask_size = self._page_sizes
            observations = np.empty((_PAGES_PER_BLOCK, observation_size), np.float32)
            masks = np.empty((_PAGES_PER_BLOCK, mask_size), np.int8)
            self.pages = zip(observations, masks, strict=True)
            page = next(self.pages)
        return page

    def _bind(self, buffer: npt.NDArray[np.uint8]) -> None:
        self.buffer = buffer
        start = _HEADER_SIZE
        for name, dtype, size in self._parts:
            end = start + size * np.dtype(dtype).itemsize
            setattr(self, name, buffer[start:end].view(dtype))
            start = end

    length: npt.NDArray[np.int64]
    rng: npt.NDArray[np.uint64]
    totals: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]
    history: npt.NDArray[np.int32]
    mask: npt.NDArray[np.int8]
    state: npt.NDArray[np.uint8]

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the memory, not the views of it."""
        return {
            "_parts": self._parts,
            "_page_sizes": self._page_sizes,
            "buffer": self.buffer,
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make the views again."""
        self.__dict__.update(saved)
        self.pages = iter(())
        self._bind(self.buffer)


@helper
def show(kernels, rules, state, turn, own_mask, observation, mask):
    """Write what the player to move observes and may do, or what seat 0 observes at the end.

    What may be done is kept in ``own_mask`` too: whoever gets ``mask`` may write into it.
    """
    if turn == OVER:
        own_mask[:] = 0
    else:
        kernels.legal(state, rules, own_mask)
    for action in range(mask.size):
        mask[action] = own_mask[action]
    kernels.observe(state, rules, max(turn, 0), observation)


@compiled(INT(KERNELS, RULES, INT, STATE, OBSERVATION, MASK), nogil=False)
def begin_game(kernels, rules, opening, frame, observation, mask):
    """Begin a game in a frame, up to its first decision; returns who is to move, or ``OVER``.

    What was paid before anybody decides is part of the first rewards, as PettingZoo wants it.
    """
    at = frame[:_HEADER_SIZE].view(np.int64)
    length = frame[at[_LENGTH] : at[_RNG]].view(np.int64)
    rng = frame[at[_RNG] : at[_TOTALS]].view(np.uint64)
    totals = frame[at[_TOTALS] : at[_REWARDS]].view(np.float64)
    history = frame[at[_HISTORY] : at[_MASK]].view(np.int32)
    legal = frame[at[_MASK] : at[_STATE]].view(np.int8)
    state = frame[at[_STATE] :]
    kernels.new(state, rules, opening)
    turn, length[0] = _settle_recorded(kernels, rules, state, rng, history, 0)
    for player in range(totals.size):
        totals[player] = 0.0
    show(kernels, rules, state, turn, legal, observation, mask)
    return turn


@compiled(INT(KERNELS, RULES, STATE, INT, OBSERVATION, MASK), nogil=False)
def advance_game(kernels, rules, frame, action, observation, mask):
    """Play an action in a frame and the chance after it, up to the next decision.

    ``observation`` and ``mask`` become those of whoever is next.

    Returns:
        Twice the seat that is next (or ``OVER``), plus 1 if anybody was paid; ``ILLEGAL`` if the
        action is not legal, and then nothing has changed.
    """
    at = frame[:_HEADER_SIZE].view(np.int64)
    state = frame[at[_STATE] :]
    legal = frame[at[_MASK] : at[_STATE]].view(np.int8)
    if action < 0 or action >= legal.size or legal[action] == 0:
        return ILLEGAL
    length = frame[at[_LENGTH] : at[_RNG]].view(np.int64)
    rng = frame[at[_RNG] : at[_TOTALS]].view(np.uint64)
    totals = frame[at[_TOTALS] : at[_REWARDS]].view(np.float64)
    rewards = frame[at[_REWARDS] : at[_HISTORY]].view(np.float64)
    history = frame[at[_HISTORY] : at[_MASK]].view(np.int32)
    if length[0] < history.size:
        history[length[0]] = action
    kernels.step(state, rules, action)
    turn, length[0] = _settle_recorded(kernels, rules, state, rng, history, length[0] + 1)
    has_paid = pay(kernels, rules, state, totals, rewards)
    show(kernels, rules, state, turn, legal, observation, mask)
    return 2 * turn + has_paid


@compiled(types.void(KERNELS, RULES, STATE, INT, INT, OBSERVATION, MASK), nogil=False)
def observe_game(kernels, rules, frame, player, turn, observation, mask):
    """Write what ``player`` observes of the game in a frame, and may do if it is its ``turn``."""
    at = frame[:_HEADER_SIZE].view(np.int64)
    kernels.observe(frame[at[_STATE] :], rules, player, observation)
    legal = frame[at[_MASK] : at[_STATE]].view(np.int8)
    for action in range(mask.size):
        mask[action] = legal[action] if player == turn else 0
