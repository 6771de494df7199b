"""Both sides of the reduced game as the linear programmes have it, and how exploitable that is.

Where a catch is certain in the rounds that are left, detectives follow the certain plan and the
fugitive makes it last. Elsewhere both draw lots: what is drawn next depends on what everybody has
seen since the last sighting only, so nothing needs to be remembered.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Probs, Views
from common.errors import OptionError
from envs.core.game import Game
from envs.core.rng import uniform
from envs.pursuit.options import FUGITIVE, STATE
from experiments.scotland_yard.reduced.mixed import Floats, MixedPlay, Stretch, free_places
from experiments.scotland_yard.reduced.players import PursuitCertain, Sighting, last_sighting
from experiments.scotland_yard.reduced.symmetry import Element, elements_of

__all__ = ["PursuitMixed", "exploitability"]


class PursuitMixed(PursuitCertain):
    """An equilibrium of the reduced game with few rounds: nobody gains anything against it.

    Args:
        game: a pursuit by the rules of the reduced game. Positions are solved when they are met; on
            the board of the thesis a game of two or five rounds takes seconds, longer ones minutes.
        try_order: which of certain plans that are equally good.
    """

    is_deterministic = False

    def __init__(self, game: Game, try_order: str = "compass") -> None:
        """Find the certain catches."""
        super().__init__(game, try_order)
        self.mixed = MixedPlay(self.graph)
        self._elements = elements_of(self.graph, "exchange")

    def tables(self) -> npt.NDArray[np.int32]:
        """There are none: see ``exploitability`` for what a best response gains."""
        raise OptionError("pursuit_mixed draws lots: a best response needs plans that are known")

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


# ---- what best responses gain --------------------------------------------------------------------


def exploitability(play: MixedPlay, rounds: int) -> tuple[float, float]:
    """What the best fugitive and the best detectives gain against mixed play, each as a share.

    Exact, mean over all starts, in games of so many rounds: the chance of escape that a fugitive
    has who knows the detectives' mixture, less his value, and the same for the other side.

    >>> from experiments.scotland_yard.reduced.graph import TeamGraph
    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))
    >>> [abs(round(gain, 6)) for gain in exploitability(MixedPlay(graph), 2)]
    [0.0, 0.0]
    """
    graph = play.graph
    escape: Floats | None = None
    hunt: Floats | None = None
    for left in range((rounds - 1) % graph.period + 1, rounds + 1, graph.period):
        found = np.zeros((2, graph.num_roots))
        for root in play.doubtful(left):
            stretch = play.stretch(int(root), left)
            place = int(root) % graph.num_places
            found[0, root] = _best_escape(stretch, (), place, escape)
            found[1, root] = _best_hunt(stretch, int(root) // graph.num_places, {place: 1.0}, hunt)
        escape, hunt = found[:, play.symmetry.roots] * graph.is_start
    values, starts = play.values(rounds).values, graph.is_start
    assert escape is not None
    assert hunt is not None
    return float((escape - values)[starts].mean()), float((values - hunt)[starts].mean())


def _best_escape(
    stretch: Stretch, teams: tuple[int, ...], place: int, later: Floats | None
) -> float:
    """The most that he can have of detectives who draw their plans as in the solution."""
    graph, value = stretch.graph, 0.0
    for team, prob in stretch.joint_moves(teams).items():
        line, worth = (*teams, team), [0.0]
        for target in free_places(graph, team, place):
            if len(line) < stretch.plans.shape[1]:
                worth.append(_best_escape(stretch, line, target, later))
            else:
                worth.append(1.0 if later is None else later[team * graph.num_places + target])
        value += prob * max(worth)
    return value


def _best_hunt(
    stretch: Stretch,
    team: int,
    likely: dict[int, float],
    later: Floats | None,
    line: tuple[int, ...] = (),
) -> float:
    """The least that detectives can allow him if he mixes as in the solution."""
    graph, a = stretch.graph, stretch.graph.arrays
    least = 1.0
    for target in a.team_targets[a.team_starts[team] : a.team_starts[team + 1]].tolist():
        teams, after = (*line, target), dict[int, float]()
        for place, prob in likely.items():
            if free_places(graph, target, place):
                for street, share in stretch.streets(teams, place).items():
                    if share > 0.0:
                        after[street] = after.get(street, 0.0) + prob * share
        if after and len(teams) < stretch.plans.shape[1]:
            value = _best_hunt(stretch, target, after, later, teams)
        else:
            worth = 1.0 if later is None else later[target * graph.num_places + np.array([*after])]
            value = float((np.array([*after.values()]) * worth).sum()) if after else 0.0
        least = min(least, value)
    return least
