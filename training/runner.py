"""A run from its first step, or its last checkpoint, to its end.

The learner works in chunks that end where something is due: a point on the curves, an evaluation,
a checkpoint. Because the ends of chunks depend on the configuration alone, a run that is killed and
resumed makes the same chunks, and so the same curves.
"""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from agents import make_agent
from agents.base import Agent
from agents.learning.device import computing_on, resolve_device
from agents.learning.files import (
    CheckpointError,
    checkpoints,
    load_state,
    players,
    reading,
    save_state,
)
from agents.learning.learner import PAST, SELF, Learner, Opponents, State, Task
from common.errors import FileError, MasqueradeError, OptionError, nearest
from common.progress import Progress
from envs.core.facts import roles_of
from envs.core.game import Game
from training.config import BEST, RunConfig, learner_class
from training.evaluation import Evaluation, Score
from training.metrics import Events, MetricsFile
from training.run_folder import CONFIG, RunFolder, step_of_checkpoint

FIRST_PIECE = 64
"""The first checkpoint comes after this part of the first chunk: within a minute, for a chunk of an
hour."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    folder: Path
    is_finished: bool
    """False when somebody asked it to stop; it can then be resumed."""
    num_steps: int
    scores: Sequence[Score]
    """The last evaluation."""
    agent: str = ""
    """How the player of the run enters a tournament."""
    game_id: str = ""
    options: str = ""
    """Of the game, for a command line."""
    was_finished: bool = False
    """It had come to its end before: nothing was done."""


def finish(
    config: RunConfig, folder: Path, device: str = "cpu", command: str = "", is_shown: bool = True
) -> None:
    """Begin a run, go on with it, or find it done; who stops it stops whatever needs it."""
    if is_finished(folder):
        return
    if (folder / CONFIG).exists():
        outcome = resume_run(folder, device, command, is_shown, config.foreign_code())
    else:
        outcome = begin_run(config, folder, device, command, is_shown)
    if not outcome.is_finished:
        raise KeyboardInterrupt


def is_finished(folder: Path) -> bool:
    """Whether a run has come to its end and kept its player."""
    found = players(folder)
    if not found or not (folder / CONFIG).exists():
        return False
    _, config = RunFolder.open(folder)
    return int(found[-1].name.removeprefix("step_")) >= config.train.steps


def begin_run(
    config: RunConfig, folder: Path, device: str = "cpu", command: str = "", is_shown: bool = True
) -> Outcome:
    """Train from the beginning in a new folder."""
    game = config.build_game()
    learner = make_learner(config, game, device, folder)
    with computing_on(learner.task.device):
        evaluation = Evaluation(config)
        run = RunFolder.begin(folder, config, command)
        return _TrainingRun(config, run, learner, evaluation, is_shown).run()


def resume_run(
    folder: Path,
    device: str = "cpu",
    command: str = "",
    is_shown: bool = True,
    trusted: Collection[str] | None = (),
) -> Outcome:
    """Continue from the last complete checkpoint of a run.

    Args:
        folder: of the run.
        device: where everything of it computes: ``auto``, ``cpu`` or ``cuda``.
        command: how it was asked for, to be noted.
        is_shown: whether there is a progress bar.
        trusted: programs and modules that the user has named and that the run may use again;
            ``None``: all that its files name.
    """
    run, config = RunFolder.open(folder, trusts_all=trusted is None)
    foreign = [] if trusted is None else sorted(set(config.foreign_code()) - {*trusted})
    if foreign:
        raise MasqueradeError(
            f"{folder} names code that is not ours ({', '.join(foreign)}): if you know where it "
            "comes from, --trust runs it"
        )
    step, learner = _last_learner(config, run, device)
    if step >= config.train.steps:
        learner.close()
        return Outcome(folder, True, step, (), *_names(config, folder), was_finished=True)
    with computing_on(learner.task.device):
        evaluation = Evaluation(config)
        run.forget_after(step)
        run.note_command(command)
        return _TrainingRun(config, run, learner, evaluation, is_shown, resumed_at=step).run()


def _names(config: RunConfig, folder: Path) -> tuple[str, str, str]:
    """The player of a run as a command line names it, its game, and the options of that."""
    changed = config.build_game().options.changed()
    options = (f" --option {shlex.quote(f'{k}={json.dumps(v)}')}" for k, v in changed.items())
    player = config.agent.id
    if ":" in player:  # a learner of somebody's own says who plays its runs
        player = learner_class(player).player_id or player
    return f"{player}:{folder}", config.game.id, "".join(options)


def _last_learner(config: RunConfig, run: RunFolder, device: str) -> tuple[int, Learner]:
    """The step and the learner of the last checkpoint that is whole; 0 and a new one without."""
    found = checkpoints(run.path)
    while True:
        learner = make_learner(config, config.build_game(), device, run.path)
        if not found:
            return 0, learner
        last = found.pop()
        try:
            step, state = step_of_checkpoint(last), load_state(last, learner.game)
            with computing_on(learner.task.device):
                _load_past(config, run, learner, step)
            with reading(last, f"the memory of a run of {config.agent.id}"):
                learner.load_state_dict(state)
            return step, learner
        except CheckpointError as error:
            learner.close()
            before = f"from {found[-1].name}" if found else "from the beginning"
            put = last.rename(last.with_name(f"{last.name}.damaged"))
            print(f"{error}\nresuming {before}; it is kept as {put}", file=sys.stderr, flush=True)


def make_learner(
    config: RunConfig, game: Game, device: str = "cpu", folder: Path | None = None
) -> Learner:
    """The learner of a run as it is before the first step; its task says which device it is."""
    found, settings = learner_class(config.agent.id), config.agent.params
    device = resolve_device(device, found.num_weights(game, settings), is_shown=True)
    role, known = config.train.role, roles_of(game.facts)
    if role and role not in known:
        raise OptionError(f"train.role '{role}' is no role of {game.id}: {nearest(role, known)}")
    with computing_on(device):
        task = Task(
            game=game,
            seed=config.train.seed,
            opponents=_make_opponents(config, game),
            device=device,
            folder=folder,
            total=config.train.steps,
            role=role,
        )
        return found(task, settings)


def plan(config: RunConfig, folder: Path, device: str) -> str:
    """The resolved configuration and what would be done."""
    learner = make_learner(config, config.build_game(), device)
    cadences = ", ".join(f"{name} every {every:,}" for name, every in config.train.cadences.items())
    against = ", ".join(entry.name for entry in config.train.opponents)
    settings = "\n".join(
        f"  {name} = {default}: {about} ({allowed})"
        for name, default, allowed, about in type(config.agent.params).describe()
    )
    return "\n".join(
        [
            config.to_yaml(),
            f"settings of {config.agent.id} and their defaults:",
            settings,
            "",
            f"plan: {config.train.steps:,} {learner.unit} of {learner.game!r} against {against}",
            f"      {cadences}; on {learner.task.device}; in {folder}",
        ]
    )


def _make_opponents(config: RunConfig, game: Game) -> Opponents:
    entries: list[Agent | str] = []
    weights: list[float] = []
    for entry in config.train.opponents:
        met: Sequence[Agent | str] = [entry.name]
        if entry.agent is not None:
            met = [entry.agent.build(game)]
        elif entry.name not in (SELF, PAST):
            met = _load_league(Path(entry.name.partition(":")[2]), game)
        entries += met
        weights += [entry.weight / len(met)] * len(met)
    return Opponents(entries, config.train.seed, weights, config.train.mixed)


def _load_league(run: Path, game: Game) -> list[Agent]:
    _, config = RunFolder.open(run)
    found = players(run)
    if not found:
        raise MasqueradeError(f"league:{run} has no players yet: train it first")
    return [make_agent(config.agent.id, game, path=str(path)) for path in found]


def _load_past(config: RunConfig, run: RunFolder, learner: Learner, step: int) -> None:
    opponents = learner.task.opponents
    if opponents is not None and opponents.has_past:
        for path in run.past_players(step):
            try:
                opponents.add_past(make_agent(config.agent.id, learner.game, path=str(path)))
            except CheckpointError as error:  # no fault of the checkpoint that is resumed
                raise MasqueradeError(str(error)) from error


class _TrainingRun:
    """One run in progress."""

    def __init__(
        self,
        config: RunConfig,
        run: RunFolder,
        learner: Learner,
        evaluation: Evaluation,
        is_shown: bool,
        resumed_at: int | None = None,
    ) -> None:
        self.config = config
        self.run_folder = run
        self.learner = learner
        self.game = learner.game
        self.metrics = MetricsFile(run.metrics, resumed_at)
        self.events: Events | None = None
        if config.log.tensorboard:
            self.events = Events(run.path, resumed_at)
            if resumed_at is None:
                self.events.add_text("config", f"```yaml\n{config.to_yaml()}```")
                self.events.add_settings(config.to_dict())
        self.evaluation = evaluation
        self.scores: list[Score] = []
        self.evaluated_at = -1
        self.best: dict[str, Any] | None = None
        if resumed_at:
            best = run.best()
            self.best = best if best is not None and best["step"] <= resumed_at else None
            run.write_best(self.best)
        self.progress = Progress(config.train.steps, learner.unit, is_shown, learner.num_steps)

    def run(self) -> Outcome:
        """Work until the end, or until somebody presses Ctrl-C."""
        try:
            with _stop_signal() as has_stop:
                while self.learner.num_steps < self.config.train.steps and not has_stop():
                    self._work(has_stop)
        except (FileError, CheckpointError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise MasqueradeError(
                f"{reason}; what was saved before is whole: make room and continue with --resume "
                f"{self.run_folder.path}"
            ) from error
        finally:
            self.progress.close()
            self.learner.close()
            if self.events is not None:
                self.events.close()
        done = self.learner.num_steps
        is_finished = done >= self.config.train.steps
        folder = self.run_folder.path
        return Outcome(folder, is_finished, done, self.scores, *_names(self.config, folder))

    def _work(self, has_stop: Callable[[], bool]) -> None:
        """One chunk, and what is due after it."""
        total, cadences = self.config.train.steps, self.config.train.cadences
        before = self.learner.num_steps
        end = min(total, *(every * (before // every + 1) for every in cadences.values()))
        if before == 0:
            # A first piece, always of the same size: soon there is a forecast, and a checkpoint.
            end = max(1, end // FIRST_PIECE)
        started = time.perf_counter()
        values = dict(self.learner.update(end - before))
        seconds = time.perf_counter() - started
        done = self.learner.num_steps
        due = {name for name, every in cadences.items() if done // every > before // every}
        is_last = done >= total
        if before == 0 and not due and not is_last:
            self.progress.show(done, "")
            self._save()
            return
        if "eval" in due or is_last:
            values |= self._evaluate()
        self._log(values, (done - before) / max(seconds, 1e-9))
        if "checkpoint" in due or is_last:
            self._save_player()
        if "checkpoint" in due or is_last or has_stop():
            self._save()

    def _log(self, values: dict[str, Any], rate: float) -> None:
        done = self.learner.num_steps
        scalars = {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}
        self.metrics.add(done, scalars)
        if self.events is not None:
            self.events.add(done, {**values, "charts/steps_per_second": rate})
        self.progress.show(done, self._headline(scalars))

    def _headline(self, scalars: dict[str, float]) -> str:
        if self.scores:
            return ", ".join(f"{s.mean_return.mean:+.3f} vs {s.opponent}" for s in self.scores[:2])
        return f"return {scalars['charts/return']:+.3f}" if "charts/return" in scalars else ""

    def _evaluate(self) -> dict[str, float]:
        step = self.learner.num_steps
        self.scores, exact = self.evaluation.run(self.learner)
        self.evaluated_at = step
        scores = [score.to_dict() for score in self.scores]
        self.run_folder.write_evaluation(step, {"scores": scores, **exact})
        return {**exact, **{k: v for score in self.scores for k, v in score.metrics().items()}}

    def _save_player(self) -> None:
        """Keep the player of this step: for tournaments, as a past self, perhaps as the best."""
        step, run = self.learner.num_steps, self.run_folder
        self._keep(run.player(step), self.learner.player_state)
        opponents = self.learner.task.opponents
        if opponents is not None and opponents.has_past:
            path = str(run.player(step))
            opponents.add_past(make_agent(self.config.agent.id, self.game, path=path))
        has_choice = self.config.train.player == BEST and not self.learner.converges
        if self.scores and self.evaluated_at == step and has_choice:
            score = float(np.mean([score.mean_return.mean for score in self.scores]))
            if self.best is None or score > self.best["score"]:
                self.best = {"player": run.player(step).name, "step": step, "score": score}
                run.write_best(self.best)

    def _save(self) -> None:
        """Keep all that is needed to go on."""
        self._keep(self.run_folder.checkpoint(self.learner.num_steps), self.learner.state_dict)
        self.run_folder.remove_old(self.config.train.keep)

    def _keep(self, folder: Path, state: Callable[[], State]) -> None:
        if not folder.exists():
            noted = {"agent": self.config.agent.id, "step": self.learner.num_steps}
            save_state(folder, self.game, state(), **noted)


@contextmanager
def _stop_signal() -> Iterator[Callable[[], bool]]:
    """Ctrl-C once: finish the chunk and save. Twice: stop at once."""
    asked = False

    def ask(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        print("\nstopping at the next safe point; Ctrl-C again stops at once", file=sys.stderr)

    try:
        before = signal.signal(signal.SIGINT, ask)
    except ValueError:  # only the main thread may
        yield lambda: False
        return
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
