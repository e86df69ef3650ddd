"""What journeys borrow from the tests of one part."""

from __future__ import annotations

from browser.conftest import (
    browser,
    contexts,
    lab_without_key,
    lone_page,
    own_page,
    page,
    script,
    scripted_server,
    shared_page,
)

__all__ = [
    "browser",
    "contexts",
    "lab_without_key",
    "lone_page",
    "own_page",
    "page",
    "script",
    "scripted_server",
    "shared_page",
]
