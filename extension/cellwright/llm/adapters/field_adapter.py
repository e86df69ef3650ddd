"""What the ways to write fields have in common: descriptions, reminders, reading and checking."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from cellwright.llm.adapters.field_values import (
    BadValueError,
    description_of,
    format_value,
    is_code,
    missing_value,
    read_value,
    rule_for,
    validated,
)
from cellwright.llm.adapters.parse_errors import AdapterParseError
from cellwright.llm.adapters.parts import Chunk, media_of, paragraphs
from cellwright.llm.adapters.signature_adapter import Content, SignatureAdapter
from cellwright.llm.adapters.tool_fields import function_of
from cellwright.llm.signatures import type_name

LOG = logging.getLogger(__name__)


class FieldAdapter(SignatureAdapter):
    """Writes each field by itself; subclasses say how one field looks."""

    @abstractmethod
    def write_field(self, name: str, value: str, *, code: bool = False) -> str:
        """One field of the inputs; what is in ``value`` cannot end it."""

    @abstractmethod
    def write_outputs(self, outputs: Mapping[str, str], signature: Any) -> str:
        """A whole reply."""

    @abstractmethod
    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """The outputs in a reply as they are written there.

        Raises:
            AdapterParseError: Nothing can be read.
        """

    @abstractmethod
    def reminder(self, signature: Any) -> str:
        """What a reply has to look like, in one sentence."""

    def format_field_description(self, signature: Any) -> str:
        """The inputs and outputs with their types and descriptions."""
        inputs = _described(signature.input_fields)
        outputs = _described(signature.output_fields)
        return f"You are given these fields:\n{inputs}\nYou produce these fields:\n{outputs}"

    def format_field_structure(self, signature: Any) -> str:
        """How inputs and outputs are written."""
        inputs = [self.write_field(name, f"{{{name}}}") for name in signature.input_fields]
        outputs = {
            name: _example(name, info.annotation) for name, info in signature.output_fields.items()
        }
        reply = self.write_outputs(outputs, signature)
        given = "\n\n".join(inputs)
        return f"\nInputs are written like this:\n\n{given}\n\nReply like this:\n\n{reply}\n"

    def format_task_description(self, signature: Any) -> str:
        """The instructions."""
        lines = str(signature.instructions or "").strip().splitlines() or [""]
        objective = "".join(f"\n        {line}" for line in lines)
        return f"In adhering to this structure, your objective is: {objective}"

    def format_user_message_content(
        self,
        signature: Any,
        inputs: Mapping[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> Content:
        """The inputs that are there; with ``main_request`` also what the reply must look like."""
        blocks: list[list[Chunk]] = [[prefix]] if prefix else []
        for name, info in signature.input_fields.items():
            if name in inputs:
                blocks.append(self._input(name, inputs[name], info))
        if main_request:
            self._warn_of_extra(signature, inputs)
        if main_request and signature.output_fields:
            blocks.append([self.reminder(signature)])
        if suffix:
            blocks.append([suffix])
        return paragraphs(blocks)

    def format_assistant_message_content(
        self,
        signature: Any,
        outputs: Mapping[str, Any],
        missing_field_message: str | None = None,
    ) -> str:
        """The outputs as the model is to write them."""
        values = {}
        for name in signature.output_fields:
            given = outputs.get(name)
            is_missing = given is None and missing_field_message is not None
            values[name] = str(missing_field_message) if is_missing else format_value(given)
        return self.write_outputs(values, signature)

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """The outputs in a reply.

        Raises:
            AdapterParseError: One is missing or does not fit; all complaints are in its text.
        """
        found = self.read_fields(signature, completion)
        values: dict[str, Any] = {}
        complaints: list[str] = []
        for name, info in signature.output_fields.items():
            try:
                values[name] = self._value(name, info, found)
            except BadValueError as error:
                complaints.append(str(error))
        if complaints:
            raise AdapterParseError(
                type(self).__name__,
                signature,
                completion,
                f"The reply cannot be used: {'; '.join(complaints)}.",
                parsed_result=values,
            )
        return values

    def _value(self, name: str, info: Any, found: Mapping[str, Any]) -> Any:
        if name not in found:
            return missing_value(name, info)
        given = found[name]
        if isinstance(given, str):
            return read_value(given, name, info.annotation)
        return validated(given, name, info.annotation)

    def _input(self, name: str, value: Any, info: Any) -> list[Chunk]:
        media = media_of(value)
        if not media:
            return [self.write_field(name, _text(value), code=is_code(info.annotation))]
        before, _, after = self.write_field(name, "\0").partition("\0")
        return [before, media, after]

    def _warn_of_extra(self, signature: Any, inputs: Mapping[str, Any]) -> None:
        extra = [name for name in inputs if name not in signature.input_fields]
        if extra:
            LOG.warning("these inputs are not in the signature and are left out: %s", extra)


def _text(value: Any) -> str:
    listed = value if isinstance(value, (list, tuple)) else [value]
    if listed and all(_is_tool(item) for item in listed):
        return format_value([function_of(item) for item in listed])
    return format_value(value)


def _is_tool(value: Any) -> bool:
    return hasattr(value, "format_as_litellm_function_call") or (
        hasattr(value, "name") and hasattr(value, "description") and hasattr(value, "parameters")
    )


def _described(fields: Mapping[str, Any]) -> str:
    lines = []
    for number, (name, info) in enumerate(fields.items(), start=1):
        said = description_of(info)
        lines.append(f"{number}. `{name}` ({type_name(info.annotation)}): {said}".rstrip(" :"))
    return "\n".join(lines)


def _example(name: str, annotation: Any) -> str:
    rule = rule_for(annotation)
    return f"{{{name}}}" + (f"   ({rule})" if rule else "")
