"""Samples as an ``.eval`` log of Inspect: a zip of JSON files, which ``inspect view`` opens.

It is written with the standard library alone and one sample at a time. Layout and names are those
of version 2 of Inspect's log format.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports.sample import ReplyGiven, SampleRecord, Score, ToolCalled, trimmed
from cellwright.record.values import json_or_none, safe_json

# A sample as Inspect has one: messages, events, scores; the whole record is in its store.
#
# Inspect's models, calls of tools and scores are filled from ours, so that its viewer and its
# analyses work. Messages are in a pool and events name places in it: a long run is not said again
# at each of its steps.


LAST_SECOND = 253_402_300_799.0
"""The end of the year 9999."""
RECORD = "cellwright:sample"
"""Where in the store the record is."""
STOPS = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "max_tokens",
    "repetition": "max_tokens",
    "content_filter": "content_filter",
}
LIMITS = {
    "step_limit": ("turn", "step_limit"),
    "time_limit": ("time", "wall_seconds"),
    "token_limit": ("token", "token_limit"),
    "cost_limit": ("cost", "cost_limit_dollars"),
}
"""Our word for a limit, Inspect's, and the setting with its amount."""
SUMMARY_FIELDS = (
    "id",
    "epoch",
    "input",
    "target",
    "scores",
    "model_usage",
    "started_at",
    "completed_at",
    "total_time",
    "uuid",
)
TOOL_ERRORS = {"refused": "approval", "cancelled": "cancelled", "error": "unknown"}


def eval_sample(sample: SampleRecord) -> JSON:
    """The object of a file in ``samples/``."""
    messages = [_message(message, number, sample) for number, message in enumerate(sample.messages)]
    replies = [event for event in sample.events if isinstance(event, ReplyGiven)]
    made: JSON = {
        "id": _name(sample),
        "epoch": sample.task.epoch,
        "input": sample.input,
        "target": sample.target,
        "files": sorted(sample.files) or None,
        "setup": "\n\n".join(sample.setup) or None,
        "messages": messages,
        "output": _output(sample, replies[-1], messages) if replies else _no_output(sample),
        "scores": {name: _score(s, sample) for name, s in score_names(sample).items()} or None,
        "metadata": _metadata(sample),
        "store": {RECORD: trimmed(sample)},
        "events": _events(sample, messages),
        "events_data": {"messages": messages, "calls": []},
        "model_usage": {_model(sample): usage_of(sample.usage)} if sample.usage else {},
        "started_at": moment(sample.time.started_at),
        "completed_at": moment(sample.time.started_at + sample.time.seconds),
        "total_time": sample.time.seconds,
        "working_time": sample.time.seconds,
        "uuid": sample.run_id or None,
        "error": _error(sample),
        "limit": _limit(sample),
        "turn_count": len(replies),
    }
    return {name: value for name, value in made.items() if value is not None}


def eval_summary(made: Mapping[str, Any]) -> JSON:
    """What the list of samples shows of one."""
    summary = {name: made[name] for name in SUMMARY_FIELDS if name in made}
    more = {"completed": True, "message_count": len(made["messages"]), "metadata": {}}
    summary |= more | {"turn_count": made["turn_count"]}
    if "error" in made:
        summary["error"] = made["error"]["message"]
    if "limit" in made:
        summary["limit"] = made["limit"]["type"]
    return summary


def score_names(sample: SampleRecord) -> dict[str, Score]:
    """The scores by names that are each used once; the first says whether all passed."""
    if not sample.scores:
        return {}
    why = next((s.error or s.explanation for s in sample.scores if not s.passed), "")
    named = {"passed": Score("passed", float(sample.passed), sample.passed, why)}
    for score in sample.scores:
        name, number = score.name or "check", 1
        while name in named:
            number += 1
            name = f"{score.name or 'check'} {number}"
        named[name] = score
    return named


def moment(seconds: float) -> str:
    """A time as Inspect writes it."""
    return datetime.fromtimestamp(min(max(0.0, seconds), LAST_SECOND), UTC).isoformat()


