"""How a law is written down and how a broken one is reported."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from common.errors import GameContractError

if TYPE_CHECKING:
    from envs.core.checking.probe import Probe

__all__ = ["Broken", "law"]

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
