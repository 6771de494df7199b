"""Random players that take their process along, or wait in it, as they are told by files."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from agents import make_agent
from agents.base import Agent, Views
from envs.core.game import Game


class _Noted(Agent):
    """A random player that leaves the number of its process in a folder."""

    def __init__(self, game: Game, folder: str) -> None:
        super().__init__(game)
        self.folder = Path(folder)
        self._random = make_agent("random", game)

    def act(self, views: Views) -> Any:
        (self.folder / f"process {os.getpid()}").touch()
        return self._random.act(views)


class Mortal(_Noted):
    """Dies when it is asked, so many times; who dies leaves a file."""

    def __init__(self, game: Game, folder: str, deaths: int = 1, has_signal: bool = False) -> None:
        super().__init__(game, folder)
        self.deaths = deaths
        self.has_signal = has_signal

    def act(self, views: Views) -> Any:
        actions = super().act(views)
        if len(list(self.folder.glob("death *"))) < self.deaths:
            (self.folder / f"death {os.getpid()}").touch()
            if self.has_signal:
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(7)
        return actions


class Patient(_Noted):
    """Waits at every move until there is a file called ``go``; who waits says where, in a file."""

    def act(self, views: Views) -> Any:
        actions = super().act(views)
        (self.folder / f"waiting {_node()} {os.getpid()}").touch()
        while not (self.folder / "go").exists():
            time.sleep(0.01)
        return actions


class Unready(Agent):
    """Fails before the first game, which is no mistake in a game."""

    def begin_match(self) -> None:
        raise RuntimeError("not ready")

    def act(self, views: Views) -> Any:
        raise NotImplementedError


def _node() -> str:
    """The Ray node this runs on."""
    import ray

    return str(ray.get_runtime_context().get_node_id()) if ray.is_initialized() else "here"
