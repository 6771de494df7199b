"""One second of search a move against the rule players of every game.

In games of equal seats search sits in every seat among copies of one rule player, on the same
deals; what counts is how much more it gets than the mean of its table, or in games that go by place
how many places it is ahead of an equal. In pursuits it meets every rule player on both sides (``P``
and ``S``). A group for each side and opponent (``PXB``: the Phantom, before detectives of
``pursuit_belief``) says how much more often it wins than the best rule player of that side does
against the same opponent. Five detectives share the second of their round.

A game of search takes as many seconds as it has moves, so the full tables take hours: a try is
``--scale 0.1``. What costs nothing is not scaled: the rule player beside a search in a pursuit
plays ``RULE_GAMES``, and in Leduc poker (``LI``) one search is made in every infoset that it
comes to, from which the lead follows without the luck of the cards. In hold'em, whose luck takes
thousands of hands, ``HS`` has 1,000 simulations a move instead of a second, and ``HM`` is the same
for a search that knows the game's quick policy only.

Where a rule player is an equilibrium, or the luck of a game is larger than a lead can be in so few
games, no interval will exclude zero. What search loses to best responses tells more there: ``E`` at
equal simulations, ``EM`` for the mean of some searches, ``ES`` and ``ESO`` in a second, ``EW`` for
all that a second of ``oos`` learns at once. NashConv is twice the exploitability, and the aim of
0.05 for that is 0.1 here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.cfr.evaluation import tabulate, views_at
from agents.cfr.response import best_response, counterfactual_reach, expected_values
from agents.cfr.tree import GameTree, Probs
from arena.match import play_shown
from common.statistics import Interval, mean_interval
from envs import make_game
from envs.core.game import Game
from experiments.phantom.searching import OUR_PHANTOM, analysed, searched
from experiments.pursuit_cells import (
    BOARDS,
    Entrant,
    Wins,
    difference,
    join,
    play_cells,
    win_rate,
)
from experiments.runner import Group, Row, Settings

Bools = npt.NDArray[np.bool_]

SECONDS = 1.0
GAMES = 100
RULE_GAMES = 1000
"""Of a rule player on each board of a pursuit."""
SEARCHERS = (
    OUR_PHANTOM,
    Entrant("search with capture tables", "pursuit_search", shares_budget=True),
)
"""The fugitive and the detectives of a second a round."""
RULES = {
    "H": "pursuit_heuristic",
    "G": "pursuit_greedy",
    "B": "pursuit_belief",
    "C": "pursuit_capture",
    "F": "pursuit_foresight",
}
"""The rule players of pursuits, by the letters that groups have for them."""
SAME_AS = {("pursuit_capture", 0): "pursuit_belief", ("pursuit_foresight", 1): "pursuit_belief"}
"""Who plays a side as another one does."""
BEST_RULES = "pursuit_foresight", "pursuit_capture"
"""As fugitive and as detectives, on every board and against every rule player."""
MODELS: Mapping[str, Any] = {"belief": "policy", "opponents": "rule"}


@dataclass(frozen=True)
class SearchTable:
    """Search against rule players in a game of equal seats."""

    game: str
    player: Entrant
    rules: tuple[str, ...]
    games: int = GAMES
    """In every seat."""
    options: Mapping[str, Any] = field(default_factory=dict)
    simulations: int = 0
    """Of a move, instead of a second."""


def leads(game: Game, returns: npt.NDArray[np.float64], seat: int) -> npt.NDArray[np.float64]:
    """[games] how far a seat is ahead of the mean of its table, or of the place of an equal.

    >>> leads(make_game("no_thanks_v0"), np.array([[-30.0, -50.0, -40.0]]), 0)
    array([1.])
    """
    own = returns[:, [seat]]
    if game.facts.objective == "place":
        # Equals share their places; so does everybody with itself.
        ahead = (returns < own) + 0.5 * (returns == own)
        return np.asarray(ahead.sum(axis=1) - 0.5 * returns.shape[1], np.float64)
    return np.asarray(own[:, 0] - returns.mean(axis=1), np.float64)


def equal_seats(table: SearchTable) -> Group:
    """A row for each rule player."""

    def rows(settings: Settings) -> Iterator[Row]:
        game = make_game(table.game, **table.options)
        games, num_seats = settings.games(table.games), game.facts.num_players
        for rule in table.rules:
            found = []
            for seat in range(num_seats):
                agents = [make_agent(rule, game) for _ in range(num_seats)]
                seconds = None if table.simulations else SECONDS
                agents[seat] = table.player.make(game, table.simulations, seconds)
                result = play_shown(game, agents, games, seed=settings.seed)
                found.append(leads(game, result.returns, seat))
            span, unit = num_seats - 1.0, "places"
            if game.facts.objective != "place":
                span = game.facts.max_return - game.facts.min_return
            lead = mean_interval(np.mean(found, axis=0), bounds=(-span, span))
            if game.facts.objective != "place":
                lead, unit = lead.times(game.facts.unit.scale), game.facts.unit.name
            budget = f" at {table.simulations:,} simulations" if table.simulations else ""
            what = f"{table.game}: {table.player.name}{budget} ahead of {rule}, {unit}"
            yield told(what, lead, games * num_seats)

    return rows


def exact_lead(table: SearchTable) -> Group:
    """A row for each rule player of a game that can be written down."""

    def rows(settings: Settings) -> Iterator[Row]:
        game = make_game(table.game, **table.options)
        tree = GameTree(game)
        owner = tree.infosets["player"][tree.sequence_infosets]
        for rule in table.rules:
            theirs = tabulate(make_agent(rule, game), tree).probs
            agent = table.player.make(game, 0, SECONDS)
            is_open = counterfactual_reach(tree, theirs) > 0
            own, is_searched = searched_where_it_comes(agent, tree, settings.seed, is_open)
            seats = range(tree.num_players)
            found = [expected_values(tree, np.where(owner == s, own, theirs))[s] for s in seats]
            what = f"{table.game}: {table.player.name} ahead of {rule}, {game.facts.unit.name}"
            note = f"exact for one search in each of {is_searched.sum()} infosets"
            lead = float(np.mean(found)) * game.facts.unit.scale
            yield Row(what, round(lead, 4), wanted=(0.0, None), note=note)

    return rows


def searched_where_it_comes(
    agent: Any, tree: GameTree, seed: int, is_open: Bools, least: float = 0.0, num_searches: int = 1
) -> tuple[Probs, Bools]:
    """What a search plays wherever its own moves lead with more than ``least``, and where that is.

    Args:
        agent: the player.
        tree: the game.
        seed: root of its chance.
        is_open: [num_infosets] those that the others let it come to.
        least: a probability; what its own moves lead to more rarely is left out.
        num_searches: in each infoset; what they play on average is its policy, because who plays
            draws anew at every decision.
    """
    own, parents = tree.uniform(), tree.infosets["parent_sequence"]
    reach, is_searched = np.zeros(tree.num_sequences + 1), np.zeros(tree.num_infosets, bool)
    reach[-1] = 1.0  # nothing was played before
    while (some := np.flatnonzero(is_open & ~is_searched & (reach[parents] > least))).size:
        every = [searched(agent, tree, seed + each, some) for each in range(num_searches)]
        played = np.mean(every, axis=0)
        is_new = np.isin(tree.sequence_infosets, some)
        own[is_new] = played[is_new]
        reach[:-1][is_new] = reach[parents[tree.sequence_infosets[is_new]]] * played[is_new]
        is_searched[some] = True
    return own, is_searched


def most_nash_conv(tree: GameTree, probs: Probs, is_searched: Bools) -> float:
    """NashConv of a policy for two if all is lost where it was not searched: an upper bound.

    >>> from agents.cfr.tree import GameTree
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> nothing, all = np.zeros(tree.num_infosets, bool), np.ones(tree.num_infosets, bool)
    >>> [round(most_nash_conv(tree, tree.uniform(), known), 4) for known in (nothing, all)]
    [4.0, 0.9167]
    """
    is_known = np.append(is_searched[tree.sequence_infosets], True)
    total = 0.0
    for player, opponent in ((0, 1), (1, 0)):
        returns = tree.terminal_returns.copy()
        is_lost = ~is_known[tree.terminal_sequences[:, player]]
        returns[is_lost, opponent] = tree.game.facts.seats[opponent].high
        losing = copy(tree)
        for made_of_returns in ("payoffs", "form"):
            vars(losing).pop(made_of_returns, None)
        losing.terminal_returns = returns
        total += best_response(losing, probs, opponent).value
    return total


def told(what: str, lead: Interval, games: int) -> Row:
    """A row of a lead whose interval should lie above zero."""
    note = "interval excludes 0" if lead.excludes(0.0) else "interval holds 0"
    return Row.of(what, lead, games=games, wanted=(0.0, None), note=note)


def cell_of(
    game_id: str, fugitive: Entrant, detectives: Entrant, games: int, settings: Settings
) -> Wins:
    """[all games] which of so many on each board the detectives win."""
    return join(play_cells(game_id, fugitive, detectives, games, settings, SECONDS)).is_won


def searched_wins(game_id: str, side: int, rule: str, settings: Settings) -> Wins:
    """[games] which of them search wins on one side, against a rule player on the other."""
    # Some rule players are another one on the side that they were not made for.
    other = Entrant(rule, SAME_AS.get((rule, 1 - side), rule))
    games = settings.games(GAMES // len(BOARDS[game_id]))
    sides = (other, SEARCHERS[1]) if side else (SEARCHERS[0], other)
    is_caught = cell_of(game_id, *sides, games, settings)
    return is_caught if side else ~is_caught


def one_side(game_id: str, side: int, opponent: str) -> Group:
    """Search on one side of a pursuit next to the best rule player of that side."""
    searcher, best = SEARCHERS[side], Entrant(BEST_RULES[side], BEST_RULES[side])

    def rows(settings: Settings) -> Iterator[Row]:
        other = Entrant(opponent, opponent)
        pair = (other, best) if side else (best, other)
        is_caught = cell_of(game_id, *pair, RULE_GAMES, settings)
        plain = is_caught if side else ~is_caught
        cells = searched_wins(game_id, side, opponent, settings), plain
        name = f"{game_id}, {('fugitive', 'detectives')[side]}"
        for player, cell in zip((searcher.id, best.id), cells, strict=True):
            what = f"{name}: {player} wins against {opponent}, %"
            yield Row.of(what, win_rate(cell), games=len(cell))
        what = f"{name}: {searcher.id} ahead of {best.id} against {opponent}, points"
        yield told(what, difference(*cells), sum(map(len, cells)))

    return rows


def both_sides(game_id: str) -> Group:
    """Search against every rule player, each on either side as often as on the other."""

    def rows(settings: Settings) -> Iterator[Row]:
        for rule in RULES.values():
            hidden, hunting = (searched_wins(game_id, s, rule, settings) for s in (0, 1))
            what = f"{game_id}: pursuit_search ahead of {rule}, both sides, points"
            # What it wins as the fugitive, less what the rule player wins as the fugitive.
            yield told(what, difference(hidden, ~hunting), len(hidden) + len(hunting))

    return rows


def both_search(settings: Settings) -> Iterator[Row]:
    """Search on both sides of the board of 200 stations."""
    won = cell_of("scotland_yard_v0", *SEARCHERS, settings.games(GAMES), settings)
    what = "scotland_yard_v0: detectives of pursuit_search win against its Mr. X, %"
    yield Row.of(what, win_rate(won), games=len(won))


SMALL: Mapping[str, Mapping[str, Any]] = {"leduc_v0": {}, "liars_dice_v0": {"preset": "openspiel"}}
"""Games whose exploitability is exact, with their options."""
EXPLOITED = ("ismcts", "mo_ismcts", "oos")
SIMULATIONS = 100_000
TABLES = 8
"""Seeds of whole tables, and of the searches whose mean is taken."""
RARELY = 0.02
"""Where a player's own moves lead more rarely it is not searched, and counts as lost."""
PUBLISHED = {"ismcts": 0.808, "oos": 0.414}
"""NashConv in one-die Liar's Dice after a second of their authors' machines."""


