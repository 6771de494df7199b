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

from common.errors import IllegalActionError, MasqueradeError, OptionError, one_line, reason_of
from common.saved import restore, saved_array
from envs.core.batch import Batch, random_actions
from envs.core.engine import busiest_rows, waiting_rows
from envs.core.facts import forfeit_returns, seats_of_role
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import Words, new_rng, stream
from envs.core.views import Views

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
        """The player to move gives up: its side gets its lowest return, see ``facts.py``."""
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


# ---- seats of a learner --------------------------------------------------------------------------

Seating = Callable[[Indices], tuple[Indices, Indices]]
"""From game numbers to the learner's seat in each, [n], and who has all seats, [n, players]."""

# Games that may end in each row before the learner is asked anything.
MAX_DEALS = 1_000


class SeatGames:
    """The games of an engine, in each of which one seat (or every seat) is the learner's.

    Args:
        rollouts: the engine; the learner's seats are those of the ``CALLER``.
        seating: who sits where in game number *n*.
        is_by_row: every row plays games 0, 1, 2 ... of its own seed; else all rows take the next
            number of one series.
    """

    def __init__(self, rollouts: Rollouts, seating: Seating, is_by_row: bool = False) -> None:
        """No game is begun yet."""
        self.rollouts = rollouts
        self.batch = rollouts.batch
        self.seats: Indices = np.zeros(self.batch.size, np.int64)
        """[size] the learner's seat in each row."""
        self._seating = seating
        self._is_by_row = is_by_row
        self._num_begun: Indices = np.zeros(self.batch.size, np.int64)
        self._told = np.zeros(self.batch.size)

    @property
    def is_over(self) -> npt.NDArray[np.bool_]:
        """[size] whether the game of a row has ended."""
        is_over: npt.NDArray[np.bool_] = self.batch.turns == OVER
        return is_over

    def deal(
        self, rows: Indices | None = None, on_end: Callable[[Indices], None] | None = None
    ) -> None:
        """Play on until the learner is to move: others move, new games begin where one is over.

        Args:
            rows: where new games may begin; all rows by default.
            on_end: is told of rows whose games are over before new ones begin in them.
        """
        allowed = np.arange(self.batch.size) if rows is None else rows
        num_deals = 0
        while True:
            over = allowed[self.batch.turns[allowed] == OVER]
            if len(over):
                if on_end and self._num_begun.any():
                    on_end(over)
                self._begin(over)
                num_deals += len(over)
                if num_deals > MAX_DEALS * self.batch.size:
                    raise MasqueradeError(
                        f"the learner was never asked in {num_deals} games of {self.batch.game!r}"
                    )
            elif not self.rollouts.advance():
                return

    def _begin(self, rows: Indices) -> None:
        first = self._num_begun[rows] if self._is_by_row else self._num_begun.sum()
        numbers = first + (0 if self._is_by_row else np.arange(len(rows)))
        self._num_begun[rows] += 1
        self.seats[rows], seating = self._seating(numbers)
        self.rollouts.begin(rows, numbers, seating)
        self._told[rows] = 0.0

    def abandon(self, rows: Indices) -> None:
        """Break games off: ``deal`` begins new ones in these rows."""
        for row in rows[~self.is_over[rows]]:
            self.batch.end(int(row), self.batch.totals[row])

    def act(self, rows: Indices, actions: Indices, loses_illegal: bool = False) -> None:
        """Play the learner's actions and let the others answer.

        Args:
            rows: where the learner is to move.
            actions: what it plays there.
            loses_illegal: an illegal action forfeits the game; else it is an error, and nothing is
                played.
        """
        if loses_illegal:
            is_legal = self.batch.is_legal(rows, actions)
            for row in rows[~is_legal]:
                self.rollouts.forfeit(int(row))
            rows, actions = rows[is_legal], actions[is_legal]
        self.rollouts.step(rows, actions)
        self.rollouts.run()

    def rewards(self, rows: Indices) -> npt.NDArray[np.float64]:
        """What the learner was paid since it was last told: a game's rewards add up to its return.

        Asked after ``act`` they reach up to the next decision or the end, so a loser sees the loss.
        """
        totals = self.batch.totals[rows, self.seats[rows]]
        rewards: npt.NDArray[np.float64] = totals - self._told[rows]
        self._told[rows] = totals
        return rewards

    def observe(self, rows: Indices) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """The learner's observations and masks; where a game is over, no action is legal."""
        return self.batch.observe(rows, self.seats[rows])

    # ---- keeping ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All games in play, all but the roots of their chance."""
        own = {
            "seats": self.seats.copy(),
            "told": self._told.copy(),
            "num_begun": self._num_begun.copy(),
        }
        return {**self.rollouts.state_dict(), **own}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with games that were saved with the same game, size and seed."""
        self.rollouts.load_state_dict(state)
        size, players = self.batch.size, self.batch.game.facts.num_players
        self.seats[:] = saved_array(state, "seats", np.int64, (size,), 0, players - 1)
        self._num_begun[:] = saved_array(state, "num_begun", np.int64, (size,), 0, 2**48)
        restore({"told": self._told}, state)


def make_seat_games(
    game: Game,
    size: int,
    seat: int | str = 0,
    opponents: Player | Sequence[Player] | None = None,
    seeds: Sequence[int] | None = None,
) -> SeatGames:
    """Set up ``size`` games with a seat for the learner.

    Args:
        game: the game to play.
        size: how many games side by side.
        seat: the learner's seat; ``"rotate"`` moves on with every game, and the name of a role
            moves on among its seats.
        opponents: one for all other seats, or a list with one for each other seat in order after
            the learner's; uniform random players by default.
        seeds: one for each row, from which all its games follow; by default from the system's
            entropy.
    """
    num_players = game.facts.num_players
    own = _own_seats(game, seat)
    others = list(opponents) if isinstance(opponents, Sequence) else [opponents or UniformPlayer()]
    if len(others) == 1:
        others *= num_players - 1
    if len(others) != num_players - 1:
        raise OptionError(
            f"{game!r} has {num_players - 1} other seats: give one opponent for each, "
            f"not {len(others)}"
        )
    players = list({id(player): player for player in others}.values())
    place = {id(player): i for i, player in enumerate(players)}
    # From the learner's seat on: itself, then the others in order.
    around = np.array([CALLER, *(place[id(player)] for player in others)])

    def seating(numbers: Indices) -> tuple[Indices, Indices]:
        # Whoever opens changes from game to game as well, and must not always be the learner.
        seats = own[numbers // game.facts.num_openings % len(own)]
        return seats, around[(np.arange(num_players) - seats[:, None]) % num_players]

    roots = [int(new_rng()[0]) for _ in range(size)] if seeds is None else seeds
    return SeatGames(Rollouts(game, players, size, roots), seating, is_by_row=True)


def check_illegal(illegal: str) -> str:
    """What an illegal action does to a learner: ``"lose"`` or ``"raise"``."""
    if illegal not in ("raise", "lose"):
        raise OptionError(f"illegal must be 'raise' or 'lose', not {illegal!r}")
    return illegal


def _own_seats(game: Game, seat: int | str) -> Indices:
    num_players = game.facts.num_players
    if seat == "rotate":
        return np.arange(num_players)
    if isinstance(seat, str) and seats_of_role(game.facts, seat):
        return np.array(seats_of_role(game.facts, seat))
    if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < num_players:
        return np.array([seat])
    raise OptionError(f"seat must be from 0 to {num_players - 1}, 'rotate' or a role, not {seat!r}")
