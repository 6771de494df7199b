"""What is kept on the disk: tables in play, games that have ended, and sample games of tournaments.

A table is one JSON file under ``runs/play/tables``, written anew after every move, whole or not at
all, so that a server that is killed has every table as it was. A game that has ended is a file
under ``runs/play/games``: a game, its options, its seed and all actions; ``evaluate.py replay``
reads it, too. Games with a notation of their own, such as hand histories, can be had and opened as
that.

Nothing in a file is run, whoever has edited it: what does not fit its model is refused, and actions
are played again by the rules. Names of files never lead out of the folders they belong to, and of a
tournament only players of this project are asked again.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import time
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents import AGENTS
from agents.spec import AgentSpec
from arena.folder import read_tournament
from arena.replay import Recording, read_noted, read_position
from arena.replayer import Replayer
from arena.report.collect import sample_games
from common.errors import MasqueradeError, one_line
from common.files import make_folder, read_json, read_text, write_text
from envs import NOTATIONS, find_notation
from envs.core.kernels import OVER
from play.catalogue import OUTSIDERS, Catalogue
from play.maps import check_board
from play.messages import (
    Action,
    Milliseconds,
    SeatNumber,
    Seconds,
    Spec,
    TournamentNews,
    words_of,
)
from play.table import Decision, Table, TableSeat, walk

VERSION = 1
MAX_KEPT = 4000
"""Tables on disk; the oldest are forgotten."""
PRUNE_EVERY = 100
MAX_GAMES = 2000
"""Games that are kept; the oldest make room."""
MAX_LISTED = 40
MAX_TOURNAMENTS = 100
MAX_GROUPS = 500
"""What is listed; other games open by their address."""
MAX_NAME, MAX_SEATS = 80, 16
TOURNAMENT = "tournament:"
_ID = re.compile(r"[A-Za-z0-9_-]{4,64}")
Name = Annotated[str, Field(max_length=200)]
Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
Finite = Annotated[float, Field(allow_inf_nan=False)]


# ---- tables in play ------------------------------------------------------------------------------


class Kept(BaseModel):
    """Base of all that is kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class KeptSeat(Kept):
    """Who sits there."""

    name: Name
    agent: Spec
    params: dict[Literal["seconds"], Seconds]
    key: Hash
    invite: Hash


class KeptResult(Kept):
    """A game that counts."""

    names: list[Name]
    returns: list[Finite]


class KeptTable(Kept):
    """All that makes a table what it is."""

    version: Literal[1]
    game: Name
    options: dict[str, Any]
    seats: list[KeptSeat]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    number: Annotated[int, Field(ge=0, lt=2**31)]
    decisions: list[tuple[SeatNumber, Action, Hash]]
    fault: tuple[SeatNumber, Annotated[str, Field(max_length=2000)]] | None
    has_taken_back: bool
    title: Name
    pace: Milliseconds
    is_paused: bool
    results: list[KeptResult]
    kept: Name
    is_counted: bool


class Store:
    """A folder of tables.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> print(store.read("none"))
    None
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder if it is not there."""
        self.folder = folder
        self._num_written = 0
        make_folder(folder)

    def _path(self, table_id: str) -> Path | None:
        """Where a table is kept; ``None`` for what is no id of a table."""
        return self.folder / f"{table_id}.json" if _ID.fullmatch(table_id) else None

    def write(self, table_id: str, content: dict[str, Any]) -> None:
        """Keep a table, whole or not at all."""
        path = self._path(table_id)
        if path is None:
            raise MasqueradeError(f"'{table_id}' is no id of a table")
        write_text(path, json.dumps({"version": VERSION, **content}))
        self._num_written += 1
        if self._num_written % PRUNE_EVERY == 0:
            _remove_oldest(self.folder, MAX_KEPT)

    def read(self, table_id: str) -> KeptTable | None:
        """A table that was kept; ``None`` if there is none."""
        path = self._path(table_id)
        if path is None or not path.is_file():
            return None
        fix = "make a new table"
        try:
            return KeptTable.model_validate(read_json(path, fix))
        except ValidationError as error:
            raise MasqueradeError(f"{path} is damaged ({words_of(error)}): {fix}") from None


