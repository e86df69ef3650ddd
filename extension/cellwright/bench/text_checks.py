"""Checks of what is said, printed and written; none of them asks the kernel."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cellwright.bench import comparing
from cellwright.bench.answer_text import named_value
from cellwright.bench.scenes import CheckError, Found, Scene, found_wrong, printed


@dataclass(frozen=True)
class Answer:
    """The agent's last words say it: exactly, by a pattern, or as ``@name[value]``."""

    exact: str | None = None
    regex: str | None = None
    name: str = ""
    value: Any = None
    tolerance: float = 1e-9
    ignore_case: bool = True
    kind: Literal["answer"] = field(default="answer", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"answer @{self.name}" if self.name else "answer"


@dataclass(frozen=True)
class File:
    """A file is there and holds something."""

    path: str
    regex: str | None = None
    exact: str | None = None
    is_there: bool = True
    kind: Literal["file"] = field(default="file", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"file {self.path}"


@dataclass(frozen=True)
class Stdout:
    """What the agent's cells printed, all together."""

    regex: str
    kind: Literal["stdout"] = field(default="stdout", init=False)
    score_name = "stdout"


def find_answer(check: Answer, scene: Scene) -> Found:
    """Look at the answer."""
    answer = scene.answer
    if check.name:
        return found_wrong(_named(check, named_value(answer, check.name)))
    if check.regex is not None:
        return found_wrong(
            _pattern(check.regex, answer, "the answer", ignore_case=check.ignore_case)
        )
    if check.exact is None:
        raise CheckError("an answer check needs exact, regex or name")
    given, wanted = answer.strip(), check.exact.strip()
    if check.ignore_case:
        given, wanted = given.casefold(), wanted.casefold()
    same = given == wanted
    return found_wrong("" if same else f"the answer is {answer[:200]!r}, not {check.exact!r}")


def _named(check: Answer, value: str | None) -> str:
    if value is None:
        return f"the answer has no @{check.name}[…]"
    given: Any = value
    if not isinstance(check.value, str):
        with contextlib.suppress(ValueError):
            given = float(value.replace(",", ""))
    return comparing.difference(given, check.value, {"tolerance": check.tolerance})


def find_file(check: File, scene: Scene) -> Found:
    """Look at the file."""
    return found_wrong(_file(check, scene.folder))


def _file(check: File, folder: Path) -> str:
    path = folder / check.path
    if not path.resolve().is_relative_to(folder.resolve()):
        raise CheckError(f"the file {check.path!r} is outside the sample's folder")
    if path.exists() != check.is_there:
        return f"{check.path} is {'not ' if check.is_there else ''}there"
    if not check.is_there:
        return ""
    if check.exact is not None:
        same = path.read_text(encoding="utf-8", errors="replace").strip() == check.exact.strip()
        return "" if same else f"{check.path} holds something else"
    if check.regex is None:
        return ""
    return _pattern(check.regex, path.read_text(encoding="utf-8", errors="replace"), check.path)


def find_stdout(check: Stdout, scene: Scene) -> Found:
    """Look at what was printed."""
    return found_wrong(_pattern(check.regex, printed(scene.cells), "what was printed"))


def _pattern(regex: str, text: str, what: str, *, ignore_case: bool = False) -> str:
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    return "" if re.search(regex, text, flags) else f"{what} does not match {regex!r}"
