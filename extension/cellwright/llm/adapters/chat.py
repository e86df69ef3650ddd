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
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.field_values import format_value, is_code
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.native import looks_like_call
from cellwright.llm.adapters.sections import (
    HEADER,
    OPENING,
    Section,
    SectionText,
    header,
    only_fence,
    read_sections,
    unquoted,
    write_section,
    write_sections,
)
from cellwright.llm.adapters.signature_adapter import AdapterParseError
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

LOG = logging.getLogger(__name__)
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
    """Sections with headers in double brackets: works with every model that writes text.

    Args:
        callbacks: As of every adapter, and so are the others.
        use_native_function_calling: See ``SignatureAdapter``.
        native_response_types: See there.
        use_json_adapter_fallback: Ask for the fields once more, as JSON, where a reply cannot be
            read; that is logged.
        parallel_tool_calls: See there.
    """

    last_wins = False
    """Of a field that is there twice, take the last one rather than the first."""

    def __init__(
        self,
        callbacks: Sequence[Any] | None = None,
        use_native_function_calling: bool | None = None,
        native_response_types: Sequence[type] | None = None,
        use_json_adapter_fallback: bool = True,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        super().__init__(
            callbacks, use_native_function_calling, native_response_types, parallel_tool_calls
        )
        self.use_json_adapter_fallback = use_json_adapter_fallback

    def __call__(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """Ask the model; once more for JSON, where its reply cannot be read."""
        try:
            return super().__call__(lm, lm_kwargs, signature, demos, inputs)
        except AdapterParseError as error:
            return self._fallback(error)(lm, lm_kwargs, signature, demos, inputs)

    async def acall(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """The same for code that awaits."""
        try:
            return await super().acall(lm, lm_kwargs, signature, demos, inputs)
        except AdapterParseError as error:
            return await self._fallback(error).acall(lm, lm_kwargs, signature, demos, inputs)

    def _fallback(self, error: AdapterParseError) -> JSONAdapter:
        """Who asks once more; raises the error where nobody is to."""
        if error.was_cut or not self.use_json_adapter_fallback:
            raise error
        LOG.warning("the reply is asked for once more, as JSON: %s", error)
        return JSONAdapter(
            self.callbacks,
            self.use_native_function_calling,
            self.native_response_types,
            self.parallel_tool_calls,
        )

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

    def write_field(self, name: str, value: str, *, code: bool = False) -> str:
        """One field; a value that could be taken for a header stands between fences."""
        return write_section(name, value, code=code)

    def write_outputs(self, outputs: Mapping[str, Any], signature: Any) -> str:
        """A whole reply."""
        infos = signature.output_fields
        fields = [
            self.write_field(name, format_value(value), code=is_code(infos[name].annotation))
            for name, value in outputs.items()
        ]
        return "\n\n".join([*fields, f"{header(COMPLETED)}\n"])

    def user_message_output_requirements(self, signature: Any) -> str:
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
