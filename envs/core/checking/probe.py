"""``Probe``: every call of a kernel, made in a way that shows when it breaks its promises.

Each kernel is called twice, on copies that are surrounded by junk and, where it is to write, filled
with junk; the two calls differ in nothing but the junk, so their results must be equal, the junk
around them must still be there and the junk inside must be gone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, NamedTuple, NoReturn, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from common.errors import GameContractError
from envs.core.compiling import JIT_DISABLED
from envs.core.game import Game, State
from envs.core.rng import Words

Mask = npt.NDArray[np.int8]

# ---- how a law is written down, and how a broken one is reported ---------------------------------

Params = ParamSpec("Params")
Result = TypeVar("Result")


class Broken(Exception):
    """Raised inside a law: what was found, and for which player and action, if any."""

    def __init__(self, found: str, *, player: int | None = None, action: int | None = None) -> None:
        """``found`` is the middle of a sentence, without a full stop."""
        super().__init__(found)
        self.found = found
        self.player = player
        self.action = action


def law(
    function: Callable[Concatenate[Probe, Params], Result],
) -> Callable[Concatenate[Probe, Params], Result]:
    """Turn ``Broken`` into a ``GameContractError`` with the law and where it was broken.

    The name of the law is the name of the function in words; what it demands is the first paragraph
    of its docstring.
    """
    name = function.__name__.replace("_", " ")
    statement = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())

    @functools.wraps(function)
    def checked(probe: Probe, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return function(probe, *args, **kwargs)
        except Broken as broken:
            where = probe.where(broken.player, broken.action)
            found = f"{probe.game!r} breaks the law '{name}': {broken.found}."
            message = f"{found} Expected: {statement} Where: {where}"
            raise GameContractError(message) from broken.__cause__

    return checked  # type: ignore[return-value]  # mypy minds the name of the first argument


# ---- guarded calls -------------------------------------------------------------------------------

_JUNK = (77, 33)
_FENCE = 64
_SMALL_RULES = 4096
"""Rules of up to so many entries are compared after every call, larger ones once a game."""


class _Fenced:
    """An array with a fence of junk on both sides."""

    def __init__(self, size: int, dtype: npt.DTypeLike) -> None:
        self._whole: npt.NDArray[Any] = np.empty(size + 2 * _FENCE, dtype)
        self._left = self._whole[:_FENCE]
        self.inside = self._whole[_FENCE : _FENCE + size]
        self._right = self._whole[_FENCE + size :]
        self._fences = {junk: np.full(_FENCE, junk, dtype).tobytes() for junk in _JUNK}

    def spoil(self, junk: int) -> None:
        self._whole.fill(junk)

    def is_intact(self, junk: int) -> bool:
        fence = self._fences[junk]
        return self._left.tobytes() == fence and self._right.tobytes() == fence


class _Outcome(NamedTuple):
    """All that one call of a kernel gives."""

    answer: int
    state: State
    array: Any
    """What a kernel has filled; ``None``: it fills none."""
    words: Words | None


def _are_equal(one: _Outcome, other: _Outcome) -> bool:
    return one.answer == other.answer and all(
        a is None or b is None or a.tobytes() == b.tobytes()
        for a, b in zip(one[1:], other[1:], strict=True)
    )


class Probe:
    """The kernels of one game, guarded, and the place in a game where they are called.

    The methods take a state and leave it alone; ``step`` and ``determinize`` return a new one.
    """

    def __init__(self, game: Game) -> None:
        """Give the kernels a copy of the rules, so that one that writes them does no harm."""
        facts = game.facts
        self.game = game
        self.facts = facts
        self.players = range(facts.num_players)
        self.num_openings = facts.num_openings
        self.number = 0
        self.history: list[int] = []
        self.world_note = ""
        self.rules = np.array(game.rules, np.int32)
        # Compiled code wants its rules read-only, though it can write them through a record.
        self.rules.setflags(write=JIT_DISABLED)
        self._rules_bytes = game.rules.tobytes() if game.rules.size <= _SMALL_RULES else b""
        self._state = _Fenced(game.state_size, np.uint8)
        self._mask = _Fenced(game.mask_size, np.int8)
        self._short_mask = _Fenced(facts.num_actions, np.int8)
        self._probs = _Fenced(max(facts.num_chance_outcomes, 1), np.float64)
        self._totals = _Fenced(facts.num_players, np.float64)
        self._observation = _Fenced(game.observation_size, np.float32)

    # ---- the place -------------------------------------------------------------------------------

    def move_to(self, number: int, history: list[int]) -> None:
        """Say which position the next calls are about."""
        self.number = number
        self.history = history
        self.world_note = ""

    def where(self, player: int | None = None, action: int | None = None) -> str:
        """The place in words, such that it can be reached again."""
        number = f", {self.number}" if self.number else ""
        parts = [f"game.replay({self.history}{number}){self.world_note}"]
        parts += [] if player is None else [f"player {player}"]
        parts += [] if action is None else [f"action {action}"]
        return ", ".join(parts) + "."

    def enter_world(self, player: int, words: Words) -> None:
        """Say that the next calls are about a world that was drawn with these ``words``."""
        self.world_note = f".determinized({player}, np.array({words.tolist()}, np.uint64))"

    def leave_world(self) -> None:
        """Say that the next calls are about the true position again."""
        self.world_note = ""

    # ---- the kernels -----------------------------------------------------------------------------

    def new(self, number: int) -> State:
        """The first position of game ``number`` of a series."""
        states = []
        for junk in _JUNK:
            self._state.spoil(junk)
            self._call("new", junk, number % self.num_openings)
            states.append(self._state.inside.copy())
        new_sets_the_whole_state(self, *states)
        return states[0]

    def turn(self, state: State) -> int:
        """Who is to move."""
        return self._twice("turn", state).answer

    def legal(self, state: State, is_short: bool = False) -> tuple[int, Mask]:
        """The number that ``legal`` returns and the mask that it writes: ``[mask_size] int8``.

        A short mask has room for actions only, ``[num_actions]``, which is enough at a decision.
        """
        fence = self._short_mask if is_short else self._mask
        count, _, mask, _ = self._twice("legal", state, out=fence)
        return count, mask

    def chance(self, state: State) -> npt.NDArray[np.float64]:
        """The probability of every chance outcome."""
        probs: npt.NDArray[np.float64] = self._twice("chance", state, out=self._probs).array
        return probs

    def sample(self, state: State, rng: Words) -> int:
        """Draw a chance outcome and advance ``rng``."""
        return self._twice("sample", state, rng=rng).answer

    def step(self, state: State, action: int) -> State:
        """The state after an action or outcome."""
        return self._twice("step", state, action).state

    def settle(self, state: State, rng: Words) -> tuple[int, State]:
        """Play all chance that is due and advance ``rng``: who is then to move, and the state."""
        outcome = self._twice("settle", state, rng=rng)
        return outcome.answer, outcome.state

    def seen(self, state: State, action: int, player: int) -> int:
        """What ``player`` sees of an action."""
        return self._twice("seen", state, action, player).answer

    def returns(self, state: State) -> npt.NDArray[np.float64]:
        """Everybody's total so far."""
        totals: npt.NDArray[np.float64] = self._twice("returns", state, out=self._totals).array
        return totals

    def observe(self, state: State, player: int) -> npt.NDArray[np.float32]:
        """The observation of ``player``."""
        seen = self._twice("observe", state, player, out=self._observation)
        observation: npt.NDArray[np.float32] = seen.array
        return observation

    def determinize(self, state: State, player: int, rng: Words) -> State:
        """Draw a world of ``player`` and advance ``rng``."""
        return self._twice("determinize", state, player, rng=rng).state

    # ---- guarding --------------------------------------------------------------------------------

    def _twice(
        self,
        kernel: str,
        state: State,
        *args: int,
        out: _Fenced | None = None,
        rng: Words | None = None,
    ) -> _Outcome:
        outcomes = [self._once(kernel, junk, state, args, out, rng) for junk in _JUNK]
        if not _are_equal(*outcomes):
            kernels_write_every_entry(self, kernel, outcomes[0].array, outcomes[1].array)
            kernels_are_deterministic(self, kernel, *outcomes)
        words = outcomes[0].words
        if rng is not None and words is not None:
            rng[:] = words
        return outcomes[0]

    def _once(
        self,
        kernel: str,
        junk: int,
        state: State,
        args: tuple[int, ...],
        out: _Fenced | None,
        rng: Words | None,
    ) -> _Outcome:
        self._state.spoil(junk)
        self._state.inside[:] = state
        words = None if rng is None else rng.copy()
        arrays: list[Any] = [] if words is None else [words]
        if out is not None:
            out.spoil(junk)
            arrays.append(out.inside)
        answer = self._call(kernel, junk, *args, *arrays)
        if out is not None and not out.is_intact(junk):
            kernels_write_inside_their_arrays(self, kernel, "the array it was given to fill")
        after = self._state.inside.copy()
        if kernel not in ("step", "settle", "determinize") and after.tobytes() != state.tobytes():
            only_step_and_determinize_change_a_state(self, kernel, state, after)
        return _Outcome(answer, after, None if out is None else out.inside.copy(), words)

    def _call(self, kernel: str, junk: int, *args: Any) -> int:
        try:
            function = getattr(self.game.kernels, kernel, None)
            function = function or getattr(self.game.optional, kernel)
            answer = function(self._state.inside, self.rules, *args)
        except Exception as error:  # a kernel may raise anything, in plain Python
            kernels_never_raise(self, kernel, error)
        if not self._state.is_intact(junk):
            kernels_write_inside_their_arrays(self, kernel, "the state")
        if self._rules_bytes and self.rules.tobytes() != self._rules_bytes:
            rules_are_never_written(self, kernel)
        return 0 if answer is None else int(answer)


