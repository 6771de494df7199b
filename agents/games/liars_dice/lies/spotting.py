"""Telling from moment to moment whether a call has just been made."""

from __future__ import annotations

from agents.base import Moment
from envs.core.game import Game

__all__ = ["NO_CALL", "CallSpotter"]

NO_CALL = -1


class CallSpotter:
    """Remembers for each seat how many rounds it has seen end; of use in Liar's Dice alone."""

    def __init__(self, game: Game) -> None:
        """Begin before the first game."""
        self._game = game
        self._seen: dict[int, tuple[int, int]] = {}

    def made(self, moment: Moment) -> int:
        """The action ``liar`` if a round has ended since the seat's last moment."""
        if self._game.id != "liars_dice_v0":
            return NO_CALL
        num_rounds = int(self._game.record(moment.world).num_rounds)
        game, num_seen = self._seen.get(moment.seat, (moment.game_number, 0))
        if game != moment.game_number:
            num_seen = 0
        self._seen[moment.seat] = moment.game_number, num_rounds
        if moment.is_over:
            del self._seen[moment.seat]
        return self._game.facts.num_actions - 1 if num_rounds > num_seen else NO_CALL
