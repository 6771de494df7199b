"""A rogue in every place where somebody plays: it changes nobody else's result, in any game.

A rogue writes into everything it can reach before it plays what its honest twin plays. What the
others get, and what a learner learns, is the same to the last bit. That what is sent over the wire
and to a browser is the same in every world that a seat cannot tell apart is tested beside those
(``tests/agents/test_external.py``, ``tests/play/test_secrecy.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent, TimeStep, Views
from agents.dqn.agent import DQNSettings
from agents.dqn.learner import DQNLearner
from agents.learning.learner import Opponents, Task
from agents.sb3.vec_env import SeatVecEnv
from arena.match import play_match
from envs import GAMES, make_game
from envs.core.batch import random_actions
from envs.core.game import Game
from envs.core.rng import new_rng
from tests.support.reach import reachable

every_game = pytest.mark.parametrize("game", [make_game(game_id) for game_id in GAMES], ids=str)


class Honest(Agent):
    """Plays uniformly, with all that a search is given: worlds, tokens and earlier observations."""

    wants_tokens = True
    num_past = 2

    def act(self, views: Views) -> Actions:
        return random_actions(views.masks, views.rngs)

    def end_games(self, *about: Any) -> None:
        """Hear of ends as the rogue does."""


class Rogue(Honest):
    """Plays the same, after it has spoilt whatever can be written to."""

    def act(self, views: Views) -> Actions:
        actions = super().act(views)
        rngs, drawn = views.rngs, views.rngs.copy()
        # What a search makes of it: states to play on with, and its own generators.
        given = [views.observations, views.masks, views.worlds(), views.keys, views.seats]
        given += [views.past_observations(2), *(views.tokens(i) for i in range(len(views)))]
        spoil([views, given])
        for name in ("seats", "keys", "rngs", "_worlds", "game_ids"):
            vars(views)[name] = None
        rngs[...] = drawn  # its own: else it would play other moves than its twin
        return actions

    def observe(self, step: TimeStep) -> None:
        spoil(step)

    def end_games(self, *about: Any) -> None:
        spoil(about)


def spoil(given: Any) -> None:
    """Write ones into all arrays within reach that let themselves be written to."""
    for thing in reachable(given):
        if isinstance(thing, np.ndarray) and not isinstance(thing, np.record):
            try:
                thing.setflags(write=True)
                thing[...] = 1
            except ValueError:
                pass
        elif isinstance(thing, list):
            thing.clear()


def others_of(game: Game) -> list[Agent]:
    """Honest players for all seats but one, with all they may want to look at."""
    return [Honest(game) for _ in range(game.facts.num_players - 1)]


@every_game
def test_a_rogue_with_all_that_a_search_is_given_changes_no_result(game: Game) -> None:
    played = [
        play_match(game, [player(game), *others_of(game)], 40, seed=4, batch_size=size)
        for player, size in ((Honest, 40), (Rogue, 40), (Rogue, 7))
    ]
    for result in played[1:]:
        assert not result.faults
        np.testing.assert_array_equal(result.returns, played[0].returns)
        np.testing.assert_array_equal(result.lengths, played[0].lengths)


@every_game
def test_a_rogue_among_the_opponents_changes_nothing_that_a_learner_learns(game: Game) -> None:
    def learnt(opponent: Agent) -> dict[str, Any]:
        settings = DQNSettings(num_envs=8, learn_start=8, hidden=(8,), replay_size=200)
        task = Task(game, seed=3, opponents=Opponents([opponent], 3), total=40)
        learner = DQNLearner(task, settings)
        learner.update(40)
        return learner.state_dict()

    honest, rogue = learnt(Honest(game)), learnt(Rogue(game))
    for name, value in honest.items():
        if name != "seconds":
            np.testing.assert_array_equal(rogue[name], value, err_msg=name)


@every_game
def test_a_rogue_model_of_the_library_changes_nothing_in_its_environment(game: Game) -> None:
    def rewards(is_rogue: bool) -> Iterator[Any]:
        env = SeatVecEnv(game, 4, opponents=Honest(game))
        env.seed(5)
        seen, rng = env.reset(), new_rng(6)
        for _ in range(20):
            masks = env.action_masks()
            words = np.stack([rng.copy() for _ in range(4)])
            actions = random_actions(masks.astype(np.int8), words)
            rng[:] = words[0]
            if is_rogue:
                spoil([seen, masks])
            seen, paid, is_over, infos = env.step(actions)
            yield seen.copy(), paid.copy(), is_over.copy()
            batch = env.games.batch
            for own in (batch._states, batch.turns, batch.totals, batch.keys, batch._rows.rngs):
                assert not any(np.shares_memory(array, own) for array in (seen, paid, is_over))
            if is_rogue:
                spoil([seen, paid, is_over, infos])

    for honest, rogue in zip(rewards(False), rewards(True), strict=True):
        for one, two in zip(honest, rogue, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_rogue_that_learns_while_it_plays_changes_no_result() -> None:
    class Learns(Honest):
        def begin_learning(self) -> None:
            self.is_learning = True

    class RogueLearns(Rogue):
        def begin_learning(self) -> None:
            self.is_learning = True

    game = make_game("leduc_v0")
    results = []
    for kind in (Learns, RogueLearns):
        player = kind(game)
        player.begin_learning()
        other = make_agent("leduc_rule", game)
        results.append(play_match(game, [player, other], 60, seed=2).returns)
    np.testing.assert_array_equal(*results)
