"""``check_game`` lets good games pass and names the law that a broken one breaks."""

from __future__ import annotations

import pytest

from common.errors import GameContractError
from envs import make_game
from envs.core.checking import check_game
from envs.core.checking.positions import fit_p_value
from envs.core.compiling import JIT_DISABLED
from envs.core.game import Game
from envs.kuhn.game import Kuhn
from tests.support.broken_games import (
    BROKEN_INFORMATION,
    BROKEN_ON_THE_TREE,
    BROKEN_POSITIONS,
    WRITES_TOO_FAR,
    EvenGuess,
    Guess,
    Nim,
)
from tests.support.option_sets import every_option_set_in_time
from tests.support.sampling import IS_FULL
from tests.support.tree_counts import count_tree

NO_TREE = 0


def readable(value: type[Kuhn] | str) -> str:
    return value if isinstance(value, str) else value.__name__


@every_option_set_in_time
def test_good_games_keep_the_contract(game: Game) -> None:
    if JIT_DISABLED:
        report = check_game(game, num_games=2, max_nodes=2_000 if IS_FULL else 600)
    else:
        report = check_game(game, num_games=None if IS_FULL else 2)
    assert report.game == repr(game)
    assert report.num_games > 0
    assert report.num_positions > report.num_games
    assert report.num_worlds > 0


@pytest.mark.parametrize("num_players", [2, 3])
def test_the_report_of_a_small_game_counts_its_tree(num_players: int) -> None:
    game = make_game("kuhn_v0", num_players=num_players)
    report = check_game(game, num_games=2)
    assert report.tree == count_tree(game)
    assert report.num_world_sets > 0
    assert report.has_hidden_information


@pytest.mark.parametrize("max_nodes", [NO_TREE, 20_000], ids=["no tree", "tree"])
def test_a_game_without_secrets_passes(max_nodes: int) -> None:
    assert not check_game(Nim(), max_nodes=max_nodes).has_hidden_information


@pytest.mark.parametrize("max_nodes", [NO_TREE, 20_000], ids=["no tree", "tree"])
def test_a_game_with_hidden_moves_passes(max_nodes: int) -> None:
    assert check_game(Guess(), max_nodes=max_nodes).has_hidden_information


def test_worlds_are_weighted_by_chance() -> None:
    with pytest.raises(
        GameContractError, match="'determinize draws worlds as often as chance makes them'"
    ):
        check_game(EvenGuess())


def test_a_large_tree_is_left_alone() -> None:
    report = check_game(make_game("kuhn_v0"), num_games=3, max_nodes=57)
    assert (report.num_games, report.tree) == (3, None)
    assert check_game(make_game("kuhn_v0"), num_games=1, max_nodes=58).tree


def test_the_same_seed_gives_the_same_report() -> None:
    game = make_game("kuhn_v0")
    assert check_game(game, seed=5, num_games=4) == check_game(game, seed=5, num_games=4)


@pytest.mark.parametrize(("game_class", "broken_law"), BROKEN_POSITIONS, ids=readable)
def test_a_broken_position_is_named(game_class: type[Kuhn], broken_law: str) -> None:
    with pytest.raises(GameContractError, match=f"breaks the law '{broken_law}'"):
        check_game(game_class())


@pytest.mark.parametrize("max_nodes", [NO_TREE, 20_000], ids=["no tree", "tree"])
@pytest.mark.parametrize(("game_class", "broken_law"), BROKEN_INFORMATION, ids=readable)
def test_broken_hidden_information_is_named(
    game_class: type[Kuhn], broken_law: str, max_nodes: int
) -> None:
    with pytest.raises(GameContractError, match=f"breaks the law '{broken_law}'"):
        check_game(game_class(), max_nodes=max_nodes)


@pytest.mark.parametrize("num_players", [2, 3])
@pytest.mark.parametrize(("game_class", "broken_law"), BROKEN_ON_THE_TREE, ids=readable)
def test_the_tree_alone_shows_what_is_broken(
    game_class: type[Kuhn], broken_law: str, num_players: int
) -> None:
    with pytest.raises(GameContractError, match=f"breaks the law '{broken_law}'"):
        check_game(game_class(num_players=num_players), num_games=0)


def test_writing_past_the_end_is_noticed() -> None:
    broken_law = "kernels never raise" if JIT_DISABLED else "kernels write inside their arrays"
    with pytest.raises(GameContractError, match=f"breaks the law '{broken_law}'"):
        check_game(WRITES_TOO_FAR())


def test_a_broken_game_is_not_harmed() -> None:
    game = next(
        cls for cls, broken_law in BROKEN_POSITIONS if broken_law == "rules are never written"
    )()
    with pytest.raises(GameContractError):
        check_game(game)
    assert game.rules.tolist() == [2]


def test_the_message_says_where() -> None:
    game = next(
        cls for cls, broken_law in BROKEN_POSITIONS if broken_law == "returns add up at the end"
    )()
    with pytest.raises(GameContractError) as caught:
        check_game(game)
    message = str(caught.value)
    assert message.startswith("kuhn_v0() breaks the law 'returns add up at the end': the returns [")
    assert "Expected: At the end the returns of all teams add up to ``return_sum``" in message
    history = message.partition("game.replay([")[2].partition("])")[0]
    position = game.replay([int(action) for action in history.split(", ")])
    assert position.is_over
    assert position.returns().sum() != 0.0


def test_rare_cells_are_put_together() -> None:
    assert fit_p_value([1, 0, 0, 0, 999], [0.0002] * 4 + [0.9992]) == 1.0
    assert (
        fit_p_value([0, 0, 30, 30, 30], [1 / 90, 1 / 90, 1 / 3, 1 / 3, 1 - 2 / 3 - 2 / 90]) > 1e-6
    )
