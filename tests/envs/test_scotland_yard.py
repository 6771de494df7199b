"""Scotland Yard: the reduced game and the original rules, by hand and against a second version."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.pursuit_speed import PlainPursuit
from common.errors import OptionError
from envs import make_game
from envs.core.kernels import CHANCE
from envs.core.position import Position
from envs.core.rng import below, new_rng
from envs.pursuit.board import parse_board
from envs.pursuit.options import ALL_OUT, BLOCKED, CAUGHT, ESCAPED, REASONS
from tests.support.pursuits import belief, cell, play, record, started, targets

REDUCED: Any = make_game("scotland_yard_v0", "reduced")


def joint_moves(position: Position) -> set[tuple[int, int]]:
    """Both detectives' targets, over everything they can do."""
    found = set()
    for first in position.legal_actions():
        after = position.copy()
        after.apply(first)
        second = targets(after) if not after.is_over else {-1}
        found |= {(first, target) for target in second}
    return found


# ---- the reduced game ----------------------------------------------------------------------------


def test_there_are_13800_starts_all_equally_likely() -> None:
    position = REDUCED.new_position()
    starts = {}
    for first, p in position.chance_outcomes():
        one = position.copy()
        one.apply(first)
        for second, q in one.chance_outcomes():
            two = one.copy()
            two.apply(second)
            for third, r in two.chance_outcomes():
                starts[first, second, third] = p * q * r
    assert len(starts) == 13_800
    assert max(starts.values()) == pytest.approx(1 / 13_800)
    assert min(starts.values()) == pytest.approx(1 / 13_800)


def test_a_detective_in_the_open_has_four_moves_and_one_in_a_corner_two() -> None:
    position = started(REDUCED, [cell(1, 1), cell(4, 0)], cell(2, 4))
    assert targets(position) == {cell(0, 1), cell(2, 1), cell(1, 0), cell(1, 2)}
    assert len(joint_moves(position)) == 8
    play(position, cell(1, 2))
    assert targets(position) == {cell(3, 0), cell(4, 1)}
    play(position, cell(4, 1))
    assert position.turn == 0
    assert targets(position) == {cell(1, 4), cell(3, 4), cell(2, 3)}


def test_detectives_may_not_move_to_one_cell() -> None:
    position = started(REDUCED, [cell(0, 0), cell(0, 2)], cell(4, 4))
    moves = joint_moves(position)
    assert len(moves) == 5
    assert (cell(0, 1), cell(0, 1)) not in moves


def test_detectives_may_change_places_and_follow_each_other() -> None:
    position = started(REDUCED, [cell(0, 0), cell(0, 1)], cell(4, 4))
    moves = joint_moves(position)
    assert (cell(0, 1), cell(0, 0)) in moves
    assert (cell(0, 1), cell(0, 2)) in moves
    play(position, cell(0, 1), cell(0, 0))
    assert record(position).place[1:3].tolist() == [cell(0, 1), cell(0, 0)]


