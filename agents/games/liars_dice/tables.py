"""Abstractions and rewards of table learners for Liar's Dice, and their values as grids.

``blind`` is the smallest table that can play: one entry for announcing each bid, whatever the bid
before it, and one for calling it. It knows neither the own dice nor how many are left.

``hand`` knows the own dice as far as they matter for a bid, the dice left, and what the bid before
may mean. It too values what a bid leads to, not the pair of positions, so it learns fast.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.abstraction import ENCODE, Abstraction, Entries
from agents.base import Agent, Views
from agents.learnt import Exhibit, draw_grid
from agents.tabular.hooks import REWARD, Reward
from agents.tabular.learner import TabularAgent
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import CHANCE
from envs.core.rng import new_rng
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import COUNT_FIRST, NO_BID, STATE, bid_count, bid_face
from envs.liars_dice.kernels import RULES as DICE_RULES

CALL_LIAR, ANNOUNCE = 0, 1


# ---- blind ---------------------------------------------------------------------------------------


@helper
def blind_key(r, bid, kind):
    """The number of an entry, from 1: count by count, face by face, the call before the bid."""
    place = (bid_count(r, bid) - 1) * r.faces + bid_face(r, bid) - 1
    return np.uint64(1 + 2 * place + kind)


@compiled(ENCODE)
def encode_blind(state, rules, player, infoset_key, keys):
    """What is announced, or what is called: nothing else."""
    s = state.view(STATE)[0]
    r = rules.view(DICE_RULES)[0]
    for bid in range(r.liar):
        keys[bid] = blind_key(r, bid, ANNOUNCE)
    if s.bid != NO_BID:
        keys[r.liar] = blind_key(r, s.bid, CALL_LIAR)


def blind_entries(game: Game) -> Entries:
    """All entries: low bids look good at first, and high ones worth a call.

    >>> from envs import make_game
    >>> keys, values = blind_entries(make_game("liars_dice_v0"))
    >>> len(keys), values[:2].tolist()
    (120, [0.05, 0.5])
    """
    r = game.rules.view(DICE_RULES)[0]
    keys, values = [], []
    for bid in range(int(r.liar)):
        count = int(bid_count(r, bid))
        keys += [blind_key(r, bid, CALL_LIAR), blind_key(r, bid, ANNOUNCE)]
        values += [1 / (2 * (int(r.num_dice) - count + 1)), 1 / (2 * count)]
    return np.array(keys, np.uint64), np.array(values)


BLIND = Abstraction(
    encode_blind,
    needs_infosets=False,
    game_ids=("liars_dice_v0",),
    initial=blind_entries,
    is_small=True,
)


# ---- with the own hand ---------------------------------------------------------------------------


@helper
def hand_counts(s, r, player):
    """Own dice that bear out a bid on each face, eight bits for a face."""
    counts = np.uint64(0)
    for die in range(s.dice_left[player]):
        value = s.dice[player, die]
        for face in range(1, r.faces + 1):
            if value == face or value == r.wild_face:
                counts += np.uint64(1) << np.uint64(8 * face)
    return counts


@helper
def of_face(counts, face):
    """What is packed for one face."""
    return np.int64((counts >> np.uint64(8 * face)) & np.uint64(255))


@helper
def best_of_others(r, counts):
    """For each face the most own dice for another one that can be bid after it, packed alike."""
    packed = np.uint64(0)
    for face in range(r.lowest_bid_face, r.faces + 1):
        best = 0
        for other in range(r.lowest_bid_face, r.faces + 1):
            is_open = other > face or r.raising == COUNT_FIRST  # else the face never drops
            if other != face and is_open:
                best = max(best, of_face(counts, other))
        packed |= np.uint64(best) << np.uint64(8 * face)
    return packed


@helper
def step_kind(r, old, new):
    """How a bid follows another: 0 it opens, 1 to 3 raise the count, 4 to 6 change the face."""
    if old == NO_BID:
        return 0
    jump = min(max(bid_count(r, new) - bid_count(r, old), 0), 3)
    if bid_face(r, old) == bid_face(r, new):
        return max(jump, 1)
    return 4 + min(jump, 2)


@helper
def bid_before(s, bid):
    """The bid before ``bid`` in this round; bids only rise."""
    for earlier in range(bid - 1, -1, -1):
        if s.was_bid[earlier]:
            return earlier
    return NO_BID


@compiled(ENCODE)
def encode_hand(state, rules, player, infoset_key, keys):
    """Dice left, the bid, how it follows the last one, and what the own dice make of it."""
    s = state.view(STATE)[0]
    r = rules.view(DICE_RULES)[0]
    counts = hand_counts(s, r, player)
    others = best_of_others(r, counts)
    own = s.dice_left[player]
    table = np.uint64(own) | np.uint64(s.num_in_play - own) << np.uint64(3)
    for bid in range(r.liar):
        face = bid_face(r, bid)
        own_dice = np.uint64(of_face(counts, face) | of_face(others, face) << 3)
        kind = np.uint64(1 + step_kind(r, s.bid, bid))
        keys[bid] = table | own_dice << np.uint64(8) | kind << np.uint64(14)
        keys[bid] |= np.uint64(1 + bid) << np.uint64(18)
    if s.bid != NO_BID:
        fitting = np.uint64(of_face(counts, bid_face(r, s.bid)))
        kind = np.uint64(8 + step_kind(r, bid_before(s, s.bid), s.bid))
        keys[r.liar] = table | fitting << np.uint64(8) | kind << np.uint64(14)
        keys[r.liar] |= np.uint64(1 + s.bid) << np.uint64(18)


HAND = Abstraction(encode_hand, needs_infosets=False, game_ids=("liars_dice_v0",))


# ---- rewards -------------------------------------------------------------------------------------


@compiled(REWARD)
def reward_round(before, after, rules, player, levels):
    """``levels``: another has lost a die since, nobody has, or the player has."""
    old = before.view(STATE)[0]
    new = after.view(STATE)[0]
    r = rules.view(DICE_RULES)[0]
    if new.num_rounds == old.num_rounds:
        return levels[1]
    if r.is_single_round:
        return levels[2] if new.loser == player else levels[0]
    return levels[2] if new.dice_left[player] < old.dice_left[player] else levels[0]


ROUNDS = Reward(reward_round, game_ids=("liars_dice_v0",))


State = npt.NDArray[np.uint8]


def exhibits(agent: Agent, views: Views | None) -> list[Exhibit]:
    """What it expects of every bid, and of calling each; nothing of others than table learners.

    >>> from agents import make_agent
    >>> from envs import make_game
    >>> shown = exhibits(make_agent("sarsa", make_game("liars_dice_v0"), abstraction="blind"), None)
    >>> [exhibit.title for exhibit in shown]
    ['The value of every bid', 'The value of calling every bid']
    """
    game = agent.game
    assert isinstance(game, LiarsDice)
    if not isinstance(agent, TabularAgent) or agent.model.abstraction.needs_infosets:
        return []  # the key of an information set stands for one decision only
    world, seat = _first_hand(game) if views is None else (views.worlds()[0], int(views.seats[0]))
    liar = game.facts.num_actions - 1
    bids = [game.bid(bid) for bid in range(liar)]
    shape = max(face for _, face in bids), max(count for count, _ in bids)
    bidding, calling = np.full(shape, np.nan), np.full(shape, np.nan)
    values = agent.model.values_at(world, seat, 0)
    for bid, (count, face) in enumerate(bids):
        bidding[face - 1, count - 1] = values[bid]
        asked = world.copy()
        game.record(asked).bid = bid
        calling[face - 1, count - 1] = agent.model.values_at(asked, seat, 0)[liar]
    hand = "its first hand" if views is None else "this hand"
    return [
        _exhibit(
            "The value of every bid", f"What it expects of bidding each, with {hand}.", bidding
        ),
        _exhibit(
            "The value of calling every bid",
            f"What it expects of calling each if it stands, with {hand}.",
            calling,
        ),
    ]


def _exhibit(title: str, words: str, values: npt.NDArray[np.float64]) -> Exhibit:
    return Exhibit(title, words, svg=draw_grid(title, values, "face", "count"))


def _first_hand(game: LiarsDice) -> tuple[State, int]:
    """A first hand: there is no game to look at."""
    position, rng = game.new_position(), new_rng(0)
    while position.turn == CHANCE:
        position.apply(int(game.kernels.sample(position.state, game.rules, rng)))
    return position.state, position.turn
