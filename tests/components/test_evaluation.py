"""Calling a component: what it says, in which scope, and what is added to it (tables 1a, 1b)."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import types
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from component_samples import (
    Both,
    Figureless,
    OnlyRun,
    Png,
    component,
    context_with,
    pieces,
    slowly,
)
from fakes import make_context

from cellwright.components import Component, Message, ToolContext
from cellwright.components.coercion import as_output, bundle
from cellwright.components.evaluation import values_of
from cellwright.components.measuring import resident_bytes
from cellwright.content import ComponentOutput, Content, for_model, for_person
from cellwright.errors import RunCancelled, SetupError, ToolError
from cellwright.events import CellAdded
from cellwright.messages import ImagePart, TextPart
from cellwright.stopping import Stop
from cellwright.usage import ModelUsage, Usage


def said(tool: Component, context: ToolContext | None = None, **arguments: Any) -> list[str]:
    """What the model reads of each output."""
    outputs = [o for o in tool.evaluate(context, **arguments) if isinstance(o, ComponentOutput)]
    return [read(output) for output in outputs if output.content]


def read(output: ComponentOutput) -> str:
    parts = for_model(output.content)
    return "|".join(part.text if isinstance(part, TextPart) else part.mime for part in parts)


def generator() -> Iterator[str]:
    yield "a"
    yield "b"


def returning() -> Generator[str, None, Any]:
    yield "a"
    return {"b": 1}  # noqa: B901 (a tool may do both)


@pytest.mark.parametrize(
    ("evaluate", "expected"),
    [
        (generator, ["a", "b"]),
        (returning, ["a", '{"b":1}']),
        (lambda: pieces("x", "y"), ["x", "y"]),
        (lambda: slowly("late"), ["late"]),
        (lambda: "plain", ["plain"]),
        (lambda: None, []),
        (lambda: 3.5, ["3.5"]),
        (lambda: [1, {"a": None}], ['[1,{"a":null}]']),
        (lambda: Figureless(), ["<nothing rich>"]),
        (lambda: Content("code", {"code": "x"}), ["```\nx\n```"]),
        (lambda: [Content("text", {"info": "a"}), "b"], ["a|b"]),
    ],
)
def test_000_16_whatever_a_tool_returns_or_yields_becomes_contents(
    evaluate: Any, expected: list[str]
) -> None:
    assert said(component(evaluate)) == expected


def test_000_16_a_table_is_drawn_for_the_person_and_summed_up_for_the_model() -> None:
    pandas = pytest.importorskip("pandas")
    output = as_output(pandas.DataFrame({"price": [1.0, 2.0]}))
    drawn, summary = output.content
    assert (drawn.visible_scope, summary.visible_scope) == ("user", "llm")
    assert "<table" in drawn.text["mime"]["text/html"]
    assert "price" in read(output)
    assert "<table" not in read(output)
    assert "<table" in output._repr_mimebundle_()["text/html"]


def test_000_16_a_figure_is_a_picture_for_the_person_and_words_for_the_model() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    axes = figure.add_subplot(title="Sales")
    axes.plot([1, 2])
    blind = as_output(figure)
    assert [item.type for item in blind.content] == ["image", "text"]
    assert read(blind).startswith("Figure ")
    assert "Sales" in read(blind)
    assert for_model(blind.content) == (TextPart(read(blind)),)


def test_000_16_a_picture_goes_to_a_model_that_sees() -> None:
    sees = said(component(Png), context_with(sees_images=True))
    assert sees[0].startswith("image/png|[image/png 2x1] ")
    assert bundle(Png()).keys() == {"image/png"}


def test_000_16_a_broken_figure_is_still_told_of() -> None:
    class Figure:
        __module__ = "matplotlib.figure"
        axes: tuple[Any, ...] = ()

        def savefig(self, *_: object, **__: object) -> None:
            raise RuntimeError("no canvas")

    assert "Figure" in read(as_output(Figure()))


def test_000_16_what_was_said_before_an_error_is_kept() -> None:
    def fails() -> Iterator[str]:
        yield "partial"
        raise ToolError("The disk is full.", hint="Delete something.")

    merged = component(fails).evaluate_merged()
    texts = [(item.text["info"], item.is_error) for item in merged.content]
    assert texts == [("partial", False), ("The disk is full. Delete something.", True)]
    with pytest.raises(ToolError, match="disk is full"):
        list(component(fails).evaluate())


def test_000_17_a_bug_of_a_tool_is_an_error_content_and_escapes_nowhere() -> None:
    merged = component(lambda: 1 / 0).evaluate_merged()
    assert merged.content[0].is_error
    assert merged.content[0].text["info"] == "The tool failed: ZeroDivisionError: division by zero"


def test_000_10_a_context_is_handed_to_who_declares_one_by_either_name() -> None:
    context = context_with(prompt="how many?")
    assert said(component(lambda context: context.prompt), context) == ["how many?"]
    assert said(component(lambda ctx: ctx.prompt), context) == ["how many?"]


def test_000_10_without_context_and_kwargs_nothing_is_passed() -> None:
    assert said(component(lambda word: word), make_context(), word="x") == ["x"]


def test_000_10_kwargs_get_the_system_names() -> None:
    def evaluate(word: str, **kwargs: Any) -> str:
        return f"{word} {kwargs['_sys_origin_query']} {kwargs['model_configs']}"

    context = context_with(prompt="q", model_configs={"temperature": 0})
    assert said(component(evaluate), context, word="x") == ["x q {'temperature': 0}"]
    assert said(component(lambda **kwargs: str(kwargs)), None, a=1) == ["{'a': 1}"]


def test_000_10_a_tool_that_needs_a_run_says_so_when_called_by_hand() -> None:
    with pytest.raises(SetupError, match="needs the context of a run"):
        component(lambda context: context).evaluate_merged()
    assert said(component(lambda ctx=None: str(ctx))) == ["None"]


def test_000_11_a_system_name_among_the_arguments_is_refused() -> None:
    with pytest.raises(ToolError, match="'_sys_traceid' is reserved"):
        list(component(lambda **_: None).evaluate(make_context(), _sys_traceid="x"))


def test_000_07_a_missing_variable_is_named_at_the_call_and_not_before() -> None:
    tool = component(lambda: "x", requires={"env": ["CELLWRIGHT_TEST_MISSING"]})
    with pytest.raises(ToolError, match="'sample' needs the environment variable 'CELLWRIGHT_TEST"):
        list(tool.evaluate())


def test_000_02_run_collects_tool_eval_and_a_call_is_run() -> None:
    tool = component(lambda word: [word, 1][0], **{})
    tool.tool_eval.__doc__ = "Say it.\n\nArgs:\n    word: What is said."
    assert tool.run(Message({"word": "hi"})).content == "hi"
    assert tool(Message("hi")).content == "hi"
    assert tool(word="hi").content == "hi"


def test_000_02_only_run_only_tool_eval_and_both() -> None:
    assert OnlyRun()(message="a").content == "a a "
    assert said(OnlyRun(), message="a") == ["a a "]
    assert OnlyRun().tool_manifests()[0].description == "Say it twice."
    assert Both().run(Message("x")).content == "run: x"
    assert said(Both(), word="x") == ["eval: x"]


def test_000_02_a_component_with_neither_is_refused() -> None:
    class Nothing(Component):
        name = "nothing"

    with pytest.raises(SetupError, match="'nothing' does nothing"):
        Nothing().tool_manifests()


def test_000_02_an_async_tool_can_be_called_inside_a_running_loop() -> None:
    async def main() -> list[str]:
        return said(component(lambda: slowly("inside")))

    assert asyncio.run(main()) == ["inside"]


def test_000_02_a_message_of_several_contents_is_the_whole_output() -> None:
    message = component(lambda: [Content("code", {"code": "x"}), "b"]).run(Message(None))
    assert isinstance(message.content, ComponentOutput)
    assert "```" in str(message) or "x" in str(message)
    assert component(Figureless).run(Message({})).content == "<nothing rich>"


def test_an_async_tool_stops_with_the_run() -> None:
    stop, cancelled = Stop(), threading.Event()

    async def forever() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    with pytest.raises(RunCancelled):
        list(component(forever).evaluate(context_with(stop=stop)))
    assert cancelled.wait(2)
    assert time.monotonic() - began < 2


def test_an_async_tools_exception_is_its_own() -> None:
    async def fails() -> None:
        raise ToolError("no")

    with pytest.raises(ToolError, match="no"):
        list(component(fails).evaluate())


def test_000_29_time_and_memory_are_measured_by_the_base_class() -> None:
    def slow() -> Iterator[str]:
        time.sleep(0.02)
        yield "x"
        time.sleep(0.02)

    last = list(component(slow).evaluate())[-1]
    assert isinstance(last, ComponentOutput)
    metrics = last.metrics
    assert metrics is not None
    assert metrics.duration_seconds >= 0.04
    assert 0.02 <= (metrics.first_output_seconds or 0) < metrics.duration_seconds
    assert metrics.end - metrics.begin == pytest.approx(metrics.duration_seconds, abs=1e-5)
    assert (metrics.memory_delta_megabytes is None) == (resident_bytes() is None)
    assert resident_bytes("/nowhere") is None


def test_000_29_nested_tools_are_each_measured() -> None:
    inner = component(lambda: time.sleep(0.02))
    outer = component(lambda: inner.evaluate_merged().content and None)
    merged = outer.evaluate_merged()
    assert merged.metrics is not None
    assert merged.metrics.duration_seconds >= 0.02


def test_000_28_usage_of_a_tools_own_model_calls_is_summed() -> None:
    def asks() -> Iterator[Any]:
        tool = Component()
        for tokens in (3, 4):
            yield tool.create_output(text="x", usage={"name": "m", "prompt_tokens": tokens})

    merged = component(asks).evaluate_merged()
    assert merged.usage == (ModelUsage("m", Usage(7, estimated=True)),)


def test_000_16_create_output_checks_its_options() -> None:
    made = Component().create_output(
        "code", "x = 1", "assistant", name="part1", visible_scope="llm", metrics={"begin_time": 2}
    )
    assert (made.role, made.content[0].name, made.content[0].visible_scope) == (
        *("assistant", "part1", "llm"),
    )
    assert made.content[0].metrics is not None
    with pytest.raises(TypeError, match="takes no 'colour'"):
        Component().create_output(text="x", colour="red")


def test_000_16_events_of_cells_pass_untouched() -> None:
    event = CellAdded("c1", "x")
    assert list(component(lambda: iter_of(event)).evaluate())[0] is event


def iter_of(*items: Any) -> Iterator[Any]:
    yield from items


def test_long_texts_are_cut_for_the_model_and_whole_for_the_person() -> None:
    context = make_context()
    words = "word " * 20_000
    output = next(iter(component(lambda: words).evaluate(context)))
    assert isinstance(output, ComponentOutput)
    assert for_person(output.content) == words
    assert len(read(output)) < 10_000
    assert 'read_output("call_1"' in read(output)
    assert context.shelf.get("call_1") == words


def test_long_contents_of_an_author_are_cut_in_their_scope() -> None:
    content = Content("text", {"info": "word " * 20_000}, "log", "llm")
    merged = component(lambda: content).evaluate_merged(make_context())
    assert [item.visible_scope for item in merged.content] == ["llm"]
    given = ComponentOutput((content, Content("text", {"info": "x"})))
    merged = component(lambda: given).evaluate_merged(make_context())
    assert [item.visible_scope for item in merged.content] == ["llm", "all"]
    assert 'read_output("call_1-log"' in merged.content[0].text["info"]


def test_000_21_roles_stay_apart_when_merged() -> None:
    tool = Component()

    def answers() -> Iterator[ComponentOutput]:
        yield tool.create_output(text="fact", usage={"name": "m", "prompt_tokens": 1})
        yield tool.create_output(text="answer", role="assistant", usage={"name": "m"})

    merged = component(answers).evaluate_merged()
    assert [item.text["info"] for item in merged.content] == ["fact", "answer"]
    assert merged.usage == (ModelUsage("m", Usage(1, estimated=True)),)


class FakeSpan:
    """What OpenTelemetry's span has of what is used."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: dict[str, Any] = {}
        self.events: list[str] = []
        self.ended = False

    def set_attribute(self, name: str, value: Any) -> None:
        """Keep it."""
        self.attributes[name] = value

    def add_event(self, name: str, attributes: Any = None) -> None:
        """Keep it."""
        self.events.append(attributes["output.value"])

    def end(self) -> None:
        """Over."""
        self.ended = True


