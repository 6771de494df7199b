"""The laws of one position: what can be said about it without asking what players have seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from envs.core.checking.probe import Broken, Mask, Probe, law
from envs.core.facts import OBJECTIVES, side_returns
from envs.core.game import State
from envs.core.kernels import CHANCE, OVER
from envs.core.rng import Words

P_THRESHOLD = 1e-6
"""A distribution is called wrong when a right one would look as bad less often than this."""
_TOLERANCE = 1e-6
_DRAWS_PER_OUTCOME = 64
_FEWEST_DRAWS, _MOST_DRAWS = 256, 2048


@dataclass(frozen=True)
class Node:
    """A state with who is to move in it and what is legal."""

    state: State
    turn: int
    actions: tuple[int, ...]
    """Legal actions or chance outcomes in rising order; none when the game is over."""


def look(probe: Probe, state: State) -> Node:
    """Ask whose turn it is and what is legal, and check the answers."""
    turn = turn_is_a_player_or_chance_or_over(probe, state)
    if turn == OVER:
        return Node(state, turn, ())
    count, mask = probe.legal(state)
    masks_hold_zeros_and_ones(probe, mask)
    legal_returns_the_number_of_ones(probe, count, mask)
    something_is_always_legal(probe, turn, mask)
    only_declared_actions_are_legal(probe, turn, mask)
    if turn != CHANCE and probe.facts.num_actions < len(mask):
        legal_accepts_a_mask_for_actions_only(probe, state, mask)
    return Node(state, turn, tuple(int(action) for action in np.flatnonzero(mask)))


def check_position(probe: Probe, node: Node, amounts: dict[str, float]) -> None:
    """Check all laws of a position; ``amounts`` are what was conserved at the start."""
    conserved_amounts_never_change(probe, node.state, amounts)
    returns_stay_in_bounds(probe, node.state)
    observations_lie_between_zero_and_one(probe, node.state)
    if node.turn == CHANCE:
        chance_is_a_distribution_over_what_is_legal(probe, node)
    if node.turn == OVER:
        returns_add_up_at_the_end(probe, node.state)
    elif node.turn != CHANCE:
        something_is_at_stake(probe, node.state)


# ---- facts ---------------------------------------------------------------------------------------


def check_facts(probe: Probe) -> None:
    """Check what a game says about itself before it is played."""
    facts_are_possible(probe)
    fields_have_names_of_their_own(probe)
    seats_teams_and_bounds_make_sense(probe)


@law
def facts_are_possible(probe: Probe) -> None:
    """A game has players, actions, openings and a length."""
    facts = probe.facts
    if (
        min(facts.num_players, facts.num_actions, facts.max_length, facts.num_openings) < 1
        or facts.num_chance_outcomes < 0
    ):
        raise Broken(f"the facts are {facts}")


@law
def fields_have_names_of_their_own(probe: Probe) -> None:
    """The fields of the observation have different names and at least one entry each."""
    names = [field.name for field in probe.game.fields]
    if len(set(names)) < len(names) or any(field.size < 1 for field in probe.game.fields):
        raise Broken(f"the fields are {[(field.name, field.size) for field in probe.game.fields]}")


@law
def seats_teams_and_bounds_make_sense(probe: Probe) -> None:
    """Every seat has bounds, the unit a scale above 0, and the objective is a known one."""
    facts = probe.facts
    for number, seat in enumerate(facts.seats):
        if not -math.inf < seat.low <= seat.high < math.inf:
            raise Broken(f"the return lies between {seat.low} and {seat.high}", player=number)
    if facts.objective not in OBJECTIVES or not facts.unit.scale > 0.0:
        raise Broken(f"the objective is '{facts.objective}', the unit {facts.unit}")


# ---- turn and legal ------------------------------------------------------------------------------


@law
def turn_is_a_player_or_chance_or_over(probe: Probe, state: State) -> int:
    """``turn`` is a seat from 0 to ``num_players - 1``, ``CHANCE`` (-1) or ``OVER`` (-2)."""
    turn = probe.turn(state)
    if not (turn in (CHANCE, OVER) or turn in probe.players):
        raise Broken(f"'turn' answered {turn}")
    return turn


@law
def games_end_within_max_length(probe: Probe) -> None:
    """No game has more actions and chance events than ``facts.max_length``."""
    if len(probe.history) > probe.facts.max_length:
        raise Broken(f"{len(probe.history)} were played and max_length is {probe.facts.max_length}")


@law
def masks_hold_zeros_and_ones(probe: Probe, mask: Mask) -> None:
    """A mask holds 1 for what is legal and 0 for everything else."""
    if not ((mask == 0) | (mask == 1)).all():
        raise Broken(f"'legal' wrote {mask.tolist()}")


@law
def legal_returns_the_number_of_ones(probe: Probe, count: int, mask: Mask) -> None:
    """``legal`` returns how many ones it wrote."""
    if count != mask.sum():
        raise Broken(f"'legal' returned {count} and wrote {mask.tolist()}")


@law
def something_is_always_legal(probe: Probe, turn: int, mask: Mask) -> None:
    """As long as the game is not over, at least one action or outcome is legal."""
    if not mask.any():
        raise Broken(f"nothing is legal although it is the turn of {_who(turn)}")


@law
def only_declared_actions_are_legal(probe: Probe, turn: int, mask: Mask) -> None:
    """What is legal is below ``num_actions``, and at chance below ``num_chance_outcomes``."""
    limit = probe.facts.num_chance_outcomes if turn == CHANCE else probe.facts.num_actions
    if mask[limit:].any():
        raise Broken(
            f"{_who(turn)} may play {np.flatnonzero(mask).tolist()}, but the limit is {limit}"
        )


@law
def legal_accepts_a_mask_for_actions_only(probe: Probe, state: State, mask: Mask) -> None:
    """At a decision a mask of ``num_actions`` entries is enough for ``legal``."""
    count, short = probe.legal(state, is_short=True)
    if count != mask.sum() or short.tobytes() != mask[: len(short)].tobytes():
        raise Broken(
            f"'legal' wrote {mask.tolist()} into a long mask and {short.tolist()} into a short one"
        )


# ---- chance --------------------------------------------------------------------------------------


@law
def chance_is_a_distribution_over_what_is_legal(probe: Probe, node: Node) -> None:
    """Chance probabilities are positive for exactly the legal outcomes and add up to one."""
    probs = probe.chance(node.state)
    positive = tuple(int(outcome) for outcome in np.flatnonzero(probs))
    if not (probs >= 0.0).all() or positive != node.actions:
        raise Broken(f"legal are {list(node.actions)} and the probabilities are {probs.tolist()}")
    if abs(probs.sum() - 1.0) > _TOLERANCE:
        raise Broken(f"the probabilities {probs.tolist()} add up to {probs.sum()}")


@law
def sample_gives_legal_outcomes(probe: Probe, node: Node, rng: Words) -> int:
    """``sample`` draws one of the legal outcomes."""
    outcome = probe.sample(node.state, rng)
    if outcome not in node.actions:
        raise Broken(f"'sample' drew {outcome} and legal are {list(node.actions)}")
    return outcome


@law
def sample_follows_chance(probe: Probe, node: Node, rng: Words) -> None:
    """``sample`` draws every outcome as often as ``chance`` says.

    A chi-square test: a right ``sample`` fails it less than once in a million chance nodes, and for
    a given seed always or never.
    """
    probs = probe.chance(node.state)[list(node.actions)]
    num_draws = min(max(_DRAWS_PER_OUTCOME * len(node.actions), _FEWEST_DRAWS), _MOST_DRAWS)
    counts = dict.fromkeys(node.actions, 0)
    for _ in range(num_draws):
        counts[sample_gives_legal_outcomes(probe, node, rng)] += 1
    p_value = fit_p_value(list(counts.values()), (probs / probs.sum()).tolist())
    if p_value < P_THRESHOLD:
        expected = {
            outcome: round(float(prob) * num_draws, 1)
            for outcome, prob in zip(counts, probs, strict=True)
        }
        raise Broken(
            f"{num_draws} draws gave {counts}, 'chance' promises {expected} (p = {p_value:.1e})"
        )


@law
def settle_plays_chance_one_by_one(probe: Probe, node: Node, rng: Words) -> None:
    """``settle``, where a game has it, does what ``sample`` and ``step`` do until no chance is due.

    It draws the same, leaves the same state and returns its ``turn``.
    """
    if not probe.game.optional.has_settle:
        return
    state, own_rng, turn = node.state, rng.copy(), node.turn
    for _ in range(probe.facts.max_length + 1):
        if turn != CHANCE:
            break
        state = probe.step(state, probe.sample(state, own_rng))
        turn = probe.turn(state)
    rng = rng.copy()
    answer, settled = probe.settle(node.state, rng)
    if answer != turn:
        raise Broken(f"'settle' returned {answer}, and 'turn' is {turn} after all chance")
    if settled.tobytes() != state.tobytes():
        differing = np.flatnonzero(settled != state)[:6].tolist()
        raise Broken(f"the state after 'settle' differs at bytes {differing}")
    if rng.tobytes() != own_rng.tobytes():
        raise Broken("'settle' drew more or fewer numbers than 'sample' did")


# ---- amounts -------------------------------------------------------------------------------------


@law
def conserved_amounts_never_change(probe: Probe, state: State, amounts: dict[str, float]) -> None:
    """The amounts of ``game.conserved`` are the same all game long and in every world."""
    now = probe.game.conserved(state)
    if now.keys() != amounts.keys():
        raise Broken(
            f"the conserved amounts were {sorted(amounts)} at the start and are {sorted(now)}"
        )
    for name, amount in amounts.items():
        if not math.isclose(now[name], amount, abs_tol=_TOLERANCE):
            raise Broken(f"'{name}' was {amount:g} at the start and is {now[name]:g}")


@law
def returns_stay_in_bounds(probe: Probe, state: State) -> None:
    """At all times every player's return lies within the bounds of his seat."""
    for player, total in enumerate(probe.returns(state)):
        seat = probe.facts.seats[player]
        if not seat.low - _TOLERANCE <= total <= seat.high + _TOLERANCE:
            raise Broken(
                f"the return is {total}, not from {seat.low} to {seat.high}", player=player
            )


