"""``@agent_tool``: functions of this kernel as tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from cellwright.tools import Risk
from cellwright.tools.live_registry import LIVE, LiveOptions

F = TypeVar("F", bound=Callable[..., Any])


@overload
def agent_tool(function: F, /) -> F: ...


@overload
def agent_tool(
    *, name: str = "", description: str = "", risk: Risk | None = None
) -> Callable[[F], F]: ...


def agent_tool(
    function: Any = None,
    /,
    *,
    name: str = "",
    description: str = "",
    risk: Risk | None = None,
) -> Any:
    """Let the agent call a function; written above its ``def`` in a cell.

    The function stays what it is. Running the cell again offers it as it is then.

    Args:
        function: Any function of this kernel.
        name: What the model calls it; empty: the function's name.
        description: Told to the model; empty: the docstring's summary.
        risk: ``read`` runs unasked; None: it is asked about like code.

    Raises:
        SetupError: No manifest can be made of it, or its name is taken.
    """
    options = LiveOptions(name, risk, description)

    def offer(given: Any) -> Any:
        LIVE.add(given.__name__, given, options)
        return given

    return offer if function is None else offer(function)
