"""How far policies of one game are from an equilibrium, over whichever form is the quicker.

Over the sequence form the first answer comes sooner; over the public tree every further one is
several times as fast. Both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agents.base import Agent
from agents.cfr.forms.layout import Layout
from agents.cfr.forms.public import NoPublicTreeError, PublicTree
from agents.cfr.forms.tree import DEFAULT_MAX_NODES, GameTree, Probs
from agents.cfr.passes.vectors import best_value, pay_ends, spread_reach
from agents.cfr.response import best_response, expected_values
from agents.cfr.tree_policies import DEFAULT_SAMPLES, tabulate
from agents.cfr.vector import FORMS
from common.errors import OptionError, nearest
from envs.core.game import Game

__all__ = ["BestResponseEvaluator", "BestResponseResult"]

# Measured on Leduc poker and one-die Liar's Dice: from so many policies on, laying out the public
# tree has paid for itself.
PUBLIC_FROM = 4


@dataclass(frozen=True)
class BestResponseResult:
    """The values of a policy for each seat, and those of best responses."""

    values: tuple[float, ...]
    """When everybody follows the policy."""
    best: tuple[float, ...]
    """Of a best response in that seat, when all others follow the policy."""

    @property
    def nash_conv(self) -> float:
        """What the seats could gain, each alone, added up."""
        return float(np.sum(self.best) - np.sum(self.values))

    @property
    def exploitability(self) -> float:
        """NashConv divided by the number of players."""
        return self.nash_conv / len(self.values)


class BestResponseEvaluator:
    """Works out exact best responses to policies of one game.

    Args:
        game: the game; it is written down whole.
        max_nodes: the size at which to give up.
        form: ``public``, ``tree``, or ``auto`` for the quicker one.
        num_policies: how many will be evaluated, as far as one knows.

    >>> from envs import make_game
    >>> evaluator = BestResponseEvaluator(make_game("kuhn_v0"))
    >>> result = evaluator(evaluator.tree.uniform())
    >>> round(result.nash_conv, 6), [round(x, 6) for x in result.best]
    (0.916667, [0.5, 0.416667])
    """

    def __init__(
        self,
        game: Game,
        max_nodes: int = DEFAULT_MAX_NODES,
        form: str = "auto",
        num_policies: int = 1,
    ) -> None:
        """Write the game down."""
        if form not in FORMS:
            raise OptionError(f"unknown form '{form}': {nearest(form, FORMS)}")
        pays = game.facts.num_players == 2 and num_policies >= PUBLIC_FROM
        is_public = form == "public" or (form == "auto" and pays)
        self.game = game
        self.tree = GameTree(game, max_nodes, has_keys=is_public)
        self.form = "tree"
        if is_public:
            try:
                self._layout = Layout(PublicTree(self.tree))
                self.form = "public"
            except NoPublicTreeError:
                if form == "public":
                    raise

    def __call__(self, probs: Probs) -> BestResponseResult:
        """Evaluate a policy: [num_sequences] float64."""
        probs = self.tree.check_policy(probs)
        if self.form == "public":
            return self._over_public_tree(probs)
        players = range(self.tree.num_players)
        best = tuple(best_response(self.tree, probs, player).value for player in players)
        return BestResponseResult(tuple(expected_values(self.tree, probs).tolist()), best)

    @property
    def size_text(self) -> str:
        """What it goes over, in words."""
        form = "public tree" if self.form == "public" else "sequence form"
        return (
            f"over {len(self.tree.nodes):,} nodes and {self.tree.num_infosets:,} information sets "
            f"({form})"
        )

    def evaluate(
        self,
        agent: Agent,
        num_samples: int = DEFAULT_SAMPLES,
        seed: int = 0,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> tuple[BestResponseResult, int]:
        """Write down an agent's policy and evaluate it; see ``tabulate`` for the arguments."""
        found = tabulate(agent, self.tree, num_samples, seed, on_progress)
        return self(found.probs), found.num_samples

    def _over_public_tree(self, probs: Probs) -> BestResponseResult:
        vectors = self._layout.vectors
        policy, reach, cf_values = np.zeros((3, len(self._layout.order)))
        policy[self._layout.slots] = probs[self._layout.sequences]
        for player in (0, 1):
            spread_reach(vectors, player, policy, reach)
        values, best = [], []
        for player in (0, 1):
            first, end = vectors.parts["first_slot"][vectors.tops[player : player + 2]]
            own = slice(int(first), int(end))
            pay_ends(vectors, player, reach, cf_values)
            values.append(float((cf_values[own] * reach[own]).sum()))
            best.append(float(best_value(vectors, player, reach, cf_values)))
        return BestResponseResult(tuple(values), tuple(best))
