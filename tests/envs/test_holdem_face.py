"""Words, pictures, hand histories, who sees what, and hands against PokerKit."""

from __future__ import annotations

import re

import numpy as np
import pokerkit
import pytest

from common.errors import MasqueradeError
from envs import make_game
from envs.core.kernels import CHANCE, PUBLIC
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.holdem.phh import join_hands, read_hand, read_hands, write_hands
from tests.support import holdem_oracle
from tests.support.holdem_table import deal, play, profits, run_out
from tests.support.plain_python import digest, plain_python_digest
from tests.support.sampling import IS_FULL

THREE = ["As Ad", "Ks Kd", "Qs Qd"]
SIX = [*THREE, "Js Jd", "Ts Td", "9s 9d"]


def random_end(game: object, seed: int, number: int = 0) -> Position:
    rng = np.random.default_rng(seed)
    position = game.new_position(number)  # type: ignore[attr-defined]
    while not position.is_over:
        legal = position.legal_actions()
        position.apply(int(legal[min(rng.integers(0, len(legal), 2))]))
    return position


# ---- words ---------------------------------------------------------------------------------------


def test_moves_are_said_as_players_say_them() -> None:
    game = make_game("holdem_v0", num_players=3, stacks=(10_000, 10_000, 700))
    position = game.replay(list(range(6)))
    words = [game.action_text(position.state, action) for action in position.legal_actions()]
    assert words == ["folds", "calls 100", "raises to 200", "raises to 225", "raises to 350",
                     "raises to 10000 and is all-in"]  # fmt: skip
    position.apply(1)
    position.apply(1)
    assert game.action_text(position.state, 1) == "checks"
    position.apply(1)
    for card in (20, 21, 22):
        position.apply(card)
    assert game.action_text(position.state, 4) == "bets 300"
    for action in (5,):
        position.apply(action)
    assert game.action_text(position.state, 1) == "calls 600 and is all-in"


def test_a_viewer_is_shown_no_other_private_hand_before_the_showdown() -> None:
    position = play(deal(THREE), "call", "call", "call", "2h 3c 7h")
    assert position.text(viewer=1).count("?? ??") == 2
    assert "Kd Ks (pair)" in position.text(viewer=1)
    play(position, 100, "call", "fold", "8d", "call", "call", "9d", "call", "call")
    text = position.text(viewer=0)
    assert "Kd Ks" in text
    assert "player 2: Qd Qs" in text
    assert text.count("?? ??") == 0


def test_a_hand_that_was_folded_stays_hidden() -> None:
    position = run_out(play(deal(THREE), "fold", 10_000, "call"))
    assert position.is_over
    assert "player 0 (dealer): ?? ??" in position.text(viewer=1)


# ---- who sees what -------------------------------------------------------------------------------


def test_only_the_owner_sees_a_hand_and_not_in_which_order_it_came() -> None:
    one, other = deal(["As Kd", "Qs Qd"]), deal(["Kd As", "Qs Qd"])
    third = deal(["As Kd", "2s 3d"])
    assert one.key(0) == other.key(0) == third.key(0)
    assert one.key(1) != third.key(1)
    assert one.tokens(PUBLIC) == third.tokens(PUBLIC)
    assert one.state.tobytes() == other.state.tobytes()


def test_a_showdown_is_seen_by_everybody_and_a_fold_shows_nothing() -> None:
    def ends(hands: list[str], *moves: str | int) -> Position:
        return play(deal(hands, num_hands=2, button=0), *moves)

    board = ("call", "call", "2h 3c 7h", "call", "call", "8d", "call", "call", "9d", "call", "call")
    one, other = (ends(["As Ad", hand], *board) for hand in ("Ks Kd", "Qs Qd"))
    assert one.key(0) != other.key(0)
    one, other = (ends(["As Ad", hand], 300, "fold") for hand in ("Ks Kd", "Qs Qd"))
    assert one.key(0) == other.key(0)


def test_an_all_in_showdown_is_seen_with_the_last_card() -> None:
    def ends(hand: str) -> Position:
        return play(deal(["As Ad", hand]), 10_000, "call", "2h 3c 7h", "8d", "9d")

    one, other = ends("Ks Kd"), ends("Qs Qd")
    assert one.tokens(0)[:-1] == other.tokens(0)[:-1]
    assert one.tokens(0)[-1] != other.tokens(0)[-1]


