"""What all learners share that end up with a policy by keys."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

from agents.cfr.guarantees import say_if_no_guarantee
from agents.learning.learner import Learner, State, Task
from agents.policy import Policy, PolicyAgent
from envs.core.options import Options

__all__ = ["PolicyLearner", "SolverLearner"]


class PolicyLearner(Learner):
    """Trains a solver: its player plays the policy that it has come to."""

    unit = "iterations"
    converges = True

    @abstractmethod
    def policy(self) -> Policy:
        """The policy so far."""

    def player(self) -> PolicyAgent:
        """Plays the policy so far."""
        return PolicyAgent(self.game, policy=self.policy())

    def player_state(self) -> State:
        """The policy by keys, as ``PolicyAgent`` reads it."""
        return self.policy().state_dict()


class Resumable(Protocol):
    """A solver as its learner sees it."""

    iteration: int

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""


class SolverLearner(PolicyLearner):
    """One solver from beginning to end: what it knows is all there is to be saved."""

    solver: Resumable

    def __init__(self, task: Task, settings: Options) -> None:
        """Say so if the solver promises nothing for this game."""
        super().__init__(task, settings)
        say_if_no_guarantee(task.game)

    def state_dict(self) -> State:
        """The arrays of the solver, its generators if it has any, and where it is."""
        return self.solver.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Go on where the solver was."""
        self.solver.load_state_dict(state)
        self.num_steps = self.solver.iteration
