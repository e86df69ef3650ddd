"""The client of OpenAI-compatible services, over a real socket."""

from __future__ import annotations

import _thread
import gc
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import openai
import pytest
from asking import QUICK, RUN_CELL, Asked, ask, prompt_of, serving
from fake_service import (
    FakeService,
    Pause,
    Request,
    after,
    chunk,
    error,
    raw_sse,
    spaced,
    text,
    tool_call,
)

from cellwright.errors import LMConnectionError, LMServerError, RunCancelled
from cellwright.llm.connection import ServiceConnection
from cellwright.llm.faults import Endpoint
from cellwright.llm.openai import OpenAILM
from cellwright.llm.retries import WaitTimes
from cellwright.record.events import ModelRetrying, TextDelta
from cellwright.record.messages import AssistantMessage, ToolCall
from cellwright.settings import ServiceSettings
from cellwright.stopping import Stop

STALLED = raw_sse([chunk({"content": "So"}), Pause(30)])
SILENT = after(text("never"), 30)


def test_a_reply_streams_and_comes_back_whole() -> None:
    answers = [spaced(text(pieces=["Good ", "day"]), 0.06)]
    with serving(answers) as (_, lm):
        asked = ask(lm)
    assert asked.events == [TextDelta("Good "), TextDelta("day")]
    assert asked.reply is not None
    assert asked.reply.message == AssistantMessage("Good day")
    assert asked.reply.finish_reason == "stop"
    assert asked.reply.first_delta_seconds is not None
    assert asked.reply.first_delta_seconds < asked.reply.duration_seconds
    assert asked.reply.attempts == 1


def test_calls_come_back_as_they_were_written() -> None:
    with serving([tool_call("run_cell", {"code": "x = 1"}, text="I set x.")]) as (_, lm):
        reply = ask(lm, prompt_of("go", tools=(RUN_CELL,))).reply
    assert reply is not None
    calls = (ToolCall("call_1", "run_cell", '{"code": "x = 1"}'),)
    assert reply.message == AssistantMessage("I set x.", calls)
    assert reply.finish_reason == "tool_calls"


def test_the_same_prompt_is_sent_as_the_same_bytes_over_one_connection() -> None:
    with serving([text("Yes.")] * 5) as (service, lm):
        for _ in range(5):
            ask(lm, prompt_of("hi", tools=(RUN_CELL,), temperature=0.5))
        assert len({request.raw for request in service.requests}) == 1
        assert service.connections == 1


def test_the_connection_is_used_again_after_an_error() -> None:
    with serving([error(500, "Down."), text("Yes.")]) as (service, lm):
        ask(lm)
        assert service.connections == 1


def test_the_request_id_is_kept() -> None:
    with serving([text("Yes.", headers={"x-request-id": "req_7"}), text("Yes.")]) as (_, lm):
        replies = [ask(lm).reply for _ in range(2)]
    assert [reply and reply.request_id for reply in replies] == ["req_7", "chatcmpl-1"]


def test_deltas_that_come_fast_are_joined_and_none_is_lost() -> None:
    words = [f"{number} " for number in range(2_000)]
    with serving([text(pieces=words)]) as (_, lm):
        asked = ask(lm)
    shown = [event.text for event in asked.all(TextDelta)]
    assert "".join(shown) == "".join(words)
    assert asked.reply is not None
    assert len(shown) <= 3 + asked.reply.duration_seconds / QUICK.delta_seconds


def test_the_first_delta_does_not_wait_for_the_second() -> None:
    answer = raw_sse([chunk({"content": "Now"}), Pause(30), chunk({}, "stop")])
    with serving([answer]) as (_, lm):
        started = time.monotonic()
        stream = lm.stream(prompt_of(), Stop())
        assert next(stream) == TextDelta("Now")
        assert time.monotonic() - started < 15
        stream.close()


