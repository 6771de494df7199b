"""The peers' side of benchmarks, and the random player and the network that all sides share.

Each function imports its library and returns a piece of work. Everything is used the way its own
documentation does.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from agents.base import Actions, Agent, Views
from benchmarks.harness import Chunk, times
from envs.core.batch import weighted_actions
from envs.core.game import Game

GAMES_PER_CHUNK = 10
NOOP_STEPS = 1000
PGX_STEPS = 50
FOLD = 2  # in RLCard, and so in PettingZoo

T = TypeVar("T")


# ---- the random player of every Python loop here, for us and for the peers -----------------------
#
# Choosing must cost little, or it would hide what is measured: PettingZoo's
# ``action_space.sample(mask)`` takes longer than one of our steps. So random numbers are drawn
# beforehand, and the legal actions of a mask are looked up.

NUM_DRAWS = 1 << 16


def numbers(seed: int = 0) -> Iterator[float]:
    """Uniform numbers below 1, drawn beforehand and used in a circle."""
    return itertools.cycle(np.random.default_rng(seed).random(NUM_DRAWS).tolist())


def pick(choices: Sequence[T], draws: Iterator[float]) -> T:
    """One of the legal actions or outcomes, all alike."""
    return choices[int(next(draws) * len(choices))]


def pick_by_softmax(logits: Sequence[float], legal: Sequence[int], draws: Iterator[float]) -> int:
    """One of the legal actions, by the softmax of its logit; logits are small."""
    weights = [math.exp(logits[action]) for action in legal]
    left = next(draws) * sum(weights)
    for action, weight in zip(legal, weights, strict=True):
        left -= weight
        if left < 0.0:
            return action
    return legal[-1]  # rounding may leave a rest


def games(play: Callable[[], int]) -> Chunk:
    """Some games in a row; ``play`` says how much there was of what is counted."""
    return lambda: sum(play() for _ in range(GAMES_PER_CHUNK))


class LegalTable(dict[bytes, tuple[int, ...]]):
    """The legal actions of a mask by its bytes, worked out when a mask is first met.

    Args:
        never: an action that is left out, such as the fold, so that games are equally long in
            libraries with different rules of folding.
    """

    def __init__(self, never: int | None = None) -> None:
        """Start with no mask."""
        super().__init__()
        self._never = never

    def __missing__(self, key: bytes) -> tuple[int, ...]:
        """Read an ``int8`` mask."""
        legal = np.frombuffer(key, np.int8).nonzero()[0].tolist()
        self[key] = tuple(action for action in legal if action != self._never)
        return self[key]


# ---- one small network for everybody: two hidden layers, fixed weights, drawn by softmax ---------
#
# Untrained weights give almost equal chances, so that games are about as long as those of random
# players. What a network costs does not depend on its weights.

WIDTH = 64


def make_network(num_inputs: int, num_actions: int, seed: int) -> Any:
    """The network of one player; torch works in one thread from now on, for all sides."""
    import torch
    from torch.nn import Linear, ReLU, Sequential

    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = Linear(num_inputs, WIDTH), ReLU(), Linear(WIDTH, WIDTH), ReLU()
        network = Sequential(*layers, Linear(WIDTH, num_actions))
    return network.eval().requires_grad_(False)


def asked_alone(num_inputs: int, num_actions: int, seed: int) -> Any:
    """The same for peers that ask with one observation at a time: ``(observation, legal)``."""
    import torch

    network, draws = make_network(num_inputs, num_actions, seed), numbers(seed)

    def choose(observation: Any, legal: Sequence[int]) -> int:
        with torch.inference_mode():
            logits = network(torch.as_tensor(observation, dtype=torch.float32)).tolist()
        return pick_by_softmax(logits, legal, draws)

    return choose


class NetworkAgent(Agent):
    """Our side: one forward pass for all rows."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        """``seed`` gives the weights."""
        super().__init__(game)
        self._network = make_network(game.observation_size, game.facts.num_actions, seed)

    def act(self, views: Views) -> Actions:
        """Draw by softmax among the legal actions."""
        import torch

        with torch.inference_mode():
            logits = self._network(torch.from_numpy(views.observations)).numpy()
        weights = np.exp(logits - logits.max(axis=1, keepdims=True)) * views.masks
        return weighted_actions(weights, views.rngs)


# ---- PettingZoo ----------------------------------------------------------------------------------


def aec_chunk(
    env: Any, never: int | None = None, counts_moves_only: bool = False, max_iter: int = 2**63
) -> Chunk:
    """Random games through ``agent_iter``, ``last`` and ``step``, as PettingZoo documents them.

    Args:
        env: any AEC environment with action masks.
        never: an action that is not chosen, such as the fold.
        counts_moves_only: leave out the ``step(None)`` of every agent after the end of a game.
        max_iter: steps after which a game is left, for one that has no end.
    """
    draws, table = numbers(), LegalTable(never)
    env.reset(seed=0)

    def play() -> int:
        num_steps = num_moves = 0
        env.reset()
        for _agent in env.agent_iter(max_iter):
            observation, _reward, is_terminated, is_truncated, _info = env.last()
            num_steps += 1
            if is_terminated or is_truncated:
                env.step(None)
            else:
                num_moves += 1
                env.step(pick(table[observation["action_mask"].tobytes()], draws))
        return num_moves if counts_moves_only else num_steps

    return games(play)


def pettingzoo_leduc(is_raw: bool, never: int | None = FOLD) -> Chunk:
    """PettingZoo's Leduc hold'em, without wrappers or with its own."""
    from pettingzoo.classic.rlcard_envs import leduc_holdem  # type: ignore[import-untyped]

    return aec_chunk(leduc_holdem.raw_env() if is_raw else leduc_holdem.env(), never)


def noop_aec() -> Chunk:
    """An AEC environment in which nothing happens: what is left is PettingZoo's own loop."""
    from pettingzoo.utils.env import AECEnv  # type: ignore[import-untyped]

    class NoopEnv(AECEnv):  # type: ignore[misc, type-arg]
        """Two players take turns for ever and always see the same."""

        metadata = {"name": "noop"}

        def __init__(self) -> None:
            super().__init__()
            self.possible_agents = ["player_0", "player_1"]
            self._shown = {
                "observation": np.zeros(36, np.float32),
                "action_mask": np.ones(3, np.int8),
            }
            self._other = {"player_0": "player_1", "player_1": "player_0"}

        def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
            agents = self.agents = self.possible_agents[:]
            self.rewards = dict.fromkeys(agents, 0.0)
            self._cumulative_rewards = dict.fromkeys(agents, 0.0)
            self.terminations = dict.fromkeys(agents, False)
            self.truncations = dict.fromkeys(agents, False)
            self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
            self.agent_selection = agents[0]

        def step(self, action: int | None) -> None:
            self.agent_selection = self._other[self.agent_selection]

        def observe(self, agent: str) -> Any:
            return self._shown

    return aec_chunk(NoopEnv(), max_iter=NOOP_STEPS)


