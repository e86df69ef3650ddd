"""The messages of a request as a conversation, and what each tool result says."""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.record.values import json_or_none

BLOCK = re.compile(
    r"<(?P<tag>examples|files|context|variables|notebook-state)>\n(?P<body>.*?)\n</(?P=tag)>", re.S
)

RESULT = re.compile(r"<tool-result>\n?(.*?)\n?</tool-result>", re.S)
"""What a tool gave, in the envelope in which it is sent."""
GONE_BACK = re.compile(r"^\(I have (?:undone|redone|put) .*\)$", re.M)
"""What stands before a question after an undo or a redo (``kernels.going_back``)."""
NOTICE = "Notice: "
"""How words begin that are about the run, such as how many steps are left."""


@dataclass(frozen=True)
class DemoExchange:
    """One tool call of the model and what came back."""

    tool: str
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class DemoConversation:
    """What the request tells."""

    prompt: str
    """The person's newest words, without what was attached for them."""
    files: str = ""
    """The block that lists attached files."""
    variables: str = ""
    """The block that lists variables named with ``@``."""
    states: tuple[str, ...] = ()
    """What the notebook was like at each turn, oldest first."""
    exchanges: tuple[DemoExchange, ...] = ()
    """Calls and results since the prompt."""
    earlier: tuple[DemoExchange, ...] = ()
    """Calls and results of earlier turns."""
    holding: tuple[DemoExchange, ...] = ()
    """Those since somebody went back to a state last: what they showed of variables holds."""
    is_first_reply: bool = True
    """The model has not said anything yet."""


def read_conversation(
    messages: Iterable[Mapping[str, Any]], *, can_call: bool = True
) -> DemoConversation:
    """The newest turn of ``messages`` and what is known from the turns before.

    Args:
        messages: As a client sends them.
        can_call: Whether the request offers tools. Without them, words that follow a tool's
            result ask for the end of the same turn.
    """
    listed = list(messages)
    start = _turn_start(listed, can_call)
    text = message_text(listed[start]) if start >= 0 else ""
    blocks = {found["tag"]: found["body"] for found in BLOCK.finditer(text)}
    past = listed[: start + 1]
    users = [message_text(m) for m in past if m.get("role") == "user"]
    gone_back = [place for place, m in enumerate(past) if _tells_of_going_back(m)]
    return DemoConversation(
        prompt=GONE_BACK.sub("", BLOCK.sub("", text)).strip(),
        files=blocks.get("files", ""),
        variables=blocks.get("variables", ""),
        states=tuple(
            found["body"]
            for user in users
            for found in BLOCK.finditer(user)
            if found["tag"] == "notebook-state"
        ),
        exchanges=_exchanges(listed[start + 1 :]),
        earlier=_exchanges(past),
        holding=_exchanges(past[gone_back[-1] if gone_back else 0 :]),
        is_first_reply=not any(m.get("role") == "assistant" for m in listed),
    )


def _turn_start(messages: list[Mapping[str, Any]], can_call: bool) -> int:
    """The place of the message that began the newest turn; -1 when there is none."""
    start = -1
    follows_result = False
    for place, message in enumerate(messages):
        if message.get("role") != "user":
            follows_result = message.get("role") == "tool"
            continue
        # Behind a tool's result a client puts its pictures and notices in messages of their own.
        belongs_to_result = _has_picture(message) or message_text(message).startswith(NOTICE)
        asks_for_end = not can_call and place == len(messages) - 1
        if start < 0 or not (follows_result and (belongs_to_result or asks_for_end)):
            start, follows_result = place, False
    return start


