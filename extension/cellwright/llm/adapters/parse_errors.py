"""A reply that does not hold what it was to hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.errors import LMError

SHOWN_CHARACTERS = 2_000


class AdapterParseError(LMError):
    """The model's reply cannot be read.

    Args:
        adapter_name: Who tried.
        signature: What was to be in it.
        lm_response: The reply.
        message: What is wrong with it; it may go back to the model.
        parsed_result: What could be read.
    """

    def __init__(
        self,
        adapter_name: str,
        signature: Any,
        lm_response: str,
        message: str,
        *,
        parsed_result: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, detail=lm_response[:SHOWN_CHARACTERS])
        self.adapter_name = adapter_name
        self.signature = signature
        self.lm_response = lm_response
        self.parsed_result = dict(parsed_result or {})
