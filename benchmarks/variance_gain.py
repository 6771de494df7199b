"""How many times fewer games an interval takes, by pairing, by variance reduction and by both.

python -m benchmarks.variance_gain
python -m benchmarks.variance_gain --only leduc --deals 2000 --seeds 1

Everything is counted against games of fresh deals without correction, as many in each seating. The
pilots are not counted. ``cost`` is the time of a corrected match over that of a plain one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agents import make_agent
from arena.match import play_match
from arena.results import paired_gain
from arena.variance_reduction import corrections, record_match
from arena.variance_values import pilot_values
from common.commands import COUNT, Parser, answers_in_one_line, is_rehearsal
from common.progress import Progress
from envs import make_game

NEAR = "tests.support.planted_agents:Blunderer"
"""The rule player of a game with one move in ten at random."""


CHANCE, BOTH = ("chance",), ("chance", "full")


@dataclass(frozen=True)
class Contest:
    """Two players of a game."""

    game_id: str
    agents: tuple[str, str]
    what: str
    reductions: tuple[str, ...] = CHANCE
    options: dict[str, Any] = field(default_factory=dict)


DICE, RULE = "liars_dice_v0", "liars_dice_rule"
CASES = (
    Contest("kuhn_v0", ("random", "kuhn_rule"), "Kuhn, random - rule", BOTH),
    Contest("kuhn_v0", ("kuhn_rule", NEAR), "Kuhn, rule - near", BOTH),
    Contest("leduc_v0", ("random", "leduc_rule"), "Leduc, random - rule", BOTH),
    Contest("leduc_v0", ("leduc_rule", NEAR), "Leduc, rule - near"),
    Contest("leduc_v0", ("leduc_rule", "leduc_rule"), "Leduc, rule - rule"),
    Contest("leduc_v0", ("random", "random"), "Leduc, random - random", BOTH),
    Contest(DICE, ("random", RULE), "Liar's Dice, one die, random - rule", BOTH, {"dice": 1}),
    Contest(
        DICE, (RULE, NEAR), "Liar's Dice, one round, rule - near", CHANCE, {"single_round": True}
    ),
    Contest(DICE, (RULE, NEAR), "Liar's Dice, rule - near"),
    Contest(DICE, (RULE, RULE), "Liar's Dice, rule - rule"),
)


class Gains(NamedTuple):
    """Games of plain play for each game with the same interval."""

    pairing: float
    reduction: float
    both: float
    cost: float
    """Time of a corrected match for each of a plain one."""


def measure(case: Contest, reduction: str, deals: int, pilot: int, seed: int) -> Gains:
    """Play a pilot and the deals in both seatings, with and without correction."""
    game = make_game(case.game_id, **case.options)
    first, second = (make_agent(agent, game) for agent in case.agents)
    seatings = [[first, second], [second, first]]
    values = pilot_values(game, seatings, seed, reduction, pilot // 2)
    plain, corrected, seconds = [], [], np.zeros(2)
    for number, agents in enumerate(seatings):
        started = time.process_time()
        play_match(game, agents, deals, seed=seed)
        between = time.process_time()
        result, records = record_match(game, agents, deals, seed=seed)
        added = corrections(game, agents, values[number], records, seed, reduction)
        seconds += between - started, time.process_time() - between
        sign = 1.0 - 2.0 * number
        plain.append(sign * result.returns[:, 0])
        corrected.append(sign * (result.returns + added)[:, 0])
    raw, left = np.stack(plain, axis=1), np.stack(corrected, axis=1)
    by_reduction = _ratio(raw.var(axis=0).mean(), left.var(axis=0).mean())
    by_pairing = paired_gain(raw)
    on_top = _ratio(raw.mean(axis=1).var(), left.mean(axis=1).var())
    return Gains(by_pairing, by_reduction, by_pairing * on_top, seconds[1] / seconds[0])


def _ratio(above: float, below: float) -> float:
    if above == 0:
        return 1.0
    return float(above / below) if below > 1e-15 * above else np.inf


def in_words(gains: Sequence[float]) -> str:
    """From the lowest to the highest, as far as the digits tell them apart.

    >>> in_words([1.021, 1.019]), in_words([1.5, 2.5]), in_words([35.2, 40.1, 2e5])
    ('1.02', '1.50 to 2.50', '35 to over 1000')
    """
    texts = [_short(gain) for gain in (min(gains), max(gains))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def _short(gain: float) -> str:
    if gain > 1000:
        return "over 1000"
    return f"{gain:.2f}" if gain < 10 else f"{gain:.0f}"


@answers_in_one_line("variance_gain")
def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table in Markdown."""
    parser = Parser(prog="python -m benchmarks.variance_gain", description=__doc__)
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--deals", type=COUNT, default=10_000, help="each in both seatings (10000)")
    parser.add_argument("--pilot", type=COUNT, default=4000, help="games of a pilot (4000)")
    parser.add_argument("--seeds", type=COUNT, default=3, help="repetitions (3)")
    parsed = parser.parse_args(arguments)
    jobs = [
        (case, reduction)
        for case in CASES
        if parsed.only.lower() in case.what.lower()
        for reduction in case.reductions
    ]
    if not jobs:
        parser.error(f"no case has {parsed.only!r} in its name")
    if is_rehearsal():
        return 0
    print(
        f"{parsed.deals:,} deals in both seatings, pilot {parsed.pilot:,}, {parsed.seeds} seeds\n"
    )
    print("| players | variance reduction | pairing | correction | both | cost |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    with closing(Progress(len(jobs), "cases")) as progress:
        for done, (case, reduction) in enumerate(jobs):
            progress.show(done, f"{case.what}, {reduction}")
            seeds = range(parsed.seeds)
            found = [measure(case, reduction, parsed.deals, parsed.pilot, seed) for seed in seeds]
            columns = [in_words([getattr(g, name) for g in found]) for name in Gains._fields]
            print(f"| {case.what} | {reduction} | {' | '.join(columns)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
