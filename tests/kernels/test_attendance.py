"""Who attends to a kernel: answers what cells ask, gives them time, hears what is waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels.lanes import kernel_environment, run, stopped_after

from cellwright.errors import KernelNotReadyError
from cellwright.kernels.client import ClientKernel, Waiting
from cellwright.kernels.fresh import Attendance, FreshKernel, start_kernel
from cellwright.record.outputs import StreamOutput
from cellwright.stopping import Stop

pytestmark = pytest.mark.kernel


class Question:
    """Answered once, after a while, or never."""

    def __init__(self, answer: str | None, after_seconds: float) -> None:
        self._answer, self._due = answer, time.monotonic() + after_seconds
        self.closed = 0

    def value(self) -> str | None:
        return self._answer if time.monotonic() >= self._due else None

    def close(self) -> None:
        self.closed += 1


class Typist:
    """Answers what cells ask, one answer after the other, and hears who is waited for."""

    def __init__(self) -> None:
        self.answers: list[str | None] = []
        self.after_seconds = 0.0
        self.asked: list[tuple[str, bool]] = []
        self.questions: list[Question] = []
        self.waited: list[bool] = []

    def ask(self, prompt: str, password: bool) -> Question:
        self.asked.append((prompt, password))
        question = Question(self.answers.pop(0), self.after_seconds)
        self.questions.append(question)
        return question


@pytest.fixture(scope="module")
def everyone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FreshKernel, Typist]]:
    typist = Typist()
    attendance = Attendance(typist.ask, typist.waited.append)
    folder = tmp_path_factory.mktemp("attended")
    with start_kernel(folder, kernel_environment(), attendance=attendance) as kernel:
        yield kernel, typist


@pytest.fixture
def typist(everyone: tuple[FreshKernel, Typist]) -> Typist:
    typist = everyone[1]
    for kept in (typist.answers, typist.asked, typist.questions, typist.waited):
        kept.clear()
    typist.after_seconds = 0.0
    return typist


@pytest.fixture
def kernel(everyone: tuple[FreshKernel, Typist], typist: Typist) -> FreshKernel:
    return everyone[0]


@pytest.fixture
def person(kernel: FreshKernel) -> Iterator[Any]:
    """Somebody else's connection to the kernel."""
    client = kernel.process.client()
    client.start_channels(hb=False, stdin=False)
    client.wait_for_ready(timeout=20)
    yield client
    client.stop_channels()


def test_a_cell_gets_what_the_person_types(kernel: FreshKernel, typist: Typist) -> None:
    typist.answers += ["Ada", "", "secret"]
    ran = run(
        kernel,
        "import getpass\nprint('before')\nname = input('Name? ')\nempty = input()\n"
        "word = getpass.getpass('Password: ')\n(name, empty, word)",
    )
    assert ran.execution.status == "ok"
    assert ran.plain == ["('Ada', '', 'secret')"]
    assert typist.asked == [("Name? ", False), ("", False), ("Password: ", True)]
    assert [question.closed for question in typist.questions] == [1, 1, 1]


def test_the_end_of_input_is_an_error_in_the_cell(kernel: FreshKernel, typist: Typist) -> None:
    typist.answers += ["\x04"]
    assert [error.ename for error in run(kernel, "input()").errors] == ["EOFError"]


def test_stop_ends_a_cell_that_waits_for_the_person(kernel: FreshKernel, typist: Typist) -> None:
    typist.answers += [None]
    ran = stopped_after(kernel, "input('Name? ')", 0.5)
    assert ran.cancelled is not None
    assert ran.seconds < 3
    assert typist.questions[0].closed == 1
    assert run(kernel, "1").plain == ["1"]


def test_an_interrupt_by_somebody_else_closes_the_question(
    kernel: FreshKernel, typist: Typist
) -> None:
    typist.answers += [None]
    timer = threading.Timer(0.5, kernel.process.interrupt_kernel)
    timer.start()
    ran = run(kernel, "input('Name? ')")
    timer.join()
    assert ran.cancelled is not None
    assert typist.questions[0].closed == 1


def test_the_time_limit_does_not_count_the_wait_for_the_person(
    kernel: FreshKernel, typist: Typist
) -> None:
    typist.answers += ["x", "y"]
    typist.after_seconds = 0.8
    ran = run(kernel, "a = input()\nb = input()\na + b", timeout_seconds=1.0)
    assert ran.plain == ["'xy'"]
    typist.answers += ["x"]
    ran = run(kernel, "input()\nimport time; time.sleep(20)", timeout_seconds=1.0)
    assert ran.execution.status == "timeout"
    assert 1.7 < ran.seconds < 4


