"""Frames as text: what is understood, and what is said of what is not."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from cellwright.server import frames
from cellwright.server.frames import FrameError, format_frame, parse_frame

HELLO = {"type": "hello", "protocol": 1, "version": "1.0", "tab": "t", "nonce": "n"}
ASK = {
    "type": "ask",
    "request": "r",
    "chat": "c",
    "prompt": "p",
    "mode": "ask",
    "model": "",
    "context": [{"kind": "cell", "cell_id": "x", "text": "y"}],
    "notebook": "n",
    "instead": False,
}


def wrong(frame: Any) -> FrameError:
    with pytest.raises(FrameError) as error:
        parse_frame(frame if isinstance(frame, str) else json.dumps(frame))
    return error.value


def test_a_frame_becomes_a_value() -> None:
    assert parse_frame(json.dumps(HELLO)) == frames.Hello(1, "1.0", "t", "n")
    asked = parse_frame(json.dumps(ASK))
    assert asked == frames.Ask(
        "r", "c", "p", "ask", "", (frames.ContextItem("cell", cell_id="x", text="y"),), "n"
    )


def test_what_a_newer_page_adds_is_left_out() -> None:
    assert parse_frame(json.dumps({**HELLO, "colour": "red"})) == frames.Hello(1, "1.0", "t", "n")


def test_null_is_nothing_where_nothing_is_allowed() -> None:
    assert parse_frame('{"type":"follow","chat":"c","after":null}') == frames.Follow("c", None)
    followed = parse_frame('{"type":"follow","chat":"c","after":{"run":"r","sequence":3}}')
    assert followed == frames.Follow("c", frames.EventPlace("r", 3))


def test_whole_numbers_are_numbers() -> None:
    assert parse_frame('{"type":"extend","chat":"c","seconds":60}') == frames.Extend("c", 60.0)


def test_cells_come_as_the_file_format_has_them() -> None:
    cell = {"id": "a", "cell_type": "code", "source": "1", "metadata": {}, "outputs": [{"a": 1}]}
    frame = {"type": "reply", "request": "r", "ok": True, "reason": "", "cells": [cell]}
    assert parse_frame(json.dumps(frame)) == frames.ReplyFrame(
        "r", True, "", (frames.WireCell("a", "code", "1", {}, ({"a": 1},)),)
    )


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "3", "null", "[" * 100_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    assert wrong(text).code == "bad_frame"


@pytest.mark.parametrize("kind", [None, "welcome", "nothing", 3, ["hello"], {}])
def test_an_unknown_type_is_named(kind: Any) -> None:
    error = wrong({"type": kind, "chat": "c", "request": "r"})
    assert error.code == "unknown_frame"
    assert (error.frame.chat, error.frame.request) == ("c", "r")
    assert repr(kind) in error.frame.message


def test_everything_that_is_wrong_is_said_at_once() -> None:
    error = wrong({**ASK, "prompt": 3, "mode": "yolo", "context": [{"kind": "cell", "text": 1}, 2]})
    for name in ("'prompt'", "'mode'", "'context[0].text'", "'context[1]'"):
        assert name in str(error)
    assert "plan, ask, edits, auto" in str(error)


def test_what_is_missing_is_named() -> None:
    without = {name: value for name, value in HELLO.items() if name != "nonce"}
    assert "'nonce' is missing" in str(wrong(without))


@pytest.mark.parametrize("value", [1, "true", None])
def test_truth_is_not_guessed(value: Any) -> None:
    assert "'instead' must be true or false" in str(wrong({**ASK, "instead": value}))


@pytest.mark.parametrize("value", [True, 1.5, "1"])
def test_a_protocol_is_a_whole_number(value: Any) -> None:
    assert "'protocol' must be a whole number" in str(wrong({**HELLO, "protocol": value}))


def test_a_long_value_is_cut_in_the_complaint() -> None:
    assert len(str(wrong({**ASK, "context": "x" * 100_000}))) < 300


def test_every_frame_of_a_tab_has_its_class() -> None:
    for name, frame_class in frames.CLIENT_FRAMES.items():
        kind = next(field for field in fields(frame_class) if field.name == "type")
        assert kind.default == name


def test_a_frame_to_the_tab_is_json_with_its_type() -> None:
    state = frames.ChatState("c", queue=(frames.QueuedPrompt("1", "later"),))
    plain = json.loads(format_frame(frames.ChatFrame(state)))
    assert plain["type"] == "chat"
    assert plain["state"]["queue"] == [{"id": "1", "prompt": "later"}]
    assert plain["state"]["input"] is None
