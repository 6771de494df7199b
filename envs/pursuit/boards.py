"""Draw, check and make boards: ``python -m envs.pursuit.boards --help``.

::

    python -m envs.pursuit.boards check city my_board.json
    python -m envs.pursuit.boards draw city --out city.svg
    python -m envs.pursuit.boards make random --rows 9 --columns 11 --seed 1 --out map.json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from common.commands import MAX_SEED, Parser, add_out, answers_in_one_line, at_least
from common.errors import MasqueradeError
from common.files import check_out, write_text
from envs.pursuit.board import MAX_NODES, Board
from envs.pursuit.generators import EDGE_MODES, MapRecipe, city_board, grid_board, random_board
from envs.pursuit.picture import draw_board
from envs.pursuit.tables import distances, named_board


def describe(board: Board) -> str:
    """A board in one line.

    >>> describe(grid_board(5, 5))
    'grid 5 x 5: 25 places, 40 street edges, 2 to 4 neighbours, at most 8 steps apart'
    """
    edges = ", ".join(
        f"{len(pairs)} {transport.name} edges"
        for transport, pairs in zip(board.transports, board.edges, strict=True)
    )
    degrees = [len(board.neighbours(node.number)) for node in board.nodes]
    used = [node.number - 1 for node in board.nodes]
    farthest = distances(board, board.num_slots)[used][:, used].max()
    around = f"{min(degrees)} to {max(degrees)} neighbours"
    return f"{board.name}: {len(used)} places, {edges}, {around}, at most {farthest} steps apart"


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m envs.pursuit.boards", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser(
        "check", help="say what is wrong with board files, or describe them"
    )
    check.add_argument("boards", nargs="+", help="names or paths")
    draw = commands.add_parser("draw", help="draw a board as SVG")
    draw.add_argument("board", help="a name or a path")
    make = commands.add_parser("make", help="make a board and write its file")
    series, share, cells = at_least(0, MAX_SEED), at_least(0.0, 1.0), at_least(1, MAX_NODES)
    make.add_argument("kind", choices=("grid", "random", "city"))
    make.add_argument("--seed", type=series, default=0, help="of a random map or a city")
    make.add_argument("--number", type=series, default=0, help="which map of the seed's series")
    make.add_argument("--keep", type=share, default=0.8, help="share of cells in use")
    make.add_argument("--taxi", type=share, default=0.4, help="share of places with taxis")
    make.add_argument("--tram", type=share, default=0.2, help="share of places with trams")
    make.add_argument("--edge-mode", choices=EDGE_MODES, default="radius")
    make.add_argument("--radius", type=cells, default=2, help="of the edge mode 'radius'")
    for command in (draw, make):
        command.add_argument("--rows", type=cells, default=5)
        command.add_argument("--columns", type=cells, default=5)
        add_out(command, "file to write; standard output if left out")
    return parser


def _make(args: argparse.Namespace) -> Board:
    if args.kind == "grid":
        return grid_board(args.rows, args.columns)
    if args.kind == "city":
        return city_board(args.seed)
    return random_board(MapRecipe.of(args), args.seed, args.number)


def _run(args: argparse.Namespace) -> int:
    if args.command == "check":
        num_broken = 0
        for name in args.boards:
            try:
                print(describe(named_board(name)))
            except MasqueradeError as error:
                num_broken += 1
                print(error, file=sys.stderr)
        return 2 if num_broken else 0
    if args.command == "draw":
        text, note = draw_board(named_board(args.board, args.rows, args.columns)), ""
    else:
        board = _make(args)
        text, note = board.to_text(), f": {describe(board)}"
    if args.out is None:
        print(text.rstrip("\n"))
    else:
        # What would be the same is no loss, and another file stays.
        check_out(args.out, "this command", args.force, head=text, is_whole=True)
        write_text(args.out, text)
        print(f"wrote {args.out}{note}")
    return 0


@answers_in_one_line("boards")
def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input, such as a broken board, gets one line and exit code 2."""
    args = _parser().parse_args(argv)
    return _run(args)


if __name__ == "__main__":
    sys.exit(main())