def test_joint_moves_number_from_4_to_16_and_ten_on_average() -> None:
    """X stands where nobody can catch him, or a caught X would hide what the second could do."""
    counts = []
    for first, second in itertools.permutations(range(25), 2):
        around = {first, second}
        away = next(
            x
            for x in range(25)
            if all(abs(x // 5 - d // 5) + abs(x % 5 - d % 5) > 1 for d in around)
        )
        counts.append(len(joint_moves(started(REDUCED, [first, second], away))))
    assert len(counts) == 600
    assert (min(counts), max(counts)) == (4, 16)
    assert np.mean(counts) == pytest.approx(9.9, abs=0.05)


def test_x_without_a_free_neighbour_loses_though_nobody_stands_on_him() -> None:
    position = started(REDUCED, [cell(0, 2), cell(2, 0)], cell(0, 0))
    play(position, cell(0, 1), cell(1, 0))
    assert position.is_over
    assert record(position).reason == BLOCKED
    assert record(position).round_number == 1
    assert position.returns().tolist() == [-1.0, 1.0]
    assert belief(position) == {cell(0, 0): 1.0}


def test_x_goes_round_the_one_detective_beside_him() -> None:
    position = started(REDUCED, [cell(0, 2), cell(4, 3)], cell(0, 0))
    play(position, cell(0, 1), cell(4, 4))
    assert targets(position) == {cell(1, 0)}


def test_entering_his_cell_ends_the_game_before_the_other_detective_moves() -> None:
    position = started(REDUCED, [cell(0, 1), cell(4, 4)], cell(0, 0))
    play(position, cell(0, 0))
    assert position.is_over
    assert record(position).reason == CAUGHT
    assert REASONS[record(position).reason] == "caught"


def test_x_escapes_when_his_twentieth_move_is_made() -> None:
    position = started(REDUCED, [cell(0, 0), cell(0, 4)], cell(4, 2))
    for number in range(1, 21):
        assert record(position).round_number == number
        # Detectives swing on the top row, X on the bottom row.
        swing = (cell(0, 1), cell(0, 3)) if number % 2 else (cell(0, 0), cell(0, 4))
        play(position, *swing, cell(4, 3) if number % 2 else cell(4, 2))
    assert position.is_over
    assert record(position).reason == ESCAPED
    assert position.returns().tolist() == [1.0, -1.0]


def test_x_is_seen_at_the_start_and_after_every_third_move() -> None:
    """What detectives know when they choose, in rounds 1 to 7."""
    position = started(REDUCED, [cell(0, 0), cell(0, 4)], cell(4, 2))
    known = []
    for number in range(1, 8):
        s = record(position)
        known.append((int(s.seen_place), int(s.num_moves - s.seen_move)))
        swing = (cell(0, 1), cell(0, 3)) if number % 2 else (cell(0, 0), cell(0, 4))
        play(position, *swing, cell(4, 3) if number % 2 else cell(4, 2))
    start, third, sixth = cell(4, 2), cell(4, 3), cell(4, 2)
    assert known == [
        (start, 0),
        (start, 1),
        (start, 2),
        (third, 0),
        (third, 1),
        (third, 2),
        (sixth, 0),
    ]


def test_states_that_differ_in_the_hidden_cell_look_the_same_to_detectives() -> None:
    """One picture, one text, one observation, whichever way X went."""
    looks = set()
    for target in (cell(4, 3), cell(4, 1), cell(3, 2)):
        position = started(REDUCED, [cell(0, 0), cell(0, 4)], cell(4, 2))
        play(position, cell(0, 1), cell(0, 3), target)
        looks.add(
            (
                position.observation(1).tobytes(),
                position.text(viewer=1),
                tuple(position.tokens(1)),
                REDUCED.draw(position.state, 1),
                REDUCED.status(position.state),
            )
        )
        assert f"X at {target + 1}" in position.text(viewer=0)
    assert len(looks) == 1


def test_the_console_board_shows_detectives_and_where_x_was_last_seen() -> None:
    position = started(REDUCED, [cell(0, 0), cell(0, 4)], cell(4, 2))
    play(position, cell(0, 1), cell(0, 3), cell(4, 3))
    assert position.text(viewer=1).splitlines()[1:6] == [
        ". 1 . 2 .",
        ". . . . .",
        ". . . . .",
        ". . . . .",
        ". . - . .",
    ]
    assert position.text(viewer=0).splitlines()[5] == ". . - X ."


def test_the_same_seed_gives_the_same_starts() -> None:
    games = []
    for _ in range(2):
        position, rng = REDUCED.new_position(), new_rng(11)
        position.play_chance(rng)
        games.append(position.history)
    assert games[0] == games[1]
    assert len(set(games[0])) == 3


@pytest.mark.parametrize("num_detectives", [1, 3, 4, 6])
def test_any_number_of_detectives_moves_at_once_and_never_meets(num_detectives: int) -> None:
    game: Any = make_game(
        "scotland_yard_v0", "reduced", num_detectives=num_detectives, rows=3, columns=4
    )
    rng = new_rng(1)
    for _ in range(100):
        position = game.new_position()
        position.play_chance(rng)
        while not position.is_over:
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])
            if position.turn == 0 or position.is_over:
                places = record(position).place[1 : 1 + num_detectives].tolist()
                assert len(set(places)) == num_detectives or position.is_over


