"""Models of Stable-Baselines3: learners of ``train.py``, and an environment for its own loops."""

from __future__ import annotations
