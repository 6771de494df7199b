"""Ways to a position of Liar's Dice, and its bids once more, straight from their definitions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from envs import make_game
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import new_rng

RAISINGS = ("count_first", "face_first", "never_lower")
WILDS = ("none", "ones", "ones_unbiddable", "highest")

Bid = tuple[int, int]


# ---- ways to a position --------------------------------------------------------------------------


def deal(position: Position, *hands: str) -> None:
    """Let the dice fall: a hand such as ``"13356"`` for every player, ``""`` for one who is out."""
    for face in "".join(hands):
        assert position.is_chance
        position.apply(int(face) - 1)
    assert not position.is_chance


def play(position: Position, *moves: str) -> None:
    """Bid and call in words."""
    for move in moves:
        position.apply(position.game.parse_action(move))


def table(*hands: str, **options: Any) -> Position:
    """The first round of a game with these hands, before the opening bid."""
    dice = [len(hand) for hand in hands]
    position = make_game(
        "liars_dice_v0", **{"num_players": len(hands), "dice": dice} | options
    ).new_position()
    deal(position, *hands)
    return position


def lose_round(position: Position, loser: int) -> None:
    """Play a round in which ``loser`` calls a true bid: all dice show two, all bids are on twos."""
    while position.is_chance:
        position.apply(1)
    count = 0
    while count == 0 or position.turn != loser:
        count += 1
        play(position, f"{count}*2")
    play(position, "liar")


def field(position: Position, name: str) -> Any:
    """A field of the record as plain numbers, of the players only."""
    value = position.game.record(position.state)[name]
    return value[: position.game.facts.num_players].tolist() if value.ndim else int(value)


def starter(position: Position) -> int:
    """Who opens the round that begins now: roll all dice and see who is to move."""
    rolled = position.copy()
    while rolled.is_chance:
        rolled.apply(0)
    return rolled.turn


def random_game(game: Game, seed: int, number: int = 0) -> Position:
    """Play to the end with moves drawn from a generator of their own."""
    chance, moves = new_rng(seed), np.random.default_rng(seed)
    position = game.new_position(number)
    position.play_chance(chance)
    while not position.is_over:
        position.apply(int(moves.choice(position.legal_actions())))
        position.play_chance(chance)
    return position


# ---- bids ----------------------------------------------------------------------------------------


def may_follow(raising: str, old: Bid, new: Bid) -> bool:
    """Whether ``new`` raises ``old``, both as (count, face)."""
    (count, face), (new_count, new_face) = old, new
    if raising == "count_first":
        return new_count > count or (new_count == count and new_face > face)
    if raising == "face_first":
        return new_face > face or (new_face == face and new_count > count)
    return new_count >= count and new_face >= face and new != old


def all_bids(num_dice: int, faces: int, wild: str) -> set[Bid]:
    """Every bid with so many dice in play."""
    return set(
        product(range(1, num_dice + 1), range(2 if wild == "ones_unbiddable" else 1, faces + 1))
    )


def legal_bids(position: Position) -> set[Bid]:
    """What the game allows, without the call."""
    texts = [position.action_text(action) for action in position.legal_actions()]
    return {(int(count), int(face)) for count, face in (t.split("*") for t in texts if t != "liar")}


def after(opening: Position, bid: Bid) -> Position:
    """The round opened with ``bid``."""
    position = opening.copy()
    play(position, f"{bid[0]}*{bid[1]}")
    return position


def fewer_and_fewer(game: Game) -> list[Position]:
    """The opening of every round of a match that the last player loses first, seat 0 never."""
    position, openings = game.new_position(), []
    for loser in reversed(range(game.facts.num_players)):
        for _ in range(game.options.dice_by_seat[loser] if loser else 0):
            opening = position.copy()
            while opening.is_chance:
                opening.apply(0)
            openings.append(opening)
            lose_round(position, loser)
    assert position.is_over
    return openings
