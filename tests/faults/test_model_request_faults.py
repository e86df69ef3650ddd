"""Requests that a model does not take as they are, and lists of models, over a real socket."""

from __future__ import annotations

import socket
import time

import pytest
from asking import RUN_CELL, answer_to, ask, prompt_of, serving
from fake_service import (
    MODEL,
    Answer,
    FakeService,
    Request,
    error,
    html,
    in_bytes,
    json_body,
    spaced,
    status,
    text,
    tool_call,
)

from cellwright.errors import (
    LMContextError,
    LMError,
    LMRequestError,
    LMStreamError,
    LMTimeoutError,
    LMToolsUnsupportedError,
)
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.capabilities import list_models
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import Notice
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.settings import ServiceSettings

SECRET = "sk-" + "proj-" + "a1B2" * 8


CONTEXT_WORDINGS = {
    "OpenAI": error(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted "
        "in 130,001 tokens. Please reduce the length of the messages.",
        code="context_length_exceeded",
    ),
    "vLLM": status(
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 128000 tokens. However, you "
            "requested 131072 tokens in the messages. Please reduce the length of the messages.",
            "code": 400,
        },
    ),
    "llama.cpp": status(
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size (128000 tokens), "
                "try increasing it",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "Ollama": status(500, {"error": "input length exceeds the context length of 128000"}),
    "LM Studio": status(
        400, {"error": "the model is loaded with context length of only 128000 tokens"}
    ),
}


@pytest.mark.parametrize("answer", CONTEXT_WORDINGS.values(), ids=CONTEXT_WORDINGS)
def test_a_conversation_that_is_too_long_is_known_in_each_wording(answer: Answer) -> None:
    """M41"""
    with serving([answer] * 2) as (service, lm):
        with pytest.raises(LMContextError, match="too long for 'fake-model'"):
            ask(lm)
        assert len(service.requests) == 1
        assert lm.capabilities(MODEL).context_tokens == 128_000


TOOLS_WORDINGS = {
    "Ollama": (
        error(400, "registry.ollama.ai/library/x:latest does not support tools"),
        "Models known to call tools",
    ),
    "vLLM": (
        error(400, '"auto" tool choice requires --enable-auto-tool-choice to be set'),
        "--tool-call-parser",
    ),
    "llama.cpp": (error(500, "tools param requires --jinja flag"), "--jinja"),
    "OpenRouter": (error(404, "No endpoints found that support tool use."), "Models known"),
}


@pytest.mark.parametrize(("answer", "hint"), TOOLS_WORDINGS.values(), ids=TOOLS_WORDINGS)
def test_a_model_without_tools_is_known_in_each_wording(answer: Answer, hint: str) -> None:
    """M43"""
    with serving([answer] * 2) as (service, lm):
        with pytest.raises(LMToolsUnsupportedError, match="cannot call tools") as caught:
            ask(lm)
        assert len(service.requests) == 1
        assert not lm.capabilities(MODEL).tools
    assert hint in caught.value.hint


def picky(*refused: str, named: bool = True) -> Answer:
    """A model that refuses some parameters, one at a time."""

    def answer(request: Request) -> Answer:
        found = next((name for name in refused if name in request.body), None)
        if found is None:
            return text("Yes.")
        message = f"Unsupported parameter: '{found}' is not supported with this model."
        return error(400, message, param=found if named else None)

    return answer  # type: ignore[return-value]


@pytest.mark.parametrize("named", [True, False])
def test_a_refused_parameter_is_left_out_once_and_for_all(named: bool) -> None:
    """M44"""
    prompt = prompt_of("hi", temperature=0.3, extra={"parallel_tool_calls": False, "seed": 7})
    with serving(picky("temperature", "parallel_tool_calls", named=named)) as (service, lm):
        asked, again = ask(lm, prompt), ask(lm, prompt)
        assert len(service.requests) == 4
        assert service.requests[-1].body["seed"] == 7
    assert asked.reply is not None
    assert again.reply is not None
    assert asked.reply.dropped_parameters == ("parallel_tool_calls", "temperature")
    assert again.reply.dropped_parameters == ("parallel_tool_calls", "temperature")
    assert [notice.code for notice in asked.all(Notice)] == ["parameter_dropped"] * 2
    assert again.all(Notice) == []
    assert not lm.capabilities(MODEL).parallel_tool_calls
    assert asked.reply.attempts == 1


def test_the_limit_of_the_answer_is_sent_under_the_name_the_model_takes() -> None:
    """M44"""
    prompt = prompt_of("hi", max_output_tokens=50)
    with serving(picky("max_tokens")) as (service, lm):
        reply = ask(lm, prompt).reply
        assert service.requests[-1].body["max_completion_tokens"] == 50
    assert reply is not None
    assert reply.dropped_parameters == ()


