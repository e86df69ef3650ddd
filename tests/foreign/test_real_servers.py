"""Endings with servers that none of us wrote: llama.cpp with a real small model, LiteLLM before it.

The model answers badly. What is tested is that every ending is true: a status that fits what
happened, nothing that was cut is run, nothing hangs, and tools that are dropped are noticed.
"""

from __future__ import annotations

import json
import signal
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import RUN_CELL, ask
from command_line import Shell
from foreign.servers import MODEL, WINDOW, Server
from provider_proofs import LIVE_SERVERS, write_row

from cellwright.commands.doctor_probes import PROBES
from cellwright.errors import (
    LMAccessError,
    LMContextError,
    LMError,
    LMNotFoundError,
    LMRequestError,
    LMTimeoutError,
    LMToolsUnsupportedError,
    RunCancelled,
)
from cellwright.llm.embedding import ServiceEmbedder
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import (
    CellStarted,
    Event,
    ModelReplied,
    Notice,
    RunFinished,
    TextDelta,
    ToolFinished,
)
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Parameters,
    Prompt,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.settings import ServiceSettings
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(1_800)]
ADAPTERS = ("native", "chat", "json", "xml")
TASK = "Make a list of the first ten squares in `squares`."
SHORT = """
default = true
disable_default_prompt = true
tools = ["run_cell"]
"""
"""An assistant with little to read: a machine without a graphics card reads 40 tokens a second."""
RUN_SECONDS = 900
"""A hang is what takes longer; a slow machine reads 2,000 tokens in a minute or two."""
LIMITS = ("--max-output", "48")
PICTURE = ImagePart("image/png", "iVBORw0KGgo=", "a plot")
PATIENT = {"CELLWRIGHT_IDLE_SECONDS": "600", "CELLWRIGHT_DEADLINE_SECONDS": "800"}


def client(server: Server, **changes: Any) -> OpenAILM:
    """A client of a server."""
    key = server.api_key or "none"
    waits = {"idle_timeout_seconds": 300.0, **changes}
    return OpenAILM(ServiceSettings(server.base_url, key, MODEL, **waits))


def question(
    words: str, max_output: int = 24, tools: tuple[Manifest, ...] = (), **extra: Any
) -> Prompt:
    """A short question, with a short answer."""
    parameters = Parameters(MODEL, 0.0, max_output, extra)
    return Prompt((UserMessage((TextPart(words),)),), tools, parameters)


def make_short(shell: Shell) -> None:
    """Let an assistant answer that has little to read."""
    folder = shell.folder / ".cellwright" / "assistants"
    folder.mkdir(parents=True)
    (folder / "short.toml").write_text(SHORT, encoding="utf-8")


