"""Do the compiled functions and the same functions as plain Python play the same games?

``digest`` boils a number of random games down to one hash, in this process; ``plain_python_digest``
does so in a process of its own with ``NUMBA_DISABLE_JIT=1``. By hand, that is ``NUMBA_DISABLE_JIT=1
PYTHONPATH=. python tests/support/plain_python.py leduc_v0 '{"num_players": 3}' 50 7``."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from envs import make_game
from envs.core.engine import random_playouts
from envs.core.kernels import CHANCE, OVER
from envs.core.rng import below, new_rng

PROJECT = Path(__file__).resolve().parents[2]


def digest(game_id: str, options: dict[str, Any], num_games: int, seed: int) -> str:
    """Hash everything all ten functions answer at every node of ``num_games`` random games."""
    game = make_game(game_id, **options)
    rng = new_rng(seed)
    sha = hashlib.sha256()
    for number in range(num_games):
        position = game.new_position(number)
        while position.turn != OVER:
            legal = position.legal_actions()
            if position.turn == CHANCE:
                action = int(game.kernels.sample(position.state, game.rules, rng))
                sha.update(repr(position.chance_outcomes()).encode())
            else:
                action = legal[int(below(rng, len(legal)))]
            sha.update(repr((position.turn, legal, action)).encode())
            for viewer in range(game.facts.num_players):
                token = game.kernels.seen(position.state, game.rules, action, viewer)
                sha.update(np.int64(token).tobytes() + position.observation(viewer).tobytes())
                sha.update(position.determinized(viewer, rng).tobytes())
            position.apply(action)
            sha.update(position.state.tobytes() + position.returns().tobytes())
    sha.update(random_playouts(game, num_games, rng).mean_returns.tobytes() + rng.tobytes())
    return sha.hexdigest()


def plain_python_digest(game_id: str, options: dict[str, Any], num_games: int, seed: int) -> str:
    """The same hash from a process in which nothing is compiled and NumPy's warnings are errors."""
    arguments = [game_id, json.dumps(options), str(num_games), str(seed)]
    finished = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", __file__, *arguments],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return finished.stdout.strip()


if __name__ == "__main__":
    print(digest(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
