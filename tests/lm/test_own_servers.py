"""What servers of one's own do: drop tools, load for long, call a wrong request an outage."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from asking import QUICK, RUN_CELL, ask, prompt_of, serving
from fake_providers import Mistral, calls, says, thinks
from fake_service import (
    FakeService,
    Pause,
    Request,
    chunk,
    error,
    json_body,
    raw_sse,
    text,
    tool_call,
)

from cellwright.commands.doctor import checks
from cellwright.context.turns import message_tokens
from cellwright.errors import (
    LMAccessError,
    LMContextError,
    LMRequestError,
    LMServerError,
    LMToolsUnsupportedError,
)
from cellwright.llm.openai import USUAL_LIMIT_TOKENS, OpenAILM
from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.llm.provider_items import ItemReader
from cellwright.llm.retries import RepetitionWatch, next_delay
from cellwright.record.events import ModelRetrying, Notice
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Parameters,
    Prompt,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.settings import ModelSettings, ServiceSettings, Settings
from cellwright.stopping import Stop

NO_TOOLS = {"chat_template_caps": {"supports_tools": False, "supports_tool_calls": False}}
TOOLS = {"chat_template_caps": {"supports_tools": True}}
ENDS = (chunk({}, "stop"), chunk(None, timings={"prompt_n": 90, "predicted_ms": 5.0}))
PLAIN = raw_sse([chunk({"content": "I would add them."}), *ENDS])
"""As llama-server answers: the last chunk says how long it computed."""
LOADING = error(503, "Loading model", type="unavailable_error", code=503)


class TestToolsThatAreDropped:
    def test_a_template_without_tools_is_told_and_asked_no_more(self) -> None:
        prompt = prompt_of("add", tools=(RUN_CELL,))
        with FakeService([PLAIN], props=NO_TOOLS) as service:
            lm = OpenAILM(service.settings())
            events: list[Any] = []
            stream = map(events.append, lm.stream(prompt, Stop()))
            with pytest.raises(LMToolsUnsupportedError, match="drops them without a word"):
                list(stream)
            assert isinstance(events[-1], ModelRetrying), "what was shown is void"
            with pytest.raises(LMToolsUnsupportedError):
                ask(lm, prompt)
            lm.close()
        assert [r.path for r in service.other_requests] == ["/props"]
        assert len(service.requests) == 1

    @pytest.mark.parametrize("props", [TOOLS, {}, {"chat_template_caps": []}, None])
    def test_one_with_tools_may_answer_in_words(self, props: Any) -> None:
        with FakeService([PLAIN, PLAIN], props=props) as service:
            lm = OpenAILM(service.settings())
            replies = [ask(lm, prompt_of("add", tools=(RUN_CELL,))).reply for _ in range(2)]
            lm.close()
        assert [r and r.message.text for r in replies] == ["I would add them."] * 2
        assert [r.path for r in service.other_requests] == ["/props"], "it is asked once"

    def test_other_services_and_replies_with_calls_are_not_asked(self) -> None:
        with FakeService([text("Yes."), tool_call("run_cell", {"code": "1"})]) as service:
            lm = OpenAILM(service.settings())
            for _ in range(2):
                ask(lm, prompt_of("add", tools=(RUN_CELL,)))
            lm.close()
        assert service.other_requests == []

    def test_a_proxy_that_hides_it_is_found_out_by_its_counts(self) -> None:
        tools = tuple(replace(RUN_CELL, name=f"tool_{n}", description="x " * 400) for n in range(6))
        prompt = prompt_of("add", tools=tools)
        few = {"prompt_tokens": 292, "completion_tokens": 5, "total_tokens": 297}
        most = {"prompt_tokens": 1_100, "completion_tokens": 5, "total_tokens": 1_105}
        with FakeService([text("I add.", usage=most), text("I add.", usage=few)]) as service:
            lm = OpenAILM(service.settings())
            assert ask(lm, prompt).reply, "a prompt that was cut is no proof"
            for _ in range(2):
                with pytest.raises(LMToolsUnsupportedError, match="drops them without a word"):
                    ask(lm, prompt)
            lm.close()
        assert len(service.requests) == 2
        assert service.other_requests == []

    def test_doctor_says_so(self) -> None:
        with FakeService([], props=NO_TOOLS) as service:
            settings = Settings(service=service.settings(model="fake-model"))
            (found,) = [c for c in checks(settings) if c.name == "tool calling"]
        assert found.status == "warning"
        assert "has no tools" in found.text
        assert "chat" in found.action


def test_a_server_that_loads_its_model_is_waited_for() -> None:
    with serving([LOADING] * 9 + [text("Yes.")], retry_limit=1) as (_, lm):
        asked = ask(lm)
    assert asked.reply is not None
    assert asked.reply.message.text == "Yes."
    assert len(asked.all(ModelRetrying)) == 9
    assert "Loading model" in asked.all(ModelRetrying)[0].reason


def test_it_is_not_waited_for_longer_than_a_reply() -> None:
    loading = LMServerError("Loading model")
    loading.is_loading = True
    service = ServiceSettings(deadline_seconds=9.0, retry_limit=1)
    delays = [next_delay([loading] * times, service, 0.5) for times in range(1, 8)]
    assert delays == [2.0] * 5 + [None] * 2
    # What fails once it is loaded has its own retries.
    assert next_delay([*[loading] * 5, LMServerError("Down.")], service, 0.5) is not None


@pytest.mark.parametrize(
    "words",
    [
        "\n------------\nWhile executing CallExpression at line 47, column 32 in source:\n...\n"
        "Error: Jinja Exception: Only user and assistant roles are supported!",
        "Unknown argument ensure_ascii for function tojson at row 11, column 37:",
        "image input is not supported - hint: if this is unexpected, provide the mmproj",
    ],
)
def test_a_request_that_llama_cpp_cannot_render_is_no_outage(words: str) -> None:
    answers = [error(500, words, type="server_error", code=500)] * 2
    with serving(answers) as (service, lm), pytest.raises(LMRequestError):
        ask(lm)
    assert len(service.requests) == 1, "asking again is no help"


class TestAServerThatSaysLittleInAStream:
    """As llama-cpp-python's: 200 before it reads a request, no counts, and tools dropped unseen."""

    TOO_LONG = (
        "This model's maximum context length is 4096 tokens. However, you requested 6039 tokens "
        "(6031 in the messages, 8 in the completion)."
    )

    def test_it_is_asked_for_all_at_once_why_nothing_came(self) -> None:
        with serving([raw_sse([], done=False), error(400, self.TOO_LONG), text("Yes.")]) as (s, lm):
            with pytest.raises(LMContextError):
                ask(lm)
            assert lm.capabilities("fake-model").context_tokens == 4_096
            assert lm.capabilities("fake-model").refused_parameters == frozenset()
            ask(lm)
        assert [request.body["stream"] for request in s.requests] == [True, False, True]
        assert "stream_options" not in s.requests[1].body

    def test_a_field_that_it_does_not_take_is_left_out(self) -> None:
        """It calls that a failure of its own; the words are those of a real one."""
        words = (
            "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', "
            "'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}"
        )
        wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}
        failed = error(500, words, type="internal_server_error")
        with serving([failed, text("Yes.")]) as (service, lm):
            asked = ask(lm, prompt_of(extra={"response_format": wanted}))
        assert asked.reply is not None
        assert [notice.code for notice in asked.all(Notice)] == ["parameter_dropped"]
        assert ["response_format" in request.body for request in service.requests] == [True, False]

    @pytest.mark.parametrize("drops", [True, False])
    def test_it_is_asked_once_whether_tools_count(self, drops: bool) -> None:
        def answer(request: Request) -> Any:
            if request.body["stream"]:
                return text("I would add them.", usage=False)(request)
            assert request.body["max_tokens"] == 1
            counted = 200 if drops or "tools" not in request.body else 300
            return text("I", usage={"prompt_tokens": counted, "completion_tokens": 1})(request)

        prompt = prompt_of("add", tools=(RUN_CELL,))
        listed = json_body({"data": [{"id": "fake-model", "owned_by": "me"}]})
        with serving(answer, models=listed) as (service, lm):
            lm.learn_window("fake-model")
            for _ in range(2):
                if drops:
                    with pytest.raises(LMToolsUnsupportedError, match="drops them without"):
                        ask(lm, prompt)
                else:
                    asked = ask(lm, prompt)
                    assert asked.reply
                    assert asked.reply.usage.estimated
        streamed = [request.body["stream"] for request in service.requests]
        assert streamed == [True, False, False] + [True] * (not drops)

    def test_what_drops_tools_is_known_where_the_window_is_set(self) -> None:
        """Who uses a server that does not say its window sets it."""
        counted = text("I", usage={"prompt_tokens": 200, "completion_tokens": 1})
        listed = json_body({"data": [{"id": "fake-model", "owned_by": "me"}]})
        script = [text("I would add them.", usage=False), counted, counted]
        models = {"fake-model": ModelSettings(context_tokens=4_096)}
        with (
            FakeService(script, models=listed) as service,
            closing(OpenAILM(service.settings(), models=models, pace=QUICK)) as lm,
        ):
            for _ in range(2):
                lm.learn_window("fake-model")
            assert lm.capabilities("fake-model").context_tokens == 4_096
            with pytest.raises(LMToolsUnsupportedError, match="drops them without"):
                ask(lm, prompt_of("add", tools=(RUN_CELL,)))
        assert len(service.other_requests) == 1

    def test_a_proxy_is_asked_where_a_prompt_is_too_short_to_be_judged(self) -> None:
        listed = json_body({"data": [{"id": "fake-model", "created": 1677610602}]})
        counts = {"prompt_tokens": 200, "completion_tokens": 1}
        with serving([text("I add.", usage=counts)] * 2, models=listed) as (service, lm):
            lm.learn_window("fake-model")
            with pytest.raises(LMToolsUnsupportedError, match="drops them without"):
                ask(lm, prompt_of("add", tools=(RUN_CELL,)))
        assert ["tools" in request.body for request in service.requests] == [True, False]

    def test_a_proxy_without_keys_of_its_own_refuses_a_wrong_one(self) -> None:
        refusal = error(400, "No connected db.", type="no_db_connection")
        with (
            serving([refusal]) as (_, lm),
            pytest.raises(LMAccessError, match="does not accept the key"),
        ):
            ask(lm)


