"""Play any game against any agent, in the browser or in a terminal.

python play.py                                        # the page, with every game
python play.py liars_dice_v0 --against liars_dice_rule --seat 1
python play.py leduc_v0 --watch leduc_rule random     # agents among themselves
python play.py --terminal kuhn_v0                     # without a browser
"""

from __future__ import annotations

import os
import sys

from envs.core.errors import MasqueradeError
from play.door import parse_arguments, run

if __name__ == "__main__":
    try:
        sys.exit(run(parse_arguments()))
    except MasqueradeError as error:
        print(f"play.py: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader has seen enough, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)
