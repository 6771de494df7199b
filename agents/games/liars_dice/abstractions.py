"""Decisions of Liar's Dice by what matters in a round, exactly or by odds.

**By rounds**: dice on the table, bids of this round, own hand. What happened in earlier rounds
tells nothing about the dice of this one, so it is left out, and faces that can be bid no more are
all one. With all bids of the round this loses nothing, if the others do not let earlier rounds tell
them anything either. A shorter *memory* keeps the last bids only, which makes many decisions look
alike.

**By odds**: with 30 dice on the table there are 180 bids and hundreds of hands. What matters of
them is how
likely bids are, given the own dice and fair hidden ones. So there are *abstract actions* here
instead of bids: to call, or one of a few raises that the hand and the standing bid lead to. Each
stands for a legal action, and two may stand for the same one.

=============  ====================================================================================
``CALL``       liar
``LIKELIEST``  the raise that is most likely true, of equals the highest: what
               ``liars_dice_rule`` bids
``HIGHER``     the same face with one more die
``BOLD``       the same face with as many dice as are as likely there as not
``LOWEST``     the lowest raise of all
``SAME_FACE``  one more of the standing bid's face
``LAST_FACE``  the lowest raise on the highest face
``BLUFF``      the lowest raise on the face of which the hand has least, of equals the highest
``OTHER``      the likeliest raise on another face
=============  ====================================================================================

A key has: own dice, players, how likely the standing bid and the likeliest raise are, what the rule
would do, how high the standing face is, how many own dice fit it, and how many of the last bids
were on it. Before the first bid it has the dice in play and the likeliest raise instead.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from agents.abstraction import CHOOSE, KEY, NONE, Abstraction
from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.options import Options
from envs.core.rng import below, first_key, fold
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import (
    COUNT_FIRST,
    HAND_BASE,
    MAX_FACES,
    NO_BID,
    RULES,
    STATE,
    bid_count,
    bid_face,
    bid_of,
    lowest_raise,
)

_SALT = 77
OWN_AT = 17
"""Where ``numbers`` have what ``look`` writes; scratch for keys by round comes before it."""
NUM_NUMBERS = OWN_AT + 1 + MAX_FACES


@helper
def lowest_alive(r, num_in_play, bid):
    """The lowest face that can still be bid when ``bid`` stands; those below it are dead."""
    if bid == NO_BID or (r.raising == COUNT_FIRST and bid_count(r, bid) < num_in_play):
        return 1
    return bid_face(r, bid)


@helper
def fold_table(num_own, others):
    """The key of a round before the first bid: own dice, then the others' in seat order.

    Empty seats leave it as it is: without them the game is the same. The number of the others tells
    where their dice end and bids begin.
    """
    num_players = 0
    for i in range(others.size):
        num_players += others[i] > 0
    key = fold(first_key(_SALT + num_players - 1), num_own)
    for i in range(others.size):
        key = fold(key, others[i])
    return key


@helper
def fold_hand(key, hand):
    """The key of a decision, from that of the bids and the number of live dice of each face."""
    code = 0
    power = 1
    for face in range(hand.size):
        code += hand[face] * power
        power *= HAND_BASE
    return fold(key, 1 + code)


@helper
def fold_bids(key, s, memory):
    """Add the last ``memory`` bids of the round to a key."""
    # Bids have rising numbers: the last is the highest.
    first, num_found, bid = s.bid + 1, 0, s.bid
    while bid >= 0 and num_found < memory:
        if s.was_bid[bid]:
            num_found += 1
            first = bid
        bid -= 1
    for bid in range(first, s.bid + 1):
        if s.was_bid[bid]:
            key = fold(key, 1 + bid)
    return key


@compiled(KEY)
def key_by_round(state, rules, player, numbers, tables, actions):
    """Dice of everybody, the last bids of the round and own hand; actions as they are."""
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    scratch = numbers[1:OWN_AT]
    others, hand = scratch[: r.num_players - 1], scratch[r.num_players - 1 :][: r.faces]
    seat = player
    for i in range(others.size):
        seat = seat + 1 if seat + 1 < r.num_players else 0
        others[i] = s.dice_left[seat]
    key = fold_bids(fold_table(s.dice_left[player], others), s, numbers[0])
    for face in range(r.faces):
        hand[face] = 0
    lowest = lowest_alive(r, s.num_in_play, s.bid)
    for die in range(s.dice_left[player]):
        face = s.dice[player, die]
        if face >= lowest or face == r.wild_face:
            hand[face - 1] += 1
    return fold_hand(key, hand)


# ---- by odds -------------------------------------------------------------------------------------

CALL, LIKELIEST, HIGHER, BOLD, LOWEST, SAME_FACE, LAST_FACE, BLUFF, OTHER = range(9)
NUM_ABSTRACT = 9

# Kinds of decisions.
MUST_CALL, OPENS, RULE_RAISES, RULE_CALLS = range(4)
_ODDS_SALT = 277
# Chances between two edges look the same; what is impossible or certain is told apart.
EDGES = (0.03, 0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.93, 0.98)
CERTAIN = 14
EVEN = 0.5

Chances = npt.NDArray[np.float64]
FEWER, AT_LEAST = 0, 1
ALONE, WITH_WILD = 0, 1


def count_chances(faces: int, num_fitting: int, max_dice: int) -> Chances:
    """How likely it is that enough dice fit, if each shows one of ``num_fitting`` faces.

    Entry ``[FEWER, n, k]`` is the chance that fewer than ``k`` of ``n`` dice fit,
    ``[AT_LEAST, n, k]`` that at least ``k`` do: [2, max_dice + 1, max_dice + 1] float64.

    >>> count_chances(faces=6, num_fitting=1, max_dice=2)[AT_LEAST, 2].round(3).tolist()
    [1.0, 0.306, 0.028]
    """
    num_fitting = min(num_fitting, faces)
    chances = np.zeros((2, max_dice + 1, max_dice + 1))
    for n in range(max_dice + 1):
        num_rolls = faces**n
        num_fewer = 0
        for k in range(max_dice + 1):
            # One division of whole numbers, rounded once: equal chances stay equal.
            chances[FEWER, n, k] = num_fewer / num_rolls
            chances[AT_LEAST, n, k] = (num_rolls - num_fewer) / num_rolls
            if k <= n:
                num_fewer += comb(n, k) * num_fitting**k * (faces - num_fitting) ** (n - k)
    return chances


KNOWN_OPTIONS = {"num_players", "dice", "faces", "wild", "raising", "single_round"}
KNOWN_OPTIONS |= {"first_player", "starter_after_elimination", "rewards"}


def refuse_unknown(options: Options) -> None:
    """Refuse options of Liar's Dice that rounds, as they are told apart and solved here, ignore."""
    unknown = ", ".join(sorted(options.changed().keys() - KNOWN_OPTIONS))
    if unknown:
        raise OptionError(
            f"rounds of Liar's Dice are solved without knowing {unknown}: leave it as it is, or "
            "take cfr or mccfr with abstraction infoset"
        )


