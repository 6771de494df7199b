"""``SB3Learner``: DQN, PPO and MaskablePPO of Stable-Baselines3 as learners of ours.

1. The model collects steps in ``num_envs`` games at once, whose opponents are drawn for every game.
2. It trains on them with its own code and its own logger.
3. In between, everything is in arrays: weights, optimizer, replay, the games in play, and the
   generators.

The library draws from the global generators of NumPy and torch. They are put into the learner's own
state while it works and given back afterwards, so nobody else's draws can disturb a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.learning.learner import Learner, State, Task, named, part
from agents.sb3.player import PREFIX, SB3Agent, SB3Settings, load_library, load_weights
from common.saved import restore, saved_array, saved_number
from envs.core.game import Game
from envs.core.options import Options

OPTIMIZER = "optimizer."
GAMES = "env."
COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_n_calls")
BUFFER = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


class SB3Learner(Learner):
    """A model of Stable-Baselines3: DQN, PPO or MaskablePPO."""

    settings_class = SB3Settings
    unit = "steps"
    settings: SB3Settings

    def __init__(self, task: Task, settings: SB3Settings) -> None:
        """Make the model and its environments."""
        super().__init__(task, settings)
        self._randomness = _Randomness(task.seed, has_card=task.device != "cpu")
        algorithm = load_library(settings.algorithm)
        with self._randomness:
            from agents.sb3.vec_env import TrainingVecEnv

            self._env = TrainingVecEnv(task, settings.num_envs)
            self._model = algorithm(
                "MlpPolicy",
                self._env,
                policy_kwargs={"net_arch": list(settings.hidden)},
                device=task.device,
                seed=None,
                **settings.arguments(),
            )
        self._env.games.play_as(SB3Agent(task.game, model=self._model))
        self._model.action_space.seed(task.seed)
        self._callback: Any = None
        self._last: dict[str, Any] = {}

    @classmethod
    def num_weights(cls, game: Game, settings: Options) -> int:
        """Of the larger of its networks: the library has one for values beside that of a policy."""
        assert isinstance(settings, SB3Settings)
        # Imported when needed: torch, which a list does without.
        from agents.learning.networks import num_weights

        return num_weights(game.observation_size, game.facts.num_actions, settings.hidden)

    # ---- learning --------------------------------------------------------------------------------

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Let the model learn for about so many steps: it works in whole rollouts."""
        with self._randomness:
            self._begin()
            end = self.num_steps + num_steps
            while self._model.num_timesteps < end:
                if self.settings.algorithm == "DQN":
                    self._learn_off_policy()
                else:
                    self._learn_on_policy()
        self.num_steps = int(self._model.num_timesteps)
        return self._metrics()

    def _begin(self) -> None:
        if self._callback is not None:
            return
        model = self._model
        before = {name: getattr(model, name, 0) for name in COUNTERS}
        if self.task.folder is not None:
            from stable_baselines3.common.logger import configure

            formats = ["csv", "tensorboard"]
            model.set_logger(configure(str(self.task.folder / "tensorboard" / "sb3"), formats))
        total = max(self.task.total, 1)
        # Their set-up begins the games and counts from 0, unless there are games already.
        _, self._callback = model._setup_learn(total, None, model._last_obs is None)
        model._total_timesteps = total
        for name, value in before.items():
            setattr(model, name, value)

    def _learn_on_policy(self) -> None:
        model = self._model
        model.collect_rollouts(model.env, self._callback, model.rollout_buffer, model.n_steps)
        model._update_current_progress_remaining(model.num_timesteps, model._total_timesteps)
        model.train()
        self._dump()

    def _learn_off_policy(self) -> None:
        model = self._model
        model.collect_rollouts(
            model.env,
            train_freq=model.train_freq,
            action_noise=None,
            callback=self._callback,
            learning_starts=model.learning_starts,
            replay_buffer=model.replay_buffer,
            log_interval=None,
        )
        if model.num_timesteps > model.learning_starts:
            model.train(batch_size=model.batch_size, gradient_steps=model.gradient_steps)

    def _dump(self) -> None:
        self._last = dict(self._model.logger.name_to_value)
        arguments = () if self.settings.algorithm == "DQN" else (self._model.num_timesteps,)
        self._model.dump_logs(*arguments)

    def _metrics(self) -> dict[str, float]:
        model = self._model
        if self.settings.algorithm == "DQN":
            self._dump()
        values = {
            f"losses/{name.removeprefix('train/')}": float(value)
            for name, value in self._last.items()
            if name.startswith("train/")
        }
        values |= self._env.take_log()
        if self.settings.algorithm == "DQN":
            values["charts/exploration"] = float(model.exploration_rate)
        elif "losses/entropy_loss" in values:
            # The library adds the negative mean to what it minimizes.
            values["charts/entropy"] = -values["losses/entropy_loss"]
        return values

    def player(self) -> SB3Agent:
        """A copy of the present network."""
        return SB3Agent(self.game, device=self.task.device, state=self.player_state())

    def close(self) -> None:
        """Close the library's log files."""
        logger = getattr(self._model, "_logger", None)  # which it has from its first set-up on
        if logger is not None:
            logger.close()

    # ---- memory ----------------------------------------------------------------------------------

    def player_state(self) -> State:
        """The weights and what is needed to build the network."""
        weights = {
            f"{PREFIX}{name}": value.detach().cpu().numpy().copy()
            for name, value in self._model.policy.state_dict().items()
        }
        noted = {"algorithm": self.settings.algorithm, "hidden": list(self.settings.hidden)}
        return {**weights, **noted, "role": self.task.role, "num_steps": self.num_steps}

    def state_dict(self) -> State:
        """Everything, the games in play included."""
        model = self._model
        state = {**self.player_state(), **_optimizer_state(model.policy.optimizer)}
        state |= {name: int(getattr(model, name)) for name in COUNTERS if hasattr(model, name)}
        state |= self._randomness.state_dict()
        state["action_space_rng"] = dict(model.action_space.np_random.bit_generator.state)
        state["episodes"] = [[float(e["r"]), int(e["l"])] for e in model.ep_info_buffer or []]
        state["last_metrics"] = {name: float(value) for name, value in self._last.items()}
        if model._last_obs is not None:
            state["last_obs"] = model._last_obs.copy()
            state["last_episode_starts"] = np.array(model._last_episode_starts)
        state |= named(GAMES, self._env.state_dict())
        if self.settings.algorithm == "DQN":
            buffer = model.replay_buffer
            used = buffer.buffer_size if buffer.full else buffer.pos
            for name in BUFFER:
                state[f"buffer.{name}"] = getattr(buffer, name)[:used].copy()
            state["buffer_place"] = [int(buffer.pos), int(buffer.full)]
            state["exploration_rate"] = float(model.exploration_rate)
        return state

    def load_state_dict(self, state: State) -> None:
        """Become that learner."""
        model = self._model
        load_weights(model.policy, state)
        _load_optimizer(model.policy.optimizer, state)
        self.num_steps = saved_number(state, "num_steps")
        self._last = {name: float(value) for name, value in state["last_metrics"].items()}
        for name in COUNTERS:
            if name in state:
                setattr(model, name, saved_number(state, name))
        if "last_obs" not in state:
            return
        self._env.load_state_dict(part(state, GAMES))
        rows = self._env.num_envs
        observations = rows, self.game.observation_size
        model._last_obs = saved_array(state, "last_obs", np.float32, observations).copy()
        starts = saved_array(state, "last_episode_starts", np.bool_, (rows,))
        model._last_episode_starts = starts.copy()
        if self.settings.algorithm == "DQN":
            buffer = model.replay_buffer
            place, is_full = state["buffer_place"]
            used = buffer.buffer_size if is_full else place
            own = {f"buffer.{name}": getattr(buffer, name)[:used] for name in BUFFER}
            most = self.game.facts.num_actions - 1
            like = own["buffer.actions"]
            saved_array(state, "buffer.actions", like.dtype, like.shape, 0, most)
            restore(own, state)
            buffer.pos = saved_number({"place": place}, "place", 0, buffer.buffer_size - 1)
            buffer.full = bool(is_full)
            model.exploration_rate = saved_number(state, "exploration_rate", 0, 1, is_whole=False)
        with self._randomness:
            self._begin()
        model.ep_info_buffer.extend({"r": r, "l": length} for r, length in state["episodes"])
        model.action_space.np_random.bit_generator.state = state["action_space_rng"]
        self._randomness.load_state_dict(state)