@law
def returns_add_up_at_the_end(probe: Probe, state: State) -> None:
    """At the end the returns of all teams add up to ``return_sum``, unless that is ``None``."""
    totals = side_returns(probe.facts, probe.returns(state))
    declared = probe.facts.return_sum
    if declared is not None and abs(totals.sum() - declared) > _TOLERANCE:
        raise Broken(
            f"the returns {totals.tolist()} add up to {totals.sum()} and return_sum is {declared}"
        )


@law
def observations_lie_between_zero_and_one(probe: Probe, state: State) -> None:
    """Every entry of an observation lies between 0 and 1, as the observation spaces promise."""
    for player in probe.players:
        observation = probe.observe(state, player)
        is_right = (observation >= 0.0) & (observation <= 1.0)  # false for NaN
        if not is_right.all():
            at = int(np.flatnonzero(~is_right)[0])
            found = f"entry {at}, in field '{field_at(probe, at)}', is {observation[at]}"
            raise Broken(found, player=player)


@law
def something_is_at_stake(probe: Probe, state: State) -> float:
    """``game.stakes`` tells a number above 0 for every state, and leaves the states alone."""
    states = state[None].copy()
    stakes = np.asarray(probe.game.stakes(states))
    if stakes.shape != (1,) or not 0.0 < stakes[0] < math.inf:
        raise Broken(f"for one state 'stakes' told {stakes.tolist()}")
    if states.tobytes() != state.tobytes():
        raise Broken("'stakes' changed the state")
    return float(stakes[0])


