"""The plans of any detectives who draw no lots, found out by asking them, and who responds to them.

Every position is made the start of a game, and the agent is asked for its moves until the next
sighting. That is all of its strategy if it goes by what was seen since the last one. What
detectives do does not depend on where the fugitive really is, so he is put wherever he has not been
caught yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.base import Agent, Views
from common.errors import OptionError
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import fill_streams, first_key, fold, stream
from envs.pursuit.options import CAUGHT, FUGITIVE, STATE
from experiments.scotland_yard.reduced import CERTAIN
from experiments.scotland_yard.reduced.graph import TeamGraph
from experiments.scotland_yard.reduced.plans import BestFugitive
from experiments.scotland_yard.reduced.players import (
    PlanPlayer,
    PursuitAlphaBeta,
    PursuitCertain,
    PursuitMixed,
    Sighting,
)
from experiments.scotland_yard.reduced.search import plan_table

RESPONSE = f"{__name__}:PursuitResponse"
"""The fugitive who responds, as agents are named."""
Plans = npt.NDArray[np.int32]


class _Game:
    """One game in which the fugitive is wherever he can still be."""

    def __init__(self, agent: Agent, graph: TeamGraph, root: int) -> None:
        """Put the pieces on their starts."""
        self.game, self.graph = agent.game, graph
        self.state = np.zeros(self.game.state_size, np.uint8)
        self.game.kernels.new(self.state, self.game.rules, 0)
        self.seat = 1
        self.key = first_key(self.seat)
        self.tokens: list[int] = []
        team, place = divmod(root, graph.num_places)
        for outcome in (*graph.arrays.places[team].tolist(), place):
            self.play(outcome)

    @property
    def record(self) -> Any:
        return self.state.view(STATE)[0]

    def play(self, action: int) -> None:
        """Play an action and note what detectives see of it."""
        rules = self.game.rules
        token = self.game.kernels.seen(self.state, rules, action, self.seat)
        self.tokens.append(int(token))
        self.key = fold(self.key, token)
        self.game.kernels.step(self.state, rules, action)

    def move(self, action: int) -> bool:
        """A detective's move after which the fugitive is still free, if he can be."""
        possible = np.flatnonzero(self.record.belief > 0.0)
        before, tokens, key = self.state.copy(), [*self.tokens], self.key
        for place in possible:
            self.state[:], self.tokens, self.key = before, [*tokens], key
            self.record.place[FUGITIVE] = place
            self.play(action)
            if self.record.turn != OVER:
                return True
        return False

    def flee(self) -> None:
        """Any move of the fugitive; detectives do not see which."""
        mask = np.zeros(self.game.facts.num_actions, np.int8)
        self.game.kernels.legal(self.state, self.game.rules, mask)
        self.play(int(np.flatnonzero(mask)[0]))


def plans_of(agent: Agent, graph: TeamGraph) -> npt.NDArray[np.int32]:
    """The teams after each joint move from every sighting to the next: [roots, period].

    Moves that follow a certain catch are any legal ones.
    """
    roots = np.flatnonzero(graph.is_start)
    plans = np.full((graph.num_roots, graph.period), -1, np.int32)
    games = [_Game(agent, graph, int(root)) for root in roots]
    playing = list(range(len(roots)))
    for step in range(graph.period):
        places = np.zeros((len(roots), graph.num_detectives), np.int64)
        still = playing
        for d in range(graph.num_detectives):
            actions = _ask(agent, [games[i] for i in still])
            free = []
            for i, action in zip(still, actions, strict=True):
                places[i, d] = action
                if games[i].move(int(action)):
                    free.append(i)
                elif d < graph.num_detectives - 1:
                    # The others need not move any more; their part of the plan must only be legal.
                    places[i] = _finish(graph, games[i], places[i, : d + 1])
            still = free
        for i in playing:
            plans[roots[i], step] = graph.team(*places[i])
        for i in still:
            games[i].flee()
        playing = still
    _fill_rest(graph, plans, roots)
    return plans


