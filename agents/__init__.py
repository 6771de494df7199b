"""The players. ``make_agent("random", game)`` makes one by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.core.errors import UnknownNameError
from envs.core.lazily import look_up

if TYPE_CHECKING:
    from agents.base import Agent
    from envs.core.game import Game

__all__ = ["AGENTS", "agent_class", "make_agent"]

AGENTS: dict[str, str] = {
    "random": "agents.uniform:RandomAgent",
    "kuhn_rule": "agents.kuhn_rule:KuhnRule",
    "leduc_rule": "agents.leduc_rule:LeducRule",
    "liars_dice_rule": "agents.liars_dice_rule:LiarsDiceRule",
}
"""Every agent: id -> where its class is; imported when asked for."""


def agent_class(agent_id: str) -> type[Agent]:
    """Find the class of an agent by its id, or any class of yours as ``"module:Class"``."""
    table = {**AGENTS, agent_id: agent_id} if ":" in agent_id else AGENTS
    try:
        found: type[Agent] = look_up("agent", table, agent_id)
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"agent '{agent_id}' cannot be found: {error}") from error
    return found


def make_agent(agent_id: str, game: Game, **params: Any) -> Agent:
    """Make an agent for a game.

    >>> from envs import make_game
    >>> make_agent("random", make_game("kuhn_v0"))
    RandomAgent(kuhn_v0())
    """
    return agent_class(agent_id)(game, **params)
