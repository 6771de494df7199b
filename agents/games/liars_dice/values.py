"""The values of a table learner in Liar's Dice, as grids of bids by count and face."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Agent, Views
from agents.learnt import Exhibit, draw_grid
from agents.tabular.player import TabularAgent
from envs.core.kernels import CHANCE
from envs.core.rng import new_rng
from envs.liars_dice.game import LiarsDice

__all__ = ["exhibits"]

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
