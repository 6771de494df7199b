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
``table_*``
    What the table of functions costs. ``table_handwritten``: a loop written for this one game.
    ``table_turn``, ``table_legal`` and ``table_choice``: our loop with that part called twice; a
    ratio of 1.2 says that calling it adds 20 % to a playout.
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

__all__ = ["CURVES", "JOBS"]

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


def our_playouts_twice(part: int) -> Chunk:
    """Five-dice playouts in which one part is called twice."""
    game = LIARS_DICE()
    return ours.playouts_twice(game, game.replay(DICE_DEAL).state, NUM_PLAYOUTS, part)


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
NUMBA_ALLOWANCE = 3.0
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

ON_AEC = partial(Job, package="pettingzoo")
ON_VECTOR = partial(Job, package="open_spiel")
BY_OURSELVES = partial(Job, unit="games/s")


def _batch_job(name: str, make: Callable[[], Game], spec: str, **extra: Any) -> Job:
    return ON_VECTOR(
        name,
        f"a vector of games and a loop over OpenSpiel's {spec}: moves with observations and masks",
        partial(ours.vector_moves, make),
        partial(peers.openspiel_loop, spec),
        "OpenSpiel, Python loop",
        **extra,
    )


def _playout_job(name: str, make: Callable[[], Game], spec: str, deal: list[int]) -> Job:
    return Job(
        name,
        f"compiled random games after the deal and OpenSpiel's C++ rollouts of {spec}",
        partial(ours.playouts, make, NUM_PLAYOUTS, deal),
        partial(peers.openspiel_rollouts, spec, deal, NUM_PLAYOUTS),
        "OpenSpiel, C++ rollouts",
        package="open_spiel",
        unit="games/s",
        target=1.3,
    )


def _startup_job(name: str, what: str, code: str) -> Job:
    return Job(
        name,
        what,
        partial(fresh_process, code),
        partial(fresh_process, "import numba", NUMBA_ALLOWANCE),
        f"{NUMBA_ALLOWANCE:g} x import numba",
        package="numba",
        unit="ms",
        target=1.0,
        is_duration=True,
    )


def _twice_job(name: str, part: int) -> Job:
    return BY_OURSELVES(
        f"table_{name}",
        f"share of {name} in a five-dice playout: the ratio less 1",
        partial(our_playouts_twice, ours.NOTHING),
        partial(our_playouts_twice, part),
        f"ours, {name} twice",
    )


JOBS = [
    ON_AEC(
        "aec_raw",
        "Leduc as an AEC raw_env",
        partial(our_aec, True),
        partial(peers.pettingzoo_leduc, True),
        "PettingZoo leduc_holdem raw_env",
        target=10.0,
    ),
    ON_AEC(
        "aec_folding",
        "as aec_raw, but players fold too, and PettingZoo's games are half as long as ours",
        partial(our_aec, True, never=None),
        partial(peers.pettingzoo_leduc, True, never=None),
        "PettingZoo leduc_holdem raw_env",
    ),
    ON_AEC(
        "aec_wrapped",
        "Leduc as an AEC env, illegal moves and wrong order handled",
        partial(our_aec, False),
        partial(peers.pettingzoo_leduc, False),
        "PettingZoo leduc_holdem env",
        target=15.0,
    ),
    ON_AEC(
        "aec_limit",
        "Leduc as an AEC raw_env and an AEC game in which nothing happens: how close to the limit",
        partial(our_aec, True),
        peers.noop_aec,
        "no-op AEC game",
    ),
    Job(
        "rlcard",
        "Leduc as an AEC raw_env and RLCard's Leduc, move by move",
        partial(our_aec, True, counts_moves_only=True),
        partial(peers.rlcard_loop, "leduc-holdem", never=peers.FOLD),
        "RLCard leduc-holdem",
        package="rlcard",
    ),
    _batch_job("batch_liars_dice", LIARS_DICE, THEIR_LIARS_DICE, target=20.0),
    ON_VECTOR(
        "batch_arrays",
        "as batch_liars_dice, and OpenSpiel's lists become arrays, as ours are",
        partial(ours.vector_moves, LIARS_DICE),
        partial(peers.openspiel_loop, THEIR_LIARS_DICE, has_arrays=True),
        "OpenSpiel, Python loop, arrays",
    ),
    ON_VECTOR(
        "batch_fastest",
        "as batch_liars_dice, but OpenSpiel gives no masks and writes into one array",
        partial(ours.vector_moves, LIARS_DICE),
        partial(peers.openspiel_fastest_loop, THEIR_LIARS_DICE),
        "OpenSpiel, Python loop, no masks",
    ),
    _batch_job("batch_one_die", ONE_DIE, "liars_dice"),
    _batch_job("batch_leduc", LEDUC, "leduc_poker"),
    Job(
        "vector_pgx",
        f"{NUM_ROWS} games of Leduc, moves with observations, masks and automatic reset",
        partial(ours.vector_moves, LEDUC),
        partial(peers.pgx_leduc, NUM_ROWS),
        "Pgx leduc_holdem, scan",
        package="pgx",
        target=1.0,
    ),
    _playout_job("playouts_liars_dice", LIARS_DICE, THEIR_LIARS_DICE, DICE_DEAL),
    _playout_job("playouts_leduc", LEDUC, "leduc_poker", CARD_DEAL),
    BY_OURSELVES(
        "table_handwritten",
        "generic five-dice playouts and a loop written for this game alone",
        partial(ours.playouts, LIARS_DICE, NUM_PLAYOUTS, DICE_DEAL),
        partial(ours.handwritten_playouts, DICE_DEAL, NUM_PLAYOUTS),
        "ours, hand-written loop",
    ),
    _twice_job("turn", ours.TURN),
    _twice_job("legal", ours.LEGAL),
    _twice_job("choice", ours.CHOICE),
    _startup_job(
        "startup_core",
        "a fresh process imports envs and plays a random match of Liar's Dice",
        FIRST_GAME,
    ),
    _startup_job("startup_aec", "the same through the PettingZoo environment", FIRST_AEC_GAME),
    *HOLDEM_JOBS,
]


def _match(num_players: int, dice: int) -> Callable[[], Chunk]:
    make = partial(make_game, "liars_dice_v0", num_players=num_players, dice=dice)
    return partial(ours.vector_moves, make)


ROWS = (1, 4, 16, 64, 256, 1024, 4096)
GROWING = {"Leduc": LEDUC, "Liar's Dice, one round, 2 x 5 dice": LIARS_DICE}
CURVES = [
    Curve(
        "rows",
        "rows of a vector",
        "rows",
        {
            name: {rows: partial(ours.vector_moves, make, rows) for rows in ROWS}
            for name, make in GROWING.items()
        },
        is_logarithmic=True,
    ),
    Curve(
        "players",
        "players of a Liar's Dice match",
        "players",
        {f"{dice} dice each": {n: _match(n, dice) for n in range(2, 7)} for dice in (2, 5)},
    ),
    Curve(
        "dice",
        "dice of a Liar's Dice match",
        "dice of each player",
        {f"{n} players": {dice: _match(n, dice) for dice in range(1, 6)} for n in (2, 6)},
    ),
]

if __name__ == "__main__":
    sys.exit(main("env_speed", __doc__, JOBS, CURVES))
