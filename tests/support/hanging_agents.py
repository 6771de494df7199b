"""Agents that do not come back, each in a way that something cannot stop."""

from __future__ import annotations

import itertools
import os
import time
from typing import Any

from agents import make_agent
from agents.base import Agent, Views
from envs.core.game import Game
from tests.support.held_clock import hang, let_time_pass


class Hanging(Agent):
    """A random player that hangs in some games: those whose key leaves no rest.

    Args:
        game: the game to play.
        kind: how it hangs.
        one_in: 1 hangs always, 8 in every eighth information set.
        home: a process in which it does not hang when it is made.
    """

    def __init__(self, game: Game, kind: str, one_in: int = 1, home: int = 0) -> None:
        super().__init__(game)
        if kind == "when it is made" and os.getpid() != home:
            hang()
        self.kind = kind
        self.one_in = one_in
        self._random = make_agent("random", game)

    def act(self, views: Views) -> Any:
        if (views.keys % self.one_in == 0).any():
            self.hang()
        return self._random.act(views)

    def hang(self) -> None:
        if self.kind == "dies":
            os._exit(3)
        let_time_pass()
        if self.kind == "loop":
            while True:
                pass
        if self.kind == "sleep":
            time.sleep(1000)
        if self.kind == "swallows everything":
            while True:
                try:
                    time.sleep(1000)
                except BaseException:
                    continue
        if self.kind == "compiled loop":
            sum(itertools.repeat(1))  # in C, where no signal is looked at


class Timed(Agent):
    """A random player that is given a time and notes it."""

    def __init__(self, game: Game, time_per_move: float | None = None, device: str = "") -> None:
        super().__init__(game)
        self.time_per_move = time_per_move
        self.device = device
        self._random = make_agent("random", game)

    def act(self, views: Views) -> Any:
        return self._random.act(views)


class Rememberer(Agent):
    """Chooses by what it has seen since the start, and by what it saw when it last chose."""

    wants_tokens = True
    num_past = 2

    def act(self, views: Views) -> Any:
        seen = [sum(views.tokens(row)) for row in range(len(views))]
        past = views.past_observations(2).sum(axis=(1, 2)).astype(int)
        counts = [int(a + b) for a, b in zip(seen, past, strict=True)]
        legal = [[a for a, is_legal in enumerate(mask) if is_legal] for mask in views.masks]
        return [options[count % len(options)] for options, count in zip(legal, counts, strict=True)]
