"""What all learners share that end up with a policy by keys."""

from __future__ import annotations

from abc import abstractmethod

from agents.learner import Learner, State
from agents.policy import Policy, PolicyAgent

__all__ = ["PolicyLearner"]


class PolicyLearner(Learner):
    """A solver at school: its player plays the policy that it has come to."""

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
