"""Games that have ended, as files, and sample games of tournaments.

Games at tables are kept under ``runs/play/games``: a file names a game, its options, its seed and
all actions, and ``evaluate.py replay`` reads it, too. A hand of hold'em can also be had, and
opened, in the Poker Hand History format. Nothing in a file is run: actions are played again by the
rules, and what does not follow them is refused. Names of files never lead out of the folders they
belong to, and of a tournament only players of this project are asked again.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import AGENTS
from agents.spec import AgentSpec
from arena.folder import read_tournament
from arena.replay import Recording, read_position
from arena.replayer import Replayer
from arena.report.collect import sample_games
from common.errors import MasqueradeError, one_line
from common.files import make_folder, read_json, read_text, write_text
from envs.core.kernels import OVER
from play.catalogue import OUTSIDERS, Catalogue
from play.maps import check_board
from play.store import oldest_first, remove_oldest
from play.table import Decision, Seat, Table

__all__ = ["Library", "Opened"]

MAX_GAMES = 2000
"""Games that are kept; the oldest make room."""
MAX_LISTED = 40
MAX_TOURNAMENTS = 100
MAX_GROUPS = 500
"""What is listed; other games open by their address."""
MAX_NAME, MAX_SEATS = 80, 16
TOURNAMENT = "tournament:"


@dataclass(frozen=True)
class Opened:
    """A game that was kept, set up again at its end."""

    table: Table
    title: str


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
        remove_oldest(self.folder, MAX_GAMES)
        return name

    def take(self, path: Path) -> str:
        """Copy a file that was named on the command line among the games; its name there."""
        text = read_text(path, "give a game that was kept, or a hand in PHH")
        is_phh = path.suffix == ".phh"
        (_read_phh if is_phh else _read_kept)(path)  # says what is wrong with it
        name = f"loaded-{path.stem[:80]}{'.phh' if is_phh else '.json'}".replace("/", "-")
        write_text(self.folder / name, text)
        return name

    # ---- listing ---------------------------------------------------------------------------------

    def listing(self) -> list[dict[str, Any]]:
        """The latest games that can be opened."""
        rows = []
        for path in reversed(oldest_first(self.folder)[-MAX_LISTED:]):
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
        paths = oldest_first(self._tournaments, "*/summary.json")
        for path in reversed(paths[-MAX_TOURNAMENTS:]):
            try:
                spec = read_tournament(path.parent).spec
                title = self._catalogue.card(spec.game_id).title
            except (MasqueradeError, KeyError, TypeError, ValueError):
                continue  # such as one of another version
            players = [agent.name for agent in spec.agents]
            rows.append({"name": path.parent.name, "title": title, "players": players})
        return rows

    def games_of(self, folder: str) -> dict[str, Any]:
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
        title = self._catalogue.card(spec.game_id).title
        about = {"folder": folder, "title": title, "deals": spec.deals}
        return {**about, "groups": groups, "samples": samples}

    def _replayer(self, folder: str) -> Replayer:
        """A tournament with its players; only those of the project are made again."""
        root = self._tournaments.resolve()
        try:
            path = (root / folder).resolve()
            is_there = path.parent == root and path.is_dir()
        except (OSError, ValueError):
            is_there = False
        if not is_there:
            raise MasqueradeError(f"there is no tournament '{folder}'")
        tournament = read_tournament(path)
        _check_agents(list(tournament.spec.agents))
        check_board(tournament.spec.options)
        return Replayer(tournament)

    # ---- reading ---------------------------------------------------------------------------------

    def read(self, name: str) -> Opened:
        """Open a game by the name of its file, or a game of a tournament."""
        if name.startswith(TOURNAMENT):
            recording = self._from_tournament(name.removeprefix(TOURNAMENT))
        elif name.endswith(".phh"):
            recording = _read_phh(self._inside(name))
        else:
            recording = _read_kept(self._inside(name))
        return Opened(RecordedTable(recording), self._catalogue.card(recording.game.id).title)

    def download(self, name: str) -> tuple[str, str] | None:
        """Name and content of a file to be saved by a browser; ``None`` if there is none."""
        try:
            if name.endswith(".phh") and not (self.folder / Path(name).name).is_file():
                path = self._inside(name.removesuffix(".phh") + ".json")
                return name, _as_phh(_read_kept(path))
            path = self._inside(name)
            return path.name, read_text(path, "play another game")
        except MasqueradeError:
            return None

    def _inside(self, name: str) -> Path:
        folder = self.folder.resolve()
        try:
            path = (folder / name).resolve()
            is_there = path.parent == folder and path.is_file()
        except (OSError, ValueError):  # such as a name with a zero byte, or one that is too long
            is_there = False
        if not is_there:
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


def _check_agents(agents: list[AgentSpec]) -> None:
    """Refuse players from outside: a folder may come from a stranger."""
    for agent in agents:
        if agent.id not in AGENTS or agent.id in OUTSIDERS:
            raise MasqueradeError(
                f"{agent.name} is a player from outside: see this game with evaluate.py replay"
            )


def _read_kept(path: Path) -> Recording:
    """A game that was kept; whoever has edited it cannot make us read another file by it."""
    options = read_json(path, "open another game").get("options")
    if not isinstance(options, dict):
        raise MasqueradeError(f"{path.name} is no game that was kept: open another one")
    check_board(options)
    return read_position(path)


# ---- hold'em -------------------------------------------------------------------------------------


def _as_phh(recording: Recording) -> str:
    """The hands of a game in the Poker Hand History format."""
    # Imported when needed: the rules of hold'em.
    from envs.holdem.phh import write_hands

    if recording.game.id != "holdem_v0":
        raise MasqueradeError("only hands of hold'em can be written as PHH")
    position = recording.game.replay(recording.history, recording.number)
    return "\n".join(write_hands(position))


def _read_phh(path: Path) -> Recording:
    # Imported when needed: the rules of hold'em.
    from envs.holdem.phh import read_hand

    hand = read_hand(read_text(path, "give a hand in PHH"))
    names = [f"player {seat}" for seat in range(hand.game.facts.num_players)]
    returns = hand.position().returns().tolist()
    return Recording(hand.game, names, 0, list(hand.history), returns)


# ---- a game that has been played -----------------------------------------------------------------


class RecordedTable(Table):
    """A table at which nothing is decided any more: the history is what it is."""

    def __init__(self, recording: Recording) -> None:
        """Follow the history."""
        super().__init__(recording.game, [Seat(name, "recorded") for name in recording.names])
        self._recording = recording
        self.number = recording.number
        if recording.fault is not None:
            self.fault = recording.fault.seat, recording.fault.reason
        self._deal()
        walk = recording.game.new_position(recording.number)
        for action in recording.history:
            if not walk.is_chance:
                self.decisions.append(Decision(walk.turn, action))
            walk.apply(action)
        self._position = walk

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
