"""The rule players: hand-worked decisions, chances against enumeration, and strength."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent, Views
from agents.games.kuhn.rule import bet_probs
from agents.games.liars_dice.abstractions import AT_LEAST, FEWER, count_chances
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import below, new_rng
from envs.kuhn.kernels import BET, PASS
from envs.leduc.kernels import CALL, FOLD, RAISE
from tests.support.mid_game import ROWS, batch_in_mid_game
from tests.support.option_sets import OPTION_SETS, name
from tests.support.views import views_of

RULES = {"kuhn_v0": "kuhn_rule", "leduc_v0": "leduc_rule", "liars_dice_v0": "liars_dice_rule"}
GAMES = [pytest.param(row, id=name(row)) for row in OPTION_SETS if row[0] in RULES]


def rule_for(game: Game) -> Agent:
    return make_agent(RULES[game.id], game)


def choice(game: Game, chance: Sequence[int], moves: str = "") -> str:
    """What the rule does after these chance outcomes and these moves, in words."""
    position = game.replay(chance)
    for move in moves.split():
        position.apply(position.parse_action(move))
    return position.action_text(int(rule_for(game).act(views_of([position]))[0]))


# ---- every rule ----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES, indirect=True)
def test_every_option_set_is_played_alike_whatever_the_batch_size(game: Game) -> None:
    """An illegal action would be refused by the match."""
    num_players = game.facts.num_players
    rule, other = rule_for(game), make_agent("random", game)
    mixed = [rule if seat % 2 else other for seat in range(num_players)]
    for seats in ([rule] * num_players, mixed):
        whole = play_match(game, seats, 300, seed=2)
        small = play_match(game, seats, 300, seed=2, batch_size=7)
        assert (whole.returns == small.returns).all()
        assert (whole.lengths == small.lengths).all()


@pytest.mark.parametrize("game", GAMES, indirect=True)
@pytest.mark.parametrize("num_moves", [0, 1, 2, 4])
def test_what_is_drawn_for_the_hidden_part_of_a_world_matters_to_no_rule(
    game: Game, num_moves: int
) -> None:
    """The swap test cannot see a rule that reads it: it is drawn alike for both truths."""
    if game == make_game("kuhn_v0"):
        return  # mixes its actions, so other draws are other actions
    batch, rows = batch_in_mid_game(game, num_moves, seed=6), np.arange(ROWS)
    chosen = rule_for(game).act(batch.views(rows))
    for seed in range(3):
        views = batch.views(rows)
        views.rngs = np.stack([new_rng(1000 * seed + row) for row in range(ROWS)])
        assert (rule_for(game).act(views) == chosen).all()


@pytest.mark.parametrize("wild", ["none", "ones", "ones_unbiddable", "highest"])
@pytest.mark.parametrize("raising", ["count_first", "face_first", "never_lower"])
@pytest.mark.parametrize("single_round", [False, True])
def test_every_way_to_play_liars_dice_is_legal(wild: str, raising: str, single_round: bool) -> None:
    for dice, faces in (((1, 5, 2), 2), ((3, 1), 4), ((5,) * 6, 6)):
        game = make_game(
            "liars_dice_v0",
            num_players=len(dice),
            dice=dice,
            faces=faces,
            wild=wild,
            raising=raising,
            single_round=single_round,
        )
        rule, other = rule_for(game), make_agent("random", game)
        play_match(game, [rule, other, *[rule] * (len(dice) - 2)], 50)


def test_a_rule_refuses_other_games_by_name() -> None:
    with pytest.raises(
        MasqueradeError, match=r"^liars_dice_rule plays liars_dice_v0, not kuhn_v0$"
    ):
        make_agent("liars_dice_rule", make_game("kuhn_v0"))


def test_an_agent_outside_the_table_is_called_by_its_class() -> None:
    class Picky(Agent):
        game_ids = ("kuhn_v0", "leduc_v0")

        def act(self, views: Views) -> Actions:
            raise NotImplementedError

    assert Picky(make_game("leduc_v0")).game.id == "leduc_v0"
    with pytest.raises(MasqueradeError, match=r"^Picky plays kuhn_v0 and leduc_v0, not liars_dice"):
        Picky(make_game("liars_dice_v0"))


# ---- Liar's Dice ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("faces", "num_fitting"), [(2, 1), (2, 2), (3, 2), (4, 1), (4, 2)])
def test_chances_are_those_of_enumeration(faces: int, num_fitting: int) -> None:
    chances = count_chances(faces, num_fitting, 4)
    for n in range(5):
        rolls = list(itertools.product(range(faces), repeat=n))
        for k in range(5):
            num_true = sum(sum(die < num_fitting for die in roll) >= k for roll in rolls)
            assert chances[AT_LEAST, n, k] == num_true / len(rolls)
            assert chances[FEWER, n, k] == (len(rolls) - num_true) / len(rolls)


def chance_by_enumeration(position: Position, bid: int) -> Fraction:
    """How likely a bid is true for the player to move, over every roll of the others."""
    game, s = position.game, position.game.record(position.state)
    count, face = game.bid(bid)  # type: ignore[attr-defined]
    options = game.options
    wild = {"none": 0, "highest": options.faces}.get(options.wild, 1)  # type: ignore[attr-defined]
    seat = position.turn
    own = [int(die) for die in s.dice[seat][: s.dice_left[seat]]]
    num_hidden = int(s.dice_left.sum()) - len(own)
    faces = range(1, options.faces + 1)  # type: ignore[attr-defined]
    rolls = list(itertools.product(faces, repeat=num_hidden))
    num_true = sum(sum(d in (face, wild) for d in [*own, *roll]) >= count for roll in rolls)
    return Fraction(num_true, len(rolls))


def expected_choice(position: Position) -> int:
    legal = position.legal_actions()
    liar = position.game.facts.num_actions - 1
    raises = [(chance_by_enumeration(position, bid), bid) for bid in legal if bid != liar]
    best, bid = max(raises, default=(Fraction(-1), liar))
    if liar not in legal:
        return bid
    standing = int(position.game.record(position.state).bid)
    return liar if 1 - chance_by_enumeration(position, standing) > best else bid


@pytest.mark.parametrize("wild", ["none", "ones", "ones_unbiddable", "highest"])
@pytest.mark.parametrize("raising", ["count_first", "face_first", "never_lower"])
@pytest.mark.parametrize(("dice", "faces"), [((2, 2), 3), ((1, 3), 2), ((1, 2, 1), 4)])
def test_decisions_are_those_of_enumeration(
    wild: str, raising: str, dice: tuple[int, ...], faces: int
) -> None:
    game = make_game(
        "liars_dice_v0",
        num_players=len(dice),
        dice=dice,
        faces=faces,
        wild=wild,
        raising=raising,
    )
    rng, positions = new_rng(4), []
    for _ in range(3):
        position = game.new_position()
        position.play_chance(rng)
        while not position.is_over:
            positions.append(position.copy())
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])
            position.play_chance(rng)
    expected = [expected_choice(position) for position in positions]
    assert rule_for(game).act(views_of(positions)).tolist() == expected


def test_liars_dice_by_hand() -> None:
    game = make_game("liars_dice_v0", dice=2)
    dice = [2, 2, 4, 4]  # two threes against two fives
    # 1*3 and 2*3 are certain: the higher of them.
    assert choice(game, dice) == "2*3"
    # Two threes under the other cup have 1/36, but 2*5 is certain.
    assert choice(game, dice, "2*3") == "2*5"
    # False with 35/36; the best raise, 2*6, is true with 1/36.
    assert choice(game, dice, "2*3 2*5") == "liar"
    # Nothing can be bid after the highest bid.
    assert choice(game, dice, "4*6") == "liar"


def test_between_equal_chances_the_rule_raises_as_high_as_it_can() -> None:
    game = make_game("liars_dice_v0", dice=1, faces=3, wild="ones", raising="count_first")
    # 2*1 needs another one: false with 2/3. My wild one makes 2*2 and 2*3 true with 2/3.
    assert choice(game, [1, 0], "2*1") == "2*3"


def test_a_wild_face_helps_every_bid_but_its_own() -> None:
    plain = make_game("liars_dice_v0", dice=1)
    # My two: 1*5 is false with 5/6, and after it 1*6 or 2*5 are true with 1/6 at most.
    assert choice(plain, [4, 1], "1*5") == "liar"
    wild = make_game("liars_dice_v0", dice=1, wild="ones_unbiddable")
    # The same with wild ones: false with 4/6, and 1*6 true with 2/6.
    assert choice(wild, [4, 1], "1*5") == "liar"
    # With a one of my own 1*5 is true, and 1*6 too.
    assert choice(wild, [4, 0], "1*5") == "1*6"


def test_liars_dice_rule_beats_random_in_nine_of_ten_matches() -> None:
    game = make_game("liars_dice_v0")
    rule, other = rule_for(game), make_agent("random", game)
    for seat in (0, 1):
        result = play_match(game, [rule, other] if seat == 0 else [other, rule], 1000, seed=5)
        wins = (1 + result.mean_returns[seat]) / 2
        assert wins - result.half_widths[seat] / 2 > 0.9


# ---- Kuhn ----------------------------------------------------------------------------------------

Strategy = Callable[[int, int, int], float]


def rule_strategy(seat: int, num_bets: int, card: int) -> float:
    return float(bet_probs(2)[seat, num_bets, card])


def value(position: Position, strategies: tuple[Strategy, Strategy]) -> float:
    """What the first seat expects, exactly; a strategy is the probability of a bet."""
    if position.is_over:
        return float(position.returns()[0])
    if position.is_chance:
        outcomes = position.chance_outcomes()
    else:
        s, seat = position.game.record(position.state), position.turn
        prob = strategies[seat](seat, int(s.has_bet.sum()), int(s.cards[seat]))
        outcomes = [(PASS, 1 - prob), (BET, prob)]
    total = 0.0
    for action, prob in outcomes:
        if prob:
            child = position.copy()
            child.apply(action)
            total += prob * value(child, strategies)
    return total


def test_no_strategy_wins_against_the_kuhn_rule() -> None:
    """All 64 pure strategies of either seat: the game's value, -1/18 for the first, is the most."""
    start = make_game("kuhn_v0").new_position()
    assert value(start, (rule_strategy, rule_strategy)) == pytest.approx(-1 / 18)
    as_first, as_second = [], []
    for plan in itertools.product([0.0, 1.0], repeat=6):

        def pure(_seat: int, num_bets: int, card: int, plan: tuple[float, ...] = plan) -> float:
            return plan[3 * num_bets + card]

        as_first.append(value(start, (pure, rule_strategy)))
        as_second.append(-value(start, (rule_strategy, pure)))
    assert max(as_first) == pytest.approx(-1 / 18)
    assert max(as_second) == pytest.approx(1 / 18)


