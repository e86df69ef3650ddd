"""Values as TOML that is pleasant to read, and texts parsed so that nothing of them is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

LINE_LIMIT = 96
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
QUOTES = re.compile(r'"(?="")|"$')


class NotKeptError(ValueError):
    """A text is written in a way that would not stay as it is."""


def parse_document(text: str) -> TOMLDocument:
    """A file's text, to be changed and written with the rest as it was.

    Raises:
        NotKeptError: It is no TOML, or would not stay as it was.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise NotKeptError(str(error)) from error
    if document.as_string() != text:
        raise NotKeptError
    return document


def set_key(table: Any, key: str, value: Any) -> None:
    """Give a key of a parsed table another value; what stands beside it stays."""
    import tomlkit

    table[key] = tomlkit.value(written_value(value))


def written_value(value: Any) -> str:
    """A value as it stands in a file: long lists and texts of several lines over several lines."""
    if isinstance(value, str):
        return _multiline(value) if "\n" in value else _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        pairs = (f"{key} = {written_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        return _list([written_value(each) for each in value])
    return repr(value)


def _list(values: Sequence[str]) -> str:
    line = f"[{', '.join(values)}]"
    if len(line) <= LINE_LIMIT:
        return line
    return "".join(["[\n", *(f"    {value},\n" for value in values), "]"])


def _text(value: str) -> str:
    # JSON's strings are TOML's, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _multiline(value: str) -> str:
    """A text over several lines, which begins below its quotes."""
    quoted = QUOTES.sub(r"\\\g<0>", value.replace("\\", "\\\\"))
    plain = CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
    return f'"""\n{plain}"""'
