"""How well deep Q-learning learns, next to other libraries: ``python -m benchmarks.dqn_quality``.

Ours, OpenSpiel's and RLCard's DQN learn two-player Leduc poker against a fixed opponent, once a
random player and once an equilibrium (CFR). All make the same number of decisions, in both seats in
turn, with one network of the same hidden layers, the same batch, replay, learning rate, exploration
and updates per decision; in everything else each is as its authors made it. RLCard's agent plays
our Leduc poker, because its own has other rules; ours and OpenSpiel's have the same.

Afterwards each network plays without exploration against the opponent it has met. What it gets is
computed over the whole tree, so that nothing but the seeds of the learning makes a difference; a
best response shows what could be got. Intervals are over seeds, 95 %.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.base import Actions, Agent, Views
from agents.cfr import (
    GameTree,
    VectorCFRSolver,
    best_response,
    expected_values,
    tabulate,
    to_policy,
)
from agents.dqn.agent import DQNSettings
from agents.dqn.learner import DQNLearner
from agents.learning.learner import Opponents, Task
from agents.policy import PolicyAgent
from benchmarks.harness import FOLDER, on_cores
from benchmarks.peers import LEARNING_RATE, REPLAY_SIZE, openspiel_dqn, rlcard_dqn, silenced
from benchmarks.report import machine
from common.commands import COUNT, Parser, answers_in_one_line
from common.files import write_json
from common.statistics import mean_interval
from envs import make_game
from envs.core.game import Game
from envs.core.rollouts import make_seat_games

Probs = npt.NDArray[np.float64]
Train = Callable[["Setting", int], Probs]

HIDDEN = (64, 64)
BATCH = 64
LEARN_START = 500
STEPS_PER_UPDATE = 4
UPDATES_PER_COPY = 100
EXPLORATION_END = 0.05
CFR_ITERATIONS = 2_000
OPPONENTS = ("random", "equilibrium")
# OpenSpiel learns every so many calls, and is also called at the end of a game.
CALLS_PER_DECISION = 1.5


class Setting:
    """A fixed opponent on Leduc poker, and what a policy gets against it."""

    def __init__(self, name: str, num_steps: int) -> None:
        """Solve the game if need be."""
        self.name = name
        self.num_steps = num_steps
        self.game: Game = make_game("leduc_v0")
        self.tree = GameTree(self.game)
        self.probs: Probs = self.tree.uniform()
        self.opponent: Agent = make_agent("random", self.game)
        if name == "equilibrium":
            solver = VectorCFRSolver.of(self.game, "cfr+")
            solver.run(CFR_ITERATIONS)
            self.probs = solver.average_policy()
            policy = to_policy(self.tree, self.probs)
            self.opponent = PolicyAgent(self.game, policy=policy)

    def value(self, learnt: Probs) -> float:
        """What a policy gets on average over both seats, exactly."""
        values = []
        for seat in (0, 1):
            both = self.probs.copy()
            own = list(self.tree.sequences_of(seat))
            both[own] = learnt[own]
            values.append(expected_values(self.tree, both)[seat])
        return float(np.mean(values))

    @property
    def best_value(self) -> float:
        """What a best response gets."""
        best = [best_response(self.tree, self.probs, seat).value for seat in (0, 1)]
        return float(np.mean(best))


# ---- the learners --------------------------------------------------------------------------------


def train_ours(setting: Setting, seed: int) -> Probs:
    """Ours, with 16 games side by side and a target network that follows at every update."""
    settings = DQNSettings(
        hidden=HIDDEN,
        batch_size=BATCH,
        replay_size=REPLAY_SIZE,
        learn_start=LEARN_START,
        learning_rate=LEARNING_RATE,
        updates_per_step=1 / STEPS_PER_UPDATE,
        target="polyak",
        target_rate=2 / UPDATES_PER_COPY,
        exploration_end=EXPLORATION_END,
        num_envs=16,
        max_gradient=0.0,
    )
    opponents = Opponents([setting.opponent], seed)
    task = Task(setting.game, seed, opponents, total=setting.num_steps)
    learner = DQNLearner(task, settings)
    learner.update(setting.num_steps)
    return tabulate(learner.player(), setting.tree).probs


def train_openspiel(setting: Setting, seed: int) -> Probs:
    """OpenSpiel's PyTorch DQN; it is told before every game which seat is its own."""
    from open_spiel.python import rl_environment

    from agents.cfr.openspiel import from_openspiel, to_openspiel

    env = rl_environment.Environment("leduc_poker")
    env.seed(seed)
    learn_every = round(STEPS_PER_UPDATE * CALLS_PER_DECISION)
    learner = openspiel_dqn(
        env,
        HIDDEN,
        BATCH,
        update_target_network_every=learn_every * UPDATES_PER_COPY,
        learn_every=learn_every,
        min_buffer_size_to_learn=LEARN_START,
        epsilon_end=EXPLORATION_END,
        epsilon_decay_duration=int(setting.num_steps * CALLS_PER_DECISION / 2),
        epsilon_decay_schedule_str="linear",
        seed=seed,
    )
    opponent = to_openspiel(setting.tree, setting.probs, env.game)
    rng = np.random.default_rng(seed)
    num_decisions = num_games = 0
    while num_decisions < setting.num_steps:
        seat = learner.player_id = num_games % 2
        num_games += 1
        time_step = env.reset()
        while not time_step.last():
            if time_step.observations["current_player"] == seat:
                num_decisions += 1
                action = learner.step(time_step).action
            else:
                answer = opponent.action_probabilities(env.get_state)
                actions, probs = zip(*answer.items(), strict=True)
                action = rng.choice(actions, p=np.array(probs) / np.sum(probs))
            time_step = env.step([action])
        learner.step(time_step)
    return from_openspiel(setting.tree, _Greedy(learner), env.game)


