"""Where samples run: kernels here or behind a gateway, on threads or far away.

A sample that goes far away travels as a ``Parcel``: what is asked, its files and checks, and what
the agent will say where that is known. No key travels: who asks a model there takes the service
and its key from the settings there.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from cellwright.bench.agents import Agent, Answerer, NoAnswerError
from cellwright.bench.attempt import InfrastructureError, Job
from cellwright.bench.dask_pace import SharedRates
from cellwright.bench.environments import Rooms, kernel_environment
from cellwright.bench.interpreters import KernelChoice, kernels_of
from cellwright.bench.session_memory import SessionMemory
from cellwright.bench.suites import Item, Suite, shown_prompt
from cellwright.kernels.gateway import Gateway
from cellwright.llm.replay import ReplayLM


@dataclass(frozen=True)
class Equipment:
    """Which kernels samples run in."""

    kernels: KernelChoice = field(default_factory=KernelChoice)
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
        answerer.parameters.model,
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
