"""The records of a state and of the rules, with the codes in their fields, and the options."""

from __future__ import annotations

from typing import Any

import numpy as np

from common.errors import OptionError
from envs.core.options import free_option, option
from envs.core.records import record
from envs.core.seat_options import SeatOptions
from envs.holdem.equity import starting_equities
from envs.holdem.evaluator import TABLE_FIELDS, tables

MAX_PLAYERS = 10
MAX_FRACTIONS = 16
MAX_HISTORY = 8  # earlier decisions of a player that blocks of the observation can go back
MAX_SHORT = 16  # sizes of short stacks
MAX_LOG = 32  # latest moves of a hand that are remembered
NUM_BLOCKS = 9  # of the observation
NOBODY = -1
NO_CARD = -1

IN, FOLDED, ABSENT = range(3)
"""``status``: in the hand, out of it, or without chips when it began."""
FOLD, CHECK, CALL, RAISE = range(4)
"""Kinds of moves; a bet is a raise from nothing."""
FOLD_CODE, CALL_CODE, BET_CODES = 1, 2, 3
"""``moves``: folded, checked or called, bet about 50 %, 75 %, 100 % of the pot; 0 for no move."""
THESIS, MENU_LIST, EXACT = range(3)
BASES = ("after_call", "literal_clamped")
AFTER_CALL, LITERAL_CLAMPED = range(2)
FREE_FOLDS = ("illegal", "fold", "check")
FREE_FOLD_IS_ILLEGAL, FREE_FOLD, FREE_FOLD_IS_CHECK = range(3)
ENCODINGS = ("one_hot", "normalised", "basic")
ONE_HOT, NORMALISED, BASIC = range(3)

STATE = record(
    to_move=np.int8,  # seat to move, CHANCE or OVER
    button=np.int8,  # seat of the dealer; NOBODY until it is drawn
    big_blind_seat=np.int8,
    num_in=np.int8,  # players who have not folded
    deal_seat=np.int8,  # who gets the next private card
    num_own=np.int8,  # private cards of that seat so far, 0 or 1
    num_board=np.int8,  # common cards, 0 .. 5
    street=np.int8,  # 0 before the flop, 1 flop, 2 turn, 3 river
    # 1 when the big blind is short, so that nobody may have bet what is to be called.
    is_blind_short=np.int8,
    # Once all private cards are dealt every hand is sorted, higher card first.
    hole=(np.int8, (MAX_PLAYERS, 2)),
    board=(np.int8, (5,)),
    status=(np.int8, (MAX_PLAYERS,)),  # IN, FOLDED or ABSENT
    has_acted=(np.int8, (MAX_PLAYERS,)),  # in this round of betting
    moves=(np.int8, (MAX_PLAYERS,)),  # last move in this round, by its code
    stacks=(np.int32, (MAX_PLAYERS,)),  # chips a player can still bet
    bets=(np.int32, (MAX_PLAYERS,)),  # chips put in during this round
    paid=(np.int32, (MAX_PLAYERS,)),  # chips put in during this hand, 0 when it is over
    profits=(np.int32, (MAX_PLAYERS,)),  # chips won or lost in all finished hands
    pot=np.int32,  # all chips in the middle, the bets of this round included
    bet_to=np.int32,  # what must be matched in this round
    raise_by=np.int32,  # the least by which it may be raised
    short_raises=np.int32,  # sum of all-in raises in a row that were too small
    num_hands=np.int32,  # finished hands
    taken=np.int64,  # cards dealt in this hand, as a set
    num_moves=np.int32,  # in this hand
    log_seats=(np.int8, (MAX_LOG,)),  # the latest moves of this hand: move i at i % 32
    log_kinds=(np.int8, (MAX_LOG,)),
    log_streets=(np.int8, (MAX_LOG,)),
    log_shares=(np.float32, (MAX_LOG,)),  # chips of the move, of the pot with them
    num_decisions=(np.int16, (MAX_PLAYERS,)),  # of each player in this hand
    past=(np.int64, (MAX_PLAYERS, MAX_HISTORY)),  # packed blocks of the latest ones
    # The last finished hand, as everybody has seen it.
    last_hole=(np.int8, (MAX_PLAYERS, 2)),  # NO_CARD when not shown
    last_board=(np.int8, (5,)),
    last_profits=(np.int32, (MAX_PLAYERS,)),
)

