"""What the agent makes of a component's outputs: scopes, the record, system names, progress."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from component_samples import component, context_with

from cellwright.agent.policy import Policy
from cellwright.agent.publishing import Publisher
from cellwright.agent.tool_calls import CallerParts, ToolCaller
from cellwright.errors import SetupError, ToolError
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.budget import RunBudget
from cellwright.llm.openai_format import ChatForm, messages_to_openai
from cellwright.record.content import ComponentOutput
from cellwright.record.events import Event, Notice, ToolFinished, ToolProgress
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    ModelUsage,
    Price,
    Reply,
    ToolCall,
    Usage,
    UserMessage,
    text_of,
)
from cellwright.record.run_record import RecordedEvent
from cellwright.record.values import from_dict, to_dict
from cellwright.settings import Limits
from cellwright.text.redaction import Redactor
from cellwright.tools import Component, ToolContext
from cellwright.tools.functions import tool
from cellwright.tools.registry import Registry


class ListJournal:
    """Keeps events in a list."""

    run_id = "run"

    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        """Keep them."""
        self.events.extend(events)
        return tuple(RecordedEvent("run", 1, 0.0, event) for event in events)

    def take_notices(self) -> tuple[Notice, ...]:
        """None."""
        return ()


class Calls:
    """Calls tools as the agent does."""

    def __init__(self, *tools: Component, sees_images: bool = False) -> None:
        self.journal = ListJournal()
        publisher = Publisher(self.journal, Redactor({}), None)
        self.context = context_with(sees_images=sees_images)
        registry = Registry(tools)
        self.budget = RunBudget(Limits(token_limit=10), prices={"dear": Price(1.0, 2.0)})
        self.shown: list[ToolProgress] = []
        self.history: tuple[Message, ...] = ()
        parts = CallerParts(publisher, self.budget, lambda: self.history, self.shown.append)
        self.caller = ToolCaller(registry, Policy("auto"), self.context, parts)
        self.events: list[Event] = []

    def __call__(self, name: str, written: str = "", **arguments: Any) -> ToolFinished:
        self.events = list(self.pull(name, written or json.dumps(arguments)))
        assert set(map(id, self.events)) <= set(map(id, self.journal.events))
        (finished,) = (event for event in self.events if isinstance(event, ToolFinished))
        return finished

    def pull(self, name: str, written: str = "{}") -> Iterator[Event]:
        """The events of a call, as they come."""
        reply = AssistantMessage("", (ToolCall("call_1", name, written),))
        parsed = NativeAdapter().parse_reply(reply_of(reply), self.caller.manifests).calls
        return self.caller.call_all(parsed)

    def of(self, cls: type) -> list[Any]:
        """Events of a kind."""
        return [event for event in self.events if isinstance(event, cls)]


def reply_of(message: AssistantMessage) -> Reply:
    return Reply(message, "tool_calls", Usage(), "m")


def scoped() -> Component:
    @tool
    def report() -> Iterator[ComponentOutput]:
        """Report."""
        made = Component().create_output
        yield made(text="for all")
        yield made(text="only drawn", visible_scope="user")
        yield made(text="only read", visible_scope="llm")
        yield made("image", {"base64": "AAAA", "filename": "plot"}, visible_scope="user")
        yield made("json", {"data": [1]}, raw_data={"origin_response": "raw words"})

    return report


def test_000_26_what_is_for_the_person_is_in_no_request() -> None:
    calls = Calls(scoped())
    finished = calls("report")
    history = (
        UserMessage(()),
        AssistantMessage("", (ToolCall("call_1", "report", "{}"),)),
        finished.message,
    )
    sent = json.dumps(messages_to_openai(history, ChatForm()), ensure_ascii=False)
    assert "for all" in sent
    assert "only read" in sent
    for hidden in ("only drawn", "AAAA", "plot", "raw words"):
        assert hidden not in sent


def test_000_26_what_is_for_the_model_is_not_drawn() -> None:
    finished = Calls(scoped())("report")
    assert "only read" not in finished.shown
    assert "only read" not in json.dumps(to_dict(finished.contents))
    assert "only drawn" in finished.shown


def test_x_07_what_is_for_the_model_can_be_looked_at_in_the_transcript() -> None:
    calls = Calls(scoped())
    calls("report")
    (said,) = calls.caller.take_results()
    assert "only read" in text_of(said)
    assert "only drawn" not in text_of(said)


def test_000_27_raw_data_is_in_the_record_alone() -> None:
    finished = Calls(scoped())("report")
    assert finished.contents[-1].raw_data == {"origin_response": "raw words"}
    assert from_dict(ToolFinished, to_dict(finished)) == finished


def test_000_35_a_mixed_output_splits_by_the_scope_of_each_content() -> None:
    def mixed() -> ComponentOutput:
        """Mix."""
        made = Component().create_output
        outputs = [made(text=scope, visible_scope=scope) for scope in ("all", "llm", "user")]
        return ComponentOutput(tuple(item for output in outputs for item in output.content))

    finished = Calls(tool(mixed))("mixed")
    assert text_of(finished.message).split() == ["all", "llm"]
    assert finished.shown.split() == ["all", "user"]


def test_plain_text_leaves_no_second_copy_in_the_record() -> None:
    finished = Calls(tool(plain))("plain", word="x")
    assert (finished.shown, finished.contents) == ("x", ())


def plain(word: str) -> str:
    """Say it."""
    return word


def test_a_picture_is_words_for_a_model_that_does_not_see() -> None:
    @tool
    def picture() -> ComponentOutput:
        """Draw."""
        return Component().create_output("image", {"base64": "AAAA", "filename": "p"})

    assert text_of(Calls(picture)("picture").message) == "Image p shown to the user"
    assert text_of(Calls(picture, sees_images=True)("picture").message) == ""


def test_000_28_and_29_usage_and_metrics_are_with_the_result() -> None:
    @tool
    def asks() -> ComponentOutput:
        """Ask a model."""
        usage = {"model": "m", "prompt_tokens": 3, "completion_tokens": 1}
        return Component().create_output(text="x", usage=usage)

    finished = Calls(asks)("asks")
    assert finished.usage == (ModelUsage("m", Usage(3, 1)),)
    assert finished.metrics is not None
    assert finished.metrics.end >= finished.metrics.begin > 0


def test_000_14_what_a_tool_spends_on_models_counts_in_the_budget_even_if_it_fails() -> None:
    @tool
    def asks() -> Iterator[ComponentOutput]:
        """Ask models."""
        for name in ("dear", "unknown"):
            usage = {"model": name, "prompt_tokens": 4, "completion_tokens": 2}
            yield Component().create_output(text="x", usage=usage)
        raise ToolError("No more.")

    calls = Calls(asks)
    assert calls("asks").status == "error"
    assert calls.budget.usage == Usage(8, 4)
    assert calls.budget.cost_dollars == pytest.approx(8e-6)
    reached = calls.budget.exceeded()
    assert reached is not None
    assert reached.cause == "token_limit"


@pytest.mark.parametrize("role", ["tool", "user", "assistant"])
def test_000_21_what_a_tool_says_in_any_role_is_the_result_of_its_call(role: Any) -> None:
    @tool
    def speaks() -> ComponentOutput:
        """Speak."""
        return Component().create_output(text="said", role=role)

    finished = Calls(speaks)("speaks")
    assert (finished.message.role, text_of(finished.message)) == ("tool", "said")
    assert finished.shown == "said"


def test_000_16_partial_output_stays_beside_the_error() -> None:
    @tool
    def fails() -> Iterator[str]:
        """Fail."""
        yield "half of it"
        raise ToolError("The rest is missing.")

    finished = Calls(fails)("fails")
    assert (finished.status, finished.message.is_error) == ("error", True)
    assert text_of(finished.message) == "half of it\nThe rest is missing."


def test_000_20_a_tool_that_says_nothing_is_read_as_no_output() -> None:
    assert text_of(Calls(tool(silent))("silent").message) == "(no output)"


def silent() -> None:
    """Say nothing."""


def test_000_30_a_stream_of_text_is_read_as_one() -> None:
    @tool
    def speaks() -> Iterator[str]:
        """Speak."""
        yield from ("Hel", "lo")

    assert text_of(Calls(speaks)("speaks").message) == "Hello"


def test_000_11_a_system_name_that_a_model_sends_is_left_out_and_told() -> None:
    def traced(word: str, **kwargs: Any) -> str:
        return f"{word} {kwargs['_sys_traceid']}"

    traced.__doc__ = "Say it.\n\nArgs:\n    word: What is said."
    calls = Calls(component(traced, name="traced"))
    finished = calls("traced", word="x", _sys_traceid="forged")
    assert text_of(finished.message) == "x run"
    (notice,) = calls.of(Notice)
    assert (notice.level, notice.code) == ("warning", "agent_invalid_action")
    assert "'_sys_traceid'" in notice.text


def test_000_11_nothing_is_told_of_arguments_that_cannot_be_read() -> None:
    calls = Calls(tool(plain))
    assert calls("plain", written="[1]").status == "error"
    assert calls.of(Notice) == []


def test_000_11_a_manifest_by_hand_may_not_have_a_system_name_either() -> None:
    schema = {"type": "object", "properties": {"_sys_uid": {"type": "string"}}}
    manifest = {"name": "sample", "description": "S.", "parameters": schema}
    with pytest.raises(SetupError, match="'_sys_uid' is reserved"):
        Registry([component(lambda _sys_uid: None, manifests=[manifest])])


def test_000_13_the_history_at_the_time_of_the_call_is_handed_over() -> None:
    def looks(ctx: ToolContext) -> str:
        """Look."""
        return str(len(ctx.history))

    calls = Calls(tool(looks))
    calls.history = (UserMessage(()), AssistantMessage("Hi."))
    assert text_of(calls("looks").message) == "2"


def test_000_11_a_parameter_may_not_have_a_system_name() -> None:
    def takes(_sys_traceid: str) -> None:
        """Take it."""

    with pytest.raises(SetupError, match="'_sys_traceid' is reserved"):
        tool(takes)


def test_000_34_progress_is_told_in_order_and_not_after_the_end() -> None:
    kept: list[ToolContext] = []

    @tool
    def loads(ctx: ToolContext) -> Iterator[str]:
        """Load."""
        kept.append(ctx)
        ctx.notify("loading 3 GB…", 0.5)
        yield "loaded"
        ctx.notify("closing", 7)

    calls = Calls(loads)
    finished = calls("loads")
    kept[0].notify("too late")
    assert calls.shown == calls.of(ToolProgress)
    told = [(event.text, event.fraction) for event in calls.of(ToolProgress)]
    assert told == [("loading 3 GB…", 0.5), ("closing", 1.0)]
    assert calls.journal.events[-1] is finished
    assert text_of(finished.message) == "loaded"
    assert "loading" not in finished.shown


def test_000_34_progress_comes_while_the_tool_works() -> None:
    ended: list[bool] = []

    @tool
    def loads(ctx: ToolContext) -> Iterator[str]:
        """Load."""
        ctx.notify("loading 3 GB…", 0.5)
        yield "loaded"
        ended.append(True)

    for event in Calls(loads).pull("loads"):
        if isinstance(event, ToolProgress):
            assert not ended
    assert ended


def test_progress_outside_a_run_is_heard_by_nobody() -> None:
    context_with().notify("hello")


def test_000_13_every_system_name_is_found_in_the_context() -> None:
    seen: dict[str, Any] = {}

    def looks(**kwargs: Any) -> None:
        seen.update(kwargs)

    looks.__doc__ = "Look."
    calls = Calls(component(looks, name="looks"))
    calls("looks")
    calls("looks")
    assert len([name for name in seen if name.startswith("_sys_")]) == 20
    assert seen["_sys_name"] == "looks"
    assert seen["_sys_used_tool"] == ["looks"]
    assert seen["_sys_span_id"] == "call_1"
    assert seen["_sys_file_names"] == []
    assert seen["_sys_current_time"].startswith("20")
    assert not {"_sys_appbuiler_token", "_sys_gateway_endpoint"} & set(seen)
