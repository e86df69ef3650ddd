"""Holds requests against OpenAI's published description of its API, as far as we use that.

    problems("/v1/chat/completions", body)      # [] or where what is wrong

``openai_description.json`` is made of a checkout of github.com/openai/openai-openapi:

    OPENAI_OPENAPI=…/openai-openapi python tests/openai_description.py

The description leaves objects open. Here they are closed, since OpenAI refuses a field that it
does not know; of choices that are OpenAI's own tools only what we send is kept.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

__all__ = ["DESCRIPTION", "problems"]

Json = dict[str, Any]
DESCRIPTION = Path(__file__).with_suffix(".json")
REQUESTS = {
    "/chat/completions": "CreateChatCompletionRequest",
    "/responses": "CreateResponse",
    "/embeddings": "CreateEmbeddingRequest",
}
MESSAGES = ("System", "User", "Assistant", "Tool")
KEPT = {
    "ChatCompletionRequestMessage": [f"ChatCompletionRequest{who}Message" for who in MESSAGES],
    "ChatCompletionMessageToolCalls": ["ChatCompletionMessageToolCall"],
    "ChatCompletionToolChoiceOption": ["", "ChatCompletionNamedToolChoice"],
    "CreateChatCompletionRequest.tools": ["ChatCompletionTool"],
    "InputItem": ["EasyInputMessage", "Item"],
    "Item": [
        *(
            "InputMessage",
            "OutputMessage",
            "FunctionToolCall",
            "FunctionCallOutputItemParam",
            "ReasoningItem",
        ),
    ],
    "Tool": ["FunctionTool"],
    "ToolChoiceParam": ["ToolChoiceOptions", "ToolChoiceFunction"],
}
"""Of these choices only those are kept that we make; the empty name is one that has none."""
LEFT_OUT = {
    *("audio", "function_call", "functions", "moderation", "modalities", "prediction"),
    *("web_search_options", "context_management", "conversation", "prompt", "caller"),
    *("allowed_callers", "input_audio", "file"),
}
"""What we never ask for."""
KEYWORDS = {
    *("type", "enum", "const", "items", "required", "additionalProperties", "minItems", "maxItems"),
    *("minLength", "maxLength", "minimum", "maximum", "pattern"),
}


def problems(path: str, body: Any) -> list[str]:
    """What of a request's body does not fit the description; nothing where none is at hand."""
    name = next((REQUESTS[end] for end in REQUESTS if path.endswith(end)), "")
    error = best_match(_validator(name).iter_errors(body)) if name else None
    if error is None:
        return []
    return [f"{error.json_path.replace('$', 'body', 1)}: {error.message[:300]}"]


@cache
def _validator(name: str) -> Any:
    described = json.loads(DESCRIPTION.read_text("utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": described["$defs"]})


class _Reduction:
    """The part of a description that some requests need."""

    def __init__(self, schemas: Mapping[str, Json]) -> None:
        self._schemas = schemas
        self.reduced: dict[str, Json] = {}

    def add(self, name: str) -> None:
        """Take a schema and all that it refers to."""
        if name not in self.reduced:
            self.reduced[name] = {}
            self.reduced[name] = self._reduce(self._schemas[name], name)

    def _reduce(self, schema: Json, name: str = "") -> Json:
        if "$ref" in schema:
            target = schema["$ref"].rpartition("/")[2]
            self.add(target)
            return {"$ref": f"#/$defs/{target}"}
        if "allOf" in schema:
            schema = self._joined(schema)
        made = {key: schema[key] for key in KEYWORDS & set(schema)}
        if isinstance(made.get("items"), Mapping):
            made["items"] = self._reduce(made["items"], name)
        if fields := schema.get("properties"):
            made["properties"] = {
                key: self._reduce(value, f"{name}.{key}")
                for key, value in fields.items()
                if key not in LEFT_OUT
            }
            made.setdefault("additionalProperties", False)
        if choices := schema.get("anyOf") or schema.get("oneOf"):
            made = {"anyOf": self._choices(choices, name)}
        if schema.get("nullable"):
            made = {"anyOf": [made, {"type": "null"}]}
        return made

    def _choices(self, choices: list[Json], name: str) -> list[Json]:
        if {"type": "string"} in choices:
            return [{"type": "string"}]
        names = [choice.get("$ref", "").rpartition("/")[2] for choice in choices]
        kept = KEPT.get(name, names)
        pairs = zip(choices, names, strict=True)
        return [self._reduce(choice, name) for choice, named in pairs if named in kept]

    def _joined(self, schema: Json) -> Json:
        """What ``allOf`` says in parts, as one object."""
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        joined: Json = {**schema, "properties": dict(schema.get("properties", {}))}
        for part in joined.pop("allOf", ()):
            whole = self._joined(part)
            joined["properties"] |= whole["properties"]
            joined["required"] = [*joined.get("required", ()), *whole.get("required", ())]
        return joined


def main() -> None:
    """Write the reduced description anew."""
    git = ("git", "-C", os.environ["OPENAI_OPENAPI"])
    ask = ("log", "-1", "--format=commit %H, %cs", "HEAD")
    commit = subprocess.check_output((*git, *ask), text=True).strip()
    whole = json.loads(subprocess.check_output((*git, "show", "HEAD:openapi.json")))
    reduction = _Reduction(whole["components"]["schemas"])
    for name in REQUESTS.values():
        reduction.add(name)
    source = f"https://github.com/openai/openai-openapi, openapi.json, {commit}, MIT License"
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(schema, sort_keys=True)}"
        for name, schema in sorted(reduction.reduced.items())
    )
    text = f'{{"SOURCE": {json.dumps(source)},\n"$defs": {{\n{lines}\n}}}}\n'
    DESCRIPTION.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