def _oldest_first(folder: Path, pattern: str = "*.json") -> list[Path]:
    """The files of a folder by the time of their last change; links are not followed."""
    found = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):  # gone since
            found.append((path.lstat().st_mtime, path))
    return [path for _, path in sorted(found)]


def _remove_oldest(folder: Path, num_kept: int) -> None:
    """Make room; what cannot be removed stays, which is no reason to stop a game."""
    for path in _oldest_first(folder)[:-num_kept]:
        with contextlib.suppress(OSError):
            path.unlink()


# ---- games that have ended -----------------------------------------------------------------------


class Library:
    """Games that can be opened.

    Args:
        folder: where games at tables are kept.
        catalogue: for the titles of games.
        tournaments: where tournaments are.
    """

    def __init__(
        self, folder: Path, catalogue: Catalogue, tournaments: Path = Path("runs") / "tournaments"
    ) -> None:
        """Make the folder if it is not there."""
        self.folder = folder
        self._catalogue = catalogue
        self._tournaments = tournaments
        make_folder(folder)

    # ---- keeping ---------------------------------------------------------------------------------

    def keep(self, table: Table, table_id: str) -> str:
        """Write a game that has ended; the name of its file."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        name = f"{table.game.id}-{stamp}-{table_id[:6]}-{table.number}.json"
        about = {
            "names": [seat.name for seat in table.seats],
            "seed": table.seed,
            "returns": table.returns(),
            "fault": table.fault,
            "has_taken_back": table.has_taken_back,
        }
        table.position.save(self.folder / name, about)
        _remove_oldest(self.folder, MAX_GAMES)
        return name

    def take(self, path: Path) -> str:
        """Copy a file that was named on the command line among the games; its name there."""
        text = read_text(path, "give a game that was kept, or a hand in PHH")
        _read(path)  # says what is wrong with it
        suffix = path.suffix if path.suffix in NOTATIONS else ".json"
        name = f"loaded-{path.stem[:80]}{suffix}".replace("/", "-")
        write_text(self.folder / name, text)
        return name

    # ---- listing ---------------------------------------------------------------------------------

    def listing(self) -> list[dict[str, Any]]:
        """The latest games that can be opened."""
        rows = []
        for path in reversed(_oldest_first(self.folder)[-MAX_LISTED:]):
            try:
                content = read_json(path, "")
                title = self._catalogue.card(str(content["game"])).title
                names = [one_line(name, MAX_NAME) for name in content["about"]["names"]]
                returns = [float(value) for value in content["about"]["returns"]]
                if len(names) > MAX_SEATS or not all(map(math.isfinite, returns)):
                    continue  # a browser cannot even read what is no number
            except (MasqueradeError, ValueError, KeyError, TypeError, OverflowError):
                continue
            rows.append({"name": path.name, "title": title, "names": names, "returns": returns})
        return rows

    def tournaments(self) -> list[dict[str, Any]]:
        """All tournaments that have come to their end, the latest first."""
        rows: list[dict[str, Any]] = []
        paths = _oldest_first(self._tournaments, "*/summary.json")
        for path in reversed(paths[-MAX_TOURNAMENTS:]):
            try:
                spec = read_tournament(path.parent).spec
                title = self._catalogue.card(spec.game_id).title
            except (MasqueradeError, KeyError, TypeError, ValueError):
                continue  # such as one of another version
            players = [agent.name for agent in spec.agents]
            rows.append({"name": path.parent.name, "title": title, "players": players})
        return rows

    def games_of(self, folder: str) -> TournamentNews:
        """Who met whom in a tournament, and the sample games that its report has."""
        replayer = self._replayer(folder)
        names, spec = replayer.names, replayer.tournament.spec
        groups = [
            [[names[agent] for agent in seating] for seating in group.seatings]
            for group in replayer.groups[:MAX_GROUPS]
        ]
        samples = [
            {"name": f"{TOURNAMENT}{folder}/{group}/{deal}/{seating}", "deal": deal,
             "players": groups[group][seating]}
            for group, deal, seating in sample_games(replayer)
            if group < len(groups)
        ]  # fmt: skip
        return TournamentNews(
            folder=folder,
            title=self._catalogue.card(spec.game_id).title,
            deals=spec.deals,
            groups=groups,
            samples=samples,
        )

    def _replayer(self, folder: str) -> Replayer:
        """A tournament with its players; only those of the project are made again."""
        path = _inside(self._tournaments, folder)
        if path is None or not path.is_dir():
            raise MasqueradeError(f"there is no tournament '{folder}'")
        tournament = read_tournament(path)
        _check_agents(list(tournament.spec.agents))
        check_board(tournament.spec.options)
        return Replayer(tournament)

    # ---- reading ---------------------------------------------------------------------------------

    def read(self, name: str) -> Table:
        """Open a game by the name of its file, or a game of a tournament, at its end."""
        if name.startswith(TOURNAMENT):
            return RecordedTable(self._from_tournament(name.removeprefix(TOURNAMENT)))
        return RecordedTable(_read(self._file(name)))

    def download(self, name: str) -> tuple[str, str] | None:
        """Name and content of a file to be saved by a browser; ``None`` if there is none.

        A game can be had in its notation by that suffix instead of its own.
        """
        try:
            suffix = Path(name).suffix
            if suffix in NOTATIONS and not (self.folder / Path(name).name).is_file():
                path = self._file(name.removesuffix(suffix) + ".json")
                return name, _as_noted(_read(path), suffix)
            path = self._file(name)
            return path.name, read_text(path, "play another game")
        except MasqueradeError:
            return None

    def _file(self, name: str) -> Path:
        path = _inside(self.folder, name)
        if path is None or not path.is_file():
            raise MasqueradeError(f"there is no game '{name}' among those that were kept")
        return path

    def _from_tournament(self, name: str) -> Recording:
        folder, *rest = name.split("/")
        numbers = (*rest, "0", "0", "0")[:3]
        if not all(re.fullmatch("[0-9]{1,9}", number) for number in numbers):
            raise MasqueradeError(f"there is no tournament game '{name}'")
        group, deal, seating = map(int, numbers)
        replayer = self._replayer(folder)
        if group >= len(replayer.groups):
            raise MasqueradeError(f"{folder} has {len(replayer.groups)} groups, not {group}")
        return replayer.play(deal, group, seating)


def _inside(folder: Path, name: str) -> Path | None:
    """What lies right in a folder by a name from outside; ``None`` for all else."""
    try:
        path = (folder / name).resolve()
        return path if path.parent == folder.resolve() and path.exists() else None
    except (OSError, ValueError):  # such as a name with a zero byte, or one that is too long
        return None


def _check_agents(agents: list[AgentSpec]) -> None:
    """Refuse players from outside: a folder may come from a stranger."""
    for agent in agents:
        if agent.id not in AGENTS or agent.id in OUTSIDERS:
            raise MasqueradeError(
                f"{agent.name} is a player from outside: see this game with evaluate.py replay"
            )


def _read(path: Path) -> Recording:
    """A game that was kept; whoever has edited it cannot make us read another file by it."""
    if path.suffix in NOTATIONS:
        return read_noted(path)
    options = read_json(path, "open another game").get("options")
    if not isinstance(options, dict):
        raise MasqueradeError(f"{path.name} is no game that was kept: open another one")
    check_board(options)
    return read_position(path)


def _as_noted(recording: Recording, suffix: str) -> str:
    """A game in the notation of other programs."""
    notation = find_notation(suffix)
    if recording.game.id != notation.game_id:
        raise MasqueradeError(f"only games of {notation.game_id} can be written as {notation.name}")
    documents = notation.write(recording.game.replay(recording.history, recording.number), ())
    return notation.join(documents) if suffix == notation.suffix else "\n".join(documents)


class RecordedTable(Table):
    """A table at which nothing is decided any more: the history is what it is."""

    def __init__(self, recording: Recording) -> None:
        """Follow the history."""
        super().__init__(recording.game, [TableSeat(name, "recorded") for name in recording.names])
        self._recording = recording
        self.number = recording.number
        self._deal()
        if recording.fault is not None:
            self.fault = recording.fault.seat, recording.fault.reason
        then = recording.game.new_position(recording.number)
        for then, action in walk(recording.game, recording.history, recording.number):
            if not then.is_chance:
                self.decisions.append(Decision(then.turn, action))
        self._position = then

    @property
    def turn(self) -> int:
        """Nobody is to move."""
        return OVER

    @property
    def history(self) -> list[int]:
        """All actions and chance outcomes."""
        return self._recording.history

    def returns(self) -> list[float]:
        """Each seat's result."""
        return self._recording.returns
