"""Sampled rounds of Liar's Dice as a run of ``train.py``, for two to six players."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from agents.cfr.liars_dice.sampled_match import SampledMatch, SampledMatchSettings
from agents.cfr.policy_learner import PolicyLearner
from agents.cfr.sampling_settings import bytes_text
from agents.learner import State, Task
from agents.policy import Policy

__all__ = ["SampledRoundsLearner"]


class SampledRoundsLearner(PolicyLearner):
    """Learns the rounds of a match from samples, for any number of players.

    >>> from envs.liars_dice import LiarsDice
    >>> learner = SampledRoundsLearner(
    ...     Task(LiarsDice(num_players=3, dice=1)), SampledMatchSettings(memory=1)
    ... )
    >>> sorted(learner.update(100))
    ['charts/infosets', 'charts/worth']
    """

    settings_class = SampledMatchSettings
    game_ids = ("liars_dice_v0",)
    settings: SampledMatchSettings

    def __init__(self, task: Task, settings: SampledMatchSettings) -> None:
        """Say how much memory it takes, and make the tables."""
        super().__init__(task, settings)
        size = settings.table_bytes(task.game)
        print(
            f"masquerade: a table for {settings.max_infosets:,} information sets takes "
            f"{bytes_text(size)}",
            file=sys.stderr,
        )
        self.solver = SampledMatch(task.game, task.seed, settings)

    def update(self, amount: int) -> Mapping[str, float]:
        """Run so many iterations; ``charts/worth`` is what player 0 may expect of a match."""
        solver = self.solver
        solver.run(amount)
        self.num_done = solver.iteration
        values = {
            "charts/infosets": float(solver.num_infosets),
            "charts/worth": float(solver.opening_worth()[0]),
        }
        if self.settings.when_full == "freeze":
            values["charts/left_out"] = float(solver.num_left_out)
        return values

    def policy(self) -> Policy:
        """The average so far."""
        return self.solver.to_policy(
            variant=self.settings.variant,
            iterations=self.solver.iteration,
            num_left_out=self.solver.num_left_out,
        )

    def state_dict(self) -> State:
        """The tables of the solver, its generator and where its match is."""
        return self.solver.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Go on where the solver was."""
        self.solver.load_state_dict(state)
        self.num_done = self.solver.iteration
