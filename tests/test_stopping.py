import os
import signal
import threading
import time

import pytest

from cellwright.errors import RunCancelled
from cellwright.stopping import Inbox, Stop, WorkerThread, join_threads, retry


def test_the_first_reason_stays() -> None:
    stop = Stop()
    stop.set("first")
    stop.set("second")
    with pytest.raises(RunCancelled) as caught:
        stop.check()
    assert caught.value.reason == "first"


def test_a_wait_ends_as_soon_as_somebody_stops() -> None:
    stop = Stop()
    threading.Timer(0.05, stop.set).start()
    started = time.monotonic()
    with pytest.raises(RunCancelled):
        stop.wait(10)
    assert time.monotonic() - started < 2


def test_a_wait_that_nobody_stops_just_ends() -> None:
    stop = Stop()
    stop.wait(0.01)
    stop.wait(-1)
    assert not stop.is_set()


def test_a_bare_except_exception_cannot_eat_a_stop() -> None:
    assert not issubclass(RunCancelled, Exception)


def test_whoever_waits_on_a_condition_hears_of_it_and_of_a_stop() -> None:
    stop, condition = Stop(), threading.Condition()
    heard: list[str] = []

    def wait() -> None:
        with condition:
            stop.wait_on(condition)
            heard.append("notified")
            with pytest.raises(RunCancelled):
                stop.wait_on(condition)
            heard.append("stopped")

    waiting = WorkerThread(wait, name="test")
    waiting.start()
    while not heard:
        with condition:
            condition.notify_all()
    stop.set()
    waiting.join(5)
    assert heard == ["notified", "stopped"]
    assert join_threads(1.0) == ()


def test_a_stop_that_came_before_ends_the_wait_at_once() -> None:
    stop, condition = Stop(), threading.Condition()
    stop.set()
    with condition, pytest.raises(RunCancelled):
        stop.wait_on(condition)


def test_a_wait_on_a_condition_ends_with_its_time() -> None:
    condition = threading.Condition()
    with condition:
        Stop().wait_on(condition, 0.01)


def test_what_others_make_possible_is_tried_until_the_time_is_over() -> None:
    tries: list[int] = []

    def act() -> int:
        tries.append(1)
        if len(tries) < 3:
            raise ValueError("not yet")
        return len(tries)

    assert retry(act, ValueError, 10, 0.001) == 3
    tries.clear()
    with pytest.raises(ValueError, match="not yet"):
        retry(act, ValueError, -1)
    assert len(tries) == 1
    with pytest.raises(ZeroDivisionError):
        retry(lambda: 1 // 0, ValueError, 10)


def test_threads_of_ours_are_listed_until_they_have_ended() -> None:
    over = threading.Event()
    thread = WorkerThread(over.wait, 5.0, name="test")
    thread.start()
    assert (thread.name, thread.daemon) == ("cellwright-test", True)
    assert join_threads(0.01) == (thread,)
    over.set()
    assert join_threads(5.0) == ()


def test_what_others_find_out_is_taken_in_order_and_a_stop_ends_the_wait() -> None:
    stop, inbox = Stop(), Inbox[str]()
    threading.Timer(0.05, inbox.put, ["first"]).start()
    assert inbox.take(stop, 10) == "first"
    inbox.put("second")
    inbox.put("third")
    assert [inbox.take(stop, 0), inbox.take(stop)] == ["second", "third"]
    with pytest.raises(TimeoutError):
        inbox.take(stop, 0.01)
    threading.Timer(0.05, stop.set).start()
    with pytest.raises(RunCancelled):
        inbox.take(stop)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_an_interrupt_reaches_a_main_thread_that_waits_without_an_end() -> None:
    threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        Inbox[str]().take(Stop())
