"""Agents that fail in ways that are not polite."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from agents.base import Agent, Views
from envs.core.game import Game


class Exits(Agent):
    """Leaves Python when it is asked."""

    def act(self, views: Views) -> Any:
        sys.exit(3)


class _Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Unspeakable(Agent):
    """Raises what cannot even be printed."""

    def act(self, views: Views) -> Any:
        raise _Unspeakable


class Verbose(Agent):
    """Raises a megabyte of markup and escape sequences."""

    def act(self, views: Views) -> Any:
        raise ValueError("<script>alert(1)</script>\x1b[31m|\n" * 30_000)


class Unmade(Agent):
    """Cannot be made."""

    def __init__(self, game: Game) -> None:
        raise ZeroDivisionError("in its\nconstructor")

    def act(self, views: Views) -> Any:
        raise NotImplementedError


class Secretive(Agent):
    """Plays, but fails when it is asked for its policy."""

    def act(self, views: Views) -> Any:
        return views.masks.argmax(axis=1)

    def policy(self, views: Views) -> Any:
        raise SystemExit("secret")


class Boastful(Agent):
    """Says that it does everything five times as often as it can."""

    def act(self, views: Views) -> Any:
        return views.masks.argmax(axis=1)

    def policy(self, views: Views) -> Any:
        return 5.0 * np.eye(views.masks.shape[1])[self.act(views)]
