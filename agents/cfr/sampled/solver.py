"""Monte Carlo CFR: solving a game from samples of it, without ever writing its tree down.

An iteration is one walk for every player, and only what walks come to takes memory:

``external``
    chance and the others are drawn, all actions of the player are walked through;
``outcome``
    one game is played; the player explores, and results are weighted accordingly;
``chance``
    chance is drawn, all actions of all players are walked through.

``baselines`` are what may be expected after every action, learnt on the way. Drawn results are
corrected by them, which takes variance out of outcome sampling: one for every action of an
information set, or of a history, which costs more memory and helps more. All estimates of regrets
are unbiased.

Regrets are kept as in one of three variants, which are sound with samples: ``cfr`` adds all up,
``linear`` lets iteration *t* count *t* times, in regrets and average, and ``cfr+`` forgets negative
regrets and averages linearly. The discounts of the other variants would have to go over the whole
table on every iteration.

* M. Lanctot and others, "Monte Carlo sampling for regret minimization in extensive games" (2009);
* M. Schmid and others, "Variance reduction in Monte Carlo counterfactual regret minimization (VR-
  MCCFR) for extensive form games using baselines" (2019);
* T. Davis, M. Schmid and M. Bowling, "Low-variance and zero-variance baselines for extensive-form
  games" (2020), for baselines by history;
* N. Brown and T. Sandholm, "Solving imperfect-information games via discounted regret minimization"
  (2019), for ``linear``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from agents.cfr.forms.tree import GameTree
from agents.cfr.response import exploitability
from agents.cfr.sampled.hash_tables import average_rows, enter_rows
from agents.cfr.sampled.settings import SamplingSettings
from agents.cfr.sampled.walk_solver import WalkSolver
from agents.cfr.tree_policies import from_policy
from agents.policy import Policy, PolicyError
from common.errors import MasqueradeError
from envs.core.game import Game

__all__ = ["SamplingSolver"]


class SamplingSolver(WalkSolver):
    """Monte Carlo CFR on any game, any number of players.

    Args:
        game: what to solve; if openings differ, they take turns from iteration to iteration.
        seed: of all draws. With one thread the same seed gives the same tables to the last bit.
        settings: see :class:`SamplingSettings`.
        changes: settings to change, such as ``sampling="outcome"``.

    >>> from envs import make_game
    >>> solver = SamplingSolver(make_game("leduc_v0"), max_infosets=1000)
    >>> solver
    SamplingSolver(leduc_v0(): external, room for 1,000 information sets in 92.8 kB)
    >>> solver.run(1000)
    >>> solver.num_infosets <= 936, solver.to_policy().exploitability is None
    (True, True)
    """

    learning = (
        "sampling",
        "variant",
        "pruning",
        "epsilon",
        "baselines",
        "baseline_rate",
        "threads",
    )
    settings: SamplingSettings

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        settings: SamplingSettings | None = None,
        **changes: Any,
    ) -> None:
        """Make the tables; nothing is drawn yet."""
        base = SamplingSettings() if settings is None else settings
        super().__init__(game, seed, SamplingSettings.parse({**_own(base), **changes}))

    def _what(self) -> str:
        return self.settings.sampling

    # ---- what it knows ---------------------------------------------------------------------------

    def to_policy(self, tree: GameTree | None = None, **notes: Any) -> Policy:
        """The average policy, as a table that can be saved and played.

        Args:
            tree: of the same game, if its exploitability is wanted.
            notes: how it came about.
        """
        policy = Policy(self.game, *average_rows(self._table), notes=notes)
        if tree is None:
            return policy
        return replace(policy, exploitability=exploitability(tree, from_policy(tree, policy)))

    def exploitability(self, tree: GameTree) -> float:
        """How much the average policy can lose to best responses, per player."""
        return exploitability(tree, from_policy(tree, self.to_policy()))

    def warm_start(self, policy: Policy, weight: float = 10.0) -> None:
        """Begin from a policy instead of the uniform one, before the first iteration.

        Every information set begins with regrets in proportion to the policy, as if the largest
        regret the game allows had come up ``weight`` times.
        """
        if self.iteration or self.num_infosets:
            raise MasqueradeError("warm_start comes before the first iteration: make a new solver")
        if not weight > 0.0:
            raise MasqueradeError(f"weight must be above 0, not {weight}")
        if policy.game != self.game:
            raise PolicyError(f"this policy is for {policy.game!r}, not for {self.game!r}")
        enter_rows(self._table, policy.keys, np.diff(policy.firsts), policy.actions)
        facts = self.game.facts
        largest = facts.max_return - facts.min_return
        self._table.regrets[: len(policy.probs)] = weight * largest * policy.probs


def _own(settings: SamplingSettings) -> dict[str, Any]:
    """The settings of the solver alone, of whatever is derived from them."""
    return {name: getattr(settings, name) for name in SamplingSettings.model_fields}
