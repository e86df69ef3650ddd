"""The variables before a question, the reference run on them, and what the agent changed.

This source is sent to kernels, after ``author_tests`` and ``dseval_validators``. In the agent's
kernel it tells the result and the variables as data; in the clean one, where the same setup has
run, it runs the reference and the validators.

What this does not protect against: which variables are new, gone or other objects than before is
what the agent's kernel says; what those that were there are worth is compared in the clean one.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import re
import sys
from typing import Any

from cellwright.bench.author_tests import (
    ANSWERS,
    NoData,
    NoDataError,
    RemoteTest,
    answer_with,
    begin,
    pickled,
    write_value,
)
from cellwright.bench.author_tests import go_on as go_on
from cellwright.bench.dseval_matching import RULES, compare
from cellwright.bench.dseval_validators import DsevalCell, validate
from cellwright.bench.value_data import restore

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


# In the agent's kernel.


def answer_question(request: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """Do what the validators need done where the agent's code ran."""
    return answer_with({**ANSWERS, "question": _told, "evaluate": _evaluated}, request, user)


def _told(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    """The result, the names of all variables, and of those that are still the same what they hold.

    Args:
        request: ``count``, the number of the cell with the result, and ``forbidden``.
        user: The kernel's variables.
        objects: Gets what is no data.
    """
    handed = sys.modules[HELD].handed
    user.update({name: handed[name] for name in request["forbidden"] if name in handed})
    now = {name: value for name, value in user.items() if not OWN.fullmatch(name)}
    kept = [name for name, value in handed.items() if name in now and now[name] is value]
    return {
        "result": write_value(user.get("_oh", {}).get(request["count"]), objects),
        "names": sorted(now),
        "kept": {name: _digest(now[name]) for name in kept},
    }


def _evaluated(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    values = [eval(text, dict(user)) for text in request["texts"]]
    return {"values": [write_value(value, objects) for value in values]}


def _digest(value: Any) -> str:
    """A text that is the same for the same value; another one may still be for an equal value."""
    if type(value).__name__ == "DataFrame":
        # How its columns lie together in memory changes where it is only looked at.
        columns = [value.iloc[:, place].array for place in range(value.shape[1])]
        value = [value.columns, value.index, columns]
    found = pickled(value)
    return "" if found is None else hashlib.sha256(found).hexdigest()


# In the clean kernel.


class ReferenceFailedError(Exception):
    """The reference itself does not run here."""


def begin_question(told: dict[str, Any], user: dict[str, Any]) -> Any:
    """Begin to look at a question after the agent has had its turn.

    Args:
        told: ``reference``, ``validator``, ``forbidden``; of the agent's last cell ``source``,
            ``stream``, ``error`` and ``count``.
        user: The kernel's variables.
    """
    return begin(QuestionTest(told))


class QuestionTest(RemoteTest):
    """What the validators find; a text where the reference itself does not run here."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__()
        self._told = told

    def work(self) -> Any:
        """Run the reference, then hold what the agent's kernel tells against it."""
        told, held = self._told, sys.modules[HELD]
        try:
            reference = _reference(told, held)
        except ReferenceFailedError as error:
            return str(error)
        count = None if told["error"] else told["count"]
        try:
            by_agent = self.ask(ask="question", count=count, forbidden=told["forbidden"])
            result = restore(by_agent["result"], self.make)
            names = AgentNames(self, by_agent["names"])
            changes = names.changes(by_agent["kept"], held)
        except Exception as error:  # what the agent's kernel says may be anything
            raise NoDataError(f"the kernel does not say what is in it: {error!r}") from error
        submission = DsevalCell(
            told["source"], told["stream"], result, told["error"], names, changes
        )
        return validate(told["validator"], reference, submission)


class AgentNames:
    """The agent's variables, each taken out of its kernel when it is needed."""

    def __init__(self, test: QuestionTest, names: list[str]) -> None:
        self._test, self._names = test, set(names)
        self._values: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            try:
                data = self._test.ask(ask="values", names=[name])["values"][name]
                self._values[name] = restore(data, self._test.make)
            except Exception as error:  # whatever the agent's objects raise when they are read
                self._values[name] = NoData(name, f"value that cannot be read ({error!r})")
        return self._values[name]

    def evaluate(self, texts: list[str]) -> list[Any]:
        """The values of expressions, in the agent's kernel."""
        told = self._test.ask(ask="evaluate", texts=texts)["values"]
        return [restore(data, self._test.make) for data in told]

    def changes(self, kept: dict[str, str], held: Any) -> dict[str, str]:
        """How each variable that is not the same any more changed; as ``_changes``.

        Args:
            kept: Those that are the same objects, and what they hold.
            held: What all were before.
        """
        found = {name: "deleted" for name in held.before if name not in self}
        for name in sorted(self._names):
            if name not in held.before:
                found[name] = "added"
            elif name not in kept:
                found[name] = "replaced"
            elif not self._holds(name, kept[name], held):
                found[name] = "updated"
        return found

    def _holds(self, name: str, digest: str, held: Any) -> bool:
        before = held.before[name]
        if before is held.originals[name]:
            return True  # it cannot change, or cannot be copied: a number, a function, a figure
        is_known = digest != "" and digest == _digest(before)
        return is_known or _is_same(before, self[name])


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
    differences = _changes(now, names, held.before)
    return DsevalCell(told["reference"], stream.getvalue(), value, "", now, differences)


def _changes(now: dict[str, Any], then: dict[str, Any], before: dict[str, Any]) -> dict[str, str]:
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
