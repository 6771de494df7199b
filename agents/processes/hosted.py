"""An agent in a process of its own, so that its time can be limited and its memory is its own.

The agent gets the same views as always, which hold nothing that a player may not know: the true
state does not leave this process.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from multiprocessing.connection import Connection, Pipe
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.base import Actions, Agent, Probs, Views
from agents.learning.device import chosen_device, computing_on
from agents.processes.line_process import SECONDS_TO_END
from agents.processes.outside import NoAnswer, OutsideAgent, late
from envs.core.errors import reason_of
from envs.core.game import Game
from envs.core.rng import Words
from envs.core.rollouts import FAULTS

__all__ = ["HostedAgent"]

# Few enough that a hanging agent is soon noticed, enough that asking costs little.
MAX_ROWS = 16
MAX_ROWS_UNTIMED = 1024
LONGEST_POLL = 600.0
"""Of one look at the clock, for there may be no limit at all."""
KINDS = ("ready", "failed", "answer")
# A fresh interpreter: nothing of this process leaks into it, and any script may start one.
PROGRAM = "import sys; from agents.processes.hosted import serve; serve(*map(int, sys.argv[1:]))"


class HostedAgent(OutsideAgent):
    """Any agent by its id, in a process that is killed when it takes too long.

    Args:
        game: the game to play.
        agent_id: the agent, as ``make_agent`` knows it.
        params: what it is made with.
        limit: seconds it may take for a move; perhaps infinite.
        is_foreign: whether its code is not ours; then every match has a process of its own.
    """

    def __init__(
        self,
        game: Game,
        agent_id: str,
        params: Mapping[str, Any],
        limit: float,
        is_foreign: bool = False,
    ) -> None:
        """Make the agent here once, to know that it can be made; the process starts when asked."""
        super().__init__(game, limit, MAX_ROWS if math.isfinite(limit) else MAX_ROWS_UNTIMED)
        self.is_foreign = is_foreign
        self._what = game, agent_id, dict(params)
        self._stop: weakref.finalize[..., HostedAgent] | None
        self._stop = None
        self._device = chosen_device()
        agent = make_agent(agent_id, game, **params)
        self.wants_tokens = agent.wants_tokens
        self.num_past = agent.num_past
        self.roles = agent.roles
        self.end_games = self._tell_ends if agent.end_games is not None else None
        self.is_deterministic = agent.is_deterministic
        self.is_reproducible = agent.is_reproducible

    def start(self) -> None:
        """Start a process and let it make the agent."""
        self._connection, other = Pipe()
        gone, alive = Pipe(duplex=False)  # it ends with whoever holds the other end, killed or not
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(other.fileno()), str(gone.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[other.fileno(), gone.fileno()],
            start_new_session=True,  # whoever stops the tournament stops us, and we stop it
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        other.close()
        gone.close()
        self._stop = weakref.finalize(self, _end, self._process, self._connection, alive)
        deadline = self.clock() + self.start_limit
        self._send((*self._what, self._device))
        try:
            kind, *words = self._receive(deadline)
        except TimeoutError:
            raise NoAnswer(f"was not ready within {self.start_limit:g} s") from None
        if kind == "failed":
            raise NoAnswer(words[0])

    def stop(self, has_failed: bool) -> None:
        """Kill the process."""
        if self._stop is not None:
            self._stop()

    def begin_match(self) -> None:
        """Tell the agent too."""
        super().begin_match()
        if self._is_running:
            self._send(None)

    def _tell_ends(self, game_ids: Words, seats: Actions, returns: Probs) -> None:
        """Tell the agent which of its games are over; a process that is not there has forgotten."""
        if self._is_running:
            self._send(("end", (game_ids, seats, returns)))

    def prepare(self, views: Views) -> Views:
        """Views can be sent as they are."""
        return views

    def ask(self, views: Views, rows: npt.NDArray[np.int64], seconds: float) -> Actions:
        """Send rows; take back the actions and the generators as the agent left them."""
        answer = self._exchange("act", views.part(rows), seconds)
        try:
            actions, rngs = answer
            views.rngs[rows] = np.asarray(rngs, np.uint64).reshape(len(rows), -1)
            return np.asarray(actions, np.int64).reshape(len(rows))
        except (TypeError, ValueError, OverflowError) as error:
            raise NoAnswer(f"sent what is no answer: {reason_of(error)}") from None

    def policy(self, views: Views) -> Probs | None:
        """What the agent says of itself; nothing if it has no answer in time."""
        if self._last_word:
            return None
        parts = []
        for start in range(0, len(views), self.max_rows):
            rows = np.arange(start, min(start + self.max_rows, len(views)))
            try:
                if not self._is_running:
                    self._begin()
                self._is_fresh = False
                seconds = len(rows) * self.limit + self.first_grace
                (probs,) = self._exchange("policy", views.part(rows), seconds)
            except NoAnswer as failure:
                if failure.is_broken:
                    self.end(has_failed=True)
                return None
            if probs is None:
                return None
            parts.append(probs)
        return np.concatenate(parts)

    def _exchange(self, what: str, views: Views, seconds: float) -> list[Any]:
        """Have the agent act, or tell its policy, in some rows."""
        deadline = self.clock() + seconds
        self._send((what, views))
        try:
            kind, *words = self._receive(deadline)
        except TimeoutError:
            raise late(self.limit) from None
        if kind == "failed":
            raise NoAnswer(words[0], is_broken=False)
        return words

    def _send(self, message: Any) -> None:
        with contextlib.suppress(OSError):  # if it has ended, the answer will tell how
            self._connection.send(message)

    def _receive(self, deadline: float) -> tuple[Any, ...]:
        try:
            while True:
                left = deadline - self.clock()
                if self._connection.poll(min(max(left, 0.0), LONGEST_POLL)):
                    break
                if left <= 0:
                    # A child of it may hold the pipe: it has ended all the same.
                    raise TimeoutError if self._process.poll() is None else EOFError
            answer: tuple[Any, ...] = self._connection.recv()
        except (EOFError, ConnectionError):
            try:
                code = self._process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                raise NoAnswer("closed its connection") from None
            raise NoAnswer(f"ended with exit code {code}") from None
        except TimeoutError:
            raise
        except Exception as error:  # whatever else the process has put into its pipe
            raise NoAnswer(f"sent what is no answer: {reason_of(error)}") from None
        if not isinstance(answer, tuple) or not answer or answer[0] not in KINDS:
            raise NoAnswer("sent what is no answer")
        return answer

    def __repr__(self) -> str:
        """The agent that is hosted."""
        return f"HostedAgent({self._what[1]}, {self.game!r})"


def _end(process: subprocess.Popen[bytes], *pipes: Connection) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in pipes:
        pipe.close()


def serve(descriptor: int, gone: int) -> None:
    """The life of the process: make the agent, answer questions until there are no more."""
    connection: Connection = Connection(descriptor)
    threading.Thread(target=_end_with_whoever_asks, args=(gone,), daemon=True).start()
    game, agent_id, params, device = connection.recv()

    try:
        with computing_on(device):
            agent = make_agent(agent_id, game, **params)
    except FAULTS as error:
        connection.send(("failed", reason_of(error)))
        return
    connection.send(("ready",))
    while True:
        try:
            message: tuple[str, Any] | None = connection.recv()
        except EOFError:
            return
        if message is None:
            agent.begin_match()
            continue
        what, views = message
        if what == "end":
            if agent.end_games is not None:
                agent.end_games(*views)
            continue
        try:
            answer = _actions(agent, views) if what == "act" else (agent.policy(views),)
        except FAULTS as error:
            connection.send(("failed", reason_of(error)))
        else:
            connection.send(("answer", *answer))


def _end_with_whoever_asks(gone: int) -> None:
    """Nobody else would end a player that thinks for ever, once those who could are gone."""
    Connection(gone, writable=False).poll(None)  # nothing is ever sent: the other end has closed
    os.killpg(os.getpid(), signal.SIGKILL)


def _actions(agent: Agent, views: Views) -> tuple[Actions, Words]:
    """The agent's actions, and the generators as it leaves them."""
    actions = np.asarray(agent.act(views))
    if actions.shape != views.seats.shape or actions.dtype.kind not in "iu":
        raise TypeError(f"{len(views)} whole numbers expected, not {actions!r}")
    return actions.astype(np.int64), views.rngs
