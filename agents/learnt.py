"""What an agent has learnt, shown to people: tables and pictures of its values and habits.

An agent that has something to show defines ``learnt``::

    def learnt(self, views: Views | None) -> list[Exhibit]: ...

``views`` is one decision in the seat of whoever asks, or ``None``. It may look up what it knows
there, and it may use nothing else of the game, so nothing that the seat does not know can show.
A game can add what its people like to see of any agent (``CHARTS``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from agents.advice import advise
from agents.base import Agent, Views
from common.imports import look_up
from envs.core.drawing import Drawing

CHARTS: dict[str, str] = {
    "holdem_v0": "agents.games.holdem.behaviour:exhibits",
    "liars_dice_v0": "agents.games.liars_dice.tables:exhibits",
}
"""Games with charts of their own: id -> ``function(agent, views)``."""

MAX_BARS = 12
BAR_HEIGHT, BAR_LEFT, BAR_WIDTH = 22, 170, 300
CELL_WIDTH, CELL_HEIGHT = 44, 26


@dataclass(frozen=True)
class Exhibit:
    """One thing to be seen."""

    title: str
    words: str = ""
    rows: list[list[str]] = field(default_factory=list)
    """A table, its head first."""
    svg: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain types."""
        return asdict(self)


def exhibits(agent: Agent, views: Views | None = None) -> list[Exhibit]:
    """All that an agent shows; at a decision also what it would do there.

    >>> from agents import make_agent
    >>> from agents.advice import views_of
    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> shown = exhibits(make_agent("kuhn_rule", game), views_of(game.replay([2, 0])))
    >>> [exhibit.title for exhibit in shown]
    ['At this decision']
    """
    found = [] if views is None else [_here(agent, views)]
    learnt: Callable[[Views | None], list[Exhibit]] | None = getattr(agent, "learnt", None)
    if learnt is not None:
        found += learnt(views)
    if agent.game.id in CHARTS:
        found += look_up("chart", CHARTS, agent.game.id)(agent, views)
    return found


def _here(agent: Agent, views: Views) -> Exhibit:
    """What it would do, as ``agents.advice`` finds it out."""
    advice = advise(agent, views)
    bars = advice.bars[:MAX_BARS]
    head = ["move", "share", *([f"value in {advice.unit}"] if advice.unit else [])]
    rows = [head]
    for bar in bars:
        value = [] if not advice.unit else ["" if bar.value is None else f"{bar.value:.3g}"]
        rows.append([bar.words, f"{100 * bar.share:.1f} %", *value])
    said = {"policy": "How likely it is to choose each move.", "choice": "What it chooses."}
    words = said.get(advice.source, "How it divides its attention, or its choices.")
    picture = draw_bars([(bar.words, bar.share) for bar in bars])
    return Exhibit("At this decision", words, rows, picture)


def draw_bars(pairs: Sequence[tuple[str, float]]) -> str:
    """Shares from 0 to 1 as bars with words."""
    drawing = Drawing(BAR_LEFT + BAR_WIDTH + 70, 12 + BAR_HEIGHT * len(pairs), "Shares as bars")
    drawing.rect(0, 0, drawing.width, drawing.height, 8, fill="plate")
    for number, (words, share) in enumerate(pairs):
        y = 6 + BAR_HEIGHT * number
        drawing.text(BAR_LEFT - 8, y + 11, words, 13, "ink", "end", max_width=BAR_LEFT - 16)
        drawing.rect(BAR_LEFT, y + 3, max(2.0, BAR_WIDTH * share), BAR_HEIGHT - 6, 3, fill="blue")
        label = f"{100 * share:.1f} %"
        drawing.text(BAR_LEFT + BAR_WIDTH * share + 8, y + 11, label, 12, "ink", "start")
    return drawing.svg()


def draw_grid(title: str, values: np.ndarray[Any, Any], rows: str, columns: str) -> str:
    """Values as a grid of colours, high ones green and low ones red; NaN: nothing known.

    Args:
        title: for those who cannot see it.
        values: [rows, columns]; both are numbered from 1.
        rows: what a row is, in a word.
        columns: what a column is.
    """
    height, width = values.shape
    drawing = Drawing(66 + CELL_WIDTH * width, 58 + CELL_HEIGHT * height, title)
    drawing.rect(0, 0, drawing.width, drawing.height, 8, fill="plate")
    drawing.text(60, 14, columns, 12, "ink", "start")
    drawing.text(6, 34, rows, 12, "ink", "start")
    known = values[~np.isnan(values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    for column in range(width):
        drawing.text(60 + CELL_WIDTH * (column + 0.5), 34, column + 1, 12, "ink")
    for row in range(height):
        y = 46 + CELL_HEIGHT * row
        drawing.text(30, y + CELL_HEIGHT / 2, row + 1, 12, "ink")
        for column in range(width):
            value = values[row, column]
            box = (60 + CELL_WIDTH * column, y, CELL_WIDTH - 2, CELL_HEIGHT - 2, 3)
            if np.isnan(value):
                drawing.rect(*box, fill="plate_edge", opacity=0.35)
                continue
            share = 0.5 if high == low else float((value - low) / (high - low))
            shade = round(0.12 + 0.7 * abs(share - 0.5) * 2, 2)
            drawing.rect(*box, fill="good" if share >= 0.5 else "bad", opacity=shade)
            centre = 60 + CELL_WIDTH * (column + 0.5) - 1
            drawing.text(centre, y + CELL_HEIGHT / 2 - 1, f"{value:.2g}", 11, "ink")
    return drawing.svg()
