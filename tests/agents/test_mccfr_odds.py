"""Liar's Dice by odds: abstract actions, keys, what is learnt, files and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import abstraction as abstractions
from agents import make_agent
from agents.abstraction import KEY, DecisionKeys
from agents.base import Views
from agents.cfr.evaluation import tabulate
from agents.cfr.response import best_response, expected_values, nash_conv
from agents.cfr.tree import GameTree
from agents.games.liars_dice.abstractions import (
    AT_LEAST,
    BLUFF,
    BOLD,
    CALL,
    HIGHER,
    LAST_FACE,
    LIKELIEST,
    LOWEST,
    NUM_ABSTRACT,
    ODDS,
    OTHER,
    SAME_FACE,
    count_chances,
    key_by_odds,
)
from agents.games.liars_dice.rule import LiarsDiceRule
from agents.games.liars_dice.sampled_match import SampledMatch, SampledMatchSettings
from agents.policy import UNKNOWN, Policy, PolicyAgent
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.batch import Batch
from envs.core.compiling import compiled
from envs.core.rng import new_rng
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import NO_BID, RULES, STATE


def solve(game: LiarsDice, num_iterations: int, seed: int = 0, **settings: object) -> SampledMatch:
    options = SampledMatchSettings(abstraction="odds", **settings)  # type: ignore[arg-type]
    solver = SampledMatch(game, seed, options)
    solver.run(num_iterations)
    return solver


def random_views(game: LiarsDice, num_games: int, by_abstract: bool = False) -> Iterator[Views]:
    """All decisions of matches in which everybody does anything, or by abstract actions."""
    decisions, draws = DecisionKeys("odds", game), np.random.default_rng(0)
    batch, rows = Batch(game, num_games, chance=new_rng(0)), np.arange(num_games)
    batch.begin(rows, rows)
    while len(rows := np.flatnonzero(batch.turns >= 0)):
        views = batch.views(rows)
        yield views
        masks = views.masks
        if by_abstract:
            masks = np.zeros_like(masks)
            np.put_along_axis(masks, decisions.look(views).actions.astype(np.int64), 1, axis=1)
            masks &= views.masks
        batch.step(rows, np.array([draws.choice(np.flatnonzero(mask)) for mask in masks]))


GAMES = [
    {"num_players": 6, "dice": 3},
    {"num_players": 3, "dice": (1, 3, 2), "wild": "ones", "raising": "count_first"},
    {"num_players": 4, "dice": 2, "wild": "ones_unbiddable", "raising": "face_first"},
    {"num_players": 2, "dice": 3, "wild": "highest", "faces": 2},
    {"num_players": 5, "dice": 2, "faces": 3, "raising": "face_first", "wild": "highest"},
]


# ---- abstract actions ----------------------------------------------------------------------------


@pytest.mark.parametrize("options", GAMES)
def test_abstract_actions_are_legal_and_have_what_the_rule_does(options) -> None:
    game = LiarsDice(**options)
    decisions, rule, r = DecisionKeys("odds", game), LiarsDiceRule(game), game.rules.view(RULES)[0]
    num_seen = 0
    for views in random_views(game, 60):
        found, actions = decisions.look(views).actions, rule.act(views)
        worlds = views.worlds().view(STATE)[:, 0]
        has_bid, has_raise = worlds["bid"] != NO_BID, views.masks[:, :-1].any(axis=1)
        assert (found[:, CALL] == r.liar).all()
        assert (found[~has_raise] == r.liar).all()
        raises = found[has_raise, 1:]
        assert np.take_along_axis(views.masks[has_raise], raises.astype(np.int64), axis=1).all()
        assert (raises != r.liar).all()
        calls = actions == r.liar
        assert not calls[~has_bid].any()
        assert (actions[~calls] == found[~calls, LIKELIEST]).all()
        num_seen += int(has_raise.sum())
    assert num_seen > 300


def actions_by_hand(game: LiarsDice, world: Any, seat: int, mask: Any) -> dict[int, int]:
    """What the abstract actions are called, by looking through all legal bids."""
    bids = [game.bid(action) for action in range(game.facts.num_actions - 1)]
    dice, legal = world.dice[seat][: world.dice_left[seat]], np.flatnonzero(mask[:-1]).tolist()
    wild = int(game.rules.view(RULES)[0].wild_face)
    tables = [count_chances(game.options.faces, k, 30)[AT_LEAST] for k in (1, 2)]

    def fitting(face: int) -> int:
        return int(((dice == face) | (dice == wild)).sum())

    def chance(bid: int) -> float:
        count, face = bids[bid]
        table = tables[wild not in (0, face)]
        return float(table[world.num_in_play - len(dice), max(count - fitting(face), 0)])

    def likeliest(those: list[int]) -> int:
        return max(those, key=lambda bid: (chance(bid), bid))

    best = likeliest(legal)
    count, face = bids[best]
    above = [bid for bid in legal if bids[bid][1] == face and bids[bid][0] > count]
    others = [bid for bid in legal if bids[bid][1] != face]
    lowest = {bids[bid][1]: bid for bid in reversed(legal)}
    fewest = min(map(fitting, lowest))
    return {
        CALL: int(mask.size - 1),
        LIKELIEST: best,
        HIGHER: above[0] if above else best,
        BOLD: max([best, *(bid for bid in above if chance(bid) >= 0.5)]),
        LOWEST: legal[0],
        SAME_FACE: best if world.bid == NO_BID else lowest.get(bids[world.bid][1], best),
        LAST_FACE: lowest[max(lowest)],
        BLUFF: lowest[max(face for face in lowest if fitting(face) == fewest)],
        OTHER: likeliest(others) if others else best,
    }


@pytest.mark.parametrize("options", GAMES)
def test_abstract_actions_are_what_they_are_called(options) -> None:
    game = LiarsDice(**options)
    decisions = DecisionKeys("odds", game)
    for views in random_views(game, 8):
        for i, row in enumerate(decisions.look(views).actions.tolist()):
            if views.masks[i, :-1].any():
                world = views.worlds()[i].view(STATE)[0]
                want = actions_by_hand(game, world, int(views.seats[i]), views.masks[i])
                assert dict(enumerate(row)) == want


# ---- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [0, 1, 2])
def test_the_walk_names_decisions_as_the_player_does(memory) -> None:
    """Decisions of matches by abstract actions are what the solver knows, and hardly any others."""
    game = LiarsDice(num_players=3, dice=(1, 2, 1), faces=3, wild="ones", raising="count_first")
    solver = solve(game, 6_000, memory=memory, exploration=0.0)
    decisions = DecisionKeys(solver.settings.policy_abstraction, game)
    state = solver.state_dict()
    known = dict(zip(state["keys"].tolist(), state["sizes"].tolist(), strict=True))
    met: dict[int, int] = {}
    for views in random_views(game, 3_000, by_abstract=True):
        has_bid = views.masks[:, -1] == 1
        has_raise = views.masks[:, :-1].any(axis=1)
        sizes = np.where(has_raise, NUM_ABSTRACT - 1, 0) + has_bid
        met.update(zip(decisions.keys(views).tolist(), sizes.tolist(), strict=True))
    assert len(met) > 60
    assert len(met.keys() - known) <= len(met) // 20
    assert len(known.keys() - met) <= len(known) // 10
    assert all(known[key] == size for key, size in met.items() if key in known)


def test_longer_memories_tell_more_apart() -> None:
    """Longer memories count more bids on the standing face."""
    game = LiarsDice(num_players=4, dice=2)
    encodings = [DecisionKeys(f"odds:{memory}", game) for memory in (1, 2, 10_000)]
    met: list[set[int]] = [set() for _ in encodings]
    for views in random_views(game, 300):
        for keys, decisions in zip(met, encodings, strict=True):
            keys |= set(decisions.keys(views).tolist())
    sizes = [len(keys) for keys in met]
    assert sizes[0] < sizes[1] < sizes[2]


# ---- what is learnt ------------------------------------------------------------------------------

SMALL = [
    ({"dice": 1, "single_round": True}, 0.0, 0.08),
    ({"dice": 2, "faces": 3, "wild": "highest", "single_round": True}, 0.05, 0.22),
    ({"dice": (1, 2), "faces": 3, "raising": "face_first", "single_round": True}, 0.05, 0.03),
]


@pytest.mark.parametrize(("options", "deviations", "bound"), SMALL)
def test_small_games_are_learnt_as_far_as_abstraction_goes(options, deviations, bound) -> None:
    """What it believes a round is worth is what it is worth, and best responses find so much."""
    game = LiarsDice(**options)
    tree = GameTree(game)
    solver = solve(game, 30_000, least=0.0, deviations=deviations)
    probs = tabulate(PolicyAgent(game, policy=solver.to_policy()), tree).probs
    assert nash_conv(tree, probs) / 2 < bound
    if not deviations:
        np.testing.assert_allclose(solver.opening_values(), expected_values(tree, probs), atol=0.03)


def test_deviations_make_up_for_bids_that_no_abstract_action_stands_for() -> None:
    game = LiarsDice(dice=2, faces=3, single_round=True)
    tree = GameTree(game)
    found = []
    for share in (0.0, 0.05):
        agent = PolicyAgent(game, policy=solve(game, 30_000, deviations=share).to_policy())
        found.append(nash_conv(tree, tabulate(agent, tree).probs) / 2)
    assert found[1] < found[0] / 1.5


def test_company_of_the_rule_is_learnt_from() -> None:
    """Alone with it, the answer is nearly the best there is; with some of it, better than none."""
    game = LiarsDice(dice=2, faces=4, single_round=True)
    tree = GameTree(game)
    rule = tabulate(LiarsDiceRule(game), tree).probs
    gains = []
    for share in (0.0, 0.3, 1.0):
        solver = solve(game, 30_000, rule_share=share, least=0.05)
        agent = PolicyAgent(game, policy=solver.to_policy())
        probs = tabulate(agent, tree).probs
        own = tree.infosets["player"][tree.sequence_infosets] == 0
        gains.append(expected_values(tree, np.where(own, probs, rule))[0])
    best = best_response(tree, rule, 0).value
    assert gains[0] < gains[1] < gains[2] <= best + 1e-9
    assert gains[2] > best - 0.05


@pytest.mark.parametrize(("num_players", "dice"), [(3, 3), (6, 1)])
def test_players_do_better_than_the_rule_after_seconds(num_players, dice) -> None:
    """One of them gets more from the rest than they would leave to one of their own."""
    game = LiarsDice(num_players=num_players, dice=dice)
    solver = solve(game, 20_000, memory=3, rule_share=0.25, least=0.05, max_infosets=20_000)
    agent, rule = PolicyAgent(game, policy=solver.to_policy()), make_agent("liars_dice_rule", game)
    gains = []
    for seat in range(num_players):
        seats = [rule] * num_players
        plain = play_match(game, seats, 1_000).returns[:, seat]
        seats[seat] = agent
        gains.append(play_match(game, seats, 1_000).returns[:, seat] - plain)
    means = np.mean(gains, axis=0)
    assert means.mean() - 3 * means.std() / np.sqrt(len(means)) > 0.0
    assert agent.num_unknown < 100


# ---- the player and its files --------------------------------------------------------------------


def test_the_player_does_what_it_says() -> None:
    """Where nothing is known it does what the rule does."""
    game = LiarsDice(num_players=3, dice=2, faces=3)
    agent, rule = PolicyAgent(game, policy=solve(game, 200).to_policy()), LiarsDiceRule(game)
    decisions, mixed, unknown = DecisionKeys("odds", game), 0, 0
    for views in random_views(game, 100, by_abstract=True):
        probs = agent.policy(views)
        np.testing.assert_allclose(probs.sum(axis=1), 1.0)
        assert (probs[views.masks == 0] == 0.0).all()
        actions = agent.act(views)
        is_unknown = agent.table.find(decisions.keys(views)) == UNKNOWN
        assert (actions == rule.act(views))[is_unknown].all()
        assert (probs[is_unknown, actions[is_unknown]] == 1.0).all()
        unknown += int(is_unknown.sum())
        assert (np.take_along_axis(probs, actions[:, None], axis=1) > 0.0).all()
        mixed += int(((probs > 0.01) & (probs < 0.99)).any(axis=1).sum())
    assert mixed > 100
    assert agent.num_unknown == unknown > 0


@compiled(KEY)
def key_by_other_odds(state, rules, player, numbers, tables, actions):
    """The same keys, but two actions have changed places."""
    key = key_by_odds(state, rules, player, numbers, tables, actions)
    actions[1], actions[2] = actions[2], actions[1]
    return key


OTHER_ODDS = ODDS._replace(key=key_by_other_odds)


def test_files_are_for_the_actions_they_were_made_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = LiarsDice(num_players=3, dice=2)
    made = solve(game, 500, memory=2).to_policy()
    path = made.save(tmp_path / "policy.npz")
    read = Policy.load(path, game)
    assert read.abstraction == "odds:2"
    assert (read.actions == made.actions).all()
    with pytest.raises(MasqueradeError, match="is for liars_dice_v0 with"):
        Policy.load(path, LiarsDice(num_players=3, dice=1))
    others = {**abstractions.ABSTRACTIONS, "odds": f"{__name__}:OTHER_ODDS"}
    monkeypatch.setattr(abstractions, "ABSTRACTIONS", others)
    with pytest.raises(MasqueradeError, match="as an older version did"):
        Policy.load(path, game)


def test_interrupted_learning_is_the_same_to_the_last_bit() -> None:
    game = LiarsDice(num_players=4, dice=2, first_player="alternate")
    settings = {"memory": 2, "rule_share": 0.3, "deviations": 0.1}
    whole, stopped = (solve(game, amount, 3, **settings) for amount in (300, 117))
    resumed = solve(game, 50, 99, **settings, max_infosets=50_000)  # room may differ
    resumed.load_state_dict(stopped.state_dict())
    resumed.run(183)
    states = [solver.state_dict() for solver in (whole, resumed, solve(game, 300, 4, **settings))]
    for name in states[0]:
        assert np.array_equal(states[0][name], states[1][name]), name
    assert not np.array_equal(states[0]["regrets"], states[2]["regrets"])
    with pytest.raises(MasqueradeError, match="this state has settings"):
        solve(game, 0, memory=2).load_state_dict(states[0])


def test_a_full_table_is_played_from() -> None:
    game = LiarsDice(num_players=6, dice=1, faces=2)
    solver = solve(game, 500, max_infosets=20, when_full="freeze")
    assert solver.num_infosets == 20
    assert solver.num_left_out > 0
    agent = PolicyAgent(game, policy=solver.to_policy())
    play_match(game, [agent] * 6, 50)
    assert agent.num_unknown > 0


def test_refuses_what_it_cannot_do() -> None:
    with pytest.raises(MasqueradeError, match="pruning must be 0"):
        SampledMatchSettings(abstraction="odds", pruning=0.5)
    with pytest.raises(MasqueradeError, match="'table'"):
        SampledMatchSettings.parse({"table": "odds"})
    with pytest.raises(MasqueradeError, match="'odds' is for liars_dice_v0, not kuhn_v0"):
        DecisionKeys("odds", make_game("kuhn_v0"))
