"""Spans of tool calls for OpenTelemetry; the run record has the same facts without it.

A span is sent only where the process has OpenTelemetry loaded and set up (``cellwright[otel]``):
nothing is imported for it. The names are those of the GenAI conventions, with OpenInference's
beside them; one table says which.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cellwright.record.content import Content, Metrics, for_model
from cellwright.record.content_streams import ContentRedactor
from cellwright.record.messages import TextPart
from cellwright.record.usage import ModelUsage
from cellwright.text.redaction import Redactor

CONVENTIONS_VERSION = "1.41"
"""Of OpenTelemetry's semantic conventions for generative AI, which the table below follows."""
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "operation": ("gen_ai.operation.name",),
    "span_kind": ("openinference.span.kind",),
    "name": ("gen_ai.tool.name", "tool.name"),
    "type": ("gen_ai.tool.type",),
    "version": ("cellwright.tool.version",),
    "call_id": ("gen_ai.tool.call.id",),
    "run_id": ("cellwright.run.id",),
    "chat_id": ("gen_ai.conversation.id", "session.id"),
    "arguments": ("gen_ai.tool.call.arguments", "input.value"),
    "result": ("gen_ai.tool.call.result", "output.value"),
    "prompt_tokens": ("gen_ai.usage.input_tokens", "llm.token_count.prompt"),
    "completion_tokens": ("gen_ai.usage.output_tokens", "llm.token_count.completion"),
    "total_tokens": ("llm.token_count.total",),
    "first_output": ("cellwright.tool.first_output_seconds",),
    "error": ("error.type",),
    "status": ("cellwright.tool.status",),
}
VALUE_CHARACTERS = 4_000
STREAM_ITEM = "tool.output"


@dataclass(frozen=True)
class TracedCall:
    """What a span begins with."""

    name: str
    version: str
    arguments: Mapping[str, Any]
    call_id: str = ""
    run_id: str = ""
    chat_id: str = ""


class Span:
    """One call, told to OpenTelemetry; does nothing where there is none.

    Args:
        span: OpenTelemetry's span, or None.
        redactor: Takes secrets out of what it tells.
    """

    def __init__(self, span: Any = None, redactor: Redactor | None = None) -> None:
        self._span = span
        self._said: list[str] = []
        self._redactor = redactor or Redactor({})
        self._contents = ContentRedactor(self._redactor)

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """The span is the current one inside the block, and never across a ``yield``."""
        if self._span is None:
            yield
            return
        trace = sys.modules["opentelemetry.trace"]
        with trace.use_span(self._span, end_on_exit=False, record_exception=False):
            yield

    def say(self, contents: tuple[Content, ...]) -> None:
        """Something was yielded; the end of a text waits while more could make a secret of it."""
        if self._span is None:
            return
        meant = [replace(item, raw_data={}, usage=(), metrics=None) for item in contents]
        shown = [clean for item in meant if (clean := self._contents.feed(item)) is not None]
        if shown or not contents:
            self._tell(shown)

    def end(
        self, status: str, metrics: Metrics, usage: tuple[ModelUsage, ...], error: str = ""
    ) -> None:
        """The call is over, however it ended."""
        if self._span is None:
            return
        held = list(self._contents.flush())
        if held:
            self._tell(held)
        prompt = sum(item.usage.prompt_tokens for item in usage)
        completion = sum(item.usage.completion_tokens for item in usage)
        self._set(result="\n".join(self._said)[:VALUE_CHARACTERS], status=status)
        if usage:
            total = prompt + completion
            self._set(prompt_tokens=prompt, completion_tokens=completion, total_tokens=total)
        if metrics.first_output_seconds is not None:
            self._set(first_output=metrics.first_output_seconds)
        if error:
            trace = sys.modules["opentelemetry.trace"]
            self._set(error=error)
            self._span.set_status(trace.StatusCode.ERROR, error)
        self._span.end()

    def begin(self, call: TracedCall) -> None:
        """Say what is called."""
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
        self._set(
            operation="execute_tool",
            span_kind="TOOL",
            type="function",
            name=call.name,
            version=call.version,
            call_id=call.call_id,
            run_id=call.run_id,
            chat_id=call.chat_id,
            arguments=self._clean(arguments),
        )

    def _tell(self, contents: list[Content]) -> None:
        parts = for_model(tuple(contents), sees_images=False)
        words = "\n".join(part.text for part in parts if isinstance(part, TextPart))
        self._said.append(words[:VALUE_CHARACTERS])
        self._span.add_event(STREAM_ITEM, {"output.value": words[:VALUE_CHARACTERS]})

    def _set(self, **facts: Any) -> None:
        for fact, value in facts.items():
            for name in ATTRIBUTES[fact] if value != "" else ():
                self._span.set_attribute(name, value)

    def _clean(self, text: str) -> str:
        return self._redactor.text(text)[:VALUE_CHARACTERS]


def trace_headers() -> dict[str, str]:
    """The current span as W3C's ``traceparent``; empty where there is none.

    A tool that asks another service hands it on (requirements 000-15).
    """
    trace = sys.modules.get("opentelemetry.trace")
    context = trace.get_current_span().get_span_context() if trace is not None else None
    if context is None or not context.is_valid:
        return {}
    ids = f"{context.trace_id:032x}-{context.span_id:016x}"
    return {"traceparent": f"00-{ids}-{int(context.trace_flags):02x}"}


def start_span(call: TracedCall) -> Span:
    """A span for a call, under the one that is current here."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return Span()
    tracer = trace.get_tracer("cellwright", schema_url=_schema_url())
    redactor = Redactor.from_environment(os.environ)
    span = Span(tracer.start_span(f"execute_tool {call.name}"), redactor)
    span.begin(call)
    return span


def _schema_url() -> str:
    return f"https://opentelemetry.io/schemas/{CONVENTIONS_VERSION}.0"