# ---- the original rules --------------------------------------------------------------------------

CITY: Any = make_game("scotland_yard_v0", moving="in_order")


def small_board(tmp_path: Path) -> str:
    """Two rows of three stations: taxi all round, a bus line 1-3, a ferry 4-6.

    ::

        1 2 3
        4 5 6
    """
    board = parse_board(
        {
            "format": "masquerade board",
            "version": 1,
            "name": "small",
            "transports": [
                {"name": "taxi", "color": "#aa0"},
                {"name": "bus", "color": "#0aa"},
                {"name": "ferry", "color": "#000", "needs_black": True},
            ],
            "nodes": [{"number": n, "x": (n - 1) % 3, "y": (n - 1) // 3} for n in range(1, 7)],
            "edges": {
                "taxi": [[1, 2], [2, 3], [1, 4], [2, 5], [3, 6], [4, 5], [5, 6]],
                "bus": [[1, 3]],
                "ferry": [[4, 6]],
            },
        }
    )
    (tmp_path / "small.json").write_text(board.to_text())
    return str(tmp_path / "small.json")


def small_game(tmp_path: Path, **options: Any) -> Any:
    values = {"num_detectives": 1, "detective_tickets": (11, 8), "moving": "in_order", **options}
    return make_game("scotland_yard_v0", board=small_board(tmp_path), **values)


def test_tickets_black_tickets_and_double_moves_are_those_of_the_box() -> None:
    position = CITY.new_position()
    s = record(position)
    assert CITY.ticket_names == ["taxi", "bus", "underground", "black"]
    assert s.tickets[1:6, :4].tolist() == [[11, 8, 4, 0]] * 5
    assert s.tickets[0, :4].tolist() == [-1, -1, -1, 5]
    assert s.doubles_left == 2
    assert CITY.options.reveal_moves() == {3, 8, 13, 18, 24}
    assert CITY.options.rounds == 22


def test_a_black_ticket_stands_for_any_transport_and_is_the_only_way_onto_a_ferry(
    tmp_path: Path,
) -> None:
    game = small_game(tmp_path)
    position = started(game, [1], 3)  # X at 4
    words = {position.action_text(a) for a in position.legal_actions()}
    assert words == {
        "taxi to 1",
        "taxi to 5",
        "black to 1",
        "black to 5",
        "black to 6",
        "double",
    }
    play(position, "black to 6")
    # Detectives have seen "black"; he started at 1, 3, 4, 5 or 6, but not at 2.
    assert record(position).tickets[0, 2] == 4
    # 1 -> 3 4, 3 -> 1 6, 4 -> 1 5 6, 5 -> 4 6, 6 -> 3 5 4
    assert belief(position) == {0: 2.0, 2: 2.0, 3: 3.0, 4: 2.0, 5: 3.0}


def test_the_reveal_counts_moves_and_not_rounds(tmp_path: Path) -> None:
    """A double move in round 2 makes moves 2 and 3; he shows himself at its end."""
    game = small_game(tmp_path)
    position = started(game, [0], 5)  # detective at 1, X at 6
    play(position, "taxi to 5", "taxi to 2")
    play(position, "double", "taxi to 6")
    assert record(position).seen_place == -1
    assert position.turn == 0
    play(position, "taxi to 3")
    assert record(position).seen_place == 2
    assert belief(position) == {2: 1.0}
    assert record(position).round_number == 2
    assert position.turn == 1


def test_he_vanishes_again_if_the_first_half_of_a_double_move_shows_him(tmp_path: Path) -> None:
    game = small_game(tmp_path)
    position = started(game, [0], 5)
    play(position, "taxi to 5", "taxi to 4", "taxi to 6", "taxi to 1")
    play(position, "double", "taxi to 3")
    assert belief(position) == {2: 1.0}
    play(position, "taxi to 2")
    assert belief(position) == {1: 1.0, 5: 1.0}
    assert record(position).seen_place == 2


def test_one_double_move_a_round_and_two_in_all(tmp_path: Path) -> None:
    game = small_game(tmp_path, reveals=0)
    position = started(game, [0], 5)
    double = int(game.header.double_action)
    play(position, "double")
    assert double not in position.legal_actions()
    play(position, "taxi to 5")
    assert double not in position.legal_actions()
    play(position, "taxi to 6", "taxi to 4")
    play(position, "double", "taxi to 3", "taxi to 6", "taxi to 1")
    assert record(position).doubles_left == 0
    assert double not in position.legal_actions()


def test_22_rounds_and_two_double_moves_are_24_moves(tmp_path: Path) -> None:
    game = small_game(tmp_path, detective_tickets="unlimited")
    position = started(game, [0], 5)
    while not position.is_over:
        number = record(position).round_number
        if position.turn == 1:
            play(position, "taxi to 4" if record(position).place[1] == 0 else "taxi to 1")
        elif number in (1, 2) and record(position).double == 0:
            play(position, "double")
        else:
            play(position, "taxi to 3" if record(position).place[0] == 5 else "taxi to 6")
    s = record(position)
    assert (s.reason, s.round_number, s.num_moves) == (ESCAPED, 22, 24)
    assert [m for m in range(1, 25) if s.log_place[m] >= 0] == [3, 8, 13, 18, 24]


def test_a_detective_without_a_ticket_for_any_way_out_leaves_the_game(tmp_path: Path) -> None:
    game = small_game(tmp_path, num_detectives=2, detective_tickets=(1, 8))
    position = started(game, [0, 3], 5)  # detectives at 1 and 4, X at 6
    play(position, "taxi to 3", "taxi to 2", "taxi to 5")
    # Both stand where only taxis go, and have none left.
    play(position, "taxi to 6")
    assert position.is_over
    assert record(position).reason == ALL_OUT
    assert record(position).is_out == 0b11
    assert position.returns().tolist() == [1.0, -1.0]


def test_a_detective_with_a_ticket_for_another_transport_stays(tmp_path: Path) -> None:
    game = small_game(tmp_path, detective_tickets=(1, 8))
    position = started(game, [1], 5)
    play(position, "taxi to 5", "taxi to 1")
    play(position, "taxi to 6")
    assert {position.action_text(a) for a in position.legal_actions()} == {"bus to 3"}


def test_a_detective_whom_colleagues_block_waits(tmp_path: Path) -> None:
    game = small_game(tmp_path, num_detectives=3, detective_tickets=(9, 0))
    position = started(game, [0, 1, 3], 5)  # 1 is between 2 and 4
    play(position, "taxi to 3")
    assert record(position).piece == 2
    assert record(position).is_out == 0


def test_detectives_move_in_any_order_they_like(tmp_path: Path) -> None:
    game = small_game(tmp_path, num_detectives=3, detective_tickets=(9, 0), moving="any_order")
    position = started(game, [0, 1, 3], 5)
    play(position, "taxi to 3")
    assert [position.action_text(a) for a in position.legal_actions()] == [
        "detective 2",
        "detective 3",
    ]
    play(position, "detective 3", "taxi to 5")
    # Now 4 is free, so detective 1 can move, too.
    assert [position.action_text(a) for a in position.legal_actions()] == [
        "detective 1",
        "detective 2",
    ]
    play(position, "detective 2", "taxi to 3")
    assert record(position).reason == CAUGHT


def test_nobody_enters_a_station_with_a_detective_and_all_must_move() -> None:
    rng = new_rng(5)
    for _ in range(20):
        position = CITY.new_position()
        position.play_chance(rng)
        while not position.is_over:
            s = record(position)
            places = set(s.place[1:6].tolist())
            mover = int(s.place[s.piece])
            assert not targets(position) & (places | {mover})
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])


