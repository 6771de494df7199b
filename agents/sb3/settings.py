"""What can be set of a Stable-Baselines3 model; the names are theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from common.errors import MasqueradeError
from envs.core.game import Game
from envs.core.options import Options, option

__all__ = ["SB3Settings", "load_library", "make_policy", "spaces_of"]

ALGORITHMS = ("MaskablePPO", "PPO", "DQN")


class SB3Settings(Options):
    """Settings of the three algorithms; each reads those it knows."""

    algorithm: str = option("MaskablePPO", choices=ALGORITHMS, help="which one")
    num_envs: int = option(64, low=1, high=1024, help="games side by side")
    learning_rate: float = option(3e-4, low=0.0, high=1.0, help="of the optimizer")
    gamma: float = option(1.0, low=0.0, high=1.0, help="discount")
    hidden: tuple[int, ...] = option(
        (64, 64), low=1, high=8192, is_list=True, help="sizes of the hidden layers"
    )
    batch_size: int = option(256, low=1, high=1_000_000, help="of one gradient step")
    n_steps: int = option(32, low=1, high=1_000_000, help="PPO: steps of each game in a rollout")
    n_epochs: int = option(4, low=1, high=1000, help="PPO: passes over a rollout")
    ent_coef: float = option(0.01, low=0.0, high=10.0, help="PPO: weight of the entropy")
    gae_lambda: float = option(0.95, low=0.0, high=1.0, help="PPO: of the advantages")
    clip_range: float = option(0.2, low=0.0, high=1.0, help="PPO: of the policy ratio")
    buffer_size: int = option(50_000, low=1, high=10**9, help="DQN: transitions kept")
    learning_starts: int = option(1000, low=0, high=10**9, help="DQN: steps before learning")
    train_freq: int = option(1, low=1, high=10**6, help="DQN: steps of each game per update")
    gradient_steps: int = option(2, low=1, high=10**6, help="DQN: gradient steps per update")
    target_update_interval: int = option(1000, low=1, high=10**9, help="DQN: steps")
    exploration_fraction: float = option(0.5, low=0.0, high=1.0, help="DQN: of the run")
    exploration_final_eps: float = option(0.05, low=0.0, high=1.0, help="DQN: least exploration")

    def arguments(self) -> dict[str, Any]:
        """What the constructor of the algorithm takes."""
        shared = ("learning_rate", "gamma", "batch_size")
        ppo = ("n_steps", "n_epochs", "ent_coef", "gae_lambda", "clip_range")
        dqn = (
            "buffer_size",
            "learning_starts",
            "train_freq",
            "gradient_steps",
            "target_update_interval",
            "exploration_fraction",
            "exploration_final_eps",
        )
        names = shared + (dqn if self.algorithm == "DQN" else ppo)
        return {name: getattr(self, name) for name in names}


def load_library(algorithm: str) -> Any:
    """The class of an algorithm, with one clear line where the library is missing."""
    try:
        import sb3_contrib
        import stable_baselines3
    except ImportError as error:
        raise MasqueradeError(
            "Stable-Baselines3 is not installed: pip install -c constraints.txt -e '.[sb3]'"
        ) from error
    library = sb3_contrib if algorithm == "MaskablePPO" else stable_baselines3
    return getattr(library, algorithm)


def spaces_of(game: Game) -> tuple[spaces.Box, spaces.Discrete]:
    """What a model sees and does, the same as in our single-agent environment."""
    seen = spaces.Box(0.0, 1.0, (game.observation_size,), np.float32)
    return seen, spaces.Discrete(game.facts.num_actions)


def make_policy(algorithm: str, game: Game, hidden: tuple[int, ...]) -> Any:
    """The network of an algorithm, without the algorithm."""
    policy_class = load_library(algorithm).policy_aliases["MlpPolicy"]
    return policy_class(*spaces_of(game), lambda _: 0.0, net_arch=list(hidden))
