from __future__ import annotations

import os

import pytest

# Small networks are fastest on one thread, above all when several tests share the cores. Set
# before torch is imported, and inherited by the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from envs.core import Game
from tests.support.browser import MISSING, find_chromium
from tests.support.option_sets import build

# What takes longest, the longest first: files are handed out one by one to some processes, and none
# should be left alone with a long one at the end.
LONGEST = (
    "tests/play/test_browser.py",
    "tests/safety/test_killed.py",
    "tests/envs/test_check_game.py",
    "tests/arena/test_ray.py",
    "tests/envs/test_hidden_information.py",
    "tests/arena/test_executors.py",
    "tests/arena/test_tournament.py",
    "tests/agents/test_time_limits.py",
    "tests/training/test_configs.py",
    "tests/agents/test_pursuit_agents.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the rest stays as it is."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


@pytest.fixture
def game(request: pytest.FixtureRequest) -> Game:
    """The game of a row of ``OPTION_SETS``; see ``every_option_set``."""
    return build(request.param)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so if the browser tests could not be run."""
    if find_chromium() is None:
        terminalreporter.write_line(MISSING)
