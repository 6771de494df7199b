"""What can be set of a Stable-Baselines3 model, and what it has learnt as an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents.base import Actions, Agent, Views
from agents.learning.device import resolve_device
from agents.learning.files import load_player, reading
from agents.learning.games import roles_in
from common.errors import MasqueradeError
from common.saved import saved_array, saved_number
from envs.core.batch import weighted_actions
from envs.core.game import Game
from envs.core.options import Options, option

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


PREFIX = "policy."


def load_weights(policy: Any, state: Mapping[str, Any]) -> None:
    """Give a policy of the library the weights of a saved state, which must be those of such one.

    Args:
        policy: the policy.
        state: where names begin with ``PREFIX``.
    """
    import torch

    weights = {}
    for name, own in policy.state_dict().items():
        like = own.detach().cpu().numpy()
        saved = saved_array(state, f"{PREFIX}{name}", like.dtype, like.shape)
        weights[name] = torch.from_numpy(saved.copy())
    policy.load_state_dict(weights)


class SB3Agent(Agent):
    """Plays the best legal action of a DQN, or draws from the policy of a PPO.

    Args:
        game: the game to play.
        path: a run of ``train.py`` with ``agent: {id: sb3}``, or one of its checkpoints.
        device: where the network computes: ``auto``, ``cpu`` or ``cuda``.
        state: the memory of a learner, instead of a path.
        model: a model that still learns, instead of both; it plays as that one does at the moment.
    """

    def __init__(
        self,
        game: Game,
        path: str | None = None,
        device: str = "auto",
        state: dict[str, Any] | None = None,
        model: Any = None,
    ) -> None:
        """Build the network and give it its weights."""
        super().__init__(game)
        import torch

        if model is not None:
            if not hasattr(model, "policy"):
                raise MasqueradeError(f"model must be one of Stable-Baselines3, not {model!r:.80}")
            self.algorithm, self._policy = type(model).__name__, model.policy
            self._device = str(model.device)
            return
        if state is None:
            state = load_player(path, game, "sb3", "algorithm")
        with reading(path or "this state", "a model of Stable-Baselines3"):
            self.algorithm = str(state["algorithm"])
            self.roles = roles_in(state)
            hidden = tuple(saved_number({"hidden": n}, "hidden", 1) for n in state["hidden"])
            self._policy = make_policy(self.algorithm, game, hidden)
            load_weights(self._policy, state)
        size = sum(weights.numel() for weights in self._policy.parameters())
        self._device = resolve_device(device, size)
        self._policy.to(torch.device(self._device)).set_training_mode(False)

    def policy(self, views: Views) -> npt.NDArray[np.float64]:
        """[n, num_actions] with which probability it chooses each action; ties share it."""
        scores = self._rate(
            views, lambda seen: self._policy.get_distribution(seen).distribution.logits
        )
        scores[views.masks == 0] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        if self.algorithm == "DQN":
            scores[:] = np.where(scores == 0.0, 0.0, -np.inf)
        weights: npt.NDArray[np.float64] = np.exp(scores)
        return weights / weights.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def state_values(self, views: Views) -> npt.NDArray[np.float64]:
        """[n] what the player to move may expect: the value of a PPO, or the best of a DQN."""
        found = self._rate(views, lambda seen: self._policy.predict_values(seen))
        if self.algorithm == "DQN":
            found[views.masks == 0] = -np.inf
        best: npt.NDArray[np.float64] = found.max(axis=1)  # a PPO's is the only one
        return best

    def _rate(self, views: Views, of_ppo: Callable[[Any], Any]) -> npt.NDArray[np.float64]:
        """What the network of a DQN says of every row, or what is asked of that of a PPO."""
        import torch

        from agents.learning.networks import to_device

        with torch.no_grad():
            observations = to_device(views.observations, self._device)
            rate = self._policy.q_net if self.algorithm == "DQN" else of_ppo
            return rate(observations).cpu().numpy().astype(np.float64)  # type: ignore[no-any-return]

    def act(self, views: Views) -> Actions:
        """One forward pass for all rows, one draw from each row's generator."""
        return weighted_actions(self.policy(views), views.rngs)
