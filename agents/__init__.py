"""The players. ``make_agent("random", game)`` makes one by its id."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.base import Agent
    from envs.core.game import Game

__all__ = ["AGENTS", "agent_class", "make_agent"]

AGENTS: dict[str, str] = {
    "random": "agents.uniform:RandomAgent",
}
"""Every agent: id -> where its class is; imported when asked for."""


def agent_class(agent_id: str) -> type[Agent]:
    """Find the class of an agent by its id."""
    if agent_id not in AGENTS:
        from envs.core.errors import UnknownNameError, nearest

        raise UnknownNameError(f"unknown agent '{agent_id}': {nearest(agent_id, AGENTS)}")
    module, name = AGENTS[agent_id].split(":")
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


def make_agent(agent_id: str, game: Game, **params: Any) -> Agent:
    """Make an agent for a game.

    >>> from envs import make_game
    >>> make_agent("random", make_game("kuhn_v0"))
    RandomAgent(kuhn_v0())
    """
    return agent_class(agent_id)(game, **params)
