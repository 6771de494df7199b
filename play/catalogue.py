"""What can be played, and against whom: games with their option forms, agents, runs.

Only agents that stand in the list of a game may sit at a table: ids of the project that need no
file, runs under ``runs/``, and what was named on the command line. So no message can make the
server import or start anything; only the command line names players of the user's own.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from agents import AGENTS, LEARNERS, OUTSIDE, agent_class, split_path
from agents.base import Agent
from common.errors import MasqueradeError, nearest
from common.files import read_yaml
from common.imports import look_up
from common.outline import constant_of
from envs import GAMES, game_class, make_game
from envs.core.game import Game
from envs.core.rollouts import Rollouts, UniformPlayer
from play.maps import FOLDER, check_board, check_pool, draw_map, saved_maps
from play.messages import GameCard, PlayerCard, PlayersNews, SeatChoice

RUNS = Path("runs")
DRAWN = Path(__file__).resolve().parents[1] / "docs" / "images"
GAMES_ROOM = "agents.games."
# Programs and bots from outside are named on the command line; learners play from their runs.
OUTSIDERS = {*OUTSIDE}
NEED_A_NAME = {*OUTSIDERS, *LEARNERS, "leaning", "profiled"}


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
        """All games, in the order of ``GAMES``."""
        return [self.card(game_id) for game_id in GAMES]

    def card(self, game_id: str) -> GameCard:
        """The card of one game."""
        return _game_card(game_id)

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
        mine = min(card.seat, game.facts.num_players - 1)
        return [
            SeatChoice(who="me") if seat == mine else SeatChoice(who="agent", agent=card.against)
            for seat in range(game.facts.num_players)
        ]

    def describe(self, game: Game) -> PlayersNews:
        """All that a form for a new table needs."""
        picture = draw_map(game)
        return PlayersNews(
            game=game.id,
            title=self.card(game.id).title,
            options=game.options.to_dict(),
            schema=_schema(game),
            presets={name: dict(values) for name, values in game.presets.items()},
            roles=[seat.role for seat in game.facts.seats],
            players=self.players(game),
            usual=self.usual_seats(game),
            **({"picture": picture, "maps": str(FOLDER)} if picture else {}),
        )

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
                yield _card(spec, label, "own", found)

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
                yield PlayerCard(
                    spec=spec,
                    label=path.parent.name,
                    kind="run",
                    words=f"trained: {run['agent']}",
                    has_clock=False,
                    roles=(),
                )


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
            kind = "search" if found.takes("time_per_move") else "rules"
            cards.append(_card(agent_id, agent_id.replace("_", " "), kind, found))
    return tuple(cards)


def _card(spec: str, label: str, kind: Any, found: type[Agent]) -> PlayerCard:
    return PlayerCard(
        spec=spec,
        label=label,
        kind=kind,
        words=(inspect.getdoc(found) or "").partition("\n")[0],
        has_clock=found.takes("time_per_move"),
        roles=found.roles if isinstance(found.roles, tuple) else (),
    )


@cache
def _game_card(game_id: str) -> GameCard:
    """What a game's class and its players say, read from the sources: nothing is imported."""
    place = GAMES.get(game_id, "envs.core.game:Game")
    room = f"{GAMES_ROOM}{place.partition(':')[0].split('.')[1]}."
    usual = (
        agent_id
        for agent_id, where in AGENTS.items()
        if where.startswith(room)
        and constant_of(where, "is_usual")
        and game_id in constant_of(where, "game_ids")
    )
    return GameCard(
        id=game_id,
        title=constant_of(place, "title") or game_id,
        words=constant_of(place, "summary"),
        options=constant_of(place, "first_options"),
        against=next(usual, "random"),
        seat=constant_of(place, "first_seat"),
    )


def game_of(game_id: str, options: Mapping[str, Any]) -> Game:
    """The game with options that came from outside: no files but saved maps, no huge pools."""
    check_board(options)
    check_pool(options)
    names = {*look_up("game", GAMES, game_id).Options.model_fields, "preset"}
    for name in options:
        if name not in names:
            raise MasqueradeError(f"unknown option '{name}': {nearest(name, names)}")
    if not isinstance(options.get("preset", ""), str):
        raise MasqueradeError("preset must be the name of one")
    return game_class(game_id)(**options)


# ---- players of the user's own ------------------------------------------------------------------


def find_own(names: Sequence[str]) -> list[str]:
    """Specifications of what was named on the command line: agents, files or folders of them.

    Args:
        names: ``module:Class``, ``id:path``, a Python file, a program, or a folder of either.
    """
    found: list[str] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file())
            found += [spec for file in files for spec in _from_file(file)]
        elif path.is_file():
            found += _from_file(path)
        else:
            agent_class(split_path(name)[0])  # says what is wrong with it
            found.append(name)
    if names and not found:
        raise MasqueradeError(f"no players in {', '.join(names)}: give agents, programs or folders")
    return found


def _from_file(path: Path) -> list[str]:
    """The agents that a Python file defines, or the program that a file is."""
    if path.suffix == ".py":
        module = _import(path)
        classes = [
            f"{module.__name__}:{name}"
            for name, value in vars(module).items()
            if inspect.isclass(value)
            and issubclass(value, Agent)
            and value.__module__ == module.__name__
            and not inspect.isabstract(value)
        ]
        if classes:
            return classes
    return [f"external:{path}"] if path.stat().st_mode & 0o111 else []


def _import(path: Path) -> Any:
    """A file as a module that processes with the same path can import, too."""
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise MasqueradeError(f"{path} cannot be imported")
    if path.stem in sys.modules:
        return sys.modules[path.stem]
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[path.stem]
        raise MasqueradeError(
            f"{path} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return module
