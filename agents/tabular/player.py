"""Table players: what a table learner has become."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, Moment, Views
from agents.games.liars_dice.lies.spotting import CallSpotter
from agents.learning.files import CheckpointError, load_state
from agents.tabular.games import RANDOM, act_rows, follow_rows, make_desk, turn_rows
from agents.tabular.in_step import follow_growth
from agents.tabular.selection import GREEDY
from agents.tabular.settings import TabularSettings
from agents.tabular.table import ABSENT
from agents.tabular.values import Mind
from envs.core.errors import OptionError
from envs.core.game import Game

__all__ = [
    "DoubleQPlayer",
    "ExpectedSarsaPlayer",
    "QLambdaPlayer",
    "QLearningPlayer",
    "SarsaLambdaPlayer",
    "SarsaPlayer",
    "TabularAgent",
    "make_player",
]


class TabularAgent(Agent):
    """Plays from a table, the best action or as it learnt.

    Without a path it knows nothing yet; asked to learn while it plays, it does so from then on.

    Args:
        game: what it plays.
        path: a run of ``train.py`` or one of its checkpoints.
        play: ``greedy`` or ``policy``; ``None``: as the settings say.
        settings: those of a new table; with a path, the run's are used.
    """

    rule: ClassVar[str]

    def __init__(
        self, game: Game, path: str | None = None, play: str | None = None, **settings: Any
    ) -> None:
        """Read the table, or begin a new one."""
        super().__init__(game)
        if path is not None and settings:
            raise OptionError(f"'{path}' has its own settings: leave out {', '.join(settings)}")
        if play is not None:
            TabularSettings(play=play)  # which refuses what it does not know
        if path is None:
            self.mind = Mind(game, self.rule, TabularSettings.parse(settings))
        else:
            state = load_state(Path(path), game)
            if state.get("rule") != self.rule:
                raise CheckpointError(
                    f"{path} holds '{state.get('rule')}', not '{self.rule}': "
                    f"write '{state.get('rule')}:{path}'"
                )
            self.mind = Mind.from_state(game, state)
        is_greedy = self.mind.settings.is_greedy_player if play is None else play == "greedy"
        self._policy = GREEDY if is_greedy else int(self.mind.record["policy"][0])
        self._amount = 0.0 if is_greedy else -1.0
        self._desk = make_desk(game, 1, self.mind.has_trail, self.mind.has_events)
        self._who = np.zeros(game.facts.num_players, np.int64)
        self._opponents: dict[str, int] = {}
        self._rngs = np.zeros((game.facts.num_players, 4), np.uint64)
        self._call = CallSpotter(game)

    def act(self, views: Views) -> Actions:
        """Look the actions up and choose; when learning, first learn from the last turn."""
        if self.is_learning:
            return np.concatenate([self._learn(views, i) for i in range(len(views))])
        actions = np.empty(len(views), np.int64)
        self._ask(views, actions, np.empty((0, 0)))
        return actions

    def policy(self, views: Views) -> npt.NDArray[np.float64] | None:
        """The probability of every action: [n, num_actions]; unknown while it learns."""
        if self.is_learning:
            return None
        probs = np.empty((len(views), self.game.facts.num_actions))
        self._ask(views, np.empty(0, np.int64), probs)
        return probs

    def _ask(self, views: Views, actions: Actions, probs: npt.NDArray[np.float64]) -> None:
        act_rows(
            self.game.kernels,
            self.game.rules,
            self.mind.arrays,
            views.seats,
            views.worlds(),
            views.keys,
            views.rngs,
            self._who,
            self._policy,
            self._amount,
            self._desk,
            actions,
            probs,
        )

    # ---- learning while it plays -----------------------------------------------------------------

    def begin_learning(self) -> None:
        """Learn from every game from now on, which are then played one after the other."""
        self.is_learning = True

    def _learn(self, views: Views, row: int) -> Actions:
        """Take one turn at the only row of the desk."""
        moved = self.mind.table.make_room(self.mind.entries_per_turn)
        if moved is not None:
            follow_growth(self._desk, moved)
        seats = views.seats[row : row + 1]
        seat = int(seats[0])
        self._rngs[seat] = views.rngs[row]
        keys = np.full((1, self.game.facts.num_players), views.keys[row])
        action = np.empty(1, np.int64)
        turn_rows(
            self.game.kernels,
            self.game.rules,
            self.mind.arrays,
            np.zeros(1, np.int64),
            seats,
            views.worlds()[row : row + 1],
            keys,
            self._rngs,
            self._who[None, :],
            self._desk,
            action,
        )
        views.rngs[row] = self._rngs[seat]
        return action

    def watch(self, moment: Moment) -> None:
        """Remember what was shown, and learn from the end of a game."""
        if self.mind.settings.lie_by_opponent:
            self._who = np.array([self._known_as(name) for name in moment.names])
            self.mind.profiles.grow(1 + len(self._opponents))
        seating = np.full((1, len(moment.names)), RANDOM)
        seating[0, moment.seat] = 0
        follow_rows(
            self.game.kernels,
            self.game.rules,
            self.mind.arrays,
            np.zeros(1, np.int64),
            np.array([self._call.made(moment)]),
            moment.world[None, :],
            self._rngs,
            seating,
            self._who[None, :],
            self._desk,
        )
        if moment.is_over:
            self._desk.seats["last_slot"][moment.seat] = ABSENT
            self._desk.seats["trail_length"][moment.seat] = 0
            self.mind.record["num_games"] += 1

    def _known_as(self, name: str) -> int:
        """The number of a player's profile; 0 is nobody's."""
        return self._opponents.setdefault(name, 1 + len(self._opponents))


class QLearningPlayer(TabularAgent):
    """Plays what ``q_learning`` has learnt."""

    rule = "q_learning"


class SarsaPlayer(TabularAgent):
    """Plays what ``sarsa`` has learnt."""

    rule = "sarsa"


class ExpectedSarsaPlayer(TabularAgent):
    """Plays what ``expected_sarsa`` has learnt."""

    rule = "expected_sarsa"


class DoubleQPlayer(TabularAgent):
    """Plays what ``double_q`` has learnt."""

    rule = "double_q"


class QLambdaPlayer(TabularAgent):
    """Plays what ``q_lambda`` has learnt."""

    rule = "q_lambda"


class SarsaLambdaPlayer(TabularAgent):
    """Plays what ``sarsa_lambda`` has learnt."""

    rule = "sarsa_lambda"


_PLAYERS: tuple[type[TabularAgent], ...] = (
    QLearningPlayer,
    SarsaPlayer,
    ExpectedSarsaPlayer,
    DoubleQPlayer,
    QLambdaPlayer,
    SarsaLambdaPlayer,
)


def make_player(game: Game, state: Mapping[str, Any]) -> TabularAgent:
    """The player of a learner's memory; what the learner does later does not change it."""
    found = next(player for player in _PLAYERS if player.rule == state["rule"])
    player = found(game, **state["settings"])
    player.mind.load_state_dict(state)
    return player
