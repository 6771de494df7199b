"""How an agent plays hold'em, in words and pictures that players know.

* **Starting hands**: what it does with each of the 169 kinds if everybody before it has folded, as
  a chart for every position.
* **Checked to**: how often it bets when the others have only checked, by the strength of its hand.
  A bet with a weak hand is a bluff.
* **Draws**: whether it takes the right decision by the price with four cards to a straight or a
  flush, when the bettor is all-in: a quarter of the pot on the flop is worth a call (the draw comes
  in 31 to 35 %, the price is 17 %), the whole pot on the turn is not (17 to 20 %, 33 %).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from numba import types

from agents.advice import policy_at
from agents.base import Actions, Agent, Views
from agents.learnt import Exhibit
from common.progress import Progress
from common.statistics import Interval, wilson
from envs import make_game
from envs.core.compiling import compiled
from envs.core.drawing import Drawing
from envs.core.game import Game
from envs.core.kernels import RULES as RULES_TYPE
from envs.core.position import Position
from envs.core.rollouts import Rollouts
from envs.holdem.betting import amount_of, call_to
from envs.holdem.equity import NUM_CLASSES, all_hands, class_name, starting_class, strength_now
from envs.holdem.evaluator import DECK_SIZE, parse_card
from envs.holdem.options import IN, RULES, STATE

FOLD, CALL = 0, 1
WEAK, STRONG = 0.4, 0.7
"""Below the first a hand is weak, above the second strong: shares of other hands it beats."""
NUM_ROWS = 512
MakeAgent = Callable[[Game], Agent]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Behaviour:
    """What was found out about one agent."""

    name: str
    num_hands: int
    starting: Floats
    """[positions, 169, 3] how often it folds, calls and raises if all before it have folded."""
    positions: tuple[str, ...]
    checked_to: dict[str, Interval]
    """Weak, middle and strong: how often it bets when it is checked to."""
    draws: dict[str, tuple[int, int]]
    """Kind of draw and price: right answers, and questions."""
    chart: str = field(repr=False, default="")
    """An SVG picture of the starting hands."""

    def to_dict(self) -> dict[str, object]:
        """Plain JSON types."""
        return {
            "agent": self.name,
            "hands": self.num_hands,
            "starting_hands": dict(
                zip(self.positions, self.starting.round(4).tolist(), strict=True)
            ),
            "bets_when_checked_to": {
                kind: [share.mean, share.low, share.high] for kind, share in self.checked_to.items()
            },
            "draws": {kind: list(found) for kind, found in self.draws.items()},
        }

    def to_tables(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and tables with a head."""
        rows = _share_rows(self.starting, self.positions)
        bets = [["own hand", "bets when checked to"]]
        words = {"weak": "weak: a bluff", "middle": "middle", "strong": "strong"}
        bets += [[words[kind], f"{100 * s.mean:.1f} % [{100 * s.low:.1f}, {100 * s.high:.1f}]"]
                 for kind, s in self.checked_to.items()]  # fmt: skip
        draws = [["draw, street, price", "right decision", "answered right"]]
        for kind, (right, asked) in self.draws.items():
            name, _, wanted = kind.partition(": ")
            draws.append([name, wanted, f"{right} of {asked}"])
        return [
            ("starting hands, if all before have folded", rows),
            ("after the flop", bets),
            ("draws against an all-in", draws),
        ]


def describe(make_agent: MakeAgent, game: Game, name: str, num_hands: int, seed: int) -> Behaviour:
    """Find out how an agent plays.

    Args:
        make_agent: makes the agent for a game of the same structure; stacks may differ.
        game: hold'em.
        name: of the agent.
        num_hands: hands that it plays against itself, for what it does when checked to.
        seed: root of all chance.
    """
    agent = make_agent(game)
    starting, positions = starting_hands(agent, game, seed)
    return Behaviour(
        name,
        num_hands,
        starting,
        positions,
        _bets_when_checked_to(agent, game, num_hands, seed),
        _answers_to_draws(make_agent, game, seed),
        draw_charts(name, starting, positions),
    )


