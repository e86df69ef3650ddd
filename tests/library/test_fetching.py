"""Addresses: which are asked, where redirects end, and what is too much."""

from __future__ import annotations

from typing import Any

import pytest
from library.shelves import Page, Shelf, serving

from cellwright.errors import SetupError
from cellwright.knowledge.library import fetching
from cellwright.knowledge.library.fetching import check_address, fetch, is_address


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8000/a",
        "http://127.0.0.1/a",
        "https://[::1]/a",
        "https://Docs.example.com/",
    ],
)
def test_this_machine_and_allowed_hosts_may_be_asked(address: str) -> None:
    assert is_address(address)
    assert check_address(address, ("docs.example.COM",)).path


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://example.com/a", "'example.com' is not allowed"),
        ("http://127.0.0.1.example.com/", "not allowed"),
        ("http://10.0.0.1/", "not allowed"),
        ("http://localhost:port/", "cannot be read"),
        ("http://", "not allowed"),
        ("http://me:word@localhost/", "password"),
    ],
)
def test_other_addresses_may_not(address: str, words: str, shelf: Shelf) -> None:
    with pytest.raises(SetupError, match=words):
        check_address(address, ("docs.example.com",))
    with pytest.raises(SetupError):
        shelf.add(address)
    assert not is_address("docs/a.md")


def answers(pages: dict[str, Page]) -> Any:
    return lambda path, body: pages.get(path, Page(status=404))


def test_redirects_stay_where_they_began() -> None:
    with serving(lambda path, body: Page(b"elsewhere")) as other:
        pages = {
            "/here": Page(status=302, location="/there"),
            "/there": Page(b"words", "text/plain"),
            "/away": Page(status=302, location=f"{other.url}/x"),
        }
        with serving(answers(pages)) as served:
            assert fetch(f"{served.url}/here").data == b"words"
            with pytest.raises(SetupError, match="sends on to '127.0.0.1'"):
                fetch(f"{served.url}/away")
        assert other.asked == []


def test_what_is_no_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answers({"/large": Page(b"x" * 300_000)})) as served:
        with pytest.raises(SetupError, match="answered 404"):
            fetch(f"{served.url}/nothing")
        monkeypatch.setattr(fetching, "SIZE_LIMIT_BYTES", 200_000)
        with pytest.raises(SetupError, match="more than 10 MB"):
            fetch(f"{served.url}/large")
        monkeypatch.setattr(fetching, "SIZE_LIMIT_BYTES", 1_000_000)
        monkeypatch.setattr(fetching, "DEADLINE_SECONDS", -1.0)
        with pytest.raises(SetupError, match="within 30 s"):
            fetch(f"{served.url}/large")
    with pytest.raises(SetupError, match="did not answer"):
        fetch(f"{served.url}/gone", wait_seconds=1.0)


def test_a_page_is_read_by_what_the_server_says_it_is(shelf: Shelf) -> None:
    pages = {
        "/a": Page(b"<h1>Title</h1><p>zebra words</p>", "text/html; charset=utf-8"),
        "/b.md": Page(b"# Head\nokapi words", "text/plain"),
        "/c": Page(b"\x89PNG", "image/png"),
    }
    with serving(answers(pages)) as served:
        shelf.add(*(f"{served.url}{path}" for path in pages))
        found = {name.rpartition("/")[2]: each for name, each in shelf.documents().items()}
        assert {name: each.kind for name, each in found.items()} == {
            "a": "html",
            "b.md": "text",
            "c": "",
        }
        assert "cannot be read" in found["c"].problem
        assert shelf.search("okapi")[0].heading.endswith("Head")