def test_worlds_at_the_end_keep_what_was_shown_and_redraw_what_was_not() -> None:
    position = run_out(play(deal(THREE), "fold", 10_000, "call"))
    game, rng = position.game, new_rng(1)
    worlds = [game.record(position.determinized(1, rng)) for _ in range(20)]
    assert len({tuple(world.hole[0].tolist()) for world in worlds}) > 5
    assert len({tuple(world.hole[2].tolist()) for world in worlds}) == 1
    assert all((w.profits == game.record(position.state).profits).all() for w in worlds)


def test_compiled_and_plain_python_play_the_same_hands() -> None:
    options = {"num_players": 3, "stacks": [300, 900, 140], "ante": 5, "num_hands": 1 + IS_FULL}
    assert digest("holdem_v0", options, 1, 5) == plain_python_digest("holdem_v0", options, 1, 5)


# ---- pictures ------------------------------------------------------------------------------------


def test_a_picture_offers_the_actions_of_the_viewer_with_their_amounts() -> None:
    game = make_game("holdem_v0", num_players=3)
    position = game.replay(list(range(6)))
    svg = game.draw(position.state, 0)
    assert re.findall(r'data-action="(\d+)"', svg) == ["0", "1", "2", "3", "4", "5"]
    for words in ("Fold", "Call 100", "Raise to 225", "All-in 10000"):
        assert f">{words}<" in svg
    assert "data-action" not in game.draw(position.state, 1)
    assert "data-action" in game.draw(position.state, None)


def test_with_thousands_of_actions_a_picture_offers_some_of_all_sizes() -> None:
    position = deal(THREE)
    found = re.findall(r'data-action="(\d+)"', position.game.draw(position.state, 0))
    actions = sorted(int(action) for action in found)
    legal = position.legal_actions()
    assert len(set(actions)) == len(actions) < 500 < len(legal)
    assert set(actions) <= set(legal)
    assert (actions[0], actions[-1]) == (legal[0], legal[-1])
    assert np.diff(actions[2:]).max() < 60


def test_a_picture_shows_nothing_that_the_viewer_does_not_know() -> None:
    rng = new_rng(4)
    position = play(deal(SIX), 300, "call", "fold", "call", "fold", "call", "2h 3c 7h")
    for viewer in range(6):
        picture = position.game.draw(position.state, viewer)
        for _ in range(5):
            world = position.determinized(viewer, rng)
            assert position.game.draw(world, viewer) == picture


# ---- hand histories ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_hand_that_is_written_and_read_is_the_same(seed: int) -> None:
    game = holdem_oracle.random_table(np.random.default_rng(seed), "standard")
    position = random_end(game, seed, seed)
    (text,) = write_hands(position)
    again = read_hand(text).position()
    n = game.options.num_players
    button = int(game.record(position.state).button)
    assert profits(again) == [profits(position)[(button + 1 + i) % n] for i in range(n)]
    assert write_hands(again) == [text]


@pytest.mark.parametrize("seed", range(12))
def test_pokerkit_reads_our_hand_histories(seed: int) -> None:
    game = holdem_oracle.random_table(np.random.default_rng([seed, 1]), "standard")
    position = random_end(game, seed)
    *_, state = pokerkit.HandHistory.loads(write_hands(position)[0])
    n = game.options.num_players
    ours = [profits(position)[(1 + i) % n] for i in range(n)]
    assert max(abs(a - int(b)) for a, b in zip(ours, state.payoffs, strict=True)) < n  # odd chips


def test_a_match_is_written_hand_by_hand() -> None:
    game = make_game("holdem_v0", num_players=3, num_hands=4, button="random", stacks=1000)
    position = random_end(game, 5)
    texts = write_hands(position)
    assert len(texts) == game.record(position.state).num_hands
    assert all(read_hand(text).position().is_over for text in texts)


def test_unknown_cards_are_read_as_any_others() -> None:
    text = write_hands(play(deal(THREE, button=2), 300, "fold", "fold"))[0]
    position = read_hand(text.replace("KdKs", "????").replace("KsKd", "????")).position()
    assert position.is_over
    assert profits(position) == [-50, -100, 150]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("'NT'", "'PO'"), "variant must be 'NT'"),
        (("antes = [0, 0, 0]", "antes = [0, 0, 5]"), "same ante"),
        (("p3 cbr 300", "p1 cbr 300"), "action 4 of the hand"),
        (("p3 cbr 300", "p3 cbr 110"), "a raise is from 200 to 10000 chips here"),
        (("p3 cbr 300", "d db AsAhAc"), "player 3 is to move"),
        (("d dh p2", "d dh p2 AsAs #"), "As is dealt twice"),
        (("actions", "deeds"), "no PHH document"),
    ],
)
def test_histories_that_cannot_be_read_are_refused(change: tuple[str, str], message: str) -> None:
    text = write_hands(play(deal(THREE, button=2), 300, "fold", "fold"))[0]
    with pytest.raises(MasqueradeError, match=message):
        read_hand(text.replace(*change))


