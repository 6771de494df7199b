"""How often the intervals that we quote hold the truth, and how wide they are.

python -m benchmarks.coverage
python -m benchmarks.coverage --only "rule - near" --tries 2000

Players play many deals in every seating, in one group or in several with deals of their own. What
the first gets on average is then the truth, by construction, and small tournaments are deals drawn
from these with replacement: an interval of 95 % should hold the truth in 95 of 100 of them, and be
no wider than it must. The column of what tournaments use is marked with a star.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from agents import make_agent
from arena.match import play_match
from arena.ratings import bradley_terry
from arena.schedule import make_groups
from common.commands import (
    COUNT,
    MAX_GAMES,
    Parser,
    answers_in_one_line,
    at_least,
    is_rehearsal,
)
from common.progress import Progress
from common.statistics import Blocks, Interval, mean_interval, normal_quantile, wilson
from envs import make_game

Floats = npt.NDArray[np.float64]
Bounds = tuple[float, float]
Method = Callable[[Blocks, Bounds], Interval]

NEAR = "tests.support.planted_agents:Blunderer"
"""The rule player of a game with one move in ten at random."""
SIZES = (5, 10, 20, 30, 100, 300)
ENOUGH = 0.93
"""Intervals of 95 % that hold the truth as often as this, or chance alone missed it, cover."""
RESAMPLES = 199


@dataclass(frozen=True)
class Case:
    """Players of a game, and what is asked of the first."""

    what: str
    game_id: str
    groups: tuple[tuple[str, ...], ...]
    """Who plays together; each group has deals of its own."""
    kind: str
    """``wins``, ``return``, ``lead`` over the second, ``place`` or ``Elo``."""
    options: dict[str, Any] = field(default_factory=dict)
    shares: tuple[float, float, float] | None = None
    """Nobody plays: shares of deals that the first loses, shares and wins."""


@dataclass(frozen=True)
class DealPool:
    """What the first player got in every deal of every group."""

    values: Floats
    """[deals, groups]"""
    bounds: Bounds

    def draw(self, num_deals: int, rng: np.random.Generator) -> Blocks:
        """A small tournament."""
        num_groups = self.values.shape[1]
        rows = rng.integers(len(self.values), size=(num_deals, num_groups))
        found = np.take_along_axis(self.values, rows, axis=0)
        return Blocks(found, np.full(num_groups, 1 / num_groups))


LIARS, HOLDEM, YARD, PEERS = "liars_dice_v0", "holdem_v0", "scotland_yard_v0", "no_thanks_v0"
RULE, GREEDY = "no_thanks_rule", "no_thanks_greedy"
THREE = (RULE, GREEDY, "random")
TABLES = (THREE, (RULE, NEAR, GREEDY), (RULE, NEAR, "random"), (RULE, "random", "random"))
CASES = (
    Case("wins, Liar's Dice, rule - rule", LIARS, (("liars_dice_rule",) * 2,), "wins"),
    Case("wins, Liar's Dice, rule - near", LIARS, (("liars_dice_rule", NEAR),), "wins"),
    Case("wins, Liar's Dice, one die, rule - random", LIARS, (("liars_dice_rule", "random"),),
         "wins", {"dice": 1}),
    Case("wins, made up: one deal in 25 is not shared", "", (), "wins",
         shares=(0.02, 0.96, 0.02)),
    Case("wins, made up: one deal in 25 is not won", "", (), "wins", shares=(0.02, 0.02, 0.96)),
    Case("wins, Liar's Dice, one die, rule - near", LIARS, (("liars_dice_rule", NEAR),), "wins",
         {"dice": 1}),
    Case("wins, No Thanks!, rule - greedy - random", PEERS, (THREE,), "wins", {"num_players": 3}),
    Case("Elo, Liar's Dice, rule - near", LIARS, (("liars_dice_rule", NEAR),), "Elo"),
    Case("Elo, Liar's Dice, one die, rule - random", LIARS, (("liars_dice_rule", "random"),), "Elo",
         {"dice": 1}),
    Case("lead, Kuhn, rule - near", "kuhn_v0", (("kuhn_rule", NEAR),), "lead"),
    Case("lead, Leduc, rule - rule", "leduc_v0", (("leduc_rule",) * 2,), "lead"),
    Case("lead, Leduc, rule - near", "leduc_v0", (("leduc_rule", NEAR),), "lead"),
    Case("lead, Leduc, rule - random", "leduc_v0", (("leduc_rule", "random"),), "lead"),
    Case("lead (bb/100), hold'em, tight - loose", HOLDEM, (("holdem_tight", "holdem_loose"),),
         "lead", {"num_players": 2}),
    Case("lead (bb/100), hold'em, tight - raise", HOLDEM, (("holdem_tight", "holdem_raise"),),
         "lead", {"num_players": 2}),
    Case("return, pursuit, belief - greedy", YARD, (("pursuit_belief", "pursuit_greedy"),),
         "return", {"preset": "reduced"}),
    Case("return, pursuit, belief - random", YARD, (("pursuit_belief", "random"),), "return",
         {"preset": "reduced"}),
    Case("lead, No Thanks!, rule - greedy - random", PEERS, (THREE,), "lead", {"num_players": 3}),
    Case("lead, No Thanks!, four at a table", PEERS, ((*THREE, NEAR),), "lead", {"num_players": 4}),
    Case("lead, No Thanks!, five at a table", PEERS, ((*THREE, NEAR, "random"),), "lead",
         {"num_players": 5}),
    Case("place, No Thanks!, rule - greedy - random", PEERS, (THREE,), "place", {"num_players": 3}),
    Case("place, No Thanks!, four groups", PEERS, TABLES, "place", {"num_players": 3}),
    Case("return, No Thanks!, four groups", PEERS, TABLES, "return", {"num_players": 3}),
    Case("return, Leduc, three groups", "leduc_v0",
         (("leduc_rule", NEAR), ("leduc_rule", "random"), ("leduc_rule",) * 2), "return"),
)  # fmt: skip


def pool_of(case: Case, num_deals: int, seed: int = 0) -> DealPool:
    """What the first player got on average over the seatings of a deal."""
    if case.shares is not None:
        counts = [round(share * num_deals) for share in case.shares]
        return DealPool(np.repeat([[0.0], [0.5], [1.0]], counts, axis=0), (0.0, 1.0))
    game = make_game(case.game_id, **case.options)
    columns = []
    for number, names in enumerate(case.groups):
        agents = [make_agent(name, game) for name in names]
        (group,) = make_groups([()] * len(names), game.facts)
        deals = seed + 1000 * number
        found = []
        for seating in group.seatings:
            seated = [agents[agent] for agent in seating]
            returns = play_match(game, seated, num_deals, seed=deals).returns.round(9)
            found.append(_of_first(case.kind, returns, np.array(seating)))
        columns.append(np.mean(found, axis=0).round(12))
    facts, num_seats = game.facts, game.facts.num_players
    span = facts.max_return - facts.min_return
    bounds = {
        "return": (facts.min_return, facts.max_return),
        "lead": (-span / 2, span / 2),
        "place": (1.0, float(num_seats)),
    }
    return DealPool(np.stack(columns, axis=1), bounds.get(case.kind, (0.0, 1.0)))


def _of_first(kind: str, returns: Floats, seating: npt.NDArray[np.int64]) -> Floats:
    """[deals] of the first agent in one seating; in several seats their mean."""
    seats = np.flatnonzero(seating == 0)
    mine = returns[:, seats]
    if kind == "return":
        values = mine
    elif kind == "lead":
        values = (mine - returns[:, seating == 1].mean(axis=1, keepdims=True)) / 2
    elif kind == "place":
        ahead = returns[:, None, :] - mine[..., None]
        values = 0.5 + (ahead > 0).sum(axis=2) + (ahead == 0).sum(axis=2) / 2
    else:
        is_best = returns == returns.max(axis=1, keepdims=True)
        values = is_best[:, seats] / is_best.sum(axis=1, keepdims=True)
    mean: Floats = values.mean(axis=1)
    return mean


# ---- intervals -----------------------------------------------------------------------------------


def student(blocks: Blocks, _: Bounds) -> Interval:
    """Plain Student's t over deals."""
    return _from_ratios(blocks.series, *[stats.t.ppf(end, len(blocks.values) - 1) for end in TAILS])


