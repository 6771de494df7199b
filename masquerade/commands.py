"""What the commands of ``evaluate.py`` do, once their arguments are read.

Each command is a generator that yields once: when what can be refused has been refused, it names
who is to be seen playing, so that runs that are missing can be trained before all the rest is done.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import zlib
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents import BEHAVIOURS, RESPONDERS
from agents.advice import advise as ask_for_advice
from agents.advice import views_of
from agents.learning.device import check_device
from agents.spec import AgentSpec
from arena.folder import check_place, holds_another, read_tournament
from arena.replay import Recording, read_noted, read_position, record_game, show
from arena.replayer import Replayer, export_games
from arena.report import check_report, write_report
from arena.report.columns import aligned, markdown
from arena.report.leaderboard import PROJECT, find_configs, write_leaderboards
from arena.report.tables import to_text
from arena.report.words import in_figures
from arena.spec import TournamentSpec, read_config, with_games
from arena.tournament import run_tournament
from arena.workers import WorkerContext
from common.errors import MasqueradeError
from common.files import check_out, signed, write_text
from common.imports import look_up
from envs import NOTATIONS, game_class
from envs.core.facts import Unit
from envs.core.game import Game
from envs.core.kernels import CHANCE
from envs.core.position import Position
from envs.core.rng import new_rng
from masquerade.asked import command_of, split_param
from training.best_response import Bound, Search, bound, default_learner, find_learner

if TYPE_CHECKING:
    from agents.cfr.evaluation import ExactEvaluator
    from arena.exploitability import Distance

RUNS = Path("runs") / "tournaments"
MOST_NAMES = 60


Request = Generator[Sequence[AgentSpec]]
"""What a command line asks for: those whose runs are trained first, then all the rest."""


# ---- tournaments ---------------------------------------------------------------------------------


def tournament(arguments: argparse.Namespace) -> Request:
    """Play, print the table, and write the report."""
    spec = make_spec(arguments)
    folder = arguments.out or _folder(arguments.command, spec)
    check_place(folder, arguments.resume)
    check_report(folder / "report.html")
    yield spec.agents
    context = WorkerContext(spec)
    summary = run_tournament(
        spec,
        folder,
        arguments.workers,
        has_resume=arguments.resume,
        until=arguments.until,
        executor=arguments.executor,
        ray_address=arguments.ray_address,
        context=context,
    )
    print(to_text(summary))
    if spec.seed is None and spec.has_outsiders:
        print(f"\nseed {summary.spec.seed} was drawn; to repeat the games: --seed with that number")
    print(f"\nresults in {folder}")
    print(f"report in {write_report(folder, summary=summary, context=context)}")


def _folder(command: str, spec: TournamentSpec) -> Path:
    """Where results go without --out: where another tournament is, beside it by its content."""
    parts = [spec.game_id, command]
    if command == "match":  # another match of other players gets another folder
        names = re.sub(r"[^\w.]+", "_", "-vs-".join(agent.name for agent in spec.agents))
        # Paths make long names; what is cut off must still tell two matches apart.
        rest = "" if len(names) <= MOST_NAMES else f"-{zlib.crc32(names.encode()):08x}"
        parts.append(names[:MOST_NAMES] + rest)
    # A seed that is drawn is not known yet, and nobody may read it off a folder's name.
    is_drawn = spec.seed is None and spec.has_outsiders
    parts.append("drawn" if is_drawn else f"seed{spec.seed or 0}")
    parts += [spec.variance_reduction] * (spec.variance_reduction != "none")
    folder = RUNS / "-".join(parts)
    if not holds_another(spec, folder):
        return folder
    what = {**spec.to_dict(), "deals": 0, "seed": 0, "confidence": 0, "unit": None}
    mark = zlib.crc32(json.dumps(what, sort_keys=True).encode())
    return folder.with_name(f"{folder.name}-{mark:08x}")


def report(arguments: argparse.Namespace) -> Request:
    """Write the report of a tournament that has been played."""
    yield ()
    folder, page = arguments.folder, arguments.out
    page = write_report(folder, page, is_trusted=arguments.trust, is_forced=arguments.force)
    print(f"report in {page}")


def export(arguments: argparse.Namespace) -> Request:
    """Write the games of a tournament in the notation that other programs read."""
    yield ()
    replayer = Replayer(read_tournament(arguments.folder), is_trusted=arguments.trust)
    groups = [replayer.find_group(arguments.group)] if arguments.group else None
    out = arguments.out or arguments.folder / "games"
    deals, is_forced = arguments.deals, arguments.force
    path, num_games, num_lost = export_games(replayer, out, groups, deals, is_forced)
    print(f"{num_games:,} games in {path}")
    if num_lost:
        print(f"note: {num_lost} forfeited games are left out")


def leaderboard(arguments: argparse.Namespace) -> Request:
    """Play the tournaments of the leaderboards and write their pages."""
    configs = find_configs(arguments.names)
    if Path.cwd() != PROJECT:
        raise MasqueradeError(
            "leaderboards are made of the runs/ in the repository: change to its folder first"
        )
    yield [agent for config in configs for agent in read_config(config).agents]
    for page in write_leaderboards(configs, arguments.games, arguments.workers):
        print(f"wrote {os.path.relpath(page)}")


# ---- one game ------------------------------------------------------------------------------------


def replay(arguments: argparse.Namespace) -> Request:
    """Print one game."""
    yield ()
    print(show(_recording(arguments), arguments.viewer))


def _recording(arguments: argparse.Namespace) -> Recording:
    """The game that the arguments of ``replay`` ask for."""
    if arguments.game:
        return _new_game(arguments)
    if arguments.source.suffix in NOTATIONS:
        return read_noted(arguments.source, arguments.deal)
    if arguments.source.is_file():
        return read_position(arguments.source)
    replayer = Replayer(read_tournament(arguments.source), is_trusted=arguments.trust)
    return replayer.play(arguments.deal, replayer.find_group(arguments.group), arguments.seating)


def _new_game(arguments: argparse.Namespace) -> Recording:
    game = game_class(arguments.game)(**dict(arguments.option))
    specs = read_agents(arguments)
    if len(specs) != game.facts.num_players:
        raise MasqueradeError(
            f"{game!r} has {game.facts.num_players} seats: give as many --agents, not {len(specs)}"
        )
    agents = [spec.build(game) for spec in specs]
    names = [spec.name for spec in specs]
    return record_game(game, agents, names, arguments.deal, arguments.seed)


def advise(arguments: argparse.Namespace) -> Request:
    """Print what agents would do in a position, and what they expect of every move."""
    specs = read_agents(arguments)
    yield specs
    position = _advised_position(arguments)
    agents = [spec.build(position.game) for spec in specs]
    views = [views_of(position, agent, arguments.seed) for agent in agents]
    print(f"{position.game!r}, player {position.turn} to move\n")
    print(position.text(viewer=position.turn))
    for spec, agent, view in zip(specs, agents, views, strict=True):
        advice = ask_for_advice(agent, view)
        print(f"\n{spec.name} ({advice.source})")
        rows = [["move", "share", *(["value"] if advice.unit else [])]]
        for bar in advice.bars:
            value = "" if bar.value is None else f"{bar.value:+.3f}"
            rows.append([bar.words, f"{100 * bar.share:.1f} %", *([value] if advice.unit else [])])
        print("\n".join(aligned(rows)))
        if advice.unit:
            print(f"values in {advice.unit}")
        if len(advice.variation) > 1:
            print(f"expected: {_line_in_words(position, advice.variation, arguments.seed)}")


def _advised_position(arguments: argparse.Namespace) -> Position:
    """A saved position, or the moves of the command line in a game that is dealt by the seed."""
    source = Path(arguments.game)
    if source.suffix == ".json":
        recording = read_position(source)
        return recording.game.replay(recording.history, recording.number)
    game = game_class(arguments.game)(**dict(arguments.option))
    position, rng = game.new_position(), new_rng(arguments.seed)
    position.play_chance(rng)
    for text in arguments.moves:
        if position.is_over:
            raise MasqueradeError(f"the game is over before the move '{text}'")
        position.apply(position.parse_action(text))
        position.play_chance(rng)
    return position


def _line_in_words(position: Position, line: Sequence[int], seed: int) -> str:
    """A line of moves, in a world of the player who asked."""
    game, seat = position.game, position.turn
    state, words = position.determinized(seat, new_rng(seed)), []
    rng, mask = new_rng(seed), np.zeros(game.mask_size, np.int8)
    for action in line:
        while game.kernels.turn(state, game.rules) == CHANCE:
            outcome = game.kernels.sample(state, game.rules, rng)
            game.kernels.step(state, game.rules, outcome)
        if game.kernels.turn(state, game.rules) < 0:
            break
        game.kernels.legal(state, game.rules, mask)
        if not mask[action]:
            break  # in this world the line cannot be played on
        words.append(game.action_text(state, action))
        game.kernels.step(state, game.rules, action)
    return ", ".join(words)


# ---- what is known of single agents --------------------------------------------------------------


def exploitability(arguments: argparse.Namespace) -> Request:
    """Print how far agents are from an equilibrium, and write it down if that is wanted."""
    spec = make_spec(arguments, min_agents=1)
    yield spec.agents
    # Imported when needed: compiled code that takes seconds to load.
    from arena.exploitability import distances, make_evaluator

    game = spec.build_game()
    evaluator = make_evaluator(game, len(spec.agents), arguments.max_nodes, arguments.form)
    agents = [agent.build(game) for agent in spec.agents]
    found = distances(evaluator, agents, arguments.samples, spec.root_seed)
    rows, lines = distance_rows(found, game.facts.num_players), evaluation_notes(found, evaluator)
    content = {
        "form": evaluator.form,
        "seed": spec.seed,
        "agents": [distance.to_dict() for distance in found],
    }
    title = f"{game!r}: distance from an equilibrium"
    _tell_findings(arguments, game, title, rows, lines, lines, content)


def distance_rows(found: Sequence[Distance], num_players: int) -> list[list[str]]:
    """A table with a head; per seat what a best response gets, and the agent itself."""
    seats = range(num_players)
    head = ["agent", "NashConv", "exploitability"]
    head += [f"best {seat}" for seat in seats] + [f"own {seat}" for seat in seats]
    rows = [[*head, "policy"]]
    for each in found:
        if each.nash_conv is None:
            rows.append([each.name, *["-"] * (len(head) - 1), "unknown"])
            continue
        cells = [in_figures(each.nash_conv), in_figures(each.exploitability)]
        cells += [f"{value:+z.3f}" for value in (*each.best, *each.own)]
        rows.append([each.name, *cells, each.how])
    return rows


def evaluation_notes(found: Sequence[Distance], evaluator: ExactEvaluator) -> list[str]:
    """What the table of distances cannot say."""
    lines = [
        "best: what a best response gets in that seat; own: the agent itself, in all seats.",
        "NashConv adds up what the seats could gain; exploitability is that per player.",
        f"Best responses are exact, {evaluator.size_text}.",
    ]
    if any(distance.num_samples for distance in found):
        lines.append("A policy that was asked for is an estimate, on average too exploitable.")
    return lines + [f"{each.name}: {each.reason}" for each in found if each.nash_conv is None]


def best_response(arguments: argparse.Namespace) -> Request:
    """Learn responses to agents, print what they win, and write it down if that is wanted."""
    spec = make_spec(arguments, min_agents=1)
    yield spec.agents
    game = spec.build_game()
    search = Search(
        learners=tuple(arguments.learner) or (default_learner(game),),
        steps=arguments.steps,
        seeds=arguments.seeds,
        games=arguments.games,
        choosing_games=arguments.choosing_games,
        seed=spec.root_seed,
        confidence=spec.confidence,
        device=check_device(arguments.device or "auto"),
    )
    for learner in search.learners:
        find_learner(game, learner)  # what cannot be is refused before anything is learnt
    for agent in spec.agents:
        agent.build(game)
    found = sorted(
        (bound(game, agent, search) for agent in spec.agents), key=lambda each: each.gain.mean
    )
    rows, lines = _bound_rows(found, game.facts.unit), _bound_notes(game, search)
    content = {"search": search.to_dict(), "agents": [each.to_dict() for each in found]}
    title = f"{game!r}: exploitability, at least, in {game.facts.unit.name}"
    _tell_findings(arguments, game, title, rows, lines, [" ".join(lines)], content)


def _bound_rows(found: Sequence[Bound], unit: Unit) -> list[list[str]]:
    """A table with a head; an interval for the mean over seats and for every seat."""
    seats = range(len(found[0].seats))
    rows = [["agent", "at least", "response gains", *(f"seat {seat}" for seat in seats), "by"]]
    for each in found:
        learners = dict.fromkeys(seat.learner for seat in each.seats)
        figures = [f"{seat.value.times(unit.scale):.3f}" for seat in each.seats]
        gain, least = f"{each.gain.times(unit.scale):.3f}", f"{unit.scale * each.at_least:.3f}"
        rows.append([each.name, least, gain, *figures, "+".join(learners)])
    return rows


def _bound_notes(game: Game, search: Search) -> list[str]:
    """What the table of bounds cannot say."""
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


def _tell_findings(
    arguments: argparse.Namespace,
    game: Game,
    title: str,
    rows: list[list[str]],
    lines: list[str],
    paragraphs: list[str],
    content: dict[str, Any],
) -> None:
    """Print a table with its notes, and write it as JSON or as a page by its ending."""
    print("\n".join([title, "", *aligned(rows), "", *lines]))
    path = arguments.out
    if path is None:
        return
    content = {"game": game.id, "options": game.options.to_dict(), **content}
    page = "\n\n".join([f"# {title}", markdown(rows), *paragraphs])
    text = page if path.suffix == ".md" else json.dumps(content, indent=1)
    suffix = ".md" if path.suffix == ".md" else ".json"
    command = f"python evaluate.py {shlex.join(arguments.words)}"
    write_text(path, signed(text.rstrip() + "\n", suffix, command))
    print(f"\nwritten to {path}")


def behaviour(arguments: argparse.Namespace) -> Request:
    """Describe how agents play, with a picture for each."""
    spec = make_spec(arguments, min_agents=1)
    files = _files_of(arguments, spec)
    yield spec.agents
    game = spec.build_game()
    if game.id not in BEHAVIOURS:
        raise MasqueradeError(
            f"{game.id} has no description of players: only {', '.join(BEHAVIOURS)} has one"
        )
    describe = look_up("game", BEHAVIOURS, game.id)
    for agent, file in zip(spec.agents, files, strict=True):
        found = describe(agent.build, game, agent.name, arguments.games, spec.root_seed)
        tables = found.to_tables()
        shown = [f"{title}\n\n" + "\n".join(aligned(rows)) for title, rows in tables]
        print(f"{agent.name}\n\n" + "\n\n".join(shown) + "\n")
        page = [f"# How {agent.name} plays {game!r}", f"![starting hands]({file.name}.svg)"]
        page += [f"## {title}\n\n{markdown(rows)}" for title, rows in tables]
        parts = {".svg": found.chart, ".md": "\n\n".join(page) + "\n"}
        parts[".json"] = json.dumps(found.to_dict(), indent=1) + "\n"
        for suffix, text in parts.items():
            signed_text = signed(text, suffix, command_of(arguments))
            write_text(file.with_name(file.name + suffix), signed_text)
        print(f"report and picture in {file}.md and .svg\n")


def _files_of(arguments: argparse.Namespace, spec: TournamentSpec) -> list[Path]:
    """Where each agent is described, without the suffix; other agents' files stay theirs."""
    folder = arguments.out or Path("runs") / "behaviour" / spec.game_id
    found: list[Path] = []
    for agent in spec.agents:
        file = folder / (re.sub(r"[^\w.-]+", "_", agent.name).strip("_.") or "agent")
        if file in found:
            raise MasqueradeError(
                f"two agents would be described in {file}.md: name them otherwise, such as "
                f"'other={agent.id}'"
            )
        for suffix in (".svg", ".md", ".json"):
            place = file.with_name(file.name + suffix)
            check_out(place, command_of(arguments), arguments.force)
        found.append(file)
    return found


