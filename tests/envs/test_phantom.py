"""The Phantom of Old Prague: tokens, placement, reveals, ends, and its configuration file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envs import make_game
from envs.core.position import Position
from envs.core.rng import below, new_rng
from envs.pursuit.options import BLOCKED, CAUGHT, ESCAPED, START
from tests.support.pursuits import belief, play, record

PHANTOM: Any = make_game("phantom_v0", "map_1")


def walk(game: Any, seed: int) -> Position:
    """Play one game at random."""
    position, rng = game.new_position(), new_rng(seed)
    while not position.is_over:
        legal = position.legal_actions()
        position.apply(legal[int(below(rng, len(legal)))])
    return position


def line(**options: Any) -> Any:
    """A game on a street of places 1 to 8, with one detective and plenty of tokens."""
    values: dict[str, Any] = {"num_detectives": 1, "detective_tickets": 30, "fugitive_tickets": 30}
    return make_game("phantom_v0", board="grid", rows=1, columns=8, **{**values, **options})


def test_tokens_at_the_start_are_10_9_5_and_4_3_3() -> None:
    s = record(PHANTOM.new_position())
    assert s.tickets[1:6, :3].tolist() == [[10, 9, 5]] * 5
    assert s.tickets[0, :3].tolist() == [4, 3, 3]
    assert PHANTOM.options.rounds == 24
    assert PHANTOM.options.reveal_moves() == {3, 8, 13, 18, 21}


def test_tokens_in_detectives_hands_and_those_given_are_always_120() -> None:
    for seed in range(30):
        position, rng = PHANTOM.new_position(), new_rng(seed)
        while not position.is_over:
            s = record(position)
            held, given = s.tickets[1:6, :3].sum(), s.given[:3].sum()
            assert held + given == 120
            assert s.tickets[0, :3].sum() + s.used[:3].sum() == 10 + given
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])


def test_a_token_that_a_detective_spends_goes_to_the_phantom() -> None:
    game = line()
    position = play(game.new_position(), 7, 0, "street to 7", "street to 2")
    assert record(position).tickets[:2, 0].tolist() == [30, 29]


def test_moves_need_an_edge_and_a_token() -> None:
    for seed in range(10):
        position, rng = PHANTOM.new_position(), new_rng(seed)
        board = PHANTOM.boards[0]
        while not position.is_over:
            s = record(position)
            legal = position.legal_actions()
            if s.round_number > 0:
                for action in legal:
                    kind, target = divmod(action, board.num_slots)
                    assert s.tickets[s.piece, kind] > 0
                    assert target + 1 in board.neighbours(int(s.place[s.piece]) + 1, kind)
            position.apply(legal[int(below(rng, len(legal)))])


def test_a_game_without_a_catch_is_the_phantoms_after_24_rounds() -> None:
    game = line(rounds=24)
    position = play(game.new_position(), 7, 0)
    while not position.is_over:
        s = record(position)
        if position.turn == 0:
            play(position, "street to 7" if s.place[0] == 7 else "street to 8")
        else:
            play(position, "street to 2" if s.place[1] == 0 else "street to 1")
    s = record(position)
    assert (s.reason, s.round_number, s.num_moves) == (ESCAPED, 24, 24)
    assert position.returns().tolist() == [1.0, -1.0]
    assert [m for m in range(1, 25) if s.log_place[m] >= 0] == [3, 8, 13, 18, 21]


def test_the_placement_is_the_first_round_or_comes_before_it() -> None:
    for is_round, rounds in ((True, 24), (False, 25)):
        game = line(placement_is_round=is_round)
        position = play(game.new_position(), 7, 0)
        s = record(position)
        assert s.round_number == (2 if is_round else 1)
        assert s.num_moves == int(is_round)
        assert (s.log_kind[1] == START) == is_round
        assert game.facts.max_length >= rounds * 2 - 1


def test_detectives_start_on_different_places() -> None:
    position = PHANTOM.new_position()
    position.apply(position.legal_actions()[0])
    taken = set()
    for _ in range(5):
        legal = position.legal_actions()
        assert not taken & set(legal)
        taken.add(legal[-1])
        position.apply(legal[-1])
    assert len(taken) == 5


def test_a_start_on_the_phantoms_place_wins_at_once() -> None:
    position = play(line().new_position(), 3, 3)
    assert position.is_over
    assert record(position).reason == CAUGHT
    assert position.returns().tolist() == [-1.0, 1.0]


@pytest.mark.parametrize("order", ["fugitive_first", "detectives_first"])
def test_blind_starts_coincide_in_five_of_n_games(order: str) -> None:
    game: Any = make_game("phantom_v0", "map_1", placement_order=order)
    num_nodes = len(game.boards[0].nodes)
    rng, num_games, num_met = new_rng(1), 4000, 0
    for _ in range(num_games):
        position = game.new_position()
        for _ in range(6):
            if position.is_over:
                break
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])
        num_met += record(position).reason == CAUGHT
    share = 5 / num_nodes
    assert abs(num_met / num_games - share) < 4 * np.sqrt(share * (1 - share) / num_games)


def test_the_phantom_sees_the_detectives_starts_only_if_they_place_first() -> None:
    blind = line()
    position = blind.new_position()
    assert position.turn == 0
    play(position, 4)
    assert set(belief(position)) == set(range(8))
    play(position, 2)
    assert set(belief(position)) == set(range(8)) - {2}
    seeing = line(placement_order="detectives_first")
    position = play(seeing.new_position(), 2)
    assert position.turn == 0
    parts = seeing.observation_fields(position.observation(0))
    assert np.flatnonzero(parts["detectives"]).tolist() == [2]


def test_the_phantom_may_walk_into_a_detective_and_loses() -> None:
    position = play(line().new_position(), 3, 1)
    play(position, "street to 3", "street to 1")
    play(position, "street to 2", "street to 2")
    assert record(position).reason == CAUGHT
    position = play(line().new_position(), 3, 2, "street to 3")
    assert record(position).reason == CAUGHT
    with pytest.raises(ValueError, match="is not legal here"):
        play(line(may_step_on_detective=False).new_position(), 3, 2).apply(2)


def test_a_detective_without_a_token_waits_and_the_game_goes_on() -> None:
    game = line(detective_tickets=1)
    position = play(game.new_position(), 7, 0, "street to 7", "street to 2")
    for target in (8, 7, 8):
        assert position.turn == 0
        play(position, f"street to {target}")
    assert record(position).is_out == 0


def test_a_phantom_without_a_token_loses() -> None:
    game = line(fugitive_tickets=1, spent_tickets="supply")
    position = play(game.new_position(), 7, 0, "street to 7", "street to 2")
    assert position.is_over
    assert record(position).reason == BLOCKED


def test_detectives_may_not_share_a_place_unless_the_option_says_so() -> None:
    for may_share in (False, True):
        game = line(num_detectives=2, may_share=may_share)
        position = play(game.new_position(), 7, 0, 2, "street to 7", "street to 2")
        assert (1 in {a % 8 for a in position.legal_actions()}) == may_share


def test_without_reveals_no_message_to_detectives_holds_a_place() -> None:
    """Games with the same tokens shown and other places send detectives the same messages."""
    game = line(reveals=0, rounds=6)
    messages = set()
    for start in (3, 4, 5, 6):
        position = play(game.new_position(), start, 0)
        play(position, f"street to {start + 2}", "street to 2", f"street to {start + 1}")
        messages.add((tuple(position.tokens(1)), position.text(1)))
    assert len(messages) == 1


def test_belief_is_a_single_place_after_a_reveal_and_always_holds_the_truth() -> None:
    for seed in range(20):
        position, rng = PHANTOM.new_position(), new_rng(seed)
        while not position.is_over:
            s = record(position)
            if s.place[0] >= 0:
                assert belief(position)[int(s.place[0])] > 0
            if s.num_moves in (3, 8, 13, 18, 21) and position.turn == 1:
                assert s.seen_move == s.num_moves
                assert len(belief(position)) == 1
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])


def test_the_same_seed_plays_the_same_game() -> None:
    assert walk(PHANTOM, 3).history == walk(PHANTOM, 3).history


# ---- configuration files -------------------------------------------------------------------------
