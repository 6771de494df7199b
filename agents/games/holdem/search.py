"""ISMCTS for hold'em: opponents of a few kinds, guessed together with their hands.

``mo_ismcts`` takes its opponents for players who know its cards, or for one kind of player. Here
every world has its own guess of who they are (``as_kind``), and worlds count by how well the moves
of this hand fit. Before the flop that is a draw of all kinds: a raise that makes the tight ones
fold is tried against callers too. Most bets are small beside the stacks that can be lost, and so
are differences of value beside their range: the constant of exploration has to be small as well.

Nobody's hand can be guessed without a guess of how it is played: a raise of a tight player is a
pair of aces, that of a loose one is any ace. So in each world an opponent is of one *kind* for the
whole hand, and a world counts by how likely that kind was to play these cards like that. After a
few moves the worlds that are left agree on both.

Kinds are the rule players of this folder. Which of them an opponent is follows from the cards that
the world gives it and from a number of the search: as good as a draw, and a state needs no room for
it. The searcher's own moves beyond its tree are those of the quick policy, with respect for bets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.holdem.players import (
    CALL,
    FOLD,
    RAISE,
    Loose,
    PotOdds,
    Tight,
    equity_wish,
    num_others,
    odds_bounds,
    places_of_kinds,
    starting_wish,
)
from agents.ismcts.agent import MOISMCTSAgent
from agents.ismcts.searcher import GameAdvice, Root, TreeSearcher
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import OPTIONAL_SIGNATURES
from envs.core.records import record
from envs.core.rng import mix
from envs.holdem.betting import call_to, can_raise
from envs.holdem.equity import NUM_CLASSES, class_of, compared_equity, starting_equities
from envs.holdem.game import Holdem
from envs.holdem.kernels import choose, raise_to
from envs.holdem.options import RULES, STATE, THESIS

KINDS = ("tight", "loose", "odds", "call", "raise")
TIGHT, LOOSE, ODDS, CALLER, RAISER = range(len(KINDS))
DRAWN = (*[TIGHT] * 4, *[LOOSE] * 4, *[ODDS] * 4, *[CALLER] * 3, RAISER)
"""One of these is drawn. Who raises everything is rare, or no raise would ever be believed."""
NUM_SAMPLES = 24
"""By which modelled opponents judge a hand after the flop."""
OWN_RESPECT = 0.2
"""Equity that a bet costs the searcher's own hand beyond its tree."""
MILLION = 1_000_000

GUESS = record(
    number=np.uint64,  # of the search; it makes kinds of cards
    seat=np.int32,  # who searches
    padding=np.int32,
    places=(np.int32, (NUM_CLASSES,)),  # millionths of hands that are better
    equities=(np.int32, (NUM_CLASSES,)),  # millionths that a starting hand wins
)
GUESS_SIZE = GUESS.itemsize // 4

_TIGHT = tuple(Tight.style.values())[1:]
_LOOSE = tuple(Loose.style.values())[1:]
_ODDS = tuple(PotOdds.style.values())[1:]


def with_guess(game: Game) -> npt.NDArray[np.int32]:
    """The rules of a game, and behind them what its opponents are guessed by.

    Kernels read an array of records of rules and take the first, so this has the size of two.
    """
    rules = np.concatenate([game.rules, np.zeros_like(game.rules)])
    guess = guess_of(rules)
    guess.places = np.round(places_of_kinds() * MILLION)
    guess.equities = np.round(starting_equities() * MILLION)
    return rules


def guess_of(rules: npt.NDArray[np.int32]) -> np.record:
    """What lies behind the rules."""
    half = rules.size // 2
    found: np.record = rules[half : half + GUESS_SIZE].view(GUESS)[0]
    return found


@helper
def kind_of(s, number, seat):
    """The kind that an opponent is in this world."""
    cards = (np.uint64(seat) << np.uint64(16)) | (np.uint64(s.hole[seat, 0]) << np.uint64(8))
    drawn = mix(number ^ cards ^ np.uint64(s.hole[seat, 1]))
    return DRAWN[np.int64(drawn % np.uint64(len(DRAWN)))]


@helper
def wish_of(s, r, g, seat, kind, rng):
    """What a kind of player wishes with its hand."""
    others = num_others(s, r, seat)
    hand = class_of(s.hole[seat, 0], s.hole[seat, 1])
    if kind == ODDS:
        low, high = odds_bounds(s, r, seat, others, _ODDS[0], _ODDS[1])
        if s.num_board == 0 and others == 1:
            return equity_wish(g.equities[hand] / MILLION, low, high)
    else:
        style = _TIGHT if kind == TIGHT else _LOOSE
        if s.num_board == 0:
            return starting_wish(s, r, g.places[hand] / MILLION, style[0], style[1])
        low, high = style[2] / (1 + others), style[3] / (1 + others)
    chance = compared_equity(
        *(r, s.hole[seat], s.board, s.num_board, others), *(np.int64(NUM_SAMPLES), low, high, rng)
    )
    return equity_wish(chance, low, high)


@compiled(OPTIONAL_SIGNATURES["rollout"])
def as_kind(state, rules, rng):
    """An action of a player as its kind has it; the searcher's own are the quick policy's."""
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    half = rules.size // 2
    g = rules[half : half + GUESS_SIZE].view(GUESS)[0]
    seat = np.int64(s.to_move)
    if seat == g.seat:
        return choose(state, rules, rng, OWN_RESPECT)
    kind = kind_of(s, g.number, seat)
    if kind == CALLER:
        return np.int64(CALL)
    wish = RAISE if kind == RAISER else wish_of(s, r, g, seat, kind, rng)
    if wish == RAISE:
        bet = _LOOSE[4] if kind in (LOOSE, RAISER) else _TIGHT[4]
        may_raise = r.menu == THESIS or can_raise(s, r, seat)
        return raise_to(s, r, seat, bet) if may_raise else np.int64(CALL)
    is_free = call_to(s, r, seat) <= s.bets[seat]
    return np.int64(CALL if wish == CALL or is_free else FOLD)


GUESSED = Holdem.optional.but(rollout=as_kind)


class HoldemSearch(MOISMCTSAgent):
    """MO-ISMCTS against kinds of opponents; any parameter of ``mo_ismcts`` goes."""

    game_ids = ("holdem_v0",)
    defaults = {
        **MOISMCTSAgent.defaults,
        "opponents": "rule",
        "belief": "policy",
        "num_worlds": 1024,
        "selection": "ucb",
        "exploration": 0.2,
    }
    refuses_guide = "holdem_search has its own models"

    def __init__(self, game: Game, time_per_move: float | None = None, **params: Any) -> None:
        """Make the tables by which starting hands are judged."""
        super().__init__(game, time_per_move=time_per_move, **params)
        self._rules = with_guess(game)
        self.advice = GameAdvice(game.kernels, GUESSED, self._rules)

    def _searcher_for(self, root: Root) -> TreeSearcher:
        guess = guess_of(self._rules)
        guess.seat, guess.number = root.seat, root.key
        return self.searcher
