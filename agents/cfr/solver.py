"""Counterfactual regret minimization over a whole game tree, any variant, any number of players.

One iteration, for each player in turn:

1. the counterfactual values of the player's sequences against the others' newest policies;
2. from the leaves up: the regret of an action is its value less that of the policy;
3. regrets are added up, and the next policy is proportional to the positive ones;
4. the reach-weighted average of all policies is what converges to an equilibrium in two-player
   zero-sum games. In other games it converges to no-regret play, which need not be one.

:class:`CFRSolver` goes over the sequence form of any game. :class:`VectorCFRSolver` makes the same
iterations many times as fast over the public tree of two players: vectors over hands instead of one
information set after the other, and one small matrix of payoffs for all histories that the public
sees end in the same way. M. Johanson and others, "Accelerating best response calculation in large
extensive games" (2011), describe such passes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.public_tree import NoPublicTreeError, PublicTree
from agents.cfr.public_vectors import lay_out_public
from agents.cfr.response import counterfactual_reach, expected_values, exploitability
from agents.cfr.threads import ThreadTeam, make_team, stretches, work_together
from agents.cfr.tree import DEFAULT_MAX_NODES, GameTree, Probs
from agents.cfr.variants import Variant, make_variant
from agents.cfr.vectors import CFRArrays, Layout, best_value, normalize, run_cfr, spread_reach
from common.errors import MasqueradeError, OptionError, nearest
from common.saved import saved_array, saved_number
from envs.core.compiling import JIT_DISABLED
from envs.core.game import Game

STATE_VERSION = 2


def make_header(game: Game, **learning: Any) -> dict[str, Any]:
    """The game, and whatever else a solver must have in common with the one that it goes on from.

    Args:
        game: what is solved.
        learning: such as the variant, in plain JSON types.
    """
    return {
        "version": STATE_VERSION,
        "game": game.id,
        "options": game.options.to_dict(),
        **learning,
    }


def check_header(state: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse a state of another game, or of a solver that learns otherwise."""
    for name, value in own.items():
        if state.get(name) != value:
            raise MasqueradeError(
                f"this state has {name} {state.get(name)!r}, the solver {value!r}: make the "
                f"solver that saved it"
            )


def check_start(has_begun: bool, weight: float) -> None:
    """Refuse a warm start that comes too late or counts nothing."""
    if has_begun:
        raise MasqueradeError("warm_start comes before the first iteration: make a new solver")
    if not weight > 0.0:
        raise MasqueradeError(f"weight must be above 0, not {weight}")


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
        self.layout = self._lay_out()
        self._arrays = CFRArrays(*(np.zeros(self.layout.num_slots) for _ in CFRArrays._fields))
        self._set("policy", tree.uniform())
        self._refresh()

    @abstractmethod
    def _lay_out(self) -> Layout:
        """The vectors that the passes go over."""

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
    def num_parts(self) -> int:
        """Parts of the game that threads can share."""
        return self.layout.num_parts

    def _work(self, team: ThreadTeam, num_iterations: int, worker: int) -> None:
        """Do one worker's share of so many iterations."""
        vectors, arrays, settings = self.layout.vectors, self._arrays, self._settings
        run_cfr(vectors, arrays, settings, team, worker, self.iteration, num_iterations)

    def _get(self, name: str) -> Probs:
        """A copy of one of the arrays, in the order of the tree's sequences."""
        values: Probs = getattr(self._arrays, name)[self.layout.slots]
        return values

    def _set(self, name: str, values: Probs) -> None:
        getattr(self._arrays, name)[self.layout.slots] = values

    def _refresh(self) -> None:
        """Work out again what follows from the policy."""
        for player in range(self.tree.num_players):
            spread_reach(self.layout.vectors, player, self._arrays.policy, self._arrays.reach)

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
        check_start(self.iteration > 0, weight)
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

    def _lay_out(self) -> Layout:
        return self.tree.layout


FORMS = ("auto", "public", "tree")


class VectorCFRSolver(Solver):
    """CFR over the public tree; the fast way for two players.

    The tree must have been made with ``has_keys``.

    >>> from envs import make_game
    >>> solver = VectorCFRSolver.of(make_game("leduc_v0"), "discounted")
    >>> solver.run(400)
    >>> solver.exploitability() < 1e-3
    True
    """

    def _lay_out(self) -> Layout:
        return lay_out_public(PublicTree(self.tree))

    @classmethod
    def of(
        cls,
        game: Game,
        variant: str | Variant = "cfr+",
        max_nodes: int = DEFAULT_MAX_NODES,
        num_threads: int = 1,
        **changes: Any,
    ) -> VectorCFRSolver:
        """Write down the tree of a game and solve that."""
        return cls(GameTree(game, max_nodes, has_keys=True), variant, num_threads, **changes)

    def exploitability(self) -> float:
        """As for every solver, by the vector passes."""
        vectors = self.layout.vectors
        policy, reach, cf_values = np.zeros((3, self.layout.num_slots))
        normalize(vectors, self._arrays.cumulative_policy, policy)
        for player in (0, 1):
            spread_reach(vectors, player, policy, reach)
        best = sum(best_value(vectors, player, reach, cf_values) for player in (0, 1))
        return float(best - self._total()) / 2

    def _total(self) -> float:
        """What both players get together, which in a general-sum game depends on the policy."""
        total = self.tree.game.facts.return_sum
        if total is not None:
            return total
        return float(expected_values(self.tree, self.average_policy()).sum())


def make_solver(
    game: Game,
    variant: str | Variant = "cfr+",
    form: str = "auto",
    max_nodes: int = DEFAULT_MAX_NODES,
    num_threads: int = 1,
    **changes: Any,
) -> Solver:
    """A solver of a game: over its public tree, over its sequence form, or what fits.

    >>> from envs import make_game
    >>> type(make_solver(make_game("kuhn_v0"))).__name__
    'VectorCFRSolver'
    >>> type(make_solver(make_game("kuhn_v0", num_players=3))).__name__
    'CFRSolver'
    """
    if form not in FORMS:
        raise OptionError(f"unknown form '{form}': {nearest(form, FORMS)}")
    can_be_public = form == "public" or (form == "auto" and game.facts.num_players == 2)
    tree = GameTree(game, max_nodes, has_keys=can_be_public)
    if can_be_public:
        try:
            return VectorCFRSolver(tree, variant, num_threads, **changes)
        except NoPublicTreeError:
            if form == "public":
                raise
    return CFRSolver(tree, variant, num_threads, **changes)
