"""An SVG picture that grows shape by shape, in colours for light and dark pages.

Colours are names of ``PALETTE``: each has a value for light and one for dark pages, chosen by the
browser; programs that know no dark pages take the light one. Every element is a line of its own, so
that pages with many pictures can keep each line once. Text is escaped here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from html import escape
from typing import Any, TypedDict, Unpack

PALETTE = {
    # The table and what is written on it.
    "felt": ("#2f7a5b", "#1c4a39"),
    "felt_edge": ("#245f47", "#133529"),
    "felt_light": ("#3d8c6b", "#265a46"),
    "chalk": ("#fbfaf4", "#efece1"),
    "dim": ("#cde4d8", "#a3c0b2"),
    # Plates, buttons and the text on them.
    "plate": ("#fbf8ef", "#262c2f"),
    "plate_edge": ("#cfc8b5", "#454d52"),
    "ink": ("#1f2428", "#ece9df"),
    "faint": ("#667078", "#98a2aa"),
    "gold": ("#f3c34f", "#e3b13f"),
    "gold_edge": ("#a8791a", "#8c6513"),
    "good": ("#2f9e5f", "#3fae70"),
    "bad": ("#c5402d", "#e0654f"),
    # Cards, dice and cups look the same on both, a little less bright in the dark.
    "card": ("#fffdf8", "#efebdf"),
    "card_edge": ("#b9b3a3", "#8f8a7d"),
    "black": ("#1d2024", "#1d2024"),
    "red": ("#c1272d", "#b3242a"),
    "back": ("#34558f", "#2c4a7e"),
    "back_line": ("#a9bee4", "#8ea7d4"),
    "cup": ("#8d5b36", "#7b4e2d"),
    "cup_edge": ("#5f3a1f", "#4d2f19"),
    "cup_light": ("#b07c50", "#9a6a43"),
    # Sets of colours: chips, pawns, lines on a map.
    "blue": ("#2f6fb5", "#4b8fd6"),
    "green": ("#2e9b62", "#3fae70"),
    "yellow": ("#e8b923", "#e0b52e"),
    "orange": ("#dd7a26", "#e08a3a"),
    "purple": ("#8457ab", "#a27bc8"),
    "grey": ("#858d93", "#8c959b"),
    "white": ("#ffffff", "#f0ede4"),
    # A map or a board that is no felt table.
    "paper": ("#f5efdd", "#20262a"),
    "paper_line": ("#c9bd9c", "#3b444a"),
    "water": ("#bcd9ea", "#1f3a4a"),
}
FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"


class Paint(TypedDict, total=False):
    """How a shape is painted; what is not named is not painted."""

    fill: str
    """A colour inside."""
    stroke: str
    """A colour for the outline."""
    thick: float
    """Width of the outline, 1 by default."""
    dash: str
    """Lengths of strokes and gaps, such as ``"4 2"``."""
    is_round: bool
    """Round ends and corners of lines."""
    opacity: float
    """From 0 to 1."""
    tip: str
    """Words shown to a pointer."""


class Canvas:
    """Plain shapes, text and groups; x goes right, y goes down, in pixels.

    Whatever takes a colour takes a name of ``PALETTE`` or a colour such as ``"#cc0000"``.

    >>> canvas = Canvas(200, 100, "a dot")
    >>> canvas.circle(100, 50, 8, fill="red", stroke="#000000")
    >>> canvas.svg().splitlines()[-2]
    '<circle cx="100" cy="50" r="8" class="f-red" stroke="#000000"/>'
    """

    def __init__(self, width: float, height: float, title: str, has_detail: bool = False) -> None:
        """An empty picture of a fixed size.

        Args:
            width: of the picture.
            height: of the picture.
            title: what it shows, in words.
            has_detail: as a map has, which a page lets people enlarge (``data-zoom``).
        """
        self.width = width
        self.height = height
        self.title = title
        self.has_detail = has_detail
        self._lines: list[str] = []
        self._colours: dict[str, None] = {}  # those in use, in order
        self._has_actions = False

    def svg(self) -> str:
        """The whole picture."""
        size = f'width="{to_number(self.width)}" height="{to_number(self.height)}"'
        box = f'viewBox="0 0 {to_number(self.width)} {to_number(self.height)}"'
        # What can be clicked must not be hidden from screen readers, as parts of an image are.
        role = "group" if self._has_actions else "img"
        zoom = ' data-zoom=""' if self.has_detail else ""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="{role}" '
            f'font-family="{FONT}" font-size="14"{zoom}>'
        )
        lines = [head, f"<title>{escape(self.title)}</title>", self._style(), *self._lines]
        return "\n".join([*lines, "</svg>"])

    def _style(self) -> str:
        names = sorted(self._colours)
        light, dark = (
            "".join(
                f".f-{n}{{fill:{PALETTE[n][i]}}}.s-{n}{{stroke:{PALETTE[n][i]}}}" for n in names
            )
            for i in (0, 1)
        )
        return f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"

    # ---- plain shapes ----------------------------------------------------------------------------

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        radius: float = 0,
        **paint: Unpack[Paint],
    ) -> None:
        """A rectangle by its upper left corner; ``paint`` as in ``Paint``."""
        self.shape("rect", paint, x=x, y=y, width=width, height=height, rx=radius or None)

    def circle(self, x: float, y: float, radius: float, **paint: Unpack[Paint]) -> None:
        """A circle by its centre."""
        self.shape("circle", paint, cx=x, cy=y, r=radius)

    def ellipse(self, x: float, y: float, rx: float, ry: float, **paint: Unpack[Paint]) -> None:
        """An ellipse by its centre."""
        self.shape("ellipse", paint, cx=x, cy=y, rx=rx, ry=ry)

    def line(self, x1: float, y1: float, x2: float, y2: float, **paint: Unpack[Paint]) -> None:
        """A straight line; give it a ``stroke``."""
        self.shape("line", paint, x1=x1, y1=y1, x2=x2, y2=y2)

    def polyline(self, points: Sequence[tuple[float, float]], **paint: Unpack[Paint]) -> None:
        """A line through points; give it a ``stroke``."""
        self.shape("polyline", paint, points=_points(points))

    def polygon(self, points: Sequence[tuple[float, float]], **paint: Unpack[Paint]) -> None:
        """A closed line through points."""
        self.shape("polygon", paint, points=_points(points))

    def path(self, d: str, **paint: Unpack[Paint]) -> None:
        """A path in SVG's own words."""
        self.shape("path", paint, d=d)

    def shape(self, tag: str, paint: Paint, **attributes: Any) -> None:
        """Any element."""
        tip = paint.get("tip")
        start = f"<{tag}{_attributes(attributes)}{self._paint(paint)}"
        end = "/>" if tip is None else f"><title>{escape(tip)}</title></{tag}>"
        self._lines.append(start + end)

    def _paint(self, paint: Paint) -> str:
        fill, stroke = paint.get("fill"), paint.get("stroke")
        classes, plain = [], dict[str, Any]()
        for letter, name, colour in (("f", "fill", fill), ("s", "stroke", stroke)):
            if colour in PALETTE:
                self._colours[str(colour)] = None
                classes.append(f"{letter}-{colour}")
            elif colour is not None:
                plain[name] = colour
        if fill is None:
            plain["fill"] = "none"
        plain["stroke_width"] = paint.get("thick")
        plain["stroke_dasharray"] = paint.get("dash")
        if paint.get("is_round"):
            plain |= {"stroke_linecap": "round", "stroke_linejoin": "round"}
        plain["opacity"] = paint.get("opacity")
        return _attributes({"class": " ".join(classes) or None, **plain})

    def text(
        self,
        x: float,
        y: float,
        words: object,
        size: float = 14,
        fill: str = "ink",
        anchor: str = "middle",
        is_bold: bool = False,
        max_width: float | None = None,
        is_mono: bool = False,
    ) -> None:
        """One line of text whose middle height is at ``y``.

        Args:
            x: where it stands: its middle, start or end.
            y: the middle of its capitals.
            words: what it says.
            size: of the letters.
            fill: a colour.
            anchor: ``"start"``, ``"middle"`` or ``"end"``.
            is_bold: heavier letters.
            max_width: text that may be wider is written smaller.
            is_mono: letters of equal width, spaces kept.
        """
        said = str(words)
        if max_width is not None:
            # No font is at hand to measure with; this is the mean width of a wide one.
            wanted = (0.67 if is_bold else 0.58) * size * max(len(said), 1)
            size = size * min(1.0, max_width / wanted)
        attributes = {
            "x": x,
            "y": y + 0.36 * size,
            "font_size": size if size != 14 else None,
            "text_anchor": anchor if anchor != "start" else None,
            "font_weight": "bold" if is_bold else None,
            "font_family": "ui-monospace,'DejaVu Sans Mono',monospace" if is_mono else None,
            "xml:space": "preserve" if is_mono else None,
        }
        paint = self._paint({"fill": fill})
        self._lines.append(f"<text{_attributes(attributes)}{paint}>{escape(said)}</text>")

    # ---- groups ----------------------------------------------------------------------------------

    def group(
        self,
        x: float = 0,
        y: float = 0,
        action: int | None = None,
        tip: str | None = None,
        opacity: float | None = None,
        scale: float = 1,
        turn: float = 0,
        piece: str | None = None,
    ) -> AbstractContextManager[None]:
        """What is drawn inside is moved to (x, y), scaled and turned, and belongs together.

        Args:
            x: new origin.
            y: new origin.
            action: clicking it plays this action (``data-action``).
            tip: words for a pointer and for screen readers; an action should have some.
            opacity: from 0 to 1.
            scale: a factor.
            turn: degrees, clockwise.
            piece: its name if it is a piece that moves: a page lets it glide (``data-piece``).
        """
        move = f"translate({to_number(x)} {to_number(y)})" if x or y else ""
        spin = f"rotate({to_number(turn)})" if turn else ""
        grow = f"scale({to_number(scale)})" if scale != 1 else ""
        self._has_actions |= action is not None
        attributes = {
            "data_action": action,
            "data_piece": piece,
            "transform": " ".join(part for part in (move, spin, grow) if part) or None,
            "opacity": opacity,
        }
        return self._inside(attributes, "" if tip is None else f"<title>{escape(tip)}</title>")

    def layer(self, name: str, is_on: bool = False) -> AbstractContextManager[None]:
        """What is drawn inside can be switched on and off by a page (``data-layer``)."""
        return self._inside({"data_layer": name, "display": None if is_on else "none"})

    def beside(self, x: float, width: float, height: float) -> AbstractContextManager[None]:
        """What is drawn inside stands to the right of ``x``; a narrow page moves it below.

        Args:
            x: where the main picture ends.
            width: of what is beside it.
            height: of the same.
        """
        place = " ".join(to_number(value) for value in (x, width, height))
        return self._inside({"data_beside": place})

    @contextmanager
    def _inside(self, attributes: dict[str, Any], title: str = "") -> Iterator[None]:
        start = f"<g{_attributes(attributes)}>{title}"
        if start == "<g>":  # it would say nothing
            yield
            return
        self._lines.append(start)
        yield
        self._lines.append("</g>")


# ---- numbers and attributes ----------------------------------------------------------------------


def to_number(value: float) -> str:
    """A number as SVG likes it: two places at most, no zeros at the end.

    >>> to_number(2.50), to_number(1234567)
    ('2.5', '1234567')
    """
    return str(value) if isinstance(value, int) else f"{value:.2f}".rstrip("0").rstrip(".")


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{to_number(x)},{to_number(y)}" for x, y in points)


def _attributes(values: dict[str, Any]) -> str:
    """Attributes of an element; those that are ``None`` are left out."""
    parts = []
    for name, value in values.items():
        if value is None:
            continue
        shown = to_number(value) if isinstance(value, int | float) else escape(str(value))
        parts.append(f' {name.replace("_", "-")}="{shown}"')
    return "".join(parts)
