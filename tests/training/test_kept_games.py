"""Games by the clock are kept one by one: nothing is lost, counted twice, or mixed up."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

import pytest

from common.errors import FileError, MasqueradeError
from experiments import pursuit_cells
from experiments.pursuit_cells import FILE, Entrant, Pairing, play_kept
from experiments.runner import Settings

RANDOM, HEURISTIC = (
    Entrant("random", "random"),
    Entrant("heuristic", "pursuit_heuristic"),
)
PAIRING = Pairing("phantom_v0", {"board": "map_1"}, RANDOM, HEURISTIC, 1.0)
"""Nobody searches, so that its games are the same every time."""


def outcomes(games: list[pursuit_cells.KeptGame]) -> list[tuple[int, int, int]]:
    return [(game.game, game.caught, game.length) for game in games]


def test_a_command_goes_on_with_the_next_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = play_kept(PAIRING, 6, 3, Settings(folder=tmp_path / "whole"))
    settings, played = Settings(folder=tmp_path), []
    play_one = pursuit_cells.play_one

    def stopped_at_the_fourth(pairing: Pairing, seed: int, number: int) -> pursuit_cells.KeptGame:
        if len(played) == 3:
            raise KeyboardInterrupt
        played.append(number)
        return play_one(pairing, seed, number)

    monkeypatch.setattr(pursuit_cells, "play_one", stopped_at_the_fourth)
    with pytest.raises(KeyboardInterrupt):
        play_kept(PAIRING, 6, 3, settings)
    monkeypatch.setattr(pursuit_cells, "play_one", play_one)
    # Cut off in the middle of a line, too: that game is played again.
    path = tmp_path / FILE
    path.write_text(path.read_text()[:-4])
    assert outcomes(play_kept(PAIRING, 6, 3, settings)) == outcomes(whole)
    assert len(path.read_text().splitlines()) == 1 + 6


def test_of_a_game_that_was_played_twice_the_first_counts(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path)
    first = play_kept(PAIRING, 2, 0, settings)
    again = replace(first[1], caught=1 - first[1].caught)
    with (tmp_path / FILE).open("a") as file:
        file.write(pursuit_cells._line(astuple(again)))
    assert play_kept(PAIRING, 2, 0, settings) == first


def test_two_commands_do_not_play_the_same_games(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path)
    play_kept(PAIRING, 1, 0, settings)
    with (
        pursuit_cells._alone(tmp_path / FILE),
        pytest.raises(MasqueradeError, match=r"another command plays games .* wait"),
    ):
        play_kept(PAIRING, 2, 0, settings)
    assert len(play_kept(PAIRING, 2, 0, settings)) == 2


def test_nobody_elses_games_are_counted(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path)
    play_kept(PAIRING, 2, 0, settings)
    others = (
        replace(PAIRING, options={"board": "map_2"}),
        replace(PAIRING, seconds=2.0),
        replace(PAIRING, fugitive=Entrant("random", "random", {"x": 1})),
        replace(PAIRING, detectives=Entrant("random", "random")),
    )
    assert len({PAIRING.settings, *(other.settings for other in others)}) == 5
    play_kept(others[0], 2, 0, settings)
    play_kept(PAIRING, 2, 1, settings)
    assert len((tmp_path / FILE).read_text().splitlines()) == 1 + 6


def test_workers_play_the_same_games(tmp_path: Path) -> None:
    alone, together = (
        play_kept(PAIRING, 4, 5, Settings(workers=workers, folder=tmp_path / str(workers)))
        for workers in (1, 2)
    )
    assert outcomes(alone) == outcomes(together)


def test_searches_and_their_simulations_are_counted(tmp_path: Path) -> None:
    searcher = Entrant("search", "mo_ismcts", {"iterations": 7}, shares_budget=True)
    pairing = replace(PAIRING, detectives=searcher, seconds=100.0)
    (game, _) = play_kept(pairing, 2, 0, Settings(folder=tmp_path))
    # Early stops leave some of seven out, and a forced move is none.
    assert 0 < game.searches < game.length
    assert 0 < game.simulations <= 7 * game.searches


@pytest.mark.parametrize(
    "text", ["nothing,of,ours\n1,2,3\n", "KEPT\n", "HEAD\na,b,0,0,x,1,1,1,1.0\n", "HEAD\na,b\n"]
)
def test_a_file_of_something_else_gets_one_line(tmp_path: Path, text: str) -> None:
    head = ",".join(pursuit_cells.COLUMNS)
    (tmp_path / FILE).write_text(text.replace("HEAD", head))
    with pytest.raises(FileError, match="move it away") as caught:
        play_kept(PAIRING, 2, 0, Settings(folder=tmp_path))
    assert "\n" not in str(caught.value)
    assert (tmp_path / FILE).read_text() == text.replace("HEAD", head)


def test_a_worker_that_dies_gets_one_line_and_the_command_goes_on(tmp_path: Path) -> None:
    mortal = Entrant("mortal", "tests.support.deadly_agents:Mortal", {"folder": str(tmp_path)})
    pairing, settings = replace(PAIRING, detectives=mortal), Settings(workers=2, folder=tmp_path)
    with pytest.raises(MasqueradeError, match="the same command goes on"):
        play_kept(pairing, 3, 0, settings)
    assert len(play_kept(pairing, 3, 0, settings)) == 3
