"""ISMCTS for hold'em: opponents of a few kinds, guessed together with their hands.

``mo_ismcts`` takes its opponents for players who know its cards, or for one kind of player. Here
every world has its own guess of who they are (``kinds.py``), and worlds count by how well the moves
of this hand fit. Before the flop that is a draw of all kinds: a raise that makes the tight ones
fold is tried against callers too. Most bets are small beside the stacks that can be lost, and so
are differences of value beside their range: the constant of exploration has to be small as well.
"""

from __future__ import annotations

from typing import Any

from agents.games.holdem.kinds import as_kind, guess_of, with_guess
from agents.search.ismcts.agent import MOISMCTSAgent
from agents.search.ismcts.searcher import Advice, Root, TreeSearcher
from envs.core.game import Game
from envs.core.kernels import OptionalKernels
from envs.holdem.kernels import settle

__all__ = ["HoldemSearch"]

GUESSED = OptionalKernels(settle=settle, rollout=as_kind)


class HoldemSearch(MOISMCTSAgent):
    """MO-ISMCTS against kinds of opponents; any parameter of ``mo_ismcts`` goes."""

    game_ids = ("holdem_v0",)
    defaults = {
        **MOISMCTSAgent.defaults,
        "opponents": "rule",
        "belief": "policy",
        "num_worlds": 1024,
        "selection": "ucb",
        "exploration": 0.2,
    }
    refuses_guide = "holdem_search has its own models"

    def __init__(self, game: Game, time_per_move: float | None = None, **params: Any) -> None:
        """Make the tables by which starting hands are judged."""
        super().__init__(game, time_per_move=time_per_move, **params)
        self._rules = with_guess(game)

    def _make_searcher(self) -> TreeSearcher:
        advice = Advice(self.game.kernels, GUESSED, self._rules)
        return TreeSearcher(self.game, self.settings, self._clock, advice)

    def _searcher_for(self, root: Root) -> TreeSearcher:
        guess = guess_of(self._rules)
        guess.seat, guess.number = root.seat, root.key
        return self.searcher