def exploitability_of(
    agent_ids: tuple[str, ...], simulations: int = 0, num_searches: int = 1
) -> Group:
    """NashConv of searches wherever their moves lead, by simulations or in a second."""

    def rows(settings: Settings) -> Iterator[Row]:
        number = settings.games(simulations)
        budget = {"iterations": number} if simulations else {"time_per_move": SECONDS}
        words = f"{number:,} simulations" if simulations else f"{SECONDS:g} s"
        for game_id, options in SMALL.items():
            game = make_game(game_id, **options)
            tree = GameTree(game)
            for agent_id in agent_ids:
                agent = make_agent(agent_id, game, **budget)
                everywhere = np.ones(tree.num_infosets, bool)
                first = views_at(tree, np.zeros(1, np.int64), agent.wants_tokens)
                # Who has solved the game answers everywhere at once.
                least = RARELY if agent.policy(first) is None else 0.0
                found = searched_where_it_comes(
                    agent, tree, settings.seed, everywhere, least, num_searches
                )
                published = PUBLISHED.get(agent_id) if game_id == "liars_dice_v0" else None
                mean = f", mean of {num_searches} searches" if num_searches > 1 else ""
                what = f"{game_id}: NashConv of {agent_id} at most, {words}{mean}"
                note = f"{found[1].sum():,} of {tree.num_infosets:,} infosets searched"
                most = round(most_nash_conv(tree, *found), 5)
                yield Row(what, most, published=published, wanted=(None, 0.1), note=note)

    return rows


