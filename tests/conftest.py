from __future__ import annotations

import os

import pytest

# Small networks are fastest on one thread, above all when several tests share the cores. Set
# before torch is imported, and inherited by the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from envs.core import Game
from tests.support.browser import MISSING, find_chromium
from tests.support.option_sets import build


@pytest.fixture
def game(request: pytest.FixtureRequest) -> Game:
    """The game of a row of ``OPTION_SETS``; see ``every_option_set``."""
    return build(request.param)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so if the browser tests could not be run."""
    if find_chromium() is None:
        terminalreporter.write_line(MISSING)