@pytest.mark.parametrize("moves", [(), (PASS,), (BET,), (PASS, BET)])
@pytest.mark.parametrize("card", [0, 1, 2])
def test_the_kuhn_rule_bets_as_often_as_its_table_says(card: int, moves: tuple[int, ...]) -> None:
    game, n = make_game("kuhn_v0"), 3000
    seat = len(moves) % 2
    cards = [card, (card + 1) % 3] if seat == 0 else [(card + 1) % 3, card]
    position = game.replay([*cards, *moves])
    share = rule_for(game).act(views_of([position] * n)).mean()
    prob = bet_probs(2)[seat, moves.count(BET), card]
    assert abs(share - prob) <= 4 * np.sqrt(prob * (1 - prob) / n)


def test_kuhn_with_three_players_by_hand() -> None:
    game = make_game("kuhn_v0", num_players=3)  # jack, queen, king, ace are 0 .. 3
    assert choice(game, [3, 2, 1]) == "bet"
    assert choice(game, [2, 3, 1]) == "pass"
    assert choice(game, [0, 1, 2], "pass pass") == "bet"
    assert choice(game, [0, 2, 1], "pass pass") == "pass"
    assert choice(game, [0, 2, 1], "bet") == "bet"
    assert choice(game, [0, 1, 2], "bet bet") == "pass"
    assert choice(game, [0, 1, 3], "bet bet") == "bet"
    assert choice(game, [1, 0, 3], "bet") == "pass"


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_the_kuhn_rule_wins_chips_from_random_players(num_players: int) -> None:
    game = make_game("kuhn_v0", num_players=num_players)
    rule, other = rule_for(game), make_agent("random", game)
    for seat in range(num_players):
        seats = [rule if i == seat else other for i in range(num_players)]
        result = play_match(game, seats, 5000)
        assert result.mean_returns[seat] > result.half_widths[seat]


