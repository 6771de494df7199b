"""``Views``: what the players to move may know, one row per waiting game.

An agent gets views and nothing else. The worlds in them were determinized for the player who asks
before the views were made, and everything else is worked out from those worlds: there is no true
state behind any attribute, so an agent cannot cheat, not even by mistake. All arrays are copies;
what an agent writes into them changes nothing but its own generators.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from envs.core.engine import determinize_movers, legal_movers, observe_movers

if TYPE_CHECKING:
    from envs.core.game import Game


Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@dataclass(eq=False, repr=False)
class Views:
    """A batch of decisions: row *i* is one game in which seat ``seats[i]`` is to move.

    Masks and observations are made when they are first asked for.

    Args:
        game: the game of all rows.
        seats: [n] the seat to move.
        keys: [n] the perfect-recall information set of that seat.
        rngs: [n, 4] one generator per row.
        drawn: [n, state_size] worlds, states that the seats cannot tell from the true ones.
        game_ids: [n] a number for each game, the same at all decisions of a side; it says nothing
            else, and no other side, seating or match knows the game by it.
        _tokens: [n, longest] what each seat has seen, zeros behind it; ``None``: not recorded.
        _past: [n, count, observation_size] what each seat observed at its last earlier decisions.
    """

    game: Game
    seats: Indices
    """[n] int64: the seat to move."""
    keys: Words
    """[n] uint64: the perfect-recall information set of that seat."""
    rngs: Words
    """[n, 4] uint64: one generator per row; all of an agent's chance must come from its row."""
    drawn: InitVar[npt.NDArray[np.uint8]]
    game_ids: Words
    """[n] uint64: the same number at all decisions that a side has in a game, and no other."""
    _tokens: npt.NDArray[np.int64] | None = None
    _past: npt.NDArray[np.float32] | None = None

    def __post_init__(self, drawn: npt.NDArray[np.uint8]) -> None:
        """Keep the worlds where nobody can write to them."""
        self._worlds = drawn.tobytes()
        self._num_rows = len(drawn)

    def __len__(self) -> int:
        """How many games wait."""
        return self._num_rows

    @cached_property
    def masks(self) -> npt.NDArray[np.int8]:
        """[n, num_actions] int8: 1 for a legal action."""
        masks = np.empty((len(self), self.game.facts.num_actions), np.int8)
        legal_movers(self.game.kernels, self.game.rules, self._states, masks)
        return masks

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """[n, observation_size] float32."""
        observations = np.empty((len(self), self.game.observation_size), np.float32)
        observe_movers(self.game.kernels, self.game.rules, self._states, observations)
        return observations

    def worlds(self) -> npt.NDArray[np.uint8]:
        """[n, state_size] uint8: states that the rows' players cannot tell from the true ones.

        Every call draws anew, from the rows' own generators.
        """
        worlds = self.first_worlds()
        rngs = np.ascontiguousarray(self.rngs, np.uint64)
        if rngs.shape != (len(self), 4):
            raise ValueError(f"views need a generator for each of their {len(self)} rows")
        determinize_movers(self.game.kernels, self.game.rules, rngs, worlds)
        self.rngs[:] = rngs
        return worlds

    def first_worlds(self) -> npt.NDArray[np.uint8]:
        """Copies of the worlds that masks and observations come from, the same at every call.

        For players who read only what is alike in all worlds: no draw of theirs is spent.
        """
        return self._states.copy()

    def past_observations(self, count: int) -> npt.NDArray[np.float32]:
        """[n, count, observation_size]: what each row's player saw at its last earlier decisions.

        The latest is last; zeros stand before a player's first decision. An agent is shown as many
        as its ``num_past`` asks for.
        """
        kept = 0 if self._past is None else self._past.shape[1]
        if self._past is None or count > kept:
            raise ValueError(
                f"{count} earlier observations are asked for and {kept} are kept: "
                "set num_past of the agent"
            )
        return self._past[:, kept - count :].copy()

    def tokens(self, row: int) -> list[int]:
        """Everything the player of ``row`` has seen since the start of the game."""
        if self._tokens is None:
            raise ValueError("tokens were not recorded: set wants_tokens of the agent")
        seen = self._tokens[row]
        return [int(token) for token in seen[seen != 0]]

    def part(self, rows: Indices) -> Views:
        """Some of the rows, such as those that are sent to another process."""
        return Views(
            self.game,
            self.seats[rows],
            self.keys[rows],
            self.rngs[rows],
            self._states[rows],
            self.game_ids[rows],
            None if self._tokens is None else self._tokens[rows],
            None if self._past is None else self._past[rows],
        )

    @property
    def _states(self) -> npt.NDArray[np.uint8]:
        """The worlds, read-only: compiled code trusts them, so nobody may write there."""
        shape = len(self), self.game.state_size
        return np.frombuffer(self._worlds, np.uint8).reshape(shape)
