"""Curves of several configs over seeds, on runs of a few hundred steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.errors import MasqueradeError
from experiments.ablations import CONFIGS, ablate, read_curve

CONFIG = """\
# {title}
game: {{id: kuhn_v0}}
agent:
  id: dqn
  params: {{hidden: [8], num_envs: 8, batch_size: 8, learn_start: 20, replay: {replay}}}
train: {{steps: 160, opponents: [random], log_every: 80, eval_every: 80, checkpoint_every: 160}}
eval: {{games: 50, opponents: [random], exploitability: false}}
log: {{tensorboard: false}}
"""


def test_every_config_and_seed_is_run_once_and_drawn(tmp_path: Path) -> None:
    for replay in ("uniform", "latest"):
        text = CONFIG.format(title=f"{replay} replay", replay=replay)
        (tmp_path / f"{replay}.yaml").write_text(text)
    paths = [tmp_path / f"{replay}.yaml" for replay in ("uniform", "latest")]
    where = tmp_path / "runs", tmp_path / "plot.png"
    rows = list(ablate(paths, "eval/random/return", (0, 1), *where))
    assert [row.quantity for row in rows] == [
        f"{replay} replay: eval/random/return" for replay in ("uniform", "latest")
    ]
    assert (tmp_path / "plot.png").stat().st_size < 200_000
    metrics = tmp_path / "runs" / "latest" / "seed1" / "metrics.csv"
    curve = read_curve(metrics, "eval/random/return")
    assert list(curve) == [80, 160]
    # What is there is not run again.
    written = metrics.stat().st_mtime_ns
    assert list(ablate(paths, "eval/random/return", (0, 1), *where)) == rows
    assert metrics.stat().st_mtime_ns == written
    with pytest.raises(MasqueradeError, match="choose from eval/random/return"):
        list(ablate(paths, "eval/nobody/return", (0, 1), *where))


def test_the_configs_are_there() -> None:
    assert len(CONFIGS) == 5
