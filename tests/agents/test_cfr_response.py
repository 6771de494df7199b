"""Best responses, NashConv and exploitability: OpenSpiel's numbers on the same policies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as their_policies

from agents import make_agent
from agents.base import Actions, Agent, Views
from agents.cfr.evaluation import tabulate, views_at
from agents.cfr.openspiel import from_openspiel, infostate_names, policy_table, to_openspiel
from agents.cfr.response import (
    best_response,
    counterfactual_reach,
    expected_values,
    exploitability,
    nash_conv,
)
from agents.cfr.solver import CFRSolver
from agents.cfr.tree import GameTree, Probs
from agents.games.kuhn.rule import bet_probs
from common.errors import MasqueradeError
from envs import make_game
from envs.core.rng import fill_streams, stream

PAIRS: list[tuple[str, dict[str, Any], str]] = [
    ("kuhn_v0", {}, "kuhn_poker"),
    ("kuhn_v0", {"num_players": 3}, "kuhn_poker(players=3)"),
    ("leduc_v0", {}, "leduc_poker"),
    ("liars_dice_v0", {"preset": "openspiel", "faces": 3}, "liars_dice(dice_sides=3)"),
    (
        "liars_dice_v0",
        {"preset": "openspiel", "dice": 2, "faces": 2},
        "liars_dice(numdice=2,dice_sides=2)",
    ),
]
ONE_DIE = ("liars_dice_v0", {"preset": "openspiel"}, "liars_dice")


def random_policy(tree: GameTree, seed: int) -> Probs:
    """Some actions are never played, so some information sets are out of reach."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=tree.num_sequences) * (rng.random(tree.num_sequences) < 0.7)
    return tree.normalized(weights)[0]


def check(tree: GameTree, their_game: Any, names: list[str], probs: Probs) -> None:
    table = policy_table(tree, probs, names)
    assert nash_conv(tree, probs) == pytest.approx(
        pyspiel.nash_conv(their_game, pyspiel.TabularPolicy(table)), abs=1e-10
    )
    if tree.num_players == 2:
        assert exploitability(tree, probs) == pytest.approx(
            pyspiel.exploitability(their_game, table), abs=1e-10
        )


