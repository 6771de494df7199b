"""The blind table of Liar's Dice, number by number: entries, roulette, updates, and its file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.games.liars_dice.tables import ANNOUNCE, CALL_LIAR, blind_entries, blind_key
from agents.tabular.games import end_rows, make_workspace, turn_rows
from agents.tabular.model import TabularModel
from envs import make_game
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.liars_dice.kernels import RULES
from tests.support.liars_dice_learners import HANDS, new_model, roulette
from tests.support.liars_dice_table import deal, play, table


def key(model: TabularModel, text: str) -> Any:
    """The key of an entry, written as ``2*3`` or ``liar 2*3``."""
    kind = CALL_LIAR if text.startswith("liar ") else ANNOUNCE
    bid = model.game.parse_action(text.removeprefix("liar "))
    return blind_key(model.game.rules.view(RULES)[0], bid, kind)


def value(model: TabularModel, text: str) -> float:
    return float(model.table.get(np.array([key(model, text)], np.uint64))[0])


def only(model: TabularModel, **_: Any) -> None:
    """Set every value to 0, so that what is given values is all that can be chosen."""
    keys, values, _visits = model.table.entries()
    model.table.put(keys, np.zeros_like(values))


def put(model: TabularModel, text: str, number: float) -> None:
    model.table.put(np.array([key(model, text)], np.uint64), np.array([number]))


class Table:
    """One learner in seat 0, moved by hand."""

    def __init__(self, model: TabularModel) -> None:
        self.model = model
        self.work = make_workspace(model.game, 1, model.has_episode, model.has_events)
        self.rngs = np.stack([new_rng(seed) for seed in range(model.game.facts.num_players)])
        self.who = np.zeros((1, model.game.facts.num_players), np.int64)

    def turn(self, position: Position) -> str:
        """Let it take its turn, learn, and play what it chose."""
        game, row, action = self.model.game, np.zeros(1, np.int64), np.zeros(1, np.int64)
        seats, keys = np.array([position.turn]), np.zeros(1, np.uint64)
        worlds = position.state[None, :].copy()
        turn_rows(
            game.kernels, game.rules, self.model.arrays, row, seats, worlds, keys, self.rngs[:1],
            self.who, self.work, action,
        )  # fmt: skip
        text = position.action_text(int(action[0]))
        position.apply(int(action[0]))
        return text

    def end(self, position: Position) -> None:
        """Tell it that the game is over."""
        game, row = self.model.game, np.zeros(1, np.int64)
        worlds, totals = position.state[None, :].copy(), position.returns()[:1].copy()
        end_rows(
            game.rules, self.model.arrays, row, row, worlds, totals, self.rngs[:1],
            game.facts.num_players, self.work,
        )  # fmt: skip


# ---- entries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "size"), [(2, 120), (3, 180)])
def test_two_entries_for_every_bid_and_none_shared(players: int, size: int) -> None:
    game = make_game("liars_dice_v0", num_players=players)
    keys, _ = blind_entries(game)
    assert len(keys) == len(set(keys.tolist())) == size
    assert keys.tolist() == list(range(1, size + 1))
    model = new_model(game=game)
    assert len(model.table) == size
    # A table keeps keys whole: an entry is found under its own key and no other.
    numbers = np.arange(float(size))
    model.table.put(keys, numbers)
    assert (model.table.get(keys) == numbers).all()


@pytest.mark.parametrize("raising", ["count_first", "face_first", "never_lower"])
def test_no_two_entries_share_a_key_whatever_the_numbering_of_bids(raising: str) -> None:
    game = make_game("liars_dice_v0", raising=raising, wild="ones_unbiddable", num_players=3)
    keys, _ = blind_entries(game)
    assert len(set(keys.tolist())) == len(keys) == 2 * 15 * 5


def test_first_values_for_ten_dice() -> None:
    model = new_model()
    bids = [value(model, f"{c}*3") for c in range(1, 11)]
    calls = [value(model, f"liar {c}*3") for c in range(1, 11)]
    expected = [0.5, 0.25, 0.16667, 0.125, 0.1, 0.08333, 0.07143, 0.0625, 0.05556, 0.05]
    assert bids == pytest.approx(expected, abs=5e-6)
    assert calls == pytest.approx(expected[::-1], abs=5e-6)
    for face in range(1, 7):
        assert value(model, f"4*{face}") == 0.125


def test_an_entry_is_the_bid_whatever_came_before_it() -> None:
    model = new_model()
    put(model, "3*4", 7.0)
    opening, answer = table(*HANDS), table(*HANDS)
    play(answer, "2*3")
    assert roulette(model, opening)["3*4"] == pytest.approx(7.0 / (8.78690 - 1 / 6 + 7.0), rel=1e-5)
    assert roulette(model, answer)["3*4"] == pytest.approx(
        7.0 / (3.60794 + 0.05556 - 1 / 6 + 7.0), rel=1e-5
    )


def test_the_own_dice_do_not_matter() -> None:
    assert roulette(new_model(), table("66666", "12345")) == roulette(new_model(), table(*HANDS))


# ---- roulette ------------------------------------------------------------------------------------


def test_opening_on_a_new_table() -> None:
    probs = roulette(new_model(), table(*HANDS))
    assert probs["liar"] == 0.0
    assert 0.5 / probs["1*4"] == pytest.approx(8.78690, abs=5e-6)
    assert probs["1*4"] == pytest.approx(0.0569, abs=5e-5)
    assert sum(probs[f"1*{face}"] for face in range(1, 7)) == pytest.approx(0.3414, abs=5e-5)


def test_answering_two_threes_on_a_new_table() -> None:
    position = table(*HANDS)
    play(position, "2*3")
    probs = roulette(new_model(), position)
    assert probs["liar"] == pytest.approx(0.01516, abs=5e-6)
    assert sum(p > 0 for p in probs.values()) == 36
    total = 0.05556 / probs["liar"]
    assert total - 0.05556 == pytest.approx(3.60794, rel=1e-3)
    assert probs["2*4"] == pytest.approx(0.25 / (3.60794 + 0.0555556), rel=1e-5)


def test_a_wheel_without_weight_is_drawn_from_evenly() -> None:
    model = new_model()
    only(model)
    position = table(*HANDS)
    play(position, "2*3")
    probs = roulette(model, position)
    assert {p for p in probs.values() if p} == {1 / 36}


def test_without_a_raise_only_the_call_is_left() -> None:
    model = new_model()
    position = table("3", "5")
    model = new_model(game=position.game)
    play(position, "2*6")
    assert roulette(model, position)["liar"] == 1.0
    only(model)
    assert roulette(model, position)["liar"] == 1.0


# ---- updates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "highest", "expected"), [("sarsa", 0.125, 0.40625), ("q_learning", 0.25, 0.4375)]
)
def test_surviving_a_turn(rule: str, highest: float, expected: float) -> None:
    """0.25 + 0.5 (0.5 + 0.5 * next - 0.25), where next is the action's value or the highest."""
    model = new_model(rule)
    only(model)
    put(model, "2*3", 0.25)
    position, seat = table(*HANDS), Table(model)
    assert seat.turn(position) == "2*3"
    play(position, "3*3")
    put(model, "4*4", highest)
    assert seat.turn(position) == "4*4"
    assert value(model, "2*3") == pytest.approx(expected, abs=1e-12)
    assert value(model, "4*4") == highest