def _ask(agent: Agent, games: list[_Game]) -> npt.NDArray[np.int64]:
    if not games:
        return np.zeros(0, np.int64)
    rngs = np.empty((len(games), 4), np.uint64)
    fill_streams(stream(0, "asking"), np.arange(len(games)), rngs)
    longest = max(len(game.tokens) for game in games)
    tokens = np.array([game.tokens + [0] * (longest - len(game.tokens)) for game in games])
    views = Views(
        agent.game,
        np.ones(len(games), np.int64),
        np.array([game.key for game in games], np.uint64),
        rngs,
        np.stack([game.state for game in games]),
        np.arange(len(games), dtype=np.uint64),
        tokens,
    )
    return agent.act(views)


def _finish(graph: TeamGraph, game: _Game, begun: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """A legal joint move that begins with these places."""
    a = graph.arrays
    s = game.record
    num_caught = 1 if s.reason == CAUGHT else 0
    assert num_caught or s.turn == OVER
    before = [int(s.last_from[piece]) for piece in range(1, len(begun) + 1)]
    rest = [int(s.place[piece]) for piece in range(len(begun) + 1, graph.num_detectives + 1)]
    team = graph.team(*before, *rest)
    for target in a.team_targets[a.team_starts[team] : a.team_starts[team + 1]]:
        if (a.places[target, : len(begun)] == begun).all():
            found: npt.NDArray[np.int32] = a.places[target]
            return found
    raise AssertionError("no joint move begins like this")


def _fill_rest(
    graph: TeamGraph, plans: npt.NDArray[np.int32], roots: npt.NDArray[np.int64]
) -> None:
    a = graph.arrays
    for step in range(1, graph.period):
        ended = roots[plans[roots, step] < 0]
        plans[ended, step] = a.team_targets[a.team_starts[plans[ended, step - 1]]]


def tables_of(agent: PlanPlayer, num_tables: int = 1) -> npt.NDArray[np.int32]:
    """[tables, roots, period] all plans; with random ties several tables of them."""
    if isinstance(agent, PursuitAlphaBeta):
        number = num_tables if agent.settings.ties == "random" else 1
        return np.stack([plan_table(agent.graph, agent.settings, seed=k) for k in range(number)])
    assert isinstance(agent, PursuitCertain)
    return agent.wins.plans[None]


class PursuitResponse(PlanPlayer):
    """The fugitive's best response to an agent's detectives; as detectives it plays like the agent.

    Args:
        game: a pursuit by the rules of the reduced game.
        against: the agent: an id, or a mapping with ``id`` and ``params``.
        num_tables: how often plans are drawn of an agent that draws lots.
    """

    def __init__(
        self,
        game: Game,
        against: str | Mapping[str, Any] = CERTAIN,
        num_tables: int = 16,
    ) -> None:
        """Find out the plans, all of them."""
        super().__init__(game, "compass", "steps", 0)
        given: dict[str, Any] = {"id": against} if isinstance(against, str) else dict(against)
        agent = make_agent(str(given.get("id", "")), game, **(given.get("params") or {}))
        if isinstance(agent, PlanPlayer) and not isinstance(agent, PursuitMixed):
            tables = tables_of(agent, num_tables)
        elif agent.is_deterministic:
            tables = plans_of(agent, self.graph)[None]
        else:
            raise OptionError(f"{agent!r} draws lots: a best response needs plans that are known")
        self.response = BestFugitive(self.graph, tables)

    def plan(self, root: int) -> Plans:
        """The plan of the agent."""
        plan: Plans = self.response.tables[0, root]
        return plan

    def reply(self, sighting: Sighting, team: int, place: int) -> int:
        """The best move against these plans."""
        return self.response.reply(sighting.root, sighting.teams, place, sighting.rounds_left)