def test_without_anybody_to_type_a_cell_that_asks_fails(kernel: FreshKernel) -> None:
    """K11."""
    client = kernel.process.client()
    client.start_channels(hb=False, stdin=False)
    try:
        ran = run(ClientKernel(client, kernel.process), "input('Name? ')")
    finally:
        client.stop_channels()
    (error,) = ran.errors
    assert "no keyboard" in error.evalue


def test_a_running_cell_can_be_given_more_time(kernel: FreshKernel) -> None:
    """K5."""
    timer = threading.Timer(0.4, kernel.extend, (5.0,))
    timer.start()
    ran = run(kernel, "import time; time.sleep(1.6); 'done'", timeout_seconds=1.0)
    timer.join()
    assert ran.plain == ["'done'"]
    assert not kernel.extend(5.0), "nothing runs"
    assert run(kernel, "time.sleep(20)", timeout_seconds=1.0).execution.status == "timeout"


def test_the_limit_that_is_told_is_the_extended_one(kernel: FreshKernel) -> None:
    timer = threading.Timer(0.3, kernel.extend, (0.5,))
    timer.start()
    ran = run(kernel, "import time; time.sleep(20)", timeout_seconds=1.0)
    assert "Stopped after 1.5 s" in ran.execution.note


def test_a_cell_without_a_limit_can_be_extended_too(kernel: FreshKernel) -> None:
    timer = threading.Timer(0.2, kernel.extend, (5.0,))
    timer.start()
    code = "import time; time.sleep(0.6); 'done'"
    assert run(kernel, code, timeout_seconds=None).plain == ["'done'"]


def test_the_request_carries_the_id_it_was_given(kernel: FreshKernel) -> None:
    code = "get_ipython().get_parent()['header']['msg_id']"
    assert run(kernel, code, message_id="a-name-of-ours").plain == ["'a-name-of-ours'"]
    assert run(kernel, code, message_id="another").plain == ["'another'"]
    assert run(kernel, code).plain != ["''"]


def test_waiting_for_somebody_elses_cell_is_told_once_it_takes_a_while(
    kernel: FreshKernel, typist: Typist, person: Any
) -> None:
    run(kernel, "1")
    person.execute("import time; time.sleep(2); theirs = 5")
    time.sleep(0.3)
    assert run(kernel, "theirs").plain == ["5"]
    assert typist.waited == [True, False]
    person.execute("import time; time.sleep(0.5); theirs = 6")
    time.sleep(0.2)
    assert run(kernel, "theirs").plain == ["6"]
    assert typist.waited == [True, False], "a short wait is not worth telling"


def test_waiting_for_a_cell_that_was_sent_just_before_ours_is_told(
    kernel: FreshKernel, typist: Typist, person: Any
) -> None:
    run(kernel, "order = []")
    person.execute("import time; time.sleep(2); order.append('theirs')")
    first = run(kernel, "len(order)").plain == ["1"]
    assert typist.waited == ([True, False] if first else []), "either may be the quicker one"


def test_stop_ends_the_wait_for_somebody_elses_cell(
    kernel: FreshKernel, typist: Typist, person: Any
) -> None:
    run(kernel, "1")
    person.execute("import time; time.sleep(3)")
    time.sleep(0.3)
    ran = stopped_after(kernel, "1", 1.4)
    assert ran.cancelled is not None
    assert ran.seconds < 2.4
    assert typist.waited == [True, False]
    assert run(kernel, "2").plain == ["2"]


def test_a_kernel_of_which_nothing_is_heard_is_not_asked_for_ever(kernel: FreshKernel) -> None:
    client = kernel.process.client()
    client.start_channels(hb=False, stdin=False)
    client.iopub_channel.socket.unsubscribe(b"")
    deaf = ClientKernel(client, kernel.process)
    try:
        with pytest.raises(KernelNotReadyError, match="did not answer within"):
            deaf._get_ready(Stop(), within=1.0)
    finally:
        client.stop_channels()


def test_a_kernel_that_starts_is_not_waited_for(tmp_path: Path) -> None:
    typist = Typist()
    attendance = Attendance(on_waiting=typist.waited.append)
    with start_kernel(tmp_path, kernel_environment(), attendance=attendance) as kernel:
        assert run(kernel, "print(1)").outputs == (StreamOutput("stdout", "1\n"),)
    assert typist.waited == []


def test_a_wait_is_told_of_once_and_its_end_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    told: list[bool] = []
    waiting = Waiting(told.append)
    for waits in (True, True, True, False, False, True, False):
        waiting.note(waits)
        clock[0] += 0.7
    assert told == [True, False]
    Waiting().note(True)
