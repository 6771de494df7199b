"""Boards as data: numbered places with coordinates, joined by edges of several transports.

A board file is JSON::

    {
     "format": "masquerade board",
     "version": 1,
     "name": "two squares",
     "transports": [
      {"name": "taxi", "color": "#d9a400"},
      {"name": "ferry", "color": "#333333", "needs_black": true}
     ],
     "nodes": [
      {"number": 1, "x": 0.0, "y": 0.0},
      ...
     ],
     "edges": {
      "taxi": [[1, 2], [2, 3]],
      "ferry": [[1, 3]]
     },
     "starts": {"detective": [1, 2], "fugitive": [3]},
     "water": [[[0.0, 2.0], [4.0, 2.5]]],
     "origin": "drawn by hand"
    }

==============  ==================================================================================
``transports``  in the order of the tickets; ``needs_black`` marks one for which there is no ticket
                of its own, so that only a fugitive with a black ticket can use it
``nodes``       numbers from 1 to 256, each once; ``x`` grows to the right and ``y`` downwards
``edges``       pairs of numbers by transport; every edge goes both ways
``starts``      the start cards of each role; a role that is left out may start anywhere
``water``       lines of rivers for pictures, each a list of points; may be left out
``origin``      where the board comes from, in words; may be left out
==============  ==================================================================================

``parse_board`` checks everything a game relies on and says in one line what is wrong.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from common.errors import MasqueradeError, nearest, one_line
from common.files import read_text

MAX_NODES = 256
"""Numbers of places; the record of a state has room for so many."""
MAX_TRANSPORTS = 5

FORMAT, VERSION = "masquerade board", 1
FIX = "a board is JSON as envs/pursuit/board.py describes it"
ROLES = ("detective", "fugitive")
KEYS = ("format", "version", "name", "transports", "nodes", "edges", "starts", "water", "origin")

COLOR = re.compile("#([0-9a-fA-F]{3}){1,2}")
MOST_POINTS = 10_000
"""Of all rivers together."""

Pair = tuple[int, int]
Line = tuple[tuple[float, float], ...]


class BoardError(MasqueradeError):
    """A board file that cannot be played on, and what is wrong with it."""


def shown(value: object) -> str:
    """What stands in a file, short enough to be quoted three times in one line.

    >>> shown([10**99, 10**99, 10**99])
    '[100000000000000000...0000000000000000000, 100000000000000000...000000000000 ...'
    """
    return one_line(reprlib.repr(value), 80)


@dataclass(frozen=True)
class Transport:
    """A way to travel, with its colour in pictures."""

    name: str
    color: str
    needs_black: bool = False


@dataclass(frozen=True)
class BoardNode:
    """A place on the board."""

    number: int
    x: float
    y: float


@dataclass(frozen=True)
class Board:
    """A checked board; make one with ``parse_board``, ``load_board`` or a generator."""

    name: str
    transports: tuple[Transport, ...]
    nodes: tuple[BoardNode, ...]
    edges: tuple[tuple[Pair, ...], ...]
    """By transport: pairs of numbers, the smaller one first, in rising order."""
    detective_starts: tuple[int, ...] = ()
    """Numbers of the start cards; empty: everywhere."""
    fugitive_starts: tuple[int, ...] = ()
    origin: str = ""
    water: tuple[Line, ...] = ()

    @property
    def num_slots(self) -> int:
        """The highest number: what tables over all places must have room for."""
        return max(node.number for node in self.nodes)

    @property
    def tickets(self) -> tuple[Transport, ...]:
        """The transports that have a ticket of their own."""
        return tuple(t for t in self.transports if not t.needs_black)

    @cached_property
    def places(self) -> dict[int, BoardNode]:
        """The nodes by number."""
        return {node.number: node for node in self.nodes}

    @cached_property
    def stops(self) -> dict[int, list[int]]:
        """By number the transports that stop there and have tickets of their own."""
        found: dict[int, list[int]] = {node.number: [] for node in self.nodes}
        for transport, pairs in enumerate(self.edges):
            if not self.transports[transport].needs_black:
                for number in {end for pair in pairs for end in pair}:
                    found[number].append(transport)
        return found

    def neighbours(self, number: int, transport: int | None = None) -> list[int]:
        """Where one edge leads from a place, by one transport or by any, in rising order.

        >>> from envs.pursuit.generators import grid_board
        >>> grid_board(5, 5).neighbours(7)
        [2, 6, 8, 12]
        """
        chosen = self.edges if transport is None else self.edges[transport : transport + 1]
        found = {b if a == number else a for pairs in chosen for a, b in pairs if number in (a, b)}
        return sorted(found)

    def to_text(self) -> str:
        """The text of its file, from which ``load_board`` makes an equal board; one node a line."""
        nodes = [
            json.dumps({"number": node.number, "x": node.x, "y": node.y}) for node in self.nodes
        ]
        transports = [
            json.dumps(
                {"name": t.name, "color": t.color}
                | ({"needs_black": True} if t.needs_black else {})
            )
            for t in self.transports
        ]
        edges = [
            f"{json.dumps(t.name)}: {json.dumps([list(pair) for pair in pairs])}"
            for t, pairs in zip(self.transports, self.edges, strict=True)
        ]
        starts = dict(zip(ROLES, (self.detective_starts, self.fugitive_starts), strict=True))
        parts = [
            f'"format": {json.dumps(FORMAT)}',
            f'"version": {VERSION}',
            f'"name": {json.dumps(self.name)}',
            '"transports": [\n  ' + ",\n  ".join(transports) + "\n ]",
            '"nodes": [\n  ' + ",\n  ".join(nodes) + "\n ]",
            '"edges": {\n  ' + ",\n  ".join(edges) + "\n }",
            f'"starts": {json.dumps({k: list(v) for k, v in starts.items() if v})}',
            f'"water": {json.dumps(self.water)}',
            f'"origin": {json.dumps(self.origin)}',
        ]
        return "{\n " + ",\n ".join(parts) + "\n}\n"


# ---- reading -------------------------------------------------------------------------------------


def load_board(path: str | Path) -> Board:
    """Read a board file; whatever is wrong with it is said in one line, with its name."""
    text = read_text(Path(path), FIX, BoardError)
    try:
        return parse_board(json.loads(text, object_pairs_hook=_once))
    except BoardError as error:
        raise BoardError(f"board file {path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BoardError(f"board file {path} is no JSON ({one_line(error)}): {FIX}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a file; of a key that is there twice one would be lost without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        key = next(key for key in keys if keys.count(key) > 1)
        raise BoardError(f"the key {shown(key)} is there twice in one object: keep one")
    return found


def parse_board(content: Any) -> Board:
    """Make a board of the content of a file, or raise a ``BoardError`` that names the fault.

    >>> parse_board({"format": "masquerade board", "version": 1, "name": "x", "transports": [
    ...     {"name": "taxi", "color": "#000"}], "nodes": [{"number": 1, "x": 0, "y": 0},
    ...     {"number": 2, "x": 1, "y": 0}], "edges": {"taxi": [[1, 9]]}})
    Traceback (most recent call last):
    ...
    envs.pursuit.board.BoardError: taxi edge 1-9 leads to nowhere: there is no node 9
    """
    if not isinstance(content, Mapping):
        raise BoardError("a board is an object with name, transports, nodes and edges")
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        raise BoardError(f'a board begins with "format": "{FORMAT}", "version": {VERSION}')
    for key in ("name", "transports", "nodes", "edges"):
        if key not in content:
            raise BoardError(f"'{key}' is missing")
    _check_keys(content, KEYS)
    transports = _transports(content["transports"])
    nodes = _nodes(content["nodes"])
    numbers = {node.number for node in nodes}
    edges = _edges(content["edges"], transports, numbers)
    starts = content.get("starts", {})
    if not isinstance(starts, Mapping) or not set(starts) <= set(ROLES):
        raise BoardError("starts must be an object with the keys 'detective' and 'fugitive'")
    board = Board(
        name=_text(content["name"], "name", 80),
        transports=transports,
        nodes=nodes,
        edges=edges,
        detective_starts=_starts(starts, "detective", numbers),
        fugitive_starts=_starts(starts, "fugitive", numbers),
        origin=_text(content.get("origin", ""), "origin", 1000),
        water=_water(content.get("water", [])),
    )
    check_connections(board)
    return board


def _check_keys(content: Mapping[str, Any], known: Collection[str], place: str = "") -> None:
    for key in content:
        if key not in known:
            raise BoardError(f"unknown key {shown(key)}{place}: {nearest(str(key), known)}")


def _text(value: Any, what: str, most: int) -> str:
    """A name that can stand in a line, a file and a picture."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > most:
        words = f"text of at most {most} printable characters"
        raise BoardError(f"{what} must be {words}, not {shown(value)}")
    return value


