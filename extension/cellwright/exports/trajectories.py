"""Samples as trajectories in ATIF, the format that Harbor and its tools read: a file a sample.

Names and rules are those of version 1.7, checked against the models of the package ``harbor``. A
reply of the model is a step, with the calls it made, their results, its tokens and its cost;
pictures are files beside the trajectory. The whole record is in ``extra``, so that nothing is lost.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports.inspect_log import moment
from cellwright.exports.sample import ReplyGiven, SampleRecord, trimmed
from cellwright.record.values import json_or_none, safe_text

JSON = dict[str, Any]
VERSION = "ATIF-v1.7"
RECORD = "cellwright.sample"
PICTURES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
"""Those that ATIF has a word for, and how their files end."""
TOTALS = {
    "total_prompt_tokens": "prompt_tokens",
    "total_completion_tokens": "completion_tokens",
    "total_cached_tokens": "cached_tokens",
}


def write(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    """Write a trajectory, and its pictures beside it; all paths, the trajectory's first."""
    written: list[Path] = []
    for sample in samples:
        pictures: dict[str, bytes] = {}
        document = trajectory_of(sample, path.stem.removesuffix(".trajectory"), pictures)
        path.write_text(
            safe_text(json.dumps(document, ensure_ascii=False, indent=1)) + "\n", "utf-8"
        )
        written.append(path)
        for name, data in pictures.items():
            path.with_name(name).write_bytes(data)
            written.append(path.with_name(name))
    return tuple(written)


def read(path: Path) -> Iterator[SampleRecord]:
    """The sample of a trajectory that ``write`` made.

    Raises:
        SetupError: It holds no record of ours.
    """
    document = json.loads(path.read_text("utf-8"))
    record = (document.get("extra") or {}).get(RECORD)
    if record is None:
        raise SetupError(f"{str(path)!r} has no {RECORD!r}.", hint="It was not written by us.")
    yield SampleRecord.from_dict(record)


def trajectory_of(sample: SampleRecord, stem: str, pictures: dict[str, bytes]) -> JSON:
    """The document of one sample.

    Args:
        sample: The sample.
        stem: What names of its pictures begin with.
        pictures: Gets the files of its pictures by name.
    """
    steps = list(_steps(sample, stem, pictures))
    totals: JSON = {name: sample.usage.get(ours) for name, ours in TOTALS.items()}
    totals |= {"total_cost_usd": sample.cost_dollars, "total_steps": len(steps)}
    scores = [
        {"name": s.name, "value": s.value, "passed": s.passed, "why": s.error or s.explanation}
        for s in sample.scores
    ]
    return _known(
        {
            "schema_version": VERSION,
            "session_id": sample.run_id or sample.id,
            "trajectory_id": sample.id,
            "agent": _agent(sample),
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
            "final_metrics": _known(totals),
            "extra": {"status": sample.status, "scores": scores, RECORD: trimmed(sample)},
        }
    )


def _agent(sample: SampleRecord) -> JSON:
    tools = [{"type": "function", "function": dict(tool)} for tool in sample.tools]
    return _known(
        {
            "name": sample.agent or "cellwright",
            "version": str(sample.env.get("version") or "unknown"),
            "model_name": sample.model.get("model") or None,
            "tool_definitions": tools or None,
        }
    )


def _steps(sample: SampleRecord, stem: str, pictures: dict[str, bytes]) -> Iterator[JSON]:
    """A step for each message; results of calls belong to the step that made the calls."""
    replies = {event.message: event for event in sample.events if isinstance(event, ReplyGiven)}
    step: JSON | None = None
    for number, message in enumerate(sample.messages):
        content = _content(message, stem, pictures)
        role = message.get("role")
        if role == "tool" and step is not None:
            step.setdefault("observation", {"results": []})["results"].append(
                _result(message, content, step)
            )
            continue
        if step is not None:
            yield step
        source = {"assistant": "agent", "system": "system"}.get(str(role), "user")
        step = {"source": source, "message": content}
        if source == "agent":
            step |= _said(message, replies.get(number), sample)
    yield step or {"source": "user", "message": sample.input}


def _said(message: Mapping[str, Any], reply: ReplyGiven | None, sample: SampleRecord) -> JSON:
    effort = sample.model.get("reasoning_effort")
    more: JSON = {
        "reasoning_content": message.get("reasoning_content") or None,
        "reasoning_effort": effort if isinstance(effort, (str, float)) else None,
        "tool_calls": [_call(call) for call in message.get("tool_calls", ())] or None,
    }
    if reply is not None:
        more |= {
            "timestamp": moment(sample.time.started_at + reply.at),
            "model_name": reply.model or None,
            "llm_call_count": reply.attempts,
            "metrics": _known(
                {
                    **{ours: reply.usage.get(ours) for ours in TOTALS.values()},
                    "cost_usd": reply.cost_dollars,
                    "extra": {"seconds": reply.seconds, "finish_reason": reply.finish_reason},
                }
            ),
        }
    return _known(more)


def _call(call: Mapping[str, Any]) -> JSON:
    function = call["function"]
    made: JSON = {"tool_call_id": str(call["id"]), "function_name": str(function["name"])}
    arguments = json_or_none(function["arguments"])
    if isinstance(arguments, dict):
        return {**made, "arguments": arguments}
    return {**made, "arguments": {}, "extra": {"not_an_object": function["arguments"]}}


def _result(message: Mapping[str, Any], content: Any, step: Mapping[str, Any]) -> JSON:
    ids = {call["tool_call_id"] for call in step.get("tool_calls", ())}
    call_id = message.get("tool_call_id")
    failed = {"extra": {"is_error": True}} if message.get("is_error") else {}
    return {**({"source_call_id": call_id} if call_id in ids else {}), "content": content, **failed}


def _content(message: Mapping[str, Any], stem: str, pictures: dict[str, bytes]) -> Any:
    """The text, or parts where there are pictures."""
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        return str(content or message.get("refusal") or "")
    return [_part(part, stem, pictures) for part in content]


def _part(part: Mapping[str, Any], stem: str, pictures: dict[str, bytes]) -> JSON:
    if part.get("type") != "image_url":
        return {"type": "text", "text": str(part.get("text") or "")}
    head, _, data = str(part["image_url"]["url"]).partition(";base64,")
    kind = head.removeprefix("data:")
    name = f"{stem}.picture-{len(pictures) + 1}{PICTURES.get(kind, '')}"
    try:
        picture = base64.b64decode(data)
    except binascii.Error:
        picture = b""
    if kind not in PICTURES or not picture:
        return {"type": "text", "text": f"[{kind}]"}
    pictures[name] = picture
    return {"type": "image", "source": {"media_type": kind, "path": name}}


def _known(values: Mapping[str, Any]) -> JSON:
    """Without what is not known: ATIF leaves such fields out."""
    return {name: value for name, value in values.items() if value is not None}
