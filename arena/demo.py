"""``make demo``: a few thousand random games of every game, and a table of what came of them."""

from __future__ import annotations

import time

from agents import make_agent
from arena.match import play_match
from envs import GAMES, make_game

__all__ = ["main"]

NUM_GAMES = 5_000

TABLE = "{:<16}{:>9}{:>10}{:>13}{:>26}{:>13}"


def main() -> None:
    """Play and print."""
    print(f"Random players, {NUM_GAMES:,} games of each game, seed 0\n")
    print(
        TABLE.format(
            "game", "players", "games", "mean length", "return of seat 0 (95 %)", "games/s"
        )
    )
    for game_id in GAMES:
        game = make_game(game_id)
        player = make_agent("random", game)
        seats = [player] * game.facts.num_players
        play_match(game, seats, num_games=1)  # loads the compiled code, which is not to be timed
        started = time.perf_counter()
        result = play_match(game, seats, NUM_GAMES)
        rate = NUM_GAMES / (time.perf_counter() - started)
        interval = f"{result.mean_returns[0]:+.3f} ± {result.half_widths[0]:.3f}"
        row = (
            game_id,
            len(seats),
            f"{NUM_GAMES:,}",
            f"{result.lengths.mean():.1f}",
            interval,
            f"{rate:,.0f}",
        )
        print(TABLE.format(*row))


if __name__ == "__main__":
    main()
