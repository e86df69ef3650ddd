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
from cellwright.llm.adapters.field_values import format_value, is_code, schema_of
from cellwright.llm.adapters.sections import in_fence
from cellwright.llm.adapters.signature_adapter import AdapterParseError, describe_value
from cellwright.llm.adapters.tags import (
    Element,
    TagText,
    cdata,
    elements,
    escape,
    find_end_tag,
    has_parts,
    read_body,
    read_element,
    write_structure,
    write_tag,
    write_value,
)
from cellwright.llm.adapters.text_adapter import (
    TextAdapter,
    UnreadableReplyError,
    Written,
    arguments_of,
    tool_list,
    typed,
)
from cellwright.record.messages import Manifest, ToolCall, ToolMessage

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

    What is written by us and holds ``<`` or ``&`` stands in a CDATA section or is escaped, and is
    read back byte for byte.
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

    def write_outputs(self, outputs: Mapping[str, Any], signature: Any) -> str:
        """A whole reply."""
        infos = signature.output_fields
        return "\n\n".join(
            _output(name, value, infos[name].annotation) for name, value in outputs.items()
        )

    def format_field_with_value(
        self, fields_with_values: Mapping[Any, Any], role: str = "user"
    ) -> str:
        """Fields by themselves; values within values in tags where they are outputs."""
        written = []
        for field, value in fields_with_values.items():
            extra = field.info.json_schema_extra or {}
            if role == "assistant" or extra.get("__dspy_field_type") == "output":
                written.append(_output(field.name, value, field.info.annotation))
            else:
                written.append(super().format_field_with_value({field: value}))
        return "\n\n".join(written)

    def write_examples(self, signature: Any) -> str:
        """The outputs with what stands for their values, and what those with parts consist of."""
        kinds = {name: info.annotation for name, info in signature.output_fields.items()}
        blocks = [
            write_structure(name, kind)
            if has_parts(kind)
            else _output(name, describe_value(name, kind), kind)
            for name, kind in kinds.items()
        ]
        for name, kind in kinds.items():
            if has_parts(kind) and (schema := schema_of(kind, by_alias=False)):
                told = json.dumps(schema, ensure_ascii=False)
                blocks.append(
                    f"The parts of `{name}`, each in its tags, adhere to the JSON schema {told}"
                )
        return "\n\n".join(blocks)

    def user_message_output_requirements(self, signature: Any) -> str:
        """What a reply has to look like."""
        names = ", then ".join(f"`<{name}>`" for name in signature.output_fields)
        return (
            f"Reply with {names}, each closed by its end tag. In text, < is written as &lt; and & "
            "as &amp;; code stands as it is between <![CDATA[ and ]]>."
        )

    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """What stands between the tags of the outputs; of those with parts, the element.

        Raises:
            AdapterParseError: There is none, or a text holds its own end tag, so that it may end
                there or later.
        """
        infos = signature.output_fields
        nested = {name for name, info in infos.items() if has_parts(info.annotation)}
        found: dict[str, Any] = {}
        for each in elements(completion, infos, nested):
            if each.tag in found:
                continue
            if each.tag in nested:
                found[each.tag] = each
                continue
            is_raw = is_code(infos[each.tag].annotation)
            if not is_raw and find_end_tag(each.body, 0, each.tag):
                told = (
                    f"Failed to parse XML: the text of <{each.tag}> holds </{each.tag}>. Write "
                    f"that as &lt;/{each.tag}>, or the text between <![CDATA[ and ]]>."
                )
                raise AdapterParseError(type(self).__name__, signature, completion, told)
            found[each.tag] = read_body(each.body, raw=is_raw)
        return self.checked(found, signature, completion)

    def _value(self, name: str, info: Any, found: Mapping[str, Any]) -> Any:
        given = found.get(name)
        if isinstance(given, Element):
            return read_element(given, name, info.annotation)
        return super()._value(name, info, found)

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """What stands between the tags of the output."""
        kind = signature.output_fields[name].annotation
        return TagText(name, escaped=not is_code(kind) and not has_parts(kind))


def _output(name: str, value: Any, annotation: Any) -> str:
    """One output; a text that stands for a value with parts is left as it is."""
    if has_parts(annotation) and not isinstance(value, str):
        return write_value(name, value, annotation)
    text = format_value(value)
    if is_code(annotation):
        return write_tag(name, in_fence(text))
    return f"<{name}>\n{escape(text)}\n</{name}>"


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
