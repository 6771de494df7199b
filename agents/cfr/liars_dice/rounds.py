"""CFR for one round of Liar's Dice between two players, over the tree of ``shape``.

A round has two outcomes: the opener loses a die, or the other does. So its equilibrium is that of
a game for 1 and -1, whatever a die is worth in the match: what ``match`` needs is just this.

Players are updated in turn. Each one's average counts the policies that the other has met, so the
opener's policy of iteration *t* comes in the average after its update, weighted by *t*.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.liars_dice.passes import (
    EVALUATE,
    FRAME,
    LEARN,
    RESPOND,
    SCOUT,
    WEIGHTS,
    Scratch,
    Tables,
    Tasks,
    walk,
)
from agents.cfr.liars_dice.shape import NO_BID_YET, RoundShape
from agents.cfr.variants import Variant, average_weight, discount, make_variant
from envs.core.errors import MasqueradeError

__all__ = ["RoundSolver"]

NO_CUT = -1
CUT = 2

Floats = npt.NDArray[np.float32]


class RoundSolver:
    """Solves one round.

    Args:
        shape: the round.
        variant: a name in ``VARIANTS`` or a :class:`Variant`, alternating and not predictive.
        num_threads: threads that share the work; the numbers do not depend on it.
        changes: settings of the variant to change.

    >>> from envs.liars_dice import LiarsDiceOptions
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
        self.tables = Tables(*(np.zeros(shape.num_entries, np.float32) for _ in Tables._fields))
        self._scratches = [_make_scratch(shape) for _ in range(num_threads)]
        most = max(len(shape.raises[0]) ** 2, 1) if num_threads > 1 else 0
        width = int(shape.arrays.widths.max())
        self._tasks = Tasks(
            np.zeros(most, FRAME), *(np.zeros((most, width), np.float32) for _ in range(2))
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on."""
        return {"iteration": self.iteration, **self.tables._asdict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where another solver of the same round and variant was."""
        for name, table in self.tables._asdict().items():
            if np.shape(state[name]) != table.shape:
                raise MasqueradeError("this state is of another round: make the solver for it")
            table[:] = state[name]
        self.iteration = int(state["iteration"])

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return sum(table.nbytes for table in self.tables)

    def run(self, num_iterations: int) -> None:
        """Run so many iterations."""
        settings = self.variant.record()[0]
        for t in range(self.iteration + 1, self.iteration + num_iterations + 1):
            for player in (0, 1):
                # Player 1 meets the opener's policy of the next iteration, which is already there.
                met = t if player == 0 else t + 1
                self._walk(
                    player,
                    LEARN,
                    self.tables.regrets,
                    discount(t, settings.alpha),
                    discount(t, settings.beta),
                    average_weight(met, settings),
                )
            self.iteration = t

    # ---- what has been learnt --------------------------------------------------------------------

    def best_values(self, weights: Floats | None = None) -> tuple[float, float]:
        """What best responses of the opener and of the other get.

        They are against the average policy, or against that of another table.
        """
        weights = self.tables.sums if weights is None else weights
        first, second = (self._walk(player, RESPOND, weights) for player in (0, 1))
        return first, second

    def exploitability(self) -> float:
        """How much the average policy can lose to best responses, per player."""
        return sum(self.best_values()) / 2

    def value(self, weights: Floats | None = None) -> float:
        """What the opener gets, from -1 to 1, when both play the average policy, or another."""
        return self._walk(0, EVALUATE, self.tables.sums if weights is None else weights)

    def policy_at(
        self, bids: Sequence[int], hand: Sequence[int], weights: Floats | None = None
    ) -> npt.NDArray[np.float64]:
        """What the mover does with a hand after these bids: probabilities of raises and the call.

        >>> from envs.liars_dice import LiarsDiceOptions
        >>> solver = RoundSolver(RoundShape(LiarsDiceOptions(), (1, 1)))
        >>> solver.run(200)
        >>> round(float(solver.policy_at([5], hand=[1])[-1]), 2)  # one six: who has none calls
        1.0
        """
        shape, weights = self.shape, self.tables.sums if weights is None else weights
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

    def _walk(
        self,
        player: int,
        purpose: int,
        policy: Floats,
        keep_gain: float = 1.0,
        keep_loss: float = 1.0,
        average: float = 0.0,
    ) -> float:
        """One walk for a player; returns what the player gains at the root."""
        weights = np.zeros(1, WEIGHTS)
        weights[0] = (keep_gain, keep_loss, average, keep_gain == 1.0 and keep_loss in (0.0, 1.0))
        scratch = self._scratches[0]
        arguments = self.shape.arrays, player, policy, self.tables.sums
        prior = self.shape.priors[1 - player]
        scratch.reach[0, : len(prior)] = prior
        scratch.frames[0] = (0, NO_BID_YET, 0, 0)
        cut = NO_CUT
        if len(self._scratches) > 1:
            cut = CUT
            num_tasks = walk(*arguments, scratch, self._tasks, cut, weights, SCOUT)
            self._do_tasks(
                num_tasks,
                lambda own: walk(*arguments, own, self._tasks, NO_CUT, weights, purpose),
            )
            scratch.reach[0, : len(prior)] = prior
            scratch.frames[0] = (0, NO_BID_YET, 0, 0)
        walk(*arguments, scratch, self._tasks, cut, weights, purpose)
        own_prior = self.shape.priors[player]
        return float(own_prior @ scratch.gains[0, : len(own_prior)])

    def _do_tasks(self, num_tasks: int, do: Callable[[Scratch], int]) -> None:
        """Let every thread take the largest task that is left, until none is."""
        frames = self._tasks.frames[:num_tasks]
        sizes = self.shape.sizes[frames["standing"], frames["mover"]]
        queue = np.argsort(sizes, kind="stable").tolist()

        def work(scratch: Scratch) -> None:
            while True:
                try:
                    task = queue.pop()
                except IndexError:
                    return
                scratch.frames[0] = self._tasks.frames[task]
                scratch.reach[0] = self._tasks.reach[task]
                do(scratch)
                self._tasks.gains[task] = scratch.gains[0]

        threads = [threading.Thread(target=work, args=(s,)) for s in self._scratches[1:]]
        for thread in threads:
            thread.start()
        work(self._scratches[0])
        for thread in threads:
            thread.join()


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
