"""Kuhn poker with one thing wrong at a time, for ``check_game`` to notice; two games to let pass.

The two are in order but unlike Kuhn poker: ``Nim`` has neither chance nor secrets, and in ``Guess``
a player moves unseen, one outcome is likelier than the other and something happens that a player
does not even notice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from envs.core.compiling import compiled
from envs.core.facts import Facts, ObservationField, equal_seats
from envs.core.game import Game
from envs.core.kernels import (
    CHANCE,
    OPTIONAL_SIGNATURES,
    OVER,
    SIGNATURES,
    Kernels,
    OptionalKernels,
)
from envs.core.options import Options
from envs.core.rng import below, nth_card_left
from envs.kuhn.game import Kuhn
from envs.kuhn.kernels import BET, NO_CARD, NOBODY, PASS, RULES, STATE
from envs.kuhn.kernels import determinize as right_determinize
from envs.kuhn.kernels import observe as right_observe
from envs.kuhn.kernels import returns as right_returns
from envs.kuhn.kernels import sample as right_sample
from envs.kuhn.kernels import seen as right_seen
from envs.kuhn.kernels import step as right_step
from envs.kuhn.kernels import turn as right_turn

right_settle = Kuhn.optional.settle


def kuhn_with(**wrong: Callable[..., Any]) -> type[Kuhn]:
    """Kuhn poker with some of its kernels replaced, and ``settle`` only where that is one."""
    extra = {name: wrong[name] for name in wrong.keys() - Kuhn.kernels.functions.keys()}
    changed = {name: wrong[name] for name in wrong.keys() - extra.keys()}
    name = "_and_".join(function.__name__ for function in wrong.values())
    tables = {"kernels": Kuhn.kernels.but(**changed), "optional": OptionalKernels(**extra)}
    return type(name, (Kuhn,), tables)


# ---- one call ------------------------------------------------------------------------------------


@compiled(SIGNATURES["new"])
def new_leaves_bytes(state, rules, opening):
    s = state.view(STATE)[0]
    for player in range(rules.view(RULES)[0].num_players):
        s.cards[player] = NO_CARD
        s.has_bet[player] = 0
    s.num_dealt = 0
    s.num_moves = 0
    s.first_bettor = NOBODY


@compiled(SIGNATURES["turn"])
def turn_writes_state(state, rules):
    state.view(STATE)[0].has_bet[4] += 1
    return right_turn(state, rules)


@compiled(SIGNATURES["returns"])
def returns_write_rules(state, rules, out):
    rules.view(RULES)[0].num_players = 2 + state.view(STATE)[0].num_moves
    out[:] = 0.0


@compiled(SIGNATURES["step"])
def step_is_random(state, rules, action):
    right_step(state, rules, action)
    # The very mistake to be caught: a generator that nobody handed in.
    state.view(STATE)[0].has_bet[4] = np.random.randint(0, 100)  # noqa: NPY002


@compiled(SIGNATURES["observe"])
def observe_writes_too_far(state, rules, player, out):
    right_observe(state, rules, player, out)
    out[out.size] = 1.0


@compiled(SIGNATURES["observe"])
def observe_leaves_entries(state, rules, player, out):
    n = rules.view(RULES)[0].num_players
    kept = out[n]
    right_observe(state, rules, player, out)
    out[n] = kept


# ---- one position --------------------------------------------------------------------------------


@compiled(SIGNATURES["turn"])
def turn_names_nobody(state, rules):
    turn = right_turn(state, rules)
    return 7 if turn == 1 else turn


@compiled(SIGNATURES["legal"])
def legal_miscounts(state, rules, mask):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    mask[:] = 0
    if s.num_dealt == n:
        mask[PASS] = 1
        return 2
    mask[: n + 1] = 1
    for player in range(s.num_dealt):
        mask[s.cards[player]] = 0
    return n + 1 - s.num_dealt


@compiled(SIGNATURES["legal"])
def legal_leaves_entries(state, rules, mask):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if s.num_dealt == n:
        mask[PASS] = 1
        mask[BET] = 1
        return 2
    mask[: n + 1] = 1
    for player in range(s.num_dealt):
        mask[s.cards[player]] = 0
    return n + 1 - s.num_dealt


@compiled(SIGNATURES["legal"])
def legal_allows_nothing(state, rules, mask):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    mask[:] = 0
    if s.num_dealt == n:
        return 0
    mask[: n + 1] = 1
    for player in range(s.num_dealt):
        mask[s.cards[player]] = 0
    return n + 1 - s.num_dealt


@compiled(SIGNATURES["legal"])
def legal_writes_twos(state, rules, mask):
    mask[:] = 2
    return mask.size


@compiled(SIGNATURES["legal"])
def legal_allows_more_than_declared(state, rules, mask):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    mask[:] = 1
    for player in range(s.num_dealt):
        if s.num_dealt < n:
            mask[s.cards[player]] = 0
    return mask.size - (s.num_dealt if s.num_dealt < n else 0)


@compiled(SIGNATURES["legal"])
def legal_counts_the_mask(state, rules, mask):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    mask[:] = 0
    if s.num_dealt == n:
        mask[PASS] = 1
        mask[BET] = mask.size > 2
        return 1 + mask[BET]
    mask[: n + 1] = 1
    for player in range(s.num_dealt):
        mask[s.cards[player]] = 0
    return n + 1 - s.num_dealt


@compiled(SIGNATURES["legal"])
def legal_knows_the_cards(state, rules, mask):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    mask[:] = 0
    if s.num_dealt == n:
        mask[PASS] = 1
        mask[BET] = s.cards[0] > s.cards[1]
        return 1 + mask[BET]
    mask[: n + 1] = 1
    for player in range(s.num_dealt):
        mask[s.cards[player]] = 0
    return n + 1 - s.num_dealt


@compiled(SIGNATURES["chance"])
def chance_adds_up_to_more(state, rules, probs):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    probs[:] = 0.0
    probs[: n + 1] = 1.0 / n
    for player in range(s.num_dealt):
        probs[s.cards[player]] = 0.0


@compiled(SIGNATURES["chance"])
def chance_allows_dealt_cards(state, rules, probs):
    probs[:] = 1.0 / (rules.view(RULES)[0].num_players + 1)


@compiled(SIGNATURES["sample"])
def sample_never_draws_the_last_card(state, rules, rng):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    taken = 0
    for player in range(s.num_dealt):
        taken |= 1 << s.cards[player]
    return nth_card_left(taken, below(rng, n - s.num_dealt))


@compiled(SIGNATURES["sample"])
def sample_likes_low_cards(state, rules, rng):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    taken = 0
    for player in range(s.num_dealt):
        taken |= 1 << s.cards[player]
    num_left = n + 1 - s.num_dealt
    return nth_card_left(taken, min(below(rng, num_left), below(rng, num_left)))


@compiled(SIGNATURES["sample"])
def sample_draws_dealt_cards(state, rules, rng):
    return below(rng, rules.view(RULES)[0].num_players + 1)


@compiled(SIGNATURES["step"])
def step_deals_a_card_twice(state, rules, action):
    right_step(state, rules, action)
    s = state.view(STATE)[0]
    if s.num_dealt == rules.view(RULES)[0].num_players:
        s.cards[1] = s.cards[0]


@compiled(SIGNATURES["returns"])
def returns_forget_the_pot(state, rules, out):
    s = state.view(STATE)[0]
    for player in range(rules.view(RULES)[0].num_players):
        out[player] = -1.0 - s.has_bet[player] if right_turn(state, rules) == OVER else 0.0


@compiled(SIGNATURES["returns"])
def returns_are_too_large(state, rules, out):
    right_returns(state, rules, out)
    for player in range(rules.view(RULES)[0].num_players):
        out[player] *= 3.0


@compiled(SIGNATURES["observe"])
def observe_divides_by_zero(state, rules, player, out):
    right_observe(state, rules, player, out)
    if state.view(STATE)[0].num_moves > 0:
        out[0] = np.nan


# ---- hidden information --------------------------------------------------------------------------


@compiled(SIGNATURES["seen"])
def seen_shows_cards(state, rules, action, player):
    s = state.view(STATE)[0]
    if s.num_dealt == rules.view(RULES)[0].num_players:
        return 1 + action
    return 3 + action if player >= 0 else 1


@compiled(SIGNATURES["seen"])
def seen_shows_cards_to_the_public(state, rules, action, player):
    s = state.view(STATE)[0]
    if s.num_dealt < rules.view(RULES)[0].num_players and player < 0:
        return 3 + action
    return right_seen(state, rules, action, player)


@compiled(SIGNATURES["seen"])
def seen_forgets_own_action(state, rules, action, player):
    s = state.view(STATE)[0]
    if s.num_dealt == rules.view(RULES)[0].num_players:
        return 1
    return right_seen(state, rules, action, player)


@compiled(SIGNATURES["seen"])
def seen_misses_passes(state, rules, action, player):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if s.num_dealt == n and action == PASS and player != s.num_moves % n:
        return 0
    return right_seen(state, rules, action, player)


@compiled(SIGNATURES["observe"])
def observe_shows_cards(state, rules, player, out):
    right_observe(state, rules, player, out)
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    other = (player + 1) % n
    if s.cards[other] != NO_CARD:
        out[n + s.cards[other]] = 0.5


@compiled(SIGNATURES["determinize"])
def determinize_gives_the_truth(state, rules, player, rng):
    below(rng, 2)


@compiled(SIGNATURES["determinize"])
def determinize_gives_the_truth_late(state, rules, player, rng):
    if state.view(STATE)[0].num_moves == 0:
        right_determinize(state, rules, player, rng)


@compiled(SIGNATURES["determinize"])
def determinize_redraws_late(state, rules, player, rng):
    if state.view(STATE)[0].num_moves > 0:
        right_determinize(state, rules, player, rng)


@compiled(SIGNATURES["determinize"])
def determinize_deals_cards_twice(state, rules, player, rng):
    s = state.view(STATE)[0]
    for other in range(s.num_dealt):
        if other != player:
            s.cards[other] = below(rng, rules.view(RULES)[0].num_players + 1)


@compiled(SIGNATURES["determinize"])
def determinize_turns_the_truth(state, rules, player, rng):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    for other in range(s.num_dealt):
        if other != player:
            card = (s.cards[other] + 1) % (n + 1)
            s.cards[other] = (card + 1) % (n + 1) if card == s.cards[player] else card


@compiled(SIGNATURES["determinize"])
def determinize_deals_lowest_cards(state, rules, player, rng):
    s = state.view(STATE)[0]
    taken = 0 if s.cards[player] == NO_CARD else 1 << s.cards[player]
    for other in range(s.num_dealt):
        if other != player:
            s.cards[other] = nth_card_left(taken, 0)
            taken |= 1 << s.cards[other]


@compiled(SIGNATURES["determinize"])
def determinize_likes_low_cards(state, rules, player, rng):
    s = state.view(STATE)[0]
    num_left = rules.view(RULES)[0].num_players + 1
    taken = 0
    if s.cards[player] != NO_CARD:
        taken = 1 << s.cards[player]
        num_left -= 1
    for other in range(s.num_dealt):
        if other != player:
            s.cards[other] = nth_card_left(taken, min(below(rng, num_left), below(rng, num_left)))
            taken |= 1 << s.cards[other]
            num_left -= 1


@compiled(SIGNATURES["determinize"])
def determinize_deals_anew(state, rules, player, rng):
    s = state.view(STATE)[0]
    taken = 0
    for seat in range(s.num_dealt):
        s.cards[seat] = nth_card_left(
            taken, below(rng, rules.view(RULES)[0].num_players + 1 - seat)
        )
        taken |= 1 << s.cards[seat]


@compiled(SIGNATURES["determinize"])
def determinize_takes_back_a_move(state, rules, player, rng):
    right_determinize(state, rules, player, rng)
    s = state.view(STATE)[0]
    if s.num_moves == 1 and s.first_bettor == NOBODY:
        s.num_moves = 0


# ---- facts ---------------------------------------------------------------------------------------


class ShortKuhn(Kuhn):
    """Says that its longest game is one step shorter than it is."""

    def make_facts(self) -> Facts:
        facts = super().make_facts()
        return replace(facts, max_length=facts.max_length - 1)


@compiled(OPTIONAL_SIGNATURES["settle"])
def settle_stops_early(state, rules, rng):
    right_step(state, rules, right_sample(state, rules, rng))
    return right_turn(state, rules)


@compiled(OPTIONAL_SIGNATURES["settle"])
def settle_draws_once_more(state, rules, rng):
    below(rng, 2)
    return right_settle(state, rules, rng)


@compiled(OPTIONAL_SIGNATURES["settle"])
def settle_forgets_whose_turn_it_is(state, rules, rng):
    return right_settle(state, rules, rng) * 0 + 1


class CountlessKuhn(Kuhn):
    """Conserves nothing, so that a card that is dealt twice must be noticed in another way."""

    kernels = kuhn_with(determinize=determinize_deals_cards_twice).kernels

    def conserved(self, state: Any) -> dict[str, float]:
        return {}


class LeakingStakes(Kuhn):
    """More is at stake when the player who is not to move has the best card."""

    def stakes(self, states: Any) -> Any:
        cards = states.view(STATE)["cards"].reshape(len(states), -1)
        return 1.0 + (cards.argmax(axis=1) != states.view(STATE)["num_moves"].ravel() % 2)


class OwnStakes(Kuhn):
    """As much is at stake as the card of the player to move is worth: others must not know."""

    def stakes(self, states: Any) -> Any:
        records = states.view(STATE).reshape(len(states))
        return np.array([1.0 + r["cards"][r["num_moves"] % 2] for r in records])


class NothingAtStake(Kuhn):
    """A unit of nothing: values would be divided by it."""

    def stakes(self, states: Any) -> Any:
        return np.zeros(len(states))


class WrittenStakes(Kuhn):
    """Changes the very games that it is asked about."""

    def stakes(self, states: Any) -> Any:
        states[:] += 1
        return np.ones(len(states))


# (the broken game, the law that it breaks; where chance decides which of two is met first, both)
BROKEN_POSITIONS: list[tuple[type[Kuhn], str]] = [
    (kuhn_with(new=new_leaves_bytes), "new sets the whole state"),
    (kuhn_with(turn=turn_writes_state), "only step and determinize change a state"),
    (kuhn_with(returns=returns_write_rules), "rules are never written"),
    (kuhn_with(step=step_is_random), "kernels are deterministic"),
    (kuhn_with(observe=observe_leaves_entries), "kernels write every entry"),
    (kuhn_with(turn=turn_names_nobody), "turn is a player or chance or over"),
    (kuhn_with(legal=legal_miscounts), "legal returns the number of ones"),
    (kuhn_with(legal=legal_leaves_entries), "kernels write every entry"),
    (kuhn_with(legal=legal_allows_nothing), "something is always legal"),
    (kuhn_with(legal=legal_writes_twos), "masks hold zeros and ones"),
    (kuhn_with(legal=legal_allows_more_than_declared), "only declared actions are legal"),
    (kuhn_with(legal=legal_counts_the_mask), "legal accepts a mask for actions only"),
    (kuhn_with(chance=chance_adds_up_to_more), "chance is a distribution over what is legal"),
    (kuhn_with(chance=chance_allows_dealt_cards), "chance is a distribution over what is legal"),
    (kuhn_with(sample=sample_never_draws_the_last_card), "sample follows chance"),
    (kuhn_with(sample=sample_likes_low_cards), "sample follows chance"),
    (kuhn_with(sample=sample_draws_dealt_cards), "sample gives legal outcomes"),
    (kuhn_with(step=step_deals_a_card_twice), "conserved amounts never change"),
    (kuhn_with(returns=returns_forget_the_pot), "returns add up at the end"),
    (kuhn_with(returns=returns_are_too_large), "returns stay in bounds"),
    (kuhn_with(observe=observe_divides_by_zero), "observations lie between zero and one"),
    (kuhn_with(settle=settle_stops_early), "settle plays chance one by one"),
    (kuhn_with(settle=settle_draws_once_more), "settle plays chance one by one"),
    (kuhn_with(settle=settle_forgets_whose_turn_it_is), "settle plays chance one by one"),
    (ShortKuhn, "games end within max length"),
    (NothingAtStake, "something is at stake"),
    (WrittenStakes, "something is at stake"),
]
BROKEN_INFORMATION: list[tuple[type[Kuhn], str]] = [
    (kuhn_with(seen=seen_shows_cards), "seen and determinize agree"),
    (
        kuhn_with(seen=seen_shows_cards, determinize=determinize_redraws_late),
        "seen and determinize know the same secrets",
    ),
    (kuhn_with(seen=seen_shows_cards_to_the_public), "everybody sees what is public"),
    (kuhn_with(seen=seen_forgets_own_action), "movers see their own action"),
    (
        kuhn_with(seen=seen_misses_passes),
        "(players notice that they are to move|observations tell no more than was seen)",
    ),
    (
        kuhn_with(legal=legal_knows_the_cards),
        "(an information set has one set of actions|determinize keeps the legal actions)",
    ),
    (
        kuhn_with(observe=observe_shows_cards),
        "(observations tell no more than was seen|determinize keeps the observation)",
    ),
    (
        kuhn_with(determinize=determinize_gives_the_truth),
        "determinize does not give away the truth",
    ),
    (
        kuhn_with(determinize=determinize_gives_the_truth_late),
        "determinize does not give away the truth",
    ),
    (kuhn_with(determinize=determinize_deals_cards_twice), "conserved amounts never change"),
    (
        kuhn_with(determinize=determinize_turns_the_truth),
        "determinize depends only on what was seen",
    ),
    (kuhn_with(determinize=determinize_deals_lowest_cards), "determinize reaches every world"),
    (
        kuhn_with(determinize=determinize_deals_anew),
        "(determinize keeps the observation|seen and determinize agree)",
    ),
    (kuhn_with(determinize=determinize_takes_back_a_move), "determinize keeps the turn"),
    (LeakingStakes, "(stakes tell no more than was seen|determinize keeps the stakes)"),
    (OwnStakes, "determinize keeps the stakes"),
]
# What is noticed on the tree alone, without a random game.
BROKEN_ON_THE_TREE: list[tuple[type[Kuhn], str]] = [
    (CountlessKuhn, "determinize gives possible worlds"),
    (kuhn_with(seen=seen_shows_cards), "seen and determinize agree"),
    (kuhn_with(seen=seen_shows_cards_to_the_public), "everybody sees what is public"),
    (kuhn_with(seen=seen_misses_passes), "observations tell no more than was seen"),
    (kuhn_with(legal=legal_knows_the_cards), "an information set has one set of actions"),
    (kuhn_with(observe=observe_shows_cards), "observations tell no more than was seen"),
    (LeakingStakes, "stakes tell no more than was seen"),
    (
        kuhn_with(determinize=determinize_gives_the_truth),
        "determinize does not give away the truth",
    ),
    (
        kuhn_with(determinize=determinize_turns_the_truth),
        "determinize depends only on what was seen",
    ),
    (kuhn_with(determinize=determinize_deals_lowest_cards), "determinize reaches every world"),
    (
        kuhn_with(determinize=determinize_likes_low_cards),
        "determinize draws worlds as often as chance makes them",
    ),
    (kuhn_with(settle=settle_stops_early), "settle plays chance one by one"),
    (kuhn_with(settle=settle_draws_once_more), "settle plays chance one by one"),
    (kuhn_with(settle=settle_forgets_whose_turn_it_is), "settle plays chance one by one"),
    (ShortKuhn, "games end within max length"),
]
WRITES_TOO_FAR = kuhn_with(observe=observe_writes_too_far)


# ---- games in order ------------------------------------------------------------------------------

TABLE = np.dtype(
    (
        np.record,
        [
            ("phase", np.int8),  # events so far
            ("coin", np.int8),  # Guess: 0 or 1
            ("hidden", np.int8),  # Guess: what player 0 has chosen
            ("guess", np.int8),  # Guess: what player 1 has chosen
            ("pile", np.int8),  # Nim: what is left to take
        ],
    )
)
PILE = 6


@compiled(SIGNATURES["new"])
def table_new(state, rules, opening):
    state[:] = 0
    state.view(TABLE)[0].pile = PILE


@compiled(SIGNATURES["observe"])
def table_observe(state, rules, player, out):
    s = state.view(TABLE)[0]
    out[0] = player
    out[1] = s.pile / PILE


@compiled(SIGNATURES["turn"])
def nim_turn(state, rules):
    s = state.view(TABLE)[0]
    return OVER if s.pile == 0 else s.phase % 2


@compiled(SIGNATURES["legal"])
def nim_legal(state, rules, mask):
    mask[0] = 1
    mask[1] = state.view(TABLE)[0].pile > 1
    return 1 + mask[1]


@compiled(SIGNATURES["chance"])
def nim_chance(state, rules, probs):
    probs[:] = 0.0


@compiled(SIGNATURES["sample"])
def nim_sample(state, rules, rng):
    return 0


@compiled(SIGNATURES["step"])
def nim_step(state, rules, action):
    s = state.view(TABLE)[0]
    s.pile -= 1 + action
    s.phase += 1


@compiled(SIGNATURES["seen"])
def nim_seen(state, rules, action, player):
    return 1 + action


@compiled(SIGNATURES["returns"])
def nim_returns(state, rules, out):
    s = state.view(TABLE)[0]
    won = 0 if s.pile > 0 else 1 if s.phase % 2 else -1
    out[0] = won
    out[1] = -won


@compiled(SIGNATURES["determinize"])
def nim_determinize(state, rules, player, rng):
    pass


@compiled(SIGNATURES["turn"])
def guess_turn(state, rules):
    phase = state.view(TABLE)[0].phase
    return CHANCE if phase == 0 else OVER if phase == 3 else phase - 1


@compiled(SIGNATURES["legal"])
def guess_legal(state, rules, mask):
    mask[:] = 1
    return 2


@compiled(SIGNATURES["chance"])
def guess_chance(state, rules, probs):
    probs[0] = 0.25
    probs[1] = 0.75


@compiled(SIGNATURES["sample"])
def guess_sample(state, rules, rng):
    return min(below(rng, 4), 1)


@compiled(SIGNATURES["step"])
def guess_step(state, rules, action):
    s = state.view(TABLE)[0]
    if s.phase == 0:
        s.coin = action
    elif s.phase == 1:
        s.hidden = action
    else:
        s.guess = action
    s.phase += 1


@compiled(SIGNATURES["seen"])
def guess_seen(state, rules, action, player):
    s = state.view(TABLE)[0]
    if s.phase == 0:
        return 1 if player == 0 else 0
    return 1 if s.phase == 1 and player != 0 else 1 + action


@compiled(SIGNATURES["returns"])
def guess_returns(state, rules, out):
    s = state.view(TABLE)[0]
    won = 0 if s.phase < 3 else 1 if s.guess == (s.hidden ^ s.coin) else -1
    out[0] = -won
    out[1] = won


@compiled(SIGNATURES["observe"])
def guess_observe(state, rules, player, out):
    s = state.view(TABLE)[0]
    out[0] = player
    out[1] = s.hidden if player == 0 else 0


@compiled(SIGNATURES["determinize"])
def guess_determinize(state, rules, player, rng):
    s = state.view(TABLE)[0]
    agrees = s.hidden ^ s.coin
    if s.phase > 0 and (s.phase < 3 or player == 1):
        s.coin = min(below(rng, 4), 1)
    if s.phase > 1 and player == 1:
        # The result shows whether they agree.
        s.hidden = agrees ^ s.coin if s.phase == 3 else below(rng, 2)


@compiled(SIGNATURES["determinize"])
def guess_determinize_even(state, rules, player, rng):
    s = state.view(TABLE)[0]
    agrees = s.hidden ^ s.coin
    if s.phase > 0 and (s.phase < 3 or player == 1):
        s.coin = below(rng, 2)
    if s.phase > 1 and player == 1:
        s.hidden = agrees ^ s.coin if s.phase == 3 else below(rng, 2)


class Nim(Game):
    """Take one or two from a pile; who takes the last one wins."""

    id = "nim_v0"
    Options = Options
    state_dtype = TABLE
    kernels = Kernels(
        new=table_new,
        turn=nim_turn,
        legal=nim_legal,
        chance=nim_chance,
        sample=nim_sample,
        step=nim_step,
        seen=nim_seen,
        returns=nim_returns,
        observe=table_observe,
        determinize=nim_determinize,
    )

    def make_rules(self) -> Any:
        return np.zeros(1, np.int32)

    def make_facts(self) -> Facts:
        return Facts(2, 0, PILE, equal_seats(2, -1.0, 1.0))

    def make_fields(self) -> tuple[ObservationField, ...]:
        return (
            ObservationField("seat", 1, "the viewer"),
            ObservationField("known", 1, "what the viewer knows"),
        )

    def action_text(self, state: Any, action: int) -> str:
        return str(action)

    def chance_text(self, state: Any, outcome: int) -> str:
        return str(outcome)

    def render(self, state: Any, viewer: int | None = None) -> str:
        return ""


class Guess(Nim):
    """A coin is tossed unseen, player 0 hides a bit, player 1 guesses whether they agree."""

    id = "guess_v0"
    kernels = Kernels(
        new=table_new,
        turn=guess_turn,
        legal=guess_legal,
        chance=guess_chance,
        sample=guess_sample,
        step=guess_step,
        seen=guess_seen,
        returns=guess_returns,
        observe=guess_observe,
        determinize=guess_determinize,
    )

    def make_facts(self) -> Facts:
        return Facts(2, 2, 3, equal_seats(2, -1.0, 1.0))


class EvenGuess(Guess):
    """Draws the coin as if it were fair."""

    kernels = Guess.kernels.but(determinize=guess_determinize_even)
