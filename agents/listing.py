"""What there is, in words: games, players and learners. Nothing is imported to say it."""

from __future__ import annotations

from agents import AGENTS, LEARNERS
from common.outline import attribute_of, summary_of
from envs import GAMES

__all__ = ["list_games", "list_learners", "list_players"]


def list_games() -> list[str]:
    """A line for each game.

    >>> list_games()[1]
    '  kuhn_v0: Kuhn poker'
    """
    named = {name: summary_of(place).partition(";")[0] for name, place in sorted(GAMES.items())}
    return [f"  {name}: {words.rstrip('.')}" for name, words in named.items()]


def list_players() -> list[str]:
    """A line for each kind of player.

    >>> list_players()[0]
    '  random: Plays uniformly among the legal actions.'
    """
    return [
        f"  {name}{':RUN' if name in LEARNERS else ''}: {summary_of(place)}"
        for name, place in AGENTS.items()
    ]


def list_learners() -> list[str]:
    """A line for each learner, with what its steps are."""
    return [
        f"  {name}: {summary_of(place)} Counts {attribute_of(place, 'unit')}."
        for name, place in LEARNERS.items()
    ]
