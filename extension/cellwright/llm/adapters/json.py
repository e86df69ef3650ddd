"""JSON: each reply is one object, with a schema where the model takes one.

For conversations (``say``, ``calls``) and for the outputs of a signature.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.field_values import is_code, plain_value, schema_of
from cellwright.llm.adapters.native import looks_like_call
from cellwright.llm.adapters.sections import in_fence, only_fence, write_section
from cellwright.llm.adapters.signature_adapter import AdapterParseError
from cellwright.llm.adapters.text_adapter import (
    TextAdapter,
    UnreadableReplyError,
    Written,
    arguments_of,
    tool_list,
)
from cellwright.llm.signatures import SignatureLike
from cellwright.record.messages import Manifest, Message, Parameters, Prompt, ToolCall, ToolMessage

# One JSON object in what a model wrote: alone, between fences or among words.
#
# An object that was cut off is not completed, whatever is missing.


def find_object(text: str, names: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The object in ``text``.

    Args:
        text: What a model wrote.
        names: Fields of which it has at least one; empty: any object will do.

    Raises:
        ValueError: There is none, or it is cut off or broken; the text says where.
    """
    block = only_fence(text.strip())
    whole = block.content if block is not None else text
    problem = "there is no JSON object in it"
    decoder = json.JSONDecoder()
    place = whole.find("{")
    while place >= 0:
        try:
            value, _ = decoder.raw_decode(whole, place)
        except json.JSONDecodeError as error:
            problem = f"{error.msg} at line {error.lineno}, column {error.colno}"
            if _is_cut(whole, error):
                break
        except RecursionError:
            problem = "it is nested too deeply"
            break
        else:
            if _fits(value, names):
                return dict(value)
        place = whole.find("{", place + 1)
    return _literal(whole, names, problem)


def _literal(text: str, names: frozenset[str], problem: str) -> dict[str, Any]:
    """The same in Python's spelling, as some models write it."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(problem) from None
    if _fits(value, names):
        return dict(value)
    raise ValueError(problem)


def _fits(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, dict) and (not names or bool(names & set(value)))


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    if error.msg.startswith("Unterminated string"):
        return True
    return error.pos >= len(text.rstrip())


# One text of a JSON object, shown while the object still comes.


ESCAPE = re.compile(
    r"\\(?:u(?![0-9a-fA-F]{4})[0-9a-fA-F]{0,3})?\Z|\\u[dD][89abAB]..(?:\\u?.{0,3})?\Z"
)
"""The end of a text that an escape goes on after."""
END = re.compile(r'(?<!\\)(?:\\\\)*"')


class StringField:
    """Hands on the value of the first field of that name.

    Args:
        name: The field, whose value is text.
    """

    def __init__(self, name: str) -> None:
        self._opening = re.compile(rf'"{re.escape(name)}"\s*:\s*"')
        self._text = ""
        self._start = -1
        self._shown = 0
        self._done = False

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        if self._done:
            return ""
        self._text += text
        if self._start < 0:
            opening = self._opening.search(self._text)
            if opening is None:
                return ""
            self._start = opening.end()
        value = self._text[self._start :]
        end = END.search(value)
        self._done = end is not None
        raw = value[: end.end() - 1] if end is not None else ESCAPE.sub("", value)
        return self._new(raw)

    def finish(self) -> str:
        """Nothing is held back that is whole."""
        return ""

    def _new(self, raw: str) -> str:
        try:
            whole = str(json.loads(f'"{raw}"', strict=False))
        except ValueError:
            return ""
        shown, self._shown = whole[self._shown :], len(whole)
        return shown


INSTRUCTIONS = """\
How to reply
Your reply is one JSON object and nothing else. Say what you do or found, and call tools if you \
need to:

{{"say": "One sentence.", "calls": [{{"tool": "NAME_OF_TOOL", "arguments": {{"NAME": "value"}}}}]}}

- With an empty list of calls, what you say is your final answer.
- Then stop: the results come in the next message.

