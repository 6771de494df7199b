"""Hands with four cards to a straight or a flush that face an all-in, at a good price or a bad one.

The bettor can bet no more, so the right answer follows from the price and the chance of the draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envs import make_game
from envs.core.game import Game
from envs.core.position import Position
from envs.holdem.betting import amount_of, call_to
from envs.holdem.evaluator import parse_card
from envs.holdem.options import RULES

__all__ = ["Question", "draw_positions"]

FOLD, CALL = 0, 1

# Own cards, flop and turn: nothing is made, and the board has no pair and no straight without us.
STRAIGHTS = (
    ("7s 6d", "5h 8c Ks", "2d"),
    ("6s 5d", "4h 7c Qs", "Kd"),
    ("8c 7h", "6d 9s Ac", "2h"),
    ("5c 4h", "3d 6s Jc", "Qh"),
    ("9d 8s", "7c Th 2d", "Ks"),
    ("6h 5c", "7s 4d Ah", "Tc"),
    ("8d 7c", "9h 6s 2c", "Kh"),
    ("7h 5s", "6c 8d Kd", "2s"),
)
FLUSHES = (
    ("6h 4h", "Kh 9h 2c", "Js"),
    ("7s 3s", "As Ts 5d", "Qc"),
    ("8d 5d", "Qd Jd 2s", "Ah"),
    ("9c 4c", "Kc 6c 3h", "Jd"),
    ("7d 2d", "Ad 9d 5c", "Ks"),
    ("8h 3h", "Jh Th 4s", "Ac"),
    ("6s 2s", "Qs 8s 3d", "Kh"),
    ("9h 5h", "Ah 7h 2d", "Qs"),
)
DRAWS = {"straight": STRAIGHTS, "flush": FLUSHES}


@dataclass(frozen=True)
class Question:
    """Some positions with the same right answer."""

    name: str
    game: Game
    positions: list[Position]
    is_fold_right: bool


def draw_positions(game: Game) -> Iterator[Question]:
    """The questions for a table like ``game``, with stacks that make the prices."""
    for draw, hands in DRAWS.items():
        for street, share, is_fold in (("flop", 0.25, False), ("turn", 1.0, True)):
            price = share / (1 + 2 * share)
            table = _table(game, share)
            wanted = "fold" if is_fold else "call"
            name = f"{draw}, {street}, {100 * price:.0f} %: {wanted}"
            positions = [_position(table, cards, street == "turn") for cards in hands]
            yield Question(name, table, positions, is_fold)


def _table(game: Game, share: float) -> Game:
    """The same game, in which the bettor has a big blind and a share of two for the pot."""
    options = {**game.options.to_dict(), "num_hands": 1, "ante": 0, "button": 0, "short_stacks": 0}
    n, big = game.facts.num_players, int(options["big_blind"])
    stacks = [max(100 * big, 1)] * n
    # With two players the button is the small blind and acts last, so the other one bets.
    stacks[1] = big + int(share * 2 * big)
    return make_game(game.id, **{**options, "stacks": stacks})


def _position(game: Game, cards: Sequence[str], has_turn: bool) -> Position:
    """Both blinds are in for one big blind, the bettor goes all-in, and the other is to answer."""
    own, flop, turn = cards
    n, bettor = game.facts.num_players, 1
    owner = 0 if n == 2 else 2
    position = game.new_position(0)
    used = {parse_card(card) for text in cards for card in text.split()}
    spare = iter(card for card in range(52) if card not in used)
    for seat in range(n):
        held = [parse_card(card) for card in own.split()] if seat == owner else None
        for number in held or (next(spare), next(spare)):
            position.apply(number)
    while position.turn not in (owner, bettor):
        position.apply(FOLD)
    for _ in range(2):
        position.apply(CALL)
    for name in flop.split():
        position.apply(parse_card(name))
    if has_turn:
        for _ in range(2):
            position.apply(CALL)
        position.apply(parse_card(turn))
    position.apply(_all_in(position))
    return position


def _all_in(position: Position) -> int:
    """The action that puts everything in."""
    s, r = position.game.record(position.state), position.game.rules.view(RULES)[0]
    seat = int(s.to_move)
    everything = int(s.stacks[seat] + s.bets[seat])
    for action in position.legal_actions():
        if action > CALL and int(amount_of(s, r, seat, action)) == everything:
            return action
    raise ValueError(f"no bet is all-in: {everything} of {int(call_to(s, r, seat))}")
