"""Hold'em players by rule: from those who never think to one that weighs the price of a call.

==================  ===============================================================================
``holdem_call``     always checks or calls
``holdem_fold``     checks where that is free, otherwise folds
``holdem_raise``    always makes the largest bet of a fraction of the pot (pot-sized by default)
``holdem_tight``    plays the best fifth of starting hands; later bets strong hands, folds weak ones
``holdem_loose``    the same with the best three fifths, and calls with much less
``holdem_odds``     estimates its equity (after the flop by samples), calls when it exceeds the pot
                    odds and raises when it is well above an equal share
``holdem_push``     with few big blinds goes all-in or folds before the flop, by its equity and the
                    number of players behind; otherwise plays as ``holdem_odds``
==================  ===============================================================================

All estimates are against random hands. Nobody bluffs.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.base import Actions, Agent, Views
from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import RULES as RULES_TYPE
from envs.core.records import record
from envs.holdem.betting import amount_of, call_to, highest_raise
from envs.holdem.equity import NUM_CLASSES, class_of, compared_equity, starting_equities
from envs.holdem.options import EXACT, IN, RULES, STATE

FOLD, CALL, RAISE = range(3)
"""What is played, or wished for: a wish to raise becomes one of the legal raises."""
NUM_SAMPLES = 2000
"""By which starting hands are judged against more than one opponent."""
MAX_SAMPLES = 10**6
FOLDS, RAISES, BY_HAND, BY_ODDS = range(4)
STYLE = record(
    way=np.int64,  # one of the four above
    enter=np.float64,  # share of starting hands that are played
    raise_before=np.float64,  # and raised
    call_after=np.float64,  # times an equal share, or the pot odds, to call
    bet_after=np.float64,  # times an equal share to bet
    bet=np.float64,  # of the pot
    num_samples=np.int64,  # random ways to go on by which a hand is judged
    push=np.float64,  # big blinds with which it is all-in or nothing
)


# ---- choosing ------------------------------------------------------------------------------------


@helper
def checked(mask, action):
    """The action if it is legal, otherwise a check or call."""
    return action if mask[action] else CALL


@helper
def raise_near(s, r, seat, mask, fraction):
    """The legal raise nearest to a fraction of the pot after a call; a call if there is none."""
    after_call = np.int64(s.pot) + s.bet_to - s.bets[seat]
    wanted = s.bet_to + fraction * after_call
    if r.menu == EXACT:
        amount = min(np.int64(wanted), highest_raise(s, r, seat))
        # Masks of exact menus are one stretch: walk up to its beginning.
        for action in range(max(amount + 1, np.int64(2)), r.num_actions):
            if mask[action]:
                return action
        return CALL
    best, gap = CALL, np.inf
    for action in range(2, r.num_actions):
        if mask[action]:
            distance = abs(amount_of(s, r, seat, action) - wanted)
            if distance < gap:
                best, gap = action, distance
    return best


@helper
def everything(s, r, seat, mask):
    """The largest legal raise; a call if there is none."""
    for action in range(r.num_actions - 1, 1, -1):
        if mask[action]:
            return action
    return CALL


@helper
def free_or(s, r, seat, mask, action):
    """An action, unless it is a fold that a check makes unnecessary."""
    if action == FOLD and call_to(s, r, seat) <= s.bets[seat]:
        return CALL
    return checked(mask, action)


@helper
def num_others(s, r, seat):
    """Opponents who have not folded."""
    count = 0
    for other in range(r.num_players):
        count += other != seat and s.status[other] == IN
    return count


@helper
def starting_wish(s, r, place, enter, raise_before):
    """Raise with the very best hands, call with good ones, fold the others."""
    if place < raise_before and s.bet_to <= 4 * r.big_blind:
        return RAISE
    if place < enter and s.bet_to <= 10 * r.big_blind:
        return CALL
    return CALL if place < raise_before / 3 else FOLD


@helper
def equity_wish(chance, low, high):
    """Raise above the one, call above the other."""
    if chance > high:
        return RAISE
    return CALL if chance > low else FOLD


@helper
def odds_bounds(s, r, seat, others, call_after, bet_after):
    """Above which equity the price of a call is right, and above which a hand is well ahead."""
    missing = max(call_to(s, r, seat) - s.bets[seat], np.int64(0))
    price = min(missing, np.int64(s.stacks[seat]))
    odds = price / (price + s.pot)
    # Others call with better hands than random ones: the more they have paid, the better.
    return call_after * odds, bet_after / (1 + others) + odds / 2


@helper
def granted(s, r, seat, mask, wish, bet):
    """The action that a wish becomes."""
    action = raise_near(s, r, seat, mask, bet) if wish == RAISE else wish
    return free_or(s, r, seat, mask, action)


@helper
def equity_of(s, r, seat, others, t, low, high, rng):
    """After the flop: by samples, as many as it takes to tell on which side of the bounds it is."""
    return compared_equity(
        r, s.hole[seat], s.board, s.num_board, others, t.num_samples, low, high, rng
    )


@helper
def wish_by_hand(s, r, seat, t, places, rng):
    """Starting hands by their place, later hands by their equity against those who are in."""
    if s.num_board == 0:
        place = places[class_of(s.hole[seat, 0], s.hole[seat, 1])]
        return starting_wish(s, r, place, t.enter, t.raise_before)
    others = num_others(s, r, seat)
    share = 1.0 / (1 + others)
    low, high = t.call_after * share, t.bet_after * share
    return equity_wish(equity_of(s, r, seat, others, t, low, high, rng), low, high)


@helper
def wish_by_odds(s, r, seat, t, equities, rng):
    """Compare the equity with the price of a call."""
    others = num_others(s, r, seat)
    low, high = odds_bounds(s, r, seat, others, t.call_after, t.bet_after)
    if s.num_board == 0:
        kind = class_of(s.hole[seat, 0], s.hole[seat, 1])
        return equity_wish(equities[NUM_CLASSES * (others - 1) + kind], low, high)
    return equity_wish(equity_of(s, r, seat, others, t, low, high, rng), low, high)


@helper
def push_or_fold(s, r, seat, mask, equities):
    """All-in if the hand is good enough for so many players behind, otherwise fold."""
    others = num_others(s, r, seat)
    stack = (np.int64(s.stacks[seat]) + s.bets[seat]) / r.big_blind
    kind = class_of(s.hole[seat, 0], s.hole[seat, 1])
    # The shorter the stack and the fewer the others, the weaker a hand may be.
    needed = 0.42 + 0.012 * stack + 0.02 * (others - 1)
    is_raised = s.bet_to > r.big_blind
    if equities[kind] > needed + (0.05 if is_raised else 0.0):
        return everything(s, r, seat, mask)
    return FOLD


@compiled(
    types.void(
        *(types.uint8[:, ::1], RULES_TYPE, types.int8[:, ::1], types.int64[::1]),
        *(types.uint64[:, ::1], from_dtype(STYLE)[::1], types.float64[::1], types.int64[::1]),
    )
)
def _choose(worlds, rules, masks, seats, rngs, style, table, actions):
    r, t = rules.view(RULES)[0], style[0]
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        seat, mask = seats[i], masks[i]
        stack = (np.int64(s.stacks[seat]) + s.bets[seat]) / r.big_blind
        if t.way == FOLDS:
            actions[i] = free_or(s, r, seat, mask, FOLD)
        elif t.way == RAISES:
            actions[i] = raise_near(s, r, seat, mask, t.bet)
        elif t.way == BY_HAND:
            wish = wish_by_hand(s, r, seat, t, table, rngs[i])
            actions[i] = granted(s, r, seat, mask, wish, t.bet)
        elif s.num_board == 0 and stack <= t.push:
            actions[i] = free_or(s, r, seat, mask, push_or_fold(s, r, seat, mask, table))
        else:
            wish = wish_by_odds(s, r, seat, t, table, rngs[i])
            actions[i] = granted(s, r, seat, mask, wish, t.bet)


# ---- tables --------------------------------------------------------------------------------------


def places_of_kinds() -> npt.NDArray[np.float64]:
    """[169] for every kind of starting hand the share of all hands that are better."""
    equities = starting_equities()
    sizes = np.array([6 if k // 13 == k % 13 else 4 if k // 13 < k % 13 else 12
                      for k in range(NUM_CLASSES)])  # fmt: skip
    order = np.argsort(-equities, kind="stable")
    places = np.empty(NUM_CLASSES)
    places[order] = (np.cumsum(sizes[order]) - sizes[order]) / sizes.sum()
    return places


# ---- players -------------------------------------------------------------------------------------


class _ByRule(Agent):
    """Plays by a rule; ``style`` says what it makes of its cards."""

    game_ids = ("holdem_v0",)
    style: ClassVar[dict[str, float]]

    def __init__(self, game: Game) -> None:
        """Look up what compiled code reads."""
        super().__init__(game)
        self._style = np.zeros(1, STYLE)
        for name, value in self.style.items():
            self._style[name] = value
        self._table = self._make_table()

    def _make_table(self) -> npt.NDArray[np.float64]:
        return np.zeros(0)

    def act(self, views: Views) -> Actions:
        """Of the worlds only the own cards, the board and the bets are read."""
        worlds = views.first_worlds() if self.is_deterministic else views.worlds()
        actions = np.empty(len(views), np.int64)
        own = self._style, self._table
        _choose(worlds, self.game.rules, views.masks, views.seats, views.rngs, *own, actions)
        return actions


class AlwaysCall(Agent):
    """Checks or calls.

    >>> import numpy as np
    >>> from envs import make_game
    >>> from envs.core.batch import Batch
    >>> from envs.core.rng import new_rng
    >>> game = make_game("holdem_v0")
    >>> batch, rows = Batch(game, 4, chance=new_rng(0)), np.arange(4)
    >>> batch.begin(rows, rows)
    >>> AlwaysCall(game).act(batch.views(rows)).tolist()
    [1, 1, 1, 1]
    """

    game_ids = ("holdem_v0",)
    is_deterministic = True

    def act(self, views: Views) -> Actions:
        """Nothing has to be looked at."""
        return np.full(len(views), CALL, np.int64)


class AlwaysFold(_ByRule):
    """Checks where that is free and folds otherwise."""

    is_deterministic = True
    style: ClassVar[dict[str, float]] = {"way": FOLDS}


class AlwaysRaise(_ByRule):
    """Bets or raises the pot whenever it may, and calls otherwise."""

    is_deterministic = True
    style: ClassVar[dict[str, float]] = {"way": RAISES, "bet": 1.0}


class _Sampling(_ByRule):
    """Judges a hand by samples."""

    def __init__(self, game: Game, num_samples: int = 100) -> None:
        """``num_samples``: random ways to go on by which a hand is judged."""
        super().__init__(game)
        if not 1 <= num_samples <= MAX_SAMPLES:
            raise OptionError(f"num_samples must be from 1 to {MAX_SAMPLES:,}, not {num_samples}")
        self._style["num_samples"] = num_samples

    def _make_table(self) -> npt.NDArray[np.float64]:
        """[opponents * 169] the equity of every kind of starting hand against so many."""
        most = self.game.facts.num_players - 1
        more = [starting_equities(others, NUM_SAMPLES) for others in range(2, most + 1)]
        return np.concatenate([starting_equities(), *more])


class Tight(_Sampling):
    """Enters with few hands, and stays in with good ones only."""

    is_usual = True
    style: ClassVar[dict[str, float]] = {
        "way": BY_HAND,
        "enter": 0.2,
        "raise_before": 0.1,
        "call_after": 1.3,
        "bet_after": 1.7,
        "bet": 0.75,
    }

    def _make_table(self) -> npt.NDArray[np.float64]:
        return places_of_kinds()


class Loose(Tight):
    """Enters with most hands and calls with many."""

    style: ClassVar[dict[str, float]] = {
        "way": BY_HAND,
        "enter": 0.6,
        "raise_before": 0.15,
        "call_after": 0.8,
        "bet_after": 1.4,
        "bet": 1.0,
    }


class PotOdds(_Sampling):
    """Calls when its equity is worth the price, and raises when it is well ahead."""

    style: ClassVar[dict[str, float]] = {
        "way": BY_ODDS,
        "call_after": 1.15,
        "bet_after": 1.25,
        "bet": 0.75,
    }


class PushFold(PotOdds):
    """Goes all-in or folds before the flop while it has at most 15 big blinds."""

    style: ClassVar[dict[str, float]] = {**PotOdds.style, "push": 15.0}
