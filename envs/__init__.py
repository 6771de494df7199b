"""The games. ``make_game`` gives the rules, ``make_env`` a PettingZoo environment over them.

>>> import envs
>>> envs.make_game("kuhn_v0").facts.num_actions
2
>>> from envs import kuhn_v0
>>> env = kuhn_v0.env()
>>> env.reset(seed=1)
>>> env.agent_selection
'player_0'
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from common.imports import look_up

if TYPE_CHECKING:
    from envs.adapters.aec import GameEnv
    from envs.core.game import Game
    from envs.core.position import Notation

__all__ = [
    "GAMES",
    "NOTATIONS",
    "find_notation",
    "game_class",
    "gymnasium_id",
    "make_env",
    "make_game",
    "make_raw_env",
    "register_envs",
]

GAMES: dict[str, str] = {
    "liars_dice_v0": "envs.liars_dice.game:LiarsDice",
    "scotland_yard_v0": "envs.pursuit.scotland_yard:ScotlandYard",
    "phantom_v0": "envs.pursuit.phantom:Phantom",
    "holdem_v0": "envs.holdem.game:Holdem",
    "no_thanks_v0": "envs.no_thanks:NoThanks",
    "leduc_v0": "envs.leduc.game:Leduc",
    "kuhn_v0": "envs.kuhn.game:Kuhn",
}
"""Every game, the large ones first: id -> where its class is; imported when asked for."""

NOTATIONS: dict[str, str] = {
    ".phh": "envs.holdem.phh:PHH",
    ".phhs": "envs.holdem.phh:PHH",
}
"""File formats of other programs: suffix -> where its ``Notation`` is."""


def game_class(game_id: str) -> type[Game]:
    """Find the class of a game by its id."""
    found: type[Game] = look_up("game", GAMES, game_id)
    return found


def make_game(game_id: str, preset: str | None = None, **options: Any) -> Game:
    """Make the rules of a game: ``make_game("liars_dice_v0", num_players=3, dice=2)``."""
    return game_class(game_id)(preset, **options)


def find_notation(suffix: str) -> Notation:
    """The notation of files whose names end so.

    >>> find_notation(".phh").name
    'PHH'
    """
    found: Notation = look_up("notation", NOTATIONS, suffix)
    return found


def make_env(game_id: str, *, render_mode: str | None = None, **options: Any) -> GameEnv:
    """Make the PettingZoo environment of a game, guarded like PettingZoo's classic environments."""
    from envs.adapters.aec import GameEnv

    return GameEnv(make_game(game_id, **options), render_mode=render_mode)


def make_raw_env(game_id: str, *, render_mode: str | None = None, **options: Any) -> GameEnv:
    """Make the PettingZoo environment of a game, in which an illegal action raises an error."""
    from envs.adapters.aec import GameEnv

    return GameEnv(make_game(game_id, **options), render_mode=render_mode, is_raw=True)


def gymnasium_id(game_id: str) -> str:
    """``kuhn_v0`` -> ``masquerade/kuhn-v0``, in Gymnasium's spelling."""
    name, version = game_id.rsplit("_v", 1)
    return f"masquerade/{name}-v{version}"


def register_envs() -> None:
    """Enter every game in the registries of PettingZoo and Gymnasium (``masquerade/<id>``).

    Calling it again changes nothing. PettingZoo has a registry since version 1.27; with an older
    one ``make_env`` makes the same.
    """
    import gymnasium
    import pettingzoo

    has_registry = hasattr(pettingzoo, "aec_registry")
    for game_id in GAMES:
        name, kwargs = f"masquerade/{game_id}", {"game_id": game_id}
        if has_registry and name not in pettingzoo.aec_registry:
            pettingzoo.register("aec", name, entry_point="envs:make_env", kwargs=kwargs)
        if gymnasium_id(game_id) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(game_id),
                entry_point="envs.adapters.single_agent:make_single_agent_env",
                vector_entry_point="envs.adapters.vector:make_seat_vector_env",
                kwargs=kwargs,
            )


def __getattr__(name: str) -> Any:
    """``from envs import liars_dice_v0`` gives ``env``, ``raw_env`` and ``game`` of that id."""
    if name not in GAMES:
        raise AttributeError(f"module 'envs' has no attribute '{name}'")
    from functools import partial

    return SimpleNamespace(
        env=partial(make_env, name),
        raw_env=partial(make_raw_env, name),
        game=partial(make_game, name),
    )
