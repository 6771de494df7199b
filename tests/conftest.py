from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

# Small networks are fastest on one thread, above all when several tests share the cores. Set
# before torch is imported, and inherited by the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from agents.processes.outside import OutsideAgent
from envs.core.game import Game
from tests.support.browser import MISSING, find_chromium
from tests.support.held_clock import FOLDER, HeldClock
from tests.support.option_sets import build
from tests.support.sampling import IS_FULL

# What ``make test`` tries is the same every time; ``make test-all`` looks for more.
settings.register_profile("same every time", derandomize=True)
settings.load_profile("default" if IS_FULL else "same every time")

# What takes longest, the longest first: files are handed out one by one to some processes, and none
# should be left alone with a long one at the end.
LONGEST = (
    "tests/envs/test_check_game.py",
    "tests/arena/test_tournament.py",
    "tests/envs/test_hidden_information.py",
    "tests/agents/test_pursuit_exact.py",
    "tests/arena/test_variance_reduction.py",
    "tests/play/test_websocket.py",
    "tests/training/test_configs.py",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All that is imported stays: to look through it for garbage takes longer than to import it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the rest stays as it is."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


@pytest.fixture(autouse=True, scope="session")
def held_clock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Who plays in a process of its own has all the time it needs, unless it says that it hangs."""
    folder = tmp_path_factory.mktemp("hanging")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder))
        patch.setattr(OutsideAgent, "clock", HeldClock(folder))
        yield


@pytest.fixture
def game(request: pytest.FixtureRequest) -> Game:
    """The game of a row of ``OPTION_SETS``; see ``every_option_set``."""
    return build(request.param)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so if the browser tests could not be run."""
    if find_chromium() is None:
        terminalreporter.write_line(MISSING)
