"""Models that hold 2 to 8 thousand tokens: the window is asked for, and what is sent fits it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import QUICK, ask, prompt_of, serving
from fake_service import FakeService, Request, Wire, error, html, json_body, status, text, tool_call
from fakes import FakeKernel

from cellwright.llm import capabilities
from cellwright.llm.capabilities import LEARNED, WINDOWS
from cellwright.llm.openai import USUAL_LIMIT_TOKENS, OpenAILM
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.providers import PROVIDERS
from cellwright.record.events import Notice, RunFinished
from cellwright.record.messages import Parameters, UserMessage
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.services import Service
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.text.truncation import estimate_tokens
from cellwright.tools.registry import brief_tools

MODEL = "fake-model"
LONG = "Here is my log. " + "2026-11-23 10:00:00 worker 17 took 31 ms for job 4711. " * 900
"""A question of about 12,000 tokens."""
COUNTED_PER_BYTE = 0.36
"""A template writes tools at length: more tokens than a quarter of the bytes."""


class SmallServer:
    """Refuses what does not fit, as llama-server does, and says in the end what it was asked.

    Source: ggml-org/llama.cpp pull 15780 and tools/server/README.md, read 2026-11-23.
    """

    def __init__(self, tokens: int, *, names_size: bool = True) -> None:
        self.tokens = tokens
        self.refused = 0
        self._names_size = names_size
        self._called = 0

    def __call__(self, request: Request) -> Wire:
        body = request.body
        counted = int(COUNTED_PER_BYTE * len(json.dumps([body["messages"], body.get("tools")])))
        if counted >= self.tokens:
            self.refused += 1
            words = "the request exceeds the available context size, try increasing it"
            fault: dict[str, Any] = {
                "code": 400,
                "message": words,
                "type": "exceed_context_size_error",
                "n_prompt_tokens": counted,
            }
            if self._names_size:
                fault["n_ctx"] = self.tokens
            return status(400, {"error": fault})(request)
        usage = {"prompt_tokens": counted, "completion_tokens": 9}
        if body["messages"][-1]["role"] == "user":
            self._called += 1
            call = f"call_{self._called}"
            return tool_call("run_cell", {"code": "total"}, id=call, usage=usage)(request)
        return text("It is 21.", usage=usage)(request)


def llama(tokens: int) -> dict[str, Any]:
    """What llama-server says of itself."""
    row = {"id": "model.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}
    return {
        "models": json_body({"object": "list", "data": [row]}),
        "props": {"default_generation_settings": {"n_ctx": tokens}, "total_slots": 1},
    }


@pytest.fixture
def place(tmp_path: Path) -> Iterator[RunContext]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunContext(FakeKernel(), RunStore(database), Redactor({}), "bench")
    database.close()


class Chat:
    """Questions in one conversation with a server."""

    def __init__(self, place: RunContext, service: FakeService) -> None:
        self.lm = OpenAILM(service.settings(), pace=QUICK)
        self.conversation = Conversation(place)

    def ask(self, prompt: str) -> tuple[RunFinished, list[str]]:
        """How it ended, and the notices."""
        Service(self.lm, MODEL).learn_window()
        question = RunRequest(prompt, Parameters(MODEL), mode="auto")
        events = list(self.conversation.ask(question, self.lm))
        ended = events[-1]
        assert isinstance(ended, RunFinished)
        return ended, [event.text for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize("tokens", [2_048, 4_096, 8_192])
def test_a_chat_goes_on_after_a_question_that_is_too_long(place: RunContext, tokens: int) -> None:
    server = SmallServer(tokens)
    with FakeService(server, **llama(tokens)) as service:
        chat = Chat(place, service)
        with closing(chat.lm):
            first, told = chat.ask("What is the total?")
            assert (first.status, told) == ("completed", [])
            long, told = chat.ask(LONG)
            assert long.status == "completed"
            assert any("the middle of your question was left out" in text for text in told)
            assert not any("older results were cut" in text for text in told)
            for number in range(6):
                again, _ = chat.ask(f"And the total of {number}?")
                assert (again.status, again.answer) == ("completed", "It is 21.")
    assert server.refused == 0, "the window was known before"
    assert chat.conversation.able.context_tokens == tokens


@pytest.mark.parametrize("names_size", [True, False])
@pytest.mark.parametrize("tokens", [2_048, 4_096])
def test_a_server_that_does_not_say_is_learned_from_its_refusal(
    place: RunContext, tokens: int, *, names_size: bool
) -> None:
    server = SmallServer(tokens, names_size=names_size)
    with FakeService(server) as service:
        chat = Chat(place, service)
        with closing(chat.lm):
            ended, told = chat.ask(LONG)
            after, _ = chat.ask("What is the total?")
            known = chat.lm.capabilities(MODEL).context_tokens
    assert known == (tokens if names_size else None)
    if ended.status == "completed":
        assert any("the middle of your question" in text for text in told)
    else:
        assert (ended.status, ended.cause) == ("agent context limit", "context")
        assert "left out of the conversation" in ended.reason
    assert (after.status, after.answer) == ("completed", "It is 21.")


def test_a_question_that_never_fits_is_left_out(place: RunContext) -> None:
    answers = [error(400, "prompt is too long") for _ in range(5)]
    with FakeService([*answers, text("Yes.")]) as service:
        chat = Chat(place, service)
        with closing(chat.lm):
            ended, _ = chat.ask(LONG)
            after, _ = chat.ask("Hello?")
    assert (ended.status, ended.cause) == ("agent context limit", "context")
    assert "left out of the conversation" in ended.reason
    assert after.status == "completed"
    said = [m for m in chat.conversation.messages if isinstance(m, UserMessage)]
    assert len(said) == 1


def test_a_question_that_a_call_followed_stays_and_is_not_called_left_out(
    place: RunContext,
) -> None:
    call = tool_call("run_cell", {"code": "total"}, usage={"prompt_tokens": 2_000})
    full = error(400, "This model's maximum context length is 2048 tokens. You requested 2199.")
    with FakeService([call, full, text("Yes."), text("Yes.")]) as service:
        chat = Chat(place, service)
        with closing(chat.lm):
            ended, _ = chat.ask("What is the total?")
            after, _ = chat.ask("Hello?")
    assert (ended.status, ended.cause) == ("agent context limit", "context")
    assert "left out" not in ended.reason
    assert after.status == "completed"
    assert "What is the total?" in str(chat.conversation.messages)


def test_what_a_question_ran_makes_room_for_the_next_one(place: RunContext) -> None:
    call = tool_call("run_cell", {"code": "total"}, usage={"prompt_tokens": 2_000})
    first = [call, *(error(400, "prompt is too long") for _ in range(5))]
    server = SmallServer(2_048, names_size=False)

    def answer(request: Request) -> Wire:
        return (first.pop(0) if first else server)(request)

    with FakeService(answer) as service:
        chat = Chat(place, service)
        with closing(chat.lm):
            ended, _ = chat.ask(LONG)
            after, _ = chat.ask("Hello?")
    assert ended.status == "agent context limit"
    assert (after.status, after.answer) == ("completed", "It is 21.")


VLLM = {"object": "list", "data": [{"id": MODEL, "owned_by": "vllm", "max_model_len": 4_096}]}
OLLAMA = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "library"}]}
LOADED = {"models": [{"name": MODEL, "model": MODEL, "context_length": 4_096}]}
NOT_LOADED: Mapping[str, Any] = {"models": []}
PROXY = {"data": [{"id": MODEL, "created": 1677610602, "owned_by": "openai"}]}
BEHIND = {
    "data": [
        {"model_name": "b", "model_info": {"max_input_tokens": 512}},
        {"model_name": MODEL, "model_info": {"max_input_tokens": 8_192}},
        {"model_name": MODEL, "model_info": {"max_input_tokens": 4_096}},
        {"model_name": MODEL, "model_info": {"max_input_tokens": None}},
    ]
}
SHOWN = {"parameters": 'stop  "<end>"\nnum_ctx   4096', "model_info": {"x.context_length": 131_072}}


class TestServersSayTheirWindow:
    """As llama.cpp, vLLM, SGLang and Ollama do; sources stand beside ``window_at``."""

    @pytest.mark.parametrize(
        ("models", "others"),
        [
            (VLLM, {}),
            ({"data": [{"id": "other", "meta": {"n_ctx": 4_096, "n_ctx_train": 9_999}}]}, {}),
            (OLLAMA, {"/api/ps": json_body(LOADED)}),
            (OLLAMA, {"/api/ps": json_body(NOT_LOADED), "/api/show": json_body(SHOWN)}),
            (PROXY, {"/model/info": json_body(BEHIND)}),
        ],
        ids=["vLLM", "llama.cpp", "Ollama, loaded", "Ollama, set", "LiteLLM"],
    )
    def test_it_is_asked_once(self, models: Any, others: Any) -> None:
        with FakeService([], models=json_body(models), others=others) as service:
            lm = OpenAILM(service.settings())
            lm.learn_window(MODEL)
            asked = len(service.other_requests)
            lm.learn_window(MODEL)
            assert lm.capabilities(MODEL).context_tokens == 4_096
        assert len(service.other_requests) == asked

    @pytest.mark.parametrize(
        "models",
        [
            json_body({"data": [{"id": MODEL}]}),
            json_body({"data": [{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}]}),
            json_body({"data": [{"id": MODEL, "max_model_len": "4096", "meta": None}]}),
            json_body({"data": "no"}),
            json_body([]),
            html(),
            status(200, b"\xff\xfe"),
        ],
    )
    def test_others_are_not_asked_again(self, models: Any) -> None:
        with FakeService([], models=models) as service:
            lm = OpenAILM(service.settings())
            for _ in range(2):
                lm.learn_window(MODEL)
            assert lm.capabilities(MODEL).context_tokens is None
        assert len(service.other_requests) == 1

    def test_lm_studio_says_it_in_its_own_list(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is known by its port, which a test cannot count on."""
        studio = next(each for each in PROVIDERS if each.window_path)
        monkeypatch.setattr(capabilities, "find_provider", lambda base_url: studio)
        rows = [
            {"id": MODEL, "state": "loaded", "loaded_context_length": 4_096},
            {"id": "b", "state": "not-loaded", "max_context_length": 32_768},
        ]

        def models(request: Request) -> Wire:
            own = request.path.startswith("/api/v0")
            listed = rows if own else [{"id": row["id"]} for row in rows]
            return json_body({"data": listed})(request)

        with FakeService([], models=models) as service:
            lm = OpenAILM(service.settings())
            for name in (MODEL, "b"):
                lm.learn_window(name)
            found = [lm.capabilities(name).context_tokens for name in (MODEL, "b")]
        assert found == [4_096, None]

    def test_one_that_is_not_there_stops_no_question(self) -> None:
        with serving([text("Yes.")], models=status(503, b"")) as (service, lm):
            lm.learn_window(MODEL)
            reply = ask(lm).reply
        assert reply is not None
        assert (service.base_url, MODEL) not in {**LEARNED, **WINDOWS}


