"""One second of search a move against the rule players of every game.

In games of equal seats search sits in every seat among copies of one rule player, on the same
deals; what counts is how much more it gets than the mean of its table, or in games that go by place
how many places it is ahead of an equal. In pursuits it plays one side; what counts is how much more
often it wins than the best rule player of that side against the same opponents. Five detectives
share the second of their round.

A game of search takes as many seconds as it has moves, so the full tables take hours: a try is
``--scale 0.1``. What costs nothing is not scaled: the rule player beside a search in a pursuit
plays ``RULE_GAMES``, and in Leduc poker (``LI``) one search is made in every infoset that it
comes to, from which the lead follows without the luck of the cards. In hold'em, whose luck takes
thousands of hands, ``HS`` has 1,000 simulations a move instead of a second. Where a rule
player is an equilibrium, or the luck of a game is larger than a lead can be in so few games, no
interval will exclude zero: what search loses to best responses (``E``) tells more there. NashConv
is twice the exploitability, and the aim of 0.05 for that is 0.1 here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.cfr.forms.tree import GameTree, Probs
from agents.cfr.response import counterfactual_reach, expected_values, nash_conv
from agents.cfr.tree_policies import tabulate
from arena.playing.match import play_shown
from envs import make_game
from envs.core.game import Game
from envs.core.statistics import Interval, mean_interval
from training.experiments.kept_games import Pairing, Player, play_kept
from training.experiments.phantom_exact import searched
from training.experiments.phantom_search import (
    MAPS,
    OUR_DETECTIVES,
    UNGUESSED,
    Wins,
    difference,
    win_rate,
)
from training.reproduce import Group, Row, Settings

__all__ = ["GROUPS"]

SECONDS = 1.0
GAMES = 100
RULE_GAMES = 1000
"""Of a rule player on each board of a pursuit."""
BOARDS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "scotland_yard_v0": ({},),
    "phantom_v0": tuple({"board": board} for board in MAPS),
}
SEARCHERS: Mapping[str, tuple[Player, Player]] = {
    "scotland_yard_v0": (
        UNGUESSED,
        Player("search with capture tables", "pursuit_search", shares_budget=True),
    ),
    "phantom_v0": (UNGUESSED, OUR_DETECTIVES),
}
"""The fugitive and the detectives of a second a round."""
MODELS: Mapping[str, Any] = {"belief": "policy", "opponents": "rule"}


@dataclass(frozen=True)
class Table:
    """Search against rule players in a game of equal seats."""

    game: str
    player: Player
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


def equal_seats(id: str, table: Table) -> Group:
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
            lead = mean_interval(np.mean(found, axis=0), span=span)
            if game.facts.objective != "place":
                lead, unit = lead.times(game.facts.unit.scale), game.facts.unit.name
            budget = f" at {table.simulations:,} simulations" if table.simulations else ""
            what = f"{table.game}: {table.player.name}{budget} ahead of {rule}, {unit}"
            yield told(id, what, lead, games * num_seats)

    return rows


def exact_lead(id: str, table: Table) -> Group:
    """A row for each rule player of a game that can be written down."""

    def rows(settings: Settings) -> Iterator[Row]:
        game = make_game(table.game, **table.options)
        tree = GameTree(game)
        owner = tree.infosets["player"][tree.sequence_infosets]
        for rule in table.rules:
            theirs = tabulate(make_agent(rule, game), tree).probs
            agent = table.player.make(game, 0, SECONDS)
            own, number = searched_where_it_comes(agent, tree, settings.seed, theirs)
            seats = range(tree.num_players)
            found = [expected_values(tree, np.where(owner == s, own, theirs))[s] for s in seats]
            what = f"{table.game}: {table.player.name} ahead of {rule}, {game.facts.unit.name}"
            note = f"exact for one search in each of {number} infosets"
            lead = float(np.mean(found)) * game.facts.unit.scale
            yield Row(id, what, round(lead, 4), wanted=(0.0, None), note=note)

    return rows


def searched_where_it_comes(
    agent: Any, tree: GameTree, seed: int, others: Probs
) -> tuple[Probs, int]:
    """What a search plays wherever its own moves and the others' can lead it, and where that is."""
    own, parents = tree.uniform(), tree.infosets["parent_sequence"]
    is_open = counterfactual_reach(tree, others) > 0
    may_follow = np.zeros(tree.num_sequences + 1, bool)
    may_follow[-1] = True  # nothing was played before
    number = 0
    while (some := np.flatnonzero(is_open & may_follow[parents])).size:
        played = searched(agent, tree, seed, some)
        is_new = np.isin(tree.sequence_infosets, some)
        own[is_new] = played[is_new]
        may_follow[:-1] |= is_new & (played > 0)
        is_open[some] = False
        number += some.size
    return own, number


def told(id: str, what: str, lead: Interval, games: int) -> Row:
    """A row of a lead whose interval should lie above zero."""
    note = "interval excludes 0" if lead.excludes(0.0) else "interval holds 0"
    return Row.of(id, what, lead, games=games, wanted=(0.0, None), note=note)


