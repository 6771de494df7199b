"""``Position``: one game in progress, checked at every step; the way in for people and tests.

Fast code does not use it: batches step thousands of states in one compiled call (see ``batch.py``).
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from common.errors import IllegalActionError, PositionError
from common.files import read_json, write_json
from envs.core.kernels import CHANCE, OVER, PUBLIC
from envs.core.rng import Words, first_key, fold

if TYPE_CHECKING:
    from envs.core.game import Game
from collections.abc import Callable
from dataclasses import dataclass

POSITION_VERSION = 1
_FORMAT = "masquerade position"


class Position:
    """A state and the list of actions and chance outcomes that led to it.

    >>> from envs import make_game
    >>> position = make_game("kuhn_v0").new_position()
    >>> for outcome in (2, 0):  # the king and the jack are dealt
    ...     position.apply(outcome)
    >>> position.turn, position.legal_actions()
    (0, [0, 1])
    """

    def __init__(self, game: Game, number: int = 0) -> None:
        """Set up game ``number`` of a series, before any chance."""
        self.game = game
        self.number = number
        self.state = np.zeros(game.state_size, np.uint8)
        self.history: list[int] = []
        game.kernels.new(self.state, game.rules, number % game.facts.num_openings)

    # ---- looking ---------------------------------------------------------------------------------

    @property
    def turn(self) -> int:
        """The player to move, ``CHANCE`` or ``OVER``."""
        return int(self.game.kernels.turn(self.state, self.game.rules))

    @property
    def is_chance(self) -> bool:
        """Whether a chance event comes next."""
        return self.turn == CHANCE

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.turn == OVER

    def mask(self) -> npt.NDArray[np.int8]:
        """Which actions (or outcomes, at a chance node) are possible: ``[mask_size] int8``."""
        mask = np.zeros(self.game.mask_size, np.int8)
        if not self.is_over:
            self.game.kernels.legal(self.state, self.game.rules, mask)
        return mask

    def legal_actions(self) -> list[int]:
        """The possible actions or outcomes, in rising order; none when the game is over."""
        found: list[int] = np.flatnonzero(self.mask()).tolist()
        return found

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every possible outcome of the coming chance event with its probability."""
        if not self.is_chance:
            raise ValueError("no chance event comes next: ask only when is_chance")
        probs = np.zeros(max(self.game.facts.num_chance_outcomes, 1))
        self.game.kernels.chance(self.state, self.game.rules, probs)
        return [(outcome, float(probs[outcome])) for outcome in self.legal_actions()]

    def returns(self) -> npt.NDArray[np.float64]:
        """Each player's total so far."""
        totals = np.zeros(self.game.facts.num_players)
        self.game.kernels.returns(self.state, self.game.rules, totals)
        return totals

    def observation(self, player: int) -> npt.NDArray[np.float32]:
        """What a network of ``player`` is fed."""
        out = np.zeros(self.game.observation_size, np.float32)
        self.game.kernels.observe(self.state, self.game.rules, self._seat(player), out)
        return out

    def tokens(self, player: int) -> list[int]:
        """Everything ``player`` (or the ``PUBLIC``) has noticed since the start."""
        if player != PUBLIC:
            player = self._seat(player)
        replayed = Position(self.game, self.number)
        tokens = []
        for action in self.history:
            tokens.append(
                int(self.game.kernels.seen(replayed.state, self.game.rules, action, player))
            )
            self.game.kernels.step(replayed.state, self.game.rules, action)
        return [token for token in tokens if token]

    def key(self, player: int) -> int:
        """The player's perfect-recall information set, as a 64-bit number."""
        key = first_key(player)
        for token in self.tokens(player):
            key = fold(key, token)
        return int(key)

    def determinized(self, player: int, rng: Words) -> npt.NDArray[np.uint8]:
        """A state that ``player`` cannot tell from this one."""
        world = self.state.copy()
        self.game.kernels.determinize(world, self.game.rules, self._seat(player), rng)
        return world

    def text(self, viewer: int | None = None) -> str:
        """The position in words, as a spectator or as one of the players sees it."""
        return self.game.render(self.state, viewer)

    def action_text(self, action: int) -> str:
        """An action or outcome in words, whichever is due now."""
        if self.is_chance:
            return self.game.chance_text(self.state, action)
        return self.game.action_text(self.state, action)

    def parse_action(self, text: str) -> int:
        """A legal action from its words or its number."""
        return self.game.parse_action(text, self.state)

    def _seat(self, player: int) -> int:
        # Compiled code checks no bounds.
        if not 0 <= player < self.game.facts.num_players:
            raise ValueError(
                f"player must be from 0 to {self.game.facts.num_players - 1}, not {player!r}"
            )
        return player

    # ---- playing ---------------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Play an action or a chance outcome; what is not legal is refused and changes nothing."""
        mask = self.mask()
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if not 0 <= number < len(mask) or not mask[number]:
            raise IllegalActionError(self._refusal(action, np.flatnonzero(mask).tolist()))
        self.game.kernels.step(self.state, self.game.rules, number)
        self.history.append(number)

    def play_chance(self, rng: Words) -> None:
        """Draw chance outcomes until a player is to move or the game is over."""
        while self.is_chance:
            self.apply(self.game.kernels.sample(self.state, self.game.rules, rng))

    def copy(self) -> Position:
        """An independent equal position."""
        twin = Position(self.game, self.number)
        twin.state[:] = self.state
        twin.history = self.history.copy()
        return twin

    def _refusal(self, action: Any, legal: Sequence[int]) -> str:
        if not legal:
            return f"action {action!r} refused: the game is over"
        shown = ", ".join(f"{a} ({self.action_text(a)})" for a in legal[:8])
        more = f" and {len(legal) - 8} more" if len(legal) > 8 else ""
        return f"action {action!r} is not legal here: choose from {shown}{more}"

    # ---- keeping ---------------------------------------------------------------------------------

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the position to a file, whole or not at all.

        Args:
            path: where to.
            about: what else is to be noted, such as who played; not part of the position.
        """
        content = {
            "format": _FORMAT,
            "version": POSITION_VERSION,
            "game": self.game.id,
            "options": self.game.options.to_dict(),
            "number": int(self.number),
            "history": self.history,
            "state": hashlib.sha256(self.state.tobytes()).hexdigest(),
        }
        if about:
            content["about"] = dict(about)
        content["checksum"] = _checksum(content)
        write_json(Path(path), content)

    @staticmethod
    def load(path: str | Path, game: Game) -> Position:
        """Read a position of ``game`` and play its moves again, up to the state that was saved."""
        content = _read(path)
        if content["game"] != game.id or content["options"] != game.options.to_dict():
            raise PositionError(
                f"{path} is a position of {content['game']!r} with {content['options']}: "
                f"load it with that game, not {game!r}"
            )
        try:
            position = game.replay(content["history"], content["number"])
        except IllegalActionError as error:
            raise PositionError(
                f"{path} does not follow the rules of {game!r} ({error}): save it anew"
            ) from error
        if hashlib.sha256(position.state.tobytes()).hexdigest() != content["state"]:
            raise PositionError(
                f"{path} leads to another state by the rules of this version: save it anew"
            )
        return position


def _checksum(content: dict[str, Any]) -> str:
    """A hash of everything in a position file but the checksum itself."""
    rest = {name: value for name, value in content.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _read(path: str | Path) -> dict[str, Any]:
    content = read_json(Path(path), "use an intact copy of a position file", PositionError)
    if content.get("format") != _FORMAT:
        raise PositionError(f"{path} is no position file: expected one written by Position.save")
    if content.get("version") != POSITION_VERSION:
        version = content.get("version")
        raise PositionError(
            f"{path} has version {version!r}, this is version {POSITION_VERSION}: save it anew"
        )
    if content.get("checksum") != _checksum(content):
        raise PositionError(f"{path} is damaged (its checksum is wrong): use an intact copy")
    kinds = {"game": str, "options": dict, "number": int, "history": list, "state": str}
    for name, kind in kinds.items():
        if not isinstance(content.get(name), kind):
            raise PositionError(f"{path} is damaged (it has no {name}): use an intact copy")
    if not 0 <= content["number"] < 2**63 or not all(type(a) is int for a in content["history"]):
        raise PositionError(f"{path} is damaged (no such game or actions): use an intact copy")
    return content


@dataclass(frozen=True)
class NotedGame:
    """A game that was read from a file."""

    position: Position
    """After the last move that was noted."""
    names: tuple[str, ...]
    """Who sat in each seat."""


@dataclass(frozen=True)
class Notation:
    """A file format of one game."""

    name: str
    game_id: str
    suffix: str
    """How the names of its files end."""
    write: Callable[[Position, Sequence[str]], list[str]]
    """A game up to a position, and who sat in each seat: one document for each of its parts."""
    join: Callable[[Sequence[str]], str]
    """Many documents as the content of one file."""
    read: Callable[[str], list[NotedGame]]
    """The games in the content of a file."""