class FakeTelemetry(types.ModuleType):
    """Stands for ``opentelemetry.trace``, which is an extra."""

    def __init__(self) -> None:
        super().__init__("opentelemetry.trace")
        self.spans: list[FakeSpan] = []
        self.current: list[FakeSpan] = []

    def get_tracer(self, name: str, schema_url: str = "") -> FakeTelemetry:
        """Itself."""
        return self

    def start_span(self, name: str) -> FakeSpan:
        """A new one."""
        self.spans.append(FakeSpan(name))
        return self.spans[-1]

    @contextmanager
    def use_span(self, span: FakeSpan, **_: object) -> Iterator[None]:
        """Make it the current one."""
        self.current.append(span)
        try:
            yield
        finally:
            self.current.pop()


@pytest.fixture
def telemetry(monkeypatch: pytest.MonkeyPatch) -> FakeTelemetry:
    """OpenTelemetry is loaded in this process."""
    fake = FakeTelemetry()
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", fake)
    return fake


def test_000_06_every_call_is_a_span_by_the_genai_names(telemetry: FakeTelemetry) -> None:
    tool = component(lambda word: word, version="v3")
    tool.evaluate_merged(context_with(run_id="run1"), word="hi")
    (span,) = telemetry.spans
    assert span.name == "execute_tool sample"
    assert span.attributes["gen_ai.tool.name"] == "sample"
    assert span.attributes["gen_ai.tool.call.id"] == "call_1"
    assert span.attributes["openinference.span.kind"] == "TOOL"
    assert span.attributes["input.value"] == '{"word": "hi"}'
    assert span.attributes["output.value"] == "hi"
    assert span.attributes["cellwright.tool.status"] == "ok"
    assert span.events == ["hi"]
    assert span.ended