@pytest.mark.parametrize(("game_id", "options", "their_name"), PAIRS)
def test_nash_conv_of_any_policy_is_openspiels(
    game_id: str, options: dict[str, Any], their_name: str
) -> None:
    tree, their_game = GameTree(make_game(game_id, **options)), pyspiel.load_game(their_name)
    names = infostate_names(tree, their_game)
    solver = CFRSolver(tree, "cfr+")
    solver.run(20)
    for probs in (
        tree.uniform(),
        random_policy(tree, 1),
        random_policy(tree, 2),
        solver.average_policy(),
        solver.current_policy(),
    ):
        check(tree, their_game, names, probs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_nash_conv_of_one_die_liars_dice_is_openspiels(seed: int) -> None:
    game_id, options, their_name = ONE_DIE
    tree, their_game = GameTree(make_game(game_id, **options)), pyspiel.load_game(their_name)
    solver = CFRSolver(tree, "cfr+")
    solver.run(5)
    probs = random_policy(tree, seed) if seed else solver.average_policy()
    check(tree, their_game, infostate_names(tree, their_game), probs)


def test_best_response_is_worth_its_value_and_no_deviation_is_worth_more() -> None:
    tree = GameTree(make_game("leduc_v0"))
    probs = random_policy(tree, 3)
    for player in (0, 1):
        answer = best_response(tree, probs, player)
        others = tree.sequences_of(1 - player)
        np.testing.assert_array_equal(
            answer.probs[others.start : others.stop], probs[others.start : others.stop]
        )
        assert expected_values(tree, answer.probs)[player] == pytest.approx(answer.value)
        for seed in range(5):
            mixed = random_policy(tree, seed)
            mixed[others.start : others.stop] = probs[others.start : others.stop]
            assert expected_values(tree, mixed)[player] <= answer.value


def test_counterfactual_reach_adds_up_over_the_cards() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    reach = counterfactual_reach(tree, tree.uniform())
    opening = [s for s in tree.infosets_of(0) if tree.infosets[s]["parent_sequence"] == 24]
    np.testing.assert_allclose(reach[opening], 1 / 3)
    np.testing.assert_allclose(reach[list(tree.infosets_of(1))], 1 / 6)
    # Answering a bet: the player's own pass does not count, the other's bet does.
    late = [s for s in tree.infosets_of(0) if s not in opening]
    np.testing.assert_allclose(reach[late], 1 / 6)


# ---- OpenSpiel's policies ------------------------------------------------------------------------


def test_policies_go_to_openspiel_and_come_back() -> None:
    tree, their_game = GameTree(make_game("leduc_v0")), pyspiel.load_game("leduc_poker")
    probs = random_policy(tree, 5)
    np.testing.assert_array_equal(
        from_openspiel(tree, to_openspiel(tree, probs, their_game), their_game), probs
    )


def test_python_policies_of_openspiel_are_read() -> None:
    tree, their_game = GameTree(make_game("kuhn_v0")), pyspiel.load_game("kuhn_poker")
    theirs = their_policies.TabularPolicy(their_game)
    theirs.action_probability_array[:] = [0.25, 0.75]
    probs = from_openspiel(tree, theirs, their_game)
    assert probs.tolist() == [0.25, 0.75] * 12


@pytest.mark.parametrize("their_name", ["leduc_poker", "kuhn_poker(players=3)", "tic_tac_toe"])
def test_another_game_is_refused(their_name: str) -> None:
    tree = GameTree(make_game("kuhn_v0"))
    with pytest.raises(MasqueradeError, match="give the same game"):
        infostate_names(tree, pyspiel.load_game(their_name))


# ---- agents as tables ----------------------------------------------------------------------------


class Telling(Agent):
    """Plays at random and says so."""

    def act(self, views: Views) -> Actions:
        raise AssertionError("an agent that tells its policy is not asked to act")

    def policy(self, views: Views) -> Any:
        return views.masks / views.masks.sum(axis=1, keepdims=True)


class Silent(Telling):
    """Has a policy method that does not know."""

    def act(self, views: Views) -> Actions:
        return np.argmax(views.masks, axis=1)

    def policy(self, views: Views) -> Any:
        return None


class Hesitant(Silent):
    """The rule player of Kuhn poker, who does not tell how often it bets."""

    def act(self, views: Views) -> Actions:
        return make_agent("kuhn_rule", self.game).act(views)


class ByTokens(Silent):
    """Bets as often as the number of tokens it has seen is even."""

    wants_tokens = True

    def act(self, views: Views) -> Actions:
        return np.array([len(views.tokens(i)) % 2 for i in range(len(views))])


def test_an_agent_that_tells_its_policy_is_taken_at_its_word() -> None:
    tree = GameTree(make_game("leduc_v0"))
    answer = tabulate(Telling(tree.game), tree)
    assert answer.is_exact
    assert answer.num_samples == 0
    np.testing.assert_array_equal(answer.probs, tree.uniform())


def test_a_rule_is_tabulated_by_asking_once() -> None:
    tree = GameTree(make_game("leduc_v0"))
    answer = tabulate(Silent(tree.game), tree, num_samples=1)
    assert not answer.is_exact
    assert answer.num_samples == 1
    first = np.zeros(tree.num_sequences)
    first[tree.infosets["first_sequence"]] = 1.0
    np.testing.assert_array_equal(answer.probs, first)


def test_tokens_are_those_of_the_player() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    answer = tabulate(ByTokens(tree.game), tree, num_samples=1)
    for s in range(12):
        position = tree.game.replay(tree.history(int(tree.infosets[s]["node"])))
        num_tokens = len(position.tokens(position.turn))
        assert answer.probs[2 * s + num_tokens % 2] == 1.0


def test_a_player_that_hesitates_is_estimated_by_counting() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    agent = Hesitant(tree.game)
    answer = tabulate(agent, tree, num_samples=4000, seed=1)
    assert not answer.is_exact
    expected = np.empty(24)
    probs = bet_probs(2)
    for s in range(12):
        position = tree.game.replay(tree.history(int(tree.infosets[s]["node"])))
        state = tree.game.record(position.state)
        seat = position.turn
        expected[2 * s + 1] = probs[seat, int(state.has_bet.sum()), state.cards[seat]]
        expected[2 * s] = 1.0 - expected[2 * s + 1]
    # Five standard errors of a share of 4000.
    np.testing.assert_allclose(answer.probs, expected, atol=5 * 0.5 / np.sqrt(4000))
    told = tabulate(make_agent("kuhn_rule", tree.game), tree)
    assert told.is_exact
    np.testing.assert_allclose(told.probs, expected, atol=1e-12)
    assert exploitability(tree, expected) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(
        answer.probs, tabulate(agent, tree, num_samples=4000, seed=1).probs
    )


def test_views_have_the_keys_masks_and_seats_of_the_information_sets() -> None:
    tree = GameTree(make_game("leduc_v0"))
    some = np.array([0, 5, 700])
    views = views_at(tree, some, has_tokens=True)
    assert views.keys.tolist() == tree.infosets["key"][some].tolist()
    assert views.seats.tolist() == [0, 0, 1]
    assert views.masks.sum(axis=1).tolist() == tree.infosets["num_actions"][some].tolist()
    for row, s in enumerate(some):
        position = tree.game.replay(tree.history(int(tree.infosets[s]["node"])))
        seat = position.turn
        np.testing.assert_array_equal(views.observations[row], position.observation(seat))
        assert views.tokens(row) == position.tokens(seat)


def test_views_remember_what_the_player_observed_earlier() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    late = next(s for s in tree.infosets_of(0) if tree.infosets[s]["parent_sequence"] != 24)
    past = views_at(tree, np.array([late]), num_past=2).past_observations(2)[0]
    history = tree.history(int(tree.infosets[late]["node"]))
    opening = tree.game.replay(history[:2]).observation(0)
    np.testing.assert_array_equal(past, [np.zeros_like(opening), opening])


def test_worlds_of_views_are_determinized() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    views = views_at(tree, np.zeros(64, np.int64))
    fill_streams(stream(0, "test"), np.arange(64), views.rngs)
    cards = {tuple(tree.game.record(world).cards[:2].tolist()) for world in views.worlds()}
    assert len(cards) == 2
    assert len({own for own, _ in cards}) == 1


def test_agent_and_tree_must_be_of_the_same_game() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    with pytest.raises(MasqueradeError, match="the tree is of"):
        tabulate(make_agent("random", make_game("leduc_v0")), tree)
    with pytest.raises(MasqueradeError, match="at least 1"):
        tabulate(make_agent("random", tree.game), tree, num_samples=0)
