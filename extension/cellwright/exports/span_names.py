"""Names of attributes in spans of whole runs: the table of tool calls, and what models add to it.

There is one version for both (``CONVENTIONS_VERSION``); a fact that has no name in the conventions
is under ``cellwright.``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.tools.tracing import ATTRIBUTES

ATTRIBUTE_NAMES: Mapping[str, tuple[str, ...]] = {
    **ATTRIBUTES,
    "agent": ("gen_ai.agent.name",),
    "asked_model": ("gen_ai.request.model", "llm.model_name"),
    "replied_model": ("gen_ai.response.model",),
    "temperature": ("gen_ai.request.temperature",),
    "max_output_tokens": ("gen_ai.request.max_tokens",),
    "finish_reasons": ("gen_ai.response.finish_reasons",),
    "cached_tokens": ("gen_ai.usage.cache_read.input_tokens",),
    "cost_dollars": ("cellwright.cost_dollars",),
    "attempts": ("cellwright.attempts",),
    "said": ("gen_ai.output.messages",),
    "asked": ("gen_ai.input.messages",),
    "score_name": ("gen_ai.evaluation.name",),
    "score_value": ("gen_ai.evaluation.score.value",),
    "score_label": ("gen_ai.evaluation.score.label",),
    "score_explanation": ("gen_ai.evaluation.explanation",),
    "suite": ("cellwright.suite",),
    "sample_id": ("cellwright.sample.id",),
    "sample_status": ("cellwright.sample.status",),
    "sample": ("cellwright.sample",),
}


def attributes(**facts: Any) -> list[dict[str, Any]]:
    """Facts as OTLP's JSON has attributes; what is None or empty is left out."""
    return [
        {"key": name, "value": _value(value)}
        for fact, value in facts.items()
        if value not in (None, "")
        for name in ATTRIBUTE_NAMES[fact]
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        # Whole numbers are text there: JSON readers keep 53 bits.
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}
