"""The variables before a question, the reference run on them, and what the agent changed.

This source is sent to the kernel (see ``kernel_source``), after ``dseval_validators``.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
from typing import Any

from cellwright.bench.dseval_matching import RULES, compare
from cellwright.bench.dseval_validators import DsevalCell, Finding, validate

HELD = "_cellwright_dseval"
"""The module of the kernel in which the state before the question is held."""

TAKEN = """
import copy, io, sys, types
class Forbidden:
    def __eq__(self, other):
        return False
def copied(value):
    kept = types.ModuleType, types.FunctionType, types.BuiltinFunctionType, io.IOBase
    for how in () if isinstance(value, kept) else (copy.deepcopy, copy.copy):
        try:
            return how(value)
        except Exception:
            pass
    return value
held = sys.modules[name] = types.SimpleNamespace()
held.originals = {key: value for key, value in space.items() if not own(key)}
held.before = {key: copied(value) for key, value in held.originals.items()}
held.handed = {key: copied(value) for key, value in held.originals.items()}
space.update(held.handed)
space.update({key: Forbidden() for key in forbidden if key in held.handed})
"""
"""Run once before the question. The agent works on copies: what it does to a value is not done to
the reference's, and values that were one object before are not any more."""

OWN = re.compile(r"_{1,3}|_i{1,3}|_i?\d+|_[iod]h|In|Out|exit|quit|open|get_ipython|__\w+__")
"""Names that IPython keeps among a person's variables."""


class ReferenceFailedError(Exception):
    """The reference itself does not run here."""


def answer_to(told: dict[str, Any], space: dict[str, Any]) -> Finding:
    """What the validators say of a question after the agent has had its turn.

    Args:
        told: ``reference``, ``validator``, ``forbidden``; of the agent's last cell ``source``,
            ``stream``, ``error`` and ``count``.
        space: The kernel's variables.

    Raises:
        ReferenceFailedError: There is nothing to hold it against.
    """
    held = sys.modules[HELD]
    for name in told["forbidden"]:
        if name in held.handed:
            space[name] = held.handed[name]
    now = {name: value for name, value in space.items() if not OWN.fullmatch(name)}
    submission = DsevalCell(
        told["source"],
        told["stream"],
        None if told["error"] else space.get("_oh", {}).get(told["count"]),
        told["error"],
        now,
        changes(now, held.handed, held.before),
    )
    return validate(told["validator"], _reference(told, held), submission)


def _reference(told: dict[str, Any], held: Any) -> DsevalCell:
    names = dict(held.originals)
    space = {"__name__": "__main__", **names}
    for name in told["forbidden"]:
        space.pop(name, None)
    tree, stream = ast.parse(told["reference"]), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            exec(compile(tree, "<reference>", "exec"), space)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<reference>", "eval"), space)
    except Exception as error:  # whatever the reference's own code raises
        raise ReferenceFailedError(f"{type(error).__name__}: {error}") from error
    for name in told["forbidden"]:
        if name in names:
            space[name] = names[name]
    now = {name: found for name, found in space.items() if not OWN.fullmatch(name)}
    differences = changes(now, names, held.before)
    return DsevalCell(told["reference"], stream.getvalue(), value, "", now, differences)


def changes(now: dict[str, Any], then: dict[str, Any], before: dict[str, Any]) -> dict[str, str]:
    """How each variable that is not the same any more changed.

    Args:
        now: The variables.
        then: The same objects earlier.
        before: What they were then.
    """
    found = {name: "deleted" for name in then if name not in now}
    for name, value in now.items():
        if name not in then:
            found[name] = "added"
        elif value is not then[name]:
            found[name] = "replaced"
        elif not _is_same(before[name], value):
            found[name] = "updated"
    return found


def _is_same(before: Any, value: Any) -> bool:
    try:
        return compare(value, before, RULES).equal
    except Exception:  # what cannot be compared may have changed
        return False
