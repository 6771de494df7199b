"""Run a command while the machine is busy: ``python -m tests.support.busy TIMES COMMAND ...``.

Twice as many endless loops as there are cores, as priority and scheduler treat any other program.
It stops at the first run that fails and passes its exit code on; the loops end in any case.
"""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["main"]

# Reading ends with the process that holds the other end of the pipe, however that one ends.
LOOP = """
import os, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()
while True:
    pass
"""


def main(words: list[str]) -> int:
    """Run the command so many times; the exit code of the first run that failed, or 0."""
    times, *command = words
    loops = [
        subprocess.Popen([sys.executable, "-c", LOOP], stdin=subprocess.PIPE)
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        for number in range(1, int(times) + 1):
            code = subprocess.run(command, check=False).returncode
            result = f"failed with exit code {code}" if code else "passed"
            print(f"busy run {number} of {times} {result}", file=sys.stderr, flush=True)
            if code:
                return code
        return 0
    finally:
        for loop in loops:
            loop.kill()
            loop.communicate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
