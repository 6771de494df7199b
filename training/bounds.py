"""The command ``evaluate.py best-response``: bounds of several agents as a table and as files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from agents import RESPONDERS
from agents.learning.device import check_device
from arena.commands import make_spec, write_findings
from arena.report.columns import aligned, markdown
from envs.core.facts import Unit
from envs.core.game import Game
from training.best_response import Bound, Search, bound, default_learner, find_learner

__all__ = ["best_response", "notes", "to_rows"]


def best_response(arguments: argparse.Namespace) -> None:
    """Learn responses to agents, print what they win, and write it down if that is wanted."""
    spec = make_spec(arguments, min_agents=1)
    game = spec.build_game()
    learners = tuple(arguments.learner) or (default_learner(game),)
    search = Search(
        learners=learners,
        steps=arguments.steps,
        seeds=arguments.seeds,
        games=arguments.games,
        choosing_games=arguments.choosing_games,
        seed=spec.root_seed,
        confidence=spec.confidence,
        device=check_device(arguments.device or "auto"),
    )
    for learner in learners:
        find_learner(game, learner)  # what cannot be is refused before anything is learnt
    for agent in spec.agents:
        agent.build(game)
    found = sorted(
        (bound(game, agent, search) for agent in spec.agents), key=lambda each: each.gain.mean
    )
    rows, lines = to_rows(found, game.facts.unit), notes(game, search)
    title = f"{game!r}: exploitability, at least, in {game.facts.unit.name}"
    print("\n".join([title, "", *aligned(rows), "", *lines]))
    content = {
        "game": game.id,
        "options": game.options.to_dict(),
        "search": search.to_dict(),
        "agents": [each.to_dict() for each in found],
    }
    page = "\n\n".join([f"# {title}", markdown(rows), " ".join(lines)])
    write_findings(arguments, content, page)


def to_rows(found: Sequence[Bound], unit: Unit) -> list[list[str]]:
    """A table with a head; an interval for the mean over seats and for every seat."""
    scale = unit.scale
    seats = range(len(found[0].seats))
    head = ["agent", "at least", "response gains", *(f"seat {seat}" for seat in seats), "by"]
    rows = [head]
    for each in found:
        learners = dict.fromkeys(seat.learner for seat in each.seats)
        figures = [f"{seat.value.times(scale):.3f}" for seat in each.seats]
        gain, least = f"{each.gain.times(scale):.3f}", f"{scale * each.at_least:.3f}"
        rows.append([each.name, least, gain, *figures, "+".join(learners)])
    return rows


def notes(game: Game, search: Search) -> list[str]:
    """What the table cannot say."""
    percent = f"{100 * search.confidence:g} %"
    learners = " and ".join(search.learners)
    seeds = "one seed" if search.seeds == 1 else f"{search.seeds} seeds"
    how_much = "" if search.steps is None else f" for {search.steps:,}"
    is_learnt = any(learner not in RESPONDERS for learner in search.learners)
    how = f"learnt by {learners}{how_much}, {seeds}, from" if is_learnt else f"by {learners} to"
    return [
        f"A lower bound: responses {how} the frozen agent;",
        "a better response may exist, so a small bound is no proof of strength.",
        f"Seats: what the response wins there. Gains: over the agent itself, mean of the "
        f"{game.facts.num_players} seats.",
        f"{search.games:,} fresh games, every deal in every seat, intervals of {percent}; "
        f"players were chosen in other games.",
    ]
