"""OpenSpiel's bots at our tables: ``openspiel:uniform``, or ``openspiel:module:factory``.

A bot of OpenSpiel wants a state of OpenSpiel's game, with everybody's cards and dice in it, and
promises not to look. Ours is not asked for a promise: its state is built from the view of the
player to move, with the hidden cards and dice drawn anew from what the player cannot rule out.

The factory ``factory(game, player, seed)`` gets the ``pyspiel`` game, the seat and a seed, and
returns a ``pyspiel.Bot`` in C++ or Python. It is called for every move, with a seed from the row's
own generator: so no bot knows more than one move, and the same seed gives the same games. What is
costly to make (a policy, a network) is best made once and kept outside. A bot that does not follow
its seed says so by ``factory.is_reproducible = False``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, Views
from common.errors import MasqueradeError, OptionError
from envs.core.game import Game
from envs.core.rng import next_word

World = npt.NDArray[np.uint8]
Factory = Callable[[Any, int, int], Any]

BIDDING = {"count_first": "reset-face", "face_first": "reset-quantity"}


# ---- our games as OpenSpiel's --------------------------------------------------------------------


def openspiel_name(game: Game) -> str:
    """What OpenSpiel calls the same game.

    >>> from envs import make_game
    >>> openspiel_name(make_game("kuhn_v0", num_players=3))
    'kuhn_poker(players=3)'
    """
    values = game.options.to_dict()
    if game.id == "kuhn_v0":
        return f"kuhn_poker(players={values['num_players']})"
    if game.id == "leduc_v0":
        return f"leduc_poker(players={values['num_players']})"
    wanted: dict[str, Any] = {"num_players": 2, "single_round": True, "wild": "highest"}
    wanted |= {"first_player": 0}
    wrong = [name for name, value in wanted.items() if values[name] != value]
    wrong += ["raising"] if values["raising"] not in BIDDING else []
    wrong += ["dice"] if not isinstance(values["dice"], int) else []
    if wrong:
        raise OptionError(
            f"OpenSpiel has no Liar's Dice with this {', '.join(wrong)}: "
            "use the option preset=openspiel"
        )
    rule = BIDDING[values["raising"]]
    return f"liars_dice(numdice={values['dice']},dice_sides={values['faces']},bidding_rule={rule})"


def _kuhn_history(game: Game, s: Any) -> list[int]:
    n = game.facts.num_players
    first = int(s.first_bettor)
    moves = [
        # Up to the first bet everybody has passed; from it on each seat spoke once.
        int(s.has_bet[move % n]) if 0 <= first <= move else 0
        for move in range(s.num_moves)
    ]
    return [*s.cards[:n].tolist(), *moves]


def _leduc_history(game: Game, s: Any) -> list[int]:
    first, second = ([move for move in moves.tolist() if move >= 0] for moves in s.moves)
    public = [int(s.public)] if s.public >= 0 else []
    return [*s.cards[: game.facts.num_players].tolist(), *first, *public, *second]


def _liars_dice_history(game: Game, s: Any) -> list[int]:
    # Bids rise, so their numbers tell their order.
    rolls = [int(die) - 1 for hand in s.dice for die in hand if die > 0]
    return [*rolls, *np.flatnonzero(s.was_bid).tolist()]


_HISTORIES: dict[str, Callable[[Game, Any], list[int]]] = {
    "kuhn_v0": _kuhn_history,
    "leduc_v0": _leduc_history,
    "liars_dice_v0": _liars_dice_history,
}


def openspiel_history(game: Game, world: World) -> list[int]:
    """Actions and chance outcomes, in OpenSpiel's numbers, that lead to a state of ours."""
    return _HISTORIES[game.id](game, game.record(world))


# ---- the bots ------------------------------------------------------------------------------------


class OpenSpielBot(Agent):
    """Lets a ``pyspiel.Bot`` play.

    Args:
        game: the game to play.
        path: ``uniform``, or ``module:factory``; see the module.
    """

    game_ids = tuple(_HISTORIES)
    code_params = ("path",)

    def __init__(self, game: Game, path: str = "uniform") -> None:
        """Find the game and the factory."""
        super().__init__(game)
        pyspiel = _import_pyspiel()
        self._their_game = pyspiel.load_game(openspiel_name(game))
        self._factory = _uniform if path == "uniform" else _find(path)
        self.is_reproducible = getattr(self._factory, "is_reproducible", True)

    def act(self, views: Views) -> Actions:
        """Build each row's state anew from what its player may know, and let a bot step in it."""
        actions = np.empty(len(views), np.int64)
        for row, world in enumerate(views.worlds()):
            state = self._their_game.new_initial_state()
            for action in openspiel_history(self.game, world):
                state.apply_action(action)
            seed = int(next_word(views.rngs[row]) >> np.uint64(33))
            bot = self._factory(self._their_game, int(views.seats[row]), seed)
            actions[row] = bot.step(state)
        return actions


def _uniform(_game: Any, player: int, seed: int) -> Any:
    return _import_pyspiel().make_uniform_random_bot(player, seed)


def _import_pyspiel() -> Any:
    try:
        return importlib.import_module("pyspiel")
    except ImportError as error:
        raise MasqueradeError(
            "agent 'openspiel' needs OpenSpiel: pip install open_spiel"
        ) from error


def _find(path: str) -> Factory:
    module, _, name = path.partition(":")
    try:
        factory: Factory = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionError(
            f"bot '{path}' cannot be found: write openspiel:uniform or openspiel:module:factory "
            f"({error})"
        ) from error
    return factory
