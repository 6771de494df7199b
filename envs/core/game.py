"""``Game``: a table of compiled functions, its options, the facts that follow, and the words.

A game module reads top to bottom: the rules in plain words, the record, the ten kernels, then a
subclass of ``Game`` that fills in the hooks marked below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from common.errors import IllegalActionError, OptionError, nearest
from envs.core.drawing import Layout, draw_text
from envs.core.facts import Facts, ObservationField
from envs.core.kernels import Kernels, OptionalKernels
from envs.core.options import Options
from envs.core.position import Position

State = npt.NDArray[np.uint8]
Rules = npt.NDArray[np.int32]


_RULES: WeakValueDictionary[Any, Rules] = WeakValueDictionary()


class Game(ABC):
    """One game with its options; immutable, so that environments and threads can share it.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0", num_players=3)
    >>> game.facts.num_players, game.facts.unit.name
    (3, 'chips')
    """

    id: ClassVar[str]
    """Such as ``kuhn_v0``; the number rises when rules, actions or observations change."""
    Options: ClassVar[type[Options]]
    kernels: Kernels
    """Set by the subclass; an instance has it too, where Python finds it faster."""
    optional: OptionalKernels = OptionalKernels()
    """What the game adds to its ten functions, for speed and for search."""
    modelled: ClassVar[OptionalKernels | None] = None
    """The same with what unknown opponents may do for a quick policy; ``None``: as it is."""
    state_dtype: ClassVar[np.dtype[Any]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    """Named sets of options, such as the rules of another library."""
    title: ClassVar[str] = ""
    """How people call it."""
    summary: ClassVar[str] = ""
    """What it is about, in a line, for somebody who has never heard of it."""
    first_options: ClassVar[Mapping[str, Any]] = {}
    """Options of a newcomer's first game, other than the defaults."""
    first_seat: ClassVar[int] = 0
    """Where a newcomer sits."""
    notation: ClassVar[str] = ""
    """Suffix of the files in which other programs have its games, one of ``envs.NOTATIONS``."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse field names that are methods of a record when run as plain Python."""
        super().__init_subclass__(**kwargs)
        fields = getattr(getattr(cls, "state_dtype", None), "names", None) or ()
        traps = [name for name in fields if hasattr(np.record, name)]
        if traps:
            raise TypeError(
                f"{cls.__name__}: rename the fields {traps}, which NumPy records have as methods"
            )

    def __init__(self, /, preset: str | None = None, **params: Any) -> None:
        """Choose a preset and override any of its options; what is not named keeps its default."""
        values: dict[str, Any] = {}
        if preset is not None:
            if preset not in self.presets:
                raise OptionError(f"unknown preset '{preset}': {nearest(preset, self.presets)}")
            values.update(self.presets[preset])
        values.update(params)
        self.options = self.Options.parse(values)
        self.kernels = type(self).kernels
        self.optional = type(self).optional
        self.rules = self._shared_rules()
        self.facts = self.make_facts()
        self.fields = self.make_fields()
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        """A game never changes: environments, agents and threads share it."""
        if getattr(self, "_is_made", False):
            raise AttributeError(f"{self!r} never changes: make another game instead")
        super().__setattr__(name, value)

    def _shared_rules(self) -> Rules:
        """Made once per process for equal options, in memory that nobody can write to."""
        key = type(self), self.options
        rules = _RULES.get(key)
        if rules is None:
            made = np.ascontiguousarray(self.make_rules(), np.int32)
            rules = _RULES[key] = np.frombuffer(made.tobytes(), np.int32)
        return rules

    # ---- hooks: what a game must say about itself ------------------------------------------------

    @abstractmethod
    def make_rules(self) -> Rules:
        """The options and look-up tables as the ``int32`` array that the kernels read."""

    @abstractmethod
    def make_facts(self) -> Facts:
        """Sizes and bounds that follow from the options."""

    @abstractmethod
    def make_fields(self) -> tuple[ObservationField, ...]:
        """The fields of the observation, in the order ``observe`` writes them."""

    @abstractmethod
    def action_text(self, state: State, action: int) -> str:
        """An action of the player to move in ``state``, in words; it must be legal there."""

    @abstractmethod
    def chance_text(self, state: State, outcome: int) -> str:
        """An outcome of the chance event that is due in ``state``, in words."""

    @abstractmethod
    def render(self, state: State, viewer: int | None = None) -> str:
        """The position as text: all of it, or what seat ``viewer`` may see."""

    def draw(self, state: State, viewer: int | None = None, layout: Layout = "wide") -> str:
        """The position as an SVG picture: all of it, or what seat ``viewer`` may see.

        What can be clicked to play action N has ``data-action="N"``: the legal actions of the seat
        to move, if that is the viewer's or all is shown. The picture has the same size all game
        long; ``layout`` says for what kind of screen. See ``envs/core/drawing.py``; without a
        drawing of its own a game shows its text.
        """
        return draw_text(self.render(state, viewer), self.id)

    def amount_of(self, state: State, action: int) -> tuple[int, str] | None:
        """The amount of an action, and its words with ``{}`` for it; ``None`` if it has none.

        Actions in a row that have one differ by it alone, one more each: a page shows a slider.
        """
        return None

    def conserved(self, state: State) -> dict[str, float]:
        """Amounts that may never change during a game (chips, cards, dice), for ``check_game``."""
        return {}

    # ---- sizes -----------------------------------------------------------------------------------

    def stakes(self, states: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        """[n] how much is at stake for the player to move, in units of returns.

        All may know it: ``check_game`` refuses a game whose worlds differ in it. By default as much
        in every position.
        """
        return np.ones(len(states))

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
        return sum(field.size for field in self.fields)

    # ---- words -----------------------------------------------------------------------------------

    def parse_action(self, text: str, state: State) -> int:
        """Read a legal action of ``state`` from its words or its number, ignoring case and spaces.

        A game with long menus overrides this to read the words instead of comparing them all.

        >>> from envs import make_game
        >>> position = make_game("leduc_v0").replay([0, 1])
        >>> position.parse_action(" Raise ")
        2
        """
        wanted = _plain(text)
        mask = np.zeros(self.mask_size, np.int8)
        self.kernels.legal(state, self.rules, mask)
        legal = [int(action) for action in np.flatnonzero(mask)]
        words = []
        for action in legal:
            words.append(_plain(self.action_text(state, action)))
            if words[-1] == wanted:
                return action
        if wanted.isdecimal() and int(wanted) in legal:
            return int(wanted)
        raise IllegalActionError(
            f"'{text}' is no legal action of {self.id} here: {nearest(wanted, words)}"
        )

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

    def observation_fields(
        self, observation: npt.NDArray[np.float32]
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Cut an observation (or a batch of them, along the last axis) into its named fields."""
        ends = np.cumsum([field.size for field in self.fields])
        parts = np.split(observation, ends[:-1], axis=-1)
        return {field.name: part for field, part in zip(self.fields, parts, strict=True)}

    # ---- identity --------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """The id and the options that differ from the defaults."""
        values = self.options.changed().items()
        return f"{self.id}({', '.join(f'{name}={value!r}' for name, value in values)})"

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
