"""How many lines of code there are, room by room: ``make count``.

A line counts if it holds a token that is neither a comment nor part of a docstring.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
APART = ("tests", "experiments")
"""Rooms that have a limit of their own, or none."""


def code_lines(text: str) -> int:
    """The lines of a source that hold code.

    >>> code_lines('"A docstring."\\n\\nx = (\\n    1,  # one\\n)\\n# a comment\\n')
    3
    """
    silent: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        # Docstrings of attributes too: a text that stands alone is for readers.
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            silent.update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT and token.type != tokenize.ENDMARKER:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - silent)


def sources(project: Path) -> list[Path]:
    """Every module of the project; links, and what is hidden or made, are left out."""
    rooms = [path for path in project.iterdir() if (path / "__init__.py").exists()]
    found = [path for room in rooms for path in room.rglob("*.py") if not path.is_symlink()]
    return sorted([*project.glob("*.py"), *found])


def main(project: Path = PROJECT) -> int:
    """Print lines and files of every room, and what they add up to."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sources(project):
        parts = path.relative_to(project).parts
        room = parts[0] if len(parts) > 1 else "doors"
        lines[room] += code_lines(path.read_text())
        files[room] += 1
    for room in sorted(lines):
        print(f"{room:14} {lines[room]:7,} lines {files[room]:5} files")
    rooms = [room for room in lines if room not in APART]
    total, number = sum(lines[room] for room in rooms), sum(files[room] for room in rooms)
    print(f"{'without ' + ' and '.join(APART)}: {total:,} lines in {number} files")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
