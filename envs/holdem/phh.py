"""Hand histories in the Poker Hand History format (PHH), written and read.

A hand is a small TOML document: antes, blinds, stacks and the actions in order. Players are
numbered from the left of the dealer, who is the last one. A game of several hands is written as
several documents; a file of many hands (``.phhs``) has a numbered table for each. Amounts in cents
or other fractions are read as whole chips, a hundred for one. Format: J. Kim, "Recording and
describing poker hands" (2023).

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

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from common.errors import MasqueradeError
from envs.core.kernels import CHANCE
from envs.core.position import Notation, NotedGame, Position
from envs.holdem.evaluator import DECK_SIZE, card_name, parse_card
from envs.holdem.game import Holdem
from envs.holdem.options import ABSENT, FOLD, IN, NOBODY, RAISE, RULES
from envs.holdem.picture import meaning

MAX_AMOUNT = 10**12
"""In chips or money; more is no poker, and a few characters can stand for more than any memory."""


# ---- writing -------------------------------------------------------------------------------------


class _Writer:
    """Follows a game and notes one document for every hand."""

    def __init__(self, position: Position, names: Sequence[str] = ()) -> None:
        self.game: Any = position.game
        self.names = names
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
        num_able = sum(s.status[seat] == IN and s.stacks[seat] > 0 for seat in self.seats)
        return is_between and num_able < 2

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
        kind, amount, _ = meaning(self.walk.state, self.game.rules, action)
        move = f"cbr {amount}" if kind == RAISE else "f" if kind == FOLD else "cc"
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
            *([f"players = {self._players()}"] if self.names else []),
        ]
        self.documents.append("\n".join(lines) + "\n")

    def _players(self) -> str:
        # JSON text is TOML text, whatever is in the names.
        return json.dumps([self.names[seat] for seat in self.seats])


def write_hands(position: Position, names: Sequence[str] = ()) -> list[str]:
    """One document for every hand of a game up to ``position``, with the players' names if given.

    A player who folds where checking is free, which PokerKit does not allow, is written as such.
    """
    if position.game.id != Holdem.id or position.game.options.limit != "none":  # type: ignore[attr-defined]
        raise MasqueradeError("PHH is written of no-limit hold'em only")
    return _Writer(position, names).documents


def join_hands(documents: Sequence[str]) -> str:
    r"""Many documents as one file: a table with a number for each.

    >>> print(join_hands(["variant = 'NT'\n", "variant = 'NT'\n"]), end="")
    [1]
    variant = 'NT'
    <BLANKLINE>
    [2]
    variant = 'NT'
    """
    return "\n".join(f"[{number}]\n{text}" for number, text in enumerate(documents, start=1))


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hand:
    """A hand that was read: a game with every amount as an action, and what happened in it."""

    game: Holdem
    history: tuple[int, ...]
    names: tuple[str, ...] = ()
    """Who sat in each seat, if the document says so."""

    def position(self) -> Position:
        """The position after the last action."""
        return self.game.replay(self.history)


def read_hand(text: str) -> Hand:
    """Read a document; seat 0 is the player left of the dealer, whose seat is the last.

    Private cards that are not known become any that appear nowhere else. A hand that our table
    rules do not allow is read by PokerKit's.
    """
    return _read_fields(_parse(text))


def read_hands(text: str) -> list[Hand]:
    """Read a document, or a file of many: every table in it is a hand."""
    fields = _parse(text)
    if "actions" in fields:
        return [_read_fields(fields)]
    hands = []
    for name, table in fields.items():
        if not isinstance(table, dict):
            raise MasqueradeError(f"this is no PHH document of no-limit hold'em: {name} = {table}")
        try:
            hands.append(_read_fields(table))
        except MasqueradeError as error:
            raise MasqueradeError(f"hand [{name}]: {error}") from error
    if not hands:
        raise MasqueradeError("this is no PHH document of no-limit hold'em: there is no hand in it")
    return hands


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MasqueradeError(f"this is no PHH document of no-limit hold'em: {error}") from error


def _read_fields(fields: dict[str, Any]) -> Hand:
    try:
        notes = [str(action).split("#")[0].split() for action in fields["actions"]]
        actions = [words for words in notes if words]
        scale = _scale(fields, actions)
        options = _read_options(fields, scale)
        names = tuple(str(name) for name in fields.get("players", ()))
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise MasqueradeError(f"this is no PHH document of no-limit hold'em: {reason}") from error
    try:
        return _replay(options, actions, scale, names)
    except MasqueradeError as error:
        try:
            return _replay({**options, "table_rules": "pokerkit"}, actions, scale, names)
        except MasqueradeError:
            raise error from None


def _replay(
    options: dict[str, Any], actions: list[list[str]], scale: int, names: tuple[str, ...]
) -> Hand:
    game = Holdem(**options)
    position = game.new_position()
    try:
        cards = _private_cards(actions, game.options.num_players)
    except (IndexError, ValueError) as error:
        raise MasqueradeError(f"the cards cannot be read: {error}") from error
    for card in cards:
        _deal(position, card)
    for number, action in enumerate(actions):
        try:
            _read_action(position, action, scale)
        except (MasqueradeError, IndexError, KeyError, ValueError) as error:
            words = " ".join(action)
            reason = f"{error} is no move" if isinstance(error, KeyError) else error
            raise MasqueradeError(
                f"action {number + 1} of the hand, '{words}': {reason}"
            ) from error
    return Hand(game, tuple(position.history), names)


def _scale(fields: dict[str, Any], actions: list[list[str]]) -> int:
    """1 if all amounts are whole, 100 if they are in hundredths."""
    amounts = [Decimal(action[2]) for action in actions if action[1:2] == ["cbr"]]
    for name in ("antes", "blinds_or_straddles", "starting_stacks"):
        amounts += [Decimal(str(amount)) for amount in fields[name]]
    amounts.append(Decimal(str(fields["min_bet"])))
    if not all(amount.is_finite() and abs(amount) <= MAX_AMOUNT for amount in amounts):
        raise ValueError(f"amounts must be numbers up to {MAX_AMOUNT:,}")
    for scale in (1, 100):
        if all(amount * scale == int(amount * scale) for amount in amounts):
            return scale
    raise ValueError("amounts must be whole numbers or have two decimals")


def _chips(amount: Any, scale: int) -> int:
    return int(Decimal(str(amount)) * scale)


def _read_options(fields: dict[str, Any], scale: int) -> dict[str, Any]:
    if fields["variant"] != "NT":
        raise ValueError(f"variant must be 'NT', not {fields['variant']!r}")
    stacks = [_chips(stack, scale) for stack in fields["starting_stacks"]]
    antes = {_chips(ante, scale) for ante in fields["antes"]}
    blinds = [_chips(blind, scale) for blind in fields["blinds_or_straddles"]]
    posted = sorted(blind for blind in blinds if blind > 0)
    if len(antes) > 1 or not 1 <= len(posted) <= 2:
        raise ValueError("everybody must pay the same ante, and one or two players a blind")
    big = max(posted[-1], _chips(fields["min_bet"], scale))
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
            if not 0 <= player < num_players:
                raise MasqueradeError(f"there are {num_players} players, and no p{player + 1}")
            cards = [parse_card(text) for text in _card_texts(action)]
            hands[player] = cards or hands[player]
    spare = [card for card in range(DECK_SIZE) if card not in known]
    return [card for hand in hands for card in (hand or [spare.pop(), spare.pop()])]


def _deal(position: Position, card: int) -> None:
    if not position.is_chance:
        raise MasqueradeError(f"player {position.turn + 1} is to move, no card is due")
    if card not in position.legal_actions():
        raise MasqueradeError(f"{card_name(card)} is dealt twice")
    position.apply(card)


def _card_texts(action: list[str]) -> list[str]:
    """The known cards of an action."""
    is_card = action[0] == "d" or (len(action) > 1 and action[1] == "sm")
    texts = re.findall("..", action[-1]) if is_card and len(action) > 2 else []
    return [text for text in texts if "?" not in text]


def _read_action(position: Position, action: list[str], scale: int) -> None:
    if action[:2] == ["d", "db"]:
        for text in re.findall("..", action[2]):
            _deal(position, parse_card(text))
        return
    if action[0] == "d" or action[1] == "sm":
        return
    if int(action[0][1:]) - 1 != position.turn:
        if action[1] == "cc":
            return  # a check where there is nothing to decide
        raise MasqueradeError(f"player {position.turn + 1} is to move")
    if action[1] == "cbr":
        legal = position.legal_actions()
        if _chips(action[2], scale) + 1 not in legal[2:]:
            limits = f"from {legal[2] - 1} to {legal[-1] - 1} chips" if legal[2:] else "impossible"
            raise MasqueradeError(f"a raise is {limits} here")
        position.apply(_chips(action[2], scale) + 1)
    else:
        position.apply({"f": 0, "cc": 1}[action[1]])


def _read_games(text: str) -> list[NotedGame]:
    games = []
    for hand in read_hands(text):
        n = hand.game.options.num_players
        names = hand.names if len(hand.names) == n else tuple(f"player {i}" for i in range(n))
        games.append(NotedGame(hand.position(), names))
    return games


PHH = Notation("PHH", Holdem.id, ".phhs", write_hands, join_hands, _read_games)