def test_000_06_an_exception_is_the_spans_error(telemetry: FakeTelemetry) -> None:
    component(lambda: 1 / 0).evaluate_merged()
    (span,) = telemetry.spans
    assert span.attributes["error.type"] == "ZeroDivisionError"
    assert span.ended


def test_000_06_a_stream_abandoned_midway_ends_its_span(telemetry: FakeTelemetry) -> None:
    stream = component(generator).evaluate()
    next(iter(stream))
    assert telemetry.current == []
    stream.close()  # type: ignore[attr-defined]
    (span,) = telemetry.spans
    assert span.attributes["cellwright.tool.status"] == "cancelled"
    assert span.ended


def test_000_06_secrets_and_long_values_stay_out_of_spans(telemetry: FakeTelemetry) -> None:
    secret = "sk-" + "proj-" + "A1b2C3d4E5f6G7h8" * 3
    component(lambda key: "x" * 90_000).evaluate_merged(key=secret)
    (span,) = telemetry.spans
    assert secret not in span.attributes["input.value"]
    assert len(span.attributes["output.value"]) == 4_000


def test_000_06_tokens_of_a_tool_are_in_its_span(telemetry: FakeTelemetry) -> None:
    usage = {"name": "m", "prompt_tokens": 3, "completion_tokens": 2}
    component(lambda: Component().create_output(text="x", usage=usage)).evaluate_merged()
    assert telemetry.spans[0].attributes["llm.token_count.total"] == 5
    assert telemetry.spans[0].attributes["gen_ai.usage.input_tokens"] == 3


