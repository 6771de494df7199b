"""Games that have ended, as files, and sample games of tournaments.

Games at tables are kept under ``runs/play/games``: a file names a game, its options, its seed and
all actions, and ``evaluate.py replay`` reads it, too. A hand of hold'em can also be had, and
opened, in the Poker Hand History format. Nothing in a file is run: actions are played again by the
rules, and what does not follow them is refused. Names of files never lead out of the folders they
belong to, and of a tournament only players of this project are asked again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import AGENTS
from agents.spec import AgentSpec
from arena.playing.replay import Recording, read_position
from arena.running.folder import read_tournament
from arena.running.replayer import Replayer
from envs.core.errors import MasqueradeError
from envs.core.files import make_folder, read_json, read_text, write_text
from envs.core.kernels import OVER
from play.catalogue import OUTSIDERS, Catalogue
from play.session import Session
from play.table import Decision, Seat, Table

__all__ = ["Library", "Opened"]

MAX_GAMES = 2000
"""Games that are kept; the oldest make room."""
MAX_LISTED = 40
MAX_SAMPLES = 12
"""Games of one tournament that are listed."""
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

    def keep(self, session: Session) -> str:
        """Write the game that has just ended; the name of its file."""
        table = session.table
        stamp = time.strftime("%Y%m%d-%H%M%S")
        name = f"{table.game.id}-{stamp}-{session.id[:6]}-{table.number}.json"
        about = {
            "names": [seat.name for seat in table.seats],
            "seed": table.seed,
            "returns": table.returns(),
            "fault": table.fault,
            "has_taken_back": table.has_taken_back,
        }
        table.position.save(self.folder / name, about)
        for old in self._paths()[:-MAX_GAMES]:
            old.unlink(missing_ok=True)
        return name

    def take(self, path: Path) -> str:
        """Copy a file that was named on the command line among the games; its name there."""
        text = read_text(path, "give a game that was kept, or a hand in PHH")
        ending = ".phh" if path.suffix == ".phh" else ".json"
        name = f"loaded-{path.stem[:80]}{ending}".replace("/", "-")
        write_text(self.folder / name, text)
        self.read(name)  # says what is wrong with it
        return name

    def _paths(self) -> list[Path]:
        """All games, the oldest first."""
        return sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime)

    # ---- listing ---------------------------------------------------------------------------------

    def listing(self) -> list[dict[str, Any]]:
        """The latest games that can be opened, and sample games of tournaments."""
        rows = []
        for path in reversed(self._paths()[-MAX_LISTED:]):
            try:
                content = read_json(path, "")
                names = [str(name) for name in content["about"]["names"]]
                returns = [float(value) for value in content["about"]["returns"]]
                title = self._catalogue.card(str(content["game"])).title
            except (MasqueradeError, ValueError, KeyError, TypeError):
                continue
            rows.append({"name": path.name, "title": title, "names": names, "returns": returns})
        return [*rows, *self._samples()]

    def _samples(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for path in sorted(self._tournaments.glob("*/summary.json"))[-8:]:
            try:
                tournament = read_tournament(path.parent)
                _check_agents(list(tournament.spec.agents))
                title = self._catalogue.card(tournament.spec.game_id).title
            except (MasqueradeError, KeyError, TypeError, ValueError):
                continue  # such as one of another version, or with players from outside
            folder = path.parent.name
            for deal in range(min(2, tournament.spec.deals)):
                name = f"{TOURNAMENT}{folder}/0/{deal}"
                rows.append({"name": name, "title": title, "names": [folder], "returns": []})
        return rows[:MAX_SAMPLES]

    # ---- reading ---------------------------------------------------------------------------------

    def read(self, name: str) -> Opened:
        """Open a game by the name of its file, or a game of a tournament."""
        if name.startswith(TOURNAMENT):
            recording = self._from_tournament(name.removeprefix(TOURNAMENT))
        elif name.endswith(".phh"):
            recording = _read_phh(self._inside(name))
        else:
            recording = read_position(self._inside(name))
        return Opened(RecordedTable(recording), self._catalogue.card(recording.game.id).title)

    def download(self, name: str) -> tuple[str, str] | None:
        """Name and content of a file to be saved by a browser; ``None`` if there is none."""
        try:
            if name.endswith(".phh") and not (self.folder / Path(name).name).is_file():
                path = self._inside(name.removesuffix(".phh") + ".json")
                return name, _as_phh(read_position(path))
            path = self._inside(name)
        except MasqueradeError:
            return None
        return path.name, read_text(path, "play another game")

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
        folder, group, deal, seating = (*name.split("/"), "0", "0", "0")[:4]
        root = self._tournaments.resolve()
        path = (root / folder).resolve()
        if path.parent != root or not all(part.isdecimal() for part in (group, deal, seating)):
            raise MasqueradeError(f"there is no tournament game '{name}'")
        tournament = read_tournament(path)
        _check_agents(list(tournament.spec.agents))
        replayer = Replayer(tournament)
        if int(group) >= len(replayer.groups):
            raise MasqueradeError(f"{folder} has {len(replayer.groups)} groups, not {group}")
        return replayer.play(int(deal), int(group), int(seating))


def _check_agents(agents: list[AgentSpec]) -> None:
    """Refuse players from outside: a folder may come from a stranger."""
    for agent in agents:
        if agent.id not in AGENTS or agent.id in OUTSIDERS:
            raise MasqueradeError(
                f"{agent.name} is a player from outside: see this game with evaluate.py replay"
            )


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
