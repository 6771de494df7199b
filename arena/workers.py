"""Where work units are played: here, in worker processes, or on a Ray cluster.

Whichever it is, units come back as they are done, every one of them once, with the same result. A
worker that dies (out of memory, a crash in somebody's library, a machine that is gone) costs the
unit it was playing, which is played again; a unit that kills one worker after another stops the
tournament with a line that names its agents, and everything before it is kept.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
import weakref
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from functools import lru_cache
from multiprocessing.connection import Connection, Pipe, wait
from types import FrameType

from agents import AGENTS, agent_class
from agents.base import Agent
from agents.processes.outside import OutsideAgent
from arena.match import MatchResult, play_match
from arena.schedule import Row, WorkUnit
from arena.spec import TournamentSpec
from common.errors import MasqueradeError, nearest
from envs import GAMES
from envs.core.facts import sides_of
from envs.core.game import Game

Played = tuple[WorkUnit, MatchResult]

# So many workers may die of a unit: the first perhaps by chance, the last by its agents.
MAX_DEATHS = 3


class WorkerContext:
    """A game with its agents, made once per process."""

    def __init__(self, spec: TournamentSpec) -> None:
        """Make what ``spec`` names."""
        self.spec = spec
        self.game: Game = spec.build_game()
        self.agents: list[Agent] = [agent.build(self.game) for agent in spec.agents]
        self.groups = spec.groups(self.game, self.agents)
        self._copies: dict[tuple[int, int], Agent] = {}

    def choose_seed(self, spec: TournamentSpec) -> None:
        """Take the same specification with a seed, on which a sample of tables depends."""
        self.spec = spec
        self.groups = spec.groups(self.game, self.agents)

    def seat(self, seating: Row) -> list[Agent]:
        """The agent in each seat.

        No two sides of a table share the memory of anybody's code that is not ours: whoever plays
        in this process is the only one there, and all others that could remember, the same agent on
        another side too, have a process for each side.
        """
        seated = [self.agents[agent] for agent in seating]
        num_met: Counter[int] = Counter()
        is_taken = False
        for side in sides_of(self.game.facts):
            agent = seating[side[0]]
            if not self.spec.agents[agent].can_remember:
                continue
            has_process = isinstance(self.agents[agent], OutsideAgent)
            if num_met[agent] or (is_taken and not has_process):
                copy = self._copy(agent, num_met[agent])
                for place in side:
                    seated[place] = copy
            is_taken |= not has_process
            num_met[agent] += 1
        return seated

    def _copy(self, agent: int, number: int) -> Agent:
        if (agent, number) not in self._copies:
            self._copies[agent, number] = self.spec.agents[agent].build(self.game, is_apart=True)
        return self._copies[agent, number]

    def play(self, unit: WorkUnit) -> MatchResult:
        """Play the deals of a unit; who fails forfeits."""
        seatings = self.groups[unit.group].seatings
        seeds = self.spec.seeds_of(self.groups, unit.group, unit.seating)
        if self.spec.variance_reduction != "none":
            # Imported when needed: compiled code that takes seconds to load.
            from arena.variance_values import play_corrected

            agents = [self.seat(seating) for seating in seatings]
            return play_corrected(self.spec, self.game, agents, unit, seeds)
        return play_match(
            self.game,
            self.seat(seatings[unit.seating]),
            unit.num_deals,
            first_game=unit.first_deal,
            has_forfeits=True,
            **seeds,
        )

    def needs_copy(self, unit: WorkUnit) -> bool:
        """Whether a unit must be played in a copy of a process, which ends with it.

        So it is where code that is not ours would run in the process itself, because nothing else
        clears what it remembers. A table is then the same for any number of workers.
        """
        agents = self.groups[unit.group].agents
        return any(
            self.spec.agents[agent].can_remember
            and not isinstance(self.agents[agent], OutsideAgent)
            for agent in agents
        )

    def end_processes(self) -> None:
        """End the processes of players that have one; they get another when they are asked."""
        for agent in (*self.agents, *self._copies.values()):
            if isinstance(agent, OutsideAgent):
                agent.end()


@lru_cache(maxsize=1)
def _unpacked(package: bytes) -> WorkerContext:
    return WorkerContext(pickle.loads(package))


def play_packed(package: bytes, unit: bytes) -> MatchResult:
    """Play a unit on a machine of a cluster; the specification comes as bytes, too.

    The context of a process is kept for as long as the bytes are the same.
    """
    return _unpacked(package).play(pickle.loads(unit))


class WorkersDiedError(MasqueradeError):
    """A unit has killed one worker after another."""

    def __init__(
        self, context: WorkerContext, unit: WorkUnit, num_deaths: int, reason: str
    ) -> None:
        """Name the agents; ``reason`` is how the last worker died."""
        members = context.groups[unit.group].agents
        names = " against ".join(context.spec.agents[agent].name for agent in members)
        last = unit.first_deal + unit.num_deals - 1
        super().__init__(
            f"{num_deaths} workers died while they played {names}, deals {unit.first_deal} to "
            f"{last} ({reason}): leave one of these agents out; with --workers 1 it may say more "
            "before it dies"
        )


EXECUTORS = ("processes", "ray")

SECONDS_TO_LEAVE = 5.0

# A fresh interpreter: nothing of this process leaks into a worker, and any script may start one.
PROGRAM = "import sys; from arena.workers import serve; serve(int(sys.argv[1]))"


@contextlib.contextmanager
def prepared(
    workers: int | None = None, executor: str = "processes", ray_address: str | None = None
) -> Iterator[None]:
    """Refuse what cannot be, and keep a cluster connected for several calls of ``play_units``."""
    if executor not in EXECUTORS:
        raise MasqueradeError(f"unknown executor '{executor}': {nearest(executor, EXECUTORS)}")
    if workers is not None and workers < 1:
        raise MasqueradeError(f"workers must be at least 1, not {workers}")
    if ray_address is not None and executor != "ray":
        raise MasqueradeError("a Ray address is of use with --executor ray only")
    with contextlib.ExitStack() as stack:
        if executor == "ray":
            # Imported when needed: Ray is optional, and slow to load.
            from arena.on_ray import connected

            stack.enter_context(connected(workers, ray_address))
        yield


def play_units(
    context: WorkerContext,
    units: Iterable[WorkUnit],
    workers: int | None = None,
    executor: str = "processes",
    ray_address: str | None = None,
) -> Generator[Played]:
    """Play units and yield each as it is done.

    Args:
        context: the game and agents of the tournament they belong to.
        units: what to play.
        workers: how many at a time. With processes one by default, and that one is this process
            unless some player's code must not stay in it; with Ray as many as the cluster has
            processors.
        executor: one of ``EXECUTORS``.
        ray_address: the cluster, as ``ray.init`` takes it; by default that of ``RAY_ADDRESS``, or
            else one that is started here and stopped at the end.
    """
    with prepared(workers, executor, ray_address):
        if executor == "ray":
            # Imported when needed: Ray is optional, and slow to load.
            from arena.on_ray import play_on_ray

            yield from play_on_ray(context, units, workers)
            return
        # At the end those that no process may play which has agents: workers are exchanged once.
        units = sorted(units, key=context.needs_copy)
        if workers in (None, 1) and not (units and context.needs_copy(units[-1])):
            for unit in units:
                yield unit, context.play(unit)
        else:
            with _ctrl_c() as ctrl_c:
                yield from _share_out(context, units, workers or 1, ctrl_c)


# ---- worker processes ----------------------------------------------------------------------------


class _Worker:
    """A process that plays one unit after another."""

    def __init__(self, spec: TournamentSpec) -> None:
        self.connection, other = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(other.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[other.fileno()],
            start_new_session=True,  # Ctrl-C is for this process, which then ends its workers
            env={
                "OMP_NUM_THREADS": "1",  # as many processes as cores need no threads of their own
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
        )
        other.close()  # so that the end of the process is the end of the connection
        self.has_agents = False
        self.end = weakref.finalize(self, _end, self._process, self.connection)
        with contextlib.suppress(OSError):  # if it has died, ``receive`` will tell
            # Games and agents may have been entered by hand, which a new process does not know.
            self.connection.send((spec, GAMES, AGENTS))

    def send(self, unit: WorkUnit, needs_copy: bool) -> None:
        """Let it, or a copy of it, play a unit."""
        self.has_agents |= not needs_copy
        with contextlib.suppress(OSError):
            self.connection.send((unit, needs_copy))

    def receive(self) -> MatchResult:
        """The result of the unit; ``EOFError`` if the process has died."""
        try:
            answer: MatchResult | Exception = self.connection.recv()
        except OSError as error:
            raise EOFError from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask_to_leave(self) -> None:
        """So that all workers leave at the same time, not one after the other."""
        self._process.terminate()

    def cause_of_death(self) -> str:
        """The exit code, or the signal that killed it."""
        code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        has_no_memory = " perhaps for want of memory" if -code == signal.SIGKILL else ""
        return f"killed by {signal.Signals(-code).name}{has_no_memory}"


def _end(process: subprocess.Popen[bytes], connection: Connection) -> None:
    connection.close()
    process.terminate()
    try:
        process.wait(SECONDS_TO_LEAVE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the copy of it that plays, if there is one
        process.wait()


@contextlib.contextmanager
def _ctrl_c() -> Iterator[Connection]:
    """A connection that has something to say once Ctrl-C is pressed; twice stops at once.

    Python raises ``KeyboardInterrupt`` wherever it happens to be. If that is while some object is
    cleaned up, the exception is printed and forgotten, and this process would wait for its workers
    as if nothing had been pressed.
    """
    listener, speaker = Pipe(duplex=False)

    def say(_signal: int, _frame: FrameType | None) -> None:
        if listener.poll():
            raise KeyboardInterrupt
        speaker.send_bytes(b"Ctrl-C")

    before = signal.getsignal(signal.SIGINT)
    is_ours = (
        before is signal.default_int_handler
        and threading.current_thread() is threading.main_thread()
    )
    if is_ours:
        signal.signal(signal.SIGINT, say)
    try:
        yield listener
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, before)
    if listener.poll():
        raise KeyboardInterrupt


def _share_out(
    context: WorkerContext, units: Iterable[WorkUnit], num_workers: int, ctrl_c: Connection
) -> Generator[Played]:
    waiting = deque(units)
    deaths: Counter[WorkUnit] = Counter()
    workers: dict[Connection, _Worker] = {}
    playing: dict[Connection, WorkUnit] = {}

    def begin(worker: _Worker) -> None:
        needs_copy = bool(waiting) and context.needs_copy(waiting[0])
        if needs_copy and worker.has_agents:
            worker.end()
            worker = _Worker(context.spec)
        workers[worker.connection] = worker
        if waiting:
            unit = playing[worker.connection] = waiting.popleft()
            worker.send(unit, needs_copy)

    try:
        for _ in range(min(num_workers, len(waiting))):
            begin(_Worker(context.spec))
        while playing:
            ready = wait([*playing, ctrl_c])
            if ctrl_c in ready:
                raise KeyboardInterrupt
            for connection in ready:
                assert isinstance(connection, Connection)
                unit, worker = playing.pop(connection), workers.pop(connection)
                try:
                    result = worker.receive()
                except EOFError:
                    deaths[unit] += 1
                    if deaths[unit] == MAX_DEATHS:
                        reason = worker.cause_of_death()
                        raise WorkersDiedError(context, unit, MAX_DEATHS, reason) from None
                    worker.end()
                    waiting.appendleft(unit)
                    begin(_Worker(context.spec))
                else:
                    begin(worker)  # it plays on while the result is being kept
                    yield unit, result
    finally:
        for worker in workers.values():
            worker.ask_to_leave()
        for worker in workers.values():
            worker.end()


# ---- in the worker -------------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """The life of a worker: play units until there are no more."""
    signal.signal(signal.SIGTERM, _leave)
    connection: Connection = Connection(descriptor)
    with contextlib.suppress(KeyboardInterrupt):  # it is asked to leave, be it on its way out
        # When whoever asked is gone, there is no more.
        with contextlib.suppress(EOFError, OSError):
            _answer_all(connection)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is leaving


def _answer_all(connection: Connection) -> None:
    spec, games, agents = connection.recv()
    GAMES.update(games)
    AGENTS.update(agents)
    context: WorkerContext | None = None
    while True:
        unit, needs_copy = connection.recv()
        if needs_copy:
            _answer_in_copy(connection, spec, unit)
        else:
            context = _answer(connection, context or spec, unit)


def _answer(
    connection: Connection, context: WorkerContext | TournamentSpec, unit: WorkUnit
) -> WorkerContext | None:
    """Play a unit and send its result, or why there is none; the context, if it could be made."""
    made: WorkerContext | None = None
    answer: MatchResult | Exception
    try:
        made = context if isinstance(context, WorkerContext) else WorkerContext(context)
        answer = made.play(unit)
    except MasqueradeError as error:
        answer = MasqueradeError(str(error))
    except (Exception, SystemExit):
        answer = RuntimeError(f"in a worker:\n{traceback.format_exc()}")
    connection.send(answer)
    return made


def _answer_in_copy(connection: Connection, spec: TournamentSpec, unit: WorkUnit) -> None:
    """Play a unit in a copy of this process, so that whatever its players remember ends with it.

    The copy makes the agents, so each begins as if nothing had been played. This process has none:
    it has only read what takes long to read. If the copy dies, so does this process, the same way.
    """
    with contextlib.suppress(Exception):  # the copy says what is wrong
        spec.build_game()
        for agent in spec.agents:
            if agent.id in AGENTS:
                agent_class(agent.id)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        context, code = None, 1
        try:
            context = _answer(connection, spec, unit)
            code = 0
        finally:  # whatever happened: the rest of this program is not for the copy
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if context is not None:
                context.end_processes()
            sys.stdout.flush()
            os._exit(code)
    try:
        _, status = os.waitpid(child, 0)
    except KeyboardInterrupt:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        raise
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        os.kill(os.getpid(), -code)
    if code:
        os._exit(code)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """Leave the way that lets agents end programs they have started."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough, while they do
    raise KeyboardInterrupt  # what no agent's mistake looks like
