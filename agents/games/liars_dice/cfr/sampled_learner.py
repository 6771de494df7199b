"""Sampled rounds of Liar's Dice as a run of ``train.py``, for two to six players."""

from __future__ import annotations

from collections.abc import Mapping

from agents.cfr.sampled.learner import SamplingLearner
from agents.games.liars_dice.cfr.sampled_match import SampledMatch, SampledMatchSettings
from agents.policy import Policy

__all__ = ["SampledRoundsLearner"]


class SampledRoundsLearner(SamplingLearner):
    """Learns the rounds of a match from samples, for any number of players.

    >>> from agents.learning.learner import Task
    >>> from envs.liars_dice.game import LiarsDice
    >>> learner = SampledRoundsLearner(
    ...     Task(LiarsDice(num_players=3, dice=1)), SampledMatchSettings(memory=1)
    ... )
    >>> sorted(learner.update(100))
    ['charts/infosets', 'charts/opening_value']
    """

    settings_class = SampledMatchSettings
    game_ids = ("liars_dice_v0",)
    settings: SampledMatchSettings
    solver: SampledMatch

    def _make_solver(self) -> SampledMatch:
        return SampledMatch(self.game, self.task.seed, self.settings)

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Run so many iterations; the opening value is what player 0 may expect of a match."""
        values = super().update(num_steps)
        return {**values, "charts/opening_value": float(self.solver.opening_values()[0])}

    def policy(self) -> Policy:
        """The average so far."""
        return self.solver.to_policy(
            variant=self.settings.variant,
            iterations=self.solver.iteration,
            num_left_out=self.solver.num_left_out,
        )
