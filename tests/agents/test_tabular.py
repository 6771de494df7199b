"""Table learners: the same games as a plain program, draw for draw; memory, bounds and doors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import AGENTS, LEARNERS, make_agent
from agents.learning.files import CheckpointError, load_state, save_state
from agents.learning.learner import Task
from agents.learning.opponents import Opponents
from agents.tabular.abstraction import find_coding
from agents.tabular.hooks import Hooks, no_watch
from agents.tabular.in_step import play_in_step
from agents.tabular.learner import QLearning, TabularLearner
from agents.tabular.player import TabularAgent
from agents.tabular.selection import (
    EPSILON,
    EPSILON_OTHER,
    GREEDY,
    MATCHING,
    SOFTMAX,
    scheduled,
    vdbe_epsilon,
    write_probs,
)
from agents.tabular.series import play_together
from agents.tabular.settings import TabularSettings
from agents.tabular.table import Table, TableFullError
from agents.tabular.values import Mind
from arena import play_match
from envs import make_game
from envs.core import Batch, Game, MasqueradeError, OptionError, new_rng
from envs.core.lazily import look_up
from envs.core.rng import stream
from tests.support.planted_tables import FrozenTable
from tests.support.tabular_reference import Player, play

THESIS: dict[str, Any] = {
    "coding": "blind",
    "initial": "coding",
    "policy": "matching",
    "reward": "rounds",
    "learning_rate": 0.5,
    "discount": 0.5,
    "final_update": False,
    "snapshot": True,
}


def learner(game: Game, rule: str, seed: int = 0, **settings: Any) -> TabularLearner:
    opponents = settings.pop("opponents", None)
    made: TabularLearner = look_up("learner", LEARNERS, rule)(
        Task(game, seed, opponents), TabularSettings.parse(settings)
    )
    return made


# ---- draw for draw -------------------------------------------------------------------------------

KUHN, LEDUC = make_game("kuhn_v0"), make_game("leduc_v0")
DICE = make_game("liars_dice_v0", dice=3)
THREE = make_game("liars_dice_v0", num_players=3, dice=2)
PAID = make_game("liars_dice_v0", dice=2, rewards="dice")

SAME = [
    (KUHN, "q_learning", {"exploration": 0.3}),
    (KUHN, "sarsa", {"policy": "softmax", "exploration": 0.5}),
    (KUHN, "expected_sarsa", {"policy": "epsilon_other", "exploration": 0.3}),
    (KUHN, "double_q", {"exploration": 0.3, "initial": 1.0}),
    (KUHN, "q_learning", {"policy": "vdbe", "vdbe_sensitivity": 0.5, "learning_rate": "1/n"}),
    (KUHN, "sarsa", {"exploration_schedule": "linear", "exploration": 1.0, "exploration_end": 0.1}),
    (LEDUC, "q_lambda", {"exploration": 0.4, "trace_decay": 0.7, "discount": 0.9}),
    (LEDUC, "sarsa_lambda", {"exploration": 0.4, "learning_rate": "1/n"}),
    (LEDUC, "sarsa", {"exploration_schedule": "exponential", "exploration_end": 0.01}),
    (DICE, "sarsa", THESIS),
    (DICE, "q_learning", {**THESIS, "final_update": True, "snapshot": False}),
    (DICE, "sarsa", {**THESIS, "lies": "code"}),
    (DICE, "sarsa", {**THESIS, "lies": "text", "lie_reset": 7}),
    (DICE, "sarsa", {**THESIS, "lies": "code", "lie_reset": 7}),
    (DICE, "q_learning", {**THESIS, "lies": "code", "lie_constant": 0.4, "lie_max": "legal"}),
    (DICE, "sarsa_lambda", {**THESIS, "snapshot": False, "traces": "accumulating"}),
    (DICE, "q_lambda", {**THESIS, "snapshot": False, "trace_decay": 0.9}),
    (THREE, "sarsa", {**THESIS, "lies": "text", "reward": "end"}),
    (PAID, "sarsa", {**THESIS, "reward": "change"}),
    (PAID, "q_learning", {**THESIS, "reward": "end", "final_update": True}),
]


@pytest.mark.parametrize(("game", "rule", "settings"), SAME)
def test_compiled_games_are_those_of_a_plain_program_draw_for_draw(
    game: Game, rule: str, settings: dict[str, Any]
) -> None:
    settings = {"exploration_games": 100, **settings}
    made = learner(game, rule, seed=3, **settings)
    plain = Player(game, rule, TabularSettings.parse(settings))
    num_games = 150 if game.id == "kuhn_v0" else 60
    results = play(game, [plain] * game.facts.num_players, range(num_games), seed=3)
    numbers = np.arange(num_games)
    seating = np.zeros((num_games, game.facts.num_players), np.int64)
    played = play_together([made.mind], numbers, seating, None, made.streams)
    assert played.returns.tolist() == results
    learnt = np.sort(np.concatenate([np.ravel(v) for v in made.mind.table.entries()[1]]))
    written = np.sort(np.ravel(list(plain.values.values())))
    assert len(learnt) == len(written)
    np.testing.assert_allclose(learnt, written, rtol=1e-9, atol=1e-12)
    if settings.get("lies", "off") != "off":
        ratios = [plain.profile.ratio[c] for c in "lmh"]
        assert list(made.mind.profiles.ratios().values()) == pytest.approx(ratios)


def test_two_learners_at_one_table_play_as_in_a_plain_program() -> None:
    sarsa, q = ({**THESIS, "lies": "code"}, dict(THESIS))
    minds = [
        Mind(DICE, "sarsa", TabularSettings.parse(sarsa)),
        Mind(DICE, "q_learning", TabularSettings.parse(q)),
    ]
    plain = [
        Player(DICE, "sarsa", TabularSettings.parse(sarsa)),
        Player(DICE, "q_learning", TabularSettings.parse(q)),
    ]
    seating = np.tile([0, 1], (80, 1))
    streams = stream(5, "chance"), stream(5, "choice")
    played = play_together(minds, np.arange(80), seating, None, streams)
    assert played.returns.tolist() == play(DICE, plain, range(80), seed=5)
    for mind, player in zip(minds, plain, strict=True):
        values = np.sort(np.ravel(list(player.values.values())))
        np.testing.assert_allclose(np.sort(mind.table.entries()[1][0]), values, rtol=1e-9)


@pytest.mark.parametrize(("game", "rule", "settings"), [SAME[0], SAME[3], SAME[6], SAME[11]])
def test_turn_by_turn_against_an_agent_it_learns_as_in_whole_games(
    game: Game, rule: str, settings: dict[str, Any]
) -> None:
    """A learner against a frozen learner of the same table: both paths see the same games."""
    settings = {"exploration_games": 100, **settings}
    whole, stepped = (learner(game, rule, seed=2, **settings) for _ in range(2))
    whole.update(40)
    stepped.load_state_dict(whole.state_dict())
    frozen = Mind.from_state(game, whole.mind.state_dict())
    frozen.record["is_learning"] = False
    numbers = np.arange(1)
    for number in range(40, 80):
        seating = np.array([[0, 1]] if number % 2 else [[1, 0]])
        play_together([whole.mind, frozen], numbers + number, seating, None, whole.streams)
    agent = FrozenTable(game, frozen)
    for number in range(40, 80):
        seating = np.array([[0, -1]] if number % 2 else [[-1, 0]])
        zeros = np.zeros(1, np.int64)
        who = np.zeros_like(seating)
        play_in_step(stepped.mind, [agent], numbers + number, seating, who, zeros, stepped.streams)
    for one, other in zip(whole.mind.table.entries(), stepped.mind.table.entries(), strict=True):
        assert (one == other).all()


# ---- the rules among themselves ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("with_traces", "without"), [("q_lambda", "q_learning"), ("sarsa_lambda", "sarsa")]
)
def test_without_decay_of_traces_only_the_last_action_learns(
    with_traces: str, without: str
) -> None:
    one = learner(LEDUC, with_traces, trace_decay=0.0)
    other = learner(LEDUC, without)
    one.update(300)
    other.update(300)
    for a, b in zip(one.mind.table.entries(), other.mind.table.entries(), strict=True):
        assert (a == b).all()
    more = learner(LEDUC, with_traces, trace_decay=0.5)
    more.update(300)
    assert not np.array_equal(more.mind.table.entries()[1], other.mind.table.entries()[1])


def test_a_sweep_of_sarsa_learns_what_the_games_returned() -> None:
    """With a rate of 1/n, a value is the mean return after its action."""
    made = learner(KUHN, "sarsa", updates="sweep", learning_rate="1/n", exploration=1.0)
    made.update(2000)
    _, values, visits = made.mind.table.entries()
    total = (values[0] * visits[0]).sum()
    first = learner(KUHN, "sarsa", updates="sweep", learning_rate="1/n", exploration=1.0)
    played = play_together(
        [first.mind], np.arange(2000), np.zeros((2000, 2), np.int64), None, first.streams
    )
    lengths = np.stack([(played.lengths + 1) // 2, played.lengths // 2], axis=1)
    assert total == pytest.approx((played.returns * lengths).sum())
    assert visits.sum() == played.lengths.sum()


# ---- choosing ------------------------------------------------------------------------------------


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


# ---- memory --------------------------------------------------------------------------------------

RESUMED = [
    (KUHN, "double_q", {"exploration_schedule": "linear", "exploration_games": 3000}),
    (LEDUC, "q_lambda", {"policy": "vdbe"}),
    (make_game("liars_dice_v0"), "sarsa", {**THESIS, "lies": "code", "lie_by_opponent": True}),
]


@pytest.mark.parametrize(("game", "rule", "settings"), RESUMED)
def test_a_break_changes_nothing(
    game: Game, rule: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    agents = [make_agent(f"{game.id[:-3]}_rule", game), make_agent("random", game)]

    def begin() -> TabularLearner:
        opponents = Opponents(["self", *agents], seed=1)
        return learner(game, rule, seed=1, opponents=opponents, **settings)

    whole = begin()
    whole.update(1300)
    curves = whole.update(700)
    first = begin()
    first.update(1300)
    save_state(tmp_path / "state", game, first.state_dict())
    second = begin()
    second.load_state_dict(load_state(tmp_path / "state", game))
    assert second.update(700) == curves
    assert second.num_done == whole.num_done == 2000
    for name, value in whole.state_dict().items():
        assert np.array_equal(second.state_dict()[name], value), name


def test_a_player_stays_as_it_was_while_the_learner_learns_on() -> None:
    made = learner(KUHN, "q_learning")
    made.update(200)
    player, before = made.player(), made.mind.table.entries()
    made.update(500)
    assert not np.array_equal(made.mind.table.entries()[1], before[1])
    assert np.array_equal(player.mind.table.entries()[1], before[1])  # type: ignore[attr-defined]


def test_a_player_is_found_by_the_folder_of_its_run(tmp_path: Path) -> None:
    made = learner(LEDUC, "q_learning")
    made.update(3000)
    save_state(tmp_path / "run", LEDUC, made.state_dict())
    player = make_agent(f"q_learning:{tmp_path / 'run'}", LEDUC)
    same = play_match(LEDUC, [player, make_agent("random", LEDUC)], 500)
    again = play_match(LEDUC, [made.player(), make_agent("random", LEDUC)], 500)
    assert (same.returns == again.returns).all()
    assert same.mean_returns[0] > 0.3
    with pytest.raises(CheckpointError, match="holds 'q_learning', not 'sarsa': write 'q_learning"):
        make_agent(f"sarsa:{tmp_path / 'run'}", LEDUC)


def test_tables_grow_without_losing_an_entry() -> None:
    table = Table(num_values=2, max_entries=10_000)
    keys = np.arange(1, 5001, dtype=np.uint64)
    values = np.stack([np.arange(5000.0), -np.arange(5000.0)])
    for start in range(0, 5000, 100):
        part = slice(start, start + 100)
        table.put(keys[part], values[:, part], np.full((2, 100), start))
    assert len(table) == 5000
    found = table.entries()
    assert (found[0] == keys).all()
    assert (found[1] == values).all()
    assert (found[2] == np.repeat(np.arange(0, 5000, 100), 100)).all()
    assert np.isnan(table.get(np.array([6000], np.uint64))[0])


@pytest.mark.parametrize("opponent", ["self", "leduc_rule"])
def test_learning_is_the_same_however_often_the_table_had_to_grow(opponent: str) -> None:
    """Against an agent the table grows while games are under way."""
    made = []
    for _ in range(2):
        met = Opponents(["self" if opponent == "self" else make_agent(opponent, LEDUC)])
        made.append(learner(LEDUC, "q_lambda", seed=4, opponents=met, policy="vdbe"))
    small, large = made
    large.mind.table.make_room(20_000)
    small.update(1000)
    large.update(1000)
    assert len(small.mind.table.keys) < len(large.mind.table.keys)
    for a, b in zip(small.mind.table.entries(), large.mind.table.entries(), strict=True):
        assert (a == b).all()


def test_a_full_table_says_so() -> None:
    made = learner(make_game("liars_dice_v0"), "sarsa", max_entries=1000)
    with pytest.raises(TableFullError, match="at most 1,000 entries; raise max_entries"):
        made.update(1000)


# ---- hidden information --------------------------------------------------------------------------

CODED = [
    (KUHN, "infoset"),
    (LEDUC, "infoset"),
    (DICE, "infoset"),
    (DICE, "blind"),
    (DICE, "hand"),
    (THREE, "hand"),
    (make_game("liars_dice_v0", dice=2, wild="ones", raising="count_first"), "hand"),
    (make_game("liars_dice_v0", dice=2, raising="face_first", wild="ones_unbiddable"), "hand"),
]


@pytest.mark.parametrize(("game", "coding"), CODED)
def test_a_coding_knows_no_more_than_the_player(game: Game, coding: str) -> None:
    encode = find_coding(coding, game).encode
    size = game.facts.num_actions
    chance, moves = new_rng(1), np.random.default_rng(2)
    num_compared = 0
    for number in range(60):
        position = game.new_position(number)
        position.play_chance(chance)
        while not position.is_over:
            seat = position.turn
            legal = position.legal_actions()
            keys, others = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
            encode(position.state, game.rules, seat, position.key(seat), keys)
            world = position.determinized(seat, new_rng(number))
            encode(world, game.rules, seat, position.key(seat), others)
            assert (keys[legal] == others[legal]).all()
            assert len(set(keys[legal].tolist())) == len(legal)
            assert (keys[legal] != 0).all()
            num_compared += not np.array_equal(world, position.state)
            position.apply(int(moves.choice(legal)))
            position.play_chance(chance)
    assert num_compared > 20


def test_seats_share_a_table_or_do_not() -> None:
    game = make_game("liars_dice_v0", dice=1)
    shared, apart = (learner(game, "sarsa", coding="blind", shared=s) for s in (True, False))
    shared.update(3000)
    apart.update(3000)
    assert 0 < len(shared.mind.table) <= 24
    assert len(shared.mind.table) < len(apart.mind.table) <= 48


# ---- doors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coding": "blind"}, "coding 'blind' is for liars_dice_v0, not kuhn_v0: take 'infoset'"),
        ({"coding": "nowhere:encode"}, "coding 'nowhere:encode' cannot be found"),
        ({"reward": "rounds"}, "reward 'rounds' is for liars_dice_v0, not kuhn_v0: take 'end'"),
        ({"lies": "code"}, "lies are profiled in liars_dice_v0, not kuhn_v0"),
        ({"initial": "coding"}, "coding 'infoset' has no values to begin with: initial: 0"),
        ({"trace_decay": 0.5}, "q_learning has no traces: take q_lambda or sarsa_lambda"),
        ({"updates": "sweep", "final_update": False}, "leave final_update on"),
        ({"policy": "softmax", "exploration": 0.0}, "softmax needs a temperature"),
        ({"exploration": 2.0}, "exploration is a probability with epsilon: at most 1"),
        ({"learning_rat": 0.1}, "unknown option 'learning_rat'"),
        ({"reward_levels": [1.0, 0.5]}, "reward_levels must be 3 numbers, not 2"),
    ],
)
def test_bad_settings_get_one_clear_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(MasqueradeError, match=message):
        learner(KUHN, "q_learning", **settings)


def test_a_hook_of_ones_own_is_found_and_used() -> None:
    made = learner(KUHN, "q_learning", coding="tests.support.planted_tables:encode_card")
    made.update(2000)
    assert len(made.mind.table) == 6  # three cards, two actions
    rewarded = learner(KUHN, "q_learning", reward="tests.support.planted_tables:reward_seven")
    rewarded.update(2000)
    assert rewarded.mind.table.entries()[1].max() > 6.9


def test_a_hook_with_the_wrong_signature_is_refused() -> None:
    told = r"'encode' must be compiled as .*: decorate it with @compiled\(ENCODE\) from agents.tab"
    with pytest.raises(TypeError, match=told):
        Hooks(no_watch)


def test_curves_say_what_happened() -> None:
    made = learner(KUHN, "q_learning", opponents=Opponents([make_agent("random", KUHN)]))
    curves = made.update(3000)
    assert -0.2 < curves["charts/return"] < 1.0
    assert 2.0 <= curves["charts/length"] <= 3.0
    assert curves["charts/exploration"] == pytest.approx(0.1)
    assert curves["charts/table_size"] == len(made.mind.table) == 24
    assert curves["losses/td"] > 0
    again = made.update(10)
    assert again["charts/exploration"] == pytest.approx(0.1)  # of this portion alone


def test_past_selves_and_rules_are_met_by_their_share() -> None:
    opponents = Opponents(["past", make_agent("kuhn_rule", KUHN)], seed=0)
    made = learner(KUHN, "q_learning", opponents=opponents)
    made.update(200)
    opponents.add_past(made.player())
    curves = made.update(600)
    assert curves["charts/length"] > 1.0


def test_it_learns_while_it_plays_matches() -> None:
    game = make_game("liars_dice_v0")
    sarsa = make_agent("sarsa", game, **THESIS, lies="code")
    q = make_agent("q_learning", game, **THESIS)
    with pytest.raises(MasqueradeError, match="cannot learn"):
        make_agent("liars_dice_rule", game).begin_learning()
    before = sarsa.mind.table.entries()[1]  # type: ignore[attr-defined]
    play_match(game, [sarsa, q], 20)
    assert (sarsa.mind.table.entries()[1] == before).all()  # type: ignore[attr-defined]
    sarsa.begin_learning()
    q.begin_learning()
    result = play_match(game, [sarsa, q], 300)
    assert (sarsa.mind.table.entries()[1] != before).any()  # type: ignore[attr-defined]
    assert sarsa.mind.profiles.ratios()["high"] > 0.5  # type: ignore[attr-defined]
    wins = int((result.returns[:, 0] > 0).sum())
    assert wins > 180  # profiling wins about four games of five


@pytest.mark.parametrize("rule", [rule for rule in LEARNERS if "tabular" in LEARNERS[rule]])
def test_every_rule_learns_while_it_plays(rule: str) -> None:
    player = make_agent(rule, KUHN)
    assert isinstance(player, TabularAgent)
    player.begin_learning()
    play_match(KUHN, [player, make_agent("random", KUHN)], 50)
    assert player.mind.table.visits.sum() >= 50
    assert player.mind.record["num_games"][0] == 50


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
