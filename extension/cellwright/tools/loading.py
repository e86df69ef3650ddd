"""What an author wrote as a tool (a class, a component or a function) as a component."""

from __future__ import annotations

from typing import Any

from cellwright.errors import SetupError
from cellwright.tools import Component
from cellwright.tools.functions import tool


def as_component(found: Any) -> Component:
    """The component that a class, a component or a function is.

    Raises:
        SetupError: It is none of them.
    """
    if isinstance(found, Component):
        return found
    if not isinstance(found, type):
        return tool(found)
    if not issubclass(found, Component):
        raise SetupError(f"{found!r} is no component.", hint="Let it inherit from Component.")
    try:
        return found()
    except TypeError as error:
        raise SetupError(
            f"{found.__name__} cannot be made: {error}.", hint="Give its arguments defaults."
        ) from error
