"""Variance reduction: the mean stays, whatever the values; with the right values nothing varies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

import evaluate
from agents import make_agent
from agents.base import Agent, Probs, Views
from agents.spec import AgentSpec
from arena import variance_reduction as correction
from arena import variance_values as fitting
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from arena.variance_reduction import (
    NO_POLICIES,
    Policies,
    Records,
    Values,
    added_values,
    corrections,
    read_policies,
    record_match,
)
from arena.variance_terms import NO_POLICY, add_products
from arena.variance_values import choose_features, fit_weights, pilot_values
from benchmarks import variance_gain
from common.errors import MasqueradeError, OptionError
from common.statistics import mean_interval
from envs import make_game
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER, SIGNATURES
from envs.core.position import Position
from envs.kuhn.game import Kuhn
from envs.leduc.kernels import CALL, FOLD, NO_CARD, RAISE

fair_chance = Kuhn.kernels.chance
Floats = npt.NDArray[np.float64]
Policy = Callable[[Position], dict[int, float]]


@compiled(SIGNATURES["chance"])
def likelier_high(state, rules, probs):
    fair_chance(state, rules, probs)
    total = 0.0
    for card in range(probs.size):
        probs[card] *= card + 1
        total += probs[card]
    for card in range(probs.size):
        probs[card] /= total


class LoadedKuhn(Kuhn):
    """Kuhn poker with a deck from which high cards come first, for all other decks are fair."""

    kernels = Kuhn.kernels.but(chance=likelier_high)


SMALL_GAMES = {
    "kuhn": lambda: make_game("kuhn_v0"),
    "three players": lambda: make_game("kuhn_v0", num_players=3),
    "a loaded deck": LoadedKuhn,
    "leduc": lambda: make_game("leduc_v0"),
    "one die": lambda: make_game("liars_dice_v0", dice=1, faces=3),
    "paid by the die": lambda: make_game("liars_dice_v0", dice=[1, 2], faces=2, rewards="dice"),
}


# ---- every game there is, with its exact probability ---------------------------------------------


def uniform(position: Position) -> dict[int, float]:
    legal = position.legal_actions()
    return dict.fromkeys(legal, 1 / len(legal))


def crooked(position: Position) -> dict[int, float]:
    """Some policy: different in every information set, never the same for two actions."""
    legal = position.legal_actions()
    rng = np.random.default_rng(position.key(position.turn))
    shares = rng.dirichlet(np.ones(len(legal)))
    return dict(zip(legal, shares.tolist(), strict=True))


def ruled(position: Position) -> dict[int, float]:
    """The rule player of Leduc, written down once more."""
    s, legal = position.game.record(position.state), position.legal_actions()
    rank, highest = s.cards[position.turn] // 2, position.game.facts.num_players
    is_facing_bet = FOLD in legal
    has_pair = s.public != NO_CARD and s.public // 2 == rank
    if has_pair or (rank == highest and not is_facing_bet):
        wish = RAISE
    elif is_facing_bet and 2 * rank < highest:
        wish = FOLD
    else:
        wish = CALL
    return {wish if wish in legal else CALL: 1.0}


@dataclass
class Tree:
    """All games of a game: what happened, how likely that was, what came of it."""

    game: Game
    records: Records
    probs: Floats
    returns: Floats
    policies: Policies
    worth: dict[bytes, Floats]
    """Of every state in which somebody decides the exact value to each player."""
    spread: dict[int, Floats]
    """Variance of each player's return that comes from each seat's decisions, and from chance."""

    def mean(self, values: Floats) -> Floats:
        return self.probs @ values

    def variance(self, values: Floats) -> Floats:
        return self.mean((values - self.mean(values)) ** 2)


def grow(game: Game, seats: list[Policy], load: float = 0.0) -> Tree:
    """Walk the whole tree; ``load`` makes the first outcomes of chance likelier than they are."""
    rows: list[Floats] = []
    ends: list[tuple[list[int], float, Floats, list[int]]] = []
    worth: dict[bytes, Floats] = {}
    spread = {who: np.zeros(len(seats)) for who in (CHANCE, *range(len(seats)))}

    def choices(position: Position) -> dict[int, float]:
        if position.turn != CHANCE:
            return seats[position.turn](position)
        outcomes = dict(position.chance_outcomes())
        loaded = {o: p * (1 + load * i) for i, (o, p) in enumerate(outcomes.items())}
        return {o: p / sum(loaded.values()) for o, p in loaded.items()}

    def visit(position: Position, prob: float, places: list[int]) -> Floats:
        if position.turn == OVER:
            value = position.returns()
            ends.append((position.history, prob, value, places))
            return value
        place, ways = NO_POLICY, choices(position)
        if position.turn != CHANCE:
            place = len(rows)
            rows.append(np.array([ways.get(a, 0.0) for a in range(game.facts.num_actions)]))
        values = []
        for action in ways:
            child = position.copy()
            child.apply(action)
            values.append(visit(child, prob * ways[action], [*places, place]))
        weights = np.array(list(ways.values()))
        value = weights @ np.array(values)
        spread[position.turn] += prob * (weights @ (np.array(values) - value) ** 2)
        if position.turn != CHANCE:
            worth[position.state.tobytes()] = value
        return value

    visit(game.new_position(), 1.0, [])
    numbers = [i * game.facts.num_openings for i in range(len(ends))]
    records = Records.collect({n: end[0] for n, end in zip(numbers, ends, strict=True)})
    places = np.full(records.histories.shape, NO_POLICY, np.int64)
    for row, end in zip(places, ends, strict=True):
        row[: len(end[3])] = end[3]
    probs, returns = np.array([end[1] for end in ends]), np.array([end[2] for end in ends])
    return Tree(game, records, probs, returns, Policies(places, np.array(rows)), worth, spread)


def any_values(tree: Tree, seed: int = 0) -> Values:
    """Values that mean nothing."""
    values = choose_features(tree.game, [(tree.records, tree.policies)], 0)
    values.table[:] = np.random.default_rng(seed).normal(size=values.table.shape)
    return values


def true_values(tree: Tree) -> Values:
    """The exact values, as far as products of what is observed can give them."""
    values = choose_features(tree.game, [(tree.records, tree.policies)], 0)
    states = np.array([np.frombuffer(state, np.uint8) for state in tree.worth])
    ends = np.unique([tree.game.replay(h[:n]).state for h, n in histories(tree)], axis=0)
    states = np.concatenate([states, ends])
    wanted = [*tree.worth.values(), *(returns_of(tree.game, end) for end in ends)]
    products = np.zeros((len(states), len(values.table)))
    lines = states, np.ones(len(states)), np.arange(len(states))
    room = values.room(tree.game)
    add_products(
        tree.game.kernels, tree.game.rules, lines, len(states), values.features, room, products
    )
    values.table[:] = np.linalg.lstsq(products, np.array(wanted), rcond=None)[0]
    return values


def histories(tree: Tree) -> list[tuple[list[int], int]]:
    return list(zip(tree.records.histories.tolist(), tree.records.lengths.tolist(), strict=True))


def returns_of(game: Game, state: npt.NDArray[np.uint8]) -> Floats:
    totals = np.zeros(game.facts.num_players)
    game.kernels.returns(state, game.rules, totals)
    return totals


@pytest.fixture(scope="module", params=list(SMALL_GAMES))
def tree(request: Any) -> Tree:
    game = SMALL_GAMES[request.param]()
    return grow(game, [uniform, *[crooked] * (game.facts.num_players - 1)])


@pytest.mark.parametrize("is_full", [False, True], ids=["chance", "full"])
def test_any_values_leave_the_mean_as_it_is(tree: Tree, is_full: bool) -> None:
    policies = tree.policies if is_full else NO_POLICIES
    assert tree.probs.sum() == pytest.approx(1)
    for seed in range(3):
        added = added_values(tree.game, any_values(tree, seed), tree.records, 0, policies)
        assert np.abs(tree.mean(added)).max() < 1e-12 * np.abs(added).max()
        assert tree.variance(added).min() > 1e-3


def test_a_loaded_die_would_show() -> None:
    game = make_game("kuhn_v0")
    honest, loaded = grow(game, [uniform, crooked]), grow(game, [uniform, crooked], load=0.1)
    added = added_values(game, any_values(honest), loaded.records, 0)
    assert np.abs(loaded.mean(added)).min() > 1e-3


def test_a_policy_that_is_not_the_truth_would_show(tree: Tree) -> None:
    tempered = tree.policies.probs**2
    wrong = Policies(tree.policies.rows, tempered / tempered.sum(axis=1, keepdims=True))
    added = added_values(tree.game, any_values(tree), tree.records, 0, wrong)
    assert np.abs(tree.mean(added)).min() > 1e-3


def test_draws_instead_of_all_outcomes_leave_the_mean_as_it_is() -> None:
    tree = grow(make_game("kuhn_v0"), [uniform, crooked])
    values = any_values(tree)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correction, "MAX_LISTED", 1)
        means = np.array(
            [tree.mean(added_values(tree.game, values, tree.records, seed)) for seed in range(2000)]
        )
    exact = tree.mean(added_values(tree.game, values, tree.records, 0))
    assert means.std() > 1e-3
    assert np.abs(exact).max() < 1e-12
    assert np.abs(means.mean(axis=0) / (means.std(axis=0) / np.sqrt(len(means)))).max() < 4


@pytest.mark.parametrize("seats", [[uniform, crooked], [crooked, crooked]], ids=["one", "both"])
def test_with_the_true_values_nothing_is_left_to_chance(seats: list[Policy]) -> None:
    tree = grow(make_game("kuhn_v0"), seats)
    added = added_values(tree.game, true_values(tree), tree.records, 0, tree.policies)
    corrected = tree.returns + added
    assert tree.variance(tree.returns).min() > 0.5
    np.testing.assert_allclose(corrected, np.tile(tree.mean(tree.returns), (len(added), 1)))


def test_correcting_chance_leaves_the_variance_of_the_decisions() -> None:
    tree = grow(make_game("kuhn_v0"), [uniform, crooked])
    corrected = tree.returns + added_values(tree.game, true_values(tree), tree.records, 0)
    assert tree.spread[CHANCE].min() > 0.1
    np.testing.assert_allclose(tree.variance(tree.returns), sum(tree.spread.values()))
    np.testing.assert_allclose(tree.variance(corrected), tree.spread[0] + tree.spread[1])


# ---- matches -------------------------------------------------------------------------------------


class OftenRight(Agent):
    """Leduc: mostly the rule player, sometimes the random one, and it says how often."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.rule, self.other = make_agent("leduc_rule", game), make_agent("random", game)

    def act(self, views: Views) -> Any:
        chosen = self.policy(views).cumsum(axis=1)
        draws = np.array([(int(rng[0]) >> 11) / 2**53 for rng in views.rngs])
        views.rngs[:] = views.rngs[:, [3, 0, 1, 2]] * np.uint64(0x9E3779B97F4A7C15)
        return (draws[:, None] >= chosen).sum(axis=1)

    def policy(self, views: Views) -> Probs:
        ruled = np.eye(self.game.facts.num_actions)[self.rule.act(views)]
        return 0.8 * ruled + 0.2 * np.asarray(self.other.policy(views))


