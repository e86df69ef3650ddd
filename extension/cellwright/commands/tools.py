"""``tool``: what the agent may call, functions of the face's kernel and those of services."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from cellwright.commands import COMPLETED, NOT_COMPLETED, VerbContext
from cellwright.commands.results import Result
from cellwright.commands.terminal import one_line
from cellwright.external.commands import order, parse, sign_in, sign_out
from cellwright.external.source import OutsideTools
from cellwright.record.values import to_dict
from cellwright.tools import Component
from cellwright.tools.checking import check_tool, checks_table
from cellwright.tools.functions import FunctionTool, as_component
from cellwright.tools.live_registry import LIVE, find_value


def list_tools(context: VerbContext) -> Result:
    """Functions of the kernel, where there is one, and those of services."""
    variables = context.open_face().variables
    return _order(context, "list", [] if variables is None else _list(variables))


def add(context: VerbContext) -> Result:
    """Offer functions of the kernel."""
    return Result("\n".join(_add([*context.words], _variables(context))))


def check(context: VerbContext) -> Result:
    """Say what is wrong with functions, or with services."""
    return _of_kernel(context, _check) or _order(context, "check")


def remove(context: VerbContext) -> Result:
    """Take functions back, or leave services."""
    return _of_kernel(context, _remove) or _order(context, "remove")


def discover(context: VerbContext) -> Result:
    """Use a service that says what it can do."""
    return _order(context, "discover")


def connect(context: VerbContext) -> Result:
    """Use an MCP server or an OpenAPI document."""
    return _order(context, "connect")


def refresh(context: VerbContext) -> Result:
    """Ask services again what they can do."""
    return _order(context, "refresh")


# Services.


def login(context: VerbContext) -> Result:
    """Sign in to MCP servers, with a browser on this machine."""
    with context.open_store() as store, context.open_face().open_tools(store) as tools:
        return _of_sign_ins(context, lambda name: sign_in(name, tools, _shown_by(context)))


def logout(context: VerbContext) -> Result:
    """Sign out of MCP servers."""
    with context.open_store() as store, context.open_face().open_tools(store) as tools:
        return _of_sign_ins(context, lambda name: sign_out(name, tools))


def _of_sign_ins(context: VerbContext, act: Callable[[str], list[str]]) -> Result:
    lines = [_one_line(line) for name in context.words for line in act(name)]
    return Result("\n".join(lines), document={"ok": True, "lines": lines})


def _shown_by(context: VerbContext) -> Callable[[str], None]:
    def show(url: str) -> None:
        host = urlsplit(url).hostname
        context.note(
            f"Open this page of {host} in a browser on this machine, and sign in:\n{url}\n"
            "(Is your browser elsewhere? Then use Sign in on the panel's Tools page.)"
        )

    return show


def _order(context: VerbContext, action: str, before: list[str] | None = None) -> Result:
    face = context.open_face()
    with context.open_store() as store, face.open_tools(store) as tools:
        lines = order(parse([action, *context.words]), tools)
        rows = [to_dict(row) for row in tools.rows()]
    here = "%agent tool" if face.variables is not None else f"{context.prefix}tool"
    lines = [_one_line(line).replace("%agent tool", here) for line in lines]
    failed = any(line.startswith("✗") for line in lines)
    return Result(
        "\n".join([*(before or []), *lines]),
        document={"ok": not failed, "lines": lines, "tools": rows},
        exit_code=NOT_COMPLETED if failed else COMPLETED,
    )


def _one_line(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return indent + one_line(line)


# Functions of the kernel.

Action = Callable[[list[str], Mapping[str, Any]], list[str]]


def _of_kernel(context: VerbContext, action: Action) -> Result | None:
    """What becomes of names that are no services' in a kernel; None: services are meant."""
    face, names = context.open_face(), [*context.words]
    if face.variables is None or not names:
        return None
    with context.open_store() as store, face.open_tools(store) as tools:
        if _are_outside(names, tools):
            return None
    return Result("\n".join(action(names, face.variables)))


def _are_outside(names: list[str], tools: OutsideTools) -> bool:
    known = {entry.definition.name for entry in tools.book.pages().entries}
    return any(name in known or name.endswith(".json") for name in names)


def _variables(context: VerbContext) -> Mapping[str, Any]:
    variables = context.open_face().variables
    assert variables is not None, "only a notebook has this verb"
    return variables


def _add(names: list[str], variables: Mapping[str, Any]) -> list[str]:
    lines = []
    for name in names:
        made = LIVE.add(name, find_value(variables, name))
        lines.append(f"The agent can call {_signature(made)}.")
        problems = [item for item in check_tool(made) if item.result != "ok"]
        lines += [f"  {item.detail}. {item.fix}" for item in problems]
    return lines


def _check(names: list[str], variables: Mapping[str, Any]) -> list[str]:
    made = [(name, as_component(find_value(variables, name))) for name in names]
    return [checks_table(name, check_tool(each)) for name, each in made]


def _remove(names: list[str], _variables: Mapping[str, Any]) -> list[str]:
    for name in names:
        LIVE.remove(name)
    return [f"The agent no longer has {', '.join(names)}."]


def _list(variables: Mapping[str, Any]) -> list[str]:
    lines = []
    for row in LIVE.rows(variables):
        told = f"not offered: {row['problem']}" if row["problem"] else row["description"]
        lines.append(f"{row['name']}: {told}")
    return lines or ["No tools of this kernel. %agent tool add NAME offers a function."]


def _signature(made: Component) -> str:
    names = ", ".join(made.tool_manifests()[0].parameters.get("properties", {}))
    kind = "" if isinstance(made, FunctionTool) else f" ({type(made).__name__})"
    return f"{made.name}({names}){kind}"
