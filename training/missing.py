"""Train the runs that a tournament names and that do not exist yet.

A tournament names trained agents by the folders of their runs. In a fresh copy of the project those
folders are empty, but their names say how they came about: ``runs/leduc_v0/dqn-seed1`` is
``configs/leduc/dqn.yaml`` with seed 1. Several are trained side by side, as many as there are
workers and as fit into the memory, each by a ``train.py`` of its own.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents import LEARNERS
from agents.spec import AgentSpec
from common.errors import MasqueradeError
from common.progress import duration
from training.config import RunConfig, learner_class, read_yaml
from training.runner import finish, is_finished

PROJECT = Path(__file__).resolve().parents[1]
_RUN = re.compile(r"runs/(?P<game>\w+)_v\d+/(?P<config>\w+)-seed(?P<seed>\d+)")

RATES = {"cfr": 1000, "cfr_rounds": 17, "mccfr": 100_000, "mccfr_rounds": 25_000}
RATES |= {"dqn": 5500, "sb3": 1500, "offline": 3000}
DEFAULT_RATE = 4000
"""Steps a second of one core, as they were measured in the larger configurations: for forecasts.

By hand, and called rough: a sample of every run that is missing would take minutes and gigabytes
before anything is said. Each run tells a forecast by its own rate once it has begun."""
USUAL_GB = 0.6
"""What a run takes that says nothing else, with the interpreter and its libraries."""
MEMORY_SHARE = 0.8
"""Of the free memory, for runs side by side."""


@dataclass(frozen=True)
class Missing:
    """A run that is to be trained, and roughly what it costs."""

    folder: Path
    source: Path
    seed: int
    config: RunConfig

    @property
    def seconds(self) -> float:
        """Of one core."""
        return self.config.train.steps / RATES.get(self.config.agent.id, DEFAULT_RATE)

    @property
    def memory(self) -> float:
        """In GB."""
        learner = learner_class(self.config.agent.id)
        return USUAL_GB + learner.needs_gb(self.config.build_game())


def train_missing(agents: Iterable[AgentSpec], device: str = "auto", workers: int = 1) -> None:
    """Train every run that an agent comes from and that has not been finished here."""
    agents = list(agents)
    found = []
    for agent in agents:
        folder = Path(str(agent.params.get("path", "")))
        source = source_of(folder)
        if source is not None and source[0].exists() and not is_finished(folder):
            config = RunConfig.parse(read_yaml(source[0], [f"train.seed={source[1]}"]))
            found.append(Missing(folder, *source, config))
    if not found:
        return
    has_code = [bool(run.config.foreign_code()) for run in found]
    is_alone = workers == 1 or len(found) == 1 or any(has_code) or not _is_ours(found)
    print(forecast(found, 1 if is_alone else workers), file=sys.stderr, flush=True)
    untrained = [a.id for a in agents if a.id not in LEARNERS and not a.params.get("path")]
    if len(found) > 1 and len(untrained) > 1:
        first = f"python evaluate.py tournament {found[0].config.game.id} {' '.join(untrained)}"
        print(f"for a first look without training: {first}", file=sys.stderr, flush=True)
    if is_alone:
        for run in found:
            print(f"training {run.folder} from {run.source}", file=sys.stderr, flush=True)
            command = f"python train.py --config {run.source} --seed {run.seed}"
            finish(run.config, run.folder, device, command)
    else:
        _train_side_by_side(found, device, workers, free_gb() * MEMORY_SHARE)


def forecast(runs: Sequence[Missing], workers: int) -> str:
    """What will be trained, and roughly how long that takes."""
    seconds = [run.seconds for run in runs]
    longest = max(sum(seconds) / workers, *seconds)
    largest = max(runs, key=lambda run: run.memory)
    side = f", up to {workers} at a time" if workers > 1 else ""
    names = ", ".join(run.folder.name for run in runs)
    return (
        f"to be trained first, {len(runs)} {'run' if len(runs) == 1 else 'runs'}{side}: {names}\n"
        f"roughly {duration(longest)} on a quiet machine, and at most {largest.memory:.1f} GB for "
        f"one ({largest.folder.name}); Ctrl-C keeps what is done, the same command goes on"
    )


def free_gb() -> float:
    """Memory that is free now; much, where nobody says."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if "MemAvailable" in line) / 1e6
    except (OSError, StopIteration, ValueError, IndexError):
        return 16.0


def _is_ours(runs: Sequence[Missing]) -> bool:
    """Whether another process would know all of these learners too."""
    return all(LEARNERS.get(run.config.agent.id, "").startswith("agents.") for run in runs)


def fits(memory: float, running: Sequence[float], limit: float) -> bool:
    """Whether a run may start beside others; one alone always may.

    >>> fits(4.6, [], 4.0), fits(4.6, [0.6], 4.0), fits(0.6, [0.6], 4.0)
    (True, False, True)
    """
    return not running or sum(running) + memory <= limit


def _train_side_by_side(runs: Sequence[Missing], device: str, workers: int, limit: float) -> None:
    """The longest first; what does not fit beside the others waits."""
    waiting = sorted(runs, key=lambda run: -run.seconds)
    memory = {run.folder: run.memory for run in runs}
    at_work: dict[Path, subprocess.Popen[str]] = {}
    try:
        while waiting or at_work:
            for run in list(waiting):
                used = [memory[folder] for folder in at_work]
                if len(at_work) < workers and fits(memory[run.folder], used, limit):
                    waiting.remove(run)
                    print(f"training {run.folder} from {run.source}", file=sys.stderr, flush=True)
                    at_work[run.folder] = _start(run, device)
            for folder, process in list(at_work.items()):
                if process.poll() is not None:
                    del at_work[folder]
                    _check(folder, process)
                    left = len(waiting) + len(at_work)
                    print(f"{folder} is trained, {left} to go", file=sys.stderr, flush=True)
            time.sleep(0.1)
    except KeyboardInterrupt:
        for process in at_work.values():
            process.send_signal(signal.SIGINT)  # each keeps what it has, and ends
        raise
    except BaseException:
        for process in at_work.values():
            process.terminate()
        raise
    finally:
        for process in at_work.values():
            process.communicate()


def _start(run: Missing, device: str) -> subprocess.Popen[str]:
    words = ["--config", str(run.source), "--seed", str(run.seed), "--out", str(run.folder)]
    if (run.folder / "config.yaml").exists():
        words = ["--resume", str(run.folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "masquerade", "train", *words, "--device", device, "--quiet"],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C in a terminal reaches us alone, and whoever is told twice would save nothing.
        start_new_session=True,
    )


def _check(folder: Path, process: subprocess.Popen[str]) -> None:
    told = process.communicate()[1].strip().splitlines()
    if process.returncode == 130:
        raise KeyboardInterrupt
    if process.returncode:
        raise MasqueradeError(f"{folder} could not be trained: {told[-1] if told else 'no reason'}")


def source_of(folder: Path) -> tuple[Path, int] | None:
    """The configuration and the seed that a folder is named after, if it is.

    >>> source_of(Path("runs/leduc_v0/dqn-seed1"))
    (PosixPath('configs/leduc/dqn.yaml'), 1)
    """
    match = _RUN.fullmatch(folder.as_posix())
    if match is None:
        return None
    return Path("configs") / match["game"] / f"{match['config']}.yaml", int(match["seed"])