def test_values_that_only_look_like_streams_are_values() -> None:
    assert list(values_of([1, 2])) == [[1, 2]]
    assert isinstance(for_model(as_output(Png()).content)[0], TextPart)
    assert not isinstance(for_model(as_output(Png()).content)[0], ImagePart)


def test_a_list_may_hold_rich_values_among_others() -> None:
    made = Component().create_output
    mixed = [made(text="a"), Figureless(), Content("text", {"info": "b"})]
    assert read(as_output(mixed)) == "a|<nothing rich>|b"
    assert read(as_output({1, 2})) == "{1, 2}"
    assert read(as_output({"f": Figureless()})) == "dict of 1: 'f': <nothing rich>"
    assert read(as_output(Png)) == repr(Png)


class Tupled:
    """Hands metadata over with its bundle."""

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"text/markdown": "**bold**", "image/png": None}, {"meta": 1}

    def __repr__(self) -> str:
        return "<Tupled>"


def test_a_bundle_with_metadata_is_a_bundle() -> None:
    assert bundle(Tupled()) == {"text/markdown": "**bold**"}
    drawn, summary = as_output(Tupled()).content
    assert drawn.text["mime"] == {"text/markdown": "**bold**"}
    assert summary.visible_scope == "llm"


def test_events_do_not_get_into_what_is_merged() -> None:
    merged = component(lambda: iter_of(CellAdded("c1", "x"), "said")).evaluate_merged()
    assert [item.text["info"] for item in merged.content] == ["said"]


def test_an_async_stream_that_is_left_is_cancelled() -> None:
    left = threading.Event()

    async def endless() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(0.01)
        finally:
            left.set()

    stream = component(endless).evaluate()
    next(iter(stream))
    stream.close()  # type: ignore[attr-defined]
    assert left.wait(2)


def test_a_single_content_that_is_long_keeps_its_own_scope() -> None:
    said = component(lambda: "word " * 20_000).evaluate_merged(make_context())
    assert [item.visible_scope for item in said.content] == ["user", "llm"]
