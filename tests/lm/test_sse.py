"""Server-sent events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.llm.connection import SSEDecoder


def decoded(*pieces: bytes) -> list[str]:
    decoder = SSEDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.end()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b": comment\nevent: message\nid: 1\nretry: 5\ndata: a\n\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b'{"error": 1}\n\n', ['{"error": 1}']),
        (b'{\n  "error": {\n\t"a": 1\n  }\n}\n', ['{\n  "error": {\n\t"a": 1\n  }\n}']),
        (b'[{\n"a": 1\n}\n]\n', ['[{\n"a": 1\n}\n]']),
        (b' ignored\n"also"\n\n', []),
        (b"data: last", ["last"]),
        (b"data: last\r", ["last"]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_events_are_found_in_every_spelling(stream: bytes, events: list[str]) -> None:
    assert decoded(stream) == events


@given(st.lists(st.text(alphabet='a é🌍{"', min_size=1), max_size=4), st.integers(1, 7))
def test_events_do_not_depend_on_how_the_bytes_are_cut(words: list[str], size: int) -> None:
    stream = "".join(f"data: {word}\r\n\r\n" for word in words).encode()
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert decoded(*pieces) == words


def test_bytes_that_are_not_utf8_are_an_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        decoded(b"data: \xff\n\n")
