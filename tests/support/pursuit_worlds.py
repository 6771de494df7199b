"""What a detective cannot tell apart: histories one by one, and all that he is shown."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from envs.core.position import Position
from envs.core.rng import below, new_rng
from tests.support.pursuits import belief, record

MOST_HISTORIES = 1500


def follow(worlds: list[Position], truth: Position, action: int, viewer: int) -> list[Position]:
    """Every history that shows ``viewer`` what the true action shows him."""
    game = truth.game
    token = int(game.kernels.seen(truth.state, game.rules, action, viewer))
    found = []
    for world in worlds:
        for other in world.legal_actions():
            if int(game.kernels.seen(world.state, game.rules, other, viewer)) == token:
                after = world.copy()
                after.apply(other)
                found.append(after)
    return found


def compare_with_histories(truth: Position, seed: int) -> int:
    """Play at random beside all histories that detectives cannot tell from the true one."""
    rng = new_rng(seed)
    worlds = [truth.copy()]
    num_compared = 0
    while not truth.is_over and len(worlds) < MOST_HISTORIES:
        legal = truth.legal_actions()
        action = legal[int(below(rng, len(legal)))]
        worlds = follow(worlds, truth, action, viewer=1)
        truth.apply(action)
        assert {world.turn for world in worlds} == {truth.turn}
        places = Counter(int(record(world).place[0]) for world in worlds)
        if set(places) == {-1}:
            continue
        # Once he was seen, histories are counted from there on: the shares stay the same.
        weights, total = belief(truth), sum(belief(truth).values())
        assert set(weights) == set(places)
        shares = {place: count / len(worlds) for place, count in places.items()}
        assert {place: w / total for place, w in weights.items()} == pytest.approx(shares)
        if record(truth).seen_place == -1:
            assert weights == dict(places)
        num_compared += 1
    return num_compared


def look(game: Any, position: Any, viewer: int, is_own: bool, rng: Any) -> tuple[Any, ...]:
    """All that a detective gets in another world that he cannot tell from this one."""
    twin = position.copy()
    twin.state[:] = position.determinized(viewer, rng)
    seen = (
        twin.observation(viewer).tobytes(),
        twin.text(viewer),
        game.draw(twin.state, viewer),
        game.status(twin.state),
    )
    if not is_own:
        return seen
    with pytest.raises(ValueError, match="is not legal here") as refused:
        twin.apply(-1)
    return (*seen, twin.mask().tobytes(), str(refused.value))
