"""Policies on a tree, of any agent and as files, and how far they are from an equilibrium.

``to_policy`` and ``from_policy`` go between the sequences of a tree and a
:class:`agents.policy.Policy` found by keys. ``tabulate`` asks an agent in every information set of
a game what it would do. ``make_evaluator`` gives the exact evaluator of a game: over its whole tree
or, where that is too large, one of its own.

>>> from envs import make_game
>>> make_evaluator(make_game("kuhn_v0")).size_text
'over 58 nodes and 12 information sets (sequence form)'
>>> make_evaluator(make_game("liars_dice_v0")).size_text
'round by round over 25 rounds'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agents.advice import past_observations
from agents.base import Actions, Agent, Views
from agents.cfr.public_tree import NoPublicTreeError, PublicTree
from agents.cfr.public_vectors import lay_out_public
from agents.cfr.response import best_values, expected_values, exploitability, reach_of
from agents.cfr.solver import FORMS
from agents.cfr.tree import DEFAULT_MAX_NODES, GameTree, Probs, TooLargeError
from agents.cfr.vectors import pay_ends
from agents.policy import UNKNOWN, Policy
from common.errors import MasqueradeError, OptionError, nearest
from common.imports import look_up
from envs.core.engine import determinize_movers
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import fill_streams, stream

DEFAULT_SAMPLES = 1000
_ROWS_AT_ONCE = 4096
_ROUNDING = 1e-6


def to_policy(
    tree: GameTree,
    probs: Probs,
    is_reached: npt.NDArray[np.bool_] | None = None,
    **notes: Any,
) -> Policy:
    """A policy on a tree as a table by keys, with its exploitability worked out.

    Args:
        tree: the game.
        probs: the policy, [num_sequences] float64.
        is_reached: for every information set whether anything is known there; all by default.
        notes: how it came about.

    >>> from envs import make_game
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> policy = to_policy(tree, tree.uniform(), made_by="hand")
    >>> len(policy), round(policy.exploitability, 6)
    (12, 0.458333)
    """
    probs = tree.check_policy(probs)
    order = np.argsort(tree.infosets["key"])
    sizes = tree.infosets["num_actions"][order].astype(np.int64)
    firsts = np.concatenate([[0], np.cumsum(sizes)])
    starts = np.repeat(tree.infosets["first_sequence"][order] - firsts[:-1], sizes)
    sequences = starts + np.arange(tree.num_sequences)
    known = np.ones(tree.num_infosets, bool) if is_reached is None else is_reached
    return Policy(
        tree.game,
        tree.infosets["key"][order],
        firsts,
        tree.sequence_actions[sequences],
        probs[sequences],
        known[order],
        exploitability(tree, probs),
        notes,
    )


def from_policy(tree: GameTree, policy: Policy) -> Probs:
    """A policy of the same game on its tree; uniform in information sets it does not know."""
    if policy.game != tree.game:
        raise MasqueradeError(f"this policy is for {policy.game!r}, not for {tree.game!r}")
    rows = policy.find(np.ascontiguousarray(tree.infosets["key"]))
    sizes = np.diff(policy.firsts)
    is_known = rows != UNKNOWN
    if (sizes[rows[is_known]] != tree.infosets["num_actions"][is_known]).any():
        raise MasqueradeError(f"this policy has other legal actions than {tree.game!r}")
    probs = tree.uniform()
    ranks = np.arange(tree.num_sequences) - tree.infosets["first_sequence"][tree.sequence_infosets]
    own = is_known[tree.sequence_infosets]
    entries = policy.firsts[rows[tree.sequence_infosets[own]]] + ranks[own]
    probs[own] = policy.probs[entries]
    return tree.check_policy(probs)


@dataclass(frozen=True)
class Tabulated:
    """What an agent does everywhere."""

    probs: Probs
    is_exact: bool
    """Whether the agent told its probabilities; otherwise they are counted from samples."""
    num_samples: int
    """Answers of the agent in each information set, 0 when exact."""


def tabulate(
    agent: Agent,
    tree: GameTree,
    num_samples: int = DEFAULT_SAMPLES,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Tabulated:
    """The policy of any agent on a tree.

    An agent whose ``policy(views)`` is known tells its probabilities, and one that leaves nothing
    to chance is asked once. Any other is asked ``num_samples`` times in every information set, with
    different generators: then the table is an estimate, and its exploitability is on average too
    high.

    Args:
        agent: whose policy it is to be; it must not learn meanwhile.
        tree: the game.
        num_samples: answers in each information set, of an agent that can only be asked.
        seed: root of the generators it is asked with.
        on_progress: called with the answers that are there and those there will be.

    >>> from agents import make_agent
    >>> from envs import make_game
    >>> tree = GameTree(make_game("leduc_v0"))
    >>> answer = tabulate(make_agent("leduc_rule", tree.game), tree)
    >>> answer.is_exact, round(exploitability(tree, answer.probs), 3)
    (True, 1.033)
    """
    if agent.game != tree.game:
        raise MasqueradeError(f"the agent plays {agent.game!r}, the tree is of {tree.game!r}")
    if num_samples < 1:
        raise MasqueradeError(f"num_samples must be at least 1, not {num_samples}")
    if agent.is_learning:
        raise MasqueradeError("it learns while it plays, so it has no one policy")
    weights = np.zeros(tree.num_sequences)
    root = stream(seed, "tabulate")
    num_asked = 1 if agent.is_deterministic else num_samples
    is_exact = True
    for some in _chunks(tree.num_infosets):
        views = views_at(tree, some, agent.wants_tokens, agent.num_past)
        fill_streams(root, some, views.rngs)
        dense = agent.policy(views)
        is_exact &= agent.is_deterministic or dense is not None
        if dense is None:
            dense = np.zeros(views.masks.shape)
            for number in range(1, num_asked + 1):
                dense[np.arange(len(views)), _answers(agent, views)] += 1.0
                if on_progress is not None:
                    done = int(some[0]) * num_asked + len(views) * number
                    on_progress(done, tree.num_infosets * num_asked)
        else:
            dense = np.asarray(dense, np.float64)
            _check_told(dense, views)
        if dense[views.masks == 0].any():
            raise MasqueradeError("it gives illegal actions some probability: correct it")
        mine = slice(*np.searchsorted(tree.sequence_infosets, [some[0], some[-1] + 1]))
        weights[mine] = dense[tree.sequence_infosets[mine] - some[0], tree.sequence_actions[mine]]
    probs, is_reached = tree.normalized(weights)
    if not is_reached.all():
        raise MasqueradeError(f"{agent!r} gives legal actions no probability: correct its policy")
    return Tabulated(probs, is_exact, 0 if is_exact else num_samples)


def _check_told(probs: Probs, views: Views) -> None:
    """What an agent says of itself must be probabilities, or its distance would be no distance."""
    if probs.shape != views.masks.shape:
        raise MasqueradeError(f"its policy has shape {probs.shape}, not {views.masks.shape}")
    if not (probs >= 0.0).all() or (abs(probs.sum(axis=1) - 1.0) > _ROUNDING).any():
        raise MasqueradeError("its policy does not add up to 1 everywhere: correct it")


def _answers(agent: Agent, views: Views) -> Actions:
    """One action for every row; generators go on from one asking to the next."""
    actions = np.asarray(agent.act(views))
    is_fine = actions.shape == views.seats.shape and actions.dtype.kind in "iu"
    if not is_fine or not ((actions >= 0) & (actions < views.masks.shape[1])).all():
        raise MasqueradeError("it answers with something that is no action: correct it")
    return actions


def _chunks(num_infosets: int) -> Iterator[npt.NDArray[np.int64]]:
    """All information sets, a few at first: who is slow is known to be so before long."""
    first, size = 0, 1
    while first < num_infosets:
        yield np.arange(first, min(first + size, num_infosets))
        first, size = first + size, min(16 * size, _ROWS_AT_ONCE)


def views_at(
    tree: GameTree, infosets: npt.NDArray[np.int64], has_tokens: bool = False, num_past: int = 0
) -> Views:
    """What the players to move may know in these information sets, one row for each.

    Every generator is zero: seed them before anybody draws.
    """
    game = tree.game
    rows: list[Position] = [tree.positions[int(s)] for s in infosets]
    seats = tree.infosets["player"][infosets].astype(np.int64)

    worlds = np.stack([position.state for position in rows])
    rngs = np.zeros((len(rows), 4), np.uint64)
    determinize_movers(game.kernels, game.rules, np.full_like(rngs, 1), worlds)
    tokens = [position.tokens(position.turn) for position in rows] if has_tokens else []
    longest = max(map(len, tokens), default=0)
    seen = np.array([[*own, *[0] * (longest - len(own))] for own in tokens], np.int64)
    past = None
    if num_past:
        past = np.stack([past_observations(position, num_past) for position in rows])
    keys, ids = tree.infosets["key"][infosets], infosets.astype(np.uint64)
    return Views(game, seats, keys, rngs, worlds, ids, seen if has_tokens else None, past)


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
                self._layout = lay_out_public(PublicTree(self.tree))
                self.form = "public"
                return
            except NoPublicTreeError:
                if form == "public":
                    raise
        self._layout = self.tree.layout

    def __call__(self, probs: Probs) -> BestResponseResult:
        """Evaluate a policy: [num_sequences] float64."""
        probs = self.tree.check_policy(probs)
        best = best_values(self._layout, probs)
        if self.form == "tree":
            return BestResponseResult(tuple(expected_values(self.tree, probs).tolist()), best)
        vectors, values = self._layout.vectors, []
        reach, cf_values = reach_of(self._layout, probs), np.zeros(self._layout.num_slots)
        for player in (0, 1):
            own = slice(*vectors.parts["first_slot"][vectors.tops[player : player + 2]])
            pay_ends(vectors, player, reach, cf_values)
            values.append(float((cf_values[own] * reach[own]).sum()))
        return BestResponseResult(tuple(values), best)

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


EVALUATORS: Mapping[str, str] = MappingProxyType(
    {"liars_dice_v0": "agents.games.liars_dice.best_response:RoundEvaluator"}
)
"""Evaluators of single games, by the game's id; they are made with the game, or refuse it."""


class ExactEvaluator(Protocol):
    """Works out best responses to agents of one game."""

    game: Game
    form: str

    @property
    def size_text(self) -> str:
        """What it goes over, in words."""

    def evaluate(
        self,
        agent: Agent,
        num_samples: int,
        seed: int = 0,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> tuple[BestResponseResult, int]:
        """Values and best responses, and how often the agent was asked; 0: it told its policy."""


def make_evaluator(
    game: Game, max_nodes: int = DEFAULT_MAX_NODES, form: str = "auto", num_policies: int = 1
) -> ExactEvaluator:
    """The evaluator of a game; arguments as for :class:`BestResponseEvaluator`.

    Raises:
        TooLargeError: when the tree is too large and the game has no evaluator of its own.
    """
    try:
        return BestResponseEvaluator(game, max_nodes, form, num_policies)
    except TooLargeError as error:
        if game.id not in EVALUATORS or form != "auto":
            raise
        try:
            own: ExactEvaluator = look_up("evaluator", EVALUATORS, game.id)(game)
        except MasqueradeError:  # not for these options
            raise error from None
        return own
