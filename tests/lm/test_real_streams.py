"""What real servers sent, played again in hostile pieces: each reply ends as it did there.

``streams/`` has the bytes of replies of SmolLM2-135M-Instruct as they came, compressed. They were
recorded between our client and the server on 2026-11-24: llama.cpp of the wheel xllamacpp
2026.10.11549, and the server of llama-cpp-python 0.3.36. ``make test-foreign`` meets both.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from asking import QUICK, answer_to, prompt_of
from fake_service import Answer, FakeService, Pause, in_bytes, raw_sse, text
from fakes import FakeKernel

from cellwright.llm.openai import OpenAILM
from cellwright.record.events import RunFinished
from cellwright.record.messages import Parameters
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

STREAMS = Path(__file__).parent / "streams"
SIZES = [0, 1, 7, 1_000]
"""Bytes of a piece; 0: all at once."""


class Ending(NamedTuple):
    """How a reply ended there."""

    finish: str
    begins: str
    tokens: int
    """That were written; negative: the server did not count them."""


ENDINGS = {
    # "Make a list of the first ten squares in `squares`."
    "llama_cpp_answer": Ending("stop", "The first ten squares in `squares` are:\n\n- 1\n", 74),
    # "Call run_cell with the code 17 + 25.", no more than 12 tokens
    "llama_cpp_cut_words": Ending("length", "```\ndef run_cell(code: str, timeout", 12),
    # "Tell me all about the sea.", no more than 48 tokens
    "llama_cpp_python_cut_words": Ending("length", "The sea. It's a vast and mysterious", -1),
}
# "Call run_cell with the code 17 + 25.", with ``tool_choice``. Each piece of a call is said twice,
# as ``tool_calls`` and as ``function_call``; the cut one ends with "tool_calls" all the same.
CALL, CUT_CALL = "llama_cpp_python_call", "llama_cpp_python_cut_call"


def played(name: str, size: int) -> Answer:
    """A stream as it came, in pieces of so many bytes."""
    answer = raw_sse([gzip.decompress((STREAMS / f"{name}.sse.gz").read_bytes())], done=False)
    return in_bytes(answer, size) if size else answer


@pytest.fixture
def kernel() -> FakeKernel:
    return FakeKernel()


@pytest.fixture
def conversation(tmp_path: Path, kernel: FakeKernel) -> Iterator[Conversation]:
    database = open_database(tmp_path / "runs.sqlite")
    yield Conversation(RunContext(kernel, RunStore(database), Redactor({}), "bench"))
    database.close()


def ended(conversation: Conversation, script: list[Answer]) -> RunFinished:
    """How a run with these replies ends."""
    with FakeService(script) as service, closing(OpenAILM(service.settings(), pace=QUICK)) as lm:
        request = RunRequest("Add.", Parameters("fake-model"), mode="auto")
        *_, last = conversation.ask(request, lm)
    assert len(service.requests) == len(script)
    assert isinstance(last, RunFinished)
    return last


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ENDINGS)
def test_words_end_as_they_did(name: str, size: int) -> None:
    ending = ENDINGS[name]
    reply = answer_to([played(name, size)], prompt_of("go"))
    assert reply.message.text.startswith(ending.begins)
    assert reply.message.tool_calls == ()
    assert (reply.finish_reason, reply.truncated) == (ending.finish, ending.finish == "length")
    assert reply.usage.estimated == (ending.tokens < 0)
    assert ending.tokens < 0 or reply.usage.completion_tokens == ending.tokens


@pytest.mark.parametrize("size", [0, 1_000])
def test_numbers_without_end_are_stopped(size: int) -> None:
    """The server was stopped at 891 characters; here it goes on with its last three pieces."""
    came = gzip.decompress((STREAMS / "llama_cpp_runaway.sse.gz").read_bytes())
    events = came.removesuffix(b"\n\n").split(b"\n\n")
    last = b"\n\n".join([*events[-3:], b""])
    endless = raw_sse([came + last * 1_500, Pause(30)], done=False)
    reply = answer_to([in_bytes(endless, size) if size else endless], prompt_of("go"))
    assert reply.message.text.startswith("```python\n# list of first ten squares\n")
    assert (reply.finish_reason, reply.truncated) == ("repetition", True)
    assert len(reply.message.text) < 5_600


@pytest.mark.parametrize("size", SIZES)
def test_a_call_that_is_said_twice_is_run_once(
    conversation: Conversation, kernel: FakeKernel, size: int
) -> None:
    last = ended(conversation, [played(CALL, size), text("It is 42.")])
    assert (last.status, last.answer) == ("completed", "It is 42.")
    assert [request.code for request in kernel.requests] == ["17 + 25 = 42"]


@pytest.mark.parametrize("size", SIZES)
def test_a_cut_call_that_is_called_whole_is_not_run(
    conversation: Conversation, kernel: FakeKernel, size: int
) -> None:
    last = ended(conversation, [played(CUT_CALL, size), text("I cannot.")])
    assert (last.status, last.answer) == ("completed", "I cannot.")
    assert kernel.requests == []
