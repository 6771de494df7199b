"""The page in a real browser: whole games by clicks and by keys, and everything around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from agents.spec import AgentSpec
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from envs import GAMES
from tests.support.browser import clicks_wait_for_nothing, find_chromium
from tests.support.play_server import Server

pytestmark = pytest.mark.alone
MAX_MOVES = 400
# Shorter games of the long ones, chosen on the form for new tables.
SHORT = {"scotland_yard_v0": {"rounds": "3"}, "phantom_v0": {"rounds": "3"}}


# A step waits as long as it takes for what it needs; the limit is that of the whole test.
expect.set_options(timeout=1e9)


def new_context(browser: Browser, server: Server, **options: Any) -> BrowserContext:
    made = browser.new_context(base_url=f"http://localhost:{server.port}", **options)
    made.set_default_timeout(0)
    made.set_default_navigation_timeout(0)
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with clicks_wait_for_nothing(), sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"], timeout=0
        )
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """A person's browser, in which nothing moves by itself and nothing may go wrong."""
    size: Any = {"width": 1280, "height": 900}
    made = new_context(browser, server, viewport=size, reduced_motion="reduce")
    errors: list[str] = []
    made.on("weberror", lambda error: errors.append(str(error.error)))
    made.on(
        "request",
        lambda r: errors.append(r.url) if f"localhost:{server.port}" not in r.url else None,
    )
    yield made
    made.close()
    assert not errors, "an error on the page, or a request to another machine"


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def begin(page: Page, game: str) -> None:
    """Begin a game as a newcomer does, or a short one by the form."""
    page.goto("/")
    if game not in SHORT:
        page.click(f"[data-play={game}]")
    else:
        page.click(f"[data-setup={game}]")
        page.click("summary")
        for name, value in SHORT[game].items():
            old = page.wait_for_selector(f"#option-{name}")
            page.fill(f"#option-{name}", value)
            page.press(f"#option-{name}", "Tab")
            # The server answers with a new form, in which everything is another element.
            page.wait_for_function("old => !old.isConnected", arg=old)
        page.click("[data-start]")
    page.wait_for_selector(".frame svg")


def wait_for_turn(page: Page) -> bool:
    """Wait until we are to move; False at the end of the game."""
    page.wait_for_selector(".status.mine, .status.over")
    return page.locator(".status.mine").count() > 0


def log_length(page: Page) -> int:
    return page.locator(".log li").count()


def wait_for_answer(page: Page, before: int) -> None:
    """Wait until the own move is in the log."""
    page.wait_for_function("n => document.querySelectorAll('.log li').length > n", arg=before)


@pytest.mark.parametrize("game", list(GAMES))
def test_a_whole_game_is_played_by_clicks_on_the_picture(page: Page, game: str) -> None:
    rng = np.random.default_rng(11)
    begin(page, game)
    for _ in range(MAX_MOVES):
        if not wait_for_turn(page):
            break
        before = log_length(page)
        targets = page.locator(".frame [data-action]")
        targets.nth(int(rng.integers(targets.count()))).click()
        wait_for_answer(page, before)
    expect(page.locator(".status.over")).to_be_visible()
    expect(page.locator("[data-again]")).to_be_visible()


@pytest.mark.parametrize("game", list(GAMES))
def test_a_whole_game_is_played_by_keys_alone(page: Page, game: str) -> None:
    rng = np.random.default_rng(12)
    begin(page, game)
    for _ in range(MAX_MOVES):
        if not wait_for_turn(page):
            break
        before = log_length(page)
        keys = page.locator(".choices kbd").all_inner_texts()
        for digit in keys[int(rng.integers(len(keys)))]:
            page.keyboard.press(digit)
        wait_for_answer(page, before)
    expect(page.locator(".status.over")).to_be_visible()


