"""An external player with a fault: ``planted_player.py FAULT ONE_IN MAX_ROWS``.

It plays the lowest or highest legal action by the seed, except in information sets whose key is a
multiple of ONE_IN, where it does as FAULT says.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from typing import Any

FAULT, ONE_IN, MAX_ROWS = "", 1, 1  # read from the command line below
HELLOS: dict[str, Any] = {
    "version 2": {"protocol": 2},
    "wants the moon": {"protocol": 1, "wants": ["observation", "moon"]},
    "wants too many rows": {"protocol": 1, "max_rows": 10**6},
    "wants everything": {
        "protocol": 1,
        "wants": ["observation", "tokens", "text", "words"],
        "max_rows": 64,
    },
    "hello is a list": [1],
}


def hang() -> None:
    """Never come back; the clock of the tests, ``held_clock``, hears of it."""
    while True:
        with contextlib.suppress(KeyError):
            name = f"{os.getpid()} {time.monotonic_ns()}"
            open(os.path.join(os.environ["MASQUERADE_TESTS_HANGING"], name), "w").close()
        time.sleep(0.05)


def say(message: Any) -> None:
    print(json.dumps(message), flush=True)


def hello() -> None:
    if FAULT == "garbled hello":
        print("Good morning!")
    elif FAULT == "exits at hello":
        sys.exit("no such model: brain.bin")
    elif FAULT == "hangs at hello":
        hang()
    else:
        say(HELLOS.get(FAULT, {"protocol": 1, "max_rows": MAX_ROWS}))


def choose(row: dict[str, Any]) -> int:
    return row["legal"][0 if row["seed"] % 2 else -1]


def act(number: int, rows: list[dict[str, Any]]) -> None:
    actions: list[Any] = [choose(row) for row in rows]
    bad = [i for i, row in enumerate(rows) if int(row["key"], 16) % ONE_IN == 0]
    if not bad:
        say({"id": number, "actions": actions})
    elif FAULT == "garbage":
        print("thinking...")
    elif FAULT == "exits":
        raise RuntimeError("out of cheese")
    elif FAULT == "hangs":
        hang()
    elif FAULT == "closes its output":
        os.close(1)
        hang()
    elif FAULT == "one short":
        say({"id": number, "actions": actions[1:]})
    elif FAULT == "another id":
        say({"id": number + 1, "actions": actions})
    elif FAULT == "twice":
        say({"id": number, "actions": actions})
        say({"id": number, "actions": actions})
    elif FAULT == "no actions":
        say({"id": number})
    elif FAULT == "halves":
        say({"id": number, "actions": [action + 0.5 for action in actions]})
    elif FAULT == "illegal":
        say({"id": number, "actions": [99 if i in bad else a for i, a in enumerate(actions)]})
    elif FAULT == "huge":
        say({"id": number, "actions": [10**30 if i in bad else a for i, a in enumerate(actions)]})
    elif FAULT == "endless line":
        while True:
            sys.stdout.write("x" * 65536)
    elif FAULT == "loud":
        sys.stderr.write("noise\n" * 100_000)
        say({"id": number, "actions": actions})
    else:
        say({"id": number, "actions": actions})


def main() -> None:
    if FAULT == "has a child":
        life = "import sys, time; pipe = open(sys.argv[1], 'w'); print('here', flush=True)"
        words = [sys.executable, "-c", f"{life}; time.sleep(1000)", sys.argv[4]]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert child.stdout is not None
        child.stdout.readline()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            hello()
        elif message["type"] == "act":
            act(message["id"], message["rows"])
        elif FAULT != "never leaves":
            return
    while FAULT == "never leaves":
        time.sleep(1000)


if __name__ == "__main__":
    FAULT, ONE_IN, MAX_ROWS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    main()
