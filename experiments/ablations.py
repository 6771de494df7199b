"""What each part of a learner is worth: DQN in Leduc poker, without one part at a time.

Every config is run with several seeds, and one number of its evaluations is drawn over the steps:
the mean over the seeds, and a band from the lowest seed to the highest. A run that is already there
is not repeated, one that was stopped goes on.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import INK, TITLE, dress, save_figure
from common.errors import MasqueradeError
from common.files import read_text
from common.statistics import mean_interval
from experiments.runner import Group, Row, Settings
from training.config import RunConfig, read_yaml
from training.runner import finish

CONFIGS = sorted((Path(__file__).parent / "configs").glob("dqn_ablation_*.yaml"))
RUNS = Path(__file__).resolve().parents[1] / "runs" / "ablations"
METRIC = "eval/leduc_rule/return"
NUM_SEEDS = 3
COLORS = ("#2a78d6", "#eb6834", "#1baa7a", "#8b5cc7", "#b8860b", "#7a7a76")


def read_curve(path: Path, metric: str) -> dict[int, float]:
    """One column of a ``metrics.csv``, by step; rows without it are left out."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or metric not in rows[0]:
        known = ", ".join(name for name in rows[0] if name.startswith("eval/")) if rows else "none"
        raise MasqueradeError(f"{path} has no '{metric}': choose from {known}")
    return {int(row["step"]): float(row[metric]) for row in rows if row[metric]}


def ablate(
    configs: Sequence[Path], metric: str, seeds: Sequence[int], runs: Path, picture: Path
) -> Iterator[Row]:
    """Run what has not been run, and draw it: a row for each config with what it came to."""
    lines = {}
    for path in configs:
        by_seed = []
        for seed in seeds:
            run = runs / path.stem / f"seed{seed}"
            config = RunConfig.parse(read_yaml(path, [f"train.seed={seed}"]))
            command = f"python -m experiments ablations {path}"
            finish(config, run, command=command, is_shown=False)
            by_seed.append(read_curve(run / "metrics.csv", metric))
        steps = sorted(by_seed[0])
        values = np.array([[curve[step] for step in steps] for curve in by_seed])
        first = read_text(path, "name a YAML file").splitlines()[0]
        title = first.removeprefix("#").strip() if first.startswith("#") else path.stem
        lines[title] = np.array(steps), values.mean(axis=0), values.min(axis=0), values.max(axis=0)
        yield Row.of(f"{title}: {metric}", mean_interval(values[:, -1]), games=len(seeds))
    title = f"{metric}: mean of {len(seeds)} seeds, band from the lowest to the highest"
    draw_bands(picture, lines, title, "decisions of the learner", metric)


def draw_bands(
    path: Path, lines: Mapping[str, tuple[Any, Any, Any, Any]], title: str, x: str, y: str = ""
) -> None:
    """A picture of one line and one band for each name: x, middle, low and high."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker

    figure, panel = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    for color, (name, (at, middle, low, high)) in zip(COLORS, lines.items(), strict=False):
        panel.plot(at, middle, color=color, linewidth=2, label=name)
        panel.fill_between(at, low, high, color=color, alpha=0.15, linewidth=0)
    panel.set_title(title, **TITLE)
    panel.set_xlabel(x, color=INK)
    panel.set_ylabel(y, color=INK)
    panel.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
    dress(panel)
    save_figure(figure, path)


def parts(settings: Settings) -> Iterator[Row]:
    """The whole learner, and the same without one part at a time."""
    seeds = range(settings.seed, settings.seed + NUM_SEEDS)
    yield from ablate(CONFIGS, METRIC, seeds, RUNS, settings.folder / "dqn_ablations.png")


GROUPS: dict[str, Group] = {"A": parts}
