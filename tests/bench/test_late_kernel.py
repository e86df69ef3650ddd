"""A kernel that is there from its first cell on."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_model import ScriptedLM, calls, says

from cellwright.bench import environments
from cellwright.bench.agents import Agent, model_agent
from cellwright.bench.checks import AnswerCheck
from cellwright.bench.environments import Rooms, SetupFailedError
from cellwright.bench.runner import InfrastructureError, Job, Laboratory, attempt
from cellwright.bench.scenes import CheckError
from cellwright.bench.suites import Item, Suite
from cellwright.errors import KernelError, KernelNotReadyError
from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.record.messages import text_of
from cellwright.stopping import Stop

pytestmark = pytest.mark.usefixtures("forked_kernels")

ITEM = Item("one", "Say 42.", checks=(AnswerCheck(exact="42"),))


class Refusing:
    """Starts no kernel, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, *given: object) -> FreshKernel:
        self.asked += 1
        raise KernelNotReadyError("no kernel today")


def scripted(*script: object) -> Agent:
    return model_agent(ScriptedLM(script), "scripted")  # type: ignore[arg-type]


def test_a_sample_that_runs_nothing_needs_no_kernel() -> None:
    refusing = Refusing()
    laboratory = Laboratory(Rooms({}, start=refusing))
    found = attempt(Job(Suite("s", (ITEM,)), ITEM, scripted(says("42"))), laboratory, Stop())
    assert (found.passed, refusing.asked) == (True, 0)
    assert found.env["kernel_way"] == ""


def test_the_form_of_an_answer_is_no_variable_of_the_prompt() -> None:
    refusing = Refusing()
    item = replace(ITEM, prompt="What is 6 * 7? Say @answer[number].")
    model = ScriptedLM([says("42")])
    found = attempt(
        Job(Suite("s", (item,)), item, model_agent(model, "scripted")),
        Laboratory(Rooms({}, start=refusing)),
        Stop(),
    )
    assert (found.passed, refusing.asked) == (True, 0)


@pytest.mark.kernel
def test_a_variable_that_the_author_marks_is_summed_up() -> None:
    setup = ("answer = [1, 2, 3]", "other = 5")
    item = replace(ITEM, prompt="Say @answer[number], not @other.", setup=setup)
    told = []
    for mentions in ((), ("answer",)):
        marked, model = replace(item, mentions=mentions), ScriptedLM([says("42")])
        job = Job(Suite("s", (marked,)), marked, model_agent(model, "scripted"))
        attempt(job, Laboratory(Rooms({})), Stop())
        told.append(text_of(model.prompts[0].messages[-1]))
    assert "@answer: " not in told[0]
    assert "@answer: " in told[1]
    assert "@other: " not in told[1]


def test_a_kernel_that_does_not_start_is_no_failure_of_the_agent() -> None:
    refusing = Refusing()
    agent = scripted(calls(("run_cell", {"code": "1"})), says("42"))
    with pytest.raises(InfrastructureError, match="no kernel today") as caught:
        attempt(
            Job(Suite("s", (ITEM,)), ITEM, agent), Laboratory(Rooms({}, start=refusing)), Stop()
        )
    assert (caught.value.word, caught.value.retryable) == ("START_FAILED", True)
    assert refusing.asked == 1


@pytest.mark.kernel
def test_a_kernel_that_the_first_cell_starts_is_named_with_its_version() -> None:
    agent = scripted(calls(("run_cell", {"code": "1"})), says("42"))
    found = attempt(Job(Suite("s", (ITEM,)), ITEM, agent), Laboratory(Rooms({})), Stop())
    version = ".".join(map(str, sys.version_info[:3]))
    assert found.env["kernel"] == {
        "language": "python",
        "version": version,
        "implementation": "cpython",
    }


