"""How well search players keep to ``--time-per-move``: ``python -m benchmarks.search_time``.

Every search player is asked for the first moves of a game of each kind, one at a time, and the
whole call is timed: drawing worlds, simulations and putting the answer together. A cell is the
median of time taken over time given, and the longest. By the processor's clock what others do on
the machine does not count; by the wall's it does.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from agents import agent_class, make_agent
from common.commands import AMOUNT, COUNT, Parser, answers_in_one_line
from common.files import write_json
from envs import make_game
from envs.core.batch import Batch
from envs.core.rng import new_rng

PLAYERS = (
    *("ismcts", "mo_ismcts", "pimc", "flat_mc", "oos", "online_cfr"),
    *("pursuit_search", "holdem_search"),
)
GAMES = (
    *("leduc_v0", "liars_dice_v0", "holdem_v0", "no_thanks_v0", "phantom_v0", "scotland_yard_v0"),
)


CLOCKS = {"cpu": time.process_time, "wall": time.monotonic}


def ratios(
    agent_id: str, game_id: str, seconds: float, num_moves: int, clock: str = "cpu"
) -> list[float]:
    """Time taken over time given, for some moves in a row; the first one only warms up."""
    game, now = make_game(game_id), CLOCKS[clock]
    agent = make_agent(agent_id, game, time_per_move=seconds, clock=now)
    batch, row = Batch(game, 1, chance=new_rng(1), has_tokens=agent.wants_tokens), np.arange(1)
    batch.begin(row, row)
    found: list[float] = []
    while len(found) <= num_moves:
        views = batch.views(row)
        is_free = views.masks.sum() > 1
        start = now()
        action = agent.act(views)
        if is_free:  # who has no choice does not think
            found.append((now() - start) / seconds)
        batch.step(row, action)
        if batch.turns[0] < 0:
            batch.begin(row, row + len(found))
    return found[1:]


@answers_in_one_line("search_time")
def main(arguments: list[str] | None = None) -> int:
    """Print a table and keep the numbers."""
    parser = Parser(prog="python -m benchmarks.search_time", description=__doc__)
    parser.add_argument("--seconds", type=AMOUNT, default=0.2, help="given for a move (0.2)")
    parser.add_argument("--moves", type=COUNT, default=10, help="timed for each cell (10)")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall", help="which (wall)")
    parsed = parser.parse_args(arguments)
    rows = []
    of = f"of {parsed.seconds} s by the {parsed.clock} clock"
    print(f"{'player':15}{'game':18}  median   longest, {of}")
    for agent_id in PLAYERS:
        for game_id in GAMES:
            if agent_class(agent_id).plays(game_id):
                found = ratios(agent_id, game_id, parsed.seconds, parsed.moves, parsed.clock)
                median, longest = float(np.median(found)), max(found)
                rows.append([agent_id, game_id, parsed.seconds, median, longest])
                print(f"{agent_id:15}{game_id:18}{median:8.3f}{longest:10.3f}", flush=True)
    write_json(Path("runs/benchmarks/search_time.json"), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
