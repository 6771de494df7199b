"""What a player cannot see must not matter, neither to its view nor to any agent's choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import AGENTS, LEARNERS, agent_class, make_agent
from agents.base import Actions, Agent, Views
from agents.learning.learner import Opponents, Task
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import new_rng
from experiments.phantom import JOINT_SEARCH
from experiments.scotland_yard.reduced import ALPHA_BETA, CERTAIN, MIXED
from tests.support.asked_plans import RESPONSE
from tests.support.mid_game import ROWS, batch_in_mid_game, moves_of, swap_worlds
from tests.support.option_sets import OPTION_SETS, every_option_set, name
from tests.support.sampling import IS_FULL, sample
from training.config import learner_class

# What an agent needs that is nothing by itself.
PARAMS = {
    "external": {"path": "examples/external_player.py"},
    "leaning": {"base": "sarsa", "expected": [0.3, 0.3, 0.3]},
    "profiled": {"base": "sarsa"},
    # Enough simulations for trees; the swap is the same for any number.
    "ismcts": {"iterations": 25, "belief": "policy", "num_worlds": 8},
    "mo_ismcts": {"iterations": 25, "selection": "regret", "final": "mixture"},
    "pimc": {"iterations": 25, "num_worlds": 3},
    "flat_mc": {"iterations": 25},
    JOINT_SEARCH: {"iterations": 25},
    "pursuit_search": {"iterations": 25},
    "holdem_search": {"iterations": 25, "num_worlds": 8},
    "oos": {"iterations": 25},
    "pursuit_foresight": {"num_rounds": 1},
    "max_n": {"max_nodes": 200},
    "paranoid": {"max_nodes": 200},
    "best_reply": {"max_nodes": 200},
    "online_cfr": {"iterations": 25, "max_tree_nodes": 20_000},
}
# Players that come from learners: how they are trained here, for a moment.
SETTINGS: dict[str, dict[str, Any]] = {
    "sb3": {"num_envs": 1, "n_steps": 8, "batch_size": 8},
    "dqn": {"num_envs": 8, "learn_start": 8, "hidden": [16]},
    "offline": {"sample_games": 40, "epochs": 2},
    "mccfr": {"sampling": "outcome"},  # whose walks are short in every game
}
OWN_ABSTRACTIONS = [
    ("q_learning", {"abstraction": "hand"}),
    ("sarsa", {"abstraction": "blind", "opponent_model": {"id": "lies", "reading": "code"}}),
    ("dqn", {"num_envs": 8, "learn_start": 8, "hidden": [16], "history": 3}),
    ("mccfr_rounds", {"abstraction": "odds", "max_infosets": 200_000}),
]
# Searches that look up what the defaults do not: a guide, the quick policy of the game.
SEARCHES: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("mo_ismcts", {"iterations": 25, "guide": "random"}, ("kuhn_v0", "leduc_v0")),
    (
        "mo_ismcts",
        {"iterations": 25, "opponents": "rule", "belief": "policy", "num_worlds": 8},
        ("liars_dice_v0", "holdem_v0", "no_thanks_v0", "phantom_v0"),
    ),
]
SMALL_PURSUITS = (
    ALPHA_BETA,
    CERTAIN,
    MIXED,
    RESPONSE,
)
SMALL = [("kuhn_v0", {}), ("leduc_v0", {}), ("liars_dice_v0", {"preset": "openspiel"})]


def can_play(agent_id: str, row: tuple[str, dict[str, Any]]) -> bool:
    if agent_id == "cfr":
        return row in SMALL
    if agent_id == "openspiel":
        has_twin = row[0] != "liars_dice_v0" or row[1] == {"preset": "openspiel"}
        return has_twin and agent_class(agent_id).plays(row[0])
    if agent_id in SMALL_PURSUITS:
        return row == ("scotland_yard_v0", {"preset": "reduced"})
    if agent_id in ("pursuit_capture", "pursuit_search") and row[1].get("num_maps", 1) > 1:
        return False
    if agent_id == "cfr_rounds" and row[1].get("num_players", 2) > 2:
        return False
    if agent_id in ("no_thanks_slices", "no_thanks_value") and row[1]:
        return False  # their models are for three players and the whole deck
    if agent_id in LEARNERS and learner_class(agent_id).game_ids:
        return row[0] in learner_class(agent_id).game_ids
    return agent_class(agent_id).plays(row[0])


AGENTS_AND_GAMES = [
    pytest.param(agent_id, SETTINGS.get(agent_id, {}), row, id=f"{agent_id}-{name(row)}")
    for agent_id in AGENTS
    for row in OPTION_SETS
    if can_play(agent_id, row)
] + [
    pytest.param(agent_id, settings, row, id=f"{agent_id}-{settings}-{name(row)}")
    for agent_id, settings in OWN_ABSTRACTIONS
    for row in OPTION_SETS
    if row[0] == "liars_dice_v0"
]
AGENTS_AND_GAMES += [
    pytest.param(agent_id, settings, row, id=f"{agent_id}-{settings}-{name(row)}")
    for agent_id, settings, game_ids in SEARCHES
    for row in OPTION_SETS
    if row[0] in game_ids
]
# Every agent on an option set of every game; on all of them by make test-all.
SAMPLE = sample(
    AGENTS_AND_GAMES, lambda case: (case.values[0], str(case.values[1]), case.values[2][0])
)


def make_player(agent_id: str, settings: dict[str, Any], game: Game) -> Agent:
    """An agent, trained for a moment if it is one that learns."""
    if agent_id not in LEARNERS:
        return make_agent(agent_id, game, **(settings or PARAMS.get(agent_id, {})))
    found = learner_class(agent_id)
    task = Task(game, seed=1, opponents=Opponents(["self"]), total=60)
    learner = found(task, found.settings_class.parse(settings))
    learner.update(60)
    return learner.player()


@every_option_set
def test_a_players_view_is_the_same_in_every_world_it_cannot_tell_apart(game: Game) -> None:
    rows = np.arange(ROWS)
    num_swapped = 0
    for num_moves in (1, 3, *moves_of(game)):
        batch = batch_in_mid_game(game, num_moves, seed=num_moves)
        true_views = batch.views(rows)
        observations, masks = true_views.observations.copy(), true_views.masks.copy()
        worlds = true_views.worlds()
        num_swapped += swap_worlds(batch, seed=100)
        swapped = batch.views(rows)
        assert (swapped.observations == observations).all()
        assert (swapped.masks == masks).all()
        assert (swapped.keys == true_views.keys).all()
        assert (swapped.worlds() == worlds).all(), "determinize must not depend on the hidden truth"
        for player in range(game.facts.num_players):
            for row in rows[batch.turns == player][:8]:
                assert swapped.tokens(int(row)) == true_views.tokens(int(row))
    assert num_swapped > 0


# Where action 0 is a bid, a pass or a fold. In the other games it may reveal something, and
# ``check_game`` looks at every action.
QUIET_GAMES = [
    pytest.param(row, id=name(row))
    for row in OPTION_SETS
    if row[0] in ("kuhn_v0", "leduc_v0", "liars_dice_v0")
]


@pytest.mark.parametrize("game", QUIET_GAMES, indirect=True)
@pytest.mark.parametrize("num_moves", [0, 1, 3])
def test_what_an_opponent_is_about_to_do_shows_the_same_in_every_world(
    game: Game, num_moves: int
) -> None:
    """A waiting player's token of a move that reveals nothing is the same in every world."""
    batch = batch_in_mid_game(game, num_moves, seed=num_moves)
    rng = new_rng(5)
    for row in range(ROWS):
        state, mover = batch._states[row], int(batch.turns[row])
        for waiting in range(game.facts.num_players):
            if waiting == mover:
                continue
            world = state.copy()
            game.kernels.determinize(world, game.rules, waiting, rng)
            # Action 0 is a bid or a pass or a fold: public, and no card or die is turned over by
            # it.
            tokens = {int(game.kernels.seen(s, game.rules, 0, waiting)) for s in (state, world)}
            assert len(tokens) == 1


