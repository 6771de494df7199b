"""Searches from Python: by iterations or by the clock, on one thread or on several."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.cfr.threads import work_together
from agents.ismcts.settings import TreeSettings, make_options
from agents.ismcts.simulations import find_slot, follow_visits, run_simulations
from agents.ismcts.tree import (
    DEEPEST,
    LEFT_OUT,
    NONE,
    NUM_EDGES,
    NUM_NODES,
    SIMULATIONS,
    STAMP,
    STEPS,
    Pool,
    make_pool,
    make_work,
)
from agents.ismcts.worlds import replay_worlds
from envs.core.game import Game
from envs.core.kernels import Kernels, OptionalKernels
from envs.core.rng import Words, seed_stream

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SearchAnalysis:
    """One decision, searched.

    Shares and values are those of ``actions``, the legal ones in rising order.
    """

    seat: int
    actions: npt.NDArray[np.int64]
    """[k] the legal actions."""
    visits: npt.NDArray[np.int64]
    """[k] simulations that began with each."""
    shares: Floats
    """[k] the same as parts of one; the policy if nothing was searched."""
    values: Floats
    """[k] the mean result of each for the seat; NaN where none was tried."""
    policy: Floats
    """[k] with which probability each is played."""
    variation: tuple[int, ...] = ()
    """The most visited actions in turn, in one world that the seat cannot tell from the true one;
    chance events are left out."""
    simulations: int = 0
    nodes: int = 0
    depth: int = 0
    """Decisions on the longest way through the tree."""
    steps: int = 0
    """Decisions of all simulations together."""
    left_out: int = 0
    """Nodes and actions for which there was no memory."""
    seconds: float = 0.0

    @property
    def best(self) -> int:
        """The action of the highest probability, the first of equals."""
        return int(self.actions[int(np.argmax(self.policy))])

    def __str__(self) -> str:
        """How much was searched, for logs and replays."""
        return (
            f"{self.simulations:,} simulations, {self.nodes:,} nodes, depth {self.depth}, "
            f"{self.seconds:.3f} s"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for logs and pages.

        >>> import numpy as np
        >>> one = np.ones(1)
        >>> found = SearchAnalysis(0, np.array([3]), np.array([5]), one, one, one, simulations=5)
        >>> found.to_dict()["best"]
        3
        """
        values = [None if np.isnan(value) else value for value in self.values.tolist()]
        told = vars(self) | {"best": self.best, "variation": list(self.variation), "values": values}
        arrays = ("actions", "visits", "shares", "policy")
        return told | {name: told[name].tolist() for name in arrays}


def final_policy(final: str, visits: Floats, values: Floats, mixed: Floats) -> Floats:
    """How likely each action is to be played.

    Most visits (then the best value) or the best value (then most visits) is played for sure;
    a mixture is what ``mixed`` says. With nothing to go by every action is as likely.

    >>> import numpy as np
    >>> visits, values = np.array([4.0, 4.0, 2.0]), np.array([0.1, 0.3, 0.9])
    >>> final_policy("visits", visits, values, visits)
    array([0., 1., 0.])
    >>> final_policy("value", visits, values, visits)
    array([0., 0., 1.])
    >>> final_policy("mixture", visits, values, visits)
    array([0.4, 0.4, 0.2])
    """
    if not visits.sum():
        return np.full(len(visits), 1.0 / len(visits))
    if final == "mixture" and mixed.sum() > 0.0:
        return np.asarray(mixed / mixed.sum(), np.float64)
    known = np.where(np.isnan(values), -np.inf, values)
    first, second = (known, visits) if final == "value" else (visits, known)
    policy = np.zeros(len(visits))
    policy[np.lexsort((second, first))[-1]] = 1.0
    return policy


FIRST_CHUNK = 8
"""Simulations before the first look at the clock."""
LONGEST_CHUNK = 0.01
"""Seconds between two looks at the clock, about."""
UNTIMED_CHUNK = 1 << 16
NUM_LOOKS = 20
"""At the visits, in a search that may stop early and has no clock."""


@dataclass(frozen=True)
class Budget:
    """How long to search: at most so many simulations and seconds."""

    iterations: int | None = 1000
    seconds: float | None = None
    stops_early: bool = False
    """Whether to leave out simulations that cannot change which action has most visits."""


