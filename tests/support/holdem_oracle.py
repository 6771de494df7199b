"""Hold'em against PokerKit, action by action: ``python -m tests.support.holdem_oracle``.

Random hands of two to nine players with uneven stacks (often shorter than the blinds), blinds and
antes are played in both at once. At every decision the two must agree on who is to move, whether
one may fold, what a call costs, the least and the most of a raise, stacks, bets and pots, and at
the end on what everybody has won.

``--rules pokerkit`` (the default) plays our ``table_rules="pokerkit"``, where only odd chips may
differ: PokerKit gives all of a pot to one player, and joins side pots once losing hands are
thrown away. Such hands are counted; they differ by less than a chip for each player. ``--rules
standard`` plays the standard rules. There stacks cover the blinds, since PokerKit lets one call a
short big blind for less, and one more difference is expected and counted: who may raise after an
all-in raise that was too small.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from common.commands import COUNT, SEED, Parser, answers_in_one_line
from envs.core.kernels import CHANCE
from envs.core.position import Position
from envs.holdem.evaluator import BEST_STRENGTH, DECK_SIZE, card_name, evaluate
from envs.holdem.game import Holdem
from envs.holdem.options import IN
from envs.holdem.picture import side_pots

__all__ = ["Disagreement", "compare_deals", "compare_hand", "main", "random_table"]

HANDS_PER_TABLE = 8
REPORT_EVERY = 5000
DEALS_AT_ONCE = 50_000


class Disagreement(AssertionError):
    """Two libraries see the same hand differently."""


def random_table(rng: np.random.Generator, rules: str) -> Holdem:
    """A table with random players, stacks, blinds and antes."""
    num_players = int(rng.integers(2, 10))
    big_blind = int(rng.choice([2, 3, 10, 25, 100]))
    small_blind = int(rng.integers(1, big_blind)) if rng.random() < 0.3 else big_blind // 2
    ante = int(rng.integers(1, big_blind + 1)) if rng.random() < 0.4 else 0
    # Many stacks are about as large as a few bets, where all-ins interfere.
    scale = big_blind * rng.choice([2.0, 8.0, 30.0], num_players)
    stacks = 1 + (scale * rng.random(num_players) ** 2).astype(int)
    if rules == "standard":
        stacks += ante + big_blind
    if np.ptp(stacks) == 0 and stacks[0] < big_blind:
        stacks[0] += big_blind  # the game takes no stacks that are all alike and below a big blind
    return Holdem(
        num_players=num_players,
        stacks=tuple(int(stack) for stack in stacks),
        small_blind=small_blind,
        big_blind=big_blind,
        ante=ante,
        menu="exact",
        table_rules=rules,
    )


@cache
def remember_hands() -> None:
    """Let PokerKit judge the same cards once instead of again for every pot and player.

    Nine tenths of the time of a hand that is compared would go there.
    """
    from pokerkit import StandardHighHand

    judge = StandardHighHand.from_game

    @lru_cache(maxsize=64)
    def from_game(hole: tuple[Any, ...], board: tuple[Any, ...]) -> Any:
        return judge(hole, board)

    def remembered(hole: Any, board: Any = ()) -> Any:
        return from_game(tuple(hole), tuple(board))

    StandardHighHand.from_game = remembered  # type: ignore[assignment,method-assign]


class _Hand:
    """One hand in both libraries."""

    def __init__(self, game: Holdem, number: int, rng: np.random.Generator) -> None:
        self.game = game
        self.rng = rng
        self.n = game.options.num_players
        self.position: Position = game.new_position(number)
        self.is_exact = game.options.table_rules == "pokerkit"
        self.differences: Counter[str] = Counter()
        self.peer = self._new_peer()

    @property
    def record(self) -> Any:
        return self.game.record(self.position.state)

    def seat_of(self, index: int) -> int:
        """PokerKit counts players from the left of the dealer."""
        return (int(self.record.button) + 1 + index) % self.n

    def in_their_order(self, by_seat: Any) -> list[int]:
        return [int(by_seat[self.seat_of(index)]) for index in range(self.n)]

    def _new_peer(self) -> Any:
        from pokerkit import Automation, Mode, NoLimitTexasHoldem

        remember_hands()
        o = self.game.options
        automatic = (
            Automation.ANTE_POSTING,
            Automation.BET_COLLECTION,
            Automation.BLIND_OR_STRADDLE_POSTING,
            Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
            Automation.HAND_KILLING,
            Automation.CHIPS_PUSHING,
            Automation.CHIPS_PULLING,
        )
        return NoLimitTexasHoldem.create_state(
            automatic,
            True,
            o.ante,
            (o.small_blind, o.big_blind),
            o.big_blind,
            tuple(self.in_their_order(o.stacks_by_seat)),
            self.n,
            mode=Mode.TOURNAMENT,
        )

    # ---- chance ----------------------------------------------------------------------------------

    def deal(self) -> None:
        """Deal in ours until somebody is to move, and the same cards in theirs."""
        num_before = int(self.record.num_board)
        is_first = self.record.hole[0, 0] < 0
        board: list[str] = []
        hole: dict[int, str] = {}
        while self.position.turn == CHANCE:
            card = int(self.rng.choice(self.position.legal_actions()))
            seat = int(self.record.deal_seat)
            if seat >= 0:
                hole[seat] = hole.get(seat, "") + card_name(card)
            else:
                board.append(card_name(card))
            self.position.apply(card)
        if is_first:
            for index in range(self.n):
                self.peer.deal_hole(hole[self.seat_of(index)])
        self.skip_forced_checks()
        num_dealt = num_before
        while board:
            count = 3 if num_dealt == 0 else 1
            self.peer.burn_card("??")
            self.peer.deal_board("".join(board[:count]))
            board = board[count:]
            num_dealt += count
            self.skip_forced_checks()

    def skip_forced_checks(self) -> None:
        """PokerKit asks a player who can only check; ours does not."""
        while self.peer.actor_index is not None:
            if self.seat_of(self.peer.actor_index) == self.position.turn:
                return
            price = self.peer.checking_or_calling_amount
            if price or self.peer.min_completion_betting_or_raising_to_amount is not None:
                return
            self.peer.check_or_call()

    # ---- decisions -------------------------------------------------------------------------------

    def expect(self, what: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            raise Disagreement(
                f"{what}: ours {ours}, PokerKit {theirs}, in {self.game!r}.replay("
                f"{self.position.history}, {self.position.number})\n{self.position.text()}"
            )

    def check(self) -> None:
        """Compare everything at a decision."""
        s, peer = self.record, self.peer
        if peer.actor_index is None:
            raise Disagreement(f"PokerKit asks nobody\n{self.position.text()}")
        self.expect("to move", self.position.turn, self.seat_of(peer.actor_index))
        self.expect("stacks", self.in_their_order(s.stacks), list(peer.stacks))
        self.expect("bets", self.in_their_order(s.bets), list(peer.bets))
        self.expect("pot", int(s.paid.sum()), peer.total_pot_amount)
        if not any(peer.bets):
            self.expect("pots", self.pots(), self.their_pots())
        seat = self.position.turn
        legal = self.position.legal_actions()
        self.expect("may fold", 0 in legal, bool(peer.can_fold()))
        price = min(int(s.bet_to - s.bets[seat]), int(s.stacks[seat]))
        self.expect("price of a call", price, peer.checking_or_calling_amount)
        self.check_raises([action - 1 for action in legal if action > 1])

    def check_raises(self, amounts: list[int]) -> None:
        least = self.peer.min_completion_betting_or_raising_to_amount
        most = self.peer.max_completion_betting_or_raising_to_amount
        ours = (amounts[0], amounts[-1]) if amounts else (None, None)
        if not self.is_exact and (ours[0] is None) != (least is None):
            # Only players who have acted before can disagree, after a raise that was too small.
            seat = self.position.turn
            self.expect("has acted", bool(self.record.has_acted[seat]), True)
            self.differences["raise after a short all-in"] += 1
            return
        self.expect("raises", ours, (least, most))
        self.expect("all amounts between", len(amounts), most - least + 1 if most else 0)

    def pots(self) -> list[tuple[int, tuple[int, ...]]]:
        """Our pots in PokerKit's numbers."""
        button = int(self.record.button)
        return [
            (pot.chips, tuple(sorted((seat - button - 1) % self.n for seat in pot.seats)))
            for pot in side_pots(self.record, self.n)
        ]

    def their_pots(self) -> list[tuple[int, tuple[int, ...]]]:
        return [(pot.amount, tuple(pot.player_indices)) for pot in self.peer.pots]

    def choose(self) -> None:
        """Play a random action in both: often the smallest or the largest raise."""
        legal = self.position.legal_actions()
        raises = [action for action in legal if action > 1]
        if self.peer.min_completion_betting_or_raising_to_amount is None:
            raises = []
        way = self.rng.random()
        if raises and way < 0.45:
            few = raises[: 1 + len(raises) // 8]
            action = int(self.rng.choice([raises[0], raises[-1], *few, *raises[:: len(few)]]))
        elif 0 in legal and way < 0.6:
            action = 0
        else:
            action = 1
        if action > 1:
            self.peer.complete_bet_or_raise_to(action - 1)
        elif action == 1:
            self.peer.check_or_call()
        else:
            self.peer.fold()
        self.position.apply(action)
        self.skip_forced_checks()

    def finish(self) -> None:
        """Compare what everybody has won."""
        ours = self.in_their_order(self.record.profits)
        theirs = [int(payoff) for payoff in self.peer.payoffs]
        self.expect("the hand is over", bool(self.peer.status), False)
        # Only hands that are equally strong can have odd chips between them.
        strengths = self.strengths()
        gaps = {strengths[i]: 0 for i in range(self.n) if ours[i] != theirs[i]}
        for i in range(self.n):
            if ours[i] != theirs[i]:
                gaps[strengths[i]] += ours[i] - theirs[i]
        is_close = max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < self.n
        if gaps and is_close and not any(gaps.values()) and 0 not in gaps:
            self.differences["odd chips"] += 1
            return
        self.expect("payoffs", ours, theirs)

    def strengths(self) -> list[int]:
        """The strength of every hand that was shown, in PokerKit's order; 0 for the others."""
        s = self.record
        by_seat = [0] * self.n
        if s.num_in > 1:
            for seat in np.flatnonzero(s.status[: self.n] == IN):
                by_seat[seat] = int(evaluate([[*s.hole[seat], *s.board]])[0])
        return self.in_their_order(by_seat)

    def play(self) -> int:
        """Play it all; returns the number of decisions."""
        num_decisions = 0
        self.deal()
        while not self.position.is_over:
            self.check()
            self.choose()
            num_decisions += 1
            self.deal()
        self.finish()
        return num_decisions


def compare_hand(game: Holdem, number: int, rng: np.random.Generator) -> tuple[int, Counter[str]]:
    """Play hand ``number`` in both; returns its decisions and the expected differences.

    Raises:
        Disagreement: anything else differs.
    """
    hand = _Hand(game, number, rng)
    return hand.play(), hand.differences


def compare_deals(num_deals: int, seed: int) -> int:
    """Judge random hands of seven cards with phevaluator too; returns how many differ."""
    import phevaluator

    rng = np.random.default_rng(seed)
    num_different = 0
    for first in range(0, num_deals, DEALS_AT_ONCE):
        count = min(DEALS_AT_ONCE, num_deals - first)
        hands = np.argsort(rng.random((count, DECK_SIZE)), axis=1)[:, :7]
        # Suits are numbered otherwise there, which makes no difference to a hand.
        theirs = np.array([phevaluator.evaluate_cards(*hand) for hand in hands.tolist()])
        num_different += int((BEST_STRENGTH + 1 - theirs != evaluate(hands)).sum())
    return num_different


@answers_in_one_line("holdem_oracle")
def main(arguments: Sequence[str] | None = None) -> int:
    """Compare many hands and say how many."""
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hands", type=COUNT, default=100_000, help="hands to play (100000)")
    parser.add_argument("--seed", type=SEED, default=0, help="another seed, other hands (0)")
    parser.add_argument("--rules", choices=("pokerkit", "standard"), default="pokerkit")
    parser.add_argument("--deals", type=COUNT, help="judge so many hands of seven cards instead")
    given = parser.parse_args(arguments)
    if given.deals:
        num_different = compare_deals(given.deals, given.seed)
        print(f"{given.deals} hands of seven cards: phevaluator differs in {num_different}")
        return int(num_different > 0)
    started = time.monotonic()
    num_decisions, found = 0, Counter[str]()
    for number in range(given.hands):
        if number % HANDS_PER_TABLE == 0:
            rng = np.random.default_rng([given.seed, number])
            game = random_table(rng, given.rules)
        try:
            decisions, differences = compare_hand(game, number, rng)
        except Disagreement as error:
            print(f"hand {number}: {error}", file=sys.stderr)
            return 1
        num_decisions += decisions
        found += differences
        if (number + 1) % REPORT_EVERY == 0:
            print(f"{number + 1} hands, {time.monotonic() - started:.0f} s", file=sys.stderr)
    known = ", ".join(f"{name}: {count}" for name, count in sorted(found.items())) or "none"
    print(
        f"{given.hands} hands, {num_decisions} decisions, {given.rules} rules: all agree; "
        f"expected differences: {known}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
