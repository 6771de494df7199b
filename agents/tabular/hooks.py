"""What a game may add to a table learner, by name: abstractions, rewards, opponent models.

Abstractions are those of :mod:`agents.abstraction`. A reward of your own is a function compiled as
``REWARD``, an opponent model a class like :class:`OpponentModel`.

For compiled code they are four functions, which travel as a row of addresses like those of a game:

==========  =======================================================================================
``encode``  the information abstraction: writes the table's key for every action
``reward``  what a player earned between two decisions, where the game's own returns will not do
``observe`` told of the position after every move, so that an opponent model can remember it
``adjust``  changes the values that the next action is selected by, and only those
==========  =======================================================================================

What they are handed is a state that ``player`` cannot tell from the true one: a determinized world
where others play, the simulator's own state in compiled self-play. They may depend only on what is
the same in all such worlds: the own hand, what is public, and the perfect-recall key. A function
that reads a hidden card would learn to cheat, so those of your own are checked first
(``check_abstraction``, ``check_opponent_model``): random games are played, and at every decision it
must answer alike for the true state and for a determinized one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numba import types

from agents.abstraction import ENCODE, Abstraction
from common.errors import MasqueradeError, OptionError, reason_of
from common.imports import find_named
from envs.core.addresses import Addresses, AddressesType
from envs.core.game import Game
from envs.core.kernels import INT, MASK, RULES, STATE, TOTALS
from envs.core.position import Position
from envs.core.rng import below, new_rng
from envs.core.rollouts import FAULTS

KEYS = types.uint64[::1]
IDS = types.int64[::1]
MEMORY = types.uint8[:, ::1]

REWARD = types.float64(STATE, STATE, RULES, INT, TOTALS)
"""``reward(before, after, rules, player, levels)``: from one own decision to the next, or to the
end; ``levels`` are three numbers from the settings."""
OBSERVE = types.void(STATE, RULES, INT, IDS, MEMORY)
"""``observe(state, rules, player, opponent_ids, memory)`` after every move, whoever made it;
``memory[opponent_ids[seat]]`` are the bytes kept about the player in ``seat``."""
ADJUST = types.void(STATE, RULES, INT, MASK, TOTALS, types.float64, IDS, MEMORY)
"""``adjust(state, rules, player, mask, values, table_max, opponent_ids, memory)`` before an action
is selected; ``table_max`` is the highest value of the table, or -1 if nobody asked for it."""

HOOKS = AddressesType(
    "masquerade.Hooks", {"encode": ENCODE, "reward": REWARD, "observe": OBSERVE, "adjust": ADJUST}
)


class Hooks(Addresses):
    """The four functions, as one cheap argument for compiled code; ``encode`` must be there."""

    numba_type = HOOKS
    decorator = "@compiled({}) from agents.tabular.hooks"
    encode: Callable[..., None]
    reward: Callable[..., float]
    observe: Callable[..., None]
    adjust: Callable[..., None]


REWARDS: dict[str, str] = {
    "rounds": "agents.games.liars_dice.tables:ROUNDS",
    "sightings": "agents.games.pursuit.abstraction:SIGHTINGS",
}
"""Rewards for events, by name."""

OPPONENT_MODELS: dict[str, str] = {"lies": "agents.games.liars_dice.lies:LieProfiles"}
"""Opponent models by name."""


class Reward(NamedTuple):
    """A reward for events between two decisions."""

    function: Callable[..., float]
    """Compiled as ``agents.tabular.hooks.REWARD``."""
    game_ids: tuple[str, ...] = ()


class OpponentModel(Protocol):
    """What a learner remembers of its opponents, and what it makes of it.

    It is made from the game and a mapping of settings, and refuses a game that it is not for.
    """

    observe_hook: Callable[..., None]
    """Compiled as ``agents.tabular.hooks.OBSERVE``."""
    adjust_hook: Callable[..., None]
    """Compiled as ``agents.tabular.hooks.ADJUST``."""
    memory: npt.NDArray[np.uint8]
    """[rows, bytes] a row for every opponent, or one for all."""
    uses_table_max: bool
    """Whether it asks for the highest value of the table at every move."""
    by_opponent: bool
    """Whether opponents are told apart; the learner itself has row 0."""

    def grow(self, num_rows: int) -> None:
        """Have at least so many rows."""


def find_reward(name: str, game: Game) -> Callable[..., float]:
    """A reward by its name or as ``module:name``."""
    found = find_named("reward", REWARDS, name)
    reward = found if isinstance(found, Reward) else Reward(found)
    if reward.game_ids and game.id not in reward.game_ids:
        games = " and ".join(reward.game_ids)
        raise OptionError(f"reward '{name}' is for {games}, not {game.id}: take 'end'")
    return reward.function


def make_opponent_model(params: Mapping[str, Any], game: Game) -> OpponentModel:
    """An opponent model from ``{"id": ..., ...}``: the rest are settings of its own."""
    params = dict(params)
    name = params.pop("id", None)
    if not isinstance(name, str):
        raise OptionError(f"opponent_model needs an id: {', '.join(OPPONENT_MODELS)}")
    found = find_named("opponent model", OPPONENT_MODELS, name)
    try:
        model: OpponentModel = found(game, params)
    except FAULTS as error:
        if name in OPPONENT_MODELS or isinstance(error, MasqueradeError):
            raise
        raise OptionError(f"opponent model '{name}' cannot be made: {reason_of(error)}") from error
    return model


_NUM_GAMES = 20


def check_abstraction(abstraction: Abstraction, game: Game, num_games: int = _NUM_GAMES) -> int:
    """Refuse an abstraction whose keys depend on what a player cannot know.

    >>> from agents.abstraction import INFOSETS
    >>> from envs import make_game
    >>> check_abstraction(INFOSETS, make_game("kuhn_v0")) > 0
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
    model, num_players = make_opponent_model(params, game), game.facts.num_players
    ids = np.arange(1, 1 + num_players) if model.by_opponent else np.zeros(num_players, np.int64)
    model.grow(1 + int(ids.max()))

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
