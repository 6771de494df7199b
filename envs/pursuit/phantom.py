"""Phantom of Old Prague: detectives hunt the Phantom on a random map of cabs, taxis and trams.

**Rules.** There are 24 rounds. In the first everybody chooses where to start: the Phantom in
secret, the five detectives on different places. In each later round the Phantom moves, then the
detectives one after the other. A move takes one edge of one transport and costs a token of it:
every detective has 10 for the horse cab, 9 for the taxi and 5 for the tram, the Phantom 4, 3 and 3.
A token that a detective spends goes to the Phantom. Two detectives may not stand on one place, and
nobody may stay by choice; a detective who cannot move waits. The Phantom's place is hidden, the
token he uses is seen, and he shows himself in rounds 3, 8, 13, 18 and 21.

**End.** Detectives win as soon as one of them and the Phantom stand on one place, even if it was
the Phantom who went there or both chose it as their start, or when the Phantom cannot move. The
Phantom wins when the last round is over.

**Placement** (option ``placement_order``): ``fugitive_first`` is blind for the Phantom, and his
choice is hidden from detectives; with ``detectives_first`` he sees where they start.

**Maps.** Random ones (``generators.py``) with the sizes and shares of the options; ``num_maps``
makes a pool of which the first chance event draws one, and ``first_map`` says where the pool begins
in the series of ``map_seed``, so that pools to train and to test on have no map in common.
``max_imbalance`` refuses maps that favour one side (``tables.py``). Three maps are kept as files:
``map_1``, ``map_2`` and ``map_3``.

**Source.** A bachelor thesis about computer players for a game after the board game *Fantom staré
Prahy*. It gives no sizes or shares for its maps; the defaults are such that simple players win
about as often as there.

**Actions.** With ``P`` places (the highest number on the board) and the tickets numbered in the
order of the board's transports, black last: ``P * ticket + place - 1`` goes to that place. Starts
are chosen with the numbers of the first ticket. Then come ``double`` (if there are double moves)
and, if detectives move in any order, ``detective 1`` and so on, to say who moves next.

**Chance.** Which map, if there is a pool of them (outcome = its place in the pool); then start
cards, if they are drawn (outcome = place - 1), the detectives' first and the fugitive's last.

**Who sees what.** Everything is public but the fugitive's place. Of his moves detectives see the
ticket, and the place when he shows himself; of his start that it happened. Everybody sees when he
is caught and when he cannot move. What follows for where he can be is worked out exactly, for all
to see: the belief is part of every observation.

**Returns.** The fugitive's is 1 if he escapes and -1 if not, with ``rewards="survival"`` twice the
share of rounds he has survived, minus 1; every detective's is the opposite.

**Version history.** v0: first version.
"""

from __future__ import annotations

from types import MappingProxyType

from envs.pursuit.game import Pursuit
from envs.pursuit.options import PursuitOptions, board_option, with_default


class PhantomOptions(PursuitOptions):
    """Options of the Phantom of Old Prague."""

    board: str = board_option("random")
    rows: int = with_default("rows", 9)
    columns: int = with_default("columns", 11)
    rounds: int = with_default("rounds", 24)
    reveals: int | tuple[int, ...] = with_default(
        "reveals",
        (3, 8, 13, 18, 21),
        "rounds in which the fugitive shows himself; one number: every so many, 0: never",
    )
    moving: str = with_default("moving", "in_order")
    starts: str = with_default("starts", "chosen")
    detective_tickets: int | tuple[int, ...] | str = with_default(
        "detective_tickets", (10, 9, 5), "tokens of every detective, one number for each transport"
    )
    fugitive_tickets: int | tuple[int, ...] | str = with_default(
        "fugitive_tickets", (4, 3, 3), "tokens of the fugitive, one number for each transport"
    )
    black_tickets: int = with_default("black_tickets", 0)
    double_moves: int = with_default("double_moves", 0)
    spent_tickets: str = with_default(
        "spent_tickets", "fugitive", "who gets a token that a detective used"
    )
    stuck_detectives: str = with_default(
        "stuck_detectives", "stay", "what detectives do who have no token for any way out"
    )
    may_step_on_detective: bool = with_default("may_step_on_detective", True)


class Phantom(Pursuit):
    """The Phantom of Old Prague; see the module for the rules.

    >>> from envs import make_game
    >>> game = make_game("phantom_v0")
    >>> len(game.boards[0].nodes), game.facts.num_actions
    (80, 297)
    """

    id = "phantom_v0"
    title = "Phantom of Old Prague"
    summary = "A pursuit on maps that are new every time."
    Options = PhantomOptions
    fugitive_name = "the Phantom"
    presets = MappingProxyType(
        {
            "thesis": {},
            "visible_starts": {"placement_order": "detectives_first"},
            "map_1": {"board": "map_1"},
            "map_2": {"board": "map_2"},
            "map_3": {"board": "map_3"},
        }
    )
