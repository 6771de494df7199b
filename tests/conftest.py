from __future__ import annotations

import pytest

from envs.core import Game
from tests.option_sets import build


@pytest.fixture
def game(request: pytest.FixtureRequest) -> Game:
    """The game of a row of ``OPTION_SETS``; see ``every_option_set``."""
    return build(request.param)
