"""The smallest right content of files and messages, to be spoilt in every way."""

from __future__ import annotations

from typing import Any

RUN = {
    "game": {"id": "kuhn_v0"},
    "agent": {"id": "q_learning"},
    "train": {"steps": 10},
    "eval": {"games": 2, "opponents": ["random"], "exploitability": False},
    "log": {"tensorboard": False},
}
POPULATION = {
    "game": {"id": "kuhn_v0"},
    "population": {
        "groups": [{"name": "a", "size": 2, "agent": {"id": "q_learning"}, "steps": 10}],
        **{"sessions": 1, "measure_games": 4, "final_games": 4, "checkpoints": 1},
    },
}
SELECTION = {
    "game": {"id": "kuhn_v0"},
    "selection": {
        "candidates": {"a": ["*"], "b": ["*"]},
        "agent": {"id": "dqn", "params": {"hidden": 8, "learn_start": 8, "num_envs": 2}},
        **{"rounds": 1, "networks": 1, "steps": 20, "measure_games": 20},
    },
}
RIGHT: dict[str, Any] = {
    **{"table": "t", "game": "kuhn_v0", "seat": 0, "turn": 0, "action": 0, "step": 0},
    **{"number": 0, "layout": "narrow"},
    **{"agent": "random", "name": "x", "text": "{}"},
}
TABLE: dict[str, Any] = {
    **{"version": 1, "game": "kuhn_v0", "options": {}, "seed": 1, "number": 0, "decisions": []},
    **{"fault": None, "has_taken_back": False, "title": "t", "pace": 1, "is_paused": False},
    **{"results": [], "kept": "", "is_counted": False},
    "seats": [{"name": "a", "agent": "", "params": {}, "key": "", "invite": ""}] * 2,
}
HAND = {
    "variant": "'NT'",
    "antes": "[0, 0]",
    "blinds_or_straddles": "[1, 2]",
    "min_bet": "2",
    "starting_stacks": "[200, 200]",
    "actions": "['d dh p1 AhKh', 'd dh p2 2c3c', 'p2 f']",
    "players": "['a', 'b']",
}
