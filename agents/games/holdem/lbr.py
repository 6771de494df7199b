"""Local best response for heads-up hold'em: how much can be won from an agent, at least.

It knows the agent's policy and keeps a *range*, how likely the agent holds each private hand, by
Bayes' rule at every move of the agent. At its own decisions it takes the action with the best value
if both only check and call from then on: a fold is worth nothing, a call wins by its equity against
the range, a raise also by the hands that fold to it. What it wins is a lower bound of what a best
response wins (V. Lisý and M. Bowling, "Equilibrium approximation quality of current no-limit poker
bots", 2017).

An agent that cannot tell its policy is asked once for each hand, and its answer counts as certain;
the responder is then weaker, and its winnings are still a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import types

from agents.base import Actions, Agent, Views
from common.errors import MasqueradeError
from envs.core.compiling import compiled
from envs.core.engine import determinize_movers
from envs.core.game import Game
from envs.core.kernels import CHANCE, INT, KERNELS, RULES
from envs.core.rng import Words, fill_streams, first_key, fold, next_word, stream
from envs.holdem.betting import amount_of, call_to
from envs.holdem.equity import all_hands, equity_against
from envs.holdem.evaluator import DECK_SIZE
from envs.holdem.options import IN, NOBODY, STATE
from envs.holdem.options import RULES as HOLDEM_RULES

FOLD, CALL = 0, 1
LEAST = 0.02
"""Share of other hands that is left in a range, for agents whose answers are taken as certain."""
Range = npt.NDArray[np.float64]
State = npt.NDArray[np.uint8]
Hands = npt.NDArray[np.int8]
_HANDS = types.int8[:, ::1]


@compiled(
    types.void(
        KERNELS, RULES, types.uint8[::1], types.int64[::1], INT, INT, _HANDS, types.uint64[::1]
    )
)
def _keys_of_hands(kernels, rules, state, history, dealt_at, player, hands, keys):
    """What each private hand of ``player`` makes of its information set after ``history``.

    ``dealt_at`` is the place of its second private card in the history; only that is different.
    """
    for i in range(keys.size):
        keys[i] = first_key(player)
    for at in range(history.size):
        if at == dealt_at:
            for i in range(keys.size):
                s = state.view(STATE)[0]
                s.hole[player, 0] = hands[i, 1]
                keys[i] = fold(keys[i], kernels.seen(state, rules, np.int64(hands[i, 0]), player))
            s = state.view(STATE)[0]
            s.hole[player, 0] = history[at - 1]
        else:
            token = kernels.seen(state, rules, history[at], player)
            for i in range(keys.size):
                keys[i] = fold(keys[i], token)
        kernels.step(state, rules, history[at])


@dataclass
class _Following:
    """What is known about one game in play."""

    seat: int
    opening: int
    rng: Words
    """Of the decision at hand."""
    history: list[int]
    """All actions and outcomes, with any cards for the agent's private ones."""
    weights: Range
    """[1326] how likely the agent holds each hand, in any unit."""