class _Greedy:
    """OpenSpiel's learner as a policy."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner

    def action_probabilities(self, state: Any) -> dict[int, float]:
        """All on the best action."""
        seen, legal = state.information_state_tensor(), state.legal_actions()
        action, _ = self._learner.act_epsilon_greedy(seen, legal, 0.0)
        return {int(action): 1.0}


def train_rlcard(setting: Setting, seed: int) -> Probs:
    """RLCard's DQN on our Leduc poker."""
    from rlcard.utils import set_seed

    set_seed(seed)
    game = setting.game
    learner = rlcard_dqn(
        HIDDEN,
        BATCH,
        num_actions=game.facts.num_actions,
        state_shape=[game.observation_size],
        replay_memory_init_size=LEARN_START,
        update_target_estimator_every=UPDATES_PER_COPY,
        epsilon_end=EXPLORATION_END,
        epsilon_decay_steps=setting.num_steps // 2,
        train_every=STEPS_PER_UPDATE,
    )
    games = make_seat_games(game, 1, "rotate", setting.opponent, [seed])
    row = np.arange(1)
    games.deal()
    state = _rlcard_state(*games.observe(row))
    with silenced():
        for _ in range(setting.num_steps):
            action = learner.step(state)
            games.act(row, np.array([action]))
            reward = float(games.rewards(row)[0])
            is_over = bool(games.is_over[0])
            after = _rlcard_state(*games.observe(row))
            learner.feed((state, action, reward, after, is_over))
            if is_over:
                games.deal()
                after = _rlcard_state(*games.observe(row))
            state = after
    return tabulate(_RLCardPlayer(game, learner), setting.tree, num_samples=1).probs


def _rlcard_state(
    observations: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]
) -> dict[str, Any]:
    legal = np.flatnonzero(masks[0]).tolist() or [0]  # at the end it must name something
    return {
        "obs": observations[0],
        "legal_actions": dict.fromkeys(legal),
        "raw_legal_actions": legal,
    }


class _RLCardPlayer(Agent):
    """RLCard's learner in one of our seats."""

    def __init__(self, game: Game, learner: Any) -> None:
        super().__init__(game)
        self._learner = learner

    def act(self, views: Views) -> Actions:
        """Row by row."""
        rows = zip(views.observations, views.masks, strict=True)
        states = [_rlcard_state(seen[None], mask[None]) for seen, mask in rows]
        return np.array([self._learner.eval_step(state)[0] for state in states], np.int64)


LEARNERS: dict[str, Train] = {
    "ours": train_ours,
    "OpenSpiel": train_openspiel,
    "RLCard": train_rlcard,
}


# ---- the comparison ------------------------------------------------------------------------------


def compare(setting: Setting, seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Every learner with every seed; one row for each learner."""
    ours: list[float] = []
    for name, train in LEARNERS.items():
        started = time.process_time()
        try:
            values = [setting.value(train(setting, seed)) for seed in seeds]
        except ImportError as error:
            print(f"{setting.name:<13}{name:<11}skipped: {error}", flush=True)
            continue
        seconds = (time.process_time() - started) / len(seeds)
        ours = ours or values
        value, ahead = mean_interval(values), mean_interval(np.subtract(ours, values))
        gap = "" if ours is values else f"{ahead.mean:+.3f} ± {ahead.half_width:.3f}"
        figures = f"{value!s:<17}{setting.best_value:<9.3f}{gap:<19}{seconds:.1f}"
        print(f"{setting.name:<13}{name:<11}{figures}", flush=True)
        yield {
            "opponent": setting.name,
            "learner": name,
            "steps": setting.num_steps,
            "values": values,
            "best_value": setting.best_value,
            "ours_ahead": [ahead.low, ahead.mean, ahead.high],
            "cpu_seconds": seconds,
            "machine": machine(),
        }


@answers_in_one_line("dqn_quality")
def main(argv: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Run the comparison from the command line."""
    parser = Parser(prog="python -m benchmarks.dqn_quality", description=__doc__)
    add = parser.add_argument
    add("--steps", type=COUNT, default=20_000, help="decisions (default %(default)s)")
    add("--seeds", type=COUNT, default=5, help="how many (default %(default)s)")
    add("--opponents", nargs="+", choices=OPPONENTS, default=list(OPPONENTS))
    arguments = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    with on_cores() as place:
        import torch

        torch.set_num_threads(1)
        print(f"dqn_quality: {place}, {arguments.steps:,} steps, {arguments.seeds} seeds")
        print(f"{machine()}\n")
        print(
            "opponent     learner    return           best     ours is ahead by   CPU s", flush=True
        )
        for name in arguments.opponents:
            rows += compare(Setting(name, arguments.steps), range(arguments.seeds))
    write_json(folder / "dqn_quality.json", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
