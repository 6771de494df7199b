"""Rounds and matches of Liar's Dice: the tree that is not written down against the written one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from agents.abstraction import ALL, DecisionKeys
from agents.base import Actions, Agent, Views
from agents.cfr.evaluation import tabulate
from agents.cfr.mccfr import SamplingSolver
from agents.cfr.response import best_response, expected_values, exploitability
from agents.cfr.solver import VectorCFRSolver
from agents.cfr.tree import GameTree
from agents.games.liars_dice.abstractions import lowest_alive
from agents.games.liars_dice.best_response import evaluate_match
from agents.games.liars_dice.learners import RoundsLearner, RoundsSettings
from agents.games.liars_dice.match import (
    Dice,
    SolvedRound,
    finish_round,
    match_figures,
    rounds_of,
    to_policy,
)
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from agents.games.liars_dice.sampled_match import SampledMatch, SampledMatchSettings
from agents.learning.learner import Task
from agents.policy import Policy, PolicyAgent
from common.errors import MasqueradeError, OptionError
from envs import make_game
from envs.core.options import option
from envs.liars_dice.game import LiarsDice, LiarsDiceOptions
from envs.liars_dice.kernels import RAISING, RULES, WILD


def make_shape(dice: tuple[int, int], **options: object) -> RoundShape:
    return RoundShape(LiarsDiceOptions(**options), dice)  # type: ignore[arg-type]


class SolverAgent(Agent):
    """Plays a table of a solver, found by bids and hand."""

    def __init__(self, game: LiarsDice, solver: RoundSolver, weights: np.ndarray) -> None:
        super().__init__(game)
        self.solver = solver
        self.weights = weights

    def act(self, views: Views) -> Actions:
        raise NotImplementedError

    def policy(self, views: Views) -> np.ndarray:
        probs = np.zeros((len(views), self.game.facts.num_actions))
        for i, world in enumerate(views.worlds()):
            state = self.game.record(world)
            seat = int(views.seats[i])
            bids = np.flatnonzero(state.was_bid[: self.game.facts.num_actions - 1]).tolist()
            hand = state.dice[seat, : state.dice_left[seat]].tolist()
            probs[i, views.masks[i] != 0] = self.solver.policy_at(bids, hand, self.weights)
        return probs


# ---- the shape -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dice", "options", "num_nodes"),
    [
        ((1, 1), {}, 448),
        ((2, 2), {}, 8_832),
        ((3, 3), {}, 107_712),
        ((5, 5), {}, 8_579_072),
        ((1, 1), {"raising": "count_first"}, 2**12),
        ((2, 2), {"raising": "count_first"}, 2**24),
        ((2, 2), {"raising": "count_first", "wild": "ones_unbiddable"}, 2**20),
        ((2, 1), {"raising": "face_first", "faces": 3}, 2**9),
    ],
)
def test_number_of_public_nodes(dice, options, num_nodes) -> None:
    assert make_shape(dice, **options).num_nodes == num_nodes


@pytest.mark.parametrize("raising", RAISING)
@pytest.mark.parametrize("wild", WILD)
def test_keys_know_the_same_live_faces_as_the_shape(raising, wild) -> None:
    shape = make_shape((2, 1), raising=raising, wild=wild, faces=4)
    rules = shape.game.rules.view(RULES)[0]
    for standing, level in enumerate(shape.levels):
        lowest = lowest_alive(rules, 3, standing - 1)
        alive = {f for f in range(1, 5) if f >= lowest or f == rules.wild_face}
        # A face that nobody would bid may be called alive; it must not be called dead.
        assert alive >= shape.alive[level]
        assert len({shape.kind([f], level) for f in alive}) == len(
            {f for f in alive if f in shape.alive[level]}
        ) + (not alive <= shape.alive[level])


def test_dead_faces_merge_hands() -> None:
    shape = make_shape((5, 5))
    assert [len(kinds) for kinds in shape.hands[0]] == [252, 252, 126, 56, 21, 6]
    assert shape.kind((1, 2, 4, 6, 6), len(shape.alive) - 1) == (0, 0, 0, 6, 6)


# ---- rounds --------------------------------------------------------------------------------------

SMALL = [
    ((1, 1), {"raising": "count_first", "faces": 4}),
    ((2, 1), {"faces": 3}),
    ((1, 2), {"raising": "face_first", "faces": 2, "wild": "ones"}),
    ((2, 1), {"raising": "count_first", "faces": 3, "wild": "ones_unbiddable"}),
]


@pytest.mark.parametrize(("dice", "options"), SMALL)
@pytest.mark.parametrize("variant", ["cfr+", "discounted"])
def test_same_iterations_as_the_written_tree(dice, options, variant) -> None:
    game = LiarsDice(dice=dice, single_round=True, **options)
    tree = GameTree(game, has_keys=True)
    public = VectorCFRSolver(tree, variant)
    compact = RoundSolver(make_shape(dice, **options), variant)
    agent = SolverAgent(game, compact, compact.arrays.regrets)
    for _ in range(8):
        public.run(1)
        compact.run(1)
        # Rounds are kept in single precision, and the order of their sums differs between compiled
        # and plain code. A regret is good to some 1e-7 of the largest payoff, a probability to that
        # divided by what the positive regrets of its decision add up to.
        regrets = np.maximum(public.state_dict()["regrets"], 0.0)
        total = np.bincount(tree.sequence_infosets, regrets)[tree.sequence_infosets]
        errors = tabulate(agent, tree).probs - public.current_policy()
        assert np.abs(errors * np.maximum(total, 0.01)).max() < 1e-6


@pytest.mark.parametrize(("dice", "options"), SMALL)
def test_value_and_best_responses_are_those_of_the_written_tree(dice, options) -> None:
    game = LiarsDice(dice=dice, single_round=True, **options)
    solver = RoundSolver(make_shape(dice, **options))
    solver.run(7)
    tree = GameTree(game)
    probs = tabulate(SolverAgent(game, solver, solver.arrays.cumulative_policy), tree).probs
    assert solver.exploitability() == pytest.approx(exploitability(tree, probs), abs=1e-6)
    assert solver.value() == pytest.approx(expected_values(tree, probs)[0], abs=1e-6)
    # Who wants to lose wants the returns of the other side.
    turned = GameTree(game)
    turned.terminal_returns *= -1
    losing = [-best_response(turned, probs, player).value for player in (0, 1)]
    assert solver.worst_values() == pytest.approx(losing, abs=1e-6)


def test_average_counts_what_the_other_has_met() -> None:
    """The opener's policies 2 .. t + 1 and the other's 1 .. t, weighted by their number."""
    shape = make_shape((1, 1), faces=2)
    solver = RoundSolver(shape, "cfr+")
    opener = np.zeros(len(shape.raises[0]))
    for t in range(1, 5):
        solver.run(1)
        opener += (t + 1) * solver.policy_at([], [1], solver.arrays.regrets)
    np.testing.assert_allclose(solver.policy_at([], [1]), opener / opener.sum(), rtol=1e-5)


@pytest.mark.parametrize(
    ("dice", "options", "value"),
    [
        ((1, 1), {"raising": "count_first"}, Fraction(-1, 9)),
        ((1, 1), {"raising": "count_first", "wild": "ones_unbiddable"}, Fraction(-7, 327)),
        ((1, 1), {"raising": "count_first", "wild": "highest"}, Fraction(-7, 258)),
        ((2, 1), {"wild": "ones_unbiddable"}, Fraction(7, 27)),
        ((2, 1), {}, Fraction(11, 36)),
        ((1, 2), {}, Fraction(-13, 54)),
    ],
)
def test_known_values(dice, options, value) -> None:
    solver = RoundSolver(make_shape(dice, **options), averaging=4.0)
    solver.run(400)
    best, worst = solver.best_values()
    assert -worst - 1e-6 <= float(value) <= best + 1e-6
    assert solver.value() == pytest.approx(float(value), abs=3e-4)
    assert solver.exploitability() < 1e-3


def test_numbers_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.games.liars_dice.rounds.WORTH_THREADS", 0)
    shape = make_shape((2, 2))
    alone, together = RoundSolver(shape), RoundSolver(shape, num_threads=3)
    for solver in (alone, together):
        solver.run(30)
    assert (alone.arrays.regrets == together.arrays.regrets).all()
    assert (alone.arrays.cumulative_policy == together.arrays.cumulative_policy).all()
    assert alone.best_values() == together.best_values()


def test_discounts_reach_what_nobody_plays() -> None:
    """Without pruning, unreached regrets shrink; an iteration that left them out would show."""
    shape = make_shape((1, 1))
    solver = RoundSolver(shape, "discounted")
    solver.run(20)
    before = solver.arrays.regrets.copy()
    solver.run(1)
    is_unreached = solver.arrays.regrets[before < 0] > before[before < 0]
    assert is_unreached.mean() > 0.5


def test_refuses_what_it_cannot_do() -> None:
    with pytest.raises(MasqueradeError, match="take cfr, cfr\\+, linear or discounted"):
        RoundSolver(make_shape((1, 1)), "pcfr+")
    with pytest.raises(MasqueradeError, match="two players, not for 3"):
        RoundShape(LiarsDiceOptions(num_players=3), (1, 1))
    with pytest.raises(MasqueradeError, match="cannot follow"):
        RoundSolver(make_shape((1, 1))).policy_at([3, 2], [1])


# ---- matches -------------------------------------------------------------------------------------


def solve(game: LiarsDice, per_round: int = 120, **settings: object) -> RoundsLearner:
    total = per_round * len(rounds_of(game))
    learner = RoundsLearner(Task(game, total=total), RoundsSettings(threads=1, **settings))  # type: ignore[arg-type]
    learner.update(total)
    return learner


MATCHES = [
    {"dice": (2, 1), "faces": 2},
    {"dice": (1, 2), "faces": 2, "first_player": "random"},
    {"dice": (2, 1), "faces": 2, "rewards": "dice", "first_player": 1},
    {"dice": (1, 2), "faces": 2, "raising": "face_first", "first_player": 1},
    {"dice": (2, 1), "faces": 3, "raising": "count_first", "wild": "highest", "single_round": True},
]


@pytest.mark.parametrize("options", MATCHES)
def test_exploitability_of_a_match_is_exact(options) -> None:
    """The sum over rounds equals a best response over the whole written tree of the match."""
    game = LiarsDice(**options)
    learner = solve(game, per_round=20)
    policy = learner.player().table
    tree = GameTree(game)
    agent = PolicyAgent(game, policy=policy)
    probs = tabulate(agent, tree).probs
    assert agent.num_unknown == 0
    assert policy.exploitability == pytest.approx(exploitability(tree, probs), abs=1e-6)
    assert policy.exploitability > 1e-5, "too well solved to tell anything"


def spoil(solver: RoundSolver) -> None:
    """Make one side of the two rounds with a single die of the opener lose for certain.

    Who answers a single die with two calls at once, so a true bid wins; who opens the last round
    bids two of a face that it does not have.
    """
    shape, weights = solver.shape, solver.arrays.cumulative_policy
    if shape.dice == (1, 2):
        for bid, offset in enumerate(shape.arrays.offsets[0, : len(shape.raises[0])]):
            width = int(shape.arrays.widths[1, shape.levels[bid + 1]])
            size = width * shape.num_actions(bid + 1)
            weights[offset : offset + size] = 0.0
            weights[offset + size - width : offset + size] = 1.0
    if shape.dice == (1, 1):
        width, faces = int(shape.arrays.widths[0, shape.levels[0]]), shape.options.faces
        weights[: width * len(shape.raises[0])] = 0.0
        for face in range(1, faces + 1):
            weights[width * shape.bids.index((2, face % faces + 1)) + face - 1] = 1.0


def spoilt_rounds(game: LiarsDice) -> dict[Dice, SolvedRound]:
    rounds = {}
    for dice in rounds_of(game):
        solver = RoundSolver(RoundShape(game.options, dice))
        solver.run(30)
        spoil(solver)
        rounds[dice] = finish_round(solver, game, 1e-3)
    return rounds


@pytest.mark.parametrize("faces", [2, 6])
def test_a_response_would_rather_lose_where_that_pays(faces) -> None:
    """With two dice each, losing the first round leads to where the player wins no round."""
    game = LiarsDice(dice=2, faces=faces)
    rounds = spoilt_rounds(game)
    policy = to_policy(game, rounds)
    assert policy.exploitability == pytest.approx(1.0, abs=1e-4)
    assert evaluate_match(policy).exploitability == pytest.approx(1.0, abs=1e-4)
    is_won = {dice: r._replace(worst_values=r.best_values) for dice, r in rounds.items()}
    assert match_figures(game, is_won).exploitability < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("rewards", ["winner", "dice"])
def test_such_a_response_is_that_of_the_written_tree(rewards) -> None:
    """Sixteen million nodes: some ten minutes."""
    game = LiarsDice(dice=2, faces=2, rewards=rewards)
    policy = to_policy(game, spoilt_rounds(game))
    tree = GameTree(game)
    exact = exploitability(tree, tabulate(PolicyAgent(game, policy=policy), tree).probs)
    assert policy.exploitability == pytest.approx(exact, abs=1e-6)


def test_a_solved_match_is_near_its_equilibrium() -> None:
    learner = solve(LiarsDice(dice=2), per_round=300)
    assert 0.0 <= learner.player().table.exploitability < 1e-3


def test_rows_are_only_those_that_own_choices_lead_to() -> None:
    game = LiarsDice(dice=1)
    full, lean = (solve(game, least=least).player().table for least in (0.0, 1e-3))
    assert len(lean) < len(full) / 2
    assert lean.exploitability < 1e-3


def test_interrupted_learning_is_the_same() -> None:
    game = LiarsDice(dice=2, faces=3)
    task, settings = Task(game, total=80), RoundsSettings(threads=1)
    whole, first = RoundsLearner(task, settings), RoundsLearner(task, settings)
    for amount in (30, 50):  # the break comes in the middle of a round
        whole.update(amount)
    first.update(30)
    second = RoundsLearner(task, settings)
    second.load_state_dict(first.state_dict())
    second.update(50)
    for name in ("keys", "firsts", "actions", "probs"):
        assert (getattr(second.player().table, name) == getattr(whole.player().table, name)).all()


# ---- abstractions and files ----------------------------------------------------------------------


def test_policy_file_keeps_its_abstraction(tmp_path) -> None:
    game = LiarsDice(dice=1)
    policy = solve(game).player().table
    loaded = Policy.load(policy.save(tmp_path / "match.npz"), game)
    assert loaded.abstraction == "round"
    assert (loaded.probs == policy.probs).all()


def test_short_memory_forgets_early_bids_only() -> None:
    game = LiarsDice(dice=3)
    from envs.core.batch import Batch
    from envs.core.rng import new_rng

    def key_after(bids: list[int], memory: int) -> int:
        batch = Batch(game, 1, chance=new_rng(0))
        row = np.zeros(1, np.int64)
        batch.begin(row, row)
        for bid in bids:
            batch.step(row, np.array([bid]))
        return int(DecisionKeys(f"round:{memory}", game).keys(batch.views(row))[0])

    assert key_after([0, 4, 10], 1) == key_after([0, 9, 10], 1)
    assert key_after([0, 4, 10], 2) != key_after([0, 9, 10], 2)
    assert key_after([0, 4, 10], 2) == key_after([3, 4, 10], 2)
    assert key_after([0, 4, 10], ALL) != key_after([3, 4, 10], ALL)


def test_abstractions_are_checked() -> None:
    kuhn = make_game("kuhn_v0")
    empty = [np.zeros(0, kind) for kind in (np.uint64, np.int64, np.int32, float, bool)]
    empty[1] = np.zeros(1, np.int64)
    with pytest.raises(MasqueradeError, match="liars_dice_v0, not kuhn_v0"):
        PolicyAgent(kuhn, policy=Policy(kuhn, *empty, abstraction="round"))
    with pytest.raises(MasqueradeError, match="did you mean 'round'"):
        PolicyAgent(kuhn, policy=Policy(kuhn, *empty, abstraction="rounds"))
    with pytest.raises(OptionError, match="write it as round or round:2"):
        PolicyAgent(kuhn, policy=Policy(kuhn, *empty, abstraction="round:x"))


class NewOptions(LiarsDiceOptions):
    """Options with one that nobody here knows."""

    spot_on: bool = option(False, help="who says that a bid is exact wins a die")


class NewDice(LiarsDice):
    """The game with it."""

    Options = NewOptions


def test_options_that_rounds_do_not_know_are_refused() -> None:
    RoundShape(NewOptions(), (1, 1))
    game = NewDice(dice=1, spot_on=True)
    told = "without knowing spot_on"
    with pytest.raises(OptionError, match=told):
        RoundShape(game.options, (1, 1))
    with pytest.raises(OptionError, match=told):
        RoundsLearner(Task(game, total=10), RoundsSettings())
    for abstraction in ("round", "odds"):
        with pytest.raises(OptionError, match=told):
            SampledMatch(game, 0, SampledMatchSettings(abstraction=abstraction))
        with pytest.raises(OptionError, match=told):
            SamplingSolver(game, abstraction=abstraction)


def test_only_two_players_have_rounds() -> None:
    with pytest.raises(MasqueradeError, match="two players"):
        rounds_of(LiarsDice(num_players=3))


def test_what_no_memory_holds_is_refused_at_once() -> None:
    with pytest.raises(MasqueradeError, match="take fewer dice, or raising=never_lower"):
        make_shape((5, 5), raising="count_first")


@pytest.mark.parametrize(
    ("raising", "told"),
    [
        (
            "never_lower",
            r"need 0\.0012 GB: raise max_gb if the memory is there, or take fewer dice$",
        ),
        ("face_first", r"there, take fewer dice, or raising=never_lower$"),
    ],
)
def test_a_match_beyond_max_gb_is_told_what_would_help(raising, told) -> None:
    task = Task(LiarsDice(dice=2, raising=raising), total=4)
    with pytest.raises(MasqueradeError, match=told):
        RoundsLearner(task, RoundsSettings(max_gb=0.001))