def test_the_lobby_is_left_and_a_move_made_without_a_mouse(page: Page) -> None:
    page.goto("/")
    page.wait_for_selector("[data-play=kuhn_v0]")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.play") == "kuhn_v0":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".choices button")
    before = log_length(page)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('[data-action]') !== null"):
            break
    assert page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    wait_for_answer(page, before)


def test_a_move_is_taken_back(page: Page) -> None:
    begin(page, "liars_dice_v0")
    before = log_length(page)
    page.keyboard.press("0")
    page.keyboard.press("1")
    wait_for_answer(page, before)
    wait_for_turn(page)
    page.click("[data-tool=u]")
    page.wait_for_function("n => document.querySelectorAll('.log li').length === n", arg=before)
    expect(page.locator(".status.mine")).to_be_visible()


def test_a_hint_shows_bars_and_can_be_played(page: Page) -> None:
    begin(page, "leduc_v0")
    wait_for_turn(page)
    page.wait_for_selector(".learn select option", state="attached")
    page.keyboard.press("h")
    page.wait_for_selector(".bars tr")
    widths = page.locator(".bars td:nth-child(3)").all_inner_texts()
    assert sum(float(text.removesuffix(" %")) for text in widths) == pytest.approx(100, abs=1)
    before = log_length(page)
    page.click(".bars button >> nth=0")
    wait_for_answer(page, before)


def test_a_reload_comes_back_to_the_same_position(page: Page) -> None:
    begin(page, "no_thanks_v0")
    wait_for_turn(page)
    before = log_length(page)
    page.keyboard.press("1")
    wait_for_answer(page, before)
    wait_for_turn(page)
    picture, words = page.inner_html(".frame"), page.locator(".log").inner_text()
    page.reload()
    page.wait_for_selector(".frame svg")
    wait_for_turn(page)
    assert page.inner_html(".frame") == picture
    assert page.locator(".log").inner_text() == words


def test_a_second_person_joins_by_link_and_sees_another_hand(
    page: Page, browser: Browser, server: Server
) -> None:
    page.goto("/#new/kuhn_v0")
    page.select_option("[data-seat='1']", "guest")
    page.click("[data-start]")
    link = page.locator("[data-invite]").get_attribute("data-invite")
    with new_context(browser, server) as other:
        guest = other.new_page()
        guest.goto(str(link))
        guest.wait_for_selector(".frame svg")
        assert guest.inner_html(".frame") != page.inner_html(".frame")
        expect(guest.locator(".people")).to_contain_text("Guest 1 (you)")
        expect(page.locator(".people")).to_contain_text("Player 0 (you)")
        expect(guest.locator(".choices button")).to_have_count(0)
        page.keyboard.press("1")
        guest.wait_for_selector(".status.mine")
        guest.keyboard.press("1")
        for one in (page, guest):
            one.wait_for_selector(".status.over")


def test_two_people_at_one_screen_do_not_see_each_others_hands(page: Page) -> None:
    page.goto("/#new/kuhn_v0")
    page.select_option("[data-seat='1']", "me")
    page.click("[data-start]")
    page.wait_for_selector(".choices button")
    page.keyboard.press("1")
    expect(page.locator(".curtain")).to_be_visible()
    expect(page.locator(".choices button")).to_have_count(0)
    page.click(".curtain button")
    expect(page.locator(".status.mine")).to_be_visible()


def test_a_game_is_stepped_through_and_a_link_leads_to_the_position(page: Page) -> None:
    begin(page, "kuhn_v0")
    while wait_for_turn(page):
        before = log_length(page)
        page.keyboard.press("1")
        wait_for_answer(page, before)
    end = page.inner_html(".frame")
    page.keyboard.press("Home")
    expect(page.locator(".stepper .words")).to_contain_text("0 of")
    assert page.inner_html(".frame") != end
    page.keyboard.press("ArrowRight")
    expect(page.locator(".stepper .words")).to_contain_text("1 of")
    page.select_option(".stepper select", "1")
    expect(page.locator(".stepper .words")).to_contain_text("1 of")
    page.wait_for_function("() => location.hash.endsWith('/1/1')")
    picture = page.inner_html(".frame")
    page.reload()
    expect(page.locator(".stepper .words")).to_contain_text("1 of")
    assert page.inner_html(".frame") == picture
    page.click("[data-tool-hint]")
    page.wait_for_selector(".verdicts tr")


