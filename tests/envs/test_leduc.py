"""The rules of Leduc poker, worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from common.errors import IllegalActionError, OptionError
from envs import make_game
from envs.core.compiling import JIT_DISABLED
from envs.core.game import Game
from envs.core.kernels import CHANCE, PUBLIC
from envs.core.position import Position
from envs.core.rng import new_rng
from tests.support.plain_python import digest, plain_python_digest
from tests.support.sampling import IS_FULL

FOLD, CALL, RAISE = 0, 1, 2
JACK, JACK_2, QUEEN, QUEEN_2, KING, KING_2 = range(6)

GAME = make_game("leduc_v0")
THREE = make_game("leduc_v0", num_players=3)
TABLES = [
    make_game("leduc_v0", num_players=n)
    for n in ((2, 3) if JIT_DISABLED and not IS_FULL else (2, 3, 5))
]


def random_positions(game: Game, num_games: int, seed: int) -> list[Position]:
    """Every position, the deal and the end included, of some random games."""
    rng = np.random.default_rng(seed)
    positions = []
    for _ in range(num_games):
        position = game.new_position()
        positions.append(position.copy())
        while not position.is_over:
            position.apply(int(rng.choice(position.legal_actions())))
            positions.append(position.copy())
    return positions


# ---- dealing -------------------------------------------------------------------------------------


def test_private_cards_are_dealt_before_anybody_moves() -> None:
    assert [THREE.replay([0, 1, 2][:num_dealt]).turn for num_dealt in range(4)] == [
        CHANCE,
        CHANCE,
        CHANCE,
        0,
    ]


def test_a_card_is_dealt_only_once_and_all_others_are_equally_likely() -> None:
    assert GAME.new_position().chance_outcomes() == [(card, 1 / 6) for card in range(6)]
    public = GAME.replay([KING, JACK, CALL, CALL])
    assert public.chance_outcomes() == [(card, 1 / 4) for card in (JACK_2, QUEEN, QUEEN_2, KING_2)]


def test_the_card_of_a_player_who_folded_stays_out_of_the_deck() -> None:
    assert THREE.replay([0, 1, 2, RAISE, FOLD, CALL]).legal_actions() == [3, 4, 5, 6, 7]


# ---- betting -------------------------------------------------------------------------------------


def test_fold_is_legal_only_when_facing_a_bet() -> None:
    assert GAME.replay([KING, JACK]).legal_actions() == [CALL, RAISE]
    assert GAME.replay([KING, JACK, CALL]).legal_actions() == [CALL, RAISE]
    assert GAME.replay([KING, JACK, RAISE]).legal_actions() == [FOLD, CALL, RAISE]


def test_a_round_has_at_most_two_raises() -> None:
    position = GAME.replay([KING, JACK, RAISE, RAISE])
    assert position.legal_actions() == [FOLD, CALL]
    for action in (CALL, QUEEN):
        position.apply(action)
    assert position.legal_actions() == [CALL, RAISE]


def test_the_two_raises_of_a_round_belong_to_the_table_not_to_a_player() -> None:
    assert THREE.replay([0, 1, 2, RAISE, RAISE]).legal_actions() == [FOLD, CALL]


def test_a_raise_adds_two_chips_in_the_first_round_and_four_in_the_second() -> None:
    position = GAME.replay([KING, JACK, RAISE])
    assert GAME.record(position.state).chips[:2].tolist() == [3, 1]
    position.apply(RAISE)
    assert GAME.record(position.state).chips[:2].tolist() == [3, 5]
    for action in (CALL, QUEEN, CALL, RAISE):
        position.apply(action)
    assert GAME.record(position.state).chips[:2].tolist() == [5, 9]


def test_a_round_ends_when_all_have_checked() -> None:
    assert THREE.replay([0, 1, 2, CALL, CALL]).turn == 2
    assert THREE.replay([0, 1, 2, CALL, CALL, CALL]).turn == CHANCE


def test_everybody_else_answers_a_raise() -> None:
    position = THREE.replay([0, 1, 2, CALL, CALL, RAISE])
    assert position.turn == 0
    position.apply(CALL)
    assert position.turn == 1
    position.apply(RAISE)
    assert position.turn == 2
    position.apply(CALL)
    assert position.turn == 0
    position.apply(CALL)
    assert position.turn == CHANCE


def test_the_second_round_starts_with_the_lowest_seat_still_in() -> None:
    assert THREE.replay([0, 1, 2, CALL, CALL, RAISE, CALL, CALL, 4]).turn == 0
    assert THREE.replay([0, 1, 2, CALL, CALL, RAISE, FOLD, CALL, 4]).turn == 1


def test_a_player_who_folded_is_passed_over() -> None:
    assert THREE.replay([0, 1, 2, RAISE, FOLD, CALL, 4, CALL]).turn == 2


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_the_longest_game_has_the_declared_length(num_players: int) -> None:
    game = make_game("leduc_v0", num_players=num_players)
    n = num_players
    longest_round = [*[CALL] * (n - 1), RAISE, *[CALL] * (n - 2), RAISE, *[CALL] * (n - 1)]
    position = game.replay([*range(n), *longest_round, n, *longest_round])
    assert position.is_over
    assert len(position.history) == game.facts.max_length


# ---- winning -------------------------------------------------------------------------------------


def test_the_last_player_in_wins_without_a_showdown() -> None:
    assert GAME.replay([JACK, KING, RAISE, FOLD]).returns().tolist() == [1.0, -1.0]
    assert GAME.replay([JACK, KING, RAISE, RAISE, FOLD]).returns().tolist() == [-3.0, 3.0]
    assert THREE.replay([0, 6, 7, RAISE, FOLD, FOLD]).returns().tolist() == [2.0, -1.0, -1.0]


def test_nothing_is_won_before_the_end() -> None:
    assert GAME.replay([JACK, KING, RAISE, RAISE]).returns().tolist() == [0.0, 0.0]


def test_the_higher_rank_wins_without_a_pair() -> None:
    assert GAME.replay([KING, QUEEN, CALL, CALL, JACK, CALL, CALL]).returns().tolist() == [
        1.0,
        -1.0,
    ]
    assert GAME.replay([JACK, QUEEN, CALL, CALL, KING, CALL, CALL]).returns().tolist() == [
        -1.0,
        1.0,
    ]


def test_a_pair_beats_a_higher_rank() -> None:
    assert GAME.replay([KING, JACK, CALL, CALL, JACK_2, CALL, CALL]).returns().tolist() == [
        -1.0,
        1.0,
    ]


def test_neighbouring_numbers_of_different_ranks_are_no_pair() -> None:
    # Cards 1 and 2 are a jack and a queen.
    assert GAME.replay([JACK_2, KING, CALL, CALL, QUEEN, CALL, CALL]).returns().tolist() == [
        -1.0,
        1.0,
    ]


def test_suits_do_not_count_and_equal_hands_share_the_pot() -> None:
    assert GAME.replay([QUEEN, QUEEN_2, RAISE, CALL, KING, RAISE, CALL]).returns().tolist() == [
        0.0,
        0.0,
    ]
    # Seat 0 leaves its ante: seven chips for two.
    shared = THREE.replay([0, 4, 5, CALL, RAISE, CALL, FOLD, 2, CALL, CALL])
    assert shared.returns().tolist() == [-1.0, 0.5, 0.5]


def test_a_folded_pair_wins_nothing() -> None:
    folded = THREE.replay([0, 2, 4, CALL, RAISE, CALL, FOLD, 1, CALL, CALL])
    assert folded.returns().tolist() == [-1.0, -3.0, 4.0]


def test_thirteen_chips_can_be_lost_to_every_opponent() -> None:
    raises = [RAISE, RAISE, CALL]
    assert GAME.replay([KING, JACK, *raises, KING_2, *raises]).returns().tolist() == [13.0, -13.0]
    assert (GAME.facts.min_return, GAME.facts.max_return) == (-13.0, 13.0)
    assert (THREE.facts.min_return, THREE.facts.max_return) == (-13.0, 26.0)


# ---- who sees what -------------------------------------------------------------------------------


def test_only_its_owner_sees_a_private_card() -> None:
    king = GAME.replay([KING, JACK, CALL, CALL, QUEEN])
    other = GAME.replay([QUEEN_2, JACK, CALL, CALL, QUEEN])
    assert king.key(1) == other.key(1)
    assert king.key(0) != other.key(0)
    assert king.tokens(PUBLIC) == other.tokens(PUBLIC)
    assert king.observation(1).tolist() == other.observation(1).tolist()


def test_everybody_sees_the_public_card_and_the_betting() -> None:
    positions = [
        GAME.replay([KING, JACK, CALL, CALL, QUEEN]),
        GAME.replay([KING, JACK, CALL, CALL, QUEEN_2]),
        GAME.replay([KING, JACK, RAISE, CALL, QUEEN]),
    ]
    for viewer in (0, 1):
        assert len({position.key(viewer) for position in positions}) == 3
    assert len({tuple(position.tokens(PUBLIC)) for position in positions}) == 3


def test_the_observation_shows_seat_cards_chips_and_every_move() -> None:
    position = GAME.replay([KING, JACK, CALL, RAISE, CALL, QUEEN, RAISE])
    pieces = GAME.observation_fields(position.observation(1))
    assert pieces["seat"].tolist() == [0, 1]
    assert np.flatnonzero(pieces["card"]).tolist() == [JACK]
    assert np.flatnonzero(pieces["public_card"]).tolist() == [QUEEN]
    np.testing.assert_allclose(pieces["chips"], [7 / 13, 3 / 13], rtol=1e-6)
    first, second = (pieces[name].reshape(4, 3) for name in ("first_round", "second_round"))
    assert first.tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert second.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("game", TABLES, ids=repr)
def test_the_observation_tells_information_sets_apart(game: Game) -> None:
    decisions = [p for p in random_positions(game, 300, seed=3) if p.turn >= 0]
    pairs = {(p.key(p.turn), p.observation(p.turn).tobytes()) for p in decisions}
    assert (
        len({key for key, _ in pairs})
        == len({observation for _, observation in pairs})
        == len(pairs)
    )


# ---- other worlds --------------------------------------------------------------------------------


@pytest.mark.parametrize("game", TABLES, ids=repr)
def test_determinize_gives_a_world_that_the_same_sights_lead_to(game: Game) -> None:
    rng = new_rng(2)
    n = game.facts.num_players
    for position in random_positions(game, 20, seed=5):
        for viewer in range(n):
            world = position.determinized(viewer, rng)
            cards = [int(card) for card in game.record(world).cards[:n] if card >= 0]
            replayed = game.replay([*cards, *position.history[len(cards) :]])
            assert replayed.state.tobytes() == world.tobytes()
            assert replayed.key(viewer) == position.key(viewer)


@pytest.mark.parametrize("game", TABLES, ids=repr)
def test_determinize_knows_no_more_than_the_player(game: Game) -> None:
    for number, position in enumerate(random_positions(game, 20, seed=6)):
        for viewer in range(game.facts.num_players):
            world = position.determinized(viewer, new_rng(number))
            again = world.copy()
            game.kernels.determinize(again, game.rules, viewer, new_rng(number))
            assert again.tobytes() == world.tobytes()


def test_determinize_draws_every_possible_world_equally_often() -> None:
    position = THREE.replay([0, 3, 6, CALL, CALL, CALL, 7])
    rng = new_rng(1)
    num_draws, num_worlds = 9000, 6 * 5
    drawn = (THREE.record(position.determinized(1, rng)).cards[:3] for _ in range(num_draws))
    worlds = Counter(tuple(cards.tolist()) for cards in drawn)
    left = (0, 1, 2, 4, 5, 6)
    assert sorted(worlds) == [(a, 3, b) for a in left for b in left if a != b]
    five_sigma = 5 * np.sqrt(num_draws / num_worlds * (1 - 1 / num_worlds))
    assert all(abs(count - num_draws / num_worlds) < five_sigma for count in worlds.values())


# ---- the rest ------------------------------------------------------------------------------------


def test_a_viewer_is_shown_no_other_private_card() -> None:
    position = THREE.replay([0, 3, 6, RAISE, FOLD, CALL, 7])
    assert position.text().splitlines() == [
        "public card Ah",
        "> player 0: card Js, 3 in the pot",
        "  player 1: card Qh, 1 in the pot, folded",
        "  player 2: card As, 3 in the pot",
    ]
    assert position.text(viewer=0) == position.text().replace("Qh", "?").replace("As", "?")


def test_actions_and_cards_have_names() -> None:
    position = GAME.replay([JACK, KING, RAISE])
    assert [position.action_text(a) for a in (FOLD, CALL, RAISE)] == ["fold", "call", "raise"]
    assert [GAME.chance_text(GAME.new_position().state, card) for card in (JACK, JACK_2, KING)] == [
        "deals Js",
        "deals Jh",
        "deals Ks",
    ]
    assert position.parse_action(" Raise ") == RAISE


def test_moves_that_are_not_due_are_refused() -> None:
    with pytest.raises(IllegalActionError):
        GAME.replay([KING, KING])
    with pytest.raises(IllegalActionError, match="1 \\(call\\), 2 \\(raise\\)"):
        GAME.replay([KING, JACK, FOLD])
    with pytest.raises(IllegalActionError, match="the game is over"):
        GAME.replay([KING, JACK, RAISE, FOLD, CALL])


@pytest.mark.parametrize("num_players", [1, 6])
def test_only_two_to_five_can_play(num_players: int) -> None:
    with pytest.raises(OptionError, match="from 2 to 5"):
        make_game("leduc_v0", num_players=num_players)


def test_no_card_is_ever_dealt_twice() -> None:
    for position in random_positions(THREE, 30, seed=8):
        assert THREE.conserved(position.state) == {"duplicate cards": 0.0}


@pytest.mark.parametrize("num_players", [2, 5])
def test_plain_python_plays_the_same_games(num_players: int) -> None:
    games = ("leduc_v0", {"num_players": num_players}, 30, 7)
    assert plain_python_digest(*games) == digest(*games)
