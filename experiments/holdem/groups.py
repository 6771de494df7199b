"""No-Limit Hold'em: what a bachelor thesis on Q-learning for six players published, repeated.

The thesis does not say who its opponents were, nor how many hands a measurement had, and has one
run for each setting. Here learners meet the rule players of ``OPPONENTS``, every setting has the
same number of hands, and every figure an interval. With ``--scale 1`` a run of the sweep has 20,000
hands; the thesis had about 1.14 million (``--scale 57``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents import make_agent
from agents.games.holdem.behaviour import Behaviour, describe
from agents.learning.learner import Opponents, Task
from agents.learning.networks import PlainNetwork
from agents.offline.learner import OfflineSettings, collect, fit
from agents.tabular.learner import QLearning, make_player
from agents.tabular.model import TabularSettings
from arena.match import play_shown
from common.errors import MasqueradeError
from common.statistics import Interval, mean_interval
from envs import make_game
from experiments.holdem.population import Population, PopulationConfig
from experiments.holdem.selection import Selection, SelectionConfig
from experiments.runner import Group, Row, Settings
from training.config import EvalSettings, RunConfig, read_yaml
from training.evaluation import evaluate
from training.runner import make_learner

YARDSTICKS = (
    "random",
    "holdem_call",
    "holdem_fold",
    "holdem_raise",
    "holdem_tight",
    "holdem_loose",
    "holdem_odds",
)
OPPONENTS = ("holdem_call", "holdem_fold", "holdem_tight", "holdem_loose")
TABLE = {"abstraction": "blocks", "reward": "change", "learning_rate": "1/n", "exploration": 0.5}
CONFIGS = Path("configs/holdem")
RUNS = Path("runs/holdem_v0")
SHORT = 1200


# ---- the best player against every yardstick -----------------------------------------------------


def _against_yardsticks(name: str) -> Group:
    """The player of a run, in every seat, against a table full of one rule player."""

    def rows(settings: Settings) -> Iterator[Row]:
        run = RUNS / f"{name}-seed0"
        if not run.exists():
            raise MasqueradeError(
                f"{run} is missing: python train.py --config {CONFIGS / name}.yaml"
            )
        config = RunConfig.parse(
            read_yaml(CONFIGS / f"{name}.yaml", ["game.params.short_stacks=0"])
        )
        game = config.build_game()
        games = settings.games(100_000)
        others = game.facts.num_players - 1
        short = make_game(game.id, **{**game.options.to_dict(), "stacks": SHORT})
        tables = [(each, game, "") for each in YARDSTICKS]
        for yardstick, table, words in [*tables, ("holdem_push", short, ", 12 big blinds each")]:
            player = make_agent(f"{config.agent.id}:{run}", table)
            plan = EvalSettings(games=games)
            opponent = make_agent(yardstick, table)
            score = evaluate(table, player, opponent, plan, settings.seed + 1_000_003)
            yield Row.of(
                f"{name} against {others} x {yardstick}{words}, bb/100",
                score.mean_return.times(game.facts.unit.scale),
                games=score.games,
                wanted=(0.0, None),
            )

    return rows


# ---- encodings (E1) ------------------------------------------------------------------------------


def _encodings(settings: Settings) -> Iterator[Row]:
    """A table of own cards, and networks that learn its best actions in three encodings."""
    options: dict[str, Any] = {"preset": "thesis", "blocks": 1, "history": 0}
    game = make_game("holdem_v0", **options)
    task = Task(game, settings.seed, Opponents([make_agent(name, game) for name in OPPONENTS]))
    table = QLearning(task, TabularSettings.parse(TABLE))
    table.update(settings.games(40_000))
    published = {"basic": 0.798, "normalised": 0.863, "one_hot": 1.0}
    found = {}
    for encoding in published:
        other = make_game("holdem_v0", **{**options, "encoding": encoding})
        player = make_player(other, table.state_dict())
        there = Opponents([make_agent(name, other) for name in OPPONENTS])
        taught = OfflineSettings(sample_games=8000, epochs=1000, patience=1000)
        examples = collect(Task(other, settings.seed, there), player, taught)
        network = PlainNetwork(examples.inputs.shape[1], 5, (50,), seed=settings.seed)
        rng = np.random.default_rng(settings.seed)
        curve = fit(network, examples.inputs, examples.actions, rng, taught)
        found[encoding] = round(max(curve), 4)
        base = np.bincount(examples.actions).max() / len(examples.actions)
    wanted = {"basic": (None, found["normalised"]), "normalised": (None, found["one_hot"])}
    for letter, encoding in zip("abc", published, strict=True):
        yield Row(
            f"accuracy on the examples, encoding {encoding}",
            found[encoding],
            games=len(examples.actions),
            published=published[encoding],
            wanted=wanted.get(encoding, (1.0, 1.0)),
            note=f"always the commonest action: {base:.3f}",
            id=f"E1{letter}",
        )


# ---- speed (E2) ----------------------------------------------------------------------------------


def _speed(settings: Settings) -> Iterator[Row]:
    """Hands in a second of one core: six networks that play, and one that learns."""
    config = _config("fast_dqn", settings, ["train.opponents=[self]"])
    game = config.build_game()
    learner: Any = make_learner(config, game)
    learner.update(20_000)
    games = 20_000
    begun = time.process_time()
    play_shown(game, [learner.player()] * 6, games, seed=settings.seed)
    rate = games / (time.process_time() - begun)
    yield Row("simulation, hands/s on one core", round(rate), published="16003 with one "
              "thread, 62560 with eight", wanted=(16_003, None), id="E2a")  # fmt: skip
    for number, name in (("E2e", "thesis_dqn"), ("E2g", "fast_dqn")):
        config = _config(name, settings, ["train.opponents=[self]"])
        learner = make_learner(config, game)
        learner.update(8192)
        before, begun = learner.num_games, time.process_time()
        learner.update(4096 if name == "thesis_dqn" else 40_960)
        rate = (learner.num_games - before) / (time.process_time() - begun)
        updates = config.agent.params.updates_per_step  # type: ignore[attr-defined]
        yield Row(
            f"learning, {name}, {updates:g} updates for a decision, hands/s on one core",
            round(rate),
            published="1024 with one thread, at most 1268",
            wanted=(1024, None) if name == "thesis_dqn" else (12_680, None),
            id=number,
        )


# ---- settings of the learner (E3 to E6) ----------------------------------------------------------


NUM_SEEDS = 5
MANY_SEEDS = 20
CHUNK = 1024


def _config(name: str, settings: Settings, changes: Sequence[str] = ()) -> RunConfig:
    overrides = [f"train.seed={settings.seed}", "log.tensorboard=false", *changes]
    return RunConfig.parse(read_yaml(CONFIGS / f"{name}.yaml", overrides))


def _learn(
    name: str,
    settings: Settings,
    hands: int,
    changes: Sequence[str] = (),
    num_measurements: int = 1,
    measured: int = 40_000,
) -> tuple[Interval, int]:
    """So many hands against ``OPPONENTS``, in bb/100: the best of some measurements, done again.

    ``measured``: hands against each of them in the end, for a unit of scale.
    """
    opponents = f"train.opponents=[{', '.join(OPPONENTS)}]"
    config = _config(name, settings, [opponents, *_by_hands(name, hands), *changes])
    game = config.build_game()
    learner: Any = make_learner(config, game)
    others = [make_agent(each, game) for each in OPPONENTS]
    games = settings.games(2000)
    best: tuple[float, Any] = (-np.inf, None)
    for number in range(1, num_measurements + 1):
        _practise(learner, number * hands // num_measurements)
        player = learner.player()
        if num_measurements > 1:
            plan = EvalSettings(games=games)
            scores = [evaluate(game, player, other, plan, settings.seed) for other in others]
            mean = float(np.mean([score.mean_return.mean for score in scores]))
            best = max(best, (mean, player), key=lambda each: each[0])
    chosen = best[1] or player
    plan = EvalSettings(games=settings.games(measured))
    scores = [evaluate(game, chosen, other, plan, settings.seed + 77) for other in others]
    found = _mean_of([score.mean_return for score in scores]).times(game.facts.unit.scale)
    return found, sum(score.games for score in scores)


def _by_hands(name: str, hands: int) -> list[str]:
    """Schedules that end with so many hands; a table counts them anyway."""
    if name == "offline":
        return [f"train.steps={hands}"]
    return _set(exploration_games=hands)


def _practise(learner: Any, hands: int) -> None:
    """Let it learn until it has begun so many hands."""
    if learner.unit == "games":
        learner.update(hands - learner.num_steps)
    else:
        while learner.num_games < hands:
            learner.update(CHUNK)


def _mean_of(intervals: Sequence[Interval]) -> Interval:
    """The mean of independent means."""
    mean = float(np.mean([each.mean for each in intervals]))
    half = float(np.linalg.norm([each.half_width for each in intervals])) / len(intervals)
    return Interval(mean, mean - half, mean + half)


def _sweep(settings: Settings) -> Iterator[Row]:
    """All settings with as many hands, and more seeds for the two best of them."""
    hands = settings.games(20_000)
    found: dict[str, tuple[Interval, int]] = {}
    names: dict[str, str] = {}
    for number, (published, values) in SWEEP.items():
        # What stands in two tables learns once.
        key = repr(_config("thesis_dqn", settings, _set(**values)).agent.params)
        names.setdefault(key, number)
        if key not in found:
            found[key] = _learn("thesis_dqn", settings, hands, _set(**values), num_measurements=5)
        value, games = found[key]
        quantity = f"best of five, {_words(values)}, {hands:,} hands, bb/100"
        yield Row.of(quantity, value, games=games, published=published, id=number)
    for key in sorted(found, key=lambda each: -found[each][0].mean)[:2]:
        published, values = SWEEP[names[key]]
        means = [found[key][0].mean]
        for seed in _seeds(settings, NUM_SEEDS)[1:]:
            value, games = _learn("thesis_dqn", seed, hands, _set(**values), num_measurements=5)
            means.append(value.mean)
        quantity = f"{_words(values)}, {hands:,} hands, mean over {NUM_SEEDS} seeds, bb/100"
        yield Row.of(f"best of five, {quantity}", mean_interval(means),
                     games=NUM_SEEDS * games, published=published, id=names[key])  # fmt: skip


def _words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _seeds(settings: Settings, number: int) -> list[Settings]:
    return [replace(settings, seed=settings.seed + i) for i in range(number)]


def _per_hand(settings: Settings) -> Iterator[Row]:
    """Fewer updates for speed: as good after as many hands as with one a decision?

    The luck of learning is the larger one: many seeds, and few hands to measure each.
    """
    hands = settings.games(20_000)
    values: dict[str, list[float]] = {"thesis_dqn": [], "fast_dqn": []}
    for each in _seeds(settings, MANY_SEEDS):
        for name, found in values.items():
            value, games = _learn(name, each, hands, measured=12_000)
            found.append(value.mean)
    for name, found in values.items():
        quantity = f"{name}, mean over {MANY_SEEDS} seeds of {hands:,} hands, bb/100"
        yield Row.of(quantity, mean_interval(found), games=MANY_SEEDS * games)
    gap = np.subtract(values["fast_dqn"], values["thesis_dqn"])
    quantity = "fast_dqn - thesis_dqn, seed by seed, bb/100"
    yield Row.of(quantity, mean_interval(gap), wanted=(0.0, None))


def _set(**values: Any) -> list[str]:
    return [f"agent.params.{name}={value}" for name, value in values.items()]


SWEEP: dict[str, tuple[float, dict[str, Any]]] = {
    "E3a": (5.36, {"exploration_drop": 0.01}),
    "E3b": (12.52, {"exploration_drop": 0.015}),
    "E3c": (29.89, {"exploration_drop": 0.02}),
    "E3d": (25.21, {"exploration_drop": 0.03}),
    "E4a": (-5.23, {"batch_size": 1, "replay_size": 1, "learn_start": 1, "replay": "latest"}),
    "E4b": (28.16, {"batch_size": 16}),
    "E4c": (32.82, {"batch_size": 32}),
    "E4d": (51.77, {"batch_size": 64}),
    "E4e": (29.28, {"batch_size": 128}),
    "E5a": (27.60, {"target": "none", "double": False}),
    "E5b": (35.82, {"target_every": 100, "double": False}),
    "E5c": (23.97, {"target_every": 250, "double": False}),
    "E5d": (24.19, {"target_every": 500, "double": False}),
    "E5e": (18.57, {"target_every": 1000, "double": False}),
    "E6a": (19.58, {"target_every": 100, "double": False}),
    "E6b": (28.65, {"target_every": 100}),
    "E6c": (25.93, {"target_every": 1000}),
    "E6d": (31.31, {"target_every": 2500}),
}
"""Tables 4.1 to 4.4: the best of five that was published, and what differs from the final run."""


# ---- inputs (E7 to E9) ---------------------------------------------------------------------------

BLOCKS = (
    "own cards",
    "common cards",
    "position",
    "opponents in the hand",
    "players still to act",
    "pot odds",
    "opponents' actions",
)
ONE_INPUT = {1: (90.9, 109.7), 2: (-16.5, -16.4), 3: (-16.7, -16.7), 4: (-16.7, -16.7),
             5: (-16.7, -16.7), 6: (-20.7, -19.0), 7: (-11.2, -15.8)}  # fmt: skip
TWO_INPUTS = {1: (45.68, -10.40), 2: (53.86, -94.61), 3: (67.16, 63.68), 4: (35.27, 27.01),
              5: (44.14, 22.56), 6: (50.65, -8.56), 7: (40.31, -319.96)}  # fmt: skip


def _few_inputs(group: str, published: dict[int, tuple[float, float]], history: int) -> Group:
    """A network and a table with a classifier that see one or two inputs, against rule players."""

    def rows(settings: Settings) -> Iterator[Row]:
        hands = settings.games(60_000)
        for letter, (block, figures) in zip("abcdefg", published.items(), strict=True):
            blocks = sorted({block} if group == "E7" else {1, block})
            shown = [f"game.params.blocks={blocks}", f"game.params.history={history}"]
            words = BLOCKS[block - 1] if group == "E7" else f"own cards + {BLOCKS[block - 1]}"
            if group == "E8" and block == 1:
                words = "own cards + nothing"
            for name, config, value in (
                ("Online", "fast_dqn", figures[0]),
                ("Offline", "offline", figures[1]),
            ):
                found, games = _learn(config, settings, hands, shown)
                quantity = f"{name}, {words}, {hands:,} hands, bb/100"
                yield Row.of(quantity, found, games=games, published=value, id=f"{group}{letter}")

    return rows


def _selection(settings: Settings) -> Iterator[Row]:
    """Own cards and one more input, some networks each, against each other (algorithm 4)."""
    changes = [
        "selection.rounds=1",
        "selection.chosen=[own cards]",
        f"selection.steps={settings.games(20_000)}",
        f"selection.measure_games={settings.games(60_000)}",
        f"selection.seed={settings.seed}",
    ]
    content = read_yaml(Path("experiments/holdem/configs/holdem_inputs.yaml"), changes)
    config = SelectionConfig.parse(content)
    folder = settings.folder / f"holdem_inputs-{settings.scale:g}-seed{settings.seed}"
    (found,) = Selection(config, folder, settings.workers).run()
    published = {"common cards": 11.87, "opponents' moves": 2.97, "still to act": -0.91,
                 "opponents": -3.15, "position": -3.81, "pot odds": -6.97}  # fmt: skip
    for letter, (name, value) in zip("abcdef", published.items(), strict=True):
        interval = Interval(*found["groups"][name])
        words = f"own cards + {name}, mean of {config.selection.networks} networks, bb/100"
        yield Row.of(words, interval, published=value,
                     games=config.selection.measure_games, id=f"E9{letter}")  # fmt: skip


# ---- the end (E10) -------------------------------------------------------------------------------


def _population(settings: Settings) -> Iterator[Row]:
    """A small population at the settings of the final run, and ours in the same set."""
    size = min(18, max(6, round(6 * settings.scale)))
    changes = [
        f"population.sessions={settings.games(12)}",
        f"population.measure_games={settings.games(3000)}",
        f"population.final_games={settings.games(300_000)}",
        f"population.seed={settings.seed}",
    ]
    content = read_yaml(Path("experiments/holdem/configs/holdem_thesis.yaml"), changes)
    (group,) = content["population"]["groups"]
    group |= {"size": size, "steps": settings.games(6000), "name": "faithful"}
    fast = read_yaml(CONFIGS / "fast_dqn.yaml")["agent"]
    improved = {"name": "improved", "size": 1, "steps": settings.games(60_000), "agent": fast}
    content["population"]["groups"].append(improved)
    folder = settings.folder / f"holdem_population-{settings.scale:g}-seed{settings.seed}"
    population = Population(PopulationConfig.parse(content), folder, settings.workers)
    found = population.run()
    for member, value in zip(population.members, found, strict=True):
        is_ours = member.group.name == "improved"
        yield Row.of(
            f"member {member.name}, {member.num_sessions} sessions, bb/100 in its set",
            value.times(population.game.facts.unit.scale),
            games=population.settings.final_games,
            wanted=(0.0, None) if is_ours else None,
            id="E10b",
        )


def _draws(settings: Settings) -> Iterator[Row]:
    """The draw probe, and how often the best player bets when it is checked to."""
    for name in ("dqn", "heads_up_dqn"):
        config = RunConfig.parse(read_yaml(CONFIGS / f"{name}.yaml"))
        run = f"{config.agent.id}:{RUNS / f'{name}-seed0'}"
        game = config.build_game()
        found: Behaviour = describe(
            lambda table, run=run: make_agent(run, table),  # type: ignore[misc]
            game,
            name,
            settings.games(6000),
            settings.seed,
        )
        right, asked = (sum(each[i] for each in found.draws.values()) for i in range(2))
        yield Row(f"{name}: right answers to {asked} draws", right,
                  published="gives up", wanted=(asked, asked))  # fmt: skip
        for kind in ("weak", "strong"):
            yield Row.of(f"{name}: bets when checked to with a {kind} hand, %",
                         found.checked_to[kind].times(100), games=settings.games(6000),
                         published="bluffs" if kind == "weak" else None, id="E10d")  # fmt: skip


def _variance(_: Settings) -> Iterator[Row]:
    """Two standard errors of 100 bb/100 after 100,000 hands, around 5 bb/100."""
    half = 2 * 100 / math.sqrt(100_000 / 100)
    for end, published in ((5 - half, -1.32), (5 + half, 11.32)):
        yield Row("end of the interval of 5 bb/100 after 100,000 hands", round(end, 2),
                  published=published, wanted=(published, published))  # fmt: skip


GROUPS: dict[str, Group] = {
    "E1": _encodings,
    "E2": _speed,
    "E3-E6": _sweep,
    "E7": _few_inputs("E7", ONE_INPUT, history=0),
    "E8": _few_inputs("E8", TWO_INPUTS, history=1),
    "E9": _selection,
    "E10": _population,
    "E10c": _draws,
    "P": _per_hand,
    "V1": _variance,
    "Y2": _against_yardsticks("heads_up_dqn"),
    "Y6": _against_yardsticks("dqn"),
}
