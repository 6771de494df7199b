"""The Chromium of the system, for tests that look at the page as people do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partialmethod

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "browser tests of play were left out: no Chromium was found "
    "(Debian: apt-get install chromium; or name one in MASQUERADE_CHROMIUM)"
)


def find_chromium() -> str | None:
    """Where a Chromium is, or ``None``."""
    named = os.environ.get("MASQUERADE_CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def clicks_wait_for_nothing() -> Iterator[None]:
    """Clicks and keys do not wait for navigations that they may have begun.

    A busy browser may never say that there are none. Ours only change what follows the # of the
    address, and tests wait for what they want to see.
    """
    # Imported when needed: whoever runs tests without a browser may have no Playwright.
    from playwright.sync_api import Locator, Page

    with pytest.MonkeyPatch.context() as patch:
        for kind in (Page, Locator):
            for name in ("click", "press"):
                own = partialmethod(getattr(kind, name), no_wait_after=True)
                patch.setattr(kind, name, own)
        yield
