"""Pixels and windows: fixed sizes, text without fonts, PettingZoo's and Gymnasium's own tests."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import render_test, state_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import envs.adapters  # noqa: F401  (registers the environments with Gymnasium)
from common.errors import OptionError
from envs import GAMES, kuhn_v0, liars_dice_v0, make_env, make_game
from envs.adapters import GameEnv
from envs.adapters.rendering import Screen, to_pixels
from envs.core.drawing import Drawing
from envs.core.game import Game
from tests.support.option_sets import every_option_set
from tests.support.sampling import sample


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests open no windows, wherever they run."""
    monkeypatch.delenv("DISPLAY", raising=False)


def test_text_and_pictures_are_rendered() -> None:
    text = liars_dice_v0.env(render_mode="ansi")
    text.reset(seed=0)
    assert "player 0:" in text.render()
    picture = liars_dice_v0.env(render_mode="rgb_array")
    picture.reset(seed=0)
    image = picture.render()
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert len(np.unique(image)) > 10


def test_unknown_modes_are_refused_in_one_line() -> None:
    with pytest.raises(OptionError, match="ansi, rgb_array, human or None, not 'film'"):
        kuhn_v0.env(render_mode="film")


@pytest.mark.parametrize("game_id", sample(list(GAMES), lambda _: None, per_kind=3))
def test_pettingzoo_render_test_passes(game_id: str, capfd: pytest.CaptureFixture[str]) -> None:
    def build(**options: Any) -> GameEnv:
        return make_env(game_id, **options)

    render_test(build)
    said = [line for line in capfd.readouterr().err.splitlines() if "window" in line]
    assert len(said) == 1  # once a game, not once a step
    assert "use 'ansi'" in said[0]


@every_option_set
def test_pettingzoo_state_test_passes(game: Game) -> None:
    env = GameEnv(game)
    env.reset(seed=0)
    assert env.state_space.contains(env.state())
    state_test(env, turn_based_aec_to_parallel(GameEnv(game)))


@every_option_set
def test_pictures_keep_their_size_all_game_long(game: Game) -> None:
    env = GameEnv(game, render_mode="rgb_array")
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    pixels, drawings = {env.render().shape}, set()
    for _ in range(12):
        if env.terminations[env.agent_selection]:
            break
        legal = np.flatnonzero(env.last()[0]["action_mask"])
        env.step(int(rng.choice(legal)))
        drawings.add(game.draw(env.position().state).partition(" role=")[0])
    pixels.add(env.render().shape)  # a large picture takes a third of a second
    assert len(pixels) == len(drawings) == 1


def test_the_learners_picture_is_its_own_view() -> None:
    env = gymnasium.make("masquerade/kuhn-v0", seat=1, render_mode="rgb_array")
    env.reset(seed=0)
    inner: Any = env.unwrapped
    own, everything = (to_pixels(inner._games.batch.draw(0, viewer)) for viewer in (1, None))
    assert (env.render() == own).all()
    assert (own != everything).any()


def test_text_shows_without_fonts_of_the_system() -> None:
    drawing = Drawing(200, 60, "words")
    blank = to_pixels(drawing.svg())
    for words, options in (("plain", {}), ("bold", {"is_bold": True}), ("mono", {"is_mono": True})):
        drawing = Drawing(200, 60, "words")
        drawing.text(100, 30, words, 30, "black", **options)
        assert (to_pixels(drawing.svg()) != blank).any(axis=2).sum() > 200, words


class FakeWindow:
    """Stands in for a window where there is no display."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.shown: list[bytes] = []
        self.is_closed = False

    def show(self, png: bytes) -> None:
        self.shown.append(png)

    def close(self) -> None:
        self.is_closed = True


def test_a_window_follows_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    windows: list[FakeWindow] = []

    def open_window(title: str) -> FakeWindow:
        windows.append(FakeWindow(title))
        return windows[-1]

    monkeypatch.setattr("envs.adapters.rendering._Window", open_window)
    env = kuhn_v0.env(render_mode="human")
    env.reset(seed=0)
    env.step(1)
    assert [window.title for window in windows] == ["kuhn_v0"]
    assert len(windows[0].shown) == 2
    assert windows[0].shown[0] != windows[0].shown[1]
    twin = copy.deepcopy(env)
    twin.step(1)
    assert len(windows) == 2  # a copy has a window of its own
    env.close()
    assert windows[0].is_closed
    assert not windows[1].is_closed


def test_screens_travel_without_their_window() -> None:
    game = make_game("kuhn_v0")
    screen = pickle.loads(pickle.dumps(Screen(game.id, "ansi")))
    state = game.new_position().state
    assert screen.show(lambda: game.render(state), lambda: "") == game.render(state)