def exhibits(agent: Agent, _views: Views | None) -> list[Exhibit]:
    """The chart of starting hands, unless every question would be a search."""
    if agent.thinks_long:
        return []
    starting, positions = starting_hands(agent, agent.game)
    name = agent.name or type(agent).__name__
    chart = draw_charts(name, starting, positions)
    words = "What it does with each hand if everybody before it has folded."
    return [Exhibit("Starting hands", words, _share_rows(starting, positions), chart)]


# ---- starting hands ------------------------------------------------------------------------------


def _kinds() -> npt.NDArray[np.int64]:
    return np.array([starting_class(int(a), int(b)) for a, b in all_hands()], np.int64)


def _shares(starting: Floats) -> Floats:
    weights = np.bincount(_kinds(), minlength=NUM_CLASSES) / len(_kinds())
    shares: Floats = np.einsum("pka,k->pa", starting, weights)
    return shares


def _share_rows(starting: Floats, positions: Sequence[str]) -> list[list[str]]:
    rows = [["position", "folds", "calls", "raises"]]
    for name, shares in zip(positions, _shares(starting), strict=True):
        rows.append([name, *(f"{100 * share:.1f} %" for share in shares)])
    return rows


def position_names(num_players: int) -> tuple[str, ...]:
    """Positions before the flop that can be first in, in the order they act.

    >>> position_names(6), position_names(2)
    (('first', 'second', 'third', 'dealer', 'small blind'), ('dealer',))
    """
    early = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
    if num_players == 2:
        return ("dealer",)
    return (*early[: num_players - 3], "dealer", "small blind")


def starting_hands(agent: Agent, game: Game, seed: int = 0) -> tuple[Floats, tuple[str, ...]]:
    """[positions, 169, 3] folds, calls and raises, and the names of the positions."""
    names = position_names(game.facts.num_players)
    kinds, hands = _kinds(), all_hands()
    counts = np.bincount(kinds, minlength=NUM_CLASSES)
    found = np.zeros((len(names), NUM_CLASSES, 3))
    for place in range(len(names)):
        asked = [_first_in(game, (int(a), int(b)), place) for a, b in hands]
        probs = policy_at(agent, asked, seed)
        three = np.stack([probs[:, FOLD], probs[:, CALL], probs[:, 2:].sum(axis=1)], axis=1)
        for way in range(3):
            found[place, :, way] = np.bincount(kinds, three[:, way], NUM_CLASSES) / counts
    return found, names


def _first_in(game: Game, hand: tuple[int, int], num_folds: int) -> Position:
    """A hand in which so many have folded, and the next one holds these cards."""
    n = game.facts.num_players
    position = game.new_position(0)
    if position.is_chance and int(game.record(position.state).button) < 0:
        position.apply(0)
    button = int(game.record(position.state).button)
    first = (button + 3) % n if n > 2 else button
    owner = (first + num_folds) % n
    _deal(position, owner, hand)
    for _ in range(num_folds):
        position.apply(FOLD)
    return position


def _deal(position: Position, owner: int, hand: Sequence[int], shown: Sequence[int] = ()) -> None:
    """Give one seat its hand and the others any cards that are not to be shown later."""
    spare = iter(card for card in range(DECK_SIZE) if card not in (*hand, *shown))
    for seat in range(position.game.facts.num_players):
        for card in hand if seat == owner else (next(spare), next(spare)):
            position.apply(card)


# ---- checked to ----------------------------------------------------------------------------------


@compiled(types.void(types.uint8[:, ::1], RULES_TYPE, types.int64[::1], types.float64[::1]))
def _strengths(worlds, rules, seats, out):
    """The strength of whoever is checked to after the flop; -1 for all others."""
    r = rules.view(RULES)[0]
    for i in range(seats.size):
        s = worlds[i].view(STATE)[0]
        out[i] = -1.0
        if s.num_board < 3 or s.bet_to > 0:
            continue
        num_checks = 0
        for other in range(r.num_players):
            num_checks += other != seats[i] and s.status[other] == IN and s.has_acted[other]
        if num_checks > 0:
            out[i] = strength_now(r, s.hole[seats[i]], s.board, s.num_board)


