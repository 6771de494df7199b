"""How often the intervals that we quote hold the truth.

python -m benchmarks.coverage
python -m benchmarks.coverage --only "rule - near" --tries 2000

Players play many deals in every seating. What they get on average is then the truth,
by construction, and small tournaments are deals drawn from these with replacement: an interval of
95 % should hold the truth in 95 of 100 of them. The column of what tournaments use is marked with
a star. The bootstrap (BCa, by scipy) takes long and is tried less often.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from agents import make_agent
from arena.playing.match import play_match
from arena.statistics.intervals import paired_rate
from arena.statistics.ratings import bradley_terry
from benchmarks.timing import Progress
from envs import make_game
from envs.core.commands import COUNT, Parser, answers_in_one_line
from envs.core.statistics import Interval, mean_interval, wilson

__all__ = ["CASES", "Case", "coverage", "main", "pool_of", "span_of"]

Floats = npt.NDArray[np.float64]
Method = Callable[[Floats], Interval]

NEAR = "tests.support.planted_agents:Blunderer"
"""The rule player of a game with one move in ten at random."""
SIZES = (30, 100, 300, 1000)


@dataclass(frozen=True)
class Case:
    """Players of a game, and what is asked of the first."""

    what: str
    game_id: str
    agents: tuple[str, ...]
    kind: str
    """``wins``, ``return``, ``place`` or ``Elo``."""
    options: dict[str, Any] = field(default_factory=dict)
    shares: tuple[float, float, float] | None = None
    """Nobody plays: shares of deals that the first loses, shares and wins."""


LIARS = "liars_dice_v0"
CASES = (
    Case("wins, Liar's Dice, rule - rule", LIARS, ("liars_dice_rule",) * 2, "wins"),
    Case("wins, Liar's Dice, rule - near", LIARS, ("liars_dice_rule", NEAR), "wins"),
    Case("wins, Liar's Dice, random - random", LIARS, ("random", "random"), "wins"),
    Case("wins, Liar's Dice, one die, rule - random", LIARS, ("liars_dice_rule", "random"), "wins",
         {"dice": 1}),
    Case("wins, made up: one deal in 25 is not shared", "", (), "wins",
         shares=(0.02, 0.96, 0.02)),
    Case("wins, made up: one deal in 25 is not won", "", (), "wins", shares=(0.02, 0.02, 0.96)),
    Case("wins, Liar's Dice, one die, rule - near", LIARS, ("liars_dice_rule", NEAR), "wins",
         {"dice": 1}),
    Case("Elo, Liar's Dice, rule - near", LIARS, ("liars_dice_rule", NEAR), "Elo"),
    Case("Elo, Liar's Dice, one die, rule - random", LIARS, ("liars_dice_rule", "random"), "Elo",
         {"dice": 1}),
    Case("return, Kuhn, rule - near", "kuhn_v0", ("kuhn_rule", NEAR), "return"),
    Case("return, Leduc, rule - near", "leduc_v0", ("leduc_rule", NEAR), "return"),
    Case("return, Leduc, rule - random", "leduc_v0", ("leduc_rule", "random"), "return"),
    Case("return (bb/100), hold'em, tight - loose", "holdem_v0", ("holdem_tight", "holdem_loose"),
         "return", {"num_players": 2}),
    Case("return (bb/100), hold'em, tight - raise", "holdem_v0", ("holdem_tight", "holdem_raise"),
         "return", {"num_players": 2}),
    Case("place, No Thanks!, rule - greedy - random", "no_thanks_v0",
         ("no_thanks_rule", "no_thanks_greedy", "random"), "place", {"num_players": 3}),
    Case("wins, No Thanks!, rule - greedy - random", "no_thanks_v0",
         ("no_thanks_rule", "no_thanks_greedy", "random"), "wins", {"num_players": 3}),
)  # fmt: skip


def pool_of(case: Case, num_deals: int, seed: int = 0) -> Floats:
    """What the first player got in every deal and seating: [deals, seatings]."""
    if case.shares is not None:
        counts = [round(share * num_deals) for share in case.shares]
        return np.repeat([[0.0], [0.5], [1.0]], counts, axis=0)
    game = make_game(case.game_id, **case.options)
    agents = [make_agent(agent, game) for agent in case.agents]
    columns = []
    for order in permutations(range(len(agents))):
        seated = [agents[number] for number in order]
        returns = play_match(game, seated, num_deals, seed=seed).returns.round(9)
        mine, seat = returns[:, order.index(0)], order.index(0)
        if case.kind == "return":
            columns.append(mine)
        elif case.kind == "place":
            others = np.delete(returns, seat, axis=1) - mine[:, None]
            columns.append(1 + (others > 0).sum(axis=1) + (others == 0).sum(axis=1) / 2)
        else:
            is_best = returns == returns.max(axis=1, keepdims=True)
            columns.append(is_best[:, seat] / is_best.sum(axis=1))
    return np.stack(columns, axis=1)


def span_of(case: Case) -> float:
    """The largest difference that there can be between two returns."""
    if case.shares is not None:
        return 1.0
    facts = make_game(case.game_id, **case.options).facts
    return facts.max_return - facts.min_return


# ---- intervals -----------------------------------------------------------------------------------


def bootstrap(deals: Floats) -> Interval:
    """BCa over deals."""
    means = deals.mean(axis=1)
    if np.ptp(means) < 1e-12:
        return Interval(means[0], means[0], means[0])
    found = stats.bootstrap(
        (means,), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    return Interval(float(means.mean()), found.low, found.high)


def wilson_of_deals(deals: Floats) -> Interval:
    """Wilson's as if a deal were one game."""
    return wilson(float(deals.mean(axis=1).sum()), len(deals))


