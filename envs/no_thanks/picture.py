"""The picture of No Thanks!: the card on the table, and everybody's chips and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.core.drawing import Drawing, playable
from envs.core.kernels import OVER
from envs.no_thanks.kernels import NO_CARD, PAY, TAKE

if TYPE_CHECKING:
    from envs.no_thanks.game import NoThanks

WIDTH = 960
LEFT = 230  # what lies on the table
ROW = 78  # height of a player's row
HEAD = 40
CARD = 52  # height of a card in a row
OVERLAP, GAP = 33, 46  # from one card of a run to the next, from one run to the next


def draw(game: NoThanks, state: Any, viewer: int | None) -> str:
    """An SVG of what ``viewer`` may see."""
    n = game.options.num_players
    foot = 64 if game.options.known_future else 16
    drawing = Drawing(WIDTH, max(330, HEAD + n * ROW) + foot, _title(game, state))
    drawing.table()
    _draw_table(drawing, game, state, viewer)
    for player in range(n):
        _draw_player(drawing, game, state, viewer, player)
    if game.options.known_future:
        _draw_future(drawing, game, state)
    return drawing.svg()


def _title(game: NoThanks, state: Any) -> str:
    s = game.record(state)
    if s.to_move == OVER:
        scores = [int(s.chips[p]) - int(s.leads[p]) for p in range(game.options.num_players)]
        return f"No Thanks!, over: scores {', '.join(map(str, scores))}"
    if s.to_move < 0:
        return "No Thanks!, before the deal"
    card = game.value(int(s.deck[s.num_taken]))
    return f"No Thanks!: player {s.to_move} pays for the {card} or takes it with {s.pot} chips"


def _draw_table(drawing: Drawing, game: NoThanks, state: Any, viewer: int | None) -> None:
    s = game.record(state)
    actions = playable(game, state, viewer)
    left = game.options.deck_size - int(s.num_taken)
    x = LEFT / 2
    drawing.text(x, 30, f"{max(0, left - 1)} more to come", 15, "chalk")
    if left > 1:
        drawing.card_back(x + 12, 112, 124)
    if s.num_dealt == 0 or left == 0:
        drawing.card_place(x, 120, 124)
    else:
        value = game.value(int(s.deck[s.num_taken]))
        drawing.card(x, 120, str(value), height=124)
    words = f"{int(s.pot)} chip{'s' * (int(s.pot) != 1)}"
    drawing.chips(x - 8, 222, int(s.pot), words)
    drawing.button(x - 50, 282, "pay", PAY if PAY in actions else None)
    drawing.button(x + 50, 282, "take", TAKE if TAKE in actions else None)


def _draw_player(
    drawing: Drawing, game: NoThanks, state: Any, viewer: int | None, player: int
) -> None:
    s = game.record(state)
    y = HEAD + ROW * player + ROW / 2 - 12
    is_over = s.to_move == OVER
    drawing.plate(LEFT + 62, y, 124, 60, is_lit=int(s.to_move) == player)
    name = "you" if viewer == player else f"player {player}"
    drawing.text(LEFT + 62, y - 14, name, 15, is_bold=True)
    is_shown = game.options.chips_shown or is_over or viewer in (None, player)
    chips = str(int(s.chips[player])) if is_shown else "?"
    drawing.chip(LEFT + 24, y + 13, "red", 9)
    drawing.text(LEFT + 40, y + 13, chips, 15, anchor="start", is_bold=True)
    points = f"-{int(s.leads[player])}" if s.leads[player] > 0 else f"+{-int(s.leads[player])}"
    if is_over:
        points = f"= {int(s.chips[player]) - int(s.leads[player])}"
    drawing.text(LEFT + 112, y + 13, points, 15, anchor="end")
    _draw_runs(drawing, game.runs(state, player), LEFT + 150, y)


def _draw_runs(drawing: Drawing, runs: list[tuple[int, int]], x: float, y: float) -> None:
    """Runs side by side; the lead card, the only one that counts, lies on top."""
    width = sum(GAP + OVERLAP * (high - low) for low, high in runs)
    scale = min(1.0, (WIDTH - x - 30) / max(1, width - GAP + 36))
    at = x + 18 * scale
    for low, high in runs:
        for value in range(high, low - 1, -1):
            place = at + scale * OVERLAP * (value - low)
            drawing.card(place, y, str(value), height=scale * CARD)
        at += scale * (GAP + OVERLAP * (high - low))


def _draw_future(drawing: Drawing, game: NoThanks, state: Any) -> None:
    """The rest of the deck, in order."""
    s = game.record(state)
    y = drawing.height - 36
    drawing.text(24, y, "to come", 15, "chalk", "start")
    coming = [int(card) for card in s.deck[int(s.num_taken) + 1 :] if card != NO_CARD]
    step = min(34.0, (WIDTH - 140) / max(1, game.options.deck_size))
    for place, card in enumerate(coming):
        drawing.card(116 + step * place, y, str(game.value(card)), height=min(44, step * 1.35))
