"""How tables speak of an agent's distance from an equilibrium."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["distance_notes", "distance_title", "in_figures"]


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
    title = _capital(distance_title(num_players))
    asked = [name for name, value, policy in standings if value is not None and policy != "exact"]
    missing: dict[str, list[str]] = {}
    for name, value, policy in standings:
        if value is None:
            missing.setdefault(policy, []).append(name)
    if len(missing) == 1 and len(*missing.values()) == len(standings):
        return [f"No {distance_title(num_players)}: {next(iter(missing))}."]
    notes = [f"{title} after ~: of an agent that was asked for its policy."] if asked else []
    title = distance_title(num_players)
    return notes + [f"No {title} of {', '.join(who)}: {why}." for why, who in missing.items()]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
