"""Cells of the tables of pursuits: two players on every board, by simulations or by the clock.

A game at 2.5 seconds a decision takes up to a minute, and a table of them hours. So every game of a
search by the clock is kept as a line of ``search_games.csv`` as soon as it is over, with what its
searches have done: a command that was stopped goes on with the next game, and lines from elsewhere
count as well. ``workers`` play side by side, each on a core of its own if there are as many. Other
games are played anew, once for all cells of a command that have them.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from arena.match import play_match, play_shown
from common.errors import FileError, MasqueradeError, one_line
from common.files import append_text, make_folder, read_text, write_text
from common.processes import side_by_side
from common.progress import LOG_EVERY, Progress
from common.statistics import Interval, wilson
from envs import make_game
from envs.core.game import Game
from experiments.phantom import JOINT_SEARCH
from experiments.runner import Settings

FILE = "search_games.csv"
STOP_EARLY = ("mo_ismcts", "ismcts", "pursuit_search", "holdem_search")
SEARCHES = (JOINT_SEARCH, "online_cfr", *STOP_EARLY)


@dataclass(frozen=True)
class Entrant:
    """An agent of a table."""

    name: str
    id: str
    params: Mapping[str, Any] = field(default_factory=dict)
    shares_budget: bool = False
    """Whether it searches for every piece by itself: a budget is then for a round of them all."""

    def make(self, game: Any, simulations: int, seconds: float | None) -> Any:
        """The agent, with a budget if it searches."""
        params, share = dict(self.params), 1
        if self.shares_budget:
            share = game.options.num_detectives
        if self.id in SEARCHES:
            if seconds is not None:
                params["time_per_move"] = seconds / share
                if self.id in STOP_EARLY:
                    params["stops_early"] = True  # the same moves in less time
            else:
                params["iterations"] = simulations // share
        return make_agent(self.id, game, **params)


@dataclass(frozen=True)
class Pairing:
    """Who meets whom, where, and with how much time or how many simulations."""

    game: str
    options: Mapping[str, Any]
    fugitive: Entrant
    detectives: Entrant
    seconds: float | None = None
    simulations: int = 0

    def make(self) -> tuple[Game, list[Any]]:
        """The game and its players."""
        game = make_game(self.game, **self.options)
        fugitive, detectives = (
            player.make(game, self.simulations, self.seconds)
            for player in (self.fugitive, self.detectives)
        )
        return game, [fugitive, *[detectives] * (game.facts.num_players - 1)]

    @property
    def name(self) -> str:
        """Who meets whom, to read."""
        return f"{self.detectives.id} v. {self.fugitive.id}"

    @property
    def settings(self) -> str:
        """Eight digits that tell games of other players or another board apart."""
        players = [
            (p.id, dict(p.params), p.shares_budget) for p in (self.fugitive, self.detectives)
        ]
        known = json.dumps([self.game, dict(self.options), players, self.seconds], sort_keys=True)
        return hashlib.blake2b(known.encode(), digest_size=4).hexdigest()


# ---- cells ---------------------------------------------------------------------------------------

MAPS = ("map_1", "map_2", "map_3")
BOARDS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "scotland_yard_v0": ({},),
    "phantom_v0": tuple({"board": board} for board in MAPS),
}
"""The city, and the maps that are kept with the project."""
PLACEMENT = 6
"""Moves of a round of the Phantom's game: his and five detectives'; first they are placed."""
Wins = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PursuitCell:
    """Games of one pairing, on one board or on several."""

    is_won: Wins
    """[games] by the detectives."""
    lengths: npt.NDArray[np.int64]
    """[games] actions and chance events."""
    simulations: int = 0
    """Of all searches by the clock."""
    searches: int = 0

    @property
    def rounds(self) -> npt.NDArray[np.int64]:
        """[games] the round of the Phantom's game in which each ended."""
        return -(-self.lengths // PLACEMENT)

    @property
    def is_first(self) -> Wins:
        """[games] whether the detectives won in the first round, by a start on his place."""
        found: Wins = self.is_won & (self.rounds == 1)
        return found

    def rate(self, has_first: bool = True) -> Interval:
        """Games that the detectives won, in %, with or without those of the first round."""
        return win_rate(self.is_won if has_first else self.is_won[~self.is_first])


def join(cells: Sequence[PursuitCell]) -> PursuitCell:
    """All games of some cells."""
    return PursuitCell(
        np.concatenate([cell.is_won for cell in cells]),
        np.concatenate([cell.lengths for cell in cells]),
        sum(cell.simulations for cell in cells),
        sum(cell.searches for cell in cells),
    )


def win_rate(won: Wins) -> Interval:
    """Games that were won, in %."""
    return wilson(int(won.sum()), len(won)).times(100)


def difference(one: Wins, other: Wins) -> Interval:
    """How much more often the first won, in points.

    Newcombe's interval of Wilson's two, which holds for few games, too, and if one side won all.

    >>> print(difference(np.ones(6, bool), np.zeros(6, bool)))
    100.000 [44.798, 100.000]
    """
    a, b = (wilson(int(won.sum()), len(won)) for won in (one, other))
    low = np.hypot(a.mean - a.low, b.high - b.mean)
    high = np.hypot(a.high - a.mean, b.mean - b.low)
    mean = a.mean - b.mean
    return Interval(mean, float(mean - low), float(mean + high)).times(100)


_PLAYED: dict[tuple[str, int, int, int], PursuitCell] = {}
"""Cells of this command."""


def play_cells(
    game_id: str,
    fugitive: Entrant,
    detectives: Entrant,
    games: int,
    settings: Settings,
    seconds: float | None = None,
    simulations: int = 0,
    **options: Any,
) -> list[PursuitCell]:
    """So many games on each board of a game."""
    found = []
    for number, board in enumerate(BOARDS[game_id]):
        where = {**board, **options}
        pairing = Pairing(game_id, where, fugitive, detectives, seconds, simulations)
        found.append(_cell(pairing, games, 1000 * settings.seed + number, settings))
    return found


def _cell(pairing: Pairing, games: int, seed: int, settings: Settings) -> PursuitCell:
    if pairing.seconds is not None and {pairing.fugitive.id, pairing.detectives.id} & set(SEARCHES):
        kept = play_kept(pairing, games, seed, settings)
        return PursuitCell(
            np.array([game.caught == 1 for game in kept]),
            np.array([game.length for game in kept]),
            sum(game.simulations for game in kept),
            sum(game.searches for game in kept),
        )
    key = pairing.settings, pairing.simulations, games, seed
    if key not in _PLAYED:
        result = play_shown(*pairing.make(), games, seed=seed)
        _PLAYED[key] = PursuitCell(result.returns[:, 1] > 0, result.lengths)
    return _PLAYED[key]


# ---- games by the clock --------------------------------------------------------------------------


@dataclass(frozen=True)
class KeptGame:
    """A game that is over."""

    pairing: str
    settings: str
    seed: int
    game: int
    caught: int
    """1 if the detectives won."""
    length: int
    """Actions and chance events."""
    searches: int
    simulations: int
    """Of all searches together."""
    seconds: float


COLUMNS = tuple(each.name for each in fields(KeptGame))


def play_kept(pairing: Pairing, number: int, seed: int, settings: Settings) -> list[KeptGame]:
    """The first ``number`` games of a seed: those that are kept, and the others played now."""
    path = settings.folder / FILE
    # Of a game that was played twice the first counts: what was told once stays.
    kept = {found.game: found for found in reversed(_read(path)) if _is_of(found, pairing, seed)}
    missing = [game for game in range(number) if game not in kept]
    if missing:
        make_folder(path.parent)
        _mend(path)
        done = number - len(missing)
        progress = Progress(number, "games", done=done, after=LOG_EVERY)
        with _alone(path), closing(progress):
            work = partial(play_one, pairing, seed)
            for _, found in side_by_side(work, missing, settings.workers):
                append_text(path, _line(astuple(found)))
                kept[found.game] = found
                progress.add(1)
    return [kept[game] for game in range(number)]


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other commands from playing games for this file, which would be the same games."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            fix = "wait for it, or end it and give --workers"
            raise MasqueradeError(f"another command plays games for {path}: {fix}") from error
        yield


def _is_of(found: KeptGame, pairing: Pairing, seed: int) -> bool:
    return found.settings == pairing.settings and found.seed == seed


_MADE: dict[str, tuple[Game, list[Any]]] = {}
"""The players of this process: making their memory and tables takes as long as some moves."""


def play_one(pairing: Pairing, seed: int, number: int) -> KeptGame:
    """Play one game."""
    if pairing.settings not in _MADE:
        _MADE.clear()
        _MADE[pairing.settings] = pairing.make()
    game, agents = _MADE[pairing.settings]
    lines: list[str] = []
    for agent in agents:
        agent.log = lines
    begun = time.monotonic()
    result = play_match(game, agents, 1, seed=seed, first_game=number)
    simulations = [int(line.split()[0].replace(",", "")) for line in lines if line]
    return KeptGame(
        pairing.name,
        pairing.settings,
        seed,
        number,
        int(result.returns[0, 1] > 0),
        int(result.lengths[0]),
        len(simulations),
        sum(simulations),
        round(time.monotonic() - begun, 2),
    )


# ---- the file ------------------------------------------------------------------------------------


def _line(cells: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _mend(path: Path) -> None:
    """Begin the file, or end a line of it that was cut."""
    text = read_text(path, "move it away") if path.exists() else ""
    if not text:
        append_text(path, _line(COLUMNS))
    elif not text.endswith("\n"):
        write_text(path, text[: text.rfind("\n") + 1])


def _read(path: Path) -> list[KeptGame]:
    """All kept games; a last line that was cut is left out."""
    if not path.exists():
        return []
    text = read_text(path, fix := "move it away, and its games are played again")
    rows = list(csv.reader(io.StringIO(text[: text.rfind("\n") + 1])))
    kinds = [str, str, int, int, int, int, int, int, float]
    try:
        if rows and tuple(rows[0]) != COLUMNS:
            raise ValueError(f"its first line is not {','.join(COLUMNS)}")
        return [
            KeptGame(*(kind(cell) for kind, cell in zip(kinds, row, strict=True)))
            for row in rows[1:]
        ]
    except ValueError as error:
        raise FileError(f"{path} holds no kept games ({one_line(error)}): {fix}") from error
