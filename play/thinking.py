"""Agents who move at tables: made once for all tables of a game, a bounded number at a time.

Rule players and tables of policies answer within a moment and think in threads of the server.
Everybody else (searches, networks, classes and programs of users) has a process of its own, which
is killed when it takes too long, so no agent can hold up a page.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from agents import AGENTS, agent_class, make_agent, split_path
from agents.base import Agent, RowsFailed, Views
from agents.spec import AgentSpec
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from play.catalogue import OUTSIDERS

__all__ = ["Answer", "Thinkers"]

# Where classes live that answer within a moment.
QUICK = ("agents.uniform", "agents.games.", "agents.policy", "agents.tabular.")
# Searches keep to their nodes or their seconds.
SEARCH = ("agents.search.",)
MAX_AGENTS = 48
MAX_THREADS = 8
MAX_ADVISERS = 2
ADVICE_SECONDS = 60.0
"""What advice may take, waiting for its turn included."""
DEFAULT_SECONDS = 20.0
"""What an agent without a clock of its own may take for a move."""
GRACE = 15.0
"""How much later than its limit an answer is waited for: a process may have to start first."""

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """What an agent does at a decision."""

    action: int
    rngs: Any
    """Its generator as it left it."""


class Thinkers:
    """All agents of a server."""

    def __init__(self, max_agents: int = MAX_AGENTS, max_threads: int = MAX_THREADS) -> None:
        """No agent is made yet."""
        self._agents: OrderedDict[Any, Agent] = OrderedDict()
        self._locks: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()
        self._max_agents = max_agents
        self._pool = ThreadPoolExecutor(max_threads, thread_name_prefix="thinking")
        # Advice may take long: moves never wait for it.
        self._advisers = ThreadPoolExecutor(MAX_ADVISERS, thread_name_prefix="advising")

    def close(self) -> None:
        """Let go of all agents and their processes."""
        for pool in (self._pool, self._advisers):
            pool.shutdown(wait=False, cancel_futures=True)
        for agent in self._agents.values():
            _stop(agent)
        self._agents.clear()

    # ---- making ----------------------------------------------------------------------------------

    def agent(self, game: Game, spec: str, params: Mapping[str, Any] | None = None) -> Agent:
        """The agent of a specification, made if it is not there; may take seconds."""
        params = dict(params or {})
        key = game, spec, tuple(sorted(params.items()))
        with self._lock:
            if key in self._agents:
                self._agents.move_to_end(key)
                return self._agents[key]
            agent = _build(game, spec, params)
            self._agents[key] = agent
            self._locks[id(agent)] = threading.Lock()
            while len(self._agents) > self._max_agents:
                _, oldest = self._agents.popitem(last=False)
                _stop(oldest)  # a table that still has it starts its process anew
            return agent

    def adviser(
        self, game: Game, spec: str, seconds: float | None = None, is_here: bool = False
    ) -> Agent:
        """An agent to be asked for advice; a search is asked here, for only so it tells all.

        Args:
            game: what is played.
            spec: whom to ask.
            seconds: for a search.
            is_here: ask everybody here who is one of the project's own.
        """
        agent_id = split_path(spec)[0]
        found = agent_class(agent_id)
        params: dict[str, Any] = {} if seconds is None else {"seconds": seconds}
        is_ours = agent_id in AGENTS and agent_id not in OUTSIDERS
        if found.__module__.startswith(SEARCH) or (is_here and is_ours):
            params["is_here"] = True
        return self.agent(game, spec, params)

    async def run(self, job: Callable[[], T]) -> T:
        """Do something in a thread, such as making an agent."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, job)

    async def ask(self, job: Callable[[], T]) -> T:
        """Have advice given in a thread."""
        asked = asyncio.get_running_loop().run_in_executor(self._advisers, job)
        try:
            return await asyncio.wait_for(asked, ADVICE_SECONDS)
        except TimeoutError:
            raise MasqueradeError(
                f"no advice within {ADVICE_SECONDS:g} s: ask somebody quicker"
            ) from None

    def lock(self, agent: Agent) -> threading.Lock:
        """To be held while an agent is asked: it need not know of threads."""
        return self._locks.setdefault(id(agent), threading.Lock())

    # ---- asking ----------------------------------------------------------------------------------

    def answer(self, agent: Agent, views: Views) -> Answer:
        """What the agent does in the only row of ``views``."""
        rngs = views.rngs  # the array that is handed out, not what the agent may put in its place
        with self.lock(agent):
            try:
                actions = np.asarray(agent.act(views))
            except RowsFailed as failure:
                raise MasqueradeError(next(iter(failure.reasons.values()))) from failure
        if actions.shape != (1,) or actions.dtype.kind not in "iu":
            raise MasqueradeError(f"answered {actions!r} instead of one action")
        return Answer(int(actions[0]), rngs)

    async def think(self, agent: Agent, views: Views) -> Answer:
        """The same in a thread, within its time."""
        limit = (agent.time_per_move or getattr(agent, "limit", None) or DEFAULT_SECONDS) + GRACE
        try:
            return await asyncio.wait_for(self.run(lambda: self.answer(agent, views)), limit)
        except TimeoutError:
            raise MasqueradeError(f"no answer within {limit:g} s") from None


def _build(game: Game, spec: str, params: dict[str, Any]) -> Agent:
    agent_id, _ = split_path(spec)
    found = agent_class(agent_id)
    seconds = params.pop("seconds", None)
    is_here = params.pop("is_here", False)
    if is_here:
        if found.takes("time_per_move"):
            params["time_per_move"] = seconds
        return make_agent(spec, game, **params)
    is_quick = found.__module__.startswith(QUICK) and seconds is None
    limit = None if is_quick else (seconds or DEFAULT_SECONDS)
    parsed = AgentSpec.parse({"id": spec, "params": params, "time_per_move": limit})
    if not is_quick and seconds is None and found.takes("time_per_move"):
        # Its own measure decides (nodes, worlds); the clock only guards.
        parsed.params["time_per_move"] = None
    agent = parsed.build(game)
    agent.begin_match()
    return agent


def _stop(agent: Agent) -> None:
    stop = getattr(agent, "stop", None)
    if stop is not None:
        stop()
