"""The main pot and the side pots of a hand, for words, pictures and tests."""

from __future__ import annotations

from typing import Any, NamedTuple

from envs.holdem.records import IN

__all__ = ["Pot", "side_pots"]


class Pot(NamedTuple):
    """Chips, and the seats that can win them."""

    chips: int
    seats: tuple[int, ...]


def side_pots(s: Any, num_players: int) -> list[Pot]:
    """The pots as they would be shared out now, the main pot first.

    A bet that nobody has matched is a pot of its own that only the bettor can win.
    """
    paid = [int(chips) for chips in s.paid[:num_players]]
    seats_in = [seat for seat in range(num_players) if s.status[seat] == IN]
    levels = sorted({paid[seat] for seat in seats_in if paid[seat] > 0})
    pots, below = [], 0
    for level in levels:
        # What players who folded have paid beyond the last level belongs to the last pot.
        upper = max(paid) if level == levels[-1] else level
        chips = sum(max(min(p, upper) - below, 0) for p in paid)
        pots.append(Pot(chips, tuple(seat for seat in seats_in if paid[seat] >= level)))
        below = level
    return pots
