"""What a browser may say: one model for each message, and nothing beside them.

Every message is a JSON object with a ``type``. What does not fit exactly is answered with one line
that says why, and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from common.errors import MasqueradeError
from play.guest import Guest

__all__ = [
    "MAX_MESSAGE",
    "AboutGame",
    "Action",
    "Again",
    "Client",
    "Create",
    "Handlers",
    "Hint",
    "Join",
    "Learnt",
    "LoadMap",
    "Lobby",
    "Look",
    "Milliseconds",
    "Move",
    "Open",
    "Pace",
    "Players",
    "Review",
    "SaveMap",
    "SeatChoice",
    "SeatNumber",
    "Seconds",
    "Spec",
    "TakeBack",
    "Tournament",
    "parse_message",
    "words_of",
]

MAX_MESSAGE = 200_000
"""Letters of a message at most."""

Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w-]+$")]
Secret = Annotated[str, Field(max_length=64, pattern=r"^[\w-]*$")]
SeatNumber = Annotated[int, Field(ge=0, lt=64)]
Spec = Annotated[str, Field(max_length=400)]
Milliseconds = Annotated[int, Field(ge=0, le=20_000)]
Seconds = Annotated[float, Field(gt=0, le=60)]
Action = Annotated[int, Field(ge=0, lt=2**31)]
MapName = Annotated[str, Field(min_length=1, max_length=40)]
Count = Annotated[int, Field(ge=0, lt=2**31)]


class Message(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AboutGame(Message):
    """Base of all that is about one game of a table: in the next one it changes nothing."""

    table: Id
    number: Count
    """Which game of the table it is, as views say."""


class SeatChoice(Message):
    """Who is to sit in a seat of a new table."""

    who: Literal["me", "guest", "agent"]
    """Whoever makes the table, somebody who gets a link, or an agent."""
    agent: Spec = ""
    seconds: Seconds | None = None
    """For a move of an agent that thinks by the clock."""
    name: Annotated[str, Field(max_length=40)] = ""


class Lobby(Message):
    """Ask for the games, and for tables and files that can be opened."""

    type: Literal["lobby"]


class Players(Message):
    """Ask who can play a game with some options, and for the form of its options."""

    type: Literal["players"]
    game: Id
    options: dict[str, Any] = {}


class Create(Message):
    """Make a table; without seats, the one a newcomer gets."""

    type: Literal["create"]
    game: Id
    options: dict[str, Any] = {}
    seats: Annotated[list[SeatChoice], Field(max_length=16)] | None = None
    pace: Milliseconds | None = None


class Open(Message):
    """Open a game that was kept, or a sample game of a tournament, to step through it."""

    type: Literal["open"]
    name: Annotated[str, Field(max_length=300)]


class Tournament(Message):
    """Ask for the games of a tournament that has been played."""

    type: Literal["tournament"]
    name: Annotated[str, Field(min_length=1, max_length=200)]


class Join(Message):
    """Sit down with a key or an invitation; without either, watch agents play."""

    type: Literal["join"]
    table: Id
    key: Secret = ""
    invite: Secret = ""


class Move(AboutGame):
    """Play an action."""

    type: Literal["move"]
    seat: SeatNumber
    turn: Count
    """Which decision it is, as the view says: a late message changes nothing."""
    action: Action


class TakeBack(AboutGame):
    """Take the last own move back."""

    type: Literal["take_back"]
    seat: SeatNumber


class Again(AboutGame):
    """Begin a new game at the table, perhaps with everybody one seat on."""

    type: Literal["again"]
    seat: SeatNumber | None = None
    swap: bool = False


class Pace(AboutGame):
    """Agents' minimum time for a move, or a pause."""

    type: Literal["pace"]
    pace: Milliseconds | None = None
    is_paused: bool | None = None
    has_step: bool = False
    """One move, then pause again."""


class Hint(AboutGame):
    """What an agent would do in a seat's place."""

    type: Literal["hint"]
    seat: SeatNumber
    agent: Spec
    seconds: Seconds | None = None


class Look(AboutGame):
    """Step through a game that is over: a step, as a seat saw it or as it was."""

    type: Literal["look"]
    step: Count
    viewer: SeatNumber | None = None


class Learnt(AboutGame):
    """What an agent has learnt: at a seat's decision, at a step of a game that is over, at all."""

    type: Literal["learnt"]
    seat: SeatNumber | None = None
    step: Count | None = None
    agent: Spec


class SaveMap(AboutGame):
    """Save the map of a table."""

    type: Literal["save_map"]
    name: MapName


class LoadMap(Message):
    """Add a board file from the person's own disk to the maps."""

    type: Literal["load_map"]
    name: MapName
    text: Annotated[str, Field(max_length=MAX_MESSAGE)]


class Review(AboutGame):
    """What each own decision of a game that is over has cost, by an agent's measure."""

    type: Literal["review"]
    seat: SeatNumber
    agent: Spec


Client = (
    Lobby
    | Players
    | Create
    | Open
    | Tournament
    | Join
    | Move
    | TakeBack
    | Again
    | Pace
    | Hint
    | Look
    | Learnt
    | Review
    | SaveMap
    | LoadMap
)
Handlers = dict[type[Any], Callable[[Guest, Any], Awaitable[None]]]
"""By the class of a message, what does as it asks."""
_ADAPTER: TypeAdapter[Client] = TypeAdapter(Annotated[Client, Field(discriminator="type")])


def parse_message(text: str) -> Client:
    """Read a message, or say in a line what is wrong with it.

    >>> parse_message('{"type": "lobby"}')
    Lobby(type='lobby')
    >>> parse_message('{"type": "players", "game": 7}')
    Traceback (most recent call last):
    ...
    common.errors.MasqueradeError: message refused: game: Input should be a valid string
    """
    if len(text) > MAX_MESSAGE:
        raise MasqueradeError(f"message refused: longer than {MAX_MESSAGE} letters")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise MasqueradeError("message refused: it is no JSON") from None
    try:
        return _ADAPTER.validate_python(content)
    except ValidationError as error:
        words = words_of(error, 1)
        if words == "number: Field required":  # as pages of earlier versions say it
            words = "it does not say which game of the table (number) it is about: reload the page"
        raise MasqueradeError(f"message refused: {words}") from None
    except RecursionError:
        raise MasqueradeError("message refused: it is nested too deeply") from None


def words_of(error: ValidationError, first: int = 0) -> str:
    """What is wrong, in a line; ``first`` is the part of the place to begin with."""
    found = error.errors(include_url=False, include_input=False)[0]
    # The first place of a message is its type, which its sender knows.
    place = ".".join(str(part) for part in found["loc"][first:])
    return f"{place}: {found['msg']}" if place else str(found["msg"])
