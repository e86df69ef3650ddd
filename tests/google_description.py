"""Holds what Gemini is sent and says against Google's published description of ``generateContent``.

    problems("/v1beta/models/m:generateContent", body)     # [] or where what is wrong
    reply_problems(piece)                                  # of a reply, or a piece of its stream

``google_description.json`` is made of the discovery document of Vertex AI, which the package
google-api-python-client 2.202.0 carries among its ``discovery_cache/documents``:

    python tests/google_description.py …/aiplatform.v1beta1.json

The document of the Gemini API itself is in no package; what that has besides stands in ``ALSO``.
Objects are closed, as Google refuses a field that it does not know.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

__all__ = ["problems", "reply_problems"]

Json = dict[str, Any]
DESCRIPTION = Path(__file__).with_suffix(".json")
PREFIX = "GoogleCloudAiplatformV1beta1"
REQUEST, REPLY = "GenerateContentRequest", "GenerateContentResponse"
LEFT_OUT = {
    *("cachedContent", "continuationToken", "modelArmorConfig", "outputConfig", "retrievalConfig"),
    *("codeExecution", "computerUse", "enterpriseWebSearch", "exaAiSearch", "googleMaps"),
    *("googleSearch", "googleSearchRetrieval", "parallelAiSearch", "retrieval", "urlContext"),
    *("parameters", "responseSchema", "responseFormat", "audioTranscription", "speechMetadata"),
    *("audioTranscriptionConfig", "imageConfig", "modelConfig", "routingConfig", "speechConfig"),
    *("translationConfig", "executableCode", "codeExecutionResult", "videoMetadata"),
    *("groundingMetadata", "logprobsResult", "urlContextMetadata", "citationMetadata"),
    *("mediaProcessing", "fileData"),
}
"""What we never ask for, and so are never told."""
ALSO: dict[str, Json] = {
    REQUEST: {
        "serviceTier": {"enum": ["flex", "standard", "priority"]},
        "store": {"type": "boolean"},
    },
    "GenerationConfigThinkingConfig": {
        "thinkingLevel": {"enum": ["MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"]}
    },
}
"""What the Gemini API has besides. Source: the types of google-genai 3.4.0, read 2026-11-23."""
FORMATS: dict[str, Json] = {
    "byte": {"type": "string", "pattern": "^[A-Za-z0-9+/_-]*={0,2}$"},
    "int64": {"type": ["string", "integer"]},
}


def problems(path: str, body: Any) -> list[str]:
    """What of a request's body does not fit; nothing where another service is asked."""
    method = path.partition("?")[0].rpartition(":")[2]
    is_asked = method in ("generateContent", "streamGenerateContent")
    return _problems(REQUEST, body, "body") if is_asked else []


def reply_problems(piece: Any) -> list[str]:
    """What of a reply, or a piece of one, does not fit."""
    return _problems(REPLY, piece, "reply")


def _problems(name: str, value: Any, where: str) -> list[str]:
    error = best_match(_validator(name).iter_errors(value))
    if error is None:
        return []
    return [f"{error.json_path.replace('$', where, 1)}: {error.message[:300]}"]


@cache
def _validator(name: str) -> Any:
    described = json.loads(DESCRIPTION.read_text("utf-8"))
    for changed, fields in ALSO.items():
        described["$defs"][changed]["properties"] |= fields
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": described["$defs"]})


def _reduce(schema: Json, schemas: Json, made: Json) -> Json:
    """A schema of the document as JSON Schema; what it refers to is put into ``made``."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PREFIX)
        if name not in made:
            made[name] = {}
            made[name] = _reduce(schemas[schema["$ref"]], schemas, made)
        return {"$ref": f"#/$defs/{name}"}
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    if schema["type"] == "any":
        return {}
    if schema["type"] == "array":
        return {"type": "array", "items": _reduce(schema["items"], schemas, made)}
    if "additionalProperties" in schema:
        values = _reduce(schema["additionalProperties"], schemas, made)
        return {"type": "object", "additionalProperties": values}
    if schema["type"] == "object":
        fields = {n: f for n, f in schema.get("properties", {}).items() if n not in LEFT_OUT}
        required = [
            n for n, f in fields.items() if f.get("description", "").startswith("Required.")
        ]
        reduced = {name: _reduce(field, schemas, made) for name, field in fields.items()}
        is_closed = {"type": "object", "additionalProperties": False}
        return {**is_closed, "properties": reduced, **({"required": required} if required else {})}
    return {key: schema[key] for key in ("type", "enum") if key in schema}


def main(path: str) -> None:
    """Write the reduced description anew."""
    document = json.loads(Path(path).read_text("utf-8"))
    made: Json = {}
    for name in (REQUEST, REPLY):
        _reduce({"$ref": PREFIX + name}, document["schemas"], made)
    source = (
        f"{document['id']}, revision {document['revision']}, google-api-python-client, Apache-2.0"
    )
    lines = ",\n".join(
        f"{json.dumps(n)}: {json.dumps(made[n], sort_keys=True)}" for n in sorted(made)
    )
    text = f'{{"SOURCE": {json.dumps(source)},\n"$defs": {{\n{lines}\n}}}}\n'
    DESCRIPTION.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
