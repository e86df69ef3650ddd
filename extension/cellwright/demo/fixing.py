"""The person's own code: the cell that failed last, or code written in the prompt."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.demo.lexicon import say
from cellwright.demo.mending import KnownNames, mend
from cellwright.demo.steps import Done, Steps, install, run_code
from cellwright.demo.transcript import CellFailure, facts

REPAIR_LIMIT = 3
LAST_ERROR = """\
def _last_error():
    import difflib
    import json
    import linecache
    import sys
    import traceback
    from pathlib import Path

    error = getattr(sys, "last_value", None)
    trace = traceback.extract_tb(getattr(error, "__traceback__", None))
    places = [frame.filename for frame in trace] + [getattr(error, "filename", None) or ""]
    cells = ["".join(linecache.getlines(place)) for place in places if not Path(place).exists()]
    there = {name: value for name, value in globals().items() if name[0] != "_"}
    tables = [value for value in there.values() if hasattr(value, "columns")]
    wrong, owner = getattr(error, "name", None) or "", getattr(error, "obj", None)
    facts = {
        "error": type(error).__name__,
        "message": str(error),
        "source": next(filter(None, cells), ""),
        "columns": list(dict.fromkeys(str(c) for table in tables for c in table.columns))[:80],
        "names": difflib.get_close_matches(wrong, there, 5),
        "attributes": difflib.get_close_matches(wrong, dir(owner), 5),
        "files": sorted(path.as_posix() for path in Path().glob("*.*"))[:60],
    }
    return "\\n".join(json.dumps({key: value}) for key, value in facts.items())


print(_last_error())"""


def fix_last_cell(tools: frozenset[str]) -> Steps[str]:
    """Look at the last error and its cell, change the code and run it."""
    done = yield from run_code(say("fix_look"), LAST_ERROR)
    known = facts(done.text)
    if not {"error", "message", "source"} <= set(known):
        return say("fix_unread")
    if known["error"] == "NoneType" or not known["source"]:
        return say("fix_nothing")
    error = CellFailure(str(known["error"]), str(known["message"]).split("\n")[0])
    source = str(known["source"]).rstrip("\n")
    if error.name == "ModuleNotFoundError":
        return (yield from _with_package(source, error, tools))
    around = _surroundings(known)
    mended = mend(source, error, around)
    if mended is None:
        return say("fix_no_rule", error=f"{error.name}: {error.message}")
    again = yield from _attempt(say("fix_run", reason=mended.reason), mended.code, around)
    return _report(error, [mended.reason, *again.repairs], again.done)


def run_snippet(code: str, tools: frozenset[str]) -> Steps[str]:
    """Run the code of the prompt; when it fails, mend it where rules know how."""
    done = yield from run_code(say("fix_given"), code)
    if done.error is None:
        return say("fix_ran")
    return (yield from fix_last_cell(tools))


def _with_package(source: str, error: CellFailure, tools: frozenset[str]) -> Steps[str]:
    module = error.message.strip("'\"").split("'")[-1].split(".")[0] or error.message
    if not (yield from install(module, tools)):
        return say("fix_no_package", module=module)
    again = yield from run_code(say("fix_installed"), source)
    return _report(error, [say("fix_package", module=module)], again)


def _surroundings(known: dict[str, object]) -> KnownNames:
    def texts(key: str) -> tuple[str, ...]:
        found = known.get(key)
        return tuple(map(str, found)) if isinstance(found, list) else ()

    return KnownNames(texts("columns"), texts("names"), texts("files"), texts("attributes"))


def _report(error: CellFailure, reasons: list[str], done: Done) -> str:
    changes = "\n".join(f"- {reason}" for reason in reasons)
    first = f"{error.name}: {error.message}"
    if done.error is None:
        return say("fix_done", error=first, changes=changes)
    now = f"{done.error.name}: {done.error.message}"
    return say("fix_failed", error=first, changes=changes, now=now)


@dataclass(frozen=True)
class _Attempt:
    done: Done
    repairs: tuple[str, ...]
    """What was wrong, one sentence each."""


def _attempt(text: str, code: str, around: KnownNames) -> Steps[_Attempt]:
    """Run a cell and mend it while its errors are ones that rules know."""
    done = yield from run_code(text, code)
    repairs: list[str] = []
    while done.error is not None and len(repairs) < REPAIR_LIMIT:
        mended = mend(done.code, done.error, around)
        if mended is None:
            break
        repairs.append(mended.reason)
        done = yield from run_code(say("fix_run", reason=mended.reason), mended.code)
    return _Attempt(done, tuple(repairs))
