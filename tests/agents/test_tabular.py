"""Table learners: the same games as a plain program, draw for draw; memory, bounds and doors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.liars_dice.lies import LieProfiles
from agents.learning.files import CheckpointError, load_state, save_state
from agents.learning.learner import Opponents
from agents.tabular.games import play_rollouts, play_series
from agents.tabular.learner import TabularLearner
from agents.tabular.model import TabularModel, TabularSettings
from agents.tabular.table import TableFullError, ValueTable
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import seed_stream, stream
from tests.support.planted_tables import FrozenTable
from tests.support.tabular import THESIS, learner, lies
from tests.support.tabular_reference import Player, play

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
    (DICE, "sarsa", {**THESIS, **lies()}),
    (DICE, "sarsa", {**THESIS, **lies(reading="text", reset=7)}),
    (DICE, "sarsa", {**THESIS, **lies(reset=7)}),
    (DICE, "q_learning", {**THESIS, **lies(constant=0.4, highest="legal")}),
    (DICE, "sarsa_lambda", {**THESIS, "snapshot": False}),
    (DICE, "q_lambda", {**THESIS, "snapshot": False, "trace_decay": 0.9}),
    (THREE, "sarsa", {**THESIS, **lies(reading="text"), "reward": "end"}),
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
    played = play_series([made.model], numbers, seating, None, made.streams)
    assert played.returns.tolist() == results
    learnt = np.sort(np.concatenate([np.ravel(v) for v in made.model.table.entries()[1]]))
    written = np.sort(np.ravel(list(plain.values.values())))
    assert len(learnt) == len(written)
    np.testing.assert_allclose(learnt, written, rtol=1e-9, atol=1e-12)
    if made.model.opponents is not None:
        ratios = [plain.profile.ratio[c] for c in "lmh"]
        assert isinstance(made.model.opponents, LieProfiles)
        assert list(made.model.opponents.ratios().values()) == pytest.approx(ratios)


def test_two_learners_at_one_table_play_as_in_a_plain_program() -> None:
    sarsa, q = ({**THESIS, **lies()}, dict(THESIS))
    models = [
        TabularModel(DICE, "sarsa", TabularSettings.parse(sarsa)),
        TabularModel(DICE, "q_learning", TabularSettings.parse(q)),
    ]
    plain = [
        Player(DICE, "sarsa", TabularSettings.parse(sarsa)),
        Player(DICE, "q_learning", TabularSettings.parse(q)),
    ]
    seating = np.tile([0, 1], (80, 1))
    streams = stream(5, "chance"), stream(5, "choice")
    played = play_series(models, np.arange(80), seating, None, streams)
    assert played.returns.tolist() == play(DICE, plain, range(80), seed=5)
    for model, player in zip(models, plain, strict=True):
        values = np.sort(np.ravel(list(player.values.values())))
        np.testing.assert_allclose(np.sort(model.table.entries()[1][0]), values, rtol=1e-9)


@pytest.fixture
def _self_play_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let players draw in rollouts as they do in compiled self-play."""
    begin = Batch.begin

    def begin_with_streams(self: Batch, rows: Any, numbers: Any) -> None:
        begin(self, rows, numbers)
        players = self.game.facts.num_players
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            for seat in range(players):
                rng = self._streams.choice_rngs[row * players + seat]
                seed_stream(self._streams.choice[row], number * players + seat, rng)

    monkeypatch.setattr(Batch, "begin", begin_with_streams)


@pytest.mark.usefixtures("_self_play_streams")
@pytest.mark.parametrize(("game", "rule", "settings"), [SAME[0], SAME[3], SAME[6], SAME[11]])
def test_with_an_agent_it_learns_as_in_compiled_games(
    game: Game, rule: str, settings: dict[str, Any]
) -> None:
    """A learner with a frozen learner of the same table: both paths see the same games."""
    settings = {"exploration_games": 100, **settings}
    whole, stepped = (learner(game, rule, seed=2, **settings) for _ in range(2))
    whole.update(40)
    stepped.load_state_dict(whole.state_dict())
    frozen = TabularModel.from_state(game, whole.model.state_dict())
    frozen.record["is_learning"] = False
    agent = FrozenTable(game, frozen)
    for number in range(40, 80):
        numbers = np.array([number])
        seating = np.array([[0, 1]] if number % 2 else [[1, 0]])
        play_series([whole.model, frozen], numbers, seating, None, whole.streams)
        # The learner is the caller, and the frozen one the only agent.
        play_rollouts(stepped.model, [agent], numbers, seating - 1, np.zeros_like(seating), seed=2)
    for one, other in zip(whole.model.table.entries(), stepped.model.table.entries(), strict=True):
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
    for a, b in zip(one.model.table.entries(), other.model.table.entries(), strict=True):
        assert (a == b).all()
    more = learner(LEDUC, with_traces, trace_decay=0.5)
    more.update(300)
    assert not np.array_equal(more.model.table.entries()[1], other.model.table.entries()[1])


