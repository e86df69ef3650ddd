"""Conversations between tags, for models that were taught to write them.

<say>I look at the table.</say>
<call tool="run_cell">
<argument name="code"><![CDATA[df[df.x < 3]]]></argument>
</call>
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.tag_stream import TagText
from cellwright.llm.adapters.tags import cdata, elements, read_body
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


class XmlAdapter(TextAdapter):
    """Tags, found without an XML parser."""

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
