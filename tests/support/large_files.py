"""A pre-commit hook: name every file over 1 MB and exit 1 if there is one."""

import sys
from pathlib import Path

LIMIT = 1_000_000

if __name__ == "__main__":
    large = [name for name in sys.argv[1:] if Path(name).stat().st_size > LIMIT]
    for name in large:
        print(f"{name} is over 1 MB: keep it in runs/")
    sys.exit(bool(large))
