"""One cell's output: joined, bounded and handed on."""

from __future__ import annotations

import time
from typing import Any

from cellwright.kernels import CellRequest
from cellwright.kernels.capture import INTERVAL_SECONDS, Capture
from cellwright.record.events import CellOutput
from cellwright.record.outputs import (
    ClearOutput,
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    OutputMessage,
    StreamOutput,
)


def out(text: str) -> StreamOutput:
    return StreamOutput("stdout", text)


def update(text: str, display_id: str = "a") -> DisplayUpdate:
    return DisplayUpdate(display_id, {"text/plain": text})


def capture(limit: int = 1_000) -> Capture:
    return Capture(CellRequest("cell", "", output_limit_bytes=limit), lambda output: output)


def handed_on(captured: Capture) -> list[OutputMessage]:
    return [output.message for output in captured.take()]


def test_text_waits_for_more_and_goes_before_what_is_not_text() -> None:
    captured = capture()
    captured.add(out("a"))
    captured.add(out(""))
    captured.add(out("b"))
    assert handed_on(captured) == []
    captured.add(DisplayData({"text/plain": "x"}))
    assert handed_on(captured) == [out("ab"), DisplayData({"text/plain": "x"})]


def test_text_does_not_wait_long() -> None:
    captured = capture()
    assert captured.due_in_seconds is None
    captured.add(out("a"))
    assert captured.due_in_seconds is not None
    assert 0 < captured.due_in_seconds <= INTERVAL_SECONDS
    captured.flush()
    assert handed_on(captured) == []
    time.sleep(INTERVAL_SECONDS * 1.2)
    captured.flush()
    assert handed_on(captured) == [out("a")]
    captured.add(out("b"))
    time.sleep(INTERVAL_SECONDS * 1.2)
    captured.add(out("c"))
    assert handed_on(captured) == [out("bc")]


def test_two_streams_keep_their_order() -> None:
    captured = capture()
    for message in (out("a"), StreamOutput("stderr", "b"), out("c")):
        captured.add(message)
    captured.finish()
    assert handed_on(captured) == [out("a"), StreamOutput("stderr", "b"), out("c")]


def test_of_updates_that_come_together_the_last_one_counts() -> None:
    """K27."""
    captured = capture()
    for message in (update("1"), update("2"), update("x", "b"), update("3")):
        captured.add(message)
    captured.finish()
    assert handed_on(captured) == [update("2"), update("x", "b"), update("3")]


def test_past_the_limit_head_and_tail_are_kept_and_the_middle_is_counted() -> None:
    """K9."""
    captured = capture(100)
    for n in range(100):
        captured.add(out(f"{n:09}\n"))
        captured.add(ClearOutput(wait=True))
    captured.finish()
    messages = handed_on(captured)
    texts = [m.text for m in messages if isinstance(m, StreamOutput)]
    assert texts[:5] == [f"{n:09}\n" for n in range(5)]
    assert texts[-5:] == [f"{n:09}\n" for n in range(95, 100)]
    assert "900 characters of output are left out" in texts[5]
    assert not captured.overflowed
    captured.add(out("x"))
    captured.finish()
    assert captured.overflowed


def test_one_huge_text_is_cut_in_the_middle() -> None:
    captured = capture(100)
    captured.add(out("a" * 50 + "b" * 500 + "c" * 50))
    captured.finish()
    head, marker, tail = handed_on(captured)
    assert head == out("a" * 50)
    assert isinstance(marker, StreamOutput)
    assert "500 characters" in marker.text
    assert tail == out("c" * 50)


def test_a_display_that_is_too_big_is_left_out_and_counted() -> None:
    captured = capture(100)
    captured.add(out("a" * 40))
    captured.add(DisplayData({"application/json": list(range(100)), "image/png": "x" * 50}))
    captured.finish()
    head, marker = handed_on(captured)
    assert head == out("a" * 40)
    assert isinstance(marker, StreamOutput)
    assert "left out" in marker.text


def test_what_fits_nearly_is_not_dropped() -> None:
    captured = capture(100)
    captured.add(out("a" * 50))
    captured.add(out("b"))
    captured.finish()
    captured.add(out("c" * 20))
    captured.finish()
    assert handed_on(captured) == [out("a" * 50), out("b"), out("c" * 20)]


def test_a_huge_traceback_loses_its_middle_and_never_its_message() -> None:
    """K21."""
    captured = capture(10_000_000)
    frames = tuple(f"frame {n} " + "x" * 2_000 for n in range(100))
    captured.add(ErrorOutput("RecursionError", "too deep", frames))
    error = captured.error
    assert error is not None
    assert (error.ename, error.evalue) == ("RecursionError", "too deep")
    assert error.traceback[0].startswith("frame 0 ")
    assert error.traceback[-1].startswith("frame 99 ")
    assert error.traceback[6] == "[… 88 frames are left out …]"
    assert sum(map(len, error.traceback)) < 61_000


def test_one_huge_frame_is_cut_too() -> None:
    captured = capture(10_000_000)
    captured.add(ErrorOutput("ValueError", "v" * 100_000, ("start" + "x" * 100_000 + "end",)))
    error = captured.error
    assert error is not None
    assert error.traceback[0].startswith("start")
    assert error.traceback[0].endswith("end")
    assert "characters …]" in error.evalue


def test_a_sink_that_fails_is_remembered_and_not_called_again() -> None:
    calls: list[CellOutput] = []

    def failing(output: CellOutput) -> CellOutput:
        calls.append(output)
        raise OSError("disk full")

    captured = Capture(CellRequest("cell", ""), failing)
    captured.add(ErrorOutput("E", "v"))
    captured.add(ErrorOutput("E", "w"))
    assert isinstance(captured.failure, OSError)
    assert len(calls) == 1
    assert captured.take() == []


def test_what_the_sink_returns_is_handed_on() -> None:
    def redacting(output: CellOutput) -> CellOutput:
        message: Any = output.message
        return CellOutput(output.cell_id, out("***" if message.text else ""))

    captured = Capture(CellRequest("cell", ""), redacting)
    captured.add(out("key"))
    captured.finish()
    assert captured.take() == [CellOutput("cell", out("***"))]
