"""Data brought to where it can be worked on: read, looked at, its text made numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.demo.cells import (
    dates_code,
    find_code,
    identifier,
    load_code,
    look_code,
    missing_code,
    numbers_code,
    quoted,
    reader_of,
)
from cellwright.demo.columns import Column, TableColumns, date_format
from cellwright.demo.lexicon import say
from cellwright.demo.mending import closest
from cellwright.demo.sources import Source
from cellwright.demo.steps import CannotGoOnError, Done, Steps, install, run_code
from cellwright.demo.transcript import (
    CellFailure,
    DemoExchange,
    failure,
    labelled,
    listed,
    literal,
    named_literals,
    series,
    table_info,
)

LOAD_LIMIT = 4
SAMPLED_ROWS = 1_000_000
NOT_TABLES = ("application/", "audio/", "image/", "video/")
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f]")
FIND_ENCODING = """\
from cellwright.text.file_kinds import find_encoding

with open({path}, "rb") as file:
    print("encoding:", find_encoding(file.read(65_536)))"""
LACKING = re.compile(r"(?:named '|`?Import |dependency ')(\w+)")
"""The package that an import, or pandas on its behalf, found missing."""
DELIMITERS = (";", "\t", "|")
DECIMAL_COMMA = re.compile(r"(?:^|;)\s*-?\d+,\d+\s*(?:;|$)")
LIST_FILES = """\
from pathlib import Path

