"""What can be played, and against whom: games with their option forms, agents, runs.

Only agents that stand in the list of a game may sit at a table: ids of the project that need no
file, runs under ``runs/``, and what was named on the command line. So no message can make the
server import or start anything.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from agents import AGENTS, LEARNERS, OUTSIDE, agent_class, split_path
from agents.base import Agent
from common.errors import MasqueradeError, nearest
from common.files import read_yaml
from common.imports import look_up
from envs import GAMES, game_class, make_game
from envs.core.game import Game
from envs.core.options import Options
from envs.core.rollouts import Rollouts, UniformPlayer
from play.maps import FOLDER, board_of, check_board, saved_maps
from play.messages import SeatChoice

__all__ = ["OUTSIDERS", "Catalogue", "GameCard", "PlayerCard", "game_of", "rules_of"]

RUNS = Path("runs")
MAX_POOL, MAX_FAIR_POOL = 50, 4
"""Random maps that a table can draw from, any or fair ones: all are made before it begins."""
DRAWN = Path(__file__).resolve().parents[1] / "docs" / "images"
GAMES_ROOM = "agents.games."
# Programs and bots from outside are named on the command line; learners play from their runs.
OUTSIDERS = {*OUTSIDE}
NEED_A_NAME = {*OUTSIDERS, *LEARNERS, "leaning", "profiled"}


@dataclass(frozen=True)
class GameCard:
    """A game as a newcomer meets it."""

    id: str
    title: str
    words: str
    """What it is about, in a line."""
    options: dict[str, Any] = field(default_factory=dict)
    """Other than the game's defaults, for a first game."""
    against: str = "random"
    seat: int = 0


CARDS = (
    GameCard(
        "liars_dice_v0",
        "Liar's Dice",
        "Bid on everybody's dice, or call a liar.",
        against="liars_dice_rule",
    ),
    GameCard(
        "scotland_yard_v0",
        "Scotland Yard",
        "Hunt Mr. X through the city, or slip away as him.",
        against="pursuit_heuristic",
        seat=1,
    ),
    GameCard(
        "phantom_v0",
        "Phantom of Old Prague",
        "A pursuit on maps that are new every time.",
        against="pursuit_heuristic",
    ),
    GameCard(
        "holdem_v0",
        "No-Limit Hold'em",
        "Six players, ten thousand chips, every amount.",
        options={"menu": "exact"},
        against="holdem_tight",
        seat=3,  # the first to act in the first hand: a newcomer need not wait for the others
    ),
    GameCard(
        "no_thanks_v0",
        "No Thanks!",
        "Pay a chip, or take the card.",
        against="no_thanks_rule",
    ),
    GameCard(
        "leduc_v0",
        "Leduc poker",
        "Six cards, two rounds of betting.",
        against="leduc_rule",
    ),
    GameCard(
        "kuhn_v0",
        "Kuhn poker",
        "Three cards, one bet: the smallest poker there is.",
        against="kuhn_rule",
    ),
)


@dataclass(frozen=True)
class PlayerCard:
    """Somebody who can sit at a table."""

    spec: str
    label: str
    kind: str
    """``rules``, ``search``, ``run`` or ``own``."""
    words: str = ""
    has_clock: bool = False
    """Whether seconds for a move can be chosen."""
    roles: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


