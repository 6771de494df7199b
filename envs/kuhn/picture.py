"""The picture of Kuhn poker."""

from __future__ import annotations

from typing import Any

from envs.core.drawing import playable, returns_known, whose_turn
from envs.core.poker_pictures import Seat, Table, draw_poker
from envs.kuhn.game import Kuhn
from envs.kuhn.kernels import NO_CARD, NOBODY

__all__ = ["draw"]


def draw(game: Kuhn, state: Any, viewer: int | None) -> str:
    """The table as ``viewer`` sees it."""
    s = game.record(state)
    n = game.options.num_players
    results = returns_known(game, state, viewer)
    moves = _moves(s, n)
    turn = int(game.kernels.turn(state, game.rules))
    seats = []
    for seat in range(n):
        has_card = s.cards[seat] != NO_CARD
        is_visible = has_card and viewer in (None, seat)
        # A pass after the first bet gives up the pot.
        has_folded = s.first_bettor != NOBODY and (seat, "pass") in moves[s.first_bettor :]
        card = (game.card_name(s.cards[seat]), None) if is_visible else None
        chips = 1 + int(s.has_bet[seat])
        seats.append(Seat(chips, has_card, card, has_folded, results.get(seat)))
    words = {text: action for action, text in playable(game, state, viewer).items()}
    return draw_poker(
        Table(
            title=f"Kuhn poker, {whose_turn(turn, viewer)}",
            seats=seats,
            turn=turn,
            viewer=viewer,
            rounds={"betting": moves},
            buttons={text: words.get(text) for text in ("pass", "bet")},
        )
    )


def _moves(s: Any, n: int) -> list[tuple[int, str]]:
    """Who passed and who bet, in order; the record keeps the first bettor and who has bet."""
    moves = []
    for number in range(s.num_moves):
        seat = number % n
        # The first bettor's seat is the number of the first bet; nobody bets before it.
        made_bet = NOBODY < s.first_bettor <= number and s.has_bet[seat]
        moves.append((seat, "bet" if made_bet else "pass"))
    return moves
