import threading
import time

import pytest

from cellwright.errors import RunCancelled
from cellwright.stopping import Stop


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
