"""Fields between tags; found by their tags, so that ``a<b and c & d`` needs no escaping.

What is written by us and holds ``<`` or ``&`` stands in a CDATA section and is read back byte for
byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.fences import in_fence
from cellwright.llm.adapters.field_adapter import FieldAdapter
from cellwright.llm.adapters.field_values import is_code
from cellwright.llm.adapters.parse_errors import AdapterParseError
from cellwright.llm.adapters.tag_stream import TagText
from cellwright.llm.adapters.tags import read_tag, write_tag


class XmlFields(FieldAdapter):
    """``<name>value</name>``."""

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

    def reminder(self, signature: Any) -> str:
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
        if not found and any(info.is_required() for info in infos.values()):
            raise AdapterParseError(
                type(self).__name__,
                signature,
                completion,
                f"The reply has none of its fields. {self.reminder(signature)}",
            )
        return found

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """What stands between the tags of the output."""
        return TagText(name)
