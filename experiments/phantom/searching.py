"""The Phantom's tournament with search: the thesis's players rerun, and ours against them.

The thesis gave its search 2.5 seconds for a decision, the moves of all five detectives together.
Its maps, its hardware and the number of simulations are lost, so the main tables are at equal
simulations: ``SIMULATIONS`` for a joint action of the thesis's search, and as many for the moves of
our detectives together, a fifth each. ``phantom_search_timed`` is at equal time instead; a cell of
that takes hours.

Our Phantom (``pursuit_search``) takes detectives for players who know no more of his place than
they do, and judges by their moves whether they hunt by the belief or go to where he was last seen.
All that was chosen on three other maps (``map_seed`` 101 to 103) with other seeds than those of the
tables. ``UNGUESSED`` is the one before, who expects the latter one time in four.

Maps are the three that are kept with the project; starts are blind, as in the thesis.

``X``: one side of a board is solved by CFR, and search then plays the other against the solution:
what it gets less than the value of the board is its distance. One search is made in every infoset.

``PARTS``: detectives search against the Phantom of ``pursuit_belief``, who is caught less often
than the thesis's, so that there is something left to win; the Phantom searches before heuristic
detectives. All have as many simulations for a round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.cfr.evaluation import views_at
from agents.cfr.response import expected_values
from agents.cfr.solver import make_solver
from agents.cfr.tree import GameTree, Probs
from agents.ismcts.agent import LEVELS
from agents.ismcts.searcher import SearchAnalysis
from common.progress import LOG_EVERY, Progress
from envs import make_game
from envs.core.rng import fill_streams, stream
from experiments.phantom import JOINT_SEARCH
from experiments.pursuit_cells import (
    PLACEMENT,
    Entrant,
    PursuitCell,
    Wins,
    difference,
    join,
    play_cells,
    win_rate,
)
from experiments.runner import Group, Row, Settings

GAMES = 100
"""On each map."""
SIMULATIONS = 1000
MORE = 5000
"""For our Phantom in R3++: less than a tenth of the 2.5 seconds that were published."""
MORE_FOR_THESIS = 10_000
"""For the thesis's Phantom in R3x: does the unknown number of simulations explain R3?"""
SECONDS = 2.5
PUCT = {"selection": "puct", "prior": "rule"}
RANDOM = Entrant("random", "random")
HEURISTIC = Entrant("heuristic", "pursuit_heuristic")
THESIS = Entrant("the thesis's search", JOINT_SEARCH)
OUR_DETECTIVES = Entrant("our search", "mo_ismcts", PUCT, shares_budget=True)
OUR_PHANTOM = Entrant("our search", "pursuit_search")
UNGUESSED = Entrant(
    "our search without a guess",
    "mo_ismcts",
    {"selection": "ucb", "opponents": "rule", "epsilon": 0.0, "rollout_depth": 6 * PLACEMENT},
)
EITHER = {"random": RANDOM, "heuristic": HEURISTIC, "thesis": THESIS}
PLAYERS = {
    "detectives": {**EITHER, "ours": OUR_DETECTIVES},
    "phantom": {**EITHER, "ours": OUR_PHANTOM, "unguessed": UNGUESSED},
}


def cell_of(
    detectives: str,
    phantom: str,
    settings: Settings,
    simulations: int = SIMULATIONS,
    seconds: float | None = None,
) -> PursuitCell:
    """The games of one pairing on all maps, by simulations or by the clock."""
    sides = PLAYERS["phantom"][phantom], PLAYERS["detectives"][detectives]
    games = settings.games(GAMES)
    return join(play_cells("phantom_v0", *sides, games, settings, seconds, simulations))


def searched_note(cell: PursuitCell) -> str:
    """How many simulations a search by the clock had."""
    return f"{cell.simulations / max(cell.searches, 1):,.0f} simulations a search"


