"""Work units on a Ray cluster: stateless tasks, a few more in flight than there are processors.

Ray's own retries are switched off: a task that is lost with its worker or its node is handed out
again from here, where it is known how often that has happened to it. Results are fetched as soon as
they are there, so that a node that goes takes no more with it than what it was playing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import logging
import os
import pickle
import shutil
import socket
import sys
import tempfile
import zipfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.match import MatchResult
from arena.schedule import WorkUnit
from arena.spec import TournamentSpec
from arena.workers import MAX_DEATHS, Played, WorkerContext, WorkersDiedError
from common.errors import MasqueradeError

Files = dict[str, list[str]]
"""Folder -> names of files in it, relative to it."""

PROJECT = Path(__file__).resolve().parents[1]
ROOMS = ("common", "envs", "agents", "arena")
INSTALL = "pip install -c constraints.txt -e '.[ray]'"

# A machine that goes is mostly not the fault of what it played, but it must not go on for ever.
MAX_LOST_NODES = 10
# Tasks on the cluster for each processor it has: one is played, one waits.
TASKS_PER_PROCESSOR = 2
SECONDS_TO_ANSWER = 10.0
# Of a cluster that is started here: results are small, and Ray wants at least 75 MB.
OBJECT_STORE_BYTES = 100 * 2**20


@contextmanager
def connected(workers: int | None, address: str | None) -> Iterator[None]:
    """Connect for as long as it takes, unless that is done already.

    Args:
        workers: processors of a cluster that is started here.
        address: as ``ray.init`` takes it; by default that of ``RAY_ADDRESS``, or else a cluster is
            started here and stopped at the end.
    """
    try:
        import ray
    except ImportError as error:
        raise MasqueradeError(f"Ray is not installed: {INSTALL}") from error
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        address = "local"
        options |= {
            "num_cpus": workers,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
        }
    try:
        _check_reachable(address)
        ray.init(address, **options)
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0].partition(". ")[0]
        raise MasqueradeError(
            f"cannot connect to a Ray cluster at '{address}' ({reason}): see docs/cluster.md"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise ``OSError`` if nothing answers there: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()


def play_on_ray(
    context: WorkerContext, units: Iterable[WorkUnit], workers: int | None = None
) -> Iterator[Played]:
    """Play units on the connected cluster and yield each as it is done."""
    import ray

    submit = _submitter(context)
    waiting = deque(units)
    losses: Counter[WorkUnit] = Counter()
    playing: dict[Any, WorkUnit] = {}
    try:
        while waiting or playing:
            num_tasks = workers or TASKS_PER_PROCESSOR * _processors()
            while waiting and len(playing) < num_tasks:
                unit = waiting.popleft()
                playing[submit(unit)] = unit
            (done,), _ = ray.wait(list(playing))
            unit = playing.pop(done)
            try:
                result: MatchResult = ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise _as_our_error(error) from error
            except ray.exceptions.RayError as error:
                losses[unit] += 1
                if losses[unit] == (MAX_LOST_NODES if _is_about_nodes(error) else MAX_DEATHS):
                    reason = f"{type(error).__name__}: {str(error).partition('.')[0]}"
                    raise WorkersDiedError(context, unit, losses[unit], reason) from error
                waiting.appendleft(unit)
            else:
                yield unit, result
    finally:
        for reference in playing:
            ray.cancel(reference, force=True)


def _submitter(context: WorkerContext) -> Any:
    """A function that hands a unit to the cluster and returns Ray's reference to its result."""
    import ray

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    spec = context.spec
    usual = {"num_cpus": 1, "num_gpus": _cards(spec), "max_retries": 0}
    # Where code that is not ours plays, its process ends with the unit.
    as_usual, in_copy = (
        ray.remote(**usual, max_calls=max_calls)(play_unit) for max_calls in (0, 1)
    )
    files = sources(spec)
    # Whoever asks for no card has none, whatever the node shows.
    code, package = hash_files(files), pickle.dumps(spec.within(device="cpu"))
    # In a list a reference stays one: the archive is sent only where it is asked for.
    archive = [ray.put(pack(files))]
    return lambda unit: (in_copy if context.needs_copy(unit) else as_usual).remote(
        files, code, archive, package, pickle.dumps(unit)
    )


