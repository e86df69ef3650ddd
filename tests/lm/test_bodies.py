"""Bodies as chunks."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.errors import LMError, LMServerError, LMStreamError
from cellwright.llm.connection import BodyReader
from cellwright.llm.faults import Endpoint

ENDPOINT = Endpoint("http://models.example/v1", "big")
REPLY = b'{"choices": []}'


def chunks_of(content_type: str, *pieces: bytes) -> list[Any]:
    reader = BodyReader(content_type, ENDPOINT)
    found = [chunk for piece in pieces for chunk in reader.feed(piece)]
    return found + reader.end()


@pytest.mark.parametrize(
    "content_type", ["text/event-stream", "Text/Event-Stream; charset=utf-8", "", "text/plain"]
)
def test_an_event_stream_is_known_by_its_type_or_its_first_bytes(content_type: str) -> None:
    stream = (b"data: " + REPLY + b"\n\n", b"data: [DONE]\n\n")
    assert chunks_of(content_type, *stream) == [{"choices": []}]


@pytest.mark.parametrize("start", [b": ping\n\n", b"\n\n", b" "])
def test_a_stream_may_begin_with_comments_and_blank_lines(start: bytes) -> None:
    assert chunks_of("text/event-stream", start, b"\ndata: " + REPLY + b"\n\n") == [{"choices": []}]


@pytest.mark.parametrize("content_type", ["application/json", "", "text/plain"])
def test_one_object_is_a_whole_reply(content_type: str) -> None:
    reader = BodyReader(content_type, ENDPOINT)
    assert reader.feed(REPLY[:5]) == reader.feed(REPLY[5:]) == []
    assert reader.end() == [{"choices": []}]
    assert reader.done


def test_nothing_after_the_end_is_read() -> None:
    stream = b"data: [DONE]\n\ndata: junk\n\ndata: \n\n"
    assert chunks_of("text/event-stream", stream) == []


def test_an_empty_body_has_no_chunks() -> None:
    assert chunks_of("text/event-stream") == chunks_of("application/json", b" ") == []


@pytest.mark.parametrize(
    ("content_type", "body", "words"),
    [
        ("text/html", b"<html><title>Sign in</title></html>", r"got HTML \(Sign in\)"),
        ("text/plain", b"<!doctype html>", "got HTML"),
        ("text/html", b"Sign in", r"got HTML \(Sign in\)"),
        ("text/html", b"<html></html>", "got HTML[.]"),
        ("application/json", b'{"choices": ', "not JSON"),
        ("application/json", b'"choices"', "sent 'choices' as a reply"),
        ("application/json", b'{"choices": "\xff"}', "not UTF-8"),
        ("text/event-stream", b"data: \xff\n\n", "not UTF-8"),
        ("text/event-stream", b"data: [1, 2]\n\n", r"sent \[1, 2\] as a reply"),
    ],
)
def test_what_is_no_reply_is_told(content_type: str, body: bytes, words: str) -> None:
    with pytest.raises(LMStreamError, match=words):
        chunks_of(content_type, body)


@pytest.mark.parametrize("body", [b'{"error": {"message": "Bad."}}', b'[{"error": "Bad."}]'])
def test_an_error_is_raised(body: bytes) -> None:
    with pytest.raises(LMServerError, match="Bad") as caught:
        chunks_of("application/json", body)
    assert isinstance(caught.value, LMError)


@pytest.mark.parametrize(
    ("content_type", "start"),
    [
        ("text/html", b"<html>"),
        ("application/json", b'{"a": "'),
        ("text/event-stream", b'data: {"a": "'),
        ("text/event-stream", b"data: a\ndata: "),
        ("text/plain", b" "),
    ],
)
def test_a_body_that_does_not_end_is_given_up(content_type: str, start: bytes) -> None:
    reader = BodyReader(content_type, ENDPOINT)
    reader.feed(start)
    much = (b" " if start == b" " else b"x") * 2**25
    for _ in range(2):
        reader.feed(much)
    with pytest.raises(LMStreamError, match="models.example:80 sent 64 MB") as caught:
        reader.feed(much)
    assert not caught.value.retryable


def test_a_long_stream_of_whole_events_is_no_such_body() -> None:
    reader = BodyReader("text/event-stream", ENDPOINT)
    event = b'data: {"choices": [], "padding": "' + b"x" * 2**24 + b'"}\n\n'
    assert sum(len(reader.feed(event)) for _ in range(5)) == 5