def whole_tables(settings: Settings) -> Iterator[Row]:
    """NashConv of all that one second of ``oos`` learns from the start, if it is led nowhere."""
    for game_id, options in SMALL.items():
        game = make_game(game_id, **options)
        tree, found, simulations = GameTree(game), [], 0
        agent: Any = make_agent("oos", game, time_per_move=SECONDS, delta=0.0)
        for seed in range(settings.seed, settings.seed + settings.games(TABLES)):
            probs = tree.uniform()
            (first_decision,) = analysed(agent, tree, seed, np.zeros(1, np.int64))
            simulations += first_decision.simulations
            for infoset in tree.infosets:
                learnt = agent.learnt(infoset["key"], int(infoset["player"]))
                if learnt:
                    first, count = int(infoset["first_sequence"]), int(infoset["num_actions"])
                    probs[first : first + count] = [learnt[action] for action in sorted(learnt)]
            found.append(sum(best_response(tree, probs, player).value for player in (0, 1)))
        what = f"{game_id}: NashConv of the whole table of oos, delta 0, {SECONDS:g} s"
        published = PUBLISHED["oos"] if game_id == "liars_dice_v0" else None
        note = f"{simulations / len(found):,.0f} simulations"
        mean = mean_interval(found)
        yield Row.of(
            what, mean, games=len(found), published=published, wanted=(None, 0.1), note=note
        )


