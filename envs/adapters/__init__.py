"""The faces of a game: PettingZoo (``aec``), vectors (``vector``), Gymnasium (``single_agent``).

Importing this package enters every game in both registries, so that ``pettingzoo.make("aec",
"masquerade/kuhn_v0")`` and ``gymnasium.make("masquerade/kuhn-v0")`` find them. A face is imported
when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from common.imports import load
from envs import register_envs

if TYPE_CHECKING:
    from envs.adapters.aec import GameEnv
    from envs.adapters.single_agent import SingleAgentEnv
    from envs.adapters.vector import SeatVectorEnv, VectorEnv, VectorStep

__all__ = [
    "GameEnv",
    "SeatVectorEnv",
    "SingleAgentEnv",
    "VectorEnv",
    "VectorStep",
]

_HOMES = {
    "GameEnv": "aec",
    "SeatVectorEnv": "vector",
    "SingleAgentEnv": "single_agent",
    "VectorEnv": "vector",
    "VectorStep": "vector",
}


register_envs()


def __getattr__(name: str) -> Any:
    """Import a face when it is first asked for."""
    return load(__name__, _HOMES, name)
