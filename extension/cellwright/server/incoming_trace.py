"""The trace that a request comes with goes on here (W3C trace context, requirements 000-15).

Nothing is imported for it: where the process has OpenTelemetry not set up, tracing is off and the
header is not looked at.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from cellwright.tools.tracing import trace_headers

TRACE_HEADER = "traceparent"
PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


@contextlib.contextmanager
def joined_trace(name: str, header: str) -> Iterator[None]:
    """A span for what was asked over HTTP, below the caller's where they sent one.

    Args:
        name: What the span is called.
        header: The caller's ``traceparent``; what is none begins a trace of our own.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield
        return
    parent = _remote(trace, header)
    above = None if parent is None else trace.set_span_in_context(parent)
    span = trace.get_tracer("cellwright").start_span(name, above)
    if parent is not None and span.get_span_context() == parent.get_span_context():
        # Nobody makes spans here: the caller's own came back, which is not to be handed on.
        yield
        return
    with trace.use_span(span, end_on_exit=True):
        yield


def trace_id() -> str:
    """The id of the trace that goes on here; empty while tracing is off."""
    header = trace_headers().get(TRACE_HEADER, "")
    return header.split("-")[1] if header else ""


def _remote(trace: Any, header: str) -> Any:
    """The span that the header names; None where it names none."""
    match = PARENT.fullmatch(header.strip())
    if match is None:
        return None
    trace_number, span_number, flags = (int(part, 16) for part in match.groups())
    if not trace_number or not span_number:
        return None
    place = trace.SpanContext(
        trace_number, span_number, is_remote=True, trace_flags=trace.TraceFlags(flags)
    )
    return trace.NonRecordingSpan(place)
