"""Repeat the published experiments on Liar's Dice: SARSA, Q-learning and lie profiling.

python -m training.reproduce_liars_dice --config configs/reproduce/liars_dice_profiled.yaml

Both sides learn while they are measured, as they did in the experiments. A match is played in
blocks; between blocks every agent is written to its file and read again, because there each block
was a new start of the program. The whole is repeated with several seeds, and every number comes
with an interval over them, and the least and the most of them. What was published is compared with
what comes out, and a miss is called a miss.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.liars_dice.lies.saved import load_table, save_table
from agents.tabular.games import RANDOM
from agents.tabular.model import RULES, TabularModel
from agents.tabular.self_play import play_series
from agents.tabular.settings import TabularSettings
from envs import make_game
from envs.core.commands import answers_in_one_line
from envs.core.errors import OptionError, nearest
from envs.core.files import read_yaml, write_json
from envs.core.game import Game
from envs.core.rng import stream
from envs.core.statistics import mean_interval
from training.reproduce import RUNS, Row, table_text

__all__ = ["Block", "Check", "Experiment", "MatchPlan", "main", "play_plan", "read_experiment"]

Floats = npt.NDArray[np.float64]


# ---- what is to be played ------------------------------------------------------------------------


@dataclass(frozen=True)
class MatchPlan:
    """Who plays whom, and for how long."""

    name: str
    agents: tuple[Mapping[str, Any], ...]
    """One for each seat: ``{id: random}``, or a table learner with its params."""
    blocks: tuple[int, ...]
    """Games of each block."""
    game: Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """One number to compare with what was published."""

    id: str
    what: str
    """``win_rate``, ``rounds``, ``lost_share``, ``gain``, ``entries`` or ``speed``."""
    match: str
    block: int | None = None
    """``None``: all blocks together."""
    minus: str | None = None
    """For a gain: the match that is compared with."""
    published: float | None = None
    low: float | None = None
    high: float | None = None
    """Where our number should lie, decided before it was known."""


@dataclass(frozen=True)
class Experiment:
    """All of a configuration file."""

    title: str
    seeds: int
    matches: tuple[MatchPlan, ...]
    checks: tuple[Check, ...]


WHAT = ("win_rate", "rounds", "lost_share", "gain", "entries", "speed")
_KEYS = ("title", "seeds", "game", "defaults", "matches", "checks")


def read_experiment(path: Path) -> Experiment:
    """Read a configuration; ``defaults`` are params of every table learner in it."""
    content = read_yaml(path, "title, matches and checks: see configs/reproduce/ for examples")
    for key in content:
        if key not in _KEYS:
            raise OptionError(f"{path}: unknown key '{key}': {nearest(key, _KEYS)}")
    defaults = content.get("defaults", {})
    game = content.get("game", {})
    matches = tuple(_match(entry, defaults, game) for entry in content["matches"])
    checks = tuple(_check(entry, matches) for entry in content.get("checks", []))
    return Experiment(content["title"], int(content.get("seeds", 10)), matches, checks)


def _match(entry: Mapping[str, Any], defaults: Mapping[str, Any], game: Any) -> MatchPlan:
    agents = []
    for agent in entry["agents"]:
        agent = {"id": agent} if isinstance(agent, str) else dict(agent)
        if agent["id"] != "random":
            if agent["id"] not in RULES:
                known = [*RULES, "random"]
                raise OptionError(f"unknown agent '{agent['id']}': {nearest(agent['id'], known)}")
            agent["params"] = {**defaults, **agent.get("params", {})}
        agents.append(agent)
    return MatchPlan(
        entry["name"], tuple(agents), tuple(entry["blocks"]), {**game, **entry.get("game", {})}
    )


def _check(entry: Mapping[str, Any], matches: Sequence[MatchPlan]) -> Check:
    check = Check(**entry)
    names = [match.name for match in matches]
    for name in filter(None, (check.match, check.minus)):
        if name not in names:
            raise OptionError(f"check {check.id}: unknown match '{name}': {nearest(name, names)}")
    if check.what not in WHAT:
        raise OptionError(f"check {check.id}: unknown '{check.what}': {nearest(check.what, WHAT)}")
    return check


# ---- playing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """The results of one block of one seed."""

    games: int
    wins: tuple[int, ...]
    """Of each seat."""
    rounds_lost: tuple[int, ...]
    seconds: float
    entries: tuple[int, ...]
    """Size of each learner's table."""


def play_plan(plan: MatchPlan, seed: int) -> list[Block]:
    """Play all blocks of a match with one seed.

    >>> sarsa = {"id": "sarsa", "params": {"abstraction": "blind"}}
    >>> plan = MatchPlan("try", (sarsa, {"id": "random"}), (20,), {})
    >>> play_plan(plan, seed=0)[0].games
    20
    """
    game = make_game("liars_dice_v0", **{**plan.game, "rewards": "dice"})
    if game.facts.num_players != len(plan.agents):
        raise OptionError(f"match '{plan.name}' needs {game.facts.num_players} agents")
    streams = stream(seed, "chance"), stream(seed, "choice")
    blocks = []
    first = 0
    with TemporaryDirectory() as folder:
        for games in plan.blocks:
            models = _new_start(plan, game, Path(folder))
            seating = np.tile(_seating(plan), (games, 1))
            numbers = np.arange(first, first + games)
            begun = time.perf_counter()
            played = play_series(models, numbers, seating, None, streams)
            seconds = time.perf_counter() - begun
            first += games
            for i, model in enumerate(models):
                save_table(Path(folder) / f"{i}.json", model)
            sizes = tuple(len(model.table) for model in models)
            blocks.append(_count(game, played.returns, seconds, sizes))
    return blocks


