"""How exploitable a policy of Liar's Dice is that goes by rounds: exact, for a whole match.

The policy is put back into the tables of one round after the other, as it is or leaning, and best
responses are worked out there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.base import Agent
from agents.cfr.judge import Verdict
from agents.cfr.liars_dice.harvest import (
    FIELD,
    begin,
    go_on,
    make_field,
    make_rows,
    num_choices,
)
from agents.cfr.liars_dice.keys import RoundCoding, fold_hand
from agents.cfr.liars_dice.match import (
    MatchFigures,
    SolvedRound,
    match_figures,
    round_actions,
    rounds_of,
)
from agents.cfr.liars_dice.rounds import RoundSolver
from agents.cfr.liars_dice.shape import NO_BID_YET, SHAPE, RoundShape
from agents.lies.leaning import lean
from agents.lies.profile import category
from agents.policy import Policy, PolicyAgent, find_coding
from envs.core.compiling import compiled, inlined
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.kernels import INT
from envs.core.keys import fold
from envs.core.rng import Words
from envs.liars_dice import RULES, LiarsDice

__all__ = ["Leaning", "RoundJudge", "judge_match"]


class Leaning(NamedTuple):
    """How a policy leans: the lies it has seen beyond those expected, and what it makes of them."""

    gaps: tuple[float, float, float]
    """For low, middle and high bids."""
    strength: float
    bound: float


class Known(NamedTuple):
    """The arrays of a policy."""

    keys: Words
    firsts: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int32]
    probs: npt.NDArray[np.float64]


_KNOWN = types.NamedTuple(
    (types.uint64[::1], types.int64[::1], types.int32[::1], types.float64[::1]), Known
)


@inlined
def find_row(keys, key):
    """The row of a key, or -1."""
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < keys.size and keys[low] == key else -1


@inlined
def key_of_bids(field, depth, memory):
    """The key of the last bids, as many as the policy remembers."""
    key = field.keys[0]
    for d in range(max(1, depth - memory + 1), depth + 1):
        key = fold(key, 1 + field.actions[field.frames[d].standing])
    return key


@inlined
def fill_row(shape, frame, known, row, field, h, width, num_actions, gap, strength, bound, table):
    """Write one row, leaning; a row that is not known stays 0, which means uniform."""
    first = shape.first_raise[frame.standing]
    num_raises = shape.first_raise[frame.standing + 1] - first
    call, leant = 0.0, 0.0
    for entry in range(known.firsts[row], known.firsts[row + 1]):
        if known.actions[entry] == field.actions[NO_BID_YET]:
            call = known.probs[entry]
            leant = lean(call, gap, strength, bound) if call < 1.0 else call
    entry = known.firsts[row]
    for action in range(num_actions):
        standing = NO_BID_YET if action == num_raises else shape.raises[first + action]
        prob = 0.0
        if entry < known.firsts[row + 1] and known.actions[entry] == field.actions[standing]:
            prob = known.probs[entry]
            entry += 1
        if action == num_raises:
            prob = leant
        elif call < 1.0:
            prob *= (1.0 - leant) / (1.0 - call)
        table[frame.place + action * width + h] = prob


@compiled(
    types.void(
        SHAPE,
        INT,
        INT,
        _KNOWN,
        types.float64[::1],
        types.float64,
        types.float64,
        FIELD,
        types.float32[::1],
    )
)
def fill_side(shape, player, memory, known, gaps, strength, bound, field, table):
    """Write what one player of a round does wherever its own choices lead."""
    begin(field)
    depth = 0
    while depth >= 0:
        frame = field.frames[depth]
        num_actions = num_choices(shape, player, frame)
        if num_actions:
            level, gap = shape.levels[frame.standing], gaps[frame.standing]
            width = shape.widths[player, level]
            key = key_of_bids(field, depth, memory)
            for h in range(width):
                if field.has_hand[depth, h]:
                    row = find_row(known.keys, fold_hand(key, field.hands[level, h]))
                    if row >= 0:
                        fill_row(
                            shape,
                            frame,
                            known,
                            row,
                            field,
                            h,
                            width,
                            num_actions,
                            gap,
                            strength,
                            bound,
                            table,
                        )
        depth = go_on(shape, player, table, field, depth)


class RoundJudge:
    """Judges agents of Liar's Dice for two players that go by rounds, however many dice there are.

    >>> RoundJudge(LiarsDice()).form
    'rounds'
    """

    form = "rounds"

    def __init__(self, game: Game) -> None:
        """Only Liar's Dice for two players has such rounds."""
        self.game = game
        self.num_rounds = len(rounds_of(game))

    def __call__(self, agent: Agent) -> Verdict:
        """Judge an agent that plays a policy by rounds."""
        if not isinstance(agent, PolicyAgent) or not agent.table.coding.startswith("round"):
            raise MasqueradeError(
                "the game is too large to write down, and it plays no policy by rounds: use "
                "'evaluate.py best-response'"
            )
        figures = judge_match(agent.table)
        return Verdict((figures.value, -figures.value), figures.best_values)


def judge_match(policy: Policy, leaning: Leaning | None = None) -> MatchFigures:
    """Value and best responses of a match in which everybody plays a policy, as it is or leaning.

    >>> from agents.cfr.liars_dice.learner import RoundsLearner, RoundsSettings
    >>> from agents.learner import Task
    >>> learner = RoundsLearner(Task(LiarsDice(dice=1), total=100), RoundsSettings())
    >>> figures = learner.update(100)
    >>> policy = learner.player().table
    >>> abs(judge_match(policy).exploitability - policy.exploitability) < 1e-6
    True
    """
    game, coding = policy.game, find_coding(policy.coding, policy.game)
    if not isinstance(game, LiarsDice) or not isinstance(coding, RoundCoding):
        raise MasqueradeError("only policies that go by rounds are judged by rounds")
    rounds = {}
    for dice in rounds_of(game):
        solver = RoundSolver(RoundShape(game.options, dice))
        _fill(solver, game, policy, coding.memory, leaning)
        solved = SolvedRound(dice, solver.value(), solver.best_values(), make_rows(0, 0))
        rounds[dice] = solved
    figures = match_figures(game, rounds)
    assert figures is not None
    return figures


def _fill(
    solver: RoundSolver, game: LiarsDice, policy: Policy, memory: int, leaning: Leaning | None
) -> None:
    shape = solver.shape
    gaps = np.zeros(len(shape.raises))
    if leaning is not None:
        rules = game.rules.view(RULES)[0]
        for standing, (count, face) in enumerate(shape.bids, start=1):
            gaps[standing] = leaning.gaps[category(rules, count, face, sum(shape.dice), False)]
    known = Known(policy.keys, policy.firsts, policy.actions, policy.probs)
    strength, bound = (leaning.strength, leaning.bound) if leaning else (0.0, 0.0)
    actions = round_actions(game, shape)
    for player in (0, 1):
        field = make_field(shape, player, actions)
        fill_side(
            shape.arrays, player, memory, known, gaps, strength, bound, field, solver.tables.sums
        )
