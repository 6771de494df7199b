"""One engine that plays many games at once, with a player for each seat of each row.

All games advance in lock-step: at every turn the rows that wait for the same player go to it in one
call, whatever seats it has in them. Matches, self-play, populations, tables of many different
opponents and the seats of a learner are all seatings of this engine.

A seat may belong to the *caller*: such a row stands still until ``step`` is called for it, which is
how learners and environments play. What a player does in a row depends on that row alone, so
results are the same for any number of rows.

>>> from envs import make_game
>>> game = make_game("kuhn_v0")
>>> rollouts = Rollouts(game, [UniformPlayer()], size=4, seed=0)
>>> rollouts.begin(np.arange(4), np.arange(4), np.zeros((4, 2), np.int64))
>>> rollouts.run()
>>> bool((rollouts.batch.turns == OVER).all())
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from common.errors import IllegalActionError, MasqueradeError, one_line, reason_of
from common.saved import restore, saved_array
from envs.core.batch import Batch, random_actions
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import Words, stream
from envs.core.rows import busiest_rows, waiting_rows
from envs.core.sides import forfeit_returns
from envs.core.views import Views

__all__ = ["CALLER", "FAULTS", "Player", "Rollouts", "RowsFailed", "UniformPlayer"]

Indices = npt.NDArray[np.int64]
Fault = Callable[[int, int, str], None]
"""Told of a forfeit: row, seat and reason."""

FAULTS = (Exception, SystemExit, GeneratorExit)
"""What a player may raise and only its own games suffer; Ctrl-C is for all."""
CALLER = -1
"""In a seating: the seat waits for whoever runs the engine."""


class RowsFailed(MasqueradeError):
    """A player has no answer for some rows of a batch; its answers for the others are kept."""

    def __init__(self, actions: Indices, reasons: Mapping[int, str]) -> None:
        """``reasons`` says for each failed row why; ``actions`` of those rows mean nothing."""
        self.actions = actions
        self.reasons = dict(reasons)
        first = next(iter(self.reasons.values()))
        super().__init__(f"{len(reasons)} of {len(actions)} rows failed, the first: {first}")


class Player(Protocol):
    """Whatever can fill a seat; every agent of this project can.

    It may also have ``wants_tokens`` and ``num_past`` (what its views are to carry) and
    ``end_games(game_ids, seats, returns)``, which is called when games it took part in are over.
    """

    def act(self, views: Views) -> Indices:
        """Choose one action for every row."""


class UniformPlayer:
    """Plays every legal action with the same probability."""

    def act(self, views: Views) -> Indices:
        """Draw from each row's own generator."""
        return random_actions(views.masks, views.rngs)


