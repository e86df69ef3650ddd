"""What the page about the server must name: every route, every setting, every code."""

from __future__ import annotations

import re
from pathlib import Path

from cellwright.server.configuration import Cellwright
from cellwright.server.openapi_routes import operations
from cellwright.server.table import load_all_routes

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reference" / "server.md").read_text(encoding="utf-8")


def calls() -> list[str]:
    """Every method of every route as people write it: what is an id is ``{id}``."""
    rest = [
        re.sub(r"{\w+_id}", "{id}", operation.key) for operation in operations(load_all_routes())
    ]
    return [*rest, "GET socket"]


def test_every_route_is_described_and_none_that_is_not_there() -> None:
    named = re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(calls())


def test_every_setting_is_described_and_none_that_is_not_there() -> None:
    named = re.findall(r"^\| `c\.Cellwright\.(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(Cellwright.class_own_traits(config=True))


# by its name, as a default, or as the fourth argument of a refusal
CODES = (
    r'\bcode(?:: str )? ?= ?"(\w+)"',
    r'Refusal\([^()]*(?:\([^()]*\)[^()]*)*, "([a-z]+(?:_[a-z]+)*)"\)',
)


def test_every_code_of_a_refusal_is_described() -> None:
    files = (ROOT / "extension" / "cellwright" / "server").glob("*.py")
    sources = [text for path in files if "Refusal(" in (text := path.read_text("utf-8"))]
    codes = {code for text in sources for words in CODES for code in re.findall(words, text)}
    assert "running" in codes
    assert sorted(code for code in codes if f"`{code}`" not in PAGE) == []