def test_seats_of_their_own_share_one_result() -> None:
    game: Any = make_game("scotland_yard_v0", seats="each", moving="in_order", num_detectives=4)
    assert game.facts.num_players == 5
    rng, seats = new_rng(2), set()
    position = game.new_position()
    position.play_chance(rng)
    while not position.is_over:
        seats.add(position.turn)
        assert position.turn == record(position).piece
        legal = position.legal_actions()
        position.apply(legal[int(below(rng, len(legal)))])
    assert seats == {0, 1, 2, 3, 4}
    returns = position.returns()
    assert (returns[1:] == -returns[0]).all()


@pytest.mark.parametrize("seed", range(6))
def test_random_games_agree_with_a_second_version_of_the_rules(seed: int) -> None:
    """Legal moves, belief and result, step by step; few tickets let detectives drop out."""
    tickets = (11, 8, 4) if seed % 2 else (4, 2, 1)
    game: Any = make_game("scotland_yard_v0", moving="in_order", detective_tickets=tickets)
    rng = new_rng(seed)
    position = game.new_position()
    position.play_chance(rng)
    places = [int(p) + 1 for p in record(position).place[:6]]
    plain = PlainPursuit(game.boards[0], places[1:], places[0], tickets=tickets)
    while not position.is_over:
        expected = {
            "double" if ticket == "double" else f"{ticket} to {target}"
            for ticket, target in plain.legal()
        }
        legal = position.legal_actions()
        assert {position.action_text(a) for a in legal} == expected
        assert {k + 1: v for k, v in belief(position).items()} == dict(plain.belief)
        action = legal[int(below(rng, len(legal)))]
        words = position.action_text(action).split(" to ")
        plain.move(words[0], int(words[1]) if len(words) > 1 else 0)
        position.apply(action)
    assert (position.returns()[0] > 0) == (plain.winner == "fugitive")