def _transports(content: Any) -> tuple[Transport, ...]:
    if not isinstance(content, list) or not 1 <= len(content) <= MAX_TRANSPORTS:
        raise BoardError(f"transports must be a list of 1 to {MAX_TRANSPORTS}")
    found = []
    for entry in content:
        if not isinstance(entry, Mapping) or not {"name", "color"} <= set(entry):
            raise BoardError(f"a transport needs a name and a color, not {shown(entry)}")
        name, color = _text(entry["name"], "the name of a transport", 24), entry["color"]
        _check_keys(entry, ("name", "color", "needs_black"), f" of transport '{name}'")
        if not isinstance(color, str) or not COLOR.fullmatch(color):
            raise BoardError(f"color of '{name}' must be like #d9a400, not {shown(color)}")
        is_black = entry.get("needs_black", False)
        if not isinstance(is_black, bool):
            raise BoardError(f"needs_black of '{name}' must be true or false")
        found.append(Transport(name, color, is_black))
    names = [transport.name for transport in found]
    for name in names:
        if names.count(name) > 1 or name in ("black", "double") or name != (name.strip() or None):
            raise BoardError(f"'{name}' cannot name a transport, or names two")
    if all(transport.needs_black for transport in found):
        raise BoardError("at least one transport must have tickets of its own")
    return tuple(found)


