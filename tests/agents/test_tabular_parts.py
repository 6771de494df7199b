"""Parts of table learners: action selection, what hooks may know, settings and players."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import AGENTS, LEARNERS, make_agent
from agents.abstraction import find_abstraction
from agents.games.liars_dice.lies import LieProfiles
from agents.learning.games import draw_seats
from agents.learning.learner import Opponents, Task
from agents.tabular.hooks import (
    Hooks,
    check_abstraction,
    check_opponent_model,
)
from agents.tabular.learner import QLearning, TabularAgent
from agents.tabular.table import (
    EPSILON,
    EPSILON_OTHER,
    GREEDY,
    MATCHING,
    SOFTMAX,
    scheduled,
    vdbe_epsilon,
    write_probs,
)
from arena.match import play_match
from common.errors import MasqueradeError, OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import new_rng
from tests.support.planted_tables import observe_nothing
from tests.support.tabular import THESIS, learner, lies

KUHN, LEDUC = make_game("kuhn_v0"), make_game("leduc_v0")
DICE = make_game("liars_dice_v0", dice=3)
THREE = make_game("liars_dice_v0", num_players=3, dice=2)


# ---- action selection ---------------------------------------------------------------------------


def probs_of(policy: int, amount: float, values: list[float], mask: list[int]) -> list[float]:
    probs = np.zeros(len(values))
    write_probs(policy, amount, np.array(mask, np.int8), np.array(values), probs)
    return [round(float(p), 9) for p in probs]


@pytest.mark.parametrize(
    ("policy", "amount", "values", "expected"),
    [
        (MATCHING, 0.0, [0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1]),
        (MATCHING, 0.0, [-2.0, 1.0, 1.0, 0.0], [0.5, 0.25, 0.25, 0.0]),
        (MATCHING, 0.0, [0.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]),
        (EPSILON_OTHER, 0.3, [1.0, 0.0, 0.0, 0.0], [0.7, 0.1, 0.1, 0.1]),
        (EPSILON_OTHER, 0.3, [1.0, 1.0, 0.0, 0.0], [0.4, 0.4, 0.1, 0.1]),
        (EPSILON, 0.4, [1.0, 0.0, 0.0, 0.0], [0.7, 0.1, 0.1, 0.1]),
        (SOFTMAX, 1.0, [np.log(2), 0.0, 0.0, 0.0], [0.4, 0.2, 0.2, 0.2]),
        (SOFTMAX, 0.001, [-500.0, -500.0, -900.0, -900.0], [0.5, 0.5, 0.0, 0.0]),
        (GREEDY, 0.0, [1.0, 3.0, 3.0, 2.0], [0.0, 0.5, 0.5, 0.0]),
    ],
)
def test_how_moves_are_drawn(
    policy: int, amount: float, values: list[float], expected: list[float]
) -> None:
    assert probs_of(policy, amount, values, [1, 1, 1, 1]) == expected
    # What is not legal is never drawn, however good it looks.
    assert probs_of(policy, amount, [*values, 9.0], [1, 1, 1, 1, 0]) == [*expected, 0.0]


@pytest.mark.parametrize("policy", [MATCHING, EPSILON, EPSILON_OTHER, SOFTMAX, GREEDY])
def test_the_only_legal_move_is_made(policy: int) -> None:
    assert probs_of(policy, 0.3, [0.2, 5.0], [1, 0]) == [1.0, 0.0]


def test_epsilon_of_a_state_follows_its_changes() -> None:
    """By hand: change 2, sensitivity 1: (1 - e^-2) / (1 + e^-2) = 0.761594."""
    assert vdbe_epsilon(1.0, 0.0, 1.0, 0.25) == 0.75
    assert vdbe_epsilon(0.0, -2.0, 1.0, 0.5) == pytest.approx(0.5 * 0.7615941559557649)


def test_schedules_end_where_they_should() -> None:
    assert scheduled(0, 0.4, 0.1, 0.5) == 0.4
    assert scheduled(1, 0.4, 0.2, 0.5) == pytest.approx(0.3)
    assert scheduled(2, 0.4, 0.1, 0.5) == pytest.approx(0.2)
    assert scheduled(1, 0.4, 0.2, 7.0) == pytest.approx(0.2)


# ---- hidden information --------------------------------------------------------------------------

ABSTRACTED = [
    (KUHN, "infoset"),
    (LEDUC, "infoset"),
    (DICE, "infoset"),
    (DICE, "blind"),
    (DICE, "hand"),
    (THREE, "hand"),
    (make_game("liars_dice_v0", dice=2, wild="ones", raising="count_first"), "hand"),
    (make_game("liars_dice_v0", dice=2, raising="face_first", wild="ones_unbiddable"), "hand"),
]


@pytest.mark.parametrize(("game", "name"), ABSTRACTED)
def test_an_abstraction_knows_no_more_than_the_player(game: Game, name: str) -> None:
    assert check_abstraction(find_abstraction(name, game), game, num_games=60) > 20


@pytest.mark.parametrize(
    ("game", "name", "told"),
    [
        (KUHN, "encode_others_card", "gives other keys in a world that seat"),
        (KUHN, "encode_nothing", "gives action 0 of seat 0 the key 0"),
        (KUHN, "encode_alike", "gives two actions of seat 0 the same key"),
    ],
)
def test_an_abstraction_that_cheats_is_found_out(game: Game, name: str, told: str) -> None:
    name = f"tests.support.planted_tables:{name}"
    with pytest.raises(MasqueradeError, match=told):
        check_abstraction(find_abstraction(name, game), game)
    # One's own abstractions are checked before they are learnt with.
    with pytest.raises(MasqueradeError, match=told):
        learner(game, "q_learning", abstraction=name)


@pytest.mark.parametrize("game", [DICE, THREE])
def test_an_opponent_model_knows_no_more_than_the_player(game: Game) -> None:
    assert check_opponent_model(lies(by_opponent=True)["opponent_model"], game, num_games=20) > 20


def test_an_opponent_model_that_cheats_is_found_out() -> None:
    cheat = {"id": "tests.support.planted_tables:CheatingModel"}
    with pytest.raises(MasqueradeError, match="in a world that seat 0 cannot tell apart"):
        check_opponent_model(cheat, DICE)
    with pytest.raises(MasqueradeError, match="in a world that seat 0 cannot tell apart"):
        learner(DICE, "sarsa", abstraction="blind", opponent_model=cheat)


# ---- doors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"abstraction": "blind"},
            "abstraction 'blind' is for liars_dice_v0, not kuhn_v0: take 'infoset'",
        ),
        ({"abstraction": "nowhere:encode"}, "abstraction 'nowhere:encode' cannot be found"),
        ({"reward": "rounds"}, "reward 'rounds' is for liars_dice_v0, not kuhn_v0: take 'end'"),
        (lies(), "lies are profiled in liars_dice_v0, not kuhn_v0"),
        (
            {"initial": "abstraction"},
            "abstraction 'infoset' has no values to begin with: initial: 0",
        ),
        ({"trace_decay": 0.5}, "q_learning has no traces: take q_lambda or sarsa_lambda"),
        ({"updates": "backward", "final_update": False}, "leave final_update on"),
        ({"policy": "softmax", "exploration": 0.0}, "softmax needs a temperature"),
        ({"exploration": 2.0}, "exploration is a probability with epsilon: at most 1"),
        ({"opponent_model": {}}, "opponent_model needs an id: lies"),
        ({"opponent_model": {"id": "lie"}}, "unknown opponent model 'lie': did you mean 'lies'"),
        ({"updates": "sweep"}, "updates must be 'turn' or 'backward'"),
        ({"learning_rat": 0.1}, "unknown option 'learning_rat'"),
        ({"reward_levels": [1.0, 0.5]}, "reward_levels must be 3 numbers, not 2"),
    ],
)
def test_bad_settings_get_one_clear_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(MasqueradeError, match=message):
        learner(KUHN, "q_learning", **settings)


def test_a_hook_of_ones_own_is_found_and_used() -> None:
    made = learner(KUHN, "q_learning", abstraction="tests.support.planted_tables:encode_card")
    made.update(2000)
    assert len(made.model.table) == 6  # three cards, two actions
    rewarded = learner(KUHN, "q_learning", reward="tests.support.planted_tables:reward_seven")
    rewarded.update(2000)
    assert rewarded.model.table.entries()[1].max() > 6.9


def test_a_hook_with_the_wrong_signature_is_refused() -> None:
    told = r"'encode' must be compiled as .*: decorate it with @compiled\(ENCODE\) from agents.tab"
    with pytest.raises(TypeError, match=told):
        Hooks(encode=observe_nothing)


def test_curves_say_what_happened() -> None:
    made = learner(KUHN, "q_learning", opponents=Opponents([make_agent("random", KUHN)]))
    curves = made.update(3000)
    assert -0.2 < curves["charts/return"] < 1.0
    assert 2.0 <= curves["charts/length"] <= 3.0
    assert curves["charts/exploration"] == pytest.approx(0.1)
    assert curves["charts/table_size"] == len(made.model.table) == 24
    assert curves["losses/td"] > 0
    again = made.update(10)
    assert again["charts/exploration"] == pytest.approx(0.1)  # of this chunk alone


def test_past_selves_and_rules_are_met_by_their_share() -> None:
    opponents = Opponents(["past", make_agent("kuhn_rule", KUHN)], seed=0)
    made = learner(KUHN, "q_learning", opponents=opponents)
    made.update(200)
    opponents.add_past(made.player())
    curves = made.update(600)
    assert curves["charts/length"] > 1.0


@pytest.mark.parametrize("first_player", ["alternate", 0])
def test_it_opens_no_more_than_others(first_player: int | str) -> None:
    game = make_game("liars_dice_v0", dice=1, first_player=first_player)
    task = Task(game, opponents=Opponents([make_agent("random", game)]))
    numbers = np.arange(400)
    seats, places = draw_seats(task, numbers)
    openers = numbers % game.facts.num_openings
    assert (places[numbers, seats] == Opponents.LEARNER).all()
    assert (seats == openers).mean() == pytest.approx(0.5)


def test_tables_of_mixed_opponents() -> None:
    """Each of the other seats is drawn by itself, and known by itself."""
    names = "random", "liars_dice_rule"
    opponents = Opponents([make_agent(n, THREE) for n in names], seed=1, is_mixed=True)
    made = learner(THREE, "sarsa", opponents=opponents, **THESIS, **lies(by_opponent=True))
    _, places = draw_seats(made.task, np.arange(300))
    others = [tuple(sorted(set(row) - {Opponents.LEARNER})) for row in places.tolist()]
    assert set(others) == {(0,), (1,), (0, 1)}
    made.update(300)
    model = made.model.opponents
    assert isinstance(model, LieProfiles)
    assert (model.records["num_rounds"] > 0).tolist() == [False, True, True]


def test_it_learns_while_it_plays_matches() -> None:
    game = make_game("liars_dice_v0")
    sarsa = make_agent("sarsa", game, **THESIS, **lies())
    q = make_agent("q_learning", game, **THESIS)
    with pytest.raises(MasqueradeError, match="cannot learn"):
        make_agent("liars_dice_rule", game).begin_learning()
    before = sarsa.model.table.entries()[1]  # type: ignore[attr-defined]
    play_match(game, [sarsa, q], 20)
    assert (sarsa.model.table.entries()[1] == before).all()  # type: ignore[attr-defined]
    sarsa.begin_learning()
    q.begin_learning()
    result = play_match(game, [sarsa, q], 300)
    assert (sarsa.model.table.entries()[1] != before).any()  # type: ignore[attr-defined]
    assert sarsa.model.opponents.ratios()["high"] > 0.5  # type: ignore[attr-defined]
    wins = int((result.returns[:, 0] > 0).sum())
    assert wins > 180  # profiling wins about four games of five


@pytest.mark.parametrize("rule", [rule for rule in LEARNERS if "tabular" in LEARNERS[rule]])
def test_every_rule_learns_while_it_plays(rule: str) -> None:
    player = make_agent(rule, KUHN)
    assert isinstance(player, TabularAgent)
    player.begin_learning()
    play_match(KUHN, [player, make_agent("random", KUHN)], 50)
    assert player.model.table.visits.sum() >= 50
    assert player.model.record["num_games"][0] == 50


def test_a_player_gives_the_probabilities_it_plays_by() -> None:
    made = learner(KUHN, "q_learning", policy="softmax", exploration=1.0)
    made.update(500)
    player = made.player()
    batch, rows = Batch(KUHN, 64, new_rng(0), new_rng(1)), np.arange(64)
    batch.begin(rows, rows)
    probs = player.policy(batch.views(rows))  # type: ignore[attr-defined]
    np.testing.assert_allclose(probs.sum(axis=1), 1.0)
    assert ((probs > 0.01) & (probs < 0.99)).all()
    counts = np.zeros_like(probs)
    for seed in range(300):
        views = batch.views(rows)
        views.rngs = np.stack([new_rng(1000 * seed + row) for row in rows])
        counts[rows, player.act(views)] += 1
    # Three standard errors of a frequency, with room for 128 of them.
    assert np.abs(counts / 300 - probs).max() < 4.5 * np.sqrt(0.25 / 300)
    greedy = make_agent("q_learning", KUHN, play="greedy", policy="softmax")
    assert set(np.unique(greedy.policy(batch.views(rows)))) == {0.5}  # type: ignore[attr-defined]
    with pytest.raises(OptionError, match="play must be"):
        make_agent("q_learning", KUHN, play="best")


def test_learners_are_listed_with_players_of_the_same_id() -> None:
    mine = [rule for rule, place in LEARNERS.items() if "tabular" in place]
    assert len(mine) == 6
    assert set(mine) <= set(AGENTS)
    assert isinstance(learner(KUHN, "q_learning"), QLearning)