def openers_of(game: LiarsDice) -> list[int]:
    """The seats that may open a match."""
    first = game.options.first_player
    return [first] if isinstance(first, int) else list(range(game.options.num_players))


def make_chances(game: Game) -> Chances:
    """How likely it is that enough of the hidden dice fit: see ``count_chances``.

    For faces without and with the help of a wild one, all in one row.
    """
    r = game.rules.view(RULES)[0]
    return np.ravel([count_chances(int(r.faces), k, int(r.num_dice)) for k in (1, 2)])


def make_tables(game: Game) -> Chances:
    """The chances of a game whose options all are known."""
    refuse_unknown(game.options)
    return make_chances(game)


# ---- bids ----------------------------------------------------------------------------------------


@helper
def look(s, r, seat, own):
    """Write how many own dice there are, and then for each face how many count as it."""
    own[: r.faces + 1] = 0
    own[0] = s.dice_left[seat]
    for die in range(s.dice_left[seat]):
        own[s.dice[seat, die]] += 1
    for face in range(1, r.faces + 1):
        if r.wild_face != 0 and r.wild_face != face:
            own[face] += own[r.wild_face]


@helper
def chance_of(s, r, own, chances, count, face, side):
    """How likely a bid is true (``AT_LEAST``) or false (``FEWER``), given the own dice."""
    help_of_wild = ALONE if r.wild_face == 0 or r.wild_face == face else WITH_WILD
    num_needed = max(count - own[face], 0)
    size = r.num_dice + 1
    num_hidden = s.num_in_play - own[0]
    return chances[((help_of_wild * 2 + side) * size + num_hidden) * size + num_needed]


