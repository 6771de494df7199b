"""Models of strength for No Thanks!, hidden decks turned by chance, tables of offers."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from agents import make_agent
from agents.games.no_thanks.slices.estimates import strength_params
from agents.games.no_thanks.slices.features import NUM_PLAYERS, NUM_TRAITS, inputs_of
from agents.games.no_thanks.slices.files import StrengthSlices, load_slices
from agents.games.no_thanks.solver import NoThanksSolver
from agents.max_n import Searcher, SearchSettings
from arena.match import play_match
from envs.core.position import Position
from envs.no_thanks import NoThanks
from experiments.no_thanks.makers import (
    fit,
    learn,
    make_strength,
    new_weights,
    played_position,
    predict,
)
from tests.support.turned_no_thanks import TurnedGame

SMALL = {"highest": 14, "removed": 3, "chips": 2}
SEGMENTS = (3, 3, 3)
PAY, TAKE = 0, 1


@pytest.mark.parametrize("num_hidden", [0, 3])
def test_a_fit_finds_what_its_places_came_from(num_hidden: int) -> None:
    rng = np.random.default_rng(0)
    traits = rng.normal(size=(800, NUM_PLAYERS, NUM_TRAITS))
    truth = new_weights(num_hidden, rng)
    truth = truth._replace(direct=rng.normal(size=truth.direct.shape) / 3)
    places = predict(truth, traits)
    assert np.allclose(places.sum(axis=1), 0)
    begun = new_weights(num_hidden, rng)
    fitted = fit(begun, traits, places, 500, rng)
    assert np.abs(predict(fitted, traits) - places).mean() < 0.05
    assert np.abs(predict(begun, traits) - places).mean() > 0.2


@pytest.mark.parametrize("kind", ["known", "hidden"])
def test_compiled_estimates_are_those_of_numpy(kind: str) -> None:
    game = NoThanks("known_future")
    rng = np.random.default_rng(1)
    models = [new_weights(4, rng) for _ in range(9)]
    models = [w._replace(direct=rng.normal(size=len(w.direct)), out=np.ones(4)) for w in models]
    slices = StrengthSlices((3,) * 8, kind, models)
    solver = NoThanksSolver(game, slices.settings, slices.estimate)
    for left in (6, 12, 21):
        state = played_position(game, left, rng)
        mover = int(game.record(state).to_move)
        expected = predict(models[left // 3], inputs_of(game, state, kind)[None])[0]
        found = solver.solve(state, left, strength_params(models)).values
        assert np.roll(found, -mover) == pytest.approx(expected.tolist())


def test_what_is_hidden_does_not_matter_to_features_of_hidden_decks() -> None:
    game = NoThanks()
    rng = np.random.default_rng(2)
    state = played_position(game, 12, rng)
    s = game.record(state)
    twin = state.copy()
    t = game.record(twin)
    t.deck[12:24] = s.deck[12:24][::-1]
    assert (inputs_of(game, state, "hidden") == inputs_of(game, twin, "hidden")).all()
    assert (inputs_of(game, state, "known") != inputs_of(game, twin, "known")).any()


def test_models_are_made_backwards_saved_and_played(tmp_path: Path) -> None:
    made = make_strength(NoThanks(**SMALL), 60, SEGMENTS, num_hidden=2)
    assert made.boundaries == [3, 6]
    path = tmp_path / "model.npz"
    made.save(path)
    again = load_slices(path)
    assert (again.params(3) == made.params(3)).all()
    game = NoThanks(returns="place", first_player="alternate", known_future=True, **SMALL)
    agent = make_agent("no_thanks_slices", game, path=str(path), reach=6)
    other = make_agent("random", game)
    result = play_match(game, [agent, other, other], 40, seed=1)
    assert result.returns[:, 0].mean() > 0.3


def test_values_of_a_hidden_deck_are_learnt_from_play(tmp_path: Path) -> None:
    small = {"highest": 10, "removed": 2, "chips": 3}
    slices = learn(NoThanks(**small), rounds=1, num_games=80, num_hidden=0, epochs=20)
    path = tmp_path / "hidden.npz"
    slices.save(path)
    game = NoThanks(returns="place", first_player="alternate", **small)
    agent = make_agent("no_thanks_value", game, path=str(path))
    other = make_agent("random", game)
    result = play_match(game, [agent, other, other], 60, seed=1)
    assert result.returns[:, 0].mean() > 0.3


# ---- the hidden deck, solved ---------------------------------------------------------------------


def best_by_hand(position: Position) -> list[float]:
    """Expected scores when everybody wants his own, card by card in plain Python."""
    if position.is_over:
        return [float(value) for value in position.returns()]
    if position.is_chance:
        parts = []
        for card, prob in position.chance_outcomes():
            child = position.copy()
            child.apply(card)
            parts.append([prob * value for value in best_by_hand(child)])
        return [sum(values) for values in zip(*parts, strict=True)]
    found = []
    for action in position.legal_actions():
        child = position.copy()
        child.apply(action)
        found.append(best_by_hand(child))
    return max(found[::-1], key=lambda values: values[position.turn])


def test_a_tiny_hidden_deck_is_solved_exactly() -> None:
    game = TurnedGame(highest=6, removed=1, chips=1)
    settings = SearchSettings(preference="return", pruning="none", ties="high", table_bits=12)
    found = Searcher(game, settings).search(game.new_position().state)
    assert found.is_complete
    by_hand = best_by_hand(game.new_position())
    assert found.values == pytest.approx(by_hand)


def test_cards_turned_by_chance_make_the_same_games_as_a_deck() -> None:
    """The same order of cards and the same moves end in the same scores."""
    options = {"highest": 6, "removed": 1, "chips": 2}
    deck, turned = NoThanks(**options), TurnedGame(**options)
    rng = np.random.default_rng(3)
    for order in permutations(range(3, 7), 3):
        one, other = deck.deal(list(order)), turned.turned(order[0])
        cards = iter(order[1:])
        while not one.is_over:
            assert one.legal_actions() == other.legal_actions()
            action = int(rng.choice(one.legal_actions()))
            one.apply(action)
            other.apply(action)
            if other.is_chance:
                other.apply(next(cards) - 3)
        assert other.is_over
        assert one.returns().tolist() == other.returns().tolist()