def usage_of(usage: Mapping[str, Any]) -> JSON:
    """Tokens as Inspect counts them: those from the cache are not among the others."""
    prompt, cached = int(usage.get("prompt_tokens", 0)), int(usage.get("cached_tokens", 0))
    written, said = int(usage.get("cache_write_tokens", 0)), int(usage.get("completion_tokens", 0))
    return {
        "input_tokens": max(0, prompt - cached - written),
        "output_tokens": said,
        "total_tokens": prompt + said,
        "input_tokens_cache_read": cached,
        "input_tokens_cache_write": written,
        "reasoning_tokens": int(usage.get("reasoning_tokens", 0)),
    }


def _name(sample: SampleRecord) -> int | str:
    return sample.id if sample.task.index == "" else sample.task.index


def _model(sample: SampleRecord) -> str:
    return str(sample.model.get("model") or sample.agent or "none")


def _metadata(sample: SampleRecord) -> JSON:
    facts = {
        "status": sample.status,
        "cause": sample.cause,
        "group": sample.task.group,
        "family": sample.task.family,
        "agent": sample.agent,
        "retries": sample.retries,
    }
    return {name: value for name, value in facts.items() if value}


def _message(message: Mapping[str, Any], number: int, sample: SampleRecord) -> JSON:
    made: JSON = {"id": f"{sample.id}-{number}", "role": message.get("role", "user")}
    made["content"] = _content(message)
    if made["role"] == "assistant":
        made |= {"source": "generate", "model": _model(sample)}
        calls = [_tool_call(call) for call in message.get("tool_calls", ())]
        if calls:
            made["tool_calls"] = calls
    if made["role"] == "tool":
        made |= {"tool_call_id": message.get("tool_call_id"), "function": message.get("name")}
        if message.get("is_error"):
            made["error"] = {"type": "unknown", "message": _plain(message)}
    return made


def _content(message: Mapping[str, Any]) -> Any:
    content, thought = message.get("content"), message.get("reasoning_content")
    refused = message.get("refusal")
    if isinstance(content, str | None) and not thought and not refused:
        return content or ""
    parts = content if isinstance(content, (list, tuple)) else []
    if isinstance(content, str) and content:
        parts = [{"type": "text", "text": content}]
    made = [{"type": "reasoning", "reasoning": thought}] if thought else []
    made += [_part(part) for part in parts]
    return made + ([{"type": "text", "text": refused, "refusal": True}] if refused else [])


def _part(part: Mapping[str, Any]) -> JSON:
    if part.get("type") == "image_url":
        return {"type": "image", "image": part["image_url"]["url"]}
    return {"type": "text", "text": str(part.get("text", ""))}


def _plain(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if part.get("text"))


def _tool_call(call: Mapping[str, Any]) -> JSON:
    function = call["function"]
    made: JSON = {"id": call["id"], "function": function["name"], "type": "function"}
    arguments = json_or_none(function["arguments"])
    if isinstance(arguments, dict):
        return {**made, "arguments": arguments}
    why = f"The arguments are no JSON object: {function['arguments']!r}"
    return {**made, "arguments": {}, "parse_error": why}


def _no_output(sample: SampleRecord) -> JSON:
    return {"model": _model(sample), "choices": []}


def _output(sample: SampleRecord, event: ReplyGiven, messages: list[JSON]) -> JSON:
    if event.message is None:
        return _no_output(sample)
    return {
        "model": event.model or _model(sample),
        "choices": [
            {
                "message": messages[event.message],
                "stop_reason": STOPS.get(event.finish_reason, "unknown"),
            }
        ],
        "usage": usage_of(event.usage),
        "time": event.seconds,
    }


def _score(score: Score, sample: SampleRecord) -> JSON:
    answer = sample.result if isinstance(sample.result, str) else json.dumps(sample.result)
    return {
        # A number that is none is Inspect's word for: it could not be scored.
        "value": math.nan if score.value is None else score.value,
        "answer": answer,
        "explanation": score.error or score.explanation,
        "metadata": {"passed": score.passed, "error": score.error},
    }


def _error(sample: SampleRecord) -> JSON | None:
    if sample.status != "task error":
        return None
    return {"message": sample.error, "traceback": sample.error, "traceback_ansi": sample.error}


def _limit(sample: SampleRecord) -> JSON | None:
    if sample.status == "agent context limit":
        return {"type": "context", "limit": 0}
    if not sample.limit:
        return None
    word, setting = LIMITS.get(sample.limit, ("custom", ""))
    amount = sample.run.get("limits", {}).get(setting, 0)
    return {"type": word, "limit": amount if isinstance(amount, (int, float)) else 0}


