"""Pictures: well-formed, of one size, with marks for pages, and without what viewers cannot know."""

from __future__ import annotations

from xml.etree import ElementTree

from envs.core.drawing import Drawing, draw_text

SVG = "{http://www.w3.org/2000/svg}"


def test_words_are_escaped() -> None:
    drawing = Drawing(100, 50, '<b> & "title"')
    drawing.text(50, 25, "<script>alert('&')</script>")
    with drawing.group(action=1, tip="a < b"):
        drawing.circle(10, 10, 4, fill="red", tip="x & y")
    root = ElementTree.fromstring(drawing.svg())
    assert root.findtext(f"{SVG}title") == '<b> & "title"'
    assert root.findtext(f"{SVG}text") == "<script>alert('&')</script>"
    assert [title.text for title in root.iter(f"{SVG}title")][1:] == ["a < b", "x & y"]


def test_actions_and_layers_are_marked() -> None:
    drawing = Drawing(100, 50, "marks")
    with drawing.group(action=1234567, tip="a big number"):
        drawing.rect(0, 0, 9, 9, fill="gold")
    with drawing.layer("belief"):
        drawing.rect(0, 0, 9, 9, fill="gold")
    groups = ElementTree.fromstring(drawing.svg()).findall(f"{SVG}g")
    assert groups[0].get("data-action") == "1234567"
    assert groups[1].get("data-layer") == "belief"
    assert groups[1].get("display") == "none"


def test_colours_have_a_value_for_dark_pages() -> None:
    drawing = Drawing(100, 50, "colours")
    drawing.rect(0, 0, 9, 9, fill="felt", stroke="#123456")
    svg = drawing.svg()
    light, _, dark = svg.partition("@media (prefers-color-scheme:dark)")
    assert ".f-felt{fill:#2f7a5b}" in light
    assert ".f-felt{fill:#1c4a39}" in dark
    assert 'stroke="#123456"' in svg


def test_text_boards_have_one_size_whatever_they_say() -> None:
    sizes = set()
    for text in ("", "one line", "\n".join(["a very long line " * 20] * 60)):
        root = ElementTree.fromstring(draw_text(text, "a board"))
        sizes.add((root.get("width"), root.get("height")))
    assert sizes == {("640", "360")}
