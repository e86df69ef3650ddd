"""Errors in the many shapes they come in."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.llm.faults import Complaint, read_complaint


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            {"error": {"message": "Bad.", "type": "t", "code": 7, "param": "p"}},
            Complaint("Bad.", "t", "7", "p"),
        ),
        ('{"error": {"message": "Bad."}}', Complaint("Bad.")),
        ({"error": "Bad."}, Complaint("Bad.")),
        ({"detail": "Bad."}, Complaint("Bad.")),
        ({"message": "Bad.", "code": 400}, Complaint("Bad.", code="400")),
        ([{"error": {"message": "Bad."}}], Complaint("Bad.")),
        ({"oops": 1}, Complaint('{"oops": 1}')),
        (
            {"detail": [{"loc": ["body", "a"], "msg": "odd"}, {"msg": "too"}, "junk"]},
            Complaint("a: odd; : too", parameter="a"),
        ),
        ({"detail": [{"loc": ["body"]}]}, Complaint(": ")),
        ("plain text", Complaint("plain text")),
        ("<html><title>502\nBad Gateway</title></html>", Complaint("502 Bad Gateway")),
        ("<html><script>x</script><h1>Sorry</h1></html>", Complaint("Sorry")),
        ([], Complaint("")),
        (None, Complaint("")),
    ],
)
def test_the_words_are_found(body: Any, complaint: Complaint) -> None:
    assert read_complaint(body) == complaint


def test_long_complaints_are_cut() -> None:
    assert len(read_complaint("x" * 10_000).message) < 1_100


def test_all_words_can_be_searched_at_once() -> None:
    assert Complaint("Bad.", "TYPE", "Code").words == "bad. type code"
