from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.play_server import Client, Server, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that do not stop it."""
    with serving(tmp_path_factory.mktemp("play")) as running:
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
