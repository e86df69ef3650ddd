"""How an adapter asks a model: with messages, and a model of dspy 3.4 or later with a request.

dspy 3.5 takes no messages any more, but a ``Request`` of its ``lm15``, and answers with one
``Response``; 3.4 takes both. dspy is not imported here: where one of its models is given, it is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

CONNECTION = frozenset(
    {
        "api_key",
        "api_base",
        "base_url",
        "headers",
        "extra_headers",
        "timeout",
        "api_version",
        "azure_ad_token_provider",
        "organization",
        "project",
        "extra_query",
        "custom_llm_provider",
    }
)
"""What a model of dspy is made with and its service is not sent."""
OF_THE_CALL = ("cache", "rollout_id")
"""What dspy takes beside a request."""


def ask(lm: Any, arguments: Mapping[str, Any]) -> Sequence[Any]:
    """The replies of a model: texts, or mappings with ``text``, ``tool_calls`` and the like.

    Args:
        lm: A function of messages and options, or a model of dspy.
        arguments: ``messages`` in OpenAI's shape, and options.
    """
    requested = _request(lm, arguments)
    if requested is None:
        return _listed(lm(**arguments))
    return [_reply(lm(requested, **_of_the_call(arguments)))]


async def await_reply(lm: Any, arguments: Mapping[str, Any]) -> Sequence[Any]:
    """The same, awaited; a model that cannot be is called in a thread."""
    if not hasattr(lm, "acall"):
        import asyncio

        return _listed(await asyncio.to_thread(lambda: lm(**arguments)))
    requested = _request(lm, arguments)
    if requested is None:
        return _listed(await lm.acall(**arguments))
    return [_reply(await lm.acall(requested, **_of_the_call(arguments)))]


def _listed(replies: Any) -> Sequence[Any]:
    """Replies as a list, where a model gave one by itself."""
    return [replies] if isinstance(replies, (str, Mapping)) else replies


def _of_the_call(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in OF_THE_CALL if name in arguments}


def _request(lm: Any, arguments: Mapping[str, Any]) -> Any:
    """What dspy's models take in the place of messages; None: this one takes messages.

    Several answers at once have no request in 3.4.
    """
    lm15 = sys.modules.get("dspy.lm15")
    is_dspys = any(kind.__module__.startswith("dspy.") for kind in type(lm).__mro__)
    if lm15 is None or not is_dspys:
        return None
    body = {"model": lm.model, **lm.kwargs, **arguments}
    if (body.pop("n", None) or 1) != 1:
        return None
    kept = CONNECTION.union(OF_THE_CALL)
    said = {name: value for name, value in body.items() if name not in kept and value is not None}
    if isinstance(said.get("response_format"), type):
        said["response_format"] = _schema_of(said["response_format"])
    return lm15.request_from_openai_chat(said)


def _schema_of(kind: Any) -> dict[str, Any]:
    """A class of pydantic's in OpenAI's shape."""
    told = {"name": kind.__name__, "schema": kind.model_json_schema(), "strict": True}
    return {"type": "json_schema", "json_schema": told}


def _reply(response: Any) -> dict[str, Any]:
    """A ``Response`` as a mapping, with OpenAI's names."""
    kinds = [(part.type, part) for part in response.message.parts]
    texts = [part.text for kind, part in kinds if kind == "text"]
    texts += [json.dumps(part.value, ensure_ascii=False) for kind, part in kinds if kind == "data"]
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.input)},
        }
        for call in response.tool_calls
    ]
    fields: dict[str, Any] = {
        "text": "".join(texts) or None,
        "reasoning_content": "".join(part.text for kind, part in kinds if kind == "thinking"),
        "tool_calls": calls,
        "truncated": response.finish_reason == "length",
        "logprobs": response.logprobs,
    }
    return {name: value for name, value in fields.items() if value}
