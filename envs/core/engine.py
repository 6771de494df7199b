"""The engine: games that move on, compiled. Environments, batches and playouts are made of it.

A game in progress is a row of :class:`Rows`. What is done with one is written once: it begins, and
it advances by an action and all the chance that follows.

Compiled code trusts the types, rows and seats it is given; whoever calls it from Python checks them
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, direct, helper, inlined
from envs.core.kernels import (
    CHANCE,
    INT,
    KERNELS,
    MASK,
    OBSERVATION,
    OPTIONAL_KERNELS,
    OVER,
    RNG,
    RULES,
    STATE,
    TOTALS,
)
from envs.core.records import Cube, Grid, Row, tuple_type
from envs.core.rng import (
    Words,
    first_key,
    fold,
    one_way_block,
    random_legal,
    seed_stream,
    uniform,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envs.core.game import Game


ILLEGAL = -100
"""``advance_game``: the action was not legal, and nothing was played."""
# 192 bits that nobody knows are enough for a generator; the rest of its state may be anything.
FOURTH_WORD = np.uint64(0x9E3779B97F4A7C15)

_STATES = types.uint8[:, ::1]
_RNGS = types.uint64[:, ::1]
_MASKS = types.int8[:, ::1]
_ROWS = types.int64[::1]
_FLOATS = types.float64[:, ::1]
_OBSERVATIONS = types.float32[:, ::1]


class Rows(NamedTuple):
    """Games side by side: entry *i* of each array belongs to game *i*.

    Arrays have no columns for what is not kept.
    """

    states: Grid[np.uint8]
    """[n, state_size]"""
    rngs: Grid[np.uint64]
    """[n, 4]: the generators of dice and cards."""
    turns: Row[np.int64]
    """[n]: who is to move, or ``OVER``."""
    totals: Grid[np.float64]
    """[n, players]: what everybody has got so far."""
    keys: Grid[np.uint64]
    """[n, players]: what everybody has seen."""
    tokens: Cube[np.int64]
    """[n, players, longest]: the same, one by one."""
    histories: Grid[np.int32]
    """[n, longest]: actions and chance outcomes."""
    lengths: Row[np.int64]
    """[n]: how many of these were played; not counted where neither is kept."""


ROWS = tuple_type(Rows)


def make_rows(
    game: Game, size: int, has_keys: bool, has_tokens: bool = False, has_record: bool = False
) -> Rows:
    """Room for ``size`` games, none of them begun."""
    players, longest = game.facts.num_players, game.facts.max_length
    return Rows(
        states=np.zeros((size, game.state_size), np.uint8),
        rngs=np.zeros((size, 4), np.uint64),
        turns=np.full(size, OVER, np.int64),
        totals=np.zeros((size, players)),
        keys=np.zeros((size, players if has_keys else 0), np.uint64),
        # Untouched pages of a large array cost nothing, so there is room for the longest game.
        tokens=np.zeros((size, players, longest if has_tokens else 0), np.int64),
        histories=np.zeros((size, longest if has_record else 0), np.int32),
        lengths=np.zeros(size, np.int64),
    )


# ---- one game moves on ---------------------------------------------------------------------------


@helper
def step_seen(kernels, rules, state, action, keys):
    """Play an action and fold what each player sees of it into the keys of information sets."""
    for player in range(keys.size):
        keys[player] = fold(keys[player], kernels.seen(state, rules, action, player))
    kernels.step(state, rules, action)


@helper
def settle_seen(kernels, rules, state, rng, keys):
    """Play all chance that is due, folding what each player sees; who is to move then."""
    turn = kernels.turn(state, rules)
    while turn == CHANCE:
        step_seen(kernels, rules, state, kernels.sample(state, rules, rng), keys)
        turn = kernels.turn(state, rules)
    return turn


@helper
def settle(kernels, optional, rules, state, rng):
    """Play all chance that is due, in one call if the game has one for it; who is to move then."""
    turn = kernels.turn(state, rules)
    if turn == CHANCE and optional.has_settle:
        return optional.settle(state, rules, rng)
    while turn == CHANCE:
        kernels.step(state, rules, kernels.sample(state, rules, rng))
        turn = kernels.turn(state, rules)
    return turn


@inlined
def _play(kernels, rules, rows, row, action):
    """Play an action in a row; fold and note what each player sees of it, and write it down."""
    state, keys, tokens = rows.states[row], rows.keys[row], rows.tokens[row]
    length = rows.lengths[row]
    for player in range(keys.size):
        token = kernels.seen(state, rules, action, player)
        keys[player] = fold(keys[player], token)
        if length < tokens.shape[1]:
            tokens[player, length] = token
    if length < rows.histories.shape[1]:
        rows.histories[row, length] = action
    rows.lengths[row] = length + 1
    kernels.step(state, rules, action)


@inlined
def _settle_row(kernels, optional, rules, rows, row):
    """Play all chance that is due in a row and note what came of it; who is to move then."""
    state, rng = rows.states[row], rows.rngs[row]
    turn = kernels.turn(state, rules)
    if optional is not None:  # noqa: SIM102  a condition by itself, so that Numba leaves it out
        if turn == CHANCE and optional.has_settle and rows.keys.size + rows.histories.size == 0:
            turn = optional.settle(state, rules, rng)
    while turn == CHANCE:
        _play(kernels, rules, rows, row, kernels.sample(state, rules, rng))
        turn = kernels.turn(state, rules)
    rows.turns[row] = turn
    kernels.returns(state, rules, rows.totals[row])
    return turn


@inlined
def begin_row(kernels, optional, rules, rows, row, opening):
    """Begin a game in a row, up to its first decision; who is to move, or ``OVER``."""
    for player in range(rows.keys.shape[1]):
        rows.keys[row, player] = first_key(player)
    rows.lengths[row] = 0
    kernels.new(rows.states[row], rules, opening)
    return _settle_row(kernels, optional, rules, rows, row)


@inlined
def advance_row(kernels, optional, rules, rows, row, action, paid):
    """Play an action in a row and the chance after it, and write what that pays to everybody.

    Returns:
        Who is to move, or ``OVER``; and whether anybody was paid, if ``paid`` has room for it.
    """
    for player in range(paid.size):
        paid[player] = -rows.totals[row, player]
    _play(kernels, rules, rows, row, action)
    turn = _settle_row(kernels, optional, rules, rows, row)
    has_paid = 0
    for player in range(paid.size):
        paid[player] += rows.totals[row, player]
        has_paid |= paid[player] != 0.0
    return turn, has_paid


# ---- a game of its own ---------------------------------------------------------------------------

# The parts of a frame, those with the longest entries first, so that each begins where the last
# ends. The header holds where they begin.
_TURN, _LENGTH, _RNG, _TOTALS, _PAID, _HISTORY, _LEGAL, _STATE = range(8)
_HEADER = 8 * 8


class Frame:
    """All memory of one game in one array: a call takes one argument for it, which is quicker.

    ``frame["totals"]`` and the like are views of its parts: ``turn`` and ``length`` (one entry
    each), ``rng``, ``totals``, ``paid`` by the last action, ``history``, what is ``legal`` for the
    player to move, and ``state``. A copy of a frame is independent of it.
    """

    def __init__(self, game: Game) -> None:
        """Make room for one game."""
        facts = game.facts
        parts = [
            ("starts", np.int64, 8),
            ("turn", np.int64, 1),
            ("length", np.int64, 1),
            ("rng", np.uint64, 4),
            ("totals", np.float64, facts.num_players),
            ("paid", np.float64, facts.num_players),
            ("history", np.int32, facts.max_length),
            ("legal", np.int8, facts.num_actions),
            ("state", np.uint8, game.state_size),
        ]
        self._dtype = np.dtype([(name, kind, (size,)) for name, kind, size in parts])
        self.buffer = np.zeros(self._dtype.itemsize, np.uint8)
        places: Mapping[str, Any] = self._dtype.fields or {}
        self["starts"][:] = [places[name][1] for name, *_ in parts[1:]]
        self.paid = self["paid"]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A part by its name."""
        part: npt.NDArray[Any] = self.buffer.view(self._dtype)[name][0]
        return part

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the memory, not the view of it that is kept at hand."""
        return {"buffer": self.buffer, "_dtype": self._dtype}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make the view again."""
        self.__dict__.update(saved)
        self.paid = self["paid"]


