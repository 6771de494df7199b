"""What a thread works with in walks through sampled games: records, and room made beforehand.

Row ``d`` of every array of a :class:`Workspace` belongs to the node at depth ``d``. What follows a
node is copied to the next row, so that the node itself stays as it was. Chance events have no row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from envs.core.game import Game
from envs.core.rng import Words

EXTERNAL, OUTCOME, CHANCE_ONLY = range(3)
NO_BASELINES, BY_INFOSET, BY_HISTORY = range(3)

PLAN = np.dtype(
    (
        np.record,
        [
            ("sampling", np.int64),  # EXTERNAL, OUTCOME or CHANCE_ONLY
            ("is_plus", np.int64),  # regrets below 0 are forgotten
            ("regret_power", np.float64),  # of the iteration's number, which its regrets count
            ("average_power", np.float64),  # and its policies in the average
            ("epsilon", np.float64),  # how often an outcome-sampling traverser plays anything
            ("baselines", np.int64),  # NO_BASELINES, BY_INFOSET or BY_HISTORY
            ("baseline_rate", np.float64),  # how far a baseline follows what was last seen
            ("stops_when_full", np.int64),
            ("pruning", np.float64),  # how often a walk passes hopeless actions over
            ("exploration", np.float64),  # how often a game begins at any position
            ("opponent_share", np.float64),  # how often all others are the fixed opponent
            ("deviations", np.float64),  # how often one of the others deviates
        ],
    )
)
FRAME = np.dtype(
    (
        np.record,
        [
            ("player", np.int64),  # to move
            ("first", np.int64),  # entry, NONE when the table has no room for the information set
            ("num_actions", np.int64),
            ("is_abstract", np.int64),  # the entries are abstract actions
            ("baseline", np.int64),  # entry that has the first baseline, NONE without baselines
            ("at", np.int64),  # the action that is tried, by its rank; NONE when the node is new
            ("stop", np.int64),  # the rank before which to stop
            # Outcome sampling: the probability that the traverser explored its way here, and that
            # of the action that was drawn here.
            ("explored", np.float64),
            ("drawn", np.float64),
            # The probability that the traverser comes here and, in chance sampling, the others.
            ("own", np.float64),
            ("others", np.float64),
        ],
    )
)

WALK = np.dtype(
    (
        np.record,
        [
            ("traverser", np.int64),  # whose regrets are estimated
            (
                "position",
                np.int64,
            ),  # as the traverser sees it, where the walk ends; NONE: game over
            ("regret_weight", np.float64),
            ("average_weight", np.float64),
            ("lowest_regret", np.float64),  # actions below it are passed over
            ("averages_own", np.int64),  # the traverser's policy is averaged, not the others'
            ("passes_over", np.int64),  # some actions of the traverser are not tried
        ],
    )
)


class Workspace(NamedTuple):
    """Where one thread works."""

    walk: npt.NDArray[Any]
    """[1]: what the present walk is about."""
    frames: npt.NDArray[Any]
    states: npt.NDArray[np.uint8]
    keys: npt.NDArray[np.uint64]
    """What each player has seen, where no hook makes the keys."""
    actions: npt.NDArray[np.int32]
    """The legal ones, where the table does not know them."""
    abstract: npt.NDArray[np.int32]
    """The action that each abstract action stands for; of no width without them."""
    policies: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    """What the traverser gets after each action."""
    mask: npt.NDArray[np.int8]
    totals: npt.NDArray[np.float64]
    span: npt.NDArray[np.float64]
    """[2]: the lowest and the highest value of the ends that an iteration has come to."""
    is_fixed: npt.NDArray[np.int8]
    """[players]: who plays like the fixed opponent."""
    root: npt.NDArray[np.uint8]
    """Where walks begin."""
    numbers: npt.NDArray[np.int64]
    """For the hooks."""
    rng: Words

    @classmethod
    def of(
        cls,
        game: Game,
        root: npt.NDArray[np.uint8],
        rng: Words,
        num_abstract: int = 0,
        numbers: npt.NDArray[np.int64] | None = None,
    ) -> Workspace:
        """Room for the longest game."""
        facts = game.facts
        rows, width = facts.max_length + 1, max(facts.num_actions, num_abstract)
        return cls(
            np.zeros(1, WALK),
            np.zeros(rows, FRAME),
            np.zeros((rows, game.state_size), np.uint8),
            np.zeros((rows, facts.num_players), np.uint64),
            np.zeros((rows, width), np.int32),
            np.zeros((rows, num_abstract), np.int32),
            np.zeros((rows, width)),
            np.zeros((rows, width)),
            np.zeros(width, np.int8),
            np.zeros(facts.num_players),
            np.array([facts.min_return, facts.max_return]),
            np.zeros(facts.num_players, np.int8),
            root.copy(),
            np.zeros(0, np.int64) if numbers is None else numbers.copy(),
            rng,
        )


WORKSPACE = types.NamedTuple(
    (
        from_dtype(WALK)[::1],
        from_dtype(FRAME)[::1],
        types.uint8[:, ::1],
        types.uint64[:, ::1],
        types.int32[:, ::1],
        types.int32[:, ::1],
        types.float64[:, ::1],
        types.float64[:, ::1],
        types.int8[::1],
        types.float64[::1],
        types.float64[::1],
        types.int8[::1],
        types.uint8[::1],
        types.int64[::1],
        types.uint64[::1],
    ),
    Workspace,
)