def pooled(blocks: Blocks, _: Bounds) -> Interval:
    """Student's t over the blocks of all groups in one heap."""
    return student(Blocks.of(blocks.values.ravel()), _)


def hall(blocks: Blocks, _: Bounds) -> Interval:
    """Corrected for skewness by Hall's transformation (1992)."""
    values = blocks.series
    num, spread = len(values), values.std()
    skew = float(((values - values.mean()) ** 3).mean() / spread**3) if spread else 0.0
    ends = [stats.t.ppf(end, num - 1) for end in TAILS]
    if abs(skew) > 1e-9:
        cubes = [1 + skew * (end / math.sqrt(num) - skew / (6 * num)) for end in ends]
        ends = [3 / skew * math.sqrt(num) * (math.cbrt(cube) - 1) for cube in cubes]
    return _from_ratios(values, *ends)


def bootstrap(blocks: Blocks, _: Bounds) -> Interval:
    """The bootstrap of Student's ratio over deals."""
    values = blocks.series
    rows = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    drawn = values[rows]
    errors = drawn.std(axis=1, ddof=1) / math.sqrt(len(values))
    ratios = (drawn.mean(axis=1) - values.mean()) / np.where(errors > 0, errors, np.inf)
    return _from_ratios(values, *np.quantile(ratios, TAILS))


