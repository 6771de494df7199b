"""What a second thread is worth to a search: ``python -m benchmarks.search_threads``.

Two trees are grown side by side and their counts added up, against one tree with as many
simulations in all. Needs two idle cores.
"""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.harness import Job, main
from benchmarks.search_speed import our_search
from envs import make_game

NUM_CORES = 2
SIMULATIONS = 40_000
GAMES = {"leduc": "leduc_v0", "liars_dice": "liars_dice_v0", "phantom": "phantom_v0"}
JOBS = [
    Job(
        name,
        f"{game_id}: simulations of one search on two threads and on one",
        partial(our_search, partial(make_game, game_id), SIMULATIONS, threads=NUM_CORES),
        partial(our_search, partial(make_game, game_id), SIMULATIONS),
        "one thread",
        "simulations/s",
    )
    for name, game_id in GAMES.items()
]

if __name__ == "__main__":
    sys.exit(main("search_threads", __doc__, JOBS, num_cores=NUM_CORES))