def field_at(probe: Probe, index: int) -> str:
    """The name of the field that holds entry ``index`` of the observation."""
    ends = np.cumsum([field.size for field in probe.game.fields])
    return probe.game.fields[int(np.searchsorted(ends, index, side="right"))].name


def _who(turn: int) -> str:
    return "chance" if turn == CHANCE else f"player {turn}"


_SMALLEST_CELL = 5.0
"""Cells with a smaller expected count are put together: the test does not hold for them."""


def fit_p_value(counts: Sequence[int], probs: Sequence[float]) -> float:
    """How likely counts as odd as these are, if they were drawn from ``probs``.

    >>> fit_p_value([100, 100], [0.5, 0.5]) > 0.1, fit_p_value([200, 0], [0.5, 0.5]) < 1e-6
    (True, True)
    """
    total = sum(counts)
    cells: list[tuple[float, float]] = []
    rest_count = rest_expected = 0.0
    for count, prob in sorted(zip(counts, probs, strict=True), key=lambda cell: cell[1]):
        rest_count += count
        rest_expected += total * prob
        if rest_expected >= _SMALLEST_CELL:
            cells.append((rest_count, rest_expected))
            rest_count = rest_expected = 0.0
    if cells and rest_expected > 0.0:
        last_count, last_expected = cells.pop()
        cells.append((last_count + rest_count, last_expected + rest_expected))
    if len(cells) < 2:
        return 1.0
    statistic = sum((count - expected) ** 2 / expected for count, expected in cells)
    return float(chdtrc(len(cells) - 1, statistic))
