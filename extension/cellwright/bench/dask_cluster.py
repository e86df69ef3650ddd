"""Samples on the workers of a Dask cluster; each that ends is recorded here, once.

A sample whose worker dies is run again on another one by Dask itself; what the first had done of
it is recorded nowhere. After Ctrl-C, samples that are under way end on their workers and are not
looked at.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cellwright.bench.attempt import InfrastructureError, Job
from cellwright.bench.dask_pace import SharedRates, forget_paces, keep_paces
from cellwright.bench.executors import Equipment, Parcel, pack
from cellwright.bench.rates import Rates
from cellwright.bench.session_memory import SessionMemory
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord
from cellwright.stopping import Stop

Work = Callable[[Parcel, Equipment], Mapping[str, Any]]
"""Runs a sample on a worker: ``{"sample": its record}``, or ``{"failure": word, ...}``."""
LOOK_SECONDS = 0.1
CONNECT_SECONDS = 20.0
LOST = "NETWORK_ERROR"


class Cluster:
    """A connection to a scheduler.

    Args:
        address: Such as ``tcp://10.0.0.1:8786``.
        rates: How often models are asked from all workers together.

    Raises:
        SetupError: dask is not installed, there is no scheduler, or it cannot keep the rates.
    """

    def __init__(self, address: str, rates: Rates | None = None) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            raise SetupError(
                f"--executor dask needs the package distributed: {error}.",
                hint='Install it: pip install "cellwright[dask]"',
            ) from error
        if not address:
            raise SetupError(
                "--executor dask needs a scheduler.", hint="Name one: --scheduler tcp://HOST:PORT"
            )
        try:
            self._client = distributed.Client(
                address, timeout=CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise SetupError(
                f"There is no Dask scheduler at {address!r}: {error}.",
                hint="Start one with `dask scheduler`.",
            ) from error
        self._memory = SessionMemory()
        self._shared = self._kept(rates) if rates and rates != Rates() else None

    def thread_count(self) -> int:
        """How many samples the workers can run at a time; at least one."""
        threads: int = sum(self._client.nthreads().values())
        return max(1, threads)

    def attempts(
        self, work: Work, equipment: Equipment, judge: str = ""
    ) -> Callable[[Job, Stop], SampleRecord]:
        """Runs one sample on whichever worker is free; ``judge`` is the model that checks ask."""

        def attempt(job: Job, stop: Stop) -> SampleRecord:
            parcel = replace(pack(job, self._memory), judge=judge, shared=self._shared)
            sample = self._sent(work, (parcel, equipment), stop)
            if job.suite.is_in_order:
                self._memory.note(sample)
            return sample

        return attempt

    def close(self) -> None:
        """Let go of the cluster; it stays."""
        if self._shared is not None:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.run_on_scheduler(forget_paces, self._shared.benchmark)
        self._client.close()

    def _kept(self, rates: Rates) -> SharedRates:
        try:
            self._client.run_on_scheduler(keep_paces)
        except Exception as error:  # whatever keeps the scheduler's own Python from it
            self._client.close()
            raise SetupError(
                f"The Dask scheduler cannot keep the rates: {type(error).__name__}: {error}.",
                hint="Install cellwright where the scheduler runs, or leave the rates out.",
            ) from error
        return SharedRates(uuid.uuid4().hex, rates)

    def _sent(self, work: Work, what: tuple[Parcel, Equipment], stop: Stop) -> SampleRecord:
        name = f"cellwright-{uuid.uuid4().hex}"
        future = self._client.submit(work, *what, key=name, pure=False)
        try:
            found = _result(future, stop)
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                future.cancel()
        if "failure" in found:
            raise InfrastructureError(
                found["failure"], found["text"], retryable=bool(found["retryable"])
            )
        return SampleRecord.from_dict(found["sample"])


def _result(future: Any, stop: Stop) -> Mapping[str, Any]:
    """What the worker made of it.

    Raises:
        InfrastructureError: No worker could.
        RunCancelled: ``stop`` was set.
    """
    ended = threading.Event()
    future.add_done_callback(lambda done: ended.set())
    while not ended.wait(LOOK_SECONDS):
        stop.check()
    try:
        found: Mapping[str, Any] = future.result()
    # Workers that died, a scheduler that is gone, whatever the worker's program raised.
    except Exception as error:
        raise InfrastructureError(LOST, f"{type(error).__name__}: {error}") from error
    return found
