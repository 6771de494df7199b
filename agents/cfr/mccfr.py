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

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from agents.abstraction import INFOSET, DecisionKeys
from agents.cfr.evaluation import from_policy, tabulate
from agents.cfr.mccfr_nodes import (
    PLAN,
    SampledGame,
    SamplingHooks,
    SamplingWorkspace,
)
from agents.cfr.mccfr_tables import (
    LEFT_OUT,
    NUM_ENTRIES,
    NUM_ROWS,
    average_rows,
    check_rows,
    enter_rows,
    load_rows,
    make_table,
    read_rows,
    rows_state,
    table_bytes,
)
from agents.cfr.mccfr_walks import TOO_LONG, run_walks
from agents.cfr.response import exploitability
from agents.cfr.solver import check_header, check_start, make_header
from agents.cfr.threads import work_together
from agents.cfr.tree import GameTree
from agents.policy import Policy, PolicyAgent, PolicyError
from common.errors import MasqueradeError, OptionError
from common.saved import restore, saved_array, saved_number
from envs.core.game import Game
from envs.core.options import Options, option
from envs.core.rng import Words, stream

HISTORIES_PER_INFOSET = 4
"""Room for baselines by history where nobody says how much."""

_VARIANTS: Mapping[str, dict[str, float]] = MappingProxyType(
    {
        "cfr": {},
        "cfr+": {"is_plus": True, "average_power": 1.0},
        "linear": {"regret_power": 1.0, "average_power": 1.0},
    }
)


class WalkSettings(Options):
    """How regrets are kept, how much memory there is, and what to do when it is full.

    >>> from envs import make_game
    >>> WalkSettings(max_infosets=1000).room(make_game("kuhn_v0"))
    (1000, 2000)
    """

    entries_per_infoset: ClassVar[int] = 8
    """Where nobody says how many there may be."""

    abstraction: str = Field(
        default=INFOSET, description="what information sets look alike; round:2 has a memory of 2"
    )
    max_infosets: int = option(
        1_000_000, low=1, high=10**10, help="information sets that the table has room for"
    )
    max_entries: int | None = option(
        None, low=1, high=10**11, help="legal actions of all of them together (default: a few each)"
    )
    when_full: str = option(
        "error", choices=("error", "freeze"), help="stop, or learn on with what is in the table"
    )
    variant: str = option("linear", choices=tuple(_VARIANTS), help="how regrets are kept")
    pruning: float = option(
        0.0, low=0.0, high=1.0, help="how often a walk passes hopeless actions over"
    )
    threads: int = option(1, low=1, high=64, help="workers; with more than 1, runs differ")

    @property
    def policy_abstraction(self) -> str:
        """What the keys of its policy stand for."""
        return self.abstraction

    def room(self, game: Game) -> tuple[int, int]:
        """Information sets and entries that there is room for."""
        per_infoset = min(game.facts.num_actions, self.entries_per_infoset)
        per_infoset = DecisionKeys(self.policy_abstraction, game).num_actions or per_infoset
        return self.max_infosets, self.max_entries or self.max_infosets * per_infoset

    def table_sizes(self, game: Game) -> list[tuple[int, int, int, bool]]:
        """The tables as ``make_table`` wants them: the main one, perhaps one of baselines."""
        return [(*self.room(game), 0, True)]

    def table_bytes(self, game: Game) -> int:
        """How much memory the tables take, all of it from the start."""
        return sum(table_bytes(*sizes) for sizes in self.table_sizes(game))

    def record(self) -> npt.NDArray[Any]:
        """As one record, for compiled code."""
        stops = self.when_full == "error"
        plan: npt.NDArray[Any] = self.as_record(
            PLAN, stops_when_full=stops, **_VARIANTS[self.variant]
        )
        return plan


