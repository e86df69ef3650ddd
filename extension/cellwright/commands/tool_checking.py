"""``cellwright check module:name``: is a tool one that a model can use well?"""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import asdict
from typing import Any

from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.errors import SetupError
from cellwright.tools import Component
from cellwright.tools.checking import CheckInfo, check_outputs, check_tool, checks_table
from cellwright.tools.functions import as_component


def check(invocation: Invocation) -> int:
    """Show every rule with what to do; with ``--call`` run it once and look at what it says."""
    options = invocation.options
    made = found_component(options.target)
    found = list(check_tool(made))
    if options.call is not None:
        found.append(_called(made, options.call))
    failed = any(item.result == "failed" for item in found)
    document = {"ok": not failed, "checks": [asdict(item) for item in found]}
    invocation.console.result(document, checks_table(made.name, found))
    return NOT_COMPLETED if failed else COMPLETED


def found_component(target: str) -> Component:
    """The tool that ``module:name`` is: a class, a component or a function.

    Raises:
        SetupError: There is none.
    """
    module_name, _, name = target.partition(":")
    if not name:
        raise SetupError(f"{target!r} names no tool.", hint="Write module:name.")
    # A command looks for modules where it was called, as python -m does.
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise SetupError(
            f"{target!r} cannot be found: {error}.", hint="Write module:name."
        ) from error
    return as_component(found)


def _called(made: Component, arguments: str) -> CheckInfo:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise SetupError(f"The arguments {arguments!r} are no JSON: {error}.") from error
    if not isinstance(given, dict):
        raise SetupError(f"The arguments {arguments!r} are no JSON object.")
    output = made.evaluate_merged(**given)
    errors = [item.text.get("info", "") for item in output.content if item.is_error]
    if errors:
        return CheckInfo("SchemaAgainstOutput", "failed", errors[0], "Mend it, or its arguments.")
    return check_outputs([output])