class LocalBestResponse(Agent):
    """Answers one agent, whose policy it knows.

    Args:
        game: hold'em for two players, one hand.
        opponent: who is answered.
        num_boards: random boards by which equities are estimated.
    """

    game_ids = ("holdem_v0",)
    wants_tokens = True

    def __init__(self, game: Game, opponent: Agent, num_boards: int = 60) -> None:
        """Refuse games and opponents that it cannot answer."""
        super().__init__(game)
        options: dict[str, object] = game.options.to_dict()
        if options["num_players"] != 2 or options["num_hands"] != 1 or options["menu"] == "exact":
            raise MasqueradeError(
                "lbr answers heads-up hands with a menu of bets: set num_players=2, num_hands=1 "
                "and a list of fractions as the menu"
            )
        if opponent.num_past or opponent.wants_tokens:
            raise MasqueradeError(
                f"lbr asks for every private hand, and '{opponent.name}' wants to look back: "
                "only agents that go by the present observation can be answered"
            )
        self.name = "lbr"
        self._opponent = opponent
        self._num_boards = num_boards
        self._rules = game.rules.view(HOLDEM_RULES)[0]
        self._hands = all_hands()
        self._in_play: dict[int, _Following] = {}

    def act(self, views: Views) -> Actions:
        """The best action of every row, if nobody raises after it."""
        worlds, chosen = views.worlds(), np.empty(len(views), np.int64)
        for row, world in enumerate(worlds):
            following = self._follow(views, world, row)
            chosen[row] = self._best(world, views.masks[row], following)
        return chosen

    def end_games(self, game_ids: Words, seats: Actions, returns: Range) -> None:
        """Forget games that are over."""
        for game_id in game_ids.tolist():
            self._in_play.pop(game_id, None)

    # ---- following a hand ------------------------------------------------------------------------

    def _follow(self, views: Views, world: State, row: int) -> _Following:
        """Play what was seen since the last decision, and narrow the range at every move."""
        game_id, seat, rng = int(views.game_ids[row]), int(views.seats[row]), views.rngs[row]
        s = self.game.record(world)
        own = {int(card) for card in s.hole[seat]}
        following = self._in_play.get(game_id)
        if following is None:
            weights = np.ones(len(self._hands))
            following = _Following(seat, max(int(s.button), 0), rng, [], weights)
            self._in_play[game_id] = following
            self._exclude(weights, own)
        following.rng = rng
        # Which cards stand for the agent's makes no difference, if they appear nowhere else.
        seen = own | {int(card) for card in s.board if card >= 0}
        spare = [card for card in range(DECK_SIZE) if card not in seen]
        num_known, following.history = len(following.history), []
        position = self.game.new_position(following.opening)
        for number, token in enumerate(views.tokens(row)):
            action = self._action_of(position.state, token, s, seat, spare)
            if number >= num_known and position.turn == 1 - seat:
                self._narrow(position.state, following, action)
            elif number >= num_known and position.is_chance and self._is_common(position.state):
                self._exclude(following.weights, {action})
            following.history.append(action)
            position.apply(action)
        return following

    def _is_common(self, state: State) -> bool:
        """Whether the next card is for the board."""
        then = self.game.record(state)
        return bool(then.button != NOBODY and then.deal_seat == NOBODY)

    def _action_of(
        self, state: State, token: int, s: np.record, seat: int, spare: list[int]
    ) -> int:
        """The action or outcome behind a token; private cards of the agent are any."""
        then = self.game.record(state)
        if then.to_move != CHANCE or then.button == NOBODY:
            return token - 1
        if then.deal_seat == seat:
            return int(s.hole[seat, int(then.num_own)])
        if then.deal_seat != NOBODY:
            return spare[int(then.num_own)]
        return token - 2

    def _exclude(self, weights: Range, cards: set[int]) -> None:
        """Nobody else holds these cards."""
        weights[np.isin(self._hands, list(cards)).any(axis=1)] = 0.0

    def _narrow(self, state: State, following: _Following, action: int) -> None:
        """Bayes: hands with which the agent seldom does this become less likely."""
        possible, probs = self._policy(state, following, following.history)
        if float(following.weights[possible] @ probs[:, action]) > 0.0:
            following.weights[possible] *= probs[:, action]

    # ---- asking the agent ------------------------------------------------------------------------

    def _policy(
        self, state: State, following: _Following, history: list[int]
    ) -> tuple[npt.NDArray[np.int64], Range]:
        """What the agent does in a position: possible hands, and [hands, actions] with each."""
        possible = np.flatnonzero(following.weights)
        game, hands, count = self.game, self._hands[possible], len(possible)
        opponent = 1 - following.seat
        worlds = np.repeat(state[None, :], count, axis=0)
        worlds.view(STATE)["hole"][:, 0, opponent] = hands
        rngs = np.empty((count, 4), np.uint64)
        fill_streams(stream(int(next_word(following.rng) >> np.uint64(1))), np.arange(count), rngs)
        determinize_movers(game.kernels, game.rules, rngs.copy(), worlds)
        views = Views(
            game,
            np.full(count, opponent, np.int64),
            self._keys(following.opening, history, hands, opponent),
            rngs,
            worlds,
            np.arange(count).astype(np.uint64),
        )
        probs = self._opponent.policy(views)
        if probs is None:
            probs = np.full((count, game.facts.num_actions), LEAST)
            probs[np.arange(count), self._opponent.act(views)] += 1.0
            probs *= views.masks
            probs /= probs.sum(axis=1, keepdims=True)
        return possible, probs

    def _keys(self, opening: int, history: list[int], hands: Hands, player: int) -> Words:
        """The infoset of the agent with each hand."""
        position = self.game.new_position(opening)
        is_drawn = self.game.record(position.state).button == NOBODY
        keys = np.empty(len(hands), np.uint64)
        dealt_at = int(is_drawn) + 2 * player + 1
        _keys_of_hands(
            self.game.kernels,
            self.game.rules,
            position.state.copy(),
            np.array(history, np.int64),
            dealt_at,
            player,
            np.ascontiguousarray(hands),
            keys,
        )
        return keys

    # ---- choosing --------------------------------------------------------------------------------

    def _best(self, world: State, mask: npt.NDArray[np.int8], following: _Following) -> int:
        s, r, seat = self.game.record(world), self._rules, following.seat
        price = float(min(max(call_to(s, r, seat) - s.bets[seat], 0), s.stacks[seat]))
        chance = self._equity(s, following, following.weights)
        values = {CALL: chance * float(s.pot) - (1.0 - chance) * price}
        if mask[FOLD]:
            values[FOLD] = 0.0
        for action in np.flatnonzero(mask[2:]) + 2:
            value = self._value_of_raise(world, int(action), following)
            values[int(action)] = values[CALL] if value is None else value
        return max(values, key=lambda action: values[action])

    def _value_of_raise(self, world: State, action: int, following: _Following) -> float | None:
        """The agent folds some hands, calls with the others; ``None``: a call by another name."""
        s, seat = self.game.record(world), following.seat
        amount, in_pot = float(amount_of(s, self._rules, seat, action)), float(s.pot)
        after = world.copy()
        self.game.kernels.step(after, self.game.rules, action)
        then = self.game.record(after)
        if then.to_move != 1 - seat or then.status[1 - seat] != IN:
            return None
        possible, probs = self._policy(after, following, [*following.history, action])
        weights, folds = following.weights[possible], probs[:, FOLD]
        fold_share = float(weights @ folds) / float(weights.sum())
        calling = np.zeros(len(self._hands))
        calling[possible] = weights * (1.0 - folds)
        paid = amount - float(s.bets[seat])
        if fold_share > 1.0 - 1e-9:
            return in_pot
        chance = self._equity(s, following, calling)
        # What the agent must add to call, or has left.
        theirs = min(amount - float(s.bets[1 - seat]), float(s.stacks[1 - seat]))
        own = min(paid, theirs + float(s.bets[1 - seat]) - float(s.bets[seat]))
        called = chance * (in_pot + theirs) - (1.0 - chance) * own
        return fold_share * in_pot + (1.0 - fold_share) * called

    def _equity(self, s: np.record, following: _Following, weights: Range) -> float:
        board, own = s.board[: int(s.num_board)].copy(), s.hole[following.seat]
        rng, num_boards = following.rng, self._num_boards
        return equity_against(own, weights, board, rng=rng, num_boards=num_boards)
