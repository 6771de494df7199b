"""Every game under ``masquerade/`` in the registries of PettingZoo and Gymnasium.

PettingZoo has a registry since version 1.27; with an older one ``envs.make_env`` makes the same.
"""

from __future__ import annotations

import gymnasium
import pettingzoo

from envs import GAMES

__all__ = ["gymnasium_id", "pettingzoo_id", "register_all"]


def pettingzoo_id(game_id: str) -> str:
    """``kuhn_v0`` -> ``masquerade/kuhn_v0``."""
    return f"masquerade/{game_id}"


def gymnasium_id(game_id: str) -> str:
    """``kuhn_v0`` -> ``masquerade/kuhn-v0``, in Gymnasium's spelling."""
    name, version = game_id.rsplit("_v", 1)
    return f"masquerade/{name}-v{version}"


def register_all() -> None:
    """Enter what is not entered yet; calling it again changes nothing."""
    has_registry = hasattr(pettingzoo, "aec_registry")
    for game_id in GAMES:
        if has_registry and pettingzoo_id(game_id) not in pettingzoo.aec_registry:
            pettingzoo.register(
                "aec",
                pettingzoo_id(game_id),
                entry_point="envs:make_env",
                kwargs={"game_id": game_id},
            )
        if gymnasium_id(game_id) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(game_id),
                entry_point="envs.adapters.single_agent:make_single_agent_env",
                vector_entry_point="envs.adapters.vector:make_seat_vector_env",
                kwargs={"game_id": game_id},
            )
