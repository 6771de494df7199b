"""What a player remembers tells it nothing about the deals it meets later."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Agent, Views
from agents.processes.hosted import HostedAgent
from arena import play_match
from arena.report.notes import notes
from arena.running.tournament import run_tournament
from arena.schedules.spec import AgentSpec, TournamentSpec
from arena.statistics.summary import Summary
from envs import make_game
from envs.core import Batch, Game
from tests.support.remembering import Collector
from training.config import RunConfig
from training.evaluation import Evaluation, evaluate

KUHN = make_game("kuhn_v0")
KUHN_3 = make_game("kuhn_v0", num_players=3)
REMEMBERER = "tests.support.remembering:Rememberer"
HANDS = "module", "class", "file"


def tournament(game: str, *agents: Any, deals: int, **options: Any) -> TournamentSpec:
    players = tuple(AgentSpec.parse(agent) for agent in agents)
    return TournamentSpec(game, players, options, deals=deals, seed=3)


def table(spec: TournamentSpec, folder: Path, workers: int = 1) -> Summary:
    return run_tournament(spec, folder, workers=workers)


def leads(summary: Summary) -> list[Any]:
    return [comparison.lead for comparison in summary.comparisons]


# ---- what is received says nothing ---------------------------------------------------------------


class Listener(Agent):
    """Writes down by what number it knows each game, and its card, in the order it is asked."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.heard: dict[tuple[int, int], int] = {}
        self._random = make_agent("random", game)

    def act(self, views: Views) -> Any:
        cards = views.observations[:, 2:5].argmax(axis=1)
        for game_id, seat, card in zip(views.game_ids, views.seats, cards, strict=True):
            self.heard.setdefault((int(game_id), int(seat)), int(card))
        return self._random.act(views)


def heard(seed: int, choice_seed: int, num_games: int = 600) -> list[Listener]:
    players = [Listener(KUHN), Listener(KUHN)]
    play_match(KUHN, players, num_games, seed=seed, choice_seed=choice_seed, batch_size=64)
    return players


def test_no_two_seats_or_matches_know_a_game_by_the_same_id() -> None:
    ids = [{game for game, _ in player.heard} for seed in (1, 2) for player in heard(0, seed)]
    assert len(set.union(*ids)) == sum(map(len, ids))


def test_the_order_of_games_says_nothing_about_their_deals() -> None:
    """Two matches of the same deals agree in their n-th card as often as strangers do."""
    first, second = (list(heard(0, seed)[0].heard.values()) for seed in (1, 2))
    assert sorted(first) == sorted(second)
    agreement = np.mean([a == b for a, b in zip(first, second, strict=True)])
    assert abs(agreement - 1 / 3) < 4 * np.sqrt(2 / 9 / len(first))


class Overheard(HostedAgent):
    """In a process; the cards of its first long question are noted here."""

    cards: Any = ()

    def prepare(self, views: Views) -> Views:
        self.cards = self.cards if len(self.cards) else views.observations[:, 2:5].argmax(axis=1)
        return super().prepare(views)


def test_the_order_of_rows_does_not_say_who_sits_at_one_table() -> None:
    """Nobody has the other's card: in rows of the same order no two cards would be alike."""
    players = [Overheard(KUHN, "random", {}, math.inf) for _ in range(2)]
    play_match(KUHN, players, 64, seed=0)
    first, second = (player.cards for player in players)
    assert len(first) == len(second) == 64
    assert (first == second).any()


def test_the_same_deals_are_played_whatever_players_are_given() -> None:
    player = make_agent("kuhn_rule", KUHN)
    deals: list[dict[int, list[int]]] = []
    for choice_seed, size in ((1, 7), (2, 50)):
        dealt: dict[int, list[int]] = {}

        def keep(batch: Batch, rows: Any, dealt: dict[int, list[int]] = dealt) -> None:
            dealt.update({int(batch.numbers[row]): batch.history(int(row))[:2] for row in rows})

        seats = [player, player]
        play_match(KUHN, seats, 50, seed=0, choice_seed=choice_seed, batch_size=size, on_end=keep)
        deals.append(dealt)
    assert deals[0] == deals[1]
    assert len({tuple(cards) for cards in deals[0].values()}) == 6


# ---- a memory of its own gains nothing -----------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "options", "deals"),
    [
        ("kuhn_v0", {}, 200),
        ("holdem_v0", {"num_players": 2}, 60),
        ("liars_dice_v0", {"num_players": 2}, 60),
    ],
)
def test_whoever_remembers_plays_like_its_twin_that_does_not(
    game: str, options: dict[str, Any], deals: int, tmp_path: Path
) -> None:
    def play(has_memory: bool, workers: int) -> list[Any]:
        folder = tmp_path / f"{has_memory} {workers}"
        folder.mkdir()
        params = {"has_memory": has_memory, "folder": str(folder)}
        players = [
            {"id": REMEMBERER, "name": where, "params": {**params, "where": where}}
            for where in HANDS
        ]
        spec = tournament(game, "random", *players, deals=deals, **options)
        return leads(table(spec, folder / "out", workers))

    assert play(True, 1) == play(True, 2) == play(False, 1)


