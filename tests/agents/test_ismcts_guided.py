"""Search led by a trained player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents import make_agent
from agents.base import Views
from agents.cfr import VectorCFRSolver, to_policy
from agents.ismcts.guided import GuidedSearcher
from agents.ismcts.searcher import Budget, Root
from agents.ismcts.settings import OBSERVERS, TreeSettings
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.batch import Batch
from envs.core.rng import new_rng


class Fixed:
    """Likes action 1, and rates every position of seat 0 alike."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value
        self.num_asked: list[int] = []

    def policy(self, views: Views) -> npt.NDArray[np.float64]:
        self.num_asked.append(len(views))
        out = np.zeros(views.masks.shape)
        out[:, 1] = 1.0
        return out

    def state_values(self, views: Views) -> npt.NDArray[np.float64]:
        return np.where(views.seats == 0, self.value, -self.value)


def search(game_id: str, guide: Any, iterations: int, **settings: Any) -> Any:
    game = make_game(game_id)
    batch, row = Batch(game, 1, chance=new_rng(0)), np.arange(1)
    batch.begin(row, row)
    views = batch.views(row)
    root = Root(views.worlds()[0], int(views.seats[0]), views.keys[0], views.masks[0])
    searcher = GuidedSearcher(game, TreeSettings(selection="puct", **settings), guide)
    return searcher, searcher.search(root, new_rng(1), Budget(iterations))


def test_what_the_guide_likes_is_tried_more() -> None:
    _, found = search("leduc_v0", Fixed(), 200)
    assert found.visits[found.actions == 1] > 0.5 * found.visits.sum()


def test_values_of_leaves_are_the_guides() -> None:
    """Seven everywhere, but for the ends of games, which a first call is not."""
    searcher, found = search("leduc_v0", Fixed(value=7.0), 12)
    assert searcher.has_values
    assert found.values[found.actions == 1] == pytest.approx(7.0)


def test_leaves_are_shown_in_batches_and_none_waits_in_the_end() -> None:
    guide = Fixed()
    searcher, _ = search("leduc_v0", guide, 200)
    assert max(guide.num_asked) > 4
    assert not searcher._trees[0].edges["pending"].any()


@pytest.mark.parametrize("observers", OBSERVERS)
@pytest.mark.parametrize("game_id", ["no_thanks_v0", "holdem_v0", "liars_dice_v0"])
def test_rollouts_take_the_place_of_values_where_these_say_too_little(
    game_id: str, observers: str
) -> None:
    searcher, found = search(game_id, Fixed(), 60, observers=observers, max_nodes=32)
    assert searcher.has_values == (game_id == "liars_dice_v0")
    assert found.simulations == 60


def test_a_solved_policy_leads_a_search_by_one_parameter(tmp_path: Path) -> None:
    game = make_game("kuhn_v0")
    solver = VectorCFRSolver.of(game, "cfr+")
    solver.run(200)
    to_policy(solver.tree, solver.average_policy()).save(tmp_path / "kuhn.npz")
    agent = make_agent("mo_ismcts", game, iterations=40, guide=f"cfr:{tmp_path / 'kuhn.npz'}")
    assert not play_match(game, [agent, make_agent("random", game)], num_games=20).faults


@pytest.mark.parametrize(
    ("guide", "words"),
    [
        ("oos", "cannot guide a search: it wants more"),
        ("mo_ismcts", "cannot guide a search: it does not tell its policy"),
        ("cfr:nowhere.npz", "there is no policy at nowhere.npz"),
        ("nobody", "unknown agent 'nobody'"),
    ],
)
def test_what_cannot_guide_is_refused_before_the_first_move(guide: str, words: str) -> None:
    with pytest.raises(MasqueradeError, match=words):
        make_agent("ismcts", make_game("kuhn_v0"), guide=guide)
