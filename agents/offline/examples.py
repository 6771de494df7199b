"""Positions with the action that a table thinks best in them, collected in games."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.dqn.agent import choose
from agents.learning.fields import Inputs
from agents.learning.games import LearnerGames
from agents.learning.learner import Task
from envs.core.rng import stream

__all__ = ["Examples", "collect"]

NUM_ROWS = 256


class Examples(NamedTuple):
    """What a network is to learn."""

    inputs: npt.NDArray[np.float32]
    """[n, input_size] no two are equal; the most frequent come first."""
    actions: npt.NDArray[np.int64]
    """[n] the best, by the table."""
    counts: npt.NDArray[np.int64]
    """[n] how often each was met."""


def collect(
    task: Task,
    player: Agent,
    inputs: Inputs,
    num_games: int,
    exploration: float = 0.1,
    max_examples: int = 10_000,
) -> Examples:
    """Let a player of a table play, and note what it does where it knows what it does.

    Args:
        task: the game and who else sits at the table.
        player: its ``policy`` is all on one action where it knows one to be best.
        inputs: what an example shows of a position.
        num_games: games to play.
        exploration: share of random moves, so that other positions are met too.
        max_examples: how many different positions are kept.
    """
    games = LearnerGames(task, NUM_ROWS)
    rng = stream(task.seed, "examples")
    rows = np.arange(NUM_ROWS)
    counts: dict[bytes, int] = {}
    best: dict[bytes, int] = {}
    num_over = 0

    def note_ends(ended: npt.NDArray[np.int64]) -> None:
        nonlocal num_over
        num_over += len(ended)

    while num_over < num_games:
        games.deal(on_end=note_ends)
        views = games.batch.views(rows)
        probs = player.policy(views)
        assert probs is not None, "a table knows its policy"
        shown = inputs.of(views.observations)
        for row in np.flatnonzero(probs.max(axis=1) > 0.999):
            key = shown[row].tobytes()
            counts[key] = counts.get(key, 0) + 1
            best[key] = int(probs[row].argmax())
        actions = choose(probs.astype(np.float32), views.masks, exploration, rng)
        games.rollouts.step(rows, actions)
    kept = sorted(counts, key=lambda key: (-counts[key], key))[:max_examples]
    found = np.frombuffer(b"".join(kept), np.float32).reshape(len(kept), inputs.size)
    return Examples(
        found.copy(),
        np.array([best[key] for key in kept], np.int64),
        np.array([counts[key] for key in kept], np.int64),
    )