def _tells_of_going_back(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "user" and GONE_BACK.search(message_text(message)) is not None


def _has_picture(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(part.get("type") == "image_url" for part in parts)


def _exchanges(messages: list[Mapping[str, Any]]) -> tuple[DemoExchange, ...]:
    results = {m.get("tool_call_id"): _result(m) for m in messages if m.get("role") == "tool"}
    return tuple(
        DemoExchange(call["function"]["name"], _arguments(call), results[call["id"]])
        for message in messages
        for call in message.get("tool_calls") or ()
        if call["id"] in results
    )


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    found = json_or_none(call["function"]["arguments"])
    return found if isinstance(found, dict) else {}


def _result(message: Mapping[str, Any]) -> str:
    return RESULT.sub(r"\1", message_text(message))


def message_text(message: Mapping[str, Any]) -> str:
    """What a message of a request says."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


# What a tool result says: an error, columns, a table, a number.
#
# The text around it is unknown and may be cut, so only the lines that are looked for are read.


FAILURE = re.compile(
    r"^\W*(?:\w+: )?(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning))"
    r"(?::[ \t]*(.*))?$",
    re.M,
)
FOOTER = re.compile(r"(?:changed|removed|files): |\[")
"""What a tool adds below the output of a cell."""
ROWS = re.compile(r"^\w*Index: (\d+) entries", re.M)
INFO = re.compile(r"^ *\d+ +(\S.*?) +(?:(\d+) non-null +)?(\S+\[.*\]|\S+) *$", re.M)
COLUMNS = re.compile(r"^(?:Data columns \(total|Columns:) (\d+) (?:columns|entries)", re.M)
NAMED = re.compile(
    r"""(?<![\w'"])('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\d+|\([^()\n]*\)): """
    r"(\{[^{}]*\}|\[[^\[\]]*\])"
)
SCALAR = re.compile(r"^(?:np\.\w+\()?(-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|nan|-?inf)\)?$", re.M)


@dataclass(frozen=True)
class CellFailure:
    """The exception a cell ended with."""

    name: str
    message: str
    """Its first line."""


def failure(text: str) -> CellFailure | None:
    """The error a tool result reports, the last one when there are several."""
    found = FAILURE.findall(text)
    return CellFailure(found[-1][0], found[-1][1].strip()) if found else None


def table_info(text: str) -> tuple[int, int, list[tuple[str, str, int]]]:
    """What ``info()`` prints: rows, columns, and of each column its name, type and gaps."""
    rows, count = ROWS.search(text), COLUMNS.search(text)
    if rows is None or count is None:
        return 0, 0, []
    many = int(rows[1])
    body = text[count.end() :].split("\ndtypes: ")[0].partition("-----")[2]
    columns = [
        (name, dtype, many - int(some) if some else 0) for name, some, dtype in INFO.findall(body)
    ]
    return many, int(count[1]), columns


def named_literals(text: str) -> dict[str, Any]:
    """Counts of values, or lists of them, in a shown dictionary with columns' names as its keys."""
    found = {str(literal(name)): literal(value) for name, value in NAMED.findall(text)}
    return {name: value for name, value in found.items() if value is not None}


def literal(text: str) -> Any:
    """A Python literal; None where the text is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def scalars(text: str) -> list[str]:
    """The lines that are a number each."""
    return SCALAR.findall(without_footer(text))


def series(text: str, names: Sequence[str]) -> dict[str, str]:
    """The values of a printed Series, for these names of its index."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        for name in names:
            rest = line.removeprefix(name)
            if rest != line and re.match(r"\s{2,}\S", rest) and name not in found:
                found[name] = rest.strip()
    return found


def frame_rows(text: str, header: Sequence[str]) -> list[list[str]]:
    """The rows of a shown DataFrame with this header, without its index."""
    lines = text.splitlines()
    pattern = re.compile(r"\s+".join(["", *map(re.escape, header)]) + "$")
    for place, line in enumerate(lines):
        if pattern.match(line):
            # Columns end where their names end.
            ends = [0]
            for name in header:
                ends.append(line.index(name, ends[-1]) + len(name))
            rows = []
            for other in lines[place + 1 :]:
                if not re.match(r"\d+\s", other) or len(other) != ends[-1]:
                    break
                cells = [other[a:b].strip() for a, b in itertools.pairwise(ends)]
                rows.append([re.sub(r"^\d+\s+", "", cells[0]), *cells[1:]])
            return rows
    return []


def turned_rows(text: str, names: Sequence[str]) -> list[list[str]]:
    """The rows of a shown DataFrame whose rows stand side by side."""
    columns = [re.split(r"\s{2,}", value) for value in series(text, names).values()]
    if len(columns) < len(names) or len({len(values) for values in columns}) > 1:
        return []
    return [list(row) for row in zip(*columns, strict=True) if set(row) != {"..."}]


def facts(text: str) -> dict[str, Any]:
    """The JSON objects of ``text``, one a line, put together."""
    found: dict[str, Any] = {}
    for item in _objects(text):
        found |= item
    return found


def labelled(text: str, label: str) -> str:
    """What stands after ``label:`` on its line; empty when it is not there."""
    found = re.search(rf"(?:^|\s){re.escape(label)}: (.*)$", text, re.M)
    return found[1].strip() if found else ""


def listed(text: str, label: str) -> list[str]:
    """The Python list printed after ``label:``, as texts."""
    found = literal(labelled(text, label))
    return [str(item) for item in found] if isinstance(found, list) else []


def without_footer(text: str) -> str:
    """The text without what a tool adds below the output of a cell."""
    lines = text.rstrip().splitlines()
    while lines and FOOTER.match(lines[-1]):
        lines.pop()
    return "\n".join(lines)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        start = line.find("{")
        if start >= 0:
            with contextlib.suppress(ValueError):
                yield json.loads(line[start:])