# ---- specifications ------------------------------------------------------------------------------


def make_spec(arguments: argparse.Namespace, min_agents: int = 2) -> TournamentSpec:
    """The tournament that the command line or its file describes."""
    if getattr(arguments, "config", None):
        spec = read_config(arguments.config)
        spec = replace(spec, agents=with_params(spec.agents, arguments.param))
    else:
        options = dict(arguments.option)
        spec = TournamentSpec(arguments.game, read_agents(arguments), options)
    for name in ("seed", "schedule", "tables", "variance_reduction", "pilot", "shared_deals"):
        if getattr(arguments, name, None) is not None:
            spec = replace(spec, **{name: getattr(arguments, name)})
    spec = spec.within(
        getattr(arguments, "time_per_move", None), getattr(arguments, "device", None)
    )
    if min_agents == 1:
        return spec.with_seed()  # nobody plays for anything: a seed need not be secret
    return spec if arguments.games is None else with_games(spec, arguments.games)


def read_agents(arguments: argparse.Namespace) -> tuple[AgentSpec, ...]:
    """The agents that a command line names, with the params that it gives them."""
    return with_params([AgentSpec.parse(agent) for agent in arguments.agents], arguments.param)


def with_params(
    specs: Sequence[AgentSpec], given: Iterable[tuple[str, Any]]
) -> tuple[AgentSpec, ...]:
    """The same players, with params that are named after them: ``("ismcts.iterations", 500)``.

    >>> quick, random = with_params(
    ...     [AgentSpec.parse("quick=ismcts"), AgentSpec.parse("random")], [("quick.iterations", 50)]
    ... )
    >>> quick.params, random.params
    ({'iterations': 50}, {})
    """
    found = list(specs)
    for key, value in given:
        name, param = split_param(key, [spec.name for spec in found])
        for number, spec in enumerate(found):
            if spec.name == name:
                found[number] = replace(spec, params={**spec.params, param: value})
    return tuple(found)


COMMANDS: dict[str, Callable[[argparse.Namespace], Request]] = {
    "tournament": tournament,
    "match": tournament,
    "report": report,
    "replay": replay,
    "export": export,
    "leaderboard": leaderboard,
    "exploitability": exploitability,
    "best-response": best_response,
    "behaviour": behaviour,
    "advise": advise,
}
