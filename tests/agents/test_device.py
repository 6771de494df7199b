"""One device for a run: a card that must not be touched, or cannot be, is a planted one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import evaluate
import train
from agents.dqn.learner import tensors_of
from agents.dqn.replay import Minibatch, Replay
from agents.learning import device as devices
from agents.learning.device import computing_on, resolve_device
from agents.learning.files import CheckpointError, checkpoints, reading
from agents.sb3.learner import _Randomness
from agents.spec import AgentSpec
from common.errors import OptionError
from envs import make_game
from experiments.holdem.population import Population, PopulationConfig
from play.agents import Thinkers
from training.best_response import Search, bound
from training.config import RunConfig
from training.runner import begin_run, make_learner, resume_run

KUHN = make_game("kuhn_v0")
TOO_OLD = "The NVIDIA driver on your system is too old"
SMALL = {"hidden": 8, "learn_start": 32, "num_envs": 8, "batch_size": 16}
MODEL = {"hidden": 8, "algorithm": "PPO", "num_envs": 4, "n_steps": 8, "batch_size": 16}
CLASSIFIER = {"hidden": 8, "sample_games": 100, "epochs": 2}


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A card that torch sees and that fails at the first touch; every network is worth it."""
    found: list[str] = []

    def touch() -> None:
        found.append("touched")
        raise RuntimeError(f"{TOO_OLD}\n(found version 11000)")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "_lazy_init", touch)
    monkeypatch.setattr(devices, "SMALL", 0)
    devices._tell.cache_clear()
    return found


def config(agent: str, params: dict[str, Any], *opponents: str) -> RunConfig:
    return RunConfig.parse(
        {
            "game": {"id": "kuhn_v0"},
            "agent": {"id": agent, "params": params},
            "train": {"steps": 200, "eval_every": 100, "checkpoint_every": 100}
            | {"opponents": list(opponents or ["self", "past"])},
            "eval": {"games": 4, "opponents": ["random"], "exploitability": False},
            "log": {"tensorboard": False},
        }
    )


@pytest.fixture
def net(tmp_path: Path) -> str:
    """A trained network, whose run met past selves; made before there is a card."""
    begin_run(config("dqn", SMALL), tmp_path / "net", is_shown=False)
    return f"dqn:{tmp_path / 'net'}"


def test_the_planted_card_is_seen_and_fails(touched: list[str]) -> None:
    with pytest.raises(RuntimeError, match=TOO_OLD):
        torch.zeros(1).to("cuda")
    assert touched == ["touched"]


