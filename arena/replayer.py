"""Games of a tournament once more, compared with what the tournament noted of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from agents.base import Agent
from arena.folder import Tournament
from arena.match import MatchResult, play_recorded, play_shown
from arena.replay import Recording, in_points, record_game
from arena.spec import Seeds
from arena.workers import WorkerContext
from common.errors import MasqueradeError, one_line
from common.files import check_out, is_stream, signed, write_text
from envs import NOTATIONS, find_notation
from envs.core.position import Notation

MAX_LISTED = 12


class Replayer:
    """Plays games of one tournament again."""

    def __init__(
        self,
        tournament: Tournament,
        context: WorkerContext | None = None,
        is_trusted: bool = False,
    ) -> None:
        """Make the agents again, unless they have been made already.

        Args:
            tournament: what was played.
            context: its game and agents, if they are at hand.
            is_trusted: run programs and modules that the tournament's files name.
        """
        self.tournament = tournament
        if context is None and not is_trusted:
            _refuse_foreign(tournament)
        self.context = context or WorkerContext(tournament.spec)
        self.groups = self.context.groups
        self.names = [agent.name for agent in tournament.spec.agents]

    def find_group(self, wanted: Sequence[str]) -> int:
        """The number of the group of these agents, in any order; the first one for no names."""
        if not wanted:
            return 0
        known = [[self.names[agent] for agent in group.agents] for group in self.groups]
        for number, members in enumerate(known):
            if sorted(members) == sorted(wanted):
                return number
        listing = "; ".join(" ".join(members) for members in known[:MAX_LISTED])
        more = f"; and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
        raise MasqueradeError(f"{' '.join(wanted)} did not play together: choose {listing}{more}")

    def play(
        self, deal: int = 0, group: int = 0, seating: int = 0, has_patience: bool = True
    ) -> Recording:
        """Play a game and compare its end with the one that the tournament noted.

        Args:
            deal: number of the deal.
            group: number of the group.
            seating: number of the seating.
            has_patience: play a whole work unit if the game alone comes out otherwise.
        """
        num_seatings = len(self.groups[group].seatings)
        bounds = ("deal", deal, self.tournament.spec.deals), ("seating", seating, num_seatings)
        for what, value, bound in bounds:
            if not 0 <= value < bound:
                raise MasqueradeError(f"{what} must be from 0 to {bound - 1}, not {value}")
        found = self.tournament.find(self.groups, group, seating, deal)
        agents, names, seeds = self.seated(group, seating)
        play = partial(record_game, self.context.game, agents, names, deal, **seeds)
        recording = play()
        if found is None:
            note = "the tournament's own result of this game is no longer in its folder"
            return replace(recording, notes=[note])
        played, together = found
        if has_patience and _differs(recording, played):
            # A network rounds differently in a batch of another size: play as many as then.
            recording = play(deals=together)
        if _differs(recording, played):
            return replace(recording, notes=[self._why(played)], is_exact=False)
        return recording

    def seated(self, group: int, seating: int) -> tuple[list[Agent], list[str], Seeds]:
        """The agent in each seat, the name of each, and the seeds of the games."""
        seats = self.groups[group].seatings[seating]
        seeds = self.tournament.spec.seeds_of(self.groups, group, seating)
        return self.context.seat(seats), [self.names[agent] for agent in seats], seeds

    def _why(self, played: MatchResult) -> str:
        """What the game that was played in the tournament did otherwise, and for what reason."""
        why = "an agent has changed, or its choices depend on a clock or another program"
        end = f"ended {in_points(played.returns[0].tolist())}"
        if played.faults:
            end = f"was forfeited by player {played.faults[0].seat} ({played.faults[0].reason})"
        return f"in the tournament this game {end}: {why}"


def _refuse_foreign(tournament: Tournament) -> None:
    """The folder may be anybody's: nothing that it names is started unasked."""
    foreign = [code for agent in tournament.spec.agents for code in agent.foreign_code()]
    if foreign:
        raise MasqueradeError(
            f"{tournament.folder} names programs or modules that are not ours "
            f"({', '.join(map(one_line, foreign))}): if you know where it comes from, --trust "
            "runs them"
        )


def _differs(recording: Recording, played: MatchResult) -> bool:
    """Whether the tournament saw another game: other returns or another length."""
    is_as_long = len(recording.history) == int(played.lengths[0])
    return not is_as_long or recording.returns != played.returns[0].tolist()


COMMAND = "python evaluate.py export"


# ---- all games in the notation of other programs -------------------------------------------------


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
) -> tuple[Path, int, int]:
    """Play the games of a tournament again and write them down.

    Args:
        replayer: of the tournament.
        path: the file; it gets the notation's suffix if it has none.
        groups: numbers of the groups; all by default.
        deals: only the first so many of each; all by default.
        is_forced: write over a file that is no export.

    Returns:
        The file, how many games it holds, and how many were forfeited and are left out.
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
        for seating in range(len(replayer.groups[group].seatings)):
            agents, names, seeds = replayer.seated(group, seating)
            result, histories = play_recorded(
                game, agents, num_deals, play_shown, has_forfeits=True, **seeds
            )
            lost = {fault.game for fault in result.faults}
            num_lost += len(lost)
            for deal in sorted(histories.keys() - lost):
                documents += notation.write(game.replay(histories[deal], deal), names)
                num_games += 1
    write_text(path, signed(notation.join(documents), path.suffix, COMMAND))
    return path, num_games, num_lost
