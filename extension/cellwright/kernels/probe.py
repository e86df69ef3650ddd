"""Questions to a kernel about itself; runs inside it, from the standard library alone.

The source of this file and of its four neighbours (``inspection``, ``figures``,
``interrupt_watch``, ``cell_watch``) is sent to kernels that may not have cellwright installed, so
they import nothing else of ours and work on Python 3.8 and later. They leave nothing in the
person's namespace.
"""

from __future__ import annotations

import ast
import fnmatch
import hashlib
import json
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

from .cell_watch import STATE, own_names, row
from .inspection import (
    RunsCodeError,
    describe,
    is_plain,
    read_attribute,
    read_item,
    safe_repr,
    says_itself,
    type_name,
)

SOURCE_LIMIT = 4_000
GLOBALS = ("__builtins__", "__globals__")
NOT_THEIRS = "{!r} belongs to Python or IPython and is no variable of the person's"
PACKAGE_FIELD = re.compile(r"^(Name|Version):[ \t]*(.*?)\s*$", re.MULTILINE)


class ProbeError(Exception):
    """A question that cannot be answered; the text says why."""


def answer(function: str, arguments: dict[str, Any], shell: Any = None) -> dict[str, Any]:
    """The result of one of ``FUNCTIONS``, or why there is none."""
    try:
        return {"value": FUNCTIONS[function](shell or _shell(), **arguments)}
    except ProbeError as error:
        return {"refused": str(error)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def answer_text(function: str, arguments: str) -> str:
    """The answer as JSON, to arguments in JSON."""
    return json.dumps(answer(function, json.loads(arguments)), default=str)


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        raise ProbeError("there is no IPython here")
    return shell


# Variables


def list_variables(shell: Any, pattern: str = "", limit: int = 400) -> list[dict[str, str]]:
    """Name, type and size or value of the person's variables."""
    namespace = shell.user_ns
    names = [name for name in own_names(shell) if fnmatch.fnmatchcase(name, pattern or "*")]
    return [row(name, namespace[name]) for name in names[:limit]]


def inspect_variable(shell: Any, name: str) -> str:
    """A compact text for a variable or a part of it: ``df.price``, ``d["a"]``, ``x[0]``."""
    return describe(_evaluated(shell, name))


def _evaluated(shell: Any, expression: str) -> Any:
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ProbeError(_not_a_name(expression)) from None
    namespace, hidden = shell.user_ns, shell.user_ns_hidden
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else ""
        if name in namespace and name in hidden and hidden[name] is namespace[name]:
            raise ProbeError(NOT_THEIRS.format(name))
    return _part(namespace, tree, expression)


def _part(namespace: dict[str, Any], node: ast.AST, whole: str) -> Any:
    try:
        if isinstance(node, ast.Name):
            return namespace[node.id]
        if isinstance(node, ast.Attribute) and node.attr not in GLOBALS:
            return read_attribute(_part(namespace, node.value, whole), node.attr)
        if isinstance(node, ast.Subscript):
            wrapped = type(node.slice).__name__ == "Index"  # Python 3.8
            index: Any = node.slice
            key = ast.literal_eval(index.value if wrapped else index)
            container = _part(namespace, node.value, whole)
            if container is not sys.modules:
                return read_item(container, key)
    except ProbeError:
        raise
    except RunsCodeError as error:
        text = f"{ast.unparse(node)!r} cannot be read without running code: {error}. Run a cell."
        raise ProbeError(text) from None
    except KeyError:
        raise ProbeError(f"there is no {ast.unparse(node)!r}{_close(namespace, node)}") from None
    except Exception as error:
        text = f"{ast.unparse(node)!r} cannot be read: {type(error).__name__}: {error}"
        raise ProbeError(text) from None
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        raise ProbeError(NOT_THEIRS.format(ast.unparse(node)))
    raise ProbeError(_not_a_name(whole))


def _close(namespace: dict[str, Any], node: ast.AST) -> str:
    import difflib

    if not isinstance(node, ast.Name):
        return ""
    near = difflib.get_close_matches(node.id, [n for n in namespace if not n.startswith("_")], 3)
    return f"; there is {', '.join(near)}" if near else ""


def _not_a_name(expression: str) -> str:
    return (
        f"{expression!r} is not a name, an attribute or a constant subscript; run a cell to "
        "compute something"
    )


def live_tools(shell: Any) -> list[dict[str, Any]]:
    """The tools that the person made of what lives in this kernel; none without cellwright."""
    module = sys.modules.get("cellwright.tools.live_registry")
    rows: list[dict[str, Any]] = [] if module is None else module.LIVE.rows(shell.user_ns)
    return rows


def hand_over(_shell: Any, facts: dict[str, Any]) -> bool:
    """Keep for the next call of a tool what it is told of the run; False: none can be called."""
    module = sys.modules.get("cellwright.tools")
    if module is not None:
        module.hand_over(facts)
    return module is not None


# Cells


def executed_cells(shell: Any) -> list[str]:
    """Source of the cells that the person ran in this session, in order."""
    sources = list(shell.history_manager.input_hist_raw)
    return [
        source
        for count, source in enumerate(sources)
        if count and source and count not in STATE.own_counts
    ]


def last_error(_shell: Any) -> dict[str, str] | None:
    """The last exception of the person's cells: name, text, frames and the cell it is from."""
    value = getattr(sys, "last_value", None)
    if value is STATE.own_error:
        value = STATE.persons_error
    if value is None:
        return None
    frames = traceback.extract_tb(BaseException.__dict__["__traceback__"].__get__(value))
    own = [frame for frame in frames if _is_cell(frame.filename)]
    lines = [f"{_place(frame)}: {frame.line}" for frame in (own or frames[-3:])[-6:]]
    name, told = type_name(value), safe_text(value)
    try:
        at = SyntaxError.__dict__["filename"].__get__(value)
    except TypeError:  # it is none, whatever it says
        at = ""
    file = own[-1].filename if own else at if type(at) is str else ""
    source = "".join(linecache.getlines(file))[:SOURCE_LIMIT]
    text = "\n".join([*lines, f"{name}: {told}"])
    return {"ename": name, "evalue": told, "text": text, "source": source}


def safe_text(error: BaseException) -> str:
    """What the exception says; where a class of the person's would say it, what it was given."""
    given = BaseException.__dict__["args"].__get__(error)
    if all(map(is_plain, given)) and says_itself(type(error)):
        return str(error)
    return ", ".join(map(safe_repr, given))


def _is_cell(filename: str) -> bool:
    return "ipykernel_" in filename or filename.startswith("<ipython-input")


def _place(frame: Any) -> str:
    name = "" if frame.name == "<module>" else f", in {frame.name}"
    where = "cell" if _is_cell(frame.filename) else os.path.basename(frame.filename)
    return f"{where} line {frame.lineno}{name}"


# Files and packages


def packages(_shell: Any) -> dict[str, str]:
    """Version of every installed distribution."""
    from importlib.metadata import distributions

    found = {}
    for distribution in distributions():
        # Its own ``metadata`` parses all of it as an e-mail, which takes ten times as long.
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        # Of lines with the same name the first counts; the description is below an empty line.
        head = dict(reversed(PACKAGE_FIELD.findall(text.partition("\n\n")[0])))
        if head.get("Name"):
            found[head["Name"]] = head.get("Version", "")
    return dict(sorted(found.items()))


def file_digest(_shell: Any, paths: list[str]) -> dict[str, str]:
    """SHA-256 of each file that can be read."""
    digests = {}
    for path in paths:
        digest = hashlib.sha256()
        try:
            with open(path, "rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    digest.update(block)
        except OSError:
            continue
        digests[path] = digest.hexdigest()
    return digests


def describe_kernel(_shell: Any) -> dict[str, Any]:
    """Version, folder and process."""
    return {
        "language": "python",
        "version": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "cwd": os.getcwd(),
        "process_id": os.getpid(),
    }


def last_displays(_shell: Any) -> dict[str, Any]:
    """The displays of the last cell of ours as they were sent last, by display id."""
    return dict(STATE.sent.displays) if STATE.sent is not None else {}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "describe_kernel": describe_kernel,
    "executed_cells": executed_cells,
    "file_digest": file_digest,
    "hand_over": hand_over,
    "inspect_variable": inspect_variable,
    "last_displays": last_displays,
    "last_error": last_error,
    "list_variables": list_variables,
    "live_tools": live_tools,
    "packages": packages,
}
