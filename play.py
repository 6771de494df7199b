"""Play any game against any agent, in the browser or in a terminal.

python play.py                                        # the page, with every game
python play.py liars_dice_v0 --against liars_dice_rule --seat 1
python play.py leduc_v0 --watch leduc_rule random     # agents among themselves
python play.py --terminal kuhn_v0                     # without a browser
"""

from __future__ import annotations

import sys

from play.command_line import main

if __name__ == "__main__":
    sys.exit(main())