def floor(blocks: Blocks, bounds: Bounds) -> Interval:
    """Student's t, but at least as far as one more deal of the widest kind could move the mean."""
    found = student(blocks, bounds)
    reach = max(found.half_width, (bounds[1] - bounds[0]) / 2 / len(blocks.values))
    return Interval(found.mean, found.mean - reach, found.mean + reach)


def wilson_of_deals(blocks: Blocks, _: Bounds) -> Interval:
    """Wilson's as if a deal were one game."""
    return wilson(blocks.mean * blocks.count, blocks.count)


def elo(blocks: Blocks, _: Bounds) -> Interval:
    """The rating of the first, the second at 0, with errors measured over deals."""
    totals = np.stack([blocks.values, 1 - blocks.values], axis=2)
    won = totals.sum(axis=(0, 1))
    return bradley_terry([[0, won[0]], [won[1], 0]], 1, totals=totals).interval(0)


def elo_normal(blocks: Blocks, bounds: Bounds) -> Interval:
    """The same without counting how well the errors are known."""
    found, (_, degrees) = elo(blocks, bounds), blocks.spread
    shrunk = normal_quantile(0.95) / stats.t.ppf(TAILS[1], degrees)
    reach = found.half_width * shrunk
    return Interval(found.mean, found.mean - reach, found.mean + reach)


TAILS = (0.025, 0.975)


def _from_ratios(values: Floats, low: float, high: float) -> Interval:
    """From two quantiles of Student's ratio."""
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(mean, mean - high * error, mean - low * error)


PLAIN, USED, SANDWICH = "Student's t", "Wilson, t", "sandwich, t"
METHODS: dict[str, Method] = {
    USED: lambda blocks, bounds: mean_interval(blocks, bounds=bounds),
    PLAIN: student,
    "pooled": pooled,
    "Hall": hall,
    "bootstrap-t": bootstrap,
    "floor": floor,
    "Wilson, deals": wilson_of_deals,
    SANDWICH: elo,
    "sandwich": elo_normal,
}
OF_MEANS = (USED, PLAIN, "Hall", "bootstrap-t", "floor")
TRIED = {
    "wins": (USED, PLAIN, "Hall", "bootstrap-t", "Wilson, deals"),
    "return": OF_MEANS,
    "lead": OF_MEANS,
    "place": OF_MEANS,
    "Elo": (SANDWICH, "sandwich"),
}