class Catalogue:
    """The lists of a server.

    Args:
        own: agents named on the command line, such as ``mine.py:Player`` or ``external:./bot``.
        runs: where trained players are looked for.
    """

    def __init__(self, own: Sequence[str] = (), runs: Path = RUNS) -> None:
        """Nothing is looked up yet."""
        self._own = list(own)
        self._runs = runs

    def games(self) -> list[GameCard]:
        """All games, the large ones first; a game without a card has its id for a title."""
        known = {card.id for card in CARDS}
        others = [GameCard(game_id, game_id, "") for game_id in GAMES if game_id not in known]
        return [*(card for card in CARDS if card.id in GAMES), *others]

    def card(self, game_id: str) -> GameCard:
        """The card of one game."""
        found = next((card for card in self.games() if card.id == game_id), None)
        return found or GameCard(game_id, game_id, "")

    def new_game(self, game_id: str) -> Game:
        """The game as a newcomer gets it."""
        return make_game(game_id, **self.card(game_id).options)

    def picture(self, game_id: str) -> str:
        """A position in the middle of a game, as a player sees it.

        The one of the documentation where there is one: it needs no compiled code.
        """
        drawn = DRAWN / f"{game_id}.svg"
        if game_id in GAMES and drawn.is_file():
            return drawn.read_text(encoding="utf-8")
        return _picture(game_id, self.card(game_id).seat)

    def players(self, game: Game) -> list[PlayerCard]:
        """Everybody who can play a game with these options."""
        found = [*self._named(game), *_built_in(type(game))]
        # Rules first, those of the game itself before the one that plays everything at random.
        order = {"own": 0, "rules": 1, "run": 2, "search": 3}
        return sorted(found, key=lambda card: (card.spec == "random", order[card.kind]))

    def advisers(self, game: Game) -> list[PlayerCard]:
        """The same, a newcomer's opponent first: it answers at once and plays sensibly."""
        usual = self.card(game.id).against
        return sorted(self.players(game), key=lambda player: player.spec != usual)

    def usual_seats(self, game: Game) -> list[SeatChoice]:
        """Who sits where at a newcomer's table: the rule player of the game in all other seats."""
        card = self.card(game.id)
        against = card.against if card.against in AGENTS else "random"
        mine = min(card.seat, game.facts.num_players - 1)
        return [
            SeatChoice(who="me") if seat == mine else SeatChoice(who="agent", agent=against)
            for seat in range(game.facts.num_players)
        ]

    def describe(self, game: Game) -> dict[str, Any]:
        """All that a form for a new table needs."""
        return {
            "game": game.id,
            "title": self.card(game.id).title,
            "options": game.options.to_dict(),
            "schema": _schema(game),
            "presets": {name: dict(values) for name, values in game.presets.items()},
            "roles": [seat.role for seat in game.facts.seats],
            "players": [player.to_dict() for player in self.players(game)],
            "usual": [choice.model_dump() for choice in self.usual_seats(game)],
            **_maps(game),
        }

    def check(self, game: Game, spec: str) -> None:
        """Refuse whoever is in no list: nothing else is imported, read or started."""
        is_built_in = (
            spec in AGENTS and spec not in NEED_A_NAME and agent_class(spec).plays(game.id)
        )
        if is_built_in or spec in {card.spec for card in self._named(game)}:
            return
        raise MasqueradeError(
            f"'{spec}' cannot play {game.id} here: choose from the list of players, "
            "or name it with --players when the server is started"
        )

    def _named(self, game: Game) -> list[PlayerCard]:
        """Players from the command line and from runs."""
        return [*self._own_players(game), *self._trained(game)]

    def _own_players(self, game: Game) -> Iterator[PlayerCard]:
        for spec in self._own:
            agent_id, path = split_path(spec)
            found = agent_class(agent_id)
            if found.plays(game.id):
                label = Path(path).stem if path else agent_id.rpartition(":")[2]
                yield PlayerCard(
                    spec, label, "own", _doc(found), found.takes("time_per_move"), _roles(found)
                )

    def _trained(self, game: Game) -> Iterator[PlayerCard]:
        """Runs whose player fits the game."""
        for path in sorted(self._runs.glob("*/*/config.yaml")):
            run = _read_run(path, os.stat(path, follow_symlinks=False).st_mtime)
            if run is None or run["game"] != game.id or run["agent"] not in LEARNERS:
                continue
            try:
                trained = type(game).Options.parse(run["params"]).to_dict()
            except MasqueradeError:
                continue
            if not game.options.misfit(trained):
                spec = f"{run['agent']}:{path.parent}"
                yield PlayerCard(spec, path.parent.name, "run", f"trained: {run['agent']}")


