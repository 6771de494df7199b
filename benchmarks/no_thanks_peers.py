"""No Thanks! in plain Python, as one would first write it: peers of ``no_thanks_speed``."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["PAY", "TAKE", "PlainNoThanks", "StatefulNoThanks", "alpha_n"]

PAY, TAKE = 0, 1


class PlainNoThanks:
    """The rules as one would first write them: sets of cards, lists of chips."""

    def __init__(self, rng: random.Random, num_players: int = 3) -> None:
        """Shuffle and turn up the first card."""
        cards = list(range(3, 36))
        rng.shuffle(cards)
        self.deck = cards[9:]
        self.chips = [11] * num_players
        self.cards: list[set[int]] = [set() for _ in range(num_players)]
        self.pot = 0
        self.turn = 0
        self.card = self.deck.pop()
        self.is_over = False

    def copy(self) -> PlainNoThanks:
        """The same position once more."""
        other = object.__new__(PlainNoThanks)
        other.deck, other.chips = self.deck[:], self.chips[:]
        other.cards = [set(cards) for cards in self.cards]
        other.pot, other.turn, other.card = self.pot, self.turn, self.card
        other.is_over = self.is_over
        return other

    def legal_actions(self) -> list[int]:
        """Pay, if there is a chip, or take."""
        return [PAY, TAKE] if self.chips[self.turn] > 0 else [TAKE]

    def step(self, action: int) -> None:
        """Pay for the card or take it."""
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not legal")
        if action == PAY:
            self.chips[self.turn] -= 1
            self.pot += 1
            self.turn = (self.turn + 1) % len(self.chips)
            return
        self.cards[self.turn].add(self.card)
        self.chips[self.turn] += self.pot
        self.pot = 0
        if self.deck:
            self.card = self.deck.pop()
        else:
            self.is_over = True

    def observation(self) -> npt.NDArray[np.float32]:
        """Seat, card, chips and everybody's cards from the player to move on, as in our game."""
        n = len(self.chips)
        seats = [(self.turn + ahead) % n for ahead in range(n)]
        parts = [
            [float(seat == self.turn) for seat in range(n)],
            [float(card == self.card) for card in range(3, 36)],
            [self.pot / 33, (len(self.deck) + 1) / 24],
            [self.chips[seat] / 33 for seat in seats],
            [float(ahead == 0) for ahead in range(n)],
            *([float(card in self.cards[seat]) for card in range(3, 36)] for seat in seats),
        ]
        return np.array([number for part in parts for number in part], np.float32)

    def scores(self) -> list[int]:
        """Chips minus lead cards."""
        return [
            chips - sum(card for card in cards if card - 1 not in cards)
            for chips, cards in zip(self.chips, self.cards, strict=True)
        ]


class StatefulNoThanks:
    """The rules with the interface of our games, as a reader of OpenSpiel would write them."""

    CHANCE, OVER = -1, -2

    def __init__(self, num_players: int = 3) -> None:
        """Nothing is dealt yet."""
        self.num_players = num_players
        self.left = list(range(3, 36))
        self.deck: list[int] = []
        self.chips = [11] * num_players
        self.owned: list[list[int]] = [[] for _ in range(num_players)]
        self.num_taken = 0
        self.pot = 0
        self.turn = self.CHANCE

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The cards that may come next into the deck, all equally likely."""
        return [(card, 1 / len(self.left)) for card in self.left]

    def legal_actions(self) -> list[int]:
        """Pay, if there is a chip, or take; at a chance node, the cards."""
        if self.turn == self.CHANCE:
            return self.left
        return [PAY, TAKE] if self.chips[self.turn] > 0 else [TAKE]

    def apply_action(self, action: int) -> None:
        """Deal a card, pay for the one that is face up, or take it."""
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not legal")
        if self.turn == self.CHANCE:
            self.left.remove(action)
            self.deck.append(action)
            if len(self.deck) == 24:
                self.turn = 0
        elif action == PAY:
            self.chips[self.turn] -= 1
            self.pot += 1
            self.turn = (self.turn + 1) % self.num_players
        else:
            self.owned[self.turn].append(self.deck[self.num_taken])
            self.chips[self.turn] += self.pot
            self.pot = 0
            self.num_taken += 1
            if self.num_taken == len(self.deck):
                self.turn = self.OVER

    def returns(self) -> list[float]:
        """Chips minus lead cards; 0 until the end."""
        if self.turn != self.OVER:
            return [0.0] * self.num_players
        return [
            float(chips - sum(card for card in owned if card - 1 not in owned))
            for chips, owned in zip(self.chips, self.owned, strict=True)
        ]


Values = list[int]


def _place(values: Values, player: int) -> float:
    own = values[player]
    better = sum(value > own for value in values)
    return 1 + better + (sum(value == own for value in values) - 1) / 2


def _prefers(player: int, one: Values, other: Values) -> bool:
    """Whether ``one`` is at least as good: place first, then the sum of differences."""
    mine = (-_place(one, player), 3 * one[player] - sum(one))
    return mine >= (-_place(other, player), 3 * other[player] - sum(other))


def alpha_n(
    game: PlainNoThanks,
    above: tuple[int, Values] | None,
    own: Values | None,
    counts: list[int],
    copied: Callable[[PlainNoThanks], PlainNoThanks],
) -> Values:
    """Max^n with pruning by placement for players who move several times in a row."""
    counts[0] += 1
    if game.is_over:
        return game.scores()
    player = game.turn
    taken = copied(game)
    taken.step(TAKE)
    if game.chips[player] == 0 or game.pot >= game.card:
        return alpha_n(taken, above, own, counts, copied)
    first = alpha_n(taken, above, own, counts, copied)
    if above is not None:
        his, mine = _place(above[1], above[0]), _place(first, player)
        if (his == 1 and mine <= 1.5) or (his <= 1.5 and mine == 1):
            return first
    best = first if own is None or _prefers(player, first, own) else own
    paid = copied(game)
    paid.step(PAY)
    second = alpha_n(paid, (player, best), None, counts, copied)
    return first if _prefers(player, first, second) else second
