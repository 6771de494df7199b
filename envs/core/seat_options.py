"""Options that name a seat, or have a number for each of them."""

from __future__ import annotations

from typing import Any

from common.errors import OptionError
from envs.core.options import Options


class SeatOptions(Options):
    """Options of a game in which seats are dealt with one by one."""

    num_players: int

    def check_seat(self, name: str) -> None:
        """Refuse a seat that is not at the table in an option that may also be one of two words."""
        seat = getattr(self, name)
        if isinstance(seat, int) and seat >= self.num_players:
            allowed: Any = type(self).model_fields[name].json_schema_extra
            first, second = allowed.choices
            raise OptionError(
                f"{name} must be a seat from 0 to {self.num_players - 1}, '{first}' or '{second}', "
                f"not {seat}"
            )

    def settle_list(self, name: str) -> None:
        """Refuse a list of another length than the table; the same game has one spelling."""
        values = getattr(self, name)
        if isinstance(values, tuple):
            if len(values) != self.num_players:
                raise OptionError(
                    f"{name} must list {self.num_players} numbers, one for each player, "
                    f"not {len(values)}"
                )
            if len(set(values)) == 1:
                object.__setattr__(self, name, values[0])

    def by_seat(self, name: str) -> tuple[int, ...]:
        """The number of every seat, from a list or one for all."""
        values = getattr(self, name)
        return values if isinstance(values, tuple) else (values,) * self.num_players
