"""Repeat the published experiments on Liar's Dice: SARSA, Q-learning and lie profiling.

python -m experiments.liars_dice.tables --config experiments/liars_dice/configs/profiled.yaml

Both sides learn while they are measured, as they did in the experiments. A match is played in
blocks; between blocks every agent is written to its file and read again, because there each block
was a new start of the program. The whole is repeated with several seeds, and every number comes
with an interval over them, and the least and the most of them. What was published is compared with
what comes out, and a miss is called a miss.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator

from agents.tabular.games import RANDOM, play_series
from agents.tabular.model import RULES, TabularModel, TabularSettings
from common.commands import Parser, add_out, answers_in_one_line, at_least
from common.errors import OptionError, nearest
from common.files import check_out, read_yaml, signed, write_text
from common.statistics import mean_interval
from envs import make_game
from envs.core.game import Game
from envs.core.options import Options, option
from envs.core.rng import stream
from experiments.liars_dice.saved import load_table, save_table
from experiments.runner import RUNS, Row, table_text

__all__ = ["Block", "Check", "Experiment", "MatchPlan", "main", "play_plan", "read_experiment"]

COMMAND = "python -m experiments.liars_dice.tables"

Floats = npt.NDArray[np.float64]


# ---- what is to be played ------------------------------------------------------------------------


WHAT = ("win_rate", "rounds", "lost_share", "gain", "entries", "speed")
_NUMBER: dict[str, Any] = {"low": -1e12, "high": 1e12}


class MatchPlan(Options):
    """Who plays whom, and for how long."""

    name: str
    agents: tuple[dict[str, Any], ...] = Field(
        description="one for each seat: random, or a table learner with its params"
    )
    blocks: tuple[int, ...] = option(
        (1000,), low=1, high=10**9, is_list=True, help="games of each block"
    )
    game: dict[str, Any] = Field(default_factory=dict, description="options that differ")

    @field_validator("agents", mode="before")
    @classmethod
    def _read_agents(cls, agents: Any) -> Any:
        if not isinstance(agents, list | tuple):
            return agents
        return [_read_agent(agent) for agent in agents]


def _read_agent(agent: Any) -> dict[str, Any]:
    """``random``, or the rule of a table learner; then with its params."""
    read = {"id": agent} if isinstance(agent, str) else agent
    if not isinstance(read, Mapping) or not set(read) <= {"id", "params"}:
        raise OptionError(f"an agent must be a name or have an id and params, not {agent!r}")
    params = read.get("params", {})
    if not isinstance(params, Mapping):
        raise OptionError(f"params must be a mapping, not {params!r}")
    known = [*RULES, "random"]
    if read.get("id") not in known:
        raise OptionError(f"unknown agent '{read.get('id')}': {nearest(read.get('id'), known)}")
    return {"id": read["id"], "params": dict(params)}


class Check(Options):
    """One number to compare with what was published."""

    id: str
    what: str = option("win_rate", choices=WHAT, help="the number")
    match: str
    block: int | None = option(None, low=0, high=10**6, help="null: all blocks together")
    minus: str | None = Field(default=None, description="for a gain: what it is compared with")
    published: float | None = option(None, **_NUMBER, help="what was published")
    low: float | None = option(None, **_NUMBER, help="where ours should begin")
    high: float | None = option(None, **_NUMBER, help="where ours should end, decided before")


class Experiment(Options):
    """All of a configuration file."""

    title: str
    seeds: int = option(10, low=2, high=10**6, help="how often all is played")
    game: dict[str, Any] = Field(default_factory=dict, description="options of every match")
    defaults: dict[str, Any] = Field(default_factory=dict, description="params of every learner")
    matches: tuple[MatchPlan, ...]
    checks: tuple[Check, ...] = ()

    def __post_init__(self) -> None:
        """Refuse checks of what is not played."""
        num_blocks = {match.name: len(match.blocks) for match in self.matches}
        for check in self.checks:
            for name in filter(None, (check.match, check.minus)):
                if name not in num_blocks:
                    hint = nearest(name, num_blocks)
                    raise OptionError(f"check {check.id}: unknown match '{name}': {hint}")
                if (check.block or 0) >= num_blocks[name]:
                    raise OptionError(f"check {check.id}: '{name}' has no block {check.block}")

    def plans(self) -> list[MatchPlan]:
        """The matches with what is the same in all of them."""
        return [
            match.replace(
                agents=[
                    {**agent, "params": {**self.defaults, **agent["params"]}}
                    for agent in match.agents
                ],
                game={**self.game, **match.game},
            )
            for match in self.matches
        ]


def read_experiment(path: Path) -> Experiment:
    """Read a configuration."""
    content = read_yaml(path, "title, matches and checks: there are examples in configs/")
    try:
        return Experiment.parse(content)
    except OptionError as error:
        raise OptionError(f"{path}: {error}") from error


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
    >>> plan = MatchPlan(name="try", agents=[sarsa, "random"], blocks=20)
    >>> play_plan(plan, seed=0)[0].games
    20
    """
    game = _game_of(plan)
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


def _game_of(plan: MatchPlan) -> Game:
    game = make_game("liars_dice_v0", **{**plan.game, "rewards": "dice"})
    if game.facts.num_players != len(plan.agents):
        raise OptionError(f"match '{plan.name}' needs {game.facts.num_players} agents")
    return game


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
    for plan in experiment.plans():  # what cannot be played is refused before anything is
        game = _game_of(plan)
        for agent in plan.agents:
            if agent["id"] != "random":
                TabularModel(game, agent["id"], TabularSettings.parse(agent["params"]))
    num_seeds = experiment.seeds if seeds is None else seeds
    played: dict[str, list[list[Block]]] = {}
    for plan in experiment.plans():
        print(f"{plan.name}: {sum(plan.blocks):,} games x {num_seeds} seeds", file=sys.stderr)
        play_plan(plan.replace(blocks=1), 0)  # what is slow once
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
    write_text(path, signed(json.dumps(content, indent=1) + "\n", ".json", COMMAND))
    return f"{experiment.title}\n\n{table_text(rows)}\n\nall numbers in {path}"


@answers_in_one_line("reproduce")
def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; bad input gets one line and exit code 2."""
    parser = Parser(prog=COMMAND, description=__doc__)
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    seeds = at_least(2, most=10**6)  # an interval needs two
    parser.add_argument("--seeds", type=seeds, help="how many, instead of the file's")
    add_out(parser, f"JSON (below {RUNS}/)")
    parsed = parser.parse_args(arguments)
    check_out(parsed.out, COMMAND, parsed.force, [".json"])
    print(run(parsed.config, parsed.seeds, parsed.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
