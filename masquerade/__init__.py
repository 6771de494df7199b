"""Masquerade as one package: its version, its environments, and its commands.

>>> import masquerade
>>> env = masquerade.make("kuhn_v0")
>>> env.reset(seed=1)
>>> env.agent_selection
'player_0'

``register_envs`` enters every game in the registries of PettingZoo and Gymnasium. The commands are
``masquerade train | evaluate | play``, or ``python -m masquerade``. Everything else is in the rooms
beside it: ``envs``, ``agents``, ``arena``, ``training``, ``play``.
"""

from __future__ import annotations

from envs import make_env as make
from envs import register_envs

__all__ = ["__version__", "make", "register_envs"]

__version__ = "0.1.0"
