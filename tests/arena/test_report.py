"""Reports: whole in one file, safe with any name, and the same figures as the summary."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

import evaluate
from agents.spec import AgentSpec
from arena.folder import read_tournament
from arena.report import write_report
from arena.report.collect import collect, read_run
from arena.report.leaderboard import groups_of, to_svg, without
from arena.report.page import scale_for
from arena.report.tables import Cross, Meeting
from arena.report.words import verdict
from arena.spec import TournamentSpec
from arena.summary import Cycle
from arena.tournament import run_tournament
from common.errors import MasqueradeError
from common.statistics import Interval
from envs import make_game
from envs.core.facts import POINTS
from masquerade.commands import make_spec

HOSTILE = """</script><script>alert('1')</script>|"onload="x" & `*_"""


KUHN = make_game("kuhn_v0")


def plant_run(folder: Path) -> None:
    (folder / "checkpoints" / "step_200").mkdir(parents=True)
    (folder / "metrics.csv").write_text(
        "step,charts/return,eval/win_rate,eval/win_rate_low,eval/win_rate_high,"
        "eval/exploitability,eval/note\n"
        "0,0.1,0.50,0.4,0.6,0.90,first\n100,0.2,,,,,\n200,0.3,0.75,0.7,0.8,0.30,\n"
        "300,0.4,nan,,,,\n"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament with a hostile name, an agent that fails and one that was trained."""
    base = tmp_path_factory.mktemp("report")
    plant_run(base / "run")
    agents = (
        AgentSpec.parse("random"),
        AgentSpec.parse({"id": "kuhn_rule", "name": HOSTILE}),
        AgentSpec("tests.support.planted_agents:Broken", name="bad"),
        AgentSpec("tests.support.trained_agents:Trained", {"path": str(base / "run")}, "pupil"),
    )
    spec = TournamentSpec("kuhn_v0", agents, deals=60, seed=0)
    run_tournament(spec, base / "played")
    write_report(base / "played", is_trusted=True)
    return base / "played"


class Page(HTMLParser):
    """A page as a browser would take it apart; refuses what is not balanced."""

    VOID = frozenset({"br", "input", "meta"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert not self.stack, f"not closed: {self.stack}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.stack):
            self.texts[tag][-1] += data

    def find(self, tag: str, **attributes: str) -> Iterator[dict[str, Any]]:
        for name, found in self.elements:
            if name == tag and attributes.items() <= found.items():
                yield found


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text())


def names(folder: Path) -> list[str]:
    return [agent.name for agent in read_tournament(folder).spec.agents]


def test_the_page_loads_nothing(folder: Path, page: Page) -> None:
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base"), tag
        assert "src" not in attributes
        assert "srcset" not in attributes
        if "href" in attributes:
            assert attributes["href"].startswith("#"), attributes
    text = (folder / "report.html").read_text()
    text = text.replace("http://www.w3.org/2000/svg", "")  # a name that SVG wants, not an address
    assert not re.search(r"https?://|url\(|@import|fetch\(|XMLHttpRequest", text)


def test_links_of_the_menu_lead_somewhere(page: Page) -> None:
    targets = [attributes["href"][1:] for attributes in page.find("a")]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(targets) == 10
    assert len(ids) == len(set(ids))
    assert set(targets) <= set(ids)


def test_a_hostile_name_stays_text(page: Page) -> None:
    assert len(list(page.find("script"))) == 2  # the data of the games, and the page's own
    assert all(not name.startswith("on") for _, found in page.elements for name in found)
    assert HOSTILE in page.texts["th"]
    game = json.loads(page.texts["script"][0])["games"][0]
    assert HOSTILE in game["names"]


def test_every_agent_is_in_the_ladders_the_cross_table_and_the_standings(
    folder: Path, page: Page
) -> None:
    for name in names(folder):
        # A ladder, two weights, a row of the cross table, of the standings and of the seats.
        assert page.texts["th"].count(name) >= 6, name


def test_the_cross_table_has_the_numbers_of_the_summary(folder: Path, page: Page) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    cells = {
        (cell["data-row"], cell["data-column"]): {**cell, "shown": text}
        for cell, text in zip(page.find("td"), page.texts["td"], strict=True)
        if "data-row" in cell
    }
    assert len(cells) == 4 * 3
    for comparison in summary["comparisons"]:
        mean, low, high = comparison["lead"]
        cell = cells[comparison["first"], comparison["second"]]
        assert [float(cell[key]) for key in ("data-lead", "data-low", "data-high")] == [
            mean,
            low,
            high,
        ]
        turned = cells[comparison["second"], comparison["first"]]
        assert [float(turned[key]) for key in ("data-lead", "data-low", "data-high")] == [
            -mean,
            -high,
            -low,
        ]
        is_certain = low > 0 or high < 0
        assert cell["class"] == (("ahead" if mean > 0 else "behind") if is_certain else "open")
        shown = re.match(r"[+-]?(\d+)\.(\d+)", cell["shown"].replace("\N{MINUS SIGN}", "-"))
        assert shown is not None, cell
        assert float(shown[0]) == round(mean, len(shown[2]))


def test_csv_and_json_have_the_numbers_of_the_summary(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    content = json.loads((folder / "report.json").read_text())
    assert content["summary"] == summary
    rows = list(csv.DictReader(io.StringIO((folder / "comparisons.csv").read_text())))
    found = {
        (row["first"], row["second"]): [float(row[f"lead{end}"]) for end in ("", "_low", "_high")]
        for row in rows
    }
    assert found == {(c["first"], c["second"]): c["lead"] for c in summary["comparisons"]}


def test_markdown_tables_keep_their_columns(folder: Path) -> None:
    text = (folder / "report.md").read_text()
    tables = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    assert len(tables) == 7
    for table in tables:
        counts = {line.count("|") for line in table.strip().splitlines()}
        assert len(counts) == 1
    assert "<script" not in text.partition("```")[0]


def test_faults_are_named(page: Page) -> None:
    assert any("bad lost 360 games: RuntimeError: always" in text for text in page.texts["li"])
    assert "bad failed in 360 of its 360 games, and lost those." in " ".join(page.texts["p"])
    assert "bad (failed)" in page.texts["th"]


# ---- sample games --------------------------------------------------------------------------------


def test_sample_games_are_those_of_the_tournament(folder: Path) -> None:
    report = collect(folder, is_trusted=True)
    tournament = read_tournament(folder)
    groups = tournament.spec.groups(tournament.spec.build_game())
    agents = names(folder)
    assert len(report.samples.games) == 4 * 6
    for sample in report.samples.games:
        seats = tuple(agents.index(name) for name in sample.names)
        group = next(g for g, each in enumerate(groups) if set(each.agents) == set(seats))
        assert groups[group].seatings[sample.seating] == seats
        played = tournament.find(groups, group, sample.seating, sample.deal)
        assert played is not None
        assert sample.returns == played[0].returns[0].tolist()
        assert ("forfeits" in sample.end) == ("bad" in sample.names)


def test_a_players_view_hides_the_other_card_until_a_showdown(folder: Path) -> None:
    shown = set()
    for sample in collect(folder, is_trusted=True).samples.games:
        moves = [sample.texts[views[0][0]] for actor, views in sample.steps if actor in (0, 1)]
        is_showdown = moves in (["pass", "pass"], ["bet", "bet"], ["pass", "bet", "bet"])
        shown.add(is_showdown)
        for number, (_, views) in enumerate(sample.steps[1:], 2):
            boards = [sample.texts[board] for _, board, _ in views]
            assert "?" not in boards[0]
            is_turned_up = is_showdown and number == len(sample.steps)
            for seat in (0, 1):
                lines = boards[1 + seat].splitlines()
                assert ("?" in lines[1 - seat]) != is_turned_up
                assert "?" not in lines[seat]
        spectator, first, second = (sample.texts[words] for words, *_ in sample.steps[1][1])
        cards = spectator.split()[1:]
        assert first == f"deals {cards[0]}, a hidden event"
        assert second == f"a hidden event, deals {cards[1]}"
        winner = sample.names[0 if sample.returns[0] > 0 else 1]
        assert sample.end.endswith((f"{winner} wins:", f"{winner[0].upper()}{winner[1:]} wins:"))
    assert shown == {False, True}


def test_pictures_show_each_view_of_each_step(folder: Path) -> None:
    report = collect(folder, is_trusted=True)
    game = report.spec.build_game()
    sample = report.samples.games[0]
    _, views = sample.steps[0]
    position = game.new_position(sample.deal)
    for viewer, (_, _, picture) in zip((None, 0, 1), views, strict=True):
        runs = iter(sample.pictures[picture])
        parts = [
            sample.texts[first : first + count] for first, count in zip(runs, runs, strict=True)
        ]
        drawn = game.draw(position.state, viewer)
        assert "".join(text for part in parts for text in part) == drawn.replace("\n", "")
    assert len(sample.pictures) > len(sample.steps)  # players see less than the spectator


def test_a_report_is_written_without_agents_that_are_gone(folder: Path, tmp_path: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    summary["spec"]["agents"][0]["id"] = "tests.nowhere:Gone"
    for name, content in (("summary.json", summary), ("tournament.json", {"versions": {}})):
        (tmp_path / name).write_text(json.dumps(content))
    page = Page(write_report(tmp_path, is_trusted=True).read_text())
    assert any("agent 'tests.nowhere:Gone' cannot be found" in text for text in page.texts["p"])
    assert len([cell for cell in page.find("td") if "data-row" in cell]) == 12


def test_games_that_cannot_be_repeated_are_not_shown(folder: Path, tmp_path: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    for standing in summary["standings"]:
        standing["is_reproducible"] = standing["name"] not in ("random", "bad")
    for name, content in (("summary.json", summary), ("tournament.json", {"versions": {}})):
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "units").symlink_to(folder / "units")
    games = collect(tmp_path, is_trusted=True).samples.games
    assert games
    assert {name for game in games for name in game.names} == {HOSTILE, "pupil"}
    # The same with a seed that was not played: nothing comes out as it was noted.
    summary["spec"]["seed"] = 1
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    fewer = collect(tmp_path, is_trusted=True).samples.games
    assert len(fewer) < len(games)
    # The end says who won, and has no note that the game may have been another one.
    assert {game.end for game in fewer} <= {f"{HOSTILE} wins:", "Pupil wins:", "Nobody is ahead:"}


# ---- runs ----------------------------------------------------------------------------------------


def test_learning_curves_and_exploitability_are_shown(page: Page) -> None:
    captions = page.texts["figcaption"]
    titles = page.texts["h3"]
    assert "Win rate" in titles
    assert "Exploitability" in titles
    assert not {"Return", "Note", "Win rate low"} & set(titles)
    assert "pupil: 0.75 after 200 steps" in captions
    assert len(list(page.find("polyline"))) == 2
    bands = [band for band in page.find("polygon") if band["points"]]
    assert [len(band["points"].split()) for band in bands] == [4]
    assert "Exploitability at the end: less is better" in page.texts["caption"]


@pytest.mark.parametrize("place", ["", "checkpoints/step_200"])
def test_a_run_is_found_from_its_folder_and_from_a_checkpoint(place: str, tmp_path: Path) -> None:
    plant_run(tmp_path)
    run = read_run(AgentSpec("x", {"path": str(tmp_path / place)}, "pupil"), KUHN)
    assert run is not None
    assert run.curves["eval/win_rate"] == [(0.0, 0.5), (200.0, 0.75)]
    assert run.bands == {"eval/win_rate": ([(0.0, 0.4), (200.0, 0.7)], [(0.0, 0.6), (200.0, 0.8)])}
    assert run.exploitability == 0.3


def test_exploitability_is_read_from_evaluation_files(tmp_path: Path) -> None:
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "step_1.json").write_text('{"exploitability": 0.5}')
    (tmp_path / "eval" / "step_2.json").write_text('{"eval/exploitability": 0.25, "games": 10}')
    (tmp_path / "eval" / "step_3.json").write_text("{half")
    run = read_run(AgentSpec("x", {"path": str(tmp_path)}, "pupil"), KUHN)
    assert run is not None
    assert run.exploitability == 0.25
    assert run.curves == {}


def test_exploitability_is_read_from_a_policy(tmp_path: Path) -> None:
    from agents.cfr import VectorCFRSolver, to_policy

    solver = VectorCFRSolver.of(KUHN)
    solver.run(10)
    to_policy(solver.tree, solver.average_policy()).save(tmp_path)
    run = read_run(AgentSpec("cfr", {"path": str(tmp_path)}, "solved"), KUHN)
    assert run is not None
    assert run.exploitability == pytest.approx(solver.exploitability())
    other = make_game("kuhn_v0", num_players=3)
    assert read_run(AgentSpec("cfr", {"path": str(tmp_path)}, "solved"), other) is None


def test_agents_without_a_run_have_no_curves(tmp_path: Path) -> None:
    (tmp_path / "player.py").write_text("")
    for params in ({}, {"path": "nowhere"}, {"path": str(tmp_path / "player.py")}, {"depth": 3}):
        assert read_run(AgentSpec("x", dict(params), "x"), KUHN) is None


# ---- words ---------------------------------------------------------------------------------------


def summary_of(leads: list[list[float]], width: float, elo: list[float] | None = None) -> Any:
    """A summary of agents a, b, c ... with these leads, all known to the same half width."""
    agents = [chr(ord("a") + i) for i in range(len(leads))]
    means = [sum(row) for row in leads]
    ratings = elo or means
    standings = [
        SimpleNamespace(
            name=name, role=None, faults=0, elo=Interval(rating, rating, rating), mean=mean
        )
        for name, rating, mean in zip(agents, ratings, means, strict=True)
    ]
    pairs = [(i, j) for i in range(len(agents)) for j in range(i + 1, len(agents))]
    return SimpleNamespace(
        unit=POINTS,
        objective="return",
        is_two_sided=False,
        standings=sorted(standings, key=lambda standing: -standing.mean),
        comparisons=[
            SimpleNamespace(
                first=agents[i],
                second=agents[j],
                lead=Interval(leads[i][j], leads[i][j] - width, leads[i][j] + width),
            )
            for i, j in pairs
        ],
        metagame=SimpleNamespace(
            agents=agents,
            leads=leads,
            is_certain=[[abs(lead) > width for lead in row] for row in leads],
            cycles=[],
        ),
    )


def test_the_verdict_says_who_won() -> None:
    assert verdict(summary_of([[0, -0.5], [0.5, 0]], 0.1)) == (
        "b beats a, with a lead of +0.50 ± 0.10 points a game."
    )
    ladder = [[0, 1, 3], [-1, 0, 1], [-3, -1, 0]]
    assert verdict(summary_of(ladder, 0.1)) == (
        "a beats both others; b comes closest, 1.00 ± 0.10 points a game behind."
    )


def test_the_verdict_does_not_claim_what_may_be_chance() -> None:
    assert "cannot be told apart yet" in verdict(summary_of([[0, 0.05], [-0.05, 0]], 0.1))
    close = [[0, 0.05, 3], [-0.05, 0, 1], [-3, -1, 0]]
    assert "against b its lead may be chance" in verdict(summary_of(close, 0.1))
    assert "Nobody is surely the best" in verdict(summary_of(close, 5.0))


def test_two_equal_deals_are_not_beyond_doubt(tmp_path: Path) -> None:
    agents = tuple(AgentSpec.parse(name) for name in ("liars_dice_rule", "random"))
    leads = []
    for seed in range(12):
        spec = TournamentSpec("liars_dice_v0", agents, {"dice": 1}, deals=2, seed=seed)
        summary = run_tournament(spec, tmp_path / str(seed))
        leads.append(summary.comparisons[0].lead)
        assert "cannot be told apart yet" in verdict(summary), leads[-1]
    assert max(lead.mean for lead in leads) == 1, "once, all was won"


def test_the_verdict_names_circles_and_other_orders() -> None:
    rich = [[0, -1, 5], [1, 0, 1], [-5, -1, 0]]
    assert verdict(summary_of(rich, 0.1)).startswith(
        "b beats both others head to head; a wins more from the weak"
    )
    unclear = [[0, -1, 5], [1, 0, 0.05], [-5, -0.05, 0]]
    assert "but b beats it head to head" in verdict(summary_of(unclear, 0.1))
    assert "c comes first" in verdict(summary_of(rich, 0.1, elo=[0, 0, 100]))
    summary = summary_of(rich, 0.1)
    summary.metagame.cycles = [
        Cycle(("a", "c", "b"), 1.0, True),
        Cycle(("x", "y", "z"), 9.0, False),
    ]
    assert "There is a circle: a beats c beats b beats a." in verdict(summary)


# ---- the rest ------------------------------------------------------------------------------------


def test_the_config_on_the_page_is_the_tournament(folder: Path, page: Page) -> None:
    spec = read_tournament(folder).spec
    config = next(text for text in page.texts["code"] if text.startswith("game:"))
    assert TournamentSpec.parse(yaml.safe_load(config)) == spec


def test_the_command_of_a_plain_tournament_repeats_it(tmp_path: Path) -> None:
    import shlex

    agents = AgentSpec.parse("random"), AgentSpec.parse("my rule=kuhn_rule")
    spec = TournamentSpec("kuhn_v0", agents, {"num_players": 3}, deals=7, seed=5)
    run_tournament(spec, tmp_path)
    words = shlex.split(collect(tmp_path, is_trusted=True).command)
    assert words[:2] == ["python", "evaluate.py"]
    assert make_spec(evaluate.parse_arguments(words[2:])) == spec


def test_one_deal_has_unknown_intervals_and_still_a_report(folder: Path, tmp_path: Path) -> None:
    spec = replace(read_tournament(folder).spec, deals=1)
    run_tournament(spec, tmp_path)
    Page(write_report(tmp_path, is_trusted=True).read_text())


def test_what_could_not_be_found_is_left_out(folder: Path, tmp_path: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    summary["metagame"]["nash"] = [None] * 4
    summary["comparisons"][0]["gain"] = None
    for name, content in (("summary.json", summary), ("tournament.json", {"versions": {}})):
        (tmp_path / name).write_text(json.dumps(content))
    page = Page(write_report(tmp_path, is_trusted=True).read_text())
    assert "-" in page.texts["td"]
    assert "nan" not in " ".join(page.texts["td"])


def test_the_page_goes_where_it_is_asked_for(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "leduc.html"
    assert write_report(folder, out) == out
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "leduc-comparisons.csv",
        "leduc-roles.csv",
        "leduc-standings.csv",
        "leduc.html",
        "leduc.json",
        "leduc.md",
    ]
    with pytest.raises(MasqueradeError, match=r"must end in \.html"):
        write_report(folder, tmp_path / "leduc.pdf")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "give the folder of a tournament"),
        ({"tournament.json": "{}"}, "finish the tournament first"),
        ({"tournament.json": "{}", "summary.json": "{"}, "damaged"),
        ({"tournament.json": "{}", "summary.json": "[]"}, "damaged"),
        ({"tournament.json": "{}", "summary.json": "{}"}, "another version"),
    ],
)
def test_a_folder_that_is_no_finished_tournament_is_refused(
    files: dict[str, str], message: str, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(MasqueradeError, match=message) as error:
        write_report(tmp_path)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "values", [[0.0], [3, 41], [-0.013, 0.4], [-2000, 151], [1e-7, 2e-7], [5, 5, 5], [math.inf, 2]]
)
def test_axes_hold_all_values_between_round_ticks(values: list[float]) -> None:
    scale = scale_for(values)
    assert 2 <= len(scale.ticks) <= 8
    finite = [value for value in values if math.isfinite(value)]
    assert scale.ticks[0] <= min(finite)
    assert scale.ticks[-1] >= max(finite)
    assert all(0 < scale.place(value) < 100 for value in values)
    labels = [scale.label(tick) for tick in scale.ticks]
    assert len(set(labels)) == len(labels)
    assert Interval(0, scale.place(min(finite)), scale.place(max(finite))).low >= 0


# ---- many agents ---------------------------------------------------------------------------------


def test_variants_of_one_player_that_are_alike_stand_together() -> None:
    leads = [[0, 0.05, 2, 2.1], [-0.05, 0, 2, 2], [-2, -2, 0, 0.01], [-2.1, -2, -0.01, 0]]
    summary = summary_of(leads, 0.1)
    for standing, kind in zip(summary.standings, ("cfr", "cfr", "cfr", "dqn"), strict=True):
        standing.agent_id = kind
    # a and b are alike; c is of their kind but worse; d is as good as c but of another kind.
    assert groups_of(summary) == {"a": ["b"]}


def test_a_wide_cross_table_is_a_picture() -> None:
    names = [f"agent <{i}>" for i in range(12)]
    cells = {
        (a, b): Meeting(Interval(i - j, i - j - 0.5, i - j + 0.5), 10)
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i != j
    }
    cross = Cross("lead of the row", names, names, cells)
    picture = ElementTree.fromstring(to_svg(cross))
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("agent <3>") == 2
    assert "+11.00" in texts
    assert len(texts) == 2 * 12 + 12 * 11
    assert without(cross, {names[0]: [names[1]]}).rows == [names[0], *names[2:]]