class _Randomness:
    """The global generators, as this learner wants them; with a card, that of the card too."""

    def __init__(self, seed: int, has_card: bool = False) -> None:
        sequence = np.random.SeedSequence(seed, spawn_key=(3,))
        numpy_seed, torch_seed = (int(word) for word in sequence.generate_state(2))
        numpy = np.random.RandomState(numpy_seed).get_state(legacy=False)
        self._own: tuple[Any, Any, Any] = numpy, None, None
        """The states of the generators of NumPy, of torch and of the card."""
        self._has_card = has_card
        self._torch_seed = torch_seed
        self._before: list[Any] = []

    def __enter__(self) -> None:
        import torch

        self._before.append(self._now())
        if self._own[1] is None:
            torch.manual_seed(self._torch_seed)  # the card's as well
        self._set(*self._own)

    def __exit__(self, *_: object) -> None:
        self._own = self._now()
        self._set(*self._before.pop())

    def _now(self) -> tuple[Any, Any, Any]:
        import torch

        card = torch.cuda.get_rng_state() if self._has_card else None
        return np.random.get_state(legacy=False), torch.get_rng_state(), card  # noqa: NPY002

    def _set(self, of_numpy: Any, of_torch: Any, of_card: Any) -> None:
        import torch

        np.random.set_state(of_numpy)  # noqa: NPY002
        if of_torch is not None:
            torch.set_rng_state(of_torch)
        if of_card is not None:
            torch.cuda.set_rng_state(of_card)

    def state_dict(self) -> State:
        of_numpy, of_torch, of_card = self._own
        inner, gauss = of_numpy["state"], float(of_numpy["gauss"])
        return {
            **({} if of_card is None else {"cuda_rng": of_card.numpy().copy()}),
            "numpy_key": inner["key"].copy(),
            "numpy_place": [int(inner["pos"]), int(of_numpy["has_gauss"]), gauss],
            "torch_rng": of_torch.numpy().copy(),
        }

    def load_state_dict(self, state: State) -> None:
        import torch

        position, has_gauss, gauss = state["numpy_place"]
        of_numpy, of_torch, of_card = self._own
        words = len(of_numpy["state"]["key"])
        of_numpy = {
            "bit_generator": "MT19937",
            "state": {
                "key": saved_array(state, "numpy_key", np.uint32, (words,)),
                "pos": saved_number({"numpy_place": position}, "numpy_place", 0, words),
            },
            "has_gauss": int(has_gauss),
            "gauss": float(gauss),
        }

        def read(name: str, like: Any) -> Any:
            return torch.from_numpy(saved_array(state, name, np.uint8, (len(like),)).copy())

        of_torch = read("torch_rng", torch.get_rng_state())
        # A run that was on the processor before has none for the card.
        if self._has_card and "cuda_rng" in state:
            of_card = read("cuda_rng", torch.cuda.get_rng_state())
        self._own = of_numpy, of_torch, of_card


def _optimizer_state(optimizer: Any) -> State:
    state: State = {}
    for number, values in optimizer.state_dict()["state"].items():
        for name, value in values.items():
            state[f"{OPTIMIZER}{number}.{name}"] = np.array(value.detach().cpu().numpy())
    return state


def _load_optimizer(optimizer: Any, state: State) -> None:
    import torch

    found: dict[int, dict[str, Any]] = {}
    weights = [each for group in optimizer.param_groups for each in group["params"]]
    for key in state:
        if key.startswith(OPTIMIZER):
            number, name = key.removeprefix(OPTIMIZER).split(".")
            shape = () if name == "step" else tuple(weights[int(number)].shape)
            saved = saved_array(state, key, np.float32, shape)
            found.setdefault(int(number), {})[name] = torch.from_numpy(saved.copy())
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": found, "param_groups": groups})