print("files:", sorted(path.as_posix() for path in Path().glob("*.*"))[:100])
print("files:", sorted(path.as_posix() for path in Path().glob("*/*.*"))[:100])"""


@dataclass(frozen=True)
class LoadedTable:
    """A frame ready for work, and what had to be said on the way."""

    frame: TableColumns
    notes: tuple[str, ...] = ()


def load(
    source: Source, tools: frozenset[str], earlier: Sequence[DemoExchange]
) -> Steps[TableColumns]:
    """Read the file, or look at the variable, unless an earlier turn has.

    Raises:
        CannotGoOnError: It cannot be read.
    """
    name = source.variable
    if name:
        if known := _seen_before(name, source.path, earlier):
            return known
        done = yield from run_code(say("load_look", name=name), look_code(name))
        if not (source.path and done.error is not None and done.error.name == "NameError"):
            return (yield from _whole(name, done, source.path))
    return (yield from _FileReading(source, tools).read())


def _seen_before(name: str, path: str, earlier: Sequence[DemoExchange]) -> TableColumns | None:
    """The table as an earlier look showed it, with what was converted since."""
    known: TableColumns | None = None
    for exchange in earlier:
        code = str(exchange.arguments.get("code", ""))
        if f"{name}.info()" in code:
            found = table_of(name, path, exchange.result)
            known = found or known
        elif known is not None and failure(exchange.result) is None:
            known = _with_types(known, _converted_in(name, code, exchange.result, known))
    return known


def _converted_in(
    name: str, code: str, result: str, table: TableColumns
) -> dict[Any, tuple[str, int]]:
    """The columns whose text a cell has read, as its last line says, and their gaps."""
    if f"{name}[[" not in code or not code.endswith(".isna().sum()"):
        return {}
    found = series(result, [str(c.name) for c in table.columns if c.needs_reading])
    kinds = {"date": "datetime64[ns]", "number": "float64"}
    return {
        c.name: (kinds[c.reads_as], int(float(found[str(c.name)])))
        for c in table.columns
        if str(c.name) in found
    }


def _with_types(table: TableColumns, types: Mapping[Any, tuple[str, int]]) -> TableColumns:
    """The table with columns whose text was read."""
    columns = tuple(
        replace(c, dtype=types[c.name][0], missing=types[c.name][1]) if c.name in types else c
        for c in table.columns
    )
    return replace(table, columns=columns)


def table_of(name: str, path: str, text: str) -> TableColumns | None:
    """The table that a look shows; None where the text does not tell."""
    rows, count, types = table_info(text)
    counts = named_literals(text)
    columns = tuple(
        Column(label, dtype, missing, counts.get(label, {}), rows)
        for label, dtype, missing in types
    )
    return TableColumns(name, rows, columns, path) if columns and len(columns) == count else None


def _whole(name: str, done: Done, path: str) -> Steps[TableColumns]:
    """The table that a look shows; looks again where it failed or was cut."""
    found = table_of(name, path, done.text)
    if done.error is not None and "unhashable" in done.error.message:
        said = say("load_count_text")
        done = yield from run_code(said, look_code(name, ".astype(str)"))
        found = table_of(name, path, done.text)
    elif found is None and done.error is None:
        done = yield from run_code(
            say("load_columns"), f"{name}.info(verbose=True, show_counts=True)"
        )
        found = table_of(name, path, done.text)
    if found is None and done.error is not None:
        why = f"{done.error.name}: {done.error.message}"
        raise CannotGoOnError(say("load_no_look", name=name, why=why))
    if found is None:
        raise CannotGoOnError(_unread(name, done.text))
    if not path and any(str(column.name).isdigit() for column in found.columns):
        # "7" may be a number or a text.
        done = yield from run_code(say("load_names"), f"{name}.columns.tolist()")
        labels = literal((re.findall(r"^\[.*\]$", done.text, re.M) or [""])[0])
        if isinstance(labels, list) and len(labels) == len(found.columns):
            named = zip(found.columns, labels, strict=True)
            found = replace(found, columns=tuple(replace(c, name=label) for c, label in named))
    return found


def _unread(name: str, text: str) -> str:
    many = table_info(text)[1]
    if not many:
        return say("load_unread", name=name)
    return say("load_many", name=name, many=many)


def find_values(frame: TableColumns, words: Sequence[str]) -> Steps[list[tuple[Column, str]]]:
    """Values that hold some words, in columns that have more than the look showed."""
    columns = [c for c in frame.of_kind("text") if not c.is_whole and not c.needs_reading]
    words = [word for word in words if len(word) > 2 or not word.isascii() or word.isupper()]
    if not columns or not words:
        return []
    named = ", ".join(f"“{word}”" for word in words)
    done = yield from run_code(say("load_find", named=named), find_code(frame.name, columns, words))
    found = named_literals(done.text)
    return [(column, value) for column in columns for value in found.get(str(column.name), ())]


class _FileReading:
    """One file, read again with other options until it can be."""

    def __init__(self, source: Source, tools: frozenset[str]) -> None:
        self._path = source.path
        self._tools = tools
        self._options: dict[str, Any] = reader_of(source.path)[1]
        self._name = identifier(_stem(source.path))
        self._kind = source.kind
        if source.kind.startswith("encoding "):
            self._options["encoding"] = source.kind.removeprefix("encoding ")
        self._is_sampled = source.is_large and self._is_delimited
        if self._is_sampled:
            self._options["nrows"] = SAMPLED_ROWS
            self._name += "_sample"

    @property
    def _is_delimited(self) -> bool:
        return reader_of(self._path)[0] == "read_csv"

    def read(self) -> Steps[TableColumns]:
        if self._kind.startswith(NOT_TABLES) and self._is_delimited:
            raise CannotGoOnError(say("load_no_table", path=self._path, what=self._kind))
        text = say("load_read", path=self._path)
        if self._is_sampled:
            text += say("load_large", rows=SAMPLED_ROWS)
        for _ in range(LOAD_LIMIT):
            code = load_code(self._path, self._name, self._options)
            done = yield from run_code(text, f"{code}\n{look_code(self._name)}")
            text = ""
            if (
                table_of(self._name, self._path, done.text) is None
                and done.error is not None
                and "unhashable" not in done.error.message
            ):
                text = yield from self._after_error(done.error)
            else:
                frame = yield from _whole(self._name, done, self._path)
                text = self._after_look(frame)
                if not text:
                    return frame
        raise CannotGoOnError(say("load_gave_up", path=self._path))

    def _after_look(self, frame: TableColumns) -> str:
        """Why to read again; empty when the columns are fine."""
        header = str(frame.columns[0].name)
        if CONTROL_CHARACTER.search(header):
            raise CannotGoOnError(say("load_no_table", path=self._path, what=say("load_binary")))
        found = [mark for mark in DELIMITERS if mark in header and mark != self._options.get("sep")]
        if len(frame.columns) > 1 or not found:
            return ""
        self._options["sep"] = found[0]
        examples = frame.columns[0].examples
        if found[0] == ";":
            self._options |= {"decimal": ","} if _has_decimal_comma(examples) else {}
        return say("load_one_column", mark=repr(found[0]))

    def _after_error(self, error: CellFailure) -> Steps[str]:
        """What to say before the next try.

        Raises:
            CannotGoOnError: There is nothing left to try.
        """
        if error.name == "FileNotFoundError":
            return (yield from self._find())
        lacking = LACKING.search(error.message)
        if lacking and error.name in ("ModuleNotFoundError", "ImportError"):
            installed = yield from install(lacking[1], self._tools)
            if installed:
                return say("load_installed")
        if error.name == "UnicodeDecodeError" and "encoding" not in self._options:
            return (yield from self._find_encoding())
        if error.name == "ParserError" and "sep" not in self._options:
            return (yield from self._peek())
        why = f"{error.name}: {error.message}"
        raise CannotGoOnError(say("load_error", path=self._path, why=why))

    def _find_encoding(self) -> Steps[str]:
        code = FIND_ENCODING.format(path=quoted(self._path))
        done = yield from run_code(say("load_encoding"), code)
        encoding = labelled(done.text, "encoding")
        if not encoding:
            what = say("load_no_encoding")
            raise CannotGoOnError(say("load_no_table", path=self._path, what=what))
        self._options["encoding"] = encoding
        return say("load_encoded", encoding=encoding)

    def _peek(self) -> Steps[str]:
        opened = f'with open({quoted(self._path)}, encoding="utf-8-sig") as lines:'
        code = f'{opened}\n    print("header:", next(lines))'
        done = yield from run_code(say("load_uneven"), code)
        header = labelled(done.text, "header")
        found = max((*DELIMITERS, ","), key=header.count)
        self._options |= {"sep": found} | ({"decimal": ","} if found == ";" else {})
        if found == ",":
            self._options["on_bad_lines"] = "skip"
            return say("load_broken")
        return say("load_separator", mark=repr(found))

    def _find(self) -> Steps[str]:
        done = yield from run_code(say("load_not_there"), LIST_FILES)
        ending = self._path.rpartition(".")[2].lower()
        there = [
            path
            for line in done.text.splitlines()
            for path in listed(line, "files")
            if path.lower().endswith(ending)
        ]
        by_name = {_stem(path): path for path in reversed(there)}
        right = closest(_stem(self._path), by_name)
        cut = [path for path in there if path.endswith(f" {self._path}")]
        if not right and cut:
            raise CannotGoOnError(say("load_in_quotes", path=self._path, cut=cut[0]))
        if not right:
            raise CannotGoOnError(say("load_no_file", path=self._path))
        wrong, self._path = self._path, by_name[right]
        return say("load_other", wrong=wrong, path=self._path)


def _stem(path: str) -> str:
    return re.split(r"[/\\]", path)[-1].rpartition(".")[0]


def _has_decimal_comma(examples: Iterable[str]) -> bool:
    return any(DECIMAL_COMMA.search(text) for text in examples)


def convert(frame: TableColumns, columns: Sequence[Column], *, copy: bool) -> Steps[LoadedTable]:
    """Make numbers and dates of the text columns that hold them, strictly first.

    Args:
        frame: The table.
        columns: Those that are needed.
        copy: Leave the table as it is, because it is the person's own, and work on a copy.
    """
    wanted = [column for column in columns if column.needs_reading]
    if not wanted:
        return LoadedTable(frame)
    if not copy:
        return (yield from _Conversion(frame, wanted).run())
    name = f"{frame.name}_typed"
    conversion = _Conversion(replace(frame, name=name), wanted, f"{name} = {frame.name}.copy()")
    done = yield from conversion.run()
    note = say("load_copy", name=name, frame=frame.name)
    return replace(done, notes=(note, *done.notes))


class _Conversion:
    """Text read as dates and numbers; each error says what to be tolerant of."""

    def __init__(self, frame: TableColumns, columns: list[Column], first_line: str = "") -> None:
        self._frame = frame
        self._first_line = first_line
        self._columns = columns
        self._dates = [column for column in columns if column.reads_as == "date"]
        self._numbers = [column for column in columns if column.reads_as == "number"]
        self._second: str | None = None
        self._culprit: str | None = None
        self._notes: list[str] = []

    def run(self) -> Steps[LoadedTable]:
        text = self._first_words()
        while text:
            done = yield from run_code(text, self._code())
            self._notes += self._unread(done.text)
            missing = series(done.text, [str(column.name) for column in self._columns])
            if missing:
                return LoadedTable(self._converted(missing), tuple(self._notes))
            text = self._react(failure(done.text))
        names = ", ".join(f"`{column.name}`" for column in self._columns)
        return LoadedTable(self._frame, (*self._notes, say("load_unconverted", names=names)))

    def _first_words(self) -> str:
        parts = [
            say(name, columns=say("list_comma").join(f"`{column.name}`" for column in columns))
            for columns, name in ((self._dates, "load_dates"), (self._numbers, "load_numbers"))
            if columns
        ]
        return say("load_text", parts=say("between_and").join(parts))

    def _code(self) -> str:
        name = self._frame.name
        first, self._first_line = self._first_line, ""
        parts = [
            first,
            dates_code(name, self._dates, self._second),
            numbers_code(name, self._numbers, self._culprit),
            missing_code(name, self._columns),
        ]
        return "\n".join(part for part in parts if part)

    def _react(self, error: CellFailure | None) -> str:
        """What to change after an error, said in a sentence; empty when nothing helps."""
        if error is None:
            return ""
        quoted = re.search(r"""(["'])(.*?)\1""", error.message)
        culprit = quoted[2] if quoted else ""
        if "float" in error.message and self._culprit is None and self._numbers:
            self._culprit, self._dates = culprit, []
            return say("load_no_number", text=repr(culprit), error=error.name)
        if self._dates and self._second is None:
            return self._accept(culprit, error)
        if self._dates and self._second:
            self._second = ""
            return say("load_not_enough", error=error.name)
        return ""

    def _accept(self, culprit: str, error: CellFailure) -> str:
        self._second = date_format((culprit,)) if culprit else ""
        wrong = [c for c in self._dates if _is_same_style(date_format(c.first), self._second)]
        if wrong:
            # Day and month swapped: the first guess was wrong, there is no second format.
            self._dates = [_with_evidence(c, culprit) if c in wrong else c for c in self._dates]
            self._second = None
            return say("load_day_first", text=repr(culprit))
        if self._second:
            parts = {"error": error.name, "format": self._second}
            return say("load_second_format", text=repr(culprit), **parts)
        return say("load_odd_date", text=repr(culprit), error=error.name)

    def _unread(self, text: str) -> list[str]:
        notes = []
        for column in self._columns:
            values = listed(text, f"{column.name} not read")
            if values:
                shown = say("list_comma").join(map(repr, values))
                notes.append(say("load_note", name=column.name, shown=shown))
        return notes

    def _converted(self, missing: dict[str, str]) -> TableColumns:
        kinds = {"date": "datetime64[ns]", "number": "float64"}
        return _with_types(
            self._frame,
            {
                c.name: (kinds[c.reads_as], int(float(missing.get(str(c.name), c.missing))))
                for c in self._columns
            },
        )


def _is_same_style(first: str, second: str) -> bool:
    return first != second and sorted(first) == sorted(second) and "%m" in first


def _with_evidence(column: Column, text: str) -> Column:
    return replace(column, counts={text: 1, **column.counts})
