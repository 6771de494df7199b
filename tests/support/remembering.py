"""Players that remember games, such as what they held, to know the cards when a deal returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from agents import make_agent
from agents.base import Agent, Views
from envs.core.game import Game

MEMORY: dict[str, list[Any]] = {}
"""Outlives every agent and every match of a process."""
PUBLIC = {"holdem_v0": "flop"}
"""A field that is the same from both sides of a deal, and in no other deal."""


def piece(views: Views, row: int, name: str) -> list[int]:
    """The places of an observation's field that are not zero, the last one first."""
    start = 0
    for field in views.game.fields:
        if field.name == name:
            found = views.observations[row, start : start + field.size]
            return [int(place) for place in np.flatnonzero(found)][::-1]
        start += field.size
    raise KeyError(name)


class Rememberer(Agent):
    """An equilibrium, or random, until it knows the other hand; then it bets with the better one.

    Args:
        game: the game.
        where: where the memory is hidden: ``module``, ``class`` or ``file``.
        folder: of the file.
        links: by what a deal is recognised: the ``id`` of its game, its place in the ``order`` of
            games, or what is ``public`` in it.
        has_memory: without it, it plays as if it met every deal for the first time.
    """

    memory: dict[str, list[Any]] = {}

    def __init__(
        self,
        game: Game,
        where: str = "module",
        folder: str = "",
        links: tuple[str, ...] = ("id", "public"),
        has_memory: bool = True,
    ) -> None:
        super().__init__(game)
        self.links = links
        self.has_memory = has_memory
        self._file = Path(folder) / "memory" if where == "file" else None
        self._memory = {"module": MEMORY, "class": Rememberer.memory}.get(where, {})
        self._strange = make_agent("kuhn_rule" if game.id == "kuhn_v0" else "random", game)
        self._order: dict[int, int] = {}
        self._num_matches = -1

    def begin_match(self) -> None:
        self._order = {}
        self._num_matches += 1
        if self._file and self._file.exists():
            lines = self._file.read_text().splitlines()
            self._memory.update(dict(map(json.loads, lines)))

    def act(self, views: Views) -> Any:
        actions = np.asarray(self._strange.act(views))
        for row in range(len(views)):
            seat, hand = int(views.seats[row]), piece(views, row, self._hand)
            for link in self._links_of(views, row):
                other = self._recall(link, seat, hand)
                if other is not None and self.has_memory:
                    legal = np.flatnonzero(views.masks[row])
                    actions[row] = legal[-1] if hand > other else legal[0]
                    break
        return actions

    @property
    def _hand(self) -> str:
        return {"kuhn_v0": "card", "holdem_v0": "own_cards"}.get(self.game.id, "hand")

    def _links_of(self, views: Views, row: int) -> list[str]:
        game_id = int(views.game_ids[row])
        place = self._order.setdefault(game_id, len(self._order))
        found = {"id": str(game_id), "order": f"game {self._num_matches // 2}-{place}"}
        public = PUBLIC.get(self.game.id)
        if public and (cards := piece(views, row, public)):
            found["public"] = str(cards)
        return [found[link] for link in self.links if link in found]

    def _recall(self, link: str, seat: int, hand: list[int]) -> list[int] | None:
        """What the other side held, if it was met from there; and a note of what is held now."""
        if link in self._memory:
            where, other = self._memory[link]
            return other if where != seat else None
        self._memory[link] = [seat, hand]
        if self._file:
            with self._file.open("a") as file:
                file.write(json.dumps([link, [seat, hand]]) + "\n")
        return None


class Counter(Agent):
    """Plays like the rule until its class has seen a number of decisions, then passes always."""

    seen = 0

    def __init__(self, game: Game, patience: int = 150) -> None:
        super().__init__(game)
        self.patience = patience
        self._rule = make_agent("kuhn_rule", game)

    def act(self, views: Views) -> Any:
        Counter.seen += len(views)
        return self._rule.act(views) * (Counter.seen < self.patience)


class OneSeated(Agent):
    """Fails as soon as one process has seen the games of a match from two seats."""

    seats: set[int] = set()

    def begin_match(self) -> None:
        OneSeated.seats.clear()

    def act(self, views: Views) -> Any:
        OneSeated.seats.update(map(int, views.seats))
        if len(OneSeated.seats) > 1:
            raise RuntimeError(f"seen from seats {sorted(OneSeated.seats)}")
        return views.masks.argmax(axis=1)


class Collector(Agent):
    """Keeps every hand of hold'em that it was dealt, and folds or checks."""

    hands: set[tuple[int, ...]] = set()

    def act(self, views: Views) -> Any:
        Collector.hands.update(tuple(piece(views, row, "own_cards")) for row in range(len(views)))
        return views.masks.argmax(axis=1)