def _cards(spec: TournamentSpec) -> int:
    """What a unit needs of them: Ray hides the cards of a node from whoever asks for none."""
    import ray

    needed = int(any(agent.device == "cuda" for agent in spec.agents))
    if needed and ray.cluster_resources().get("GPU", 0) < 1:
        raise MasqueradeError(
            "device 'cuda' needs a graphics card, and no node of the cluster has one: "
            "use --device cpu"
        )
    return needed


def _processors() -> int:
    """Of all nodes there are now: some may have come or gone."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 0)))


def _is_about_nodes(error: Exception) -> bool:
    from ray.exceptions import NodeDiedError, ObjectLostError

    return isinstance(error, (NodeDiedError, ObjectLostError))


def _as_our_error(error: Any) -> Exception:
    """The error that the code of a task has raised."""
    if isinstance(error.cause, MasqueradeError):
        return MasqueradeError(str(error.cause))
    if isinstance(error.cause, ModuleNotFoundError):
        return MasqueradeError(
            f"a node of the cluster cannot play ({error.cause}): docs/cluster.md says what it needs"
        )
    return RuntimeError(f"on the cluster:\n{error}")


# ---- sources -------------------------------------------------------------------------------------


def sources(spec: TournamentSpec) -> Files:
    """The files that a tournament is played with: our code, and that of agents from outside."""
    files = {str(PROJECT): [name for room in ROOMS for name in _files_in(PROJECT, room)]}
    for agent in spec.agents:
        module, has_class, _ = agent.id.partition(":")
        origin = _origin(module.partition(".")[0]) if has_class else None
        if origin is None:
            continue
        is_package = origin.name == "__init__.py"
        folder = origin.parents[1 if is_package else 0]
        names = _files_in(folder, origin.parent.name) if is_package else [origin.name]
        known = files.setdefault(str(folder), [])
        known += [name for name in names if name not in known]
    return files


def _origin(module: str) -> Path | None:
    """The file of a module of the user's; not of ours, of Python's, or of an installed one."""
    if module in ROOMS or module in sys.stdlib_module_names:
        return None
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # it is no module's name, but that of an agent of ours
        return None
    if found is None or found.origin is None or "site-packages" in found.origin:
        return None
    return Path(found.origin).resolve()


def _files_in(folder: Path, package: str) -> list[str]:
    paths = sorted((folder / package).rglob("*"))
    return [
        str(path.relative_to(folder))
        for path in paths
        if path.is_file() and "__pycache__" not in path.parts
    ]


def pack(files: Files) -> bytes:
    """All of them in one archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, names in files.items():
            for name in names:
                archive.write(Path(folder) / name, name)
    return buffer.getvalue()


# ---- on a node -----------------------------------------------------------------------------------
#
# These functions run before a node can import anything of ours. They travel as they are, by value,
# so they use Ray and the standard library alone. A node that has the sources where they are here
# (one machine, or folders that machines share) takes those; any other gets them sent, once, into a
# folder that is named by what is in it.


def play_unit(files: Files, code: str, archive: list[Any], package: bytes, unit: bytes) -> Any:
    """Play a unit of a tournament with the sources it was meant for.

    Args:
        files: where the sources are on the machine that asks.
        code: their hash.
        archive: Ray's reference to all of them in one, should they not be here.
        package: the specification, pickled.
        unit: what to play, pickled.
    """
    if "arena.workers" not in sys.modules:
        has_files = hash_files(files) == code
        sys.path[:0] = list(files) if has_files else [unpack(_fetch(*archive), code)]
    # Imported when needed: the sources may have come just now.
    from arena.workers import play_packed

    return play_packed(package, unit)


def _fetch(reference: Any) -> bytes:
    import ray

    content: bytes = ray.get(reference)
    return content


def hash_files(files: Files) -> str:
    """Changes with any name and any content; empty if something is missing."""
    digest = hashlib.sha256()
    for folder, names in files.items():
        for name in names:
            try:
                content = (Path(folder) / name).read_bytes()
            except OSError:
                return ""
            digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def unpack(archive: bytes, code: str) -> str:
    """Put sources into a folder of their own, which stays, so that they are compiled once."""
    chosen = os.environ.get("MASQUERADE_CACHE")
    base = Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "masquerade"
    folder = base / "sources" / code
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = tempfile.mkdtemp(dir=folder.parent)
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            file.extractall(partial)
        try:
            os.rename(partial, folder)
        except OSError:  # another process of this machine was first
            shutil.rmtree(partial)
    return str(folder)