@helper
def chance_of_bid(s, r, own, chances, bid, side):
    """The same for a bid by its number."""
    return chance_of(s, r, own, chances, bid_count(r, bid), bid_face(r, bid), side)


@helper
def likeliest_raise(s, r, own, chances, other_than):
    """The raise that is most likely true, of equals the highest, on any face but one.

    It is NO_BID where there is none.
    """
    best, best_chance = NO_BID, -1.0
    for face in range(r.lowest_bid_face, r.lowest_bid_face + r.bid_faces):
        bid = lowest_raise(s, r, face)
        if bid != NO_BID and face != other_than:
            count = bid_count(r, bid)
            chance = chance_of(s, r, own, chances, count, face, AT_LEAST)
            # More dice are as likely where the hand has them.
            while (
                count < s.num_in_play
                and chance_of(s, r, own, chances, count + 1, face, AT_LEAST) == chance
            ):
                count += 1
            bid = bid_of(r, face, count)
            if chance > best_chance or (chance == best_chance and bid > best):
                best, best_chance = bid, chance
    return best


@helper
def odd_raise(s, r, rng):
    """Any face that can be bid, and one die more than it needs for every coin that shows heads.

    It is NO_BID where no raise is left.
    """
    found, num_found = NO_BID, 0
    for face in range(r.lowest_bid_face, r.lowest_bid_face + r.bid_faces):
        bid = lowest_raise(s, r, face)
        if bid != NO_BID:
            num_found += 1
            if below(rng, num_found) == 0:
                found = bid
    if found == NO_BID:
        return NO_BID
    count = bid_count(r, found)
    while count < s.num_in_play and below(rng, 2) == 0:
        count += 1
    return bid_of(r, bid_face(r, found), count)


@helper
def rule_calls(s, r, own, chances, likeliest):
    """Whether ``liars_dice_rule`` would call rather than make the likeliest raise."""
    if s.bid == NO_BID:
        return False
    if likeliest == NO_BID:
        return True
    is_false = chance_of_bid(s, r, own, chances, s.bid, FEWER)
    return is_false > chance_of_bid(s, r, own, chances, likeliest, AT_LEAST)


# ---- abstract actions and keys -------------------------------------------------------------------


@helper
def find_actions(s, r, own, chances, actions):
    """Write what each abstract action stands for; where no raise is left, all of them call."""
    likeliest = likeliest_raise(s, r, own, chances, 0)
    for action in range(NUM_ABSTRACT):
        actions[action] = r.liar if likeliest == NO_BID else likeliest
    actions[CALL] = r.liar
    if likeliest == NO_BID:
        return
    count, face = bid_count(r, likeliest), bid_face(r, likeliest)
    if count < s.num_in_play:
        actions[HIGHER] = bid_of(r, face, count + 1)
    while (
        count < s.num_in_play and chance_of(s, r, own, chances, count + 1, face, AT_LEAST) >= EVEN
    ):
        count += 1
    actions[BOLD] = bid_of(r, face, count)
    other = likeliest_raise(s, r, own, chances, face)
    if other != NO_BID:
        actions[OTHER] = other
    if s.bid != NO_BID and bid_count(r, s.bid) < s.num_in_play:
        actions[SAME_FACE] = bid_of(r, bid_face(r, s.bid), bid_count(r, s.bid) + 1)
    find_low_raises(s, r, own, actions)


