"""What the panel is told about the wire is what the server says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from event_strategies import events, values_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from wire_schema import PREFIX, SENT

from cellwright.record.events import Event
from cellwright.record.run_record import RecordedEvent
from cellwright.server.frames import ServerFrame, format_frame, parse_frame
from cellwright.server.wire_events import events_frame, wire_event

WRITER = Path(__file__).parent / "wire_schema.py"
DOCUMENT = WRITER.parent.parent / "js" / "wire" / "openapi.json"


@cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return found


@cache
def validator(name: str) -> jsonschema.protocols.Validator:
    return jsonschema.Draft202012Validator({**document(), "$ref": PREFIX + name})


def test_the_panel_is_told_what_the_server_says_now() -> None:
    # in a process of its own: it changes how pydantic describes our classes
    made = subprocess.run([sys.executable, WRITER], capture_output=True, check=True)
    assert DOCUMENT.read_bytes() == made.stdout, "run: make wire"


@settings(deadline=None, max_examples=30)
@given(event=events)
def test_events_go_over_the_wire_as_they_are_described(event: Event) -> None:
    text = events_frame("c", "r", [wire_event(RecordedEvent("r", 1, 2.0, event))])
    validator("EventsFrame").validate(json.loads(text))


@settings(deadline=None, max_examples=30)
@given(frame=values_of(ServerFrame))
def test_frames_go_over_the_wire_as_they_are_described(frame: ServerFrame) -> None:
    validator("ServerFrame").validate(json.loads(format_frame(frame)))


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_server_reads_every_frame_that_the_description_allows(data: st.DataObject) -> None:
    """Those, too, in which all that has a default is left out."""
    frame = data.draw(values_of(SENT["ClientFrame"]))
    # Longer whole numbers than 64 bits are refused; no page sends one.
    assume(not re.search(r"\d{19}", format_frame(frame)))
    sent = json.loads(format_frame(frame))
    schema = document()["components"]["schemas"][type(frame).__name__]
    needed = {*schema.get("required", ()), "type"}
    short = {name: value for name, value in sent.items() if name in needed}
    validator("ClientFrame").validate(short)
    assert _facts(parse_frame(json.dumps(sent))) == _facts(frame)
    assert _facts(parse_frame(json.dumps(short)))["type"] == frame.type


def _facts(frame: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(format_frame(frame))
    return found
