"""A task of a checkout of AgentBench 0.2, with its own code, configuration and data.

Its process works in the checkout. ``src.server.task`` and ``src.typings`` are ours there, and
nowhere else; every other ``src`` is the checkout's.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from cellwright.bench import task as contracts
from cellwright.bench.agentbench import typings
from cellwright.bench.agentbench.containers import docker_modules
from cellwright.bench.task import Task, VirtualTask
from cellwright.errors import SetupError

TYPINGS = ("config", "exception", "general", "output", "request", "status")
OURS = {
    "src.server.task": contracts,
    "src.typings": typings,
    **{f"src.typings.{name}": typings for name in TYPINGS},
}
VIRTUAL = "virtual-task"
VIRTUAL_CONCURRENCY = 8
CONFIGURATION = Path("configs/tasks/task_assembly.yaml")
PACKAGES = {"mysql": "mysql-connector-python==8.0.33", "docker": "docker", "yaml": "pyyaml"}
"""The distribution of a module, where it has another name."""
REACH_SECONDS = 5.0
ELSEWHERE = "Or start its worker as AgentBench says, and name the controller: --tasks URL."


class _OursLoader(Loader):
    def __init__(self, ours: ModuleType) -> None:
        self._ours = ours

    def exec_module(self, module: ModuleType) -> None:
        names = {name: value for name, value in vars(self._ours).items() if name[:1] != "_"}
        vars(module).update(names, __all__=getattr(self._ours, "__all__", sorted(names)))


class CheckoutFinder(MetaPathFinder):
    """Finds ``src`` in a checkout, and ours where a task expects AgentBench's.

    Args:
        folder: The checkout.
        others: Further modules, by name.
    """

    def __init__(self, folder: Path, others: Mapping[str, ModuleType]) -> None:
        self._folder = folder
        self._ours = {**OURS, **others}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module is; None where it is none of these."""
        if fullname in self._ours:
            is_package = any(name.startswith(f"{fullname}.") for name in self._ours)
            return spec_from_loader(
                fullname, _OursLoader(self._ours[fullname]), is_package=is_package
            )
        return PathFinder.find_spec("src", [str(self._folder)]) if fullname == "src" else None


def open_task(
    name: str, folder: Path | None, services: Mapping[str, str], *, is_prepared: bool = False
) -> Task:
    """Make a task, in a process that has no other: its folder and its ``src`` are the task's now.

    Args:
        name: As in the configuration, such as ``dbbench-dev``; without its ending the standard
            split is meant. ``virtual-task`` needs no checkout.
        folder: The checkout.
        services: What stands in for containers, ``HOST:PORT`` by the image's name.
        is_prepared: A person says that this interpreter has what the task's image has.

    Raises:
        SetupError: There is no such task, or something that it needs.
    """
    if name == VIRTUAL:
        return VirtualTask(concurrency=VIRTUAL_CONCURRENCY)
    if folder is None or not (folder / CONFIGURATION).is_file():
        raise SetupError(
            f"{str(folder or '')!r} is no checkout of AgentBench 0.2: it has no {CONFIGURATION}.",
            hint="Name one: --tasks CHECKOUT. Its branch is v0.2.",
        )
    os.chdir(folder)
    sys.meta_path.insert(0, CheckoutFinder(folder, docker_modules(services) if services else {}))
    chosen, definition = _choose(name)
    image = (definition.get("docker") or {}).get("image")
    if image and not is_prepared:
        raise SetupError(
            f"The task {chosen!r} is made for the Docker image {image}.",
            hint=f"{ELSEWHERE} Where an interpreter here has all that the image has, name it: "
            "--python.",
        )
    return _make(chosen, definition)


def _choose(name: str) -> tuple[str, dict[str, Any]]:
    try:
        loader = importlib.import_module("src.configs").ConfigLoader()
        tasks = loader.load_from(str(CONFIGURATION))
    except ModuleNotFoundError as error:
        raise _missing_module(error, "The configuration") from error
    for wanted in (name, f"{name}-std"):
        if wanted in tasks:
            return wanted, tasks[wanted]
    known = ", ".join(sorted(tasks))
    raise SetupError(f"AgentBench has no task {name!r} there.", hint=f"It has: {known}.")


def _make(name: str, definition: Mapping[str, Any]) -> Task:
    parameters = definition.get("parameters") or {}
    for url in _addresses(parameters):
        _check_address(name, url)
    try:
        factory = typings.InstanceFactory(module=definition["module"], parameters=parameters)
        # What is imported is known before anything is made: a missing service is told as such.
        importlib.import_module(factory.module.rpartition(".")[0])
        _check_containers(name)
        task: Task = factory.create()
    except ModuleNotFoundError as error:
        raise _missing_module(error, f"The task {name!r}") from error
    except SetupError:
        raise
    except Exception as error:  # the task's own code
        text = f"The task {name!r} cannot be made: {type(error).__name__}: {error}."
        raise SetupError(text, hint=ELSEWHERE) from error
    return task


def _missing_module(error: ModuleNotFoundError, what: str) -> SetupError:
    module = (error.name or "").partition(".")[0]
    if module == "src":
        return SetupError(
            f"{what} needs {error.name}, which is not in the checkout.", hint=ELSEWHERE
        )
    package = PACKAGES.get(module, module)
    install = f"Install {package!r} for {sys.executable}, or name another interpreter: --python."
    return SetupError(
        f"{what} needs the Python module {module!r}, which is not installed.",
        hint=f"{install} {ELSEWHERE}",
    )


def _addresses(value: Any) -> Iterator[str]:
    """Addresses among a task's parameters: services that it asks."""
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        yield value
    for part in value.values() if isinstance(value, dict) else ():
        yield from _addresses(part)


def _check_address(name: str, url: str) -> None:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), REACH_SECONDS).close()
    except OSError as error:
        raise SetupError(
            f"The task {name!r} needs the service at {url}, which does not answer: {error}.",
            hint=f"Run one, and name it in the checkout's configuration. {ELSEWHERE}",
        ) from error


def _check_containers(name: str) -> None:
    docker = sys.modules.get("docker")
    if docker is None:
        return
    try:
        docker.from_env().ping()
    except Exception as error:  # whatever kind the Docker SDK of that version has
        raise SetupError(
            f"The task {name!r} needs Docker, which does not answer: {error}.",
            hint="Start it, or name a service in the place of a container: "
            f"--container mysql=HOST:PORT. {ELSEWHERE}",
        ) from error
