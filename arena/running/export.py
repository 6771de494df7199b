"""The games of a tournament in the notation of other programs, all in one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from arena.playing.match import play_shown
from arena.running.replayer import Replayer
from common.errors import MasqueradeError
from common.files import check_out, is_stream, signed, write_text
from envs import NOTATIONS, find_notation
from envs.core.batch import Batch
from envs.core.notation import Notation

__all__ = ["COMMAND", "Written", "export_games", "notation_of"]

COMMAND = "python evaluate.py export"


@dataclass(frozen=True)
class Written:
    """What was exported."""

    path: Path
    num_games: int
    notes: tuple[str, ...] = ()


def notation_of(game_id: str) -> Notation:
    """The notation of a game.

    >>> notation_of("holdem_v0").name
    'PHH'
    """
    for suffix in NOTATIONS:
        notation = find_notation(suffix)
        if notation.game_id == game_id:
            return notation
    raise MasqueradeError(
        f"no other program's notation is known for {game_id}: evaluate.py replay shows its games"
    )


def export_games(
    replayer: Replayer,
    path: Path,
    groups: Sequence[int] | None = None,
    deals: int | None = None,
    is_forced: bool = False,
) -> Written:
    """Play the games of a tournament again and write them down.

    Args:
        replayer: of the tournament.
        path: the file; it gets the notation's suffix if it has none.
        groups: numbers of the groups; all by default.
        deals: only the first so many of each; all by default.
        is_forced: write over a file that is no export.
    """
    spec, game = replayer.tournament.spec, replayer.context.game
    notation = notation_of(game.id)
    if deals is not None and deals < 1:
        raise MasqueradeError(f"--deals must be at least 1, not {deals}")
    if not (path.suffix or is_stream(path)):
        path = path.with_suffix(notation.suffix)
    check_out(path, COMMAND, is_forced, [notation.suffix])
    num_deals = spec.deals if deals is None else min(deals, spec.deals)
    documents: list[str] = []
    num_games = num_lost = 0
    for group in range(len(replayer.groups)) if groups is None else groups:
        for seating, seats in enumerate(replayer.groups[group].seatings):
            seeds = spec.seeds_of(replayer.groups, group, seating)
            agents = replayer.context.seat(seats)
            names = [replayer.names[agent] for agent in seats]
            histories: dict[int, list[int]] = {}

            def keep(
                batch: Batch,
                rows: npt.NDArray[np.int64],
                kept: dict[int, list[int]] = histories,
            ) -> None:
                kept.update({int(batch.numbers[row]): batch.history(int(row)) for row in rows})

            result = play_shown(game, agents, num_deals, has_forfeits=True, on_end=keep, **seeds)
            lost = {fault.game for fault in result.faults}
            num_lost += len(lost)
            for deal in sorted(histories.keys() - lost):
                documents += notation.write(game.replay(histories[deal], deal), names)
                num_games += 1
    write_text(path, signed(notation.join(documents), path.suffix, COMMAND))
    notes = (f"{num_lost} forfeited games are left out",) if num_lost else ()
    return Written(path, num_games, notes)