RULES = record(
    num_players=np.int32,
    small_blind=np.int32,
    big_blind=np.int32,
    ante=np.int32,
    stacks=(np.int32, (MAX_PLAYERS,)),
    total_chips=np.int32,  # on the table
    num_short=np.int32,  # of the next
    short_stacks=(np.int32, (MAX_SHORT,)),  # of one or all in every other round
    num_hands=np.int32,
    fresh_stacks=np.int32,  # every hand begins with the same stacks
    is_button_random=np.int32,
    first_button=np.int32,  # NOBODY: the seat with the number of the opening
    menu=np.int32,  # THESIS, MENU_LIST or EXACT
    num_actions=np.int32,
    fractions=(np.int32, (MAX_FRACTIONS,)),  # of the pot, in thousandths
    minimum=np.int32,  # a list menu begins with the smallest raise
    all_in=np.int32,  # and ends with everything
    raise_basis=np.int32,  # AFTER_CALL or LITERAL_CLAMPED
    fold_when_free=np.int32,  # FREE_FOLD_IS_ILLEGAL, FREE_FOLD or FREE_FOLD_IS_CHECK
    is_pot_limit=np.int32,
    is_pokerkit=np.int32,  # PokerKit's reading of short blinds and short raises
    reward_unit=np.int32,  # chips that count as 1
    has_blocks=np.int32,  # observation in blocks, otherwise the full one
    blocks=(np.int32, (NUM_BLOCKS + 1,)),  # 1 for each that is shown; entry 0 is not used
    encoding=np.int32,  # ONE_HOT, NORMALISED or BASIC
    history=np.int32,  # earlier decisions in the observation
    history_actions=np.int32,  # with the action chosen there
    moves_shown=np.int32,  # latest moves in the full observation
    pays_at_once=np.int32,  # chips count as lost when they are put in, not when they are
    # Of int32 above there is an even number, so that the tables of int64 below lie on even ground.
    # Millionths that each of the 169 kinds of starting hands wins; filled in for block 8 only.
    start_equities=(np.int32, (169,)),
    **TABLE_FIELDS,
)


MOST_CHIPS = 10_000_000
THESIS_FRACTIONS = (0.5, 0.75, 1.0)
THESIS_BLOCKS = (1, 2, 3, 4, 5, 6, 7)
CHANCES_BLOCK = 8
MILLION = 1_000_000


def chips(default: int, help: str, low: int = 0, is_list: bool = False) -> Any:
    """Declare a number of chips; with another one actions and observations are of the same kind."""
    return free_option(default, low=low, high=MOST_CHIPS, is_list=is_list, help=help)


