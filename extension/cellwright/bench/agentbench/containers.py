"""Services that run already, in the place of containers that a task would start.

A task starts a database with the Docker SDK and talks to a port of its own choice. Where a person
names a database, that port leads there.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from cellwright.errors import SetupError
from cellwright.stopping import WorkerThread

LOCAL = "127.0.0.1"
CHUNK_BYTES = 65_536
REACH_SECONDS = 5.0


class ContainerError(Exception):
    """A container is wanted that no service stands in for, or that is not there."""


class ForwardedContainer:
    """A port of this machine that leads to a service, by a process of its own.

    MySQL's driver keeps all threads of its process waiting while it asks, so none could forward.

    Args:
        service: Where it runs.
        port: The port; it is given back by ``stop``.
    """

    def __init__(self, service: tuple[str, int], port: int) -> None:
        self.id = f"{service[0]}:{service[1]}"
        try:
            socket.create_connection(service, REACH_SECONDS).close()
        except OSError as error:
            raise ContainerError(f"No service answers at {self.id}: {error}") from error
        command = [sys.executable, "-c", FORWARD, service[0], str(service[1]), str(port)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not (self._process.stdout and self._process.stdout.readline()):
            raise ContainerError(f"Port {port} cannot be used.")

    def stop(self, **options: Any) -> None:
        """Lead there no more; the service stays as it is."""
        self._process.kill()
        self._process.communicate()


FORWARD = f"from {__name__} import forward; forward()"


def forward() -> None:
    """Forward the port that the command line names, until whoever started this ends."""
    host, far, near = sys.argv[1:]
    listener = socket.create_server((LOCAL, int(near)))
    WorkerThread(_accept, listener, (host, int(far)), name="forward").start()
    print("ready", flush=True)
    sys.stdin.read()


def _accept(listener: socket.socket, service: tuple[str, int]) -> None:
    while True:
        near, _ = listener.accept()
        try:
            far = socket.create_connection(service)
        except OSError:
            near.close()
            continue
        WorkerThread(_copy, near, far, name="forward").start()
        WorkerThread(_copy, far, near, name="forward").start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK_BYTES):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class _Containers:
    def __init__(self, services: Mapping[str, tuple[str, int]]) -> None:
        self._services = services

    def run(self, image: str, *command: Any, **options: Any) -> ForwardedContainer:
        """What stands in for a container of this image."""
        name = image.rpartition("/")[2].partition(":")[0]
        ports = options.get("ports") or {}
        if name not in self._services or len(ports) != 1:
            raise ContainerError(
                f"No service stands in for the container {image!r}; Docker runs it."
            )
        return ForwardedContainer(self._services[name], int(next(iter(ports.values()))))

    def get(self, name: str) -> ForwardedContainer:
        """Nothing: none has a name."""
        raise ContainerError(f"There is no container {name!r}.")


class _Client:
    def __init__(self, services: Mapping[str, tuple[str, int]]) -> None:
        self.containers = _Containers(services)

    def ping(self) -> bool:
        """Whether there are containers."""
        return True


def docker_modules(services: Mapping[str, str]) -> dict[str, ModuleType]:
    """Modules in the place of the Docker SDK's, for a process that runs one task.

    Args:
        services: ``HOST:PORT`` by the image's name.

    Raises:
        SetupError: A service is not named so.
    """
    parsed = dict(_parse(services))
    modules = {
        name: ModuleType(name)
        for name in ("docker", "docker.errors", "docker.models", "docker.models.containers")
    }
    vars(modules["docker"]).update(from_env=lambda **options: _Client(parsed), __all__=["from_env"])
    vars(modules["docker.errors"]).update(DockerException=ContainerError, NotFound=ContainerError)
    vars(modules["docker.models.containers"]).update(Container=ForwardedContainer)
    return modules


def _parse(services: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, int]]]:
    for image, address in services.items():
        host, _, port = address.rpartition(":")
        if not (image and host and port.isdecimal()):
            raise SetupError(
                f"--container {image}={address!r} names no service.", hint="Write IMAGE=HOST:PORT."
            )
        yield image, (host, int(port))
