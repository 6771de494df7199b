"""No-Limit Texas Hold'em for two to ten players: one hand, or a match.

**Rules.** Everybody pays the ante, if there is one; the player left of the dealer posts the small
blind, the next one the big blind (with two players the dealer posts the small blind). Everybody
is dealt two private cards. Four rounds of betting follow: before any common card, with three of
them (the flop), with a fourth (the turn) and with a fifth (the river). The first round begins
left of the big blind, who speaks last in it; the others begin left of the dealer. A player checks
or bets while nobody has bet; after that one folds, calls or raises. A bet is at least one big
blind, a raise adds at least as much as the largest bet or raise of the round. The most is one's
stack. Who cannot pay a blind, a call or a full raise goes all-in with less. If all but one fold,
that one takes the pot. Otherwise the best five of seven cards win; suits break no ties. Where
nobody can bet any more, the remaining cards are dealt at once.

**All-in.** A pot is shared only by those who have paid into it: what a player all-in cannot match
makes side pots for the others, and what nobody matched goes back. Equal hands share a pot, odd
chips going one by one to the left of the dealer. An all-in raise that is less than a full raise
does not let players raise again who have acted already, unless what they face adds up to a full
raise. Behind a big blind that is short, the call is still a whole big blind, or what somebody
else can match. ``table_rules="pokerkit"`` follows the library PokerKit where it differs: one
calls what a short big blind has posted, and the first short all-in of a round may be raised by
everybody.

**Match.** With ``num_hands`` above 1 chips are carried from hand to hand (``fresh_stacks`` deals
everybody the first stacks again), the button moves to the next player with chips, and who has none
is out. The game ends after so many hands, or when one player has all chips.

**Source.** The rules are those of the Tournament Directors Association for no-limit games; the
preset ``thesis`` has the five actions and the inputs of a bachelor thesis on Q-learning for six
players.

**Actions.** 0 folds, 1 checks or calls, all others bet or raise. ``menu`` lists bets as fractions
of the pot after a call; ``minimum`` puts the smallest raise before them and ``all_in`` everything
behind; amounts below the minimum or above the maximum become those, and of equal amounts only the
first is legal. With ``menu="exact"`` action a raises to a - 1 chips. With ``menu="thesis"``
nothing is illegal: a bet where no raise is possible is a call. Amounts are whole chips, rounded
down.

**Chance.** The dealer, if drawn at random (outcome = seat), then one card at a time: two for every
player in seat order, later the common cards. A card is ``4 * rank + suit`` (deuce to ace; spade,
heart, club, diamond).

**Who sees what.** Everybody sees the betting, the common cards, and the hands that are compared in
the end. Only its owner sees a private hand, when both cards are dealt and in no order.

**Returns.** Chips won or lost, or big blinds (``rewards``), zero-sum when the game is over. With
``reward_time="move"`` chips count as lost as soon as they are put in, so that a fold costs nothing
and the rewards of a player's decisions are its result less the blinds it had posted.

**Version history.** v0: first version.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from envs.core.drawing import Layout
from envs.core.facts import Facts, ObservationField, Seat, Unit
from envs.core.game import Game
from envs.core.kernels import Kernels, OptionalKernels
from envs.holdem import kernels as functions
from envs.holdem.evaluator import DECK_SIZE, card_name
from envs.holdem.kernels import unknown_choice, write_stakes
from envs.holdem.observation import NUM_KINDS, NUM_STREETS, block_sizes
from envs.holdem.options import (
    NO_CARD,
    NOBODY,
    NUM_BLOCKS,
    RULES,
    STATE,
    HoldemOptions,
    rules_array,
)
from envs.holdem.picture import bet_amount, cards_text, draw_table, move_text, read_move, table_text

NUM_PAST_BLOCKS = 7  # those that are also shown as they were at earlier decisions
BLOCKS = {
    "own_cards": "higher rank, lower rank, same suit or not",
    "common_cards": "five ranks (the last value: not dealt), most cards of a suit on the table, "
    "and with one's own",
    "position": "0: first to act after the flop, last: dealer",
    "opponents": "opponents who have not folded, from 1",
    "still_to_act": "players still to act in this round if nobody raises",
    "pot_odds": "price of a call as a share of the pot with it, in tenths rounded up",
    "opponents_moves": "last move in this round of each opponent from the left on: none, fold, "
    "check or call, 50 %, 75 %, 100 % of the pot",
    "chances": "chance to beat one random hand at the end, and now, in twentieths",
    "chips": "pot and price of a call in big blinds, what can still be bet in pots: one more for "
    "every factor of 1.41",
}
"""What is asked for by number, from 1 on: names and meanings."""


class Holdem(Game):
    """No-Limit Texas Hold'em; see the module for the rules."""

    id = "holdem_v0"
    title = "No-Limit Hold'em"
    summary = "Six players, ten thousand chips, every amount."
    first_options: ClassVar[Mapping[str, Any]] = {"menu": "exact"}
    first_seat = 3  # the first to act in the first hand: a newcomer need not wait for the others
    notation = ".phh"
    Options = HoldemOptions
    state_dtype = STATE
    kernels = Kernels.of(functions)
    optional = OptionalKernels.of(functions)
    modelled = optional.but(rollout=unknown_choice)
    presets = MappingProxyType(
        {
            "thesis": {
                "menu": "thesis",
                "fold_when_free": "fold",
                "observation": "blocks",
                "history": 1,
                "rewards": "big_blinds",
                "reward_time": "move",
            },
            "heads_up": {"num_players": 2, "stacks": 20_000},
            "exact": {"menu": "exact", "small_blind": 1, "big_blind": 2, "stacks": 200},
        }
    )
    options: HoldemOptions

    def make_rules(self) -> Any:
        """Every option as a number, and the tables of the evaluator."""
        return rules_array(self.options)

    def make_facts(self) -> Facts:
        """Nobody can lose more than the stack, or win more than the others can match."""
        o = self.options
        return Facts(
            num_actions=o.num_actions,
            num_chance_outcomes=DECK_SIZE,
            max_length=(o.button == "random") + o.num_hands * self._longest_hand(),
            seats=tuple(self._seat(seat) for seat in range(o.num_players)),
            unit=self._unit(),
            num_openings=o.num_openings,
        )

    def stakes(self, states: Any) -> Any:
        """The pot, and what the player to move can still bet and be matched."""
        out = np.empty(len(states))
        write_stakes(states, self.rules, out)
        return out

    def _seat(self, seat: int) -> Seat:
        """Players with equal stacks are alike."""
        o = self.options
        role = f"{o.stacks[seat]} chips" if isinstance(o.stacks, tuple) else "player"
        return Seat(role, seat, *self._bounds(seat))

    def _unit(self) -> Unit:
        """Big blinds in a hundred hands; or in a match, which has no fixed number of them."""
        o = self.options
        in_big_blinds = int(self.rules.view(RULES)[0].reward_unit) / o.big_blind
        if o.num_hands == 1 or o.fresh_stacks:
            return Unit("bb/100", 100 * in_big_blinds / o.num_hands)
        return Unit("bb", in_big_blinds)

    def _bounds(self, seat: int) -> tuple[float, float]:
        """The lowest and the highest return of a seat."""
        o = self.options
        stacks = o.stacks_by_seat
        others = [stack for i, stack in enumerate(stacks) if i != seat]
        is_carried = o.num_hands > 1 and not o.fresh_stacks
        factor = (1 if is_carried else o.num_hands) / int(self.rules.view(RULES)[0].reward_unit)
        most = sum(others) if is_carried else sum(min(stack, stacks[seat]) for stack in others)
        return -factor * stacks[seat], factor * most

    def _longest_hand(self) -> int:
        """All cards, and every raise as small as it can be with everybody else calling."""
        o = self.options
        n = o.num_players
        # Beyond the second largest stack there is nobody to raise.
        second = sorted(o.stacks_by_seat)[-2]
        if o.num_hands > 1 and not o.fresh_stacks:
            second = sum(o.stacks_by_seat) // 2
        num_raises = second // o.big_blind + 1 + n
        return 2 * n + 5 + num_raises * n + NUM_STREETS * n

    def make_fields(self) -> tuple[ObservationField, ...]:
        """Cards, chips and moves; or the blocks, now and earlier."""
        return self._block_fields() if self.options.observation == "blocks" else self._full_fields()

    def _full_fields(self) -> tuple[ObservationField, ...]:
        n, num_log = self.options.num_players, self.options.moves_shown
        share = "as a share of all chips, from the viewer on"
        fields = [
            ObservationField("position", n, "one-hot: first to act after the flop .. dealer"),
            ObservationField("street", NUM_STREETS, "before the flop, flop, turn, river"),
            ObservationField("own_cards", DECK_SIZE, "own cards"),
            ObservationField("flop", DECK_SIZE, "the first three common cards"),
            ObservationField("turn", DECK_SIZE, "the fourth"),
            ObservationField("river", DECK_SIZE, "the fifth"),
            ObservationField("stacks", n, f"chips left, {share}"),
            ObservationField("bets", n, f"put in during this round, {share}"),
            ObservationField("paid", n, f"put in during this hand, {share}"),
            ObservationField("is_in", n, "who has not folded, from the viewer on"),
            ObservationField("is_all_in", n, "who is all-in, from the viewer on"),
            ObservationField("to_move", n, "who is to move, from the viewer on"),
            ObservationField("has_acted", n, "who has acted in this round, from the viewer on"),
            ObservationField("prices", 5, "pot, call, pot odds, smallest and largest raise"),
            ObservationField("hands_played", 1, "share of the hands of the game"),
        ]
        if num_log:
            each = n + NUM_KINDS + NUM_STREETS + 1
            meaning = "latest moves, the last first: who from the viewer on; fold, check, call, "
            meaning += "raise; street; chips as a share of the pot with them"
            fields.append(ObservationField("moves", num_log * each, meaning))
        return tuple(fields)

    def _block_fields(self) -> tuple[ObservationField, ...]:
        o = self.options
        sizes = block_sizes(o.num_players)
        is_one_hot = o.encoding == "one_hot"
        blocks = self.rules.view(RULES)[0].blocks
        fields = []
        for back in range(o.history + 1):
            name = f"_{back}_ago" if back else ""
            last = NUM_BLOCKS if not back else NUM_PAST_BLOCKS
            for block, (block_name, meaning) in enumerate(BLOCKS.items(), start=1):
                if blocks[block] and block <= last:
                    size = sum(sizes[block]) if is_one_hot else len(sizes[block])
                    fields.append(ObservationField(block_name + name, size, meaning))
            if back and o.history_actions:
                fields.append(
                    ObservationField(f"own_move{name}", 5 if is_one_hot else 1, "what was chosen")
                )
        return tuple(fields)

    # ---- words -----------------------------------------------------------------------------------

    def action_text(self, state: Any, action: int) -> str:
        """A move in its position: ``folds``, ``checks``, ``calls 50``, ``raises to 325``."""
        return move_text(state, self.rules, action)

    def amount_of(self, state: Any, action: int) -> tuple[int, str] | None:
        """What a bet or a raise is to, unless it is all-in."""
        return bet_amount(state, self.rules, action)

    def parse_action(self, text: str, state: Any) -> int:
        """Read ``fold``, ``check``, ``call``, ``bet 100``, ``raises to 325``, ``all-in``.

        >>> from envs import make_game
        >>> position = make_game("holdem_v0", menu="exact").replay(list(range(12)))
        >>> [position.parse_action(text) for text in ("fold", "Call", "raise to 325", "all-in")]
        [0, 1, 326, 10001]
        """
        found = read_move(state, self.rules, text)
        mask = np.zeros(self.mask_size, np.int8)
        self.kernels.legal(state, self.rules, mask)
        return found if found is not None and mask[found] else super().parse_action(text, state)

    def chance_text(self, state: Any, outcome: int) -> str:
        """The card that is dealt and to whom, or the seat that gets the button."""
        s = self.record(state)
        if s.button == NOBODY:
            return f"player {outcome} gets the button"
        to = f"player {s.deal_seat}" if s.deal_seat != NOBODY else "the board"
        return f"deals {card_name(outcome)} to {to}"

    def render(self, state: Any, viewer: int | None = None) -> str:
        """The common cards and the pot, then one line for every player."""
        return table_text(self.record(state), self.rules.view(RULES)[0], viewer)

    def draw(self, state: Any, viewer: int | None = None, layout: Layout = "wide") -> str:
        """The table with cards, chips and the button, and the viewer's actions as buttons."""
        return draw_table(self, state, viewer)

    def conserved(self, state: Any) -> dict[str, float]:
        """Chips stay on the table, no card is dealt twice, and what one wins others lose."""
        s = self.record(state)
        dealt = [int(card) for card in (*s.hole.reshape(-1), *s.board) if card != NO_CARD]
        in_deck = sum(1 << card for card in set(dealt))
        return {
            "chips": float(s.stacks.sum() + s.paid.sum()),
            "profits": float(s.profits.sum()),
            "negative stacks": float((s.stacks < 0).sum()),
            "duplicate cards": float(len(dealt) - len(set(dealt))),
            "cards not noted as dealt": float(in_deck != int(s.taken)),
            "players in": float(s.num_in - (s.status[: self.options.num_players] == 0).sum()),
        }

    def board_text(self, state: Any) -> str:
        """The common cards, such as ``As Kd 3h``."""
        return cards_text(self.record(state).board)