Tools
{tools}"""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "say": {"type": "string"},
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
                "required": ["tool", "arguments"],
            },
        },
    },
    "required": ["say", "calls"],
}
FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "schema": SCHEMA},
}
ANY_OBJECT: Mapping[str, Any] = {"type": "json_object"}
HOW = 'Reply with one JSON object with "say" and "calls".'


class JSONAdapter(TextAdapter):
    """One object a reply; inputs stand in sections."""

    calls_functions = True

    def instructions(self, tools: tuple[Manifest, ...]) -> str:
        """How to reply, with the tools there are."""
        return INSTRUCTIONS.format(tools=tool_list(tools))

    def format_prompt(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history; the service is asked for the schema, and may refuse it."""
        prompt = super().format_prompt(messages, tools, parameters)
        if not tools:
            return prompt
        extra = {"response_format": FORMAT, **parameters.extra}
        return replace(prompt, parameters=replace(parameters, extra=extra))

    def write_reply(self, text: str, calls: Sequence[ToolCall]) -> str:
        """A reply as the model is to write it."""
        made = [{"tool": call.name, "arguments": arguments_of(call)} for call in calls]
        return json.dumps({"say": text, "calls": made}, ensure_ascii=False)

    def write_result(self, result: ToolMessage, text: str) -> str:
        """What a call came to."""
        return json.dumps({"result_of": result.name, "output": text}, ensure_ascii=False)

    def write_person(self, text: str) -> str:
        """What the person typed; as a value where it could be taken for an object of ours."""
        if '"result_of"' in text or text.lstrip().startswith("{"):
            return json.dumps({"person": text}, ensure_ascii=False)
        return text

    def read_reply(self, text: str, tools: Mapping[str, Manifest]) -> Written:
        """What a reply says.

        Raises:
            UnreadableReplyError: It is not written as it was asked for.
        """
        try:
            found = find_object(text, frozenset({"say", "calls"}))
        except ValueError as error:
            if "{" not in text and not looks_like_call(text, tools):
                # Small models forget the form when they have nothing left to call.
                return Written(text.strip())
            raise UnreadableReplyError(
                f"Your reply is no JSON object: {error}. Nothing was run. {HOW}"
            ) from error
        calls = found.get("calls") or []
        if not isinstance(calls, list):
            raise UnreadableReplyError(f'"calls" is no list; nothing was run. {HOW}')
        said = found.get("say") or ""
        return Written(said if isinstance(said, str) else str(said), tuple(map(_call, calls)))

    def shown(self, tools: tuple[Manifest, ...]) -> ShownText | None:
        """The words of the reply."""
        return StringField("say") if tools else None

    def write_field(self, name: str, value: str, *, code: bool = False) -> str:
        """One field of the inputs, as a section."""
        return write_section(name, value, code=code)

    def write_outputs(self, outputs: Mapping[str, Any], signature: Any) -> str:
        """A whole reply as one object; what is no JSON value is written as text."""
        infos = signature.output_fields
        values = {
            name: in_fence(value)
            if isinstance(value, str) and is_code(infos[name].annotation)
            else value
            for name, value in outputs.items()
        }
        return json.dumps(values, ensure_ascii=False, indent=2, default=plain_value)

    def format_field_with_value(
        self, fields_with_values: Mapping[Any, Any], role: str = "user"
    ) -> str:
        """Fields by themselves; as one object where they are outputs."""
        if role == "user":
            return super().format_field_with_value(fields_with_values)
        values = {field.name: value for field, value in fields_with_values.items()}
        return json.dumps(values, ensure_ascii=False, indent=2, default=plain_value)

    def user_message_output_requirements(self, signature: Any) -> str:
        """What a reply has to look like."""
        names = ", ".join(f'"{name}"' for name in signature.output_fields)
        return f"Reply with one JSON object and nothing else; its fields, in this order: {names}."

    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """The fields of the object; others are dropped."""
        names = frozenset(signature.output_fields)
        try:
            found = find_object(completion, names)
        except ValueError as error:
            wanted = self.user_message_output_requirements(signature)
            told = f"The reply is no JSON object: {error}. {wanted}"
            raise AdapterParseError(type(self).__name__, signature, completion, told) from error
        return {name: value for name, value in found.items() if name in names}

    def reply_options(
        self, lm: Any, signature: SignatureLike, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A schema where the model knows what to do with one; dspy's models take it as a class."""
        if "response_format" in options or "tools" in options:
            return {}
        knows = getattr(lm, "supports_response_schema", False)
        params = getattr(lm, "supported_params", None)
        if params is None:
            return {"response_format": response_format(signature)} if knows else {}
        if "response_format" not in params:
            return {}
        wanted = response_format(signature) if knows else ANY_OBJECT
        return {"response_format": wanted if wanted == ANY_OBJECT else outputs_class(signature)}

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """The field of the object, where it is text."""
        return StringField(name)


def _call(made: Any) -> tuple[str, Mapping[str, Any]]:
    fields = made if isinstance(made, dict) else {}
    name, arguments = fields.get("tool"), fields.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise UnreadableReplyError(
            'Each of "calls" is an object with "tool", a name, and "arguments", an object; nothing '
            f"was run. {HOW}"
        )
    return name, arguments


def response_format(signature: SignatureLike) -> dict[str, Any]:
    """The schema of a reply in OpenAI's shape: all fields required, no others.

    Where a field is an open dictionary there is no strict schema; then any object will do.
    """
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for name, info in signature.output_fields.items():
        is_text = is_code(info.annotation)
        schema = {} if is_text else schema_of(info.annotation)
        schema = schema or {"type": "string"}
        definitions |= schema.pop("$defs", {})
        properties[name] = schema
    closed = [_closed(schema) for schema in (*properties.values(), *definitions.values())]
    if not all(closed):
        return dict(ANY_OBJECT)
    body: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    if definitions:
        body["$defs"] = definitions
    name = re.sub(r"\W", "_", "_".join(properties))[:60]
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": body}}


def outputs_class(signature: SignatureLike) -> Any:
    """A pydantic class with the outputs as its fields, all required."""
    from pydantic import ConfigDict, create_model

    kinds = {name: info.annotation for name, info in signature.output_fields.items()}
    fields: dict[str, Any] = {
        name: (str if is_code(kind) else kind, ...) for name, kind in kinds.items()
    }
    return create_model("Outputs", __config__=ConfigDict(extra="forbid"), **fields)


def _closed(schema: Any) -> bool:
    """Make objects strict; False when one of them takes any key."""
    if isinstance(schema, list):
        return all([_closed(item) for item in schema])
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        if "properties" not in schema or schema.get("additionalProperties"):
            return False
        schema["additionalProperties"] = False
        schema["required"] = list(schema["properties"])
    schema.pop("default", None)
    return all([_closed(value) for value in list(schema.values())])
