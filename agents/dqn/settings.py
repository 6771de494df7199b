"""Everything that can be set, and the two schedules: exploration and progress."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agents.learning.networks import PLAIN
from common.errors import OptionError
from envs.core.options import Options, option

__all__ = ["DQNSettings"]

REPLAYS = UNIFORM, PRIORITISED, LATEST = "uniform", "prioritised", "latest"
TARGETS = INTERVAL, POLYAK, NONE = "interval", "polyak", "none"
EXPLORATIONS = CONSTANT, LINEAR, PARTS = "constant", "linear", "parts"
CLOCKS = STEPS, TIME, GAMES = "steps", "time", "games"
OPTIMISERS = ADAM, SGD = "adam", "sgd"
LOSSES = HUBER, SQUARED = "huber", "mse"
SEATS = ONE, ALL = "one", "all"


class DQNSettings(Options):
    """Settings of deep Q-learning.

    >>> DQNSettings(hidden=(64, 64), replay="prioritised").batch_size
    128
    """

    # ---- the network
    network: str = option(
        PLAIN,
        choices=(PLAIN,),
        can_import=True,
        help="fully connected layers, or a torch.nn.Module of yours",
    )
    network_params: dict[str, Any] = Field(
        default={}, description="what a module of yours takes besides its two sizes"
    )
    hidden: tuple[int, ...] = option(
        (128, 128), low=1, high=8192, is_list=True, help="units of each hidden layer"
    )
    dueling: bool = option(False, help="one half of the last layer for the value, one for actions")
    history: int = option(1, low=1, high=64, help="the seat's last observations, stacked")
    inputs: tuple[str, ...] = Field(
        default=(), description="fields of the observation it sees, such as own_*; empty: all"
    )

    start: str = Field(
        default="", description="a dqn run or player whose weights it begins with; empty: at random"
    )

    # ---- learning
    optimiser: str = option(ADAM, choices=OPTIMISERS, help="Adam, or plain gradient descent")
    learning_rate: float = option(5e-4, low=0.0, high=1.0, help="step size of the optimiser")
    learning_rate_end: float | None = option(
        None, low=0.0, high=1.0, help="step size at the end of the run, reached in a straight line"
    )
    batch_size: int = option(128, low=1, high=65_536, help="transitions of one update")
    updates_per_step: float = option(
        0.125, low=0.0, high=64.0, help="updates for each of the learner's decisions"
    )
    learn_start: int = option(
        1_000, low=1, high=10**9, help="transitions to collect before the first update"
    )
    discount: float = option(1.0, low=0.0, high=1.0, help="weight of the next decision's value")
    n_steps: int = option(1, low=1, high=1_000, help="own decisions between a value and its target")
    # Where chance decides, errors stay large however much is learnt. Squares lead to the mean
    # return of an action, 'huber' to something between mean and median.
    loss: str = option(
        SQUARED, choices=LOSSES, help="errors count by their square, or less if large"
    )
    max_gradient: float = option(
        10.0, low=0.0, high=1e9, help="longer gradients are cut to this length; 0: never"
    )
    # Noise in the targets moves the weights up and down; their average over a while moves less.
    average_share: float = option(
        0.2,
        low=0.0,
        high=1.0,
        help="the player is the network's average over the last so much of its updates; 0: none",
    )
    reward_scale: float = option(1.0, low=1e-9, high=1e9, help="rewards are multiplied by this")
    # Where much is at stake outcomes vary more. In such units errors are alike everywhere.
    stake_power: float = option(
        0.0,
        low=0.0,
        high=1.0,
        help="values are divided by this power of what is at stake, where a game tells it",
    )

    # ---- targets
    double: bool = option(True, help="the network chooses the next action, the target rates it")
    target: str = option(INTERVAL, choices=TARGETS, help="how the target network follows")
    target_every: int = option(500, low=1, high=10**9, help="interval: updates between two copies")
    target_rate: float = option(0.005, low=0.0, high=1.0, help="polyak: share taken at each update")

    # ---- replay
    replay: str = option(UNIFORM, choices=REPLAYS, help="which transitions an update learns from")
    replay_size: int = option(50_000, low=1, high=10**8, help="transitions kept")
    priority_exponent: float = option(
        0.6, low=0.0, high=1.0, help="prioritised: 0 draws uniformly, 1 in proportion to the error"
    )
    importance: float = option(
        0.4,
        low=0.0,
        high=1.0,
        help="prioritised: correction at the start; 1 (all of it) at the end",
    )

    # ---- exploration
    exploration: str = option(LINEAR, choices=EXPLORATIONS, help="how random moves become rarer")
    exploration_start: float = option(1.0, low=0.0, high=1.0, help="share of random moves at first")
    exploration_end: float = option(0.05, low=0.0, high=1.0, help="the least share")
    exploration_share: float = option(
        0.5, low=1e-9, high=1.0, help="linear: the part of the run until the least is reached"
    )
    exploration_parts: int = option(100, low=1, high=10**6, help="parts: stretches of the run")
    exploration_drop: float = option(0.02, low=0.0, high=1.0, help="parts: fall after each stretch")
    exploration_clock: str = option(STEPS, choices=CLOCKS, help="what the length of a run means")
    exploration_games: int | None = option(
        None, low=1, high=10**12, help="games: how many the run will have"
    )
    exploration_seconds: float | None = option(
        None, low=1e-3, high=1e9, help="time: seconds of learning that the run will take"
    )

    # ---- play
    num_envs: int = option(64, low=1, high=65_536, help="games side by side")
    learns_from: str = option(
        ALL, choices=SEATS, help="seats whose decisions teach when it plays against itself"
    )

    def __post_init__(self) -> None:
        """Check what no single setting can."""
        super().__post_init__()
        has_layers = self.dueling or self.hidden != type(self).model_fields["hidden"].default
        if self.network != PLAIN and has_layers:
            raise OptionError(f"network '{self.network}' has its own layers: use network_params")
        if self.network == PLAIN and self.network_params:
            raise OptionError("network_params are for a module of yours: set network")
        if self.dueling and self.hidden[-1] < 2:
            raise OptionError("dueling needs a last hidden layer of at least 2 units: widen it")
        if self.replay == LATEST and self.replay_size < self.batch_size:
            raise OptionError("replay 'latest' keeps a batch: set replay_size >= batch_size")
        if self.exploration_clock == TIME and self.exploration_seconds is None:
            raise OptionError("exploration_clock 'time' needs exploration_seconds: say how many")
        if self.exploration_clock == GAMES and self.exploration_games is None:
            raise OptionError("exploration_clock 'games' needs exploration_games: say how many")

    def exploration_after(self, progress: float) -> float:
        """The share of random moves when ``progress`` (0 .. 1) of the run is over.

        >>> settings = DQNSettings(exploration="parts", exploration_end=0.1)
        >>> [round(settings.exploration_after(k / 100), 2) for k in (0, 1, 44, 45, 99)]
        [1.0, 0.98, 0.12, 0.1, 0.1]
        """
        start, end = self.exploration_start, self.exploration_end
        if self.exploration == CONSTANT:
            return start
        if self.exploration == LINEAR:
            return start + (end - start) * min(progress / self.exploration_share, 1.0)
        # A part that is over to within rounding is over.
        num_parts = int(min(progress, 1.0) * self.exploration_parts + 1e-9)
        return max(end, start - self.exploration_drop * num_parts)

    def learning_rate_after(self, progress: float) -> float:
        """The step size when ``progress`` of the run is over."""
        if self.learning_rate_end is None:
            return self.learning_rate
        return self.learning_rate + (self.learning_rate_end - self.learning_rate) * progress

    def average_rate_after(self, num_updates: int) -> float:
        """The share of the network in its average that is renewed by update ``num_updates``.

        >>> DQNSettings(average_share=0.2).average_rate_after(1_000)
        0.005
        """
        return min(1.0, 1.0 / max(self.average_share * num_updates, 1.0))

    def importance_after(self, progress: float) -> float:
        """The exponent of the importance weights when ``progress`` of the run is over."""
        return self.importance + (1.0 - self.importance) * progress
