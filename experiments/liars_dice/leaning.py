"""What leaning wins and what it risks.

``python -m experiments.liars_dice.leaning --against AGENT ...`` prints it.

An equilibrium player of Liar's Dice first plays some games against each opponent and counts its
lies. Then the profile is frozen, and for several bounds the leaning player plays the same deals
against the opponent, in both seatings. Its gain over the plain player comes with an interval over
deals; its exploitability is exact, for the profile it had.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.games.liars_dice.best_response import evaluate_match
from agents.games.liars_dice.lies import CATEGORIES
from agents.games.liars_dice.wary import DEFAULT_STRENGTH, Leaning, LeaningAgent
from agents.policy import PolicyAgent
from agents.spec import AgentSpec
from arena.match import play_match
from arena.report.columns import markdown
from common.commands import AMOUNT, COUNT, SEED, Parser, add_out, answers_in_one_line
from common.files import check_out, signed, write_text
from common.statistics import mean_interval
from envs import make_game

__all__ = ["deal_returns", "main", "study"]

COMMAND = "python -m experiments.liars_dice.leaning"

HEAD = ["against", "lies seen (low, mid, high)", "bound", "return", "gain by leaning"]
HEAD += ["exploitability"]

Floats = npt.NDArray[np.float64]


def deal_returns(agent: Agent, other: Agent, num_deals: int, seed: int) -> Floats:
    """What an agent gets on average over both seatings of each deal: [deals] float64."""
    first = play_match(agent.game, [agent, other], num_deals, seed).returns[:, 0]
    second = play_match(agent.game, [other, agent], num_deals, seed).returns[:, 1]
    mean: Floats = (first + second) / 2
    return mean


def study(
    base: str, other: Agent, bounds: Sequence[float], num_pilot: int, num_deals: int, seed: int
) -> list[list[str]]:
    """The rows of one opponent."""
    game = other.game
    pupil = LeaningAgent(game, base, by_opponent=False)
    pupil.begin_learning()
    for seat in (0, 1):
        seats = [pupil, other] if seat == 0 else [other, pupil]
        play_match(game, seats, num_pilot // 2, seed + 1, first_game=seat * num_pilot)
    pupil.is_learning = False
    plain = pupil.base
    assert isinstance(plain, PolicyAgent)
    before = deal_returns(plain, other, num_deals, seed)
    lies = pupil.profiles.ratios()
    seen = ", ".join(f"{100 * lies[name]:.0f} %" for name in CATEGORIES)
    rows = [[other.name, seen, "0", str(mean_interval(before)), "", _risk(plain, None)]]
    for bound in bounds:
        pupil.bound = bound
        after = deal_returns(pupil, other, num_deals, seed)
        gain = str(mean_interval(after - before))
        leaning = Leaning(_gaps(pupil), pupil.strength, bound)
        rows.append(["", "", f"{bound:g}", str(mean_interval(after)), gain, _risk(plain, leaning)])
    return rows


def _gaps(agent: LeaningAgent) -> tuple[float, float, float]:
    record = agent.profiles.records[0]
    expected = np.array([agent.expected[name] for name in CATEGORIES])
    weight = record["num_bids"] / (record["num_bids"] + agent.imagined)
    low, mid, high = ((record["ratios"] - expected) * weight).tolist()
    return low, mid, high


def _risk(plain: PolicyAgent, leaning: Leaning | None) -> str:
    return f"{evaluate_match(plain.table, leaning).exploitability:.4f}"


@answers_in_one_line("leaning")
def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = Parser(
        prog=COMMAND,
        description=__doc__,
    )
    add = parser.add_argument
    add("--base", default="cfr_rounds:runs/liars_dice_v0/cfr-seed0", help="the plain player")
    add("--against", nargs="+", required=True, help="opponents, such as liars_dice_rule")
    add("--bounds", nargs="+", type=AMOUNT, default=[0.05, 0.1, 0.3], help="how far it may lean")
    add("--pilot", type=COUNT, default=300, help="games to learn the profile from (default 300)")
    add("--deals", type=COUNT, default=10_000, help="deals, in both seatings (default 10,000)")
    add("--seed", type=SEED, default=0, help="root of all chance")
    add_out(parser, "also write the table to a file")
    arguments = parser.parse_args(argv)
    check_out(arguments.out, COMMAND, arguments.force)
    game = make_game("liars_dice_v0")
    rows = [HEAD]
    for text in arguments.against:
        print(f"against {text} ...", file=sys.stderr, flush=True)
        other = AgentSpec.parse(text).build(game)
        rows += study(
            arguments.base,
            other,
            arguments.bounds,
            arguments.pilot,
            arguments.deals,
            arguments.seed,
        )
    print(markdown(rows))
    print(f"\nstrength {DEFAULT_STRENGTH:g}, {arguments.pilot} games before, seed {arguments.seed}")
    if arguments.out is not None:
        text = signed(markdown(rows) + "\n", arguments.out.suffix, COMMAND)
        write_text(arguments.out, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