class Rollouts:
    """``size`` games in play, and who sits where in each of them.

    Args:
        game: the game all rows play.
        players: who there is; seatings name them by their place in this list, which may grow.
        size: how many games side by side.
        seed: root of all randomness, or one for each row: game *n* is dealt from (seed, *n*).
        choice_seed: root of what players are given, if it is another: of their generators and ids.
        has_record: keep the actions of every game.
        on_fault: if given, a player that fails or chooses an illegal action forfeits that game,
            this is told, and all others go on; else the error is raised.
        num_past: earlier observations to keep, if players who come later want more than these.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[Player],
        size: int,
        seed: int | Sequence[int] = 0,
        has_record: bool = False,
        on_fault: Fault | None = None,
        num_past: int = 0,
        choice_seed: int | None = None,
    ) -> None:
        """Make room for the games; ``begin`` starts them."""
        self.players = players
        self.batch = Batch(
            game,
            size,
            _roots(seed, "chance"),
            _roots(seed if choice_seed is None else choice_seed, "choice"),
            has_record,
            any(getattr(player, "wants_tokens", False) for player in players),
            max([num_past, *(getattr(player, "num_past", 0) for player in players)]),
        )
        self.seating: Indices = np.full((size, game.facts.num_players), CALLER)
        """[size, players] who sits in each seat of each row."""
        self._on_fault = on_fault
        self._has_ended = np.ones(size, np.bool_)  # nothing to tell of rows that never began

    # ---- playing ---------------------------------------------------------------------------------

    def begin(self, rows: Indices, numbers: Indices, seating: Indices) -> None:
        """Begin game ``numbers[i]`` in row ``rows[i]`` with ``seating[i]`` at the table."""
        self.seating[rows] = seating
        self.batch.begin(rows, numbers)
        self._has_ended[rows] = False

    def run(self) -> None:
        """Let the players move until every row is over or waits for the caller."""
        while self.advance():
            pass

    def advance(self) -> bool:
        """One action in every row that waits for a player; whether there was any."""
        waiting_for = self.waiting_for()
        for player in np.unique(waiting_for):
            if player >= 0:
                self.move(np.flatnonzero(waiting_for == player), int(player))
        return bool((waiting_for >= 0).any())

    def waiting_for(self) -> Indices:
        """[size] the player that each row waits for, ``CALLER``, or ``OVER``."""
        waiting_for = np.empty(self.batch.size, np.int64)
        waiting_rows(self.batch.turns, self.seating, waiting_for)
        return waiting_for

    def busiest(self, counts_ended: bool) -> tuple[int, Indices]:
        """The player for whom the most rows wait, and these rows; nobody waits: none.

        Rows whose games are over wait for ``OVER``, if they count.
        """
        counts = np.zeros(len(self.players) + 1, np.int64)
        counts[-1] = 0 if counts_ended else -self.batch.size - 1
        rows = np.empty(self.batch.size, np.int64)
        most = busiest_rows(self.batch.turns, self.seating, counts, rows)
        return OVER if most == len(self.players) else most, rows[: counts[most]]

    def move(self, rows: Indices, player: int) -> None:
        """Let one player act in ``rows``, which all wait for it."""
        if self._on_fault is None:
            actions, rngs, reasons = ask(self.players[player], self.batch.views(rows))
            if reasons:
                raise RowsFailed(actions, reasons)
            self.batch.step(rows, actions, rngs)
        else:
            self._move_or_forfeit(rows, player)
        self._tell_ends(rows)

    def step(self, rows: Indices, actions: Indices, rngs: Words | None = None) -> None:
        """Play the caller's actions; if any of them is illegal, none is played.

        ``rngs``: the generators of the views, if the caller may have drawn from them.
        """
        self.batch.step(rows, actions, rngs)
        self._tell_ends(rows)

    def forfeit(self, row: int, reason: str = "") -> None:
        """The player to move gives up: its side gets its lowest return, see ``sides.py``."""
        batch, seat = self.batch, int(self.batch.turns[row])
        batch.end(row, forfeit_returns(batch.game.facts, seat, batch.totals[row]))
        if self._on_fault is not None:
            self._on_fault(row, seat, one_line(reason))
        self._tell_ends(np.array([row]))

    def _move_or_forfeit(self, rows: Indices, player: int) -> None:
        """Rows in which the player fails are lost for it, and the others go on."""
        batch = self.batch
        try:
            actions, rngs, reasons = ask(self.players[player], batch.views(rows))
        except FAULTS as error:
            if len(rows) == 1:
                self.forfeit(int(rows[0]), reason_of(error))
                return
            # One bad game must not cost the others: look for it in ever smaller parts.
            for part in np.array_split(rows, 2):
                self._move_or_forfeit(part, player)
            return
        try:
            batch.step(rows, actions, rngs)
            return
        except IllegalActionError:
            pass  # then none was played, and those that are to blame must be found
        is_legal = batch.is_legal(rows, actions)
        for i in np.flatnonzero(~is_legal):
            self.forfeit(int(rows[i]), reasons.get(int(i), f"illegal action {actions[i]}"))
        if is_legal.any():
            batch.step(rows[is_legal], actions[is_legal], rngs[is_legal])

    def _tell_ends(self, rows: Indices) -> None:
        """Let the players know which of their games are over."""
        if not any(getattr(player, "end_games", None) for player in self.players):
            return
        batch = self.batch
        ended = rows[(batch.turns[rows] == OVER) & ~self._has_ended[rows]]
        if not len(ended):
            return
        self._has_ended[ended] = True
        seated = self.seating[ended]
        for number in np.unique(seated[seated >= 0]):
            tell = getattr(self.players[number], "end_games", None)
            if tell is None:
                continue
            places, seats = np.nonzero(seated == number)
            own = ended[places]
            try:
                tell(batch.game_ids(own, seats), seats, batch.totals[own])
            except FAULTS:
                if self._on_fault is None:
                    raise  # its games are over: there is nothing left to forfeit

    # ---- keeping ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All games in play and who sits where; players keep their own."""
        games = {f"batch.{name}": array for name, array in self.batch.state_dict().items()}
        return {**games, "seating": self.seating.copy(), "has_ended": self._has_ended.copy()}

    def load_state_dict(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on with games that were saved by an engine of the same game, size and seed."""
        games = {name[6:]: array for name, array in state.items() if name.startswith("batch.")}
        self.batch.load_state_dict(games)
        shape = self.seating.shape
        seating = saved_array(state, "seating", np.int64, shape, CALLER, len(self.players) - 1)
        self.seating[:] = seating
        restore({"has_ended": self._has_ended}, state)


def _roots(seed: int | Sequence[int], name: str) -> Words:
    seeds = seed if isinstance(seed, Sequence) else [seed]
    return np.stack([stream(one, name) for one in seeds])


def ask(player: Player, views: Views) -> tuple[Indices, Words, Mapping[int, str]]:
    """An action for each row, the generators drawn from, and reasons for rows without an action."""
    num_rows = len(views)
    reasons: Mapping[int, str] = {}
    rngs = views.rngs  # the array that is handed out, not what the player may put in its place
    try:
        actions = np.asarray(player.act(views))
    except RowsFailed as failure:
        actions, reasons = np.array(failure.actions), failure.reasons
        actions[list(reasons)] = -1  # nowhere legal
    if actions.shape != (num_rows,) or actions.dtype.kind not in "iu":
        raise TypeError(f"{num_rows} whole numbers expected, not {one_line(repr(actions), 80)}")
    if rngs.shape != (num_rows, 4) or rngs.dtype != np.uint64:  # an array can be bent in place
        raise TypeError("its generators have lost their shape: draw from them and leave them")
    return actions.astype(np.int64), rngs, reasons