def _seating(plan: MatchPlan) -> list[int]:
    """Learners are numbered as they come."""
    seats, num_models = [], 0
    for agent in plan.agents:
        is_learner = agent["id"] != "random"
        seats.append(num_models if is_learner else RANDOM)
        num_models += is_learner
    return seats


def _new_start(plan: MatchPlan, game: Game, folder: Path) -> list[TabularModel]:
    """Make the learners, with what they knew when the last block ended."""
    learners = [agent for agent in plan.agents if agent["id"] != "random"]
    if not 1 <= len(learners) <= 2:
        raise OptionError(f"match '{plan.name}' needs one learner or two, not {len(learners)}")
    models = []
    for i, agent in enumerate(learners):
        model = TabularModel(game, agent["id"], TabularSettings.parse(agent["params"]))
        path = folder / f"{i}.json"
        if path.exists():
            load_table(path, model)
        models.append(model)
    return models


def _count(game: Game, returns: Floats, seconds: float, entries: tuple[int, ...]) -> Block:
    """Wins and lost rounds from what was paid for every die.

    A player who lost ``l`` of ``r`` rounds among ``n`` has ``(r - l) / (n - 1) - l``; all but the
    winner lost every die they had.
    """
    others = game.facts.num_players - 1
    dice = np.array(game.options.dice_by_seat)  # type: ignore[attr-defined]
    winners = returns.argmax(axis=1)
    seats = np.arange(game.facts.num_players)
    loser = np.where(winners == 0, 1, 0)
    lost_by_loser = dice[loser]
    rounds = others * (returns[np.arange(len(returns)), loser] + lost_by_loser) + lost_by_loser
    lost = (rounds[:, None] / others - returns) / (1 + 1 / others)
    return Block(
        len(returns),
        tuple(int((winners == seat).sum()) for seat in seats),
        tuple(int(n) for n in np.rint(lost.sum(axis=0))),
        seconds,
        entries,
    )


# ---- measuring -----------------------------------------------------------------------------------


def values_of(check: Check, played: Mapping[str, list[list[Block]]]) -> Floats:
    """The number that is checked, for every seed."""
    own = _by_seed(check, played[check.match])
    if check.minus is not None:
        return own - _by_seed(check, played[check.minus])
    return own


def _by_seed(check: Check, seeds: list[list[Block]]) -> Floats:
    return np.array([_number(check, blocks) for blocks in seeds])


def _number(check: Check, blocks: list[Block]) -> float:
    chosen = blocks if check.block is None else [blocks[check.block]]
    games = sum(block.games for block in chosen)
    rounds = sum(sum(block.rounds_lost) for block in chosen)
    if check.what in ("win_rate", "gain"):
        return 100 * sum(block.wins[0] for block in chosen) / games
    if check.what == "rounds":
        return rounds / games
    if check.what == "lost_share":
        return 100 * sum(block.rounds_lost[0] for block in chosen) / rounds
    if check.what == "entries":
        return float(chosen[-1].entries[0])
    published = check.published or 0.0  # seconds a game
    return published * games / sum(block.seconds for block in chosen)


def row_of(check: Check, played: Mapping[str, list[list[Block]]]) -> Row:
    """A check and what came out, as a row of the table."""
    values = values_of(check, played)
    match = check.match if check.minus is None else f"{check.match} minus {check.minus}"
    block = "all blocks" if check.block is None else f"block {check.block + 1}"
    return Row.of(
        check.id,
        f"{check.what}: {match}, {block}",
        mean_interval(values),
        published=check.published,
        wanted=None if check.low is check.high is None else (check.low, check.high),
        note=f"({values.min():.2f} to {values.max():.2f})",
    )


def run(config: Path, seeds: int | None = None, out: Path | None = None) -> str:
    """Play an experiment, write its JSON file, and return its table."""
    experiment = read_experiment(config)
    num_seeds = experiment.seeds if seeds is None else seeds
    if num_seeds < 2:
        raise OptionError(f"an interval needs at least 2 seeds, not {num_seeds}")
    played: dict[str, list[list[Block]]] = {}
    for plan in experiment.matches:
        print(f"{plan.name}: {sum(plan.blocks):,} games x {num_seeds} seeds", file=sys.stderr)
        play_plan(MatchPlan(plan.name, plan.agents, (1,), plan.game), 0)  # what is slow once
        played[plan.name] = [play_plan(plan, seed) for seed in range(num_seeds)]
    rows = [row_of(check, played) for check in experiment.checks]
    path = out or RUNS / f"{config.stem}.json"
    content = {
        "title": experiment.title,
        "seeds": num_seeds,
        "matches": {
            name: [[vars(block) for block in blocks] for blocks in seeds]
            for name, seeds in played.items()
        },
        "checks": [asdict(row) | {"verdict": row.verdict} for row in rows],
    }
    write_json(path, content)
    return f"{experiment.title}\n\n{table_text(rows)}\n\nall numbers in {path}"


@answers_in_one_line("reproduce")
def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; bad input gets one line and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m training.reproduce_liars_dice",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    parser.add_argument("--seeds", type=int, help="how many, instead of the file's")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"JSON (below {RUNS}/)")
    parsed = parser.parse_args(arguments)
    print(run(parsed.config, parsed.seeds, parsed.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
