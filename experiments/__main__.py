"""``python -m experiments NAME`` repeats a publication; ``--list`` says which there are."""

import sys

from experiments.runner import main

sys.exit(main())