def test_a_reply_without_an_end_is_whole_once_it_said_why_it_ends() -> None:
    answer = raw_sse([chunk({"content": "Yes."}), chunk({}, "stop"), Pause(30)])
    pace = WaitTimes(after_finish_seconds=0.1)
    with serving([answer, text("Again.")], pace=pace) as (_, lm):
        first, second = ask(lm).reply, ask(lm).reply
    assert first is not None
    assert second is not None
    assert (first.message.text, first.usage.estimated) == ("Yes.", True)
    assert second.message.text == "Again."


def test_what_follows_the_end_of_a_reply_is_not_looked_at() -> None:
    reply = (chunk({"content": "Yes."}), chunk({}, "stop"), "data: [DONE]")
    with serving([raw_sse([*reply, Pause(0.01), "data: junk"]), text("Again.")]) as (_, lm):
        first, second = ask(lm).reply, ask(lm).reply
    assert first is not None
    assert second is not None
    assert [first.message.text, second.message.text] == ["Yes.", "Again."]


def test_an_address_without_tls_reads_no_certificates_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for path in ("", str(tmp_path / "missing.pem")):
        if path:
            monkeypatch.setenv("SSL_CERT_FILE", path)
        with serving([text("Yes.")]) as (_, lm):
            assert ask(lm).reply is not None


def test_a_line_given_up_before_it_is_connected_sends_nothing() -> None:
    with FakeService([text("Yes.")]) as service:
        line = ServiceConnection(service.settings())
        line.abandon()
        exchange = line.start("/chat/completions", b"{}", Endpoint(service.base_url, "any"))
        assert exchange.wait(5)
        assert service.requests == []
    ready, failed = exchange.next(0), exchange.next(0)
    assert ready is not None
    assert ready.failure is None
    assert failed is not None
    assert isinstance(failed.failure, LMConnectionError)


class LateSdk(ServiceConnection):
    """The SDK comes from a slow disk."""

    is_imported = False

    def connect(self) -> openai.OpenAI:
        if not self.is_imported:
            time.sleep(0.8)
        self.is_imported = True
        return super().connect()


def test_the_time_that_the_sdk_takes_to_import_is_not_the_services() -> None:
    with FakeService(props={"total_slots": 1}) as service:
        line = LateSdk(service.settings())
        address = f"{service.base_url.removesuffix('/v1')}/props"
        assert "total_slots" in line.fetch(address, timeout_seconds=0.5)
        line.abandon()


@pytest.mark.parametrize("answer", [STALLED, SILENT], ids=["mid-stream", "before the head"])
def test_stop_closes_the_connection_at_once(answer: object) -> None:
    """K13: the second request goes over a connection that was open already"""
    stop, asked = Stop(), Asked()
    with serving([text("Yes."), answer]) as (service, lm):  # type: ignore[list-item]
        ask(lm)
        timer = threading.Timer(0.2, stop.set)
        timer.start()
        started = time.monotonic()
        with pytest.raises(RunCancelled):
            ask(lm, stop=stop, into=asked)
        assert time.monotonic() - started < 0.7
        assert service.wait_for_break(1)
        timer.join()


def reading_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "cellwright-model"]


def test_stop_does_not_wait_for_a_connection_that_is_being_made() -> None:
    stop = Stop()
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # nobody accepts, so the next one finds the queue full
            queued = waiting.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        lm = OpenAILM(ServiceSettings(base_url=url, connect_timeout_seconds=1))
        lm.warm_up()
        timer = threading.Timer(0.2, stop.set)
        timer.start()
        started = time.monotonic()
        with pytest.raises(RunCancelled):
            ask(lm, stop=stop)
        assert time.monotonic() - started < 0.7
        timer.join()
        for thread in reading_threads():
            thread.join(5)
    assert reading_threads() == []


def test_stop_before_the_request_sends_nothing() -> None:
    stop = Stop()
    stop.set()
    with serving([]) as (service, lm):
        with pytest.raises(RunCancelled):
            ask(lm, stop=stop)
        assert service.requests == []


