"""Games that OpenSpiel has too, compared with it step for step and node for node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
import pytest

from envs import make_game
from envs.core.checking.trees import TreeCounts
from tests.support.openspiel_bridge import Bijection, compare, their_counts
from tests.support.openspiel_pairs import BIDDING, PAIRS, liars_dice_pair
from tests.support.tree_counts import count_tree

SMALL_PAIRS = [
    *(("kuhn_v0", {"num_players": n}, f"kuhn_poker(players={n})") for n in (2, 3, 4)),
    ("leduc_v0", {}, "leduc_poker"),
    *(liars_dice_pair(1, faces, "count_first") for faces in (2, 3, 4)),
    *(liars_dice_pair(2, 2, raising) for raising in BIDDING),
]


@pytest.mark.parametrize(("game_id", "options", "their_name", "num_games"), PAIRS)
def test_random_games_agree_step_for_step(
    game_id: str, options: dict[str, Any], their_name: str, num_games: int
) -> None:
    game = make_game(game_id, **options)
    visited = compare(game, pyspiel.load_game(their_name), num_games, np.random.default_rng(7))
    assert min(visited) > 1


@pytest.mark.parametrize(("game_id", "options", "their_name"), SMALL_PAIRS)
def test_trees_have_the_same_size(game_id: str, options: dict[str, Any], their_name: str) -> None:
    assert count_tree(make_game(game_id, **options)) == their_counts(pyspiel.load_game(their_name))


def test_leduc_has_the_published_size() -> None:
    counts = count_tree(make_game("leduc_v0"))
    assert counts == TreeCounts(
        chance=157, decision=3780, terminal=5520, infosets=(468, 468), depth=11
    )
    assert sum(counts.infosets) == 936


@pytest.mark.parametrize("raising", BIDDING)
def test_one_die_liars_dice_has_the_published_size(raising: str) -> None:
    counts = count_tree(make_game("liars_dice_v0", preset="openspiel", raising=raising))
    assert (counts.chance, counts.decision, counts.terminal) == (7, 147456, 147420)
    assert sum(counts.infosets) == 24576


def test_a_different_game_is_noticed() -> None:
    with pytest.raises(AssertionError):
        compare(make_game("kuhn_v0"), pyspiel.load_game("leduc_poker"), 1, np.random.default_rng(0))


def test_a_bijection_refuses_a_second_partner() -> None:
    pairs = Bijection()
    pairs.add(1, "a")
    with pytest.raises(AssertionError, match="one key of ours"):
        pairs.add(1, "b")
    with pytest.raises(AssertionError, match="two keys of ours"):
        pairs.add(2, "a")
