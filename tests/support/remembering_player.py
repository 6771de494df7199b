"""A program that remembers what it held in a game of Kuhn poker, in itself and in a file.

python tests/support/remembering_player.py FILE [order | "one seat"]

With "one seat" it ends as soon as it sees games from a second seat.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

memory: dict[str, list[int]] = {}
num_games = 0
seats: set[int] = set()


def choose(row: dict[str, Any], file: Path) -> int:
    global num_games
    if "one seat" in sys.argv:
        seats.add(row["seat"])
        if len(seats) > 1:
            sys.exit(f"seen from seats {sorted(seats)}")
        return int(row["legal"][0])
    card = row["observation"][2:5].index(1.0)
    places = [row["game"]]
    if "order" in sys.argv and sum(row["observation"][5:]) <= 1:  # its first move in the game
        places.append(f"order {num_games}")
        num_games += 1
    for place in places:
        if place in memory:
            seat, other = memory[place]
            if seat != row["seat"] and other != card:
                return int(card > other)
        else:
            memory[place] = [row["seat"], card]
            with file.open("a") as notes:
                notes.write(json.dumps([place, memory[place]]) + "\n")
    return random.Random(row["seed"]).choice(row["legal"])  # noqa: S311


def main() -> None:
    file = Path(sys.argv[1])
    if file.exists():
        memory.update(dict(map(json.loads, file.open())))
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer: dict[str, Any] = {"protocol": 1, "max_rows": 64}
        elif message["type"] == "act":
            actions = [choose(row, file) for row in message["rows"]]
            answer = {"id": message["id"], "actions": actions}
        else:
            break
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
