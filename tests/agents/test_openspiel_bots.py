"""OpenSpiel's bots at our tables: the same game, fairly, and as strong as they are at home."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyspiel
import pytest

from agents import make_agent
from agents.processes.openspiel_bot import openspiel_history, openspiel_name
from arena.match import play_match
from common.errors import MasqueradeError, OptionError
from envs import make_game
from envs.core.game import Game
from envs.core.rng import new_rng
from tests.support.mid_game import ROWS, batch_in_mid_game, swap_worlds
from tests.support.openspiel_pairs import PAIRS

HERE = "tests.agents.test_openspiel_bots"
GAMES = [("kuhn_v0", {}), ("leduc_v0", {}), ("liars_dice_v0", {"preset": "openspiel", "dice": 2})]


class StateReader(pyspiel.Bot):  # type: ignore[misc]
    """Chooses by everything that is in the state it is given, hidden or not."""

    def __init__(self, player: int, seed: int) -> None:
        pyspiel.Bot.__init__(self)
        self.player = player
        self.seed = seed

    def step(self, state: Any) -> int:
        assert state.current_player() == self.player
        legal = state.legal_actions()
        total = sum((i + 1) * action for i, action in enumerate(state.history()))
        return int(legal[(self.seed + total) % len(legal)])


def state_reader(_game: Any, player: int, seed: int) -> Any:
    return StateReader(player, seed)


@pytest.mark.parametrize(("game_id", "options", "their_name"), [pair[:3] for pair in PAIRS])
def test_our_games_have_the_names_that_were_compared_with_openspiel(
    game_id: str, options: dict[str, Any], their_name: str
) -> None:
    name = openspiel_name(make_game(game_id, **options))
    assert str(pyspiel.load_game(name)) == str(pyspiel.load_game(their_name))


@pytest.mark.parametrize(("game_id", "options", "their_name"), [pair[:3] for pair in PAIRS])
def test_a_state_of_ours_leads_to_the_state_of_theirs_that_the_player_is_in(
    game_id: str, options: dict[str, Any], their_name: str
) -> None:
    game, theirs, rng = make_game(game_id, **options), pyspiel.load_game(their_name), new_rng(3)
    choices = np.random.default_rng(5)
    for _ in range(20):
        ours, truth = game.new_position(), theirs.new_initial_state()
        while not ours.is_over:
            if not ours.is_chance:
                state = theirs.new_initial_state()
                for action in openspiel_history(game, ours.determinized(ours.turn, rng)):
                    state.apply_action(action)
                known, met = (s.information_state_string(ours.turn) for s in (truth, state))
                assert known == met
            action = int(choices.choice(ours.legal_actions()))
            ours.apply(action)
            truth.apply_action(action)


@pytest.mark.parametrize(("game_id", "options"), GAMES)
@pytest.mark.parametrize("num_moves", [0, 2])
def test_a_bot_that_reads_all_of_its_state_learns_nothing_of_the_true_one(
    game_id: str, options: dict[str, Any], num_moves: int
) -> None:
    game = make_game(game_id, **options)
    agent = make_agent(f"openspiel:{HERE}:state_reader", game)
    batch, rows = batch_in_mid_game(game, num_moves, seed=11), np.arange(ROWS)
    chosen = agent.act(batch.views(rows))
    assert swap_worlds(batch, seed=200) > 0
    assert (agent.act(batch.views(rows)) == chosen).all()


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_their_uniform_bot_plays_like_our_random_agent(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    ours, theirs = make_agent("random", game), make_agent("openspiel:uniform", game)
    for seats, same in (([theirs, ours], [ours, ours]), ([ours, theirs], [ours, ours])):
        match = play_match(game, seats, 3000, seed=2)
        known = play_match(game, same, 20_000, seed=5)
        error = np.hypot(match.half_widths, known.half_widths) / 1.96
        assert (abs(match.mean_returns - known.mean_returns) < 4 * error).all()


def test_a_policy_that_openspiel_solved_plays_kuhn_to_its_value() -> None:
    game = make_game("kuhn_v0")
    solved = make_agent("openspiel:examples.openspiel_bots:cfr", game)
    match = play_match(game, [solved, solved], 40_000, seed=1)
    assert abs(match.mean_returns[0] + 1 / 18) < 2 * match.half_widths[0]  # four standard errors
    assert match.half_widths[0] < 0.014
    # A player who never bluffs and never is bluffed gets no more than the value either.
    other = play_match(game, [make_agent("random", game), solved], 5000, seed=1)
    assert other.mean_returns[0] < -1 / 18 - 2 * other.half_widths[0]


def test_a_bot_repeats_its_games_whatever_the_batches() -> None:
    game = make_game("leduc_v0")
    for path in ("uniform", f"{HERE}:state_reader"):
        seats = [make_agent(f"openspiel:{path}", game), make_agent("random", game)]
        match = play_match(game, seats, 60, seed=1)
        again = play_match(game, seats, 60, seed=1, batch_size=7)
        assert (match.returns == again.returns).all()
        assert (match.returns != play_match(game, seats, 60, seed=2).returns).any()
        assert seats[0].is_reproducible


def test_a_searching_bot_beats_the_random_player() -> None:
    game = make_game("leduc_v0")
    searching = make_agent("openspiel:examples.openspiel_bots:ismcts", game)
    match = play_match(game, [searching, make_agent("random", game)], 600, seed=1)
    # It does not follow its seed, so this is a matter of chance: it wins 0.80 ± 0.15 (3,000 games),
    # which is over four standard errors of these 600.
    assert match.mean_returns[0] > 0
    assert not searching.is_reproducible


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({}, "single_round, wild, raising"),
        ({"preset": "openspiel", "num_players": 3}, "num_players"),
        ({"preset": "openspiel", "dice": (1, 2)}, "dice"),
        ({"preset": "openspiel", "first_player": "random"}, "first_player"),
    ],
)
def test_house_rules_that_openspiel_lacks_are_refused(options: dict[str, Any], wrong: str) -> None:
    game = make_game("liars_dice_v0", **options)
    with pytest.raises(OptionError, match=f"no Liar's Dice with this {wrong}: use the option"):
        make_agent("openspiel:uniform", game)


@pytest.mark.parametrize("path", ["nobody", "no.module:bot", f"{HERE}:nobody"])
def test_an_unknown_bot_is_refused_in_one_line(path: str) -> None:
    with pytest.raises(OptionError, match="openspiel:uniform or openspiel:module:factory"):
        make_agent(f"openspiel:{path}", make_game("kuhn_v0"))


def test_without_openspiel_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    game: Game = make_game("kuhn_v0")
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MasqueradeError, match="pip install open_spiel"):
        make_agent("openspiel:uniform", game)
