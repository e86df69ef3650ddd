"""A kernel over JSON messages, without one."""

from __future__ import annotations

import threading
import time

import pytest

from cellwright.errors import KernelNotReadyError
from cellwright.kernels.cell_run import Channels
from cellwright.kernels.json_channels import JsonClient


def test_whoever_waits_for_a_message_is_told_at_once_that_the_connection_broke() -> None:
    client = JsonClient()
    threading.Timer(0.3, client.lose).start()
    began = time.monotonic()
    with pytest.raises(KernelNotReadyError):
        list(Channels(client).receive(30))
    assert time.monotonic() - began < 10
    client.stop_channels()
