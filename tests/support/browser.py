"""The Chromium of the system, for tests that look at the page as people do."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "browser tests of play were left out: no Chromium was found "
    "(Debian: apt-get install chromium; or name one in MASQUERADE_CHROMIUM)"
)


def find_chromium() -> str | None:
    """Where a Chromium is, or ``None``."""
    named = os.environ.get("MASQUERADE_CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)
