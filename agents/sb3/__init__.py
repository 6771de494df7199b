"""Models of Stable-Baselines3, trained through our single-agent environment."""

from __future__ import annotations
