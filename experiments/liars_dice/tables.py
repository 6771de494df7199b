"""Liar's Dice: SARSA, Q-learning and lie profiling of a thesis, and an equilibrium that leans.

Both sides learn while they are measured, as they did in the experiments. A match is played in
blocks, between which the thesis wrote its tables to files and started its program anew; that
forgets nothing, so here learners go on. The whole is repeated with several seeds, and every number
comes with an interval over them, and the least and the most of them. What is played and checked
stands in ``configs/``.

============  ====================================================================================
``plain``     R1, R2, R9, R10, R13: plain SARSA against Q-learning, both blind
``profiled``  R3 to R5, R9, R10, R12, R13: SARSA with lie profiling against Q-learning
``gain``      R6, R11: what the profile adds, beyond simply calling more often
``others``    R13, R14: matches that were announced and never reported
``learning``  R7, R8: players that learn while they are measured against an equilibrium player, and
              a picture of their shares of games won so far
``leaning``   what that player wins by leaning on a profile of lies, and what it risks
``rounds``    equilibria of single rounds, as far as they fit into 4 GB
============  ====================================================================================
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.games.liars_dice.best_response import evaluate_match
from agents.games.liars_dice.lies import CATEGORIES
from agents.games.liars_dice.wary import Leaning, LeaningAgent
from agents.policy import PolicyAgent
from agents.spec import AgentSpec
from agents.tabular.games import RANDOM, play_series
from agents.tabular.model import TabularModel, TabularSettings
from arena.match import play_match
from common.files import read_yaml
from common.statistics import mean_interval
from envs import make_game
from envs.core.game import Game
from envs.core.rng import stream
from experiments.ablations import draw_bands
from experiments.liars_dice.rounds import rounds
from experiments.runner import Group, Row, Settings
from training.missing import train_missing

CONFIGS = Path(__file__).parent / "configs"
Floats = npt.NDArray[np.float64]


def read(name: str) -> Any:
    """What is played and checked."""
    return read_yaml(CONFIGS / f"{name}.yaml", "take it from the project again")


# ---- learners against each other -----------------------------------------------------------------


@dataclass(frozen=True)
class MatchPlan:
    """Who plays whom, and for how long."""

    name: str
    agents: Sequence[Any]
    """One for each seat: random, or a table learner, perhaps with ``params``."""
    blocks: Sequence[int]
    """Games of each block."""
    game: Mapping[str, Any]
    defaults: Mapping[str, Any]
    """Params of every learner."""

    def make(self) -> tuple[Game, list[TabularModel], list[int]]:
        """The game, the learners, and which of them sits in each seat."""
        game = make_game("liars_dice_v0", **{**self.game, "rewards": "dice"})
        models: list[TabularModel] = []
        seats = []
        for agent in self.agents:
            rule = agent if isinstance(agent, str) else agent["id"]
            seats.append(RANDOM if rule == "random" else len(models))
            if rule != "random":
                own = {} if isinstance(agent, str) else agent["params"]
                settings = TabularSettings.parse({**self.defaults, **own})
                models.append(TabularModel(game, rule, settings))
        return game, models, seats


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


@dataclass(frozen=True)
class Check:
    """One number to compare with what was published."""

    id: str
    match: str
    what: str = "win_rate"
    block: int | None = None
    """``None``: all blocks together."""
    minus: str | None = None
    """For a gain: the match it is compared with."""
    published: float | None = None
    low: float | None = None
    """Where ours should begin, and end; decided before."""
    high: float | None = None


def play_plan(plan: MatchPlan, seed: int) -> list[Block]:
    """Play all blocks of a match with one seed.

    >>> sarsa = {"id": "sarsa", "params": {"abstraction": "blind"}}
    >>> play_plan(MatchPlan("try", [sarsa, "random"], [20], {}, {}), seed=0)[0].games
    20
    """
    game, models, seats = plan.make()
    streams = stream(seed, "chance"), stream(seed, "choice")
    blocks, first = [], 0
    for games in plan.blocks:
        numbers = np.arange(first, first + games)
        begun = time.perf_counter()
        played = play_series(models, numbers, np.tile(seats, (games, 1)), None, streams)
        seconds = time.perf_counter() - begun
        first += games
        sizes = tuple(len(model.table) for model in models)
        blocks.append(count(game, played.returns, seconds, sizes))
    return blocks


def count(game: Game, returns: Floats, seconds: float, entries: tuple[int, ...]) -> Block:
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
    wins = tuple(int((winners == seat).sum()) for seat in seats)
    rounds_lost = tuple(int(n) for n in np.rint(lost.sum(axis=0)))
    return Block(len(returns), wins, rounds_lost, seconds, entries)


def number_of(check: Check, blocks: list[Block]) -> float:
    """The number that is checked, of one seed."""
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
    assert check.what == "speed", check.what
    published = check.published or 0.0  # seconds a game
    return published * games / sum(block.seconds for block in chosen)


def values_of(check: Check, played: Mapping[str, list[list[Block]]]) -> Floats:
    """The number that is checked, for every seed."""
    own: Floats = np.array([number_of(check, blocks) for blocks in played[check.match]])
    if check.minus is not None:
        own -= np.array([number_of(check, blocks) for blocks in played[check.minus]])
    return own


def row_of(check: Check, played: Mapping[str, list[list[Block]]]) -> Row:
    """A check and what came out, as a row of the table."""
    values = values_of(check, played)
    match = check.match if check.minus is None else f"{check.match} minus {check.minus}"
    block = "all blocks" if check.block is None else f"block {check.block + 1}"
    return Row.of(
        f"{check.what}: {match}, {block}",
        mean_interval(values),
        published=check.published,
        wanted=None if check.low is check.high is None else (check.low, check.high),
        note=f"({values.min():.2f} to {values.max():.2f})",
        id=check.id,
    )


def plans_of(content: Mapping[str, Any], settings: Settings) -> list[MatchPlan]:
    """The matches of a file."""
    plans = []
    for match in content["matches"]:
        game = {**content["game"], **match.get("game", {})}
        blocks = [settings.games(games) for games in match["blocks"]]
        plans.append(MatchPlan(match["name"], match["agents"], blocks, game, content["defaults"]))
    return plans


def matches(name: str) -> Group:
    """The checks of a file."""

    def rows(settings: Settings) -> Iterator[Row]:
        content, played = read(name), {}
        seeds = range(settings.seed, settings.seed + content["seeds"])
        for plan in plans_of(content, settings):
            play_plan(MatchPlan(plan.name, plan.agents, [1], plan.game, plan.defaults), 0)
            # What is slow once was played before the clock runs.
            played[plan.name] = [play_plan(plan, seed) for seed in seeds]
        yield from (row_of(Check(**check), played) for check in content["checks"])

    return rows


# ---- learners against an equilibrium player ------------------------------------------------------


def play_learner(learner: AgentSpec, against: AgentSpec, games: int, seed: int) -> Floats:
    """Whether each game was won, in the order of play, every deal in both seatings: [games]."""
    game = make_game("liars_dice_v0")
    own, other = learner.build(game), against.build(game)
    own.begin_learning()
    won = np.zeros(games)
    for number in range(games):
        seat = number % 2
        seats = [own, other] if seat == 0 else [other, own]
        result = play_match(game, seats, 1, seed, first_game=number // 2)
        won[number] = result.returns[0, seat] > 0
    return won


def so_far(won: Floats, every: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Numbers of games, and the share won up to each: [seeds, points].

    >>> so_far(np.array([[1.0, 0.0, 1.0, 1.0]]), every=2)[1].tolist()
    [[0.5, 0.75]]
    """
    games = np.arange(every, won.shape[1] + 1, every)
    return games, won.cumsum(axis=1)[:, games - 1] / games


