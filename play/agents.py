"""Agents who move at tables: made once for all tables of a game, a bounded number at a time.

Rule players and trained policies answer within a moment and think in threads of the server. Whoever
takes work for a move (searches, classes and programs of users) has a process of its own, which is
killed when it takes too long. Four kinds of work have threads of their own, so that none waits for
another: moves of those who are quick, moves of those who are not, advice, and all else, such as
opening games. Time counts from when an agent is asked, not while it waits for its turn.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from agents import AGENTS, agent_class, make_agent, split_path
from agents.base import Agent, RowsFailed, Views
from agents.learning.device import computing_on
from agents.processes.outside import OutsideAgent
from agents.spec import AgentSpec
from common.errors import MasqueradeError
from envs.core.game import Game
from play.catalogue import OUTSIDERS

MAX_AGENTS = 48
MAX_THREADS = 8
MAX_ADVISERS = 2
ADVICE_SECONDS = 60.0
"""What advice may take, waiting for its turn included."""
DEFAULT_SECONDS = 20.0
"""What an agent without a clock of its own may take for a move."""
GRACE = 15.0
"""How much later an answer is waited for where an agent keeps to seconds or nodes of its own."""

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """What an agent does at a decision."""

    action: int
    rngs: Any
    """Its generator as it left it."""


def is_quick(agent_id: str) -> bool:
    """Whether an agent answers within a moment, by what it is: it can think in our threads.

    >>> is_quick("kuhn_rule"), is_quick("ismcts"), is_quick("external")
    (True, False, False)
    """
    if agent_id not in AGENTS or agent_id in OUTSIDERS:
        return False
    found = agent_class(agent_id)
    is_network = found.takes("device") and not found.keeps_time
    return not (found.thinks_long or found.takes("time_per_move") or is_network)


class Lane:
    """Threads for one kind of moves; who finds them taken waits without a thread."""

    def __init__(self, name: str, num_threads: int) -> None:
        """Nobody thinks yet."""
        self.pool = ThreadPoolExecutor(num_threads, thread_name_prefix=name)
        self._room = asyncio.Semaphore(num_threads)

    async def run(self, job: Callable[[], T], limit: float | None) -> T:
        """Do a job in a thread, and wait so many seconds for it at most."""
        async with self._room:
            done = asyncio.get_running_loop().run_in_executor(self.pool, job)
            return await asyncio.wait_for(done, limit)


class Thinkers:
    """All agents of a server."""

    def __init__(self, max_agents: int = MAX_AGENTS, max_threads: int = MAX_THREADS) -> None:
        """No agent is made yet."""
        self._agents: OrderedDict[Any, Agent] = OrderedDict()
        self._locks: WeakKeyDictionary[Agent, threading.Lock] = WeakKeyDictionary()
        self._queues: WeakKeyDictionary[Agent, asyncio.Lock] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._max_agents = max_agents
        self._quick, self._slow = Lane("moving", max_threads), Lane("thinking", max_threads)
        self._advisers = ThreadPoolExecutor(MAX_ADVISERS, thread_name_prefix="advising")
        self._errands = ThreadPoolExecutor(max_threads, thread_name_prefix="errand")

    def close(self) -> None:
        """Let go of all agents and their processes."""
        for pool in (self._quick.pool, self._slow.pool, self._advisers, self._errands):
            pool.shutdown(wait=False, cancel_futures=True)
        for agent in self._agents.values():
            _stop(agent)
        self._agents.clear()

    # ---- making ----------------------------------------------------------------------------------

    def agent(
        self,
        game: Game,
        spec: str,
        params: Mapping[str, Any] | None = None,
        is_adviser: bool = False,
    ) -> Agent:
        """The agent of a specification, made if it is not there; may take seconds.

        Advisers are not those who play: they see other seats, and nobody's move waits for them.
        """
        params = dict(params or {})
        key = game, spec, tuple(sorted(params.items())), is_adviser
        with self._lock:
            if key in self._agents:
                self._agents.move_to_end(key)
                return self._agents[key]
        with computing_on("cpu"):  # a single move is no work for a graphics card
            made = _build(game, spec, params)  # may compile: nobody else waits for that
        with self._lock:
            agent = self._agents.setdefault(key, made)
            idle = [key for key, one in self._agents.items() if not self.lock(one).locked()]
            num_over = max(0, len(self._agents) - self._max_agents)
            gone = [self._agents.pop(one) for one in idle[:num_over]]
        for one in [*gone, *([made] if made is not agent else [])]:
            _stop(one)  # a table that still has it starts its process anew
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
        params: dict[str, Any] = {} if seconds is None else {"seconds": seconds}
        is_ours = agent_id in AGENTS and agent_id not in OUTSIDERS
        if is_ours and (is_here or agent_class(agent_id).thinks_long):
            params["is_here"] = True
        return self.agent(game, spec, params, is_adviser=True)

    async def run(self, job: Callable[[], T]) -> T:
        """Do something in a thread, such as making an agent; no move waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self._errands, job)

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
        return self._locks.setdefault(agent, threading.Lock())

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
        try:
            return await self._in_turn(agent, lambda: self.answer(agent, views))
        except TimeoutError:
            limit = DEFAULT_SECONDS + GRACE
            raise MasqueradeError(f"no answer within {limit:g} s") from None

    async def tell(self, agent: Agent, news: Callable[[], None]) -> None:
        """Tell an agent something in a thread, when it is not being asked."""

        def say() -> None:
            with self.lock(agent):
                news()

        await self._in_turn(agent, say)

    async def _in_turn(self, agent: Agent, job: Callable[[], T]) -> T:
        """Tables that ask one agent come one after the other, and take no thread until then."""
        # Who has a process keeps its time; a thread can only be given up.
        is_slow = isinstance(agent, OutsideAgent)
        async with self._queues.setdefault(agent, asyncio.Lock()):
            if is_slow:
                return await self._slow.run(job, None)
            return await self._quick.run(job, DEFAULT_SECONDS + GRACE)


def _build(game: Game, spec: str, params: dict[str, Any]) -> Agent:
    agent_id, _ = split_path(spec)
    found = agent_class(agent_id)
    seconds = params.pop("seconds", None)
    is_here = params.pop("is_here", False)
    if is_here:
        if found.takes("time_per_move"):
            params["time_per_move"] = seconds
        return make_agent(spec, game, **params)
    if is_quick(agent_id) and seconds is None:
        limit = None
    else:
        # Who has a measure of its own (seconds, nodes, worlds) keeps to it; the clock only guards.
        limit = (seconds or DEFAULT_SECONDS) + (GRACE if found.keeps_time else 0.0)
    parsed = AgentSpec.parse({"id": spec, "params": params, "time_per_move": limit})
    if found.takes("time_per_move"):
        parsed.params["time_per_move"] = seconds
    agent = parsed.build(game, is_apart=not is_quick(agent_id))
    agent.begin_match()
    return agent


def _stop(agent: Agent) -> None:
    if isinstance(agent, OutsideAgent):
        agent.end()