def test_backward_updates_of_sarsa_learn_what_the_games_returned() -> None:
    """With a rate of 1/n, a value is the mean return after its action."""
    made = learner(KUHN, "sarsa", updates="backward", learning_rate="1/n", exploration=1.0)
    made.update(2000)
    _, values, visits = made.model.table.entries()
    total = (values[0] * visits[0]).sum()
    first = learner(KUHN, "sarsa", updates="backward", learning_rate="1/n", exploration=1.0)
    played = play_series(
        [first.model], np.arange(2000), np.zeros((2000, 2), np.int64), None, first.streams
    )
    lengths = np.stack([(played.lengths + 1) // 2, played.lengths // 2], axis=1)
    assert total == pytest.approx((played.returns * lengths).sum())
    assert visits.sum() == played.lengths.sum()


# ---- memory --------------------------------------------------------------------------------------

RESUMED = [
    (KUHN, "double_q", {"exploration_schedule": "linear", "exploration_games": 3000}),
    (LEDUC, "q_lambda", {"policy": "vdbe"}),
    (make_game("liars_dice_v0"), "sarsa", {**THESIS, **lies(by_opponent=True)}),
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
    assert second.num_steps == whole.num_steps == 2000
    for name, value in whole.state_dict().items():
        assert np.array_equal(second.state_dict()[name], value), name


def test_a_player_stays_as_it_was_while_the_learner_learns_on() -> None:
    made = learner(KUHN, "q_learning")
    made.update(200)
    player, before = made.player(), made.model.table.entries()
    made.update(500)
    assert not np.array_equal(made.model.table.entries()[1], before[1])
    assert np.array_equal(player.model.table.entries()[1], before[1])  # type: ignore[attr-defined]


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
    table = ValueTable(num_values=2, max_entries=10_000)
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


def test_a_full_table_forgets_what_was_visited_least() -> None:
    table = ValueTable(max_entries=100, forgets=True)
    keys = np.arange(1, 101, dtype=np.uint64)
    table.put(keys, keys.astype(float), np.arange(100)[None, :])
    moved = table.make_room(10)
    assert moved is not None
    assert table.entries()[0].tolist() == list(range(26, 101))
    assert (moved[np.flatnonzero(moved >= 0)] >= 0).sum() == 75
    assert table.get(np.array([100, 1], np.uint64), absent=0.0).tolist() == [100.0, 0.0]


@pytest.mark.parametrize("opponent", ["self", "leduc_rule"])
def test_a_table_that_forgets_keeps_its_bound_and_still_learns(opponent: str) -> None:
    met = Opponents(["self" if opponent == "self" else make_agent(opponent, LEDUC)])
    made = learner(LEDUC, "q_learning", opponents=met, max_entries=400, when_full="forget")
    for _ in range(20):
        made.update(200)
        assert len(made.model.table) <= 400
    result = play_match(LEDUC, [made.player(), make_agent("random", LEDUC)], 4000)
    assert result.mean_returns[0] > result.half_widths[0]


def test_what_holds_on_to_entries_cannot_forget_them() -> None:
    with pytest.raises(OptionError, match="when_full must be stop"):
        learner(LEDUC, "q_lambda", when_full="forget")


@pytest.mark.parametrize("opponent", ["self", "leduc_rule"])
def test_learning_is_the_same_however_often_the_table_had_to_grow(opponent: str) -> None:
    """Against an agent the table grows while games are under way."""
    made = []
    for _ in range(2):
        met = Opponents(["self" if opponent == "self" else make_agent(opponent, LEDUC)])
        made.append(learner(LEDUC, "q_lambda", seed=4, opponents=met, policy="vdbe"))
    small, large = made
    large.model.table.make_room(20_000)
    small.update(1000)
    large.update(1000)
    assert len(small.model.table.keys) < len(large.model.table.keys)
    for a, b in zip(small.model.table.entries(), large.model.table.entries(), strict=True):
        assert (a == b).all()


def test_a_full_table_says_so() -> None:
    made = learner(make_game("liars_dice_v0"), "sarsa", max_entries=1000)
    with pytest.raises(TableFullError, match="at most 1,000 entries; raise max_entries"):
        made.update(1000)
