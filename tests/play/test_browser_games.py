"""The page keeps games apart: keys, toasts, and a move that was lost with its connection."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, WebSocket, expect, sync_playwright

from tests.support.browser import clicks_wait_for_nothing, find_chromium
from tests.support.play_server import Server

pytestmark = pytest.mark.alone
# A step waits as long as it takes for what it needs; the limit is that of the whole test.
expect.set_options(timeout=1e9)

SAY = """async (message) => {
    const { send } = await import("/page/net.js");
    const [, table] = location.hash.slice(1).split("/");
    send({ table, ...message });
}"""


class Frames:
    """What the page has sent."""

    def __init__(self, page: Page) -> None:
        self.texts: list[str] = []
        page.on("websocket", self._follow)

    def _follow(self, socket: WebSocket) -> None:
        self.socket = socket
        socket.on("framesent", lambda text: self.texts.append(str(text)))

    def moves(self) -> int:
        return sum(json.loads(text)["type"] == "move" for text in self.texts)


@pytest.fixture(scope="module")
def page(server: Server) -> Iterator[Page]:
    with clicks_wait_for_nothing(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        context = browser.new_context(base_url=f"http://localhost:{server.port}")
        made = context.new_page()
        made.set_default_timeout(0)  # the whole test has a limit
        yield made
        browser.close()


@pytest.fixture
def frames(page: Page) -> Frames:
    """A table of Leduc poker at which we are to move."""
    frames = Frames(page)
    page.goto("/")
    page.reload()  # another part of the address alone loads nothing
    page.click("[data-play=leduc_v0]")
    page.wait_for_selector(".status.mine")
    page.wait_for_selector("[data-learnt]:not(:disabled)")
    return frames


def test_keys_do_nothing_behind_an_open_dialog(page: Page, frames: Frames) -> None:
    for key, dialog in (("l", ".viewer"), ("?", "#help")):
        page.keyboard.press(key)
        page.wait_for_selector(f"{dialog}[open]")
        page.keyboard.press("1")
        page.keyboard.press("n")
        page.keyboard.press("Escape")
        page.wait_for_selector(f"{dialog}:not([open])", state="attached")
    page.click("[data-tool=n]")  # by now all that was sent before has been told to us
    page.wait_for_selector(".status.mine, .status.over")
    assert [json.loads(text)["type"] for text in frames.texts].count("again") == 1
    assert frames.moves() == 0


def test_a_curtain_keeps_keys_away_from_the_table(page: Page, frames: Frames) -> None:
    page.goto("/#new/kuhn_v0")
    page.select_option("[data-seat='1']", "me")
    page.click("[data-start]")
    page.wait_for_selector(".choices button")
    page.keyboard.press("x")
    expect(page.locator(".curtain")).to_be_visible()
    page.keyboard.press("1")
    page.click(".curtain button")
    page.keyboard.press("1")
    expect(page.locator(".curtain")).to_contain_text("turn of")
    assert frames.moves() == 1


def test_what_is_said_of_one_game_is_not_shown_in_another(page: Page, frames: Frames) -> None:
    back = {"type": "take_back", "number": 0, "seat": 0}
    page.evaluate(SAY, back)  # there is nothing to take back
    expect(page.locator(".toast")).to_have_count(1)
    page.keyboard.press("n")
    expect(page.locator(".toast")).to_have_count(0)
    page.wait_for_selector(".status.mine, .status.over")
    page.evaluate(SAY, back)  # refused, and of no interest any more
    page.evaluate(SAY, {**back, "number": 1})
    expect(page.locator(".toast")).to_have_count(1)
    expect(page.locator(".toast")).to_contain_text("taken back")
    page.goto("/#")
    expect(page.locator(".toast")).to_have_count(0)


LOSE = """(type) => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) {
        if (JSON.parse(text).type !== type) return send.call(this, text);
        WebSocket.prototype.send = send;
        this.close();
    };
}"""


def test_a_move_that_was_lost_with_its_connection_is_made_when_it_is_back(
    page: Page, frames: Frames
) -> None:
    """The server never hears of the first one."""
    before = page.locator(".log li").count()
    page.evaluate(LOSE, "move")
    page.keyboard.press("1")
    page.wait_for_function("n => document.querySelectorAll('.log li').length > n", arg=before)
    assert frames.moves() == 1


def test_advice_that_was_lost_with_its_connection_is_not_waited_for(
    page: Page, frames: Frames
) -> None:
    page.evaluate(LOSE, "hint")
    page.keyboard.press("h")
    page.evaluate(SAY, {"type": "again", "number": 0})  # without a connection, and not done later
    expect(page.locator(".advice .error")).to_contain_text("ask again")
    page.evaluate(LOSE, "learnt")
    page.keyboard.press("l")
    expect(page.locator(".exhibits .error")).to_contain_text("ask again")
    expect(page.locator(".toast")).to_have_count(0)


# ---- other browsers, and answers that come late --------------------------------------------------


def begin_kuhn(page: Page, other_seat: str) -> None:
    page.goto("/#new/kuhn_v0")
    page.select_option("[data-seat='1']", other_seat)
    page.click("[data-start]")
    page.wait_for_selector(".choices button")


def wait_for_end(*pages: Page) -> None:
    for one in pages:
        one.wait_for_selector(".status.over")


def test_another_tab_that_swaps_seats_leaves_no_game_of_before(page: Page, frames: Frames) -> None:
    begin_kuhn(page, "agent kuhn_rule")
    tab = page.context.new_page()
    tab.set_default_timeout(0)
    tab.goto(page.url)
    tab.wait_for_selector(".status.mine")
    page.click("[data-tool=s]")
    for one in (page, tab):
        expect(one.locator(".people li").nth(1)).to_contain_text("You")
        one.wait_for_selector(".status.mine")
    expect(tab.locator(".log")).to_have_text(page.locator(".log").inner_text().replace("\n", ""))
    tab.keyboard.press("1")
    wait_for_end(page, tab)
    tab.close()


def test_a_swap_that_is_refused_leaves_the_game_in_play(page: Page, frames: Frames) -> None:
    """Another person has come, and the game is not over."""
    begin_kuhn(page, "guest")
    link = str(page.locator("[data-invite]").get_attribute("data-invite"))
    browser = page.context.browser
    assert browser is not None
    with browser.new_context() as elsewhere:
        guest = elsewhere.new_page()
        guest.set_default_timeout(0)
        guest.goto(link)
        guest.wait_for_selector(".frame svg")
        page.click("[data-tool=s]")
        expect(page.locator(".toast")).to_contain_text("others play it too")
        page.keyboard.press("1")
        guest.wait_for_selector(".status.mine")
        guest.keyboard.press("1")
        wait_for_end(page, guest)
        page.click("[data-tool=s]")
        guest.wait_for_selector(".status.mine")
        expect(guest.locator(".stepper")).to_be_hidden()


def test_what_could_not_be_opened_does_not_take_the_place_of_a_game(
    page: Page, frames: Frames
) -> None:
    """Its answer comes when something else has been begun."""
    page.evaluate("""async () => {
        const { send } = await import("/page/net.js");
        send({ type: "open", name: "nothing.json" });
        send({ type: "tournament", name: "nothing" });
        send({ type: "join", table: "nothing" });
    }""")
    expect(page.locator(".toast")).to_have_count(3)
    expect(page.locator(".frame svg")).to_be_visible()


def test_a_form_shows_the_players_of_its_own_game(page: Page, frames: Frames) -> None:
    page.goto("/#new/kuhn_v0")
    page.wait_for_selector("[data-seat='1']")
    page.evaluate("""() => {
        const title = document.getElementById("title");
        window.titles = [];
        const note = () => titles.push(title.textContent);
        new MutationObserver(note).observe(title, { childList: true });
    }""")
    ask = """async (message) => {
        const { send } = await import("/page/net.js");
        send({ type: "players", ...message });
    }"""
    late = '"title":"No Thanks!"'
    with frames.socket.expect_event("framereceived", lambda text: late in text, timeout=0):
        page.evaluate(ask, {"game": "no_thanks_v0", "options": {}})
    page.evaluate(ask, {"game": "kuhn_v0", "options": {"num_players": 3}})
    page.wait_for_selector("[data-seat='2']")
    assert set(page.evaluate("titles")) == {"Kuhn poker"}


def test_a_form_stays_when_its_table_cannot_be_made(page: Page, frames: Frames) -> None:
    page.goto("/#new/kuhn_v0")
    page.wait_for_selector("[data-seat='1']")
    page.evaluate("""() => {
        const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (text) {
            return send.call(this, text.replaceAll("kuhn_rule", "nobody"));
        };
    }""")
    page.click("[data-start]")
    expect(page.locator(".setup .error")).to_contain_text("nobody")
    expect(page.locator("[data-start]")).to_be_visible()