def players(game_id: str, *names: str) -> tuple[Game, list[Agent]]:
    game = make_game(game_id)
    return game, [OftenRight(game) if n == "mixed" else make_agent(n, game) for n in names]


@pytest.mark.parametrize(
    ("reduction", "names", "least_gain"),
    [
        ("chance", ("random", "leduc_rule"), 2.0),
        ("chance", ("leduc_rule", "leduc_rule"), 100.0),
        ("full", ("random", "leduc_rule"), 5.0),
        ("full", ("mixed", "random"), 2.0),
    ],
)
def test_corrected_leduc_has_the_same_mean_and_varies_less(
    reduction: str, names: tuple[str, str], least_gain: float
) -> None:
    game, agents = players("leduc_v0", *names)
    [values] = pilot_values(game, [agents], seed=5, reduction=reduction, num_games=1000)
    result, records = record_match(game, agents, 4000, seed=5)
    added = corrections(game, agents, values, records, 5, reduction)
    assert not mean_interval(added[:, 0], 0.9999).excludes(0.0)
    assert result.returns[:, 0].var() > least_gain * (result.returns + added)[:, 0].var()
    np.testing.assert_allclose(added.sum(axis=1), 0.0, atol=1e-9)


def test_the_figures_of_the_documentation_are_the_truth(tmp_path: Path) -> None:
    game = make_game("leduc_v0")
    trees = [grow(game, [uniform, ruled]), grow(game, [ruled, uniform])]
    lead = (trees[0].mean(trees[0].returns)[0] + trees[1].mean(trees[1].returns)[1]) / 2
    everything = sum(tree.variance(tree.returns)[0] for tree in trees)
    decisions = sum(tree.spread[0][0] + tree.spread[1][0] for tree in trees)
    assert lead == pytest.approx(-1.0806, abs=5e-5)
    assert everything / decisions == pytest.approx(3.96, abs=5e-3)
    spec = replace(LEDUC, variance_reduction="full", pilot=4000, deals=1000)
    [comparison] = play(spec, tmp_path)["comparisons"]
    _, low, high = comparison["lead"]
    assert low < lead < high
    assert high - low < 0.1


