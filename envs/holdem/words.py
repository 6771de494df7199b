"""Hold'em in words: moves as players say them, and the table as text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numba import types

from envs.core import kernels
from envs.core.compiling import compiled
from envs.core.kernels import OVER
from envs.holdem.betting import amount_of, call_to, highest_raise, kind_of
from envs.holdem.evaluator import card_name, evaluate, strength_name
from envs.holdem.records import (
    ABSENT,
    CALL,
    CHECK,
    EXACT,
    FOLD,
    FOLDED,
    IN,
    NO_CARD,
    RAISE,
    RULES,
    STATE,
)

__all__ = [
    "cards_text",
    "hand_name",
    "is_hand_visible",
    "meaning",
    "move_text",
    "read_move",
    "table_text",
]

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


def move_text(state: Any, rules: Any, action: int) -> str:
    """An action of the player to move: ``folds``, ``checks``, ``calls 50``, ``raises to 325``."""
    s = state.view(STATE)[0]
    seat = int(s.to_move)
    kind, amount, _ = meaning(state, rules, action)
    if kind == FOLD:
        return "folds"
    if kind == CHECK:
        return "checks"
    stack, bet = int(s.stacks[seat]), int(s.bets[seat])
    if kind == CALL:
        price = min(amount - bet, stack)
        return f"calls {price}" + (" and is all-in" if price == stack else "")
    verb = "raises to" if s.bet_to > 0 else "bets"
    return f"{verb} {amount}" + (" and is all-in" if amount == bet + stack else "")


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
