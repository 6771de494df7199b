"""Hand histories in the Poker Hand History format (PHH), written and read.

A hand is a small TOML document: antes, blinds, stacks and the actions in order. Players are
numbered from the left of the dealer, who is the last one. A game of several hands is written as
several documents. Format: J. Kim, "Recording and describing poker hands" (2023).

>>> from envs import make_game
>>> game = make_game("holdem_v0", num_players=2, menu="exact", button=0)
>>> position = game.replay([51, 50, 3, 2, 226, 0])  # the dealer raises to 225, the other folds
>>> print(write_hands(position)[0])
variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [50, 100]
min_bet = 100
starting_stacks = [10000, 10000]
actions = ['d dh p1 2d2c', 'd dh p2 AdAc', 'p2 cbr 225', 'p1 f']
<BLANKLINE>
>>> read_hand(write_hands(position)[0]).history
(3, 2, 51, 50, 226, 0)
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from envs.core.errors import MasqueradeError
from envs.core.kernels import CHANCE
from envs.core.position import Position
from envs.holdem.betting import amount_of, has_contest, kind_of
from envs.holdem.evaluator import DECK_SIZE, card_name, parse_card
from envs.holdem.game import Holdem
from envs.holdem.records import ABSENT, FOLD, IN, NOBODY, RAISE, RULES

__all__ = ["Hand", "read_hand", "write_hands"]


# ---- writing -------------------------------------------------------------------------------------


class _Writer:
    """Follows a game and notes one document for every hand."""

    def __init__(self, position: Position) -> None:
        self.game: Any = position.game
        self.rules: Any = self.game.rules.view(RULES)[0]
        self.walk = self.game.new_position(position.number)
        self.documents: list[str] = []
        self._begin()
        for action in position.history:
            self._follow(int(action))
        if self.actions and not position.is_over:
            self._end()

    @property
    def record(self) -> Any:
        return self.game.record(self.walk.state)

    def _begin(self) -> None:
        """Note who sits where; the order is fixed for the hand."""
        s = self.record
        self.actions: list[str] = []
        self.hole: dict[int, str] = {}
        self.board = ""
        self.has_shown = False
        if s.button == NOBODY:
            return
        n = self.game.options.num_players
        order = [(int(s.button) + 1 + i) % n for i in range(n)]
        self.seats = [seat for seat in order if s.status[seat] != ABSENT]
        self.stacks = [int(s.stacks[seat] + s.paid[seat]) for seat in self.seats]

    def name(self, seat: int) -> str:
        return f"p{self.seats.index(seat) + 1}"

    def _follow(self, action: int) -> None:
        s = self.record
        num_hands = int(s.num_hands)
        if s.button == NOBODY:
            self.walk.apply(action)
            self._begin()
            return
        if self.walk.turn == CHANCE:
            self._note_card(s, action)
        else:
            self._note_move(s, action)
            self._note_forced_check(s, action)
        self.walk.apply(action)
        if self.record.num_hands > num_hands:
            self._note_shown([seat for seat in self.seats if self.record.last_hole[seat, 0] >= 0])
            self._end()
            self._begin()
        elif self._is_run_out():
            # Hands are turned up as soon as nobody can bet any more.
            self._note_shown([seat for seat in self.seats if self.record.status[seat] == IN])

    def _is_run_out(self) -> bool:
        s = self.record
        is_between = self.walk.turn == CHANCE and s.deal_seat == NOBODY
        return is_between and not has_contest(s, self.rules)

    def _note_card(self, s: Any, card: int) -> None:
        seat = int(s.deal_seat)
        if seat == NOBODY:
            self.board += card_name(card)
            if s.num_board >= 2:
                self.actions.append(f"d db {self.board}")
                self.board = ""
            return
        self.hole[seat] = self.hole.get(seat, "") + card_name(card)
        if len(self.hole) == len(self.seats) and all(len(h) == 4 for h in self.hole.values()):
            self.actions += [f"d dh {self.name(seat)} {self.hole[seat]}" for seat in self.seats]

    def _note_move(self, s: Any, action: int) -> None:
        kind = kind_of(s, self.rules, action)
        move = "f" if kind == FOLD else "cc"
        if kind == RAISE:
            move = f"cbr {int(amount_of(s, self.rules, int(s.to_move), action))}"
        self.actions.append(f"{self.name(int(s.to_move))} {move}")

    def _note_shown(self, seats: list[int]) -> None:
        shows = [f"{self.name(seat)} sm {self.hole[seat]}" for seat in seats]
        self.actions += shows if not self.has_shown else []
        self.has_shown = True

    def _note_forced_check(self, s: Any, action: int) -> None:
        """The format has a check of a big blind whom nobody can play against any more."""
        big = int(s.big_blind_seat)
        if s.num_board > 0 or s.to_move == big:
            return
        after = self.walk.copy()
        after.apply(action)
        t = self.game.record(after.state)
        is_same_hand = t.num_hands == s.num_hands
        is_closed = is_same_hand and after.turn == CHANCE
        is_idle = s.status[big] == IN and s.stacks[big] > 0 and not s.has_acted[big]
        # It is left out when nobody could have raised from the beginning.
        second = sorted(self.stacks)[-2] - self.rules.ante
        if is_closed and is_idle and second > s.bets[big]:
            self.actions.append(f"{self.name(big)} cc")

    def _end(self) -> None:
        o = self.game.options
        # Also with two players, although the first of them posts the big blind then.
        blinds = [o.small_blind, o.big_blind] + [0] * (len(self.seats) - 2)
        lines = [
            "variant = 'NT'",
            *(["ante_trimming_status = true"] if o.ante else []),
            f"antes = {[o.ante] * len(self.seats)}",
            f"blinds_or_straddles = {blinds}",
            f"min_bet = {o.big_blind}",
            f"starting_stacks = {self.stacks}",
            f"actions = {self.actions}",
        ]
        self.documents.append("\n".join(lines) + "\n")


def write_hands(position: Position) -> list[str]:
    """One document for every hand of a game up to ``position``."""
    if position.game.id != Holdem.id or position.game.options.limit != "none":  # type: ignore[attr-defined]
        raise MasqueradeError("PHH is written of no-limit hold'em only")
    return _Writer(position).documents


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hand:
    """A hand that was read: a game with every amount as an action, and what happened in it."""

    game: Holdem
    history: tuple[int, ...]

    def position(self) -> Position:
        """The position after the last action."""
        return self.game.replay(self.history)


def read_hand(text: str) -> Hand:
    """Read a document; seat 0 is the player left of the dealer, whose seat is the last.

    Private cards that are not known become any that appear nowhere else.
    """
    try:
        fields = tomllib.loads(text)
        actions = [str(action).split("#")[0].split() for action in fields["actions"]]
        options = _read_options(fields)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise MasqueradeError(f"this is no PHH document of no-limit hold'em: {error}") from error
    game = Holdem(**options)
    position = game.new_position()
    for card in _private_cards(actions, game.options.num_players):
        position.apply(card)
    for number, action in enumerate(actions):
        try:
            _read_action(position, action)
        except (MasqueradeError, IndexError, ValueError) as error:
            words = " ".join(action)
            raise MasqueradeError(f"action {number + 1} of the hand, '{words}': {error}") from error
    return Hand(game, tuple(position.history))


def _read_options(fields: dict[str, Any]) -> dict[str, Any]:
    if fields["variant"] != "NT":
        raise ValueError(f"variant must be 'NT', not {fields['variant']!r}")
    stacks = [int(stack) for stack in fields["starting_stacks"]]
    antes = {int(ante) for ante in fields["antes"]}
    blinds = [int(blind) for blind in fields["blinds_or_straddles"]]
    posted = sorted(blind for blind in blinds if blind > 0)
    if len(antes) > 1 or not 1 <= len(posted) <= 2:
        raise ValueError("everybody must pay the same ante, and one or two players a blind")
    big = max(posted[-1], int(fields["min_bet"]))
    return {
        "num_players": len(stacks),
        "stacks": tuple(stacks),
        "small_blind": posted[0] if len(posted) == 2 else 0,
        "big_blind": big,
        "ante": antes.pop(),
        "button": len(stacks) - 1,
        "menu": "exact",
        "fold_when_free": "fold",
    }


def _private_cards(actions: list[list[str]], num_players: int) -> list[int]:
    """The two cards of every player, in seat order."""
    hands: list[list[int]] = [[] for _ in range(num_players)]
    known: set[int] = set()
    for action in actions:
        for text in _card_texts(action):
            known.add(parse_card(text))
        if action[:2] == ["d", "dh"] or (len(action) > 2 and action[1] == "sm"):
            player = int(action[2 if action[0] == "d" else 0][1:]) - 1
            cards = [parse_card(text) for text in _card_texts(action)]
            hands[player] = cards or hands[player]
    spare = [card for card in range(DECK_SIZE) if card not in known]
    return [card for hand in hands for card in (hand or [spare.pop(), spare.pop()])]


def _card_texts(action: list[str]) -> list[str]:
    """The known cards of an action."""
    is_card = action[0] == "d" or (len(action) > 1 and action[1] == "sm")
    texts = re.findall("..", action[-1]) if is_card and len(action) > 2 else []
    return [text for text in texts if "?" not in text]


def _read_action(position: Position, action: list[str]) -> None:
    if action[:2] == ["d", "db"]:
        for text in re.findall("..", action[2]):
            position.apply(parse_card(text))
        return
    if action[0] == "d" or action[1] == "sm":
        return
    if int(action[0][1:]) - 1 != position.turn:
        if action[1] == "cc":
            return  # a check where there is nothing to decide
        raise MasqueradeError(f"player {position.turn + 1} is to move")
    if action[1] == "cbr":
        position.apply(int(action[2]) + 1)
    else:
        position.apply({"f": 0, "cc": 1}[action[1]])