def events_of(shell: Shell, run_id: str) -> list[Event]:
    """What was recorded of a run."""
    database = open_database(Path(shell.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")
    try:
        return [recorded.event for recorded in RunStore(database).events(run_id)]
    finally:
        database.close()


def run(shell: Shell, server: Server, *arguments: str, **environ: str) -> tuple[Any, list[Event]]:
    """What a run says of itself, and what was recorded of it."""
    asking = Shell(shell.folder, {**shell.environ, **PATIENT, **server.environ(**environ)})
    done = asking.run_process(
        "run", *arguments, "--mode", "auto", "--json", *LIMITS, seconds=RUN_SECONDS
    )
    assert done.out, done.err
    document = done.document
    assert done.code == document.get("exit_code", done.code)
    return document, events_of(shell, document["id"])


def check_ending(document: Any, events: Sequence[Event]) -> None:
    """The status is what happened, and nothing was run that came cut."""
    finished = [event for event in events if isinstance(event, RunFinished)]
    replies = [event for event in events if isinstance(event, ModelReplied)]
    assert len(finished) == 1, "a run ends once"
    (end,) = finished
    assert (end.status, end.cause) == (document["status"], document["cause"])
    assert document["steps"] == len(replies)
    assert document["events_lost"] == 0
    if end.status == "completed":
        assert document["exit_code"] == 0
        assert replies, "somebody answered"
        assert not replies[-1].message.tool_calls, "it does not end before its calls are done"
        assert end.cause == "truncated" or not replies[-1].truncated, "a cut answer is called so"
    else:
        assert document["exit_code"] != 0
        assert end.reason, "it says why"
        assert end.cause != "unreadable_reply" or not replies[-1].truncated, "the cut is why"
    cut = {call.id for reply in replies if reply.truncated for call in reply.message.tool_calls}
    done = {e.call_id for e in events if isinstance(e, ToolFinished) and e.status == "ok"}
    assert not cut & done, "what was cut is not run"
    cells = sum(isinstance(event, CellStarted) for event in events)
    assert cells == document["cells"]


class TestEndings:
    @pytest.mark.parametrize("adapter", ADAPTERS)
    def test_a_model_without_tools(self, shell: Shell, llama: Server, adapter: str) -> None:
        make_short(shell)
        check_ending(*run(shell, llama, TASK, CELLWRIGHT_ADAPTER=adapter))

    def test_a_template_with_tools(self, shell: Shell, tools_llama: Server) -> None:
        make_short(shell)
        document, events = run(shell, tools_llama, TASK)
        check_ending(document, events)
        codes = [event.code for event in events if isinstance(event, Notice)]
        assert "adapter_fallback" not in codes, "its template has tools"


class TestToolsThatAreDropped:
    def test_llama_says_so_when_it_is_asked(self, llama: Server) -> None:
        prompt = question("Add 1 and 2.", tools=(RUN_CELL,))
        with (
            closing(client(llama)) as lm,
            pytest.raises(LMToolsUnsupportedError, match="drops them without a word"),
        ):
            ask(lm, prompt)

    def test_a_run_goes_on_in_words_behind_a_proxy_too(self, shell: Shell, litellm: Server) -> None:
        document, events = run(shell, litellm, TASK)
        check_ending(document, events)
        codes = [event.code for event in events if isinstance(event, Notice)]
        assert "context_truncated" not in codes, "a larger window would not help"
        assert "adapter_fallback" in codes

    def test_a_call_that_has_to_come_is_whole_or_called_cut(self, tools_llama: Server) -> None:
        with closing(client(tools_llama)) as lm:
            for limit in (8, 96):
                prompt = question("Add 1 and 2.", limit, (RUN_CELL,), tool_choice="required")
                reply = ask(lm, prompt).reply
                assert reply is not None
                for call in reply.message.tool_calls:
                    assert reply.truncated or json.loads(call.arguments), call


class TestTime:
    def test_stop_ends_a_reply_and_frees_the_server(self, llama: Server) -> None:
        stop = Stop()
        with closing(client(llama)) as lm:
            stream = lm.stream(question("Count from 1 to 500.", 2_000), stop)
            assert any(isinstance(event, TextDelta) for event in stream)
            stopped_at = time.monotonic()
            stop.set()
            with pytest.raises(RunCancelled):
                list(stream)
        assert time.monotonic() - stopped_at < 2.0
        wait_until(lambda: not is_busy(llama), "it goes on writing for nobody")

    def test_a_deadline_ends_a_reply(self, llama: Server) -> None:
        with closing(client(llama, deadline_seconds=3.0, retry_limit=0)) as lm:
            started = time.monotonic()
            with pytest.raises(LMTimeoutError):
                list(lm.stream(question("Write a long story.", 4_000), Stop()))
        assert time.monotonic() - started < 20

    def test_ctrl_c_ends_a_run(self, shell: Shell, llama: Server) -> None:
        asking = Shell(shell.folder, {**shell.environ, **PATIENT, **llama.environ()})
        wait_until(lambda: not is_busy(llama), "it goes on with the test before")
        process = asking.start("run", TASK, "--mode", "auto", "--json")
        wait_until(lambda: is_busy(llama), "it was not asked")
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 130
        assert time.monotonic() - started < 60
        document = json.loads(out)
        assert (document["status"], document["cause"]) == ("cancelled", "stopped")
        wait_until(lambda: not is_busy(llama), "it goes on writing for nobody")

    def test_a_limit_of_the_answer_is_called_a_cut(self, llama: Server) -> None:
        with closing(client(llama)) as lm:
            reply = ask(lm, question("Tell me all about the sea.", 8)).reply
        assert reply is not None
        assert (reply.truncated, reply.finish_reason) == (True, "length")
        assert reply.usage.completion_tokens <= 8
        assert not reply.usage.estimated


class TestWindow:
    def test_it_is_learned_from_the_refusal(self, small_llama: Server) -> None:
        with closing(client(small_llama)) as lm:
            with pytest.raises(LMContextError):
                ask(lm, question("word " * 2_000))
            assert lm.capabilities(MODEL).context_tokens == 512

    def test_a_run_that_does_not_fit_says_so_and_ends(
        self, shell: Shell, small_llama: Server
    ) -> None:
        document, events = run(shell, small_llama, TASK)
        check_ending(document, events)
        assert document["status"] == "agent context limit"
        assert document["steps"] == 0
        assert "512" in document["reason"]


class TestServerOfLlamaCppPython:
    def test_it_streams_and_counts_nothing(self, python_llama: Server) -> None:
        with closing(client(python_llama)) as lm:
            reply = ask(lm, question("Tell me all about the sea.", 8)).reply
        assert reply is not None
        assert (reply.truncated, reply.usage.estimated) == (True, True)

    def test_it_says_why_where_its_stream_does_not(self, python_llama: Server) -> None:
        with closing(client(python_llama)) as lm:
            with pytest.raises(LMContextError):
                ask(lm, question("word " * 6_000))
            assert lm.capabilities(MODEL).context_tokens == 4_096
            words = UserMessage((TextPart("Say yes."), PICTURE))
            asked = ask(lm, Prompt((words,), (), Parameters(MODEL, 0.0, 4, {})))
        assert asked.reply is not None, "it goes on with the caption"
        assert [notice.code for notice in asked.all(Notice)] == ["pictures_refused"]

    def test_dropped_tools_are_noticed_and_results_taken(self, python_llama: Server) -> None:
        said = (
            UserMessage((TextPart("Add 1 and 2."),)),
            AssistantMessage(tool_calls=(ToolCall("call_1", "run_cell", '{"code": "1 + 2"}'),)),
            ToolMessage("call_1", "run_cell", (TextPart("3"),)),
        )
        with closing(client(python_llama)) as lm:
            ask(lm, Prompt(said, (), Parameters(MODEL, 0.0, 4, {})))
            assert lm.capabilities(MODEL).shapes == {"text_content"}
            lm.learn_window(MODEL)
            with pytest.raises(LMToolsUnsupportedError, match="drops them without a word"):
                ask(lm, question("Add 1 and 2.", tools=(RUN_CELL,)))

    def test_a_wrong_key_is_refused_in_its_words(self, python_llama: Server) -> None:
        with (
            closing(client(replace(python_llama, api_key="sk-wrong"))) as lm,
            pytest.raises(LMAccessError, match="Invalid API key"),
        ):
            ask(lm, question("Say yes."))


class TestProxy:
    def test_it_is_asked_for_the_window(self, litellm: Server) -> None:
        with closing(client(litellm)) as lm:
            lm.learn_window(MODEL)
            assert lm.capabilities(MODEL).context_tokens == WINDOW

    def test_a_model_that_is_not_there_and_a_wrong_key_are_refused(self, litellm: Server) -> None:
        hello = (UserMessage((TextPart("hi"),)),)
        prompt = Prompt(hello, (), Parameters("no-such-model", 0.0, 4, {}))
        with (
            closing(client(litellm)) as lm,
            pytest.raises((LMNotFoundError, LMRequestError), match="no-such-model"),
        ):
            ask(lm, prompt)
        with (
            closing(client(replace(litellm, api_key="sk-wrong"))) as lm,
            pytest.raises(LMAccessError, match="does not accept the key"),
        ):
            ask(lm, question("Say yes."))


@pytest.mark.parametrize("name", ["llama", "python_llama", "litellm"])
def test_embeddings_that_a_server_has_not_are_refused_with_the_reason(
    request: pytest.FixtureRequest, name: str
) -> None:
    server: Server = request.getfixturevalue(name)
    service = ServiceSettings(server.base_url, server.api_key or "none", MODEL)
    with pytest.raises(LMError, match="(?i)embedding"):
        ServiceEmbedder(service, MODEL).embed(("one", "two"), 60.0)


@pytest.mark.parametrize("name", LIVE_SERVERS)
def test_the_probes_of_doctor_end_with_a_verdict_each(
    shell: Shell, request: pytest.FixtureRequest, name: str
) -> None:
    server: Server = request.getfixturevalue(name)
    asking = Shell(shell.folder, {**shell.environ, **PATIENT, **server.environ()})
    done = asking.run_process("doctor", "--provider", "--json", seconds=RUN_SECONDS)
    assert done.code == 0, done.err
    found = {probe["name"]: probe for probe in done.document["probes"]}
    print(name, *(f"{n}: {p['verdict']}: {p['text']}" for n, p in found.items()), sep="\n")
    verdicts = {name: probe["verdict"] for name, probe in found.items()}
    assert list(verdicts) == [probe.name for probe in PROBES]
    assert [verdicts[name] for name in ("models", "stream", "cancel")] == ["works"] * 3
    assert verdicts["thinking returned"] == "does not"
    # Behind LiteLLM llama-cpp-python takes a picture, of which its model says nothing.
    untold = {"litellm_python": "could not tell"}
    assert verdicts["pictures"] == untold.get(name, "does not")
    if name in ("llama", "litellm"):
        assert verdicts["tools"] == "does not"
    assert (verdicts["refusal"] == "works") == name.startswith("litellm")
    write_row(name, MODEL, done.document["date"], verdicts)


def wait_until(is_so: Callable[[], bool], otherwise: str) -> None:
    """Wait for a minute until something is so."""
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until, otherwise
        time.sleep(0.2)


def is_busy(server: Server) -> bool:
    """Whether llama.cpp is at work on something."""
    with urllib.request.urlopen(server.base_url.removesuffix("/v1") + "/slots") as response:
        return any(slot["is_processing"] for slot in json.load(response))
