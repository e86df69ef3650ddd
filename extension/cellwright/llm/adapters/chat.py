"""Conversations in marked sections, for models that only write text.

[[ ## say ## ]]
I look at the table.

[[ ## call run_cell ## ]]

[[ ## argument code ## ]]
```python
df.head()
```

[[ ## completed ## ]]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.fences import OPENING, fenced, only_fence
from cellwright.llm.adapters.section_stream import SectionText
from cellwright.llm.adapters.sections import HEADER, Section, header, read_sections, write_sections
from cellwright.llm.adapters.text_adapter import (
    TextAdapter,
    UnreadableReplyError,
    Written,
    arguments_of,
    tool_list,
    typed,
)
from cellwright.record.messages import ToolCall, ToolMessage
from cellwright.record.prompts import Manifest

SAY, CALL, ARGUMENT, RESULT, COMPLETED = "say", "call ", "argument ", "result of ", "completed"
INSTRUCTIONS = """\
How to reply
Your reply is text in sections, and nothing stands outside them. Say what you do or found, and \
call tools if you need to:

{example}

- Without a call, what you say is your final answer.
- Each argument is a section under its call. Text and code stand between fence lines, exactly as \
they are to be used; where the text itself has a fence line, use a longer fence around it. \
Numbers, true, false, lists and objects are written as JSON, without a fence.
- The last line is always {end}; a reply without it is taken as cut off and nothing runs.
- Then stop: the results come in the next message.

Tools
{tools}"""
EXAMPLE = (
    (SAY, "One sentence."),
    (f"{CALL}NAME_OF_TOOL", ""),
    (f"{ARGUMENT}NAME_OF_ARGUMENT", "```\nits value\n```"),
    (COMPLETED, ""),
)
PERSON = "The person wrote, word for word:"
HOW = f"Write {header(SAY)} first, then calls, and end with {header(COMPLETED)}."


class ChatAdapter(TextAdapter):
    """Sections with headers in double brackets."""

    def instructions(self, tools: tuple[Manifest, ...]) -> str:
        """How to reply, with the tools there are."""
        example = write_sections(EXAMPLE).rstrip()
        return INSTRUCTIONS.format(example=example, end=header(COMPLETED), tools=tool_list(tools))

    def write_reply(self, text: str, calls: Sequence[ToolCall]) -> str:
        """A reply as the model is to write it."""
        sections = [(SAY, _safe(text))] if text or not calls else []
        for call in calls:
            sections.append((f"{CALL}{call.name}", ""))
            for name, value in arguments_of(call).items():
                sections.append((f"{ARGUMENT}{name}", _argument(value)))
        return write_sections([*sections, (COMPLETED, "")]).rstrip("\n")

    def write_result(self, result: ToolMessage, text: str) -> str:
        """What a call came to."""
        return write_sections([(f"{RESULT}{result.name}", fenced(text))])

    def write_person(self, text: str) -> str:
        """What the person typed, between fences where it holds something like a header."""
        return f"{PERSON}\n{fenced(text)}" if HEADER.search(text) else text

    def read_reply(self, text: str, tools: Mapping[str, Manifest]) -> Written:
        """What a reply says.

        Raises:
            UnreadableReplyError: It is not written as it was asked for.
        """
        sections = read_sections(text, _is_header)
        if all(not section.name for section in sections):
            raise UnreadableReplyError(f"Your reply has no sections; nothing was run. {HOW}")
        calls = _calls(sections, tools)
        if calls and not any(section.name == COMPLETED for section in sections):
            raise UnreadableReplyError(
                f"Your reply does not end with {header(COMPLETED)}, so it may have been cut off. "
                "Nothing was run; send it again."
            )
        said = [_said(section.text) for section in sections if section.name in ("", SAY)]
        return Written("\n\n".join(filter(None, said)), calls)

    def shown(self, tools: tuple[Manifest, ...]) -> ShownText | None:
        """The words of the reply."""
        return SectionText(_is_header, SAY) if tools else None


def _is_header(name: str) -> bool:
    return name in (SAY, COMPLETED) or name.startswith((CALL, ARGUMENT))


def _calls(
    sections: Sequence[Section], tools: Mapping[str, Manifest]
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    calls: list[tuple[str, dict[str, Any]]] = []
    for section in sections:
        kind, _, name = section.name.partition(" ")
        if section.name == COMPLETED:
            break
        if kind == "call":
            calls.append((name.strip(), {}))
        elif kind == "argument":
            _add_argument(calls, name.strip(), section, tools)
    return tuple(calls)


def _add_argument(
    calls: list[tuple[str, dict[str, Any]]],
    name: str,
    section: Section,
    tools: Mapping[str, Manifest],
) -> None:
    if not calls:
        raise UnreadableReplyError(f"The argument {name!r} belongs to no call; nothing was run.")
    tool, arguments = calls[-1]
    if name in arguments:
        raise UnreadableReplyError(f"The argument {name!r} is there twice; nothing was run.")
    arguments[name] = typed(_value(name, section), name, tools.get(tool))


def _value(name: str, section: Section) -> str:
    """The text of an argument; between fences all of it or nothing.

    Text after the fence that seems to close it may be the rest of a program that holds a fence
    itself, and a fence that is never closed may be half a program: neither is ever run.
    """
    block = only_fence(section.text)
    if block is not None:
        return block.content
    first = OPENING.search(section.text)
    if first is not None and not section.text[: first.start()].strip():
        raise UnreadableReplyError(
            f"The argument {name!r} does not end where its fence ends; nothing was run. Put a "
            "fence around all of it that is longer than any fence inside."
        )
    return section.text


def _argument(value: Any) -> str:
    return fenced(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _safe(text: str) -> str:
    return fenced(text, "text") if HEADER.search(text) else text


def _said(text: str) -> str:
    block = only_fence(text)
    if block is not None and block.info == "text" and HEADER.search(block.content):
        return block.content
    return text.strip()
