"""The terminal, over a pipe: moves by words, numbers and beginnings, help, hints, taking back."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envs import make_game
from play.agents import Thinkers
from play.catalogue import Catalogue
from play.command_line import main
from play.session import Session
from play.table import Table, TableSeat
from play.terminal import Terminal

PROJECT = Path(__file__).resolve().parents[2]


def played(
    text: str, game_id: str = "kuhn_v0", seed: int = 3, **options: object
) -> tuple[str, Table]:
    """What the terminal shows when this is typed, and the table in the end."""
    game = make_game(game_id, **options)
    thinkers = Thinkers()
    seats = [TableSeat("you"), TableSeat("random", "random")]
    table = Table(game, seats, {1: thinkers.agent(game, "random")})
    table.begin(seed)
    out = io.StringIO()
    session = Session("t", table, game_id)
    Terminal(session, thinkers, Catalogue(), io.StringIO(text), out).run()
    thinkers.close()
    return out.getvalue(), table


def test_a_move_is_read_by_its_words_its_number_or_its_beginning() -> None:
    for text in ("bet\n", "2\n", "b\n", " BET \n"):
        _, table = played(text)
        assert table.decisions[0].action == 1, text


def test_what_is_no_move_is_refused_and_asked_again() -> None:
    shown, table = played("fold\nbet\n")
    assert "'fold' is no move here" in shown
    assert table.decisions[0].action == 1


def test_an_ambiguous_beginning_names_the_moves_it_may_be() -> None:
    shown, table = played("1*\n", "liars_dice_v0")
    assert "type more of it" in shown
    assert not table.decisions


def test_help_names_every_move_and_a_hint_has_shares() -> None:
    shown, _ = played("?\nhint kuhn_rule\n")
    assert "moves: 1 pass, 2 bet" in shown
    assert "%" in shown.partition("kuhn_rule:")[2]


def test_a_game_with_thousands_of_moves_names_some_and_the_last() -> None:
    shown, _ = played("?\nraises to 325\n", "holdem_v0", menu="exact", num_players=2)
    assert "more, up to" in shown
    assert len(shown) < 6000
    assert "you (player 0): raises to 325" in shown


def test_after_the_end_an_unknown_word_is_answered_and_q_quits() -> None:
    shown, _ = played("bet\nbet\npass\nfoo\nhelp\nq\nnew\n")
    assert "'foo' is no command" in shown
    assert "type a move by its words" in shown
    assert "game 2" not in shown


def test_undo_takes_the_own_move_back_and_the_game_does_not_count() -> None:
    shown, table = played("undo\nbet\nundo\n")
    assert "nothing to take back" in shown
    assert "taken back" in shown
    assert table.has_taken_back
    assert not table.decisions


def test_the_hidden_card_is_not_shown_before_the_end() -> None:
    shown, _ = played("board\nlog\n?\n")
    assert "player 1: card ?" in shown
    assert not any(f"player 1: card {card}" in shown for card in "JQK")


def test_the_door_plays_over_a_pipe_and_says_what_is_wrong_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = subprocess.run(
        [sys.executable, str(PROJECT / "play.py"), "--terminal", "kuhn_v0", "--seed", "3"],
        input="bet\nbet\nquit\n",
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert game.returncode == 0
    assert "the end: you" in game.stdout
    monkeypatch.chdir(tmp_path)
    for arguments, words in (
        (["--terminal", "kuhn"], "did you mean 'kuhn_v0'"),
        (["--terminal", "kuhn_v0", "--seat", "7"], "--seat must be from 0 to 1"),
        (["--terminal", "kuhn_v0", "--against", "leduc_rule"], "plays leduc_v0, not kuhn_v0"),
        (["--load", "nothing.json", "--no-open"], "cannot be read"),
    ):
        assert main(arguments) == 2
        assert words in capsys.readouterr().err
