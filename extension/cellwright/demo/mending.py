"""A failed cell's code, mended: the error's name and text say what to change."""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cellwright.demo.columns import cleaning_code, number_style
from cellwright.demo.lexicon import say
from cellwright.demo.transcript import CellFailure

IMPORTS = {
    "pd": "import pandas as pd",
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
    "Path": "from pathlib import Path",
    "datetime": "from datetime import datetime",
    "timedelta": "from datetime import timedelta",
    "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict",
    **{
        name: f"import {name}"
        for name in ("csv", "json", "math", "os", "random", "re", "statistics", "sys", "time")
    },
}
RENAMED = {"iteritems": "items", "ix": "loc", "as_matrix": "to_numpy", "applymap": "map"}
QUOTED = re.compile(r"""(["'])(.+?)\1""")
CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class KnownNames:
    """Names that are there, for what was probably meant."""

    columns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Variables in the kernel."""
    files: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    """What the object of an ``AttributeError`` has."""


@dataclass(frozen=True)
class Mended:
    """Code to run instead, and what was wrong."""

    code: str
    reason: str
    """One sentence: the cause and the change."""


def closest(name: str, names: Iterable[str]) -> str:
    """The most similar of ``names``, upper and lower case alike; empty when none is near."""
    by_lower = {other.lower(): other for other in names}
    found = difflib.get_close_matches(name.lower(), list(by_lower), 1, 0.6)
    return by_lower[found[0]] if found else ""


def mend(code: str, error: CellFailure, around: KnownNames) -> Mended | None:
    """The code without the error's cause; None when no rule knows it."""
    rule = RULES.get(error.name)
    mended = rule(code, error.message, around) if rule else None
    return mended if mended is not None and mended.code != code else None


def _missing_key(code: str, message: str, around: KnownNames) -> Mended | None:
    known = set(around.columns)
    for wrong in dict.fromkeys(_quotes(message)):
        right = closest(wrong, [name for name in around.columns if name != wrong])
        if right and wrong not in known:
            fixed = _replace_literal(code, wrong, right)
            return Mended(fixed, say("mend_column", wrong=repr(wrong), right=repr(right)))
    return None


def _unknown_name(code: str, message: str, around: KnownNames) -> Mended | None:
    wrong = next(iter(_quotes(message)), "")
    if wrong in IMPORTS:
        line = IMPORTS[wrong]
        return Mended(f"{line}\n\n{code}", say("mend_import", wrong=wrong, line=line))
    right = closest(wrong, around.names)
    if not right:
        return None
    fixed = re.sub(rf"\b{re.escape(wrong)}\b", right, code)
    return Mended(fixed, say("mend_name", wrong=wrong, right=right))


def _wrong_value(code: str, message: str, _: KnownNames) -> Mended | None:
    if "could not convert string to float" in message or "invalid literal for int" in message:
        return _not_a_number(code, message)
    if "doesn't match format" in message or "does not match format" in message:
        fixed = re.sub(r"""format=(["']).*?\1""", 'format="mixed", errors="coerce"', code)
        return Mended(fixed, say("mend_dates", why=_first_sentence(message)))
    if re.search(r"(?i)unknown datetime|not parse|day is out of range", message):
        fixed = re.sub(r"(to_datetime\((?:[^()]|\([^()]*\))*)\)", r'\1, errors="coerce")', code)
        return Mended(fixed, say("mend_no_date", why=_first_sentence(message)))
    return None


def _not_a_number(code: str, message: str) -> Mended:
    wrong = next(reversed(_quotes(message)), "")
    series = (
        r"((?:\w+)(?:\[[^\[\]]*\]|\.\w+)*?)\.astype\((?:float|int|[\"'](?:float|int)\d*[\"'])\)"
    )
    strip = f".astype(str){cleaning_code([wrong])}" if number_style(wrong) else ""
    fixed = re.sub(series, lambda found: f'pd.to_numeric({found[1]}{strip}, errors="coerce")', code)
    if fixed != code and "import pandas" not in code:
        fixed = f"import pandas as pd\n\n{fixed}"
    if fixed == code:
        fixed = re.sub(r"(to_numeric\((?:[^()]|\([^()]*\))*)\)", r'\1, errors="coerce")', code)
    if fixed == code and wrong:
        # A literal in the code itself: only its own text says what was meant.
        bare = wrong.replace(",", "").strip()
        fixed = _replace_literal(code, wrong, bare) if re.fullmatch(r"-?\d+", bare) else code
    return Mended(fixed, say("mend_number", wrong=repr(wrong)))


