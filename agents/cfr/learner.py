"""CFR as a run of ``train.py``: curves, checkpoints, and a player at every one of them.

It plays nobody while it learns. An iteration of ``cfr`` goes over the whole game; settings say
which variant and which form, and ``auto`` takes the public tree where a game has one and the
sequence form elsewhere. An iteration of ``mccfr`` goes over samples, of any game.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.cfr.forms.tree import DEFAULT_MAX_NODES, GameTree, TooLargeError
from agents.cfr.policy_learner import SolverLearner
from agents.cfr.sampled.learner import SamplingLearner
from agents.cfr.sampled.settings import SamplingSettings
from agents.cfr.sampled.solver import SamplingSolver
from agents.cfr.solver import Solver
from agents.cfr.tree_policies import to_policy
from agents.cfr.variants import VARIANTS
from agents.cfr.vector import FORMS, make_solver
from agents.learning.learner import Task
from agents.policy import Policy
from common.errors import MasqueradeError
from envs.core.game import Game
from envs.core.options import Options, option

__all__ = ["CFRLearner", "CFRSettings", "MCCFRLearner", "MCCFRSettings"]


ANY_SIZE = (
    "games of any size are learnt by dqn, by q_lambda, and by mccfr with {sampling: outcome, "
    "when_full: freeze}"
)
"""What is said of a game that is too large for the whole tree; tests try it."""


class CFRSettings(Options):
    """Settings of a run."""

    variant: str = option("discounted", choices=tuple(VARIANTS), help="member of the CFR family")
    form: str = option("auto", choices=FORMS, help="public tree, sequence form, or what fits")
    is_alternating: bool = option(True, help="update the players in turn, not all at once")
    delay: int = option(0, low=0, high=10**9, help="iterations left out of the average")
    max_nodes: int = option(
        DEFAULT_MAX_NODES, low=1, high=10**9, help="size of the tree at which to give up"
    )
    threads: int = option(2, low=1, high=64, help="threads; the result does not depend on them")


class CFRLearner(SolverLearner):
    """Trains a solver.

    >>> from envs import make_game
    >>> learner = CFRLearner(Task(make_game("kuhn_v0")), CFRSettings())
    >>> learner.update(100)["charts/exploitability"] < 0.01
    True
    """

    settings_class = CFRSettings
    settings: CFRSettings
    solver: Solver

    def __init__(self, task: Task, settings: CFRSettings) -> None:
        """Write down the tree of the game."""
        super().__init__(task, settings)
        try:
            self.solver = make_solver(
                task.game,
                settings.variant,
                settings.form,
                settings.max_nodes,
                settings.threads,
                is_alternating=settings.is_alternating,
                delay=settings.delay,
            )
        except TooLargeError as error:
            raise TooLargeError(f"{error}; {ANY_SIZE}") from None

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Run so many iterations; the exploitability is that of the average policy."""
        self.solver.run(num_steps)
        self.num_steps = self.solver.iteration
        return {"charts/exploitability": self.solver.exploitability()}

    def policy(self) -> Policy:
        """The average so far."""
        solver = self.solver
        return to_policy(
            solver.tree,
            solver.average_policy(),
            solver.is_reached(),
            variant=self.settings.variant,
            iterations=solver.iteration,
        )


# ---- by samples ----------------------------------------------------------------------------------


class MCCFRSettings(SamplingSettings):
    """Settings of a run by samples."""

    max_nodes: int = option(
        400_000, low=0, high=10**9, help="largest game whose exact exploitability is worked out"
    )


class MCCFRLearner(SamplingLearner):
    """Trains a sampling solver.

    >>> from envs import make_game
    >>> settings = MCCFRSettings(max_infosets=100)
    >>> learner = MCCFRLearner(Task(make_game("kuhn_v0")), settings)
    >>> learner.update(20_000)["charts/exploitability"] < 0.02
    True
    """

    settings_class = MCCFRSettings
    settings: MCCFRSettings
    solver: SamplingSolver

    def __init__(self, task: Task, settings: MCCFRSettings) -> None:
        """Make the arrays, and write the game down if it is small."""
        super().__init__(task, settings)
        self._tree = _small_tree(task.game, settings.max_nodes)

    def _make_solver(self) -> SamplingSolver:
        return SamplingSolver(self.game, self.task.seed, self.settings)

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Run so many iterations; the exploitability is exact, if the game is small."""
        values = super().update(num_steps)
        if self._tree is None:
            return values
        return {**values, "charts/exploitability": self.solver.exploitability(self._tree)}

    def policy(self) -> Policy:
        """The average so far."""
        settings = self.settings
        return self.solver.to_policy(
            self._tree,
            sampling=settings.sampling,
            variant=settings.variant,
            baselines=settings.baselines,
            iterations=self.solver.iteration,
            num_left_out=self.solver.num_left_out,
        )


def _small_tree(game: Game, max_nodes: int) -> GameTree | None:
    try:
        return GameTree(game, max_nodes) if max_nodes else None
    except MasqueradeError:
        return None  # too large: the curves do without