def test_q_learning_takes_the_highest_value_and_sarsa_the_one_it_plays() -> None:
    targets = {"sarsa": set(), "q_learning": set()}  # type: dict[str, set[float]]
    for rule, found in targets.items():
        for seed in range(12):
            model = new_model(rule)
            only(model)
            put(model, "2*3", 0.25)
            position, seat = table(*HANDS), Table(model)
            seat.rngs[0] = new_rng(seed)
            seat.turn(position)
            play(position, "3*3")
            put(model, "4*4", 0.125)
            put(model, "5*5", 0.25)
            seat.turn(position)
            found.add(round(value(model, "2*3"), 9))
    assert targets["sarsa"] == {0.40625, 0.4375}
    assert targets["q_learning"] == {0.4375}


def test_winning_a_call_is_learnt_in_the_next_round() -> None:
    """0.0714286 + 0.5 (1 + 0.5 * 0.5 - 0.0714286): no end at the end of a round."""
    model = new_model()
    only(model)
    put(model, "liar 4*5", 1 / 14)
    position, seat = table("13356", "22346", first_player=1), Table(model)
    play(position, "4*5")
    assert seat.turn(position) == "liar"
    assert value(model, "liar 4*5") == 1 / 14
    deal(position, "11111", "2222")
    play(position, "1*1")
    put(model, "1*6", 0.5)
    assert seat.turn(position) == "1*6"
    assert value(model, "liar 4*5") == pytest.approx(0.6607143, abs=5e-8)


