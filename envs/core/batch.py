"""Many games at once: rows of states, stepped in one compiled call.

:class:`Batch` owns the true states. Nobody who plays gets hold of it: players are given
:class:`~envs.core.views.Views`, and what comes back from them is looked up in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import IllegalActionError, MasqueradeError
from common.saved import DamagedStateError, restore
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.playouts import random_legal
from envs.core.position import Position
from envs.core.rng import Words, new_rng, uniform
from envs.core.rows import begin_rows, legal_rows, look_rows, observe_rows, step_rows
from envs.core.sides import sides_of
from envs.core.views import Views

__all__ = ["Batch", "random_actions", "weighted_actions"]

Indices = npt.NDArray[np.int64]


@compiled(types.void(types.int8[:, ::1], types.uint64[:, ::1], types.int64[::1]))
def _random_rows(masks, rngs, actions):
    for i in range(actions.size):
        actions[i] = random_legal(masks[i], rngs[i])


@compiled(types.void(types.float64[:, ::1], types.uint64[:, ::1], types.int64[::1]))
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

    Args:
        game: the game all rows play.
        size: how many rows.
        chance: root of the generators of dice and cards, or one for each row; game number *n*
            always gets the *n*-th generator of its root.
        choice: the same for what players are given, by game and seat, through a one-way function.
        has_record: keep the actions of every game, for replays.
        has_tokens: keep what every player has seen, for agents that want it.
        num_past: how many earlier observations of every player are kept, for agents that want them.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        chance: Words,
        choice: Words | None = None,
        has_record: bool = False,
        has_tokens: bool = False,
        num_past: int = 0,
    ) -> None:
        """Make room for the rows; ``begin`` starts games in them."""
        if size < 1:
            raise ValueError(f"a batch needs at least 1 row, not {size}")
        facts = game.facts
        players = facts.num_players
        self.game = game
        self.size = size
        self.turns: Indices = np.full(size, OVER, np.int64)
        self.totals = np.zeros((size, players))
        self.lengths: Indices = np.zeros(size, np.int64)
        self.numbers: Indices = np.zeros(size, np.int64)
        self._game_ids: Words = np.zeros((size, players), np.uint64)
        # A team is one party, whoever moves its pieces: it knows a game by one id.
        self._id_places: Indices = np.zeros(players, np.int64)
        for side in sides_of(facts):
            self._id_places[list(side)] = side[0]
        self.keys: Words = np.zeros((size, players), np.uint64)
        self._states = np.zeros((size, game.state_size), np.uint8)
        self._histories = np.zeros((size, facts.max_length if has_record else 0), np.int32)
        # Untouched pages of a large array cost nothing, so there is room for the longest game.
        longest = facts.max_length if has_tokens else 0
        self._tokens = np.zeros((size, players, longest), np.int64)
        self._past = np.zeros((size, players, num_past, game.observation_size), np.float32)
        # Compiled code trusts the types of what it is given.
        self._chance_roots: Words = np.empty((size, 4), np.uint64)
        self._choice_roots: Words = np.empty((size, 4), np.uint64)
        self._chance_roots[:] = chance
        self._choice_roots[:] = new_rng(0) if choice is None else choice
        self._rngs: Words = np.zeros((size, 4), np.uint64)
        self._choice_rngs: Words = np.zeros((size * players, 4), np.uint64)
        self._world_rngs: Words = np.zeros((size * players, 4), np.uint64)
        self._no_draws: Words = np.zeros((0, 4), np.uint64)
        self._mask = np.empty(facts.num_actions, np.int8)
        self._chosen: Indices = np.full(size, -1, np.int64)
        self._block: Words = np.zeros(8, np.uint64)
        # In the order in which compiled code takes them.
        self._row_arrays = (
            self._states,
            self._rngs,
            self.turns,
            self.totals,
            self.keys,
            self._tokens,
            self._histories,
            self.lengths,
        )

    # ---- playing ---------------------------------------------------------------------------------

    def begin(self, rows: Indices, numbers: Indices) -> None:
        """Begin game ``numbers[i]`` in row ``rows[i]``, up to its first decision.

        A game may be over before anybody decides.
        """
        game, rows = self.game, self._check_rows(rows)
        numbers = np.ascontiguousarray(numbers, np.int64)
        if numbers.shape != rows.shape or (len(numbers) and numbers.min() < 0):
            raise ValueError(f"{len(rows)} rows need as many game numbers, none below 0")
        self.numbers[rows] = numbers
        self._tokens[rows] = 0
        self._past[rows] = 0.0
        begin_rows(
            game.kernels,
            game.rules,
            game.facts.num_openings,
            self._chance_roots,
            self._choice_roots,
            self._block,
            rows,
            numbers,
            self._choice_rngs,
            self._world_rngs,
            self._game_ids,
            *self._row_arrays,
        )

    def step(self, rows: Indices, actions: Indices, rngs: Words | None = None) -> None:
        """Play ``actions[i]`` in row ``rows[i]``; if any of them is illegal, none is played.

        ``rngs``: the generators of the views, if the players to move may have drawn from them.
        """
        game, rows = self.game, self._check_rows(rows)
        actions = np.ascontiguousarray(actions, np.int64)
        if actions.shape != rows.shape:
            raise ValueError(
                f"{len(rows)} rows need {len(rows)} actions, not an array of shape {actions.shape}"
            )
        draws = self._no_draws if rngs is None else np.ascontiguousarray(rngs)
        if rngs is not None and (draws.shape != (len(rows), 4) or draws.dtype != np.uint64):
            raise ValueError(f"{len(rows)} rows need as many generators of four words")
        earlier = self._observe_movers(rows) if self._past.shape[2] else None
        wrong = step_rows(
            game.kernels,
            game.rules,
            rows,
            actions,
            draws,
            self._choice_rngs,
            self._mask,
            self._chosen,
            *self._row_arrays,
        )
        if wrong >= 0:
            self._refuse(int(rows[wrong]), int(actions[wrong]))
        if earlier is not None:
            seats, observations = earlier
            self._past[rows, seats, :-1] = self._past[rows, seats, 1:]
            self._past[rows, seats, -1] = observations

    def _observe_movers(self, rows: Indices) -> tuple[Indices, npt.NDArray[np.float32]]:
        seats = np.maximum(self.turns[rows], 0)
        return seats, self.observe(rows, seats)[0]

    def end(self, row: int, totals: npt.NDArray[np.float64]) -> None:
        """End the game in ``row`` before its time, such as by forfeit, with these totals."""
        self.turns[row] = OVER
        self.totals[row] = totals

    def _check_rows(self, rows: Indices) -> Indices:
        rows = np.ascontiguousarray(rows, np.int64)
        # As unsigned numbers those below zero are the largest of all.
        if rows.ndim != 1 or (len(rows) and rows.view(np.uint64).max() >= self.size):
            raise IndexError(f"rows must be a list of numbers from 0 to {self.size - 1}")
        return rows

    def _refuse(self, row: int, action: int) -> None:
        position = Position(self.game)
        position.state[:] = self._states[row]
        if self.turns[row] == OVER:
            raise IllegalActionError(f"row {row}: action {action} refused: the game is over")
        try:
            position.apply(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"row {row}: {error}") from None
        raise ValueError(f"row {row} is named twice: play one action in each row")

    # ---- looking ---------------------------------------------------------------------------------

    def views(self, rows: Indices) -> Views:
        """What the players to move in ``rows`` may know; the true states stay in here."""
        rows, players = self._check_rows(rows), self.game.facts.num_players
        num_rows = len(rows)
        if num_rows and self.turns[rows].min() < 0:
            raise ValueError("nobody is to move in some of the rows: their games are over")
        seats, keys = np.empty(num_rows, np.int64), np.empty(num_rows, np.uint64)
        rngs = np.empty((num_rows, 4), np.uint64)
        worlds = np.empty((num_rows, self.game.state_size), np.uint8)
        look_rows(
            self.game.kernels,
            self.game.rules,
            rows,
            self.turns,
            self._states,
            self.keys,
            self._choice_rngs,
            self._world_rngs,
            seats,
            worlds,
            keys,
            rngs,
        )
        tokens = past = None
        if self._tokens.shape[2]:
            longest = int(self.lengths[rows].max(initial=0))
            tokens = self._tokens.reshape(self.size * players, -1)[rows * players + seats, :longest]
        if self._past.shape[2]:
            past = self._past[rows, seats]
        return Views(self.game, seats, keys, rngs, worlds, self.game_ids(rows, seats), tokens, past)

    def game_ids(self, rows: Indices, seats: Indices) -> Words:
        """[n] by which ``seats`` know the games in ``rows``; another for every side of a game."""
        ids: Words = self._game_ids[rows, self._id_places[seats]]
        return ids

    def observe(
        self, rows: Indices, seats: Indices
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """Observations and masks of ``seats``; nothing is legal for one who is not to move."""
        game, rows = self.game, self._check_rows(rows)
        seats = np.ascontiguousarray(seats, np.int64)
        players = game.facts.num_players
        if seats.shape != rows.shape or (
            len(seats) and not 0 <= seats.min() <= seats.max() < players
        ):
            raise IndexError(f"{len(rows)} rows need as many seats from 0 to {players - 1}")
        observations = np.empty((len(rows), game.observation_size), np.float32)
        observe_rows(game.kernels, game.rules, self._states, rows, seats, observations)
        masks = np.zeros((len(rows), game.facts.num_actions), np.int8)
        legal_rows(game.kernels, game.rules, self._states, rows, seats, self.turns, masks)
        return observations, masks

    def stakes(self, rows: Indices) -> npt.NDArray[np.float64]:
        """[n] how much is at stake for the players to move, as everybody knows."""
        return self.game.stakes(self._states[rows])

    def is_legal(self, rows: Indices, actions: Indices) -> npt.NDArray[np.bool_]:
        """[n] whether each action is legal for the player to move in its row."""
        _, masks = self.observe(rows, self.turns[rows])
        is_in_range = (actions >= 0) & (actions < masks.shape[1])
        chosen = np.where(is_in_range, actions, 0)
        is_legal: npt.NDArray[np.bool_] = is_in_range & (masks[np.arange(len(rows)), chosen] == 1)
        return is_legal

    def world(self, row: int, seat: int, rng: Words) -> npt.NDArray[np.uint8]:
        """A state that ``seat`` cannot tell from that of ``row``."""
        world: npt.NDArray[np.uint8] = self._states[row].copy()
        self.game.kernels.determinize(world, self.game.rules, seat, rng)
        return world

    def text(self, row: int, viewer: int | None = None) -> str:
        """The game in ``row`` in words, as a spectator or as one of the players sees it."""
        return self.game.render(self._states[row], viewer)

    def draw(self, row: int, viewer: int | None = None) -> str:
        """The game in ``row`` as a picture, as a spectator or as one of the players sees it."""
        return self.game.draw(self._states[row], viewer)

    def history(self, row: int) -> list[int]:
        """The actions and chance outcomes of the game in ``row``; needs ``has_record``."""
        if not self._histories.shape[1]:
            raise ValueError("games were not recorded: make the batch with has_record=True")
        return [int(action) for action in self._histories[row, : self.lengths[row]]]

    # ---- keeping ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All games in play, as copies of the arrays that hold them."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def load_state_dict(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on with the games of a batch of the same game, size and roots.

        Games that were recorded are played again, and must come to the same: what else a file says
        of them is not believed. Those without a record must be your own.
        """
        histories: Any = state.get("histories")
        if np.shape(histories)[1:] == (0,) and self._histories.shape[1]:
            raise MasqueradeError(
                "its games were saved by an earlier version, without their moves: begin it again"
            )
        restore(self._arrays(), state)
        if self._histories.shape[1]:
            for row in range(self.size):
                fault = self._fault_of(row)
                if fault:
                    raise DamagedStateError(f"the game in row {row} {fault}")

    def _fault_of(self, row: int) -> str:
        """What is wrong with a game that was read from a file; empty: nothing."""
        length, is_over = int(self.lengths[row]), self.turns[row] == OVER
        if length == 0 and is_over and not self._states[row].any():
            return ""  # never begun
        if not 0 <= length <= self._histories.shape[1] or self.numbers[row] < 0:
            return "has no such length or number"
        try:
            position = self.game.replay(self.history(row), int(self.numbers[row]))
        except IllegalActionError as error:
            return f"breaks the rules ({error})"
        if (position.state != self._states[row]).any():
            return "does not come to its state"
        players = range(self.game.facts.num_players)
        if any(position.key(player) != self.keys[row, player] for player in players):
            return "does not come to its keys"
        if is_over:  # perhaps by forfeit, which no rule knows
            return ""
        if position.turn != self.turns[row] or (position.returns() != self.totals[row]).any():
            return "has another turn or other totals"
        return ""

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        names = ("states", "rngs", "turns", "totals", "keys", "tokens", "histories", "lengths")
        arrays: dict[str, npt.NDArray[Any]] = dict(zip(names, self._row_arrays, strict=True))
        return {
            **arrays,
            "past": self._past,
            "numbers": self.numbers,
            "game_ids": self._game_ids,
            "choice_rngs": self._choice_rngs,
            "world_rngs": self._world_rngs,
        }