def pairing(
    detectives: str,
    phantom: str,
    published: float | None = None,
    wanted: tuple[float | None, float | None] | None = None,
    seconds: float | None = None,
    simulations: int = SIMULATIONS,
) -> Group:
    """The rows of one pairing: with and without the first round."""

    def rows(settings: Settings) -> Iterator[Row]:
        cell = cell_of(detectives, phantom, settings, simulations, seconds)
        names = PLAYERS["detectives"][detectives].name, PLAYERS["phantom"][phantom].name
        budget = f"{seconds} s" if seconds else f"{simulations:,} simulations"
        what = f"detectives win, %: {names[0]} v. Phantom by {names[1]}, {budget}"
        total = len(cell.is_won)
        note = searched_note(cell) if seconds else ""
        more = {"published": published, "wanted": wanted, "note": note}
        yield Row.of(what, cell.rate(), games=total, **more)
        if wanted and wanted[0] is None:
            # What is to be beaten must lie outside of the interval.
            high = cell.rate().high
            yield Row("the upper end of that interval", high, games=total, wanted=wanted)
        later = int((~cell.is_first).sum())
        if 2 <= later < total:
            yield Row.of("the same without round 1", cell.rate(has_first=False), games=later)

    return rows


def ahead(plain: str, is_phantom: bool = False, seconds: float | None = None) -> Group:
    """How far our side is ahead of another of that side, against heuristic opponents."""

    def rows(settings: Settings) -> Iterator[Row]:
        side = "phantom" if is_phantom else "detectives"
        whose = (plain, "ours") if is_phantom else ("ours", plain)
        pairs = [("heuristic", who) if is_phantom else (who, "heuristic") for who in whose]
        cells = [cell_of(*pair, settings, SIMULATIONS, seconds) for pair in pairs]
        gap = difference(*(cell.is_won for cell in cells))
        what = (
            f"points that our {side} are ahead of {PLAYERS[side][plain].name}, heuristic opponents"
        )
        note = "interval excludes 0" if gap.low > 0 else "interval holds 0"
        total = sum(len(cell.is_won) for cell in cells)
        yield Row.of(what, gap, games=total, wanted=(0.0, None), note=note)

    return rows


BOTH_KINDS = {"thesis": "the thesis's", "ours": "our"}


def budgets(
    kinds: Sequence[str], simulations: Sequence[int] = (), seconds: Sequence[float] = ()
) -> Group:
    """Strength against simulations, or against seconds a decision, for both sides of searches."""
    by_number = [(number, None, f"{number:,} simulations") for number in simulations]
    by_clock = [(SIMULATIONS, each, f"{each:g} s") for each in seconds]

    def rows(settings: Settings) -> Iterator[Row]:
        for number, each, words in (*by_number, *by_clock):
            for kind in kinds:
                for who in ("detectives", "Phantom"):
                    pair = (kind, "heuristic") if who == "detectives" else ("heuristic", kind)
                    cell = cell_of(*pair, settings, number, each)
                    what = f"detectives win, %: {BOTH_KINDS[kind]} {who}, {words}, heuristic"
                    note = searched_note(cell) if each else ""
                    yield Row.of(what, cell.rate(), games=len(cell.is_won), note=note)

    return rows


# ---- how far search is from exact play on boards so small that they can be solved ---------------


# One detective; boards on which neither side wins for certain.
SMALL_BOARDS: dict[str, dict[str, Any]] = {
    "3x3, 3 rounds": {"rows": 3, "columns": 3, "rounds": 3, "map_seed": 1},
    "3x4, 3 rounds": {"rows": 3, "columns": 4, "rounds": 3, "map_seed": 6},
    "2x4, 4 rounds": {"rows": 2, "columns": 4, "rounds": 4, "map_seed": 2},
}
NEAR = 0.02
MODELS: dict[str, Any] = {"opponents": "rule", "epsilon": 0.0, "rollout_depth": 36}
EXACT_PLAYERS: dict[str, dict[str, Any]] = {
    "mo_ismcts": {"selection": "ucb"},
    "mo_ismcts with models": {"selection": "ucb", **MODELS},
}


def analysed(
    agent: Any, tree: GameTree, seed: int, some: npt.NDArray[np.int64]
) -> list[SearchAnalysis]:
    """What a search finds in some infosets, each with a generator of its own."""
    found: list[SearchAnalysis] = []
    with closing(Progress(len(some), "infosets", after=LOG_EVERY)) as progress:
        for infoset in some:
            views = views_at(tree, infoset[None], agent.wants_tokens)
            fill_streams(stream(seed, "exact"), infoset[None], views.rngs)
            found += agent.analyse(views)
            progress.add(1)
    return found