@pytest.mark.parametrize(("caller_wins", "reward"), [(True, 0.0), (False, 1.0)])
def test_a_bid_that_is_called_earns_by_who_loses_the_die(caller_wins: bool, reward: float) -> None:
    model = new_model(learning_rate=1.0, discount=0.0)
    only(model)
    put(model, "3*6" if caller_wins else "3*3", 0.1)
    position, seat = table(*HANDS), Table(model)
    bid = seat.turn(position)
    play(position, "liar")
    deal(position, *(("1111", "22222") if caller_wins else ("11111", "2222")))
    if not caller_wins:
        play(position, "1*1")
    put(model, "5*5", 0.5)
    seat.turn(position)
    assert value(model, bid) == reward


@pytest.mark.parametrize(("final_update", "expected"), [(False, 0.25), (True, 0.625)])
def test_the_last_action_of_a_game_learns_only_if_asked(
    final_update: bool, expected: float
) -> None:
    game = make_game("liars_dice_v0", dice=1)
    model = new_model(game=game, final_update=final_update)
    only(model)
    put(model, "1*3", 0.25)
    position = game.new_position()
    deal(position, "3", "5")
    seat = Table(model)
    assert seat.turn(position) == "1*3"
    play(position, "liar")
    assert position.is_over
    seat.end(position)
    assert value(model, "1*3") == pytest.approx(expected)


@pytest.mark.parametrize(("snapshot", "expected"), [(True, 0.75), (False, 0.625)])
def test_the_error_is_taken_from_the_value_at_the_time_of_the_choice(
    snapshot: bool, expected: float
) -> None:
    """The table says 0.5 by then: 0.5 + 0.5 (0.5 + 0.5 * 0.5 - 0.25), or all from 0.5."""
    model = new_model(snapshot=snapshot)
    only(model)
    put(model, "2*3", 0.25)
    position, seat = table(*HANDS), Table(model)
    seat.turn(position)
    put(model, "2*3", 0.5)
    put(model, "4*4", 0.5)
    play(position, "3*3")
    seat.turn(position)
    assert value(model, "2*3") == pytest.approx(expected)


def test_the_overwriting_fault_credits_the_new_action() -> None:
    model = new_model(overwrite=True)
    only(model)
    put(model, "2*3", 0.25)
    position, seat = table(*HANDS), Table(model)
    seat.turn(position)
    play(position, "3*3")
    put(model, "4*4", 0.125)
    seat.turn(position)
    assert value(model, "2*3") == 0.25
    assert value(model, "4*4") == pytest.approx(0.125 + 0.5 * (0.5 + 0.5 * 0.125 - 0.125))


def test_a_new_game_breaks_the_chain() -> None:
    """The first own turn of a game updates nothing."""
    model = new_model()
    before = model.table.entries()[1].copy()
    Table(model).turn(table(*HANDS))
    assert (model.table.entries()[1] == before).all()


def test_three_levels_of_reward_are_settings() -> None:
    model = new_model(reward_levels=[3.0, 2.0, -1.0], learning_rate=1.0, discount=0.0)
    only(model)
    put(model, "2*3", 0.25)
    position, seat = table(*HANDS), Table(model)
    seat.turn(position)
    play(position, "3*3")
    put(model, "4*4", 0.125)
    seat.turn(position)
    assert value(model, "2*3") == 2.0
