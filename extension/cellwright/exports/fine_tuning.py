"""Samples as OpenAI's fine-tuning data, with a second file that holds what has no place in it.

The data is what the service takes and nothing else: messages that it knows, and the tools. A line
of the second file (``.rest.jsonl``) says which line of the data it belongs to and keeps the rest of
the record; both together give the samples back as they were. A run in which the model said nothing
can teach nothing: it is in the second file alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord, format_messages, parse_messages, trimmed
from cellwright.llm.openai_format import (
    ChatForm,
    messages_from_openai,
    messages_to_openai,
    tool_to_openai,
)
from cellwright.record.messages import Manifest
from cellwright.record.values import from_dict, safe_json

JSON = dict[str, Any]


def write(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    """Write the data and the rest; both paths."""
    rest, line = rest_path(path), 0
    with path.open("w", encoding="utf-8") as data, rest.open("w", encoding="utf-8") as others:
        for sample in samples:
            example = _example(sample)
            is_taught = any(message["role"] == "assistant" for message in example["messages"])
            if is_taught:
                line += 1
                data.write(_text(example))
            left = _rest(sample, example) if is_taught else trimmed(sample)
            others.write(_text({"line": line if is_taught else None, "sample": left}))
    return path, rest


def read(path: Path) -> Iterator[SampleRecord]:
    """The samples of data that ``write`` made.

    Raises:
        SetupError: The second file is missing, or belongs to other data.
    """
    rest = rest_path(path)
    if not rest.exists():
        raise SetupError(
            f"{str(rest)!r} is not there.", hint="It holds what fine-tuning data has no place for."
        )
    examples = _lines(path)
    for entry in _lines(rest):
        number, left = entry["line"], entry["sample"]
        if number is None:
            yield SampleRecord.from_dict(left)
        elif number > len(examples):
            raise SetupError(
                f"{str(path)!r} has no line {number}.", hint="Keep the two files together."
            )
        else:
            yield SampleRecord.from_dict({**_told(examples[number - 1]), **left})


def rest_path(path: Path) -> Path:
    """Where the rest is kept."""
    return path.with_name(path.name.removesuffix(path.suffix) + ".rest.jsonl")


def _example(sample: SampleRecord) -> JSON:
    messages = messages_to_openai(parse_messages(sample.messages), ChatForm())
    tools = [tool_to_openai(_manifest(tool)) for tool in sample.tools]
    example: JSON = safe_json({"messages": messages, **({"tools": tools} if tools else {})})
    return example


def _rest(sample: SampleRecord, example: JSON) -> JSON:
    """The record without what the example tells."""
    left = trimmed(sample)
    for name, told in _told(example).items():
        if left.get(name) == told:
            del left[name]
    return left


def _told(example: Mapping[str, Any]) -> JSON:
    """What an example says of the record."""
    messages = format_messages(messages_from_openai(example["messages"]))
    tools = [tool["function"] for tool in example.get("tools", ())]
    return {"messages": list(messages), **({"tools": tools} if tools else {})}


def _manifest(tool: Mapping[str, Any]) -> Manifest:
    manifest: Manifest = from_dict(Manifest, {"name": "", "description": "", **tool})
    return manifest


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _lines(path: Path) -> list[JSON]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
