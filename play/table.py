"""One game in play: who sits where, what has been decided, and what each seat has noticed.

The engine is that of matches (``envs/core/rollouts.py``): agents are given views, and the true
state stays in the batch. A game is its seed and its decisions, so a table can be taken back to any
of them, and a table that was kept comes back as it was.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.base import Agent, Views
from common.errors import IllegalActionError, MasqueradeError
from envs.core.drawing import Layout
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER
from envs.core.position import Position
from envs.core.rollouts import Rollouts
from play.view import Entry, Sight, look, notice

MAX_LENGTH = 20_000
"""Actions and chance events that a game at a table may have at most."""
ROW = np.zeros(1, np.int64)  # a table's game is the only row of its batch


@dataclass
class TableSeat:
    """Who sits there: a person, or an agent by its specification."""

    name: str
    agent: str = ""
    """Which agent; empty for a person."""
    params: dict[str, Any] = field(default_factory=dict)
    """What the agent is made with, such as its seconds for a move."""
    key: str = ""
    """Hash of what a browser shows to sit here; empty until somebody has come."""
    invite: str = ""
    """Hash of what is shown to get the key, once."""

    @property
    def is_person(self) -> bool:
        """Whether the seat waits for somebody's move."""
        return not self.agent


@dataclass(frozen=True)
class Decision:
    """A move of a person or of an agent."""

    seat: int
    action: int
    draws: str = ""
    """The agent's generator after the move, in hexadecimal; empty for a person's."""


def check_role(game: Game, number: int, seat: TableSeat, agent: Agent) -> None:
    """Refuse an agent in a seat whose role it cannot play."""
    if not agent.can_sit(number):
        role = game.facts.seats[number].role
        raise MasqueradeError(f"{seat.agent} cannot play the {role}: choose another")


def walk(game: Game, history: Sequence[int], number: int) -> Iterator[tuple[Position, int]]:
    """Every action of a game, with the position before it; it moves on with the game."""
    position = Position(game, number)
    for action in history:
        yield position, action
        game.kernels.step(position.state, game.rules, action)
        position.history.append(action)