# ---- RLCard --------------------------------------------------------------------------------------


def rlcard_loop(name: str, never: int | None = None, **config: Any) -> Chunk:
    """Moves of an RLCard game: the loop of its ``Env.run`` without the trajectories."""
    import rlcard

    env = rlcard.make(name, config={"seed": 0, **config})
    draws = numbers()

    def play() -> int:
        num_moves = 0
        state, _player = env.reset()
        while not env.is_over():
            legal = [action for action in state["legal_actions"] if action != never]
            state, _player = env.step(pick(legal, draws))
            num_moves += 1
        return num_moves

    return games(play)


def rlcard_tournament(has_networks: bool) -> Chunk:
    """Games of RLCard's Leduc hold'em through its ``tournament``, with its own random agents.

    Networks are asked as its DQN agent is, without gradients and with one observation at a time,
    but draw by softmax and leave out what ``tournament`` does not use.
    """
    import rlcard
    from rlcard.agents import RandomAgent
    from rlcard.utils import tournament

    env = rlcard.make("leduc-holdem", config={"seed": 0})
    if has_networks:
        env.set_agents([_rlcard_network(env, seed) for seed in range(2)])
    else:
        env.set_agents([RandomAgent(env.num_actions) for _ in range(2)])
    return times(GAMES_PER_CHUNK, lambda: tournament(env, GAMES_PER_CHUNK))


