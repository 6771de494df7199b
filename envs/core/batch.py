"""Many games at once: rows of states, stepped in one compiled call.

The compiled functions advance all rows of arrays; :class:`Batch` owns such arrays and is what
vector environments and matches are made of.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled
from envs.core.errors import IllegalActionError
from envs.core.game import Game
from envs.core.kernels import (
    INT,
    KERNELS,
    MASK,
    OVER,
    RULES,
)
from envs.core.playing import open_game, play, settle
from envs.core.playouts import random_legal
from envs.core.position import Position
from envs.core.rng import Words, fill_streams, new_rng
from envs.core.views import Views

__all__ = ["Batch", "random_actions"]

Indices = npt.NDArray[np.int64]

_STATES = types.uint8[:, ::1]
_RNGS = types.uint64[:, ::1]
_KEYS = types.uint64[:, ::1]
_MASKS = types.int8[:, ::1]
_ROWS = types.int64[::1]
_OPENINGS = types.Array(types.int32, 2, "C", readonly=True)
_HISTORIES = types.int32[:, ::1]
_TOTALS = types.float64[:, ::1]


# -----------------------------------------------------------------------------------------


@compiled(
    types.void(
        KERNELS,
        _OPENINGS,
        RULES,
        _STATES,
        _RNGS,
        _ROWS,
        _ROWS,
        _ROWS,
        _TOTALS,
        _KEYS,
        _HISTORIES,
        _ROWS,
    )
)
def _begin_rows(
    kernels, openings, rules, states, rngs, rows, numbers, turns, totals, keys, histories, lengths
):
    for row in rows:
        state = states[row]
        turns[row], lengths[row] = open_game(
            kernels, openings, rules, numbers[row], state, rngs[row], keys[row], histories[row]
        )
        kernels.returns(state, rules, totals[row])


@compiled(
    types.void(
        KERNELS, RULES, _STATES, _RNGS, _ROWS, _ROWS, _ROWS, _TOTALS, _KEYS, _HISTORIES, _ROWS
    )
)
def _advance_rows(
    kernels, rules, states, rngs, rows, actions, turns, totals, keys, histories, lengths
):
    for i in range(rows.size):
        row = rows[i]
        state, own_keys, history = states[row], keys[row], histories[row]
        length = play(kernels, rules, state, actions[i], own_keys, history, lengths[row])
        turns[row], lengths[row] = settle(
            kernels, rules, state, rngs[row], own_keys, history, length
        )
        kernels.returns(state, rules, totals[row])


@compiled(INT(KERNELS, RULES, _STATES, _ROWS, _ROWS, _ROWS, MASK))
def _first_illegal(kernels, rules, states, rows, turns, actions, mask):
    """The first position in ``rows`` whose action is not legal, or -1."""
    for i in range(rows.size):
        row = rows[i]
        if turns[row] < 0 or not 0 <= actions[i] < mask.size:
            return i
        kernels.legal(states[row], rules, mask)
        if not mask[actions[i]]:
            return i
    return -1


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, _ROWS, _MASKS))
def _legal_rows(kernels, rules, states, rows, seats, turns, masks):
    """Write the mask of every row whose seat is to move and leave the others as they are."""
    for i in range(rows.size):
        if turns[rows[i]] == seats[i]:
            kernels.legal(states[rows[i]], rules, masks[i])


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, types.float32[:, ::1]))
def _observe_rows(kernels, rules, states, rows, players, observations):
    for i in range(rows.size):
        kernels.observe(states[rows[i]], rules, players[i], observations[i])


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, _RNGS, _STATES))
def _determinize_rows(kernels, rules, states, rows, players, rngs, worlds):
    for i in range(rows.size):
        for j in range(states.shape[1]):
            worlds[i, j] = states[rows[i], j]
        kernels.determinize(worlds[i], rules, players[i], rngs[i])


@compiled(types.void(_MASKS, _RNGS, _ROWS))
def _random_rows(masks, rngs, actions):
    for i in range(actions.size):
        actions[i] = random_legal(masks[i], rngs[i])


def random_actions(masks: npt.NDArray[np.int8], rngs: Words) -> Indices:
    """Draw a uniform legal action for every row, each from its own generator."""
    actions = np.empty(len(masks), np.int64)
    _random_rows(masks, rngs, actions)
    return actions


class Batch:
    """``size`` games side by side; every row has its own generators and its own game number.

    Row arrays (read them, never write): ``turns``, ``totals``, ``lengths``, ``numbers``, ``keys``.

    Args: game: the game all rows play. size: how many rows. chance: root of the generators of dice
        and cards; game number *n* always gets the *n*-th one. choice: root of the generators that
        the players draw from, by game and seat. has_record: keep the actions of every game, for
        replays and for agents that want tokens.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        chance: Words,
        choice: Words | None = None,
        has_record: bool = False,
    ) -> None:
        """Make room for the rows; ``begin`` starts games in them."""
        if size < 1:
            raise ValueError(f"a batch needs at least 1 row, not {size}")
        players = game.facts.num_players
        self.game = game
        self.size = size
        self.turns: Indices = np.full(size, OVER, np.int64)
        self.totals = np.zeros((size, players))
        self.lengths: Indices = np.zeros(size, np.int64)
        self.numbers: Indices = np.zeros(size, np.int64)
        self.keys: Words = np.zeros((size, players), np.uint64)
        self._openings = game.openings
        self._states = np.zeros((size, game.state_size), np.uint8)
        self._histories = np.zeros((size, game.facts.max_length if has_record else 0), np.int32)
        self._chance_root = chance
        self._choice_root = new_rng(0) if choice is None else choice
        self._rngs: Words = np.zeros((size, 4), np.uint64)
        self._choice_rngs: Words = np.zeros((size, players, 4), np.uint64)

    def begin(self, rows: Indices, numbers: Indices) -> None:
        """Begin game ``numbers[i]`` in row ``rows[i]``, up to its first decision."""
        players = self.game.facts.num_players
        self.numbers[rows] = numbers
        fresh = np.empty((len(rows), 4), np.uint64)
        fill_streams(self._chance_root, numbers, fresh)
        self._rngs[rows] = fresh
        seats = (numbers[:, None] * players + np.arange(players)).ravel()
        fresh = np.empty((len(seats), 4), np.uint64)
        fill_streams(self._choice_root, seats, fresh)
        self._choice_rngs[rows] = fresh.reshape(len(rows), players, 4)
        arrays = self.turns, self.totals, self.keys, self._histories, self.lengths
        _begin_rows(
            self.game.kernels,
            self._openings,
            self.game.rules,
            self._states,
            self._rngs,
            rows,
            self.numbers,
            *arrays,
        )

    def step(self, rows: Indices, actions: Indices) -> None:
        """Play ``actions[i]`` in row ``rows[i]``; if any of them is illegal, none is played."""
        game = self.game
        actions = np.ascontiguousarray(actions, np.int64)
        if actions.shape != rows.shape:
            raise ValueError(
                f"{len(rows)} rows need {len(rows)} actions, not an array of shape {actions.shape}"
            )
        buffer = np.empty(game.facts.num_actions, np.int8)
        wrong = _first_illegal(
            game.kernels, game.rules, self._states, rows, self.turns, actions, buffer
        )
        if wrong >= 0:
            self._refuse(int(rows[wrong]), int(actions[wrong]))
        arrays = self.turns, self.totals, self.keys, self._histories, self.lengths
        _advance_rows(game.kernels, game.rules, self._states, self._rngs, rows, actions, *arrays)

    def end(self, row: int, totals: npt.NDArray[np.float64]) -> None:
        """End the game in ``row`` before its time, such as by forfeit, with these totals."""
        self.turns[row] = OVER
        self.totals[row] = totals

    def _refuse(self, row: int, action: int) -> None:
        position = Position(self.game)
        position.state[:] = self._states[row]
        try:
            position.apply(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"row {row}: {error}") from None

    def views(self, rows: Indices) -> Views:
        """What the players to move in ``rows`` may know; the true states stay in here."""
        seats = self.turns[rows]
        kernels, rules = self.game.kernels, self.game.rules
        # Copied now, so that views taken before a step still speak of the position they were taken
        # in.
        states = self._states[rows]
        own = np.arange(len(rows))

        def masks() -> npt.NDArray[np.int8]:
            out = np.empty((len(rows), self.game.facts.num_actions), np.int8)
            _legal_rows(kernels, rules, states, own, seats, seats, out)
            return out

        def observations() -> npt.NDArray[np.float32]:
            out = np.empty((len(rows), self.game.observation_size), np.float32)
            _observe_rows(kernels, rules, states, own, seats, out)
            return out

        def worlds(rngs: Words) -> npt.NDArray[np.uint8]:
            out = np.empty_like(states)
            _determinize_rows(kernels, rules, states, own, seats, rngs, out)
            return out

        histories, lengths = self._histories[rows], self.lengths[rows]
        tokens = self._token_reader(histories, lengths, self.numbers[rows], seats)
        rngs = self._choice_rngs[rows, seats]
        return Views(
            self.game, seats, self.keys[rows, seats], rngs, masks, observations, worlds, tokens
        )

    def observe(
        self, rows: Indices, seats: Indices
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """Observations and masks of ``seats``; nothing is legal for one who is not to move."""
        game = self.game
        observations = np.empty((len(rows), game.observation_size), np.float32)
        _observe_rows(game.kernels, game.rules, self._states, rows, seats, observations)
        masks = np.zeros((len(rows), game.facts.num_actions), np.int8)
        _legal_rows(game.kernels, game.rules, self._states, rows, seats, self.turns, masks)
        return observations, masks

    def text(self, row: int, viewer: int | None = None) -> str:
        """The game in ``row`` in words, as a spectator or as one of the players sees it."""
        return self.game.render(self._states[row], viewer)

    def _token_reader(
        self, histories: npt.NDArray[np.int32], lengths: Indices, numbers: Indices, seats: Indices
    ) -> Callable[[int], list[int]]:
        def tokens(i: int) -> list[int]:
            if not self._histories.shape[1]:
                raise ValueError("tokens were not recorded: make the batch with has_record=True")
            actions = histories[i, : lengths[i]].tolist()
            return self.game.replay(actions, int(numbers[i])).tokens(int(seats[i]))

        return tokens

    def keep_draws(self, rows: Indices, views: Views) -> None:
        """Take back the generators that an agent has drawn from while it acted on ``views``."""
        self._choice_rngs[rows, views.seats] = views.rngs

    def history(self, row: int) -> list[int]:
        """The actions and chance outcomes of the game in ``row``; needs ``has_record``."""
        if not self._histories.shape[1]:
            raise ValueError("games were not recorded: make the batch with has_record=True")
        return [int(action) for action in self._histories[row, : self.lengths[row]]]
