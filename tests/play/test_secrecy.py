"""Nothing hidden reaches a browser: what is sent to a seat is a function of what the seat has seen.

Two ways to look: over thousands of games, everything that was sent to a seat is compared with what
was sent to it in other games in which it noticed the same; and at positions of every game, with
what would be sent if only what the seat cannot see were otherwise. Byte for byte.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from envs import make_game
from envs.core.game import Game
from envs.core.kernels import UNSEEN
from envs.core.rng import new_rng
from play import view
from play.agents import Thinkers
from play.catalogue import Catalogue
from play.server import handle
from play.session import Session
from play.table import Table, TableSeat
from play.tables import Browser, Tables
from tests.support.option_sets import every_option_set
from tests.support.sampling import IS_FULL

SMALL: list[tuple[str, dict[str, Any], int]] = [
    ("kuhn_v0", {"num_players": 3}, 150),
    ("leduc_v0", {}, 80),
    ("liars_dice_v0", {"dice": 1, "faces": 3}, 80),
    ("no_thanks_v0", {"highest": 8, "removed": 3, "chips": 2}, 40),
    ("phantom_v0", {"preset": "map_1", "rounds": 2}, 6),
]
# Thousands of games by make test-all.
MORE = 20 if IS_FULL else 1


def sit(game: Game) -> Session:
    seats = [TableSeat(f"person {number}") for number in range(game.facts.num_players)]
    return Session("T", Table(game, seats), game.id)


def taken(guest: Browser) -> list[str]:
    """What was sent to a browser since it was asked last."""
    sent = []
    while not guest.outbox.empty():
        sent.append(str(guest.outbox.get_nowait()))
    return sent


class Leak(AssertionError):
    """Two streams of messages differ though the seat noticed the same."""


def compare_streams(game: Game, num_games: int) -> int:
    """Play random games; how often a seat could not tell two different positions apart."""
    rng = np.random.default_rng(0)
    known: dict[tuple[int, tuple[int, ...]], tuple[str, set[bytes]]] = {}
    for seed in range(num_games):
        session = sit(game)
        table = session.table
        table.begin(seed, number=0)
        guests = [Browser() for _ in table.seats]
        streams: list[list[str]] = [[] for _ in guests]
        while not table.is_over:
            for seat, guest in enumerate(guests):
                guest.send(session.view(seat))
                streams[seat] += taken(guest)
                key = seat, tuple(table.position.tokens(seat))
                stream = "\n".join(streams[seat])
                first, states = known.setdefault(key, (stream, set()))
                states.add(table.position.state.tobytes())
                if first != stream:
                    raise Leak(f"{game!r}, seed {seed}, seat {seat}")
            legal = table.position.legal_actions()
            table.move(table.turn, int(rng.choice(legal)))
    return sum(len(states) - 1 for _, states in known.values())


@pytest.mark.parametrize(("game_id", "options", "num_games"), SMALL, ids=lambda v: str(v))
def test_what_is_sent_depends_only_on_what_the_seat_noticed(
    game_id: str, options: dict[str, Any], num_games: int
) -> None:
    assert compare_streams(make_game(game_id, **options), MORE * num_games) > 2


def leak_of_look(game: Game, state: Any, viewer: int | None, _layout: str) -> view.Sight:
    true = view.look(game, state, viewer)
    return view.Sight(true.svg, game.render(state), true.to_move, true.choices)


def leak_of_notice(game: Game, state: Any, action: int, viewer: int) -> view.Entry | None:
    entry = view.notice(game, state, action, viewer)
    return entry and view.Entry(entry.actor, f"{entry.words} ({action})")


@pytest.mark.parametrize(("name", "leak"), [("look", leak_of_look), ("notice", leak_of_notice)])
def test_a_leak_would_be_found(
    monkeypatch: pytest.MonkeyPatch, name: str, leak: Callable[..., Any]
) -> None:
    monkeypatch.setattr(f"play.table.{name}", leak)
    with pytest.raises(Leak):
        compare_streams(make_game("kuhn_v0", num_players=3), 150)


def swapped(table: Table, viewer: int, seed: int) -> bool:
    """Put another world in place that ``viewer`` cannot tell from the true one."""
    position = table._position
    before = position.state.copy()
    table.game.kernels.determinize(position.state, table.game.rules, viewer, new_rng(seed))
    return bool((before != position.state).any())


@every_option_set
def test_what_a_seat_is_sent_is_the_same_in_every_world_it_cannot_tell_apart(game: Game) -> None:
    rng = np.random.default_rng(5)
    num_swapped = num_moves = 0
    session = sit(game)
    table = session.table
    for seed in range(2 * MORE):
        table.begin(seed)
        while not table.is_over and num_moves < 12 * (seed + 1):
            num_moves += 1
            truth = table._position.state.copy()
            viewer = int(rng.integers(len(table.seats)))
            legal = table.position.legal_actions()
            action = int(rng.choice(legal))
            sent = json.dumps(session.view(viewer).to_dict())
            token = int(game.kernels.seen(truth, game.rules, action, viewer))
            noticed = view.notice(game, truth, action, viewer)
            num_swapped += swapped(table, viewer, seed=num_moves)
            assert json.dumps(session.view(viewer).to_dict()) == sent
            world = table._position.state
            if token != UNSEEN:
                assert noticed == like(game, world, viewer, token, noticed)
            table._position.state[:] = truth
            table.move(table.turn, action)
    has_secrets = game.facts.num_chance_outcomes > 0 or game.id.startswith(("scotland", "phantom"))
    assert num_swapped > 0 or not has_secrets


def like(game: Game, world: Any, viewer: int, token: int, noticed: Any) -> Any:
    """What is noticed of a move in another world that looks the same, if there is one."""
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(world, game.rules, mask)
    for action in np.flatnonzero(mask):
        if int(game.kernels.seen(world, game.rules, int(action), viewer)) == token:
            return view.notice(game, world, int(action), viewer)
    return noticed


def test_what_an_agent_has_learnt_is_shown_without_secrets(tmp_path: Path) -> None:
    """Byte for byte the same in all games in which the seat has noticed the same."""
    assert asyncio.run(compare_learnt(tmp_path)) > 20


async def compare_learnt(folder: Path) -> int:
    tables, rng = Tables(folder, Catalogue(), Thinkers()), np.random.default_rng(0)
    known: dict[tuple[Any, ...], tuple[str, set[bytes]]] = {}
    for agent, game in [
        ("leduc_rule", make_game("leduc_v0")),
        ("liars_dice_rule", make_game("liars_dice_v0", dice=1, faces=3)),
    ]:
        tables.thinkers.adviser(game, agent, is_here=True)  # which may have to be compiled first
        session = tables.sessions["T"] = sit(game)
        guest = Browser()
        guest.sit("T", list(range(len(session.table.seats))))
        for seed in range(60 * MORE):
            session.table.begin(seed, number=0)
            while not session.table.is_over:
                seat = session.table.turn
                about = {"table": "T", "number": 0}
                message = {"type": "learnt", **about, "seat": seat, "agent": agent}
                await handle(tables, guest, json.dumps(message))
                sent = str(await guest.outbox.get())
                position = session.table.position
                key = agent, seat, tuple(position.tokens(seat))
                first, states = known.setdefault(key, (sent, set()))
                assert sent == first
                assert json.loads(sent)["type"] == "learnt"
                states.add(position.state.tobytes())
                session.table.move(seat, int(rng.choice(position.legal_actions())))
    tables.close()
    return sum(len(states) - 1 for _, states in known.values())


def test_a_call_is_named_though_it_turns_up_dice_that_nobody_could_guess() -> None:
    game = make_game("liars_dice_v0")
    position = game.replay([0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 0])  # the lowest bid
    liar = game.facts.num_actions - 1
    for viewer in (0, 1):
        entry = view.notice(game, position.state, liar, viewer)
        assert entry is not None
        assert entry.words == "liar"
