"""``Game``: a table of compiled functions, its options, the facts that follow, and the words.

A game module reads top to bottom: the rules in plain words, the record, the ten kernels, then a
subclass of ``Game`` that fills in the hooks marked below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from envs.core.drawing import draw_text
from envs.core.errors import IllegalActionError, OptionError, nearest
from envs.core.kernels import Kernels
from envs.core.options import Options
from envs.core.position import Position

__all__ = ["Facts", "Game", "Piece"]

State = npt.NDArray[np.uint8]
Rules = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Facts:
    """What an algorithm may rely on; it follows from the options."""

    num_players: int
    num_actions: int
    num_chance_outcomes: int
    """The largest number of outcomes of one chance event; 0 when nothing is random."""
    max_length: int
    """The longest possible game, chance events included."""
    min_return: float
    max_return: float
    return_sum: float | None = 0.0
    """What all players' returns add up to at the end; ``None`` in a general-sum game."""


@dataclass(frozen=True)
class Piece:
    """A named stretch of the observation vector."""

    name: str
    size: int
    meaning: str


class Game(ABC):
    """One game with its options; immutable, so that environments and threads can share it.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0", num_players=3)
    >>> game.facts.num_players, game.action_text(1)
    (3, 'bet')
    """

    id: ClassVar[str]
    """Such as ``kuhn_v0``; the number rises when rules, actions or observations change."""
    Options: ClassVar[type[Options]]
    kernels: Kernels
    """Set by the subclass; an instance has it too, where Python finds it faster."""
    state_dtype: ClassVar[np.dtype[Any]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    """Named sets of options, such as the rules of another library."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse field names that are methods of a record when run as plain Python."""
        super().__init_subclass__(**kwargs)
        fields = getattr(getattr(cls, "state_dtype", None), "names", None) or ()
        traps = [name for name in fields if hasattr(np.record, name)]
        if traps:
            raise TypeError(
                f"{cls.__name__}: rename the fields {traps}, which NumPy records have as methods"
            )

    def __init__(self, preset: str | None = None, **params: Any) -> None:
        """Choose a preset and override any of its options; what is not named keeps its default."""
        values: dict[str, Any] = {}
        if preset is not None:
            if preset not in self.presets:
                raise OptionError(f"unknown preset '{preset}': {nearest(preset, self.presets)}")
            values.update(self.presets[preset])
        values.update(params)
        self.options = self.Options.parse(values)
        self.kernels = type(self).kernels
        self.rules: Rules = np.ascontiguousarray(self.make_rules(), np.int32)
        self.rules.setflags(write=False)
        self.facts = self.make_facts()
        self.pieces = self.make_pieces()

    # ---- hooks: what a game must say about itself ------------------------------------------------

    @abstractmethod
    def make_rules(self) -> Rules:
        """The options and look-up tables as the ``int32`` array that the kernels read."""

    @abstractmethod
    def make_facts(self) -> Facts:
        """Sizes and bounds that follow from the options."""

    @abstractmethod
    def make_pieces(self) -> tuple[Piece, ...]:
        """The pieces of the observation, in the order ``observe`` writes them."""

    @abstractmethod
    def action_text(self, action: int) -> str:
        """A player's action in words."""

    @abstractmethod
    def chance_text(self, state: State, outcome: int) -> str:
        """An outcome of the chance event that is due in ``state``, in words."""

    @abstractmethod
    def render(self, state: State, viewer: int | None = None) -> str:
        """The position as text: all of it, or what seat ``viewer`` may see."""

    def draw(self, state: State, viewer: int | None = None) -> str:
        """The position as an SVG picture: all of it, or what seat ``viewer`` may see.

        What can be clicked to play action N has ``data-action="N"``: the legal actions of the seat
        to move, if that is the viewer's or all is shown. The picture has the same size all game
        long. See ``envs/core/drawing.py``; without a drawing of its own a game shows its text.
        """
        return draw_text(self.render(state, viewer), self.id)

    def conserved(self, state: State) -> dict[str, float]:
        """Amounts that may never change during a game (chips, cards, dice), for ``check_game``."""
        return {}

    @property
    def openings(self) -> npt.NDArray[np.int32]:
        """Rules that open the 1st, 2nd ... game of a series, in turn: [k, len(rules)] int32.

        They may differ only in what ``new`` reads, such as who starts. Most games have one.
        """
        return self.rules[None, :]

    # ---- sizes -----------------------------------------------------------------------------------

    @property
    def state_size(self) -> int:
        """Bytes of one state."""
        return int(self.state_dtype.itemsize)

    @property
    def mask_size(self) -> int:
        """Length of the mask ``legal`` writes: actions at a decision, outcomes at a chance node."""
        return max(self.facts.num_actions, self.facts.num_chance_outcomes)

    @cached_property
    def observation_size(self) -> int:
        """Length of the observation vector."""
        return sum(piece.size for piece in self.pieces)

    # ---- words -----------------------------------------------------------------------------------

    def parse_action(self, text: str) -> int:
        """Read an action from its words or its number, ignoring case and spaces.

        >>> from envs import make_game
        >>> make_game("leduc_v0").parse_action(" Raise ")
        2
        """
        wanted = _plain(text)
        words = {_plain(self.action_text(a)): a for a in range(self.facts.num_actions)}
        if wanted in words:
            return words[wanted]
        if wanted.isdecimal() and int(wanted) < self.facts.num_actions:
            return int(wanted)
        raise IllegalActionError(f"'{text}' is no action of {self.id}: {nearest(wanted, words)}")

    # ---- positions -------------------------------------------------------------------------------

    def record(self, state: State) -> Any:
        """The state's fields by name, for reading and for tests."""
        return state.view(self.state_dtype)[0]

    def new_position(self, number: int = 0) -> Position:
        """The start of game ``number`` of a series, before any chance."""
        return Position(self, number=number)

    def replay(self, actions: Sequence[int], number: int = 0) -> Position:
        """Play a game again from the list of its actions and chance outcomes."""
        position = self.new_position(number)
        for action in actions:
            position.apply(action)
        return position

    def observation_pieces(
        self, observation: npt.NDArray[np.float32]
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Cut an observation (or a batch of them, along the last axis) into its named pieces."""
        ends = np.cumsum([piece.size for piece in self.pieces])
        parts = np.split(observation, ends[:-1], axis=-1)
        return {piece.name: part for piece, part in zip(self.pieces, parts, strict=True)}

    # ---- identity --------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """The id and the options that differ from the defaults."""
        defaults = self.Options().to_dict()
        values = {k: v for k, v in self.options.to_dict().items() if v != defaults[k]}
        return f"{self.id}({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    def __eq__(self, other: object) -> bool:
        """Two games are equal when they are the same class with the same options."""
        return type(self) is type(other) and self.options == other.options  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        """Follows equality."""
        return hash((type(self), self.options))

    def __deepcopy__(self, _memo: dict[int, Any]) -> Game:
        """A game never changes, so a copy of an environment shares it."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the class and its options; compiled functions are found again by import."""
        return _rebuild, (type(self), self.options.to_dict())


def _rebuild(game_class: type[Game], params: dict[str, Any]) -> Game:
    return game_class(**params)


def _plain(text: str) -> str:
    return "".join(text.lower().split())
