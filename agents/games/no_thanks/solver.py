"""No Thanks! with a known deck, solved to the end or to a boundary.

A card goes round until somebody takes it. What the search goes by is therefore not the single
payment but the whole round: every player in turn could take now, and from the last one back
everybody compares taking with what becomes of paying. Positions with an empty card are the only
ones that need to be remembered, and cards are sets of bits. That is why taking and paying are
written once more here, as moves that can be taken back on a ``board``: the kernels of the game play
one payment after another on copies of a state, which takes many times as long.

``search_rounds`` is a loop over cards. A frame holds one card: the results of taking it now, by
each player in turn as long as everybody pays. When nobody can pay any more, the frame is folded
from its end: the last player takes; the one before him takes or pays, whichever he likes better;
and so on back to the first. Equal branches are settled as ``ties`` says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype

from agents.games.no_thanks.board import (
    BOARDS,
    ESTIMATE,
    EVALUATE,
    PARAMS,
    Estimate,
    cost_of_card,
    load_board,
    make_board,
)
from agents.max_n.frames import copy_values
from agents.max_n.preference import BY_PLACE, EPSILON, PREFERENCES, place_of, place_weight
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT
from envs.core.options import Options, option
from envs.core.records import Cube, Grid, Row, record, tuple_type
from envs.core.rng import mix
from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE

TIES = ("take", "pay", "average")
TAKE_IF_EQUAL, PAY_IF_EQUAL, AVERAGE = range(len(TIES))
COUNTERS = ("nodes", "leaves", "prunings", "hits", "stored")
NODES, LEAVES, PRUNINGS, HITS, STORED = range(len(COUNTERS))
DEPTH, IS_ENTERING, TAKES, CAN_PAY = range(4)  # where a search stands, in ``Memory.progress``

FRAME = record(
    key=np.uint64,  # 0: the card has chips on it, so nothing is looked up
    place=np.float64,  # of the last player who could take, if he had
    turns=np.int32,  # how many players have paid since
    cost=np.int32,  # of the take that is searched
    pot=np.int32,  # that went with it
)
SETTINGS = record(
    weight=np.float64,  # of a place
    margin=np.float64,  # by return: what a point of difference adds to a place
    low=np.float64,  # by return: nobody gets less, and all results add up to 0
    stop=np.int32,  # cards taken where the search ends
    preference=np.int32,
    ties=np.int32,
)


class Memory(NamedTuple):
    """What a search needs, made once."""

    frames: Annotated[npt.NDArray[Any], FRAME]
    """[cards]."""
    takes: Cube[np.float64]
    """[cards, turns, players]: the result of taking a card after so many payments."""
    result: Row[np.float64]
    """[players]: of the position that was left last."""
    paid: Row[np.float64]
    """[players]: the result of paying at the root, if that is possible."""
    keys: Grid[np.uint64]
    """[slots, 1 + players]: the table; the first word of a slot is its key, or 0."""
    values: Grid[np.float64]
    """[slots, 1 + players]: the same memory; after the key come the results."""
    progress: Row[np.int64]
    counters: Row[np.int64]


NUM_PROBES = 4


@inlined
def board_key(b):
    """A hash of who has which cards and chips and who is to move, never 0."""
    key = b.salt ^ np.uint64(b.to_move)
    for player in range(b.num_players):
        word = (np.uint64(b.owned[player]) << np.uint64(16)) | np.uint64(b.chips[player] & 0xFFFF)
        key = (key ^ word) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    return mix(key) | np.uint64(1)


@inlined
def end_result(b, o, result):
    """What everybody has at the end: scores, or places from the middle with a trace of margin."""
    n, total = b.num_players, 0.0
    for player in range(n):
        result[player] = b.chips[player] - b.leads[player]
        total += result[player]
    if o.preference == BY_PLACE:
        return
    for player in range(n):
        own = b.chips[player] - b.leads[player]
        lead = 0.0
        for other in range(n):
            score = b.chips[other] - b.leads[other]
            lead += 0.5 * ((own > score) - 1.0 * (own < score))
        result[player] = lead + o.margin * (n * own - total)


@inlined
def take_back(b, f):
    """Undo the take that was searched."""
    b.num_taken -= 1
    card = b.deck[b.num_taken]
    player = b.to_move
    b.owned[player] ^= np.int64(1) << card
    b.leads[player] -= f.cost
    b.chips[player] -= f.pot
    b.pot = f.pot


@inlined
def take(b, f):
    """The player to move takes the card and all chips on it."""
    card = b.deck[b.num_taken]
    player = b.to_move
    f.cost = cost_of_card(b, b.owned[player], card)
    f.pot = b.pot
    b.owned[player] |= np.int64(1) << card
    b.leads[player] += f.cost
    b.chips[player] += f.pot
    b.pot = 0
    b.num_taken += 1


@inlined
def can_pay_on_board(b):
    """Whether the player to move may pay."""
    if not b.is_unlimited and b.chips[b.to_move] <= 0:
        return False
    return not b.has_cap or b.pot < b.lowest + b.step * b.deck[b.num_taken]


@inlined
def pay_back(b):
    """Undo a payment."""
    b.to_move = b.to_move - 1 if b.to_move > 0 else b.num_players - 1
    b.chips[b.to_move] += 1
    b.pot -= 1


@inlined
def sign(difference):
    """1, 0 or -1."""
    return np.int64(difference > EPSILON) - np.int64(difference < -EPSILON)


@inlined
def prefers(memory, b, o, taken, mover):
    """Compare taking with paying, whose result is in memory; the result becomes the better one."""
    n = b.num_players
    result = memory.result
    gain = taken[mover] - result[mover]
    if o.preference == BY_PLACE:
        # The difference of two ``utility_of`` in one pass, which is most of the work of a search.
        own, kept = taken[mover], result[mover]
        ahead = 0
        total = 0.0
        for player in range(n):
            one, other = own - taken[player], kept - result[player]
            total += one - other
            ahead += sign(one) - sign(other)
        gain = total + 0.5 * o.weight * ahead
    takes = gain > EPSILON or (gain >= -EPSILON and o.ties == TAKE_IF_EQUAL)
    if takes:
        copy_values(taken, result, n)
    elif gain >= -EPSILON and o.ties == AVERAGE:
        takes = True
        for player in range(n):
            result[player] = 0.5 * (result[player] + taken[player])
    return takes


@inlined
def fold(memory, b, o, depth):
    """Go back from the last player of a round to the first; returns whether the first one takes.

    The board is left as the first player found it.
    """
    f = memory.frames[depth]
    n = b.num_players
    takes = True
    copy_values(memory.takes[depth, f.turns], memory.result, n)
    for turn in range(f.turns - 1, -1, -1):
        pay_back(b)
        if depth == 0 and turn == 0:
            copy_values(memory.result, memory.paid, n)
        takes = prefers(memory, b, o, memory.takes[depth, turn], b.to_move)
    return takes


@inlined
def most_payments(b):
    """After how many payments somebody must take the card."""
    n = b.num_players
    most = b.lowest + b.step * b.deck[b.num_taken] - b.pot if b.has_cap else 1 << 30
    if not b.is_unlimited:
        player = b.to_move
        for ahead in range(n):
            most = min(most, n * b.chips[player] + ahead)
            player = player + 1 if player + 1 < n else 0
    return max(most, 0)


@inlined
def standing(b, player, card, paid):
    """The score of a player who has paid for the card so often, and what it costs him to take."""
    return 1.0 * (b.chips[player] - b.leads[player] - paid), cost_of_card(b, b.owned[player], card)


@inlined
def last_round(memory, b, o):
    """The round of three players for the last card: what is taken is known without playing it.

    Whoever takes it a lap later has a place as good and a better difference. So a player who would
    rather see another take than take himself would so in every earlier lap, too, and when
    everybody has been asked in vain nothing changes any more.
    """
    card = b.deck[b.num_taken]
    turns = most_payments(b)
    laps = turns // 3
    rest = turns - 3 * laps
    mover = b.to_move + rest
    mover = mover if mover < 3 else mover - 3
    left = mover + 1 if mover < 2 else 0
    right = 3 - mover - left
    # The player to move and those to his left and right; numbers are twice as quick as arrays.
    x, x_cost = standing(b, mover, card, laps)
    y, y_cost = standing(b, left, card, laps + (rest == 2))
    z, z_cost = standing(b, right, card, laps + (rest > 0))
    pot = b.pot + turns
    result_x, result_y, result_z = x + pot - x_cost, y, z
    num_asked = 2 + (o.ties == AVERAGE)  # whoever takes would not take earlier; means may change it
    in_vain = 0
    half = 0.5 * o.weight
    while pot > b.pot and in_vain < num_asked:
        pot -= 1
        x, y, z = z + 1.0, x, y
        x_cost, y_cost, z_cost = z_cost, x_cost, y_cost
        result_x, result_y, result_z = result_z, result_x, result_y
        mover = mover - 1 if mover > 0 else 2
        own = x + pot - x_cost
        ahead = (
            sign(own - y) + sign(own - z) - sign(result_x - result_y) - sign(result_x - result_z)
        )
        gain = own + own - y - z - result_x - result_x + result_y + result_z + half * ahead
        in_vain += 1
        if gain > EPSILON or (gain >= -EPSILON and o.ties == TAKE_IF_EQUAL):
            result_x, result_y, result_z, in_vain = own, y, z, 0
        elif gain >= -EPSILON and o.ties == AVERAGE:
            result_x, result_y = 0.5 * (result_x + own), 0.5 * (result_y + y)
            result_z, in_vain = 0.5 * (result_z + z), 0
    left = mover + 1 if mover < 2 else 0
    memory.result[mover] = result_x
    memory.result[left] = result_y
    memory.result[3 - mover - left] = result_z
    num_looked_at = b.pot + turns + 1 - pot
    memory.counters[LEAVES] += num_looked_at
    memory.counters[NODES] += num_looked_at


@inlined
def is_cut(memory, b, o, depth):
    """Whether the player who has just paid would rather have taken, whatever comes after this.

    By place: he has a first place that he would have to give up or to share. By return: what is
    left of the sum of all is less than what he has.
    """
    f = memory.frames[depth]
    if o.ties == AVERAGE:
        return False
    n = b.num_players
    before = b.to_move - 1 if b.to_move > 0 else n - 1
    if o.preference == BY_PLACE:
        his = f.place
        f.place = place_of(memory.result, n, b.to_move)
        cuts = (his == 1.0 and f.place <= 1.5) or (his <= 1.5 and f.place == 1.0)
    else:
        most = -memory.result[b.to_move] - (n - 2) * o.low
        cuts = memory.takes[depth, f.turns - 1, before] > most + EPSILON
    # What both moves of the root are worth may be asked for.
    return cuts and f.turns > (depth == 0)


@inlined
def store(memory, b, key):
    """Keep the result; of a few slots that are all taken the last one is written over."""
    last = np.uint64(memory.keys.shape[0] - 1)
    slot = np.int64(key & last)
    for probe in range(NUM_PROBES):
        slot = np.int64((key + np.uint64(probe)) & last)
        if memory.keys[slot, 0] == np.uint64(0) or memory.keys[slot, 0] == key:
            break
    memory.keys[slot, 0] = key
    copy_values(memory.result, memory.values[slot, 1:], b.num_players)
    memory.counters[STORED] += 1


@inlined
def look_up(memory, b, key):
    """Whether the result is known."""
    last = np.uint64(memory.keys.shape[0] - 1)
    for probe in range(NUM_PROBES):
        slot = np.int64((key + np.uint64(probe)) & last)
        if memory.keys[slot, 0] == key:
            copy_values(memory.values[slot, 1:], memory.result, b.num_players)
            memory.counters[HITS] += 1
            return True
        if memory.keys[slot, 0] == np.uint64(0):
            return False
    return False


@inlined
def enter(estimate, params, board, memory, o, depth):
    """Look at a new card: its result is known at once (False), or it goes round (True)."""
    b = board[0]
    if b.num_taken == b.deck_size:
        memory.counters[LEAVES] += 1
        end_result(b, o, memory.result)
        return False
    # The round of the last card is as quick as a look into the table.
    if (
        depth > 0
        and b.num_taken + 1 == b.deck_size <= o.stop
        and o.preference == BY_PLACE
        and b.num_players == 3
    ):
        last_round(memory, b, o)
        return False
    f = memory.frames[depth]
    f.key = np.uint64(0)
    if b.pot == 0:
        f.key = board_key(b)
        # The root is searched again even if it is known: the table holds no moves.
        if depth > 0 and look_up(memory, b, f.key):
            return False
    if b.num_taken >= o.stop:
        memory.counters[LEAVES] += 1
        estimate.evaluate(board, params, memory.result)
        store(memory, b, f.key)
        return False
    f.turns = 0
    return True


@compiled(INT(ESTIMATE, PARAMS, BOARDS, tuple_type(Memory), from_dtype(SETTINGS)[::1], INT))
def search_rounds(estimate, params, board, memory, settings, max_nodes):
    """Go on with a search; returns 1 when the root has its result, 0 after ``max_nodes`` nodes."""
    b = board[0]
    o = settings[0]
    depth = memory.progress[DEPTH]
    is_entering = memory.progress[IS_ENTERING]
    last_node = memory.counters[NODES] + max_nodes
    is_over = 0
    while True:
        if is_entering:
            if memory.counters[NODES] >= last_node:
                break
            goes_round = enter(estimate, params, board, memory, o, depth)
        else:
            if depth == 0:
                is_over = 1
                break
            depth -= 1
            f = memory.frames[depth]
            take_back(b, f)
            copy_values(memory.result, memory.takes[depth, f.turns], b.num_players)
            was_cut = is_cut(memory, b, o, depth)
            goes_round = not was_cut and can_pay_on_board(b)
            if was_cut:
                memory.counters[PRUNINGS] += 1
                pay_back(b)
                f.turns -= 1
            if goes_round:
                b.chips[b.to_move] -= 1
                b.pot += 1
                b.to_move = b.to_move + 1 if b.to_move + 1 < b.num_players else 0
                f.turns += 1
            else:
                memory.progress[TAKES] = fold(memory, b, o, depth)
                memory.progress[CAN_PAY] = f.turns > 0
                if f.key != np.uint64(0):
                    store(memory, b, f.key)
        if goes_round:
            memory.counters[NODES] += 1
            take(b, memory.frames[depth])
            depth += 1
        is_entering = goes_round
    memory.progress[DEPTH] = depth
    memory.progress[IS_ENTERING] = is_entering
    return is_over


State = npt.NDArray[np.uint8]
MARGIN = 1e-6
"""By return, a point of difference counts so much of a place: it decides between equal places."""
NODES_PER_CALL = 1 << 16
WHOLE = 1 << 60


@compiled(EVALUATE)
def no_estimate(board, params, out):
    """For searches that go to the end."""
    for player in range(out.size):
        out[player] = 0.0


class SolverSettings(Options):
    """How to solve.

    With the preference ``place`` results are scores, and players want places before differences.
    With ``return`` results are places from the middle, expected ones where a position is estimated.

    >>> SolverSettings(ties="coin")
    Traceback (most recent call last):
    ...
    common.errors.OptionError: ties must be 'take' or 'pay' or 'average', not 'coin'
    """

    preference: str = option("place", choices=PREFERENCES, help="what players want")
    ties: str = option("take", choices=TIES, help="which of equal branches, or their mean")
    # A slot takes 8 bytes and 8 for every player.
    table_bits: int = option(18, low=1, high=26, help="2**bits slots of the table")
    cap: bool = option(False, help="a card with as many chips as its value is taken")


@dataclass(frozen=True)
class Solution:
    """What a search has found."""

    action: int
    """The best action; -1 when the game is over or the search was given up."""
    values: tuple[float, ...]
    """The result of every player."""
    is_complete: bool
    """Whether the search came to its end."""
    branches: dict[int, tuple[float, ...]]
    """The same after each legal action, when the search is complete."""
    counters: dict[str, int]
    """Decisions looked at, ends and estimates, and hits and entries of the table."""


class NoThanksSolver:
    """Solves positions of one game, with the deck as it lies; not for two threads at once.

    What it remembers stays true from one search to the next, so later moves of a game are mostly
    known already.

    >>> game = NoThanks(highest=6, removed=1, chips=3, known_future=True)
    >>> NoThanksSolver(game).solve(game.deal([3, 6, 4]).state).values
    (-1.0, 1.0, 0.0)
    """

    def __init__(
        self,
        game: NoThanks,
        settings: SolverSettings | None = None,
        estimate: Callable[..., None] = no_estimate,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allocate all memory; ``estimate`` is asked where a search stops before the end."""
        self.settings = settings or SolverSettings()
        self.game = game
        self._clock = clock
        self._estimate = Estimate(evaluate=estimate)
        o, facts = game.options, game.facts
        self._rules = game.rules
        if self.settings.cap:
            self._rules = NoThanks(**{**o.to_dict(), "cap": True}).rules
        longest = facts.max_length if o.chips == "unlimited" else o.num_players * o.starting_chips
        table = np.zeros((1 << self.settings.table_bits, 1 + o.num_players), np.uint64)
        self._memory = Memory(
            frames=np.zeros(o.deck_size + 1, FRAME),
            takes=np.zeros((o.deck_size + 1, longest + 2, o.num_players)),
            result=np.zeros(o.num_players),
            paid=np.zeros(o.num_players),
            keys=table,
            values=table.view(np.float64),
            progress=np.zeros(4, np.int64),
            counters=np.zeros(len(COUNTERS), np.int64),
        )
        self._board = make_board()
        # Scores, whatever the game pays: the bounds of its returns may be those of places.
        most = sum(abs(value) for value in o.values) + longest
        self._options = self.settings.as_record(
            SETTINGS,
            margin=MARGIN,
            low=-(o.num_players - 1) / 2 - 1e-3,  # and a trace of margin
            weight=place_weight(o.num_players, -most, most),
        )

    def forget(self) -> None:
        """Empty the table."""
        self._memory.keys[:, 0] = 0

    def solve(
        self,
        state: State,
        cards_left: int = 0,
        params: npt.NDArray[np.float64] | None = None,
        seconds: float | None = None,
    ) -> Solution:
        """Search from ``state``.

        Args:
            state: a position that waits for a player, or is over.
            cards_left: the search stops when so many are left, and asks the estimate.
            params: of the estimate.
            seconds: give up after so long.
        """
        memory = self._memory
        stop = self.game.options.deck_size - cards_left
        load_board(self._board, state, self._rules, stop)
        self._options["stop"] = stop
        memory.counters[:] = 0
        memory.progress[DEPTH], memory.progress[IS_ENTERING] = 0, 1
        handed = _NO_PARAMS if params is None else params
        deadline = None if seconds is None else self._clock() + seconds
        is_over = False
        while not is_over:
            num_nodes = WHOLE if deadline is None else NODES_PER_CALL
            if deadline is not None and self._clock() >= deadline:
                break
            is_over = bool(
                search_rounds(self._estimate, handed, self._board, memory, self._options, num_nodes)
            )
        # The root was searched, and not estimated or over.
        is_decision = is_over and int(self._board["num_taken"][0]) < stop
        branches = self._branches() if is_decision else {}
        return Solution(
            action=(TAKE if memory.progress[TAKES] else PAY) if branches else -1,
            values=tuple(memory.result.tolist()),
            is_complete=is_over,
            branches=branches,
            counters=dict(zip(COUNTERS, memory.counters.tolist(), strict=True)),
        )

    def _branches(self) -> dict[int, tuple[float, ...]]:
        memory = self._memory
        found = {TAKE: tuple(memory.takes[0, 0].tolist())}
        if memory.progress[CAN_PAY]:
            found[PAY] = tuple(memory.paid.tolist())
        return found


_NO_PARAMS = np.zeros(1)
_NO_PARAMS.flags.writeable = False
