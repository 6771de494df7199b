"""Facts of games that nobody has written: seats by roles and teams."""

from __future__ import annotations

from collections.abc import Sequence

from envs.core.facts import Facts, Seat

__all__ = ["facts_of"]


def facts_of(
    roles: Sequence[str],
    teams: Sequence[int] | None = None,
    objective: str = "return",
    most: float = 1.0,
) -> Facts:
    """A game with these roles; everybody alone unless teams are given."""
    teams = range(len(roles)) if teams is None else teams
    seats = tuple(Seat(role, team, -most, most) for role, team in zip(roles, teams, strict=True))
    return Facts(
        num_actions=2, num_chance_outcomes=2, max_length=9, seats=seats, objective=objective
    )
