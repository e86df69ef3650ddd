"""``@tool``: an ordinary Python function as a tool; its types and docstring are the manifest."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, overload

from cellwright.errors import SetupError, ToolError
from cellwright.record.messages import Manifest
from cellwright.tools import Component, Risk, ToolContext, bound_arguments
from cellwright.tools.manifest import (
    ManifestStyle,
    annotations_of,
    function_manifest,
    shown_parameters,
    tool_name,
)
from cellwright.tools.message import Message

LENIENT = ManifestStyle(is_lenient=True)


class FunctionTool(Component):
    """A function that a model may call; people call it as before.

    ``tool`` makes one.
    """

    __name__: str
    function: ClassVar[Callable[..., Any]]
    description: ClassVar[str] = ""
    """Told to the model instead of the docstring's."""

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """Made of the function's signature and docstring."""
        made = function_manifest(self.function, self.name, "", LENIENT)
        if self.description:
            made = Manifest(made.name, self.description, made.parameters)
        return (made,)

    def label(self, **arguments: object) -> str:
        """The call as it would be written."""
        return f"{self.name}({', '.join(arguments)})"

    def begin(self, context: ToolContext | None, /, **arguments: Any) -> Any:
        """Call the function with arguments of the types it wants."""
        given = bound_arguments(self.function, context, converted(self.function, arguments))
        return _applied(self.function, given)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function itself; ``run`` when it is given a message."""
        if len(arguments) == 1 and isinstance(arguments[0], Message) and not named:
            return self.run(arguments[0])
        return self.function(*arguments, **named)


@overload
def tool(
    function: Callable[..., Any],
    /,
    *,
    name: str = "",
    description: str = "",
    risk: Risk = "execute",
    version: str = "v1",
) -> FunctionTool: ...


@overload
def tool(
    *, name: str = "", description: str = "", risk: Risk = "execute", version: str = "v1"
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    risk: Risk = "execute",
    version: str = "v1",
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Make a function a tool. Stability: stable.

    Args:
        function: An ordinary or async function, or a generator of either kind.
        name: What the model calls it; empty: the function's name.
        description: Told to the model; empty: the docstring's summary.
        risk: ``execute`` runs unasked only in mode ``auto``; ``read`` always does.
        version: Recorded with what it does.

    Raises:
        SetupError: It is no function, or no manifest can be made of it.
    """
    if function is None:
        return functools.partial(_made, name=name, risk=(risk, version), description=description)
    return _made(function, name=name, risk=(risk, version), description=description)


def converted(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """JSON arguments as the types that the function wants: enums, dates, classes of data.

    Raises:
        ToolError: Some do not fit; all of them are named.
    """
    hints = annotations_of(getattr(function, "function", function))
    given = dict(arguments)
    complaints = []
    for name in arguments:
        if name not in hints or hints[name] in (Any, object):
            continue
        value, complaint = _value(hints[name], arguments[name])
        given[name] = value
        if complaint:
            complaints.append(f"{name!r}: {complaint}")
    if complaints:
        raise ToolError(f"The arguments do not fit: {'; '.join(complaints)}.")
    return given


def _value(annotation: Any, value: Any) -> tuple[Any, str]:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(annotation).validate_python(value), ""
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in found["loc"])
        return value, f"{where + ': ' if where else ''}{found['msg']}, not {value!r}"


def _made(function: Any, *, name: str, risk: tuple[Risk, str], description: str) -> FunctionTool:
    if not callable(function) or isinstance(function, (type, Component)):
        raise SetupError(f"{function!r} is no function.", hint="Write @tool above a def.")
    told = tool_name(name or getattr(function, "__name__", ""))
    body = {
        "name": told,
        "risk": risk[0],
        "version": risk[1],
        "description": description,
        "function": staticmethod(function),
        "__doc__": inspect.getdoc(function),
        "__module__": function.__module__,
    }
    made: FunctionTool = type(told, (FunctionTool,), body)()
    made.tool_manifests()  # what cannot be offered is refused here, where it is written
    functools.update_wrapper(typing.cast(Any, made), function, updated=())
    return made


def _applied(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function by name, and by place where it takes no names."""
    given = dict(arguments)
    places = [
        given.pop(parameter.name)
        for parameter in shown_parameters(function)
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in given
    ]
    return function(*places, **given)


# What an author wrote as a tool (a class, a component or a function) as a component.


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