class SamplingSettings(WalkSettings):
    """What is drawn, how regrets are kept, and how much memory there is."""

    # Words in the order in which ``mccfr_nodes`` numbers them.
    sampling: str = option(
        "external", choices=("external", "outcome", "chance"), help="what is drawn, not walked"
    )
    epsilon: float = option(
        0.6, low=0.001, high=1.0, help="outcome sampling: how often the player plays anything"
    )
    baselines: str = option(
        "none",
        choices=("none", "infoset", "history"),
        help="less variance where one action is drawn",
    )
    baseline_rate: float = option(
        0.5, low=0.0, high=1.0, help="how far a baseline follows the last result"
    )
    max_histories: int | None = option(
        None, low=1, high=10**10, help="with baselines of their own (default: 4 an infoset)"
    )

    def __post_init__(self) -> None:
        """Refuse what changes nothing."""
        super().__post_init__()
        if self.baselines != "none" and self.sampling == "chance":
            raise OptionError("chance sampling draws no actions: baselines must be none")
        if self.baselines == "history" and self.abstraction != INFOSET:
            raise OptionError("abstractions know no histories: baselines must be none or infoset")
        if self.pruning and self.sampling == "outcome":
            raise OptionError("outcome sampling tries one action at a time: pruning must be 0")

    def table_sizes(self, game: Game) -> list[tuple[int, int, int, bool]]:
        """The tables as ``make_table`` wants them: the main one, perhaps one of baselines."""
        infosets, entries = self.room(game)
        players = game.facts.num_players
        main = infosets, entries, players if self.baselines == "infoset" else 0, True
        if self.baselines != "history":
            return [main]
        rows = self.max_histories or HISTORIES_PER_INFOSET * infosets
        return [main, (rows, -(-rows * entries // infosets), players, False)]


def bytes_text(size: float) -> str:
    """A number of bytes in words.

    >>> bytes_text(92_768), bytes_text(3.2e9)
    ('92.8 kB', '3.2 GB')
    """
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


class WalkSolver(ABC):
    """Regrets and policies of the information sets that walks come to.

    Args:
        game: what to solve.
        seed: of all draws. With one thread the same seed gives the same tables to the last bit.
        settings: how regrets are kept, how much room there is, and what to do when it is full.
    """

    changeable: ClassVar[frozenset[str]] = frozenset({"max_infosets", "max_entries", "when_full"})
    """Settings that a solver need not share with one that it goes on from."""
    more_room: ClassVar[str] = "raise max_infosets or max_entries"
    """What to do when the table is full."""

    def __init__(self, game: Game, seed: int, settings: WalkSettings) -> None:
        """Make the tables; nothing is drawn yet."""
        self.game = game
        self.settings = settings
        self.decisions = DecisionKeys(settings.policy_abstraction, game)
        self.iteration = 0
        self._make_tables()
        self._plan = settings.record()
        self._sampled = self._make_sampled()
        workers = range(settings.threads)
        self._workspaces = [
            self._make_workspace(stream(seed, "mccfr", worker)) for worker in workers
        ]

    def _make_tables(self) -> None:
        tables = [make_table(*sizes) for sizes in self.settings.table_sizes(self.game)]
        self._table = tables[0]
        self._baselines = tables[-1]
        """Where baselines are, which may be a table of their own."""

    def _make_sampled(self) -> SampledGame:
        """The game with its hooks."""
        game = self.game
        openings = range(game.facts.num_openings)
        roots = np.stack([game.new_position(number).state for number in openings])
        hooks, tables = SamplingHooks(**self._key()), self.decisions.tables
        return SampledGame(game.kernels, game.optional, game.rules, roots, hooks, tables)

    def _key(self) -> dict[str, Any]:
        """The hook that names decisions, if they are not information sets."""
        return {} if self.decisions.key is None else {"key": self.decisions.key}

    def _make_workspace(self, rng: Words) -> SamplingWorkspace:
        decisions, root = self.decisions, self._sampled.roots[0]
        return SamplingWorkspace.of(self.game, root, rng, decisions.num_actions, decisions.numbers)

    # ---- iterations ------------------------------------------------------------------------------

    def run(self, num_iterations: int) -> None:
        """Run so many iterations: in each, one walk for every player.

        Raises:
            MasqueradeError: when the table is full, unless the settings say to go on. What was
                learnt until then stays, and so does the policy.
        """
        if num_iterations < 0:
            raise MasqueradeError(f"iterations must be 0 or more, not {num_iterations}")
        left_out, first = self.num_left_out, self.iteration + 1
        self.iteration = self._run(first, first + num_iterations) - 1
        if self.settings.when_full == "error" and self.num_left_out > left_out:
            raise MasqueradeError(
                f"the table is full after {self.iteration:,} iterations ({self.num_infosets:,} "
                f"information sets, {self._table.counts[NUM_ENTRIES]:,} entries): "
                f"{self.more_room}, or set when_full to freeze{self._other_walks()}"
            )

    def _other_walks(self) -> str:
        """What helps where walks go through more than any table holds."""
        sampling = getattr(self.settings, "sampling", "outcome")
        return "" if sampling == "outcome" else " and sampling to outcome, for games of any size"

    def _run(self, first: int, end: int) -> int:
        """Run iterations up to ``end``; returns the first that was not run to its end."""
        num_workers = len(self._workspaces)

        def work(worker: int) -> int:
            tables = self._table, self._baselines, self._plan
            args = self._sampled, self._workspaces[worker], *tables
            return int(run_walks(*args, first + worker, end, num_workers))

        reached = work_together(num_workers, work)
        if TOO_LONG in reached:
            raise MasqueradeError(
                f"{self.game!r} goes on beyond its declared max_length of "
                f"{self.game.facts.max_length}"
            )
        return min(end, *reached)

    @property
    def num_infosets(self) -> int:
        """Information sets that have come up and have a row."""
        return int(self._table.counts[NUM_ROWS])

    @property
    def num_left_out(self) -> int:
        """Visits of information sets for which there was no room."""
        return int(self._table.counts[LEFT_OUT])

    @property
    def nbytes(self) -> int:
        """Bytes of the tables, however full they are."""
        return self.settings.table_bytes(self.game)

    def __repr__(self) -> str:
        """The game, what is particular about this solver, and the memory."""
        return (
            f"{type(self).__name__}({self.game!r}: {self._what()}, room for "
            f"{self.settings.max_infosets:,} information sets in {bytes_text(self.nbytes)})"
        )

    @abstractmethod
    def _what(self) -> str:
        """What is particular about this solver, in a word."""

    # ---- checkpoints -----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on, without the empty part of the tables."""
        return {
            **self._header(),
            "iteration": self.iteration,
            "num_left_out": self.num_left_out,
            **rows_state(self._table),
            **self._arrays(),
            **self._baseline_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where another solver of the same game and settings was; room may differ."""
        check_header(state, self._header())
        arrays, baselines = self._arrays(), self._baseline_state()
        self.iteration = saved_number(state, "iteration")
        num_left_out = saved_number(state, "num_left_out")
        spans = arrays.pop("spans")
        spans[:] = saved_array(state, "spans", spans.dtype, spans.shape, is_finite=False)
        saved_array(state, "visits", np.int64, arrays["visits"].shape, 0)
        restore(arrays, state)
        self._check_roots(arrays["roots"])
        # New tables take no memory where they stay empty; those that are cleared would.
        self._make_tables()
        load_rows(self._table, state, self._num_actions)
        self._table.counts[LEFT_OUT] = num_left_out
        num_entries = len(state["actions"])
        if self._baselines is not self._table:
            keys, sizes = check_rows(state, "history_keys", "history_sizes", self._num_actions)
            enter_rows(self._baselines, keys, sizes, np.zeros(0, np.int32))
            num_entries = int(sizes.sum())
        if baselines:
            shape = num_entries, self._baselines.baselines.shape[1]
            self._baselines.baselines[:num_entries] = saved_array(
                state, "baselines", np.float32, shape
            )
        self._sampled.continuation[:] = arrays["continuation"]
        self._sampled.visits[:] = arrays["visits"]
        for i, work in enumerate(self._workspaces):
            work.rng[:], work.root[:] = arrays["rngs"][i], arrays["roots"][i]
            work.span[:] = spans[i]

    @property
    def _num_actions(self) -> int:
        """How many actions a row may have."""
        return max(self.game.facts.num_actions, self.decisions.num_actions)

    def _check_roots(self, roots: npt.NDArray[np.uint8]) -> None:
        """Refuse positions to go on from that are none; by default each walk begins at its own."""
        return

    def _header(self) -> dict[str, Any]:
        settings = self.settings.to_dict().items()
        learning = {name: value for name, value in settings if name not in self.changeable}
        return make_header(self.game, settings=learning)

    def _arrays(self) -> dict[str, Any]:
        """What the next iterations depend on, beside the tables."""
        return {
            "rngs": np.stack([work.rng for work in self._workspaces]),
            "roots": np.stack([work.root for work in self._workspaces]),
            "spans": np.stack([work.span for work in self._workspaces]),
            "continuation": self._sampled.continuation.copy(),
            "visits": self._sampled.visits.copy(),
        }

    def _baseline_state(self) -> dict[str, Any]:
        if not self._baselines.baselines.size:
            return {}
        rows = read_rows(self._baselines)
        state: dict[str, Any] = {"baselines": self._baselines.baselines[rows.entries]}
        if self._baselines is not self._table:
            state |= {"history_keys": rows.keys, "history_sizes": rows.sizes}
        return state


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

    changeable = WalkSolver.changeable | {"max_histories", "abstraction"}
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
        abstraction = self.settings.policy_abstraction
        rows = average_rows(self._table)
        policy = Policy(self.game, *rows, notes=notes, abstraction=abstraction)
        if tree is None:
            return policy
        if abstraction == INFOSET:
            probs = from_policy(tree, policy)
        else:
            probs = tabulate(PolicyAgent(self.game, policy=policy), tree).probs
        return replace(policy, exploitability=exploitability(tree, probs))

    def exploitability(self, tree: GameTree) -> float:
        """How much the average policy can lose to best responses, per player."""
        return float(self.to_policy(tree).exploitability or 0.0)

    def _header(self) -> dict[str, Any]:
        if self.settings.abstraction == INFOSET:
            return super()._header()
        return {**super()._header(), "abstraction": self.settings.abstraction}

    def warm_start(self, policy: Policy, weight: float = 10.0) -> None:
        """Begin from a policy instead of the uniform one, before the first iteration.

        Every information set begins with regrets in proportion to the policy, as if the largest
        regret the game allows had come up ``weight`` times.
        """
        check_start(self.iteration > 0 or self.num_infosets > 0, weight)
        if policy.game != self.game:
            raise PolicyError(f"this policy is for {policy.game!r}, not for {self.game!r}")
        if policy.abstraction != self.settings.policy_abstraction:
            raise PolicyError(f"this policy goes by {policy.abstraction}: set abstraction to it")
        enter_rows(self._table, policy.keys, np.diff(policy.firsts), policy.actions)
        facts = self.game.facts
        largest = facts.max_return - facts.min_return
        self._table.regrets[: len(policy.probs)] = weight * largest * policy.probs


def _own(settings: SamplingSettings) -> dict[str, Any]:
    """The settings of the solver alone, of whatever is derived from them."""
    return {name: getattr(settings, name) for name in SamplingSettings.model_fields}