def test_dice_that_are_drawn_again_leave_the_mean_as_it_is() -> None:
    game = make_game("liars_dice_v0", dice=2)
    agents = [make_agent("liars_dice_rule", game)] * 2
    [values] = pilot_values(game, [agents], seed=1, reduction="chance", num_games=500)
    result, records = record_match(game, agents, 2000, seed=1)
    added = corrections(game, agents, values, records, 1, "chance")
    assert not mean_interval(added[:, 0], 0.9999).excludes(0.0)
    assert result.returns[:, 0].var() > 1.1 * (result.returns + added)[:, 0].var()


def test_a_lost_game_is_corrected_up_to_where_it_was_lost() -> None:
    class Falters(OftenRight):
        def act(self, views: Views) -> Any:
            if (views.keys % np.uint64(5) == 0).any():
                raise RuntimeError("no")
            return super().act(views)

    game = make_game("leduc_v0")
    agents = [Falters(game), make_agent("random", game)]
    [values] = pilot_values(game, [agents], seed=0, reduction="full", num_games=500)
    result, records = record_match(game, agents, 3000, seed=0, has_forfeits=True)
    added = corrections(game, agents, values, records, 0, "full")
    assert len(result.faults) > 300
    assert not mean_interval(added[:, 0], 0.9999).excludes(0.0)
    assert result.returns.var() > 1.2 * (result.returns + added).var()


