"""Hold'em's own search: kinds of opponents, guessed together with their hands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.holdem.search import DRAWN, KINDS, as_kind, guess_of, kind_of, with_guess
from agents.ismcts.searcher import Root, likely_worlds
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import new_rng
from envs.holdem.equity import all_hands
from envs.holdem.kernels import rollout

RULE_PLAYERS = {kind: f"holdem_{kind}" for kind in KINDS}
FOLD, CALL = 0, 1


def heads_up(**options: Any) -> Game:
    return make_game("holdem_v0", num_players=2, **options)


def begun(game: Game, count: int, seed: int = 0) -> Batch:
    batch = Batch(game, count, chance=new_rng(seed), has_tokens=True)
    batch.begin(np.arange(count), np.arange(count))
    return batch


def guessing(game: Game, seat: int, number: int = 7) -> Any:
    """The rules with a guess for a search of ``seat``."""
    rules = with_guess(game)
    guess = guess_of(rules)
    guess.seat, guess.number = seat, number
    return rules


def kinds_in(worlds: Any, game: Game, seat: int, number: int) -> list[str]:
    return [KINDS[kind_of(game.record(world), np.uint64(number), seat)] for world in worlds]


def test_kinds_are_as_likely_as_they_are_drawn() -> None:
    game = heads_up()
    state = begun(game, 1).views(np.arange(1)).worlds()[0].copy()
    s, counts = game.record(state), dict.fromkeys(KINDS, 0)
    for number in range(4):
        for hand in all_hands():
            s.hole[1] = hand
            counts[KINDS[kind_of(s, np.uint64(number), 1)]] += 1
    for kind, name in enumerate(KINDS):
        wanted = DRAWN.count(kind) / len(DRAWN)
        assert abs(counts[name] / (4 * len(all_hands())) - wanted) < 0.03


@pytest.mark.parametrize("options", [{}, {"menu": "thesis"}, {"preset": "exact"}])
def test_opponents_play_like_the_rule_player_of_their_kind(options: dict[str, Any]) -> None:
    """Before the flop that is certain, in answer to a call, a small raise and a large one."""
    game, rows = heads_up(**options), np.arange(200)
    players = {kind: make_agent(agent_id, game) for kind, agent_id in RULE_PLAYERS.items()}
    for first in (None, CALL, 2, game.facts.num_actions - 1):
        batch = begun(game, len(rows), seed=3)
        if first is not None:
            masks = batch.views(rows).masks
            # An exact menu has amounts that are not legal.
            batch.step(rows, np.array([first if mask[first] else CALL for mask in masks]))
        views = batch.views(rows)
        answers = {kind: player.act(views) for kind, player in players.items()}
        for row, world in enumerate(views.worlds()):
            seat = int(views.seats[row])
            rules = guessing(game, 1 - seat)
            kind = KINDS[kind_of(game.record(world), np.uint64(7), seat)]
            assert as_kind(world, rules, new_rng(row)) == answers[kind][row], (kind, first)


def test_the_searcher_itself_is_no_kind() -> None:
    game, rows = heads_up(), np.arange(100)
    views = begun(game, len(rows), seed=5).views(rows)
    for row, world in enumerate(views.worlds()):
        rules = guessing(game, int(views.seats[row]))
        # There was no bet to respect but the blind.
        own, quick = (policy(world, rules, new_rng(1)) for policy in (as_kind, rollout))
        assert own == quick or (own, quick) == (FOLD, CALL)


def worlds_now(batch: Batch, number: int) -> tuple[Any, int]:
    """Worlds of the player to move as the search weighs them, and the seat of its opponent."""
    game, row = batch.game, np.arange(1)
    views = batch.views(row)
    seat, tokens = int(views.seats[0]), np.array(views.tokens(0), np.int64)
    root = Root(views.worlds()[0], seat, views.keys[0], views.masks[0], tokens)
    agent = make_agent("holdem_search", game)
    guess = guess_of(agent._rules)
    guess.seat, guess.number = seat, number
    worlds = likely_worlds(root, game, 2000, new_rng(0), agent.searcher._models)
    assert worlds is not None
    return worlds, 1 - seat


def test_a_large_raise_is_taken_for_a_good_hand_of_somebody_who_raises() -> None:
    game = heads_up()
    batch = begun(game, 1, seed=1)
    batch.step(np.arange(1), np.array([4]))  # the whole pot
    worlds, other = worlds_now(batch, 11)
    kinds = kinds_in(worlds, game, other, 11)
    # A caller never raises, and a tight player raises less than the pot.
    assert kinds.count("loose") > 3 * kinds.count("call")
    believed = [game.record(world).hole[other] for world in worlds]
    ranks = [
        int(max(hand)) >> 2 for hand, kind in zip(believed, kinds, strict=True) if kind != "raise"
    ]
    assert np.mean(ranks) > 1.1 * np.mean(np.maximum(*all_hands().T) >> 2)


def test_who_raises_again_and_again_is_found_out() -> None:
    game, row = heads_up(), np.arange(1)
    batch, shares = begun(game, 1, seed=1), []
    raiser = int(batch.views(row).seats[0])
    while len(shares) < 3:
        is_raiser = batch.views(row).seats[0] == raiser
        if not is_raiser and (batch.views(row).masks[0, 0]):  # there is a bet to answer
            worlds, other = worlds_now(batch, 5)
            kinds = kinds_in(worlds, game, other, 5)
            shares.append(kinds.count("raise") / len(kinds))
        batch.step(row, np.array([4 if is_raiser else CALL]))
    assert shares[0] < 0.6 < shares[-1]


def test_weak_hands_are_raised_where_many_fold_and_not_thrown_away() -> None:
    """On the button the best answer to these kinds is to raise with most hands."""
    game, rows = heads_up(), np.arange(40)
    agent = make_agent("holdem_search", game, iterations=4000)
    actions = agent.act(begun(game, len(rows), seed=9).views(rows))
    assert (actions >= 2).mean() > 0.4
    assert (actions == FOLD).mean() < 0.4


def test_search_wins_from_callers() -> None:
    game = heads_up()
    players = [make_agent("holdem_search", game, iterations=500), make_agent("holdem_call", game)]
    won = play_match(game, players, 80, seed=4).returns[:, 0]
    assert won.mean() > 2 * won.std() / len(won) ** 0.5


@pytest.mark.parametrize(
    "options", [{"num_players": 6}, {"preset": "thesis"}, {"num_players": 3, "num_hands": 3}]
)
def test_it_sits_at_every_table(options: dict[str, Any]) -> None:
    game = make_game("holdem_v0", **options)
    players = [make_agent("holdem_tight", game) for _ in range(game.facts.num_players)]
    players[0] = make_agent("holdem_search", game, iterations=20, num_worlds=16)
    returns = play_match(game, players, 4, seed=0).returns
    assert abs(returns.sum(axis=1)).max() < 1e-6


def test_a_guide_is_refused() -> None:
    with pytest.raises(OptionError, match="give mo_ismcts the guide"):
        make_agent("holdem_search", heads_up(), guide="random")
