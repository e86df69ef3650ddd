"""Modules of ours as one program for a kernel that may have another Python and no cellwright."""

from __future__ import annotations

import inspect
from types import ModuleType

FUTURE = "from __future__ import annotations\n"
DROPPED = ("from __future__ ", "from cellwright.")


def program_of(*modules: ModuleType) -> str:
    """The modules' sources, one after the other.

    Args:
        modules: Those that others import first. What they import of each other stands on one line
            and is not renamed; it is left out here, where all have one namespace.
    """
    return FUTURE + "\n".join(_lines(module) for module in modules)


def _lines(module: ModuleType) -> str:
    lines = inspect.getsource(module).splitlines()
    return "\n".join(line for line in lines if not line.startswith(DROPPED))
