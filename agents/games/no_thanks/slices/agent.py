"""The player that searches to the next boundary and asks the database there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agents.games.no_thanks.slices.database import Slices, searcher_for
from agents.search.agent import SearchAgent
from agents.search.searcher import Searcher, SearchResult, State
from envs.core.errors import OptionError
from envs.core.game import Game
from envs.no_thanks import NoThanks

__all__ = ["SlicesAgent"]


class SlicesAgent(SearchAgent):
    """Max^n to the end of the segment, as ``agents.games.no_thanks.slices.agent:SlicesAgent``.

    With a hidden deck several worlds are searched and the answers put to the vote.
    """

    game_ids = ("no_thanks_v0",)
    method = "max_n"

    def __init__(
        self,
        game: Game,
        path: str | None = None,
        num_worlds: int = 8,
        table_bits: int = 18,
        slices: Slices | None = None,
    ) -> None:
        """Take the databases of the file ``path``, or ``slices``; searches are not cut short."""
        super().__init__(game, num_worlds, preference="place", table_bits=0)
        if slices is None:
            if path is None:
                raise OptionError("a player by slices needs the path of its databases")
            slices = Slices.load(Path(path))
        if not isinstance(game, NoThanks) or sum(slices.segments) != game.options.deck_size:
            raise OptionError(f"these slices are for decks of {sum(slices.segments)} cards")
        known = NoThanks(**{**game.options.to_dict(), "known_future": True, "returns": "score"})
        settings = replace(
            self._searcher.settings,
            max_nodes=None,
            is_iterative=False,
            depth=None,
            table_bits=table_bits,
        )
        self._slices = slices
        self._searchers: dict[int, Searcher] = {
            boundary: searcher_for(known, slices, boundary, settings)
            for boundary in (0, *slices.rows)
        }

    def _search(self, state: State, seat: int, seconds: float | None) -> SearchResult:
        s = self.game.record(state)
        left = sum(self._slices.segments) - int(s.num_taken)
        searcher = self._searchers[self._slices.boundary(left)]
        searcher.forget()
        return searcher.search(state, seat, seconds)
