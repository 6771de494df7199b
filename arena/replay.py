"""One game again, step by step, as a spectator or as one of its players saw it.

A game is determined by seed, deal and who sits where, so nothing but these is needed to play it
once more. ``evaluate.py replay`` prints it, and reports show a few of each tournament.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from agents.base import Agent
from arena.match import Fault, play_recorded
from common.errors import MasqueradeError, PositionError, one_line
from common.files import read_json, read_text
from envs import find_notation, game_class
from envs.core.game import Game
from envs.core.kernels import CHANCE, UNSEEN
from envs.core.position import Position

MAX_DEALS = 2**40
MAX_NAME = 80
HIDDEN_EVENT = "a hidden event"
HIDDEN_MOVE = "a hidden move"


@dataclass(frozen=True)
class Recording:
    """A game from its first chance event to its end."""

    game: Game
    names: list[str]
    """Who sat in each seat."""
    number: int
    """The deal."""
    history: list[int]
    returns: list[float]
    fault: Fault | None = None
    notes: list[str] = field(default_factory=list)
    """What a reader must know, such as that the tournament saw another end."""
    thoughts: dict[int, str] = field(default_factory=dict)
    """What players that search say of their moves, by place in the history."""
    is_exact: bool = True
    """False if the tournament is known to have seen another game."""


@dataclass(frozen=True)
class ReplayFrame:
    """What happened, and the board after it."""

    actor: int | None
    """A seat, ``CHANCE``, or None for the board before anything has happened."""
    words: str
    """What happened, as far as the viewer noticed; empty if not at all."""
    board: str
    """The position as text."""
    drawing: str = ""
    """The position as an SVG picture, if pictures were asked for."""
    thought: str = ""
    """How much its player searched, for whoever may know it."""


# ---- playing it again ----------------------------------------------------------------------------


def record_game(
    game: Game,
    agents: Sequence[Agent],
    names: Sequence[str],
    deal: int,
    seed: int = 0,
    deals: range | None = None,
    choice_seed: int | None = None,
) -> Recording:
    """Play deal number ``deal`` of a seed and keep its actions.

    >>> from envs import make_game
    >>> from agents import make_agent
    >>> game = make_game("kuhn_v0")
    >>> player = make_agent("random", game)
    >>> record_game(game, [player, player], ["a", "b"], deal=3).history
    [2, 1, 0, 0]

    Args:
        game: the game.
        agents: one for each seat.
        names: what to call them.
        deal: the game to keep.
        seed: root of all chance.
        deals: those to play with it; by default it alone.
        choice_seed: root of what players were given, if it was another.
    """
    if not 0 <= deal < MAX_DEALS or not 0 <= seed < 2**63:
        raise MasqueradeError(
            f"deal must be from 0 to below {MAX_DEALS:,} and seed from 0 to below 2**63, "
            f"not {deal} and {seed}"
        )
    deals = deals or range(deal, deal + 1)
    for agent in agents:
        agent.log = []
    how: dict[str, Any] = {"seed": seed, "first_game": deals.start, "choice_seed": choice_seed}
    result, histories = play_recorded(game, agents, len(deals), has_forfeits=True, **how)
    logs = {id(agent): agent.log for agent in agents}
    for agent in agents:
        agent.log = None
    fault = next((fault for fault in result.faults if fault.game == deal), None)
    returns = result.returns[deal - deals.start].tolist()
    thoughts = {}
    if len(deals) == 1:  # otherwise lines of several games are mixed
        thoughts = _place_thoughts(game.new_position(deal), histories[deal], agents, logs)
    return Recording(game, list(names), deal, histories[deal], returns, fault, thoughts=thoughts)


def _place_thoughts(
    position: Position,
    history: Sequence[int],
    agents: Sequence[Agent],
    logs: Mapping[int, list[str] | None],
) -> dict[int, str]:
    """The lines of each player at its moves, which came in the same order."""
    lines, thoughts = {agent: iter(log or ()) for agent, log in logs.items()}, {}
    for place, action in enumerate(history):
        if not position.is_chance:
            thoughts[place] = next(lines[id(agents[position.turn])], "")
        position.apply(action)
    return {place: line for place, line in thoughts.items() if line}


def read_position(path: Path) -> Recording:
    """A game up to a position that was saved with ``Position.save``."""
    content = read_json(path, "use an intact copy of a position file", PositionError)
    try:
        game = game_class(content["game"])(**content["options"])
    except MasqueradeError as error:
        raise PositionError(f"{path}: {error}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise PositionError(
            f"{path} is no position file: expected one written by Position.save"
        ) from error
    position = Position.load(path, game)
    names = [f"player {seat}" for seat in range(game.facts.num_players)]
    about = content.get("about")
    noted = about.get("names") if isinstance(about, dict) else None
    if isinstance(noted, list) and len(noted) == len(names):
        names = [one_line(name, MAX_NAME) for name in noted]
    return Recording(game, names, position.number, position.history, position.returns().tolist())


def read_noted(path: Path, number: int = 0) -> Recording:
    """One of the games in a file of another program's notation, such as a hand history.

    Args:
        path: the file.
        number: which of its games, from 0.
    """
    text = read_text(path, "give a file of games")
    try:
        games = find_notation(path.suffix).read(text)
    except MasqueradeError as error:
        raise MasqueradeError(f"{path}: {error}") from error
    if not 0 <= number < len(games):
        raise MasqueradeError(
            f"{path} has {len(games)} games: --deal must be from 0 to {len(games) - 1}"
        )
    noted = games[number]
    position = noted.position
    returns = position.returns().tolist()
    return Recording(position.game, list(noted.names), 0, list(position.history), returns)


# ---- looking at it -------------------------------------------------------------------------------


def frames(
    recording: Recording, viewer: int | None = None, has_drawings: bool = False
) -> Iterator[ReplayFrame]:
    """The game step by step; chance events that follow each other are one step.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> recording = Recording(game, ["a", "b"], 0, [2, 0, 1, 0], [1.0, -1.0])
    >>> [frame.words for frame in frames(recording, viewer=0)]
    ['', 'deals K, a hidden event', 'bet', 'pass']
    """
    game = recording.game
    if viewer is not None and not 0 <= viewer < game.facts.num_players:
        raise MasqueradeError(
            f"viewer must be a seat from 0 to {game.facts.num_players - 1}, not {viewer}"
        )
    position = game.new_position(recording.number)

    # Games with a showdown say when it has come: then everybody sees all cards.
    is_showdown = getattr(game, "is_showdown", lambda state: False)

    def frame(actor: int | None, words: str, place: int = -1) -> ReplayFrame:
        eyes = None if is_showdown(position.state) else viewer
        drawing = game.draw(position.state, eyes) if has_drawings else ""
        thought = recording.thoughts.get(place, "") if viewer in (None, actor) else ""
        return ReplayFrame(actor, words, position.text(eyes), drawing, thought)

    yield frame(None, "")
    left = recording.history
    while left:
        actor, is_chance = position.turn, position.is_chance
        words: list[str] = []
        for action in left:
            if position.is_chance != is_chance or (words and not is_chance):
                break
            words.append(_words(position, action, viewer))
            position.apply(action)
        place = len(recording.history) - len(left)
        left = left[len(words) :]
        yield frame(actor, join_words([text for text in words if text]), place)


def _words(position: Position, action: int, viewer: int | None) -> str:
    """An action that is about to be played, as the viewer notices it."""
    if viewer is None or viewer == position.turn:
        return position.action_text(action)
    game = position.game
    seen = game.kernels.seen
    token = seen(position.state, game.rules, action, viewer)
    if token == UNSEEN:
        return ""
    if position.is_chance:
        # An outcome is visible if no other one would have looked the same.
        others = [outcome for outcome in position.legal_actions() if outcome != action]
        is_visible = bool(others) and all(
            seen(position.state, game.rules, other, viewer) != token for other in others
        )
        return position.action_text(action) if is_visible else HIDDEN_EVENT
    # Whoever moves knows the move: a viewer who notices the same knows it, too.
    is_visible = token == seen(position.state, game.rules, action, position.turn)
    return position.action_text(action) if is_visible else HIDDEN_MOVE


def join_words(words: list[str]) -> str:
    """The words with commas; what several in a row begin with is said once.

    >>> join_words(["player 0 rolls 5", "player 0 rolls 6", "a hidden event", "a hidden event"])
    'player 0 rolls 5 6, a hidden event (2 times)'
    """
    parts = []
    for start, texts in groupby(words, key=lambda text: text.rpartition(" ")[0]):
        ends = [text.rpartition(" ")[2] for text in texts]
        is_repeated = len(ends) > 1 and f"{start} {ends[0]}" in (HIDDEN_EVENT, HIDDEN_MOVE)
        text = ends[0] if is_repeated else " ".join(ends)
        times = f" ({len(ends)} times)" if is_repeated else ""
        parts.append(f"{start} {text}{times}".strip())
    return ", ".join(parts)


def show(recording: Recording, viewer: int | None = None) -> str:
    """The whole game as text for a terminal."""
    names = recording.names
    lines = [f"{recording.game!r}, deal {recording.number}"]
    lines += [f"  player {seat}: {name}" for seat, name in enumerate(names)]
    if viewer is not None:
        lines.append(f"as player {viewer} saw it")
    for number, frame in enumerate(frames(recording, viewer)):
        if frame.actor is not None:
            who = "chance" if frame.actor == CHANCE else f"player {frame.actor}"
            if who != "chance" and names[frame.actor] != who:
                who += f" ({names[frame.actor]})"
            lines += ["", f"{number}. {who}: {frame.words or 'nothing that can be seen'}"]
            lines += [f"    ({frame.thought})"] * bool(frame.thought)
        else:
            lines.append("")
        lines += [f"    {line}".rstrip() for line in frame.board.splitlines()]
    if recording.fault:
        lines += ["", f"player {recording.fault.seat} forfeits: {recording.fault.reason}"]
    lines += ["", f"{winner_in_words(recording)} returns {in_points(recording.returns)}"]
    return "\n".join([*lines, *(f"note: {note}" for note in recording.notes)])


def winner_in_words(recording: Recording) -> str:
    """Who got most; seats are named where a name stands twice.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> winner_in_words(Recording(game, ["a", "b"], 0, [2, 0, 1, 0], [1.0, -1.0]))
    'a wins:'
    """
    names, returns = recording.names, recording.returns
    best = [seat for seat, value in enumerate(returns) if value == max(returns)]
    if len(best) == len(returns):
        return "nobody is ahead:"
    words = [
        names[seat] if names.count(names[seat]) == 1 else f"{names[seat]} (player {seat})"
        for seat in best
    ]
    return f"{' and '.join(words)} {'wins' if len(best) == 1 and words != ['You'] else 'win'}:"


def in_points(returns: Sequence[float]) -> str:
    """Returns with their signs."""
    return ", ".join(f"{value:+g}" for value in returns)
