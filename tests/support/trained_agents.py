"""An agent that claims to come from a run, for reports that show how agents were made."""

from __future__ import annotations

from envs.core.game import Game
from tests.support.planted_agents import Folder


class Trained(Folder):
    """Passes with a given probability; ``path`` is the folder of its run."""

    def __init__(self, game: Game, path: str, passes: float = 0.5) -> None:
        super().__init__(game, passes)
        self.path = path
