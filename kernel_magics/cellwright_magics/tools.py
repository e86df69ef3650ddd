"""``%agent tool`` and ``@agent_tool``: functions of this kernel, and services, as tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from cellwright.commands.results import Result
from cellwright.errors import SetupError
from cellwright.external.commands import order, parse
from cellwright.external.source import OutsideTools
from cellwright.tools import Component, Risk
from cellwright.tools.checking import check_tool, checks_table
from cellwright.tools.functions import FunctionTool, tool
from cellwright.tools.live_registry import LIVE, LiveOptions, found

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


def tool_command(words: list[str], namespace: Mapping[str, Any]) -> Result:
    """Do what ``%agent tool …`` says; the answer as text.

    Args:
        words: Those after ``%agent``.
        namespace: The person's variables.

    Raises:
        SetupError: A name is no tool, or cannot be one.
    """
    action, *names = words[1:] or ["list"]
    return Result("\n".join(ACTIONS_OF[action](names, namespace)))


def _add(names: list[str], namespace: Mapping[str, Any]) -> list[str]:
    lines = []
    for name in names:
        made = LIVE.add(name, found(namespace, name))
        lines.append(f"The agent can call {_signature(made)}.")
        problems = [item for item in check_tool(made) if item.result != "ok"]
        lines += [f"  {item.detail}. {item.fix}" for item in problems]
    return lines


def _check(names: list[str], namespace: Mapping[str, Any]) -> list[str]:
    made = [(name, _made(found(namespace, name))) for name in names]
    return [checks_table(name, check_tool(each)) for name, each in made]


def _remove(names: list[str], _namespace: Mapping[str, Any]) -> list[str]:
    for name in names:
        LIVE.remove(name)
    return [f"The agent no longer has {', '.join(names)}."]


def _list(_names: list[str], namespace: Mapping[str, Any]) -> list[str]:
    lines = []
    for row in LIVE.rows(namespace):
        told = f"not offered: {row['problem']}" if row["problem"] else row["description"]
        lines.append(f"{row['name']}: {told}")
    return lines or ["No tools of this kernel. %agent tool add NAME offers a function."]


ACTIONS_OF: Mapping[str, Callable[[list[str], Mapping[str, Any]], list[str]]] = {
    "add": _add,
    "check": _check,
    "list": _list,
    "remove": _remove,
}


def _made(value: Any) -> Component:
    if isinstance(value, type) and issubclass(value, Component):
        try:
            return value()
        except TypeError as error:
            raise SetupError(f"{value.__name__} cannot be made: {error}.") from error
    return value if isinstance(value, Component) else tool(value)


def _signature(made: Component) -> str:
    names = ", ".join(made.tool_manifests()[0].parameters.get("properties", {}))
    kind = "" if isinstance(made, FunctionTool) else f" ({type(made).__name__})"
    return f"{made.name}({names}){kind}"


# ``%agent tool discover|connect|…``: services whose functions the agent may call.


NEEDING_NAMES = ("connect", "discover", "refresh", "remove")
SHARED = ("list", "check", "remove")
"""Actions that functions of the kernel have too."""


def outside_command(words: list[str], namespace: Mapping[str, Any], tools: OutsideTools) -> Result:
    """Do what ``%agent tool …`` says; the answer as text.

    Args:
        words: Those after ``%agent``.
        namespace: The person's variables.
        tools: The outside tools of this shell.

    Raises:
        SetupError: It cannot be done.
    """
    words = words if len(words) > 1 else ["tool", "list"]
    action, names = words[1], words[2:]
    if action == "list":
        of_kernel = str(tool_command(words, namespace).text)
        return Result("\n".join([of_kernel, *_ordered(words, tools)]))
    if action in SHARED and names and not _are_outside(names, tools):
        return tool_command(words, namespace)
    if action not in (*NEEDING_NAMES, *SHARED):
        return tool_command(words, namespace)
    return Result("\n".join(_ordered(words, tools)))


def _ordered(words: list[str], tools: OutsideTools) -> list[str]:
    return order(parse(words[1:]), tools)


def _are_outside(names: list[str], tools: OutsideTools) -> bool:
    known = {entry.definition.name for entry in tools.book.pages().entries}
    return any(name in known or name.endswith(".json") for name in names)
