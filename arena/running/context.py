"""What a process needs to play the work units of a tournament: the game, the agents, the groups."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import lru_cache

from agents.base import Agent
from agents.processes.outside import OutsideAgent
from arena.playing.match import MatchResult, play_match
from arena.schedules.schedule import Row
from arena.schedules.spec import TournamentSpec
from arena.schedules.work_units import WorkUnit
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.sides import sides_of

__all__ = ["MAX_DEATHS", "Played", "WorkerContext", "WorkersDiedError", "play_packed"]

Played = tuple[WorkUnit, MatchResult]

# So many workers may die of a unit: the first perhaps by chance, the last by its agents.
MAX_DEATHS = 3


class WorkerContext:
    """A game with its agents, made once per process."""

    def __init__(self, spec: TournamentSpec) -> None:
        """Make what ``spec`` names."""
        self.spec = spec
        self.game: Game = spec.build_game()
        self.agents: list[Agent] = [agent.build(self.game) for agent in spec.agents]
        self.groups = spec.groups(self.game, self.agents)
        self._copies: dict[tuple[int, int], Agent] = {}

    def choose_seed(self, spec: TournamentSpec) -> None:
        """Take the same specification with a seed, on which a sample of tables depends."""
        self.spec = spec
        self.groups = spec.groups(self.game, self.agents)

    def seat(self, seating: Row) -> list[Agent]:
        """The agent in each seat.

        No two sides of a table share the memory of anybody's code that is not ours: whoever plays
        in this process is the only one there, and all others that could remember, the same agent on
        another side too, have a process for each side. Learners have not: they learn here, from all
        their seats.
        """
        seated = [self.agents[agent] for agent in seating]
        num_met: Counter[int] = Counter()
        specs = [self.spec.agents[agent] for agent in seating]
        is_taken = any(spec.learning and spec.foreign_code() for spec in specs)
        for side in sides_of(self.game.facts):
            agent = seating[side[0]]
            has_process = isinstance(seated[side[0]], OutsideAgent)
            if specs[side[0]].learning or not specs[side[0]].can_remember:
                continue
            if num_met[agent] or (is_taken and not has_process):
                copy = self._copy(agent, num_met[agent])
                for place in side:
                    seated[place] = copy
            is_taken |= not has_process
            num_met[agent] += 1
        return seated

    def _copy(self, agent: int, number: int) -> Agent:
        if (agent, number) not in self._copies:
            self._copies[agent, number] = self.spec.agents[agent].build(self.game, is_apart=True)
        return self._copies[agent, number]

    def play(self, unit: WorkUnit) -> MatchResult:
        """Play the deals of a unit; who fails forfeits."""
        seatings = self.groups[unit.group].seatings
        seeds = self.spec.seeds_of(self.groups, unit.group, unit.seating)
        if self.spec.variance_reduction != "none":
            # Imported when needed: compiled code that takes seconds to load.
            from arena.running.pilots import play_corrected

            agents = [self.seat(seating) for seating in seatings]
            return play_corrected(self.spec, self.game, agents, unit, seeds)
        return play_match(
            self.game,
            self.seat(seatings[unit.seating]),
            unit.num_deals,
            first_game=unit.first_deal,
            has_forfeits=True,
            **seeds,
        )

    def needs_copy(self, unit: WorkUnit) -> bool:
        """Whether a unit must be played in a copy of a process, which ends with it.

        So it is where code that is not ours would run in the process itself, because nothing else
        clears what it remembers. A table is then the same for any number of workers. Learners are
        to remember: they play all their games in one process.
        """
        agents = self.groups[unit.group].agents
        return not self.spec.has_learners and any(
            self.spec.agents[agent].can_remember
            and not isinstance(self.agents[agent], OutsideAgent)
            for agent in agents
        )

    def end_processes(self) -> None:
        """End the processes of players that have one; they get another when they are asked."""
        for agent in (*self.agents, *self._copies.values()):
            if isinstance(agent, OutsideAgent):
                agent.end()


@lru_cache(maxsize=1)
def _unpacked(package: bytes) -> WorkerContext:
    return WorkerContext(pickle.loads(package))


def play_packed(package: bytes, unit: bytes) -> MatchResult:
    """Play a unit on a machine of a cluster; the specification comes as bytes, too.

    The context of a process is kept for as long as the bytes are the same.
    """
    return _unpacked(package).play(pickle.loads(unit))


class WorkersDiedError(MasqueradeError):
    """A unit has killed one worker after another."""

    def __init__(
        self, context: WorkerContext, unit: WorkUnit, num_deaths: int, reason: str
    ) -> None:
        """Name the agents; ``reason`` is how the last worker died."""
        members = context.groups[unit.group].agents
        names = " against ".join(context.spec.agents[agent].name for agent in members)
        last = unit.first_deal + unit.num_deals - 1
        super().__init__(
            f"{num_deaths} workers died while they played {names}, deals {unit.first_deal} to "
            f"{last} ({reason}): leave one of these agents out; with --workers 1 it may say more "
            "before it dies"
        )