def test_the_limit_of_a_reply_is_what_the_window_has_room_for() -> None:
    models = json_body(VLLM)
    with serving([text("Yes."), text("Yes."), text("Yes.")], models=models) as (service, lm):
        ask(lm)
        lm.learn_window(MODEL)
        ask(lm)
        ask(lm, prompt_of("word " * 3_000))
    sent = [request.body["max_tokens"] for request in service.requests]
    assert sent[0] == USUAL_LIMIT_TOKENS
    assert 3_900 < sent[1] < 4_096
    assert sent[2] == 256


def test_a_small_window_gets_few_tools_and_short_instructions(place: RunContext) -> None:
    sizes = {}
    for tokens in (8_192, 8_193):
        with FakeService(SmallServer(tokens), **llama(tokens)) as service:
            chat = Chat(place, service)
            with closing(chat.lm):
                chat.ask("What is the total?")
            body = service.requests[0].body
            sizes[tokens] = estimate_tokens(json.dumps([body["messages"][0], body["tools"]]))
            assert "run_cell" in service.requests[0].tool_names
    assert sizes[8_192] < 0.5 * sizes[8_193]


def test_a_tiny_window_gets_the_tools_that_a_notebook_needs_most(place: RunContext) -> None:
    notebook = replace(place, notebook=MemoryNotebook())
    names = {}
    for tokens in (4_096, 8_192, 8_193):
        with FakeService(SmallServer(tokens), **llama(tokens)) as service:
            chat = Chat(notebook, service)
            with closing(chat.lm):
                ended, _ = chat.ask("What is the total?")
            assert ended.status == "completed"
            names[tokens] = set(service.requests[0].tool_names)
    assert names[4_096] == {"run_cell", "edit_cell", "read_notebook", "read_output"}
    assert names[8_192] - names[4_096] == {"add_cell", "arrange_cell", "install_package"}
    assert names[8_193] - names[8_192] == {"list_variables", "inspect_variable", "submit"}


def test_what_a_brief_tool_takes_stays_the_same(place: RunContext) -> None:
    with FakeService(SmallServer(60_000), **llama(60_000)) as service:
        chat = Chat(place, service)
        with closing(chat.lm):
            chat.ask("What is the total?")
    whole = {tool.name: tool for tool in chat.conversation.tools.manifests}
    for tool in brief_tools(chat.conversation.tools).manifests:
        known = whole[tool.name].parameters
        assert list(tool.parameters["properties"]) == list(known["properties"])
        assert tool.parameters.get("required") == known.get("required")
