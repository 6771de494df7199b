"""The pictures of the games, one module each; a game's ``draw`` imports its own when asked."""

from __future__ import annotations

__all__: list[str] = []