class _Watched:
    """Counts what a player does when it is checked to."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.wants_tokens = agent.wants_tokens
        self.num_past = agent.num_past
        self.end_games = agent.end_games
        self.counts = np.zeros((3, 2), np.int64)
        """[weak, middle, strong] checks and bets."""

    def act(self, views: Views) -> Actions:
        rngs = views.rngs.copy()
        worlds = views.worlds()
        views.rngs[:] = rngs
        strengths = np.empty(len(views))
        _strengths(worlds, self.agent.game.rules, views.seats, strengths)
        actions = self.agent.act(views)
        is_asked = strengths >= 0.0
        levels = (strengths >= WEAK).astype(int) + (strengths >= STRONG)
        np.add.at(self.counts, (levels[is_asked], (actions[is_asked] > CALL).astype(int)), 1)
        return actions


def _bets_when_checked_to(
    agent: Agent, game: Game, num_hands: int, seed: int
) -> dict[str, Interval]:
    watched = _Watched(agent)
    rollouts = Rollouts(game, [watched], NUM_ROWS, seed)
    everybody = np.zeros((NUM_ROWS, game.facts.num_players), np.int64)
    with closing(Progress(num_hands, "hands")) as progress:
        progress.show(0)
        for first in range(0, num_hands, NUM_ROWS):
            count = min(NUM_ROWS, num_hands - first)
            rows = np.arange(count)
            rollouts.begin(rows, first + rows, everybody[:count])
            rollouts.run()
            progress.add(count)
    kinds = ("weak", "middle", "strong")
    return {
        kind: wilson(int(bets), max(int(checks + bets), 1))
        for kind, (checks, bets) in zip(kinds, watched.counts, strict=True)
    }


# ---- draws ---------------------------------------------------------------------------------------


def _answers_to_draws(make_agent: MakeAgent, game: Game, seed: int) -> dict[str, tuple[int, int]]:
    found = {}
    for question in draw_positions(game):
        probs = policy_at(make_agent(question.game), question.positions, seed)
        is_fold = probs[:, FOLD] > 0.5
        right = is_fold if question.is_fold_right else ~is_fold
        found[question.name] = (int(right.sum()), len(right))
    return found


# Own cards, flop and turn: nothing is made, and the board has no pair and no straight without us.
STRAIGHTS = (
    ("7s 6d", "5h 8c Ks", "2d"),
    ("6s 5d", "4h 7c Qs", "Kd"),
    ("8c 7h", "6d 9s Ac", "2h"),
    ("5c 4h", "3d 6s Jc", "Qh"),
    ("9d 8s", "7c Th 2d", "Ks"),
    ("6h 5c", "7s 4d Ah", "Tc"),
    ("8d 7c", "9h 6s 2c", "Kh"),
    ("7h 5s", "6c 8d Kd", "2s"),
)
FLUSHES = (
    ("6h 4h", "Kh 9h 2c", "Js"),
    ("7s 3s", "As Ts 5d", "Qc"),
    ("8d 5d", "Qd Jd 2s", "Ah"),
    ("9c 4c", "Kc 6c 3h", "Jd"),
    ("7d 2d", "Ad 9d 5c", "Ks"),
    ("8h 3h", "Jh Th 4s", "Ac"),
    ("6s 2s", "Qs 8s 3d", "Kh"),
    ("9h 5h", "Ah 7h 2d", "Qs"),
)
DRAWS = {"straight": STRAIGHTS, "flush": FLUSHES}


@dataclass(frozen=True)
class Question:
    """Some positions with the same right answer."""

    name: str
    game: Game
    positions: list[Position]
    is_fold_right: bool


def draw_positions(game: Game) -> Iterator[Question]:
    """The questions for a table like ``game``, with stacks that make the prices."""
    for draw, hands in DRAWS.items():
        for street, share, is_fold in (("flop", 0.25, False), ("turn", 1.0, True)):
            price = share / (1 + 2 * share)
            table = _table(game, share)
            wanted = "fold" if is_fold else "call"
            name = f"{draw}, {street}, {100 * price:.0f} %: {wanted}"
            positions = [_position(table, cards, street == "turn") for cards in hands]
            yield Question(name, table, positions, is_fold)


def _table(game: Game, share: float) -> Game:
    """The same game, in which the bettor has a big blind and a share of two for the pot."""
    options = {**game.options.to_dict(), "num_hands": 1, "ante": 0, "button": 0, "short_stacks": 0}
    n, big = game.facts.num_players, int(options["big_blind"])
    stacks = [max(100 * big, 1)] * n
    # With two players the button is the small blind and acts last, so the other one bets.
    stacks[1] = big + int(share * 2 * big)
    return make_game(game.id, **{**options, "stacks": stacks})


def _position(game: Game, cards: Sequence[str], has_turn: bool) -> Position:
    """Both blinds are in for one big blind, the bettor goes all-in, and the other is to answer."""
    own, flop, turn = ([parse_card(card) for card in text.split()] for text in cards)
    owner, bettor = 0 if game.facts.num_players == 2 else 2, 1
    position = game.new_position(0)
    _deal(position, owner, own, flop + turn)
    while position.turn not in (owner, bettor):
        position.apply(FOLD)
    for _ in range(2):
        position.apply(CALL)
    for card in flop:
        position.apply(card)
    for action in (CALL, CALL, *turn) if has_turn else ():
        position.apply(action)
    position.apply(_all_in(position))
    return position


def _all_in(position: Position) -> int:
    """The action that puts everything in."""
    s, r = position.game.record(position.state), position.game.rules.view(RULES)[0]
    seat = int(s.to_move)
    everything = int(s.stacks[seat] + s.bets[seat])
    for action in position.legal_actions():
        if action > CALL and int(amount_of(s, r, seat, action)) == everything:
            return action
    raise ValueError(f"no bet is all-in: {everything} of {int(call_to(s, r, seat))}")


COLOURS = ("blue", "yellow", "bad")
WAYS = ("folds", "calls", "raises")
CELL, GAP, HEAD = 27, 26, 64
COLUMNS = 3
SIDE = 13 * CELL


def draw_charts(name: str, starting: Floats, positions: Sequence[str]) -> str:
    """Every cell is filled from the left with raises, calls and folds, by how often each is made.

    Args:
        name: of the player.
        starting: [positions, 169, 3] folds, calls and raises.
        positions: their names.
    """
    columns = min(COLUMNS, len(positions))
    rows = -(-len(positions) // columns)
    width = GAP + columns * (SIDE + GAP)
    height = HEAD + rows * (SIDE + GAP + 24)
    drawing = Drawing(max(width, 420), height, f"Starting hands of {name}, first to enter the pot")
    drawing.rect(0, 0, max(width, 420), height, 12, fill="plate")
    drawing.text(GAP, 20, f"{name}: first to enter the pot", 16, "ink", "start", is_bold=True)
    _draw_legend(drawing)
    for number, position in enumerate(positions):
        row, column = divmod(number, columns)
        x = GAP + column * (SIDE + GAP)
        y = HEAD + row * (SIDE + GAP + 24)
        _draw_chart(drawing, x, y, position, starting[number])
    return drawing.svg()


def _draw_legend(drawing: Drawing) -> None:
    for number, (way, colour) in enumerate(zip(WAYS, COLOURS, strict=True)):
        drawing.rect(GAP + 90 * number, 36, 14, 14, 3, fill=colour)
        drawing.text(GAP + 90 * number + 20, 43, way, 13, "ink", "start")


def _draw_chart(drawing: Drawing, x: float, y: float, position: str, shares: Floats) -> None:
    drawing.text(x, y + 10, position, 14, "ink", "start", is_bold=True)
    for kind in range(len(shares)):
        row, column = divmod(kind, 13)
        left, top = x + column * CELL, y + 22 + row * CELL
        done = 0.0
        for way in (2, 1, 0):
            share = float(shares[kind, way])
            if share > 0.001:
                drawing.rect(
                    left + done * (CELL - 1), top, share * (CELL - 1), CELL - 1, fill=COLOURS[way]
                )
            done += share
        drawing.text(left + CELL / 2, top + CELL / 2, class_name(kind), 9, "white")
