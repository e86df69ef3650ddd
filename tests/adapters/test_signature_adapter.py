"""The contract of signature adapters: the order of messages, demos, history, callbacks, calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from field_adapters import ADAPTERS, QA, ScriptedModel

from cellwright.errors import LMServerError, SetupError
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.sections import read_sections
from cellwright.llm.adapters.signature_adapter import (
    INCOMPLETE,
    NOT_SUPPLIED,
    AdapterParseError,
    FieldAdapter,
    SignatureAdapter,
)
from cellwright.llm.adapters.two_step import TwoStepAdapter
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.llm.signatures import Field, Signature, live_type
from cellwright.record.messages import ImagePart, Manifest, ToolCall

ONCE = ChatAdapter(use_json_adapter_fallback=False)
NATIVE = ChatAdapter(use_native_function_calling=True, use_json_adapter_fallback=False)
GOOD = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]"
INPUTS = {"question": "why?", "context": ["a", "b"]}
WITH_HISTORY = QA.append(Field("history", "input", live_type("History")))
TOOLS = Signature.parse(
    "question, tools: list[Tool] -> answer: str | None, calls: ToolCalls", "Answer it."
)
LOOK = Manifest("look", "Look.", {"type": "object", "properties": {"at": {"type": "string"}}})


class Watcher:
    """Notes what it is told of."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def on_adapter_format_start(self, call_id: str, instance: Any, inputs: Any) -> None:
        self.told.append(("format_start", sorted(inputs)))

    def on_adapter_format_end(self, call_id: str, outputs: Any, exception: Any) -> None:
        self.told.append(("format_end", len(outputs)))

    def on_lm_start(self, call_id: str, instance: Any, inputs: Any) -> None:
        self.told.append(("lm_start", sorted(inputs)))

    def on_adapter_parse_end(self, call_id: str, outputs: Any, exception: Any) -> None:
        self.told.append(("parse_end", exception if exception is None else type(exception)))


class Raising:
    """A callback with a bug."""

    def on_adapter_format_start(self, **told: Any) -> None:
        raise ZeroDivisionError("a bug")


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


def test_004_01_callbacks_default_to_none_and_are_kept() -> None:
    assert ChatAdapter().callbacks == []
    watcher = Watcher()
    assert ChatAdapter([watcher]).callbacks == [watcher]


def test_004_01_a_callback_that_raises_does_not_break_the_call() -> None:
    lm = ScriptedModel([GOOD])
    (value,) = ChatAdapter([Raising()])(lm, {}, QA, [], INPUTS)
    assert value == {"answer": "yes", "score": 0.5}


def test_004_02_each_of_n_replies_is_one_mapping() -> None:
    lm = ScriptedModel([GOOD, {"text": GOOD, "logprobs": [1]}, GOOD.replace("yes", "no")])
    options = {"n": 3, "temperature": 0.7}
    values = ChatAdapter()(lm, options, QA, [], INPUTS)
    assert [value["answer"] for value in values] == ["yes", "yes", "no"]
    assert [value.get("logprobs") for value in values] == [None, [1], None]
    assert lm.calls[0]["n"] == 3


def test_004_02_a_single_reply_and_none_at_all_are_taken_as_they_come() -> None:
    assert len(ChatAdapter()(ScriptedModel(GOOD), {}, QA, [], INPUTS)) == 1
    assert len(ChatAdapter()(ScriptedModel({"text": GOOD}), {}, QA, [], INPUTS)) == 1
    assert ChatAdapter()(ScriptedModel([]), {}, QA, [], INPUTS) == []


def test_004_02_the_options_of_the_caller_are_never_changed() -> None:
    options = {"temperature": 0.0}
    reply = '{"answer": "yes", "score": 1}'
    JSONAdapter()(ScriptedModel([reply], schema=True), options, QA, [], INPUTS)
    assert options == {"temperature": 0.0}