def elo(deals: Floats) -> Interval:
    """The rating of the first, the second at 0, with errors measured over deals."""
    scores, size = deals.sum(axis=1), deals.shape[1]
    totals = np.stack([scores, size - scores], axis=1)
    won = totals.sum(axis=0)
    covariance = np.cov(totals, rowvar=False) * len(deals)
    return bradley_terry([[0, won[0]], [won[1], 0]], 1, score_covariance=covariance).interval(0)


SPAN = "Student's t, span"
METHODS: dict[str, Method] = {
    SPAN: mean_interval,  # which is told the span of the game's returns
    "Student's t": mean_interval,
    "bootstrap": bootstrap,
    "Wilson, deals": wilson_of_deals,
    "Wilson, paired": paired_rate,
    "sandwich": elo,
}
USED = {
    "wins": "Wilson, paired",
    "return": SPAN,
    "place": "Student's t",
    "Elo": "sandwich",
}
TRIED = {
    "wins": ("Wilson, paired", "Student's t", "Wilson, deals", "bootstrap"),
    "return": (SPAN, "Student's t", "bootstrap"),
    "place": ("Student's t", "bootstrap"),
    "Elo": ("sandwich",),
}


def coverage(
    pool: Floats, method: str, num_deals: int, tries: int, seed: int = 0, span: float = 0.0
) -> float:
    """Share of tries in which an interval over so many deals holds the mean of the pool.

    >>> coin = np.repeat([[0.0], [1.0]], 500, axis=0)
    >>> 0.9 < coverage(coin, "Student's t", 100, tries=200) < 1.0
    True
    """
    rng = np.random.default_rng(seed)
    make = partial(mean_interval, span=span) if method == SPAN else METHODS[method]
    rate = float(pool.mean())
    truth = 400 * np.log10(rate / (1 - rate)) if method == "sandwich" else rate
    held = 0
    for _ in range(tries):
        found = make(pool[rng.integers(len(pool), size=num_deals)])
        held += found.low - 1e-9 <= truth <= found.high + 1e-9
    return held / tries


@answers_in_one_line("coverage")
def main(arguments: list[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = Parser(
        prog="python -m benchmarks.coverage",
        description=__doc__,
    )
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--pool", type=COUNT, default=4000, help="deals that are the truth (4000)")
    parser.add_argument("--tries", type=COUNT, default=400, help="small tournaments (400)")
    parser.add_argument(
        "--bootstraps", type=COUNT, default=60, help="of these with the bootstrap (60)"
    )
    parsed = parser.parse_args(arguments)
    if min(parsed.pool, parsed.tries, parsed.bootstraps) < 2:
        parser.error("--pool, --tries and --bootstraps must be at least 2")
    cases = [case for case in CASES if parsed.only.lower() in case.what.lower()]
    if not cases:
        parser.error(f"no case has {parsed.only!r} in its name")
    print(
        f"Share of intervals of 95 % that hold the truth, in %, by deals; {parsed.tries:,} tries "
        f"each ({parsed.bootstraps:,} of the bootstrap), {parsed.pool:,} deals as the truth\n"
    )
    print(f"| what, of the first | truth | interval | {' | '.join(map(str, SIZES))} |")
    print(f"| --- | ---: | --- |{' ---: |' * len(SIZES)}")
    progress = Progress(len(cases))
    for case in cases:
        progress.advance(case.what)
        for line in _lines(case, parsed):
            print(line, flush=True)
    progress.close()
    return 0


def _lines(case: Case, parsed: argparse.Namespace) -> Sequence[str]:
    pool, span = pool_of(case, parsed.pool), span_of(case)
    lines, name, truth = [], case.what, f"{pool.mean():.3f}"
    for method in TRIED[case.kind]:
        tries = parsed.bootstraps if method == "bootstrap" else parsed.tries
        found = [f"{100 * coverage(pool, method, size, tries, span=span):.1f}" for size in SIZES]
        star = " *" if USED[case.kind] == method else ""
        lines.append(f"| {name} | {truth} | {method}{star} | {' | '.join(found)} |")
        name = truth = ""
    return lines


if __name__ == "__main__":
    sys.exit(main())