@inlined
def _open(frame):
    """A frame as a single row, what is legal, and what was paid; no keys and tokens are kept."""
    at = frame[:_HEADER].view(np.int64)
    row = Rows(
        frame[at[_STATE] :][None, :],
        frame[at[_RNG] : at[_TOTALS]].view(np.uint64)[None, :],
        frame[at[_TURN] : at[_LENGTH]].view(np.int64),
        frame[at[_TOTALS] : at[_PAID]].view(np.float64)[None, :],
        frame[:0].view(np.uint64)[None, :],
        frame[:0].view(np.int64)[None, None, :],
        frame[at[_HISTORY] : at[_LEGAL]].view(np.int32)[None, :],
        frame[at[_LENGTH] : at[_RNG]].view(np.int64),
    )
    legal = frame[at[_LEGAL] : at[_STATE]].view(np.int8)
    return row, legal, frame[at[_PAID] : at[_HISTORY]].view(np.float64)


@inlined
def _show(kernels, rules, rows, legal, observation, mask):
    """Write what the player to move observes and may do, or what seat 0 observes at the end.

    What may be done is kept in ``legal`` too: whoever gets ``mask`` may write into it.
    """
    state, turn = rows.states[0], rows.turns[0]
    if turn == OVER:
        legal[:] = 0
    else:
        kernels.legal(state, rules, legal)
    for action in range(mask.size):
        mask[action] = legal[action]
    kernels.observe(state, rules, max(turn, 0), observation)


