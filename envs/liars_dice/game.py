"""Liar's Dice for two to six players: a match until one player has dice left, or a single round.

**Rules.** Everybody rolls their dice behind a cup. The starter bids that at least so many dice on
the whole table, hidden ones
included, show a certain face: ``2*3`` is two threes. The next player in seat order must either
raise the bid or call the last bidder a liar. After a call all cups are lifted and the face is
counted: if there are at least as many as were bid, the caller loses one die, otherwise the bidder
does. The loser opens the next round. A player without dice is out; the last one with dice wins.

**Raising**, from the bid ``c*f`` (option ``raising``; ``N`` dice are in play and no bid may claim
more):

===============  ==================================================================================
``count_first``  more dice of any face, or as many of a higher face (a total order)
``face_first``   more dice of the same face, or any number of a higher face (a total order)
``never_lower``  neither number drops and at least one rises (a partial order, with shorter rounds)
===============  ==================================================================================

**Wild faces** (option ``wild``): ``none``; ``ones`` count as every face and can be bid;
``ones_unbiddable`` count as every face and cannot; ``highest``, the highest face counts as every
other.

**Source.** The defaults are the match of a bachelor thesis that pits SARSA with lie profiling
against Q-learning: five dice, no wild face, ``never_lower``. The preset ``openspiel`` is
OpenSpiel's ``liars_dice``: one round, ``count_first``, highest face wild.

**Actions.** Bids in rising order (count by count, or face by face with ``face_first``), then
``liar`` as the last action.

**Chance.** Who starts, if that is random (outcome = seat); then one event per die, player by player
(outcome = face - 1).

**Who sees what.** Bids and calls are public, and a call shows everybody every die. Players look
under their cup when all their dice have
been rolled: they know their hand, sorted, and not the order in which it was rolled.

**Returns.** ``rewards="winner"``: the match winner gets 1, the others share -1; in a single round
the loser gets -1 and the others share 1. ``rewards="dice"``: every lost die is paid at once, -1 to
its owner and 1 shared by the others. Always zero-sum.

**Version history.** v0: first version.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from common.errors import IllegalActionError, nearest
from envs.core.drawing import Layout
from envs.core.facts import Facts, ObservationField, equal_seats
from envs.core.game import Game
from envs.core.kernels import OVER, Kernels, OptionalKernels
from envs.core.options import free_option, option
from envs.core.seat_options import SeatOptions
from envs.liars_dice import kernels as functions
from envs.liars_dice.kernels import (
    IN_TURN,
    MAX_DICE,
    MAX_FACES,
    MAX_PLAYERS,
    NO_BID,
    NO_DIE,
    NOBODY,
    RAISING,
    RULES,
    STATE,
    WILD,
    count_and_face,
    has_hand,
)


class LiarsDiceOptions(SeatOptions):
    """Options of Liar's Dice."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, help="players at the table")
    dice: int | tuple[int, ...] = option(
        5, low=1, high=MAX_DICE, is_list=True, help="dice of every player, or one number for each"
    )
    faces: int = option(6, low=2, high=MAX_FACES, help="faces of a die")
    wild: str = option("none", choices=WILD, help="the face that counts as every face")
    raising: str = option("never_lower", choices=RAISING, help="which bids are higher")
    single_round: bool = free_option(False, help="stop after the first call")
    first_player: int | str = option(
        0,
        low=0,
        high=MAX_PLAYERS - 1,
        choices=("random", "alternate"),
        help="who opens the first round",  # structural: "random" adds an event that all see
    )
    starter_after_elimination: str = free_option(
        "next",
        choices=("next", "winner"),
        help="who opens when a caller is out: the next seat, or the bidder who won the call",
    )
    rewards: str = free_option(
        "winner", choices=("winner", "dice"), help="pay at the end, or every lost die at once"
    )

    def __post_init__(self) -> None:
        """Check what no single option can: dice and first seat must fit the players."""
        self.settle_list("dice")
        self.check_seat("first_player")

    @property
    def dice_by_seat(self) -> tuple[int, ...]:
        """Dice of each player at the start."""
        return self.by_seat("dice")


