"""Tournaments on a Ray cluster of several nodes, one of which is killed in the middle."""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from agents.spec import AgentSpec
from arena import on_ray
from arena.on_ray import Files, _submitter, hash_files, pack, sources
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from arena.workers import WorkerContext, WorkersDiedError
from common.errors import MasqueradeError
from tests.support.tournaments import PROJECT, alive, played, tournament, units_of, wait_until

# Ray leaves its processes and files to the garbage collector.
pytestmark = [
    pytest.mark.alone,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray.*"),
]

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
# Programs beside a cluster that nothing here needs: each imports Ray anew.
HEAD = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and a node with one processor each; tests connect to it and leave it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # else they starve beside the other tests
        made = Cluster(initialize_head=True, head_node_args={**NODE, **HEAD})
        made.add_node(**NODE)
        yield made
        made.shutdown()


def players(folder: Path) -> dict[str, set[int]]:
    """The processes that have played on each node."""
    found: dict[str, set[int]] = {}
    for path in folder.glob("waiting *"):
        _, node, process = path.name.split()
        found.setdefault(node, set()).add(int(process))
    return found


def test_a_node_killed_in_mid_tournament_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Patient", deals=250)
    victim = next(node for node in cluster.worker_nodes)

    def kill_when_it_plays() -> None:
        wait_until(lambda: players(tmp_path).get(victim.node_id))
        doomed = players(tmp_path)[victim.node_id]
        cluster.remove_node(victim, allow_graceful=False)
        wait_until(lambda: not doomed & alive(tmp_path))
        (tmp_path / "go").touch()  # not before: what the victim was playing was never finished

    killer = threading.Thread(target=kill_when_it_plays)
    killer.start()
    on_ray = played(spec, executor="ray", ray_address=cluster.address)
    killer.join()
    assert victim.node_id in players(tmp_path)
    assert len(players(tmp_path)) > 1
    assert not ray.is_initialized()
    cluster.add_node(**NODE)
    assert on_ray == played(spec)


@pytest.fixture(scope="module")
def connected(cluster: Any) -> Iterator[None]:
    """A connection that tests find and leave as it is."""
    ray.init(cluster.address, logging_level=logging.ERROR, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("connected")
def test_the_table_is_that_of_one_process_also_when_a_worker_dies(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Mortal")
    on_ray = run_tournament(spec, tmp_path / "ray", executor="ray")
    assert len(list(tmp_path.glob("death *"))) == 1
    here = run_tournament(spec, tmp_path / "here")
    assert on_ray.to_dict() == here.to_dict()
    assert ray.is_initialized()


@pytest.mark.usefixtures("connected")
def test_whoever_counts_its_games_starts_anew_with_every_unit() -> None:
    counter = AgentSpec("tests.support.remembering:Counter", name="counter")
    spec = TournamentSpec("kuhn_v0", (AgentSpec("kuhn_rule"), counter), deals=200, seed=0)
    assert played(spec, executor="ray", workers=1) == played(spec, workers=2)


@pytest.mark.usefixtures("connected")
def test_a_unit_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Mortal", deals=50, deaths=99)
    with pytest.raises(WorkersDiedError, match=r"planted, deals 0 to 49 \(WorkerCra") as e:
        played(spec, workers=1, executor="ray")
    assert str(e.value).startswith("3 workers died while they played ")
    assert "\n" not in str(e.value)
    assert len(list(tmp_path.glob("death *"))) == 3


@pytest.mark.usefixtures("connected")
def test_an_agent_that_a_node_cannot_make_is_one_line(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Absent")
    with pytest.raises(MasqueradeError, match="Absent' cannot be found") as e:
        played(spec, executor="ray")
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(("device", "num_cards"), [("cuda", 1), ("cpu", 0), ("auto", 0)])
def test_a_unit_asks_for_a_card_if_its_device_is_one(
    device: str, num_cards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(ray, "remote", lambda **options: asked.update(options) or (lambda _: None))
    monkeypatch.setattr(ray, "put", lambda content: content)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0, "GPU": 1.0})
    agents = AgentSpec("random", name="one", device=device), AgentSpec("random", name="other")
    spec = TournamentSpec("kuhn_v0", agents)
    _submitter(WorkerContext(spec))
    assert asked["num_gpus"] == num_cards
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})  # nobody would ever answer
    if num_cards:
        with pytest.raises(MasqueradeError, match="no node of the cluster has one: use --device"):
            _submitter(WorkerContext(spec))


# ---- sources -------------------------------------------------------------------------------------

ON_A_NODE = """
import pickle, sys
from pathlib import Path
play_unit, *arguments = pickle.loads(Path(sys.argv[1]).read_bytes())
play_unit.__globals__["_fetch"] = lambda content: content  # no cluster, no references
result = play_unit(*arguments)
import arena
print(Path(arena.__file__).parents[1])
print(result.returns.tolist())
"""


@pytest.mark.parametrize("has_sources", [True, False])
def test_a_node_plays_with_the_sources_of_the_driver(has_sources: bool, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    spec = tournament(tmp_path, "Patient", deals=3)
    unit = units_of(spec)[-1]
    here = sources(spec)
    files = here if has_sources else {f"{folder}/nowhere": here[folder] for folder in here}
    ray.cloudpickle.register_pickle_by_value(on_ray)
    task = on_ray.play_unit, files, hash_files(here), [pack(here)]
    sent = tmp_path / "sent"
    sent.write_bytes(ray.cloudpickle.dumps((*task, pickle.dumps(spec), pickle.dumps(unit))))
    # Plain Python, because what lies in a new place would have to be compiled anew.
    variables = {"NUMBA_DISABLE_JIT": "1", "MASQUERADE_CACHE": str(tmp_path / "cache")}
    finished = subprocess.run(
        [sys.executable, "-c", ON_A_NODE, str(sent)],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    folder, returns = finished.stdout.splitlines()
    assert Path(folder) == (PROJECT if has_sources else node_folder(tmp_path, here))
    result = WorkerContext(spec).play(unit)
    assert json.loads(returns) == result.returns.tolist()
    assert not result.faults


def node_folder(tmp_path: Path, files: Files) -> Path:
    return tmp_path / "cache" / "sources" / hash_files(files)


def test_sources_are_ours_and_those_of_agents_from_outside(tmp_path: Path) -> None:
    files = sources(tournament(tmp_path, "Patient"))
    names = [name for found in files.values() for name in found]
    assert {"envs/kuhn/game.py", "agents/base.py", "arena/match.py"} <= set(names)
    assert "tests/support/deadly_agents.py" in names
    assert len(names) == len(set(names))
    assert not any(name.startswith("benchmarks") for name in names)
    for agent_id in ("random:x", "cfr:runs/no", "__main__:Bot", "numpy:array"):
        spec = TournamentSpec("kuhn_v0", (AgentSpec(agent_id), AgentSpec("random", name="b")))
        assert list(sources(spec)) == [str(PROJECT)]


def test_any_change_changes_the_hash_and_what_is_missing_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    files = {str(tmp_path): ["a.py"]}
    before = hash_files(files)
    (tmp_path / "a.py").write_text("x = 2\n")
    assert hash_files(files) not in (before, "")
    assert hash_files({str(tmp_path): ["a.py", "b.py"]}) == ""