class Table:
    """A game with people and agents round it.

    >>> from envs import make_game
    >>> table = Table(make_game("kuhn_v0"), [TableSeat("you"), TableSeat("they")])
    >>> table.begin(seed=1)
    >>> table.move(0, 1)
    >>> [entry.words for entry in table.log(1)][-1], table.turn
    ('bet', 1)

    Args:
        game: the game.
        seats: one for each player.
        agents: who moves for the seats that are no person's, by seat.
    """

    def __init__(
        self, game: Game, seats: Sequence[TableSeat], agents: dict[int, Agent] | None = None
    ) -> None:
        """Nothing is dealt yet."""
        if len(seats) != game.facts.num_players:
            raise MasqueradeError(
                f"{game.id} has {game.facts.num_players} seats with these options, "
                f"not {len(seats)}: choose somebody for each"
            )
        if game.facts.max_length > MAX_LENGTH:
            raise MasqueradeError(
                f"a game of {game.facts.max_length} moves is too long for a table "
                f"(at most {MAX_LENGTH}): choose fewer rounds, dice or hands"
            )
        self.game = game
        self.seats = list(seats)
        self.agents = agents or {}
        for number, agent in self.agents.items():
            check_role(game, number, self.seats[number], agent)
        self.seed = 0
        self.number = -1
        self.decisions: list[Decision] = []
        self.fault: tuple[int, str] | None = None
        """Who forfeited, and why."""
        self.has_taken_back = False
        self._skipped = [0] * len(self.seats)
        self.epoch = 0
        """Rises with everything that makes an answer of an agent come too late."""

    # ---- playing ---------------------------------------------------------------------------------

    def begin(self, seed: int | None = None, number: int | None = None) -> None:
        """Deal a new game, from entropy unless a seed is given."""
        self.seed = secrets.randbits(63) if seed is None else seed
        self.number = self.number + 1 if number is None else number
        self.has_taken_back = False
        self._skipped = [0] * len(self.seats)
        self._deal()

    def _deal(self) -> None:
        self.epoch += 1
        self.decisions, self.fault = [], None
        players = list(self.agents.values())
        self._rollouts = Rollouts(self.game, players, 1, self.seed, has_record=True)
        self._batch = self._rollouts.batch
        self._position = Position(self.game, self.number)
        self._logs: list[list[Entry]] = [[] for _ in self.seats]
        self._rollouts.begin(ROW, np.array([self.number]), self._rollouts.seating[ROW])
        self._follow()

    def move(self, seat: int, action: int) -> None:
        """Play an action of the person in ``seat``."""
        if self.turn != seat:
            raise IllegalActionError(
                "the game is over" if self.is_over else f"it is not the turn of seat {seat}"
            )
        self._play(Decision(seat, action))

    def views(self) -> Views:
        """What the player to move may know, for an agent."""
        return self._batch.views(ROW)

    def agent_move(self, action: int, rngs: Any) -> None:
        """Play what the agent to move has answered, with its generators as it left them."""
        draws = np.ascontiguousarray(rngs, np.uint64).tobytes().hex()
        self._play(Decision(self.turn, action, draws))

    def _play(self, decision: Decision) -> None:
        words = np.frombuffer(bytes.fromhex(decision.draws), np.uint64).reshape(-1, 4)
        self._rollouts.step(ROW, np.array([decision.action]), words if decision.draws else None)
        self.decisions.append(decision)
        self.epoch += 1
        self._follow()

    def forfeit(self, reason: str) -> None:
        """The player to move gives up, or has failed."""
        self.fault = self.turn, reason
        self._rollouts.forfeit(0)
        self.epoch += 1

    def tell_end(self, agent: Agent, seat: int) -> None:
        """Let an agent know that its game is over, so that it may forget it."""
        if agent.end_games is not None:
            ids = self._batch.game_ids(ROW, np.array([seat]))
            agent.end_games(ids, np.array([seat]), self._batch.totals[ROW])

    def _follow(self) -> None:
        """Note what every seat sees of what has just happened."""
        position = self._position
        for action in self._batch.history(0)[len(position.history) :]:
            for seat, log in enumerate(self._logs):
                entry = notice(self.game, position.state, action, seat)
                if entry is not None:
                    log.append(entry)
            self.game.kernels.step(position.state, self.game.rules, action)
            position.history.append(action)

    # ---- taking back -----------------------------------------------------------------------------

    def last_own(self, seat: int) -> int | None:
        """The number of the last decision of a seat, or ``None`` if it has made none."""
        return next(
            (i for i in reversed(range(len(self.decisions))) if self.decisions[i].seat == seat),
            None,
        )

    def take_back(self, seat: int) -> None:
        """Go back to the last decision of ``seat``."""
        last = self.last_own(seat)
        if last is None:
            raise MasqueradeError("there is nothing to take back yet")
        self._skipped = [self.turn_of(seat) + 1 for seat in range(len(self.seats))]
        self.restore(self.decisions[:last])
        self.has_taken_back = True

    def restore(self, decisions: Sequence[Decision], fault: tuple[int, str] | None = None) -> None:
        """Deal the same game again and play these decisions."""
        self._deal()
        for decision in decisions:
            if decision.seat != self.turn or bool(decision.draws) != (self.turn in self.agents):
                raise MasqueradeError("these moves are not those of this table: make a new one")
            if decision.draws:
                self.views()  # as it was when the agent was asked, so that worlds are drawn alike
            self._play(decision)
        if fault is not None:
            self.forfeit(fault[1])

    def frozen(self) -> Table:
        """This game as it is at its end, whatever is played at the table after it."""
        twin = copy.copy(self)  # what a new game or a move taken back changes is made anew
        twin.decisions = list(self.decisions)
        return twin

    # ---- looking ---------------------------------------------------------------------------------

    @property
    def turn(self) -> int:
        """The seat to move, or ``OVER``."""
        return int(self._batch.turns[0])

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.turn == OVER

    @property
    def has_people(self) -> bool:
        """Whether anybody at the table is a person."""
        return any(seat.is_person for seat in self.seats)

    @property
    def history(self) -> list[int]:
        """All actions and chance outcomes: nobody may see them before the end."""
        return self._batch.history(0)

    @property
    def position(self) -> Position:
        """The true position: nobody may see it before the end."""
        return self._position.copy()

    def returns(self) -> list[float]:
        """Each seat's total so far."""
        return [float(total) for total in self._batch.totals[0]]

    def log(self, seat: int) -> list[Entry]:
        """What a seat has noticed since the start."""
        return self._logs[seat]

    def turn_of(self, seat: int) -> int:
        """A number that rises with all that a seat notices, and when a move is taken back."""
        return self._skipped[seat] + len(self._logs[seat])

    def sight(self, viewer: int | None, layout: Layout = "wide") -> Sight:
        """The board as a seat may see it; everything is for those who watch agents alone."""
        if viewer is None and self.has_people and not self.is_over:
            raise MasqueradeError("people play here: only their own seats are shown until the end")
        sight = look(self.game, self._position.state, viewer, layout)
        if self.is_over and sight.to_move != OVER:  # a forfeit ends a game that could go on
            sight = Sight(sight.svg, sight.text, OVER, [])
        return sight

    def full_log(self) -> list[Entry]:
        """Everything that has happened; nobody may see it while people play."""
        return [
            Entry(CHANCE if then.is_chance else then.turn, then.action_text(action))
            for then, action in walk(self.game, self.history, self.number)
        ]

    # ---- keeping ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the table what it is, in plain JSON types."""
        return {
            "game": self.game.id,
            "options": self.game.options.to_dict(),
            "seats": [dict(vars(seat)) for seat in self.seats],
            "seed": self.seed,
            "number": self.number,
            "decisions": [[d.seat, d.action, d.draws] for d in self.decisions],
            "fault": self.fault,
            "has_taken_back": self.has_taken_back,
        }
