"""What a tournament says: who is ahead of whom, by how much, and how sure that is.

``measure.summarise`` fills these in; ``arena.report`` writes them down. Returns and leads are those
of the game; people read them times ``Summary.unit.scale``.
"""

from __future__ import annotations

import math
import types
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from arena.spec import TournamentSpec, config_of
from common.errors import one_line
from common.statistics import Interval
from envs.core.facts import Unit

MAX_TEXT = 2000
MAX_NUMBER = 1e300
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHARES = {f"{share:g}" for share in QUANTILES}


@dataclass(frozen=True)
class Standing:
    """One agent in the whole tournament."""

    name: str
    agent_id: str
    role: str | None
    """The role of an agent that did not play all of them."""
    mean_return: Interval
    placement: Interval | None
    """Mean place, 1 is best; those who tie share the mean of their places. Only where more than two
    compete."""
    win_rate: Interval | None
    """Share of games with the best return at the table; ``k`` who tie for it get ``1 / k`` each.

    The interval is Wilson's for paired games. None in games for returns, where winning often may be
    losing much.
    """
    elo: Interval | None
    """Bradley-Terry rating; 0 is the random player, or the first agent if there is none. Only where
    winning counts."""
    plackett_luce: Interval | None
    """The same from whole rankings instead of pairs; only where more than two compete."""
    seats: int
    """Games played, counting each side that the agent had in one."""
    faults: int
    """Games lost by an error or an illegal action."""
    is_firm: bool
    """False for an agent that won or lost everything: then the rating is an indication only."""
    is_reproducible: bool
    """False for an agent that plays by the clock, or otherwise in its own way each time."""
    nash_conv: float | None = None
    """What best responses to the agent would gain in all seats together, if that is known."""
    exploitability: float | None = None
    """NashConv divided by the number of players."""
    policy: str = ""
    """How the policy behind these two is known ("exact"), or why it is not."""
    deals: int = 0
    """On how many independent deals all of this rests."""

    @property
    def is_estimated(self) -> bool:
        """Whether the agent had to be asked for its policy."""
        return self.nash_conv is not None and self.policy != "exact"


@dataclass(frozen=True)
class Comparison:
    """One agent against another, over all games they played together."""

    first: str
    second: str
    games: int
    lead: Interval
    """Half the difference of their mean returns: with two players, what the first wins per game."""
    score: Interval | None
    """Share of games in which the first did better, ties counted half, with Wilson's interval for
    paired games; None in games for returns."""
    gain: float
    """How many times more games would be needed without playing deals in every seating."""
    variance_gain: float | None = None
    """How many times more games would be needed without variance reduction, if there was any."""
    deals: int = 0
    """On how many independent deals the lead rests."""


@dataclass(frozen=True)
class SeatResult:
    """One seat, or team, over everybody who played it."""

    role: str
    mean_return: Interval
    win_rate: Interval | None


@dataclass(frozen=True)
class RoleResult:
    """One agent in one role against one other agent."""

    agent: str
    role: str
    against: str | None
    """None: against everybody. Each opponent has an entry where two sides play."""
    games: int
    mean_return: Interval
    win_rate: Interval | None


@dataclass(frozen=True)
class SingleResult:
    """One of an agent among ``num_others`` of another: fair would be as many wins as seats."""

    agent: str
    against: str
    num_others: int
    games: int
    mean_return: Interval
    win_rate: Interval | None


@dataclass(frozen=True)
class Lengths:
    """Actions and chance events of a set of games."""

    games: int
    mean: float
    min: int
    max: int
    quantiles: dict[str, int]
    """For each share of games, such as "0.5", a length that so many do not exceed."""
    edges: tuple[int, ...]
    """Bins of the histogram: number ``i`` holds ``edges[i] <= length < edges[i + 1]``."""
    counts: tuple[int, ...]
    """Games in each bin."""

    def __post_init__(self) -> None:
        """Refuse what a damaged file says."""
        if self.quantiles.keys() != SHARES or len(self.edges) != len(self.counts) + 1:
            raise ValueError("quantiles and bins of lengths")


@dataclass(frozen=True)
class GroupResult:
    """Agents that played together."""

    agents: tuple[str, ...]
    num_seatings: int
    games: int
    length: Lengths


@dataclass(frozen=True)
class Cycle:
    """The first beats the second, the second the third, and the third the first."""

    agents: tuple[str, str, str]
    strength: float
    """The smallest of the three leads."""
    is_certain: bool
    """Whether the intervals of all three leads exclude 0."""


