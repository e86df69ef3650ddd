"""Outputs as one JSON object, with a schema where the model takes one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.chat_fields import ChatFields
from cellwright.llm.adapters.fences import in_fence
from cellwright.llm.adapters.field_values import is_code, plain_value, schema_of
from cellwright.llm.adapters.json_stream import StringField
from cellwright.llm.adapters.objects import find_object
from cellwright.llm.adapters.parse_errors import AdapterParseError
from cellwright.llm.signatures import SignatureLike


class JsonFields(ChatFields):
    """Inputs as in ``ChatFields``, the reply as one object."""

    def write_outputs(self, outputs: Mapping[str, str], signature: Any) -> str:
        """A whole reply."""
        return json.dumps(dict(outputs), ensure_ascii=False, indent=2)

    def format_assistant_message_content(
        self,
        signature: Any,
        outputs: Mapping[str, Any],
        missing_field_message: str | None = None,
    ) -> str:
        """The outputs as one object; what is no JSON value is written as text."""
        values = {}
        for name, info in signature.output_fields.items():
            given = outputs.get(name)
            if given is None and missing_field_message is not None:
                given = missing_field_message
            elif isinstance(given, str) and is_code(info.annotation):
                given = in_fence(given)
            values[name] = given
        return json.dumps(values, ensure_ascii=False, indent=2, default=plain_value)

    def reminder(self, signature: Any) -> str:
        """What a reply has to look like."""
        names = ", ".join(f'"{name}"' for name in signature.output_fields)
        return f"Reply with one JSON object and nothing else; its fields, in this order: {names}."

    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """The fields of the object; others are dropped."""
        names = frozenset(signature.output_fields)
        try:
            found = find_object(completion, names)
        except ValueError as error:
            raise AdapterParseError(
                type(self).__name__,
                signature,
                completion,
                f"The reply is no JSON object: {error}. {self.reminder(signature)}",
            ) from error
        return {name: value for name, value in found.items() if name in names}

    def reply_options(
        self, lm: Any, signature: SignatureLike, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A schema where the model knows what to do with one."""
        if "response_format" in options or "tools" in options:
            return {}
        knows = getattr(lm, "supports_response_schema", False)
        return {"response_format": response_format(signature)} if knows else {}

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """The field of the object, where it is text."""
        return StringField(name)


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
        return {"type": "json_object"}
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
