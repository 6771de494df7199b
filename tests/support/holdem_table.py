"""Hands of hold'em by words: cards as ``As``, moves as ``fold``, ``call`` and numbers of chips."""

from __future__ import annotations

from typing import Any

from envs import make_game
from envs.core.kernels import CHANCE
from envs.core.position import Position
from envs.holdem.evaluator import card_name, parse_card


def deal(hands: list[str], number: int = 0, **options: Any) -> Position:
    """A hand with these private cards, seat by seat; every number of chips is an action."""
    options = {"menu": "exact", "num_players": len(hands), **options}
    position = make_game("holdem_v0", **options).new_position(number)
    for hand in hands:
        for card in hand.split():
            position.apply(parse_card(card))
    return position


def play(position: Position, *events: str | int) -> Position:
    """Go on: ``fold``, ``call`` (or a check), chips to raise to, or cards for the board."""
    for event in events:
        if isinstance(event, int):
            position.apply(event + 1)
        elif event in ("fold", "call"):
            position.apply(("fold", "call").index(event))
        else:
            for card in event.split():
                position.apply(parse_card(card))
    return position


def run_out(position: Position, avoiding: str = "") -> Position:
    """Deal what is still to be dealt, the lowest cards first."""
    while position.turn == CHANCE:
        cards = [c for c in position.legal_actions() if card_name(c) not in avoiding]
        position.apply(cards[0])
    return position


def profits(position: Position) -> list[int]:
    """What everybody has won, in chips."""
    n = position.game.facts.num_players
    return [int(chips) for chips in position.game.record(position.state).profits[:n]]


def raises(position: Position) -> tuple[int, int] | None:
    """The least and the most to raise to, or nothing."""
    amounts = [action - 1 for action in position.legal_actions() if action > 1]
    return (amounts[0], amounts[-1]) if amounts else None