@pytest.mark.parametrize(("agent_id", "settings", "game"), SAMPLE, indirect=["game"])
def test_swapping_the_true_world_changes_no_agents_action(
    agent_id: str, settings: dict[str, Any], game: Game
) -> None:
    agent = make_player(agent_id, settings, game)
    rows = np.arange(ROWS if IS_FULL else 8)
    num_swapped = 0
    for num_moves in moves_of(game):
        batch = batch_in_mid_game(game, num_moves, seed=11)
        chosen = agent.act(batch.views(rows))
        num_swapped += swap_worlds(batch, seed=200)
        assert (agent.act(batch.views(rows)) == chosen).all()
    assert num_swapped > 0


class Cheat(Agent):
    """Bets in Kuhn poker when the opponent holds the jack, by looking into the batch itself."""

    def __init__(self, game: Game, batch: Batch) -> None:
        super().__init__(game)
        self._batch = batch

    def act(self, views: Views) -> Actions:
        cards = self._batch._states.view(self.game.state_dtype)["cards"][:, 0]
        return (cards[np.arange(len(views)), 1 - views.seats] == 0).astype(np.int64)


def test_the_swap_test_catches_an_agent_that_cheats() -> None:
    game = make_game("kuhn_v0")
    rows = np.arange(ROWS)
    batch = batch_in_mid_game(game, 0, seed=1)
    cheat = Cheat(game, batch)
    chosen = cheat.act(batch.views(rows))
    assert swap_worlds(batch, seed=200) > 0
    assert (cheat.act(batch.views(rows)) != chosen).any()


def test_views_do_not_carry_the_true_states() -> None:
    game = make_game("liars_dice_v0")
    batch = batch_in_mid_game(game, 2, seed=3)
    views = batch.views(np.arange(ROWS))
    held = [value for value in vars(views).values() if isinstance(value, np.ndarray)]
    assert all(array.shape != batch._states.shape for array in held)