# ---- --device cpu --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "params"), [("dqn", SMALL), ("sb3", MODEL), ("offline", CLASSIFIER)]
)
def test_a_run_on_the_processor_touches_no_card(
    agent: str, params: dict[str, Any], net: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    touched = request.getfixturevalue("touched")  # when the network is there
    league = f"league:{net.partition(':')[2]}"
    asked = config(agent, params, "self", "past", league, net)
    asked = asked.replace(eval=asked.eval.replace(opponents=[AgentSpec.parse(net)]))
    run = tmp_path / "run"
    begin_run(asked, run, "cpu", is_shown=False)
    checkpoints(run)[-1].rename(tmp_path / "gone")
    resume_run(run, "cpu", is_shown=False)
    assert touched == []


def test_nothing_else_that_is_given_the_processor_touches_a_card(
    net: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    touched = request.getfixturevalue("touched")
    search = Search(learners=("dqn",), steps=100, games=4, choosing_games=4, device="cpu")
    bound(KUHN, AgentSpec.parse(net), search, tmp_path / "bounds", is_shown=False)
    match = ["match", "kuhn_v0", net, "random", "--games", "4", "--device", "cpu"]
    assert evaluate.main([*match, "--out", str(tmp_path / "match")]) == 0
    assert touched == []
    # A guide is made by the player that it guides, and perhaps in a process of that one's own.
    guided = {"id": "ismcts", "params": {"guide": net, "iterations": 2}, "device": "cpu"}
    AgentSpec.parse(guided).build(KUHN)
    AgentSpec.parse({"id": net, "device": "cpu"}).build(KUHN)
    assert touched == []


def test_populations_and_the_page_leave_the_card_alone(
    net: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    touched = request.getfixturevalue("touched")
    group = {"name": "net", "size": 2, "steps": 100, "agent": {"id": "dqn", "params": SMALL}}
    few = {"sessions": 2, "measure_games": 20, "final_games": 20, "checkpoints": 1}
    content = {"game": {"id": "kuhn_v0"}, "population": {"groups": [group], **few}}
    Population(PopulationConfig.parse(content), tmp_path / "all", is_shown=False).run()
    thinkers = Thinkers()
    thinkers.agent(KUHN, net)
    thinkers.adviser(KUHN, net, is_here=True)
    thinkers.close()
    assert touched == []


def test_the_door_gives_the_device_to_everything(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    touched = request.getfixturevalue("touched")
    path, out = tmp_path / "run.yaml", str(tmp_path / "run")
    path.write_text(config("dqn", SMALL).to_yaml())
    arguments = ["--config", str(path), "--out", out, "--quiet", "--device", "cpu"]
    assert train.main([*arguments, "--dry-run"]) == 0
    assert train.main(arguments) == 0
    assert touched == []


# ---- a card that cannot be used ------------------------------------------------------------------


def test_auto_passes_over_a_card_that_cannot_be_used_and_says_so_once(
    touched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        learner = make_learner(config("dqn", SMALL), KUHN, "auto")
        assert learner.task.device == "cpu"
    assert capsys.readouterr().err.splitlines() == [
        f"device: on the processor, for the graphics card cannot be used ({TOO_OLD} (found "
        "version 11000))"
    ]


def test_asked_for_such_a_card_there_is_one_line_that_helps(
    tmp_path: Path, touched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(config("dqn", SMALL).to_yaml())
    assert train.main(["--config", str(path), "--out", str(tmp_path / "run"), "--device", "cuda"])
    error = capsys.readouterr().err
    assert f"device 'cuda' cannot be used ({TOO_OLD} (found version 11000)): use --device cpu" in (
        error
    )
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_card_that_fails_later_is_no_fault_of_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(OptionError, match=r"graphics card.*out of memory.*use --device cpu"),
        reading(tmp_path, "a network"),
    ):
        raise RuntimeError("CUDA out of memory. Tried to allocate 2 MiB")
    with pytest.raises(CheckpointError, match="does not hold"), reading(tmp_path, "a network"):
        raise RuntimeError("wrong shape")


# ---- auto ----------------------------------------------------------------------------------------


def test_auto_takes_the_processor_for_a_small_network_and_says_so(
    touched: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(devices, "SMALL", 1000)
    assert make_learner(config("dqn", SMALL), KUHN, "auto").task.device == "cpu"
    assert make_learner(config("sb3", MODEL), KUHN, "auto").task.device == "cpu"
    assert make_learner(config("q_learning", {}), KUHN, "auto").task.device == "cpu"
    assert touched == []
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1  # both networks have as many weights; a table has nothing to say
    assert "as quick for a network of 114 weights; --device cuda takes the graphics card" in told[0]


def test_auto_takes_a_card_that_works_for_a_large_network(
    touched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    monkeypatch.setattr(devices, "SMALL", 1000)
    assert resolve_device("auto", num_weights=999) == "cpu"
    assert resolve_device("auto", num_weights=1000) == "cuda"
    assert resolve_device("cuda", num_weights=1) == "cuda"
    with computing_on("cuda"):  # of the run that it belongs to
        assert resolve_device("auto", num_weights=1) == "cuda"
        with computing_on("cpu"):
            assert resolve_device("auto", num_weights=1000) == "cpu"
    assert touched == []


# ---- what a card needs ---------------------------------------------------------------------------


class Column:
    """A tensor that notes how it was copied."""

    ndim = 2

    def __init__(self) -> None:
        self.copied: list[Any] = []

    def pin_memory(self) -> Column:
        self.copied.append("pinned")
        return self

    def to(self, device: str, non_blocking: bool = False) -> Column:
        self.copied.append((device, non_blocking))
        return self


def test_minibatches_reach_a_card_through_pinned_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Replay(8, 3, 2).latest(0)
    columns: list[Column] = []

    def from_numpy(_: Any) -> Column:
        columns.append(Column())
        return columns[-1]

    monkeypatch.setattr(torch, "from_numpy", from_numpy)
    tensors_of(batch, "cuda")
    count = len(Minibatch._fields) - 1  # all but their places in the replay
    assert [each.copied for each in columns] == [["pinned", ("cuda", True)]] * count
    columns.clear()
    tensors_of(batch, "cpu")
    assert [each.copied for each in columns] == [[]] * count


def test_the_generator_of_a_card_is_resumed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    card = SimpleNamespace(state=torch.zeros(16, dtype=torch.uint8))
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda: card.state.clone())
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state: setattr(card, "state", state))

    def draw(own: _Randomness) -> list[int]:
        with own:
            card.state = card.state + 1
            return list(card.state.tolist())

    whole = _Randomness(0, has_card=True)
    draw(whole)
    saved = whole.state_dict()
    assert card.state.tolist() == [0] * 16  # given back
    expected = draw(whole)
    resumed = _Randomness(0, has_card=True)
    resumed.load_state_dict(saved)
    assert draw(resumed) == expected == [2] * 16
    # On the processor it is not asked for, and nobody misses it.
    elsewhere = _Randomness(0)
    elsewhere.load_state_dict(saved)
    draw(elsewhere)
    assert "cuda_rng" not in elsewhere.state_dict()
    before = {name: value for name, value in saved.items() if name != "cuda_rng"}
    _Randomness(0, has_card=True).load_state_dict(before)