@compiled(INT(KERNELS, RULES, STATE, INT, OBSERVATION, MASK), nogil=False)
def _begin_game(kernels, rules, frame, opening, observation, mask):
    """Begin a game in a frame, up to its first decision; returns who is to move, or ``OVER``.

    What was paid before anybody decides is part of the first rewards, as PettingZoo wants it.
    """
    rows, legal, _ = _open(frame)
    turn = begin_row(kernels, None, rules, rows, 0, opening)
    rows.totals[:] = 0.0
    _show(kernels, rules, rows, legal, observation, mask)
    return turn


@compiled(INT(KERNELS, RULES, STATE, INT, OBSERVATION, MASK), nogil=False)
def _advance_game(kernels, rules, frame, action, observation, mask):
    """Play an action in a frame and the chance after it, up to the next decision.

    ``observation`` and ``mask`` become those of whoever is next.

    Returns:
        Twice the seat that is next (or ``OVER``), plus 1 if anybody was paid; ``ILLEGAL`` if the
        action is not legal, and then nothing has changed.
    """
    rows, legal, paid = _open(frame)
    if action < 0 or action >= legal.size or legal[action] == 0:
        return ILLEGAL
    turn, has_paid = advance_row(kernels, None, rules, rows, 0, action, paid)
    _show(kernels, rules, rows, legal, observation, mask)
    return 2 * turn + has_paid


@compiled(types.void(KERNELS, RULES, STATE, INT, INT, OBSERVATION, MASK), nogil=False)
def _observe_game(kernels, rules, frame, player, turn, observation, mask):
    """Write what ``player`` observes of the game in a frame, and may do if it is its ``turn``."""
    rows, legal, _ = _open(frame)
    kernels.observe(rows.states[0], rules, player, observation)
    for action in range(mask.size):
        mask[action] = legal[action] if player == turn else 0


# ---- many games ----------------------------------------------------------------------------------


class Streams(NamedTuple):
    """The randomness of the rows of a batch; place ``players * i + seat`` is a seat of row *i*."""

    chance: Grid[np.uint64]
    """[n, 4]: roots of dice and cards."""
    choice: Grid[np.uint64]
    """[n, 4]: roots of what players are given."""
    choice_rngs: Grid[np.uint64]
    """[n * players, 4]: a generator for each seat."""
    world_rngs: Grid[np.uint64]
    """[n * players, 4]: for the worlds that a seat is shown."""
    game_ids: Grid[np.uint64]
    """[n, players]: by which a seat knows its game."""
    block: Row[np.uint64]
    """[8]: room to work in."""


_STREAMS = tuple_type(Streams)


