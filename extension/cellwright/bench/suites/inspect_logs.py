"""Inspect's own logs as samples: ``.json``, and ``.eval`` where Python can read its compression.

A log is read as results, which can be summed up, compared, exported and scored again, and as a
suite, which other models can be asked. Layout and names are those of version 2 of its format.

Scored again are its scorers ``includes``, ``match`` and ``exact``, by rules of ours that follow
their documentation; what other scorers said stays as it was.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cellwright.bench.checks import AnswerCheck, AnyOf
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.errors import SetupError
from cellwright.exports.inspect_log import RECORD
from cellwright.exports.sample import (
    ReplyGiven,
    SampleEvent,
    SampleRecord,
    SampleTask,
    SampleTime,
    Score,
    ToolCalled,
)

JSON = dict[str, Any]
ATTACHMENT = "attachment://"
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""What Inspect's letters are worth: correct, incorrect, partial, no answer."""
LIMITS = {
    "turn": "step_limit",
    "message": "step_limit",
    "time": "time_limit",
    "working": "time_limit",
    "token": "token_limit",
    "cost": "cost_limit",
}
FINISHED = {"max_tokens": "length", "model_length": "length"}


@dataclass(frozen=True)
class InspectLog:
    """A log that was read."""

    path: Path
    header: JSON
    """What holds for all samples."""
    samples: tuple[JSON, ...]

    @property
    def task(self) -> str:
        """The name of the task."""
        return str(self.header["eval"].get("task") or self.path.stem).rpartition("/")[2]

    @property
    def model(self) -> str:
        """Who answered."""
        return str(self.header["eval"].get("model") or "unknown")


def read_log(path: Path) -> InspectLog:
    """Read a log.

    Raises:
        SetupError: It is none, holds no samples, or its compression needs another package.
    """
    try:
        read = _read_zip if zipfile.is_zipfile(path) else _read_json
        header, samples = read(path)
        log = InspectLog(path, header, tuple(_with_attachments(sample) for sample in samples))
        assert isinstance(header["eval"], Mapping)
        assert all("input" in sample for sample in log.samples)
    except NotImplementedError as error:
        raise SetupError(
            f"{str(path)!r} is compressed with zstandard, which this Python cannot read.",
            hint="pip install zipfile-zstd, or write it as .json with `inspect log convert`.",
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AssertionError, zipfile.BadZipFile) as error:
        raise SetupError(
            f"{str(path)!r} is no log of Inspect: {error!r}.", hint="Name an .eval or .json log."
        ) from error
    if not log.samples:
        raise SetupError(
            f"{str(path)!r} holds no samples.", hint="Was it made with --no-log-samples?"
        )
    return log


def _read_json(path: Path) -> tuple[JSON, list[JSON]]:
    document = json.loads(path.read_text(encoding="utf-8"))
    return document, list(document.get("samples") or ())


def _read_zip(path: Path) -> tuple[JSON, list[JSON]]:
    with contextlib.suppress(ImportError):
        importlib.import_module("zipfile_zstd")  # teaches zipfile what Python 3.14 knows
    with zipfile.ZipFile(path) as log:
        names = sorted(name for name in log.namelist() if name.startswith("samples/"))
        start = "header.json" if "header.json" in log.namelist() else "_journal/start.json"
        return json.loads(log.read(start)), [json.loads(log.read(name)) for name in names]


