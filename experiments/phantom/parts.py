"""What each part of a search is worth in the Phantom's game, one left out or put in at a time.

Detectives search against the Phantom of ``pursuit_belief``, who is caught less often than the
thesis's, so that there is something left to win; the Phantom searches before heuristic detectives.
All have as many simulations for a round, on the three maps that are kept with the project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from agents.ismcts.agent import LEVELS
from arena.match import play_shown
from envs import make_game
from experiments.kept_games import Player
from experiments.phantom.searching import (
    GAMES,
    MAPS,
    OUR_DETECTIVES,
    OUR_PHANTOM,
    SIMULATIONS,
    UNGUESSED,
    Wins,
    win_rate,
)
from experiments.runner import Group, Row, Settings

__all__ = ["GROUPS"]


@dataclass(frozen=True)
class Variant:
    """A search with other settings, and perhaps in another form of the game."""

    name: str
    player: Player
    options: Mapping[str, Any] = field(default_factory=dict)

    def wins(self, side: int, opponent: str, settings: Settings, simulations: int) -> Wins:
        """[games] which of them it wins."""
        won = []
        for number, board in enumerate(MAPS):
            game = make_game("phantom_v0", board=board, **self.options)
            own = self.player.make(game, simulations, None)
            other = Player(opponent, opponent).make(game, 0, None)
            fugitive, detectives = (other, own) if side else (own, other)
            agents = [fugitive, *[detectives] * (game.facts.num_players - 1)]
            seed = 1000 * settings.seed + number
            result = play_shown(game, agents, settings.games(GAMES), seed=seed)
            won.append(result.returns[:, side] > 0)
        return np.concatenate(won)


def changed(name: str, base: Player, **params: Any) -> Variant:
    """A player with some settings of its own."""
    return Variant(name, replace(base, params={**base.params, **params}))


EACH = {"seats": "each"}
SIDES: dict[str, tuple[int, str, tuple[Variant, ...]]] = {
    "detectives": (
        1,
        "pursuit_belief",
        (
            Variant("as they are", OUR_DETECTIVES),
            changed("every action as likely before it is tried", OUR_DETECTIVES, prior="uniform"),
            changed("random rollouts", OUR_DETECTIVES, rollout="random"),
            changed(
                "neither prior nor rollouts", OUR_DETECTIVES, prior="uniform", rollout="random"
            ),
            changed("UCB1", OUR_DETECTIVES, selection="ucb"),
            changed("UCB-tuned", OUR_DETECTIVES, selection="ucb_tuned"),
            changed("regret matching", OUR_DETECTIVES, selection="regret", final="mixture"),
            changed("the three best moves of a piece", OUR_DETECTIVES, width=3),
            changed("one observer", OUR_DETECTIVES, observers="single"),
            Variant("a seat for each", OUR_DETECTIVES, EACH),
            replace(
                changed(
                    "a seat for each, coalition reduction of 0.2", OUR_DETECTIVES, coalition=0.2
                ),
                options=EACH,
            ),
            replace(
                changed(
                    "a seat for each, coalition reduction of 0.5", OUR_DETECTIVES, coalition=0.5
                ),
                options=EACH,
            ),
        ),
    ),
    "Phantom": (
        0,
        "pursuit_heuristic",
        (
            Variant("as he was", UNGUESSED),
            changed("detectives choose what is best for them", UNGUESSED, opponents="search"),
            changed("random rollouts", UNGUESSED, rollout="random"),
            changed("rollouts to the end", UNGUESSED, rollout_depth=0),
            changed("one move in ten of a rollout at random", UNGUESSED, epsilon=0.1),
            Variant("who judges detectives (pursuit_search)", OUR_PHANTOM),
        ),
    ),
}


def parts(settings: Settings) -> Iterator[Row]:
    """A row for every variant of either side."""
    for who, (side, opponent, variants) in SIDES.items():
        for variant in variants:
            won = variant.wins(side, opponent, settings, SIMULATIONS)
            what = f"{who} win against {opponent}, %: {variant.name}"
            yield Row.of("A", what, win_rate(won), games=len(won))


def levels(settings: Settings) -> Iterator[Row]:
    """A row for every level of difficulty but the highest, as detectives."""
    for level, (simulations, blunders) in list(LEVELS.items())[:-1]:
        variant = Variant("", Player("", "mo_ismcts", {"blunders": blunders}))
        won = variant.wins(1, "pursuit_belief", settings, simulations)
        what = f"detectives win against pursuit_belief, %: mo_ismcts, level {level}"
        yield Row.of("V", what, win_rate(won), games=len(won))


GROUPS: dict[str, Group] = {"A": parts, "V": levels}
