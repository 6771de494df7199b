"""CFR for one round of Liar's Dice between two players, over the tree of ``shape``.

A round has two outcomes: the opener loses a die, or the other does. So its equilibrium is that of
a game for 1 and -1, whatever the value of a die in the match, as long as it is better to win the
round than to lose it: what ``match`` needs is just this.

Players are updated in turn. Each one's average counts the policies that the other has met, so the
opener's policy of iteration *t* comes in the average after its update, weighted by *t*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.threads import ThreadTeam, make_team, stretches, work_together
from agents.cfr.variants import Variant, make_variant
from agents.games.liars_dice.round_tree import NO_BID_YET, RoundShape
from agents.games.liars_dice.round_walk import (
    EVALUATE,
    FRAME,
    LOSE,
    RESPOND,
    WEIGHTS,
    Round,
    RoundArrays,
    Scratch,
    Tasks,
    run_rounds,
    walk_round,
)
from common.errors import MasqueradeError
from common.saved import restore, saved_number
from envs.core.compiling import JIT_DISABLED

WORTH_THREADS = 20_000
"""Entries of a round from which on a second thread is worth starting."""

Floats = npt.NDArray[np.float32]


class RoundSolver:
    """Solves one round.

    Args:
        shape: the round.
        variant: a name in ``VARIANTS`` or a :class:`Variant`, alternating and not predictive.
        num_threads: threads that share the work; the numbers do not depend on it.
        changes: settings of the variant to change.

    >>> from envs.liars_dice.game import LiarsDiceOptions
    >>> solver = RoundSolver(RoundShape(LiarsDiceOptions(raising="count_first"), (1, 1)))
    >>> solver.run(500)
    >>> round(solver.value(), 3), solver.exploitability() < 1e-3
    (-0.111, True)
    """

    def __init__(
        self,
        shape: RoundShape,
        variant: str | Variant = "cfr+",
        num_threads: int = 1,
        **changes: Any,
    ) -> None:
        """Begin with the uniform policy and no regrets."""
        self.shape = shape
        self.variant = make_variant(variant, **changes)
        if self.variant.is_predictive or not self.variant.is_alternating:
            raise MasqueradeError(
                "rounds of Liar's Dice are solved with alternating updates that predict nothing: "
                "take cfr, cfr+, linear or discounted"
            )
        self.iteration = 0
        self.arrays = RoundArrays(
            *(np.zeros(shape.num_entries, np.float32) for _ in RoundArrays._fields)
        )
        # Plain Python has no use for threads, and a small round no work for them.
        is_alone = JIT_DISABLED or shape.num_entries < WORTH_THREADS
        self._num_workers = 1 if is_alone else num_threads
        self._scratches = [_make_scratch(shape) for _ in range(self._num_workers)]
        most = max(len(shape.raises[0]) ** 2, 1) if self._num_workers > 1 else 0
        width = int(shape.arrays.widths.max())
        tasks = Tasks(
            np.zeros(most, FRAME), *(np.zeros((most, width), np.float32) for _ in range(2))
        )
        priors = np.zeros((2, width), np.float32)
        for player, prior in enumerate(shape.priors):
            priors[player, : len(prior)] = prior
        self._round = Round(shape.arrays, priors, self.arrays, tasks)

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on."""
        return {"iteration": self.iteration, **self.arrays._asdict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where another solver of the same round and variant was."""
        self.iteration = saved_number(state, "iteration")
        restore(self.arrays._asdict(), state)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(table.nbytes for table in self.arrays)

    def run(self, num_iterations: int) -> None:
        """Run so many iterations."""
        for number in stretches(num_iterations, self.shape.num_entries):
            work = partial(self._work, make_team(self._num_workers), number)
            work_together(self._num_workers, work)
            self.iteration += number

    def _work(self, team: ThreadTeam, num_iterations: int, worker: int) -> None:
        scratch, variant = self._scratches[worker], self.variant.record()
        where = team, worker, self.iteration, num_iterations
        run_rounds(self._round, scratch, np.zeros(1, WEIGHTS), variant, *where)

    # ---- what has been learnt --------------------------------------------------------------------

    def best_values(self, weights: Floats | None = None) -> tuple[float, float]:
        """What best responses of the opener and of the other get.

        They are against the average policy, or against that of another table.
        """
        return self._walk(0, RESPOND, weights), self._walk(1, RESPOND, weights)

    def worst_values(self, weights: Floats | None = None) -> tuple[float, float]:
        """What the opener and the other get who do all they can to lose the round."""
        return self._walk(0, LOSE, weights), self._walk(1, LOSE, weights)

    def exploitability(self) -> float:
        """How much the average policy can lose to best responses, per player."""
        return sum(self.best_values()) / 2

    def value(self, weights: Floats | None = None) -> float:
        """What the opener gets, from -1 to 1, when both play the average policy, or another."""
        return self._walk(0, EVALUATE, weights)

    def policy_at(
        self, bids: Sequence[int], hand: Sequence[int], weights: Floats | None = None
    ) -> npt.NDArray[np.float64]:
        """What the mover does with a hand after these bids: probabilities of raises and the call.

        >>> from envs.liars_dice.game import LiarsDiceOptions
        >>> solver = RoundSolver(RoundShape(LiarsDiceOptions(), (1, 1)))
        >>> solver.run(200)
        >>> round(float(solver.policy_at([5], hand=[1])[-1]), 2)  # one six: who has none calls
        1.0
        """
        shape, weights = self.shape, self.arrays.cumulative_policy if weights is None else weights
        place, standing, mover = 0, NO_BID_YET, 0
        for bid in bids:
            raises = shape.raises[standing]
            if bid not in raises:
                raise MasqueradeError(f"bid {bid} cannot follow: choose one of {raises}")
            at = int(shape.arrays.first_raise[standing]) + raises.index(bid)
            place += int(shape.arrays.offsets[mover, at])
            standing, mover = bid + 1, 1 - mover
        level, num_actions = shape.levels[standing], shape.num_actions(standing)
        kind = shape.hands[mover][level].index(shape.kind(hand, level))
        width = int(shape.arrays.widths[mover, level])
        if num_actions == 0:
            return np.ones(1)
        entries = place + kind + width * np.arange(num_actions)
        positive = np.maximum(weights[entries].astype(np.float64), 0.0)
        total = positive.sum()
        return positive / total if total > 0.0 else np.full(num_actions, 1.0 / num_actions)

    def _walk(self, player: int, purpose: int, policy: Floats | None) -> float:
        """One walk that learns nothing; returns the value of the player at the root."""
        average = self.arrays.cumulative_policy
        arrays = RoundArrays(average if policy is None else policy, average)
        game, team = self._round._replace(arrays=arrays), make_team(self._num_workers)
        weights = np.zeros(1, WEIGHTS)
        weights["prunes"] = True  # what nobody reaches has value 0

        def work(worker: int) -> None:
            walk_round(game, self._scratches[worker], player, weights, purpose, team, worker)

        work_together(self._num_workers, work)
        own_prior = self.shape.priors[player]
        return float(own_prior @ self._scratches[0].cf_values[0, : len(own_prior)])


def _make_scratch(shape: RoundShape) -> Scratch:
    depth = shape.longest_bidding + 2
    width = int(shape.arrays.widths.max())
    most_actions = max(shape.num_actions(standing) for standing in range(len(shape.raises)))
    return Scratch(
        np.zeros(depth, FRAME),
        np.zeros((depth + 1, width), np.float32),
        np.zeros((depth, width), np.float32),
        np.zeros((depth, most_actions, width), np.float32),
        np.zeros((depth, width), np.float32),
        np.zeros((depth, width), np.float32),
    )
