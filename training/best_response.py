"""How exploitable is an agent at least: a best response to it, learnt and then measured.

In a game that is too large to write down nobody knows the best response, but whatever wins from an
agent proves how much can be won from it. So a learner practises against the frozen agent, and
what it has become is measured in fresh games:

1. every learner trains with every seed, in an ordinary run (curves, checkpoints, ``--resume``);
2. for each seat the best of their players is chosen, by games of its own;
3. the chosen ones are measured in other games, every deal once in every seat.

Because choosing and measuring share no deal, the interval is not flattered by the choice. What
comes out is a *lower* bound: a better response may exist, and a weak learner finds little.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import LEARNERS, RESPONDERS, make_agent, make_responder
from agents.base import Agent
from agents.learning.device import computing_on
from agents.learning.files import checkpoint_folder, players
from agents.spec import AgentSpec
from arena.match import play_shown
from common.errors import OptionError, nearest
from common.files import write_json
from common.statistics import Interval, mean_interval
from envs.core.game import Game
from envs.core.options import Options, option
from envs.core.rng import stream
from training.config import RunConfig, learner_class, read_yaml
from training.runner import finish, is_finished

CONFIGS = Path("configs")
RUNS = Path("runs") / "best_response"
DEFAULTS = ("response", "q_learning", "dqn")
"""Files of a game's settings that are tried as its learner, the first that there is."""

Floats = npt.NDArray[np.float64]


class Search(Options):
    """How a best response is looked for."""

    learners: tuple[str, ...] = ()
    """Names of files in ``configs/<game>/``, paths of files, or ids; empty: the game's own."""
    steps: int | None = option(
        None, low=1, high=10**12, help="how long each learns; null: as its file says"
    )
    seeds: int = option(1, low=1, high=10**6, help="runs of each learner")
    games: int = option(
        20_000, low=4, high=10**9, help="games that measure the responders, all seats together"
    )
    choosing_games: int = option(
        4000, low=4, high=10**9, help="games of every candidate in the choice and in its run"
    )
    seed: int = option(0, low=0, high=2**62, help="root of all chance, and seed of the first run")
    confidence: float = option(0.95, low=0.5, high=0.9999, help="of every interval")
    device: str = "cpu"


@dataclass(frozen=True)
class Chosen:
    """Who answers in one seat."""

    player: str
    """The folder of the player."""
    learner: str
    score: float | None
    """What it won per game in the choice; ``None`` if there was none."""
    value: Interval
    """What it wins per game in the measurement."""


@dataclass(frozen=True)
class Bound:
    """What responses to one agent have won."""

    name: str
    gain: Interval
    """More than the agent itself would get, on average over the seats: exploitability at least."""
    seats: tuple[Chosen, ...]
    games: int

    @property
    def at_least(self) -> float:
        """The lower end; nobody loses by not responding, so it is never below 0."""
        return max(0.0, self.gain.low)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "agent": self.name,
            "exploitability_at_least": self.at_least,
            "gain": _ends(self.gain),
            "games": self.games,
            "seats": [{**vars(seat), "value": _ends(seat.value)} for seat in self.seats],
        }


def bound(
    game: Game, spec: AgentSpec, search: Search, runs: Path = RUNS, is_shown: bool = True
) -> Bound:
    """Learn responses to an agent and measure the best of them.

    Args:
        game: the game.
        spec: the agent.
        search: how to look for a response.
        runs: where the runs are kept; those of the same agent and settings go on, or are used.
        is_shown: whether to show progress.
    """
    with computing_on(search.device):
        agent = spec.build(game)
        folder = runs / game.id / _in_letters(spec.name)
        candidates = []
        for learner in search.learners or (default_learner(game),):
            if learner in RESPONDERS:
                responder = make_responder(learner, game, agent)
                candidates.append(_Candidate(Path(learner), learner, responder))
                continue
            for seed in range(search.seed, search.seed + search.seeds):
                config = _configure(game, spec, find_learner(game, learner), search, seed)
                run = folder / f"{_in_letters(Path(learner).stem)}-seed{seed}-{_mark(config, spec)}"
                if is_shown and not is_finished(run):
                    print(f"learning a response in {run}", file=sys.stderr, flush=True)
                finish(config, run, search.device, "evaluate.py best-response", is_shown)
                # The best of a run, by its own evaluations, and the last.
                for path in dict.fromkeys([checkpoint_folder(run), players(run)[-1]]):
                    player = make_agent(config.agent.id, game, path=str(path))
                    candidates.append(_Candidate(path, learner, player))
        found = _measure(game, agent, candidates, search, is_paired=not spec.can_remember)
        write_json(folder / "bound.json", {"search": search.to_dict(), **found.to_dict()})
        return found


# ---- learners ------------------------------------------------------------------------------------


