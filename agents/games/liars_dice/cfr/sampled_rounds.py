"""Rounds of Liar's Dice by sampling, for any number of players, compiled.

A round begins with a roll of all dice, which settles for every bid whether it is true. What follows
is a row of rising bids and a call: no copy of the game is needed to walk through it. All bids of
one player, the *traverser*, are tried and those of the others drawn from their policies (external
sampling). After the call somebody has lost a die, and what that position is worth to the traverser
comes from a table, which learns from the same walks.

Most walks pass hopeless bids over, as in N. Brown and T. Sandholm, "Superhuman AI for multiplayer
poker" (2019).
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype

from agents.cfr.sampled.hash_tables import LEFT_OUT, TABLE
from agents.cfr.sampled.nodes import (
    NONE,
    PLAN,
    add_policy,
    add_regrets,
    draw,
    match_regrets,
    mean_value,
)
from agents.games.liars_dice.cfr.keys import fold_table
from agents.games.liars_dice.cfr.sampled_decisions import (
    follow_rule,
    look_up,
    move_at,
    rank_of_same,
    surprise,
)
from agents.games.liars_dice.cfr.sampled_seats import (
    BY_BID,
    BY_CALL,
    ROUND_PLAN,
    SEATS,
    begin_match,
    draw_seat,
    learn_worth,
    lose_die,
    next_seat,
    payoff,
)
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT
from envs.core.kernels import RULES as RULES_TYPE
from envs.core.rng import below, uniform
from envs.liars_dice import NO_BID, RULES, bid_count, bid_face

__all__ = ["run_rounds"]

# A bid is hopeless when it would have to win this many rounds at once to be bid again.
HOPELESS = 10.0


# ---- one round -----------------------------------------------------------------------------------


@inlined
def open_round(seats):
    """What everybody knows before the dice are rolled; how many there are."""
    n, num_in_play = seats.dice.size, 0
    for seat in range(n):
        num_in_play += seats.dice[seat]
        seats.nexts[seat] = next_seat(seats.dice, seat)
        others = seats.scratch[: n - 1]
        for i in range(n - 1):
            others[i] = seats.dice[(seat + 1 + i) % n]
        seats.keys[seat] = fold_table(seats.dice[seat], others)
    return num_in_play


@inlined
def roll_dice(r, seats, num_in_play):
    """Roll all dice, and find out which bids they make true."""
    totals = seats.scratch[: r.faces]
    for face in range(r.faces):
        totals[face] = 0
    for seat in range(seats.dice.size):
        for face in range(r.faces):
            seats.hands[seat, face] = 0
        for _ in range(seats.dice[seat]):
            face = below(seats.rng, r.faces)
            seats.hands[seat, face] += 1
            totals[face] += 1
    for bid in range(r.liar):
        face = bid_face(r, bid)
        num_found = totals[face - 1]
        if r.wild_face != 0 and r.wild_face != face:
            num_found += totals[r.wild_face - 1]
        seats.is_true[bid] = num_found >= bid_count(r, bid)


@inlined
def fill_payoffs(r, seats, player):
    """Work out what every end of the round is worth to ``player``."""
    for loser in range(seats.dice.size):
        if seats.dice[loser] > 0:
            caller = seats.nexts[loser]
            bidder = loser  # who has the loser as next
            while seats.nexts[bidder] != loser or seats.dice[bidder] == 0:
                bidder = (bidder + 1) % seats.dice.size
            seats.payoffs[loser, BY_CALL] = payoff(r, seats, player, loser, bidder)
            seats.payoffs[loser, BY_BID] = payoff(r, seats, player, loser, caller)


@inlined
def end_value(seats, depth):
    """What a call of the decision at ``depth`` is worth to the traverser."""
    if seats.is_true[seats.bids[depth - 1]]:
        return seats.payoffs[seats.frames[depth].player, BY_CALL]
    return seats.payoffs[seats.frames[depth - 1].player, BY_BID]


@inlined
def lowest_regret(seats, plan, weight):
    """The regret below which a walk passes bids over: most walks do, and some none."""
    if uniform(seats.rng) >= plan.pruning:
        return -np.inf
    lowest, highest = np.inf, -np.inf
    for seat in range(seats.dice.size):
        if seats.dice[seat] > 0:
            lowest = min(lowest, seats.payoffs[seat, BY_CALL], seats.payoffs[seat, BY_BID])
            highest = max(highest, seats.payoffs[seat, BY_CALL], seats.payoffs[seat, BY_BID])
    return -HOPELESS * weight * (highest - lowest)


@inlined
def is_hopeless(frame, table, policy, rank, bar):
    """Whether an action is never played and far from it."""
    if frame.first == NONE or policy[rank] > 0.0:
        return False
    return table.regrets[frame.first + rank] < bar


@inlined
def learn(frame, table, plan, policy, values, weight, bar):
    """Add the regrets of all actions that were tried; the value of the decision."""
    value = mean_value(policy, values, frame.num_actions)
    for rank in range(frame.num_actions):
        if is_hopeless(frame, table, policy, rank, bar):
            values[rank] = value  # what was not tried is not regretted
    add_regrets(frame, table, plan, values, value, weight)
    return value


@inlined
def decide(r, seats, depth, table, round_plan, num_in_play, surprises):
    """Prepare the decision at ``depth``: find its row, and write the policy there."""
    frame, policy = seats.frames[depth], seats.policies[depth]
    if surprises > 0.0 and uniform(seats.rng) < surprises:
        surprise(r, seats, depth, num_in_play)
    elif seats.is_rule[frame.player]:
        follow_rule(r, seats, depth, num_in_play)
    else:
        look_up(r, seats, depth, table, round_plan, num_in_play)
    match_regrets(frame, table, policy)


@inlined
def go_to_next(frame, seats, depth, table, policy, bar):
    """Pass over what the traverser need not try: what is hopeless, and what was tried already."""
    while frame.at < frame.stop:
        rank = rank_of_same(frame, seats, depth, table)
        if rank != NONE:
            seats.values[depth, frame.at] = seats.values[depth, rank]
        elif not is_hopeless(frame, table, policy, frame.at, bar):
            break
        frame.at += 1


@inlined
def walk(
    r, seats, table, plan, round_plan, num_in_play, traverser, regret_weight, average_weight, bar
):
    """Try all bids of the traverser and learn from it; what the round was worth.

    Bids with regrets below ``bar`` are passed over, which saves most of the time once the table
    knows which they are.
    """
    depth, value = 0, 0.0
    seats.frames[0].player = seats.starter[0]
    seats.frames[0].at = NONE
    while depth >= 0:
        frame, policy = seats.frames[depth], seats.policies[depth]
        if frame.at == NONE:
            surprises = 0.0 if frame.player == traverser else round_plan.surprises
            decide(r, seats, depth, table, round_plan, num_in_play, surprises)
            frame.at = 0
            frame.stop = frame.num_actions
            if frame.player != traverser:
                frame.at = draw(policy, frame.num_actions, uniform(seats.rng))
                frame.stop = frame.at + 1
                add_policy(frame, table, policy, average_weight)
        else:
            frame.at += 1
        if frame.player == traverser:
            go_to_next(frame, seats, depth, table, policy, bar)
        if frame.at < frame.stop:
            action = move_at(frame, seats, depth, table)
            if action == r.liar:
                seats.values[depth, frame.at] = end_value(seats, depth)
            else:
                seats.bids[depth] = action
                depth += 1
                seats.frames[depth].player = seats.nexts[frame.player]
                seats.frames[depth].at = NONE
        else:
            value = seats.values[depth, frame.stop - 1]
            if frame.player == traverser:
                values = seats.values[depth]
                value = learn(frame, table, plan, policy, values, regret_weight, bar)
            depth -= 1
            if depth >= 0:
                seats.values[depth, seats.frames[depth].at] = value
    return value


@inlined
def play_round(r, seats, table, round_plan, num_in_play, average_weight):
    """Play the round by the present policies, and go on to the next position."""
    depth, action = 0, NO_BID
    seats.frames[0].player = seats.starter[0]
    while True:
        frame, policy = seats.frames[depth], seats.policies[depth]
        decide(r, seats, depth, table, round_plan, num_in_play, 0.0)
        frame.at = draw(policy, frame.num_actions, uniform(seats.rng))
        add_policy(frame, table, policy, average_weight)
        action = move_at(frame, seats, depth, table)
        if action == r.liar:
            break
        seats.bids[depth] = action
        depth += 1
        seats.frames[depth].player = seats.nexts[frame.player]
    loser, winner = seats.frames[depth - 1].player, seats.frames[depth].player
    if seats.is_true[seats.bids[depth - 1]]:
        loser, winner = winner, loser
    for player in range(seats.dice.size):
        if seats.dice[player] == 0:  # nobody walks for those who are out
            learn_worth(seats, player, payoff(r, seats, player, loser, winner))
    seats.starter[0] = lose_die(r, seats, loser, winner)


# ---- iterations ----------------------------------------------------------------------------------


@compiled(
    INT(
        RULES_TYPE,
        SEATS,
        TABLE,
        from_dtype(PLAN)[::1],
        from_dtype(ROUND_PLAN)[::1],
        INT,
        INT,
    )
)
def run_rounds(rules, seats, table, plans, round_plans, first, end):
    """Run the iterations from ``first`` to before ``end``; the first that was not run.

    An iteration is one walk for every player of the present round, and the round is then played to
    come to the next. With ``stops_when_full`` the iteration in which the table had no room is the
    last.
    """
    r = rules.view(RULES)[0]
    plan, round_plan = plans[0], round_plans[0]
    left_out = table.counts[LEFT_OUT]
    t = first
    while t < end:
        weight = np.float64(t) ** plan.regret_power
        average = np.float64(t) ** plan.average_power
        num_in_play = open_round(seats)
        is_company = round_plan.rule_share > 0.0 and uniform(seats.rng) < round_plan.rule_share
        for player in range(seats.dice.size):
            seats.is_rule[player] = is_company
        for player in range(seats.dice.size):
            if seats.dice[player] > 0:
                roll_dice(r, seats, num_in_play)
                fill_payoffs(r, seats, player)
                bar = lowest_regret(seats, round_plan, weight)
                seats.is_rule[player] = 0
                value = walk(
                    r, seats, table, plan, round_plan, num_in_play, player, weight, average, bar
                )
                seats.is_rule[player] = is_company
                learn_worth(seats, player, value)
        roll_dice(r, seats, num_in_play)
        # Among others who follow the rule nobody's policy is drawn in walks, and the average has to
        # learn of it here.
        if is_company:
            seats.is_rule[draw_seat(seats)] = 0
        play_round(r, seats, table, round_plan, num_in_play, average if is_company else 0.0)
        t += 1
        if r.is_single_round or next_seat(seats.dice, seats.starter[0]) == seats.starter[0]:
            begin_match(r, seats, round_plan)
        if plan.stops_when_full and table.counts[LEFT_OUT] > left_out:
            break
    return t