@pytest.mark.parametrize("is_drawn", [False, True], ids=["listed", "drawn"])
def test_the_result_depends_neither_on_batches_nor_on_who_else_is_corrected(
    is_drawn: bool,
) -> None:
    game, agents = players("leduc_v0", "random", "mixed")
    if is_drawn:
        game = make_game("liars_dice_v0", dice=2)
        agents = [make_agent("liars_dice_rule", game), make_agent("random", game)]
    [values] = pilot_values(game, [agents], seed=0, reduction="full", num_games=300)
    values.table[:] = np.random.default_rng(0).normal(size=values.table.shape)
    _, records = record_match(game, agents, 200, seed=0)
    whole = corrections(game, agents, values, records, 0, "full")
    for batch_size in (1, 7):
        _, again = record_match(game, agents, 200, seed=0, batch_size=batch_size)
        np.testing.assert_array_equal(again.histories, records.histories)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correction, "ROWS_AT_A_TIME", 150)  # too few for one game: they have to grow
        patch.setattr(correction, "GAMES_AT_A_TIME", 9)
        np.testing.assert_array_equal(corrections(game, agents, values, records, 0, "full"), whole)
    part = corrections(game, agents, values, records.part(50, 60), 0, "full")
    np.testing.assert_array_equal(part, whole[50:60])


def test_games_of_a_pilot_are_other_games() -> None:
    played: list[Records] = []

    def record(*arguments: Any, **options: Any) -> Any:
        result, records = record_match(*arguments, **options)
        played.append(records)
        return result, records

    game, agents = players("leduc_v0", "random", "random")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "record_match", record)
        pilot_values(game, [agents, agents], seed=3, reduction="chance", num_games=300)
    _, records = record_match(game, agents, 300, seed=3)
    pilot, other_seating = played
    np.testing.assert_array_equal(pilot.histories, other_seating.histories)  # the same deals
    longest = min(records.histories.shape[1], pilot.histories.shape[1])
    same = records.histories[:, :longest] == pilot.histories[:, :longest]
    assert same.all(axis=1).mean() < 0.1