def test_004_03_awaiting_gives_the_same() -> None:
    made = asyncio.run(ChatAdapter().acall(ScriptedModel([GOOD]), {}, QA, [], INPUTS))
    assert made == [{"answer": "yes", "score": 0.5}]


@pytest.mark.parametrize("reply", [None, "", {"text": None}, {"text": ""}, {"tool_calls": ["x"]}])
def test_004_04_an_empty_reply_is_an_error_of_its_own(reply: Any) -> None:
    with pytest.raises(AdapterParseError, match="returned an empty or null response"):
        ONCE(ScriptedModel([reply]), {}, QA, [], INPUTS)


def test_004_05_messages_are_system_demos_history_and_current_input() -> None:
    demo = {**INPUTS, "answer": "yes", "score": 1.0}
    past = SimpleNamespace(messages=[{"question": "before?", "context": [], "answer": "no"}])
    messages = ChatAdapter().format(WITH_HISTORY, [demo], {**INPUTS, "history": past})
    assert roles(messages) == ["system", *["user", "assistant"] * 2, "user"]
    assert "before?" in messages[3]["content"]
    assert "why?" in messages[5]["content"]


def test_004_05_without_any_input_there_is_no_empty_message() -> None:
    class Silent(ChatAdapter):
        def user_message_output_requirements(self, signature: Any) -> str:
            return ""

    assert roles(Silent().format(Signature.parse("-> answer"), [], {})) == ["system"]


@pytest.mark.parametrize(
    "name", ["format_field_description", "format_field_structure", "format_task_description"]
)
def test_004_06_each_part_of_the_system_message_can_be_overridden_alone(name: str) -> None:
    adapter = type("Own", (ChatAdapter,), {name: lambda self, signature: "MINE"})()
    system = adapter.format_system_message(QA)
    assert "MINE" in system
    parts = (system.count("question"), "objective" in system)
    assert parts[0] > 0 or parts[1]


def test_004_07_a_partial_subclass_is_told_what_is_missing() -> None:
    class Partial(SignatureAdapter):
        def parse(self, signature: Any, completion: str) -> dict[str, Any]:
            return {}

    with pytest.raises(TypeError, match="format_assistant_message_content"):
        Partial()  # type: ignore[abstract]


def test_004_08_the_task_is_the_instructions_line_by_line() -> None:
    text = ChatAdapter().format_task_description(QA.with_instructions("One.\nTwo."))
    assert text.endswith("your objective is: \n        One.\n        Two.")
    bare = SimpleNamespace(instructions="", input_fields={}, output_fields={})
    assert ChatAdapter().format_task_description(bare).endswith("objective is: \n        ")


def test_004_09_inputs_are_joined_by_empty_lines_between_prefix_and_suffix() -> None:
    made = ChatAdapter().format_user_message_content(QA, INPUTS, "Before.", "After.")
    assert made == (
        'Before.\n\n[[ ## question ## ]]\nwhy?\n\n[[ ## context ## ]]\n["a", "b"]\n\nAfter.'
    )


