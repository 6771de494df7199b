"""The table in words and as a picture: seats round the felt, cards, chips, buttons to press."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from envs.core import kernels
from envs.core.compiling import compiled
from envs.core.drawing import Drawing, around
from envs.core.kernels import OVER
from envs.core.rng import new_rng
from envs.holdem.betting import amount_of, call_to, highest_raise, kind_of
from envs.holdem.equity import equity
from envs.holdem.evaluator import RANK_NAMES, SUIT_NAMES, card_name, evaluate, strength_name
from envs.holdem.options import (
    ABSENT,
    CALL,
    EXACT,
    FOLDED,
    IN,
    NO_CARD,
    RAISE,
    RULES,
    STATE,
)

if TYPE_CHECKING:
    from envs.holdem.game import Holdem


# ---- words ---------------------------------------------------------------------------------------

FREE, BETS = ("folds", "checks"), ("bets", "raises to")
STREETS = ("before the flop", "flop", "turn", "river")


def cards_text(cards: Any) -> str:
    """``As Kd``; nothing for cards that are not dealt."""
    return " ".join(card_name(int(card)) for card in cards if card != NO_CARD)


@compiled(types.UniTuple(types.int64, 3)(kernels.STATE, kernels.RULES, kernels.INT))
def meaning(state, rules, action):
    """What a move of the player to move is, the bet it makes, and the highest it could make."""
    s, r = state.view(STATE)[0], rules.view(RULES)[0]
    kind = np.int64(kind_of(s, r, action))
    bet = call_to(s, r, s.to_move)
    if kind == RAISE:
        bet = amount_of(s, r, s.to_move, action)
    return kind, np.int64(bet), np.int64(highest_raise(s, r, s.to_move))


def _move(state: Any, rules: Any, action: int) -> tuple[str, int, bool]:
    """The verb of an action of the player to move, its chips, and whether it is all-in."""
    s = state.view(STATE)[0]
    kind, amount, _ = meaning(state, rules, action)
    stack, bet = int(s.stacks[s.to_move]), int(s.bets[s.to_move])
    if kind == RAISE:
        return "raises to" if s.bet_to > 0 else "bets", amount, amount == bet + stack
    price = min(amount - bet, stack)
    return ("folds", "checks", "calls")[kind], price, kind == CALL and price == stack


def bet_amount(state: Any, rules: Any, action: int) -> tuple[int, str] | None:
    """What a bet or a raise is to, and its words with a gap for that; not of one that is all-in."""
    verb, amount, is_all_in = _move(state, rules, action)
    return None if is_all_in or verb not in BETS else (amount, verb + " {}")


def move_text(state: Any, rules: Any, action: int) -> str:
    """An action of the player to move: ``folds``, ``checks``, ``calls 50``, ``raises to 325``."""
    verb, amount, is_all_in = _move(state, rules, action)
    if verb in FREE:
        return verb
    return f"{verb} {amount}" + (" and is all-in" if is_all_in else "")


def button_words(state: Any, rules: Any, action: int) -> str:
    """What stands on the button of an action: ``Fold``, ``Call 50``, ``Raise to 325``."""
    verb, amount, is_all_in = _move(state, rules, action)
    if is_all_in and verb in BETS:
        return f"All-in {amount}"
    words = re.sub(r"s\b", "", verb, count=1).capitalize()
    return words if verb in FREE else f"{words} {amount}"


def read_move(state: Any, rules: Any, text: str) -> int | None:
    """The action of the player to move that is meant, legal or not; ``None`` if it is not clear."""
    words = re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()
    if re.fullmatch(r"folds?", words):
        return 0
    if re.fullmatch(r"checks?|calls?( \d+)?", words):
        return 1
    amount = re.fullmatch(r"(?:bets?|raises?)(?: to)? (\d+)( and is all in)?", words)
    wanted = meaning(state, rules, 0)[2] if words == "all in" else None
    wanted = int(amount[1]) if amount else wanted
    if wanted is None:
        return None
    r = rules.view(RULES)[0]
    if r.menu == EXACT:
        return wanted + 1 if 0 < wanted < r.num_actions - 1 else None
    raises = ((a, meaning(state, rules, a)) for a in range(2, int(r.num_actions)))
    return next((a for a, (kind, bet, _) in raises if (kind, bet) == (RAISE, wanted)), None)


def is_hand_visible(s: Any, seat: int, viewer: int | None) -> bool:
    """Whether a viewer may see the private cards of a seat."""
    if viewer is None:
        return True
    if viewer == seat:
        return bool(s.hole[seat, 1] != NO_CARD)
    return bool(s.to_move == OVER and s.num_in > 1 and s.status[seat] == IN)


def hand_name(s: Any, seat: int) -> str:
    """What a hand makes with the common cards, once there are three of them."""
    if s.num_board < 3 or s.hole[seat, 1] == NO_CARD:
        return ""
    cards = [*s.hole[seat], *s.board[: s.num_board]]
    return strength_name(int(evaluate(np.array([cards]))[0]))


def table_text(s: Any, r: Any, viewer: int | None) -> str:
    """The common cards and the pot, then one line for every player."""
    n = int(r.num_players)
    hand = f"hand {s.num_hands + (s.to_move != OVER)} of {r.num_hands}: " if r.num_hands > 1 else ""
    board = cards_text(s.board) or "no cards"
    lines = [f"{hand}{STREETS[s.street]}, board {board}, pot {int(s.pot)}"]
    lines += [_seat_line(s, r, seat, viewer) for seat in range(n)]
    if s.num_hands > 0:
        results = [
            f"player {seat} {'wins' if won > 0 else 'loses'} {abs(int(won))}"
            + (f" ({shown})" if (shown := cards_text(s.last_hole[seat])) else "")
            for seat, won in enumerate(s.last_profits[:n])
            if won != 0
        ]
        lines.append(f"last hand: {', '.join(results) or 'nobody wins anything'}")
    return "\n".join(lines)


def _seat_line(s: Any, r: Any, seat: int, viewer: int | None) -> str:
    mark = ">" if s.to_move == seat else " "
    dealer = " (dealer)" if s.button == seat else ""
    if s.status[seat] == ABSENT:
        return f"{mark} player {seat}{dealer}: out"
    cards = cards_text(s.hole[seat])
    if cards and not is_hand_visible(s, seat, viewer):
        cards = " ".join("??" for _ in cards.split())
    made = hand_name(s, seat) if cards and "?" not in cards else ""
    notes = [f"{s.stacks[seat]} chips"]
    notes += [f"bet {s.bets[seat]}"] if s.bets[seat] else []
    notes += ["folded"] if s.status[seat] == FOLDED else []
    notes += ["all-in"] if s.status[seat] == IN and not s.stacks[seat] else []
    hand = f"{cards or 'no cards'}{f' ({made})' if made else ''}"
    return f"{mark} player {seat}{dealer}: {hand}, {', '.join(notes)}"


# ---- pots ----------------------------------------------------------------------------------------


class Pot(NamedTuple):
    """Chips, and the seats that can win them."""

    chips: int
    seats: tuple[int, ...]


def side_pots(s: Any, num_players: int) -> list[Pot]:
    """The pots as they would be shared out now, the main pot first.

    A bet that nobody has matched is a pot of its own that only the bettor can win.
    """
    paid = [int(chips) for chips in s.paid[:num_players]]
    seats_in = [seat for seat in range(num_players) if s.status[seat] == IN]
    levels = sorted({paid[seat] for seat in seats_in if paid[seat] > 0})
    pots, below = [], 0
    for level in levels:
        # What players who folded have paid beyond the last level belongs to the last pot.
        upper = max(paid) if level == levels[-1] else level
        chips = sum(max(min(p, upper) - below, 0) for p in paid)
        pots.append(Pot(chips, tuple(seat for seat in seats_in if paid[seat] >= level)))
        below = level
    return pots


# ---- the picture ---------------------------------------------------------------------------------

WIDTH, HEIGHT = 900, 620
MIDDLE = (450, 280)
SEATS = (365, 205)  # half axes of the ellipse of seats
BET_PLACES = (0.64, 0.62)  # where bets lie on the way from the middle to a seat
CARD = 62
BOARD_CARD = 78
BUTTONS_Y = 590
# With an action for every number of chips, these bets get a button: fractions of the pot. The
# others lie on a ruler, all of them if there are not too many.
EXACT_BUTTONS = (0.5, 0.75, 1.0)
RULER_Y, RULER_WIDTH = 552, 640
MOST_ON_RULER = 400


def draw_table(game: Holdem, state: Any, viewer: int | None) -> str:
    """The whole picture; see ``Game.draw``."""
    drawing = _PokerTable(game, state, viewer)
    n = game.options.num_players
    drawing.middle()
    for seat, place in enumerate(around(n, *MIDDLE, *SEATS, viewer or 0)):
        drawing.seat(seat, *place)
    drawing.equity()
    drawing.buttons()
    return drawing.svg()


class _PokerTable(Drawing):
    """A drawing of one position."""

    def __init__(self, game: Holdem, state: Any, viewer: int | None) -> None:
        self.game, self.state, self.viewer = game, state, viewer
        self.s = s = game.record(state)
        who = "the whole table" if viewer is None else f"as player {viewer} sees it"
        title = f"Texas hold'em, {STREETS[s.street]}, pot {int(s.pot)}, {who}"
        super().__init__(WIDTH, HEIGHT, title)
        self.rect(0, 0, WIDTH, HEIGHT, 16, fill="plate")
        self.ellipse(*MIDDLE, 395, 228, fill="felt_edge")
        self.ellipse(*MIDDLE, 384, 217, fill="felt", stroke="felt_light", thick=1.5)

    def playing_card(self, x: float, y: float, card: int, height: float) -> None:
        """A card face up, by its number."""
        self.card(x, y, RANK_NAMES[card >> 2].replace("T", "10"), SUIT_NAMES[card & 3], height)

    def middle(self) -> None:
        """The common cards with the pots below them."""
        s, (x, y) = self.s, MIDDLE
        for i in range(5):
            at = x + (i - 2) * 66
            if s.board[i] == NO_CARD:
                self.card_place(at, y - 12, BOARD_CARD)
            else:
                self.playing_card(at, y - 12, int(s.board[i]), BOARD_CARD)
        words = f"pot {int(s.pot)}"
        pots = side_pots(s, self.game.options.num_players)
        if len(pots) > 1 and not s.bets.any():
            words = "main pot " + ", side pot ".join(str(pot.chips) for pot in pots)
        if s.to_move == OVER:
            words = "the hand is over"
        self.text(x, y + 46, words, 18, "chalk", is_bold=True, max_width=380)

    def seat(self, seat: int, x: float, y: float) -> None:
        """A player: cards, plate with name and stack, bet, dealer button."""
        s = self.s
        if s.status[seat] == ABSENT:
            self.plate(x, y + 22, 128, 44)
            self.text(x, y + 22, f"player {seat}: out", 14, "faint")
            return
        with self.group(opacity=0.45 if s.status[seat] == FOLDED else None):
            for i, card in enumerate(s.hole[seat].tolist()):
                at = x - 24 + 48 * i
                if card != NO_CARD and is_hand_visible(s, seat, self.viewer):
                    self.playing_card(at, y - 32, card, CARD)
                elif card != NO_CARD:
                    self.card_back(at, y - 32, CARD)
        self.plate(x, y + 22, 128, 44, is_lit=s.to_move == seat)
        name = f"player {seat}" + (" (you)" if seat == self.viewer else "")
        self.text(x, y + 12, name, 14, "ink", is_bold=True, max_width=118)
        self.text(x, y + 32, self._stack_words(seat), 14, "ink", max_width=118)
        if s.bets[seat]:
            bet_x = MIDDLE[0] + BET_PLACES[0] * (x - MIDDLE[0])
            bet_y = MIDDLE[1] + BET_PLACES[1] * (y - MIDDLE[1])
            self.chip(bet_x - 14, bet_y, "red", 9)
            self.text(bet_x, bet_y, int(s.bets[seat]), 15, "chalk", "start", is_bold=True)
        if s.button == seat:
            self.circle(x + 74, y - 6, 12, fill="white", stroke="black", thick=1.5)
            self.text(x + 74, y - 6, "D", 14, "black", is_bold=True)

    def _stack_words(self, seat: int) -> str:
        """The stack, with the result at the end or what the hand makes."""
        s, chips = self.s, int(self.s.stacks[seat])
        if s.to_move == OVER:
            return f"{chips} ({int(s.last_profits[seat]):+d})"
        if s.status[seat] == FOLDED:
            return f"{chips}, folded"
        if s.status[seat] == IN and chips == 0:
            return "all-in"
        made = hand_name(s, seat) if is_hand_visible(s, seat, self.viewer) else ""
        return f"{chips}, {made}" if made else str(chips)

    def equity(self) -> None:
        """A layer with the viewer's share of the pot against random hands of those who are in."""
        s, viewer = self.s, self.viewer
        if viewer is None or s.to_move < 0 or s.hole[viewer, 1] == NO_CARD:
            return
        num_opponents = int((s.status[: self.game.options.num_players] == IN).sum()) - 1
        if s.status[viewer] != IN or num_opponents < 1:
            return
        hole, board = s.hole[viewer].tolist(), s.board[s.board != NO_CARD].tolist()
        # Always the same generator: the picture is a function of what the viewer knows.
        share = equity(hole, board, num_opponents, rng=new_rng(0), num_samples=2000)
        x, y = MIDDLE
        with self.layer("equity"):
            words = f"equity {100 * share:.0f} % against {num_opponents} random"
            self.text(x, y + 98, words, 15, "chalk", max_width=300)

    def buttons(self) -> None:
        """What can be pressed: buttons, and above them the ruler."""
        state, rules = self.state, self.game.rules
        actions, on_ruler = offered_actions(self.game, state, self.viewer)
        width = min(120.0, (WIDTH - 20) / max(len(actions), 1) - 8)
        left = WIDTH / 2 - (width + 8) * (len(actions) - 1) / 2
        for i, action in enumerate(actions):
            words = button_words(state, rules, action)
            self.button(left + i * (width + 8), BUTTONS_Y, words, action, width)
        step = RULER_WIDTH / max(len(on_ruler), 1)
        for i, action in enumerate(on_ruler):
            at = (WIDTH - RULER_WIDTH) / 2 + i * step
            with self.group(at, RULER_Y, action, button_words(state, rules, action)):
                self.rect(0, -7, step, 14, fill="gold" if i % 2 else "gold_edge")


def offered_actions(game: Holdem, state: Any, viewer: int | None) -> tuple[list[int], list[int]]:
    """The actions that get a button and those on the ruler."""
    s, r = game.record(state), game.rules.view(RULES)[0]
    if s.to_move < 0 or viewer not in (None, s.to_move):
        return [], []
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(state, game.rules, mask)
    legal = [int(action) for action in np.flatnonzero(mask)]
    raises = [action for action in legal if action > 1]
    if r.menu != EXACT or len(raises) <= 5:
        return legal, []
    seat = int(s.to_move)
    after_call = int(s.pot) + int(s.bet_to) - int(s.bets[seat])
    wanted = [int(s.bet_to + part * after_call) + 1 for part in EXACT_BUTTONS]
    some = {min(max(action, raises[0]), raises[-1]) for action in wanted} | {raises[0], raises[-1]}
    rest = [action for action in raises if action not in some]
    stride = -(-len(rest) // MOST_ON_RULER)
    return [action for action in legal if action < 2] + sorted(some), rest[:: max(stride, 1)]
