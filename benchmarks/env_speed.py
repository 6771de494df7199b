"""How fast the games are, next to other libraries: ``python -m benchmarks.env_speed``.

Everything runs on one core, and players move at random on both sides (see ``policy``). What is
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

import numpy as np
import numpy.typing as npt

from benchmarks import handwritten, peers
from benchmarks.growth import Curve
from benchmarks.harness import Job, main
from benchmarks.holdem_speed import JOBS as HOLDEM_JOBS
from benchmarks.timing import Chunk
from envs import make_game
from envs.adapters.vector import VectorEnv
from envs.core.batch import random_actions
from envs.core.game import Game
from envs.core.playouts import random_playouts
from envs.core.rng import fill_streams, new_rng, stream
from envs.leduc.kernels import FOLD

__all__ = ["CURVES", "JOBS"]

NUM_ROWS = 1024
NUM_PLAYOUTS = 10_000
STEPS_PER_CHUNK = 4096

LIARS_DICE = partial(make_game, "liars_dice_v0", "openspiel", dice=5)
ONE_DIE = partial(make_game, "liars_dice_v0", "openspiel")
LEDUC = partial(make_game, "leduc_v0")
THEIR_LIARS_DICE = "liars_dice(numdice=5)"
DICE_DEAL = [0, 1, 2, 3, 4, 5, 1, 2, 3, 5]
CARD_DEAL = [4, 1]


# ---- our side ------------------------------------------------------------------------------------


def our_aec(is_raw: bool, counts_moves_only: bool = False, never: int | None = FOLD) -> Chunk:
    """Our Leduc as an AEC environment."""
    from envs import leduc_v0

    env = leduc_v0.raw_env() if is_raw else leduc_v0.env()
    env.reset(seed=0)
    return peers.aec_chunk(env, never=never, counts_moves_only=counts_moves_only)


def our_vector(make: Callable[[], Game], num_rows: int = NUM_ROWS) -> Chunk:
    """Random moves in all rows of a ``VectorEnv``."""
    env = VectorEnv(make(), num_rows)
    shown = env.reset(seed=0)
    rngs = np.empty((num_rows, 4), np.uint64)
    fill_streams(stream(0, "choice"), np.arange(num_rows), rngs)
    num_calls = max(1, STEPS_PER_CHUNK // num_rows)

    def chunk() -> int:
        nonlocal shown
        for _ in range(num_calls):
            shown = env.step(random_actions(shown.masks, rngs))
        return num_calls * num_rows

    return chunk


def our_playouts(make: Callable[[], Game], deal: list[int]) -> Chunk:
    """Random playouts from the position after ``deal``."""
    game, rng = make(), new_rng(0)
    root = after(game, deal)

    def chunk() -> int:
        return random_playouts(game, NUM_PLAYOUTS, rng, root).num_games

    return chunk


def our_playouts_twice(part: int) -> Chunk:
    """Five-dice playouts in which one part is called twice."""
    game = LIARS_DICE()
    return handwritten.playouts_twice(game, after(game, DICE_DEAL), NUM_PLAYOUTS, part)


def after(game: Game, deal: list[int]) -> npt.NDArray[np.uint8]:
    """The state after these chance outcomes."""
    return game.replay(deal).state


# ---- fresh processes -----------------------------------------------------------------------------

FIRST_GAME = """
from envs import make_game
from envs.core.playouts import random_playouts
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


def _batch_job(name: str, make: Callable[[], Game], spec: str, **extra: Any) -> Job:
    return Job(
        name,
        f"a vector of games and a loop over OpenSpiel's {spec}: moves with observations and masks",
        partial(our_vector, make),
        partial(peers.openspiel_loop, spec),
        peer_name="OpenSpiel, Python loop",
        package="open_spiel",
        **extra,
    )


def _playout_job(name: str, make: Callable[[], Game], spec: str, deal: list[int]) -> Job:
    return Job(
        name,
        f"compiled random games after the deal and OpenSpiel's C++ rollouts of {spec}",
        partial(our_playouts, make, deal),
        partial(peers.openspiel_rollouts, spec, deal, NUM_PLAYOUTS),
        peer_name="OpenSpiel, C++ rollouts",
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
        peer_name=f"{NUMBA_ALLOWANCE:g} x import numba",
        package="numba",
        unit="ms",
        target=1.0,
        is_duration=True,
    )


def _twice_job(name: str, part: int) -> Job:
    return Job(
        f"table_{name}",
        f"share of {name} in a five-dice playout: the ratio less 1",
        partial(our_playouts_twice, handwritten.NOTHING),
        partial(our_playouts_twice, part),
        peer_name=f"ours, {name} twice",
        unit="games/s",
    )