@pytest.mark.kernel
def test_it_is_one_kernel_from_the_first_cell_to_the_end(tmp_path: Path) -> None:
    with Rooms({}).open(ITEM, Stop(), tmp_path) as room:
        kernel = room.kernel
        assert (kernel.session, kernel.way, kernel.is_alive()) == ("", "", True)
        assert kernel.describe().cwd == str(tmp_path)
        kernel.interrupt()
        room.run("x = 1", 30)
        session = kernel.session
        assert session
        assert (kernel.way, kernel.describe().language) == ("started", "python")
        names = [found["name"] for found in kernel.probe("list_variables", {})]
        assert names == ["x"]
        assert kernel.probe("packages", {}) == {}
        assert room.run("print(x)", 30).outputs[0]["text"] == "1\n"
        kernel.interrupt()
        assert kernel.session == session
    assert not kernel.is_alive()


BUSY_FOR_EVER = """
import asyncio, time
kernel = get_ipython().kernel
parent = {"header": kernel.session.msg_header("execute_request"), "metadata": {}, "content": {}}
kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "busy"}, parent=parent)
_ = asyncio.get_running_loop().call_later(0.1, time.sleep, 1_000)
"""


@pytest.mark.kernel
@pytest.mark.timeout(60)
def test_a_kernel_that_stays_busy_between_two_cells_is_ended(tmp_path: Path) -> None:
    with Rooms({}).open(ITEM, Stop(), tmp_path) as room:
        assert room.run(BUSY_FOR_EVER, 30).status == "ok"
        time.sleep(0.5)
        with pytest.raises(KernelError, match="did not answer for 2 s and was ended"):
            room.run("1", 2)
        assert not room.kernel.is_alive()


NEVER_BEGINS = """
kernel = get_ipython().kernel
send = kernel.session.send
parent = {"header": kernel.session.msg_header("execute_request"), "metadata": {}, "content": {}}

def send_no_more_of_cells(stream, kind, *given, **named):
    asked = (named.get("parent") or {}).get("header", {}).get("msg_type")
    return None if asked == "execute_request" else send(stream, kind, *given, **named)

def break_off():
    send(kernel.iopub_socket, "status", {"execution_state": "busy"}, parent=parent)
    kernel.session.send = send_no_more_of_cells

import asyncio
_ = asyncio.get_running_loop().call_later(0.1, break_off)
"""
"""It answers what it is, says that it is busy with something, and nothing more of any cell."""


@pytest.mark.kernel
@pytest.mark.timeout(60)
def test_a_kernel_that_never_says_that_a_cell_begins_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellwright.kernels.client.ANSWER_SECONDS", 2.0)
    with Rooms({}).open(ITEM, Stop(), tmp_path) as room:
        assert room.run(NEVER_BEGINS, 30).status == "ok"
        time.sleep(0.5)
        with pytest.raises(KernelError, match="did not begin the cell within 2 s.+was ended"):
            room.run("while True: pass", 5)
        assert not room.kernel.is_alive()


@pytest.mark.kernel
@pytest.mark.timeout(60)
def test_outside_a_benchmark_a_kernel_of_our_own_is_waited_for_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cellwright.kernels.client.ANSWER_SECONDS", 2.0)
    with start_kernel() as kernel:
        list(kernel.execute(CellRequest("one", NEVER_BEGINS), Stop(), lambda output: output))
        time.sleep(0.5)
        with pytest.raises(KernelNotReadyError, match="did not begin the cell within 2 s"):
            list(
                kernel.execute(
                    CellRequest("two", "while True: pass"), Stop(), lambda output: output
                )
            )


@pytest.mark.kernel
def test_memory_past_the_samples_limit_is_an_error_of_the_cell(tmp_path: Path) -> None:
    limits = Item("big", "x").limits
    item = Item("big", "x", limits=type(limits)(memory_limit_bytes=3_000_000_000))
    with Rooms({}).open(item, Stop(), tmp_path) as room:
        assert "MemoryError" in room.run("bytearray(4_000_000_000)", 30).error
        assert room.run("print('on')", 30).status == "ok"


def test_a_limit_that_is_too_low_to_begin_with_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*given: object) -> None:
        raise CheckError("MemoryError: ")

    monkeypatch.setattr(environments, "ask_kernel", asked)
    with (
        Rooms({}).open(Item("big", "x"), Stop()) as room,
        pytest.raises(SetupFailedError, match="MemoryError. Allow more with --max-memory"),
    ):
        room.note_works()