def searched(
    agent: Any, tree: GameTree, seed: int, some: npt.NDArray[np.int64] | None = None
) -> Probs:
    """What a search plays in every infoset, or in some, and anything in the others."""
    some = np.arange(tree.num_infosets) if some is None else some
    played = tree.uniform()
    everything = analysed(agent, tree, seed, some)
    for infoset, found in zip(tree.infosets[some], everything, strict=True):
        first = int(infoset["first_sequence"])
        played[first : first + int(infoset["num_actions"])] = found.policy
    return played


def distances(settings: Settings) -> Iterator[Row]:
    """A row for each board, player and side."""
    for board, options in SMALL_BOARDS.items():
        game = make_game("phantom_v0", num_detectives=1, reveals=(3,), **options)
        solver = make_solver(game, "discounted")
        solver.run(2000)
        tree, exact = solver.tree, solver.average_policy()
        value = float(expected_values(tree, exact)[0])
        owner = tree.infosets["player"][tree.sequence_infosets]
        for name, params in EXACT_PLAYERS.items():
            agent = make_agent("mo_ismcts", game, iterations=SIMULATIONS, **params)
            own = searched(agent, tree, settings.seed)
            for side, who in enumerate(("Phantom", "detective")):
                mixed = np.where(owner == side, own, exact)
                lost = value - float(expected_values(tree, mixed)[0])
                what = f"{board} (value {value:.3f}): {name} as {who} loses to exact play"
                yield Row(what, lost * (1 - 2 * side), wanted=(None, NEAR))


GROUPS: dict[str, Group] = {
    "R4": pairing("thesis", "heuristic", 10.0, (6.2, 15.8)),
    "R4+": pairing("ours", "heuristic", 10.0, (50.0, None)),
    "R3": pairing("heuristic", "thesis", 37.3, (30.0, 45.3)),
    "R3x": pairing("heuristic", "thesis", 37.3, (30.0, 45.3), simulations=MORE_FOR_THESIS),
    "R3+": pairing("heuristic", "ours", 37.3, (None, 20.0)),
    "R3++": pairing("heuristic", "ours", 37.3, (None, 20.0), simulations=MORE),
    "R3u": pairing("heuristic", "unguessed", 37.3, (None, 20.0)),
    "M1": pairing("heuristic", "heuristic", None, (61.0, 86.0)),
    "M3": pairing("random", "thesis"),
    "M3+": pairing("random", "ours"),
    "M4": pairing("thesis", "random"),
    "M4+": pairing("ours", "random"),
    "M5": pairing("thesis", "thesis"),
    "M5+": pairing("ours", "ours"),
    "M6": budgets(("thesis", "ours"), simulations=(100, 300)),  # R3 to R4+ have 1,000
    "M7": ahead("thesis"),
    "M7r": ahead("random"),
    "M7h": ahead("heuristic"),
    "M7p": ahead("thesis", is_phantom=True),
    "X": distances,
}
TIMED: dict[str, Group] = {
    "R4T": pairing("thesis", "heuristic", 10.0, (6.2, 15.8), SECONDS),
    "R4T+": pairing("ours", "heuristic", 10.0, (50.0, None), SECONDS),
    "R3T": pairing("heuristic", "thesis", 37.3, (30.0, 45.3), SECONDS),
    "R3T+": pairing("heuristic", "ours", 37.3, (None, 20.0), SECONDS),
    "R3Tu": pairing("heuristic", "unguessed", 37.3, (None, 20.0), SECONDS),
    "M3T": pairing("random", "thesis", seconds=SECONDS),
    "M4T": pairing("thesis", "random", seconds=SECONDS),
    "M5T": pairing("thesis", "thesis", seconds=SECONDS),
    "M5T+": pairing("ours", "ours", seconds=SECONDS),
    "M6T": budgets(("thesis", "ours"), seconds=(0.1, 0.5, SECONDS)),
    "M6TT": budgets(("ours",), seconds=(10.0,)),
    "M7T": ahead("thesis", seconds=SECONDS),
    "M7Tr": ahead("random", seconds=SECONDS),
    "M7Th": ahead("heuristic", seconds=SECONDS),
    "M7Tp": ahead("thesis", is_phantom=True, seconds=SECONDS),
}