def _events(sample: SampleRecord, messages: list[JSON]) -> list[JSON]:
    made = [_begun(sample)]
    for event in sample.events:
        if isinstance(event, ReplyGiven):
            made.append(_reply(sample, event, messages))
        elif isinstance(event, ToolCalled):
            made.append(_call(sample, event, messages))
        else:
            made.append({**_base("info", sample, sample.time.seconds), "data": event.text})
    for name, score in score_names(sample).items():
        base = _base("score", sample, sample.time.seconds)
        told = {"score": _score(score, sample), "target": sample.target, "scorer": name}
        made.append({**base, **told, "intermediate": False})
    return [{**event, "uuid": f"{sample.id}-event-{n}"} for n, event in enumerate(made)]


def _base(kind: str, sample: SampleRecord, at: float) -> JSON:
    started = sample.time.started_at
    return {"event": kind, "timestamp": moment(started + at), "working_start": max(0.0, at)}


def _begun(sample: SampleRecord) -> JSON:
    told = {"input": sample.input, "target": sample.target, "id": _name(sample)}
    return {**_base("sample_init", sample, 0.0), "sample": told, "state": {}}


def _reply(sample: SampleRecord, event: ReplyGiven, messages: list[JSON]) -> JSON:
    until = 0 if event.message is None else event.message
    tools = [_tool(tool) for tool in sample.tools]
    return {
        **_base("model", sample, event.at - event.seconds),
        "model": _model(sample),
        "input": [],
        "input_refs": [[0, until]] if until else [],
        "tools": tools,
        "tool_choice": "auto",
        "config": _config(sample),
        "output": _output(sample, event, messages),
        "retries": event.attempts - 1,
        "completed": moment(sample.time.started_at + event.at),
        "working_time": event.seconds,
    }


def _config(sample: SampleRecord) -> JSON:
    given = {
        "temperature": sample.model.get("temperature"),
        "max_tokens": sample.model.get("max_output_tokens"),
    }
    return {name: value for name, value in given.items() if value is not None}


def _tool(tool: Mapping[str, Any]) -> JSON:
    """A tool as Inspect describes one; of its parameters what Inspect has words for."""
    schema = tool.get("parameters") or {}
    described = schema.get("properties") or {}
    return {
        "name": str(tool.get("name", "")),
        "description": str(tool.get("description", "")),
        "parameters": {
            "type": "object",
            "properties": {name: _parameter(value) for name, value in described.items()},
            "required": [str(name) for name in schema.get("required") or ()],
        },
    }


def _parameter(schema: Any) -> JSON:
    known = schema if isinstance(schema, Mapping) else {}
    kind, words = known.get("type"), known.get("description")
    made: JSON = {"type": kind} if isinstance(kind, str) else {}
    return made | ({"description": words} if isinstance(words, str) else {})


def _call(sample: SampleRecord, event: ToolCalled, messages: list[JSON]) -> JSON:
    asked = [call for message in messages for call in message.get("tool_calls", ())]
    given: JSON = next((call["arguments"] for call in asked if call["id"] == event.call_id), {})
    answers = [n for n, m in enumerate(messages) if m.get("tool_call_id") == event.call_id]
    result = _plain(sample.messages[answers[-1]]) if answers else ""
    made: JSON = {
        **_base("tool", sample, event.at),
        "type": "function",
        "id": event.call_id,
        "function": event.name,
        "arguments": given if event.arguments is None else dict(event.arguments),
        "result": result,
        "completed": moment(sample.time.started_at + event.at + event.seconds),
        "working_time": event.seconds,
    }
    if answers:
        made["message_id"] = messages[answers[-1]]["id"]
    if event.status in TOOL_ERRORS:
        made["error"] = {"type": TOOL_ERRORS[event.status], "message": event.decision or result}
    return made


JSON = dict[str, Any]
VERSION = 2