def rules_of(game: Game) -> list[str]:
    """The rules in plain words, paragraph by paragraph, as the game's own module tells them.

    >>> rules_of(make_game("kuhn_v0"))[0][:20]
    'A deck has one card '
    """
    doc = inspect.cleandoc(sys.modules[type(game).__module__].__doc__ or "")
    found = []
    for part in doc.split("\n\n"):
        begin = re.match(r"\*\*(Rules|End|All-in)\.\*\* ", part)
        if begin:
            found.append(" ".join(part[begin.end() :].replace("``", "").split()))
    return found


def _schema(game: Game) -> dict[str, Any]:
    """The form of the options; maps that were saved are boards like others."""
    schema = type(game).Options.json_schema()
    board = schema["properties"].get("board")
    if board is not None:
        board["examples"] = [*board["examples"], *saved_maps()]
    return schema


def _maps(game: Game) -> dict[str, Any]:
    """For games with maps: a picture of the one that was chosen, and where maps are."""
    board = board_of(game, game.new_position().state)
    if board is None:
        return {}
    # Imported when needed: only pursuits have boards.
    from envs.pursuit.picture import draw_board

    return {"picture": draw_board(board), "maps": str(FOLDER)}


@lru_cache(maxsize=64)
def _picture(game_id: str, seat: int) -> str:
    game = make_game(game_id)
    rollouts = Rollouts(game, [UniformPlayer()], 1, seed=4)
    seating = np.zeros((1, game.facts.num_players), np.int64)
    rollouts.begin(np.zeros(1, np.int64), np.zeros(1, np.int64), seating)
    for _ in range(5):
        if (rollouts.waiting_for() < 0).any():
            break
        svg = rollouts.batch.draw(0, seat)
        rollouts.advance()
    return svg


@lru_cache(maxsize=512)
def _read_run(path: Path, _changed: float) -> dict[str, Any] | None:
    """Game and agent of a run; ``None`` if the file says something else."""
    try:
        content = read_yaml(path, "game and agent")
        game, agent = content["game"], content["agent"]
        run = {"game": game["id"], "params": game.get("params") or {}, "agent": agent["id"]}
    except (MasqueradeError, TypeError, KeyError, AttributeError):
        return None
    kinds = {"game": str, "params": dict, "agent": str}
    return run if all(isinstance(run[key], kind) for key, kind in kinds.items()) else None


@lru_cache(maxsize=64)
def _built_in(game_class: type[Game]) -> tuple[PlayerCard, ...]:
    room = game_class.__module__.split(".")[1]
    cards = []
    for agent_id, place in AGENTS.items():
        # What knows another game need not even be imported, which may take seconds.
        is_foreign = place.startswith(GAMES_ROOM) and not place.startswith(f"{GAMES_ROOM}{room}.")
        if agent_id in NEED_A_NAME or is_foreign:
            continue
        found = agent_class(agent_id)
        if found.plays(game_class.id):
            has_clock = found.takes("time_per_move")
            label = agent_id.replace("_", " ")
            kind = "search" if has_clock else "rules"
            cards.append(PlayerCard(agent_id, label, kind, _doc(found), has_clock, _roles(found)))
    return tuple(cards)


def _doc(found: type[Agent]) -> str:
    return (inspect.getdoc(found) or "").partition("\n")[0]


def _roles(found: type[Agent]) -> tuple[str, ...]:
    roles = found.roles
    return tuple(roles) if isinstance(roles, tuple) else ()


def _type_of_options(game_id: str) -> type[Options]:
    """The class of a game's options."""
    found: type[Options] = look_up("game", GAMES, game_id).Options
    return found


def _as_number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0  # which the game refuses


def game_of(game_id: str, options: Mapping[str, Any]) -> Game:
    """The game with options that came from outside: no files but saved maps, no huge pools."""
    check_board(options)
    names = {*_type_of_options(game_id).json_schema()["properties"], "preset"}
    for name in options:
        if name not in names:
            raise MasqueradeError(f"unknown option '{name}': {nearest(name, names)}")
    if not isinstance(options.get("preset", ""), str):
        raise MasqueradeError("preset must be the name of one")
    most = MAX_POOL if options.get("max_imbalance") is None else MAX_FAIR_POOL
    if _as_number(options.get("num_maps", 1)) > most:
        raise MasqueradeError(f"num_maps: at most {most} at a table")
    return game_class(game_id)(**options)