def _wrong_type(code: str, message: str, _: KnownNames) -> Mended | None:
    if re.search(r"agg function failed|Could not convert|does not support (?:operation|reduction)"
                 r"|Cannot perform reduction|dtype 'str'", message):  # fmt: skip
        fixed = re.sub(r"\.(mean|median|sum|std|var)\(\)", r".\1(numeric_only=True)", code)
        return Mended(fixed, say("mend_numbers_only"))
    found = re.search(r'can only concatenate str \(not "(\w+)"\) to str', message)
    if found:
        fixed = re.sub(
            r"""((["'])[^"'\n]*\2) \+ (\w[\w.]*(?:\[[^\]]*\])?)""", r"\1 + str(\3)", code
        )
        return Mended(fixed, say("mend_text", kind=found[1]))
    return None


def _missing_attribute(code: str, message: str, around: KnownNames) -> Mended | None:
    wrong = next(reversed(_quotes(message)), "")
    right = RENAMED.get(wrong) or closest(wrong, [*around.columns, *around.attributes])
    if not right:
        return None
    fixed = re.sub(rf"\.{re.escape(wrong)}\b", f".{right}", code)
    return Mended(fixed, say("mend_attribute", wrong=wrong, right=right))


def _missing_file(code: str, message: str, around: KnownNames) -> Mended | None:
    wrong = next(reversed(_quotes(message)), "")
    same_name = [path for path in around.files if path.endswith(re.split(r"[/\\]", wrong)[-1])]
    right = next(iter(same_name), "") or closest(wrong, around.files)
    if not right:
        return None
    reason = say("mend_file", wrong=repr(wrong), right=repr(right))
    return Mended(_replace_literal(code, wrong, right), reason)


def _division(code: str, _: str, around: KnownNames) -> Mended | None:
    found = re.search(r"^(\s*)(\w+) = (.+?) / (\w+|len\(\w+\))[ \t]*$", code, re.M)
    if found is None:
        return None
    line = f'{found[1]}{found[2]} = {found[3]} / {found[4]} if {found[4]} else float("nan")'
    fixed = f"{code[: found.start()]}{line}{code[found.end() :]}"
    return Mended(fixed, say("mend_zero", name=found[4]))


def _syntax(code: str, message: str, _: KnownNames) -> Mended | None:
    message = re.sub(r" \(\S+, line \d+\)$", "", message)
    for attempt in _spellings(code, message):
        if _parses(attempt):
            changed = _changed_lines(code, attempt)
            return Mended(attempt, say("mend_syntax", why=message, changed=changed))
    return None


def _spellings(code: str, message: str) -> Iterable[str]:
    """The code with one small change each, the likeliest first."""
    opened = re.search(r"'([(\[{])' was never closed", message)
    if opened:
        yield code.rstrip() + CLOSERS[opened[1]]
    lines = code.splitlines()
    yield textwrap.dedent(code).strip()
    for number, line in enumerate(lines):
        for changed in _line_spellings(line):
            yield "\n".join([*lines[:number], changed, *lines[number + 1 :]])


def _line_spellings(line: str) -> Iterable[str]:
    bare = line.rstrip()
    if re.match(r"\s*(?:if|elif|else|for|while|def|class|with|try|except|finally)\b", bare):
        yield f"{bare}:"
        yield re.sub(r"(?<![=!<>])=(?!=)", "==", bare)
    found = re.match(r"(\s*)print (.+)", bare)
    if found:
        yield f"{found[1]}print({found[2]})"
    for closer in (")", "]", "}", '"', "'", '")', "')"):
        yield bare + closer
    yield bare[:-1]
    yield bare.lstrip()


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return bool(code.strip())


def _changed_lines(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    codes = difflib.SequenceMatcher(None, old, new).get_opcodes()
    numbers = [
        line + 1
        for tag, first, last, _, _ in codes
        if tag != "equal"
        for line in range(first, last)
    ]
    return say("mend_line", line=numbers[0]) if len(numbers) == 1 else say("mend_indentation")


def _quotes(message: str) -> list[str]:
    return [text for _, text in QUOTED.findall(message.strip('"'))] or [message.strip("'\"")]


def _replace_literal(code: str, wrong: str, right: str) -> str:
    return re.sub(
        rf"""(["']){re.escape(wrong)}\1""", lambda found: f"{found[1]}{right}{found[1]}", code
    )


def _first_sentence(message: str) -> str:
    return re.split(r"\. |, at position", message)[0].rstrip(".")


Rule = Callable[[str, str, KnownNames], "Mended | None"]
RULES: dict[str, Rule] = {
    "KeyError": _missing_key,
    "NameError": _unknown_name,
    "ValueError": _wrong_value,
    "DateParseError": _wrong_value,
    "TypeError": _wrong_type,
    "AttributeError": _missing_attribute,
    "FileNotFoundError": _missing_file,
    "ZeroDivisionError": _division,
    "SyntaxError": _syntax,
    "IndentationError": _syntax,
}