def test_004_09_a_missing_input_is_skipped_an_extra_one_is_told_of_and_none_is_null(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = ChatAdapter().format_user_message_content(
        QA, {"context": None, "other": 1}, main_request=True
    )
    assert "question ##" not in made
    assert "[[ ## context ## ]]\nnull" in made
    assert "`[[ ## completed ## ]]`" in made
    ChatAdapter()(ScriptedModel([GOOD]), {}, QA, [], {**INPUTS, "other": 1})
    assert "['other']" in caplog.text


def test_004_28_what_the_service_is_given_and_what_was_said_is_not_told_of_as_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    signature = TOOLS.append(Field("history", "input", live_type("History")))
    past = {"messages": [{"question": "?", "answer": "x"}]}
    inputs = {"question": "?", "tools": [LOOK], "history": past}
    NATIVE(ScriptedModel(["[[ ## answer ## ]]\nx"], tools=True), {}, signature, [], inputs)
    assert not caplog.text


@pytest.mark.parametrize("adapter", [cls() for cls in ADAPTERS])
def test_004_10_a_missing_output_has_its_message(adapter: FieldAdapter) -> None:
    made = adapter.format_assistant_message_content(QA, {"answer": "yes"}, "(none)")
    assert "(none)" in made
    assert "yes" in made


def test_004_10_a_chat_reply_ends_with_its_marker() -> None:
    made = ChatAdapter().format_assistant_message_content(QA, {"answer": "yes", "score": 1.0})
    assert made.endswith("\n\n[[ ## completed ## ]]\n")


def test_004_11_incomplete_demos_come_first_and_say_so() -> None:
    demos: list[dict[str, Any]] = [
        {**INPUTS, "answer": "full", "score": 0.0},
        {"question": "half?", "answer": "half"},
        {"question": "only in"},
        {"answer": "only out"},
    ]
    messages = ChatAdapter().format_demos(QA, demos)
    assert roles(messages) == ["user", "assistant"] * 2
    assert messages[0]["content"].startswith(INCOMPLETE)
    assert "half?" in messages[0]["content"]
    assert NOT_SUPPLIED in messages[1]["content"]
    assert "full" in messages[3]["content"]


@pytest.mark.parametrize("empty", [0.0, 0])
def test_004_11_falsy_values_are_there(empty: float) -> None:
    demo = {"question": "", "context": [], "answer": "", "score": empty}
    messages = ChatAdapter().format_demos(QA, [demo])
    assert INCOMPLETE not in messages[0]["content"]
    assert NOT_SUPPLIED not in messages[1]["content"]


def test_004_11_a_history_field_neither_spoils_a_demo_nor_is_printed_in_it() -> None:
    """In dspy a demo without its history is never complete, and one with it prints it."""
    demo = {**INPUTS, "answer": "yes", "score": 1.0}
    for given in (demo, {**demo, "history": SimpleNamespace(messages=["SECRET"])}):
        messages = ChatAdapter().format_demos(WITH_HISTORY, [given])
        assert INCOMPLETE not in messages[0]["content"]
        assert "history" not in str(messages)


@pytest.mark.parametrize("adapter", [cls() for cls in ADAPTERS])
def test_004_13_and_x_22_the_history_is_shown_nowhere_else(adapter: FieldAdapter) -> None:
    """In dspy the system message still lists it."""
    messages = adapter.format(WITH_HISTORY, [], {**INPUTS, "history": None})
    assert "history" not in str(messages).lower()


@pytest.mark.parametrize("history", [None, SimpleNamespace(), {"messages": []}, []])
def test_004_12_without_messages_there_is_no_history(history: Any) -> None:
    inputs = {**INPUTS, "history": history} if history != [] else dict(INPUTS)
    assert roles(ChatAdapter().format(WITH_HISTORY, [], inputs)) == ["system", "user"]
    assert ("history" in inputs) == (history != []), "the caller's inputs are not changed"


def test_004_12_entries_are_turns_or_messages_as_they_are() -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "3"}
    past = {"messages": [{"question": "q1"}, {"answer": "a1", "score": 1}, called, result]}
    messages = ChatAdapter().format(WITH_HISTORY, [], {**INPUTS, "history": past})
    assert roles(messages) == ["system", "user", "assistant", "assistant", "tool", "user"]
    assert messages[3:5] == [called, result]
    assert "q1" not in messages[2]["content"]


def test_004_12_a_past_turn_is_written_as_when_it_was_current() -> None:
    adapter = ChatAdapter()
    first = adapter.format(WITH_HISTORY, [], INPUTS)
    past = [{**INPUTS, "answer": "yes", "score": 0.5}]
    later = adapter.format(WITH_HISTORY, [], {"question": "and?", "history": past})
    assert later[: len(first)] == first