@dataclass(frozen=True)
class Metagame:
    """Agents as the moves of a game of their own: is there a ladder, and who is on top?

    All intervals here are at a confidence for the whole table (Bonferroni over pairs). Nash average
    and alpha-rank count a lead that is not certain as even.
    """

    agents: tuple[str, ...]
    leads: tuple[tuple[float, ...], ...]
    """Lead of the row over the column."""
    is_certain: tuple[tuple[bool, ...], ...]
    nash: tuple[float, ...]
    """Weights of the equilibrium of largest entropy: beating the weak earns nothing."""
    nash_skill: tuple[float, ...]
    """Mean lead over that mixture: 0 for those in it, negative for the others."""
    alpha_rank: tuple[float, ...]
    """Share of time that a population under evolution spends with each."""
    transitive: float
    """Share of the squared leads that a ladder explains."""
    cyclic: float
    """The rest, noise included."""
    cycles: tuple[Cycle, ...]
    """The certain ones first, then the strongest."""

    def __post_init__(self) -> None:
        """All of it is about the same agents."""
        tables, lists = (self.leads, self.is_certain), (self.nash, self.nash_skill, self.alpha_rank)
        rows = [*tables, *lists, *(row for table in tables for row in table)]
        if any(len(row) != len(self.agents) for row in rows):
            raise ValueError(f"numbers for each of {len(self.agents)} agents")


@dataclass(frozen=True)
class Stopping:
    """How play was ended by a wanted precision."""

    half_width: float
    """What was wanted of every lead."""
    reached: float
    """The least certain lead."""
    looks: tuple[int, ...]
    """Numbers of deals after which the precision was looked at."""
    is_reached: bool


@dataclass(frozen=True)
class Summary:
    """The result of a tournament."""

    spec: TournamentSpec
    unit: Unit
    """In which returns and leads are read."""
    objective: str
    """What orders the standings: return, place or win."""
    standings: list[Standing]
    """The best first; agents of one role come after those that play all."""
    comparisons: list[Comparison]
    """One for each two agents that can be compared: both have played all roles."""
    faults: list[str]
    """What went wrong, a line for each kind."""
    anchor: str
    """The agent whose rating is 0."""
    roles: tuple[str, ...]
    """What each side is called."""
    is_two_sided: bool
    """Whether the two sides differ: then agents of one are compared against agents of the other."""
    seats: list[SeatResult]
    by_role: list[RoleResult]
    singles: list[SingleResult]
    """With ``duels`` of three sides and more: one among many."""
    groups: list[GroupResult]
    length: Lengths
    metagame: Metagame | None
    """None where no two agents can be compared."""
    stopping: Stopping | None = None
    """Only when play was to go on until a wanted precision."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; an interval is [mean, low, high], a number that is not finite None."""
        return {**_plain(self), "spec": _plain(self.spec.to_dict())}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Summary:
        """What ``to_dict`` gave; raises KeyError for what another version wrote."""
        spec = TournamentSpec.parse(config_of(content["spec"]))
        values = {
            name: _typed(kind, content[name])
            for name, kind in get_type_hints(cls).items()
            if name != "spec"
        }
        found = cls(spec, **values)
        strange = [each.role for each in found.standings if each.role not in (None, *found.roles)]
        if spec.seed is None or not found.groups or not found.standings or strange:
            raise ValueError("seed, groups, standings or roles")
        return found


def _plain(value: Any) -> Any:
    """Anything of a summary as JSON has it."""
    if isinstance(value, Interval):
        return [_plain(end) for end in (value.mean, value.low, value.high)]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value


def _typed(kind: Any, value: Any) -> Any:
    """The other way round: what JSON has as what the fields are declared to be."""
    if get_origin(kind) is types.UnionType:
        return None if value is None else _typed(get_args(kind)[0], value)
    if kind is Interval:
        ends = zip(value, (math.nan, -math.inf, math.inf), strict=True)
        return Interval(*(missing if end is None else _typed(float, end) for end, missing in ends))
    if kind is float and value is None:
        return math.nan
    if kind in (str, int, bool, float):
        is_fine = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        is_large = kind is not str and is_fine and abs(value) > MAX_NUMBER
        if not is_fine or is_large or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"{kind.__name__} at {one_line(repr(value), 80)}")
        return one_line(value, MAX_TEXT) if kind is str else value
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _typed(each, value[name]) for name, each in hints.items()})
    kinds = get_args(kind)
    if get_origin(kind) is dict:
        return {_typed(kinds[0], key): _typed(kinds[1], entry) for key, entry in value.items()}
    is_fixed = get_origin(kind) is tuple and kinds[-1] is not ...
    if not isinstance(value, list) or (is_fixed and len(value) != len(kinds)):
        raise TypeError(f"list at {one_line(repr(value), 80)}")
    return get_origin(kind)(_typed(kinds[0], entry) for entry in value)
