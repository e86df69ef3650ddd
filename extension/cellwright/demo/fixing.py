"""The person's own code: the cell that failed last, or code written in the prompt."""

from __future__ import annotations

from dataclasses import dataclass

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
    done = yield from run_code("I look at the last error and the cell it came from.", LAST_ERROR)
    known = facts(done.text)
    if not {"error", "message", "source"} <= set(known):
        return "I could not read what the kernel told me about the last error."
    if known["error"] == "NoneType" or not known["source"]:
        return "The kernel remembers no error of a cell, so there is nothing to fix."
    error = CellFailure(str(known["error"]), str(known["message"]).split("\n")[0])
    source = str(known["source"]).rstrip("\n")
    if error.name == "ModuleNotFoundError":
        return (yield from _with_package(source, error, tools))
    around = _surroundings(known)
    mended = mend(source, error, around)
    if mended is None:
        return (
            f"Your cell failed with `{error.name}: {error.message}`. I have no rule that mends "
            "this one, so I changed nothing."
        )
    again = yield from _attempt(f"{mended.reason} I run it mended.", mended.code, around)
    return _report(error, [mended.reason, *again.repairs], again.done)


def run_snippet(code: str, tools: frozenset[str]) -> Steps[str]:
    """Run the code of the prompt; when it fails, mend it where rules know how."""
    done = yield from run_code("I run the code you gave.", code)
    if done.error is None:
        return "The code ran without an error."
    return (yield from fix_last_cell(tools))


def _with_package(source: str, error: CellFailure, tools: frozenset[str]) -> Steps[str]:
    module = error.message.strip("'\"").split("'")[-1].split(".")[0] or error.message
    if not (yield from install(module, tools)):
        return f"`{module}` is not installed, and I have no tool that installs packages."
    again = yield from run_code("With it installed, I run your cell again.", source)
    return _report(error, [f"The package `{module}` was missing."], again)


def _surroundings(known: dict[str, object]) -> KnownNames:
    def texts(key: str) -> tuple[str, ...]:
        found = known.get(key)
        return tuple(map(str, found)) if isinstance(found, list) else ()

    return KnownNames(texts("columns"), texts("names"), texts("files"), texts("attributes"))


def _report(error: CellFailure, reasons: list[str], done: Done) -> str:
    changes = "\n".join(f"- {reason}" for reason in reasons)
    if done.error is None:
        return (
            f"Fixed: your cell failed with `{error.name}: {error.message}`.\n\n{changes}\n\n"
            "The mended cell ran without an error."
        )
    return (
        f"Your cell failed with `{error.name}: {error.message}`. I tried:\n\n{changes}\n\nIt still "
        f"fails, now with `{done.error.name}: {done.error.message}`."
    )


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
        done = yield from run_code(f"{mended.reason} I run it mended.", mended.code)
    return _Attempt(done, tuple(repairs))