def test_004_14_callbacks_are_told_in_order() -> None:
    watcher = Watcher()
    ChatAdapter([watcher])(ScriptedModel([GOOD]), {"temperature": 0}, QA, [], INPUTS)
    assert watcher.told == [
        ("format_start", ["demos", "inputs", "signature"]),
        ("format_end", 2),
        ("lm_start", ["messages", "temperature"]),
        ("parse_end", None),
    ]


def test_004_14_callbacks_are_told_of_what_failed() -> None:
    watcher = Watcher()
    with pytest.raises(AdapterParseError):
        ChatAdapter([watcher]).parse(QA, "nothing")
    assert watcher.told == [("parse_end", AdapterParseError)]


def test_004_15_an_override_that_calls_the_inherited_method_is_told_of_once() -> None:
    class Own(ChatAdapter):
        def format(self, signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
            return [*super().format(signature, demos, inputs), {"role": "user", "content": "!"}]

    watcher = Watcher()
    assert len(Own([watcher]).format(QA, [], INPUTS)) == 3
    assert [name for name, _ in watcher.told] == ["format_start", "format_end"]


def test_004_28_tools_go_as_functions_and_leave_the_prompt() -> None:
    made = {"id": "c", "function": {"name": "look", "arguments": '{"at": "x"}'}}
    lm = ScriptedModel([{"text": "", "tool_calls": [made]}], tools=True)
    (value,) = NATIVE(lm, {}, TOOLS, [], {"question": "?", "tools": [LOOK]})
    assert value == {"answer": None, "calls": (ToolCall("c", "look", '{"at": "x"}'),)}
    assert lm.calls[0]["tools"][0]["function"]["name"] == "look"
    assert "tools" not in str(lm.calls[0]["messages"])


def test_004_28_a_model_that_only_answers_makes_no_calls() -> None:
    lm = ScriptedModel(["[[ ## answer ## ]]\nno need"], tools=True)
    (value,) = NATIVE(lm, {}, TOOLS, [], {"question": "?", "tools": LOOK})
    assert value == {"answer": "no need", "calls": None}


def test_004_28_calls_count_though_the_words_beside_them_cannot_be_read() -> None:
    signature = Signature.parse("question, tools: list[Tool] -> score: int, calls: ToolCalls")
    made = {"id": "c", "function": {"name": "look", "arguments": {"at": "x"}}}
    reply = {"text": "I look.", "tool_calls": [made]}
    (value,) = NATIVE(
        ScriptedModel([reply], tools=True), {}, signature, [], {"question": "?", "tools": [LOOK]}
    )
    assert value == {"score": None, "calls": (ToolCall("c", "look", '{"at": "x"}'),)}
    with pytest.raises(AdapterParseError, match="none of its fields"):
        NATIVE(
            ScriptedModel(["I look."], tools=True),
            {},
            signature,
            [],
            {"question": "?", "tools": [LOOK]},
        )


def test_004_28_tools_and_calls_of_dspy_say_themselves_what_they_are() -> None:
    class Tool:
        def format_as_litellm_function_call(self) -> dict[str, Any]:
            return {"type": "function", "function": {"name": "theirs"}}

    class ToolCalls:
        @classmethod
        def from_dict_list(cls, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return calls

    signature = Signature(
        (Field("tools", "input", list[Tool]), Field("calls", "output", ToolCalls))
    )
    made = SimpleNamespace(id="c", function=SimpleNamespace(name="theirs", arguments='{"at": 1}'))
    lm = ScriptedModel([{"text": "", "tool_calls": [made]}], tools=True)
    (value,) = NATIVE(lm, {}, signature, [], {"tools": [Tool()]})
    assert value == {"calls": [{"id": "c", "name": "theirs", "args": {"at": 1}}]}
    assert lm.calls[0]["tools"][0]["function"]["name"] == "theirs"


def test_004_28_calls_without_tools_are_a_mistake_of_the_signature() -> None:
    with pytest.raises(SetupError, match="no input holds tools"):
        NATIVE(ScriptedModel(), {}, Signature.parse("q -> calls: ToolCalls"), [], {})


def test_004_28_a_model_without_functions_is_told_of_the_tools_in_words() -> None:
    lm = ScriptedModel(["[[ ## answer ## ]]\nx\n\n[[ ## calls ## ]]\nlook"])
    (value,) = ChatAdapter()(lm, {}, TOOLS, [], {"question": "?", "tools": [LOOK]})
    assert '"name": "look"' in lm.calls[0]["messages"][1]["content"]
    assert "tools" not in lm.calls[0]
    assert value == {"answer": "x", "calls": "look"}


@pytest.mark.parametrize("arguments", ['{"code":"x=1"', '{"code":"rmtree(\'build', "[1]"])
def test_004_33_arguments_that_were_cut_off_are_an_error_and_no_call(arguments: str) -> None:
    """dspy completes them in silence; half a program would run."""
    made = {"id": "c", "function": {"name": "look", "arguments": arguments}}
    lm = ScriptedModel([{"text": "", "tool_calls": [made]}], tools=True)
    with pytest.raises(AdapterParseError, match="The arguments of 'look'"):
        NATIVE(lm, {}, TOOLS, [], {"question": "?", "tools": [LOOK]})


def test_004_23_an_error_of_the_service_is_not_an_error_of_the_reply() -> None:
    lm = ScriptedModel(LMServerError("Down."))
    with pytest.raises(LMServerError, match="Down"):
        ChatAdapter()(lm, {}, QA, [], INPUTS)
    assert len(lm.calls) == 1


MARKER = (
    '<<CUSTOM-TYPE-START-IDENTIFIER>>[{"type": "image_url", "image_url": {"url": "x"}}]'
    "<<CUSTOM-TYPE-END-IDENTIFIER>>"
)


@pytest.mark.parametrize("adapter", [cls() for cls in ADAPTERS])
def test_004_29_text_that_looks_like_a_part_stays_text(adapter: FieldAdapter) -> None:
    """In dspy what a person types can become a picture."""
    content = adapter.format(QA, [], {"question": MARKER, "context": []})[-1]["content"]
    assert isinstance(content, str)
    assert MARKER in content


@pytest.mark.parametrize("adapter", [cls() for cls in ADAPTERS])
def test_004_29_a_picture_is_a_part_of_its_own(adapter: FieldAdapter) -> None:
    signature = Signature.parse("picture: Image, question -> answer")
    picture = ImagePart("image/png", "AAAA")
    content = adapter.format(signature, [], {"picture": picture, "question": MARKER})[-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert content[1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    assert MARKER in content[2]["text"]


def test_004_29_several_pictures_of_one_field_follow_each_other() -> None:
    signature = Signature.parse("pictures: list[Image] -> answer")
    pictures = [ImagePart("image/png", "AAAA"), ImagePart("image/png", "BBBB")]
    content = ChatAdapter().format(signature, [], {"pictures": pictures})[-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "image_url", "text"]


def test_004_29_media_of_dspy_are_parts_too() -> None:
    class Audio:
        @classmethod
        def extract_custom_type_from_annotation(cls) -> None: ...

        def format(self) -> list[Mapping[str, Any]]:
            return [{"type": "input_audio", "input_audio": {"data": "AA"}}]

    content = ChatAdapter().format(Signature.parse("sound: Audio -> a"), [], {"sound": Audio()})
    assert content[-1]["content"][1]["type"] == "input_audio"


JSON_REPLY = '{"answer": "yes", "score": 0.5}'


class AwaitedModel(ScriptedModel):
    """Can only be awaited."""

    def __call__(self, messages: Any, **options: Any) -> Any:
        raise AssertionError("it was to be awaited")

    async def acall(self, messages: Any, **options: Any) -> Any:
        """Answer."""
        return super().__call__(messages, **options)


def test_004_23_a_reply_that_cannot_be_read_is_asked_for_once_more_as_json(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lm = ScriptedModel(["nonsense"], [JSON_REPLY])
    assert ChatAdapter()(lm, {}, QA, [], INPUTS) == [{"answer": "yes", "score": 0.5}]
    assert "once more, as JSON" in caplog.text
    lm = AwaitedModel(["nonsense"], [JSON_REPLY])
    assert asyncio.run(ChatAdapter().acall(lm, {}, QA, [], INPUTS))[0]["answer"] == "yes"
    assert len(lm.calls) == 2
    cut = {"text": "[[ ## answer ## ]]\nye", "truncated": True}
    with pytest.raises(AdapterParseError, match="was cut"):
        ChatAdapter()(ScriptedModel([cut]), {}, QA, [], INPUTS)


def test_004_03_two_steps_await_both_models() -> None:
    main, small = AwaitedModel(["Yes, half."]), AwaitedModel([GOOD])
    made = asyncio.run(TwoStepAdapter(small).acall(main, {}, QA, [], INPUTS))
    assert made == [{"answer": "yes", "score": 0.5}]


@pytest.mark.parametrize("is_native", [True, False])
def test_004_12_calls_of_the_past_go_the_services_way_or_into_words(is_native: bool) -> None:
    calls = [{"id": "c1", "name": "look", "args": {"at": "x"}}]
    results = [{"call_id": "c1", "name": "look", "value": {"seen": 1}}]
    turn = {"calls": {"tool_calls": calls, "tool_call_results": {"tool_call_results": results}}}
    past = [{"question": "before?", "answer": "I look.", **turn}]
    signature = Signature.parse("history: History, question -> answer, calls: ToolCalls")
    adapter = ChatAdapter(use_native_function_calling=is_native)
    messages = adapter.format(signature, [], {"history": past, "question": "now?"})[1:]
    if is_native:
        assert roles(messages) == ["user", "assistant", "tool", "user"]
        assert messages[1]["tool_calls"][0]["function"]["arguments"] == '{"at": "x"}'
        assert messages[2] == {
            **{"role": "tool", "tool_call_id": "c1", "name": "look"},
            "content": '{"seen": 1}',
        }
        results[0]["call_id"] = "another"
        unmatched = adapter.format(signature, [], {"history": past, "question": "now?"})[1:]
        assert roles(unmatched) == ["user", "assistant", "user"]
    else:
        assert roles(messages) == ["user", "assistant", "user", "user"]
        assert "[[ ## tool_call_results ## ]]" in messages[2]["content"]
        assert "None" not in messages[2]["content"]


def test_004_28_calls_may_be_asked_for_side_by_side_and_are_not_where_tools_are_words() -> None:
    inputs = {"question": "?", "tools": [LOOK]}
    lm = ScriptedModel(["[[ ## answer ## ]]\nx"], tools=True)
    ChatAdapter(use_native_function_calling=True, parallel_tool_calls=True)(
        lm, {}, TOOLS, [], inputs
    )
    assert (lm.calls[0]["tool_choice"], lm.calls[0]["parallel_tool_calls"]) == ("auto", True)
    lm = ScriptedModel(["[[ ## answer ## ]]\nx\n[[ ## calls ## ]]\ny"], tools=True)
    ChatAdapter()(lm, {"tools": [1], "tool_choice": "any"}, TOOLS, [], inputs)
    assert {"tools", "tool_choice"}.isdisjoint(lm.calls[0])
    lm = ScriptedModel(["[[ ## answer ## ]]\nx\n[[ ## calls ## ]]\ny"])
    NATIVE(lm, {"tools": [1], "tool_choice": "any"}, TOOLS, [], inputs)
    assert {"tools", "tool_choice"}.isdisjoint(lm.calls[0])


def test_004_29_media_within_other_values_are_parts_and_text_is_never_taken_for_one() -> None:
    picture = ImagePart("image/png", "AAAA")
    given = {"first": picture, "words": "[[ ## answer ## ]]", "more": ["x", picture]}
    signature = Signature.parse("pages: dict -> answer")
    content = ChatAdapter().format(signature, [], {"pages": given})[-1]["content"]
    kinds = [part["type"] for part in content]
    assert kinds == ["text", "image_url", "text", "image_url", "text"]
    told = "".join(part.get("text", "") for part in content)
    assert [section.name for section in read_sections(told, {"answer"}.__contains__)] == [
        "",
        "answer",
    ]


def test_004_04_what_a_service_gives_beside_the_text_leaves_the_prompt() -> None:
    class Thought:
        @classmethod
        def adapt_to_native_lm_feature(
            cls, signature: Any, name: str, lm: Any, lm_kwargs: dict[str, Any]
        ) -> Any:
            lm_kwargs["effort"] = "low"
            return signature.delete(name)

        @classmethod
        def parse_lm_response(cls, response: dict[str, Any]) -> str | None:
            return response.get("reasoning_content")

    signature = QA.append(Field("why", "output", Thought))
    lm = ScriptedModel([{"text": GOOD, "reasoning_content": "I thought."}, {"text": GOOD}])
    lm.supports_reasoning = True  # type: ignore[attr-defined]
    first, second = ChatAdapter()(lm, {}, signature, [], INPUTS)
    assert (first["why"], second["why"]) == ("I thought.", None)
    assert lm.calls[0]["effort"] == "low"
    assert "why" not in lm.calls[0]["messages"][0]["content"]


def test_004_24_a_model_of_dspy_is_given_a_class_where_it_takes_one() -> None:
    for params, knows, expected in (
        (["response_format"], True, {"answer", "score"}),
        (["response_format"], False, {"type": "json_object"}),
        ([], True, None),
    ):
        lm = ScriptedModel([JSON_REPLY], schema=knows)
        lm.supported_params = params  # type: ignore[attr-defined]
        JSONAdapter()(lm, {}, QA, [], INPUTS)
        made: Any = lm.calls[0].get("response_format")
        assert (set(made.model_fields) if hasattr(made, "model_fields") else made) == expected


@dataclass(frozen=True, eq=False)
class FieldWithName:
    """What dspy's is, and as a key it is only itself."""

    name: str
    info: Any


def test_004_30_fields_are_written_by_themselves_for_dspys_scripted_model() -> None:
    given = {FieldWithName("answer", QA.output_fields["answer"]): "yes"}
    for adapter, expected in (
        (ChatAdapter(), "[[ ## answer ## ]]\nyes"),
        (XMLAdapter(), "<answer>\nyes\n</answer>"),
        (JSONAdapter(), '{\n  "answer": "yes"\n}'),
    ):
        assert adapter.format_field_with_value(given, role="assistant") == expected
    assert JSONAdapter().format_field_with_value(given).startswith("[[ ## answer")


def test_004_33_a_whole_dictionary_in_pythons_spelling_is_read() -> None:
    made = {"call_id": "c", "name": "look", "arguments": '{"at": "x",}'}
    lm = ScriptedModel([{"tool_calls": [made]}], tools=True)
    (value,) = NATIVE(lm, {}, TOOLS, [], {"question": "?", "tools": [LOOK]})
    assert value["calls"][0].id == "c"


def test_004_29_types_say_what_they_are() -> None:
    class Place:
        @classmethod
        def extract_custom_type_from_annotation(cls, annotation: Any) -> list[Any]:
            return []

        @classmethod
        def description(cls) -> str:
            return "Where it is."

    signature = Signature((Field("at", "input", list[Place]), Field("answer", "output")))
    told = ChatAdapter().format_field_description(signature)
    assert "Type description of Place: Where it is." in told
