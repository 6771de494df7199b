"""What an agent can reach gives it no more than the rules allow, and harms nobody else."""

from __future__ import annotations

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent, Views
from arena.match import play_match
from envs import make_game
from envs.core.batch import Batch, random_actions
from envs.core.game import Game
from envs.core.rng import Words, new_rng, one_way_block, seed_stream, stream
from tests.support.mid_game import ROWS, batch_in_mid_game, moves_of
from tests.support.option_sets import every_option_set
from tests.support.reach import reachable


@every_option_set
def test_no_true_state_is_within_reach(game: Game) -> None:
    num_hidden = 0
    for num_moves in moves_of(game):
        num_hidden += look_behind_views(batch_in_mid_game(game, num_moves, seed=1))
    assert num_hidden > 0, "the worlds are the true states"


def look_behind_views(batch: Batch) -> int:
    views = batch.views(np.arange(ROWS))
    views.observations, views.masks, views.worlds()
    for thing in reachable(views):
        if isinstance(thing, Batch):
            raise AssertionError("the batch is within reach")
        if isinstance(thing, np.ndarray):
            for own in (*batch._rows, *batch._streams):
                assert not np.shares_memory(thing, own)
    return views._worlds != batch._states.tobytes()


class Rogue(Agent):
    """Writes into everything it is given before it draws its action."""

    def act(self, views: Views) -> Actions:
        rngs, masks = views.rngs.copy(), views.masks.copy()
        actions = random_actions(masks, rngs)
        for thing in reachable(views):
            if isinstance(thing, np.ndarray):
                try:
                    thing.setflags(write=True)
                    thing[...] = 1
                except ValueError:
                    pass
        for name, value in {"seats": 1 - views.seats, "keys": None, "rngs": None}.items():
            setattr(views, name, value)
        with pytest.raises(ValueError, match="WRITEABLE"):
            self.game.rules.setflags(write=True)
        for name in ("rules", "kernels", "facts", "options"):
            with pytest.raises(AttributeError, match="never changes"):
                setattr(self.game, name, None)
        return actions


@pytest.mark.parametrize("game_id", ["kuhn_v0", "leduc_v0", "liars_dice_v0"])
def test_what_a_rogue_writes_changes_nobody_elses_results(game_id: str) -> None:
    game = make_game(game_id)
    other = make_agent(game_id.replace("_v0", "_rule"), game)
    rogue = play_match(game, [Rogue(game), other], 300, seed=4, batch_size=300)
    again = play_match(game, [Rogue(game), other], 300, seed=4, batch_size=7)
    assert (rogue.returns == again.returns).all()
    assert not rogue.faults


class Bender(Agent):
    """Bends the array of its generators where it stands, which NumPy allows."""

    def __init__(self, game: Game, way: str) -> None:
        super().__init__(game)
        self.way = way

    def act(self, views: Views) -> Actions:
        actions, rngs = views.masks.argmax(axis=1), views.rngs
        if self.way == "shape":
            rngs.shape = (-1,)
        elif self.way == "dtype":
            rngs.dtype = np.float64  # type: ignore[misc]
        else:
            rngs.resize((1, 1), refcheck=False)
        return actions


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("way", ["shape", "dtype", "resize"])
def test_who_bends_its_generators_loses_its_own_games_and_stops_nobody(way: str) -> None:
    game = make_game("kuhn_v0")
    result = play_match(
        game, [Bender(game, way), make_agent("random", game)], 20, has_forfeits=True
    )
    assert len(result.faults) == 20
    assert {fault.seat for fault in result.faults} == {0}
    assert "lost their shape" in result.faults[0].reason


def test_a_swapped_seat_shows_no_card_of_the_opponent() -> None:
    class Swapper(Agent):
        """Bets when it believes that the opponent holds the jack, which it tries to read."""

        def act(self, views: Views) -> Actions:
            views.seats[:] = 1 - views.seats
            cards = self.game.observation_fields(views.observations)["card"].argmax(axis=1)
            return (cards == 0).astype(np.int64)

    game = make_game("kuhn_v0")
    honest = play_match(game, [Swapper(game), make_agent("random", game)], 2000, seed=1)
    # It has read its own card: it bets with the jack, the worst of all plans.
    assert honest.mean_returns[0] < 0.0


def test_the_dealers_stream_is_not_to_be_had_from_what_players_are_given() -> None:
    """The attack of old: invert an agent's generator to its root and derive the dealer's."""
    seed, number = 12345, 7
    root = stream(seed, "choice")
    given = np.empty(4, np.uint64)
    block: Words = np.empty(8, np.uint64)
    one_way_block(root, number, 0, block)
    given[:] = block[:4]
    # The old derivation could be undone word by word; with it the root gave the same generator.
    old = np.empty(4, np.uint64)
    seed_stream(root, 2 * number, old)
    assert (given != old).all()
    # What the function adds at the end keeps anybody from running it backwards: with any other key
    # everything is different, in about half of all bits.
    flipped = root.copy()
    flipped[3] ^= np.uint64(1)
    other: Words = np.empty(8, np.uint64)
    one_way_block(flipped, number, 0, other)
    bits = sum(bin(int(a) ^ int(b)).count("1") for a, b in zip(block, other, strict=True))
    assert 200 < bits < 312


def test_the_one_way_function_is_chacha12() -> None:
    """Against a plain implementation of the published block function."""
    mask = 0xFFFFFFFF

    def rotate(word: int, by: int) -> int:
        return (word << by | word >> (32 - by)) & mask

    def quarter(x: list[int], a: int, b: int, c: int, d: int) -> None:
        for one, two, three, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[one] = (x[one] + x[two]) & mask
            x[three] = rotate(x[three] ^ x[one], by)

    key, number, part = new_rng(99), 123456789012, 3
    words = [int(word) >> shift & mask for word in key for shift in (0, 32)]
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *words]
    start += [part & mask, part >> 32, number & mask, number >> 32]
    x = start.copy()
    for _ in range(6):
        for column in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)):
            quarter(x, *column)
        for diagonal in ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(x, *diagonal)
    summed = [(a + b) & mask for a, b in zip(x, start, strict=True)]
    expected = [summed[i] | summed[i + 1] << 32 for i in range(0, 16, 2)]
    out: Words = np.empty(8, np.uint64)
    one_way_block(key, number, part, out)
    assert [int(word) for word in out] == expected
