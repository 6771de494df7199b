"""The Offline learner: a table, then a classifier of its best actions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents import make_agent
from agents.learning.files import CheckpointError, save_state
from agents.learning.learner import Opponents, Task
from agents.learning.networks import PlainNetwork
from agents.offline.learner import OfflineLearner, OfflineSettings, collect, fit
from arena.match import play_match
from envs import make_game
from tests.support.views import views_of

GAME = make_game("holdem_v0", preset="thesis", num_players=3, blocks=1, history=0)
TABLE = {"abstraction": "blocks", "reward": "change", "learning_rate": "1/n", "exploration": 0.5}


@pytest.fixture(scope="module")
def learner() -> OfflineLearner:
    opponents = Opponents([make_agent("holdem_call", GAME)])
    settings = OfflineSettings(table=TABLE, sample_games=5_000, epochs=300, patience=60)
    made = OfflineLearner(Task(GAME, 0, opponents), settings)
    made.update(20_000)
    made.player()
    return made


def test_all_best_actions_of_own_cards_in_one_hot_are_learnt(learner: OfflineLearner) -> None:
    assert learner.num_examples == 169
    assert learner.accuracy == 1.0


def test_the_player_does_what_the_table_thinks_best(learner: OfflineLearner) -> None:
    table = learner._table.player()
    result = play_match(GAME, [learner.player(), table, make_agent("holdem_call", GAME)], 20)
    assert result.num_games == 20
    positions = [GAME.new_position(number) for number in range(40)]
    rng = np.random.default_rng(0)
    for position in positions:
        while position.turn < 0:
            position.apply(int(rng.choice(position.legal_actions())))
    views = views_of(positions)
    assert (learner.player().act(views) == table.act(views)).all()


def test_a_saved_player_plays_on(learner: OfflineLearner, tmp_path: Path) -> None:
    save_state(tmp_path / "run", GAME, learner.player_state())
    others = [make_agent("random", GAME)] * 2
    again = play_match(GAME, [make_agent(f"offline:{tmp_path / 'run'}", GAME), *others], 200)
    assert (again.returns == play_match(GAME, [learner.player(), *others], 200).returns).all()
    with pytest.raises(CheckpointError, match="give the folder"):
        make_agent("offline", GAME)


def test_examples_are_the_positions_met_most_often(learner: OfflineLearner) -> None:
    settings = OfflineSettings(sample_games=2000, max_examples=50)
    examples = collect(learner.task, learner._table.player(), settings)
    assert len(examples.actions) == 50
    assert (np.diff(examples.counts) <= 0).all()
    assert len(np.unique(examples.inputs, axis=0)) == 50


def test_a_network_of_plain_numbers_learns_less_than_one_hot() -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 169)
    one_hot = np.eye(169, dtype=np.float32)
    plain = (np.arange(169, dtype=np.float32) / 169)[:, None]
    settings, found = OfflineSettings(), []
    for x in (one_hot, plain):
        network = PlainNetwork(x.shape[1], 3, (50,), seed=0)
        found.append(max(fit(network, x, kinds, np.random.default_rng(1), settings)))
    assert found[0] == 1.0
    assert found[1] < 0.8
