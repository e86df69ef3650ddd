"""``cellwright enable`` and ``disable``: the magics, loaded whenever IPython starts."""

from __future__ import annotations

from cellwright.commands import COMPLETED, Invocation, autoload


def enable(invocation: Invocation) -> int:
    """Load the magics in every new kernel and IPython session of this person."""
    path = autoload.enable()
    document = {"enabled": True, "path": str(path)}
    invocation.console.result(document, f"%agent is loaded in new kernels from now on ({path}).")
    return COMPLETED


def disable(invocation: Invocation) -> int:
    """Leave it to ``%load_ext cellwright``."""
    path = autoload.disable()
    document = {"enabled": False, "path": str(path)}
    invocation.console.result(document, "%agent is loaded only with %load_ext cellwright now.")
    return COMPLETED