def spend(
    budget: Budget,
    start: float,
    clock: Callable[[], float],
    run: Callable[[int], None],
    lead: Callable[[], int] | None = None,
) -> None:
    """Call ``run`` with numbers of simulations until the budget is used up.

    ``lead`` tells how many visits the first action is ahead of the second, for a budget that stops
    early. How many simulations are left is known, or follows from the pace,
    the quicker of the last chunk's and the whole search's.

    >>> spend(Budget(100_000), 0.0, lambda: 0.0, print)
    65536
    34464
    >>> spend(Budget(160, stops_early=True), 0.0, lambda: 0.0, print, lambda: 148)
    8
    8
    """
    left, seconds = budget.iterations, budget.seconds
    chunk, done = UNTIMED_CHUNK if seconds is None else FIRST_CHUNK, 0
    if budget.stops_early and seconds is None and left:
        chunk = max(left // NUM_LOOKS, 1)
    while left is None or left > 0:
        began = clock() if seconds is not None else 0.0
        if seconds is not None and began - start >= seconds:
            return
        count = chunk if left is None else min(chunk, left)
        run(count)
        if left is not None:
            left -= count
        possible = math.inf if left is None else left
        if seconds is not None:
            now = clock()
            each = max(now - began, 1e-9) / count
            rest = max(seconds - (now - start), 0.0)
            chunk = int(max(1, min(min(LONGEST_CHUNK, rest) / each, 2.0 * chunk)))
            done += count
            possible = min(possible, rest / min(each, max(now - start, 1e-9) / done))
        if budget.stops_early and lead is not None and lead() > possible:
            return


State = npt.NDArray[np.uint8]

MAX_STAMP = 2**31 - 2
NUM_REPLAYS = 256
"""Worlds that are weighed by what was played in them, if no number is given."""


@dataclass(frozen=True)
class Root:
    """A decision to search: what its player may know."""

    world: State
    """A state that the player cannot tell from the true one."""
    seat: int
    key: np.uint64
    """Of the player's infoset."""
    mask: npt.NDArray[np.int8]
    tokens: npt.NDArray[np.int64] | None = None
    """Everything the player has seen, for worlds that are weighed by what was played."""


class GameAdvice(NamedTuple):
    """What an agent that knows its game searches with, in place of the game's own functions."""

    kernels: Kernels
    """The game, with fewer actions where some need not be tried."""
    optional: OptionalKernels
    """A quick policy and an estimate."""
    rules: npt.NDArray[np.int32]
    """The rules of the game, and behind them whatever these functions look up."""


def plain_models(game: Game) -> GameAdvice:
    """By whom moves are weighed that were seen: the plain quick policy of the game."""
    return GameAdvice(game.kernels, game.optional, game.rules)


class TreeSearcher:
    """Searches decisions of one game; not for two callers at once.

    All memory is made here. ``max_nodes`` bounds it: 64 bytes for a node and 64 for each of its
    actions, of which there is room for 16 a node at most, times the number of threads.

    >>> from envs import make_game
    >>> from envs.core.rng import new_rng
    >>> game = make_game("kuhn_v0")
    >>> position = game.new_position()
    >>> for card in (2, 0):
    ...     position.apply(card)
    >>> root = Root(position.state, 0, np.uint64(1), np.ones(2, np.int8))
    >>> TreeSearcher(game).search(root, new_rng(0), Budget(200)).simulations
    200
    """

    def __init__(
        self,
        game: Game,
        settings: TreeSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        advice: GameAdvice | None = None,
        is_guided: bool = False,
    ) -> None:
        """Allocate all memory that searches of ``game`` may need."""
        self.game = game
        self.settings = settings or TreeSettings()
        self._clock = clock
        modelled = game.modelled if self.settings.opponents == "rule" else None
        own = GameAdvice(game.kernels, game.optional if modelled is None else modelled, game.rules)
        self.kernels, self.optional, self.rules = advice or own
        self._models = advice or plain_models(game)
        threads = range(self.settings.threads)
        self._options = [make_options(game, self.settings, is_guided) for _ in threads]
        self._works = [make_work(game) for _ in threads]
        self._chances = np.zeros(game.facts.num_chance_outcomes)
        self._trees = self.new_trees()

    def new_trees(self) -> list[Pool]:
        """Memory for one more search that is to be kept: one tree for each thread."""
        return [make_pool(self.game, self.settings.max_nodes) for _ in self._works]

    def search(
        self,
        root: Root,
        rng: Words,
        budget: Budget,
        trees: list[Pool] | None = None,
        start: float | None = None,
    ) -> SearchAnalysis:
        """Search a decision.

        Args:
            root: the decision.
            rng: the player's generator; one draw is taken from it for each thread.
            budget: how long.
            trees: kept from an earlier decision of the same player in the same game, and grown
                further; left out, the search begins with nothing.
            start: by the clock, when thinking began if that was before this call.
        """
        start = self._clock() if start is None else start
        pools = self.begin(root, trees)
        worlds = self._worlds(root, rng)
        rngs = [np.empty(4, np.uint64) for _ in pools]
        for thread, own in enumerate(rngs):
            seed_stream(rng, thread, own)
        _advance(rng)
        before = sum(int(pool.counters[SIMULATIONS]) for pool in pools)

        def work(thread: int) -> None:
            run = partial(self._simulate, thread, pools[thread], worlds, rngs[thread])
            part = self._part_of(budget, thread)
            spend(part, start, self._clock, run, partial(lead_of, pools[thread]))

        work_together(len(pools), work)
        return self.analysis(root, pools, worlds, before, self._clock() - start)

    def begin(self, root: Root, trees: list[Pool] | None = None) -> list[Pool]:
        """Make trees ready for a decision: empty ones, or those that are kept."""
        pools = self._trees if trees is None else trees
        if trees is None or self._is_crowded(trees):
            self.forget(pools)
        for pool in pools:
            self._prepare(pool, root)
        return pools

    @property
    def options(self) -> npt.NDArray[np.void]:
        """The settings and the present root, as compiled code reads them."""
        return self._options[0]

    # ---- simulations -----------------------------------------------------------------------------

    def _worlds(self, root: Root, rng: Words) -> State:
        """The worlds to begin with: one to determinize again, or a number of fixed ones."""
        game, count = self.game, max(self.settings.num_worlds, 1)
        if self.settings.belief == "policy" and root.tokens is not None:
            count = self.settings.num_worlds or NUM_REPLAYS
            found = likely_worlds(root, game, count, rng, self._models)
            if found is not None:
                return found
        worlds = np.repeat(root.world[None], count, axis=0)
        for world in worlds:
            game.kernels.determinize(world, game.rules, root.seat, rng)
        return worlds

    def forget(self, trees: list[Pool]) -> None:
        """Make trees empty; a new stamp does that."""
        for pool in trees:
            stamp = int(pool.counters[STAMP]) + 1
            if stamp > MAX_STAMP:
                pool.nodes["stamp"] = 0
                stamp = 1
            pool.counters[:] = 0
            pool.counters[STAMP] = stamp

    def _is_crowded(self, trees: list[Pool]) -> bool:
        """Whether kept trees have used more than half of their memory: a new one learns more."""
        return any(
            2 * pool.counters[NUM_NODES] > self.settings.max_nodes
            or 2 * pool.counters[NUM_EDGES] > len(pool.edges)
            for pool in trees
        )

    def _prepare(self, pool: Pool, root: Root) -> None:
        """Make the counts of the root those that a kept tree has of it."""
        pool.counters[[DEEPEST, STEPS]] = 0
        pool.root_visits[:] = 0
        pool.root_totals[:] = 0.0
        if pool.counters[SIMULATIONS] == 0:
            self._set_ranges(pool)
        else:
            for edge in self.edges(pool, root.key, root.seat):
                pool.root_visits[edge["action"]] = edge["visits"]
                pool.root_totals[edge["action"]] = edge["total"]
        for options in self._options:
            options["seat"] = root.seat
            options["root_key"] = root.key

    def _set_ranges(self, pool: Pool) -> None:
        """Ranges of rewards: by the facts, or empty until something is seen."""
        facts = self.game.facts
        if self.settings.bounds == "seen":
            pool.ranges[:, 0], pool.ranges[:, 1] = np.inf, -np.inf
        elif self._options[0]["preference"][0]:
            pool.ranges[:, 0], pool.ranges[:, 1] = 0.0, 1.0
        else:
            pool.ranges[:] = [[seat.low, seat.high] for seat in facts.seats]

    def _part_of(self, budget: Budget, thread: int) -> Budget:
        """The first threads do one more simulation where the number cannot be divided."""
        if budget.iterations is None:
            return budget
        own = (budget.iterations + len(self._works) - 1 - thread) // len(self._works)
        return replace(budget, iterations=own)

    def _simulate(self, thread: int, pool: Pool, worlds: State, rng: Words, count: int) -> None:
        """Run so many simulations."""
        tables = self.kernels, self.optional, self.rules
        own = self._works[thread], self._options[thread]
        run_simulations(*tables, worlds, rng, pool, *own, count)

    # ---- what was found --------------------------------------------------------------------------

    def edges(self, pool: Pool, key: np.uint64, turn: int) -> list[np.void]:
        """The edges of a decision in the tree."""
        slot = int(find_slot(pool, key, turn))
        found = []
        at = NONE if slot == NONE else int(pool.nodes[slot]["first"])
        while at != NONE:
            found.append(pool.edges[at])
            at = int(pool.edges[at]["next"])
        return found

    def analysis(
        self, root: Root, pools: list[Pool], worlds: State, before: int, seconds: float
    ) -> SearchAnalysis:
        """Put together what trees say about their root, after so many earlier simulations."""
        actions = np.flatnonzero(root.mask)
        visits = _added(pool.root_visits for pool in pools)[actions]
        totals = _added(pool.root_totals for pool in pools)[actions]
        values = np.where(visits > 0, totals / np.maximum(visits, 1), np.nan)
        counted = visits.astype(np.float64)
        is_mixed = self.settings.final == "mixture"
        mixed = self._mixture(root, pools, actions) if is_mixed else counted
        policy = final_policy(self.settings.final, counted, values, mixed)
        counters = _added(pool.counters for pool in pools)
        return SearchAnalysis(
            seat=root.seat,
            actions=actions,
            visits=visits,
            shares=counted / counted.sum() if counted.any() else policy,
            values=values,
            policy=policy,
            variation=self._variation(pools[0], worlds[0], actions[np.argmax(policy)]),
            simulations=int(counters[SIMULATIONS]) - before,
            nodes=int(counters[NUM_NODES]),
            depth=max(int(pool.counters[DEEPEST]) for pool in pools),
            steps=int(counters[STEPS]),
            left_out=int(counters[LEFT_OUT]),
            seconds=seconds,
        )

    def _mixture(self, root: Root, pools: list[Pool], actions: npt.NDArray[np.int64]) -> Floats:
        """The average policy of regret matching where there is one, else the visits."""
        weights = np.zeros(self.game.facts.num_actions)
        for pool in pools:
            if self.settings.selection == "regret":
                for edge in self.edges(pool, root.key, root.seat):
                    weights[edge["action"]] += edge["policy"]
            if not weights.any():
                weights += pool.root_visits
        return np.asarray(weights[actions])

    def _variation(self, pool: Pool, world: State, first: int) -> tuple[int, ...]:
        """Follow the most visited edges through one world."""
        if self.settings.observers in ("perfect", "own"):
            return (int(first),)
        tables, work = (self.kernels, self.rules), self._works[0]
        length = follow_visits(*tables, world, pool, work, self.options, self._chances, first)
        return tuple(work.path[0, :length].tolist())


def lead_of(pool: Pool) -> int:
    """How many visits the most visited action of the root is ahead of the second."""
    second, first = np.partition(pool.root_visits, -2)[-2:].tolist()
    return int(first - second)


def likely_worlds(
    root: Root, game: Game, count: int, rng: Words, models: GameAdvice
) -> State | None:
    """Worlds by what was played in them, or ``None`` if no game could be played like that."""
    facts, worlds = game.facts, np.zeros((count, game.state_size), np.uint8)
    for opening in range(facts.num_openings):
        if replay_worlds(
            game.kernels,
            models.optional,
            models.rules,
            root.tokens,
            root.seat,
            rng,
            game.new_position(opening).state.copy(),
            worlds,
            worlds.copy(),
            np.zeros(count),
            np.zeros(max(facts.num_actions, facts.num_chance_outcomes)),
            np.zeros(facts.num_actions, np.int8),
        ) and looks_like(worlds[0], root, game):
            return worlds
    return None


def looks_like(world: State, root: Root, game: Game) -> bool:
    """Whether a player could take a world for the root's, and is to move in it.

    Who has the button, or begins, is known from the start and is no token: whoever moves first has
    seen nothing by which another opening could be ruled out.
    """
    shown = np.zeros((2, game.observation_size), np.float32)
    for observation, state in zip(shown, (world, root.world), strict=True):
        game.kernels.observe(state, game.rules, root.seat, observation)
    is_turn = game.kernels.turn(world, game.rules) == root.seat
    return is_turn and bool((shown[0] == shown[1]).all())


def _added(arrays: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The sum of arrays; ``np.sum`` takes ten times as long for one or two."""
    return reduce(np.add, arrays)


def _advance(rng: Words) -> None:
    """Move a player's generator on, so that its next search is another one."""
    seed_stream(rng.copy(), 1 << 20, rng)
