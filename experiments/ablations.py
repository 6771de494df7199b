"""What each part of a learner is worth: ``python -m experiments.ablations CONFIG ... --plot FILE``.

Every config is run with several seeds, and one number of its evaluations is drawn over the steps:
the mean over the seeds, and a band from the lowest seed to the highest. A run that is already there
is not repeated, one that was stopped goes on.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.report import INK, PAINTER, TITLE, dress, save_figure
from common.commands import COUNT, Parser, answers_in_one_line
from common.errors import MasqueradeError
from common.files import check_out, read_text
from common.statistics import mean_interval
from training.config import RunConfig, read_yaml
from training.runner import finish

__all__ = ["main"]

RUNS = Path(__file__).resolve().parents[1] / "runs" / "ablations"

COLORS = ("#2a78d6", "#eb6834", "#1baa7a", "#8b5cc7", "#b8860b", "#7a7a76")

Curves = dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]


def read_curve(path: Path, metric: str) -> dict[int, float]:
    """One column of a ``metrics.csv``, by step; rows without it are left out."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or metric not in rows[0]:
        known = ", ".join(name for name in rows[0] if name.startswith("eval/")) if rows else "none"
        raise MasqueradeError(f"{path} has no '{metric}': choose from {known}")
    return {int(row["step"]): float(row[metric]) for row in rows if row[metric]}


def run_all(configs: Sequence[Path], num_seeds: int, metric: str, folder: Path) -> Curves:
    """Run what has not been run: for each config the steps, and [seeds, steps] values."""
    curves: Curves = {}
    for path in configs:
        by_seed = []
        for seed in range(num_seeds):
            run = folder / path.stem / f"seed{seed}"
            _run(path, seed, run)
            by_seed.append(read_curve(run / "metrics.csv", metric))
        steps = sorted(by_seed[0])
        values = np.array([[curve[step] for step in steps] for curve in by_seed])
        curves[_title(path)] = np.array(steps), values
        print(f"{_title(path):<42}{mean_interval(values[:, -1])}", flush=True)
    return curves


def _run(path: Path, seed: int, run: Path) -> None:
    config = RunConfig.parse(read_yaml(path, [f"train.seed={seed}"]))
    finish(config, run, command=f"python -m experiments.ablations {path}", is_shown=False)


def _title(path: Path) -> str:
    """The first line of a config, which says what is different about it."""
    first = read_text(path, "name a YAML file").splitlines()[0]
    return first.removeprefix("#").strip() if first.startswith("#") else path.stem


def draw(curves: Curves, metric: str, path: Path) -> None:
    """One line and one band for each config."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker

    figure, panel = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    for color, (name, (steps, values)) in zip(COLORS, curves.items(), strict=False):
        panel.plot(steps, values.mean(axis=0), color=color, linewidth=2, label=name)
        low, high = values.min(axis=0), values.max(axis=0)
        panel.fill_between(steps, low, high, color=color, alpha=0.15, linewidth=0)
    num_seeds = len(next(iter(curves.values()))[1])
    title = f"{metric}: mean of {num_seeds} seeds, band from the lowest to the highest"
    panel.set_title(title, **TITLE)
    panel.set_xlabel("decisions of the learner", color=INK)
    panel.set_ylabel(metric, color=INK)
    panel.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
    dress(panel)
    save_figure(figure, path)


@answers_in_one_line("ablations")
def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = Parser(prog="python -m experiments.ablations", description=__doc__)
    parser.add_argument("configs", type=Path, nargs="+", help="what to compare, the whole first")
    parser.add_argument("--metric", required=True, help="such as eval/leduc_rule/return")
    parser.add_argument("--seeds", type=COUNT, default=3, help="how many (default %(default)s)")
    parser.add_argument("--plot", type=Path, required=True, help="where the picture goes")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where the runs go")
    parser.add_argument("--force", action="store_true", help="write over another picture")
    arguments = parser.parse_args(argv)
    check_out(arguments.plot, PAINTER, arguments.force)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by torch when it is first imported
    curves = run_all(arguments.configs, arguments.seeds, arguments.metric, arguments.runs)
    draw(curves, arguments.metric, arguments.plot)
    print(f"plot: {arguments.plot}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
