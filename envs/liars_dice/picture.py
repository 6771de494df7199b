"""The picture of Liar's Dice: cups and dice, the last call, and a grid of all bids."""

from __future__ import annotations

import math
from typing import Any

from envs.core.drawing import Drawing, playable, returns_known, seat_name, whose_turn
from envs.core.kernels import CHANCE, OVER
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import NO_BID, NO_DIE, NOBODY, RULES, has_hand

__all__ = ["draw"]

WIDTH = 640
MARGIN = 14
SEATS_HEIGHT = 196
LAST_HEIGHT = 64
GRID_TOP = SEATS_HEIGHT + LAST_HEIGHT + 34
GRID_LEFT = 56
CELL_HEIGHT = 30
MAX_CELL_WIDTH = 52
COLOURS = ("blue", "orange", "purple", "red", "green", "grey")  # of the seats


def draw(game: LiarsDice, state: Any, viewer: int | None) -> str:
    """The table as ``viewer`` sees it."""
    s = game.record(state)
    r = game.rules.view(RULES)[0]
    height = GRID_TOP + CELL_HEIGHT * int(r.bid_faces) + 58
    title = f"Liar's Dice, {whose_turn(int(s.turn), viewer)}"
    drawing = Drawing(WIDTH, height, title)
    drawing.table()
    results = returns_known(game, state, viewer)
    for seat in range(game.options.num_players):
        _seat(drawing, game, s, seat, viewer, results.get(seat))
    _last_call(drawing, game, s)
    actions = playable(game, state, viewer)
    _grid(drawing, game, s, actions)
    _odds(drawing, game, s, viewer, actions)
    _foot(drawing, game, s, height - 34, actions)
    return drawing.svg()


# ---- the seats -----------------------------------------------------------------------------------


def _seat(
    drawing: Drawing, game: LiarsDice, s: Any, seat: int, viewer: int | None, result: float | None
) -> None:
    wide = (WIDTH - 2 * MARGIN) / game.options.num_players
    x = MARGIN + wide * (seat + 0.5)
    num_dice = int(s.dice_left[seat])
    is_visible = viewer is None or s.turn == OVER or (viewer == seat and has_hand(s, seat))
    # A die that was lost by the last call of a match still lies on the table.
    dice = [int(die) for die in s.dice[seat] if die != NO_DIE]
    with drawing.group(opacity=None if num_dice or dice else 0.5):
        drawing.plate(x, 34, min(wide - 8, 170), 36, s.turn == seat)
        drawing.circle(x - min(wide - 8, 170) / 2 + 14, 34, 6, fill=COLOURS[seat])
        drawing.text(
            x + 8, 34, seat_name(seat, viewer), 15, is_bold=True, max_width=min(wide - 8, 170) - 34
        )
        if num_dice == 0 and not dice:
            drawing.text(x, 110, "out", 16, "dim")
        elif is_visible and dice:
            _open_hand(drawing, game, s, x, wide, dice)
        else:
            drawing.cup(x, 112, min(92, wide - 20))
    given = game.options.dice
    num_given = given[seat] if isinstance(given, tuple) else given
    num_lost = num_given - max(num_dice, len(dice))
    words, colour = f"{num_dice} {'die' if num_dice == 1 else 'dice'}", "dim"
    if result is not None:
        words, colour = f"{result:+.3g}", "chalk"
    side = 7.0 * num_lost
    drawing.text(x - side, SEATS_HEIGHT - 16, words, 14, colour, is_bold=result is not None)
    _lost_dice(drawing, x - side + 30, num_lost)


def _lost_dice(drawing: Drawing, x: float, num_lost: int) -> None:
    """Dice that are gone, in red beside the number of those that are left."""
    if not num_lost:
        return
    with drawing.group(tip=f"{num_lost} lost"):
        for number in range(num_lost):
            left = x + 14 * number
            drawing.rect(left, SEATS_HEIGHT - 22, 12, 12, 2, fill="bad", stroke="white")


