"""No Thanks! for three to seven players.

**Rules.** The cards 3 to 35 are shuffled, nine are removed unseen, and the others make the deck.
Everybody has eleven chips (nine with six players, seven with seven). The starter turns up the first
card. Whoever is to move either pays, putting one of their chips on the card, and the next player is
to move; or takes the card with all chips on it, turns up the next one and is to move again. Who has
no chips must take. The game ends when the last card is taken. Cards cost their value, but of a run
of consecutive values only the lowest, its lead card, counts; every chip is worth a point. The
score is chips minus lead cards, and the highest score wins.

**Source.** Thorsten Gimmler, "Geschenkt" (2004), in English "No Thanks!".

**Variants.** Everything can be changed on its own:

=====================  ============================================================================
``known_future``       the order of the deck is public: a game of perfect information
``chips="unlimited"``  nobody runs out; accounts start at 0 and may go below; needs ``cap``
``cap``                a card that carries at least as many chips as its value must be taken
``removed``            0 plays every card
``lowest, highest``    other cards, values of zero and below among them: such cards are worth points
``card_step``          2 leaves out every second value, so that there are no runs
``chips_shown``        without it, observations and pictures show only one's own chips
=====================  ============================================================================

Stocks that are not shown are no secret: all start alike and every move is public, so whoever
remembers the moves can count them. They are kept out of sight, not out of the information set.

**Actions.** 0 pay, 1 take. **Chance.** Who starts, if that is drawn, then the deck card by card, in
the order in which it will be turned up; outcome = number of the card, counted from the lowest.

**Who sees what.** Everybody sees every move and every card that is turned up. The rest of the deck,
and with it what was removed, is hidden; in the game of the known future it is public.

**Returns.** By option the score; the place, counted from the middle, so that it adds up to 0 (three
players get 1, 0, -1; equal scores share the mean of their places); or a win, 1 shared by all who
are first. All are paid at the end. **Version history.** v0: first version.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from common.errors import OptionError
from envs.core.drawing import Layout
from envs.core.facts import Facts, ObservationField, equal_seats
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER, Kernels, OptionalKernels
from envs.core.options import free_option, option
from envs.core.position import Position
from envs.core.seat_options import SeatOptions
from envs.no_thanks import kernels as functions
from envs.no_thanks import picture
from envs.no_thanks.kernels import MAX_CARDS, MAX_PLAYERS, NO_CARD, NOBODY, NUM_ACTIONS, RULES

RETURNS = ("score", "place", "win")
MAX_CHIPS = 99


class NoThanksOptions(SeatOptions):
    """Options of No Thanks!."""

    num_players: int = option(3, low=3, high=MAX_PLAYERS, help="players at the table")
    lowest: int = option(3, low=-20, high=60, help="value of the lowest card")
    highest: int = option(35, low=-20, high=60, help="value of the highest card")
    card_step: int = option(1, low=1, high=10, help="from one card's value to the next")
    removed: int = option(9, low=0, high=MAX_CARDS - 1, help="cards that are removed unseen")
    chips: int | str | None = option(
        None,
        low=1,
        high=MAX_CHIPS,
        choices=("unlimited",),
        help="chips of each player at the start; null: 11 for three to five players, 9 for six, "
        "7 for seven",
    )
    chips_shown: bool = option(True, help="observations and pictures show everybody's chips")
    cap: bool = option(False, help="a card with as many chips as its value must be taken")
    known_future: bool = option(False, help="the order of the deck is public")
    first_player: int | str = free_option(
        0, low=0, high=MAX_PLAYERS - 1, choices=("random", "alternate"), help="who begins"
    )
    returns: str = free_option("score", choices=RETURNS, help="what is paid at the end")

    def __post_init__(self) -> None:
        """Check what no single option can."""
        if not 1 <= self.num_cards <= MAX_CARDS:
            raise OptionError(
                f"lowest {self.lowest}, highest {self.highest} and card_step {self.card_step} make "
                f"{self.num_cards} cards: choose them for 1 to {MAX_CARDS}"
            )
        if self.removed >= self.num_cards:
            raise OptionError(
                f"removed must be below the number of cards, {self.num_cards}, not {self.removed}"
            )
        if self.chips == "unlimited" and not self.cap:
            raise OptionError("with unlimited chips a game may never end: set cap to true as well")
        self.check_seat("first_player")

    @property
    def num_cards(self) -> int:
        """Cards before any are removed."""
        return max(0, (self.highest - self.lowest) // self.card_step + 1)

    @property
    def deck_size(self) -> int:
        """Cards that come into the game."""
        return self.num_cards - self.removed

    @property
    def values(self) -> list[int]:
        """The values of all cards, from the lowest on."""
        return [self.lowest + self.card_step * card for card in range(self.num_cards)]

    @property
    def starting_chips(self) -> int:
        """Chips of each player at the start; the accounts of unlimited chips start at 0."""
        if self.chips == "unlimited":
            return 0
        return self.chips if isinstance(self.chips, int) else min(11, 21 - 2 * self.num_players)


class NoThanks(Game):
    """No Thanks!; see the module for the rules.

    >>> game = NoThanks(lowest=3, highest=6, removed=1, chips=3, known_future=True)
    >>> position = game.deal([3, 6, 4])
    >>> for action in ("take", "pay", "take", "take"):
    ...     position.apply(position.parse_action(action))
    >>> position.returns().tolist()
    [-1.0, -6.0, 3.0]
    """

    id = "no_thanks_v0"
    title = "No Thanks!"
    summary = "Pay a chip, or take the card."
    Options = NoThanksOptions
    state_dtype = functions.STATE
    kernels = Kernels.of(functions)
    optional = OptionalKernels.of(functions)
    presets = MappingProxyType(
        {
            "official": {"chips_shown": False, "first_player": "random"},
            "known_future": {"known_future": True},
            "small": {"highest": 14, "removed": 4, "chips": 6, "known_future": True},
            "always_pay": {
                "highest": 15,
                "card_step": 2,
                "removed": 0,
                "chips": "unlimited",
                "cap": True,
                "known_future": True,
            },
            "always_take": {
                "lowest": -1,
                "highest": 6,
                "removed": 0,
                "chips": 6,
                "known_future": True,
            },
        }
    )
    options: NoThanksOptions

    def make_rules(self) -> Any:
        """Every option as a number, and the bounds that scale observations."""
        o = self.options
        r = np.zeros(1, RULES)[0]
        r.num_players = o.num_players
        r.num_cards = o.num_cards
        r.deck_size = o.deck_size
        r.lowest = o.lowest
        r.step = o.card_step
        r.chips = o.starting_chips
        r.is_unlimited = o.chips == "unlimited"
        r.has_cap = o.cap
        r.is_open = o.known_future
        r.hides_chips = not o.chips_shown
        r.alternates = o.first_player == "alternate"
        r.first_player = o.first_player if isinstance(o.first_player, int) else NOBODY
        r.returns = RETURNS.index(o.returns)
        r.chips_low, r.chips_high = self._chip_bounds()
        r.pot_high = max(1, max(o.highest, 0) if r.is_unlimited else r.chips_high)
        return np.frombuffer(r.tobytes(), np.int32)

    def _chip_bounds(self) -> tuple[int, int]:
        """The fewest and the most chips that one player can have."""
        o = self.options
        if o.chips != "unlimited":
            return 0, o.num_players * o.starting_chips
        # The cap lets a card collect its value; a player pays at most every n-th of these chips.
        carried = sorted((max(value, 0) for value in o.values), reverse=True)[: o.deck_size]
        paid = sum(-(-chips // o.num_players) for chips in carried)
        return -max(1, paid), max(1, sum(carried))

    def make_facts(self) -> Facts:
        """Every card can collect all chips, or with the cap as many as its value, and is taken."""
        o, r = self.options, self.rules.view(RULES)[0]
        all_chips = o.num_players * o.starting_chips if o.chips != "unlimited" else 10**6
        carried = [min(all_chips, max(v, 0)) if o.cap else all_chips for v in o.values]
        num_moves = sum(sorted(carried, reverse=True)[: o.deck_size]) + o.deck_size
        is_drawn = o.first_player == "random"
        low, high = self._score_bounds()
        return_sum = None
        if o.returns == "place":
            low, high, return_sum = -(o.num_players - 1) / 2, (o.num_players - 1) / 2, 0.0
        elif o.returns == "win":
            low, high, return_sum = 0.0, 1.0, 1.0
        return Facts(
            num_actions=NUM_ACTIONS,
            num_chance_outcomes=max(o.num_cards, o.num_players if is_drawn else 0),
            max_length=num_moves + int(r.deck_size) + is_drawn,
            seats=equal_seats(o.num_players, low, high),
            return_sum=return_sum,
            objective="win" if o.returns == "win" else "place",
            num_openings=o.num_players if o.first_player == "alternate" else 1,
        )

    def _score_bounds(self) -> tuple[float, float]:
        """Nobody can do worse or better: lead cards are no neighbours."""
        o, r = self.options, self.rules.view(RULES)[0]
        apart = 2 if o.card_step == 1 else 1  # of two neighbours only the lower is a lead card
        dear = [value for value in o.values[::-1][::apart] if value > 0][: o.deck_size]
        gifts = [value for value in o.values[::apart] if value < 0][: o.deck_size]
        # 0 until the end, whatever can happen then.
        low = min(0, int(r.chips_low) - sum(dear))
        high = int(r.chips_high) - sum(gifts)
        if o.lowest > 0:  # who has more chips than at the start has taken a card
            high = max(o.starting_chips, high - o.lowest)
        return float(low), float(max(0, high))

    def make_fields(self) -> tuple[ObservationField, ...]:
        """The card and its chips, everybody's chips and cards, and the deck if it is public."""
        o = self.options
        n, num_cards = o.num_players, o.num_cards
        known = (
            ObservationField(
                "coming", num_cards, "cards to come: 1 for the next one, less for later ones"
            ),
        )
        return (
            ObservationField("seat", n, "one-hot seat of the viewer"),
            ObservationField("card", num_cards, "one-hot card that is face up"),
            ObservationField("pot", 1, "chips on it, as a share of the most it can carry"),
            ObservationField("cards_left", 1, "cards not yet taken, as a share of the deck"),
            ObservationField(
                "chips",
                n if o.chips_shown else 1,
                "share of all chips, from the viewer on in seat order"
                if o.chips_shown
                else "own share of all chips",
            ),
            ObservationField("to_move", n, "who is to move, from the viewer on"),
            ObservationField("cards", n * num_cards, "1 for every card taken, player by player"),
            *(known if o.known_future else ()),
        )

    # ---- words -----------------------------------------------------------------------------------

    def value(self, card: int) -> int:
        """The number printed on a card."""
        return self.options.lowest + self.options.card_step * card

    def deal(self, values: list[int], number: int = 0) -> Position:
        """The start of a game with this deck; of a short list the rest does not matter."""
        position = self.new_position(number)
        if self.options.first_player == "random":
            raise OptionError("a given deck needs a given starter: set first_player to a seat")
        order = [(value - self.options.lowest) // self.options.card_step for value in values]
        order += [card for card in range(self.options.num_cards) if card not in order]
        for card in order[: self.options.deck_size]:
            position.apply(card)
        return position

    def action_text(self, state: Any, action: int) -> str:
        """``pay`` or ``take``."""
        return ("pay", "take")[action]

    def chance_text(self, state: Any, outcome: int) -> str:
        """Who starts, or the card that comes next into the deck."""
        if self.record(state).starter == NOBODY:
            return f"player {outcome} starts"
        return f"shuffles {self.value(outcome)}"

    def runs(self, state: Any, player: int) -> list[tuple[int, int]]:
        """The runs of a player as pairs of their lowest and highest value."""
        cards = [self.value(int(c)) for c in np.flatnonzero(self.record(state).owner == player)]
        found: list[tuple[int, int]] = []
        for value in cards:
            if found and found[-1][1] == value - 1:
                found[-1] = (found[-1][0], value)
            else:
                found.append((value, value))
        return found

    def render(self, state: Any, viewer: int | None = None) -> str:
        """The card that is face up, then one line per player: chips, runs, who is to move."""
        s = self.record(state)
        o = self.options
        is_over = s.to_move == OVER
        lines = []
        if s.num_dealt > 0 and not is_over:
            card = self.value(int(s.deck[s.num_taken]))
            left = o.deck_size - int(s.num_taken) - 1
            lines.append(f"card {card} with {_chips(int(s.pot))}, {left} more to come")
        for player in range(o.num_players):
            is_shown = o.chips_shown or is_over or viewer in (None, player)
            chips = _chips(int(s.chips[player])) if is_shown else "? chips"
            runs = " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in self.runs(state, player))
            score = f", score {int(s.chips[player]) - int(s.leads[player])}" if is_over else ""
            mark = ">" if s.to_move == player else " "
            lines.append(f"{mark} player {player}: {chips}, cards {runs or 'none'}{score}")
        if (viewer is None or o.known_future) and not is_over:
            coming = [self.value(int(c)) for c in s.deck[int(s.num_taken) + 1 :] if c != NO_CARD]
            lines.append(f"deck {' '.join(map(str, coming)) or 'empty'}")
        return "\n".join(lines)

    def draw(self, state: Any, viewer: int | None = None, layout: Layout = "wide") -> str:
        """The card on the table, everybody's chips and runs."""
        return picture.draw(self, state, viewer)

    def conserved(self, state: Any) -> dict[str, float]:
        """Chips, cards, lead cards counted afresh, and that nobody is ever forced twice in a row.

        A player without chips who faces an empty card would have to take it and every card after
        it; play never leads there.
        """
        s = self.record(state)
        cards = [int(card) for card in s.deck if card != NO_CARD]
        leads = [
            sum(low for low, _ in self.runs(state, p)) for p in range(self.options.num_players)
        ]
        is_stuck = (
            s.to_move not in (CHANCE, OVER)
            and self.options.chips != "unlimited"
            and s.chips[s.to_move] + s.pot < 1
        )
        return {
            "chips": float(s.chips.sum() + s.pot),
            "duplicate cards": float(len(cards) - len(set(cards))),
            "cards without an owner": float((s.owner != NOBODY).sum() - s.num_taken),
            "lead cards": float(np.abs(s.leads[: len(leads)] - leads).sum()),
            "players without a choice for ever": float(is_stuck),
        }


def _chips(number: int) -> str:
    return f"{number} chip{'s' * (number != 1)}"
