"""Players that search to the next boundary and ask there what becomes of everybody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.advice import PLACES, Analysis
from agents.base import Actions, Agent, Views
from agents.games.no_thanks.slices.files import Slices, StrengthSlices, load_slices
from agents.games.no_thanks.solver import NoThanksSolver, Solution
from agents.max_n.agent import check_worlds
from agents.max_n.preference import BY_PLACE, PREFERENCES, place_of, place_weight, utility_of
from common.errors import OptionError
from envs.core.game import Game
from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE

MOST = 1000.0
"""No score is further from 0."""
SHIPPED = Path(__file__).parent / "shipped"
State = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


class SlicesAgent(Agent):
    """Max^n to a boundary; without a ``path``, with the model that comes with the project.

    With a hidden deck several decks are drawn, each is searched as if everybody knew it, and the
    answers are put together: the move that is best most often, or the one with the best mean.

    >>> from agents import make_agent
    >>> from envs import make_game
    >>> make_agent("no_thanks_slices", make_game("no_thanks_v0")).slices.kind
    'known'
    """

    game_ids = ("no_thanks_v0",)
    shipped = "known.npz"

    def __init__(
        self,
        game: Game,
        path: str | None = None,
        num_worlds: int = 8,
        vote: str = "mean",
        reach: int | None = None,
        slices: Slices | StrengthSlices | None = None,
    ) -> None:
        """Prepare to play.

        Args:
            game: No Thanks! for three players.
            path: a file of slices.
            num_worlds: decks that are drawn for a decision, where the deck is hidden.
            vote: how their answers are put together: ``majority`` or ``mean``.
            reach: search over several boundaries, at most so many cards.
            slices: in place of a file.
        """
        super().__init__(game)
        check_worlds(num_worlds, vote)
        self.slices = slices or load_slices(Path(path) if path else SHIPPED / self.shipped)
        cards = sum(self.slices.segments)
        if not isinstance(game, NoThanks) or game.options.deck_size != cards:
            raise OptionError(f"these slices are for decks of {cards} cards")
        if game.options.num_players != 3 or game.options.card_step != 1:
            raise OptionError("slices are for three players and cards in steps of one")
        self.num_worlds = 1 if game.options.known_future else num_worlds
        self.vote = vote
        self.reach = reach
        settings = self.slices.settings
        known = NoThanks(**{**game.options.to_dict(), "known_future": True})
        self._solver = NoThanksSolver(known, settings, self.slices.estimate)
        boundaries = {self._boundary(left) for left in range(1, cards + 1)}
        self._params = {at: self.slices.params(at) for at in boundaries if at}
        self._code = PREFERENCES.index(settings.preference)
        self._weight = place_weight(3, -MOST, MOST)

    def _boundary(self, cards_left: int) -> int:
        return self.slices.boundary(cards_left, self.reach)

    def act(self, views: Views) -> Actions:
        """Search every row by itself."""
        rows = zip(self._worlds(views), views.seats.tolist(), views.masks, strict=True)
        return np.array([self._decide(*row) for row in rows], np.int64)

    def analyse(self, views: Views) -> list[Analysis]:
        """Votes for each action and its mean expected place from the middle, row by row."""
        return list(map(self._analyse, self._worlds(views), views.seats.tolist()))

    def _worlds(self, views: Views) -> State:
        return np.stack([views.worlds() for _ in range(self.num_worlds)], axis=1)

    def _analyse(self, worlds: State, seat: int) -> Analysis:
        def place(result: Floats) -> float:
            is_score = self._code == BY_PLACE
            return 2.0 - float(place_of(result, 3, seat)) if is_score else float(result[seat])

        shares, values, actions = self._weigh(worlds, place)
        line = self._line(worlds[0])
        return Analysis(actions, shares[actions], values[actions], line, PLACES)

    def _weigh(
        self, worlds: State, worth: Callable[[Floats], float]
    ) -> tuple[Floats, Floats, Actions]:
        """Votes for each action, the mean of what is ``worth`` to somebody, and the legal ones."""
        shares, values, legal = np.zeros(2), np.zeros(2), np.zeros(2, np.bool_)
        for world in worlds:
            found = self._search(world)
            shares[found.action] += 1 / len(worlds)
            for action, result in found.branches.items():
                legal[action] = True
                values[action] += worth(np.array(result)) / len(worlds)
        return shares, values, np.flatnonzero(legal)

    def _line(self, world: State) -> tuple[int, ...]:
        """The moves that are expected until the present card is taken."""
        state = np.array(world)
        line: list[int] = []
        while not line or line[-1] == PAY:
            line.append(self._search(state).action)
            self.game.kernels.step(state, self.game.rules, line[-1])
        return tuple(line)

    def _search(self, world: State) -> Solution:
        left = sum(self.slices.segments) - int(self.game.record(world).num_taken)
        boundary = self._boundary(left)
        return self._solver.solve(world, boundary, self._params.get(boundary))

    def _decide(self, worlds: State, seat: int, mask: npt.NDArray[np.int8]) -> int:
        if not mask[PAY]:
            return TAKE
        known = 3, seat, self._code, self._weight
        votes, means, _ = self._weigh(worlds, lambda result: float(utility_of(result, *known)))
        scores = votes if self.vote == "majority" or len(worlds) == 1 else means
        return TAKE if scores[TAKE] >= scores[PAY] else PAY


class ValueAgent(SlicesAgent):
    """Looks one card ahead with a model of what everybody sees; for hidden decks.

    Nothing in No Thanks! is known to one player alone: the deck is hidden from all. So a card that
    comes later is chance to everybody, and one world is as good as any.
    """

    shipped = "hidden.npz"

    def __init__(self, game: Game, path: str | None = None) -> None:
        """Take the model of the file ``path``, or the one that comes with the project."""
        super().__init__(game, path, num_worlds=1)