def _with_attachments(sample: JSON) -> JSON:
    """The sample with long texts and pictures where they are meant."""
    kept = sample.get("attachments") or {}

    def put_in(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(ATTACHMENT):
            return kept.get(value.removeprefix(ATTACHMENT), value)
        if isinstance(value, list):
            return [put_in(item) for item in value]
        if isinstance(value, dict):
            return {name: put_in(item) for name, item in value.items()}
        return value

    return {**put_in({**sample, "attachments": {}}), "attachments": {}} if kept else sample


# As results.


def samples_of(log: InspectLog) -> Iterator[SampleRecord]:
    """The samples of a log; those that cellwright wrote are what they were."""
    for sample in log.samples:
        ours = (sample.get("store") or {}).get(RECORD)
        yield SampleRecord.from_dict(ours) if ours else _record(log, sample)


def _record(log: InspectLog, sample: JSON) -> SampleRecord:
    messages = [_message(message) for message in sample.get("messages") or ()]
    places = {message.get("id"): n for n, message in enumerate(sample.get("messages") or ())}
    started = _seconds(sample.get("started_at")) or _seconds(log.header["eval"].get("created"))
    limit = (sample.get("limit") or {}).get("type", "")
    error = str((sample.get("error") or {}).get("message", ""))
    index, epoch = sample.get("id", ""), int(sample.get("epoch", 1))
    config = log.header["eval"].get("model_generate_config") or {}
    usage = list((sample.get("model_usage") or {}).values())
    return SampleRecord(
        f"{log.task}:{index!r}:{epoch}",
        str(sample.get("uuid") or ""),
        log.task,
        SampleTask(log.task, index, epoch=epoch, metadata=sample.get("metadata") or {}),
        log.model,
        {
            "model": log.model,
            **{name: value for name, value in config.items() if value is not None},
        },
        input=_input(sample["input"]),
        target="\n".join(_targets(sample)),
        messages=tuple(messages),
        events=tuple(_events(sample, places, started)),
        status="task error" if error else "task limit reached" if limit else "completed",
        error=error,
        limit=LIMITS.get(limit, limit),
        result=_answer(sample),
        scores=tuple(_scores(sample)),
        usage=_sum_usage(usage),
        cost_dollars=sum(float(u.get("total_cost") or 0) for u in usage) or None,
        time=SampleTime(started, float(sample.get("total_time") or 0.0)),
        env={"imported_from": log.path.name, "inspect": log.header["eval"].get("packages") or {}},
    )


def _seconds(moment: Any) -> float:
    try:
        return datetime.fromisoformat(str(moment)).timestamp()
    except ValueError:
        return 0.0


def _input(given: Any) -> str:
    """What was asked: the text, or what the user said last."""
    if isinstance(given, str):
        return given
    asked = [_plain(message) for message in given if message.get("role") == "user"]
    return asked[-1] if asked else ""


def _plain(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content or () if part.get("text"))


def _targets(sample: Mapping[str, Any]) -> list[str]:
    target = sample.get("target")
    return [str(one) for one in target] if isinstance(target, list) else [str(target or "")]


def _answer(sample: Mapping[str, Any]) -> str:
    choices = (sample.get("output") or {}).get("choices") or ()
    return _plain(choices[0]["message"]) if choices else ""


def _message(message: Mapping[str, Any]) -> JSON:
    """A message in the shape that a sample has."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    thought = "\n".join(str(p.get("reasoning") or "") for p in parts if p["type"] == "reasoning")
    shown = [part for part in map(_part, parts) if part is not None]
    only_text = len(shown) == 1 and shown[0]["type"] == "text"
    made: JSON = {
        "role": message["role"],
        "content": shown[0]["text"] if only_text else shown or "",
    }
    if message["role"] == "assistant":
        made["content"] = _plain(message)
        calls = [_call(call) for call in message.get("tool_calls") or ()]
        made |= {"tool_calls": calls} if calls else {}
        made |= {"reasoning_content": thought} if thought else {}
    if message["role"] == "tool":
        made |= {"tool_call_id": message.get("tool_call_id") or "", "name": message.get("function")}
        made["name"] = made["name"] or "tool"
        if message.get("error"):
            made |= {"is_error": True, "content": _plain(message) or message["error"]["message"]}
    return made


def _part(part: Mapping[str, Any]) -> JSON | None:
    if part["type"] == "text":
        return {"type": "text", "text": str(part.get("text") or "")}
    picture = str(part.get("image") or "")
    if part["type"] == "image" and picture.startswith("data:"):
        return {"type": "image_url", "image_url": {"url": picture}}
    return None if part["type"] == "reasoning" else {"type": "text", "text": f"[{part['type']}]"}


def _call(call: Mapping[str, Any]) -> JSON:
    arguments = json.dumps(call.get("arguments") or {}, ensure_ascii=False)
    function = {"name": call["function"], "arguments": arguments}
    return {"id": str(call["id"]), "type": "function", "function": function}


def _events(sample: JSON, places: Mapping[Any, int], started: float) -> Iterator[SampleEvent]:
    number = 0
    for event in sample.get("events") or ():
        at = max(0.0, _seconds(event.get("completed") or event.get("timestamp")) - started)
        seconds = float(event.get("working_time") or 0.0)
        if event["event"] == "model":
            output = event.get("output") or {}
            choice = (output.get("choices") or [{}])[0]
            number += 1
            yield ReplyGiven(
                at,
                places.get((choice.get("message") or {}).get("id")),
                number,
                str(output.get("model") or ""),
                FINISHED.get(choice.get("stop_reason", ""), choice.get("stop_reason", "")),
                _sum_usage([output.get("usage") or {}]),
                seconds=seconds,
                attempts=1 + int(event.get("retries") or 0),
            )
        elif event["event"] == "tool":
            status = "error" if event.get("error") else "ok"
            yield ToolCalled(at, str(event["id"]), event["function"], status, seconds=seconds)


def _sum_usage(usages: list[JSON]) -> JSON:
    """Tokens as samples count them: those from the cache are among the others."""
    read, written = "input_tokens_cache_read", "input_tokens_cache_write"

    def total(*names: str) -> int:
        return sum(int(usage.get(name) or 0) for usage in usages for name in names)

    found = {
        "prompt_tokens": total("input_tokens", read, written),
        "completion_tokens": total("output_tokens"),
        "cached_tokens": total(read),
        "cache_write_tokens": total(written),
        "reasoning_tokens": total("reasoning_tokens"),
    }
    return {name: count for name, count in found.items() if count}


def _scores(sample: JSON) -> Iterator[Score]:
    for name, score in (sample.get("scores") or {}).items():
        value, told = score.get("value"), str(score.get("explanation") or "")
        values = value if isinstance(value, dict) else dict(enumerate(_as_list(value)))
        for key, one in values.items():
            called = name if len(values) == 1 and not isinstance(value, dict) else f"{name} {key}"
            worth = worth_of(one)
            error = f"it could not be scored: {one!r}" if worth is None else ""
            yield Score(called, worth, worth is not None and worth >= 1.0, told, error)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def worth_of(value: Any) -> float | None:
    """The value of a score of Inspect, from 0 to 1; None: it is none."""
    if isinstance(value, str) and value in GRADES:
        return GRADES[value]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) or not 0 <= number <= 1 else number


# As a suite.


def load(path: Path) -> Suite:
    """The samples of a log as they were asked, each once, with the checks that can be made here.

    Raises:
        SetupError: It is no log.
    """
    log = read_log(path)
    scorers = log.header["eval"].get("scorers") or ()
    makers = [found for scorer in scorers if (found := _maker(scorer))]
    first: dict[str, JSON] = {}
    for sample in log.samples:
        first.setdefault(repr(sample["id"]), sample)
    items = tuple(_item(sample, makers) for sample in first.values())
    return checked_suite(Suite(log.task, items, source=str(path), hidden=(path,)))


def _item(sample: JSON, makers: list[Callable[[str], AnswerCheck]]) -> Item:
    targets = _targets(sample)
    made = [tuple(maker(target.strip()) for target in targets) for maker in makers]
    return Item(
        sample["id"],
        _input(sample["input"]),
        checks=tuple(checks[0] if len(checks) == 1 else AnyOf(checks) for checks in made),
        reference_answer=targets[0],
        metadata=sample.get("metadata") or {},
    )


ANYWHERE, ALONE = "{}", r"\A\W*{}\W*\Z"
PATTERNS = {
    ("includes", ""): ANYWHERE,
    ("exact", ""): ALONE,
    ("match", ""): r"(?<!\w){}\W*\Z",
    ("match", "end"): r"(?<!\w){}\W*\Z",
    ("match", "begin"): r"\A\W*{}(?!\w)",
    ("match", "any"): ANYWHERE,
    ("match", "exact"): ALONE,
}
"""What an answer has to match by a scorer's name and its location; in braces is the target."""


def _maker(scorer: Mapping[str, Any]) -> Callable[[str], AnswerCheck] | None:
    """Makes the check that a scorer is here; None: it cannot be made here."""
    name, options = str(scorer.get("name")).rpartition("/")[2], scorer.get("options") or {}
    pattern = PATTERNS.get((name, str(options.get("location") or "")))
    if pattern is None or options.get("numeric"):
        return None
    ignore_case = bool(options.get("ignore_case", True))
    return lambda target: AnswerCheck(
        regex=pattern.format(re.escape(target)), ignore_case=ignore_case
    )