def pursuit(id: str, game_id: str, side: int, best: str, opponents: tuple[str, ...]) -> Group:
    """Search on one side of a pursuit next to the best rule player of that side."""
    searcher = SEARCHERS[game_id][side]

    def pairing(player: Player, opponent: str, options: Mapping[str, Any]) -> Pairing:
        other = Player(opponent, opponent)
        fugitive, detectives = (other, player) if side else (player, other)
        return Pairing(game_id, options, fugitive, detectives, SECONDS)

    def searched_wins(opponent: str, settings: Settings) -> Wins:
        kept = []
        for number, options in enumerate(BOARDS[game_id]):
            games, seed = settings.games(GAMES // len(BOARDS[game_id])), 1000 * settings.seed
            pair = pairing(searcher, opponent, options)
            kept += play_kept(pair, games, seed + number, settings)
        return np.array([game.caught == side for game in kept])

    def plain_wins(opponent: str, settings: Settings) -> Wins:
        won = []
        for number, options in enumerate(BOARDS[game_id]):
            game, agents = pairing(Player(best, best), opponent, options).make()
            result = play_shown(game, agents, RULE_GAMES, seed=1000 * settings.seed + number)
            won.append(result.returns[:, side] > 0)
        return np.concatenate(won)

    def rows(settings: Settings) -> Iterator[Row]:
        for opponent in opponents:
            cells = [wins(opponent, settings) for wins in (searched_wins, plain_wins)]
            name = f"{game_id}, {('fugitive', 'detectives')[side]}"
            for player, cell in zip((searcher.id, best), cells, strict=True):
                what = f"{name}: {player} wins against {opponent}, %"
                yield Row.of(id, what, win_rate(cell), games=len(cell))
            what = f"{name}: {searcher.id} ahead of {best} against {opponent}, points"
            yield told(id, what, difference(*cells), sum(map(len, cells)))

    return rows


def both_search(settings: Settings) -> Iterator[Row]:
    """Search on both sides of the board of 200 stations."""
    pairing = Pairing("scotland_yard_v0", {}, *SEARCHERS["scotland_yard_v0"], SECONDS)
    kept = play_kept(pairing, settings.games(GAMES), 1000 * settings.seed, settings)
    won = np.array([game.caught == 1 for game in kept])
    what = "scotland_yard_v0: detectives of pursuit_search win against Mr. X of mo_ismcts, %"
    yield Row.of("SS", what, win_rate(won), games=len(won))


SMALL: Mapping[str, tuple[Mapping[str, Any], int]] = {
    "leduc_v0": ({}, 100_000),
    "liars_dice_v0": ({"preset": "openspiel"}, 10_000),
}
"""Games whose exploitability is exact: options, and simulations in each of their infosets."""
PUBLISHED = {"ismcts": 0.808, "oos": 0.414}
"""NashConv in one-die Liar's Dice after a second of their authors' machines."""


def exploitabilities(settings: Settings) -> Iterator[Row]:
    """NashConv of one search in every infoset; ``online_cfr`` solves the game in its second."""
    for game_id, (options, number) in SMALL.items():
        game = make_game(game_id, **options)
        tree, simulations = GameTree(game), settings.games(number)
        for agent_id in ("ismcts", "mo_ismcts", "oos", "online_cfr"):
            is_solved = agent_id == "online_cfr"
            budget = {"time_per_move": SECONDS} if is_solved else {"iterations": simulations}
            probs = searched(make_agent(agent_id, game, **budget), tree, settings.seed)
            words = f"{SECONDS:g} s" if is_solved else f"{simulations:,} simulations"
            published = PUBLISHED.get(agent_id) if game_id == "liars_dice_v0" else None
            what = f"{game_id}: NashConv of {agent_id}, {words}"
            found = round(nash_conv(tree, probs), 5)
            yield Row("E", what, found, published=published, wanted=(None, 0.1))


def heads_up(id: str, *rules: str, games: int = 10 * GAMES, simulations: int = 0) -> Group:
    """Hold'em for two."""
    player, options = Player("mo_ismcts with models", "mo_ismcts", MODELS), {"num_players": 2}
    return equal_seats(id, Table("holdem_v0", player, rules, games, options, simulations))


HOLDEM_RULES = ("holdem_call", "holdem_loose", "holdem_odds", "holdem_tight")


GROUPS: dict[str, Group] = {
    "E": exploitabilities,
    "K": equal_seats(
        "K", Table("kuhn_v0", Player("online_cfr", "online_cfr"), ("kuhn_rule",), 200 * GAMES)
    ),
    "L": equal_seats(
        "L", Table("leduc_v0", Player("online_cfr", "online_cfr"), ("leduc_rule",), 200 * GAMES)
    ),
    "LI": exact_lead("LI", Table("leduc_v0", Player("mo_ismcts", "mo_ismcts"), ("leduc_rule",))),
    "D": equal_seats(
        "D",
        Table(
            "liars_dice_v0",
            Player("mo_ismcts with models", "mo_ismcts", MODELS),
            ("liars_dice_rule",),
        ),
    ),
    "H": heads_up("H", "holdem_call"),
    "HL": heads_up("HL", "holdem_loose"),
    "HO": heads_up("HO", "holdem_odds"),
    "HT": heads_up("HT", "holdem_tight"),
    "HS": heads_up("HS", *HOLDEM_RULES, games=20 * GAMES, simulations=1000),
    "N": equal_seats(
        "N",
        Table(
            "no_thanks_v0",
            Player("ismcts", "ismcts"),
            ("no_thanks_rule", "no_thanks_sequence", "no_thanks_greedy"),
        ),
    ),
    "SX": pursuit(
        "SX", "scotland_yard_v0", 0, "pursuit_belief", ("pursuit_belief", "pursuit_capture")
    ),
    "SD": pursuit("SD", "scotland_yard_v0", 1, "pursuit_capture", ("pursuit_belief",)),
    "SS": both_search,
    "PX": pursuit("PX", "phantom_v0", 0, "pursuit_belief", ("pursuit_heuristic",)),
    "PXB": pursuit("PXB", "phantom_v0", 0, "pursuit_belief", ("pursuit_belief",)),
    "PD": pursuit("PD", "phantom_v0", 1, "pursuit_belief", ("pursuit_heuristic",)),
    "PDB": pursuit("PDB", "phantom_v0", 1, "pursuit_belief", ("pursuit_belief",)),
}