# ---- what each part of a search is worth, one left out or put in at a time -----------------------


@dataclass(frozen=True)
class SearchVariant:
    """A search with other settings, and perhaps in another form of the game."""

    name: str
    player: Entrant
    options: Mapping[str, Any] = field(default_factory=dict)

    def wins(self, side: int, opponent: str, settings: Settings, simulations: int) -> Wins:
        """[games] which of them it wins."""
        other = Entrant(opponent, opponent)
        sides = (other, self.player) if side else (self.player, other)
        games, more = settings.games(GAMES), {"simulations": simulations, **self.options}
        cell = join(play_cells("phantom_v0", *sides, games, settings, **more))
        return cell.is_won if side else ~cell.is_won


def changed(name: str, base: Entrant, **params: Any) -> SearchVariant:
    """A player with some settings of its own."""
    return SearchVariant(name, replace(base, params={**base.params, **params}))


EACH = {"seats": "each"}
SIDES: dict[str, tuple[int, str, tuple[SearchVariant, ...]]] = {
    "detectives": (
        1,
        "pursuit_belief",
        (
            SearchVariant("as they are", OUR_DETECTIVES),
            changed("every action as likely before it is tried", OUR_DETECTIVES, prior="uniform"),
            changed("random rollouts", OUR_DETECTIVES, rollout="random"),
            changed(
                "neither prior nor rollouts", OUR_DETECTIVES, prior="uniform", rollout="random"
            ),
            changed("UCB1", OUR_DETECTIVES, selection="ucb"),
            changed("UCB-tuned", OUR_DETECTIVES, selection="ucb_tuned"),
            changed("regret matching", OUR_DETECTIVES, selection="regret", final="mixture"),
            changed("the three best moves of a piece", OUR_DETECTIVES, width=3),
            changed("one observer", OUR_DETECTIVES, observers="single"),
            SearchVariant("a seat for each", OUR_DETECTIVES, EACH),
            replace(
                changed(
                    "a seat for each, coalition reduction of 0.2", OUR_DETECTIVES, coalition=0.2
                ),
                options=EACH,
            ),
            replace(
                changed(
                    "a seat for each, coalition reduction of 0.5", OUR_DETECTIVES, coalition=0.5
                ),
                options=EACH,
            ),
        ),
    ),
    "Phantom": (
        0,
        "pursuit_heuristic",
        (
            SearchVariant("as he was", UNGUESSED),
            changed("detectives choose what is best for them", UNGUESSED, opponents="search"),
            changed("random rollouts", UNGUESSED, rollout="random"),
            changed("rollouts to the end", UNGUESSED, rollout_depth=0),
            changed("one move in ten of a rollout at random", UNGUESSED, epsilon=0.1),
            SearchVariant("who judges detectives (pursuit_search)", OUR_PHANTOM),
        ),
    ),
}


def parts(settings: Settings) -> Iterator[Row]:
    """A row for every variant of either side."""
    for who, (side, opponent, variants) in SIDES.items():
        for variant in variants:
            won = variant.wins(side, opponent, settings, SIMULATIONS)
            what = f"{who} win against {opponent}, %: {variant.name}"
            yield Row.of(what, win_rate(won), games=len(won))


def levels(settings: Settings) -> Iterator[Row]:
    """A row for every level of difficulty but the highest, as detectives."""
    for level, (simulations, blunders) in list(LEVELS.items())[:-1]:
        variant = SearchVariant("", Entrant("", "mo_ismcts", {"blunders": blunders}))
        won = variant.wins(1, "pursuit_belief", settings, simulations)
        what = f"detectives win against pursuit_belief, %: mo_ismcts, level {level}"
        yield Row.of(what, win_rate(won), games=len(won))


PARTS: dict[str, Group] = {"A": parts, "V": levels}
