"""What an evaluated notebook makes its checks with; this source stands in the notebook.

Nothing of ours is imported and Python 3.9 will do: whoever opens the notebook has a kernel and
what the run itself needs. ``bench.grading_cells`` puts ``comparing`` before it where a check
compares values.

What this does not protect against: the checks run in the kernel that ran the agent's code.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import os
import re
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

SHOWN_CHARACTERS = 500
FENCED = re.compile(r"```[A-Za-z0-9_+-]*\n(.*?)\n?```", re.DOTALL)

answer = ""
"""What the agent said last; a cell sets it."""
results: dict[str, tuple[float, float]] = {}
"""Points earned and points by check."""
_printed: list[str] = []
_before: dict[str, str] = {}


def place_files(files: dict[str, str], elsewhere: dict[str, str]) -> None:
    """Work in a new folder that holds the run's files; nothing beside the notebook is changed.

    Args:
        files: Their contents by name, as base64 of zlib.
        elsewhere: Names and SHA-256 of those that are too large to be carried: they are taken from
            the folder of the notebook.
    """
    here, folder = Path.cwd(), Path(tempfile.mkdtemp(prefix="evaluated-"))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(zlib.decompress(base64.b64decode(text)))
    for name, digest in elsewhere.items():
        beside = here / name
        data = beside.read_bytes() if beside.is_file() else b""
        if not beside.is_file() or (digest and hashlib.sha256(data).hexdigest() != digest):
            print(f"Put the file {name!r} of the run beside the notebook; it is not there.")
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    os.chdir(folder)
    print(f"Working in {folder}" + (f" with {', '.join(files)}" if files else ""))


class _PrintedText:
    """Stdout, with what is printed kept until the first check."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> Any:
        _printed.append(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def start_run(variables: dict[str, Any]) -> None:
    """Note what is there before the agent's first cell, and keep what is printed from now on."""
    fingerprint = globals().get("fingerprints")
    if fingerprint is not None:
        _before.update(fingerprint(dict(variables)))
    end_run()
    _printed.clear()
    results.clear()
    sys.stdout = _PrintedText(sys.stdout)


def end_run() -> None:
    """Give stdout back: what a check prints is nothing that the agent printed."""
    if isinstance(sys.stdout, _PrintedText):
        sys.stdout = sys.stdout.stream


def describe(result: str, expected: str = "", found: str = "", why: str = "") -> str:
    """What a check says of itself, line by line."""
    lines = [result]
    lines += [f"expected: {expected}"] if expected else []
    lines += [f"found:    {found}"] if found else []
    lines += [f"because:  {why}"] if why else []
    return "\n".join(lines)


def headline(passed: bool, earned: float, points: float) -> str:
    """How it went, in a line."""
    return f"{'passed' if passed else 'FAILED'}: {earned:g} of {points:g} points"


class check:  # noqa: N801  # read as a statement: with grading.check(…):
    """One check: what fails in it takes its points.

    Args:
        name: Its own among those of the notebook.
        points: What it counts.
        expected: What should be, in words.
    """

    def __init__(self, name: str, points: float = 1.0, expected: str = "") -> None:
        self.name, self.points, self.expected = name, points, expected
        self._found = ""

    def __enter__(self) -> check:
        end_run()
        results[self.name] = (0.0, self.points)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        passed = kind is None
        earned = self.points if passed else 0.0
        results[self.name] = (earned, self.points)
        why = (
            "" if passed else str(error) if kind is AssertionError else f"{kind.__name__}: {error}"
        )
        result = headline(passed, earned, self.points)
        print(describe(result, self.expected, self._found, why))

    def found(self, value: Any) -> None:
        """Show what is there."""
        self._found = repr(value)[:SHOWN_CHARACTERS]

    def same(self, actual: Any, expected: Any, **options: Any) -> None:
        """Compare a value."""
        self.found(actual)
        self.holds(globals()["difference"](actual, expected, options))

    def matches(self, regex: str, text: str, ignore_case: bool = False) -> None:
        """Look for a pattern."""
        self.found(text)
        flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
        self.holds("" if re.search(regex, text, flags) else f"it does not match {regex!r}")

    def file(self, name: str, regex: Any = None, exact: Any = None, is_there: bool = True) -> None:
        """Look at a file."""
        path = Path(name)
        if path.exists() != is_there:
            self.holds(f"{name} is {'not ' if is_there else ''}there")
        if not is_there:
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        self.found(text)
        if exact is not None:
            self.holds("" if text.strip() == exact.strip() else f"{name} holds something else")
        elif regex is not None:
            self.matches(regex, text)

    def unchanged(self, variables: dict[str, Any], but: tuple[str, ...] = ()) -> None:
        """Hold the variables against those before the agent's first cell."""
        after = globals()["fingerprints"](dict(variables))
        names = [n for n in _before if not any(fnmatch.fnmatchcase(n, p) for p in but)]
        wrong = [name for name in names if after.get(name) != _before[name]]
        self.holds(f"changed or gone: {', '.join(wrong)}" if wrong else "")

    def others(self) -> None:
        """All checks before this one passed, in this kernel that ran everything anew."""
        done = {name: got for name, got in results.items() if name != self.name}
        failed = [name for name, (earned, points) in done.items() if earned < points]
        self.holds(f"{failed[0]} fails" if failed else "")

    def holds(self, wrong: str) -> None:
        """Fail with these words, where there are any."""
        if wrong:
            raise AssertionError(wrong)


def given(name: str, points: float, value: float, why: str = "") -> float:
    """Count a score that cannot be made again, such as a person's thumb.

    Raises:
        AssertionError: It is zero.
    """
    end_run()
    results[name] = (points * value, points)
    result = headline(value > 0, points * value, points)
    print(describe(result, found=f"{value:g}, as recorded", why=why))
    if value <= 0:
        raise AssertionError(why or name)
    return points * value


def answer_code() -> str:
    """The last block of code in the answer; all of it where there is none."""
    blocks = FENCED.findall(answer)
    return str(blocks[-1]) if blocks else answer


def answer_value(name: str, is_text: bool = False) -> Any:
    """The value of the last ``@name[value]`` in the answer.

    Raises:
        AssertionError: There is none.
    """
    found = re.findall(rf"@{re.escape(name)}\[([^\]]*)\]", answer)
    if not found:
        raise AssertionError(f"the answer has no @{name}[…]")
    value = found[-1].strip()
    has_thousands = re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", value)
    try:
        return value if is_text else float(value.replace(",", "") if has_thousands else value)
    except ValueError:
        return value


def printed() -> str:
    """What the run's cells printed."""
    return "".join(_printed)


def run_cell(code: str) -> None:
    """Run code that is no plain Python, or fits into no block, as a cell of its own."""
    shell: Any = sys.modules["IPython"].get_ipython()
    shell.run_cell(code, silent=False).raise_error()


def grade(points: float) -> None:
    """Print the points of each check, and the grade.

    Args:
        points: What all checks together count, those that were not made included.
    """
    end_run()
    width = max((len(name) for name in results), default=0)
    for name, (earned, most) in results.items():
        print(f"{name:<{width}}  {earned:g} of {most:g}")
    total = sum(earned for earned, _ in results.values())
    share = f" ({total / points:.0%})" if points else ""
    print(f"Grade: {total:g} of {points:g} points{share}")
