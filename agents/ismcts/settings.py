"""What can be chosen about a search, by name, and the same as a record for compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.max_n.preference import PREFERENCES, place_weight
from common.errors import OptionError
from envs.core.game import Game
from envs.core.options import Options, option
from envs.core.records import record

OBSERVERS = ("single", "many", "perfect", "own")
SINGLE, MANY, PERFECT, OWN = range(len(OBSERVERS))
SELECTIONS = ("ucb", "ucb_tuned", "puct", "regret", "uniform")
UCB, TUNED, PUCT, REGRET, UNIFORM = range(len(SELECTIONS))
FINALS = ("visits", "value", "mixture")
ROLLOUTS = ("random", "rule", "auto")
HORIZONS = ("end", "chance", "auto")
PRIORS = ("uniform", "rule", "auto")
FEW_ACTIONS = 4
"""So many can all be tried: what a prior says of them is not worth its mistakes."""
MOST = 2**31 - 1


class TreeSettings(Options):
    """How to search. A setting is a field here, and compiled code reads it by the same name.

    ``observers`` says whose eyes the tree is built on: the searcher's alone (``single``), ``many``
    (each decision is looked up by what its own player has seen), ``perfect`` (everybody sees
    everything, and every world has a tree of its own) or ``own`` (only the searcher's own actions
    are told apart: an open loop, for opponents whose moves differ in every simulation).

    ``opponents`` of other teams ``search`` for what is best for them, or play the quick policy of
    the game (``rule``), which knows no more than they do; a game may have another one for that
    (``Game.modelled``). ``selection`` is by default ``puct`` in games of many actions that have a
    quick policy, and ``ucb`` elsewhere.

    >>> TreeSettings(selection="ucb2")
    Traceback (most recent call last):
    ...
    common.errors.OptionError: selection must be 'ucb' or 'ucb_tuned' or ... not 'ucb2'
    """

    observers: str = option("many", choices=OBSERVERS, help="whose eyes the tree is built on")
    opponents: str = option("search", choices=("search", "rule"), help="what others do in the tree")
    selection: str = option("auto", choices=(*SELECTIONS, "auto"), help="what is tried next")
    exploration: float = option(0.7, low=0.0, high=1e9, help="the constant of UCB and PUCT")
    gamma: float = option(0.2, low=0.0, high=1.0, help="regret matching tries any action so often")
    final: str = option("visits", choices=FINALS, help="most visits or value, or drawn by a policy")
    rollout: str = option("auto", choices=ROLLOUTS, help="random, or by the quick policy if any")
    epsilon: float = option(0.1, low=0.0, high=1.0, help="rule rollouts play anything so often")
    # ``auto`` is ``chance`` in games that have an estimate.
    horizon: str = option("auto", choices=HORIZONS, help="stop at chance or at the end")
    rollout_depth: int = option(0, low=0, high=MOST, help="then estimate; 0: to the end")
    tree_depth: int = option(0, low=0, high=MOST, help="decisions in the tree; 0: all")
    width: int = option(0, low=0, high=MOST, help="best actions by estimate; 0: all")
    coalition: float = option(0.0, low=0.0, high=1.0, help="what a team-mate's success loses")
    bounds: str = option("seen", choices=("seen", "facts"), help="by which values are scaled")
    preference: str = option("", choices=(*PREFERENCES, ""), help="left out: as standings go")
    prior: str = option("auto", choices=PRIORS, help="of PUCT: by the quick policy, or none")
    prior_draws: int = option(8, low=1, high=1000, help="of the quick policy, for a prior")
    # By how likely the quick policy would have made the moves that were seen: ``worlds.py``.
    belief: str = option("game", choices=("game", "policy"), help="which worlds are likely")
    num_worlds: int = option(0, low=0, high=MOST, help="0: new ones, or 256 by policy")
    max_nodes: int = option(1 << 16, low=1, high=1 << 26, help="memory; then no node is added")
    threads: int = option(1, low=1, high=256, help="searches side by side, added up")


OPTIONS = record(
    **{
        name: np.float64 if field.annotation is float else np.int32
        for name, field in TreeSettings.model_fields.items()
    },
    root_key=np.uint64,
    seat=np.int32,
    num_players=np.int32,
    place_weight=np.float64,
    has_rule=np.int32,  # rollouts go by the quick policy
    is_by_seen=np.int32,
    stops_at_chance=np.int32,
    has_model=np.int32,  # opponents play the quick policy instead of searching
    is_fixed=np.int32,  # worlds are those that were drawn at the start
    is_guided=np.int32,  # simulations stop at new nodes and wait for a guide
)
"""Settings by their names, choices as numbers, and what follows from them, the game and the root.

``prior_draws`` is 0 where no prior is made.
"""


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


def make_options(
    game: Game, settings: TreeSettings, is_guided: bool = False
) -> npt.NDArray[np.void]:
    """The settings as compiled code reads them; refuses what the game has nothing for."""
    facts, optional = game.facts, game.optional
    for name, other in (("rollout", "random"), ("prior", "uniform"), ("opponents", "search")):
        if getattr(settings, name) == "rule" and not optional.has_rollout:
            raise OptionError(f"{game.id} has no quick policy: set {name} to '{other}'")
    if (
        settings.rollout_depth or settings.width or settings.horizon == "chance"
    ) and not optional.has_evaluate:
        raise OptionError(f"{game.id} has no estimate: leave rollout_depth, width and horizon out")
    selection = SELECTIONS.index(selection_in(game, settings))
    has_prior = selection == PUCT and settings.prior != "uniform" and optional.has_rollout
    by_place = "place" if facts.objective == "place" else "return"
    options: npt.NDArray[np.void] = settings.as_record(
        OPTIONS,
        num_players=facts.num_players,
        place_weight=place_weight(facts.num_players, facts.min_return, facts.max_return),
        selection=selection,
        preference=PREFERENCES.index(settings.preference or by_place),
        prior_draws=settings.prior_draws if has_prior else 0,
        has_rule=settings.rollout != "random" and optional.has_rollout,
        is_by_seen=settings.bounds == "seen",
        stops_at_chance=settings.horizon != "end" and optional.has_evaluate,
        has_model=settings.opponents == "rule" and not is_guided,
        tree_depth=0 if is_guided else settings.tree_depth,
        is_fixed=settings.num_worlds > 0 or settings.belief == "policy",
        is_guided=is_guided,
    )
    return options