# ---- policies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game_id", "names"),
    [
        ("kuhn_v0", ("kuhn_rule", "random")),
        ("leduc_v0", ("mixed", "random")),
        ("liars_dice_v0", ("random", "random")),
    ],
)
def test_policies_are_the_truth(game_id: str, names: tuple[str, str]) -> None:
    game, agents = players(game_id, *names)
    _, records = record_match(game, agents, 2000, seed=0)
    policies = read_policies(game, agents, records, 0)
    decisions = policies.rows != NO_POLICY
    chosen = np.eye(game.facts.num_actions)[records.histories[decisions]]
    surprise = chosen - policies.probs[policies.rows[decisions]]
    spread = np.sqrt((policies.probs * (1 - policies.probs)).sum(axis=0))
    assert np.abs(surprise.sum(axis=0) / np.maximum(spread, 1)).max() < 4.5
    # Not only on average: neither where an action is likely nor where it is not.
    likely = policies.probs[policies.rows[decisions]] > 0.5
    errors = np.where(likely, surprise, 0.0).sum() / np.sqrt(len(surprise))
    assert abs(errors) < 4


def test_rule_players_without_a_policy_are_left_out() -> None:
    game, agents = players("leduc_v0", "leduc_rule", "random")
    _, records = record_match(game, agents, 50, seed=0)
    policies = read_policies(game, agents, records, 0)
    assert 0 < len(policies.probs) < (records.lengths - 3).sum()


@pytest.mark.parametrize(
    ("probs", "message"),
    [
        (lambda views: views.masks[:, :2], "is of shape"),
        (lambda views: 0.5 * views.masks, "does not add up to 1"),
        (lambda views: np.tile([-1.0, 1.0, 1.0], (len(views), 1)), "does not add up to 1"),
        (lambda views: np.tile([np.nan, 0.0, 1.0], (len(views), 1)), "does not add up to 1"),
        (lambda views: np.full((len(views), 3), 1 / 3), "allows illegal actions"),
        (lambda views: np.tile([0.0, 1.0, 0.0], (len(views), 1)), "never does what it did"),
    ],
)
def test_a_policy_that_cannot_be_true_is_refused(
    probs: Callable[[Views], Any], message: str
) -> None:
    game, agents = players("leduc_v0", "random", "random")
    _, records = record_match(game, agents, 50, seed=0)
    agents[1].policy = probs  # type: ignore[method-assign]
    with pytest.raises(MasqueradeError, match=message):
        read_policies(game, agents, records, 0)


# ---- learning ------------------------------------------------------------------------------------


def test_weights_are_found_among_noise_and_nothing_is_found_in_noise() -> None:
    rng = np.random.default_rng(0)
    inputs, deals = rng.normal(size=(1000, 30)), np.arange(1000)
    truth = np.zeros((30, 1))
    truth[:3, 0] = 1, -2, 3
    noise = rng.normal(size=(1000, 1))
    found = fit_weights(sparse.csr_array(inputs), noise - inputs @ truth, deals, np.copy)
    assert np.abs(found - truth).max() < 0.15
    nothing = fit_weights(sparse.csr_array(inputs), noise, deals, np.copy)
    assert np.abs(nothing).max() < 0.05


def test_chance_that_cancels_over_the_seatings_is_left_alone() -> None:
    """Each deal is played twice; what is good in one game is bad in the other."""
    rng = np.random.default_rng(0)
    chances, others = rng.normal(size=(2, 200, 40))
    deals = np.tile(np.arange(200), 2)
    returns = (chances + 0.5 * rng.normal(size=chances.shape)) @ np.ones((40, 1))
    inputs = sparse.block_diag([chances, np.hstack([-chances, others])]).tocsr()
    both_ways = np.concatenate([returns, -returns])

    def of_deals(values: Floats) -> Floats:
        return values[:200] + values[200:]

    def variance(weights: Floats) -> float:
        return float(of_deals(both_ways + inputs @ weights).var())

    assert variance(fit_weights(inputs, both_ways, deals, np.copy)) > 1.0
    assert variance(fit_weights(inputs, both_ways, deals, of_deals)) == 0.0