def default_learner(game: Game) -> str:
    """The learner of a game that is made for it: ``configs/<game>/response.yaml``, if it has one.

    >>> from envs import make_game
    >>> default_learner(make_game("liars_dice_v0")), default_learner(make_game("leduc_v0"))
    ('response', 'response')
    """
    folder = _configs_of(game)
    return next((name for name in DEFAULTS if (folder / f"{name}.yaml").exists()), "q_learning")


def find_learner(game: Game, name: str) -> dict[str, Any]:
    """The settings of a learner: a file, the file of that name for the game, or an id's defaults.

    One of ``RESPONDERS`` has no settings.

    >>> from envs import make_game
    >>> find_learner(make_game("leduc_v0"), "dqn")["agent"]["id"]
    'dqn'
    """
    known = {path.stem: path for path in sorted(_configs_of(game).glob("*.yaml"))}
    if name in RESPONDERS:
        return {}
    if name.endswith((".yaml", ".yml")):
        content = read_yaml(Path(name))
    elif name in known:
        content = read_yaml(known[name])
    elif name in LEARNERS:
        content = {"agent": {"id": name}}
    else:
        names = [*known, *LEARNERS, *RESPONDERS]
        raise OptionError(f"unknown learner '{name}': {nearest(name, names)}")
    agent = content.get("agent")
    agent_id = agent.get("id") if isinstance(agent, dict) else None
    if agent_id in LEARNERS and learner_class(agent_id).converges:  # a solver, which plays nobody
        raise OptionError(f"'{name}' learns from no opponent: choose q_learning or dqn")
    return content


def _configs_of(game: Game) -> Path:
    return CONFIGS / re.sub(r"_v\d+$", "", game.id)


def _configure(
    game: Game, spec: AgentSpec, content: dict[str, Any], search: Search, seed: int
) -> RunConfig:
    """The run of one learner with one seed against the frozen agent."""
    against = {"opponents": [spec.to_dict()]}
    steps = search.steps or (content.get("train") or {}).get("steps")
    return RunConfig.parse(
        {
            "game": {"id": game.id, "params": game.options.to_dict()},
            "agent": content.get("agent"),
            "train": {"seed": seed, **against, **({"steps": steps} if steps else {})},
            "eval": {"games": search.choosing_games, **against, "exploitability": False},
        }
    )


def _mark(config: RunConfig, spec: AgentSpec) -> str:
    """Changes with the settings of a run and with what the agent has learnt."""
    values = config.to_dict()
    values["train"].pop("seed")
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    digest.update(spec.fingerprint().encode())
    return digest.hexdigest()[:8]


# ---- choosing and measuring ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    folder: Path
    learner: str
    agent: Agent


def _measure(
    game: Game, agent: Agent, candidates: Sequence[_Candidate], search: Search, is_paired: bool
) -> Bound:
    """Choose a candidate for every seat, and measure the chosen ones in other games.

    All of them play the same deals, unless the agent could know one again (``is_paired``).
    """
    num_players = game.facts.num_players
    chosen: list[tuple[_Candidate, float | None]] = []

    def play(responder: Agent, seat: int, deals: int, *purpose: str) -> Floats:
        """[deals, seats] of returns; the agent has all seats but the responder's."""
        seats = [responder if place == seat else agent for place in range(num_players)]
        own = _root(search.seed, *purpose, f"seat {seat}")
        seed = _root(search.seed, purpose[0]) if is_paired else own
        return play_shown(game, seats, deals, seed=seed, choice_seed=own).returns

    deals = -(-search.choosing_games // num_players)
    for seat in range(num_players):
        if len(candidates) == 1:  # there is nothing to choose
            chosen.append((candidates[0], None))
            continue
        values = [
            float(play(each.agent, seat, deals, "choose", f"{number}")[:, seat].mean())
            for number, each in enumerate(candidates)
        ]
        chosen.append((candidates[int(np.argmax(values))], max(values)))
    deals = max(2, -(-search.games // num_players))
    seats, columns = [], []
    for seat, (one, score) in enumerate(chosen):
        columns.append(play(one.agent, seat, deals, "measure")[:, seat])
        value = mean_interval(columns[-1], search.confidence)
        seats.append(Chosen(str(one.folder), one.learner, score, value))
    total = game.facts.return_sum
    own: Floats | float = 0.0 if total is None else total / num_players
    if total is None:  # what the agent gets against itself
        own = play(agent, 0, deals, "measure", "itself").mean(axis=1)
    gain = mean_interval(np.stack(columns, axis=1).mean(axis=1) - own, search.confidence)
    return Bound(agent.name, gain, tuple(seats), deals * num_players)


def _root(seed: int, *purpose: str) -> int:
    """A seed that no run and no other purpose has."""
    return int(stream(seed, "best response", *purpose)[0] >> np.uint64(1))


def _ends(interval: Interval) -> list[float]:
    return [*vars(interval).values()]


def _in_letters(name: str) -> str:
    """A name as a folder can have it."""
    return re.sub(r"[^\w.-]+", "_", name).strip("_.") or "agent"
