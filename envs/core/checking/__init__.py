"""``check_game``: does a game keep the contract that every algorithm here relies on?

Random games and, for a small game, its whole tree are played under every law.

Each law is a small function whose name is the law and whose docstring states it; a broken one is
reported by both. They are grouped by what they look at:

==================  =============================================================================
``probe.py``        one call of a kernel: it writes what it should and nothing else
``positions.py``    one position: turn, legal actions, chance, returns, conserved amounts
``information.py``  what players see, and two histories that a player cannot tell apart
``worlds.py``       the worlds that ``determinize`` makes, without knowing the game tree
``trees.py``        the same on the whole tree of a small game, where everything can be known
==================  =============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field

from envs.core.checking.information import Double, View, check_same_information, check_tokens, view
from envs.core.checking.positions import (
    Node,
    check_facts,
    check_position,
    games_end_within_max_length,
    look,
    sample_follows_chance,
    sample_gives_legal_outcomes,
    settle_plays_chance_one_by_one,
)
from envs.core.checking.probe import Broken, Probe, law, rules_are_never_written
from envs.core.checking.trees import TreeCounts, check_tree, grow_tree
from envs.core.checking.worlds import (
    check_against_double,
    check_world,
    determinize_keeps_the_returns_at_the_end,
    play_on,
    seen_and_determinize_agree,
)
from envs.core.game import Game, State
from envs.core.kernels import CHANCE, OVER
from envs.core.rng import Words, below, first_key, fold, stream

__all__ = ["CheckReport", "check_game"]

_DENSE = 32
"""So many positions of a game are looked at closely, then every second one, every third ..."""
_MOST_SAMPLED = 12
"""Chance nodes at which draws are counted."""
_NUM_GAMES, _MOST_POSITIONS = 20, 3000
"""Unless told otherwise: so many games, or fewer if they are long."""
_MOST_VIEWS = 10_000
"""Information sets whose first view is kept, to be compared when they are met again."""
_MOST_WATCHED = 2
"""Players whose information is followed in one game; others have their turn in the next ones."""


@dataclass
class CheckReport:
    """How much was checked before a game was found in order."""

    game: str
    num_games: int = 0
    num_positions: int = 0
    """Positions of the random games, each with all laws of a position."""
    num_worlds: int = 0
    """Worlds drawn at those positions, each with all laws of a world."""
    num_doubles: int = 0
    """Worlds known to be possible from a second history, against which ``determinize`` was held."""
    num_sampled: int = 0
    """Chance nodes at which ``sample`` was compared with ``chance``."""
    has_hidden_information: bool = False
    """Whether ``determinize`` ever had anything to change."""
    tree: TreeCounts | None = None
    """If the whole tree was walked; without it some laws can only be tested in part."""
    num_world_sets: int = 0
    """Information sets in which the drawn worlds were compared with the exact distribution."""


@dataclass
class _Tally:
    """What is known so far about one game."""

    report: CheckReport
    has_changed: list[bool]
    """By player: whether a world ever differed from the truth."""
    could_differ: list[bool]
    """By player: whether anything was ever kept from the player."""
    sampled: set[bytes] = field(default_factory=set)
    views: dict[tuple[int, int, int], View] = field(default_factory=dict)
    """First view of every information set met, by opening, player and key."""


def check_game(
    game: Game, *, num_games: int | None = None, seed: int = 0, max_nodes: int = 20_000
) -> CheckReport:
    """Check that a game keeps its contract, by random play and, if it is small, on its whole tree.

    The same arguments give the same verdict every time. What is checked is in the docstrings of the
    laws, in the modules of this package.

    Args:
        game: any game, with the options it is to be checked for.
        num_games: random games to play; left out, 20, or fewer if they are long.
        seed: where all randomness of the check comes from.
        max_nodes: a tree of at most so many nodes is walked as a whole; 0 leaves it out.

    Returns:
        How much was checked.

    Raises:
        GameContractError: a law is broken; the message names it and the position.

    >>> from envs import make_game
    >>> report = check_game(make_game("kuhn_v0"))
    >>> report.num_games, report.tree.infosets
    (20, (6, 6))
    """
    probe = Probe(game)
    check_facts(probe)
    report, nobody = CheckReport(repr(game)), [False] * game.facts.num_players
    tally = _Tally(report, has_changed=nobody.copy(), could_differ=nobody.copy())
    for number in range(_NUM_GAMES if num_games is None else num_games):
        if num_games is None and report.num_positions >= _MOST_POSITIONS:
            break
        _check_one_game(probe, tally, number, stream(seed, "check", number))
    for player in probe.players:
        seen_and_determinize_know_the_same_secrets(probe, tally, player)
    tree = grow_tree(probe, max_nodes)
    if tree is not None:
        rng = stream(seed, "check", "tree")
        report.tree, report.num_world_sets = check_tree(probe, tree, rng)
    rules_are_never_written(probe, "a kernel")
    report.num_sampled = len(tally.sampled)
    report.has_hidden_information = any(tally.has_changed)
    return report


def _check_one_game(probe: Probe, tally: _Tally, number: int, rng: Words) -> None:
    tally.report.num_games += 1
    probe.move_to(number, [])
    node = look(probe, probe.new(number))
    amounts = probe.game.conserved(node.state)
    doubles = [Double(player, node.state) for player in _choose_players(probe, rng)]
    keys = {double.player: int(first_key(double.player)) for double in doubles}
    before: tuple[Node, int] | None = None
    kept = (node, probe.history)
    num_close = 0
    while True:
        tally.report.num_positions += 1
        check_position(probe, node, amounts)
        _check_views(probe, tally, node, keys, doubles)
        if node.turn == OVER:
            for double in doubles:
                determinize_keeps_the_returns_at_the_end(probe, node, double.player, rng)
            break
        if below(rng, 1 + len(probe.history) // _DENSE) == 0:
            _check_closely(probe, tally, before, node, doubles, amounts, rng)
            num_close += 1
            if below(rng, num_close) == 0:
                kept = (node, probe.history)
        action = _choose(probe, tally, node, rng)
        after = probe.step(node.state, action)
        for double in doubles:
            player = double.player
            keys[player] = int(fold(keys[player], probe.seen(node.state, action, player)))
            double.follow(probe, node, action, after, rng)
            tally.could_differ[player] |= double.could_differ
        before = (node, action)
        probe.move_to(number, [*probe.history, action])
        games_end_within_max_length(probe)
        node = look(probe, after)
    replaying_a_history_gives_the_same_state(probe, node.state)
    for double in doubles:
        probe.move_to(number, kept[1])
        play_on(probe, kept[0], double.player, amounts, rng)
    rules_are_never_written(probe, "a kernel")


def _check_closely(
    probe: Probe,
    tally: _Tally,
    before: tuple[Node, int] | None,
    node: Node,
    doubles: list[Double],
    amounts: dict[str, float],
    rng: Words,
) -> None:
    """The laws of hidden information at one position, for every player that is followed."""
    check_tokens(probe, node, rng)
    for double in doubles:
        player = double.player
        tally.report.num_doubles += check_against_double(probe, node, double, rng)
        world = check_world(probe, node, player, amounts, rng)
        tally.report.num_worlds += 1
        tally.has_changed[player] |= world.tobytes() != node.state.tobytes()
        if before is not None:
            seen_and_determinize_agree(probe, *before, node, player, rng)


def _choose_players(probe: Probe, rng: Words) -> list[int]:
    first = below(rng, len(probe.players))
    return [
        int(first + i) % len(probe.players) for i in range(min(_MOST_WATCHED, len(probe.players)))
    ]


def _choose(probe: Probe, tally: _Tally, node: Node, rng: Words) -> int:
    """Play at random; now and then count the draws of a chance node that was not met before."""
    if node.turn != CHANCE:
        return int(node.actions[below(rng, len(node.actions))])
    num_sampled = len(tally.sampled)
    is_new = num_sampled < _MOST_SAMPLED and node.state.tobytes() not in tally.sampled
    if is_new and below(rng, 1 + num_sampled) == 0:
        tally.sampled.add(node.state.tobytes())
        sample_follows_chance(probe, node, rng)
    settle_plays_chance_one_by_one(probe, node, rng)
    return sample_gives_legal_outcomes(probe, node, rng)


def _check_views(
    probe: Probe, tally: _Tally, node: Node, keys: dict[int, int], doubles: list[Double]
) -> None:
    opening = probe.number % probe.num_openings
    for double in doubles:
        player = double.player
        mine = view(probe, node, player, probe.history)
        twin = view(probe, look(probe, double.state), player, double.history)
        check_same_information(probe, player, mine, twin)
        if len(tally.views) < _MOST_VIEWS:
            known = tally.views.setdefault((opening, player, keys[player]), mine)
            check_same_information(probe, player, mine, known)


@law
def replaying_a_history_gives_the_same_state(probe: Probe, state: State) -> None:
    """``game.replay`` of the history of a game ends in the same state, to the last byte."""
    replayed = probe.game.replay(probe.history, probe.number)
    if replayed.state.tobytes() != state.tobytes():
        raise Broken("the replayed state differs from the played one")


@law
def seen_and_determinize_know_the_same_secrets(probe: Probe, tally: _Tally, player: int) -> None:
    """If ``seen`` shows a player everything, ``determinize`` has nothing to change for him."""
    if tally.has_changed[player] and not tally.could_differ[player]:
        raise Broken(
            "every action of every game was seen by the player, yet worlds differed from the truth",
            player=player,
        )
