"""What poker with one private card shares: its words, its picture, and what may be dealt once."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from envs.core.drawing import Layout
from envs.core.game import Game
from envs.core.poker_pictures import draw_poker

__all__ = ["SmallPoker"]


class SmallPoker(Game):
    """A game whose record has the ``cards`` of the seats, below 0 until they are dealt."""

    move_names: ClassVar[tuple[str, ...]]
    """The actions in words, by their numbers."""

    @abstractmethod
    def moves(self, s: Any) -> dict[str, list[tuple[int, str]]]:
        """By round of betting who did what, in order."""

    @abstractmethod
    def chips(self, s: Any, seat: int) -> int:
        """What a seat has put in so far."""

    @abstractmethod
    def has_folded(self, s: Any, seat: int) -> bool:
        """Whether a seat has given up the pot."""

    def public_card(self, s: Any) -> int | None:
        """The card that all share, below 0 until it is turned up; ``None`` if there is none."""
        return None

    def card_name(self, card: int) -> str:
        """Rank of a card, or a dash for none."""
        num_ranks = self.facts.num_players + 1
        names = "JQK" if num_ranks == 3 else "9TJQKA"[-num_ranks:]
        return names[card] if card >= 0 else "-"

    def action_text(self, state: Any, action: int) -> str:
        """One of ``move_names``."""
        return self.move_names[action]

    def chance_text(self, state: Any, outcome: int) -> str:
        """The card that is dealt."""
        return f"deals {self.card_name(outcome)}"

    def seat_text(self, s: Any, seat: int) -> str:
        """What everybody sees of a seat."""
        return f"{self.chips(s, seat)} in the pot"

    def render(self, state: Any, viewer: int | None = None) -> str:
        """The public card, then one line per player: card, chips in the pot, who is to move."""
        s, turn = self.record(state), self.kernels.turn(state, self.rules)
        public = self.public_card(s)
        lines = [] if public is None else [f"public card {self.card_name(public)}"]
        for seat in range(self.facts.num_players):
            is_visible = viewer in (None, seat) or s.cards[seat] < 0
            card = self.card_name(s.cards[seat]) if is_visible else "?"
            mark = ">" if turn == seat else " "
            lines.append(f"{mark} player {seat}: card {card}, {self.seat_text(s, seat)}")
        return "\n".join(lines)

    def draw(self, state: Any, viewer: int | None = None, layout: Layout = "wide") -> str:
        """See ``envs/core/poker_pictures.py``."""
        return draw_poker(self, state, viewer)

    def conserved(self, state: Any) -> dict[str, float]:
        """No card may be dealt twice."""
        s = self.record(state)
        dealt = [card for card in (*s.cards, self.public_card(s)) if card is not None and card >= 0]
        return {"duplicate cards": float(len(dealt) - len(set(dealt)))}