def _nodes(content: Any) -> tuple[BoardNode, ...]:
    if not isinstance(content, list) or len(content) < 2:
        raise BoardError("nodes must be a list of at least 2")
    if len(content) > MAX_NODES:
        raise BoardError(f"{len(content)} nodes are too many: a board has at most {MAX_NODES}")
    found: dict[int, BoardNode] = {}
    for entry in content:
        if not isinstance(entry, Mapping) or not {"number", "x", "y"} <= set(entry):
            raise BoardError(f"a node needs number, x and y, not {shown(entry)}")
        number, x, y = entry["number"], entry["x"], entry["y"]
        _check_keys(entry, ("number", "x", "y"), f" of node {shown(number)}")
        if type(number) is not int or not 1 <= number <= MAX_NODES:
            raise BoardError(
                f"node {shown(number)}: numbers are whole and go from 1 to {MAX_NODES}"
            )
        if number in found:
            raise BoardError(f"there are two nodes {number}")
        if not (_is_coordinate(x) and _is_coordinate(y)):
            words = f"x is {shown(x)}, y is {shown(y)}"
            raise BoardError(f"node {number} has no proper coordinates: {words}")
        found[number] = BoardNode(number, float(x), float(y))
    at: dict[tuple[float, float], int] = {}
    for node in found.values():
        other = at.setdefault((node.x, node.y), node.number)
        if other != node.number:
            raise BoardError(f"nodes {other} and {node.number} lie on the same spot")
    return tuple(found[number] for number in sorted(found))


