"""How a player of a tournament is written down."""

from __future__ import annotations

import os
from typing import Any

import pytest

from agents import AGENTS, make_agent
from agents.spec import AgentSpec
from arena.spec import TournamentSpec
from common.errors import MasqueradeError, OptionError, UnknownNameError
from envs import make_game

KUHN = make_game("kuhn_v0")


@pytest.mark.parametrize(
    ("text", "agent_id", "params", "name"),
    [
        ("random", "random", {}, "random"),
        ("zero=random", "random", {}, "zero"),
        ("external:./a.py", "external", {"path": "./a.py"}, "external:./a.py"),
        ("me=external:a=b.py", "external", {"path": "a=b.py"}, "me"),
        ("external:a=b.py", "external", {"path": "a=b.py"}, "external:a=b.py"),
        ("openspiel:my.bots:cfr", "openspiel", {"path": "my.bots:cfr"}, "openspiel:my.bots:cfr"),
        ("my.module:Player", "my.module:Player", {}, "my.module:Player"),
        ("me=my.module:Player", "my.module:Player", {}, "me"),
    ],
)
def test_a_word_says_id_path_and_name(
    text: str, agent_id: str, params: dict[str, Any], name: str
) -> None:
    assert AgentSpec.parse(text) == AgentSpec(agent_id, params, name)
    assert AgentSpec.parse(AgentSpec.parse(text).to_dict()) == AgentSpec.parse(text)


def test_a_mapping_says_the_same() -> None:
    values = {"id": "external:./a.py", "name": "me", "time_per_move": 2, "device": "cpu"}
    spec = AgentSpec.parse(values)
    assert spec == AgentSpec("external", {"path": "./a.py"}, "me", 2, "cpu")
    assert spec.to_dict() == {
        "id": "external",
        "params": {"path": "./a.py"},
        "name": "me",
        "time_per_move": 2,
        "device": "cpu",
    }


def test_a_path_below_this_folder_is_kept_as_seen_from_it() -> None:
    inside = AgentSpec.parse(f"external:{os.getcwd()}/examples/a.py")
    assert inside == AgentSpec.parse("external:examples/a.py")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("random:somewhere", "agent 'random' takes no path: write 'random' alone"),
        ({"id": "random", "params": {"path": "x"}}, "agent 'random' takes no path"),
        ("randon:somewhere", "agent 'randon:somewhere' cannot be found"),
        ("a:b:c", "agent 'a:b:c' cannot be found"),
        ("json:loads", "'json:loads' is no agent: derive it from agents.base.Agent"),
        ("", "has no id"),
        ("name=", "has no id"),
        (3, "must be a name or a mapping"),
        ({"id": "random", "time_move": 3}, "key 'time_move': did you mean 'time_per_move'"),
        ({"id": "random", "time_per_move": "fast"}, "must be seconds above 0, not 'fast'"),
        ({"id": "random", "device": "gpu"}, "unknown device 'gpu'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(value: Any, message: str) -> None:
    with pytest.raises(MasqueradeError, match=message.replace("?", r"\?")) as caught:
        AgentSpec.parse(value).build(KUHN)
    assert "\n" not in str(caught.value)


def test_a_module_may_not_take_the_name_of_an_agent() -> None:
    assert all(":" not in agent_id and "=" not in agent_id for agent_id in AGENTS)


def test_make_agent_reads_paths_too() -> None:
    with pytest.raises(OptionError, match="takes no path"):
        make_agent("random:x", KUHN)
    with pytest.raises(UnknownNameError, match="no agent"):
        make_agent("json:loads", KUHN)
    assert make_agent("openspiel:uniform", KUHN).name == ""


def test_limits_of_a_tournament_are_for_those_who_have_none() -> None:
    values = {
        "game": {"id": "kuhn_v0"},
        "agents": ["random", {"id": "kuhn_rule", "time_per_move": 5, "device": "cpu"}],
        "time_per_move": 2,
        "device": "cuda",
    }
    first, second = TournamentSpec.parse(values).agents
    assert (first.time_per_move, first.device) == (2, "cuda")
    assert (second.time_per_move, second.device) == (5, "cpu")
    assert TournamentSpec.parse({**values, "time_per_move": None, "device": None}).agents[0] == (
        AgentSpec("random", name="random")
    )