def learning(settings: Settings) -> Iterator[Row]:
    """Each learner begins with nothing and plays one game after the other; then a picture."""
    content = read("learning")
    against = AgentSpec.parse(content["against"])
    train_missing([against])
    games, seeds = 2 * settings.games(content["games"] // 2), content["seeds"]
    lines = {}
    for params in content["learners"]:
        learner = AgentSpec.parse(params)
        won = 100 * np.array(
            [play_learner(learner, against, games, settings.seed + k) for k in range(seeds)]
        )
        what = f"{learner.name} wins against {against.name}, %"
        yield Row.of(what, mean_interval(won.mean(axis=1)), games=games)
        last = mean_interval(won[:, -games // 5 :].mean(axis=1))
        yield Row.of(f"{what}, the last fifth", last, games=games // 5)
        points, shares = so_far(won, content["every"])
        bands = [mean_interval(column) for column in shares.T]
        low, high = (np.array([getattr(b, side) for b in bands]) for side in ("low", "high"))
        lines[learner.name] = points, shares.mean(axis=0), low.clip(0), high.clip(0, 100)
    title = f"games won against {against.name} so far, %: {seeds} seeds"
    draw_bands(settings.folder / "liars_dice_cfr.png", lines, title, "games")


# ---- an equilibrium player that leans ------------------------------------------------------------

BASE = "cfr_rounds:runs/liars_dice_v0/cfr-seed0"
OPPONENTS = (
    "rule=liars_dice_rule",
    "dqn=dqn:runs/liars_dice_v0/dqn-seed0",
    "q_hand=q_learning:runs/liars_dice_v0/q_hand-seed0",
    "sarsa_profiled=sarsa:runs/liars_dice_v0/sarsa_profiled-seed0",
    f"cfr={BASE}",
)
BOUNDS = (0.05, 0.1, 0.3)
PILOT_GAMES = 300
"""To learn the profile from, which is then frozen."""
DEALS = 10_000


def deal_returns(agent: Agent, other: Agent, num_deals: int, seed: int) -> Floats:
    """What an agent gets on average over both seatings of each deal: [deals] float64."""
    first = play_match(agent.game, [agent, other], num_deals, seed).returns[:, 0]
    second = play_match(agent.game, [other, agent], num_deals, seed).returns[:, 1]
    mean: Floats = (first + second) / 2
    return mean


def lean(
    base: str, other: Agent, bounds: Sequence[float], num_pilot: int, num_deals: int, seed: int
) -> Iterator[Row]:
    """The rows of one opponent: return and gain with intervals over deals, exact exploitability."""
    game = other.game
    pupil = LeaningAgent(game, base, by_opponent=False)
    pupil.begin_learning()
    for seat in (0, 1):
        seats = [pupil, other] if seat == 0 else [other, pupil]
        play_match(game, seats, num_pilot // 2, seed + 1, first_game=seat * num_pilot)
    pupil.is_learning = False
    plain = pupil.base
    assert isinstance(plain, PolicyAgent)
    before = deal_returns(plain, other, num_deals, seed)
    lies = pupil.profiles.ratios()
    seen = ", ".join(f"{100 * lies[name]:.0f} %" for name in CATEGORIES)
    note = f"lies seen (low, mid, high): {seen}"
    yield Row.of(f"return against {other.name}", mean_interval(before), games=num_deals, note=note)
    risk = evaluate_match(plain.table, None).exploitability
    yield Row(f"exploitability against {other.name}", round(risk, 4))
    for bound in bounds:
        pupil.bound = bound
        after = deal_returns(pupil, other, num_deals, seed)
        words = f"against {other.name}, bound {bound:g}"
        yield Row.of(f"return {words}", mean_interval(after), games=num_deals)
        gain = mean_interval(after - before)
        yield Row.of(f"gain by leaning {words}", gain, games=num_deals)
        leaning = Leaning(gaps_of(pupil), pupil.strength, bound)
        risk = evaluate_match(plain.table, leaning).exploitability
        yield Row(f"exploitability {words}", round(risk, 4))


def gaps_of(agent: LeaningAgent) -> tuple[float, float, float]:
    """How much more the opponent has lied than an equilibrium player would, by category."""
    record = agent.profiles.records[0]
    expected = np.array([agent.expected[name] for name in CATEGORIES])
    weight = record["num_bids"] / (record["num_bids"] + agent.imagined)
    low, mid, high = ((record["ratios"] - expected) * weight).tolist()
    return low, mid, high


def leaning(settings: Settings) -> Iterator[Row]:
    """An equilibrium player that has played some games against each opponent and counted lies."""
    for text in OPPONENTS:
        other = AgentSpec.parse(text).build(make_game("liars_dice_v0"))
        deals = settings.games(DEALS)
        yield from lean(BASE, other, BOUNDS, PILOT_GAMES, deals, settings.seed)


GROUPS: dict[str, Group] = {
    **{name: matches(name) for name in ("plain", "profiled", "gain", "others")},
    "learning": learning,
    "leaning": leaning,
    "rounds": rounds,
}
