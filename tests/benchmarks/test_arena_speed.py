"""What the benchmark of the arena measures: both sides play the games they are paid for."""

from __future__ import annotations

import numpy as np
import pytest

from arena.match import play_match
from benchmarks import arena_speed, peers
from benchmarks.peers import NetworkAgent, numbers, pick_by_softmax
from envs import make_game


@pytest.mark.parametrize("agent_id", [arena_speed.RANDOM, arena_speed.NETWORK])
def test_our_tournament_plays_every_deal_in_both_seatings(
    agent_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena_speed, "DEALS", 20)
    assert arena_speed.our_tournament(agent_id)() == 40


def test_a_network_plays_without_mistakes_and_alike_in_any_batch() -> None:
    game = make_game("leduc_v0")
    players = [NetworkAgent(game, seed) for seed in range(2)]
    whole = play_match(game, players, 300, has_forfeits=True)
    small = play_match(game, players, 300, has_forfeits=True, batch_size=7)
    assert not whole.faults
    assert (whole.returns == small.returns).all()
    assert (whole.lengths == small.lengths).all()


def test_networks_of_other_seeds_are_others() -> None:
    game = make_game("leduc_v0")
    one, other = ([NetworkAgent(game, seed)] * 2 for seed in (1, 2))
    assert (play_match(game, one, 200).returns != play_match(game, other, 200).returns).any()


def test_games_of_networks_are_about_as_long_as_those_of_random_players() -> None:
    game = make_game("leduc_v0")
    random = arena_speed._agents(arena_speed.RANDOM)
    networks = arena_speed._agents(arena_speed.NETWORK)
    lengths = [
        play_match(game, [spec.build(game) for spec in specs], 4000).lengths.mean()
        for specs in (random, networks)
    ]
    assert np.isclose(*lengths, rtol=0.1), lengths


@pytest.mark.parametrize("kind", ["python", "c++", "network"])
@pytest.mark.parametrize("is_loop_compiled", [False, True])
def test_openspiel_plays_its_games(kind: str, is_loop_compiled: bool) -> None:
    chunk = peers.openspiel_bots(arena_speed.LEDUC, kind, is_loop_compiled)
    assert chunk() == peers.GAMES_PER_CHUNK


def test_actions_are_drawn_by_their_softmax() -> None:
    logits, draws = [0.0, 5.0, 0.0, 1.0], numbers()
    drawn = [pick_by_softmax(logits, [0, 2, 3], draws) for _ in range(4000)]
    shares = [drawn.count(action) / len(drawn) for action in range(4)]
    expected = np.exp(logits) * [1, 0, 1, 1]
    assert np.allclose(shares, expected / expected.sum(), atol=0.03)
