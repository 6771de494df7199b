"""A lie profile: what is known of the others' honesty in Liar's Dice.

When a round ends, all dice are shown, and every bid of the others can be checked: a **lie** is a
bid that the whole table does not bear out, whatever the bidder held or believed. Lies are counted
for low, middle and high bids apart. Later, the value of calling a standing bid is raised by
``factor * ratio of lies * highest value``; the table itself is never changed by it.

Bids are high if they claim more than two thirds of the dice, or one of the two highest of six
faces; middle if they claim more than one third, or one of the next two; otherwise low.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.learnt import Exhibit, draw_bars
from agents.tabular.hooks import ADJUST, OBSERVE
from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.options import Options, option
from envs.core.records import record
from envs.liars_dice.kernels import MAX_DICE, NO_BID, NO_DIE, bid_count, bid_face
from envs.liars_dice.kernels import RULES as DICE_RULES
from envs.liars_dice.kernels import STATE as DICE_STATE

READINGS = ("text", "code")


class LieSettings(Options):
    """Settings of lie profiling.

    The method is known from a text and from a program that do not quite agree; ``reading`` chooses
    one of them. The program rounds the limits between low, middle and high bids up, boosts by the
    highest value of the table, and when it is time to forget does so a round later and keeps the
    ratios for now.
    """

    reading: str = option("text", choices=READINGS, help="profiling as in the text or the code")
    factor: float = option(2.0, low=0.0, high=100.0, help="how strongly calls are favoured")
    highest: str | None = option(
        None,
        choices=("legal", "table"),
        help="boost by the highest value of the legal actions (text) or of the table (code)",
    )
    reset: int = option(
        100, low=0, high=10**9, help="rounds after which the counts start again; 0: never"
    )
    constant: float | None = option(
        None, low=0.0, high=1.0, help="use this in place of the ratio of lies: an ablation"
    )
    by_opponent: bool = option(False, help="a profile for every opponent instead of one")

    @property
    def uses_table_max(self) -> bool:
        """Whether the boost follows the highest value of the table."""
        return (self.highest or ("table" if self.reading == "code" else "legal")) == "table"


CATEGORIES = ("low", "mid", "high")
LOW, MID, HIGH = range(3)

PROFILE = record(
    num_bids=(np.int64, (3,)),  # by category
    num_lies=(np.int64, (3,)),
    ratios=(np.float64, (3,)),
    num_rounds=np.int64,  # since the counts began
    # How to count, and what to make of it.
    has_ceilings=np.int64,
    reset_after=np.int64,  # rounds; 0: never
    keeps_ratios=np.int64,
    uses_table_max=np.int64,
    factor=np.float64,
    constant=np.float64,  # in place of the ratio; below 0: none
)


@helper
def category(r, count, face, num_dice, has_ceilings):
    """Whether a bid is low, middle or high with so many dice on the table."""
    high, mid = 2 * num_dice / 3, num_dice / 3
    if has_ceilings:
        high, mid = math.ceil(high), math.ceil(mid)
    if count > high or 3 * face > 2 * r.faces:
        return HIGH
    if count > mid or 3 * face > r.faces:
        return MID
    return LOW


@helper
def count_face(dice, r, face):
    """How many dice of the last round bear out a bid on ``face``, and how many there were."""
    num_found = 0
    num_dice = 0
    for seat in range(r.num_players):
        for die in range(MAX_DICE):
            value = dice[seat, die]
            num_dice += value != NO_DIE
            num_found += value != NO_DIE and (value == face or value == r.wild_face)
    return num_found, num_dice


@helper
def multiply_odds(prob, factor, bound):
    """A probability after its odds are multiplied; it moves by at most ``bound``.

    >>> multiply_odds(0.5, 3.0, 1.0), multiply_odds(0.5, 3.0, 0.125)
    (0.75, 0.625)
    """
    moved = prob * factor / (prob * factor + 1.0 - prob)
    return min(max(moved, prob - bound), prob + bound)


@helper
def close_round(p):
    """Work the ratios out again and, when it is time, forget."""
    for c in range(3):
        if p.num_bids[c] != 0:
            p.ratios[c] = p.num_lies[c] / p.num_bids[c]
    p.num_rounds += 1
    if p.reset_after == 0 or p.num_rounds < p.reset_after + p.keeps_ratios:
        return
    p.num_rounds = 0
    for c in range(3):
        p.num_bids[c] = 0
        p.num_lies[c] = 0
        if not p.keeps_ratios:
            p.ratios[c] = 0.0


@helper
def next_bidder(dice, r, seat):
    """The next seat that had dice in the last round."""
    while True:
        seat += 1
        if seat == r.num_players:
            seat = 0
        if dice[seat, 0] != NO_DIE:
            return seat


@helper
def check_bids(s, r, player, opponent_ids, memory):
    """Check every bid that others made in the round that has just ended."""
    is_last = r.is_single_round  # then it is still on the table
    bids = s.was_bid if is_last else s.last_was_bid
    dice = s.dice if is_last else s.last_dice
    # Bids rise, and each is made by the next player: who made which follows from who began.
    bidder = s.starter if is_last else s.last_starter
    for bid in range(r.liar):
        if not bids[bid]:
            continue
        if bidder != player:
            p = memory[opponent_ids[bidder]].view(PROFILE)[0]
            face, count = bid_face(r, bid), bid_count(r, bid)
            num_found, num_dice = count_face(dice, r, face)
            c = category(r, count, face, num_dice, p.has_ceilings)
            p.num_bids[c] += 1
            p.num_lies[c] += num_found < count
        bidder = next_bidder(dice, r, bidder)
    for row in range(memory.shape[0]):
        is_met = False
        for seat in range(r.num_players):
            is_other = seat != player and dice[seat, 0] != NO_DIE
            is_met |= is_other and opponent_ids[seat] == row
        if is_met:
            close_round(memory[row].view(PROFILE)[0])


@compiled(OBSERVE)
def observe_call(state, rules, player, opponent_ids, memory):
    """After a move, if it was a call: note who of the others has lied."""
    s = state.view(DICE_STATE)[0]
    # A call ends a round, and every other move leaves a bid on the table.
    if s.num_rounds > 0 and (s.turn == OVER or s.bid == NO_BID):
        check_bids(s, rules.view(DICE_RULES)[0], player, opponent_ids, memory)


@compiled(ADJUST)
def adjust_call(state, rules, player, mask, values, table_max, opponent_ids, memory):
    """Raise the value of a call by what is known of the bidder."""
    s = state.view(DICE_STATE)[0]
    r = rules.view(DICE_RULES)[0]
    if s.bid == NO_BID:
        return
    p = memory[opponent_ids[s.bidder]].view(PROFILE)[0]
    highest = table_max
    if not p.uses_table_max:
        highest = 0.0
        for action in range(mask.size):
            if mask[action]:
                highest = max(highest, values[action])
    ratio = p.constant
    if ratio < 0.0:
        count, face = bid_count(r, s.bid), bid_face(r, s.bid)
        ratio = p.ratios[category(r, count, face, s.num_in_play, p.has_ceilings)]
    values[r.liar] += p.factor * ratio * highest


class LieProfiles:
    """The profiles that one player keeps, one or one for every opponent: an opponent model.

    >>> from envs import make_game
    >>> LieProfiles(make_game("liars_dice_v0"), {"reading": "code"}).ratios()
    {'low': 0.0, 'mid': 0.0, 'high': 0.0}

    Args:
        game: Liar's Dice.
        settings: a :class:`LieSettings`, or the values of one.
    """

    observe_hook = staticmethod(observe_call)
    adjust_hook = staticmethod(adjust_call)

    def __init__(self, game: Game, settings: LieSettings | Mapping[str, Any]) -> None:
        """Begin with nothing known."""
        if game.id != "liars_dice_v0":
            raise OptionError(f"lies are profiled in liars_dice_v0, not {game.id}")
        self.game = game
        self.settings = (
            settings if isinstance(settings, LieSettings) else LieSettings.parse(settings)
        )
        self.by_opponent = self.settings.by_opponent
        self.uses_table_max = self.settings.uses_table_max
        self.memory = np.zeros((0, PROFILE.itemsize), np.uint8)
        self.grow(1)

    @property
    def records(self) -> Any:
        """[rows] the profiles as records."""
        return self.memory.view(PROFILE)[:, 0]

    def grow(self, num_rows: int) -> None:
        """Have at least so many profiles."""
        if num_rows <= len(self.memory):
            return
        new = np.zeros(num_rows - len(self.memory), PROFILE)
        settings = self.settings
        new["has_ceilings"] = settings.reading == "code"
        new["keeps_ratios"] = settings.reading == "code"
        new["uses_table_max"] = self.uses_table_max
        new["reset_after"] = settings.reset
        new["factor"] = settings.factor
        new["constant"] = -1.0 if settings.constant is None else settings.constant
        rows = new.view(np.uint8).reshape(len(new), -1)
        self.memory = np.ascontiguousarray(np.concatenate([self.memory, rows]))

    def observe(
        self,
        world: npt.NDArray[np.uint8],
        player: int,
        opponent_ids: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """A move has led to ``world``, as ``player`` sees it; ids give each seat's profile."""
        ids = np.zeros(self.game.facts.num_players, np.int64)
        observe_call(
            world,
            self.game.rules,
            player,
            ids if opponent_ids is None else opponent_ids,
            self.memory,
        )

    def ratios(self, profile: int = 0) -> dict[str, float]:
        """The share of lies in each category."""
        ratios = self.records[profile]["ratios"]
        return {name: float(ratio) for name, ratio in zip(CATEGORIES, ratios, strict=True)}

    def learnt(self, _views: object = None) -> list[Exhibit]:
        """The profiles as tables and bars."""
        found = []
        for number, profile in enumerate(self.records):
            if self.by_opponent and number == 0:
                continue  # the learner's own row
            rows = [["bids", "made", "lies", "share"]]
            for name, bids, lies in zip(
                CATEGORIES, profile["num_bids"], profile["num_lies"], strict=True
            ):
                rows.append([name, str(bids), str(lies), f"{self.ratios(number)[name]:.1%}"])
            whose = f"opponent {number}" if self.by_opponent else "all opponents together"
            words = f"How often bids of {whose} were not borne out by the dice."
            bars = draw_bars(list(self.ratios(number).items()))
            found.append(Exhibit("The lie profile", words, rows, bars))
        return found