# ---- Leduc ---------------------------------------------------------------------------------------

JACK, QUEEN, KING = 0, 2, 4  # of the first suit; the other is one more


@pytest.mark.parametrize(
    ("card", "unbet", "after_a_raise", "after_two"),
    [
        (JACK, CALL, FOLD, FOLD),
        (QUEEN, CALL, CALL, CALL),
        (KING, RAISE, CALL, CALL),
    ],
)
def test_leduc_before_the_public_card(
    card: int, unbet: int, after_a_raise: int, after_two: int
) -> None:
    game = make_game("leduc_v0")
    other = QUEEN + 1
    starts = [
        game.replay([card, other]),
        game.replay([other, card, RAISE]),
        game.replay([card, other, RAISE, RAISE]),
    ]
    chosen = rule_for(game).act(views_of(starts)).tolist()
    assert chosen == [unbet, after_a_raise, after_two]


@pytest.mark.parametrize("card", [JACK, QUEEN, KING])
def test_leduc_raises_a_pair_as_often_as_it_may(card: int) -> None:
    game = make_game("leduc_v0")
    start = [card, (card + 2) % 6, CALL, CALL, card + 1]
    positions = [game.replay([*start, *moves]) for moves in ((), (CALL, RAISE), (RAISE, RAISE))]
    assert rule_for(game).act(views_of(positions)).tolist() == [RAISE, RAISE, CALL]


def test_leduc_with_more_ranks_calls_with_the_upper_half() -> None:
    game = make_game("leduc_v0", num_players=5)  # six ranks
    hands = [[2 * rank + 1, *[c for c in range(12) if c != 2 * rank + 1][:4]] for rank in range(6)]
    others_raise = [CALL, RAISE, CALL, CALL, CALL]
    positions = [game.replay([*hand, *others_raise]) for hand in hands]
    assert rule_for(game).act(views_of(positions)).tolist() == [FOLD] * 3 + [CALL] * 3


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_the_leduc_rule_wins_chips_from_random_players(num_players: int) -> None:
    game = make_game("leduc_v0", num_players=num_players)
    rule, other = rule_for(game), make_agent("random", game)
    for seat in range(num_players):
        seats = [rule if i == seat else other for i in range(num_players)]
        result = play_match(game, seats, 2000)
        assert result.mean_returns[seat] > result.half_widths[seat]
