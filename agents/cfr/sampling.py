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

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.hash_tables import (
    LEFT_OUT,
    NUM_ENTRIES,
    NUM_ROWS,
    HashTable,
    Rows,
    enter_rows,
    make_table,
    read_rows,
)
from agents.cfr.response import exploitability
from agents.cfr.sampled_nodes import Desk
from agents.cfr.sampled_walk import TOO_LONG, run_walks
from agents.cfr.sampling_settings import SamplingSettings, bytes_text
from agents.cfr.tables import from_policy
from agents.cfr.tree import GameTree
from agents.policy import Policy, PolicyError
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.rng import stream

__all__ = ["SamplingSolver"]

STATE_VERSION = 1
# One for each entry.
_ENTRIES = ("actions", "regrets", "sums")
# A solver with other values of these cannot go on.
_LEARNING = ("sampling", "variant", "epsilon", "baselines", "baseline_rate", "threads")


class SamplingSolver:
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

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        settings: SamplingSettings | None = None,
        **changes: Any,
    ) -> None:
        """Make the tables; nothing is drawn yet."""
        base = SamplingSettings() if settings is None else settings
        self.settings = SamplingSettings.parse({**_own(base), **changes})
        self.game = game
        self.iteration = 0
        self._plan = self.settings.record()
        tables = [make_table(*sizes) for sizes in self.settings.table_sizes(game)]
        self._table, self._book = tables[0], tables[-1]
        self._roots = np.stack(
            [game.new_position(number).state for number in range(len(game.openings))]
        )
        workers = range(self.settings.threads)
        self._desks = [Desk.of(game, stream(seed, "mccfr", worker)) for worker in workers]

    # ---- iterations ------------------------------------------------------------------------------

    def run(self, num_iterations: int) -> None:
        """Run so many iterations.

        Raises:
            MasqueradeError: when the table is full, unless the settings say to go on. What was
                learnt until then stays, and so does the policy.
        """
        if num_iterations < 0:
            raise MasqueradeError(f"iterations must be 0 or more, not {num_iterations}")
        left_out, end = self.num_left_out, self.iteration + num_iterations + 1
        if len(self._desks) == 1:
            reached = [self._work(0, end)]
        else:
            with ThreadPoolExecutor(len(self._desks)) as pool:
                reached = list(pool.map(lambda worker: self._work(worker, end), self._workers))
        if TOO_LONG in reached:
            raise MasqueradeError(
                f"{self.game!r} goes on beyond its declared max_length of "
                f"{self.game.facts.max_length}"
            )
        self.iteration = min(end, *reached) - 1
        if self.settings.when_full == "error" and self.num_left_out > left_out:
            raise MasqueradeError(
                f"the table is full after {self.iteration:,} iterations ({self.num_infosets:,} "
                f"information sets, {self._table.counts[NUM_ENTRIES]:,} entries): raise "
                f"max_infosets or max_entries, or set when_full to freeze"
            )

    @property
    def _workers(self) -> range:
        return range(len(self._desks))

    def _work(self, worker: int, end: int) -> int:
        first, stride = self.iteration + 1 + worker, len(self._desks)
        kernels, rules, desk = self.game.kernels, self.game.rules, self._desks[worker]
        args = kernels, rules, self._roots, desk, self._table, self._book, self._plan
        return int(run_walks(*args, first, end, stride))

    # ---- what it knows ---------------------------------------------------------------------------

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

    def to_policy(self, tree: GameTree | None = None, **notes: Any) -> Policy:
        """The average policy, as a table that can be saved and played.

        Args:
            tree: of the same game, if its exploitability is wanted.
            notes: how it came about.
        """
        rows = read_rows(self._table)
        # Copied entry by entry into the order of the keys, as policies have it.
        order = np.argsort(rows.keys)
        entries, sizes = _reordered(rows, order), rows.sizes[order]
        firsts = np.concatenate([[0], np.cumsum(sizes)])
        owners = np.repeat(np.arange(len(order)), sizes)
        sums = self._table.sums[entries]
        totals = np.bincount(owners, sums, len(order))
        is_reached = totals > 0.0
        probs = np.where(
            is_reached[owners],
            sums / np.where(is_reached, totals, 1.0)[owners],
            1.0 / sizes[owners],
        )
        keys, actions = rows.keys[order], self._table.actions[entries]
        policy = Policy(self.game, keys, firsts, actions, probs, is_reached, None, notes)
        if tree is None:
            return policy
        measured = exploitability(tree, from_policy(tree, policy))
        return Policy(self.game, keys, firsts, actions, probs, is_reached, measured, notes)

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

    def __repr__(self) -> str:
        """The game, what is drawn, and the memory."""
        return (
            f"SamplingSolver({self.game!r}: {self.settings.sampling}, room for "
            f"{self.settings.max_infosets:,} information sets in {bytes_text(self.nbytes)})"
        )

    # ---- checkpoints -----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next iterations depend on, without the empty part of the tables."""
        rows = read_rows(self._table)
        state = {
            **self._header(),
            "iteration": self.iteration,
            "num_left_out": self.num_left_out,
            "rngs": np.stack([desk.rng for desk in self._desks]),
            "keys": rows.keys,
            "sizes": rows.sizes,
            **{name: getattr(self._table, name)[rows.entries] for name in _ENTRIES},
        }
        if self._book is not self._table:
            rows = read_rows(self._book)
            state |= {"history_keys": rows.keys, "history_sizes": rows.sizes}
        if self.settings.baselines != "none":
            state["baselines"] = self._book.baselines[rows.entries]
        return state

    def _header(self) -> dict[str, Any]:
        settings = self.settings.to_dict()
        return {
            "version": STATE_VERSION,
            "game": self.game.id,
            "options": self.game.options.to_dict(),
            "settings": {name: settings[name] for name in _LEARNING},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where another solver of the same game and settings was; room may differ."""
        for name, own in self._header().items():
            if state.get(name) != own:
                raise MasqueradeError(
                    f"this state has {name} {state.get(name)!r}, the solver {own!r}: make the "
                    f"solver that saved it"
                )
        rngs = np.asarray(state.get("rngs"))
        missing = self._array_names - state.keys()
        if missing or rngs.shape != (len(self._desks), 4):
            told = ", ".join(sorted(missing)) or "rngs"
            raise MasqueradeError(f"this state is damaged ({told}): use an intact copy")
        _clear(self._table)
        _clear(self._book)
        enter_rows(self._table, *(state[name] for name in ("keys", "sizes", "actions")))
        for name in _ENTRIES:
            getattr(self._table, name)[: len(state["actions"])] = state[name]
        if self._book is not self._table:
            keys, sizes = state["history_keys"], state["history_sizes"]
            enter_rows(self._book, keys, sizes, np.zeros(0, np.int32))
        if self.settings.baselines != "none":
            self._book.baselines[: len(state["baselines"])] = state["baselines"]
        for desk, rng in zip(self._desks, rngs, strict=True):
            desk.rng[:] = rng
        self._table.counts[LEFT_OUT] = state["num_left_out"]
        self.iteration = int(state["iteration"])

    @property
    def _array_names(self) -> set[str]:
        by_history = {"history_keys", "history_sizes"} if self._book is not self._table else set()
        baselines = {"baselines"} if self.settings.baselines != "none" else set()
        return {"keys", "sizes", *_ENTRIES, *by_history, *baselines}


def _clear(table: HashTable) -> None:
    for array in table:
        if array is not table.limits:
            array[:] = 0


def _own(settings: SamplingSettings) -> dict[str, Any]:
    """The settings of the solver alone, of whatever is derived from them."""
    return {name: getattr(settings, name) for name in SamplingSettings.__dataclass_fields__}


def _reordered(rows: Rows, order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The entries of the rows in another order of the rows."""
    firsts = np.cumsum(rows.sizes) - rows.sizes
    sizes = rows.sizes[order]
    ends = np.cumsum(sizes)
    ranks = np.arange(len(rows.entries)) - np.repeat(ends - sizes, sizes)
    entries: npt.NDArray[np.int64] = rows.entries[np.repeat(firsts[order], sizes) + ranks]
    return entries
