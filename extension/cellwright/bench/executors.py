"""Where samples run: kernels here or behind a gateway, on threads or on a Dask cluster.

A sample that goes far away travels as a ``Parcel``: what is asked, its files and checks, and what
the agent will say where that is known. No key travels: who asks a model there takes the service
and its key from the settings there.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from cellwright.bench.agents import Agent, Answerer, NoAnswerError
from cellwright.bench.attempt import InfrastructureError, Job, SessionMemory
from cellwright.bench.environments import InterpreterChoice, Rooms, kernel_environment, kernels_of
from cellwright.bench.rates import Rates, SharedRates, forget_paces, keep_paces
from cellwright.bench.suites import Item, Suite, shown_prompt
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord
from cellwright.installation import missing_extra
from cellwright.kernels.gateway import Gateway
from cellwright.llm.replay import ReplayLM
from cellwright.stopping import Inbox, Stop


@dataclass(frozen=True)
class Equipment:
    """Which kernels samples run in."""

    kernels: InterpreterChoice = field(default_factory=InterpreterChoice)
    gateway: Gateway | None = None
    """Where they run; None: here."""
    environment_names: tuple[str, ...] = ()
    """Variables that kernels are given beside those that all of them are."""


class Equipped(NamedTuple):
    """Rooms with such kernels."""

    rooms: Rooms
    notice: str = ""
    """What the person should know of them."""


@contextlib.contextmanager
def equipped(equipment: Equipment, environ: Mapping[str, str]) -> Iterator[Equipped]:
    """Rooms with the kernels that were chosen.

    Args:
        equipment: Which.
        environ: What the suite wants in their environment.

    Raises:
        SetupError: The interpreter cannot start a kernel.
    """
    if equipment.gateway is not None:
        gateway = replace(equipment.gateway, environment_names=equipment.environment_names)
        yield Equipped(Rooms(environ, gateway.start, is_local=False))
        return
    names = equipment.environment_names
    with kernels_of(equipment.kernels, kernel_environment(environ, names)) as kernels:
        yield Equipped(Rooms(environ, kernels.start, environment_names=names), kernels.notice)


@dataclass(frozen=True)
class Parcel:
    """A sample for one agent, once, as it travels."""

    suite: str
    environ: Mapping[str, str]
    item: Item
    """Without its files; its prompt shows what was before it."""
    files: Mapping[str, bytes]
    epoch: int
    agent: str
    model: str
    replies: Answerer | None
    """What will be said; None: a model is to be asked."""
    judge: str = ""
    """The model that checks ask; empty: none."""
    shared: SharedRates | None = None
    """How often models are asked from all samples together; None: as often as they answer."""


def pack(job: Job, memory: SessionMemory | None = None) -> Parcel:
    """The job as it travels.

    Args:
        job: The sample.
        memory: What the agent did earlier, where samples go on from one another.

    Raises:
        InfrastructureError: There is nothing that could be run.
    """
    own = None
    if memory is not None and job.suite.is_in_order:
        own = memory.before(job.agent.name, job.epoch, job.item.session)
    try:
        answerer = job.agent.answerer(job.item, job.epoch)
        files = {name: path.read_bytes() for name, path in job.item.files.items()}
    except (NoAnswerError, OSError) as error:
        raise InfrastructureError("START_FAILED", str(error), retryable=False) from error
    return Parcel(
        job.suite.name,
        job.suite.environ,
        replace(job.item, prompt=shown_prompt(job.item, own), history=(), files={}),
        files,
        job.epoch,
        job.agent.name,
        answerer.model,
        answerer if isinstance(answerer.lm, ReplayLM) else None,
    )


@contextlib.contextmanager
def unpacked(parcel: Parcel, agent: Agent | None = None) -> Iterator[Job]:
    """The job again, its files in a folder for as long as the ``with`` lasts.

    Args:
        parcel: What came.
        agent: Asks the model, where no replies came with it.
    """
    with tempfile.TemporaryDirectory(prefix="cw-parcel-") as folder:
        files = {}
        for name, content in parcel.files.items():
            files[name] = Path(folder, name)
            files[name].parent.mkdir(parents=True, exist_ok=True)
            files[name].write_bytes(content)
        item = replace(parcel.item, files=files)
        suite = Suite(parcel.suite, (item,), environ=parcel.environ)
        known = parcel.replies
        if known is not None:
            agent = Agent(parcel.agent, lambda item, epoch: known)
        assert agent is not None, "a sample for a model came without an agent"
        yield Job(suite, item, replace(agent, name=parcel.agent), parcel.epoch)


# Samples on the workers of a Dask cluster; each that ends is recorded here, once.
#
# A sample whose worker dies is run again on another one by Dask itself; what the first had done of
# it is recorded nowhere. After Ctrl-C, samples that are under way end on their workers and are not
# looked at.


Work = Callable[[Parcel, Equipment], Mapping[str, Any]]
"""Runs a sample on a worker: ``{"sample": its record}``, or ``{"failure": word, ...}``."""
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
            raise missing_extra(
                f"--executor dask needs the package distributed: {error}.", "dask"
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
    ended: Inbox[None] = Inbox()
    future.add_done_callback(lambda done: ended.put(None))
    ended.take(stop)
    try:
        found: Mapping[str, Any] = future.result()
    # Workers that died, a scheduler that is gone, whatever the worker's program raised.
    except Exception as error:
        raise InfrastructureError(LOST, f"{type(error).__name__}: {error}") from error
    return found
