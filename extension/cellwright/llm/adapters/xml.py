"""Conversations between tags, for models that were taught to write them.

<say>I look at the table.</say>
<call tool="run_cell">
<argument name="code"><![CDATA[df[df.x < 3]]]></argument>
</call>
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.field_values import is_code
from cellwright.llm.adapters.sections import in_fence
from cellwright.llm.adapters.text_adapter import (
    TextAdapter,
    UnreadableReplyError,
    Written,
    arguments_of,
    tool_list,
    typed,
)
from cellwright.record.messages import Manifest, ToolCall, ToolMessage

# Values between tags, found by their tags alone: no XML parser, which refuses program text.


CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
ENTITY = re.compile("|".join(ENTITIES))
LOOSE = re.compile(r"<|&(?!(?:lt|gt|quot|apos|amp);)")
"""Text with one of these was not escaped by whoever wrote it."""


def write_tag(name: str, value: str) -> str:
    """A value between its tags."""
    return f"<{name}>\n{cdata(value)}\n</{name}>"


def cdata(value: str, *, always: bool = False) -> str:
    """The value as it may stand between tags: in a CDATA section if it holds ``<`` or ``&``."""
    if not always and "<" not in value and "&" not in value:
        return value
    # The end mark cannot stand inside, so it is divided between two sections.
    return f"<![CDATA[{value.replace(']]>', ']]]]><![CDATA[>')}]]>"


@dataclass(frozen=True)
class Element:
    """A pair of tags and what stands between them."""

    tag: str
    attribute: str
    body: str
    start: int
    end: int


def read_tag(text: str, name: str, names: Collection[str], *, raw: bool = False) -> str | None:
    """The value between the first pair of ``name``'s tags; None where there is no whole pair.

    Args:
        text: What a model wrote.
        name: The tag.
        names: All tags there may be; inside another's value they are text.
        raw: Program text: entities in it are part of it.
    """
    for element in elements(text, names):
        if element.tag == name:
            return read_body(element.body, raw=raw)
    return None


def elements(text: str, names: Collection[str]) -> list[Element]:
    """The elements in order; what looks like one inside another is part of that one's body."""
    opening = re.compile(f'<({_any(names)})(?:\\s+\\w+="([^"\\n]*)")?\\s*>')
    found: list[Element] = []
    start = opening.search(text)
    while start is not None:
        end = _end(text, start.end(), f"</{start[1]}>", names)
        place = start.end()
        if end >= 0:
            place = end + len(start[1]) + 3
            body = text[start.end() : end]
            found.append(Element(start[1], start[2] or "", body, start.start(), place))
        start = opening.search(text, place)
    return found


def read_body(body: str, *, raw: bool = False) -> str:
    """The value that stands between tags."""
    value = body.removeprefix("\r").removeprefix("\n").removesuffix("\n")
    stripped = value.strip()
    if stripped.startswith("<![CDATA[") and stripped.endswith("]]>"):
        pieces = CDATA.findall(stripped)
        if "".join(f"<![CDATA[{piece}]]>" for piece in pieces) == stripped:
            return "".join(pieces)
    if raw or LOOSE.search(value):
        return value
    return ENTITY.sub(lambda match: ENTITIES[match[0]], value)


def _end(text: str, start: int, closing: str, names: Collection[str]) -> int:
    """Where the element ends: at the first end tag that is neither in CDATA nor inside a line.

    Program text may hold the end tag in a string. So one that stands at the start of a line, or
    before another element or the end, goes before one that does not.
    """
    places = []
    skipped = [match.span() for match in CDATA.finditer(text, start)]
    place = text.find(closing, start)
    while place >= 0:
        if not any(first <= place < last for first, last in skipped):
            places.append(place)
        place = text.find(closing, place + 1)
    after = re.compile(f"\\s*(?:$|<(?:{_any(names)})[\\s>])")
    good = [p for p in places if after.match(text, p + len(closing))]
    return (good or places or [-1])[0]


def _any(names: Collection[str]) -> str:
    return "|".join(map(re.escape, names)) or "(?!)"


# What stands between one pair of tags, shown while the reply still comes.


OPEN_CDATA, CLOSE_CDATA = "<![CDATA[", "]]>"
UNSURE = re.compile(r"\s*(?:<[^<>]*|\]{1,2}>?)?\s*\Z")
"""The end of a text that may become a tag or the end of a CDATA section."""


class TagText:
    """Hands on the text of one element; what may become a tag waits.

    Args:
        tag: The element.
        until: Where the part of the reply ends that is looked at; empty: nowhere.
    """

    def __init__(self, tag: str, until: str = "") -> None:
        self._element = re.compile(rf"<{tag}>(?P<body>.*?)(?:(?P<end></{tag}>)|\Z)", re.DOTALL)
        self._until = until
        self._text = ""
        self._shown = 0

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        self._text += text
        seen = self._text.partition(self._until)[0] if self._until else self._text
        whole = "".join(_visible(found) for found in self._element.finditer(seen))
        shown, self._shown = whole[self._shown :], max(self._shown, len(whole))
        return shown

    def finish(self) -> str:
        """Nothing is held back that is whole."""
        return ""


def _visible(found: re.Match[str]) -> str:
    body = found["body"].lstrip()
    if not found["end"]:
        if OPEN_CDATA.startswith(body):
            return ""
        body = UNSURE.sub("", body)
    body = body.rstrip()
    if body.startswith(OPEN_CDATA):
        return body.removeprefix(OPEN_CDATA).removesuffix(CLOSE_CDATA).rstrip()
    return body


