"""The one command of an installed Masquerade; what follows its first word is the door's.

usage: masquerade COMMAND ...

commands:
  masquerade train      train a player from a YAML file
  masquerade evaluate   who is better, and how sure are we: tournaments between agents
  masquerade play       play any game against any agent, in the browser or in a terminal

  masquerade COMMAND --help     what it takes
  masquerade --version
"""

from __future__ import annotations

import sys

from common.commands import answers_in_one_line, as_called, calling_from
from common.errors import OptionError, nearest
from common.imports import look_up
from masquerade import __version__

DOORS = {
    "train": "masquerade.doors.train:main",
    "evaluate": "masquerade.doors.evaluate:main",
    "play": "masquerade.doors.play:main",
}
"""The three files beside the packages, which lie in here, too: what is installed has no other
place for them that is not somebody else's, ``evaluate`` above all."""


@answers_in_one_line("masquerade")
def main(arguments: list[str] | None = None) -> int:
    """Open a door; bad input gets one line and exit code 2."""
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if command in ("-h", "--help"):
        print(__doc__)
    elif command == "--version":
        print(f"masquerade {__version__}")
    elif command not in DOORS:
        raise OptionError(f"unknown command '{command}': {nearest(command, DOORS)}")
    else:
        return _open(command, rest)
    return 0


def _open(command: str, rest: list[str]) -> int:
    before = sys.argv
    with calling_from("masquerade"):
        sys.argv = [as_called(f"{command}.py"), *rest]  # which is noted in what is written
        try:
            code: int = look_up("command", DOORS, command)(rest)
        finally:
            sys.argv = before
    return code


if __name__ == "__main__":
    sys.exit(main())
