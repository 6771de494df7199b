"""Table learners as ``train.py`` knows them, and the players that they become.

Games against itself and against random play are played in one compiled call, hundreds of thousands
of decisions a second. Games against other agents go in lock-step, so that an agent answers for many
games at a time; what the learner does with a turn is the same compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.advice import legal_words
from agents.base import Actions, Agent, RandomAgent, TimeStep, Views
from agents.learning.files import CheckpointError, load_state, reading
from agents.learning.games import draw_seats, roles_in
from agents.learning.learner import Learner, Opponents, State, Task
from agents.learnt import Exhibit
from agents.tabular.games import (
    RANDOM,
    GameResults,
    Turns,
    act_rows,
    play_rollouts,
    play_series,
)
from agents.tabular.model import TabularModel, TabularSettings
from agents.tabular.table import GREEDY
from common.errors import OptionError
from common.imports import import_named, is_module_name
from common.saved import saved_number
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.options import Options
from envs.core.rng import stream
from envs.core.rollouts import CALLER

# Games of a player that learns are played one after the other, in one row.
_FIRST = np.zeros(1, np.int64)
NAMES_CODE = ("abstraction", "reward", "opponent_model")


class TabularAgent(Agent):
    """Plays from a table, the best action or as it learnt.

    Without a path it knows nothing yet; asked to learn while it plays, it does so from then on.

    Args:
        game: what it plays.
        path: a run of ``train.py`` or one of its checkpoints.
        play: ``greedy`` or ``policy``; ``None``: as the settings say.
        settings: those of a new table. With a path, the run's are used; where they name a module
            of yours, as an abstraction perhaps, name it here too, or it is not imported.
    """

    rule: ClassVar[str]
    settings_class = TabularSettings

    def __init__(
        self, game: Game, path: str | None = None, play: str | None = None, **settings: Any
    ) -> None:
        """Read the table, or begin a new one."""
        super().__init__(game)
        if path is not None:
            _name_code(path, settings)
        if play is not None:
            TabularSettings(play=play)  # which refuses what it does not know
        if path is None:
            self.model = TabularModel(game, self.rule, TabularSettings.parse(settings))
        else:
            state = load_state(Path(path), game)
            if state.get("rule") != self.rule:
                raise CheckpointError(
                    f"{path} holds '{state.get('rule')}', not '{self.rule}': "
                    f"write '{state.get('rule')}:{path}'"
                )
            with reading(path, f"a table of {self.rule}"):
                self.model = TabularModel.from_state(game, state)
            self.roles = roles_in(state)
        is_greedy = self.model.settings.is_greedy_player if play is None else play == "greedy"
        self._policy = GREEDY if is_greedy else int(self.model.record["policy"][0])
        self._amount = 0.0 if is_greedy else -1.0
        self._turns = Turns(self.model)
        self._opponents: dict[str, int] = {}

    def act(self, views: Views) -> Actions:
        """Look the actions up and select one; when learning, first learn from the last turn."""
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

    def learnt(self, views: Views | None) -> list[Exhibit]:
        """The size of the table, its values at a decision, and what it knows of opponents."""
        model, table = self.model, self.model.table
        games, visits = int(model.record["num_games"][0]), int(table.visits.sum())
        words = (
            f"{self.rule} over '{model.settings.abstraction}': {len(table):,} entries, changed "
            f"{visits:,} times in {games:,} games."
        )
        found = [Exhibit("The table", words)]
        if views is not None:
            values = model.values_at(views.worlds()[0], int(views.seats[0]), int(views.keys[0]))
            rows = [["move", "value"]]
            for action, text in legal_words(views).items():
                value = values[action]
                rows.append([text, "not met" if np.isnan(value) else f"{value:.3g}"])
            found.append(Exhibit("Its values here", "What the table expects of each move.", rows))
        show = getattr(model.opponents, "learnt", None)  # a model of somebody else's need not
        return found if show is None else [*found, *show(views)]

    def _ask(self, views: Views, actions: Actions, probs: npt.NDArray[np.float64]) -> None:
        known = views.seats, views.worlds(), views.keys, views.rngs
        how = self._turns.ids[0], self._policy, self._amount
        act_rows(*self.model.compiled, *known, *how, self._turns.work, actions, probs)

    # ---- learning while it plays -----------------------------------------------------------------

    def begin_learning(self) -> None:
        """Learn from every game from now on, which are then played one after the other."""
        self.is_learning = True

    def _learn(self, views: Views, row: int) -> Actions:
        """Take one turn at the only row of the workspace."""
        part, worlds = slice(row, row + 1), views.worlds()
        known = views.seats[part], worlds[part], views.keys[part], views.rngs[part]
        return self._turns.select(_FIRST, *known)

    def observe(self, step: TimeStep) -> None:
        """Remember what was shown, and learn from the end of a game."""
        model = self.model
        if model.opponents is not None and model.opponents.by_opponent:
            self._turns.ids[0] = [self._id_of(name) for name in step.names]
            model.know_opponents(len(self._opponents))
        seats, worlds = np.array([step.seat]), step.world[None, :]
        # A game that was forfeited is over without another move.
        if not step.is_over or self.game.kernels.turn(step.world, self.game.rules) == OVER:
            self._turns.observe(_FIRST, seats, worlds)
        if step.is_over:
            self._turns.end(_FIRST, seats, worlds, np.array([step.total]))
            model.record["num_games"] += 1

    def _id_of(self, name: str) -> int:
        """The row of the opponent model for a player; 0 is the learner's own."""
        return self._opponents.setdefault(name, 1 + len(self._opponents))


