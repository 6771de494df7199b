"""Players of the reduced game: alpha-beta, certain wins, and an equilibrium of short games.

Detectives plan when they see the fugitive and follow that plan until they see him again. What they
have seen says which plan that is, so they need no memory of their own: where the pieces stood at
the last sighting, and how many joint moves ago that was.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, Probs, Views
from envs.core.game import Game
from envs.core.rng import uniform
from envs.pursuit.options import FUGITIVE, STATE
from experiments.scotland_yard.reduced.certain import certain_wins
from experiments.scotland_yard.reduced.graph import Element, TeamGraph, elements_of, team_graph
from experiments.scotland_yard.reduced.mixed import MixedPlay, Stretch
from experiments.scotland_yard.reduced.plans import BestFugitive
from experiments.scotland_yard.reduced.search import AlphaBetaSettings, fugitive_table, plan_table

Plans = npt.NDArray[np.int32]


class Sighting(NamedTuple):
    """What everybody knows since the fugitive was last seen."""

    root: int
    """The position then, as ``TeamGraph.root`` numbers it."""
    teams: list[int]
    """Where detectives stood after each of their joint moves since."""
    moved: list[int]
    """Where those of them have gone who have made their move of the present round."""
    rounds_left: int
    """Until he escapes, with the present one."""


def last_sighting(graph: TeamGraph, tokens: list[int]) -> Sighting:
    """Read the tokens of a game: starts, then rounds of one move of each detective and of his."""
    seen = [(token - 1) // 4 for token in tokens]
    width = graph.num_detectives + 1
    rows = [seen[at : at + width] for at in range(0, len(seen), width)]
    num_rounds = len(rows) - 1 if len(rows[-1]) == width else len(rows) - 2
    at = num_rounds - num_rounds % graph.period
    teams = [graph.team(*row[:-1]) for row in rows[at + 1 : num_rounds + 1]]
    last = rows[num_rounds + 1] if len(rows) > num_rounds + 1 else []
    if len(last) == graph.num_detectives:
        teams.append(graph.team(*last))
    root = graph.root(*rows[at])
    return Sighting(root, teams, last, graph.rounds - num_rounds)


class PlanPlayer(Agent):
    """Detectives who follow plans, and a fugitive who moves by what he sees."""

    game_ids = ("scotland_yard_v0", "phantom_v0")
    wants_tokens = True
    is_deterministic = True

    def __init__(self, game: Game, try_order: str, distance: str, seed: int) -> None:
        """Build the graph of the game."""
        super().__init__(game)
        self.graph = team_graph(game, try_order, distance, seed)

    @abstractmethod
    def plan(self, root: int) -> Plans:
        """The teams after each joint move until the next sighting: [period]."""

    @abstractmethod
    def reply(self, sighting: Sighting, team: int, place: int) -> int:
        """Where the fugitive goes."""

    def act(self, views: Views) -> Actions:
        """Of the worlds only the fugitive's own place is read, by himself."""
        actions = np.empty(len(views), np.int64)
        worlds = views.worlds()
        for row in range(len(views)):
            sighting = last_sighting(self.graph, views.tokens(row))
            if views.seats[row] == FUGITIVE:
                place = int(worlds[row].view(STATE)[0].place[FUGITIVE])
                actions[row] = self.reply(sighting, sighting.teams[-1], place)
            else:
                actions[row] = self._next_place(sighting, views, row)
        return actions

    def _next_place(self, sighting: Sighting, views: Views, row: int) -> int:
        """Where the detective to move goes by the plan, if the others have followed it."""
        team = self.plan(sighting.root)[len(sighting.teams)]
        place = int(self.graph.arrays.places[team, len(sighting.moved)])
        if views.masks[row, place]:
            return place
        # Somebody else has moved the pieces: any legal move will do.
        return int(np.flatnonzero(views.masks[row])[0])


class PursuitAlphaBeta(PlanPlayer):
    """Both sides as the thesis about the reduced game describes them.

    Detectives search from a sighting and follow the best line until the next, assuming that the
    fugitive does, too. The fugitive searches anew at every move.

    Args:
        game: a pursuit by the rules of the reduced game.
        settings: see ``AlphaBetaSettings``; random ties are drawn once, by the seed.
    """

    settings_class = AlphaBetaSettings

    def __init__(self, game: Game, **settings: Any) -> None:
        """Check the settings; the fugitive looks three plies ahead."""
        self.settings = AlphaBetaSettings.parse(settings)
        o = self.settings
        super().__init__(game, o.try_order, o.distance, o.seed)
        self._plans: dict[int, Plans] = {}

    def plan(self, root: int) -> Plans:
        """The best line from a sighting, searched when it is first needed."""
        if root not in self._plans:
            self._plans[root] = plan_table(self.graph, self.settings, np.array([root]))[0]
        return self._plans[root]

    def reply(self, sighting: Sighting, team: int, place: int) -> int:
        """The first move of the best line from here."""
        roots = np.array([team * self.graph.num_places + place])
        return int(fugitive_table(self.graph, self.settings.replace(plies=3), roots)[0])


