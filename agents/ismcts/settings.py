"""What can be chosen about a search, by name, and the same as a record for compiled code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.max_n.preference import PREFERENCES, place_weight
from common.errors import OptionError, nearest
from envs.core.game import Game

__all__ = ["OBSERVERS", "OPTIONS", "SELECTIONS", "TreeSettings", "make_options"]

OBSERVERS = ("single", "many", "perfect", "own")
SINGLE, MANY, PERFECT, OWN = range(len(OBSERVERS))
SELECTIONS = ("ucb", "ucb_tuned", "puct", "regret", "uniform")
UCB, TUNED, PUCT, REGRET, UNIFORM = range(len(SELECTIONS))
FINALS = ("visits", "value", "mixture")
ROLLOUTS = ("random", "rule", "auto")
HORIZONS = ("end", "chance", "auto")
BOUNDS = ("seen", "facts")
PRIORS = ("uniform", "rule", "auto")
OPPONENTS = ("search", "rule")
BELIEFS = ("game", "policy")
NUM_REPLAYS = 256
"""Worlds that are weighed by what was played in them, if no number is given."""
FEW_ACTIONS = 4
"""So many can all be tried: what a prior says of them is not worth its mistakes."""

OPTIONS = np.dtype(
    (
        np.record,
        [
            ("root_key", np.uint64),
            ("exploration", np.float64),
            ("gamma", np.float64),  # of regret matching: how often it plays anything
            ("epsilon", np.float64),  # of rule rollouts: how often they play anything
            ("coalition", np.float64),  # what a success of a team-mate loses
            ("place_weight", np.float64),
            ("seat", np.int32),
            ("num_players", np.int32),
            ("observers", np.int32),
            ("selection", np.int32),
            ("has_rule", np.int32),
            ("prior_draws", np.int32),  # of the quick policy, for a prior; 0: none is made
            ("is_by_seen", np.int32),
            ("preference", np.int32),
            ("rollout_depth", np.int32),  # 0: to the end
            ("tree_depth", np.int32),  # 0: as deep as it grows
            ("width", np.int32),  # 0: all legal actions
            ("stops_at_chance", np.int32),
            ("has_model", np.int32),  # opponents play the quick policy instead of searching
            ("is_fixed", np.int32),  # worlds are those that were drawn at the start
        ],
    )
)


@dataclass(frozen=True)
class TreeSettings:
    """How to search.

    >>> TreeSettings(selection="ucb2")
    Traceback (most recent call last):
    ...
    common.errors.OptionError: unknown selection 'ucb2': did you mean 'ucb'? ...
    """

    observers: str = "many"
    """Whose eyes the tree is built on: ``single`` (the searcher's alone), ``many`` (each decision
    is looked up by what its own player has seen), ``perfect`` (everybody sees everything, and
    every world has a tree of its own) or ``own`` (only the searcher's own actions are told apart:
    an open loop, for opponents whose moves differ in every simulation)."""
    opponents: str = "search"
    """What players of other teams do in the tree: ``search`` for what is best for them, or play the
    quick policy of the game (``rule``), which knows no more than they do; a game may have another
    one for that (``Game.modelled``)."""
    selection: str = "auto"
    """``ucb``, ``ucb_tuned``, ``puct``, ``regret`` or ``uniform``; ``auto`` is ``puct`` in games of
    many actions that have a quick policy, and ``ucb`` elsewhere."""
    exploration: float = 0.7
    """The constant of UCB and PUCT; values lie between 0 and 1."""
    gamma: float = 0.2
    """How often regret matching tries any action."""
    final: str = "visits"
    """How the move is chosen: most ``visits``, highest ``value``, or drawn from a ``mixture``."""
    rollout: str = "auto"
    """``random``, ``rule`` (the quick policy of the game) or ``auto`` (rule where there is one)."""
    epsilon: float = 0.1
    """How often rule rollouts play any action."""
    horizon: str = "auto"
    """Simulations go to the ``end`` of the game, or to the next ``chance`` event at which the
    game's own estimate counts (the next round); ``auto`` is the latter where there is one."""
    rollout_depth: int = 0
    """Decisions after which a rollout stops and the game's own estimate counts; 0: never."""
    tree_depth: int = 0
    """Decisions that the tree may look ahead; 0: any number."""
    width: int = 0
    """Keep so many actions of a node, the best by the game's own estimate; 0: all."""
    coalition: float = 0.0
    """What the success of a team-mate loses, so that nobody leaves the work to the others."""
    bounds: str = "seen"
    """Values are scaled by the returns ``seen`` in the search or by the bounds in the ``facts``."""
    preference: str = ""
    """``return`` or ``place``; left out, what standings of the game go by."""
    prior: str = "auto"
    """Of PUCT: ``uniform``, or how often the quick policy of the game plays it (``rule``)."""
    prior_draws: int = 8
    """Of the quick policy, for the prior of a node; one is enough for a policy that never mixes."""
    belief: str = "game"
    """Which worlds are likely: as the ``game`` draws them, or by how likely its quick ``policy``
    would have made the moves that were seen (``replays.py``)."""
    num_worlds: int = 0
    """Worlds that are drawn once for all simulations; 0: a new one for each, and 256 by policy."""
    max_nodes: int = 1 << 16
    """Memory for so many nodes; when all are used the search goes on with those it has."""
    threads: int = 1
    """Searches side by side whose counts are added up."""

    def __post_init__(self) -> None:
        """Refuse what is unknown or out of range."""
        for name, allowed in (
            ("observers", OBSERVERS),
            ("selection", ("auto", *SELECTIONS)),
            ("final", FINALS),
            ("rollout", ROLLOUTS),
            ("bounds", BOUNDS),
            ("horizon", HORIZONS),
            ("prior", PRIORS),
            ("opponents", OPPONENTS),
            ("belief", BELIEFS),
            ("preference", ("", *PREFERENCES)),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise OptionError(f"unknown {name} '{value}': {nearest(str(value), allowed)}")
        for name in ("exploration", "rollout_depth", "tree_depth", "width", "num_worlds"):
            if not getattr(self, name) >= 0:
                raise OptionError(f"{name} must be at least 0, not {getattr(self, name)}")
        for name in ("gamma", "epsilon", "coalition"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        if not 1 <= self.prior_draws <= 1000:
            raise OptionError(f"prior_draws must be from 1 to 1000, not {self.prior_draws}")
        if not 1 <= self.max_nodes <= 1 << 26:
            raise OptionError(f"max_nodes must be from 1 to {1 << 26}, not {self.max_nodes}")
        if not 1 <= self.threads <= 256:
            raise OptionError(f"threads must be from 1 to 256, not {self.threads}")


def selection_in(game: Game, settings: TreeSettings) -> str:
    """The selection that a search of ``game`` uses.

    >>> from envs import make_game
    >>> [selection_in(make_game(f"{name}_v0"), TreeSettings()) for name in ("kuhn", "holdem")]
    ['ucb', 'puct']
    """
    if settings.selection != "auto":
        return settings.selection
    has_many = game.facts.num_actions > FEW_ACTIONS
    return "puct" if has_many and game.optional.has_rollout else "ucb"


def make_options(game: Game, settings: TreeSettings) -> npt.NDArray[np.void]:
    """The settings as compiled code reads them; refuses what the game has nothing for."""
    facts, optional = game.facts, game.optional
    if settings.rollout == "rule" and not optional.has_rollout:
        raise OptionError(f"{game.id} has no quick policy: set rollout to 'random'")
    if settings.prior == "rule" and not optional.has_rollout:
        raise OptionError(f"{game.id} has no quick policy: set prior to 'uniform'")
    if settings.opponents == "rule" and not optional.has_rollout:
        raise OptionError(f"{game.id} has no quick policy: set opponents to 'search'")
    if (
        settings.rollout_depth or settings.width or settings.horizon == "chance"
    ) and not optional.has_evaluate:
        raise OptionError(f"{game.id} has no estimate: leave rollout_depth, width and horizon out")
    options = np.zeros(1, OPTIONS)
    o = options[0]
    for name in ("exploration", "gamma", "epsilon", "coalition"):
        o[name] = getattr(settings, name)
    for name in ("rollout_depth", "tree_depth", "width"):
        o[name] = getattr(settings, name)
    o.num_players = facts.num_players
    o.observers = OBSERVERS.index(settings.observers)
    o.selection = SELECTIONS.index(selection_in(game, settings))
    o.stops_at_chance = settings.horizon != "end" and optional.has_evaluate
    o.has_model = settings.opponents == "rule"
    o.is_fixed = settings.num_worlds > 0 or settings.belief == "policy"
    o.has_rule = settings.rollout != "random" and optional.has_rollout
    has_prior = o.selection == PUCT and settings.prior != "uniform" and optional.has_rollout
    o.prior_draws = settings.prior_draws if has_prior else 0
    o.is_by_seen = settings.bounds == "seen"
    by_place = "place" if facts.objective == "place" else "return"
    o.preference = PREFERENCES.index(settings.preference or by_place)
    o.place_weight = place_weight(facts.num_players, facts.min_return, facts.max_return)
    return options
