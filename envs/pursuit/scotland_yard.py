"""Scotland Yard: detectives hunt Mr. X, who shows himself only now and then.

**Rules.** Detectives draw start cards, then Mr. X draws his in secret. There are 22 rounds. In each
Mr. X moves first, then every detective, in any order they like. A move takes one edge of one
transport to the next station and costs a ticket of that transport: detectives have 11 taxi, 8 bus
and 4 underground tickets, Mr. X takes his from the supply without limit. Everybody must move, and
only to a station without a detective. Mr. X's station is hidden; the ticket he uses is seen. He
shows himself after his moves 3, 8, 13, 18 and 24. A **black ticket** (he has 5) stands for any
transport, hides which, and is the only one for a ferry. With a **double move** (he has 2, at most
one a round) he makes two moves one after the other. A detective who has no ticket for any way out
leaves the game.

**End.** Detectives win when one of them enters Mr. X's station, or when he cannot move. Mr. X wins
when the last round is over, or when no detective is left.

**Source.** The rules as a bachelor thesis about the game tells them. The board with 200 stations
is our own, since the thesis has none; any other can be read from a file (``board.py``). The preset
``reduced`` is the game that the thesis plays: a grid of 5 x 5 with two detectives, who move at once
and before Mr. X, no tickets, 20 rounds, Mr. X seen at the start and after every third move.

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
from envs.pursuit.options import PursuitOptions


class ScotlandYardOptions(PursuitOptions):
    """Options of Scotland Yard."""


class ScotlandYard(Pursuit):
    """Scotland Yard; see the module for the rules.

    >>> from envs import make_game
    >>> game = make_game("scotland_yard_v0", "reduced")
    >>> position = game.replay([0, 24, 12])  # detectives in two corners, Mr. X in the middle
    >>> game.facts.num_actions, [position.action_text(a) for a in position.legal_actions()]
    (25, ['street to 2', 'street to 6'])
    """

    id = "scotland_yard_v0"
    title = "Scotland Yard"
    summary = "Hunt Mr. X through the city, or slip away as him."
    first_seat = 1
    Options = ScotlandYardOptions
    fugitive_name = "Mr. X"
    presets = MappingProxyType(
        {
            "original": {},
            "reduced": {
                "board": "grid",
                "num_detectives": 2,
                "rounds": 20,
                "reveals": 3,
                "first": "detectives",
                "moving": "at_once",
                "start_is_known": True,
                "detective_tickets": "unlimited",
                "black_tickets": 0,
                "double_moves": 0,
            },
        }
    )