class PursuitCertain(PlanPlayer):
    """Detectives who catch him for certain, as soon as can be; a fugitive who knows their plans.

    Args:
        game: a pursuit by the rules of the reduced game; all of it is solved, which takes some
            seconds on the board of the thesis.
    """

    def __init__(self, game: Game) -> None:
        """Solve the game, unless that was done before."""
        super().__init__(game, "compass", "steps", 0)
        self.wins = certain_wins(self.graph)
        self._response: BestFugitive | None = None

    def plan(self, root: int) -> Plans:
        """The plan with the best worst case."""
        plan: Plans = self.wins.plans[root]
        return plan

    def reply(self, sighting: Sighting, team: int, place: int) -> int:
        """As long as it can last against plans like these."""
        if self._response is None:
            self._response = BestFugitive(self.graph, self.wins.plans[None])
        return self._response.reply(sighting.root, sighting.teams, place, sighting.rounds_left)


class PursuitMixed(PursuitCertain):
    """An equilibrium of the reduced game with few rounds: nobody gains anything against it.

    Args:
        game: a pursuit by the rules of the reduced game. Positions are solved when they are met; on
            the board of the thesis a game of two or five rounds takes seconds, longer ones minutes.
    """

    is_deterministic = False

    def __init__(self, game: Game) -> None:
        """Find the certain catches."""
        super().__init__(game)
        self.mixed = MixedPlay(self.graph)
        self._elements = elements_of(self.graph, "exchange")

    def act(self, views: Views) -> Actions:
        """Draw once from each row's generator."""
        reached = self.policy(views).cumsum(axis=1)
        draws = np.array([uniform(rng) for rng in views.rngs]) * reached[:, -1]
        actions: Actions = (reached <= draws[:, None]).sum(axis=1)
        return actions

    def policy(self, views: Views) -> Probs:
        """Of the worlds only the fugitive's own place is read, by himself."""
        probs = np.zeros(views.masks.shape)
        worlds = views.worlds()
        for row in range(len(views)):
            sighting = last_sighting(self.graph, views.tokens(row))
            if views.seats[row] == FUGITIVE:
                place = int(worlds[row].view(STATE)[0].place[FUGITIVE])
                found = self._streets(sighting, place)
            else:
                found = self._places(sighting)
            for place, prob in found.items():
                probs[row, place] = prob * views.masks[row, place]
            if not probs[row].any():  # somebody else has moved the pieces: any legal move will do
                probs[row] = views.masks[row]
        probs /= probs.sum(axis=1, keepdims=True)
        return probs

    def _places(self, sighting: Sighting) -> dict[int, float]:
        """Where the detective to move goes, given where the others went."""
        root, teams, moved, _ = sighting
        left = sighting.rounds_left + len(teams)
        if self.mixed.is_mixed(root, left):
            stretch, turned = self._solved(root, left, teams)
            joint = {
                tuple(self._turn_back(root, team)): prob
                for team, prob in stretch.joint_moves(turned).items()
            }
        else:
            joint = {tuple(self.graph.arrays.places[self.plan(root)[len(teams)]].tolist()): 1.0}
        found: dict[int, float] = {}
        for places, prob in joint.items():
            if list(places[: len(moved)]) == moved:
                found[places[len(moved)]] = found.get(places[len(moved)], 0.0) + prob
        total = sum(found.values())
        return {place: prob / total for place, prob in found.items()}

    def _streets(self, sighting: Sighting, place: int) -> dict[int, float]:
        """Where the fugitive goes."""
        root, teams, _, rounds_left = sighting
        left = rounds_left + len(teams) - 1
        if not self.mixed.is_mixed(root, left):
            return {self.reply(sighting, teams[-1], place): 1.0}
        stretch, turned = self._solved(root, left, teams)
        image, _ = self._element(root)
        back = np.argsort(image)
        streets = stretch.streets(turned, int(image[place]))
        return {int(back[target]): prob for target, prob in streets.items()}

    # ---- the position that stands for a class ----------------------------------------------------

    def _element(self, root: int) -> Element:
        return self._elements[int(self.mixed.symmetry.elements[root])]

    def _solved(self, root: int, left: int, teams: list[int]) -> tuple[Stretch, list[int]]:
        """The solution of the position that stands for this one, and the teams turned to it."""
        image, order = self._element(root)
        turned = [self.graph.team(*image[self.graph.arrays.places[team][order]]) for team in teams]
        return self.mixed.stretch(int(self.mixed.symmetry.roots[root]), left), turned

    def _turn_back(self, root: int, team: int) -> list[int]:
        """The places of all detectives, of a team that was turned."""
        image, order = self._element(root)
        places = np.empty(len(order), np.int64)
        places[order] = np.argsort(image)[self.graph.arrays.places[team]]
        found: list[int] = places.tolist()
        return found
