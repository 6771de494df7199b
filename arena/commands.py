"""What the commands of ``evaluate.py`` do, once their arguments are read."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents import BEHAVIOURS
from agents.advice import advise as ask_for_advice
from agents.advice import views_of
from agents.spec import AgentSpec
from arena.asked import check_enough, command_of, split_param
from arena.leaderboard import PROJECT, find_configs, write_leaderboards
from arena.playing.replay import Recording, read_noted, read_position, record_game, show
from arena.report import check_report, write_report
from arena.report.columns import aligned, markdown
from arena.report.tables import to_text
from arena.running.context import WorkerContext
from arena.running.export import export_games
from arena.running.folder import read_tournament
from arena.running.replayer import Replayer
from arena.running.tournament import check_place, holds_another, run_tournament
from arena.schedules.config import read_config, with_games
from arena.schedules.spec import TournamentSpec
from envs import NOTATIONS, game_class
from envs.core.errors import MasqueradeError
from envs.core.files import write_text
from envs.core.kernels import CHANCE
from envs.core.lazily import look_up
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.core.signed import check_out, signed

__all__ = [
    "RUNS",
    "advise",
    "agents_of",
    "behaviour",
    "exploitability",
    "export",
    "leaderboard",
    "make_spec",
    "replay",
    "report",
    "tournament",
    "write_findings",
]

RUNS = Path("runs") / "tournaments"
MOST_NAMES = 60


def tournament(arguments: argparse.Namespace) -> None:
    """Play, print the table, and write the report."""
    spec = arguments.spec
    folder = arguments.out
    check_report(folder / "report.html")
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


def report(arguments: argparse.Namespace) -> None:
    """Write the report of a tournament that has been played."""
    page = write_report(
        arguments.folder,
        arguments.out,
        is_trusted=arguments.trust,
        is_forced=arguments.force,
    )
    print(f"report in {page}")


def replay(arguments: argparse.Namespace) -> None:
    """Print one game."""
    print(show(_recording(arguments), arguments.viewer))


def export(arguments: argparse.Namespace) -> None:
    """Write the games of a tournament in the notation that other programs read."""
    replayer = Replayer(read_tournament(arguments.folder), is_trusted=arguments.trust)
    groups = [replayer.find_group(arguments.group)] if arguments.group else None
    path = arguments.out or arguments.folder / "games"
    written = export_games(replayer, path, groups, arguments.deals, arguments.force)
    print(f"{written.num_games:,} games in {written.path}")
    for note in written.notes:
        print(f"note: {note}")


def _folder(command: str, spec: TournamentSpec) -> Path:
    """Where results go without --out: where another tournament is, beside it by its content."""
    folder = RUNS / _folder_name(command, spec)
    if not holds_another(spec, folder):
        return folder
    what = {**spec.to_dict(), "deals": 0, "seed": 0, "confidence": 0, "unit": None}
    mark = zlib.crc32(json.dumps(what, sort_keys=True).encode())
    return folder.with_name(f"{folder.name}-{mark:08x}")


def _folder_name(command: str, spec: TournamentSpec) -> str:
    """Where results go without --out: another match of other players gets another folder."""
    parts = [spec.game_id, command]
    if command == "match":
        names = re.sub(r"[^\w.]+", "_", "-vs-".join(agent.name for agent in spec.agents))
        # Paths make long names; what is cut off must still tell two matches apart.
        rest = "" if len(names) <= MOST_NAMES else f"-{zlib.crc32(names.encode()):08x}"
        parts.append(names[:MOST_NAMES] + rest)
    # A seed that is drawn is not known yet, and nobody may read it off a folder's name.
    is_drawn = spec.seed is None and spec.has_outsiders
    parts.append("drawn" if is_drawn else f"seed{spec.seed or 0}")
    return "-".join(parts + [spec.variance_reduction] * (spec.variance_reduction != "none"))


def leaderboard(arguments: argparse.Namespace) -> None:
    """Play the tournaments of the leaderboards and write their pages."""
    if Path.cwd() != PROJECT:
        raise MasqueradeError(
            "leaderboards are made of the runs/ in the repository: change to its folder first"
        )
    configs = find_configs(arguments.names)
    for page in write_leaderboards(configs, arguments.games, arguments.workers):
        print(f"wrote {os.path.relpath(page)}")


def exploitability(arguments: argparse.Namespace) -> None:
    """Print how far agents are from an equilibrium, and write it down if that is wanted."""
    # Imported when needed: compiled code that takes seconds to load.
    from arena.statistics import exploitability as exact

    spec = arguments.spec
    game = spec.build_game()
    evaluator = exact.make_evaluator(game, len(spec.agents), arguments.max_nodes, arguments.form)
    agents = [agent.build(game) for agent in spec.agents]
    found = exact.distances(evaluator, agents, arguments.samples, spec.seed)
    rows, notes = exact.to_rows(found, game.facts.num_players), exact.notes(found, evaluator)
    title = f"{game!r}: distance from an equilibrium"
    print("\n".join([title, "", *aligned(rows), "", *notes]))
    content = {
        "game": game.id,
        "options": game.options.to_dict(),
        "form": evaluator.form,
        "seed": spec.seed,
        "agents": [distance.to_dict() for distance in found],
    }
    page = "\n\n".join([f"# {title}", markdown(rows), *notes])
    write_findings(arguments, content, page)


def behaviour(arguments: argparse.Namespace) -> None:
    """Describe how agents play, with a picture for each."""
    spec = arguments.spec
    game = spec.build_game()
    if game.id not in BEHAVIOURS:
        raise MasqueradeError(
            f"{game.id} has no description of players: only {', '.join(BEHAVIOURS)} has one"
        )
    describe = look_up("game", BEHAVIOURS, game.id)
    for agent in spec.agents:
        found = describe(agent.build, game, agent.name, arguments.games, spec.root_seed)
        tables = found.to_tables()
        shown = [f"{title}\n\n" + "\n".join(aligned(rows)) for title, rows in tables]
        print(f"{agent.name}\n\n" + "\n\n".join(shown) + "\n")
        file = arguments.files[agent.name]
        page = [f"# How {agent.name} plays {game!r}", f"![starting hands]({file.name}.svg)"]
        page += [f"## {title}\n\n{markdown(rows)}" for title, rows in tables]
        parts = {".svg": found.chart, ".md": "\n\n".join(page) + "\n"}
        parts[".json"] = json.dumps(found.to_dict(), indent=1) + "\n"
        for suffix, text in parts.items():
            signed_text = signed(text, suffix, command_of(arguments))
            write_text(file.with_name(file.name + suffix), signed_text)
        print(f"report and picture in {file}.md and .svg\n")


def _files_of(arguments: argparse.Namespace) -> dict[str, Path]:
    """Where each agent is described, without the suffix; other agents' files stay theirs."""
    spec = arguments.spec
    folder = arguments.out or Path("runs") / "behaviour" / spec.game_id
    found: dict[str, Path] = {}
    for agent in spec.agents:
        file = folder / (re.sub(r"[^\w.-]+", "_", agent.name).strip("_.") or "agent")
        if file in found.values():
            raise MasqueradeError(
                f"two agents would be described in {file}.md: name them otherwise, such as "
                f"'other={agent.id}'"
            )
        for suffix in (".svg", ".md", ".json"):
            place = file.with_name(file.name + suffix)
            check_out(place, command_of(arguments), arguments.force)
        found[agent.name] = file
    return found


