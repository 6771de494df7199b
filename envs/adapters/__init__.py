"""The faces of a game: PettingZoo (``aec``), vectors (``vector``), Gymnasium (``single_agent``).

Importing this package enters every game in both registries, so that ``pettingzoo.make("aec",
"masquerade/kuhn_v0")`` and ``gymnasium.make("masquerade/kuhn-v0")`` find them.
"""

from envs.adapters.aec import GameEnv
from envs.adapters.registration import register_all
from envs.adapters.seats import SeatGames
from envs.adapters.single_agent import SingleAgentEnv
from envs.adapters.vector import SeatVectorEnv, VectorEnv, VectorStep

__all__ = [
    "GameEnv",
    "SeatGames",
    "SeatVectorEnv",
    "SingleAgentEnv",
    "VectorEnv",
    "VectorStep",
    "register_all",
]

register_all()