def _is_coordinate(value: Any) -> bool:
    """Neither too large for a picture nor NaN."""
    return type(value) in (int, float) and abs(value) < 1e6


def _edges(
    content: Any, transports: tuple[Transport, ...], numbers: set[int]
) -> tuple[tuple[Pair, ...], ...]:
    names = [transport.name for transport in transports]
    if not isinstance(content, Mapping):
        raise BoardError("edges must be an object: for each transport a list of pairs")
    for name in content:
        if name not in names:
            words = nearest(str(name), names)
            raise BoardError(f"unknown transport {shown(name)} in edges: {words}")
    return tuple(_pairs(name, content.get(name, []), numbers) for name in names)


def _pairs(name: str, content: Any, numbers: set[int]) -> tuple[Pair, ...]:
    if not isinstance(content, list):
        raise BoardError(f"{name} edges must be a list of pairs of numbers")
    found: set[Pair] = set()
    for pair in content:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise BoardError(f"{name} edge {shown(pair)} is no pair of numbers")
        for end in pair:
            if type(end) is not int or end not in numbers:
                ends = "-".join(shown(number) for number in pair)
                words = f"there is no node {shown(end)}"
                raise BoardError(f"{name} edge {ends} leads to nowhere: {words}")
        first, second = sorted(pair)
        if first == second:
            raise BoardError(f"{name} edge {first}-{second} goes round in a circle: leave it out")
        if (first, second) in found:
            raise BoardError(f"{name} edge {first}-{second} is there twice")
        found.add((first, second))
    return tuple(sorted(found))


def _starts(content: Mapping[str, Any], role: str, numbers: set[int]) -> tuple[int, ...]:
    cards = content.get(role, [])
    if not isinstance(cards, list):
        raise BoardError(f"starts of '{role}' must be a list of numbers")
    for number in cards:
        if type(number) is not int or number not in numbers:
            raise BoardError(f"start card {shown(number)} of '{role}': there is no such node")
    if len(set(cards)) < len(cards):
        raise BoardError(f"starts of '{role}' name a node twice")
    return tuple(sorted(cards))


def _water(content: Any) -> tuple[Line, ...]:
    lines: list[Any] = content if isinstance(content, list) else [None]
    points = [p for line in lines for p in (line if isinstance(line, list) else [None])]
    for point in points:
        if not (isinstance(point, list) and len(point) == 2 and all(map(_is_coordinate, point))):
            raise BoardError("water must be a list of lines, each a list of points [x, y]")
    if len(points) > MOST_POINTS:
        raise BoardError(f"water has {len(points)} points: at most {MOST_POINTS} can be drawn")
    return tuple(tuple((float(x), float(y)) for x, y in line) for line in lines)


def check_connections(board: Board) -> None:
    """Refuse a board with a lonely node or with two parts."""
    joined: dict[int, set[int]] = {node.number: set() for node in board.nodes}
    for pairs in board.edges:
        for a, b in pairs:
            joined[a].add(b)
            joined[b].add(a)
    for number, others in joined.items():
        if not others:
            raise BoardError(f"node {number} has no edges: join it to another or leave it out")
    parts = components(joined)
    if len(parts) > 1:
        lost, home = min(parts[1]), min(parts[0])
        raise BoardError(
            f"the board falls into {len(parts)} parts: no way leads from node {home} to node {lost}"
        )


def components(joined: Mapping[int, Iterable[int]]) -> list[set[int]]:
    """The connected parts of a graph, the largest first.

    >>> components({1: {2}, 2: {1}, 3: set()})
    [{1, 2}, {3}]
    """
    parts: list[set[int]] = []
    left = set(joined)
    while left:
        part, stack = set(), [min(left)]
        while stack:
            number = stack.pop()
            if number not in part:
                part.add(number)
                stack.extend(joined[number])
        parts.append(part)
        left -= part
    return sorted(parts, key=lambda part: (-len(part), min(part)))
