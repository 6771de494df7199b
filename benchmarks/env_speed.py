"""How fast the games are, next to other libraries: ``python -m benchmarks.env_speed``.

Everything runs on one core, and players move at random on both sides (see ``peers``). What is
compared, job by job:

``aec_*``
    Steps are turns of ``for agent in env.agent_iter(): env.last(); env.step(...)``, with the
    ``step(None)`` of every agent after the end; ``env.reset()`` is paid for and not counted.
    PettingZoo's Leduc is RLCard's, in which one may fold without facing a bet, so random games are
    much shorter there. Nobody folds here, on either side: then games are equally long (5.3 moves);
    ``aec_folding`` lets them.
    ``aec_limit`` compares with an environment in which nothing happens: 1 cannot be reached.
``rlcard``
    As before, but steps are moves: RLCard's own loop has no ``step(None)``.
``batch_*``
    Steps are moves with the observation and the legal actions of whoever is to move, and the chance
    between them. Ours are 1024 games in one ``VectorEnv`` that hands out fresh NumPy arrays
    (``has_copies``, the default), and begins the next game in the same step. OpenSpiel is a Python
    loop over one game at a time: ``chance_outcomes``, ``apply_action``, and at decisions
    ``information_state_tensor`` and ``legal_actions_mask``, which are lists. Both sides observe the
    own dice or card and the whole bidding. ``batch_arrays`` has OpenSpiel's lists made into arrays
    as well; ``batch_fastest`` lets it off the mask, the probabilities and fresh memory.
``vector_pgx``
    Steps are moves of 1024 games with observation, mask and automatic reset; ours as in
    ``batch_*``, Pgx in a compiled scan that also draws the actions.
``playouts_*``
    Games after one and the same deal, played to the end by compiled code alone. Rules and chances
    are equal, so games are as long; OpenSpiel's side is C++.
``startup_*``
    A fresh process, from before its first import to the end of its first game, with compiled code
    found in the cache; three times the time of ``import numba`` is allowed.
``holdem_*``
    See ``benchmarks/holdem_speed.py``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import ours, peers
from benchmarks.harness import Chunk, Curve, Job, main
from benchmarks.holdem_speed import JOBS as HOLDEM_JOBS
from envs import make_game
from envs.core.game import Game
from envs.leduc.kernels import FOLD

NUM_ROWS = 1024
NUM_PLAYOUTS = 10_000

LIARS_DICE = partial(make_game, "liars_dice_v0", "openspiel", dice=5)
ONE_DIE = partial(make_game, "liars_dice_v0", "openspiel")
LEDUC = partial(make_game, "leduc_v0")
THEIR_LIARS_DICE = "liars_dice(numdice=5)"
DICE_DEAL = [0, 1, 2, 3, 4, 5, 1, 2, 3, 5]
CARD_DEAL = [4, 1]


def our_aec(is_raw: bool, counts_moves_only: bool = False, never: int | None = FOLD) -> Chunk:
    """Our Leduc as an AEC environment."""
    from envs import leduc_v0

    env = leduc_v0.raw_env() if is_raw else leduc_v0.env()
    return peers.aec_chunk(env, never=never, counts_moves_only=counts_moves_only)


# ---- fresh processes -----------------------------------------------------------------------------

FIRST_GAME = """
from envs import make_game
from envs.core.engine import random_playouts
from envs.core.rng import new_rng
random_playouts(make_game("liars_dice_v0"), 1, new_rng(0))
"""
FIRST_AEC_GAME = """
from envs import liars_dice_v0
env = liars_dice_v0.env()
env.reset(seed=0)
for agent in env.agent_iter():
    observation, reward, is_terminated, is_truncated, info = env.last()
    is_over = is_terminated or is_truncated
    env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))