def _dice(number: int) -> str:
    """So many dice, as people say it."""
    return "1 die" if number == 1 else f"{number} dice"


class LiarsDice(Game):
    """Liar's Dice; see the module for the rules."""

    id = "liars_dice_v0"
    title = "Liar's Dice"
    summary = "Bid on everybody's dice, or call a liar."
    Options = LiarsDiceOptions
    state_dtype = STATE
    kernels = Kernels.of(functions)
    optional = OptionalKernels.of(functions)
    presets = MappingProxyType(
        {
            "thesis": {},
            "openspiel": {
                "raising": "count_first",
                "wild": "highest",
                "single_round": True,
                "dice": 1,
            },
        }
    )
    options: LiarsDiceOptions

    def make_rules(self) -> Any:
        """Every option as a number, and the sizes that follow."""
        o = self.options
        r = np.zeros(1, RULES)[0]
        r.num_players = o.num_players
        r.dice[: o.num_players] = o.dice_by_seat
        r.num_dice = sum(o.dice_by_seat)
        r.faces = o.faces
        r.lowest_bid_face = 2 if o.wild == "ones_unbiddable" else 1
        r.bid_faces = o.faces + 1 - r.lowest_bid_face
        r.wild_face = {"none": 0, "ones": 1, "ones_unbiddable": 1, "highest": o.faces}[o.wild]
        r.raising = RAISING.index(o.raising)
        r.liar = r.num_dice * r.bid_faces
        r.is_single_round = o.single_round
        named = {"random": NOBODY, "alternate": IN_TURN}
        r.first_player = named.get(str(o.first_player), o.first_player)
        r.winner_opens = o.starter_after_elimination == "winner"
        r.pays_dice = o.rewards == "dice"
        return np.frombuffer(r.tobytes(), np.int32)

    def make_facts(self) -> Facts:
        """The longest game loses every die but one, after the longest bidding each time."""
        o, r = self.options, self.rules.view(RULES)[0]
        total = int(r.num_dice)
        rounds = [total] if o.single_round else range(2, total + 1)
        length = sum(num_dice + self.longest_bidding(num_dice) + 1 for num_dice in rounds)
        others = o.num_players - 1
        low, high = -1.0 / others, 1.0
        if o.single_round:
            low, high = -1.0, 1.0 / others
        elif o.rewards == "dice":
            low, high = -float(max(o.dice_by_seat)), (total - min(o.dice_by_seat)) / others
        return Facts(
            num_actions=int(r.liar) + 1,
            num_chance_outcomes=max(o.faces, o.num_players if o.first_player == "random" else 0),
            max_length=length + (o.first_player == "random"),
            seats=equal_seats(o.num_players, low, high),
            num_openings=o.num_players if o.first_player == "alternate" else 1,
            objective="win",
        )

    def longest_bidding(self, num_dice: int) -> int:
        """The longest chain of bids with so many dice in play."""
        bid_faces = int(self.rules.view(RULES)[0].bid_faces)
        return (
            num_dice + bid_faces - 1
            if self.options.raising == "never_lower"
            else num_dice * bid_faces
        )

    def make_fields(self) -> tuple[ObservationField, ...]:
        """Own hand, dice counts, and the whole bidding of the round."""
        n, num_bids = self.options.num_players, int(self.rules.view(RULES)[0].liar)
        return (
            ObservationField("seat", n, "one-hot seat of the viewer"),
            ObservationField(
                "hand",
                self.options.faces,
                "own dice of each face, as a share of the dice at the start",
            ),
            ObservationField("dice_left", n, "share of dice left, from the viewer on"),
            ObservationField("starter", n, "who opened the round, from the viewer on"),
            ObservationField("bidder", n, "who made the standing bid, from the viewer on"),
            ObservationField("bids", num_bids, "1 for every bid of this round"),
            ObservationField("standing_bid", num_bids, "one-hot bid to beat or to call"),
        )

    # ---- words -----------------------------------------------------------------------------------

    def bid(self, action: int) -> tuple[int, int]:
        """Count and face of a bid."""
        liar = self.facts.num_actions - 1
        if not 0 <= action < liar:
            raise ValueError(f"action {action} is no bid: bids are 0 to {liar - 1}")
        count, face = count_and_face(self.rules, action)
        return int(count), int(face)

    def action_text(self, state: Any, action: int) -> str:
        """``2*3`` for two threes, or ``liar``."""
        if action == self.facts.num_actions - 1:
            return "liar"
        count, face = self.bid(action)
        return f"{count}*{face}"

    @cached_property
    def _actions(self) -> dict[str, int]:
        """Every action by its words, which are the same in all states."""
        return {self.action_text(None, a): a for a in range(self.facts.num_actions)}

    def parse_action(self, text: str, state: Any = None) -> int:
        """Read ``2*3``, ``liar`` or a number, legal or not; any state will do."""
        wanted = "".join(text.lower().split())
        if wanted in self._actions:
            return self._actions[wanted]
        if wanted.isdecimal() and int(wanted) < self.facts.num_actions:
            return int(wanted)
        raise IllegalActionError(
            f"'{text}' is no action of {self.id}: {nearest(wanted, self._actions)}"
        )

    def chance_text(self, state: Any, outcome: int) -> str:
        """The face that is rolled, or the seat that starts."""
        s = self.record(state)
        return (
            f"player {outcome} starts"
            if s.starter == NOBODY
            else f"player {s.roll_seat} rolls {outcome + 1}"
        )

    def render(self, state: Any, viewer: int | None = None) -> str:
        """One line per player with the dice the viewer may see, then the standing bid."""
        s = self.record(state)
        lines = []
        for player in range(self.options.num_players):
            is_visible = (
                viewer is None or s.turn == OVER or (viewer == player and has_hand(s, player))
            )
            cup = s.dice[player][: max(s.dice_left[player], (s.dice[player] != NO_DIE).sum())]
            dice = (
                " ".join("." if d == NO_DIE else str(d) if is_visible else "?" for d in cup)
                or "out"
            )
            lines.append(f"{'>' if s.turn == player else ' '} player {player}: {dice}")
        bid = (
            "none"
            if s.bid == NO_BID
            else f"{self.action_text(state, int(s.bid))} by player {s.bidder}"
        )
        lines.append(f"bid: {bid}, {_dice(s.num_in_play)} in play")
        if s.loser != NOBODY:
            lines.append(f"player {s.loser} lost round {s.num_rounds}")
            if s.turn != OVER:
                shown = " | ".join(
                    " ".join(str(d) for d in hand if d != NO_DIE) for hand in s.last_dice
                )
                bid = self.action_text(state, int(s.last_bid))
                call = f"player {s.last_caller} called {bid} of player {s.last_bidder}"
                lines.append(f"it showed {shown.strip(' |')}: {call}")
        return "\n".join(lines)

    def draw(self, state: Any, viewer: int | None = None, layout: Layout = "wide") -> str:
        """See ``envs/liars_dice/picture.py``."""
        from envs.liars_dice.picture import draw

        return draw(self, state, viewer)

    def conserved(self, state: Any) -> dict[str, float]:
        """Every finished round of a match costs one die, and every die shows a face it has."""
        s = self.record(state)
        num_lost = 0 if self.options.single_round else int(s.num_rounds)
        return {
            "dice": float(s.dice_left.sum() + num_lost),
            "dice in play": float(s.dice_left.sum() - s.num_in_play),
            "impossible faces": float(((s.dice < NO_DIE) | (s.dice > self.options.faces)).sum()),
        }
