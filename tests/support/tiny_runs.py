"""Runs of every configuration, so short that a test can make them."""

from __future__ import annotations

from pathlib import Path

from training.asked import config_files
from training.config import RunConfig, read_yaml

CONFIGS = [*config_files(), *sorted(Path("configs/demo").glob("*.yaml"))]


def agent_of(path: Path) -> str:
    return RunConfig.parse(read_yaml(path)).agent.id


# So little that a second is enough; twice as much is twice the work.
TINY = ["eval.games=20", "eval.exploitability=false", "log.tensorboard=false"]
STEPS = {"cfr": 4, "mccfr": 40, "sb3": 1024, "dqn": 512}
SMALL = {
    "cfr_rounds": ["game.params.dice=2"],
    "offline": ["agent.params.sample_games=50", "agent.params.epochs=2"],
    "dqn": ["agent.params.learn_start=64", "agent.params.replay_size=1024"],
    "sb3": ["agent.params.num_envs=2", "agent.params.n_steps=64", "agent.params.batch_size=64"],
}


def tiny(path: Path) -> tuple[list[str], str]:
    """Arguments that make a run of ``path`` short, and the id of its agent."""
    agent = agent_of(path)
    steps = STEPS.get(agent, 60)
    cadence = [f"train.{what}_every={steps // 4}" for what in ("log", "eval", "checkpoint")]
    settings = [f"train.steps={steps}", *cadence, *TINY, *SMALL.get(agent, [])]
    return [part for text in settings for part in ("--set", text)], agent
