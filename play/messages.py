"""What browsers and the server say to each other: one model for each message, and nothing else.

Every message is a JSON object with a ``type``. ``Asked`` are those of a browser: what does not fit
exactly is answered with one line that says why, and changes nothing. ``Told`` are those to it: what
a model does not name is not sent. A new message is a class here, a function that takes it (and is
named in ``play.server``), and ``on(type)`` in ``page/main.js`` for what it is answered with.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from common.errors import MasqueradeError

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
    """Base of all messages and of their parts."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Asked(Message):
    """Base of all that a browser says."""

    model_config = ConfigDict(strict=True)
    type: str


class AboutGame(Asked):
    """Base of all that is about one game of a table: in the next one it changes nothing."""

    table: Id
    number: Count
    """Which game of the table it is, as views say."""


class Told(Message):
    """Base of all that a browser is told; what is not given is left out."""

    type: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"type": self.type, **self.model_dump(exclude_unset=True, by_alias=True)}


class OfGame(Told):
    """Base of all answers about one game of a table: the page drops them in the next one."""

    table: str
    number: int


# ---- what a browser says -------------------------------------------------------------------------


class SeatChoice(Message):
    """Who is to sit in a seat of a new table."""

    model_config = ConfigDict(strict=True)
    who: Literal["me", "guest", "agent"]
    """Whoever makes the table, somebody who gets a link, or an agent."""
    agent: Spec = ""
    seconds: Seconds | None = None
    """For a move of an agent that thinks by the clock."""
    name: Annotated[str, Field(max_length=40)] = ""


class Lobby(Asked):
    """Ask for the games, and for tables and files that can be opened."""

    type: Literal["lobby"]


class Players(Asked):
    """Ask who can play a game with some options, and for the form of its options."""

    type: Literal["players"]
    game: Id
    options: dict[str, Any] = {}


class Create(Asked):
    """Make a table; without seats, the one a newcomer gets."""

    type: Literal["create"]
    game: Id
    options: dict[str, Any] = {}
    seats: Annotated[list[SeatChoice], Field(max_length=16)] | None = None
    pace: Milliseconds | None = None


class Open(Asked):
    """Open a game that was kept, or a sample game of a tournament, to step through it."""

    type: Literal["open"]
    name: Annotated[str, Field(max_length=300)]


class OpenTournament(Asked):
    """Ask for the games of a tournament that has been played."""

    type: Literal["tournament"]
    name: Annotated[str, Field(min_length=1, max_length=200)]


class Join(Asked):
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


class LoadMap(Asked):
    """Add a board file from the person's own disk to the maps."""

    type: Literal["load_map"]
    name: MapName
    text: Annotated[str, Field(max_length=MAX_MESSAGE)]


class ChooseLayout(Asked):
    """How wide the page is: pictures are laid out for it."""

    type: Literal["screen"]
    layout: Literal["wide", "narrow"]


class Review(AboutGame):
    """What each own decision of a game that is over has cost, by an agent's measure."""

    type: Literal["review"]
    seat: SeatNumber
    agent: Spec


# ---- what a browser is told ----------------------------------------------------------------------


class GameCard(Message):
    """A game as a newcomer meets it."""

    id: str
    title: str
    words: str
    """What it is about, in a line."""
    options: dict[str, Any]
    """Other than the game's defaults, for a first game."""
    against: str
    seat: int


class PlayerCard(Message):
    """Somebody who can sit at a table."""

    spec: str
    label: str
    kind: Literal["own", "rules", "run", "search"]
    words: str
    has_clock: bool
    """Whether seconds for a move can be chosen."""
    roles: tuple[str, ...]


class LobbyNews(Told):
    """All that can be played and opened."""

    type = "lobby"
    games: list[GameCard]
    files: list[dict[str, Any]]
    """Games that were kept: ``name``, ``title``, ``names`` and ``returns``."""
    tournaments: list[dict[str, Any]]
    """``name``, ``title`` and ``players``."""
    cold: list[str]
    """Games that are not compiled yet."""
    first: Create | None
    """The table that the command line asks for."""


class Compiling(Told):
    """How far a game is compiled that the browser waits for, in files."""

    type = "compiling"
    game: str
    title: str
    done: int
    total: int


