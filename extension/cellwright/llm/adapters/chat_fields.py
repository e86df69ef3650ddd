"""Fields under marked headers: works with every model that writes text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.chat import (
    SectionText,
    header,
    quoted,
    read_sections,
    unquoted,
    write_sections,
)
from cellwright.llm.adapters.fences import fenced
from cellwright.llm.adapters.field_values import is_code
from cellwright.llm.adapters.signature_adapter import AdapterParseError, FieldAdapter

COMPLETED = "completed"


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
        if not found and any(info.is_required() for info in signature.output_fields.values()):
            raise AdapterParseError(
                type(self).__name__,
                signature,
                completion,
                f"The reply has none of its fields. {self.reminder(signature)}",
            )
        return found

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """The section of the output."""
        names = {*signature.output_fields, COMPLETED}
        return SectionText(names.__contains__, name, before="")