def test_a_game_that_was_kept_is_opened_from_the_lobby(page: Page) -> None:
    begin(page, "kuhn_v0")
    while wait_for_turn(page):
        before = log_length(page)
        page.keyboard.press("2")
        wait_for_answer(page, before)
    page.goto("/#")
    page.click(".files summary")
    page.click(".files a >> nth=0")
    expect(page.locator(".status.over")).to_be_visible()
    expect(page.locator(".stepper")).to_be_visible()


def test_agents_are_watched_with_pause_and_single_moves(page: Page) -> None:
    page.goto("/#new/leduc_v0")
    page.select_option("[data-seat='0']", "agent leduc_rule")
    page.click("[data-start]")
    page.wait_for_selector(".status.over")
    page.keyboard.press("p")
    expect(page.locator("[data-tool=p]")).to_have_text("Go on")
    page.keyboard.press("n")
    page.wait_for_function("() => document.querySelectorAll('.log li').length === 1")
    page.keyboard.press(".")
    page.wait_for_function("() => document.querySelectorAll('.log li').length >= 2")


def test_tickets_light_only_their_targets(page: Page) -> None:
    page.goto("/#new/scotland_yard_v0")
    page.select_option("[data-seat='0']", "me")  # Mr. X always has black tickets, too
    page.select_option("[data-seat='1']", "agent random")
    page.click("[data-start]")
    wait_for_turn(page)
    page.click(".choices .chip >> nth=1")
    actions = """(selector) => [...new Set([...document.querySelectorAll(selector)]
        .map((e) => e.dataset.action ?? e.dataset.choice))].sort()"""
    lit = page.evaluate(actions, ".frame [data-action]:not(.out)")
    assert 0 < len(lit) < len(page.evaluate(actions, ".frame [data-action]"))
    assert lit == page.evaluate(actions, ".choices [data-choice]")


def test_a_layer_is_switched_on(page: Page) -> None:
    begin(page, "scotland_yard_v0")
    wait_for_turn(page)
    layer = page.locator(".frame [data-layer=belief]")
    assert layer.get_attribute("display") == "none"
    page.click("[data-show-layer=belief]")
    assert layer.get_attribute("display") is None


def test_what_an_agent_has_learnt_is_shown(page: Page) -> None:
    begin(page, "leduc_v0")
    wait_for_turn(page)
    page.wait_for_selector("[data-learnt]:not(:disabled)")
    page.keyboard.press("l")
    page.wait_for_selector(".viewer .exhibit svg")
    expect(page.locator(".viewer h2")).to_contain_text("leduc rule")
    page.keyboard.press("Escape")
    expect(page.locator(".viewer")).not_to_be_visible()
    before = log_length(page)
    page.keyboard.press("1")
    wait_for_answer(page, before)


def test_a_map_is_saved_chosen_again_and_loaded_from_a_file(page: Page, server: Server) -> None:
    page.goto("/#new/phantom_v0")
    page.click("summary")
    first = page.inner_html("[data-map]")
    page.click("[data-next-map]")
    page.wait_for_function("a => document.querySelector('[data-map]').innerHTML !== a", arg=first)
    chosen = page.inner_html("[data-map]")
    page.click("[data-start]")
    page.wait_for_selector(".frame svg")
    page.once("dialog", lambda dialog: dialog.accept("mine"))
    page.click("[data-tool=m]")
    page.wait_for_selector(".toast")
    file = server.folder / "runs" / "maps" / "mine.json"
    page.goto("/#new/scotland_yard_v0")
    page.click("summary")
    page.select_option("#option-board", label="mine")
    page.wait_for_selector("a[href='/maps/mine.json']")
    assert page.inner_html("[data-map]") == chosen
    copy = server.folder / "a copy.json"
    copy.write_bytes(file.read_bytes())
    page.set_input_files("[data-load-map]", copy)
    page.wait_for_selector("a[href='/maps/a%20copy.json']")
    assert (server.folder / "runs" / "maps" / "a copy.json").read_bytes() == file.read_bytes()


