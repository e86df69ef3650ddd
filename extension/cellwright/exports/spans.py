"""Samples as OpenTelemetry spans: a file of OTLP's JSON, one line a sample.

A sample is a trace: the agent's work is the first span, under it a span for each reply of the model
and each tool call, and an event for each score. A collector's ``otlpjsonfile`` receiver reads such
files. The whole record is an attribute of the first span, so that nothing is lost.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports.sample import ReplyGiven, SampleRecord, Score, ToolCalled, trimmed
from cellwright.record.values import safe_text
from cellwright.tools.evaluation import ATTRIBUTES, CONVENTIONS_VERSION

# Names of attributes in spans of whole runs: the table of tool calls, and what models add to it.
#
# There is one version for both (``CONVENTIONS_VERSION``); a fact without a name in the conventions
# is under ``cellwright.``.


ATTRIBUTE_NAMES: Mapping[str, tuple[str, ...]] = {
    **ATTRIBUTES,
    "agent": ("gen_ai.agent.name",),
    "asked_model": ("gen_ai.request.model", "llm.model_name"),
    "replied_model": ("gen_ai.response.model",),
    "temperature": ("gen_ai.request.temperature",),
    "max_output_tokens": ("gen_ai.request.max_tokens",),
    "finish_reasons": ("gen_ai.response.finish_reasons",),
    "cached_tokens": ("gen_ai.usage.cache_read.input_tokens",),
    "cost_dollars": ("cellwright.cost_dollars",),
    "attempts": ("cellwright.attempts",),
    "said": ("gen_ai.output.messages",),
    "asked": ("gen_ai.input.messages",),
    "score_name": ("gen_ai.evaluation.name",),
    "score_value": ("gen_ai.evaluation.score.value",),
    "score_label": ("gen_ai.evaluation.score.label",),
    "score_explanation": ("gen_ai.evaluation.explanation",),
    "suite": ("cellwright.suite",),
    "sample_id": ("cellwright.sample.id",),
    "sample_status": ("cellwright.sample.status",),
    "sample": ("cellwright.sample",),
}


def attributes(**facts: Any) -> list[dict[str, Any]]:
    """Facts as OTLP's JSON has attributes; what is None or empty is left out."""
    return [
        {"key": name, "value": _value(value)}
        for fact, value in facts.items()
        if value not in (None, "")
        for name in ATTRIBUTE_NAMES[fact]
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        # Whole numbers are text there: JSON readers keep 53 bits.
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


JSON = dict[str, Any]
SPAN_KIND_INTERNAL, SPAN_KIND_CLIENT = 1, 3
STATUS_UNSET, STATUS_ERROR = 0, 2
SCORED = "gen_ai.evaluation.result"
RECORD = "cellwright.sample"


def write(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    """Write a line a sample; the path."""
    with path.open("w", encoding="utf-8") as file:
        for sample in samples:
            file.write(safe_text(json.dumps(trace_of(sample), ensure_ascii=False)) + "\n")
    return (path,)


def read(path: Path) -> Iterator[SampleRecord]:
    """The samples of a file that ``write`` made.

    Raises:
        SetupError: A line holds no record of ours.
    """
    for number, text in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if text:
            yield _sample_in(json.loads(text), f"Line {number} of {str(path)!r}")


def trace_of(sample: SampleRecord) -> JSON:
    """The spans of one sample, as OTLP's ``TracesData``."""
    scope = {"name": "cellwright", "version": str(sample.env.get("version", ""))}
    spans = {
        "scope": scope,
        "spans": list(_spans(sample)),
        "schemaUrl": f"https://opentelemetry.io/schemas/{CONVENTIONS_VERSION}.0",
    }
    name = {"key": "service.name", "value": {"stringValue": "cellwright"}}
    return {"resourceSpans": [{"resource": {"attributes": [name]}, "scopeSpans": [spans]}]}


def _sample_in(trace: Mapping[str, Any], where: str) -> SampleRecord:
    for resource in trace.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                for attribute in span.get("attributes", ()):
                    if attribute["key"] == RECORD:
                        return SampleRecord.from_dict(json.loads(attribute["value"]["stringValue"]))
    raise SetupError(f"{where} has no span with {RECORD!r}.", hint="It was not written by us.")


def _spans(sample: SampleRecord) -> Iterator[JSON]:
    trace, root = _digits(32, sample.run_id, sample.id), _digits(16, sample.run_id, sample.id)
    yield _root(sample, trace, root)
    for number, event in enumerate(sample.events):
        own = {"traceId": trace, "spanId": _digits(16, root, str(number)), "parentSpanId": root}
        if isinstance(event, ReplyGiven):
            yield {**own, **_reply(sample, event)}
        elif isinstance(event, ToolCalled):
            yield {**own, **_call(sample, event)}


def _root(sample: SampleRecord, trace: str, root: str) -> JSON:
    usage = sample.usage
    return {
        "traceId": trace,
        "spanId": root,
        "name": f"invoke_agent {sample.agent or 'cellwright'}",
        "kind": SPAN_KIND_INTERNAL,
        **_times(sample, 0.0, sample.time.seconds),
        "attributes": attributes(
            operation="invoke_agent",
            span_kind="AGENT",
            agent=sample.agent or "cellwright",
            run_id=sample.run_id,
            asked_model=sample.model.get("model"),
            temperature=sample.model.get("temperature"),
            max_output_tokens=sample.model.get("max_output_tokens"),
            prompt_tokens=usage.get("prompt_tokens"),
            completion_tokens=usage.get("completion_tokens"),
            cached_tokens=usage.get("cached_tokens"),
            cost_dollars=sample.cost_dollars,
            suite=sample.suite,
            sample_id=sample.id,
            sample_status=sample.status,
            sample=json.dumps(trimmed(sample), ensure_ascii=False),
        ),
        "events": [_scored(sample, score) for score in sample.scores],
        "status": _status(sample.error),
    }


def _reply(sample: SampleRecord, event: ReplyGiven) -> JSON:
    asked = str(sample.model.get("model", ""))
    said = [sample.messages[event.message]] if event.message is not None else []
    return {
        "name": f"chat {asked}".strip(),
        "kind": SPAN_KIND_CLIENT,
        **_times(sample, event.at - event.seconds, event.at),
        "attributes": attributes(
            operation="chat",
            span_kind="LLM",
            run_id=sample.run_id,
            asked_model=asked,
            replied_model=event.model or asked,
            finish_reasons=[event.finish_reason] if event.finish_reason else None,
            prompt_tokens=event.usage.get("prompt_tokens"),
            completion_tokens=event.usage.get("completion_tokens"),
            cached_tokens=event.usage.get("cached_tokens"),
            cost_dollars=event.cost_dollars,
            attempts=event.attempts,
            said=json.dumps([_said(message, event) for message in said], ensure_ascii=False),
        ),
        "events": [],
        "status": _status(""),
    }


def _said(message: Mapping[str, Any], event: ReplyGiven) -> JSON:
    """A message as the conventions have it: parts of text and of tool calls."""
    text = message.get("content")
    parts: list[JSON] = [{"type": "text", "content": text}] if text else []
    for call in message.get("tool_calls", ()):
        told = {"name": call["function"]["name"], "arguments": call["function"]["arguments"]}
        parts.append({"type": "tool_call", "id": call["id"], **told})
    return {"role": "assistant", "parts": parts, "finish_reason": event.finish_reason}


def _call(sample: SampleRecord, event: ToolCalled) -> JSON:
    result: Mapping[str, Any] = next(
        (m for m in reversed(sample.messages) if m.get("tool_call_id") == event.call_id), {}
    )
    asked = next(
        (
            call["function"]["arguments"]
            for message in sample.messages
            for call in message.get("tool_calls", ())
            if call.get("id") == event.call_id
        ),
        "",
    )
    given = asked if event.arguments is None else json.dumps(dict(event.arguments))
    content = result.get("content")
    return {
        "name": f"execute_tool {event.name}",
        "kind": SPAN_KIND_INTERNAL,
        **_times(sample, event.at, event.at + event.seconds),
        "attributes": attributes(
            operation="execute_tool",
            span_kind="TOOL",
            type="function",
            name=event.name,
            call_id=event.call_id,
            run_id=sample.run_id,
            arguments=given,
            result=content if isinstance(content, str) else json.dumps(content or ""),
            status=event.status,
        ),
        "events": [],
        "status": _status("" if event.status == "ok" else event.status),
    }


def _scored(sample: SampleRecord, score: Score) -> JSON:
    return {
        "timeUnixNano": _nanoseconds(sample, sample.time.seconds),
        "name": SCORED,
        "attributes": attributes(
            score_name=score.name,
            score_value=None if score.value is None else float(score.value),
            score_label="pass" if score.passed else "fail",
            score_explanation=score.explanation,
            error=score.error,
        ),
    }


def _status(error: str) -> JSON:
    return {"code": STATUS_ERROR, "message": error} if error else {"code": STATUS_UNSET}


def _times(sample: SampleRecord, start: float, end: float) -> JSON:
    return {
        "startTimeUnixNano": _nanoseconds(sample, start),
        "endTimeUnixNano": _nanoseconds(sample, end),
    }


def _nanoseconds(sample: SampleRecord, at: float) -> str:
    return str(max(0, round((sample.time.started_at + at) * 1_000_000_000)))


def _digits(count: int, *names: str) -> str:
    text = json.dumps(names)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:count]