@helper
def _seed_seats(streams, row, number):
    """Seed what the players of a game are given.

    The id of the game and three words for each seat are taken from one-way blocks, as few as will
    do. A player may work out the generator of its own worlds, and nobody else's. Every seat knows
    the game by an id of its own, so that whoever has two cannot put together what they see.
    """
    root, ids, block = streams.choice[row], streams.game_ids[row], streams.block
    one_way_block(root, number, 0, block)
    ids[0] = block[0]
    at = 1
    for place in range(ids.size * row, ids.size * (row + 1)):
        for word in range(3):
            if at % block.size == 0:
                one_way_block(root, number, at // block.size, block)
            streams.choice_rngs[place, word] = block[at % block.size]
            at += 1
        streams.choice_rngs[place, 3] = FOURTH_WORD
        seed_stream(streams.choice_rngs[place], 0, streams.world_rngs[place])
    for seat in range(1, ids.size):
        if at % block.size == 0:
            one_way_block(root, number, at // block.size, block)
        ids[seat] = block[at % block.size]
        at += 1


@compiled(types.void(KERNELS, OPTIONAL_KERNELS, RULES, INT, ROWS, _STREAMS, _ROWS, _ROWS))
def _begin_rows(kernels, optional, rules, num_openings, rows, streams, places, numbers):
    """Seed the generators of game ``numbers[i]`` and begin it in row ``places[i]``."""
    for i in range(places.size):
        row, number = places[i], numbers[i]
        seed_stream(streams.chance[row], number, rows.rngs[row])
        _seed_seats(streams, row, number)
        begin_row(kernels, optional, rules, rows, row, number % num_openings)


@compiled(
    INT(
        *(KERNELS, OPTIONAL_KERNELS, RULES, ROWS, _STREAMS),
        *(_ROWS, _ROWS, _RNGS, MASK, _ROWS),
    )
)
def _step_rows(kernels, optional, rules, rows, streams, places, actions, own_rngs, mask, chosen):
    """Play every action and return -1; or play none and return the first that is not legal.

    ``own_rngs`` are the generators of the players to move, who have drawn from them; none if empty.
    ``chosen`` ([rows] int64) finds a row that is named twice: one entry per row, all below zero
    before and after.
    """
    wrong = -1
    for i in range(places.size):
        row, action = places[i], actions[i]
        if rows.turns[row] < 0 or chosen[row] >= 0 or not 0 <= action < mask.size:
            wrong = i
            break
        kernels.legal(rows.states[row], rules, mask)
        if not mask[action]:
            wrong = i
            break
        chosen[row] = i
    for i in range(places.size if wrong < 0 else wrong):
        chosen[places[i]] = -1
    if wrong >= 0:
        return wrong
    for i in range(own_rngs.shape[0]):
        place = rows.keys.shape[1] * places[i] + rows.turns[places[i]]
        for word in range(4):
            streams.choice_rngs[place, word] = own_rngs[i, word]
    for i in range(places.size):
        advance_row(kernels, optional, rules, rows, places[i], actions[i], rows.totals[0, :0])
    return -1


@compiled(types.void(KERNELS, RULES, ROWS, _STREAMS, _ROWS, _ROWS, _STATES, RNG, _RNGS))
def _look_rows(kernels, rules, rows, streams, places, seats, worlds, own_keys, own_rngs):
    """Make what the player to move in each of the rows may have: seat, world, key, generator."""
    for i in range(places.size):
        row = places[i]
        seat = rows.turns[row]
        place = rows.keys.shape[1] * row + seat
        seats[i] = seat
        own_keys[i] = rows.keys[row, seat]
        for word in range(4):
            own_rngs[i, word] = streams.choice_rngs[place, word]
        for byte in range(worlds.shape[1]):
            worlds[i, byte] = rows.states[row, byte]
        kernels.determinize(worlds[i], rules, seat, streams.world_rngs[place])


@compiled(types.void(KERNELS, RULES, ROWS, _ROWS, _ROWS, _OBSERVATIONS, _MASKS))
def _show_rows(kernels, rules, rows, places, seats, observations, masks):
    """Write what seats observe, and what is legal for those that are to move."""
    for i in range(places.size):
        row = places[i]
        kernels.observe(rows.states[row], rules, seats[i], observations[i])
        if rows.turns[row] == seats[i]:
            kernels.legal(rows.states[row], rules, masks[i])


@compiled(types.void(_ROWS, types.int64[:, ::1], _ROWS))
def _waiting_rows(turns, seating, waiting_for):
    """Whom each row waits for: the player in the seat that is to move, or nobody (``OVER``)."""
    for row in range(turns.size):
        turn = turns[row]
        waiting_for[row] = OVER if turn == OVER else seating[row, max(turn, 0)]


@compiled(INT(_ROWS, types.int64[:, ::1], _ROWS, _ROWS))
def _busiest_rows(turns, seating, counts, rows):
    """Find out for whom the most rows wait, and write these rows: who it is.

    The last place of ``counts`` is for games that are over; they count if it is 0, not below.
    """
    nobody = counts.size - 1
    for row in range(turns.size):
        turn = turns[row]
        who = nobody if turn == OVER else seating[row, max(turn, 0)]
        rows[row] = who
        if who >= 0:
            counts[who] += 1
    most = counts.argmax()
    num_rows = 0
    for row in range(turns.size):
        if rows[row] == most:
            rows[num_rows] = row
            num_rows += 1
    counts[most] = num_rows
    return most


@compiled(types.void(KERNELS, RULES, _STATES, _MASKS))
def _legal_movers(kernels, rules, states, masks):
    """Write what is legal for the player to move in each state: [n, num_actions]."""
    for i in range(masks.shape[0]):
        kernels.legal(states[i], rules, masks[i])


@compiled(types.void(KERNELS, RULES, _STATES, _OBSERVATIONS))
def _observe_movers(kernels, rules, states, observations):
    """Write what the player to move in each state observes: [n, observation_size]."""
    for i in range(observations.shape[0]):
        kernels.observe(states[i], rules, kernels.turn(states[i], rules), observations[i])


@compiled(types.void(KERNELS, RULES, _RNGS, _STATES))
def _determinize_movers(kernels, rules, rngs, states):
    """Determinize each state for the player to move in it."""
    for i in range(states.shape[0]):
        kernels.determinize(states[i], rules, kernels.turn(states[i], rules), rngs[i])


# ---- random play ---------------------------------------------------------------------------------


@compiled(types.void(_MASKS, _RNGS, _ROWS))
def random_rows(masks, rngs, actions):
    """Draw a uniform legal action for every row."""
    for i in range(actions.size):
        actions[i] = random_legal(masks[i], rngs[i])


@compiled(types.void(_FLOATS, _RNGS, _ROWS))
def weighted_rows(weights, rngs, actions):
    """Draw an action for every row by its weights; one of weight 0 never."""
    for i in range(actions.size):
        total = 0.0
        for action in range(weights.shape[1]):
            total += weights[i, action]
        left = uniform(rngs[i]) * total
        for action in range(weights.shape[1]):
            if weights[i, action] > 0.0:
                actions[i] = action  # rounding may leave a rest after the last one
                left -= weights[i, action]
                if left < 0.0:
                    break


@compiled(
    INT(KERNELS, OPTIONAL_KERNELS, RULES, STATE, RNG, INT, STATE, MASK, TOTALS, TOTALS, TOTALS)
)
def _playouts(kernels, optional, rules, root, rng, num_games, state, mask, totals, sums, squares):
    """Play games from ``root``; add returns and their squares up; return the steps."""
    num_steps = 0
    for _ in range(num_games):
        for i in range(root.size):
            state[i] = root[i]
        if optional.has_playout:
            num_steps += optional.playout(state, rules, rng, mask)
        turn = kernels.turn(state, rules)
        while turn != OVER:
            if turn == CHANCE:
                action = kernels.sample(state, rules, rng)
            else:
                kernels.legal(state, rules, mask)
                action = random_legal(mask, rng)
            kernels.step(state, rules, action)
            num_steps += 1
            turn = kernels.turn(state, rules)
        kernels.returns(state, rules, totals)
        for player in range(totals.size):
            sums[player] += totals[player]
            squares[player] += totals[player] ** 2
    return num_steps


# Past Numba's dispatch: these are called once for each turn of a game or a match.
begin_game, advance_game = direct(_begin_game), direct(_advance_game)
observe_game, show_rows = direct(_observe_game), direct(_show_rows)
begin_rows, step_rows, look_rows = direct(_begin_rows), direct(_step_rows), direct(_look_rows)
legal_movers, observe_movers = direct(_legal_movers), direct(_observe_movers)
determinize_movers = direct(_determinize_movers)
waiting_rows, busiest_rows = direct(_waiting_rows), direct(_busiest_rows)


@dataclass(frozen=True)
class PlayoutResult:
    """What came of a number of random games."""

    num_games: int
    num_steps: int
    """Actions and chance events of all games together."""
    mean_returns: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]


def random_playouts(
    game: Game, num_games: int, rng: Words, root: npt.NDArray[np.uint8] | None = None
) -> PlayoutResult:
    """Play games at random, from the start or from the state ``root``: the yardstick of speed.

    >>> from envs import make_game
    >>> from envs.core.rng import new_rng
    >>> random_playouts(make_game("kuhn_v0"), 1000, new_rng(0)).num_games
    1000
    """
    if num_games < 1:
        raise ValueError(f"num_games must be at least 1, not {num_games}")
    if root is None:
        root = game.new_position().state
    sums, squares, totals = np.zeros((3, game.facts.num_players))
    buffers = np.empty(game.state_size, np.uint8), np.empty(game.facts.num_actions, np.int8), totals
    tables = game.kernels, game.optional, game.rules
    num_steps = _playouts(*tables, root, rng, num_games, *buffers, sums, squares)
    means = sums / num_games
    variances = np.maximum(squares / num_games - means**2, 0.0)
    return PlayoutResult(num_games, int(num_steps), means, np.sqrt(variances / num_games))
