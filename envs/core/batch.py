"""Many games at once: rows of states, stepped in one compiled call.

:class:`Batch` owns the true states. Nobody who plays gets hold of it: players are given
:class:`~envs.core.views.Views`, and what comes back from them is looked up in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from common.errors import IllegalActionError
from common.saved import DamagedStateError, restore
from envs.core.engine import (
    Streams,
    begin_rows,
    look_rows,
    make_rows,
    random_rows,
    show_rows,
    step_rows,
    weighted_rows,
)
from envs.core.facts import sides_of
from envs.core.game import Game
from envs.core.kernels import OVER, Kernels, OptionalKernels
from envs.core.position import Position
from envs.core.rng import Words, new_rng
from envs.core.views import Views

Indices = npt.NDArray[np.int64]


def random_actions(masks: npt.NDArray[np.int8], rngs: Words) -> Indices:
    """Draw a uniform legal action for every row, each from its own generator."""
    actions = np.empty(len(masks), np.int64)
    random_rows(masks, rngs, actions)
    return actions


def weighted_actions(weights: npt.NDArray[np.float64], rngs: Words) -> Indices:
    """Draw an action for every row by its weights ``[n, num_actions]``; one of weight 0 never.

    >>> weighted_actions(np.array([[0.0, 3.0, 0.0]]), new_rng(0)[None]).tolist()
    [1]
    """
    actions = np.full(len(weights), -1, np.int64)
    weighted_rows(np.ascontiguousarray(weights, np.float64), rngs, actions)
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
        self._rows = make_rows(game, size, True, has_tokens, has_record)
        self.turns: Indices = self._rows.turns
        self.totals: npt.NDArray[np.float64] = self._rows.totals
        self.lengths: Indices = self._rows.lengths
        self.keys: Words = self._rows.keys
        self._states: npt.NDArray[np.uint8] = self._rows.states
        self.numbers: Indices = np.zeros(size, np.int64)
        # A team is one party, whoever moves its pieces: it knows a game by one id.
        self._id_places: Indices = np.zeros(players, np.int64)
        for side in sides_of(facts):
            self._id_places[list(side)] = side[0]
        self._past = np.zeros((size, players, num_past, game.observation_size), np.float32)
        # Compiled code trusts the types of what it is given.
        self._streams = Streams(
            chance=np.empty((size, 4), np.uint64),
            choice=np.empty((size, 4), np.uint64),
            choice_rngs=np.zeros((size * players, 4), np.uint64),
            world_rngs=np.zeros((size * players, 4), np.uint64),
            game_ids=np.zeros((size, players), np.uint64),
            block=np.zeros(8, np.uint64),
        )
        self._streams.chance[:] = chance
        self._streams.choice[:] = new_rng(0) if choice is None else choice
        self._no_draws: Words = np.zeros((0, 4), np.uint64)
        self._mask = np.empty(facts.num_actions, np.int8)
        self._chosen: Indices = np.full(size, -1, np.int64)

    @property
    def _table(self) -> tuple[Kernels, OptionalKernels, npt.NDArray[np.int32]]:
        game = self.game
        return game.kernels, game.optional, game.rules

    # ---- playing ---------------------------------------------------------------------------------

    def begin(self, rows: Indices, numbers: Indices) -> None:
        """Begin game ``numbers[i]`` in row ``rows[i]``, up to its first decision.

        A game may be over before anybody decides.
        """
        rows = self._check_rows(rows)
        numbers = np.ascontiguousarray(numbers, np.int64)
        if numbers.shape != rows.shape or (len(numbers) and numbers.min() < 0):
            raise ValueError(f"{len(rows)} rows need as many game numbers, none below 0")
        self.numbers[rows] = numbers
        self._rows.tokens[rows] = 0
        self._past[rows] = 0.0
        num_openings = self.game.facts.num_openings
        begin_rows(*self._table, num_openings, self._rows, self._streams, rows, numbers)

    def step(self, rows: Indices, actions: Indices, rngs: Words | None = None) -> None:
        """Play ``actions[i]`` in row ``rows[i]``; if any of them is illegal, none is played.

        ``rngs``: the generators of the views, if the players to move may have drawn from them.
        """
        rows = self._check_rows(rows)
        actions = np.ascontiguousarray(actions, np.int64)
        if actions.shape != rows.shape:
            raise ValueError(
                f"{len(rows)} rows need {len(rows)} actions, not an array of shape {actions.shape}"
            )
        draws = self._no_draws if rngs is None else np.ascontiguousarray(rngs)
        if rngs is not None and (draws.shape != (len(rows), 4) or draws.dtype != np.uint64):
            raise ValueError(f"{len(rows)} rows need as many generators of four words")
        has_past = self._past.shape[2] > 0
        if has_past:
            seats = np.maximum(self.turns[rows], 0)
            observations, _ = self.observe(rows, seats)
        games = self._rows, self._streams
        wrong = step_rows(*self._table, *games, rows, actions, draws, self._mask, self._chosen)
        if wrong >= 0:
            self._refuse(int(rows[wrong]), int(actions[wrong]))
        if has_past:
            self._past[rows, seats, :-1] = self._past[rows, seats, 1:]
            self._past[rows, seats, -1] = observations

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
        games = self.game.kernels, self.game.rules, self._rows, self._streams
        look_rows(*games, rows, seats, worlds, keys, rngs)
        tokens = past = None
        if self._rows.tokens.shape[2]:
            longest = int(self.lengths[rows].max(initial=0))
            by_place = self._rows.tokens.reshape(self.size * players, -1)
            tokens = by_place[rows * players + seats, :longest]
        if self._past.shape[2]:
            past = self.past(rows, seats)
        return Views(self.game, seats, keys, rngs, worlds, self.game_ids(rows, seats), tokens, past)

    def past(self, rows: Indices, seats: Indices) -> npt.NDArray[np.float32]:
        """[n, num_past, observation_size] what ``seats`` saw at their last earlier decisions."""
        return self._past[rows, seats]

    def game_ids(self, rows: Indices, seats: Indices) -> Words:
        """[n] by which ``seats`` know the games in ``rows``; another for every side of a game."""
        ids: Words = self._streams.game_ids[rows, self._id_places[seats]]
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
        masks = np.zeros((len(rows), game.facts.num_actions), np.int8)
        show_rows(game.kernels, game.rules, self._rows, rows, seats, observations, masks)
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
        if not self._rows.histories.shape[1]:
            raise ValueError("games were not recorded: make the batch with has_record=True")
        return [int(action) for action in self._rows.histories[row, : self.lengths[row]]]

    # ---- keeping ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All games in play, as copies of the arrays that hold them."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def load_state_dict(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on with the games of a batch of the same game, size and roots.

        Games that were recorded are played again, and must come to the same: what else a file says
        of them is not believed. Those without a record must be your own.
        """
        restore(self._arrays(), state)
        if self._rows.histories.shape[1]:
            for row in range(self.size):
                fault = self._fault_of(row)
                if fault:
                    raise DamagedStateError(f"the game in row {row} {fault}")

    def _fault_of(self, row: int) -> str:
        """What is wrong with a game that was read from a file; empty: nothing."""
        length, is_over = int(self.lengths[row]), self.turns[row] == OVER
        if length == 0 and is_over and not self._states[row].any():
            return ""  # never begun
        if not 0 <= length <= self._rows.histories.shape[1] or self.numbers[row] < 0:
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
        own = {"past": self._past, "numbers": self.numbers}
        given = {
            name: getattr(self._streams, name) for name in ("choice_rngs", "world_rngs", "game_ids")
        }
        return {**self._rows._asdict(), **own, **given}
