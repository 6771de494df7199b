"""Matches of Liar's Dice for two to six players, by samples of their rounds.

Whole matches are too large to be sampled as one game: what players have seen in earlier rounds
would make every decision a new one. Here a walk covers a single round and ends with the
continuation value of the position after it: own dice, the others' and who opens. Now and then a
match begins with any dice, so that all positions are met.

Between two players a round has only two ends, and continuation values hardly matter. Between more
they say whom to hurt.

In a share of the rounds all others can be made to play like ``liars_dice_rule`` instead of by the
policy, so that it learns to do well in both kinds of company (cf. M. Johanson, M. Zinkevich and M.
Bowling, "Computing robust counter-strategies", 2007).

A position between two rounds is the dice of every player and who opens. Players see it from their
own seat, and empty seats are passed over: without them the game is the same.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.abstraction import ALL, BY_DECISION, CHOOSE, NONE
from agents.cfr.mccfr import WalkSettings, WalkSolver
from agents.cfr.mccfr_nodes import (
    EXPLORE,
    IS_ACTIVE,
    POSITION,
    SampledGame,
    SamplingHooks,
)
from agents.cfr.mccfr_tables import average_rows
from agents.games.liars_dice.abstractions import follow_rule, odd_raise, openers_of
from agents.policy import Policy
from common.errors import MasqueradeError, OptionError
from common.saved import DamagedStateError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER
from envs.core.options import option
from envs.core.rng import below
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import (
    HAND_BASE,
    MAX_PLAYERS,
    NO_BID,
    RULES,
    STATE,
    next_with_dice,
    start_round,
)

# ---- positions -----------------------------------------------------------------------------------


@helper
def position_number(dice, num_players, starter, player):
    """The number of a position: own dice, the others' in seat order, starter."""
    code, power, rank, start = np.int64(dice[player]), HAND_BASE, 0, 0
    for i in range(1, num_players):
        seat = player + i if player + i < num_players else player + i - num_players
        if dice[seat] > 0:
            rank += 1
            code += np.int64(dice[seat]) * power
            power *= HAND_BASE
        if seat == starter:
            start = rank
    return code * num_players + start


@compiled(POSITION)
def position(state, rules, player):
    """A round is over when dice are to be rolled."""
    s = state.view(STATE)[0]
    if s.turn != CHANCE:
        return NONE
    num_players = np.int64(rules.view(RULES)[0].num_players)
    return position_number(s.dice_left, num_players, s.starter, player)


@compiled(IS_ACTIVE)
def is_active(state, rules, player):
    """Whoever has dice plays."""
    return state.view(STATE)[0].dice_left[player] > 0


@compiled(EXPLORE)
def explore(state, rules, rng):
    """Any dice for at least two players, and any of them to open; a single round stays as it is."""
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if r.is_single_round:
        return
    num_players = 0
    while num_players < 2:
        num_players = 0
        s.num_in_play = 0
        for seat in range(r.num_players):
            s.dice_left[seat] = below(rng, r.dice[seat] + 1)
            s.num_in_play += s.dice_left[seat]
            num_players += s.dice_left[seat] > 0
    starter = below(rng, r.num_players)
    start_round(s, r, starter if s.dice_left[starter] > 0 else next_with_dice(s, r, starter))


def first_values(game: LiarsDice) -> npt.NDArray[np.float64]:
    """Continuation values at first: everybody wins as often as there are dice to show for it.

    Positions with a single player left have exactly that value, and are never learnt.
    """
    n = game.facts.num_players
    dice = np.indices((HAND_BASE,) * n, np.float64).reshape(n, -1)[::-1]  # the first digit is last
    shares = dice / np.maximum(dice.sum(axis=0), 1.0)
    if game.options.rewards == "dice":
        lost = dice * (1.0 - shares)
        values = (lost[1:].sum(axis=0) / (n - 1)) - lost[0]
    else:
        values = shares[0] - (1.0 - shares[0]) / (n - 1)
    return np.repeat(values, n)


# ---- opponents -----------------------------------------------------------------------------------


@compiled(CHOOSE)
def deviate(state, rules, rng, numbers, tables):
    """A raise that nobody expects, if there is one."""
    r = rules.view(RULES)[0]
    bid = odd_raise(state.view(STATE)[0], r, rng)
    return np.int64(r.liar if bid == NO_BID else bid)


_HOOKS: dict[str, Any] = {
    "position": position,
    "is_active": is_active,
    "explore": explore,
    "opponent": follow_rule,
    "deviation": deviate,
}
Floats = npt.NDArray[np.float64]