def write_findings(arguments: argparse.Namespace, content: dict[str, Any], page: str) -> None:
    """Write what was found as JSON or as a page, by the ending of the file's name."""
    path = arguments.out
    if path is None:
        return
    text = page if path.suffix == ".md" else json.dumps(content, indent=1)
    suffix = ".md" if path.suffix == ".md" else ".json"
    command = f"python evaluate.py {shlex.join(arguments.words)}"
    write_text(path, signed(text.rstrip() + "\n", suffix, command))
    print(f"\nwritten to {path}")


def advise(arguments: argparse.Namespace) -> None:
    """Print what agents would do in a position, and what they expect of every move."""
    position = _advised_position(arguments)
    agents = [spec.build(position.game) for spec in arguments.specs]
    views = [views_of(position, agent, arguments.seed) for agent in agents]
    print(f"{position.game!r}, player {position.turn} to move\n")
    print(position.text(viewer=position.turn))
    for spec, agent, view in zip(arguments.specs, agents, views, strict=True):
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
        game, history, number = recording.game, recording.history, recording.number
        return game.replay(history, number)
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


def agents_of(arguments: argparse.Namespace) -> list[AgentSpec]:
    """The agents that a command will want to see play; what it plays becomes ``arguments.spec``."""
    if arguments.command in ("tournament", "match"):
        arguments.spec = make_spec(arguments)
        arguments.out = arguments.out or _folder(arguments.command, arguments.spec)
        check_place(arguments.out, arguments.resume)
        return list(arguments.spec.agents)
    if arguments.command in ("exploitability", "best-response", "behaviour"):
        arguments.spec = make_spec(arguments, min_agents=1)
        if arguments.command == "behaviour":
            arguments.files = _files_of(arguments)
        return list(arguments.spec.agents)
    if arguments.command == "advise":
        arguments.specs = read_agents(arguments)
        return list(arguments.specs)
    if arguments.command == "leaderboard":
        configs = find_configs(arguments.names)
        return [agent for config in configs for agent in read_config(config).agents]
    return []


# ---- one game ------------------------------------------------------------------------------------


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


# ---- specifications ------------------------------------------------------------------------------


def make_spec(arguments: argparse.Namespace, min_agents: int = 2) -> TournamentSpec:
    """The tournament that the command line or its file describes."""
    check_enough(arguments, min_agents)
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