class HoldemOptions(SeatOptions):
    """Options of No-Limit Texas Hold'em."""

    num_players: int = option(6, low=2, high=MAX_PLAYERS, help="players at the table")
    stacks: int | tuple[int, ...] = chips(
        10_000, "chips of every player at the start, or one number for each", low=1, is_list=True
    )
    short_stacks: int | tuple[int, ...] = chips(
        0,
        "in every other round one player or everybody has at most one of these; 0: nobody",
        is_list=True,
    )
    small_blind: int = chips(50, "chips of the small blind")
    big_blind: int = chips(100, "chips of the big blind, and the smallest bet", low=1)
    ante: int = chips(0, "chips everybody pays before a hand")
    num_hands: int = free_option(
        1,
        low=1,
        high=100_000,
        help="hands of a game; it ends earlier when one player has all chips",
    )
    fresh_stacks: bool = free_option(False, help="every hand begins with the same stacks")
    button: int | str = free_option(
        "rotate",
        low=0,
        high=MAX_PLAYERS - 1,
        choices=("rotate", "random"),
        help="who deals first: another seat in every game, a random one, or always this seat",
    )
    menu: float | tuple[float, ...] | str = option(
        (0.5, 1.0),
        low=0.01,
        high=100.0,
        choices=("thesis", "exact"),
        is_list=True,
        help="bets as fractions of the pot; 'thesis': 50, 75 and 100 % and nothing is ever "
        "illegal; 'exact': every number of chips",
    )
    minimum: bool = option(True, help="the smallest raise is an action (if menu is a list)")
    all_in: bool = option(True, help="everything is an action (if menu is a list)")
    raise_basis: str = option(
        "after_call",
        choices=BASES,
        help="a fraction of the pot is raised by after calling, or is all that is put in",
    )
    fold_when_free: str = option(
        "illegal",
        choices=FREE_FOLDS,
        help="what action 0 is where nothing is to be paid",
    )
    limit: str = option(
        "none", choices=("none", "pot"), help="the most one may raise to: all chips, or the pot"
    )
    table_rules: str = free_option(
        "standard",
        choices=("standard", "pokerkit"),
        help="how short blinds and short raises are treated",
    )
    rewards: str = free_option("chips", choices=("chips", "big_blinds"), help="unit of returns")
    reward_time: str = free_option(
        "hand",
        choices=("hand", "move"),
        help="chips count as lost when a hand is over, or as soon as they are put in",
    )
    observation: str = option(
        "full", choices=("full", "blocks"), help="everything, or blocks of summary values"
    )
    blocks: int | tuple[int, ...] = option(
        THESIS_BLOCKS,
        low=1,
        high=NUM_BLOCKS,
        is_list=True,
        help="1 own cards, 2 common cards, 3 position, 4 opponents, 5 still to act, 6 pot odds, "
        "7 opponents' moves, 8 chances to win, 9 chips",
    )
    encoding: str = option("one_hot", choices=ENCODINGS, help="how blocks write their values")
    history: int = option(
        0, low=0, high=MAX_HISTORY, help="earlier decisions of the hand, with blocks"
    )
    history_actions: bool = option(False, help="with the action chosen there")
    moves_shown: int = option(
        16, low=0, high=MAX_LOG, help="latest moves of the hand in the full observation"
    )

    def __post_init__(self) -> None:
        """Check what no single option can, and give every game one spelling."""
        self.settle_list("stacks")
        if self.small_blind > self.big_blind:
            raise OptionError(
                f"small_blind must not exceed big_blind: {self.small_blind} is more than "
                f"{self.big_blind}"
            )
        self.check_seat("button")
        # Single players may be short, but not everybody by one number.
        if isinstance(self.stacks, int) and self.stacks < self.big_blind:
            raise OptionError(
                f"stacks of {self.stacks} are below the big blind of {self.big_blind}, so nobody "
                "could ever bet: raise stacks or lower big_blind"
            )
        if len(self.short_sizes) > MAX_SHORT:
            raise OptionError(f"short_stacks must list at most {MAX_SHORT} numbers")
        if self.short_sizes and (self.num_hands > 1 or self.button != "rotate"):
            raise OptionError("short_stacks are for single hands: set num_hands=1, button=rotate")
        self._settle_lists()

    def _settle_lists(self) -> None:
        """Lists in rising order, without repetitions."""
        if not isinstance(self.menu, str):
            menu = self.menu if isinstance(self.menu, tuple) else (self.menu,)
            object.__setattr__(self, "menu", tuple(sorted({float(x) for x in menu})))
            if len(self.menu) > MAX_FRACTIONS:  # type: ignore[arg-type]
                raise OptionError(f"menu must list at most {MAX_FRACTIONS} fractions of the pot")
        blocks = self.blocks if isinstance(self.blocks, tuple) else (self.blocks,)
        object.__setattr__(self, "blocks", tuple(sorted(set(blocks))))

    def structural(self) -> dict[str, Any]:
        """With every number of chips as an action, actions depend on the stacks as well."""
        found = super().structural()
        if self.menu == "exact":
            values = self.to_dict()
            found |= {name: values[name] for name in ("stacks", "num_hands", "fresh_stacks")}
        return found

    @property
    def stacks_by_seat(self) -> tuple[int, ...]:
        """Chips of each player at the start."""
        return self.by_seat("stacks")

    @property
    def fractions(self) -> tuple[float, ...]:
        """The bets of the menu as fractions of the pot."""
        if isinstance(self.menu, tuple):
            return self.menu
        return THESIS_FRACTIONS if self.menu == "thesis" else ()

    @property
    def short_sizes(self) -> tuple[int, ...]:
        """Chips that a player may have instead of its stack."""
        sizes = self.short_stacks if isinstance(self.short_stacks, tuple) else (self.short_stacks,)
        return tuple(size for size in sizes if size > 0)

    @property
    def num_openings(self) -> int:
        """Every seat deals in turn; with short stacks once for each of them in each seat."""
        if self.button != "rotate":
            return 1
        num_who = self.num_players if self.num_players == 2 else 2 * self.num_players
        return self.num_players * max(1, 2 * len(self.short_sizes) * num_who)

    @property
    def most_chips(self) -> int:
        """The most one player can have at the start of a hand."""
        is_carried = self.num_hands > 1 and not self.fresh_stacks
        return sum(self.stacks_by_seat) if is_carried else max(self.stacks_by_seat)

    @property
    def num_actions(self) -> int:
        """Fold, check or call, and the raises of the menu."""
        if self.menu == "exact":
            return self.most_chips + 2
        extra = self.minimum + self.all_in if self.menu != "thesis" else 0
        return 2 + len(self.fractions) + extra


def rules_array(o: HoldemOptions) -> Any:
    """Every option as a number, and the tables of the evaluator behind them."""
    rules = o.as_record(
        RULES,
        stacks=0,
        short_stacks=0,
        total_chips=sum(o.stacks_by_seat),
        num_short=len(o.short_sizes),
        is_button_random=o.button == "random",
        first_button=o.button if isinstance(o.button, int) else NOBODY,
        menu={"thesis": THESIS, "exact": EXACT}.get(str(o.menu), MENU_LIST),
        num_actions=o.num_actions,
        is_pot_limit=o.limit == "pot",
        is_pokerkit=o.table_rules == "pokerkit",
        reward_unit=o.big_blind if o.rewards == "big_blinds" else 1,
        has_blocks=o.observation == "blocks",
        blocks=np.isin(np.arange(NUM_BLOCKS + 1), o.blocks),
        # Decisions need not be remembered for an observation that does not show them.
        history=o.history if o.observation == "blocks" else 0,
        pays_at_once=o.reward_time == "move",
    )
    r = rules[0]
    r.stacks[: o.num_players] = o.stacks_by_seat
    r.short_stacks[: r.num_short] = o.short_sizes
    r.fractions[: len(o.fractions)] = [round(1000 * x) for x in o.fractions]
    if r.has_blocks and r.blocks[CHANCES_BLOCK]:
        r.start_equities[:] = np.round(MILLION * starting_equities())
    numbers = rules.view(np.int32)
    numbers[-len(tables()) :] = tables()
    return numbers