class PlayersNews(Told):
    """All that a form for a new table needs."""

    type = "players"
    game: str
    title: str
    options: dict[str, Any]
    form: dict[str, Any] = Field(alias="schema")
    """JSON schema of the options."""
    presets: dict[str, dict[str, Any]]
    roles: list[str]
    players: list[PlayerCard]
    usual: list[SeatChoice]
    picture: str = ""
    """The map, for games with maps."""
    maps: str = ""
    """The folder of the maps that were saved."""


class TournamentNews(Told):
    """The games of a tournament."""

    type = "tournament"
    folder: str
    title: str
    deals: int
    groups: list[list[list[str]]]
    """The players of every seating of every group."""
    samples: list[dict[str, Any]]
    """``name``, ``deal`` and ``players``."""


class Joined(Told):
    """The browser sits at a table, or watches it."""

    type = "joined"
    table: str
    game: str
    name: str = ""
    """What was opened, if it is a game that was kept."""
    key: str
    invites: dict[int, str]
    """By seat."""


class TableNews(Told):
    """What stays the same for a game: who sits where, how the table is set up."""

    type = "table"
    table: str
    game: str
    title: str
    options: dict[str, Any]
    number: int
    unit: str
    yours: list[int]
    is_watched: bool
    pace: int
    is_paused: bool
    has_map: bool
    notation: str
    """Suffix of the hand histories that the game can be had as; empty for none."""
    seats: list[dict[str, Any]]
    """``name``, ``role``, ``team``, ``agent``, ``params``, ``is_waiting``."""
    statistics: list[dict[str, Any]]
    """``name``, ``games`` and, if there are any, ``mean``, ``half_width``, ``last``."""


class Choice(Message):
    """A legal action in words, or a range of actions that differ by an amount only."""

    action: int
    words: str
    last: int | None = None
    """The last action of a range; they all lie one apart."""
    amount: int | None = None
    """The amount of the first action of a range; each further action is one more."""


class Shown(OfGame):
    """Base of all that shows a position."""

    svg: str
    text: str
    to_move: int
    log: list[tuple[int, str]]


class ViewNews(Shown):
    """The game as a seat may see it now."""

    type = "view"
    seat: int | None
    turn: int
    choices: list[Choice]
    can_take_back: bool


class EndNews(ViewNews):
    """The same after the end, when nothing is hidden any more."""

    returns: list[float]
    fault: tuple[int, str] | None
    seed: str
    """In letters: numbers of JavaScript have fewer digits."""
    kept: str
    num_steps: int
    is_counted: bool
    statistics: list[dict[str, Any]]


class LookAnswer(Shown):
    """A step of a game that is over."""

    type = "look"
    step: int
    num_steps: int
    viewer: int | None


class Advised(OfGame):
    """Base of all that an agent says to a seat."""

    seat: int
    turn: int
    agent: str
    unit: str


class HintAnswer(Advised):
    """What an agent would do: ``agents.advice.Advice``."""

    type = "hint"
    source: str
    bars: list[dict[str, Any]]
    variation: tuple[int, ...]


class ReviewAnswer(Advised):
    """What decisions have cost: ``play.advice.Verdict``."""

    type = "review"
    verdicts: list[dict[str, Any]]


class LearntAnswer(OfGame):
    """What an agent has learnt: ``agents.learnt.Exhibit``."""

    type = "learnt"
    agent: str
    exhibits: list[dict[str, Any]]


class Advisers(Told):
    """Who can be asked for advice: ``spec`` and ``label``."""

    type = "advisers"
    table: str
    advisers: list[dict[str, str]]


class RulesNews(Told):
    """The rules in plain words, by paragraphs."""

    type = "rules"
    table: str
    rules: list[str]


class MapsNews(Told):
    """The maps that can be chosen, and which of them has just been saved."""

    type = "maps"
    table: str
    maps: list[str]
    saved: str


class Refusal(Told):
    """Why something was not done, and what it was about."""

    type = "error"
    about: str
    """The type of what was asked; ``message`` and ``keep`` where nothing was."""
    text: str
    table: str = ""
    number: int = 0
    game: str = ""
    name: str = ""


# ---- reading -------------------------------------------------------------------------------------

ASKED = tuple(
    kind for base in (Asked, AboutGame) for kind in base.__subclasses__() if kind is not AboutGame
)
"""All that a browser can say."""
_ANY_OF_THEM: Any = Annotated[Union[ASKED], Field(discriminator="type")]  # noqa: UP007
_ADAPTER: TypeAdapter[Asked] = TypeAdapter(_ANY_OF_THEM)


def parse_message(text: str) -> Asked:
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