class SampledMatchSettings(WalkSettings):
    """What players go by, who the others are, and how much memory there is."""

    entries_per_infoset: ClassVar[int] = 30
    memory: int = option(
        0, low=0, high=ALL, help="last bids of the round that are remembered; 0: all"
    )
    abstraction: str = option(
        "round",
        choices=BY_DECISION,
        help="players know bids and everybody's dice, or odds only",
    )
    exploration: float = option(
        0.1, low=0.0, high=1.0, help="how often a match begins with any dice"
    )
    rule_share: float = option(
        0.0, low=0.0, high=1.0, help="rounds in which all others play like liars_dice_rule"
    )
    deviations: float = option(
        0.0, low=0.0, high=1.0, help="how often one of the others bids anything, in walks"
    )
    least: float = option(
        1e-3, low=0.0, high=0.5, help="actions of the average policy below this are dropped"
    )

    def __post_init__(self) -> None:
        """Refuse pruning where there is nothing to prune."""
        super().__post_init__()
        if self.abstraction == "odds" and self.pruning > 0.0:
            raise OptionError("by odds there are few actions, and all are tried: pruning must be 0")

    @property
    def policy_abstraction(self) -> str:
        """What the keys of its policy stand for.

        >>> SampledMatchSettings(memory=2).policy_abstraction
        'round:2'
        >>> SampledMatchSettings(abstraction="odds").policy_abstraction
        'odds'
        """
        return f"{self.abstraction}:{self.memory}" if self.memory else self.abstraction

    def table_bytes(self, game: Game) -> int:
        """How much memory the tables take, all of it from the start."""
        players = game.facts.num_players
        num_positions: int = players * HAND_BASE**players
        return super().table_bytes(game) + 16 * num_positions

    def record(self) -> npt.NDArray[Any]:
        """As one record, for compiled code."""
        plan = super().record()
        plan["opponent_share"] = self.rule_share
        return plan


class SampledMatch(WalkSolver):
    """External-sampling CFR over the rounds of a match.

    Args:
        game: Liar's Dice with any options.
        seed: of all draws; with one thread the same seed gives the same tables to the last bit.
        settings: see :class:`SampledMatchSettings`.

    >>> solver = SampledMatch(LiarsDice(num_players=3, dice=1, faces=2))
    >>> solver.run(2000)
    >>> solver.to_policy().abstraction, bool(solver.opening_values().sum() < 0.2)
    ('round', True)
    """

    changeable = WalkSolver.changeable | {"least"}
    more_room = "raise max_infosets or max_entries, shorten memory"
    game: LiarsDice
    settings: SampledMatchSettings

    def __init__(
        self, game: Game, seed: int = 0, settings: SampledMatchSettings | None = None
    ) -> None:
        """Make the tables; nothing is drawn yet."""
        if not isinstance(game, LiarsDice):
            raise MasqueradeError(f"rounds are those of liars_dice_v0, not of {game.id}")
        super().__init__(game, seed, SampledMatchSettings() if settings is None else settings)

    def _make_sampled(self) -> SampledGame:
        game = self.game
        options = game.options.to_dict()
        openings = [{**options, "first_player": seat} for seat in openers_of(self.game)]
        values = first_values(game)
        return SampledGame(
            game.kernels,
            game.optional,
            game.rules,
            np.stack([LiarsDice(**opening).new_position().state for opening in openings]),
            SamplingHooks(**{**_HOOKS, **self._key()}),
            self.decisions.tables,
            values,
            np.zeros(len(values), np.int64),
        )

    def _check_roots(self, roots: npt.NDArray[np.uint8]) -> None:
        """The beginnings of rounds, from which the walks go on."""
        n, options = self.game.facts.num_players, self.game.options
        dice, most = np.zeros(MAX_PLAYERS, np.int8), self.game.facts.num_actions
        dice[:n] = options.dice_by_seat
        for s in roots.view(STATE)[:, 0]:
            seats = s.turn, s.starter, s.bidder, s.loser, s.last_starter, s.last_bidder
            counts = s.num_rounds, s.num_in_play, s.roll_seat, s.roll_die
            is_fine = (
                all(OVER <= seat < n for seat in (*seats, s.last_caller))
                and all(0 <= count <= dice.sum() for count in counts)
                and ((s.dice_left >= 0) & (s.dice_left <= dice)).all()
                and (s.dice_left > 0).sum() > 1
                and s.dice_left.sum() == s.num_in_play
                and s.turn == CHANCE
                and s.dice_left[s.roll_seat] > 0
                and s.roll_die == 0
                and all(NO_BID <= bid < most for bid in (s.bid, s.last_bid))
                and all(
                    ((faces >= 0) & (faces <= options.faces)).all()
                    for faces in (s.dice, s.last_dice)
                )
                and max(s.was_bid.max(), s.last_was_bid.max()) <= 1
            )
            if not is_fine:
                raise DamagedStateError("roots are no beginnings of rounds")

    def _what(self) -> str:
        return self.settings.policy_abstraction

    # ---- what it knows ---------------------------------------------------------------------------

    def continuation_values(self, dice: tuple[int, ...], starter: int) -> Floats:
        """What each player may expect of a match that goes on from here."""
        counts, n = np.array(dice), len(dice)
        found = [int(position_number(counts, n, starter, player)) for player in range(n)]
        return self._sampled.continuation[found]

    def opening_values(self) -> Floats:
        """What each player may expect of a match, or of a single round."""
        dice = self.game.options.dice_by_seat
        values = [self.continuation_values(dice, starter) for starter in openers_of(self.game)]
        return np.asarray(np.mean(values, axis=0))

    def to_policy(self, **notes: Any) -> Policy:
        """The average policy; information sets that nobody has come to are left out."""
        rows = average_rows(self._table, self.settings.least)
        abstraction = self.settings.policy_abstraction
        return Policy(self.game, *rows, notes=notes, abstraction=abstraction)