WITH_MODELS = Entrant("mo_ismcts with models", "mo_ismcts", MODELS)
HOLDEM_SEARCH = Entrant("holdem_search", "holdem_search")


def heads_up(
    *rules: str,
    player: Entrant = HOLDEM_SEARCH,
    games: int = 10 * GAMES,
    simulations: int = 0,
) -> Group:
    """Hold'em for two."""
    options = {"num_players": 2}
    return equal_seats(SearchTable("holdem_v0", player, rules, games, options, simulations))


def no_thanks(*rules: str) -> Group:
    """No Thanks! for three."""
    return equal_seats(SearchTable("no_thanks_v0", Entrant("ismcts", "ismcts"), rules))


HOLDEM_RULES = ("holdem_call", "holdem_loose", "holdem_odds", "holdem_tight")


GROUPS: dict[str, Group] = {
    "E": exploitability_of(EXPLOITED, SIMULATIONS),
    "EM": exploitability_of(EXPLOITED, SIMULATIONS, num_searches=TABLES),
    "ES": exploitability_of(("ismcts", "mo_ismcts", "online_cfr")),
    "ESO": exploitability_of(("oos",)),
    "EW": whole_tables,
    "K": equal_seats(
        SearchTable("kuhn_v0", Entrant("online_cfr", "online_cfr"), ("kuhn_rule",), 200 * GAMES)
    ),
    "L": equal_seats(
        SearchTable("leduc_v0", Entrant("online_cfr", "online_cfr"), ("leduc_rule",), 200 * GAMES)
    ),
    "LI": exact_lead(SearchTable("leduc_v0", Entrant("mo_ismcts", "mo_ismcts"), ("leduc_rule",))),
    "D": equal_seats(SearchTable("liars_dice_v0", WITH_MODELS, ("liars_dice_rule",))),
    "H": heads_up("holdem_call"),
    "HL": heads_up("holdem_loose"),
    "HO": heads_up("holdem_odds"),
    "HT": heads_up("holdem_tight"),
    "HF": heads_up("holdem_fold"),
    "HR": heads_up("holdem_raise"),
    "HS": heads_up(*HOLDEM_RULES, games=20 * GAMES, simulations=1000),
    "HM": heads_up(*HOLDEM_RULES, player=WITH_MODELS, games=20 * GAMES, simulations=1000),
    "N": no_thanks("no_thanks_rule", "no_thanks_sequence", "no_thanks_greedy"),
    "NP": no_thanks("no_thanks_always_pay"),
    "NT": no_thanks("no_thanks_always_take"),
    "SS": both_search,
    "P": both_sides("phantom_v0"),
    "S": both_sides("scotland_yard_v0"),
    **{
        f"{game_id[0].upper()}{'XD'[side]}{letter}": one_side(game_id, side, rule)
        for game_id in BOARDS
        for side in (0, 1)
        for letter, rule in RULES.items()
        if (rule, 1 - side) not in SAME_AS
    },
}
