"""``python -m experiments NAME`` repeats a publication; ``--list`` says which there are."""

import sys

from experiments.runner import main

if __name__ == "__main__":
    sys.exit(main())
