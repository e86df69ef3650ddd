"""Whether the code that a suite's author wrote is Python, before anything of the suite runs.

Looked at are ``expression`` and ``assert`` of checks, and setups. A reference is not: a suite works
without one that runs. Nothing is executed; what only its run can show stays for its run.
"""

from __future__ import annotations

import ast
import importlib
import keyword
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cellwright.bench.checks import AnyOf, Assertion, Check, Variable
from cellwright.bench.suites import Item, Suite
from cellwright.errors import SetupError

CHANGES_SYNTAX = re.compile("load_ext|input_transformer|prefilter|autocall")
"""What a setup says that may make IPython take other code than Python in what follows."""
MAY_BE_A_MAGIC = re.compile(r"[ \t]*(\w+)(?=[ \t]+[^\s=]|[ \t]*$)[^\n]*")
"""A line that IPython takes for a magic without its sign, where there is one of that name."""
EMPTY_LINES = re.compile(r"(?:[ \t]*\n)*")
"""Those that IPython drops, as they stand first."""
VERSION = "import sys; print(*sys.version_info[:2])"


@dataclass(frozen=True)
class _AuthorCode:
    """One piece of it."""

    place: str
    """Where in the sample it is."""
    text: str
    way: Literal["expression", "test", "cell"]


def check_code(suite: Suite, python: str | None = "") -> None:
    """Refuse a suite with code that cannot be read.

    Code that is wrong here may be right in a newer Python; it is left to the run there.

    Args:
        suite: Whose.
        python: The interpreter of its kernels; empty: ours; None: one that cannot be asked.

    Raises:
        SetupError: There is some; the message tells all of it.
    """
    wrong = [
        f"{item.index!r}, {piece.place}, {said}"
        for item in suite.items
        for piece in _pieces(item)
        if (said := _complaint(piece)) and not _may_be_newer(item, python)
    ]
    if wrong:
        place = suite.source or suite.name
        raise SetupError(f"{place!r} has code that is no Python: {'; '.join(wrong)}. Mend it.")


def _pieces(item: Item) -> Iterator[_AuthorCode]:
    if any(map(CHANGES_SYNTAX.search, item.setup)):
        return
    for number, cell in enumerate(item.setup, start=1):
        yield _AuthorCode(f"setup {number}", cell, "cell")
    yield from _pieces_of_checks(item.checks)


def _pieces_of_checks(checks: Sequence[Check], within: str = "") -> Iterator[_AuthorCode]:
    for number, check in enumerate(checks, start=1):
        place = f"{within}check {number}"
        if isinstance(check, AnyOf):
            yield from _pieces_of_checks(check.checks, f"{place}, any_of ")
        elif isinstance(check, Variable) and check.expression:
            yield _AuthorCode(f"{place} (variable {check.name})", check.expression, "expression")
        elif isinstance(check, Assertion):
            yield _AuthorCode(
                f"{place} (assert)", check.code, "cell" if check.in_kernel else "test"
            )


def _complaint(piece: _AuthorCode) -> str:
    """What Python says of it, with the line; empty: it can be read."""
    if piece.way == "expression":
        error = _error_in(piece.text.lstrip(" \t"), "eval")  # as eval does
        return _describe(error, 0) if error else ""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if piece.way == "cell" else 0
    if _error_in(piece.text, "exec", flags) is None:
        return ""
    error = _error_in(_as_ipython_does(piece.text), "exec", flags)
    line = MAY_BE_A_MAGIC.fullmatch(piece.text.strip("\n"))
    if error is None or (line and not keyword.iskeyword(line[1])):
        return ""
    dropped = EMPTY_LINES.match(piece.text)
    return _describe(error, dropped[0].count("\n") if dropped else 0)


def _describe(error: SyntaxError | ValueError, lines_before: int) -> str:
    if not isinstance(error, SyntaxError):
        return str(error)
    said = f"line {(error.lineno or 1) + lines_before}: {error.msg}"
    return f"{said}: {error.text.strip()}" if error.text and error.text.strip() else said


def _error_in(text: str, mode: str, flags: int = 0) -> SyntaxError | ValueError | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<suite>", mode, flags, dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            return error
    return None


def _as_ipython_does(text: str) -> str:
    inputtransformer2: Any = importlib.import_module("IPython.core.inputtransformer2")
    python: str = inputtransformer2.TransformerManager().transform_cell(text)
    return python


def _may_be_newer(item: Item, python: str | None) -> bool:
    """Whether its kernel's Python may read what ours cannot."""
    named = item.needs.python or python
    if named is None or item.needs.image:
        return True
    if not named:
        return False
    try:
        asked = subprocess.run([named, "-c", VERSION], capture_output=True, text=True, check=False)
    except OSError:  # it is told where a kernel is to start with it
        return True
    words = asked.stdout.split()
    return len(words) != 2 or (int(words[0]), int(words[1])) > sys.version_info[:2]