def test_a_limit_of_the_answer_that_is_refused_under_both_names_is_left_out() -> None:
    """M44"""
    prompt = prompt_of("hi", max_output_tokens=50)
    reply = answer_to(picky("max_tokens", "max_completion_tokens", "stream_options"), prompt)
    assert reply.dropped_parameters == ("max_tokens",)
    assert reply.usage.estimated


def test_a_parameter_named_by_its_place_in_the_body_is_left_out() -> None:
    """M44: as FastAPI words it"""
    problem = {"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}
    answers = [status(422, {"detail": [problem]}), text("Yes.")]
    assert answer_to(answers, prompt_of("hi", temperature=1)).dropped_parameters == ("temperature",)


def test_pictures_that_are_refused_become_their_captions() -> None:
    """M44"""
    picture = ImagePart("image/png", "aGk=", "a plot")
    prompt = prompt_of(UserMessage((TextPart("See"), picture)))
    answers = [error(400, "This model does not support image input."), text("Yes.")]
    with FakeService(answers) as service:
        lm = OpenAILM(service.settings())
        asked = ask(lm, prompt)
        lm.close()
        first, second = (request.messages[0]["content"] for request in service.requests)
    assert first[1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert second == "See\n[image: a plot]"
    assert not lm.capabilities(MODEL).vision
    assert len(asked.all(Notice)) == 1


def test_a_request_that_is_refused_for_another_reason_is_an_error() -> None:
    """M44"""
    with serving([error(400, "Your organisation is on hold.", param="hold")] * 2) as (service, lm):
        with pytest.raises(LMRequestError, match="on hold") as caught:
            ask(lm, prompt_of("hi", temperature=1))
        assert len(service.requests) == 1
    assert (caught.value.status, caught.value.parameter) == (400, "hold")


def test_models_are_listed_in_the_order_of_the_service() -> None:
    """M45"""
    names = [f"model-{number}" for number in range(10_000)]
    with FakeService(models=names) as service:
        assert list_models(service.settings()) == tuple(names)


@pytest.mark.parametrize("code", [404, 405, 501])
def test_a_service_without_a_list_of_models_lists_none(code: int) -> None:
    """M45"""
    with FakeService(models=status(code, "no")) as service:
        assert list_models(service.settings()) == ()


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"models": [{"name": "a"}, {"name": "a"}, {}, 3]}, ("a",)),
        (["a", {"id": "b"}], ("a", "b")),
    ],
)
def test_lists_of_models_in_other_shapes_are_read(body: object, names: tuple[str, ...]) -> None:
    """M45"""
    with FakeService(models=json_body(body)) as service:  # type: ignore[arg-type]
        assert list_models(service.settings()) == names


@pytest.mark.parametrize("answer", [html(), json_body({"data": "none"}), json_body({})])
def test_what_is_no_list_of_models_is_an_error(answer: Answer) -> None:
    """M45"""
    with FakeService(models=answer) as service:
        settings = service.settings()
        with pytest.raises(LMStreamError, match="does not list models"):
            list_models(settings)


def test_a_list_of_models_that_does_not_come_is_not_waited_for() -> None:
    """M45"""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = ServiceSettings(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        started = time.monotonic()
        with pytest.raises(LMError, match=r"did not answer within 0\.2 s"):
            list_models(settings, timeout_seconds=0.2)
        assert time.monotonic() - started < 2


def test_a_list_of_models_that_comes_in_drops_is_not_waited_for_either() -> None:
    """M45"""
    slow = spaced(in_bytes(json_body({"data": [{"id": "a"}]})), 0.3)
    with FakeService(models=slow) as service:
        started = time.monotonic()
        with pytest.raises(LMTimeoutError, match=r"did not answer within 0\.5 s"):
            list_models(service.settings(), timeout_seconds=0.5)
        assert time.monotonic() - started < 2


def test_an_argument_text_that_is_not_json_goes_back_to_the_model_as_json() -> None:
    """M1, M47: Ollama and vLLM refuse a history that holds a broken argument"""
    said = AssistantMessage("", (ToolCall("c", "run_cell", '{"code": '),))
    result = ToolMessage("c", "run_cell", (TextPart("not valid JSON"),), is_error=True)
    with serving([text("Sorry.")]) as (service, lm):
        ask(lm, prompt_of("go", said, result))
        call = service.requests[0].messages[1]["tool_calls"][0]
    assert call["function"]["arguments"] == '{"unreadable_arguments": "{\\"code\\": "}'


def test_arguments_that_cannot_be_read_say_where() -> None:
    """M1"""
    reply = answer_to([tool_call("run_cell", '{"code": "1",}')])
    (parsed,) = NativeAdapter().parse_reply(reply, (RUN_CELL,)).calls
    assert "line 1, column" in parsed.error
    assert parsed.arguments == {}
