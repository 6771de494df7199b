"""Deep Q-learning: play, keep the transitions, learn from a sample of them, again and again.

One round of the loop:

1. all games wait for the network; one pass rates all actions in all of them;
2. in each the best legal action is played, or now and then a random one;
3. these decisions become transitions at the seat's next decision or the end of the game;
4. after so many decisions, one update: for transitions drawn from the replay the network's value
   of (state, action) moves towards ``reward + discount * best value of the next state``. That best
   is taken among the actions that are legal there, and rated by the target network.

With ``double`` the network itself chooses the next action and the target network rates it (van
Hasselt et al., 2016).

The player has the average of the network's weights over the last part of all
updates (Polyak and Juditsky, 1992), which is steadier than the network after any one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.dqn.agent import (
    ADAM,
    CONSTANT,
    HUBER,
    INTERVAL,
    LATEST,
    NONE,
    POLYAK,
    PRIORITISED,
    DQNAgent,
    DQNSettings,
    choose,
)
from agents.dqn.replay import Arrays, Minibatch, Replay
from agents.learning.experience import ExperienceGames
from agents.learning.games import roles_in
from agents.learning.learner import Learner, State, Task, named, part
from agents.learning.networks import (
    Adam,
    GradientDescent,
    Inputs,
    make_network,
    to_device,
    weights_of,
)
from common.errors import MasqueradeError, OptionError
from common.saved import restore, saved_array, saved_number
from envs.core.game import Game
from envs.core.options import Options
from envs.core.rng import Words, stream

# Every so many updates one is looked at; looking takes a tenth of the time of an update.
LOOK_EVERY = 10


class Log:
    """Means over a chunk of training, by their names in TensorBoard."""

    NAMES = ("charts/return", "charts/length", "losses/td", "losses/q_mean", "losses/grad_norm")

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._sums = dict.fromkeys(self.NAMES, 0.0)
        self._counts = dict.fromkeys(self.NAMES, 0)
        self._values: npt.NDArray[np.float32] | None = None

    def _note(self, name: str, total: float, count: int = 1) -> None:
        self._sums[name] += total
        self._counts[name] += count

    def note_games(self, returns: npt.NDArray[np.float64], lengths: npt.NDArray[np.int64]) -> None:
        """Games are over: what the learner's seat got, and how long they were."""
        self._note("charts/return", float(returns.sum()), len(returns))
        self._note("charts/length", float(lengths.sum()), len(lengths))

    def note_update(
        self,
        values: npt.NDArray[np.float32],
        errors: npt.NDArray[np.float32],
        norm: float,
        is_huber: bool,
    ) -> None:
        """An update: the values of all actions, the errors of those played, the slope."""
        sizes = np.abs(errors)
        losses = sizes**2 / 2
        if is_huber:
            losses = np.where(sizes > 1.0, sizes - 0.5, losses)
        self._note("losses/td", float(losses.mean()))
        self._note("losses/q_mean", float(values.mean()))
        self._note("losses/grad_norm", norm)
        self._values = values

    def metrics(self, exploration: float) -> Mapping[str, Any]:
        """Averages; those of which nothing is known are left out."""
        means = {name: self._sums[name] / count for name, count in self._counts.items() if count}
        found: dict[str, Any] = {"charts/exploration": exploration, **means}
        if self._values is not None:
            found["histograms/q_values"] = self._values.ravel()
        return found


Tensors = Minibatch[Tensor]


def tensors_of(batch: Arrays, device: str) -> Tensors:
    """Share the memory of the minibatch, or copy it to a graphics card."""
    columns = (to_device(column, device) for column in batch[1:])
    return Minibatch(batch.rows, *(x if x.ndim == 2 else x.unsqueeze(1) for x in columns))


