"""The picture of Leduc poker."""

from __future__ import annotations

from typing import Any

from envs.core.drawing import playable, returns_known, whose_turn
from envs.core.poker_pictures import Seat, Table, draw_poker
from envs.leduc.game import Leduc
from envs.leduc.kernels import FOLD, NO_CARD, NO_MOVE

__all__ = ["draw"]

WORDS = ("fold", "call", "raise")


def draw(game: Leduc, state: Any, viewer: int | None) -> str:
    """The table as ``viewer`` sees it."""
    s = game.record(state)
    n = game.options.num_players
    results = returns_known(game, state, viewer)
    turn = int(s.to_move)
    seats = []
    for seat in range(n):
        has_card = s.cards[seat] != NO_CARD
        is_visible = has_card and viewer in (None, seat)
        card = _card(game, s.cards[seat]) if is_visible else None
        chips, is_out = int(s.chips[seat]), bool(s.has_folded[seat])
        seats.append(Seat(chips, has_card, card, is_out, results.get(seat)))
    actions = playable(game, state, viewer)
    first, second = _moves(s, n)
    return draw_poker(
        Table(
            title=f"Leduc poker, {whose_turn(turn, viewer)}",
            seats=seats,
            turn=turn,
            viewer=viewer,
            rounds={"1st round": first, "2nd round": second},
            buttons={
                text: action if action in actions else None for action, text in enumerate(WORDS)
            },
            public=None if s.public == NO_CARD else _card(game, s.public),
            has_public=True,
        )
    )


def _card(game: Leduc, card: int) -> tuple[str, str]:
    name = game.card_name(card)
    return name[:-1], name[-1]


def _moves(s: Any, n: int) -> list[list[tuple[int, str]]]:
    """Who did what in each round, in order; the record keeps the actions alone."""
    rounds: list[list[tuple[int, str]]] = []
    seats = list(range(n))
    for actions in s.moves:
        moves: list[tuple[int, str]] = []
        waiting = seats.copy()
        for action in actions:
            if action == NO_MOVE:
                break
            seat = waiting.pop(0)
            moves.append((seat, WORDS[action]))
            if action == FOLD:
                seats.remove(seat)
            else:
                waiting.append(seat)
        rounds.append(moves)
    return rounds