@dataclass
class _Sum:
    """What the head of the log says of all samples."""

    first: SampleRecord | None = None
    names: dict[int | str, None] = field(default_factory=dict)
    """In order, each once."""
    epochs: int = 1
    ended_at: float = 0.0
    started_at: float = 0.0
    usage: dict[str, int] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)
    """Of each score, the values that are known."""
    unscored: dict[str, int] = field(default_factory=dict)
    summaries: list[JSON] = field(default_factory=list)

    def add(self, sample: SampleRecord, made: Mapping[str, Any]) -> None:
        started, ended = sample.time.started_at, sample.time.started_at + sample.time.seconds
        if self.first is None:
            self.first, self.started_at = sample, started
        self.started_at, self.ended_at = min(self.started_at, started), max(self.ended_at, ended)
        self.epochs = max(self.epochs, sample.task.epoch)
        self.names[made["id"]] = None
        for name, count in sample.usage.items():
            if not isinstance(count, bool) and isinstance(count, int):
                self.usage[name] = self.usage.get(name, 0) + count
        for name, score in score_names(sample).items():
            self.values.setdefault(name, [])
            if score.value is None:
                self.unscored[name] = self.unscored.get(name, 0) + 1
            else:
                self.values[name].append(score.value)
        self.summaries.append(eval_summary(made))


def write(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    """Write a log; the path. All samples are of one agent at one suite."""
    found, taken = _Sum(), set()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in samples:
            made = eval_sample(sample)
            if _member(made) in taken:
                # Inspect has one name for the indices 1 and "1".
                made["id"] = sample.id
            taken.add(_member(made))
            found.add(sample, made)
            archive.writestr(_member(made), _text(made))
        head = _head(found)
        start = {name: head[name] for name in ("version", "eval", "plan")}
        archive.writestr("_journal/start.json", _text(start))
        archive.writestr("summaries.json", _text(found.summaries))
        archive.writestr("header.json", _text(head))
    return (path,)


def read(path: Path) -> Iterator[SampleRecord]:
    """The samples of a log that ``write`` made, whoever has written it again since.

    Raises:
        SetupError: It is no log, or holds samples of another writer.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    yield _sample(json.loads(archive.read(name)), path)
    except (OSError, zipfile.BadZipFile) as error:
        raise SetupError(
            f"{str(path)!r} cannot be read: {error}.", hint="Name an .eval file."
        ) from error


def _sample(made: Mapping[str, Any], path: Path) -> SampleRecord:
    record = (made.get("store") or {}).get(RECORD)
    if record is None:
        raise SetupError(
            f"The sample {made.get('id')!r} of {str(path)!r} was not recorded by cellwright.",
            hint="Only logs that cellwright wrote can be read back.",
        )
    return SampleRecord.from_dict(record)


def _member(made: Mapping[str, Any]) -> str:
    return f"samples/{made['id']}_epoch_{made['epoch']}.json"


def _text(value: Any) -> str:
    # NaN, as a score that could not be made has it, is written as the word, as Inspect does.
    return json.dumps(value, ensure_ascii=True)


def _head(found: _Sum) -> JSON:
    sample = found.first or SampleRecord("")
    model = str(sample.model.get("model") or sample.agent or "none")
    made: JSON = {
        "version": VERSION,
        "status": "success",
        "eval": _spec(found, sample, model),
        "plan": {"name": "plan", "steps": [{"solver": "cellwright", "params": {}}], "config": {}},
        "results": {
            "total_samples": len(found.summaries),
            "completed_samples": len(found.summaries),
            "scores": [_scored(name, found) for name in found.values],
        },
        "stats": {
            "started_at": moment(found.started_at),
            "completed_at": moment(found.ended_at),
            "model_usage": {model: usage_of(found.usage)},
        },
    }
    plain: JSON = safe_json(made)
    return plain


def _spec(found: _Sum, sample: SampleRecord, model: str) -> JSON:
    task = sample.suite or sample.task.name or "run"
    return {
        "run_id": sample.run_id or sample.id,
        "eval_id": sample.run_id or sample.id,
        "created": moment(found.started_at),
        "task": task,
        "task_id": task,
        "task_version": 0,
        "solver": "cellwright",
        "dataset": {
            "name": task,
            "samples": len(found.names),
            "sample_ids": list(found.names),
            "shuffled": False,
        },
        "model": model,
        "config": {"epochs": found.epochs},
        "packages": {"cellwright": str(sample.env.get("version", ""))},
        "metadata": {"agent": sample.agent},
    }


def _scored(name: str, found: _Sum) -> JSON:
    values = found.values[name]
    mean = sum(values) / len(values) if values else 0.0
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(values),
        "unscored_samples": found.unscored.get(name, 0),
        "metrics": {"mean": {"name": "mean", "value": mean}},
    }
