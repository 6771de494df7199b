"""Tables, described once: what each column holds and how it is written.

``Table.text`` gives the lines of a terminal, ``Table.markdown`` a document, ``Table.csv`` a file
for other programs, and a page goes through ``Table.rows``. All show the same figures.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from arena.report.words import decimals_for, plus_minus, with_sign
from common.statistics import Interval

WIDTH = 100
MAX_NAME, MIN_NAME = 24, 10


@dataclass(frozen=True)
class Cell:
    """One figure, or one name, as it is written."""

    text: str
    reach: str = ""
    """The interval around it."""
    value: float | None = None
    """By what a page sorts; None for words."""
    hint: str = ""
    """What a page shows on hovering."""

    def __str__(self) -> str:
        return f"{self.text} {self.reach}".rstrip()


@dataclass(frozen=True)
class Column:
    """What a column holds, from entries of any kind."""

    key: str
    """Its name in files."""
    title: str
    get: Callable[[Any], Any] | None = None
    """From an entry to an interval, a number, words or None; what is called like the column, unless
    this is given."""
    form: str | None = None
    """How a number is written, such as ``.2f``; for intervals the decimals, ``.1f``, or None for as
    many as their widths ask for."""
    scale: float = 1.0
    is_signed: bool = False
    mark: Callable[[Any], str] | None = None
    """What stands behind the figure."""
    write: Callable[[Any], str] | None = None
    """From an entry to its text, where no ``form`` can say it."""
    hint: Callable[[Any], str] | None = None

    def cells(self, entries: Sequence[Any]) -> list[Cell]:
        """Everybody's cell; they share their decimals."""
        values = [self.scaled(entry) for entry in entries]
        decimals = int(self.form[1:-1]) if self.form and self.form.endswith("f") else None
        if decimals is None:
            decimals = decimals_for(value for value in values if isinstance(value, Interval))
        cells = []
        for entry, value in zip(entries, values, strict=True):
            mark = self.mark(entry) if self.mark else ""
            hint = self.hint(entry) if self.hint else ""
            if self.write:
                cells.append(
                    Cell(self.write(entry), "", math.inf if value is None else value, hint)
                )
            else:
                cells.append(self._cell(value, decimals, mark, hint))
        return cells

    def value(self, entry: Any) -> Any:
        """What an entry has in this column."""
        return self.get(entry) if self.get else getattr(entry, self.key)

    def scaled(self, entry: Any) -> Any:
        """The value in the unit of the column."""
        value = self.value(entry)
        if isinstance(value, Interval):
            return value.times(self.scale)
        return value if isinstance(value, str | int | None) else value * self.scale

    def _cell(self, value: Any, decimals: int, mark: str, hint: str) -> Cell:
        if value is None:
            return Cell("", value=-math.inf if self.form else None, hint=hint)
        if isinstance(value, str):
            return Cell(value + mark, hint=hint)
        if isinstance(value, Interval):
            mean = value.mean
            text = with_sign(mean, decimals) if self.is_signed else f"{mean:z.{decimals}f}"
            return Cell(text, plus_minus(value, decimals) + mark, mean, hint)
        text = format(value, self.form or "") if math.isfinite(value) else "-"
        return Cell(text + mark, value=value, hint=hint)


@dataclass(frozen=True)
class ReportTable:
    """Columns over entries."""

    name: str
    columns: Sequence[Column]
    entries: Sequence[Any]
    num_names: int = 1
    """So many of the first columns are names, which give way where there is no room."""

    @property
    def head(self) -> list[str]:
        """The titles."""
        return [column.title for column in self.columns]

    @property
    def rows(self) -> list[list[Cell]]:
        """The cells of every entry."""
        return [
            list(row)
            for row in zip(*(column.cells(self.entries) for column in self.columns), strict=True)
        ]

    @property
    def lines(self) -> list[list[str]]:
        """Head and rows as text."""
        return [self.head, *([str(cell) for cell in row] for row in self.rows)]

    def text(self) -> list[str]:
        """Lines for a terminal; a table that is too wide is cut into several."""
        lines = part = self.lines
        size = len(self.columns)
        for size in range(len(self.columns), self.num_names, -1):
            part = [line[:size] for line in lines]
            if _total_width([_shortened(line, self.num_names, MIN_NAME) for line in part]) <= WIDTH:
                break
        found = aligned(part, self.num_names)
        if size < len(self.columns):
            names = self.columns[: self.num_names]
            rest = ReportTable(
                self.name, [*names, *self.columns[size:]], self.entries, self.num_names
            )
            found += ["", *rest.text()]
        return found

    def markdown(self) -> str:
        """A table of a document."""
        return markdown(self.lines)

    def csv(self) -> str:
        """A file with a line for each entry; an interval takes three columns."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        columns = [
            (column, [column.scaled(entry) for entry in self.entries]) for column in self.columns
        ]
        head: list[str] = []
        cells: list[list[Any]] = [[] for _ in self.entries]
        for column, values in columns:
            has_ends = any(isinstance(value, Interval) for value in values)
            head += [column.key + end for end in ("", "_low", "_high")[: 3 if has_ends else 1]]
            for row, value in zip(cells, values, strict=True):
                if isinstance(value, Interval):
                    row += [value.mean, value.low, value.high]
                else:
                    row += [value, None, None][: 3 if has_ends else 1]
        writer.writerows([head, *cells])
        return file.getvalue()


# ---- lines ---------------------------------------------------------------------------------------


def aligned(rows: Sequence[Sequence[str]], num_names: int = 1) -> list[str]:
    """Lines of aligned cells; names, in the first columns, give way to fit the terminal."""
    for size in range(MAX_NAME, MIN_NAME - 1, -1):
        cells = [_shortened(row, num_names, size) for row in rows]
        if _total_width(cells) <= WIDTH:
            break
    widths = _widths(cells)
    lines = []
    for row in cells:
        places = enumerate(zip(row, widths, strict=True))
        line = [cell.ljust(w) if i < num_names else cell.rjust(w) for i, (cell, w) in places]
        lines.append("  ".join(line).rstrip())
    return lines


def _shortened(row: Sequence[str], num_names: int, size: int) -> list[str]:
    return [shorten(cell, size) for cell in row[:num_names]] + list(row[num_names:])


def shorten(name: str, size: int = MAX_NAME) -> str:
    """A long name loses its middle: what tells names apart is at their ends."""
    tail = size // 2
    return name if len(name) <= size else f"{name[: size - tail - 1]}…{name[-tail:]}"


def _total_width(cells: Sequence[Sequence[str]]) -> int:
    return sum(_widths(cells)) + 2 * (len(cells[0]) - 1)


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def escape(text: str) -> str:
    """A name in Markdown: nothing in it may start a cell, a tag or a piece of code.

    >>> escape("a|b <i>")
    'a&#124;b &lt;i&gt;'
    """
    for sign, code in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;")):
        text = text.replace(sign, code)
    for sign in "\\`*[]":
        text = text.replace(sign, f"&#{ord(sign)};")
    return " ".join(text.split())


def in_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows of Markdown cells under a head; all but the first column at the right."""
    head, *body = rows
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The same for cells that are plain text."""
    return in_markdown([[escape(cell) for cell in row] for row in rows])
