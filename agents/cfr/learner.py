"""CFR as a run of ``train.py``: curves, checkpoints, and a player at every one of them.

It plays nobody while it learns. An iteration of ``cfr`` goes over the whole game; settings say
which variant and which form, and ``auto`` takes the public tree where a game has one and the
sequence form elsewhere. An iteration of ``mccfr`` goes over samples, of any game.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping

from agents.cfr.evaluation import to_policy
from agents.cfr.mccfr import SamplingSettings, SamplingSolver, WalkSettings, WalkSolver, bytes_text
from agents.cfr.solver import FORMS, Solver, make_solver
from agents.cfr.tree import DEFAULT_MAX_NODES, GameTree, TooLargeError
from agents.cfr.variants import VARIANTS
from agents.learning.learner import Learner, State, Task
from agents.policy import Policy, PolicyAgent
from common.errors import MasqueradeError
from envs.core.facts import is_zero_sum_duel
from envs.core.game import Game
from envs.core.options import Options, option


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


class SolverLearner(PolicyLearner):
    """One solver from beginning to end: what it knows is all there is to be saved."""

    solver: Solver | WalkSolver

    def __init__(self, task: Task, settings: Options) -> None:
        """Say so if the solver promises nothing for this game."""
        super().__init__(task, settings)
        if not is_zero_sum_duel(task.game.facts):
            print(
                f"masquerade: {task.game!r} is not a game of two players for a constant sum, so "
                "CFR need not come to an equilibrium",
                file=sys.stderr,
            )

    def state_dict(self) -> State:
        """The arrays of the solver, its generators if it has any, and where it is."""
        return self.solver.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Go on where the solver was."""
        self.solver.load_state_dict(state)
        self.num_steps = self.solver.iteration


class SamplingLearner(SolverLearner):
    """Trains a solver by samples."""

    settings: WalkSettings
    solver: WalkSolver
    solver_class: Callable[..., WalkSolver]

    def __init__(self, task: Task, settings: WalkSettings) -> None:
        """Say how much memory it takes, and make the tables."""
        super().__init__(task, settings)
        size = settings.table_bytes(task.game)
        print(
            f"masquerade: a table for {settings.max_infosets:,} information sets takes "
            f"{bytes_text(size)}",
            file=sys.stderr,
        )
        self.solver = self.solver_class(task.game, task.seed, settings)

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Run so many iterations; how strong the policy is, is for each learner to add."""
        solver = self.solver
        solver.run(num_steps)
        self.num_steps = solver.iteration
        values = {"charts/infosets": float(solver.num_infosets)}
        if self.settings.when_full == "freeze":
            values["charts/left_out"] = float(solver.num_left_out)
        return values


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
    solver_class = SamplingSolver

    def __init__(self, task: Task, settings: MCCFRSettings) -> None:
        """Make the arrays, and write the game down if it is small."""
        super().__init__(task, settings)
        self._tree = _small_tree(task.game, settings.max_nodes)

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