JOBS = [
    Job(
        "aec_raw",
        "Leduc as an AEC raw_env",
        partial(our_aec, True),
        peers.pettingzoo_raw_env,
        peer_name="PettingZoo leduc_holdem raw_env",
        package="pettingzoo",
        target=10.0,
    ),
    Job(
        "aec_folding",
        "as aec_raw, but players fold too, and PettingZoo's games are half as long as ours",
        partial(our_aec, True, never=None),
        partial(peers.pettingzoo_raw_env, never=None),
        peer_name="PettingZoo leduc_holdem raw_env",
        package="pettingzoo",
    ),
    Job(
        "aec_wrapped",
        "Leduc as an AEC env, illegal moves and wrong order handled",
        partial(our_aec, False),
        peers.pettingzoo_env,
        peer_name="PettingZoo leduc_holdem env",
        package="pettingzoo",
        target=15.0,
    ),
    Job(
        "aec_limit",
        "Leduc as an AEC raw_env and an AEC game in which nothing happens: how close to the limit",
        partial(our_aec, True),
        peers.noop_aec,
        peer_name="no-op AEC game",
        package="pettingzoo",
    ),
    Job(
        "rlcard",
        "Leduc as an AEC raw_env and RLCard's Leduc, move by move",
        partial(our_aec, True, counts_moves_only=True),
        peers.rlcard_leduc,
        peer_name="RLCard leduc-holdem",
        package="rlcard",
    ),
    _batch_job("batch_liars_dice", LIARS_DICE, THEIR_LIARS_DICE, target=20.0),
    Job(
        "batch_arrays",
        "as batch_liars_dice, and OpenSpiel's lists become arrays, as ours are",
        partial(our_vector, LIARS_DICE),
        partial(peers.openspiel_loop, THEIR_LIARS_DICE, has_arrays=True),
        peer_name="OpenSpiel, Python loop, arrays",
        package="open_spiel",
    ),
    Job(
        "batch_fastest",
        "as batch_liars_dice, but OpenSpiel gives no masks and writes into one array",
        partial(our_vector, LIARS_DICE),
        partial(peers.openspiel_fastest_loop, THEIR_LIARS_DICE),
        peer_name="OpenSpiel, Python loop, no masks",
        package="open_spiel",
    ),
    _batch_job("batch_one_die", ONE_DIE, "liars_dice"),
    _batch_job("batch_leduc", LEDUC, "leduc_poker"),
    Job(
        "vector_pgx",
        f"{NUM_ROWS} games of Leduc, moves with observations, masks and automatic reset",
        partial(our_vector, LEDUC),
        partial(peers.pgx_leduc, NUM_ROWS),
        peer_name="Pgx leduc_holdem, scan",
        package="pgx",
        target=1.0,
    ),
    _playout_job("playouts_liars_dice", LIARS_DICE, THEIR_LIARS_DICE, DICE_DEAL),
    _playout_job("playouts_leduc", LEDUC, "leduc_poker", CARD_DEAL),
    Job(
        "table_handwritten",
        "generic five-dice playouts and a loop written for this game alone",
        partial(our_playouts, LIARS_DICE, DICE_DEAL),
        partial(handwritten.handwritten_playouts, DICE_DEAL, NUM_PLAYOUTS),
        peer_name="ours, hand-written loop",
        unit="games/s",
    ),
    _twice_job("turn", handwritten.TURN),
    _twice_job("legal", handwritten.LEGAL),
    _twice_job("choice", handwritten.CHOICE),
    _startup_job(
        "startup_core",
        "a fresh process imports envs and plays a random match of Liar's Dice",
        FIRST_GAME,
    ),
    _startup_job("startup_aec", "the same through the PettingZoo environment", FIRST_AEC_GAME),
    *HOLDEM_JOBS,
]


def _match(num_players: int, dice: int) -> Callable[[], Chunk]:
    return partial(
        our_vector, partial(make_game, "liars_dice_v0", num_players=num_players, dice=dice)
    )


ROWS = (1, 4, 16, 64, 256, 1024, 4096)
CURVES = [
    Curve(
        "rows",
        "rows of a vector",
        "rows",
        {
            "Leduc": {rows: partial(our_vector, LEDUC, rows) for rows in ROWS},
            "Liar's Dice, one round, 2 x 5 dice": {
                rows: partial(our_vector, LIARS_DICE, rows) for rows in ROWS
            },
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

DESCRIPTION = """\
Measure the games against PettingZoo, RLCard, OpenSpiel and Pgx, both sides in this run and on one
core, and show how our cost grows with rows, players and dice.

The peers come with: pip install 'masquerade[bench]'
Results go to:       runs/benchmarks/env_speed.json, env_speed_scaling.json, env_speed_scaling.png
What both sides do:  the top of benchmarks/env_speed.py"""

if __name__ == "__main__":
    sys.exit(main("env_speed", DESCRIPTION, JOBS, CURVES))