"""
ALLOWANCE = 3.0
PROJECT = Path(__file__).resolve().parents[1]


def fresh_process(code: str, factor: float = 1.0) -> Chunk:
    """Milliseconds a new interpreter takes for ``code`` once it has started, times ``factor``."""
    timed = (
        f"import time\nstarted = time.perf_counter()\n{code}\nprint(time.perf_counter() - started)"
    )

    def chunk() -> float:
        while True:
            finished = subprocess.run(
                [sys.executable, "-c", timed],
                cwd=PROJECT,
                capture_output=True,
                text=True,
                check=True,
            )
            # The first process with new sources compiles, and says so: it does not count.
            if "compiling" not in finished.stderr:
                return 1000 * factor * float(finished.stdout.split()[-1])

    return chunk


# ---- the tables ----------------------------------------------------------------------------------

LOOP = peers.openspiel_loop


def _aec_job(name: str, what: str, is_raw: bool, folds: bool, target: float | None = None) -> Job:
    more: dict[str, Any] = {"never": None} if folds else {}
    return Job(
        name,
        what,
        partial(our_aec, is_raw, **more),
        partial(peers.pettingzoo_leduc, is_raw, **more),
        f"PettingZoo leduc_holdem {'raw_env' if is_raw else 'env'}",
        target=target,
    )


def _loop_job(
    name: str,
    make: Callable[[], Game],
    peer: Callable[[], Chunk],
    how: str = "",
    target: float | None = None,
) -> Job:
    what = f"{NUM_ROWS} games and a loop over OpenSpiel's: moves with observations and masks"
    title = f"OpenSpiel, Python loop{how}"
    return Job(name, f"{what}{how}", partial(ours.vector_moves, make), peer, title, target=target)


def _playout_job(name: str, make: Callable[[], Game], spec: str, deal: list[int]) -> Job:
    return Job(
        name,
        f"compiled random games after the deal, and C++ rollouts of {spec}",
        partial(ours.playouts, make, NUM_PLAYOUTS, deal),
        partial(peers.openspiel_rollouts, spec, deal, NUM_PLAYOUTS),
        "OpenSpiel, C++ rollouts",
        "games/s",
        target=1.3,
    )


def _startup_job(name: str, what: str, code: str) -> Job:
    game, numba = partial(fresh_process, code), partial(fresh_process, "import numba", ALLOWANCE)
    return Job(name, what, game, numba, f"{ALLOWANCE:g} x import numba", "ms", target=1.0)


OUR_RAW, OUR_MOVES = partial(our_aec, True), partial(our_aec, True, counts_moves_only=True)
OUR_LEDUC, PGX = partial(ours.vector_moves, LEDUC), partial(peers.pgx_leduc, NUM_ROWS)
RLCARD = partial(peers.rlcard_loop, "leduc-holdem", never=peers.FOLD)
NOOP, SCAN = "PettingZoo, no-op AEC game", "Pgx leduc_holdem, scan"
JOBS = [
    _aec_job("aec_raw", "Leduc as an AEC raw_env", True, folds=False, target=10.0),
    _aec_job("aec_folding", "as aec_raw, but players fold too", True, folds=True),
    _aec_job("aec_wrapped", "Leduc as an AEC env, with guards", False, folds=False, target=15.0),
    Job("aec_limit", "a game in which nothing happens", OUR_RAW, peers.noop_aec, NOOP),
    Job("rlcard", "Leduc as an AEC raw_env, by moves", OUR_MOVES, RLCARD, "RLCard leduc-holdem"),
    _loop_job("batch_liars_dice", LIARS_DICE, partial(LOOP, THEIR_LIARS_DICE), target=20.0),
    _loop_job("batch_arrays", LIARS_DICE, partial(LOOP, THEIR_LIARS_DICE, True), ", arrays"),
    _loop_job(
        "batch_fastest",
        LIARS_DICE,
        partial(LOOP, THEIR_LIARS_DICE, is_fastest=True),
        ", no masks",
    ),
    _loop_job("batch_one_die", ONE_DIE, partial(LOOP, "liars_dice")),
    _loop_job("batch_leduc", LEDUC, partial(LOOP, "leduc_poker")),
    Job("vector_pgx", "as batch_leduc, and a compiled scan", OUR_LEDUC, PGX, SCAN, target=1.0),
    _playout_job("playouts_liars_dice", LIARS_DICE, THEIR_LIARS_DICE, DICE_DEAL),
    _playout_job("playouts_leduc", LEDUC, "leduc_poker", CARD_DEAL),
    _startup_job("startup_core", "a fresh process plays a random match of dice", FIRST_GAME),
    _startup_job("startup_aec", "the same through the PettingZoo environment", FIRST_AEC_GAME),
    *HOLDEM_JOBS,
]


def _match(num_players: int, dice: int) -> Callable[[], Chunk]:
    make = partial(make_game, "liars_dice_v0", num_players=num_players, dice=dice)
    return partial(ours.vector_moves, make)


ROWS = (1, 4, 16, 64, 256, 1024, 4096)
GROWING = {"Leduc": LEDUC, "Liar's Dice, one round, 2 x 5 dice": LIARS_DICE}
BY_ROWS = {
    name: {rows: partial(ours.vector_moves, make, rows) for rows in ROWS}
    for name, make in GROWING.items()
}
BY_PLAYERS = {f"{dice} dice each": {n: _match(n, dice) for n in range(2, 7)} for dice in (2, 5)}
BY_DICE = {f"{n} players": {dice: _match(n, dice) for dice in range(1, 6)} for n in (2, 6)}
CURVES = [
    Curve("rows", "rows of a vector", "rows", BY_ROWS, is_logarithmic=True),
    Curve("players", "players of a Liar's Dice match", "players", BY_PLAYERS),
    Curve("dice", "dice of a Liar's Dice match", "dice of each player", BY_DICE),
]

if __name__ == "__main__":
    sys.exit(main("env_speed", __doc__, JOBS, CURVES))