class TestTheShapeOfMessagesWithCalls:
    """Servers refuse, and get what they want from then on; the conversation stays as it is."""

    SAID = (
        UserMessage((TextPart("add"),)),
        AssistantMessage("", (ToolCall("call_1", "run_cell", "{}"), ToolCall("b", "see", "{}"))),
        ToolMessage("call_1", "run_cell", (TextPart("1"),)),
        ToolMessage("b", "see", (TextPart("2"),)),
    )
    REFUSALS = (
        (500, "Jinja Exception: Tool call IDs should be alphanumeric strings with length 9!"),
        (400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
        (400, "Error: Jinja Exception: This model only supports single tool-calls at once!"),
        (
            500,
            "7 validation errors: {'type': 'string_type', 'loc': ('body', 'messages', 1, "
            "'ChatCompletionRequestAssistantMessage', 'content'), 'msg': "
            "'Input should be a valid string', 'input': None}",
        ),
    )

    def sent_after(self, status: int, words: str) -> Any:
        prompt = Prompt(self.SAID, (RUN_CELL,), Parameters("fake-model"))
        answers = [error(status, words), text("3."), text("3.")]
        with serving(answers) as (service, lm):
            asked = ask(lm, prompt)
            ask(lm, prompt)
        assert [notice.code for notice in asked.all(Notice)] == ["shape_learned"]
        assert len(service.requests) == 3, "it is learned once"
        assert service.requests[1].messages == service.requests[2].messages
        assert service.requests[0].messages[1]["content"] is None
        return service.requests[1].messages

    @pytest.mark.parametrize(("status", "words"), REFUSALS[:2])
    def test_ids_of_nine_letters(self, status: int, words: str) -> None:
        sent = self.sent_after(status, words)
        ids = [call["id"] for call in sent[1]["tool_calls"]]
        assert ids == [sent[2]["tool_call_id"], sent[3]["tool_call_id"]]
        assert len(set(ids)) == 2
        assert all(len(name) == 9 and name.isalnum() for name in ids)

    def test_one_call_in_a_message(self) -> None:
        sent = self.sent_after(*self.REFUSALS[2])
        assert [m["role"] for m in sent] == ["user", *["assistant", "tool"] * 2]
        assert [m["tool_calls"][0]["id"] for m in sent[1::2]] == ["call_1", "b"]
        assert [m["tool_call_id"] for m in sent[2::2]] == ["call_1", "b"]

    def test_a_text_beside_the_calls(self) -> None:
        assert self.sent_after(*self.REFUSALS[3])[1]["content"] == ""


def test_a_picture_that_a_template_cannot_add_to_a_text_is_left_out() -> None:
    words = 'can only concatenate str (not "list") to str'
    prompt = Prompt(
        (UserMessage((ImagePart("image/png", "QUJD", "a plot"),)),), (), Parameters("m")
    )
    with serving([error(500, words), text("Yes.")]) as (service, lm):
        asked = ask(lm, prompt)
    assert [notice.code for notice in asked.all(Notice)] == ["pictures_refused"]
    assert service.requests[1].messages[0]["content"] == "[image: a plot]"


class TestTheLimitOfAnAnswer:
    def test_a_server_of_ones_own_is_always_given_one(self) -> None:
        with serving([text("Yes."), text("Yes.")]) as (service, lm):
            ask(lm)
            ask(lm, Prompt((UserMessage((TextPart("hi"),)),), (), Parameters("m", None, 5)))
        sent = [request.body["max_tokens"] for request in service.requests]
        assert sent == [USUAL_LIMIT_TOKENS, 5]

    @pytest.mark.parametrize(
        "words",
        [
            "This model's maximum context length is 8192 tokens. However, you requested 18384 "
            "tokens (2000 in the messages, 16384 in the completion).",
            "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum "
            "context length is 8192 tokens and your request has 2000 input tokens.",
            "max_tokens is too large: 16384. This model supports at most 4096 completion tokens.",
        ],
    )
    def test_one_that_does_not_fit_is_left_out_and_the_conversation_stays(self, words: str) -> None:
        def strict(request: Request) -> Any:
            return error(400, words) if "max_tokens" in request.body else text("Yes.")

        with serving(strict) as (service, lm):
            asked = ask(lm)
            ask(lm)
        assert [notice.code for notice in asked.all(Notice)] == ["parameter_dropped"]
        assert len(service.requests) == 3


class TestRepetition:
    # SmolLM2 wrote the second one, to "a list of the first ten squares", until its window was full.
    @pytest.mark.parametrize("said", ["the answer is the ", "1, "])
    @pytest.mark.parametrize("field", ["content", "reasoning_content"])
    def test_a_reply_that_says_the_same_for_ever_is_stopped(self, field: str, said: str) -> None:
        pieces = [chunk({field: said}) for _ in range(7_200 // len(said))]
        with serving([raw_sse([*pieces, Pause(30)]), text("Yes.")]) as (service, lm):
            asked = ask(lm)
            assert service.wait_for_break()
            assert ask(lm).reply is not None
        assert asked.reply is not None
        assert (asked.reply.truncated, asked.reply.finish_reason) == (True, "repetition")
        assert [notice.code for notice in asked.all(Notice)] == ["repetition"]

    def test_long_and_varied_or_drawn_text_is_none(self) -> None:
        rows = [f"| row {n} | {n * 7} |\n" for n in range(600)]
        for pieces in (rows, ["-" * 30] * 150, ["0, 0, "] * 750):
            watch = RepetitionWatch()
            assert not any(watch.feed(piece) for piece in pieces)


class TestThinkingInTheContent:
    SCRIPT = (
        [thinks("First the total."), says("I add."), calls("run_cell", {"code": "1"})],
        [thinks("Done."), says("It is 1.")],
    )

    def test_it_is_thinking_and_goes_back_as_it_came(self) -> None:
        provider = Mistral(self.SCRIPT)
        with serving(provider) as (_, lm):
            first = ask(lm, prompt_of("add", tools=(RUN_CELL,))).reply
            assert first is not None
            message = first.message
            assert (message.text, message.reasoning) == ("I add.", "First the total.")
            said = (
                UserMessage((TextPart("add"),)),
                message,
                ToolMessage(message.tool_calls[0].id, "run_cell", (TextPart("1"),)),
            )
            second = ask(lm, Prompt(said, (RUN_CELL,), Parameters("fake-model"))).reply
        assert second is not None
        assert (second.message.text, second.message.reasoning) == ("It is 1.", "Done.")
        assert provider.refusals == []
        (sent,) = [m for m in provider.taken[1]["messages"] if m["role"] == "assistant"]
        assert sent["content"] == [
            {
                "type": "thinking",
                "thinking": [{"type": "text", "text": "First the total."}],
                "closed": True,
            },
            {"type": "text", "text": "I add."},
        ]
        assert "reasoning_content" not in sent

    def test_to_another_service_it_goes_as_plain_text(self) -> None:
        with serving(Mistral(self.SCRIPT)) as (_, lm):
            first = ask(lm, prompt_of("add", tools=(RUN_CELL,))).reply
        assert first is not None
        with serving([text("Mine.")]) as (service, lm):
            said = (UserMessage((TextPart("a"),)), first.message)
            ask(lm, Prompt(said, (), Parameters("fake-model")))
        assert service.requests[0].messages[-1]["content"] == "I add."


@pytest.mark.parametrize(
    "items",
    [
        ({"type": "reasoning", "encrypted_content": "g" * 4_000},),
        ({"field": "reasoning_content"},),
        ({"field": "extra_content", "call": 0, "value": {"google": {"data": "y" * 4_000}}},),
    ],
)
def test_what_goes_back_to_a_provider_takes_room_in_the_window(items: Any) -> None:
    call = (ToolCall("c", "run_cell", "{}"),)
    plain = AssistantMessage("Hm.", call, "thinking " * 450)
    kept = AssistantMessage(
        "Hm.", call, "thinking " * 450, provider_items=ItemReader("h:1", "chat", "m").keep(items)
    )
    assert message_tokens(kept) - message_tokens(plain) > 800
    sizes = [
        estimated_prompt_tokens(Prompt((message,), (), Parameters("m")))
        for message in (plain, kept)
    ]
    assert sizes[1] - sizes[0] > 800
