"""Calling a component: what it says, and what is added to it (tables 1a, 1b)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError

import pytest
from component_samples import (
    Both,
    Figureless,
    OnlyRun,
    component,
    iter_of,
    read,
    said,
)
from fakes import make_context

from cellwright.errors import SetupError, ToolError
from cellwright.record.content import ComponentOutput, Content, for_person
from cellwright.record.events import CellAdded
from cellwright.record.messages import ModelUsage, Usage
from cellwright.record.values import from_dict, to_dict
from cellwright.tools import Component
from cellwright.tools.message import Message


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


def test_000_02_a_message_of_several_contents_is_the_whole_output() -> None:
    message = component(lambda: [Content("code", {"code": "x"}), "b"]).run(Message(None))
    assert isinstance(message.content, ComponentOutput)
    assert "```" in str(message) or "x" in str(message)
    assert component(Figureless).run(Message({})).content == "<nothing rich>"


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


def test_events_do_not_get_into_what_is_merged() -> None:
    merged = component(lambda: iter_of(CellAdded("c1", "x"), "said")).evaluate_merged()
    assert [item.text["info"] for item in merged.content] == ["said"]


def test_a_single_content_that_is_long_keeps_its_own_scope() -> None:
    said = component(lambda: "word " * 20_000).evaluate_merged(make_context())
    assert [item.visible_scope for item in said.content] == ["user", "llm"]


def test_x_02_without_a_stream_what_belongs_together_is_one() -> None:
    made = Component().create_output

    def finds() -> Iterator[ComponentOutput]:
        yield made("references", {"doc_id": "1"})
        yield made(text="two ")
        yield made("references", {"doc_id": "2"})
        yield made(text="found")

    merged = component(finds).evaluate_merged()
    assert [(item.type, *item.text.values()) for item in merged.content] == [
        ("references", "1"),
        ("references", "2"),
        ("text", "two found"),
    ]


def test_000_20_an_output_is_frozen_and_a_line_of_json() -> None:
    made = Component().create_output(
        *("files", {"filename": "a.csv"}), "user", name="part1", visible_scope="user"
    )
    line = json.dumps(to_dict(made), ensure_ascii=False)
    assert "\n" not in line
    assert from_dict(ComponentOutput, json.loads(line)) == made
    with pytest.raises(FrozenInstanceError):
        made.role = "tool"  # type: ignore[misc]


def test_000_16_a_generator_may_yield_what_is_no_content() -> None:
    assert said(component(lambda: iter_of(3, None, Figureless(), b"x"))) == [
        *("3", "<nothing rich>", "b'x'"),
    ]


def test_000_28_what_a_long_content_cost_is_kept_when_it_is_cut() -> None:
    def asks() -> ComponentOutput:
        usage = {"model": "m", "prompt_tokens": 5, "completion_tokens": 1}
        return Component().create_output(text="w " * 90_000, visible_scope="llm", usage=usage)

    merged = component(asks).evaluate_merged(make_context())
    assert merged.usage == (ModelUsage("m", Usage(5, 1)),)
    assert len(merged.content[0].text["info"]) < 90_000
