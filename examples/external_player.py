#!/usr/bin/env python3
"""A player in a process of its own: random legal moves, nothing but the standard library.

python evaluate.py tournament kuhn_v0 random external:examples/external_player.py

The protocol is in docs/external_players.md. Replace ``choose`` by something better.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any


def choose(row: dict[str, Any]) -> int:
    """Pick an action; the row's seed makes the choice repeatable."""
    return random.Random(row["seed"]).choice(row["legal"])  # noqa: S311


def main() -> None:
    """Answer every line that wants an answer, until there are no more."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"protocol": 1, "name": "random legal moves", "max_rows": 64}
        elif message["type"] == "act":
            answer = {"id": message["id"], "actions": [choose(row) for row in message["rows"]]}
        else:
            break  # goodbye
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