def test_every_game_of_a_tournament_can_be_opened(page: Page, server: Server) -> None:
    agents = tuple(AgentSpec(name, name=name) for name in ("random", "kuhn_rule"))
    spec = TournamentSpec("kuhn_v0", agents, deals=30, seed=0)
    run_tournament(spec, server.folder / "runs" / "tournaments" / "small", workers=1)
    page.goto("/")
    page.click(".tournaments summary")
    page.click(".tournaments a")
    expect(page.locator(".samples a")).to_have_count(4)
    page.select_option("[data-tables]", label="kuhn_rule, random")
    page.fill(".row input", "29")
    page.click("[data-open-game]")
    page.wait_for_selector(".stepper")
    expect(page.locator(".people li >> nth=0")).to_contain_text("kuhn_rule")
    page.go_back()
    page.click(".samples a >> nth=0")
    page.wait_for_selector(".stepper")


def test_results_run_on_from_hand_to_hand_with_an_interval(page: Page) -> None:
    begin(page, "holdem_v0")
    for hand in range(2):
        while wait_for_turn(page):
            before = log_length(page)
            page.keyboard.press("1")
            wait_for_answer(page, before)
        expect(page.locator(".figures caption")).to_contain_text(f"{hand + 1} game")
        last_hand = page.locator(".log").inner_text()
        page.keyboard.press("n")
        # The new hand may be over at once: everybody folds to our big blind.
        page.wait_for_function(
            "old => document.querySelector('.log').innerText !== old", arg=last_hand
        )
    expect(page.locator(".figures caption")).to_contain_text("bb/100")
    expect(page.locator(".figures")).to_contain_text("±")  # of whoever had different results


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("game", list(GAMES))
def test_everything_fits_a_telephone(
    browser: Browser, server: Server, game: str, scheme: str
) -> None:
    size = {"width": 390, "height": 844}
    with new_context(browser, server, viewport=size, color_scheme=scheme) as small:
        page = small.new_page()
        page.goto("/")
        page.click(f"[data-play={game}]")
        page.wait_for_selector(".frame svg")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390
        box = page.locator(".frame").bounding_box()  # the picture itself changes with every move
        assert box is not None
        assert box["width"] >= 340
        # Letters of tickets and logs beside a map can be read: they have moved below it.
        # Found and measured at once: a move of the others puts a new picture in place of this one.
        words = page.evaluate(
            """[...document.querySelectorAll('[data-beside] text')]
                .map((e) => e.getBoundingClientRect().height)"""
        )
        assert len(words) == 0 or np.median(words) >= 9


def test_everything_that_can_be_used_has_a_name(page: Page) -> None:
    nameless = """() => [...document.querySelectorAll('button, a, input, select, [role=button]')]
        .filter((e) => e.offsetParent !== null || e instanceof SVGElement)
        .filter((e) => !(e.innerText || e.getAttribute('aria-label') || e.labels?.length
            || e.querySelector?.('title')?.textContent))
        .map((e) => e.outerHTML.slice(0, 120))"""
    for game in ("liars_dice_v0", "holdem_v0"):
        begin(page, game)
        wait_for_turn(page)
        assert page.evaluate(nameless) == []
    page.goto("/#new/phantom_v0")
    page.click("summary")
    page.wait_for_selector("#option-rows")
    assert page.evaluate(nameless) == []
    headings = page.locator("h1").all_inner_texts()
    assert headings == ["Phantom of Old Prague"]
    assert re.search("Phantom", page.title())
