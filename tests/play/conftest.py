from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import find_chromium
from tests.support.play_server import Client, Server, serving

# Without a browser these are not collected; the end of the test run says so.
collect_ignore = [] if find_chromium() else ["test_browser.py", "test_browser_games.py"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that do not stop it; its agents move at once."""
    with serving(tmp_path_factory.mktemp("play"), "--pace", "0") as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A connection to it."""
    connected = Client(server.port)
    yield connected
    connected.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a server of the test's own keeps its tables."""
    return tmp_path
