"""Liar's Dice, solved round by round, as runs of ``train.py``.

``cfr_rounds`` solves the rounds of two players one after the other, those with few dice first.
Every round gets the same number of iterations. When it is done its policy is kept and its arrays
are let go, so that memory holds one round at a time. Checkpoints are small at the end of a round;
within one they hold its arrays, up to 3 GB for five dice against five.

``mccfr_rounds`` learns the rounds of two to six players from samples.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agents.cfr.learner import PolicyLearner, SamplingLearner
from agents.games.liars_dice.match import (
    Dice,
    PolicyRows,
    SolvedRound,
    finish_round,
    match_figures,
    rounds_of,
    to_policy,
)
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from agents.games.liars_dice.sampled_match import SampledMatch, SampledMatchSettings
from agents.learning.learner import State, Task, part
from agents.policy import Policy
from common.errors import MasqueradeError
from common.saved import saved_array, saved_number
from envs.core.game import Game
from envs.core.options import Options, option
from envs.liars_dice.game import LiarsDice


class RoundsSettings(Options):
    """Settings of a run."""

    variant: str = option(
        "cfr+", choices=("cfr", "cfr+", "linear", "discounted"), help="member of the CFR family"
    )
    averaging: float = option(
        4.0, low=0.0, high=100.0, help="power of the iteration that a policy counts for"
    )
    least: float = option(
        1e-3, low=0.0, high=0.5, help="actions of the average policy below this are dropped"
    )
    max_gb: float = option(
        8.0, low=0.001, high=1e6, help="largest arrays, in GB; those of finished rounds are let go"
    )
    threads: int = option(2, low=1, high=64, help="threads; the result does not depend on them")


class RoundsLearner(PolicyLearner):
    """Solves the rounds of a match for two players.

    >>> task = Task(LiarsDice(dice=1), total=300)
    >>> learner = RoundsLearner(task, RoundsSettings())
    >>> learner.update(300)["charts/exploitability"] < 1e-3
    True
    """

    settings_class = RoundsSettings
    game_ids = ("liars_dice_v0",)
    settings: RoundsSettings

    def __init__(self, task: Task, settings: RoundsSettings) -> None:
        """Find the rounds."""
        super().__init__(task, settings)
        self.order = rounds_of(task.game)
        self._check_size()
        self.per_round = max(1, -(-task.total // len(self.order)))
        """Iterations for every round; the last ones may get fewer."""
        self.solved: dict[Dice, SolvedRound] = {}
        self._solver: RoundSolver | None = None

    @classmethod
    def needs_gb(cls, game: Game) -> float:
        """The arrays of the largest round, and policies beside them."""
        assert isinstance(game, LiarsDice)
        return 1.45 * max(RoundShape(game.options, dice).nbytes for dice in rounds_of(game)) / 1e9

    def _check_size(self) -> None:
        assert isinstance(self.game, LiarsDice)
        options = self.game.options
        is_smallest = options.raising == "never_lower"
        ways = "or take fewer dice" if is_smallest else "take fewer dice, or raising=never_lower"
        for dice in self.order:
            size = RoundShape(options, dice).nbytes / 1e9
            if size > self.settings.max_gb:
                raise MasqueradeError(
                    f"{dice[0]} dice against {dice[1]} need {size:.3g} GB: raise max_gb if the "
                    f"memory is there, {ways}"
                )

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Run so many iterations."""
        left = num_steps
        values: dict[str, float] = {}
        while left:
            solver = self._current()
            chunk = min(left, self.per_round - solver.iteration)
            solver.run(chunk)
            left -= chunk
            self.num_steps += chunk
            is_last = self.num_steps == self.task.total
            if solver.iteration == self.per_round or is_last:
                values = self._finish(solver)
            elif not left:
                values = {"charts/round_exploitability": solver.exploitability()}
        return {**values, "charts/rounds_solved": float(len(self.solved))}

    def _current(self) -> RoundSolver:
        if self._solver is None:
            game = self.game
            assert isinstance(game, LiarsDice)
            shape = RoundShape(game.options, self.order[min(len(self.solved), len(self.order) - 1)])
            settings = self.settings
            self._solver = RoundSolver(
                shape, settings.variant, settings.threads, averaging=settings.averaging
            )
        return self._solver

    def _finish(self, solver: RoundSolver) -> dict[str, float]:
        """Keep the policy of the round and let go of the rest."""
        assert isinstance(self.game, LiarsDice)
        solved = finish_round(solver, self.game, self.settings.least)
        self.solved[solved.dice] = solved
        self._solver = None
        values = {"charts/round_exploitability": solved.exploitability}
        figures = match_figures(self.game, self.solved)
        if figures is not None:
            values["charts/exploitability"] = figures.exploitability
            values["charts/value"] = figures.values[0]
        return values

    def policy(self) -> Policy:
        """Of the rounds that are solved; in the others its player plays at random."""
        return to_policy(
            self.game, self.solved, variant=self.settings.variant, iterations=self.per_round
        )

    def state_dict(self) -> State:
        """Policies of solved rounds, and the arrays of the one at work."""
        state: State = {"num_steps": self.num_steps, "figures": []}
        for dice, solved in self.solved.items():
            state["figures"].append(
                [*dice, solved.value, *solved.best_values, *solved.worst_values]
            )
            for name, values in solved.rows._asdict().items():
                state[f"round.{dice[0]}.{dice[1]}.{name}"] = values
        if self._solver is not None and self._solver.iteration:
            state |= {f"solver.{k}": v for k, v in self._solver.state_dict().items()}
        return state

    def load_state_dict(self, state: State) -> None:
        """Go on where the learner was."""
        _check_rounds(state, self.game.facts.num_actions)
        self.num_steps = int(state["num_steps"])
        self.solved = {}
        for first, second, value, *ends in state["figures"]:
            arrays = part(state, f"round.{first}.{second}.")
            rows = PolicyRows(**{name: np.asarray(arrays[name]) for name in PolicyRows._fields})
            best, worst = tuple(ends[:2]), tuple(ends[2:])
            solved = SolvedRound((first, second), value, best, worst, rows)
            self.solved[solved.dice] = solved
        self._solver = None
        arrays = part(state, "solver.")
        if arrays:
            self._current().load_state_dict(arrays)


def _check_rounds(state: State, num_actions: int) -> None:
    """Refuse rows of solved rounds, or a place in the run, that no learner has written."""
    saved_number(state, "num_steps")
    for name in state:
        if name.startswith("round.") and name.endswith(".keys"):
            rows = part(state, name.removesuffix("keys"))
            size = (len(saved_array(rows, "keys", np.uint64, (None,))),)
            sizes = saved_array(rows, "sizes", np.int64, size, 1, num_actions)
            entries = (int(sizes.sum()),)
            saved_array(rows, "actions", np.int32, entries, 0, num_actions - 1)
            saved_array(rows, "probs", np.float64, entries, 0.0, 1.0)


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
    solver_class = SampledMatch

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
