"""How fast ISMCTS is, next to OpenSpiel's: ``python -m benchmarks.search_speed``.

Both sides search the first decision of a game, the same number of simulations at a time, each of
them with one random rollout, and begin every search with an empty tree. One core.

``leduc_cpp``
    Leduc poker, against the C++ bot.
``leduc_python``, ``liars_dice_python``
    Against the Python bot, in Leduc poker and in one round of Liar's Dice with five dice each. That
    game of OpenSpiel's cannot resample, so the C++ bot cannot play it; the Python bot is given a
    resampler of ours.
``holdem_cpp``
    No-limit hold'em for two with stacks of 100 big blinds, fold, call, pot and all-in, against the
    C++ bot.

What a second thread is worth: ``python -m benchmarks.search_threads``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agents.ismcts import TreeSearcher, TreeSettings
from agents.ismcts.searcher import Budget, Root
from benchmarks.harness import Chunk, Curve, Job, main, times
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import new_rng

SIMULATIONS = 2000
FEW = 50
"""In hold'em, where the peer takes a fifth of a second for so many."""
UCT_C = 2.0
PLAIN: dict[str, Any] = {
    "rollout": "random",
    "selection": "ucb",
    "horizon": "end",
}
"""What the peers do."""
HOLDEM = (
    "universal_poker(betting=nolimit,bettingAbstraction=fcpa,blind=100 50,firstPlayer=2 1 1 1,"
    "numBoardCards=0 3 1 1,numHoleCards=2,numPlayers=2,numRanks=13,numRounds=4,numSuits=4,"
    "stack=10000 10000)"
)
HOLDEM_MENU: dict[str, Any] = {"num_players": 2, "menu": 1.0, "minimum": False}
FIVE_DICE: dict[str, Any] = {"preset": "openspiel", "dice": 5}


def our_search(
    make: Callable[[], Game], simulations: int = SIMULATIONS, num_moves: int = 0, **settings: Any
) -> Chunk:
    """Search the first decision again and again, or one after a number of random moves."""
    game = make()
    batch, row = Batch(game, 1, chance=new_rng(1)), np.arange(1)
    batch.begin(row, row)
    for _ in range(num_moves):
        batch.step(row, np.flatnonzero(batch.views(row).masks[0])[:1])
    views = batch.views(row)
    root = Root(views.worlds()[0], int(views.seats[0]), views.keys[0], views.masks[0])
    searcher = TreeSearcher(game, TreeSettings(**{**PLAIN, **settings}))
    rng = new_rng(0)

    def chunk() -> int:
        return searcher.search(root, rng, Budget(simulations)).simulations

    return chunk


# ---- peers ---------------------------------------------------------------------------------------


def dealt(pyspiel: Any, text: str) -> tuple[Any, Any]:
    """A game and its first decision after a deal."""
    game = pyspiel.load_game(text)
    state, rng = game.new_initial_state(), np.random.default_rng(0)
    while state.is_chance_node():
        outcomes, probs = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(int(rng.choice(outcomes, p=probs)))
    return game, state


def cpp_bot(text: str, simulations: int) -> Chunk:
    """OpenSpiel's C++ bot, as its tests make it."""
    import pyspiel

    _, state = dealt(pyspiel, text)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
    bot = pyspiel.ISMCTSBot(0, evaluator, UCT_C, simulations)

    return times(simulations, lambda: bot.step(state))


def python_bot(text: str, resampler: Callable[..., Any] | None = None) -> Chunk:
    """OpenSpiel's Python bot."""
    import pyspiel
    from open_spiel.python.algorithms import ismcts, mcts

    game, state = dealt(pyspiel, text)
    rng = np.random.RandomState(0)
    bot = ismcts.ISMCTSBot(
        game, mcts.RandomRolloutEvaluator(1, rng), UCT_C, SIMULATIONS, random_state=rng
    )
    if resampler:
        bot.set_resampler(partial(resampler, game, np.random.default_rng(1)))

    return times(SIMULATIONS, lambda: bot.step(state))


def resample_dice(
    game: Any, rng: np.random.Generator, state: Any, player: int, _sampler: Any = None
) -> Any:
    """Another state of Liar's Dice in which the player has the same dice."""
    history = state.history()
    num_dice = game.get_parameters()["numdice"]
    other = game.new_initial_state()
    for i, action in enumerate(history):
        if i < 2 * num_dice and i // num_dice != player:
            action = int(rng.integers(6))
        other.apply_action(action)
    return other


LEDUC = partial(make_game, "leduc_v0")
FIVE = partial(make_game, "liars_dice_v0", **FIVE_DICE)


def _job(
    name: str, what: str, ours: Callable[[], Chunk], theirs: Callable[[], Chunk], target: float
) -> Job:
    title = f"OpenSpiel ISMCTS, {'C++' if name.endswith('_cpp') else 'Python'}"
    return Job(name, what, ours, theirs, title, UNIT, target)


UNIT = "simulations/s"
OUR_LEDUC, OUR_DICE = partial(our_search, LEDUC), partial(our_search, FIVE)
OUR_HOLDEM = partial(our_search, partial(make_game, "holdem_v0", **HOLDEM_MENU), FEW)
THEIR_DICE = partial(python_bot, "liars_dice(numdice=5)", resample_dice)
JOBS = [
    _job("leduc_cpp", "Leduc poker", OUR_LEDUC, partial(cpp_bot, "leduc_poker", SIMULATIONS), 2.0),
    _job("leduc_python", "Leduc poker", OUR_LEDUC, partial(python_bot, "leduc_poker"), 100.0),
    _job(
        "liars_dice_python", "a round of Liar's Dice, five dice each", OUR_DICE, THEIR_DICE, 100.0
    ),
    _job(
        "holdem_cpp", "no-limit hold'em for two", OUR_HOLDEM, partial(cpp_bot, HOLDEM, FEW), 200.0
    ),
]

OBSERVERS = {"one observer": "single", "many": "many", "perfect": "perfect"}


def lines(points: dict[int, Callable[..., Chunk]]) -> Any:
    """A line for each kind of tree."""
    return {
        name: {x: partial(search, observers=observers) for x, search in points.items()}
        for name, observers in OBSERVERS.items()
    }


MATCH = partial(make_game, "liars_dice_v0")
LENGTHS = (64, 512, 4096, 32768)
TABLES = {n: partial(make_game, "holdem_v0", num_players=n) for n in (2, 4, 6, 8, 10)}
MAPS = {
    rows: partial(make_game, "phantom_v0", rows=rows, columns=10, num_maps=1)
    for rows in (4, 8, 12, 16)
}
BY_LENGTH = lines({n: partial(our_search, MATCH, n, max_nodes=1 << 17) for n in LENGTHS})
BY_PLAYERS = lines({n: partial(our_search, make) for n, make in TABLES.items()})
BY_ROWS = lines({rows: partial(our_search, make, num_moves=1) for rows, make in MAPS.items()})
DICE = "Liar's Dice, five dice each, a match: length of a search"
CURVES = [
    Curve("iterations", DICE, "simulations", BY_LENGTH, UNIT, is_logarithmic=True),
    Curve("players", "hold'em: players at the table", "players", BY_PLAYERS, UNIT),
    Curve("board", "Phantom on generated maps: rows of ten stations", "rows", BY_ROWS, UNIT),
]

if __name__ == "__main__":
    sys.exit(main("search_speed", __doc__, JOBS, CURVES))
