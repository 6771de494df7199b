"""Many games at once: rows of states, stepped in one compiled call.

The compiled functions advance all rows of arrays; :class:`Batch` owns such arrays and is what
vector environments and matches are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, direct, helper
from envs.core.errors import IllegalActionError
from envs.core.game import Game
from envs.core.kernels import (
    INT,
    KERNELS,
    MASK,
    OVER,
    RNG,
    RULES,
)
from envs.core.playing import open_game, play, settle
from envs.core.playouts import random_legal
from envs.core.position import Position
from envs.core.rng import Words, new_rng, seed_stream, uniform
from envs.core.views import Views

__all__ = ["Batch", "random_actions", "weighted_actions"]

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
        RNG,
        RNG,
        _ROWS,
        _ROWS,
        _RNGS,
        _STATES,
        _RNGS,
        _ROWS,
        _TOTALS,
        _KEYS,
        _HISTORIES,
        _ROWS,
    )
)
def _begin_all(
    kernels,
    openings,
    rules,
    chance,
    choice,
    rows,
    numbers,
    choice_rngs,
    states,
    rngs,
    turns,
    totals,
    keys,
    histories,
    lengths,
):
    """Seed the generators of game ``numbers[i]`` and begin it in row ``rows[i]``."""
    num_players = keys.shape[1]
    for i in range(rows.size):
        row, number = rows[i], numbers[i]
        state, rng = states[row], rngs[row]
        seed_stream(chance, number, rng)
        for seat in range(num_players):
            place = num_players * row + seat
            seed_stream(choice, num_players * number + seat, choice_rngs[place])
        turns[row], lengths[row] = open_game(
            kernels, openings, rules, number, state, rng, keys[row], histories[row]
        )
        kernels.returns(state, rules, totals[row])


@compiled(
    INT(
        KERNELS, RULES, _ROWS, _ROWS, MASK, _STATES, _RNGS, _ROWS, _TOTALS, _KEYS, _HISTORIES, _ROWS
    )
)
def _step_all(
    kernels, rules, rows, actions, mask, states, rngs, turns, totals, keys, histories, lengths
):
    """Play every action and return -1; or play none and return the first that is not legal."""
    for i in range(rows.size):
        row, action = rows[i], actions[i]
        if turns[row] < 0 or not 0 <= action < mask.size:
            return i
        kernels.legal(states[row], rules, mask)
        if not mask[action]:
            return i
    for i in range(rows.size):
        row = rows[i]
        state, own_keys, history = states[row], keys[row], histories[row]
        length = play(kernels, rules, state, actions[i], own_keys, history, lengths[row])
        turns[row], lengths[row] = settle(
            kernels, rules, state, rngs[row], own_keys, history, length
        )
        kernels.returns(state, rules, totals[row])
    return -1


@compiled(types.void(_ROWS, _ROWS, _STATES, _KEYS, _RNGS, _ROWS, _STATES, types.uint64[::1], _RNGS))
def _copy_all(rows, turns, states, keys, choice_rngs, seats, own_states, own_keys, own_rngs):
    """Copy what belongs to the player to move in each of the rows."""
    num_players = keys.shape[1]
    for i in range(rows.size):
        row = rows[i]
        seat = turns[row]
        seats[i] = seat
        own_keys[i] = keys[row, seat]
        for j in range(states.shape[1]):
            own_states[i, j] = states[row, j]
        for j in range(4):
            own_rngs[i, j] = choice_rngs[num_players * row + seat, j]


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, _ROWS, _MASKS))
def _legal_all(kernels, rules, states, rows, seats, turns, masks):
    """Write the mask of every row whose seat is to move and leave the others as they are."""
    for i in range(rows.size):
        if turns[rows[i]] == seats[i]:
            kernels.legal(states[rows[i]], rules, masks[i])


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, types.float32[:, ::1]))
def _observe_all(kernels, rules, states, rows, players, observations):
    for i in range(rows.size):
        kernels.observe(states[rows[i]], rules, players[i], observations[i])


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, _RNGS, _STATES))
def _determinize_rows(kernels, rules, states, rows, players, rngs, worlds):
    for i in range(rows.size):
        for j in range(states.shape[1]):
            worlds[i, j] = states[rows[i], j]
        kernels.determinize(worlds[i], rules, players[i], rngs[i])


@helper
def _replay_to(kernels, rules, opening, history, length, state, seat, first, out):
    """Play a game again; write what ``seat`` saw at its decisions from number ``first`` on."""
    num_decisions = 0
    kernels.new(state, opening)
    for i in range(length):
        if kernels.turn(state, rules) == seat:
            place = num_decisions - first
            if 0 <= place < out.shape[0]:
                kernels.observe(state, rules, seat, out[place])
            num_decisions += 1
        kernels.step(state, rules, history[i])
    return num_decisions


@compiled(
    types.void(
        KERNELS,
        _OPENINGS,
        RULES,
        _HISTORIES,
        _ROWS,
        _ROWS,
        _ROWS,
        types.uint8[::1],
        types.float32[:, :, ::1],
    )
)
def _observe_past(kernels, openings, rules, histories, lengths, numbers, seats, state, out):
    count = out.shape[1]
    for i in range(seats.size):
        opening, history = openings[numbers[i] % openings.shape[0]], histories[i]
        length, seat, own = lengths[i], seats[i], out[i]
        past = _replay_to(kernels, rules, opening, history, length, state, seat, 0, own[:0])
        first = past - count
        if past > 0:
            _replay_to(kernels, rules, opening, history, length, state, seat, first, own)


@compiled(types.void(_MASKS, _RNGS, _ROWS))
def _random_rows(masks, rngs, actions):
    for i in range(actions.size):
        actions[i] = random_legal(masks[i], rngs[i])


@compiled(types.void(types.float64[:, ::1], _RNGS, _ROWS))
def _weighted_rows(weights, rngs, actions):
    for i in range(actions.size):
        total = 0.0
        for action in range(weights.shape[1]):
            total += weights[i, action]
        left = uniform(rngs[i]) * total
        for action in range(weights.shape[1]):
            if weights[i, action] > 0.0:
                actions[i] = action  # rounding may leave a rest after the last one
                left -= weights[i, action]
                if left < 0.0:
                    break


# Past Numba's dispatch: these are called once for each turn of a match.
_begin_rows, _step_rows, _copy_rows = direct(_begin_all), direct(_step_all), direct(_copy_all)
_legal_rows, _observe_rows = direct(_legal_all), direct(_observe_all)


def random_actions(masks: npt.NDArray[np.int8], rngs: Words) -> Indices:
    """Draw a uniform legal action for every row, each from its own generator."""
    actions = np.empty(len(masks), np.int64)
    _random_rows(masks, rngs, actions)
    return actions


def weighted_actions(weights: npt.NDArray[np.float64], rngs: Words) -> Indices:
    """Draw an action for every row by its weights ``[n, num_actions]``; one of weight 0 never.

    >>> weighted_actions(np.array([[0.0, 3.0, 0.0]]), new_rng(0)[None]).tolist()
    [1]
    """
    actions = np.full(len(weights), -1, np.int64)
    _weighted_rows(np.ascontiguousarray(weights, np.float64), rngs, actions)
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
        # Compiled code trusts the types of what it is given.
        self._chance_root: Words = np.ascontiguousarray(chance, np.uint64)
        self._choice_root: Words = (
            new_rng(0) if choice is None else np.ascontiguousarray(choice, np.uint64)
        )
        self._rngs: Words = np.zeros((size, 4), np.uint64)
        self._choice_rngs: Words = np.zeros((size * players, 4), np.uint64)
        self._mask = np.empty(game.facts.num_actions, np.int8)
        # In the order in which compiled code takes them.
        self._row_arrays = (
            self._states,
            self._rngs,
            self.turns,
            self.totals,
            self.keys,
            self._histories,
            self.lengths,
        )

    def begin(self, rows: Indices, numbers: Indices) -> None:
        """Begin game ``numbers[i]`` in row ``rows[i]``, up to its first decision."""
        game = self.game
        self.numbers[rows] = numbers
        _begin_rows(
            game.kernels,
            self._openings,
            game.rules,
            self._chance_root,
            self._choice_root,
            np.ascontiguousarray(rows, np.int64),
            np.ascontiguousarray(numbers, np.int64),
            self._choice_rngs,
            *self._row_arrays,
        )

    def step(self, rows: Indices, actions: Indices) -> None:
        """Play ``actions[i]`` in row ``rows[i]``; if any of them is illegal, none is played."""
        game = self.game
        actions = np.ascontiguousarray(actions, np.int64)
        if actions.shape != rows.shape:
            raise ValueError(
                f"{len(rows)} rows need {len(rows)} actions, not an array of shape {actions.shape}"
            )
        wrong = _step_rows(
            game.kernels,
            game.rules,
            np.ascontiguousarray(rows, np.int64),
            actions,
            self._mask,
            *self._row_arrays,
        )
        if wrong >= 0:
            self._refuse(int(rows[wrong]), int(actions[wrong]))

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
        kernels, rules = self.game.kernels, self.game.rules
        # Copied now, so that views taken before a step still speak of the position they were taken
        # in.
        num_rows = len(rows)
        seats, keys = np.empty(num_rows, np.int64), np.empty(num_rows, np.uint64)
        rngs = np.empty((num_rows, 4), np.uint64)
        states = np.empty((num_rows, self.game.state_size), np.uint8)
        sources = self.turns, self._states, self.keys, self._choice_rngs
        _copy_rows(np.ascontiguousarray(rows, np.int64), *sources, seats, states, keys, rngs)
        own = np.arange(num_rows)

        def masks() -> npt.NDArray[np.int8]:
            out = np.empty((num_rows, self.game.facts.num_actions), np.int8)
            _legal_rows(kernels, rules, states, own, seats, seats, out)
            return out

        def observations() -> npt.NDArray[np.float32]:
            out = np.empty((num_rows, self.game.observation_size), np.float32)
            _observe_rows(kernels, rules, states, own, seats, out)
            return out

        def worlds(rngs: Words) -> npt.NDArray[np.uint8]:
            out = np.empty_like(states)
            _determinize_rows(kernels, rules, states, own, seats, rngs, out)
            return out

        recorded = rows if self._histories.shape[1] else rows[:0]
        histories, lengths = self._histories[recorded], self.lengths[recorded]
        numbers = self.numbers[recorded]
        tokens = self._token_reader(histories, lengths, numbers, seats)

        def past(count: int) -> npt.NDArray[np.float32]:
            if not self._histories.shape[1]:
                raise ValueError("games were not recorded: make the batch with has_record=True")
            out = np.zeros((num_rows, count, self.game.observation_size), np.float32)
            state = np.empty(self.game.state_size, np.uint8)
            played = histories, lengths, numbers, seats
            _observe_past(kernels, self._openings, rules, *played, state, out)
            return out

        return Views(self.game, seats, keys, rngs, masks, observations, worlds, tokens, past)

    def observe(
        self, rows: Indices, seats: Indices
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """Observations and masks of ``seats``; nothing is legal for one who is not to move."""
        game = self.game
        observations = np.empty((len(rows), game.observation_size), np.float32)
        rows, seats = (np.ascontiguousarray(array, np.int64) for array in (rows, seats))
        _observe_rows(game.kernels, game.rules, self._states, rows, seats, observations)
        masks = np.zeros((len(rows), game.facts.num_actions), np.int8)
        _legal_rows(game.kernels, game.rules, self._states, rows, seats, self.turns, masks)
        return observations, masks

    def text(self, row: int, viewer: int | None = None) -> str:
        """The game in ``row`` in words, as a spectator or as one of the players sees it."""
        return self.game.render(self._states[row], viewer)

    def draw(self, row: int, viewer: int | None = None) -> str:
        """One game as an SVG picture; see ``Game.draw``."""
        return self.game.draw(self._states[row], viewer)

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
        places = rows * self.game.facts.num_players + views.seats
        self._choice_rngs[places] = views.rngs

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All games in play, as copies of the arrays that hold them."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def load_state_dict(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on with the games of a batch of the same game, size and roots."""
        for name, array in self._arrays().items():
            array[:] = state[name]

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        names = ("states", "rngs", "turns", "totals", "keys", "histories", "lengths")
        arrays: dict[str, npt.NDArray[Any]] = dict(zip(names, self._row_arrays, strict=True))
        return {**arrays, "numbers": self.numbers, "choice_rngs": self._choice_rngs}

    def history(self, row: int) -> list[int]:
        """The actions and chance outcomes of the game in ``row``; needs ``has_record``."""
        if not self._histories.shape[1]:
            raise ValueError("games were not recorded: make the batch with has_record=True")
        return [int(action) for action in self._histories[row, : self.lengths[row]]]
