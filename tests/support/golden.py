"""Whole games with everything everybody saw: any change of behaviour shows as a difference.

``python -m tests.support.golden`` writes ``tests/envs/playthroughs/`` anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from envs.core.game import Game
from envs.core.kernels import CHANCE, PUBLIC
from envs.core.position import Position
from envs.core.rng import below, new_rng
from tests.support.option_sets import OPTION_SETS, build, name

FOLDER = Path(__file__).resolve().parents[1] / "envs" / "playthroughs"
SEED = 2026


def playthrough(game: Game, number: int = 0) -> str:
    """One random game of a fixed seed, event by event."""
    rng = new_rng(SEED)
    position = game.new_position(number)
    lines = [f"{game!r}, game {number}, seed {SEED}", f"{game.facts}", ""]
    while not position.is_over:
        legal = position.legal_actions()
        if position.turn == CHANCE:
            action = int(game.kernels.sample(position.state, game.rules, rng))
            lines.append(f"chance: {action} {position.action_text(action)}")
        else:
            action = legal[int(below(rng, len(legal)))]
            lines.append(f"player {position.turn}: {action} {position.action_text(action)}")
            lines.append(f"  legal {_ranges(legal)}")
            lines.append(f"  observation {_sparse(position.observation(position.turn))}")
            lines.append(f"  key {position.key(position.turn):016x}")
        lines.append(f"  seen {_tokens(position, action)}")
        position.apply(action)
    lines += ["", position.text(), f"returns {position.returns().tolist()}", ""]
    return "\n".join(lines)


def _tokens(position: Position, action: int) -> str:
    game = position.game
    viewers = [PUBLIC, *range(game.facts.num_players)]
    tokens = [int(game.kernels.seen(position.state, game.rules, action, v)) for v in viewers]
    return f"by all {tokens[0]}, by each {tokens[1:]}"


def _ranges(numbers: list[int]) -> str:
    """``0-3 5`` for 0, 1, 2, 3 and 5."""
    breaks = [i for i in range(1, len(numbers)) if numbers[i] != numbers[i - 1] + 1]
    runs = [numbers[a:b] for a, b in zip([0, *breaks], [*breaks, len(numbers)], strict=True)]
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _sparse(observation: np.ndarray) -> str:
    return " ".join(f"{i}:{observation[i]:.4g}" for i in np.flatnonzero(observation))


def main() -> None:
    """Write every playthrough."""
    FOLDER.mkdir(exist_ok=True)
    for row in OPTION_SETS:
        (FOLDER / f"{name(row)}.txt").write_text(playthrough(build(row)), encoding="utf-8")
        print(f"tests/envs/playthroughs/{name(row)}.txt")


if __name__ == "__main__":
    main()
