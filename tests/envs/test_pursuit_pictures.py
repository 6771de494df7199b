"""Pictures of pursuits and the commands for boards."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from envs import make_game
from envs.core.rng import below, new_rng
from envs.pursuit.board import load_board
from envs.pursuit.boards import main
from tests.support.pursuits import belief, cell, play, record, started
from tests.support.sampling import IS_FULL

SVG = "{http://www.w3.org/2000/svg}"
PROJECT = Path(__file__).resolve().parents[2]


EVERY = 2 if IS_FULL else 9


def actions_in(svg: str) -> set[int]:
    marked = (node.get("data-action") for node in ElementTree.fromstring(svg).iter())
    return {int(action) for action in marked if action is not None}


@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        ("scotland_yard_v0", {}),
        ("scotland_yard_v0", {"preset": "reduced"}),
        ("phantom_v0", {"rows": 5, "columns": 6, "num_maps": 3, "num_detectives": 2}),
    ],
)
def test_pictures_have_one_size_and_offer_what_the_viewer_may_play(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    rng, sizes = new_rng(3), set()
    position = game.new_position()
    for number in itertools.count():
        # Some positions, of both sides, and the end.
        for viewer in (None, 0, 1) if number % EVERY == 0 or position.is_over else ():
            svg = game.draw(position.state, viewer)
            root = ElementTree.fromstring(svg)
            sizes.add((root.get("width"), root.get("height")))
            may_play = position.turn >= 0 and viewer in (None, position.turn)
            assert actions_in(svg) == (set(position.legal_actions()) if may_play else set())
            assert root.findtext(f"{SVG}title")
        if position.is_over:
            break
        legal = position.legal_actions()
        position.apply(legal[int(below(rng, len(legal)))])
    assert len(sizes) == 1


def test_the_belief_is_a_layer_of_its_own_with_a_halo_for_every_possible_place() -> None:
    game: Any = make_game("scotland_yard_v0", "reduced")
    position = started(game, [cell(0, 0), cell(0, 4)], cell(4, 2))
    play(position, cell(0, 1), cell(0, 3), cell(4, 3))
    root = ElementTree.fromstring(game.draw(position.state, 1))
    layers = [node for node in root.iter() if node.get("data-layer") == "belief"]
    assert len(layers) == 1
    assert len(list(layers[0])) == len(belief(position)) == 3


def test_the_fugitive_is_drawn_for_himself_and_not_for_detectives() -> None:
    game: Any = make_game("scotland_yard_v0", "reduced")
    position = started(game, [cell(0, 0), cell(0, 4)], cell(4, 2))
    play(position, cell(0, 1), cell(0, 3), cell(4, 3))
    # One pawn stands in the panel beside the map in any case.
    pawns = [game.draw(position.state, viewer).count(">X</text>") for viewer in (0, 1, None)]
    assert pawns == [2, 1, 2]
    play(position, *[p for _ in range(2) for p in (cell(0, 0), cell(0, 4), cell(4, 2))][:3])
    assert record(position).num_moves == 2


@pytest.mark.parametrize("name", ["city", "map_1", "grid"])
def test_boards_are_drawn_by_command(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "board.svg"
    assert main(["draw", name, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    ElementTree.parse(out)


def test_boards_are_made_and_checked_by_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "map.json"
    sizes = ["--rows", "6", "--columns", "7", "--seed", "3"]
    assert main(["make", "random", *sizes, "--out", str(path)]) == 0
    assert "places" in capsys.readouterr().out
    assert load_board(path).origin.startswith(
        "6 x 7, keep 0.8, taxi 0.4, tram 0.2, radius 2; seed 3"
    )
    assert main(["check", str(path), "city", "grid"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 3
    assert shown[1].startswith("city: 200 places, 464 taxi edges, ")
    path.write_text(path.read_text().replace('"taxi":', '"rocket":'))
    assert main(["check", str(path)]) == 2
    assert "unknown transport 'rocket' in edges" in capsys.readouterr().err
    assert main(["make", "grid", "--rows", "40", "--columns", "40"]) == 2
    assert capsys.readouterr().err == "boards: a grid has 2 to 256 cells: 40 x 40 are 1600\n"


def test_the_commands_run_as_a_module() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "envs.pursuit.boards", "check", "map_1", "nowhere"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 2
    assert finished.stdout.startswith("map 1: 78 places, ")
    assert finished.stderr.splitlines()[-1].startswith("there is no board 'nowhere': name one of")
