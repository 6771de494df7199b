"""What learners by samples share: they say how much memory they take, and what has come up."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping

from agents.cfr.policy_learner import SolverLearner
from agents.cfr.sampled.settings import WalkSettings, bytes_text
from agents.cfr.sampled.walk_solver import WalkSolver
from agents.learning.learner import Task

__all__ = ["SamplingLearner"]


class SamplingLearner(SolverLearner):
    """Trains a solver by samples."""

    settings: WalkSettings
    solver: WalkSolver

    def __init__(self, task: Task, settings: WalkSettings) -> None:
        """Say how much memory it takes, and make the tables."""
        super().__init__(task, settings)
        size = settings.table_bytes(task.game)
        print(
            f"masquerade: a table for {settings.max_infosets:,} information sets takes "
            f"{bytes_text(size)}",
            file=sys.stderr,
        )
        self.solver = self._make_solver()

    @abstractmethod
    def _make_solver(self) -> WalkSolver: ...

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Run so many iterations; how strong the policy is, is for each learner to add."""
        solver = self.solver
        solver.run(num_steps)
        self.num_steps = solver.iteration
        values = {"charts/infosets": float(solver.num_infosets)}
        if self.settings.when_full == "freeze":
            values["charts/left_out"] = float(solver.num_left_out)
        return values
