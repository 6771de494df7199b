"""Matches of Liar's Dice for two to six players, by samples of their rounds.

Whole matches are too large to be sampled as one game: what players have seen in earlier rounds
would make every decision a new one. Here a walk covers a single round and ends with what the
position after it is worth, own dice, the others' and who opens. Matches are followed from round to
round by the present policies, so that those that come up often are learnt well; now and then one
begins with any dice, so that all are met.

Between two players a round has only two ends, and worth hardly matters. Between more it says whom
to hurt.

In a share of the rounds all others can be made to play like ``liars_dice_rule`` instead of by the
policy, so that it learns to do well in both kinds of company (cf. M. Johanson, M. Zinkevich and M.
Bowling, "Computing robust counter-strategies", 2007).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.cfr.sampled.hash_tables import HashTable, make_table, rows_by_key
from agents.cfr.sampled.settings import SamplingSettings, TableSettings, bytes_text
from agents.cfr.sampled.table_solver import TableSolver
from agents.games.liars_dice.cfr.keys import ALL_BIDS
from agents.games.liars_dice.cfr.odds import NUM_CHOICES
from agents.games.liars_dice.cfr.sampled_rounds import run_rounds
from agents.games.liars_dice.cfr.sampled_seats import ROUND_PLAN, Seats, find_position, start_match
from agents.policy import Policy
from envs.core.errors import MasqueradeError, OptionError
from envs.core.game import Game
from envs.core.options import option
from envs.core.rng import stream
from envs.liars_dice import HAND_BASE, NOBODY, LiarsDice

__all__ = ["SampledMatch", "SampledMatchSettings"]

# Those arrays of the seats that outlast a round.
_SEATS = ("worth", "visits", "dice", "starter", "rng")

Floats = npt.NDArray[np.float64]


class SampledMatchSettings(TableSettings):
    """What players remember, how regrets are kept, and how much memory there is."""

    entries_per_infoset: ClassVar[int] = 30

    memory: int = option(
        0, low=0, high=ALL_BIDS, help="last bids of the round that are remembered; 0: all"
    )
    table: str = option(
        "seats",
        choices=("seats", "odds"),
        help="players know bids and everybody's dice, or odds only",
    )
    variant: str = option("linear", choices=("cfr", "cfr+", "linear"), help="how regrets are kept")
    exploration: float = option(
        0.1, low=0.0, high=1.0, help="how often a match begins with any dice"
    )
    pruning: float = option(
        0.0, low=0.0, high=1.0, help="how often a walk passes hopeless bids over"
    )
    rule_share: float = option(
        0.0, low=0.0, high=1.0, help="rounds in which all others play like liars_dice_rule"
    )
    surprises: float = option(
        0.0, low=0.0, high=1.0, help="how often one of the others bids anything, in walks"
    )
    least: float = option(
        1e-3, low=0.0, high=0.5, help="actions of the average policy below this are dropped"
    )

    def __post_init__(self) -> None:
        """Refuse pruning where there is nothing to prune."""
        super().__post_init__()
        if self.table == "odds" and self.pruning > 0.0:
            raise OptionError("by odds there are few choices, and all are tried: pruning must be 0")

    @property
    def coding(self) -> str:
        """What the keys of its policy stand for.

        >>> SampledMatchSettings(memory=2).coding, SampledMatchSettings(table="odds").coding
        ('round:2', 'odds')
        """
        name = "round" if self.table == "seats" else self.table
        return f"{name}:{self.memory}" if self.memory else name

    def room(self, game: Game) -> tuple[int, int]:
        """Information sets and entries that there is room for."""
        if self.table == "seats" or self.max_entries is not None:
            return super().room(game)
        return self.max_infosets, self.max_infosets * NUM_CHOICES

    def table_bytes(self, game: Game) -> int:
        """How much memory the tables take, all of it from the start."""
        players = game.facts.num_players
        num_positions: int = players * HAND_BASE**players
        return super().table_bytes(game) + 16 * num_positions


def first_worth(game: LiarsDice) -> Floats:
    """What positions are worth at first: everybody wins as often as there are dice to show for it.

    Positions with a single player left are worth exactly that, and are never learnt.
    """
    n = game.facts.num_players
    dice = np.indices((HAND_BASE,) * n, np.float64).reshape(n, -1)[::-1]  # the first digit is last
    shares = dice / np.maximum(dice.sum(axis=0), 1.0)
    if game.options.rewards == "dice":
        lost = dice * (1.0 - shares)
        worth = (lost[1:].sum(axis=0) / (n - 1)) - lost[0]
    else:
        worth = shares[0] - (1.0 - shares[0]) / (n - 1)
    return np.repeat(worth, n)


class SampledMatch(TableSolver):
    """External-sampling CFR over the rounds of a match.

    Args:
        game: Liar's Dice with any options.
        seed: of all draws; the same seed gives the same tables to the last bit.
        settings: see :class:`SampledMatchSettings`.

    >>> solver = SampledMatch(LiarsDice(num_players=3, dice=1, faces=2))
    >>> solver.run(2000)
    >>> solver.to_policy().coding, bool(solver.opening_worth().sum() < 0.2)
    ('round', True)
    """

    learning = ("memory", "table", "variant", "exploration", "pruning", "rule_share", "surprises")
    more_room = "raise max_infosets or max_entries, shorten memory"
    game: LiarsDice
    settings: SampledMatchSettings

    def __init__(
        self, game: Game, seed: int = 0, settings: SampledMatchSettings | None = None
    ) -> None:
        """Make the tables; nothing is drawn yet but who opens."""
        if not isinstance(game, LiarsDice):
            raise MasqueradeError(f"rounds are those of liars_dice_v0, not of {game.id}")
        super().__init__(game, SampledMatchSettings() if settings is None else settings)
        kept = SamplingSettings(variant=self.settings.variant, when_full=self.settings.when_full)
        self._plan = kept.record()
        self._round_plan = self._make_round_plan()
        self._seats = Seats.of(game, first_worth(game), stream(seed, "mccfr_rounds"))
        start_match(game.rules, self._seats, self._round_plan)

    def _make_tables(self) -> HashTable:
        return make_table(*self.settings.room(self.game))

    def _make_round_plan(self) -> npt.NDArray[Any]:
        first = self.game.options.first_player
        plan = np.zeros(1, ROUND_PLAN)
        plan["memory"] = self.settings.memory or ALL_BIDS
        plan["goes_by_odds"] = self.settings.table == "odds"
        plan["first_player"] = first if isinstance(first, int) else NOBODY
        plan["exploration"] = self.settings.exploration
        plan["pruning"] = self.settings.pruning
        plan["rule_share"] = self.settings.rule_share
        plan["surprises"] = self.settings.surprises
        return plan

    def _run(self, first: int, end: int) -> int:
        args = self.game.rules, self._seats, self._table, self._plan, self._round_plan
        return int(run_rounds(*args, first, end))

    # ---- what it knows ---------------------------------------------------------------------------

    def worth(self, dice: tuple[int, ...], starter: int) -> Floats:
        """What each player may expect of a match that goes on from here."""
        counts = np.array(dice, np.int64)
        seats = range(len(dice))
        found = [int(find_position(counts, starter, player)) for player in seats]
        return self._seats.worth[found]

    def opening_worth(self) -> Floats:
        """What each player may expect of a match, or of a single round."""
        options = self.game.options
        first = options.first_player
        starters = [first] if isinstance(first, int) else range(options.num_players)
        worth = [self.worth(options.dice_by_seat, starter) for starter in starters]
        return np.asarray(np.mean(worth, axis=0))

    def to_policy(self, **notes: Any) -> Policy:
        """The average policy; information sets that nobody has come to are left out."""
        keys, sizes, entries = rows_by_key(self._table)
        owners = np.repeat(np.arange(len(keys)), sizes)
        sums = self._table.sums[entries]
        totals = np.bincount(owners, sums, len(keys))
        # The most frequent action stays in any case.
        largest = np.maximum.reduceat(sums, np.cumsum(sizes) - sizes)
        is_kept = (sums >= self.settings.least * totals[owners]) | (sums == largest[owners])
        is_kept &= sums > 0.0
        sums, owners = sums[is_kept], owners[is_kept]
        kept_totals = np.bincount(owners, sums, len(keys))
        is_known = totals > 0.0
        num_kept = np.bincount(owners, minlength=len(keys))[is_known]
        return Policy(
            self.game,
            keys[is_known],
            np.concatenate([[0], np.cumsum(num_kept)]),
            self._table.actions[entries[is_kept]],
            sums / kept_totals[owners],
            np.ones(int(is_known.sum()), np.bool_),
            notes=notes,
            coding=self.settings.coding,
        )

    def __repr__(self) -> str:
        """The game, what keys stand for, and the memory."""
        return (
            f"SampledMatch({self.game!r}: {self.settings.coding}, room for "
            f"{self.settings.max_infosets:,} information sets in "
            f"{bytes_text(self.nbytes)})"
        )

    # ---- checkpoints -----------------------------------------------------------------------------

    def _more_state(self) -> dict[str, Any]:
        return {name: getattr(self._seats, name).copy() for name in _SEATS}

    def _more_shapes(self) -> dict[str, tuple[int, ...] | None]:
        return {name: getattr(self._seats, name).shape for name in _SEATS}

    def _load_more(self, state: dict[str, Any]) -> None:
        for name in _SEATS:
            getattr(self._seats, name)[:] = state[name]
