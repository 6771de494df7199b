"""Three small games that are unlike the suite's first ones, for tests of everything generic.

``Market``: three players, general-sum, places count. Everybody gets a private card and then, in
turn and twice, takes for himself or gives to all.

``Hideout``: one against two. The fugitive hides in one of four places; two searchers look into one
each. They are one seat that moves two pieces, or a seat each that shares the result.

``Showdown``: up to ten seats with uneven stacks. Everybody antes and gets a card; sometimes the
hand is over at once, else whoever has chips left folds or puts in another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from envs.core.compiling import compiled, helper
from envs.core.facts import Facts, ObservationField, Seat, Unit, equal_seats
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER, SIGNATURES, Kernels, kernel
from envs.core.options import Options, option
from envs.core.rng import below

MOST_SEATS = 10
NO_CARD = -1

STATE = np.dtype(
    (
        np.record,
        [
            ("num_dealt", np.int8),
            ("num_moves", np.int8),
            ("to_move", np.int8),
            ("flag", np.int8),  # Showdown: 0 not drawn, 1 played, 2 over at once
            ("cards", np.int8, (MOST_SEATS,)),
            ("points", np.int8, (MOST_SEATS,)),  # Market: points; Showdown: chips in the pot
            ("moves", np.int8, (MOST_SEATS,)),  # what each seat has done, 0 nothing yet
        ],
    )
)


@kernel
def new(state, rules, opening):
    s = state.view(STATE)[0]
    s.num_dealt = 0
    s.num_moves = 0
    s.flag = 0
    s.to_move = CHANCE
    for seat in range(MOST_SEATS):
        s.cards[seat] = NO_CARD
        s.points[seat] = 0
        s.moves[seat] = 0


@kernel
def turn(state, rules):
    return np.int64(state.view(STATE)[0].to_move)


class FixtureGame(Game):
    """What the three share."""

    state_dtype = STATE

    def action_text(self, state: Any, action: int) -> str:
        return self.words[action]

    def chance_text(self, state: Any, outcome: int) -> str:
        return f"deals {outcome}"

    def render(self, state: Any, viewer: int | None = None) -> str:
        s = self.record(state)
        return f"{s.num_moves} moves, {s.to_move} to move"

    words: tuple[str, ...] = ()


# ---- Market --------------------------------------------------------------------------------------

TAKE, GIVE = range(2)
MARKET_SEATS = 3
MARKET_MOVES = 2 * MARKET_SEATS


@compiled(SIGNATURES["legal"])
def market_legal(state, rules, mask):
    mask[:] = 0
    mask[0] = 1
    mask[1] = 1
    return 2


@compiled(SIGNATURES["chance"])
def market_chance(state, rules, probs):
    probs[0] = 0.5
    probs[1] = 0.5


@compiled(SIGNATURES["sample"])
def market_sample(state, rules, rng):
    return below(rng, 2)


@compiled(SIGNATURES["step"])
def market_step(state, rules, action):
    s = state.view(STATE)[0]
    if s.to_move == CHANCE:
        s.cards[s.num_dealt] = action
        s.num_dealt += 1
        if s.num_dealt == MARKET_SEATS:
            s.to_move = 0
        return
    if action == TAKE:
        s.points[s.to_move] += 1 + s.cards[s.to_move]
    else:
        for seat in range(MARKET_SEATS):
            s.points[seat] += 1
    s.moves[s.num_moves] = 1 + action
    s.num_moves += 1
    s.to_move = OVER if s.num_moves == MARKET_MOVES else s.num_moves % MARKET_SEATS


@compiled(SIGNATURES["seen"])
def market_seen(state, rules, action, player):
    s = state.view(STATE)[0]
    if s.to_move == CHANCE:
        return 2 + action if s.num_dealt == player else 1
    return 1 + action


@compiled(SIGNATURES["returns"])
def market_returns(state, rules, out):
    s = state.view(STATE)[0]
    for seat in range(MARKET_SEATS):
        out[seat] = s.points[seat] if s.to_move == OVER else 0


@compiled(SIGNATURES["observe"])
def market_observe(state, rules, player, out):
    s = state.view(STATE)[0]
    out[:] = 0.0
    out[player] = 1.0
    out[3] = s.cards[player] == 1
    for move in range(s.num_moves):
        out[4 + 2 * move + s.moves[move] - 1] = 1.0


@helper
def has_taken(s, seat):
    """Whether a seat has shown its card by taking, which the returns tell at the end."""
    first = s.num_moves > seat and s.moves[seat] == 1 + TAKE
    return first or (s.num_moves > 3 + seat and s.moves[3 + seat] == 1 + TAKE)


@compiled(SIGNATURES["determinize"])
def market_determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    for seat in range(s.num_dealt):
        is_known = s.to_move == OVER and has_taken(s, seat)
        if seat != player and not is_known:
            card = np.int64(below(rng, 2))
            for move in range(seat, s.num_moves, MARKET_SEATS):
                if s.moves[move] == 1 + TAKE:
                    s.points[seat] += card - s.cards[seat]
            s.cards[seat] = card


class Market(FixtureGame):
    """Three players, general-sum, ordered by place."""

    id = "market_v0"
    Options = Options
    words = ("take", "give")
    kernels = Kernels(
        new=new,
        turn=turn,
        legal=market_legal,
        chance=market_chance,
        sample=market_sample,
        step=market_step,
        seen=market_seen,
        returns=market_returns,
        observe=market_observe,
        determinize=market_determinize,
    )

    def make_rules(self) -> Any:
        return np.zeros(1, np.int32)

    def make_facts(self) -> Facts:
        seats = equal_seats(MARKET_SEATS, 0.0, 8.0)
        return Facts(2, 2, 9, seats, return_sum=None, objective="place")

    def make_fields(self) -> tuple[ObservationField, ...]:
        return (
            ObservationField("seat", 3, "one-hot seat"),
            ObservationField("card", 1, "own card"),
            ObservationField("moves", 12, "for each move: taken, given"),
        )


# ---- Hideout -------------------------------------------------------------------------------------

NUM_PLACES = 4


@compiled(SIGNATURES["new"])
def hideout_new(state, rules, opening):
    new(state, rules, opening)
    state.view(STATE)[0].to_move = 0


@compiled(SIGNATURES["legal"])
def hideout_legal(state, rules, mask):
    s = state.view(STATE)[0]
    mask[:] = 1
    if s.num_moves == 2:
        mask[s.moves[1] - 1] = 0  # the second searcher does not look where the first has
    return NUM_PLACES - (s.num_moves == 2)


@compiled(SIGNATURES["chance"])
def hideout_chance(state, rules, probs):
    probs[:] = 0.0


@compiled(SIGNATURES["sample"])
def hideout_sample(state, rules, rng):
    return 0


@compiled(SIGNATURES["step"])
def hideout_step(state, rules, action):
    s = state.view(STATE)[0]
    s.moves[s.num_moves] = 1 + action
    s.num_moves += 1
    is_found = s.num_moves > 1 and s.moves[s.num_moves - 1] == s.moves[0]
    if is_found or s.num_moves == 3:
        s.to_move = OVER
    else:
        s.to_move = min(s.num_moves, rules[0] - 1)


@compiled(SIGNATURES["seen"])
def hideout_seen(state, rules, action, player):
    s = state.view(STATE)[0]
    if s.num_moves == 0:
        return 1 + action if player == 0 else 1
    is_found = s.moves[0] == 1 + action
    return 1 + action + (NUM_PLACES if is_found else 0)


@compiled(SIGNATURES["returns"])
def hideout_returns(state, rules, out):
    s = state.view(STATE)[0]
    is_found = s.num_moves > 1 and s.moves[s.num_moves - 1] == s.moves[0]
    won = 0.0 if s.to_move != OVER else -1.0 if is_found else 1.0
    for seat in range(rules[0]):
        out[seat] = won if seat == 0 else -won


@compiled(SIGNATURES["observe"])
def hideout_observe(state, rules, player, out):
    s = state.view(STATE)[0]
    out[:] = 0.0
    out[0] = player == 0
    for move in range(3):
        if s.moves[move] > 0 and (move > 0 or player == 0):
            out[NUM_PLACES * move + s.moves[move]] = 1.0


@compiled(SIGNATURES["determinize"])
def hideout_determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    if player == 0 or s.num_moves == 0:
        return
    if s.num_moves > 1 and s.moves[s.num_moves - 1] == s.moves[0]:
        return  # found: everybody has seen where
    while True:
        s.moves[0] = 1 + below(rng, NUM_PLACES)
        if s.moves[0] != s.moves[1] and s.moves[0] != s.moves[2]:
            return


class HideoutOptions(Options):
    """Options of the hideout."""

    num_seats: int = option(2, low=2, high=3, help="searchers in one seat (2) or in two (3)")


class Hideout(FixtureGame):
    """One against a team of two."""

    id = "hideout_v0"
    Options = HideoutOptions
    words = ("north", "east", "south", "west")
    kernels = Kernels(
        new=hideout_new,
        turn=turn,
        legal=hideout_legal,
        chance=hideout_chance,
        sample=hideout_sample,
        step=hideout_step,
        seen=hideout_seen,
        returns=hideout_returns,
        observe=hideout_observe,
        determinize=hideout_determinize,
    )
    options: HideoutOptions

    def make_rules(self) -> Any:
        return np.array([self.options.num_seats], np.int32)

    def make_facts(self) -> Facts:
        searchers = [Seat("searcher", 1, -1.0, 1.0)] * (self.options.num_seats - 1)
        seats = (Seat("fugitive", 0, -1.0, 1.0), *searchers)
        return Facts(NUM_PLACES, 0, 3, seats, objective="win")

    def make_fields(self) -> tuple[ObservationField, ...]:
        return (
            ObservationField("is_fugitive", 1, "1 for the fugitive"),
            ObservationField("hidden", NUM_PLACES, "own hiding place"),
            ObservationField("searched", 2 * NUM_PLACES, "where was looked, in order"),
        )


# ---- Showdown ------------------------------------------------------------------------------------

FOLD, PUSH = range(2)
NUM_RANKS = 4
PLAYED, AT_ONCE = 1, 2


@helper
def next_to_bet(s, rules, first):
    """The next seat with a chip left, or ``OVER``."""
    for seat in range(first, rules[0]):
        if rules[1 + seat] > 1:
            return seat
    return OVER


@compiled(SIGNATURES["legal"])
def showdown_legal(state, rules, mask):
    s = state.view(STATE)[0]
    mask[:] = 0
    count = NUM_RANKS if s.to_move == CHANCE and s.num_dealt < rules[0] else 2
    mask[:count] = 1
    return count


@compiled(SIGNATURES["chance"])
def showdown_chance(state, rules, probs):
    s = state.view(STATE)[0]
    probs[:] = 0.0
    if s.num_dealt < rules[0]:
        probs[:NUM_RANKS] = 1.0 / NUM_RANKS
    else:
        probs[0] = 0.75
        probs[1] = 0.25


@compiled(SIGNATURES["sample"])
def showdown_sample(state, rules, rng):
    s = state.view(STATE)[0]
    if s.num_dealt < rules[0]:
        return below(rng, NUM_RANKS)
    return np.int64(1) if below(rng, 4) == 3 else np.int64(0)


@compiled(SIGNATURES["step"])
def showdown_step(state, rules, action):
    s = state.view(STATE)[0]
    if s.to_move != CHANCE:
        s.moves[s.to_move] = 1 + action
        s.points[s.to_move] += action == PUSH
        s.num_moves += 1
        s.to_move = next_to_bet(s, rules, s.to_move + 1)
    elif s.num_dealt < rules[0]:
        s.cards[s.num_dealt] = action
        s.points[s.num_dealt] = 1
        s.num_dealt += 1
    else:
        s.flag = PLAYED + action
        s.to_move = OVER if s.flag == AT_ONCE else next_to_bet(s, rules, 0)


@compiled(SIGNATURES["seen"])
def showdown_seen(state, rules, action, player):
    s = state.view(STATE)[0]
    if s.to_move == CHANCE and s.num_dealt < rules[0]:
        return 2 + action if s.num_dealt == player else 1
    return 1 + action


@helper
def winners_of(s, num_seats):
    """A bit for each seat that shares the pot: the highest card of those who have not folded."""
    best, winners = -2, 0
    for seat in range(num_seats):
        card = s.cards[seat]
        if s.moves[seat] == 1 + FOLD or card < best:
            continue
        winners = winners | 1 << seat if card == best else 1 << seat
        best = card
    return winners


@compiled(SIGNATURES["returns"])
def showdown_returns(state, rules, out):
    s = state.view(STATE)[0]
    winners = winners_of(s, rules[0])
    pot, num_winners = 0, 0
    for seat in range(rules[0]):
        pot += s.points[seat]
        num_winners += winners >> seat & 1
    for seat in range(rules[0]):
        out[seat] = 0.0
        if s.to_move == OVER:
            out[seat] = -np.float64(s.points[seat])
            if winners == 0:
                out[seat] = 0.0  # everybody folded: all take back what they put in
            elif winners >> seat & 1:
                out[seat] += pot / num_winners


@compiled(SIGNATURES["observe"])
def showdown_observe(state, rules, player, out):
    s = state.view(STATE)[0]
    out[:] = 0.0
    out[player] = 1.0
    at = rules[0]
    if s.cards[player] != NO_CARD:
        out[at + s.cards[player]] = 1.0
    at += NUM_RANKS
    for seat in range(rules[0]):
        if s.moves[seat] > 0:
            out[at + 2 * seat + s.moves[seat] - 1] = 1.0
    out[at + 2 * rules[0]] = s.flag / 2.0


@compiled(SIGNATURES["determinize"])
def showdown_determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    winners = winners_of(s, rules[0])
    while True:
        for seat in range(s.num_dealt):
            if seat != player:
                s.cards[seat] = below(rng, NUM_RANKS)
        if s.to_move != OVER or winners_of(s, rules[0]) == winners:
            return


class ShowdownOptions(Options):
    """Options of the showdown."""

    num_players: int = option(10, low=2, high=MOST_SEATS, help="seats")
    all_in: bool = option(False, help="nobody has more than the ante, so nobody ever decides")


class Showdown(FixtureGame):
    """Ten seats with uneven stacks; a hand can be over before anybody decides."""

    id = "showdown_v0"
    Options = ShowdownOptions
    words = ("fold", "push")
    kernels = Kernels(
        new=new,
        turn=turn,
        legal=showdown_legal,
        chance=showdown_chance,
        sample=showdown_sample,
        step=showdown_step,
        seen=showdown_seen,
        returns=showdown_returns,
        observe=showdown_observe,
        determinize=showdown_determinize,
    )
    options: ShowdownOptions

    def _stacks(self) -> list[int]:
        # Every third seat has the ante alone.
        return [
            1 if self.options.all_in or seat % 3 == 2 else 2 + seat
            for seat in range(self.options.num_players)
        ]

    def make_rules(self) -> Any:
        return np.array([self.options.num_players, *self._stacks()], np.int32)

    def make_facts(self) -> Facts:
        n = self.options.num_players
        at_risk = [min(stack, 2) for stack in self._stacks()]
        total = float(sum(at_risk))
        seats = tuple(Seat("player", i, -float(own), total - own) for i, own in enumerate(at_risk))
        unit = Unit("bb/100", scale=100.0)
        return Facts(2, NUM_RANKS, 2 * n + 1, seats, unit=unit)

    def make_fields(self) -> tuple[ObservationField, ...]:
        n = self.options.num_players
        return (
            ObservationField("seat", n, "one-hot seat"),
            ObservationField("card", NUM_RANKS, "one-hot own card"),
            ObservationField("moves", 2 * n, "for each seat: folded, pushed"),
            ObservationField("stage", 1, "before, played, over at once"),
        )


FIXTURES = {
    "market_v0": "tests.support.fixture_games:Market",
    "hideout_v0": "tests.support.fixture_games:Hideout",
    "showdown_v0": "tests.support.fixture_games:Showdown",
}
"""What a test adds to ``GAMES``."""