@pytest.mark.parametrize("answer", [STALLED, SILENT], ids=["mid-stream", "before the head"])
def test_an_interrupt_closes_the_connection_at_once(answer: object) -> None:
    """K13"""
    with serving([text("Yes."), answer, text("Again.")]) as (service, lm):  # type: ignore[list-item]
        ask(lm)
        timer = threading.Timer(0.2, _thread.interrupt_main)
        timer.start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            ask(lm)
        assert time.monotonic() - started < 0.7
        assert service.wait_for_break(1)
        timer.join()
        again = ask(lm).reply
    assert again is not None
    assert again.message.text == "Again."


def test_a_reply_nobody_reads_on_is_broken_off() -> None:
    with serving([STALLED]) as (service, lm):
        stream = lm.stream(prompt_of(), Stop())
        next(stream)
        stream.close()
        assert service.wait_for_break(1)


def test_threads_may_share_a_client_and_stopping_one_leaves_the_others() -> None:
    def script(request: Request) -> object:
        return STALLED if request.last_text == "stall" else after(text(request.last_text), 0.3)

    stop = Stop()
    with serving(script) as (_, lm), ThreadPoolExecutor(4) as pool:  # type: ignore[arg-type]
        stalled = pool.submit(ask, lm, prompt_of("stall"), stop=stop)
        others = [pool.submit(ask, lm, prompt_of(f"hi {number}")) for number in range(3)]
        time.sleep(0.1)
        stop.set()
        said = [other.result().reply for other in others]
        with pytest.raises(RunCancelled):
            stalled.result()
    assert [reply and reply.message.text for reply in said] == ["hi 0", "hi 1", "hi 2"]


def test_a_retry_is_told_before_it_is_waited_for() -> None:
    with serving([error(503, "Down."), text("Yes.")], pace=WaitTimes(backoff_seconds=5)) as (_, lm):
        stream = lm.stream(prompt_of(), Stop())
        retrying = next(stream)
        stream.close()
    assert isinstance(retrying, ModelRetrying)
    assert retrying.delay_seconds > 3


def test_retries_can_be_switched_off() -> None:
    with serving([error(503, "Down.")] * 2, retry_limit=0) as (service, lm):
        with pytest.raises(LMServerError):
            ask(lm)
        assert len(service.requests) == 1


def test_a_client_that_is_warm_is_used() -> None:
    with serving([text("Yes.")]) as (service, lm):
        lm.warm_up()
        assert service.connections == 0
        ask(lm)
        assert service.connections == 1


def test_a_closed_client_opens_again() -> None:
    with serving([text("Yes."), text("Again.")]) as (service, lm):
        ask(lm)
        lm.close()
        reply = ask(lm).reply
        assert service.connections == 2
    assert reply is not None
    assert reply.message.text == "Again."


def test_a_client_nobody_holds_leaves_no_open_socket() -> None:
    """An open socket that is collected is a warning, and warnings are errors here."""
    with FakeService([text("Yes.")]) as service:
        lm = OpenAILM(service.settings())
        ask(lm)
        del lm
        gc.collect()


@pytest.mark.parametrize(
    ("host", "name"),
    [("https://api.openai.com/v1", "max_completion_tokens"), ("http://box:8000/v1", "max_tokens")],
)
def test_the_limit_of_an_answer_has_the_name_the_service_prefers(host: str, name: str) -> None:
    lm = OpenAILM(ServiceSettings(base_url=host))
    request = lm._request(prompt_of("hi", max_output_tokens=5))
    assert name in request.optional


def test_the_key_of_another_service_is_not_sent_to_one_that_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "secret" * 4)
    with serving([text("Yes.")], api_key="") as (service, lm):
        ask(lm)
        assert service.requests[0].headers["authorization"] == "Bearer none"


def test_the_sdk_is_imported_on_first_use() -> None:
    code = "import cellwright.llm.openai, sys; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.serial
def test_the_end_of_a_reply_costs_less_than_a_millisecond() -> None:
    ended: list[float] = []

    def script(request: Request) -> object:
        ended.append(time.perf_counter())
        return text("Yes.")

    costs = []
    with serving(script) as (_, lm):  # type: ignore[arg-type]
        for _ in range(20):
            ask(lm)
            costs.append(time.perf_counter() - ended[-1])
    # The service's own work is in it; the median is what a quiet machine takes.
    assert sorted(costs)[10] < 0.003