def test_hands_of_one_file_are_told_apart_with_their_players() -> None:
    positions = [play(deal(THREE, button=2), 300, *moves) for moves in (("fold", "fold"), ())]
    texts = [text for each in positions for text in write_hands(each, ["a", "b 'x'", "c"])]
    hands = read_hands(join_hands(texts))
    assert [hand.names for hand in hands] == [("a", "b 'x'", "c")] * 2
    assert [hand.position().is_over for hand in hands] == [True, False]
    assert [list(h) for h in pokerkit.HandHistory.loads_all(join_hands(texts))]


def test_cents_are_read_as_chips() -> None:
    text = write_hands(play(deal(THREE, button=2), 300, "fold", "fold"))[0]
    for old, new in (
        ("[50, 100, 0]", "[0.50, 1.00, 0]"),
        ("min_bet = 100", "min_bet = 1.00"),
        ("[10000, 10000, 10000]", "[100.00, 100.00, 100.00]"),
        ("cbr 300", "cbr 3.00"),
    ):
        assert old in text
        text = text.replace(old, new)
    assert profits(read_hand(text).position()) == [-50, -100, 150]
    with pytest.raises(MasqueradeError, match="whole numbers or have two decimals"):
        read_hand(text.replace("cbr 3.00", "cbr 3.005"))


def test_a_position_in_mid_hand_is_written_as_far_as_it_goes() -> None:
    position = play(deal(THREE, button=2), 300, "call")
    again = read_hand(write_hands(position)[0]).position()
    assert again.turn == position.turn != CHANCE


# ---- PokerKit ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["pokerkit", "standard"])
def test_random_hands_are_those_of_pokerkit(rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert holdem_oracle.main(["--hands", "160", "--rules", rules, "--seed", "7"]) == 0
    assert "160 hands" in capsys.readouterr().out


def test_every_random_table_is_one_that_the_game_takes() -> None:
    # All stacks alike and below a big blind come once in some hundred tables.
    rng = np.random.default_rng(0)
    for _ in range(1000):
        holdem_oracle.random_table(rng, "pokerkit")


def test_random_deals_are_judged_as_by_phevaluator(capsys: pytest.CaptureFixture[str]) -> None:
    assert holdem_oracle.main(["--deals", "20000"]) == 0
    assert "differs in 0" in capsys.readouterr().out


def test_a_difference_to_pokerkit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_oracle, "side_pots", lambda s, n: [])
    assert holdem_oracle.main(["--hands", "40", "--seed", "7"]) == 1


def test_moves_are_read_as_players_say_them() -> None:
    game = make_game("holdem_v0", num_players=3)
    position = game.replay(list(range(6)))
    for action in position.legal_actions():
        assert game.parse_action(game.action_text(position.state, action), position.state) == action
    assert game.parse_action("Raise 225", position.state) == 3
    with pytest.raises(MasqueradeError, match="no legal action"):
        game.parse_action("raises to 226", position.state)
    with pytest.raises(MasqueradeError, match="no legal action"):
        game.parse_action("bluffs", position.state)


def test_results_are_read_in_big_blinds_per_hundred_hands() -> None:
    units = [
        make_game("holdem_v0", **options).facts.unit
        for options in (
            {},
            {"rewards": "big_blinds"},
            {"num_hands": 6, "fresh_stacks": True},
            {"num_hands": 6},
        )
    ]
    assert [(unit.name, round(unit.scale, 6)) for unit in units] == [
        ("bb/100", 1.0),
        ("bb/100", 100.0),
        ("bb/100", 0.166667),
        ("bb", 0.01),
    ]


def test_players_with_other_stacks_have_other_roles_and_bounds() -> None:
    seats = make_game("holdem_v0", num_players=3, stacks=(500, 1000, 500)).facts.seats
    assert [seat.role for seat in seats] == ["500 chips", "1000 chips", "500 chips"]
    assert [(seat.low, seat.high) for seat in seats] == [(-500, 1000), (-1000, 1000), (-500, 1000)]