def test_a_seat_each_is_enough_to_say() -> None:
    game: Any = make_game("scotland_yard_v0", seats="each")
    assert game == make_game("scotland_yard_v0", seats="each", moving="in_order")
    assert game.options.to_dict()["moving"] == "in_order"
    assert game.options.replace(num_detectives=3).seats == "each"
    at_once: Any = make_game("scotland_yard_v0", seats="each", moving="at_once")
    assert at_once.options.moving == "at_once"


def test_options_that_do_not_fit_are_refused_with_one_line() -> None:
    cases = [
        (
            {"board": "grid"},
            "detective_tickets lists 3 numbers, but 'grid 5 x 5' has 1: street",
        ),
        (
            {"seats": "each", "moving": "any_order"},
            "seats='each' needs moving='in_order' or 'at_once'",
        ),
        ({"num_maps": 3}, "num_maps=3 needs board='random', not 'city'"),
        ({"max_imbalance": 0.1}, "max_imbalance needs board='random', not 'city'"),
        ({"num_detectives": 7}, "num_detectives must be a whole number from 1 to 6, not 7"),
        (
            {"board": "grid", "rows": 1, "columns": 4, "detective_tickets": 5},
            "5 detectives and a fugitive are too many for the starts of 'grid 1 x 4'",
        ),
    ]
    for options, message in cases:
        with pytest.raises(OptionError) as caught:
            make_game("scotland_yard_v0", **options)
        assert message in str(caught.value)


def test_start_cards_are_public_but_for_the_fugitives() -> None:
    position = CITY.new_position()
    tokens = []
    while position.turn == CHANCE:
        outcome = position.legal_actions()[0]
        seen = [
            int(CITY.kernels.seen(position.state, CITY.rules, outcome, viewer)) for viewer in (0, 1)
        ]
        tokens.append(seen)
        position.apply(outcome)
    assert all(one == other for one, other in tokens[:5])
    assert tokens[5][0] != tokens[5][1]
    cards = CITY.boards[0].fugitive_starts
    assert {place + 1 for place in belief(position)} == set(cards)
