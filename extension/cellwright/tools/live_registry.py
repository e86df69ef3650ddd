"""The tools that a person made of what lives in the kernel; this side of it runs in the kernel.

A tool is kept by the name of its variable: what is called is what the name means at that time, and
the manifest is made anew whenever the model is told of it.
"""

from __future__ import annotations

import contextlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cellwright.errors import SetupError
from cellwright.tools import Component, Risk
from cellwright.tools.evaluation import RESERVED_PREFIX
from cellwright.tools.functions import FunctionTool, as_component, tool
from cellwright.tools.manifest import annotations_of, is_context

RESERVED_TOOLS = frozenset(
    {
        *("add_cell", "arrange_cell", "edit_cell", "inspect_variable", "install_package"),
        *("list_variables", "read_notebook", "read_output", "run_cell", "submit"),
    }
)
"""Names of the agent's own tools."""
LiveForm = Literal["call", "await", "each", "async each", "output", "made"]
"""How the call is written: plain, awaited, as a loop, as a component, or made a tool first."""
PLAIN = (str, int, float, bool, list, dict, type(None), Any)


@dataclass(frozen=True)
class LiveOptions:
    """How a tool is offered."""

    name: str = ""
    """What the model calls it; empty: as the variable."""
    risk: Risk | None = None
    """None: what the tool itself says, ``execute`` for a plain function."""
    description: str = ""


@dataclass(frozen=True)
class LiveRow:
    """One tool, as the kernel tells of it."""

    name: str
    expression: str
    """Where it is in the person's namespace; a class is made there for each call."""
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    form: LiveForm = "call"
    converts: bool = False
    """Arguments have to be made into the function's types first."""
    risk: Risk = "execute"
    version: str = "v1"
    problem: str = ""
    """Why it cannot be offered now."""


class LiveRegistry:
    """Names of what the agent may call, in the order in which they were added."""

    def __init__(self) -> None:
        self._options: dict[str, LiveOptions] = {}

    def add(self, expression: str, value: Any, options: LiveOptions | None = None) -> Component:
        """Offer what a name stands for; the tool that it makes.

        Raises:
            SetupError: It is nothing that can be a tool, or its name is taken.
        """
        options = options or LiveOptions()
        made = _component(value, options)
        for name in {made.name, options.name or made.name}:
            if name in RESERVED_TOOLS or name.startswith(RESERVED_PREFIX):
                raise SetupError(
                    f"{name!r} is a name of the agent's own.", hint="Give it another with name=…."
                )
        for other, its in self._options.items():
            if other != expression and (its.name or other.rpartition(".")[2]) == made.name:
                raise SetupError(f"{other!r} is offered as {made.name!r} already.")
        made.tool_manifests()
        self._options[expression] = options
        return made

    def remove(self, expression: str) -> None:
        """Offer it no longer.

        Raises:
            SetupError: It was not offered.
        """
        if self._options.pop(expression, None) is None:
            raise SetupError(f"{expression!r} is no tool.", hint="%agent tool list shows them.")

    def clear(self) -> None:
        """Offer nothing."""
        self._options.clear()

    def expressions(self) -> tuple[str, ...]:
        """What was added, in order."""
        return tuple(self._options)

    def rows(self, namespace: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Every tool as it is now, as plain JSON data."""
        found = [_row(namespace, name, its) for name, its in self._options.items()]
        return [asdict(row) for row in found]


LIVE = LiveRegistry()
"""That of this process."""


def offer_again(namespace: Mapping[str, Any], tools: Mapping[str, str]) -> None:
    """Offer the functions of these names again, as far as they are here.

    Args:
        namespace: Where they are looked for.
        tools: Names, with what the model was told of each.
    """
    for name, description in tools.items():
        if name in namespace:
            with contextlib.suppress(SetupError):
                LIVE.add(name, namespace[name], LiveOptions(description=description))


def find_value(namespace: Mapping[str, Any], expression: str) -> Any:
    """What an expression such as ``prices`` or ``shop.prices`` stands for.

    Raises:
        SetupError: It is no name, or there is nothing of that name.
    """
    first, *parts = expression.split(".")
    if not all(part.isidentifier() for part in (first, *parts)):
        raise SetupError(f"{expression!r} is no name.", hint="Name a function.")
    if first not in namespace:
        raise SetupError(f"There is no {first!r} in this kernel.", hint="Run its cell first.")
    value = namespace[first]
    for part in parts:
        if not hasattr(value, part):
            raise SetupError(f"{first!r} has no {part!r}.", hint="Run its cell first.")
        value = getattr(value, part)
    return value


def _component(value: Any, options: LiveOptions) -> Component:
    value = as_component(value) if isinstance(value, type) else value
    if isinstance(value, Component) and not isinstance(value, FunctionTool):
        return value
    function = value.function if isinstance(value, FunctionTool) else value
    given = value if isinstance(value, FunctionTool) else FunctionTool()
    return tool(
        name=options.name or given.name,
        description=options.description or given.description,
        risk=options.risk or (given.risk if given is value else "execute"),
        version=given.version,
    )(function)


def _row(namespace: Mapping[str, Any], expression: str, options: LiveOptions) -> LiveRow:
    name = options.name or expression.rpartition(".")[2]
    try:
        value = find_value(namespace, expression)
        made = _component(value, options)
        (manifest, *others) = made.tool_manifests()
    except SetupError as error:
        return LiveRow(name, expression, problem=str(error))
    if others:
        return LiveRow(name, expression, problem=f"{name!r} is several tools in one.")
    form = _form(made)
    return LiveRow(
        manifest.name,
        f"{expression}()" if isinstance(value, type) else expression,
        manifest.description,
        manifest.parameters,
        form,
        form not in ("output", "made") and _converts(made),
        options.risk or _risk(made),
        made.version,
    )


def _risk(made: Component) -> Risk:
    """What the tool says of itself; one that says nothing runs a person's code."""
    classes = type(made).__mro__[: -len(Component.__mro__)]
    return made.risk if any("risk" in vars(cls) for cls in classes) else "execute"


def _form(made: Component) -> LiveForm:
    if not isinstance(made, FunctionTool):
        return "output"
    function = made.function
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.POSITIONAL_ONLY or is_context(p) for p in parameters):
        return "made"
    for test, form in FORMS:
        if test(function):
            return form
    return "call"


FORMS: tuple[tuple[Callable[[Any], bool], LiveForm], ...] = (
    (inspect.iscoroutinefunction, "await"),
    (inspect.isasyncgenfunction, "async each"),
    (inspect.isgeneratorfunction, "each"),
)


def _converts(made: Component) -> bool:
    assert isinstance(made, FunctionTool)
    hints = annotations_of(made.function)
    return not all(_is_plain(hint) for name, hint in hints.items() if name != "return")


def _is_plain(annotation: Any) -> bool:
    """Whether JSON values are the type's own values."""
    origin = typing.get_origin(annotation)
    if origin is None:
        return annotation in PLAIN
    if origin is Literal:
        return True
    inner = typing.get_args(annotation)
    if origin is typing.Annotated:
        return _is_plain(inner[0])
    is_container = origin in (list, dict, typing.Union, types.UnionType)
    return is_container and all(_is_plain(each) for each in inner)