def test_the_measured_gains_are_printed(capsys: Any) -> None:
    variance_gain.main(
        ["--only", "kuhn, random", "--deals", "300", "--pilot", "400", "--seeds", "1"]
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[1] for line in lines if line.startswith("| Kuhn")] == [
        "chance",
        "full",
    ]


def test_a_hopeless_case_is_left_alone() -> None:
    game, agents = players("liars_dice_v0", "random", "random")
    [values] = pilot_values(game, [agents], seed=0, reduction="chance", num_games=200)
    _, records = record_match(game, agents, 200, seed=0)
    assert np.abs(corrections(game, agents, values, records, 0, "chance")).mean() < 0.2


def test_values_survive_a_file(tmp_path: Path) -> None:
    game, agents = players("kuhn_v0", "random", "kuhn_rule")
    [values] = pilot_values(game, [agents], seed=0, reduction="chance", num_games=200)
    values.save(tmp_path / "values.npz")
    again = Values.load(tmp_path / "values.npz")
    assert values.table.any()
    for name, value in vars(values).items():
        np.testing.assert_array_equal(getattr(again, name), value)


# ---- tournaments ---------------------------------------------------------------------------------

LEDUC = TournamentSpec(
    "leduc_v0",
    (AgentSpec.parse("random"), AgentSpec.parse("leduc_rule")),
    deals=1500,
    variance_reduction="chance",
    pilot=1000,
)


def play(spec: TournamentSpec, folder: Path, **arguments: Any) -> dict[str, Any]:
    return run_tournament(spec, folder, **arguments).to_dict()


def test_two_workers_correct_like_one_and_so_does_a_second_try(tmp_path: Path) -> None:
    one, two = play(LEDUC, tmp_path / "one"), play(LEDUC, tmp_path / "two", workers=2)
    assert one == two
    for unit in list((tmp_path / "two" / "units").glob("*deal000000200*")):
        unit.unlink()
    assert play(LEDUC, tmp_path / "two", has_resume=True) == one


def test_returns_are_corrected_and_wins_are_not(tmp_path: Path) -> None:
    corrected = play(LEDUC, tmp_path / "corrected")
    raw = play(replace(LEDUC, variance_reduction="none"), tmp_path / "raw")
    [ours], [plain] = corrected["comparisons"], raw["comparisons"]
    assert plain["variance_gain"] is None
    assert ours["variance_gain"] > 1.3
    (mean, low, high), (plain_mean, plain_low, plain_high) = ours["lead"], plain["lead"]
    gained = ((plain_high - plain_low) / (high - low)) ** 2
    assert gained == pytest.approx(ours["variance_gain"], rel=0.01)
    assert plain_low < mean < plain_high
    assert mean != plain_mean
    for name in ("score", "games"):
        assert ours[name] == plain[name]
    for mine, theirs in zip(corrected["standings"], raw["standings"], strict=True):
        assert mine["mean_return"] != theirs["mean_return"]
        for name in ("name", "elo", "win_rate", "placement", "seats"):
            assert mine[name] == theirs[name]


def test_a_wanted_precision_is_reached_sooner(tmp_path: Path) -> None:
    spec = replace(LEDUC, deals=500, variance_reduction="full")
    short = play(spec, tmp_path / "short", until=0.1)
    long = play(replace(spec, variance_reduction="none"), tmp_path / "long", until=0.1)
    assert short["spec"]["deals"] < long["spec"]["deals"]


def test_three_players_are_corrected_too(tmp_path: Path) -> None:
    spec = replace(LEDUC, options={"num_players": 3}, deals=200, pilot=600)
    [comparison] = play(spec, tmp_path)["comparisons"]
    assert comparison["variance_gain"] > 0.9


def test_the_command_says_what_was_corrected(tmp_path: Path, capsys: Any) -> None:
    arguments = ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "1000"]
    reduced = ["--variance-reduction", "full", "--pilot", "400", "--out", str(tmp_path / "out")]
    assert evaluate.main([*arguments, *reduced]) == 0
    assert "Variance reduction (full): games for the same interval: " in capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["spec"]["variance_reduction"] == "full"
    assert summary["comparisons"][0]["variance_gain"] > 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variance_reduction": "bad"}, "none, chance, full"),
        ({"pilot": 5}, "pilot must be a whole number from 100"),
    ],
)
def test_what_cannot_be_corrected_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        replace(LEDUC, **changes)
