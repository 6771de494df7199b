"""The game tree as flat arrays: sizes, links, payoffs and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.cfr.tree import GameTree
from common.errors import MasqueradeError
from envs import make_game
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER, SIGNATURES, UNSEEN
from envs.kuhn.kernels import seen as right_seen
from tests.support.broken_games import ShortKuhn, kuhn_with, legal_knows_the_cards
from tests.support.tree_counts import count_tree

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("kuhn_v0", {}),
    ("kuhn_v0", {"num_players": 4}),
    ("leduc_v0", {}),
    ("liars_dice_v0", {"preset": "openspiel", "faces": 3}),
    (
        "liars_dice_v0",
        {"dice": 1, "faces": 2, "num_players": 3, "first_player": "random", "single_round": True},
    ),
    ("liars_dice_v0", {"dice": [2, 1], "faces": 2, "rewards": "dice"}),
]


def children_of(tree: GameTree, node: int) -> Iterator[int]:
    """The nodes that follow ``node`` at once, in the order of their actions."""
    child = node + 1
    while child < tree.nodes[node]["end"]:
        yield child
        child = int(tree.nodes[child]["end"])


@compiled(SIGNATURES["seen"])
def first_player_sees_nothing(state, rules, action, player):
    return UNSEEN if player == 0 else right_seen(state, rules, action, player)


@pytest.fixture(params=GAMES, ids=str)
def game(request: pytest.FixtureRequest) -> Game:
    game_id, options = request.param
    return make_game(game_id, **options)


def test_counts_are_those_of_the_game(game: Game) -> None:
    tree, counts = GameTree(game), count_tree(game)
    players = tree.nodes["player"]
    assert (players == CHANCE).sum() == counts.chance
    assert (players == OVER).sum() == counts.terminal == len(tree.terminal_probs)
    assert (players >= 0).sum() == counts.decision
    assert tuple(np.diff(tree.infoset_starts)) == counts.infosets


def test_every_node_is_where_its_history_leads(game: Game) -> None:
    tree = GameTree(game, has_keys=True)
    rows = np.cumsum(tree.nodes["player"] != OVER) - 1
    rng = np.random.default_rng(0)
    for node in rng.choice(len(tree.nodes), 60):
        position = game.replay(tree.history(int(node)))
        row = tree.nodes[node]
        assert row["player"] == position.turn
        if position.turn != OVER:
            keys = [position.key(player) for player in range(tree.num_players)]
            assert tree.open_keys[rows[node], :-1].tolist() == keys
        actions = [int(tree.nodes[child]["action"]) for child in children_of(tree, int(node))]
        assert actions == position.legal_actions()
        if position.turn >= 0:
            infoset = tree.infosets[row["index"]]
            first = infoset["first_sequence"]
            assert infoset["key"] == position.key(position.turn)
            assert infoset["player"] == position.turn
            end = first + infoset["num_actions"]
            assert tree.sequence_actions[first:end].tolist() == actions
            children = tree.nodes[list(children_of(tree, int(node)))]
            assert children["sequence"].tolist() == list(range(first, end))
        elif position.is_chance:
            probs = [tree.nodes[child]["prob"] for child in children_of(tree, int(node))]
            assert probs == [prob for _, prob in position.chance_outcomes()]
        else:
            assert tree.terminal_returns[row["index"]].tolist() == position.returns().tolist()


def test_parents_come_before_children_in_every_order(game: Game) -> None:
    tree = GameTree(game)
    assert (tree.nodes["parent"] < np.arange(len(tree.nodes))).all()
    for player in range(tree.num_players):
        sequences = tree.sequences_of(player)
        for s in tree.infosets_of(player):
            before = tree.infosets[s]["parent_sequence"]
            assert before == tree.num_sequences or before in sequences
            if before != tree.num_sequences:
                assert tree.sequence_infosets[before] < s


def test_payoffs_give_the_value_of_uniform_play(game: Game) -> None:
    tree = GameTree(game)
    node_reach = np.ones(len(tree.nodes))
    shares = tree.uniform()
    for node in range(1, len(tree.nodes)):
        row = tree.nodes[node]
        factor = row["prob"] if row["sequence"] < 0 else shares[row["sequence"]]
        node_reach[node] = node_reach[row["parent"]] * factor
    ends = np.flatnonzero(tree.nodes["player"] == OVER)
    expected = node_reach[ends] @ tree.terminal_returns[tree.nodes["index"][ends]]

    reach = np.ones(tree.num_sequences + 1)
    for s in range(tree.num_infosets):
        row = tree.infosets[s]
        own = slice(row["first_sequence"], row["first_sequence"] + row["num_actions"])
        reach[own] = reach[row["parent_sequence"]] * shares[own]
    weights = reach[tree.payoffs.sequences].prod(axis=1)
    np.testing.assert_allclose(weights @ tree.payoffs.values, expected, atol=1e-12)
    assert len(np.unique(tree.payoffs.sequences, axis=0)) == len(tree.payoffs.sequences)


def test_dice_rolled_in_another_order_share_a_payoff() -> None:
    tree = GameTree(make_game("liars_dice_v0", "openspiel", dice=2, faces=2))
    assert len(tree.payoffs.sequences) < len(tree.terminal_probs)


def test_a_tree_above_the_limit_is_refused_with_the_way_out() -> None:
    with pytest.raises(MasqueradeError, match=r"more than 57 nodes: .* raise max_nodes"):
        GameTree(make_game("kuhn_v0"), max_nodes=57)
    GameTree(make_game("kuhn_v0"), max_nodes=58)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (kuhn_with(seen=first_player_sees_nothing), "different moves of the player"),
        (kuhn_with(legal=legal_knows_the_cards), "different legal actions"),
        (ShortKuhn, "beyond its declared max_length"),
    ],
)
def test_a_game_that_breaks_its_contract_is_refused(broken: type[Game], message: str) -> None:
    with pytest.raises(MasqueradeError, match=message):
        GameTree(broken())


def test_bytes_are_those_of_the_arrays() -> None:
    tree = GameTree(make_game("leduc_v0"))
    assert tree.nbytes > tree.nodes.nbytes + tree.infosets.nbytes
    assert tree.nbytes < 100 * len(tree.nodes)
    assert GameTree(make_game("leduc_v0"), has_keys=True).nbytes > tree.nbytes


def test_weights_become_probabilities_and_unreached_sets_are_marked() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    weights = np.zeros(tree.num_sequences)
    weights[:2] = 1.0, 3.0
    probs, is_reached = tree.normalized(weights)
    assert probs[:4].tolist() == [0.25, 0.75, 0.5, 0.5]
    assert is_reached.tolist() == [True] + [False] * 11
    tree.check_policy(probs)


@pytest.mark.parametrize("wrong", [np.ones(24), np.ones(3), np.full(24, -0.5)])
def test_no_policy_is_refused(wrong: np.ndarray) -> None:
    with pytest.raises(MasqueradeError):
        GameTree(make_game("kuhn_v0")).check_policy(wrong)
