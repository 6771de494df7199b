"""An abstraction of one's own is one file: tables, Monte Carlo CFR and policies go by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents import make_agent
from agents.abstraction import ENCODE, KEY, Abstraction, DecisionKeys, table_abstraction
from agents.cfr.learner import MCCFRLearner, MCCFRSettings
from agents.cfr.mccfr import SamplingSolver
from agents.cfr.tree import GameTree
from agents.learning.learner import Task
from agents.policy import Policy, PolicyAgent
from agents.tabular.model import TabularModel, TabularSettings
from common.errors import MasqueradeError
from envs import make_game
from envs.core.compiling import compiled, helper
from envs.kuhn.kernels import STATE
from envs.liars_dice.game import LiarsDice

KUHN = make_game("kuhn_v0")
OWN = f"{__name__}:CARDS"


@helper
def card_and_turn(state, player):
    s = state.view(STATE)[0]
    return np.uint64(1 + s.cards[player] * 64 + s.num_moves * 8 + s.first_bettor + 1)


@compiled(ENCODE)
def encode(state, rules, player, infoset_key, keys):
    for action in range(keys.size):
        keys[action] = card_and_turn(state, player) * np.uint64(8) + np.uint64(action)


@compiled(KEY)
def key(state, rules, player, numbers, tables, actions):
    return card_and_turn(state, player)


@compiled(KEY)
def key_without_cards(state, rules, player, numbers, tables, actions):
    s = state.view(STATE)[0]
    return np.uint64(1 + s.num_moves * 8 + s.first_bettor + 1)


CARDS = Abstraction(encode, needs_infosets=False, game_ids=("kuhn_v0",), key=key)
NO_CARDS = Abstraction(key=key_without_cards)


def test_one_that_loses_nothing_is_learnt_like_information_sets() -> None:
    settings = MCCFRSettings(abstraction=OWN, max_infosets=100)
    learner = MCCFRLearner(Task(KUHN), settings)
    assert learner.update(20_000)["charts/exploitability"] < 0.02
    assert learner.solver.num_infosets == 12
    model = TabularModel(KUHN, "q_learning", TabularSettings(abstraction=OWN))
    assert model.abstraction is CARDS


def test_one_that_loses_much_shows_it() -> None:
    solver = SamplingSolver(KUHN, abstraction=f"{__name__}:NO_CARDS", max_infosets=100)
    solver.run(20_000)
    assert solver.num_infosets == 4
    assert solver.exploitability(GameTree(KUHN)) > 0.2


def test_whole_matches_of_liars_dice_by_rounds() -> None:
    """A single round is told apart by rounds as by information sets, but for faces of no use."""
    game = LiarsDice(dice=1, faces=3, single_round=True)
    found = []
    for abstraction in ("infoset", "round"):
        solver = SamplingSolver(game, abstraction=abstraction, max_infosets=10_000)
        solver.run(20_000)
        found.append((solver.num_infosets, solver.exploitability(GameTree(game))))
    assert found[1][0] <= found[0][0]
    assert max(value for _, value in found) < 0.05


def test_runs_resume_to_the_last_bit() -> None:
    whole, stopped, resumed = (
        SamplingSolver(KUHN, 3, abstraction=OWN, max_infosets=100) for _ in range(3)
    )
    whole.run(300)
    stopped.run(100)
    resumed.load_state_dict(stopped.state_dict())
    resumed.run(200)
    for name, value in whole.state_dict().items():
        assert np.array_equal(value, resumed.state_dict()[name]), name
    with pytest.raises(MasqueradeError, match="this state has abstraction"):
        SamplingSolver(KUHN, abstraction=f"{__name__}:NO_CARDS").load_state_dict(whole.state_dict())


def test_a_file_runs_no_code_that_nobody_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = SamplingSolver(KUHN, abstraction=OWN, max_infosets=100)
    solver.run(100)
    path = solver.to_policy().save(tmp_path)
    monkeypatch.setattr("common.imports._named", {})
    with pytest.raises(MasqueradeError, match="which is not ours: name it to run its code"):
        Policy.load(path, KUHN)
    agent = make_agent("mccfr", KUHN, path=path, abstraction=OWN)
    assert isinstance(agent, PolicyAgent)
    assert agent.table.abstraction == OWN


def test_each_says_what_it_cannot_do() -> None:
    with pytest.raises(MasqueradeError, match="'blind' has no key of decisions"):
        DecisionKeys("blind", LiarsDice())
    with pytest.raises(MasqueradeError, match="'round' has no encode, which tables need"):
        table_abstraction("round", LiarsDice())
    with pytest.raises(MasqueradeError, match="is for kuhn_v0, not leduc_v0"):
        DecisionKeys(OWN, make_game("leduc_v0"))
    with pytest.raises(MasqueradeError, match="baselines must be none or infoset"):
        MCCFRSettings(abstraction="round", baselines="history")