INSTRUCTIONS = """\
How to reply
Your reply stands between tags, and nothing stands outside them. Say what you do or found, and \
call tools if you need to:

<say>
One sentence.
</say>
<call tool="NAME_OF_TOOL">
<argument name="NAME_OF_ARGUMENT"><![CDATA[its value]]></argument>
</call>

- Without a call, what you say is your final answer.
- Text and code stand between <![CDATA[ and ]]>, exactly as they are to be used; numbers, true, \
false, lists and objects are written as JSON.
- Then stop: the results come in the next message.

Tools
{tools}"""
OPENED = re.compile(r"<(?:call|argument)\b")
OURS = re.compile(r"</?(?:result|say|call|argument)\b")
HOW = "Write <say>, then <call>, and close every tag."


class XMLAdapter(TextAdapter):
    """Tags, found by themselves, so that ``a<b and c & d`` needs no escaping.

    What is written by us and holds ``<`` or ``&`` stands in a CDATA section and is read back byte
    for byte.
    """

    def instructions(self, tools: tuple[Manifest, ...]) -> str:
        """How to reply, with the tools there are."""
        return INSTRUCTIONS.format(tools=tool_list(tools))

    def write_reply(self, text: str, calls: Sequence[ToolCall]) -> str:
        """A reply as the model is to write it."""
        blocks = [f"<say>\n{cdata(text)}\n</say>"] if text or not calls else []
        for call in calls:
            arguments = "".join(
                f'<argument name="{name}">{_argument(value)}</argument>\n'
                for name, value in arguments_of(call).items()
            )
            blocks.append(f'<call tool="{call.name}">\n{arguments}</call>')
        return "\n".join(blocks)

    def write_result(self, result: ToolMessage, text: str) -> str:
        """What a call came to."""
        return f'<result tool="{result.name}">\n{cdata(text)}\n</result>'

    def write_person(self, text: str) -> str:
        """What the person typed, in a CDATA section where it holds one of our tags."""
        return f"<person>\n{cdata(text)}\n</person>" if OURS.search(text) else text

    def read_reply(self, text: str, tools: Mapping[str, Manifest]) -> Written:
        """What a reply says.

        Raises:
            UnreadableReplyError: It is not written as it was asked for.
        """
        found = elements(text, ("say", "call"))
        if not found:
            raise UnreadableReplyError(f"Your reply has no whole tags; nothing was run. {HOW}")
        rest = text[found[-1].end :]
        if OPENED.search(rest) or _has_loose_call(text, found[0].start):
            raise UnreadableReplyError(f"A tag is never closed; nothing was run. {HOW}")
        said = [read_body(each.body).strip() for each in found if each.tag == "say"]
        calls = [
            (each.attribute, _arguments(each.body, tools.get(each.attribute)))
            for each in found
            if each.tag == "call"
        ]
        return Written("\n\n".join(filter(None, said)), tuple(calls))

    def shown(self, tools: tuple[Manifest, ...]) -> ShownText | None:
        """The words before the first call."""
        return TagText("say", "<call") if tools else None

    def write_field(self, name: str, value: str, *, code: bool = False) -> str:
        """One field; text that could be taken for a tag stands in a CDATA section."""
        return write_tag(name, value)

    def write_outputs(self, outputs: Mapping[str, str], signature: Any) -> str:
        """A whole reply."""
        infos = signature.output_fields
        return "\n\n".join(
            write_tag(name, in_fence(value) if is_code(infos[name].annotation) else value)
            for name, value in outputs.items()
        )

    def user_message_output_requirements(self, signature: Any) -> str:
        """What a reply has to look like."""
        names = ", then ".join(f"`<{name}>`" for name in signature.output_fields)
        return (
            f"Reply with {names}, each closed by its end tag. A value with < or & in it stands "
            "between <![CDATA[ and ]]>."
        )

    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """What stands between the tags of the outputs."""
        infos = signature.output_fields
        found = {}
        for name, info in infos.items():
            value = read_tag(completion, name, infos, raw=is_code(info.annotation))
            if value is not None:
                found[name] = value
        return self.checked(found, signature, completion)

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """What stands between the tags of the output."""
        return TagText(name)


def _has_loose_call(text: str, end: int) -> bool:
    return OPENED.search(text[:end]) is not None


def _arguments(body: str, manifest: Manifest | None) -> Mapping[str, Any]:
    found = elements(body, ("argument",))
    if not found and body.strip():
        raise UnreadableReplyError(f"A call holds something else than arguments. {HOW}")
    arguments: dict[str, Any] = {}
    place = 0
    for each in found:
        if body[place : each.start].strip() or each.attribute in arguments:
            raise UnreadableReplyError(
                f"The argument {each.attribute!r} cannot be read; nothing was run. {HOW}"
            )
        value = read_body(each.body, raw=True)
        arguments[each.attribute] = typed(value, each.attribute, manifest)
        place = each.end
    if body[place:].strip():
        raise UnreadableReplyError(
            f"Something stands after the last argument; nothing was run. {HOW}"
        )
    return arguments


def _argument(value: Any) -> str:
    if isinstance(value, str):
        return cdata(value, always=True)  # line breaks at its ends are part of it
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
