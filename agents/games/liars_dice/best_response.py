"""How exploitable a policy of Liar's Dice is that goes by rounds: exact, for a whole match.

The policy is put back into the arrays of one round after the other, as it is or with its calls
moved, and best responses are worked out there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from agents.abstraction import DecisionKeys
from agents.base import Agent
from agents.cfr.evaluation import BestResponseResult
from agents.games.liars_dice.abstractions import fold_hand
from agents.games.liars_dice.lies import multiply_odds
from agents.games.liars_dice.match import (
    FIELD,
    SolvedRound,
    action_of,
    go_on,
    make_field,
    make_rows,
    match_figures,
    num_actions_at,
    round_actions,
    rounds_of,
)
from agents.games.liars_dice.round_tree import NO_BID_YET, RoundShape
from agents.games.liars_dice.round_walk import begin_at
from agents.games.liars_dice.rounds import RoundSolver
from agents.games.liars_dice.wary import Leaning
from agents.policy import TABLE, UNKNOWN, Policy, PolicyAgent, find_row
from common.errors import MasqueradeError
from envs.core.compiling import compiled, inlined
from envs.core.game import Game
from envs.core.kernels import INT
from envs.core.rng import fold
from envs.liars_dice.game import LiarsDice


@inlined
def key_of_bids(field, depth, memory):
    """The key of the last bids, as many as the policy remembers."""
    key = field.keys[0]
    for d in range(max(1, depth - memory + 1), depth + 1):
        key = fold(key, 1 + field.actions[field.frames[d].standing])
    return key


@inlined
def fill_row(field, depth, known, at, factor, bound, row):
    """Write one row, its call moved; a row that is not known stays 0, which means uniform."""
    liar = field.actions[NO_BID_YET]
    call, moved = 0.0, 0.0
    for entry in range(known.firsts[at], known.firsts[at + 1]):
        if known.actions[entry] == liar:
            call = known.probs[entry]
            moved = multiply_odds(call, factor, bound) if call < 1.0 else call
    entry = known.firsts[at]
    for rank in range(row.size):
        action = action_of(field, depth, rank)
        prob = 0.0
        if entry < known.firsts[at + 1] and known.actions[entry] == action:
            prob = known.probs[entry]
            entry += 1
        if action == liar:
            prob = moved
        elif call < 1.0:
            prob *= (1.0 - moved) / (1.0 - call)
        row[rank] = prob


@compiled(types.void(FIELD, INT, TABLE, types.float64[::1], types.float64, types.float32[::1]))
def fill_side(field, memory, known, factors, bound, weights):
    """Write what one player of a round does wherever its own choices lead."""
    begin_at(field.frames[0], 0, NO_BID_YET, 0)
    depth = 0
    while depth >= 0:
        frame = field.frames[depth]
        num_actions = num_actions_at(field, depth)
        if num_actions:
            level, key = field.shape.levels[frame.standing], key_of_bids(field, depth, memory)
            width = field.shape.widths[field.player, level]
            end = frame.place + num_actions * width
            for h in range(width):
                if field.has_hand[depth, h]:
                    at = find_row(known.keys, fold_hand(key, field.hands[level, h]))
                    if at != UNKNOWN:
                        row = weights[frame.place + h : end : width]
                        fill_row(field, depth, known, at, factors[frame.standing], bound, row)
        depth = go_on(field, weights, depth)


def goes_by_rounds(policy: Policy) -> bool:
    """Whether its keys are those of rounds."""
    return policy.abstraction.partition(":")[0] == "round"


class RoundEvaluator:
    """Evaluates agents of Liar's Dice for two players that go by rounds, with any dice."""

    form = "rounds"

    def __init__(self, game: Game) -> None:
        """Only Liar's Dice for two players has such rounds."""
        self.game = game
        self.size_text = f"round by round over {len(rounds_of(game))} rounds"

    def evaluate(self, agent: Agent, *_: Any, **__: Any) -> tuple[BestResponseResult, int]:
        """Evaluate an agent that plays a policy by rounds; it tells its policy."""
        if not isinstance(agent, PolicyAgent) or not goes_by_rounds(agent.table):
            raise MasqueradeError(
                "the game is too large to write down, and it plays no policy by rounds: use "
                "'evaluate.py best-response'"
            )
        return evaluate_match(agent.table), 0


def evaluate_match(policy: Policy, calls: Leaning | None = None) -> BestResponseResult:
    """Value and best responses of a match in which everybody plays a policy.

    Args:
        policy: it goes by rounds, as those of ``cfr_rounds`` and ``mccfr_rounds`` do.
        calls: how everybody departs from it.

    >>> from agents.games.liars_dice.learners import RoundsLearner, RoundsSettings
    >>> from agents.learning.learner import Task
    >>> learner = RoundsLearner(Task(LiarsDice(dice=1), total=100), RoundsSettings())
    >>> figures = learner.update(100)
    >>> policy = learner.player().table
    >>> abs(evaluate_match(policy).exploitability - policy.exploitability) < 1e-6
    True
    """
    game, memory = policy.game, DecisionKeys(policy.abstraction, policy.game).memory
    if not isinstance(game, LiarsDice) or not goes_by_rounds(policy):
        raise MasqueradeError("only policies that go by rounds are evaluated by rounds")
    rounds = {}
    for dice in rounds_of(game):
        solver = RoundSolver(RoundShape(game.options, dice))
        _fill(solver, game, policy, memory, calls)
        best, worst = solver.best_values(), solver.worst_values()
        rounds[dice] = SolvedRound(dice, solver.value(), best, worst, make_rows(0, 0))
    figures = match_figures(game, rounds)
    assert figures is not None
    return figures


def _fill(
    solver: RoundSolver, game: LiarsDice, policy: Policy, memory: int, calls: Leaning | None
) -> None:
    shape = solver.shape
    factors = np.ones(len(shape.raises))
    if calls is not None:
        num_dice = sum(shape.dice)
        factors[1:] = [calls.factor(game, count, face, num_dice) for count, face in shape.bids]
    bound = 0.0 if calls is None else calls.bound
    actions = round_actions(game, shape)
    for player in (0, 1):
        field = make_field(shape, player, actions)
        weights = solver.arrays.cumulative_policy
        fill_side(field, memory, policy.arrays, factors, bound, weights)