def _rlcard_network(env: Any, seed: int) -> Any:
    choose = asked_alone(env.state_shape[0][0], env.num_actions, seed)

    class NetworkPlayer:
        use_raw = False

        def eval_step(self, state: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            return choose(state["obs"], list(state["legal_actions"])), {}

    return NetworkPlayer()


# ---- OpenSpiel -----------------------------------------------------------------------------------


def openspiel_loop(spec: str, has_arrays: bool = False, is_fastest: bool = False) -> Chunk:
    """Random games of OpenSpiel from Python as its documentation plays them.

    At a decision it is asked for the information state and the mask, at a chance node an outcome is
    drawn from ``chance_outcomes``.

    Args:
        spec: the game in OpenSpiel's words.
        has_arrays: turn state and mask, which are lists, into the arrays that a network takes.
        is_fastest: take every short cut there is: one array for all observations, no mask, and
            outcomes without their chances.
    """
    import pyspiel
    from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

    game = pyspiel.load_game(spec)
    observer = make_observation(game, INFO_STATE_OBS_TYPE)
    draws = numbers()

    def play() -> int:
        num_moves = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                # All outcomes are equally likely here, so that drawing one costs little.
                choices = state.legal_actions() if is_fastest else state.chance_outcomes()
                choice = pick(choices, draws)
                state.apply_action(choice if is_fastest else choice[0])
                continue
            num_moves += 1
            if is_fastest:
                observer.set_from(state, state.current_player())
            else:
                tensor, mask = state.information_state_tensor(), state.legal_actions_mask()
                if has_arrays:
                    np.array(tensor, np.float32), np.array(mask, np.int8)
            state.apply_action(pick(state.legal_actions(), draws))
        return num_moves

    return games(play)


def openspiel_bots(spec: str, kind: str, is_loop_compiled: bool) -> Chunk:
    """Games between OpenSpiel's bots.

    Args:
        spec: the game in OpenSpiel's words.
        kind: "python": its random bot in Python; "c++": that in C++; "network": ours, in Python.
        is_loop_compiled: ``pyspiel.evaluate_bots``, which is C++, instead of the function of that
            name in its Python library.
    """
    import pyspiel
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
    from open_spiel.python.bots.uniform_random import UniformRandomBot

    game = pyspiel.load_game(spec)
    rng = np.random.RandomState(0)
    bots = [
        {
            "python": lambda seat: UniformRandomBot(seat, rng),
            "c++": lambda seat: pyspiel.make_uniform_random_bot(seat, seat),
            "network": lambda seat: _openspiel_network(game, seat),
        }[kind](seat)
        for seat in range(game.num_players())
    ]
    seeds = itertools.count()

    def play() -> int:
        state = game.new_initial_state()
        if is_loop_compiled:
            pyspiel.evaluate_bots(state, bots, next(seeds))
        else:
            evaluate_bots(state, bots, rng)
        return 1

    return games(play)


def _openspiel_network(game: Any, seed: int) -> Any:
    import pyspiel

    size = game.information_state_tensor_size()
    choose = asked_alone(size, game.num_distinct_actions(), seed)

    class NetworkBot(pyspiel.Bot):  # type: ignore[misc]
        def restart_at(self, state: Any) -> None:
            pass

        def step(self, state: Any) -> int:
            return choose(state.information_state_tensor(), state.legal_actions())  # type: ignore[no-any-return]

    return NetworkBot()


def openspiel_rollouts(spec: str, deal: list[int], num_games: int) -> Chunk:
    """OpenSpiel's C++ ``RandomRolloutEvaluator`` from the position after ``deal``.

    Python cannot call it, but a search can: one simulation of ``MCTSBot`` does not leave the root
    of its tree, has it evaluated by ``num_games`` rollouts, and returns their average.
    """
    import pyspiel

    game = pyspiel.load_game(spec)
    state = game.new_initial_state()
    for outcome in deal:
        state.apply_action(outcome)
    evaluator = pyspiel.RandomRolloutEvaluator(num_games, 0)
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 1000, False, 0, False)

    def chunk() -> int:
        root = bot.mcts_search(state)
        if root.explore_count != 1 or root.children:
            raise RuntimeError(
                "this OpenSpiel's search leaves the root: its rollouts are shorter than ours"
            )
        return num_games

    return chunk


# ---- deep Q-learning, as each library has it ----------------------------------------------------

REPLAY_SIZE = 10_000
LEARNING_RATE = 1e-3
"""Of all learners, ours as well."""


def openspiel_dqn(env: Any, hidden: Sequence[int], batch_size: int, **settings: Any) -> Any:
    """OpenSpiel's PyTorch DQN for one of its environments."""
    from open_spiel.python.pytorch import dqn

    return dqn.DQN(
        player_id=0,
        state_representation_size=env.observation_spec()["info_state"][0],
        num_actions=env.action_spec()["num_actions"],
        hidden_layers_sizes=list(hidden),
        batch_size=batch_size,
        replay_buffer_capacity=REPLAY_SIZE,
        learning_rate=LEARNING_RATE,
        optimizer_str="adam",
        **settings,
    )


def rlcard_dqn(hidden: Sequence[int], batch_size: int, **settings: Any) -> Any:
    """RLCard's DQN."""
    import torch
    from rlcard.agents import DQNAgent

    return DQNAgent(
        replay_memory_size=REPLAY_SIZE,
        discount_factor=1.0,
        batch_size=batch_size,
        mlp_layers=list(hidden),
        learning_rate=LEARNING_RATE,
        device=torch.device("cpu"),
        **settings,
    )


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """RLCard's learner prints a line for every update."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


# ---- Pgx -----------------------------------------------------------------------------------------


def pgx_leduc(num_envs: int) -> Chunk:
    """Pgx's Leduc hold'em: choice, step and automatic reset of all rows in one compiled scan.

    A scan is about 1.5 times as fast here as one compiled call for each step.
    """
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("leduc_holdem")
    step_rows = jax.vmap(auto_reset(env.step, env.init))

    def step(carry: Any, _: None) -> tuple[Any, None]:
        state, key = carry
        key, choice_key, step_key = jax.random.split(key, 3)
        actions = jax.random.categorical(
            choice_key, jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        )
        return (step_rows(state, actions, jax.random.split(step_key, num_envs)), key), None

    scan = jax.jit(lambda carry: jax.lax.scan(step, carry, None, length=PGX_STEPS)[0])
    key = jax.random.PRNGKey(0)
    carry = jax.jit(jax.vmap(env.init))(jax.random.split(key, num_envs)), key

    def chunk() -> int:
        nonlocal carry
        carry = jax.block_until_ready(scan(carry))
        return PGX_STEPS * num_envs

    return chunk
