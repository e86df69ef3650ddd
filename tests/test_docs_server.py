"""What the page about the server must name: every route, every setting, every code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cellwright.server.configuration import Cellwright
from cellwright.server.table import ROUTES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
METHODS = ("get", "post", "put", "patch", "delete")
PLACEHOLDERS = ("{id}", "{name}")


def written(path: str) -> str:
    """A route's pattern as people write it: its groups are ``{id}``, then ``{name}``."""
    names = iter(PLACEHOLDERS)
    return re.sub(r"\([^)]*\)", lambda _: next(names), path)


def calls() -> list[str]:
    return [
        f"{method.upper()} {written(path)}"
        for path, handler in ROUTES
        for method in METHODS
        if any(
            method in cls.__dict__
            for cls in handler.__mro__
            if cls.__module__.startswith("cellwright.")
        )
    ]


@pytest.mark.parametrize("call", calls())
def test_every_route_is_described(call: str) -> None:
    assert f"| `{call}` |" in PAGE


def test_no_route_is_described_that_is_not_there() -> None:
    named = re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(calls())


@pytest.mark.parametrize("name", Cellwright.class_own_traits(config=True))
def test_every_setting_is_described(name: str) -> None:
    assert f"| `c.Cellwright.{name}` |" in PAGE


def test_no_setting_is_described_that_is_not_there() -> None:
    named = re.findall(r"^\| `c\.Cellwright\.(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(Cellwright.class_own_traits(config=True))


def test_every_code_of_a_refusal_is_described() -> None:
    source = "".join(
        path.read_text("utf-8")
        for path in (ROOT / "extension" / "cellwright" / "server").glob("*route*.py")
    )
    codes = set(re.findall(r'code="(\w+)"', source)) | {"running"}
    assert sorted(code for code in codes if f"`{code}`" not in PAGE) == []
