"""The probe's way into a kernel: its source, sent once, as modules nobody sees.

Nothing is left in the person's namespace, in ``%who`` or in the history.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from cellwright.kernels import (
    awakening,
    carried_pickles,
    carrying,
    cell_watch,
    drain,
    figures,
    inspection,
    interrupt_watch,
    kept_files,
    object_states,
    obstacles,
    probe,
    sandbox,
    sent_outputs,
    snapshots,
)

PACKAGE = "_cellwright"
SNAPSHOTS = "_cellwright_forks"
MAKE = """
import sys, types
if getattr(sys.modules.get(name), "version", "") != version:
    package = sys.modules[name] = types.ModuleType(name)
    package.__path__, package.version, package.shell = [], version, None
    for part, source in sources.items():
        module = sys.modules[name + "." + part] = types.ModuleType(name + "." + part)
        module.__package__ = name
        exec(compile(source, "<cellwright " + part + ">", "exec"), module.__dict__)
"""
"""What is there already stays: it knows which of the cells that ran were ours."""
ATTACH = """
shell = sys.modules["IPython.core.getipython"].get_ipython()
if sys.modules[name].shell is not shell:
    sys.modules[name + ".cell_watch"].install(shell)
    sys.modules[name].shell = shell
"""


@functools.cache
def install_code() -> str:
    """Code that installs the probe; an expression without a value."""
    return f"exec({MAKE + ATTACH!r}, {_given()!r})"


@functools.cache
def prepare_code() -> str:
    """Code for a process from which kernels are forked: in those nothing is left but to attach."""
    return f"exec({MAKE!r}, {_given()!r})"


@functools.cache
def install_snapshots_code() -> str:
    """Code that installs ``snapshots`` beside the probe, where somebody wants them."""
    carried = (object_states, carried_pickles, carrying)
    modules = (sandbox, awakening, kept_files, obstacles, *carried, snapshots)
    return f"exec({MAKE!r}, {_sources(SNAPSHOTS, *modules)!r})"


def _given() -> dict[str, Any]:
    watching = (interrupt_watch, figures, drain, sent_outputs, kept_files, cell_watch)
    return _sources(PACKAGE, inspection, *watching, probe)


def _sources(name: str, *modules: ModuleType) -> dict[str, Any]:
    sources = {m.__name__.rpartition(".")[2]: inspect.getsource(m) for m in modules}
    version = hashlib.sha256("".join(sources.values()).encode()).hexdigest()
    return {"name": name, "version": version, "sources": sources}


def flood_limit(messages: int) -> str:
    """An expression that lets so many messages wait to be sent; 0: as many as there are.

    ipykernel drops what comes after a thousand: a flood of prints had holes.
    """
    return (
        "(lambda thread: thread.schedule(lambda: thread.socket.setsockopt("
        f"__import__('zmq').SNDHWM, {messages})))(get_ipython().kernel.iopub_socket.io_thread)"
    )


def answer_expression(
    function: str, arguments: Mapping[str, Any], module: str = f"{PACKAGE}.probe"
) -> str:
    """An expression whose value is the answer of the probe, or its like, as JSON text.

    It is ``None`` where the module is not there. It must not raise: IPython would keep the error as
    the last one, and the model would be told that the person's last cell failed with it.
    """
    asked = f"{function!r}, {json.dumps(dict(arguments))!r}"
    found = f"__import__('sys').modules.get('{module}')"
    return f"(lambda module: module and module.answer_text({asked}))({found})"