def _open_hand(
    drawing: Drawing, game: LiarsDice, s: Any, x: float, wide: float, dice: list[int]
) -> None:
    """A cup that was lifted, and the dice that lay under it."""
    with drawing.group(x, 84, scale=0.55, turn=-16):
        drawing.cup(0, 0, 84)
    # More than three dice lie in two rows, so that they are large even at a full table.
    rows = (
        [dice] if len(dice) <= 3 or wide > 190 else [dice[: len(dice) // 2], dice[len(dice) // 2 :]]
    )
    size = min(32, (wide - 16) / 3 - 4) if len(rows) == 1 else min(26, (wide - 16) / 3 - 4)
    for row, faces in enumerate(rows):
        y = 140 + (row - (len(rows) - 1) / 2) * (size + 4)
        for number, face in enumerate(faces):
            place = x + (number - (len(faces) - 1) / 2) * (size + 5)
            drawing.die(place, y, face, size, s.turn == OVER and _counts(game, int(s.bid), face))


def _counts(game: LiarsDice, bid: int, face: int) -> bool:
    """Whether a die counts for a bid."""
    return bid != NO_BID and face in (game.bid(bid)[1], int(game.rules.view(RULES)[0].wild_face))


# ---- the call before -----------------------------------------------------------------------------


def _last_call(drawing: Drawing, game: LiarsDice, s: Any) -> None:
    """The round that was called last: everybody saw its dice."""
    y = SEATS_HEIGHT + 4
    drawing.rect(MARGIN, y, WIDTH - 2 * MARGIN, LAST_HEIGHT, 8, fill="felt_edge", opacity=0.6)
    if s.loser == NOBODY:
        drawing.text(WIDTH / 2, y + LAST_HEIGHT / 2, "no call yet", 14, "dim")
        return
    if game.options.single_round:
        caller, bidder, bid, hands = NOBODY, int(s.bidder), int(s.bid), s.dice
    else:
        caller, bidder, bid, hands = (
            int(s.last_caller),
            int(s.last_bidder),
            int(s.last_bid),
            s.last_dice,
        )
    count, face = game.bid(bid)
    shown = [[int(die) for die in hand if die != NO_DIE] for hand in hands]
    found = sum(_counts(game, bid, die) for hand in shown for die in hand)
    who = "Liar!" if caller == NOBODY else f"Player {caller} called player {bidder}:"
    verdict = f"bid {count} x {face}, found {found}. Player {s.loser} loses"
    verdict += "." if game.options.single_round else " a die."
    drawing.text(WIDTH / 2, y + 17, f"{who} {verdict}", 14, "chalk", max_width=WIDTH - 48)
    num_dice = sum(len(hand) for hand in shown)
    size = min(22.0, (WIDTH - 60 - 16 * len(shown)) / max(num_dice, 1) - 2)
    x = WIDTH / 2 - (num_dice * (size + 2) + 16 * (sum(map(bool, shown)) - 1)) / 2 + size / 2
    for seat, hand in enumerate(shown):
        if hand:
            left = x - size / 2
            drawing.rect(left, y + 54, len(hand) * (size + 2) - 2, 3, 1.5, fill=COLOURS[seat])
        for die in hand:
            drawing.die(x, y + 39, die, size, _counts(game, bid, die))
            x += size + 2
        x += 16 if hand else 0


# ---- the bids ------------------------------------------------------------------------------------


def _bidders(game: LiarsDice, s: Any) -> dict[int, int]:
    """Who made each bid of this round; bids rise, and everybody with dice bids in turn."""
    if s.bid == NO_BID:
        return {}
    bids = [bid for bid in range(game.facts.num_actions - 1) if s.was_bid[bid]]
    n = game.options.num_players
    # Walk back from the last bidder: dice that the final call took away are no longer counted.
    has_dice = [s.dice[seat][0] != NO_DIE for seat in range(n)]
    seat, who = int(s.bidder), {}
    for bid in reversed(bids):
        who[bid] = seat
        seat = (seat - 1) % n
        while not has_dice[seat]:
            seat = (seat - 1) % n
    return who


def _grid(drawing: Drawing, game: LiarsDice, s: Any, actions: dict[int, str]) -> None:
    """A row for each face, a column for each count."""
    r = game.rules.view(RULES)[0]
    num_dice = int(r.num_dice)
    wide = min(MAX_CELL_WIDTH, (WIDTH - GRID_LEFT - MARGIN) / num_dice)
    for count in range(1, num_dice + 1):
        x = GRID_LEFT + wide * (count - 0.5)
        colour = "chalk" if count <= s.num_in_play else "felt_light"
        drawing.text(x, GRID_TOP - 14, count, min(14, wide * 0.62), colour)
    for row in range(int(r.bid_faces)):
        face = int(r.lowest_bid_face) + row
        drawing.die(GRID_LEFT - 22, GRID_TOP + CELL_HEIGHT * (row + 0.5), face, 24)
    who = _bidders(game, s)
    for bid in range(int(r.liar)):
        count, face = game.bid(bid)
        x = GRID_LEFT + wide * (count - 1)
        y = GRID_TOP + CELL_HEIGHT * (face - int(r.lowest_bid_face))
        box = (x + 1, y + 1, wide - 2, CELL_HEIGHT - 2, 4)
        if bid in actions:
            tip = f"{actions[bid]}: at least {count} of face {face}"
            with drawing.group(action=bid, tip=tip):
                drawing.rect(*box, fill="plate", stroke="gold_edge")
                if wide >= 18:
                    drawing.text(x + wide / 2, y + CELL_HEIGHT / 2, count, 13, "faint")
        elif bid in who:
            edge, thick = ("gold", 3.0) if bid == s.bid else ("felt_edge", 1.0)
            drawing.rect(*box, fill=COLOURS[who[bid]], stroke=edge, thick=thick)
            drawing.text(x + wide / 2, y + CELL_HEIGHT / 2, who[bid], 14, "white", is_bold=True)
        else:
            opacity = 0.45 if count <= s.num_in_play else 0.15
            drawing.rect(*box, fill="felt_edge", opacity=opacity)


def _odds(
    drawing: Drawing, game: LiarsDice, s: Any, viewer: int | None, actions: dict[int, str]
) -> None:
    """How likely the standing bid and every higher one hold, if all other dice are rolled anew."""
    if viewer is None or s.turn == OVER or not has_hand(s, viewer):
        return
    r = game.rules.view(RULES)[0]
    own = [int(die) for die in s.dice[viewer] if die != NO_DIE]
    num_others = int(s.num_in_play) - len(own)
    wide = min(MAX_CELL_WIDTH, (WIDTH - GRID_LEFT - MARGIN) / int(r.num_dice))
    standing = [] if s.bid == NO_BID else [int(s.bid)]
    with drawing.layer("odds"):
        for bid in [*standing, *(action for action in actions if action < int(r.liar))]:
            count, face = game.bid(bid)
            needed = count - sum(_counts(game, bid, die) for die in own)
            share = (1 if r.wild_face in (0, face) else 2) / int(r.faces)
            odds = at_least(needed, num_others, share)
            x = GRID_LEFT + wide * (count - 1)
            y = GRID_TOP + CELL_HEIGHT * (face - int(r.lowest_bid_face))
            fill = "good" if odds >= 0.5 else "bad"
            drawing.rect(x + 2, y + 2, wide - 4, CELL_HEIGHT - 4, 3, fill="plate")
            drawing.rect(
                x + 2, y + 2, wide - 4, CELL_HEIGHT - 4, 3, fill=fill, opacity=_shade(odds)
            )
            words = f"{100 * odds:.0f}%"
            drawing.text(x + wide / 2, y + CELL_HEIGHT / 2, words, 12, "ink", max_width=wide - 6)


def _shade(odds: float) -> float:
    return round(0.15 + 0.9 * abs(odds - 0.5), 2)


def at_least(needed: int, num_dice: int, share: float) -> float:
    """The chance that at least ``needed`` of some dice show one of a share of the faces.

    >>> at_least(1, 2, 0.5), at_least(0, 2, 0.5), at_least(3, 2, 0.5)
    (0.75, 1.0, 0.0)
    """
    if needed <= 0:
        return 1.0
    return math.fsum(
        math.comb(num_dice, hits) * share**hits * (1 - share) ** (num_dice - hits)
        for hits in range(needed, num_dice + 1)
    )


def _foot(drawing: Drawing, game: LiarsDice, s: Any, y: float, actions: dict[int, str]) -> None:
    """The standing bid in words, the wild face, and the button to call."""
    liar = game.facts.num_actions - 1
    drawing.button(WIDTH - 84, y, "liar!", liar if liar in actions else None, 120)
    x = MARGIN + 12
    if s.bid != NO_BID:
        count, face = game.bid(int(s.bid))
        drawing.text(x, y - 9, f"Player {s.bidder} bids", 13, "dim", "start")
        drawing.text(x, y + 10, f"{count} x", 18, "chalk", "start", is_bold=True)
        drawing.die(x + 56, y + 10, face, 22)
    else:
        words = "dice are rolled" if s.turn == CHANCE else "no bid yet"
        drawing.text(x, y, words, 15, "dim", "start")
    wild = int(game.rules.view(RULES)[0].wild_face)
    in_play = f"{s.num_in_play} {'die' if s.num_in_play == 1 else 'dice'} in play"
    drawing.text(WIDTH / 2 - 20, y - (10 if wild else 0), in_play, 14, "dim")
    if wild:
        drawing.die(WIDTH / 2 - 66, y + 11, wild, 20)
        drawing.text(WIDTH / 2 - 50, y + 11, "counts as every face", 13, "dim", "start")
