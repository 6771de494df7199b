"""The picture of Liar's Dice: cups and dice, the last call, and a grid of all bids."""

from __future__ import annotations

import math
from typing import Any

from envs.core.drawing import Drawing, playable, returns_known, seat_name, whose_turn
from envs.core.kernels import CHANCE, OVER
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import NO_BID, NO_DIE, NOBODY, RULES, has_hand

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
    drawing = _DiceTable(game, state, viewer)
    results = returns_known(game, state, viewer)
    for seat in range(game.options.num_players):
        drawing.seat(seat, results.get(seat))
    drawing.last_call()
    drawing.grid()
    drawing.odds()
    drawing.foot()
    return drawing.svg()


class _DiceTable(Drawing):
    """A drawing of one position."""

    def __init__(self, game: LiarsDice, state: Any, viewer: int | None) -> None:
        self.game, self.viewer = game, viewer
        self.s, self.r = game.record(state), game.rules.view(RULES)[0]
        self.actions = playable(game, state, viewer)
        self.liar = game.facts.num_actions - 1
        self.cell_width = min(MAX_CELL_WIDTH, (WIDTH - GRID_LEFT - MARGIN) / int(self.r.num_dice))
        height = GRID_TOP + CELL_HEIGHT * int(self.r.bid_faces) + 58
        super().__init__(WIDTH, height, f"Liar's Dice, {whose_turn(int(self.s.turn), viewer)}")
        self.table()

    # ---- the seats -------------------------------------------------------------------------------

    def seat(self, seat: int, result: float | None) -> None:
        """Name, cup or dice, and how many dice are left and lost."""
        s, viewer = self.s, self.viewer
        wide = (WIDTH - 2 * MARGIN) / self.game.options.num_players
        x = MARGIN + wide * (seat + 0.5)
        plate = min(wide - 8, 170)
        num_dice = int(s.dice_left[seat])
        is_visible = viewer is None or s.turn == OVER or (viewer == seat and has_hand(s, seat))
        # A die that was lost by the last call of a match still lies on the table.
        dice = [int(die) for die in s.dice[seat] if die != NO_DIE]
        with self.group(opacity=None if num_dice or dice else 0.5):
            self.plate(x, 34, plate, 36, s.turn == seat)
            self.circle(x - plate / 2 + 14, 34, 6, fill=COLOURS[seat])
            name = seat_name(seat, viewer)
            self.text(x + 8, 34, name, 15, is_bold=True, max_width=plate - 34)
            if num_dice == 0 and not dice:
                self.text(x, 110, "out", 16, "dim")
            elif is_visible and dice:
                self._open_hand(x, wide, dice)
            else:
                self.cup(x, 112, min(92, wide - 20))
        num_lost = self.game.options.dice_by_seat[seat] - max(num_dice, len(dice))
        words, colour = f"{num_dice} {'die' if num_dice == 1 else 'dice'}", "dim"
        if result is not None:
            words, colour = f"{result:+.3g}", "chalk"
        side = 7.0 * num_lost
        self.text(x - side, SEATS_HEIGHT - 16, words, 14, colour, is_bold=result is not None)
        if num_lost:
            # Dice that are gone, in red beside the number of those that are left.
            with self.group(tip=f"{num_lost} lost"):
                for number in range(num_lost):
                    left = x - side + 30 + 14 * number
                    self.rect(left, SEATS_HEIGHT - 22, 12, 12, 2, fill="bad", stroke="white")

    def _open_hand(self, x: float, wide: float, dice: list[int]) -> None:
        """A cup that was lifted, and the dice that lay under it."""
        with self.group(x, 84, scale=0.55, turn=-16):
            self.cup(0, 0, 84)
        # More than three dice lie in two rows, so that they are large even at a full table.
        half = len(dice) // 2
        rows = [dice] if len(dice) <= 3 or wide > 190 else [dice[:half], dice[half:]]
        size = min(32 if len(rows) == 1 else 26, (wide - 16) / 3 - 4)
        for row, faces in enumerate(rows):
            y = 140 + (row - (len(rows) - 1) / 2) * (size + 4)
            for number, face in enumerate(faces):
                place = x + (number - (len(faces) - 1) / 2) * (size + 5)
                is_lit = self.s.turn == OVER and self._counts(int(self.s.bid), face)
                self.die(place, y, face, size, is_lit)

    def _counts(self, bid: int, face: int) -> bool:
        """Whether a die counts for a bid."""
        return bid != NO_BID and face in (self.game.bid(bid)[1], int(self.r.wild_face))

    # ---- the call before -------------------------------------------------------------------------

    def last_call(self) -> None:
        """The round that was called last: everybody saw its dice."""
        s, is_single = self.s, self.game.options.single_round
        y = SEATS_HEIGHT + 4
        self.rect(MARGIN, y, WIDTH - 2 * MARGIN, LAST_HEIGHT, 8, fill="felt_edge", opacity=0.6)
        if s.loser == NOBODY:
            self.text(WIDTH / 2, y + LAST_HEIGHT / 2, "no call yet", 14, "dim")
            return
        bid, hands = (s.bid, s.dice) if is_single else (s.last_bid, s.last_dice)
        count, face = self.game.bid(int(bid))
        shown = [[int(die) for die in hand if die != NO_DIE] for hand in hands]
        found = sum(self._counts(int(bid), die) for hand in shown for die in hand)
        who = "Liar!" if is_single else f"Player {s.last_caller} called player {s.last_bidder}:"
        verdict = f"bid {count} x {face}, found {found}. Player {s.loser} loses"
        verdict += "." if is_single else " a die."
        self.text(WIDTH / 2, y + 17, f"{who} {verdict}", 14, "chalk", max_width=WIDTH - 48)
        num_dice = sum(len(hand) for hand in shown)
        size = min(22.0, (WIDTH - 60 - 16 * len(shown)) / max(num_dice, 1) - 2)
        x = WIDTH / 2 - (num_dice * (size + 2) + 16 * (sum(map(bool, shown)) - 1)) / 2 + size / 2
        for seat, hand in enumerate(shown):
            if hand:
                width = len(hand) * (size + 2) - 2
                self.rect(x - size / 2, y + 54, width, 3, 1.5, fill=COLOURS[seat])
            for die in hand:
                self.die(x, y + 39, die, size, self._counts(int(bid), die))
                x += size + 2
            x += 16 if hand else 0

    # ---- the bids --------------------------------------------------------------------------------

    def _corner(self, count: int, face: int) -> tuple[float, float]:
        """Where the cell of a bid begins: a row for each face, a column for each count."""
        row = face - int(self.r.lowest_bid_face)
        return GRID_LEFT + self.cell_width * (count - 1), GRID_TOP + CELL_HEIGHT * row

    def grid(self) -> None:
        """All bids: those that may be made, those that were and by whom."""
        s, r, wide = self.s, self.r, self.cell_width
        for count in range(1, int(r.num_dice) + 1):
            x = GRID_LEFT + wide * (count - 0.5)
            colour = "chalk" if count <= s.num_in_play else "felt_light"
            self.text(x, GRID_TOP - 14, count, min(14, wide * 0.62), colour)
        for row in range(int(r.bid_faces)):
            face = int(r.lowest_bid_face) + row
            self.die(GRID_LEFT - 22, GRID_TOP + CELL_HEIGHT * (row + 0.5), face, 24)
        who = _bidders(self.game, s)
        for bid in range(self.liar):
            count, face = self.game.bid(bid)
            x, y = self._corner(count, face)
            box = (x + 1, y + 1, wide - 2, CELL_HEIGHT - 2, 4)
            if bid in self.actions:
                tip = f"{self.actions[bid]}: at least {count} of face {face}"
                with self.group(action=bid, tip=tip):
                    self.rect(*box, fill="plate", stroke="gold_edge")
                    if wide >= 18:
                        self.text(x + wide / 2, y + CELL_HEIGHT / 2, count, 13, "faint")
            elif bid in who:
                edge, thick = ("gold", 3.0) if bid == s.bid else ("felt_edge", 1.0)
                self.rect(*box, fill=COLOURS[who[bid]], stroke=edge, thick=thick)
                self.text(x + wide / 2, y + CELL_HEIGHT / 2, who[bid], 14, "white", is_bold=True)
            else:
                opacity = 0.45 if count <= s.num_in_play else 0.15
                self.rect(*box, fill="felt_edge", opacity=opacity)

    def odds(self) -> None:
        """How likely the standing bid and every higher one hold, if other dice are rolled anew."""
        s, r, viewer, wide = self.s, self.r, self.viewer, self.cell_width
        if viewer is None or s.turn == OVER or not has_hand(s, viewer):
            return
        own = [int(die) for die in s.dice[viewer] if die != NO_DIE]
        num_others = int(s.num_in_play) - len(own)
        standing = [] if s.bid == NO_BID else [int(s.bid)]
        with self.layer("odds"):
            for bid in [*standing, *(action for action in self.actions if action < self.liar)]:
                count, face = self.game.bid(bid)
                needed = count - sum(self._counts(bid, die) for die in own)
                share = (1 if r.wild_face in (0, face) else 2) / int(r.faces)
                odds = at_least(needed, num_others, share)
                x, y = self._corner(count, face)
                box = (x + 2, y + 2, wide - 4, CELL_HEIGHT - 4, 3)
                shade = round(0.15 + 0.9 * abs(odds - 0.5), 2)
                self.rect(*box, fill="plate")
                self.rect(*box, fill="good" if odds >= 0.5 else "bad", opacity=shade)
                words = f"{100 * odds:.0f}%"
                self.text(x + wide / 2, y + CELL_HEIGHT / 2, words, 12, "ink", max_width=wide - 6)

    def foot(self) -> None:
        """The standing bid in words, the wild face, and the button to call."""
        s, y, x = self.s, self.height - 34, MARGIN + 12
        self.button(WIDTH - 84, y, "liar!", self.liar if self.liar in self.actions else None, 120)
        if s.bid != NO_BID:
            count, face = self.game.bid(int(s.bid))
            self.text(x, y - 9, f"Player {s.bidder} bids", 13, "dim", "start")
            self.text(x, y + 10, f"{count} x", 18, "chalk", "start", is_bold=True)
            self.die(x + 56, y + 10, face, 22)
        else:
            words = "dice are rolled" if s.turn == CHANCE else "no bid yet"
            self.text(x, y, words, 15, "dim", "start")
        wild = int(self.r.wild_face)
        in_play = f"{s.num_in_play} {'die' if s.num_in_play == 1 else 'dice'} in play"
        self.text(WIDTH / 2 - 20, y - (10 if wild else 0), in_play, 14, "dim")
        if wild:
            self.die(WIDTH / 2 - 66, y + 11, wild, 20)
            self.text(WIDTH / 2 - 50, y + 11, "counts as every face", 13, "dim", "start")


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