# ---- laws of one call ----------------------------------------------------------------------------


@law
def kernels_never_raise(probe: Probe, kernel: str, error: Exception) -> NoReturn:
    """No kernel raises, which shows when they run as plain Python (``NUMBA_DISABLE_JIT=1``)."""
    raise Broken(f"'{kernel}' raised {type(error).__name__}: {error}") from error


@law
def kernels_write_inside_their_arrays(probe: Probe, kernel: str, array: str) -> NoReturn:
    """A kernel writes inside the arrays it is given, and not before or behind them."""
    raise Broken(f"'{kernel}' wrote outside of {array}")


@law
def kernels_write_every_entry(
    probe: Probe, kernel: str, first: npt.NDArray[Any] | None, second: npt.NDArray[Any] | None
) -> None:
    """A kernel that fills an array writes every entry, so that none needs clearing."""
    if first is None or second is None:
        return
    unwritten = np.flatnonzero((first == _JUNK[0]) & (second == _JUNK[1]))
    if len(unwritten):
        raise Broken(f"'{kernel}' left entries {_some(unwritten)} of {len(first)} as they were")


@law
def kernels_are_deterministic(probe: Probe, kernel: str, first: _Outcome, second: _Outcome) -> None:
    """Called twice with equal arguments, a kernel gives the same answer, to the last byte."""
    if first.answer != second.answer:
        raise Broken(f"'{kernel}' answered {first.answer}, then {second.answer}")
    for part, one, other in (
        ("state", first.state, second.state),
        ("array", first.array, second.array),
        ("generator", first.words, second.words),
    ):
        if one is not None and other is not None and one.tobytes() != other.tobytes():
            differing = np.flatnonzero(one != other)
            raise Broken(
                f"'{kernel}' made two versions of its {part}, different at {_some(differing)}"
            )


@law
def only_step_and_determinize_change_a_state(
    probe: Probe, kernel: str, before: State, after: State
) -> NoReturn:
    """Asking about a state does not change it."""
    raise Broken(f"'{kernel}' changed bytes {_some(np.flatnonzero(before != after))} of the state")


@law
def rules_are_never_written(probe: Probe, kernel: str) -> None:
    """The kernels read the rules and never write them: every game and thread shares them."""
    changed = np.flatnonzero(probe.rules != probe.game.rules)
    if len(changed):
        raise Broken(f"'{kernel}' changed entries {_some(changed)} of the rules")


@law
def new_sets_the_whole_state(probe: Probe, first: State, second: State) -> None:
    """``new`` writes every byte of the state, so that memory can be used again for another game."""
    if first.tobytes() != second.tobytes():
        raise Broken(
            f"'new' left bytes {_some(np.flatnonzero(first != second))} of the state as they were"
        )


def _some(indices: npt.NDArray[np.int64]) -> str:
    more = ", ..." if len(indices) > 6 else ""
    return "[" + ", ".join(str(int(i)) for i in indices[:6]) + more + "]"