@pytest.mark.parametrize("where", HANDS)
def test_nobody_beats_the_equilibrium_by_what_it_remembers(where: str, tmp_path: Path) -> None:
    params = {"where": where, "folder": str(tmp_path), "links": ["id", "order"]}
    player = {"id": REMEMBERER, "name": "mine", "params": params}
    (lead,) = leads(table(tournament("kuhn_v0", player, "kuhn_rule", deals=2000), tmp_path / "out"))
    assert lead.low < 0


@pytest.mark.parametrize("order", ["order", ""])
def test_a_program_gains_nothing_by_its_memory(order: str, tmp_path: Path) -> None:
    found = []
    # What a program finds in the order of games it may act on, for all the good it does; then its
    # file makes its games depend on each other.
    for workers in (1,) if order else (1, 2):
        file = str(tmp_path / f"{workers}")
        command = ["python", "tests/support/remembering_player.py", file, order]
        player = {"id": "external", "name": "mine", "params": {"command": command}}
        spec = tournament("kuhn_v0", player, "kuhn_rule", deals=1000)
        found += leads(table(spec, tmp_path / f"out{workers}", workers))
    assert found[0] == found[-1]
    assert found[0].low < 0


# ---- freshness and reports -----------------------------------------------------------------------

COUNTER = {"id": "tests.support.remembering:Counter", "name": "mine"}


def test_whoever_counts_its_games_does_so_alike_for_any_number_of_workers(tmp_path: Path) -> None:
    spec = tournament("kuhn_v0", COUNTER, "kuhn_rule", deals=200)
    one = table(spec, tmp_path / "one")
    assert leads(one) == leads(table(spec, tmp_path / "two", workers=2))
    (note,) = [note for note in notes(one) if "remember" in note]
    assert note == (
        "Could remember earlier games: mine. They never meet the same deal twice, and start afresh "
        "in every work unit and every seat."
    )


def test_seatings_share_deals_where_nobody_can_remember_them() -> None:
    spec = tournament("kuhn_v0", "random", "kuhn_rule", "mine=" + COUNTER["id"], deals=100)
    groups = spec.groups(spec.build_game())
    assert [group.is_paired for group in groups] == [True, False, False]
    seeds = [
        [spec.seeds_of(groups, group, seating) for seating in (0, 1)]
        for group in range(len(groups))
    ]
    deals = [[one["seed"] for one in pair] for pair in seeds]
    assert deals[0][0] == deals[0][1]
    assert len({seed for pair in deals[1:] for seed in pair} | {deals[0][0]}) == 5
    choices = {one["choice_seed"] for pair in seeds for one in pair}
    assert len(choices) == 6


@pytest.mark.parametrize("where", ["class", "program"])
def test_no_memory_sees_a_game_from_two_seats(where: str, tmp_path: Path) -> None:
    """Among three, a pair of agents fills the seats, so that one of them has two."""
    player: dict[str, Any] = {"id": "tests.support.remembering:OneSeated", "name": "mine"}
    if where == "program":
        command = ["python", "tests/support/remembering_player.py", str(tmp_path / "f"), "one seat"]
        player = {"id": "external", "name": "mine", "params": {"command": command}}
    spec = tournament("kuhn_v0", player, "random", deals=20, num_players=3)
    assert any(len({*seating}) < 3 for group in spec.groups(KUHN_3) for seating in group.seatings)
    summary = table(spec, tmp_path / "out")
    assert not summary.faults


@pytest.mark.parametrize("has_learner", [False, True])
def test_no_two_players_at_a_table_share_the_memory_of_their_code(
    has_learner: bool, tmp_path: Path
) -> None:
    """Two names may stand for one class; among three, each of them has two seats now and then."""
    one = "tests.support.remembering:OneSeated"
    other: Any = f"other={one}"
    if has_learner:
        other = {"id": "q_learning", "name": "pupil", "learning": True}
    spec = tournament("kuhn_v0", f"mine={one}", other, deals=20, num_players=3)
    assert not table(spec, tmp_path / "out").faults


def test_evaluations_in_training_deal_anew_to_whoever_could_remember() -> None:
    game = make_game("holdem_v0", num_players=2)
    config = RunConfig.parse(
        {
            "game": {"id": game.id, "params": {"num_players": 2}},
            "agent": {"id": "dqn"},
            "eval": {"games": 80, "opponents": ["tests.support.remembering:Collector"]},
        }
    )
    evaluation, player = Evaluation(config), make_agent("random", game)

    def dealt(evaluate: Callable[[], Any]) -> set[tuple[int, ...]]:
        Collector.hands.clear()
        evaluate()
        return set(Collector.hands)

    def as_learner(step: int) -> Any:
        return SimpleNamespace(game=game, num_steps=step, player=lambda: player)

    first, second = (dealt(lambda step=step: evaluation.run(as_learner(step))) for step in (1, 2))
    assert len(first & second) < 12 < len(first), "1,326 hands, and the same ones only by chance"
    one = partial(evaluate, game, player, Collector(game), config.eval, 0)
    assert dealt(one) == dealt(one)