def coverage(
    pool: DealPool, method: str, num_deals: int, tries: int, seed: int = 0
) -> tuple[float, float]:
    """Share of tries in which an interval over so many deals holds the mean, and its mean width.

    >>> coin = Pool(np.repeat([[0.0], [1.0]], 500, axis=0), (0.0, 1.0))
    >>> share, width = coverage(coin, "Student's t", 100, tries=200)
    >>> 0.9 < share < 1.0, f"{width:.1f}"
    (True, '0.2')
    """
    rng, truth = np.random.default_rng(seed), float(pool.values.mean())
    if method.startswith("sandwich"):
        truth = 400 * math.log10(truth / (1 - truth))
    held, width = 0, 0.0
    for _ in range(tries):
        found = METHODS[method](pool.draw(num_deals, rng), pool.bounds)
        held += found.low - 1e-9 <= truth <= found.high + 1e-9
        width += (found.high - found.low) / tries
    return float(held / tries), float(width)


@answers_in_one_line("coverage")
def main(arguments: list[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = Parser(prog="python -m benchmarks.coverage", description=__doc__)
    add, several = parser.add_argument, at_least(2, MAX_GAMES)
    add("--only", default="", help="cases with this in their name")
    add("--pool", type=several, default=4000, help="deals that are the truth (4000)")
    add("--tries", type=several, default=400, help="small tournaments (400)")
    add("--quoted", action="store_true", help="only what tournaments use")
    add("--seed", type=COUNT, default=1, help="of the small tournaments (1)")
    parsed = parser.parse_args(arguments)
    cases = [case for case in CASES if parsed.only.lower() in case.what.lower()]
    if not cases:
        parser.error(f"no case has {parsed.only!r} in its name")
    if is_rehearsal():
        return 0
    print(
        f"Share of intervals of 95 % that hold the truth, in %, by deals of each group; "
        f"{parsed.tries:,} tries each, {parsed.pool:,} deals as the truth, seed {parsed.seed}. "
        "Behind it the mean width, in that of Student's t (of the sandwich for Elo)\n"
    )
    print(f"| what, of the first | truth | interval | {' | '.join(map(str, SIZES))} | covers |")
    print(f"| --- | ---: | --- |{' ---: |' * len(SIZES)} --- |")
    with closing(Progress(len(cases), "cases")) as progress:
        for done, case in enumerate(cases):
            progress.show(done, case.what)
            for line in _lines(case, parsed):
                print(line, flush=True)
    return 0


def _lines(case: Case, parsed: argparse.Namespace) -> Iterator[str]:
    pool = pool_of(case, parsed.pool)
    tried = TRIED[case.kind]
    tried += ("pooled",) if pool.values.shape[1] > 1 else ()
    found = {
        method: [coverage(pool, method, size, parsed.tries, parsed.seed) for size in SIZES]
        for method in tried
    }
    plain = [width for _, width in found["sandwich" if case.kind == "Elo" else PLAIN]]
    name, truth = case.what, f"{pool.values.mean():.3f}"
    for method in tried:
        if parsed.quoted and method not in (USED, SANDWICH):
            continue
        cells = [
            f"{100 * share:.1f} x{min(width / unit, 99):.2f}" if unit else f"{100 * share:.1f}"
            for (share, width), unit in zip(found[method], plain, strict=True)
        ]
        star = " *" if method in (USED, SANDWICH) else ""
        verdict = _verdict([share for share, _ in found[method]], parsed.tries)
        yield f"| {name} | {truth} | {method}{star} | {' | '.join(cells)} | {verdict} |"
        name = truth = ""


def _verdict(shares: list[float], tries: int) -> str:
    """From how many deals on an interval covers, but for the chance of so many tries.

    >>> _verdict([0.8, 0.95, 0.9, 0.95, 0.94, 0.96], 2000)
    'from 30'
    """
    least = ENOUGH - 2 * math.sqrt(ENOUGH * (1 - ENOUGH) / tries)
    good = [all(share >= least for share in shares[i:]) for i in range(len(SIZES))]
    return "always" if all(good) else f"from {SIZES[good.index(True)]}" if any(good) else "never"


if __name__ == "__main__":
    sys.exit(main())