def _name_code(path: str, settings: Mapping[str, Any]) -> None:
    """Import what the user names; the rest of the settings is the run's own."""
    rest = []
    for name, value in settings.items():
        inner = value.get("id") if isinstance(value, Mapping) else value
        if name in NAMES_CODE and is_module_name(inner):
            import_named(name.replace("_", " "), str(inner))
        else:
            rest.append(name)
    if rest:
        raise OptionError(f"'{path}' has its own settings: leave out {', '.join(rest)}")


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


def make_player(game: Game, state: Mapping[str, Any]) -> TabularAgent:
    """The player of a learner's state; what the learner does later does not change it."""
    player = make_agent(state["rule"], game, **state["settings"])
    assert isinstance(player, TabularAgent)
    player.model.load_state_dict(state)
    player.roles = roles_in(state)
    return player


# So many games in a row are sorted by opponent, those that are compiled first.
_CHUNK = 1024

Indices = npt.NDArray[np.int64]


class TabularLearner(Learner):
    """Learns the values of actions from play, one number for each.

    >>> from envs import make_game
    >>> learner = QLearning(Task(make_game("kuhn_v0")), TabularSettings())
    >>> learner.update(10_000)["charts/table_size"]
    24.0
    """

    settings_class = TabularSettings
    unit = "games"
    rule: ClassVar[str]
    """Its id."""

    def __init__(self, task: Task, settings: Options) -> None:
        """Begin with an empty table, or the values that belong to the abstraction."""
        super().__init__(task, settings)
        assert isinstance(settings, TabularSettings)
        self.model = TabularModel(task.game, self.rule, settings, task.total)
        self.streams = stream(task.seed, "chance"), stream(task.seed, "choice")

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Play ``num_steps`` games and learn from every turn."""
        numbers = np.arange(self.num_steps, self.num_steps + num_steps)
        returns, lengths = [0.0], [0.0]
        for start in range(0, num_steps, _CHUNK):
            for played, seats in self._play(numbers[start : start + _CHUNK]):
                returns.extend(played.returns[np.arange(len(seats)), seats])
                lengths.extend(played.lengths)
        self.model.table.trim()
        self.num_steps += num_steps
        num_games = max(num_steps, 1)
        return {
            "charts/return": float(np.sum(returns)) / num_games,
            "charts/length": float(np.sum(lengths)) / num_games,
            **self.model.take_metrics(),
        }

    def _play(self, numbers: Indices) -> list[tuple[GameResults, Indices]]:
        """Play a chunk of games; with each part the learner's seat in each game."""
        agents = self.task.opponents.agents if self.task.opponents else []
        self.model.know_opponents(len(agents))
        seats, places = draw_seats(self.task, numbers)
        is_own = places == Opponents.LEARNER
        seats[is_own.all(axis=1)] = self.task.seats[0]
        # Row 0 of an opponent model is the learner itself, or everybody if all share one.
        by_opponent = self.model.opponents is not None and self.model.opponents.by_opponent
        ids = places + 1 if by_opponent else np.zeros_like(places)
        is_random = np.isin(places, [i for i, a in enumerate(agents) if type(a) is RandomAgent])
        is_quick = (is_own | is_random).all(axis=1)
        parts = []
        if is_quick.any():
            seating = np.where(is_own, 0, RANDOM)[is_quick]
            quick = play_series(
                [self.model], numbers[is_quick], seating, ids[is_quick], self.streams
            )
            parts.append((quick, seats[is_quick]))
        if not is_quick.all():
            slow = ~is_quick
            seating = np.where(is_own, CALLER, places)[slow]
            played = play_rollouts(
                self.model, agents, numbers[slow], seating, ids[slow], self.task.seed
            )
            parts.append((played, seats[slow]))
        return parts

    def player(self) -> Agent:
        """A player with a copy of the table."""
        return make_player(self.game, self.state_dict())

    def state_dict(self) -> State:
        """The table, the opponent model, and how many games have been played."""
        return {**self.model.state_dict(), "role": self.task.role, "num_steps": self.num_steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Become the learner that ``state_dict`` was taken from."""
        self.model.load_state_dict(state)
        self.num_steps = saved_number(state, "num_steps")


class QLearning(TabularLearner):
    """Towards the best next value (Watkins, 1989)."""

    rule = "q_learning"


class Sarsa(TabularLearner):
    """Towards the value of the next action (Rummery and Niranjan, 1994)."""

    rule = "sarsa"


class ExpectedSarsa(TabularLearner):
    """Towards the mean next value (van Seijen and others, 2009)."""

    rule = "expected_sarsa"


class DoubleQ(TabularLearner):
    """Two tables that check each other (van Hasselt, 2010)."""

    rule = "double_q"


class QLambda(TabularLearner):
    """Q-learning with eligibility traces that end at an exploring action (Watkins, 1989)."""

    rule = "q_lambda"


class SarsaLambda(TabularLearner):
    """SARSA with eligibility traces (Rummery and Niranjan, 1994)."""

    rule = "sarsa_lambda"