@helper
def find_low_raises(s, r, own, actions):
    """Write those raises that do not ask how likely they are."""
    fewest = own[0] + 1
    for face in range(r.lowest_bid_face, r.lowest_bid_face + r.bid_faces):
        bid = lowest_raise(s, r, face)
        if bid != NO_BID:
            actions[LOWEST] = min(actions[LOWEST], bid)
            actions[LAST_FACE] = bid
            if own[face] <= fewest:
                fewest = own[face]
                actions[BLUFF] = bid


@helper
def bucket(chance):
    """Chances in steps: 0 is impossible, ``CERTAIN`` certain."""
    if chance >= 1.0:
        return CERTAIN
    number = 0
    if chance > 0.0:
        number = 1
        for edge in EDGES:
            number += chance >= edge
    return number


@helper
def count_on_face(s, r, memory):
    """How many of the last bids, of which so many are remembered, were on the standing face."""
    num_found = 0
    # Bids have rising numbers: the last is the highest.
    bid = np.int64(s.bid)
    while bid >= 0 and num_found < memory:
        if s.was_bid[bid]:
            if bid_face(r, bid) != bid_face(r, s.bid):
                break
            num_found += 1
        bid -= 1
    return num_found


@helper
def odds_key(s, r, own, chances, actions, memory):
    """The key of a decision, once its abstract actions are found."""
    likeliest = NO_BID if actions[LIKELIEST] == r.liar else actions[LIKELIEST]
    code = own[0] * 8
    for player in range(r.num_players):
        code += s.dice_left[player] > 0
    if s.bid == NO_BID:
        code = code * 4 + OPENS
        return fold(fold(fold(first_key(_ODDS_SALT), code), s.num_in_play), likeliest)
    kind, raise_bucket = MUST_CALL, 0
    if likeliest != NO_BID:
        kind = RULE_CALLS if rule_calls(s, r, own, chances, likeliest) else RULE_RAISES
        raise_bucket = bucket(chance_of_bid(s, r, own, chances, likeliest, AT_LEAST))
    face = bid_face(r, s.bid)
    code = code * 4 + kind
    code = code * 16 + bucket(chance_of_bid(s, r, own, chances, s.bid, AT_LEAST))
    code = code * 16 + raise_bucket
    code = code * 8 + r.faces - face
    code = code * 8 + own[face]
    return fold(fold(first_key(_ODDS_SALT), code), count_on_face(s, r, memory))


@compiled(KEY)
def key_by_odds(state, rules, player, numbers, tables, actions):
    """How likely bids are; a few raises, and the call."""
    s, r, own = state.view(STATE)[0], rules.view(RULES)[0], numbers[OWN_AT:]
    look(s, r, player, own)
    find_actions(s, r, own, tables, actions)
    key = odds_key(s, r, own, tables, actions, numbers[0])
    if s.bid == NO_BID:
        actions[CALL] = NONE
    elif actions[LIKELIEST] == r.liar:  # no raise is left
        for action in range(actions.size):
            actions[action] = r.liar if action == CALL else NONE
    return key


@compiled(CHOOSE)
def follow_rule(state, rules, rng, numbers, tables):
    """What ``liars_dice_rule`` does."""
    s, r, own = state.view(STATE)[0], rules.view(RULES)[0], numbers[OWN_AT:]
    look(s, r, s.turn, own)
    likeliest = likeliest_raise(s, r, own, tables, 0)
    return np.int64(r.liar if rule_calls(s, r, own, tables, likeliest) else likeliest)


ROUND = Abstraction(
    game_ids=("liars_dice_v0",),
    key=key_by_round,
    tables=make_tables,
    scratch_size=NUM_NUMBERS - 1,
)
ODDS = ROUND._replace(key=key_by_odds, num_actions=NUM_ABSTRACT, fallback=follow_rule)
