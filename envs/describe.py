"""Write ``docs/games/`` and its pictures: the page of every game, from the game itself.

``python -m envs.describe`` writes them anew; a test fails when they no longer show what the code
does.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from common.commands import answers_in_one_line
from common.files import write_text
from envs import GAMES, make_game
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import below, new_rng

DOCS = Path(__file__).resolve().parents[1] / "docs"
SEED = 5
MAX_CHOICE = 9
MAX_ACTIONS = 12
NUM_GAMES = 200
BAR = "\\|"  # in a cell


def describe(game_id: str) -> str:
    """The page of one game, in Markdown."""
    game = make_game(game_id)
    title, _, rules = inspect.cleandoc(sys.modules[type(game).__module__].__doc__ or "").partition(
        "\n"
    )
    position = _position(game)
    viewer = position.turn  # so that the picture shows what can be clicked
    parts = [
        f"# {title.rstrip('.')} (`{game.id}`)",
        "<!-- Made by `python -m envs.describe`; edit the game's module instead. -->",
        f"![The table as player {viewer} sees it](../images/{game.id}.svg)",
        _markdown(rules).strip(),
        "## With the default options",
        _table(("fact", "value"), _facts(game)),
        "## Options",
        _table(("option", "default", "allowed", "meaning"), game.Options.describe()),
        *([_table(("preset", "sets"), _presets(game))] if game.presets else []),
        "## Actions",
        _table(("action", "words"), _actions(game)),
        "## Observation",
        "All values lie between 0 and 1.",
        _table(
            ("field", "size", "meaning"),
            ((field.name, str(field.size), field.meaning) for field in game.fields),
        ),
        "## The same position in words",
        f"```text\n{position.text(viewer)}\n```\n",
    ]
    return "\n\n".join(parts)


def picture(game_id: str) -> str:
    """The drawing that the page of a game opens with."""
    position = _position(make_game(game_id))
    return position.game.draw(position.state, position.turn) + "\n"


def _position(game: Game) -> Position:
    """A random game up to its middle, when somebody is to move."""
    rng, draws = new_rng(SEED), np.random.default_rng(SEED)
    positions: list[Position] = []
    position = game.new_position()
    while not position.is_over:
        position.play_chance(rng)
        if position.is_over:
            break
        positions.append(position.copy())
        # Low actions are small bids and calls, which make for longer games.
        legal = position.legal_actions()
        position.apply(legal[int(draws.integers(min(len(legal), MAX_CHOICE)))])
    return positions[len(positions) // 2]


def _facts(game: Game) -> list[tuple[str, str]]:
    facts = game.facts
    returns = f"{facts.min_return:g} to {facts.max_return:g}"
    if facts.return_sum is not None:
        returns += f", adding up to {facts.return_sum:g}"
    return [
        ("players", str(facts.num_players)),
        ("actions", str(facts.num_actions)),
        ("chance events", f"{facts.num_chance_outcomes} outcomes at most"),
        ("longest game", f"{facts.max_length} actions and chance events"),
        ("returns", returns),
        ("observation", f"{game.observation_size} numbers"),
        ("state", f"{game.state_size} bytes"),
    ]


def _actions(game: Game) -> list[tuple[str, str]]:
    """Actions as they are said in some random games: all, or the first and the last few of many."""
    words: dict[int, str] = {}
    rng = new_rng(0)
    for number in range(NUM_GAMES):
        position = game.new_position(number)
        position.play_chance(rng)
        while not position.is_over:
            legal = position.legal_actions()
            words.update((a, position.action_text(a)) for a in legal if a not in words)
            position.apply(legal[int(below(rng, len(legal)))])
            position.play_chance(rng)
    rows = [(str(action), f"`{words[action]}`") for action in sorted(words)]
    if len(rows) > MAX_ACTIONS:
        rows[MAX_ACTIONS - 2 : -2] = [("...", "...")]
    return rows


def _presets(game: Game) -> list[tuple[str, str]]:
    return [
        (f"`{name}`", ", ".join(f"`{k}={v!r}`" for k, v in values.items()) or "the defaults")
        for name, values in game.presets.items()
    ]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', BAR) for c in line)} |" for line in lines)


def _markdown(text: str) -> str:
    """Docstrings are reStructuredText, of which we use double back-quotes and simple tables."""
    out: list[str] = []
    in_table = False
    for line in text.splitlines():
        if re.fullmatch(r"=+( +=+)+", line):
            out.extend([] if in_table else ["| | |", "|---|---|"])
            in_table = not in_table
        elif in_table:
            name, _, meaning = line.partition("  ")
            out.append(f"| {name.strip()} | {meaning.strip()} |")
        else:
            out.append(line)
    return re.sub(r"``([^`]*)``", r"`\1`", "\n".join(out))


@answers_in_one_line("describe")
def main() -> int:
    """Write every page and its picture; a full disk gets one line and exit code 2."""
    for game_id in GAMES:
        write_text(DOCS / "games" / f"{game_id}.md", describe(game_id))
        write_text(DOCS / "images" / f"{game_id}.svg", picture(game_id))
        print(f"docs/games/{game_id}.md, docs/images/{game_id}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
