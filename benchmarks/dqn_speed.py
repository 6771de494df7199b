"""How fast deep Q-learning learns, next to other libraries: ``python -m benchmarks.dqn_speed``.

Everything runs on one core and one thread. A step is a decision of the learner, with everything
that belongs to it: the opponent's moves, the chance, the replay and its share of the updates. All
learn two-player Leduc poker in one seat against a random player. Each pair has the same number of
updates per step, the same batch, hidden layers, optimiser (Adam) and size of replay:

``openspiel``
    OpenSpiel's PyTorch DQN with its own defaults: a hidden layer of 128, batches of 128, an update
    every tenth call. It also counts the call at the end of a game, so we make as many more updates
    per decision as it does.
``openspiel_often``
    The same with an update every third call; more often it cannot, its replay is then empty.
``rlcard``
    RLCard's DQN with an update at every decision, hidden layers of 64 and 64, batches of 32, and
    double learning, which it always uses.
``rlcard_large``
    The same with hidden layers of 128 and 128 and batches of 128: more arithmetic, less overhead.
``limit``
    Learning with an update at every decision, and nothing but such updates on tensors that are
    ready: forward, backward and fused Adam by torch. What playing and replay add would make us
    slower than that; writing the gradient out by hand makes us faster.
``limit_ours``
    The same against our own update on tensors that are ready.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from benchmarks.harness import Chunk, Job, main, times
from benchmarks.peers import LEARNING_RATE, REPLAY_SIZE, openspiel_dqn, rlcard_dqn, silenced

TARGET_EVERY = 500
NUM_ENVS = 64
STEPS_PER_CHUNK = 128
FIRST_STEPS = 2_000
"""Before the clock starts: all replays are filled and all have begun to learn."""


# ---- our side ------------------------------------------------------------------------------------


def our_learner(
    hidden: Sequence[int], batch_size: int, updates_per_step: float, double: bool
) -> Any:
    """A learner of Leduc poker against a random player, already at work."""
    import torch

    from agents import make_agent
    from agents.dqn.agent import DQNSettings
    from agents.dqn.learner import DQNLearner
    from agents.learning.learner import Opponents, Task
    from envs import make_game

    torch.set_num_threads(1)
    game = make_game("leduc_v0")
    settings = DQNSettings(
        hidden=tuple(hidden),
        batch_size=batch_size,
        updates_per_step=updates_per_step,
        double=double,
        learning_rate=LEARNING_RATE,
        target_every=TARGET_EVERY,
        replay_size=REPLAY_SIZE,
        num_envs=NUM_ENVS,
        exploration="constant",
        exploration_start=0.1,
        max_gradient=0.0,
    )
    learner = DQNLearner(Task(game, opponents=Opponents([make_agent("random", game)])), settings)
    learner.update(FIRST_STEPS)
    return learner


def our_steps(
    hidden: Sequence[int], batch_size: int, updates_per_step: float, double: bool
) -> Chunk:
    """Steps of learning."""
    learner = our_learner(hidden, batch_size, updates_per_step, double)
    return times(STEPS_PER_CHUNK, lambda: learner.update(STEPS_PER_CHUNK))


def our_steps_like_openspiel(learn_every: int) -> Chunk:
    """With as many updates per decision as OpenSpiel makes, or would make if it were installed."""
    try:
        num_calls = calls_per_decision()
    except ImportError:
        num_calls = 1.5
    return our_steps([128], 128, num_calls / learn_every, double=False)


def our_bare_updates(hidden: Sequence[int], batch_size: int) -> Chunk:
    """Our update, always on the same transitions."""
    from agents.dqn.learner import Log

    learner = our_learner(hidden, batch_size, 0.0, double=False)
    ready, log = learner.replay.draw(batch_size, learner._replay_rng), Log()
    learner._draw = lambda: ready

    def work() -> None:
        for _ in range(STEPS_PER_CHUNK):
            learner._learn(log)

    return times(STEPS_PER_CHUNK, work)


# ---- peers ---------------------------------------------------------------------------------------


class OpenSpielSeat:
    """OpenSpiel's DQN in the first seat of its Leduc poker, used as in its examples."""

    def __init__(self, learn_every: int) -> None:
        """Make the agent and let it begin to learn."""
        from open_spiel.python import rl_environment
        from open_spiel.python.algorithms import random_agent

        self._env = rl_environment.Environment("leduc_poker")
        self._learner = openspiel_dqn(
            self._env,
            [128],
            128,
            update_target_network_every=TARGET_EVERY,
            learn_every=learn_every,
            min_buffer_size_to_learn=1000,
            epsilon_start=0.1,
            epsilon_end=0.1,
            loss_str="mse",
        )
        num_actions = self._env.action_spec()["num_actions"]
        other = random_agent.RandomAgent(player_id=1, num_actions=num_actions)
        self._agents = [self._learner, other]
        while self.num_calls < FIRST_STEPS:
            self.play_game()

    @property
    def num_calls(self) -> int:
        """How often the learner was called; every so many calls it learns."""
        return int(self._learner.step_counter)

    def play_game(self) -> int:
        """Play a game; how many decisions the learner has made."""
        num_decisions = 0
        time_step = self._env.reset()
        while not time_step.last():
            player = time_step.observations["current_player"]
            num_decisions += player == 0
            output = self._agents[player].step(time_step)
            time_step = self._env.step([output.action])
        for agent in self._agents:
            agent.step(time_step)
        return num_decisions


