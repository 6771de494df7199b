"""Counterfactual regret minimization over a whole game tree, any variant, any number of players.

One iteration, for each player in turn:

1. the counterfactual values of the player's sequences against the others' newest policies;
2. from the leaves up: the regret of an action is its value less that of the policy;
3. regrets are added up, and the next policy is proportional to the positive ones;
4. the reach-weighted average of all policies is what converges to an equilibrium in two-player
   zero-sum games. In other games it converges to no-regret play, which need not be one.

:class:`CFRSolver` takes any game; :class:`agents.cfr.vector.VectorCFRSolver` does the same work for
two players many times as fast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.forms.tree import GameTree, Probs
from agents.cfr.passes.sequences import CFRArrays, fill_reach, run_cfr
from agents.cfr.passes.thread_team import ThreadTeam, make_team, stretches, work_together
from agents.cfr.response import counterfactual_reach, exploitability
from agents.cfr.states import check_header, make_header
from agents.cfr.variants import Variant, make_variant
from common.errors import MasqueradeError
from common.saved import saved_array, saved_number
from envs.core.compiling import JIT_DISABLED

__all__ = ["CFRSolver", "Solver"]

SMALLEST_REACH = 1e-12


class Solver(ABC):
    """What all solvers share: iterations, policies, warm starts and checkpoints.

    Args:
        tree: the game.
        variant: a name in ``VARIANTS`` or a :class:`Variant`.
        num_threads: threads that share the work; the numbers do not depend on it.
        changes: settings of the variant to change, such as ``averaging="quadratic"``.
    """

    def __init__(
        self,
        tree: GameTree,
        variant: str | Variant = "cfr+",
        num_threads: int = 1,
        **changes: Any,
    ) -> None:
        """Begin with the uniform policy and no regrets."""
        if num_threads < 1:
            raise MasqueradeError(f"num_threads must be 1 or more, not {num_threads}")
        self.tree = tree
        self.num_threads = num_threads
        self.variant = make_variant(variant, **changes)
        self.iteration = 0
        self._settings = self.variant.record()
        self._arrays = self._make_tables()
        self._set("policy", tree.uniform())
        self._refresh()

    @abstractmethod
    def _make_tables(self) -> CFRArrays:
        """Empty ones, and whatever else the passes need."""

    def run(self, num_iterations: int) -> None:
        """Run so many iterations."""
        if num_iterations < 0:
            raise MasqueradeError(f"iterations must be 0 or more, not {num_iterations}")
        # Plain Python has no use for threads, and a small game no work for them.
        num_workers = 1 if JIT_DISABLED else max(min(self.num_threads, self.num_parts), 1)
        for number in stretches(num_iterations, self.tree.num_sequences):
            work = partial(self._work, make_team(num_workers), number)
            work_together(num_workers, work)
            self.iteration += number

    @property
    @abstractmethod
    def num_parts(self) -> int:
        """Parts of the game that threads can share."""

    @abstractmethod
    def _work(self, team: ThreadTeam, num_iterations: int, worker: int) -> None:
        """Do one worker's share of so many iterations."""

    @abstractmethod
    def _get(self, name: str) -> Probs:
        """A copy of one of the arrays, in the order of the tree's sequences."""

    @abstractmethod
    def _set(self, name: str, values: Probs) -> None: ...

    @abstractmethod
    def _refresh(self) -> None:
        """Work out again what follows from the policy."""

    # ---- policies --------------------------------------------------------------------------------

    def current_policy(self) -> Probs:
        """The policy of the next iteration, [num_sequences] float64."""
        return self._get("policy")

    def average_policy(self) -> Probs:
        """The average so far, uniform where no iteration has come: [num_sequences] float64."""
        return self.tree.normalized(self._get("cumulative_policy"))[0]

    def is_reached(self) -> npt.NDArray[np.bool_]:
        """For every information set whether the average policy's own choices lead there."""
        return self.tree.normalized(self._get("cumulative_policy"))[1]

    def exploitability(self) -> float:
        """How much the average policy can lose to best responses, per player."""
        return exploitability(self.tree, self.average_policy())

    def warm_start(self, probs: Probs, weight: float = 10.0) -> None:
        """Begin from a policy instead of the uniform one, before the first iteration.

        Every information set begins with regrets in proportion to the policy, as if the largest
        regret the game allows had come up ``weight`` times. Too small a weight lets the first
        iterations throw the policy away, too large a one makes it hard to improve.
        """
        if self.iteration:
            raise MasqueradeError("warm_start comes before the first iteration: make a new solver")
        if not weight > 0.0:
            raise MasqueradeError(f"weight must be above 0, not {weight}")
        probs = self.tree.check_policy(probs)
        reach = np.maximum(counterfactual_reach(self.tree, probs), SMALLEST_REACH)
        facts = self.tree.game.facts
        largest = (facts.max_return - facts.min_return) * reach[self.tree.sequence_infosets]
        self._set("regrets", weight * largest * probs)
        self._set("policy", probs)
        self._refresh()

    # ---- checkpoints -----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on, as numbers, words and arrays."""
        return {
            **self._header(),
            "iteration": self.iteration,
            **{name: self._get(name) for name in ("policy", "regrets", "cumulative_policy")},
        }

    def _header(self) -> dict[str, Any]:
        return make_header(self.tree.game, variant=asdict(self.variant))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where another solver of the same game and variant was; either form will do."""
        check_header(state, self._header())
        names = ("policy", "regrets", "cumulative_policy")
        size = (self.tree.num_sequences,)
        saved = {name: saved_array(state, name, np.float64, size) for name in names}
        self.tree.check_policy(saved["policy"])
        self.iteration = saved_number(state, "iteration")
        for name, values in saved.items():
            self._set(name, values)
        self._refresh()


class CFRSolver(Solver):
    """CFR over the sequence form of a tree.

    >>> from envs import make_game
    >>> solver = CFRSolver(GameTree(make_game("kuhn_v0")), "cfr+")
    >>> solver.run(1000)
    >>> solver.exploitability() < 1e-3
    True
    """

    def _make_tables(self) -> CFRArrays:
        size = self.tree.num_sequences
        self._values = np.zeros(self.tree.num_infosets)
        return CFRArrays(
            policy=np.zeros(size),
            regrets=np.zeros(size),
            cumulative_policy=np.zeros(size),
            reach=np.zeros(size + 1),
            cf_values=np.zeros(size + 1),
        )

    @property
    def num_parts(self) -> int:
        """Parts of the game that threads can share."""
        return self.tree.form.num_parts

    def _work(self, team: ThreadTeam, num_iterations: int, worker: int) -> None:
        run_cfr(
            self.tree.form,
            self._arrays,
            self._values,
            self._settings,
            team,
            worker,
            self.iteration,
            num_iterations,
        )

    def _get(self, name: str) -> Probs:
        values: Probs = getattr(self._arrays, name).copy()
        return values

    def _set(self, name: str, values: Probs) -> None:
        getattr(self._arrays, name)[:] = values

    def _refresh(self) -> None:
        for player in range(self.tree.num_players):
            fill_reach(self.tree.form, player, self._arrays.policy, self._arrays.reach)
