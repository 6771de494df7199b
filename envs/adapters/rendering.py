"""Drawings as pixels and in a window: ``render_mode="rgb_array"`` and ``"human"``.

Text is set in the fonts beside this module, so that a picture is the same on every machine, even on
one without fonts.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger

from common.errors import OptionError

RENDER_MODES = ("ansi", "rgb_array", "human")

FONTS = Path(__file__).with_name("fonts")
FONT_FILES = [str(FONTS / f"{name}.ttf") for name in ("DejaVuSans", "DejaVuSans-Bold")]
FONT_FILES.append(str(FONTS / "DejaVuSansMono.ttf"))
PAGE = "#ffffff"


def to_png(svg: str, scale: float = 1) -> bytes:
    """A drawing as the bytes of a PNG file, in its colours for light pages."""
    import resvg_py

    png: bytes = resvg_py.svg_to_bytes(
        svg_string=svg,
        background=PAGE,
        zoom=scale,
        skip_system_fonts=True,
        font_files=FONT_FILES,
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
    )
    return bytes(png)


def to_pixels(svg: str) -> npt.NDArray[np.uint8]:
    """A drawing as an image: [height, width, 3] uint8.

    >>> from envs.core.drawing import draw_text
    >>> to_pixels(draw_text("hello", "a greeting", 320, 200)).shape
    (200, 320, 3)
    """
    from PIL import Image

    return np.array(Image.open(io.BytesIO(to_png(svg))).convert("RGB"))


class Screen:
    """Shows a game in the way that ``render_mode`` asks for; ``None``: not at all.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> state = game.replay([2, 0]).state
    >>> screen = Screen("Kuhn poker", "ansi")
    >>> screen.show(lambda: game.render(state, 1), lambda: game.draw(state, 1)).splitlines()[0]
    '> player 0: card ?, 1 in the pot'
    """

    def __init__(self, title: str, render_mode: str | None) -> None:
        """Nothing is opened before there is something to show."""
        if render_mode is not None and render_mode not in RENDER_MODES:
            known = ", ".join(RENDER_MODES)
            raise OptionError(f"render_mode must be one of {known} or None, not {render_mode!r}")
        self.title = title
        self.render_mode = render_mode
        self._window: _Window | None = None
        self._is_dark = False

    def show(
        self, render: Callable[[], str], draw: Callable[[], str]
    ) -> str | npt.NDArray[np.uint8] | None:
        """Text, pixels, or nothing when it is shown in a window."""
        if self.render_mode is None:
            logger.warn(
                "render_mode is None: make the environment with render_mode='ansi' or 'rgb_array'"
            )
            return None
        if self.render_mode == "ansi":
            return render()
        if self.render_mode == "rgb_array":
            return to_pixels(draw())
        if self._window is None and not self._is_dark:
            self._open()
        if self._window is not None:
            self._window.show(to_png(draw()))
        return None

    def _open(self) -> None:
        try:
            self._window = _Window(self.title)
        except (ImportError, RuntimeError) as error:
            # A game can be played without being watched; say so once.
            self._is_dark = True
            print(f"masquerade: no window can be opened ({error}): use 'ansi'", file=sys.stderr)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Windows stay where they are: a copy of an environment opens one of its own."""
        return Screen, (self.title, self.render_mode)


class _Window:
    """A window with one picture; closing it by hand is fine, the game goes on without it."""

    def __init__(self, title: str) -> None:
        import tkinter  # some systems package it apart from Python

        try:
            self._root = tkinter.Tk()
        except tkinter.TclError as error:
            raise RuntimeError(str(error)) from error
        self._new_image = tkinter.PhotoImage
        self._is_open = True
        self._root.title(title)
        self._root.resizable(False, False)
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tkinter.Label(self._root, borderwidth=0)
        self._label.pack()

    def show(self, png: bytes) -> None:
        """Put up another picture and let the window answer the system."""
        if not self._is_open:
            return
        # Tk keeps no reference of its own: without ours the picture would vanish.
        self._image = self._new_image(data=png, master=self._root)
        self._label.configure(image=self._image)
        self._root.update()

    def close(self) -> None:
        """Take the window away, once."""
        if self._is_open:
            self._is_open = False
            self._root.destroy()
