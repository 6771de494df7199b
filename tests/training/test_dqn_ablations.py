"""Curves of several configs over seeds, on runs of a few hundred steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.ablations import main, read_curve

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


def test_every_config_and_seed_is_run_once_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for replay in ("uniform", "latest"):
        text = CONFIG.format(title=f"{replay} replay", replay=replay)
        (tmp_path / f"{replay}.yaml").write_text(text)
    paths = [str(tmp_path / f"{replay}.yaml") for replay in ("uniform", "latest")]
    where = ["--plot", str(tmp_path / "plot.png"), "--runs", str(tmp_path / "runs")]
    command = [*paths, "--seeds", "2", "--metric", "eval/random/return", *where]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "uniform replay" in told
    assert "latest replay" in told
    assert (tmp_path / "plot.png").stat().st_size < 200_000
    metrics = tmp_path / "runs" / "latest" / "seed1" / "metrics.csv"
    curve = read_curve(metrics, "eval/random/return")
    assert list(curve) == [80, 160]
    # What is there is not run again.
    written = metrics.stat().st_mtime_ns
    assert main(command) == 0
    assert capsys.readouterr().out == told
    assert metrics.stat().st_mtime_ns == written
    assert main([*command[:5], "eval/nobody/return", *where]) == 2
    assert "choose from eval/random/return" in capsys.readouterr().err