class DQNLearner(Learner):
    """Learns any game by deep Q-learning, from its own play.

    Its unit is a decision of its own that it learns from.

    >>> from envs import make_game
    >>> settings = DQNSettings(hidden=(16,), num_envs=8, learn_start=32, batch_size=16)
    >>> learner = DQNLearner(Task(make_game("kuhn_v0"), total=200), settings)
    >>> sorted(learner.update(200))[:3]
    ['charts/exploration', 'charts/length', 'charts/return']
    >>> learner.num_steps
    200
    """

    settings_class = DQNSettings
    unit = "steps"
    settings: DQNSettings

    def __init__(self, task: Task, settings: DQNSettings) -> None:
        """Draw the first weights; the first games begin with the first ``update``."""
        super().__init__(task, settings)
        has_length = task.total or settings.exploration_games
        if not has_length and settings.exploration != CONSTANT:
            raise OptionError(
                f"exploration '{settings.exploration}' needs the length of the run: "
                "give it, or set exploration to 'constant'"
            )
        game, seed = task.game, task.seed
        self.device = task.device
        network_seed = int(stream(seed, "network")[0] >> 1)
        self.network = make_network(game, settings, task.device, network_seed)
        if settings.start:
            begun = DQNAgent(game, settings.start, task.device, settings.network).network
            if begun.weights.shape != self.network.weights.shape:
                raise OptionError(f"start: the network of {settings.start} has another shape")
            self.network.weights.copy_(begun.weights)
        self.target = self.network
        if settings.target != NONE:
            self.target = make_network(game, settings, task.device)
            self.target.weights.copy_(self.network.weights)
        self.average = self.network.weights
        """What the player gets."""
        if settings.average_share:
            self.average = self.network.weights.clone()
        make_optimiser = Adam if settings.optimiser == ADAM else GradientDescent
        self.optimiser = make_optimiser(self.network.weights)
        is_prioritised = settings.replay == PRIORITISED
        self.replay = Replay(
            settings.replay_size,
            settings.history * Inputs(game, settings.inputs).size,
            game.facts.num_actions,
            settings.priority_exponent if is_prioritised else None,
        )
        self.games = ExperienceGames(task, settings, self.replay.kept)
        self.num_updates = 0
        self._steps_before_learning = 0
        self._rng: Words = stream(seed, "exploration")
        self._replay_rng: Words = stream(seed, "replay")
        nothing = self.replay.latest(0)
        self._shared = nothing, tensors_of(nothing, self.device)

    @classmethod
    def num_weights(cls, game: Game, settings: Options) -> int | None:
        """Of its network; not known of one of yours."""
        assert isinstance(settings, DQNSettings)
        return weights_of(game, settings)

    # ---- the loop --------------------------------------------------------------------------------

    def update(self, num_steps: int) -> Mapping[str, Any]:
        """Learn for ``num_steps`` more of its own decisions."""
        log = Log()
        end = self.num_steps + num_steps
        while self.num_steps < end:
            self.num_steps += self._play(end - self.num_steps, log)
            for _ in range(self._num_due()):
                self._learn(log)
        return log.metrics(self.exploration)

    def _play(self, at_most: int, log: Log) -> int:
        """Decide once in every game; how many of these decisions it learns from."""
        games, batch = self.games, self.games.batch

        def note_ends(rows: npt.NDArray[np.int64]) -> None:
            log.note_games(batch.totals[rows, games.seats[rows]], batch.lengths[rows])

        games.deal(on_end=note_ends)
        decisions = games.next_decisions(at_most)
        values = self.network.values_of(decisions.inputs)
        actions = choose(values, decisions.masks, self.exploration, self._rng)
        return games.play(decisions, actions)

    def _num_due(self) -> int:
        """Updates that the decisions so far ask for and that have not been made."""
        settings = self.settings
        if len(self.replay) < min(settings.learn_start, settings.replay_size):
            self._steps_before_learning = self.num_steps
            return 0
        num_steps = self.num_steps - self._steps_before_learning
        return int(num_steps * settings.updates_per_step) - self.num_updates

    # ---- schedules -------------------------------------------------------------------------------

    @property
    def num_games(self) -> int:
        """Games that have begun."""
        return int(self.games.batch.numbers.max())

    @property
    def progress(self) -> float:
        """The part of the run that is over, by steps or games; 0 if its length is not known."""
        num_games = self.settings.exploration_games
        if num_games is not None:
            return min(self.num_games / num_games, 1.0)
        return min(self.num_steps / self.task.total, 1.0) if self.task.total else 0.0

    @property
    def exploration(self) -> float:
        """The share of random moves now."""
        return self.settings.exploration_after(self.progress)

    # ---- one update ------------------------------------------------------------------------------

    def _learn(self, log: Log) -> None:
        settings, network = self.settings, self.network
        batch = self._draw()
        tensors = self._on_device(batch)
        targets = self._targets(tensors)
        found: list[Tensor] = []

        def slopes_of(values: Tensor) -> Tensor:
            errors = values.gather(1, tensors.actions) - targets
            found.extend((values, errors))
            # Half the square of the error; of one above 1, its size less a half.
            slopes = errors.clamp(-1.0, 1.0) if settings.loss == HUBER else errors
            # Only the action that was played has an error.
            slopes = slopes * tensors.weights / len(values)
            return torch.zeros_like(values).scatter_(1, tensors.actions, slopes)

        network.differentiate(tensors.inputs, slopes_of)
        norm = torch.linalg.vector_norm(network.gradient)
        if settings.max_gradient:
            network.gradient *= (settings.max_gradient / (norm + 1e-6)).clamp_(max=1.0)
        rate = settings.learning_rate_after(self.progress)
        self.optimiser.step(network.weights, network.gradient, rate)
        self.num_updates += 1
        self._follow()
        if settings.replay == PRIORITISED:
            self.replay.rate(batch.rows, found[1].cpu().numpy().ravel().astype(np.float64))
        if self.num_updates % LOOK_EVERY == 0:
            values, errors = (tensor.cpu().numpy() for tensor in found)
            log.note_update(values, errors, float(norm), settings.loss == HUBER)

    def _draw(self) -> Arrays:
        settings = self.settings
        if settings.replay == LATEST:
            return self.replay.latest(settings.batch_size)
        importance = settings.importance_after(self.progress)
        return self.replay.draw(settings.batch_size, self._replay_rng, importance)

    def _on_device(self, batch: Arrays) -> Tensors:
        if self.device != "cpu":
            return tensors_of(batch, self.device)
        if self._shared[0] is not batch:  # the replay writes into the same memory every time
            self._shared = batch, tensors_of(batch, self.device)
        return self._shared[1]

    def _targets(self, batch: Tensors) -> Tensor:
        """``reward + discount * best next value``: [n, 1]; after the end the discount is 0."""
        next_values = self.target.values(batch.next_inputs)
        if self.settings.double:
            own = self.network.values(batch.next_inputs).add_(batch.penalties)
            best = next_values.gather(1, own.argmax(1, keepdim=True))
        else:
            best = next_values.add_(batch.penalties).amax(1, keepdim=True)
        return torch.addcmul(batch.rewards, batch.discounts, best)

    def _follow(self) -> None:
        """Let the target network and the average follow."""
        settings = self.settings
        if settings.average_share:
            rate = settings.average_rate_after(self.num_updates)
            self.average.lerp_(self.network.weights, rate)
        if settings.target == POLYAK:
            self.target.weights.lerp_(self.network.weights, settings.target_rate)
        elif settings.target == INTERVAL and self.num_updates % settings.target_every == 0:
            self.target.weights.copy_(self.network.weights)

    # ---- the player, and saving ------------------------------------------------------------------

    def player(self) -> DQNAgent:
        """A player with a copy of the averaged network."""
        network = make_network(self.game, self.settings, self.device)
        network.weights.copy_(self.average)
        settings = self.settings
        player = DQNAgent(
            self.game, network=network, history=settings.history, inputs=settings.inputs
        )
        player.roles = roles_in({"role": self.task.role})
        return player

    def state_dict(self) -> State:
        """Networks, optimiser, replay, games in play, counters and generators."""
        state: State = {
            "settings": self.settings.to_dict(),
            "role": self.task.role,
            "num_steps": self.num_steps,
            "num_updates": self.num_updates,
            "optimiser_steps": self.optimiser.num_steps,
            "steps_before_learning": self._steps_before_learning,
            "exploration_rng": self._rng.copy(),
            "replay_rng": self._replay_rng.copy(),
        }
        for name, tensor in self._tensors().items():
            state[name] = tensor.cpu().numpy().copy()
        state |= named("replay.", self.replay.state_dict())
        return state | named("games.", self.games.state_dict())

    def player_state(self) -> State:
        """The averaged network, and what it takes to build it."""
        weights = self.average.cpu().numpy().copy()
        role = self.task.role
        return {"settings": self.settings.to_dict(), "role": role, "network": weights}

    def load_state_dict(self, state: State) -> None:
        """Become the learner that ``state`` was taken from; the settings must be the same."""
        if DQNSettings.parse(state["settings"]) != self.settings:
            raise MasqueradeError("this run has other settings: resume it with its own config")
        self.num_steps = saved_number(state, "num_steps")
        self.num_updates = saved_number(state, "num_updates")
        self.optimiser.num_steps = saved_number(state, "optimiser_steps")
        self._steps_before_learning = saved_number(state, "steps_before_learning")
        restore({"exploration_rng": self._rng, "replay_rng": self._replay_rng}, state)
        for name, tensor in self._tensors().items():
            weights = saved_array(state, name, np.float32, tuple(tensor.shape))
            tensor.copy_(torch.from_numpy(weights))
        self.replay.load_state_dict(part(state, "replay."))
        self.games.load_state_dict(part(state, "games."))

    def _tensors(self) -> dict[str, Tensor]:
        return {
            "network": self.network.weights,
            "target": self.target.weights,
            "average": self.average,
            "optimiser_mean": self.optimiser.mean,
            "optimiser_square": self.optimiser.square,
        }