@cache
def calls_per_decision() -> float:
    """How often OpenSpiel's learner is called for each of its decisions, the ends included."""
    seat = OpenSpielSeat(learn_every=10)
    before, num_decisions = seat.num_calls, 0
    while seat.num_calls < before + 5_000:
        num_decisions += seat.play_game()
    return (seat.num_calls - before) / num_decisions


def openspiel_steps(learn_every: int) -> Chunk:
    """Decisions of OpenSpiel's learner."""
    import torch

    torch.set_num_threads(1)
    seat = OpenSpielSeat(learn_every)

    def chunk() -> int:
        num_decisions = 0
        while num_decisions < STEPS_PER_CHUNK:
            num_decisions += seat.play_game()
        return num_decisions

    return chunk


def rlcard_steps(hidden: Sequence[int], batch_size: int) -> Chunk:
    """Decisions of RLCard's learner, in the loop of its examples."""
    import rlcard
    import torch
    from rlcard.agents import RandomAgent
    from rlcard.utils import reorganize

    torch.set_num_threads(1)
    env = rlcard.make("leduc-holdem", config={"seed": 0})
    learner = rlcard_dqn(
        hidden,
        batch_size,
        num_actions=env.num_actions,
        state_shape=env.state_shape[0],
        replay_memory_init_size=1000,
        update_target_estimator_every=TARGET_EVERY,
        epsilon_start=0.1,
        epsilon_end=0.1,
    )
    env.set_agents([learner, RandomAgent(num_actions=env.num_actions)])

    def play(num_steps: int) -> int:
        num_decisions = 0
        with silenced():
            while num_decisions < num_steps:
                trajectories, payoffs = env.run(is_training=True)
                for transition in reorganize(trajectories, payoffs)[0]:
                    learner.feed(transition)
                    num_decisions += 1
        return num_decisions

    play(FIRST_STEPS)
    return partial(play, STEPS_PER_CHUNK)


def torch_updates(hidden: Sequence[int], batch_size: int) -> Chunk:
    """The same update by torch alone: modules, autograd and fused Adam, on tensors at hand."""
    import torch

    torch.set_num_threads(1)
    learner = our_learner(hidden, batch_size, 0.0, double=False)
    batch = learner._on_device(learner.replay.draw(batch_size, learner._replay_rng))
    network, target = (_torch_network(batch, hidden) for _ in range(2))
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, fused=True)

    def work() -> None:
        for _ in range(STEPS_PER_CHUNK):
            with torch.no_grad():
                best = (target(batch.next_inputs) + batch.penalties).amax(1, keepdim=True)
                wanted = batch.rewards + batch.discounts * best
            found = network(batch.inputs).gather(1, batch.actions)
            loss = torch.nn.functional.mse_loss(found, wanted)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    return times(STEPS_PER_CHUNK, work)


def _torch_network(batch: Any, hidden: Sequence[int]) -> Any:
    from torch import nn

    sizes = [batch.inputs.shape[1], *hidden]
    layers: list[nn.Module] = []
    for i in range(len(hidden)):
        layers += [nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], batch.penalties.shape[1]))


# ---- jobs ----------------------------------------------------------------------------------------


def _openspiel_job(name: str, learn_every: int, often: str) -> Job:
    return Job(
        name,
        f"DQN on Leduc, a layer of 128, batches of 128, an update at {often} call",
        partial(our_steps_like_openspiel, learn_every),
        partial(openspiel_steps, learn_every),
        "OpenSpiel PyTorch DQN",
        target=2.0,
    )


def _rlcard_job(name: str, hidden: Sequence[int], batch_size: int, target: float | None) -> Job:
    return Job(
        name,
        f"DQN on Leduc, layers of {hidden}, batches of {batch_size}, an update at every decision",
        partial(our_steps, hidden, batch_size, 1.0, True),
        partial(rlcard_steps, hidden, batch_size),
        "RLCard DQNAgent",
        target=target,
    )


SMALL = [64, 64]
OURS = partial(our_steps, SMALL, 32, 1.0, False)
TORCH, OWN = "torch, bare updates", "ours, bare updates"
JOBS = [
    _openspiel_job("openspiel", 10, "every tenth"),
    _openspiel_job("openspiel_often", 3, "every third"),
    _rlcard_job("rlcard", SMALL, 32, 5.0),
    _rlcard_job("rlcard_large", [128, 128], 128, None),
    Job(
        "limit",
        "an update a step, and torch's alone",
        OURS,
        partial(torch_updates, SMALL, 32),
        TORCH,
    ),
    Job(
        "limit_ours", "the same, and our own alone", OURS, partial(our_bare_updates, SMALL, 32), OWN
    ),
]

if __name__ == "__main__":
    sys.exit(main("dqn_speed", __doc__, JOBS))
