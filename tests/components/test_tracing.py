"""Spans of calls, as OpenTelemetry's own SDK gets them (requirements 000-06, 000-15)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from component_samples import component, context_with, generator, iter_of, slowly

from cellwright.tools import Component, ToolContext
from cellwright.tools.evaluation import ATTRIBUTES, CONVENTIONS_VERSION

trace = pytest.importorskip("opentelemetry.trace")
pytest.importorskip("opentelemetry.sdk")

EXPORTERS: list[Any] = []
"""The one of this process: a provider can be set once."""


@pytest.fixture
def spans() -> Any:
    """The spans that ended, oldest first."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    if not EXPORTERS:
        EXPORTERS.append(InMemorySpanExporter())
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(EXPORTERS[0]))
        trace.set_tracer_provider(provider)
    EXPORTERS[0].clear()
    return EXPORTERS[0].get_finished_spans


def test_000_06_every_call_is_a_span_by_the_genai_names(spans: Any) -> None:
    tool = component(lambda word: word, version="v3")
    tool.evaluate_merged(context_with(run_id="run1", chat_id="chat1"), word="hi")
    (span,) = spans()
    assert span.name == "execute_tool sample"
    told = dict(span.attributes)
    assert told.pop("cellwright.tool.first_output_seconds") >= 0
    assert told == {
        "gen_ai.operation.name": "execute_tool",
        "openinference.span.kind": "TOOL",
        "gen_ai.tool.name": "sample",
        "tool.name": "sample",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.call.arguments": '{"word": "hi"}',
        "input.value": '{"word": "hi"}',
        "gen_ai.tool.call.result": "hi",
        "output.value": "hi",
        "gen_ai.conversation.id": "chat1",
        "session.id": "chat1",
        "cellwright.run.id": "run1",
        "cellwright.tool.version": "v3",
        "cellwright.tool.status": "ok",
    }
    assert CONVENTIONS_VERSION in span.instrumentation_scope.schema_url
    assert span.status.is_unset
    assert [(event.name, dict(event.attributes)) for event in span.events] == [
        ("tool.output", {"output.value": "hi"})
    ]


def test_000_06_the_names_are_those_of_the_conventions() -> None:
    known = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    versions = pytest.importorskip("opentelemetry.semconv.schemas").Schemas
    ours = {name for names in ATTRIBUTES.values() for name in names if name.startswith("gen_ai.")}
    assert ours <= {value for value in vars(known).values() if isinstance(value, str)}
    assert any(CONVENTIONS_VERSION in each.value for each in versions)


def test_000_06_every_piece_of_a_stream_is_told(spans: Any) -> None:
    component(lambda: iter_of("one, ", "two.")).evaluate_merged()
    (span,) = spans()
    assert [event.attributes["output.value"] for event in span.events] == ["one, ", "two."]
    assert span.attributes["output.value"] == "one, \ntwo."


@pytest.mark.parametrize("scale", [1, 4_000])
def test_a_secret_that_comes_in_two_pieces_is_in_no_span(spans: Any, scale: int) -> None:
    """A long text is cut only after its secrets are out."""
    key = "".join(["hf", "_", "Ab3dEf6hIj9kLm2nOp5q", "Rs8tUv1w"])
    for cut in range(1, len(key)):
        before = f"{' ' * (scale - cut)}the key is "
        component(
            lambda cut=cut, before=before: iter_of(before + key[:cut], key[cut:])
        ).evaluate_merged()
    for span in spans():
        told = [*span.attributes.items(), *(e.attributes["output.value"] for e in span.events)]
        assert key[:6] not in str(told)
        assert key[-6:] not in str(told)


def test_000_06_an_exception_is_the_spans_error(spans: Any) -> None:
    component(lambda: 1 / 0).evaluate_merged()
    (span,) = spans()
    assert span.attributes["error.type"] == "ZeroDivisionError"
    assert span.attributes["cellwright.tool.status"] == "error"
    assert span.status.status_code is trace.StatusCode.ERROR


def test_000_06_a_stream_abandoned_midway_ends_its_span(spans: Any) -> None:
    stream = component(generator).evaluate()
    next(iter(stream))
    assert spans() == ()
    stream.close()  # type: ignore[attr-defined]
    (span,) = spans()
    assert span.attributes["cellwright.tool.status"] == "cancelled"


def test_000_06_the_span_is_current_while_the_tool_works_and_never_across_a_yield(
    spans: Any,
) -> None:
    inside: list[Any] = []

    def looks() -> Iterator[str]:
        inside.append(trace.get_current_span().get_span_context())
        yield "a"
        inside.append(trace.get_current_span().get_span_context())

    stream = component(looks).evaluate()
    next(iter(stream))
    assert not trace.get_current_span().get_span_context().is_valid
    assert [*stream]
    (span,) = spans()
    assert {context.span_id for context in inside} == {span.context.span_id}


def test_000_06_a_tool_within_a_tool_is_a_span_below_it(spans: Any) -> None:
    inner = component(lambda: "in", name="inner")
    component(lambda: inner.evaluate_merged().content, name="outer").evaluate_merged()
    below, above = spans()
    assert (below.name, above.name) == ("execute_tool inner", "execute_tool outer")
    assert below.parent.span_id == above.context.span_id


def test_000_06_secrets_and_long_values_stay_out_of_spans(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-" + "proj-" + "A1b2C3d4E5f6G7h8" * 3
    known = "plain-words-" + "that-are-a-secret"
    monkeypatch.setenv("SERVICE_TOKEN", known)
    component(lambda key: [known, "x" * 90_000]).evaluate_merged(key=secret)
    (span,) = spans()
    assert secret not in span.attributes["input.value"]
    assert known not in span.attributes["output.value"]
    assert len(span.attributes["output.value"]) <= 4_000


def test_000_06_and_28_tokens_of_a_tool_are_in_its_span(spans: Any) -> None:
    usage = {"name": "m", "prompt_tokens": 3, "completion_tokens": 2}
    component(lambda: Component().create_output(text="x", usage=usage)).evaluate_merged()
    told = spans()[0].attributes
    assert told["llm.token_count.total"] == 5
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (3, 2)


def test_000_06_nothing_is_told_where_opentelemetry_is_not_loaded(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    assert component(generator).evaluate_merged().content
    assert spans() == ()


def test_000_15_a_request_of_a_tool_carries_the_span_and_the_run(spans: Any) -> None:
    found: list[dict[str, str]] = []

    def fetches(ctx: ToolContext) -> None:
        found.append(ctx.headers())

    component(fetches).evaluate_merged(context_with(run_id="run1"))
    component(fetches).evaluate_merged(context_with())
    span, _ = spans()
    ids = f"{span.context.trace_id:032x}-{span.context.span_id:016x}"
    traceparent = f"00-{ids}-{span.context.trace_flags:02x}"
    assert found[0] == {"traceparent": traceparent, "X-Request-Id": "run1"}
    assert list(found[1]) == ["traceparent"]


def test_000_15_an_async_tool_is_within_its_span_too(spans: Any) -> None:
    found: list[dict[str, str]] = []

    async def fetches(ctx: ToolContext) -> str:
        found.append(ctx.headers())
        return await slowly("late")

    component(fetches).evaluate_merged(context_with(run_id="run1"))
    assert found[0]["traceparent"].split("-")[2] == f"{spans()[0].context.span_id:016x}"
