"""The chart of the 169 kinds of starting hands as a picture, one for every position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from envs.core.drawing import Drawing
from envs.holdem.equity import class_name

__all__ = ["draw_charts"]

COLOURS = ("blue", "yellow", "bad")
WAYS = ("folds", "calls", "raises")
CELL, GAP, HEAD = 27, 26, 64
COLUMNS = 3
SIDE = 13 * CELL


def draw_charts(name: str, starting: npt.NDArray[np.float64], positions: Sequence[str]) -> str:
    """Every cell is filled from the left with raises, calls and folds, by how often each is made.

    Args:
        name: of the player.
        starting: [positions, 169, 3] folds, calls and raises.
        positions: their names.
    """
    columns = min(COLUMNS, len(positions))
    rows = -(-len(positions) // columns)
    width = GAP + columns * (SIDE + GAP)
    height = HEAD + rows * (SIDE + GAP + 24)
    drawing = Drawing(max(width, 420), height, f"Starting hands of {name}, first to enter the pot")
    drawing.rect(0, 0, max(width, 420), height, 12, fill="plate")
    drawing.text(GAP, 20, f"{name}: first to enter the pot", 16, "ink", "start", is_bold=True)
    _draw_legend(drawing)
    for number, position in enumerate(positions):
        row, column = divmod(number, columns)
        x = GAP + column * (SIDE + GAP)
        y = HEAD + row * (SIDE + GAP + 24)
        _draw_chart(drawing, x, y, position, starting[number])
    return drawing.svg()


def _draw_legend(drawing: Drawing) -> None:
    for number, (way, colour) in enumerate(zip(WAYS, COLOURS, strict=True)):
        drawing.rect(GAP + 90 * number, 36, 14, 14, 3, fill=colour)
        drawing.text(GAP + 90 * number + 20, 43, way, 13, "ink", "start")


def _draw_chart(
    drawing: Drawing, x: float, y: float, position: str, shares: npt.NDArray[np.float64]
) -> None:
    drawing.text(x, y + 10, position, 14, "ink", "start", is_bold=True)
    for kind in range(len(shares)):
        row, column = divmod(kind, 13)
        left, top = x + column * CELL, y + 22 + row * CELL
        done = 0.0
        for way in (2, 1, 0):
            share = float(shares[kind, way])
            if share > 0.001:
                drawing.rect(
                    left + done * (CELL - 1), top, share * (CELL - 1), CELL - 1, fill=COLOURS[way]
                )
            done += share
        drawing.text(left + CELL / 2, top + CELL / 2, class_name(kind), 9, "white")
