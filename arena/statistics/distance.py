"""An agent's distance from an equilibrium, and how tables speak of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Distance", "distance_notes", "distance_title", "in_figures"]


@dataclass(frozen=True)
class Distance:
    """One agent's distance from an equilibrium."""

    name: str
    nash_conv: float | None = None
    """What all seats could gain together; 0 in an equilibrium, None if it is not known."""
    exploitability: float | None = None
    """NashConv divided by the number of players."""
    best: tuple[float, ...] = ()
    """What a best response gets in each seat, when all others follow the policy."""
    own: tuple[float, ...] = ()
    """What each seat gets when everybody follows the policy."""
    num_samples: int = 0
    """How often it was asked in every information set; 0 when it told its policy."""
    reason: str = ""
    """Why nothing is known."""

    @property
    def how(self) -> str:
        """How the policy is known, or why it is not."""
        if self.nash_conv is None:
            return self.reason
        return f"asked {self.num_samples:,} times" if self.num_samples else "exact"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "agent": self.name,
            "nash_conv": self.nash_conv,
            "exploitability": self.exploitability,
            "best_response_values": list(self.best) or None,
            "own_values": list(self.own) or None,
            "is_exact": self.nash_conv is not None and self.num_samples == 0,
            "num_samples": self.num_samples,
            "reason": self.reason,
        }


def distance_title(num_players: int) -> str:
    """What tables call the distance from an equilibrium."""
    return "exploitability" if num_players == 2 else "NashConv"


def in_figures(value: float | None, is_estimated: bool = False) -> str:
    """Four decimals, or two figures of what is smaller than those show.

    >>> in_figures(0.91666), in_figures(0.000123), in_figures(1e-17), in_figures(None)
    ('0.9167', '1.2e-04', '0', '-')
    >>> in_figures(0.5, is_estimated=True)
    '~0.5000'
    """
    if value is None:
        return "-"
    if abs(value) < 1e-9:
        return "0"
    text = f"{value:.4f}" if abs(value) >= 1e-3 else f"{value:.1e}"
    return f"~{text}" if is_estimated else text


def distance_notes(
    standings: Sequence[tuple[str, float | None, str]], num_players: int
) -> list[str]:
    """Whose distance from an equilibrium is not exact, and why; (name, NashConv, policy) each."""
    title = distance_title(num_players)
    asked = [name for name, value, policy in standings if value is not None and policy != "exact"]
    missing: dict[str, list[str]] = {}
    for name, value, policy in standings:
        if value is None:
            missing.setdefault(policy, []).append(name)
    if len(missing) == 1 and len(*missing.values()) == len(standings):
        return [f"No {title}: {next(iter(missing))}."]
    of_asked = f"{title[0].upper()}{title[1:]} after ~: of an agent that was asked for its policy."
    notes = [of_asked] if asked else []
    return notes + [f"No {title} of {', '.join(who)}: {why}." for why, who in missing.items()]
