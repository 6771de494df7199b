"""What hooks may know: whether they answer alike in all worlds that a player cannot tell apart.

Compiled self-play hands hooks the simulator's own state, so a hook that reads a hidden card would
learn to cheat. Random games are played; at every decision the hook is asked about the true state
and about a determinized one, and both answers must be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.tabular.components import Abstraction, make_opponent_model
from common.errors import MasqueradeError
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import below, new_rng

__all__ = ["check_abstraction", "check_opponent_model"]

_NUM_GAMES = 20


def check_abstraction(abstraction: Abstraction, game: Game, num_games: int = _NUM_GAMES) -> int:
    """Refuse an abstraction whose keys depend on what a player cannot know.

    >>> from agents.tabular.components import INFOSET
    >>> from envs import make_game
    >>> check_abstraction(INFOSET, make_game("kuhn_v0")) > 0
    True

    Returns:
        How many decisions were compared whose two worlds differ.
    """

    def keys_of(position: Position, seat: int, state: npt.NDArray[np.uint8]) -> Any:
        keys = np.zeros(game.facts.num_actions, np.uint64)
        abstraction.encode(state, game.rules, seat, position.key(seat), keys)
        return keys[position.legal_actions()]

    def check(position: Position, seat: int, keys: Any) -> None:
        for action, key in zip(position.legal_actions(), keys, strict=True):
            if key == 0:
                raise MasqueradeError(
                    f"the abstraction gives action {action} of seat {seat} the key 0: take another"
                )
        if len(set(keys.tolist())) < len(keys):
            raise MasqueradeError(
                f"the abstraction gives two actions of seat {seat} the same key: tell them apart"
            )

    return _compare("the abstraction gives other keys", game, num_games, keys_of, check)


def check_opponent_model(params: Mapping[str, Any], game: Game, num_games: int = _NUM_GAMES) -> int:
    """Refuse an opponent model that depends on what a player cannot know.

    Returns:
        How many decisions were compared whose two worlds differ.
    """
    model = make_opponent_model(params, game)
    ids = np.arange(1, 1 + game.facts.num_players) if model.by_opponent else None
    model.grow(1 + game.facts.num_players if model.by_opponent else 1)
    ids = np.zeros(game.facts.num_players, np.int64) if ids is None else ids

    def told(position: Position, seat: int, state: npt.NDArray[np.uint8]) -> Any:
        values, memory = np.ones(game.facts.num_actions), model.memory.copy()
        mask = np.zeros(game.facts.num_actions, np.int8)
        mask[position.legal_actions()] = 1
        model.adjust_hook(state, game.rules, seat, mask, values, 1.0, ids, memory)
        model.observe_hook(state, game.rules, seat, ids, memory)
        return np.concatenate([values.view(np.uint8), memory.ravel()])

    def learn(position: Position, seat: int, _answer: Any) -> None:
        model.observe_hook(position.state, game.rules, seat, ids, model.memory)

    return _compare("the opponent model answers otherwise", game, num_games, told, learn)


def _compare(
    fault: str,
    game: Game,
    num_games: int,
    ask: Callable[[Position, int, npt.NDArray[np.uint8]], Any],
    then: Callable[[Position, int, Any], None],
) -> int:
    num_compared = 0
    rng = new_rng(1)
    for position in _decisions(game, num_games):
        seat = position.turn
        world = position.determinized(seat, rng)
        answer = ask(position, seat, position.state)
        if not np.array_equal(answer, ask(position, seat, world)):
            raise MasqueradeError(
                f"{fault} in a world that seat {seat} cannot tell apart from the true one: "
                "read only what the player knows"
            )
        then(position, seat, answer)
        num_compared += not np.array_equal(world, position.state)
    return num_compared


def _decisions(game: Game, num_games: int) -> Iterator[Position]:
    """The decisions of random games, one after the other."""
    rng = new_rng(0)
    for number in range(num_games):
        position = game.new_position(number)
        position.play_chance(rng)
        while not position.is_over:
            yield position
            legal = position.legal_actions()
            position.apply(legal[below(rng, len(legal))])
            position.play_chance(rng)
