"""S, L, C and D: what no player can beat, short games, and capture tables of the city."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from agents import make_agent
from agents.games.pursuit.capture import capture_table
from arena.playing.match import play_shown
from common.statistics import wilson
from envs import make_game
from envs.pursuit.tables import named_board
from experiments.runner import Row, Settings
from experiments.scotland_yard.reduced.certain import certain_wins
from experiments.scotland_yard.reduced.mixed import MixedPlay
from experiments.scotland_yard.reduced.mixed_player import exploitability
from experiments.scotland_yard.reduced.plans import fugitive_anywhere
from experiments.scotland_yard.reduced.visible import rounds_to_win
from experiments.scotland_yard.tables import EXACT, play, reduced, replies_of, solved

__all__ = ["capture_rows", "city_rows", "mixed_rows", "solver_rows"]


def solver_rows(_settings: Settings) -> Iterator[Row]:
    """S: what no player can beat."""
    graph = reduced()
    seen = rounds_to_win(graph)[graph.is_start]
    shown = ", ".join(str(count) for count in np.bincount(seen)[1:])
    yield Row("S", "always seen: most rounds to a catch", int(seen.max()), wanted=(7, 7),
              note=f"starts by rounds: {shown}")  # fmt: skip
    for period, wanted in ((3, 12), (2, 11)):
        other = reduced(reveals=period)
        rounds = certain_wins(other).rounds[other.is_start]
        counts = zip(*np.unique(rounds, return_counts=True), strict=True)
        found = ", ".join(f"{number}: {count}" for number, count in counts)
        words = f"seen at every {period}. move: most rounds to a certain catch"
        yield Row("S", words, int(rounds.max()), wanted=(wanted, wanted),
                  note=f"mean {rounds.mean():.3f}; {found}")  # fmt: skip
    promised = solved().rounds[graph.is_start]
    opponents = {
        "random": fugitive_anywhere(graph),
        "v4, 1 ply": replies_of(),
        "v4, 3 plies": replies_of("v4", 3),
        "danger, 3 plies": replies_of("danger", 3),
    }
    for name, replies in opponents.items():
        games = play(solved().plans, replies)
        is_kept = bool((games.rounds <= promised).all() and games.is_won.all())
        note = (
            f"mean {games.mean_length:.2f} rounds; every promise {'kept' if is_kept else 'BROKEN'}"
        )
        rate = round(100 * games.win_rate, 2)
        yield Row("S", f"certain-win detectives v. {name}, win, %", rate, wanted=(100, 100),
                  note=note)  # fmt: skip


def capture_rows(_settings: Settings) -> Iterator[Row]:
    """C: capture tables of the board with 200 stations, the fugitive always seen."""
    for num_detectives in (1, 2, 3):
        begun = time.perf_counter()
        table = capture_table(named_board("city"), num_detectives)
        seconds = time.perf_counter() - begun
        note = f"{table.num_bytes / 1e6:,.1f} MB, {seconds:.1f} s on a machine that others used too"
        words = f"{num_detectives} on 200 stations: positions from which he is caught, %"
        share = round(100 * table.share_lost, 3)
        yield Row("C", words, share, games=table.num_positions, note=note)
        words = f"{num_detectives} on 200 stations: most rounds to a catch"
        counts = ", ".join(f"{count:,}" for count in table.counts)
        yield Row("C", words, len(table.counts), note=f"positions by rounds: {counts}")


def city_rows(settings: Settings) -> Iterator[Row]:
    """D: what capture tables are worth in the original game on 200 stations."""
    game = make_game("scotland_yard_v0")
    games = settings.games(2000)
    for fugitive in ("pursuit_heuristic", "pursuit_belief"):
        for detectives in ("pursuit_heuristic", "pursuit_belief", "pursuit_capture"):
            agents = [make_agent(fugitive, game), make_agent(detectives, game)]
            won = play_shown(game, agents, games, seed=settings.seed).returns[:, 1] > 0
            words = f"original game: {detectives} v. {fugitive} as Mr. X, detectives win, %"
            yield Row.of("D", words, wilson(int(won.sum()), games).times(100), games=games)


def mixed_rows(_settings: Settings) -> Iterator[Row]:
    """L: short games, in which both sides must mix, and what can be gained against the mixture."""
    wanted = {2: 28.9, 5: 63.4, 8: 93.9, 11: 99.5, 14: 100.0}
    mixed = MixedPlay(reduced())
    for rounds, goal in wanted.items():
        found = mixed.values(rounds)
        rate = round(100 * found.win_rate(reduced()), 2)
        words = f"{rounds} rounds, best mixed play of both: detectives win, %"
        note = f"{found.num_programmes} linear programmes"
        yield Row("L", words, rate, wanted=(goal - 0.1, goal + 0.1), note=note)
        for side, gain in zip(("Mr. X", "detectives"), exploitability(mixed, rounds), strict=True):
            words = f"{rounds} rounds: what the best {side} gain against pursuit_mixed, points"
            yield Row("L", words, round(100 * gain, 4), wanted=(-0.001, 0.001), note=EXACT)
