"""Conversations and fields in marked sections, for models that only write text.

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
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.fences import OPENING, Fence, fences, only_fence
from cellwright.llm.adapters.field_values import is_code
from cellwright.llm.adapters.native import THOUGHTS, is_call_as_text
from cellwright.llm.adapters.signature_adapter import FieldAdapter
from cellwright.llm.adapters.text_adapter import (
    TextAdapter,
    UnreadableReplyError,
    Written,
    arguments_of,
    tool_list,
    typed,
)
from cellwright.record.messages import Manifest, ToolCall, ToolMessage
from cellwright.text.cleaning import fenced

# Text in named sections, each under a header line such as ``[[ ## answer ## ]]``.
#
# What is written is read back byte for byte. A header counts wherever it stands, except between
# fences; so a value that holds something like a header or a fence is written between fences.


HEADER = re.compile(r"\[\[ ?## ?(?P<name>[^\[\]#\n]+?) ?## ?\]\]")
RISKY = re.compile(r"\[\[ ?##|`{3}|~{3}")
"""What could be taken for a header or a fence."""
QUOTE = "verbatim"
"""The word after a fence that was put round a value to protect it."""


@dataclass(frozen=True)
class Section:
    """One section of a text."""

    name: str
    text: str
    is_closed: bool
    """Whether another header follows it: what stands last may have been cut off."""


def header(name: str) -> str:
    """The line that opens a section."""
    return f"[[ ## {name} ## ]]"


def write_sections(sections: Iterable[tuple[str, str]]) -> str:
    """Names and texts as one text; a text must have been made safe with ``quoted`` or fences."""
    return "\n\n".join(f"{header(name)}\n{text}" for name, text in sections)


def read_sections(text: str, is_name: Callable[[str], bool]) -> tuple[Section, ...]:
    """The sections of ``text``; what stands before the first header has an empty name.

    Args:
        text: What a model wrote.
        is_name: Which headers count; all others are text.
    """
    blocks = tuple(fences(text))
    found = [
        match
        for match in HEADER.finditer(text)
        if is_name(match["name"]) and not _is_inside(match.start(), blocks)
    ]
    if not found:
        return (Section("", text, False),) if text.strip() else ()
    sections = [Section("", text[: found[0].start()].strip(), True)]
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        body = _unframed(text[match.end() : end])
        sections.append(Section(match["name"], body, end < len(text)))
    return tuple(sections) if sections[0].text else tuple(sections[1:])


def quoted(value: str) -> str:
    """``value`` as it may stand in a section."""
    return fenced(value, QUOTE) if RISKY.search(value) else value


def unquoted(text: str) -> str:
    """The value that ``quoted`` was given."""
    block = only_fence(text)
    return block.content if block is not None and block.info == QUOTE else text


def _is_inside(place: int, blocks: tuple[Fence, ...]) -> bool:
    return any(block.start <= place < block.end for block in blocks)


def _unframed(body: str) -> str:
    """A body without the line break after its header and the empty line after itself."""
    start = re.match(r"[ \t\r]*\n", body)
    body = body[start.end() :] if start else body.removeprefix(" ")
    if "\n" in body and not body.rpartition("\n")[2].strip(" \t"):
        body = body[: body.rindex("\n") + 1]  # the next header was indented
    return body.removesuffix("\n").removesuffix("\n")


# One section of a reply, shown while the reply still comes.


FORM = re.compile(r"\[\[|\]\]|^ {0,3}(?:`{3}|~{3}|\{)|\{\s*\Z|</?\w+[_:=]\w+", re.MULTILINE)
"""What belongs to one form of calls or another, and to no plain answer."""
INTENT = re.compile(
    r"\bI(?:['’]ll| will|['’]m going to| am going to| run| need to| should)\b|\blet(?: me|['’]s)\b"
    "|我来|让我|我将|我会|接下来",
    re.IGNORECASE,
)
"""What announces a call that is missing."""
BEGUN = re.compile(r"\s*(?:\[(?:\[(?: ?#{0,2}[^\[\]#\n]{0,40}#{0,2} ?\]?)?)?)?\Z")
"""The end of a text that may become a header, and the space before it."""
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


class SectionText:
    """Hands on the text under one header; what may become a header waits.

    Args:
        is_name: Which headers count.
        wanted: The section that is shown.
        before: The section that text before any header belongs to; None: the wanted one.
    """

    def __init__(
        self, is_name: Callable[[str], bool], wanted: str, *, before: str | None = None
    ) -> None:
        self._is_name = is_name
        self._wanted = wanted
        self._section = wanted if before is None else before
        self._held = ""
        self._line = ""
        """The line that goes on, as far as it is known."""
        self._fence = ""
        """The run that has to close before a header counts again."""
        self._started = False

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        self._held += text
        shown = ""
        while match := HEADER.search(self._held):
            before, after = self._held[: match.start()], self._held[match.end() :]
            self._follow_fences(before)
            if self._is_name(match["name"]) and not self._fence:
                shown += self._wanted_part(before.rstrip())
                self._section, self._started = match["name"], False
            else:
                self._follow_fences(match[0])
                shown += self._wanted_part(before + match[0])
            self._held = after
        begun = BEGUN.search(self._held)
        safe = begun.start() if begun is not None else len(self._held)
        self._follow_fences(self._held[:safe])
        shown += self._wanted_part(self._held[:safe])
        self._held = self._held[safe:]
        return shown

    def finish(self) -> str:
        """What was held back, once the reply is whole."""
        shown, self._held = self._wanted_part(self._held.rstrip()), ""
        return shown

    def _wanted_part(self, text: str) -> str:
        if self._section != self._wanted:
            return ""
        shown = text if self._started else text.lstrip()
        self._started = self._started or bool(shown)
        return shown

    def _follow_fences(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            found = FENCE.match(line)
            if not found:
                continue
            if not self._fence:
                self._fence = found[1]
            elif found[1].startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""


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
            if looks_like_call(text, tools):
                raise UnreadableReplyError(f"Your reply has no sections; nothing was run. {HOW}")
            # Small models forget the form when they have nothing left to call.
            return Written(text.strip())
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


def looks_like_call(text: str, tools: Mapping[str, Manifest]) -> bool:
    """Whether a text without sections may have been meant to run something, or as part of a form.

    Code between fences counts: a model that writes it mostly wants it run. So do a tool's name
    where it cannot be a word of a sentence, and words that announce what is done next.
    """
    words = THOUGHTS.sub("", text)
    names = "|".join(map(re.escape, tools))
    named = rf"\bcall\W+(?:{names})\b|\b(?:{names})\b`?\s*[({{:]"
    is_named = bool(tools) and re.search(named, words) is not None
    coined = any(name in words for name in tools if "_" in name)
    signs = FORM.search(words) or INTENT.search(words) or is_call_as_text(words, tools)
    return bool(is_named or coined or signs)


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


# Fields under marked headers: works with every model that writes text.


class ChatFields(FieldAdapter):
    """``[[ ## name ## ]]`` and the value below it; program text between fences."""

    last_wins = False
    """Of a field that is there twice, take the last one rather than the first."""

    def write_field(self, name: str, value: str, *, code: bool = False) -> str:
        """One field; a value that could be taken for a header stands between fences."""
        return write_sections([(name, fenced(value, "python") if code else quoted(value))])

    def write_outputs(self, outputs: Mapping[str, str], signature: Any) -> str:
        """A whole reply."""
        infos = signature.output_fields
        fields = [
            self.write_field(name, value, code=is_code(infos[name].annotation))
            for name, value in outputs.items()
        ]
        return "\n\n".join([*fields, header(COMPLETED)])

    def reminder(self, signature: Any) -> str:
        """What a reply has to look like."""
        names = [f"`{header(name)}`" for name in signature.output_fields]
        return f"Reply with {', then '.join(names)}, and end with `{header(COMPLETED)}`."

    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """The sections of the reply; only the names of outputs are headers."""
        names = {*signature.output_fields, COMPLETED}
        found: dict[str, str] = {}
        for section in read_sections(completion, names.__contains__):
            if section.name in ("", COMPLETED):
                continue
            if self.last_wins or section.name not in found:
                found[section.name] = unquoted(section.text)
        return self.checked(found, signature, completion)

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """The section of the output."""
        names = {*signature.output_fields, COMPLETED}
        return SectionText(names.__contains__, name, before="")
