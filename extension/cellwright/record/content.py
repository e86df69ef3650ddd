"""What a tool says: typed pieces, each for the model, for the person or for both.

The types of content, how each reads as plain text, how each is drawn for a person, and a tool's
output made of them. Source: requirements tables 1c and 1d (the component contract).
"""

from __future__ import annotations

import hashlib
import html
import itertools
import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, cast, get_args
from urllib.parse import quote

from cellwright.errors import ToolError
from cellwright.record.messages import ImagePart, ModelUsage, Part, TextPart
from cellwright.record.values import safe_json, to_dict
from cellwright.text.cleaning import as_text, fenced, plain_text, safe_link, safe_markdown

# The types of content a tool can yield: which fields each has, and how it reads as plain text.


ContentType = Literal[
    "text",
    "code",
    "files",
    "urls",
    "oral_text",
    "references",
    "image",
    "chart",
    "audio",
    "json",
    "thought",
    "plan",
    "function_call",
    "progress",
    "browser",
]
ALIASES = {"reasoning_content": "thought", "tought": "thought"}
"""Names that other writers of the format use, a well-known typing error among them."""


@dataclass(frozen=True)
class TypeRule:
    """What a type's ``text`` holds."""

    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    """At least one of these has to be there."""
    optional: tuple[str, ...] = ()
    shorthand: str = ""
    """The field that a plain string stands for."""
    joined: str = ""
    """The field whose text is put together when a stream is merged; empty: each stays."""
    identity: tuple[str, ...] = ()
    """Fields that tell two elements apart; the first one that is there counts."""


CONTENT_TYPES: Mapping[str, TypeRule] = {
    "text": TypeRule(("info",), shorthand="info", joined="info"),
    "code": TypeRule(("code",), optional=("language",), shorthand="code", joined="code"),
    "files": TypeRule(
        ("filename",),
        optional=("url", "file_id", "size_bytes", "mime_type"),
        identity=("file_id", "url"),
    ),
    "urls": TypeRule(("url",), optional=("title",), shorthand="url", identity=("url",)),
    "oral_text": TypeRule(("info",), shorthand="info", joined="info"),
    "references": TypeRule(
        one_of=("doc_id", "id", "url", "title", "content"),
        optional=("type", "source", "extra", "web_anchor", "icon", "date", "image", "video"),
        identity=("doc_id", "id", "url"),
    ),
    "image": TypeRule(
        one_of=("base64", "url", "file_id"),
        optional=("filename", "mime_type", "width", "height"),
        identity=("file_id", "url", "base64"),
    ),
    "chart": TypeRule(("type", "data"), optional=("filename",)),
    "audio": TypeRule(
        one_of=("base64", "url", "file_id"),
        optional=("filename", "mime_type", "transcript"),
        identity=("file_id", "url", "base64"),
    ),
    "json": TypeRule(("data",), optional=("unknown_type",), shorthand="data"),
    "thought": TypeRule(("info",), shorthand="info", joined="info"),
    "plan": TypeRule(one_of=("goal", "thought", "tasks", "detail", "steps")),
    "function_call": TypeRule(("name", "arguments"), optional=("thought",)),
    "progress": TypeRule(("progress",), optional=("step", "next_step_name", "message")),
    "browser": TypeRule(one_of=("query", "result", "screenshot", "action", "thought")),
}
assert set(CONTENT_TYPES) == set(get_args(ContentType))


def canonical_type(name: str) -> str:
    """The name we use for a type; empty for one that is not known."""
    known = ALIASES.get(name, name)
    return known if known in CONTENT_TYPES else ""


def content_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one content."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "oneOf": [_type_schema(name, rule) for name, rule in CONTENT_TYPES.items()],
    }


def _type_schema(name: str, rule: TypeRule) -> dict[str, Any]:
    fields = (*rule.required, *rule.one_of, *rule.optional)
    text: dict[str, Any] = {"type": "object", "properties": {field: {} for field in fields}}
    if rule.required:
        text["required"] = list(rule.required)
    if rule.one_of:
        text["anyOf"] = [{"required": [field]} for field in rule.one_of]
    if name == "progress":
        text["properties"]["progress"] = {"type": "number", "minimum": 0, "maximum": 1}
    properties = {
        "type": {"const": name},
        "text": text,
        "name": {"type": "string"},
        "visible_scope": {"enum": ["all", "llm", "user"]},
    }
    return {"type": "object", "properties": properties, "required": ["type", "text"]}


def plain(kind: str, fields: Mapping[str, Any]) -> str:
    """What a model, or a person without pictures, reads of a content; empty: nothing."""
    words = WORDS.get(kind)
    return words(fields) if words is not None else _as_json(fields)


def _info(fields: Mapping[str, Any]) -> str:
    return str(fields["info"])


def _code(fields: Mapping[str, Any]) -> str:
    fence = "```" if "```" not in str(fields["code"]) else "~~~~"
    return f"{fence}{fields.get('language', '')}\n{fields['code']}\n{fence}"


def _file(fields: Mapping[str, Any]) -> str:
    known = [fields.get("size_bytes"), fields.get("mime_type")]
    size = [f"{known[0]:,} bytes"] if isinstance(known[0], int) else []
    details = ", ".join([*size, *([str(known[1])] if known[1] else [])])
    return f"{fields['filename']} ({details})" if details else str(fields["filename"])


def _url(fields: Mapping[str, Any]) -> str:
    title = fields.get("title")
    return f"{title}: {fields['url']}" if title else str(fields["url"])


def _reference(fields: Mapping[str, Any]) -> str:
    name = fields.get("id") or fields.get("doc_id") or fields.get("url") or ""
    words = ": ".join(str(fields[key]) for key in ("title", "content") if fields.get(key))
    # a source of the library says its number itself
    return f"[{name}] {words}".strip() if name and not words.startswith(f"[{name}]") else words


def _image(fields: Mapping[str, Any]) -> str:
    size = f" {fields['width']}x{fields['height']}" if _has_size(fields) else ""
    name = f" {fields['filename']}" if fields.get("filename") else ""
    return f"Image{name}{size} shown to the user"


def _has_size(fields: Mapping[str, Any]) -> bool:
    return bool(fields.get("width") and fields.get("height"))


def _chart(fields: Mapping[str, Any]) -> str:
    data = fields["data"] if isinstance(fields["data"], str) else _as_json(fields["data"])
    return f"Chart ({fields['type']}): {data[:CHART_CHARACTERS]}"


def _audio(fields: Mapping[str, Any]) -> str:
    name = f" {fields['filename']}" if fields.get("filename") else ""
    return str(fields.get("transcript") or f"Audio{name} shown to the user")


def _json_data(fields: Mapping[str, Any]) -> str:
    return _as_json(fields["data"])


def _nothing(_fields: Mapping[str, Any]) -> str:
    return ""


def _call(fields: Mapping[str, Any]) -> str:
    return f"{fields['name']}({_as_json(fields['arguments'])})"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


CHART_CHARACTERS = 600
WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "text": _info,
    "code": _code,
    "files": _file,
    "urls": _url,
    "oral_text": _info,
    "references": _reference,
    "image": _image,
    "chart": _chart,
    "audio": _audio,
    "json": _json_data,
    "thought": _nothing,
    "function_call": _call,
    "progress": _nothing,
}


# What a tool says to the person, piece by piece, as a notebook shows it (requirements 1d).
#
# Words are Markdown that loads nothing and runs nothing; addresses open on a click alone. Pictures,
# tables and charts are what the tool made of its own data, drawn as the output of a cell is.


OUTPUT_MIME = "application/vnd.cellwright.output+json"
"""An output of a tool that was called in a cell, whole, scopes and all."""
CONTEXT_MIME = "application/vnd.cellwright.context+text"
"""What a model reads of an object that is shown in a cell."""

BAR_CELLS = 10
MARKDOWN_CHARACTERS = 20_000
"""A longer text is shown as it stands."""
RASTER = ("image/png", "image/jpeg", "image/gif", "image/webp")
VEGA_SCHEMA = "vega.github.io/schema/vega-lite/v"
PLOTLY_MIME = "application/vnd.plotly.v1+json"
DONE = ("done", "completed", "finished", "success")
LISTED = ("files", "urls", "references")
"""Types of which one list is made."""


class Piece(Protocol):
    """A content, as far as it is drawn."""

    @property
    def type(self) -> str: ...

    @property
    def text(self) -> Mapping[str, Any]: ...

    @property
    def name(self) -> str: ...

    @property
    def visible_scope(self) -> str: ...

    @property
    def is_error(self) -> bool: ...


@dataclass(frozen=True)
class Drawn:
    """The same thing for a notebook and for plain text."""

    markdown: str
    plain: str
    rich: Mapping[str, Any] = field(default_factory=dict)
    """What stands in place of the Markdown, by MIME type: a picture, a table, a chart."""


def person_text(kind: str, fields: Mapping[str, Any]) -> str:
    """What a person reads of a content where nothing can be drawn."""
    if kind in ("code", "thought"):
        return str(fields.get("code") or fields.get("info") or "")
    if kind == "progress":
        return f"{fields['progress']:.0%} {fields.get('message', '')}".strip()
    if kind == "image":
        return str(fields.get("filename") or "")
    return plain(kind, fields)


def drawn_contents(contents: Sequence[Piece], folder: Path | None = None) -> Iterator[Drawn]:
    """What is for the person, piece by piece; what only the model reads is left out.

    Args:
        contents: The pieces.
        folder: The notebook's, from which documents of the library are opened; None: they are
            named alone.
    """
    shown = [item for item in contents if item.visible_scope != "llm"]
    heads_shown: set[str] = {""}
    for _, group in itertools.groupby(shown, key=_group):
        items = list(group)
        bundle = _drawn(items, folder)
        if bundle is None:
            continue
        if items[0].name not in heads_shown:
            heads_shown.add(items[0].name)
            head = plain_text(items[0].name)
            yield Drawn(f"**{as_text(head)}**", head)
        yield bundle


def source_links(contents: Sequence[Piece], folder: Path | None) -> str:
    """Sources in one line of Markdown, each opening its document."""
    return "; ".join(_named(item.text, folder) for item in contents if item.type == "references")


def progress_bar(fraction: float) -> str:
    """A share of the whole, as text."""
    full = round(max(0.0, min(1.0, fraction)) * BAR_CELLS)
    return f"{'▰' * full}{'▱' * (BAR_CELLS - full)} {fraction:.0%}"


def _group(item: Piece) -> tuple[Any, ...]:
    together = item.type in LISTED and not item.is_error
    return (item.type, item.name) if together else (id(item), item.name)


def _drawn(items: list[Piece], folder: Path | None) -> Drawn | None:
    first = items[0]
    plain = plain_text(_together(items))
    if first.is_error:
        return Drawn(fenced(f"✗ {plain}", "text"), f"✗ {plain}")
    if first.type in LISTED:
        lines = [_listed(item, folder) for item in items]
        numbered = first.type == "references" and not _has_number(first.text)
        marks = [f"{number}." if numbered else "-" for number in range(1, len(lines) + 1)]
        pairs = zip(marks, lines, strict=True)
        return Drawn("\n".join(f"{mark} {line}" for mark, line in pairs), plain)
    draw = DRAWERS.get(first.type, _draw_as_json)
    made = draw(first.text)
    if isinstance(made, Drawn):
        return Drawn(made.markdown, made.plain or plain, safe_json(made.rich))
    return Drawn(made, plain) if made else None


def _together(items: list[Piece]) -> str:
    return "\n".join(filter(None, (person_text(item.type, item.text) for item in items)))


def _text(fields: Mapping[str, Any]) -> str | Drawn:
    kept = {
        mime: data
        for mime, data in (fields.get("mime") or {}).items()
        if mime not in (CONTEXT_MIME, OUTPUT_MIME)
    }
    if kept:
        return Drawn("", plain_text(str(fields.get("info", ""))), kept)
    words = str(fields["info"])
    if len(words) > MARKDOWN_CHARACTERS:
        return fenced(plain_text(words), "text")
    return safe_markdown(words)


def _spoken(fields: Mapping[str, Any]) -> str:
    return f"<small>{as_text(plain_text(str(fields['info'])))}</small>"


def _draw_code(fields: Mapping[str, Any]) -> str:
    return fenced(plain_text(str(fields["code"])), str(fields.get("language") or ""))


def _listed(item: Piece, folder: Path | None) -> str:
    fields = item.text
    words = [_named(fields, folder)]
    if item.type == "references" and fields.get("content"):
        words.append(as_text(_one_line(str(fields["content"]))))
    known = fields.get("doc_id") or fields.get("id") or ""
    return " — ".join(filter(None, words)) or as_text(_one_line(str(known)))


def _named(fields: Mapping[str, Any], folder: Path | None) -> str:
    name = str(fields.get("filename") or fields.get("title") or fields.get("url") or "")
    place = _document_href(fields, folder) if folder is not None else ""
    if place:
        return f"[{as_text(_one_line(name))}]({place})"
    return _linked(name, str(fields.get("url") or ""))


def _has_number(fields: Mapping[str, Any]) -> bool:
    """Whether a source says itself which number the model was told."""
    return str(fields.get("title", "")).startswith(f"[{fields.get('id')}]")


def _document_href(fields: Mapping[str, Any], folder: Path) -> str:
    """A link from a notebook to a document of the library; empty: it cannot be opened there."""
    place = str(fields.get("source") or "")
    if fields.get("type") != "library" or fields.get("url") or not os.path.isabs(place):
        return ""
    try:
        path = Path(os.path.relpath(place, folder)).as_posix()
    except ValueError:  # on another drive
        return ""
    cell = str((fields.get("extra") or {}).get("cell_id") or "")
    return quote(path, safe="/") + (f"#cell-id={quote(cell, safe='')}" if cell else "")


def _linked(words: str, address: str) -> str:
    shown = as_text(_one_line(words))
    link = safe_link(address)
    if link is None:
        return shown
    host = as_text(link.host)
    return f"[{shown or host}]({link.href})" + ("" if link.host in words else f" ({host})")


def _draw_image(fields: Mapping[str, Any]) -> Drawn:
    mime = str(fields.get("mime_type") or "image/png")
    mime = mime if "/" in mime else f"image/{mime}"
    data, name = fields.get("base64"), plain_text(str(fields.get("filename") or "picture"))
    if data and mime in RASTER:
        return Drawn("", name, {mime: data})
    # Nothing is loaded that nobody asked for.
    return Drawn(_linked(name, str(fields.get("url") or "")), name)


def _draw_audio(fields: Mapping[str, Any]) -> Drawn:
    mime = str(fields.get("mime_type") or "audio/wav")
    name = plain_text(str(fields.get("transcript") or fields.get("filename") or "audio"))
    if fields.get("base64") and mime.startswith("audio/"):
        source = html.escape(f"data:{mime};base64,{fields['base64']}", quote=True)
        return Drawn("", name, {"text/html": f'<audio controls src="{source}"></audio>'})
    return Drawn(_linked(name, str(fields.get("url") or "")), name)


def _draw_chart(fields: Mapping[str, Any]) -> str | Drawn:
    spec = _parsed(fields["data"])
    if isinstance(spec, Mapping):
        schema = str(spec.get("$schema", ""))
        if VEGA_SCHEMA in schema:
            version = schema.partition(VEGA_SCHEMA)[2][:1]
            return Drawn("", "", {f"application/vnd.vegalite.v{version}+json": spec})
        if isinstance(spec.get("data"), list) and "layout" in spec:
            return Drawn("", "", {PLOTLY_MIME: spec})
    return _draw_as_json(fields)


def _json(fields: Mapping[str, Any]) -> Drawn:
    data = _parsed(fields["data"])
    whole = data if isinstance(data, (dict, list)) else {"data": data}
    return Drawn("", _indented(data), {"application/json": whole})


def _thought(fields: Mapping[str, Any]) -> str:
    words = safe_markdown(str(fields["info"]))
    return f"<details><summary>Thoughts</summary>\n\n{words}\n\n</details>" if words else ""


def _plan(fields: Mapping[str, Any]) -> str:
    tasks = fields.get("tasks") or fields.get("steps") or []
    head = fields.get("goal") or fields.get("thought") or fields.get("detail") or ""
    lines = [as_text(_one_line(str(head)))] if head else []
    lines += [_task(task) for task in tasks if isinstance(tasks, (list, tuple))]
    return "  \n".join(lines)


def _task(task: Any) -> str:
    if not isinstance(task, Mapping):
        return f"☐ {as_text(_one_line(str(task)))}"
    words = task.get("name") or task.get("description") or task.get("id") or ""
    mark = "☑" if str(task.get("status", "")).lower() in DONE else "☐"
    return f"{mark} {as_text(_one_line(str(words)))}"


def _progress(fields: Mapping[str, Any]) -> str:
    words = fields.get("message") or fields.get("step") or ""
    bar = progress_bar(float(fields["progress"]))
    return f"<small>{bar} {as_text(_one_line(str(words)))}</small>".replace(" </small>", "</small>")


def _draw_call(fields: Mapping[str, Any]) -> str:
    arguments = json.dumps(fields["arguments"], ensure_ascii=False, default=str)
    called = _one_line(f"{fields['name']}({arguments})")
    return f"<small>▸ {as_text(called)}</small>"


def _draw_as_json(fields: Mapping[str, Any]) -> str:
    return fenced(_indented(dict(fields)), "json")


def _indented(data: Any) -> str:
    return plain_text(json.dumps(data, ensure_ascii=False, indent=2, default=str))


def _parsed(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    try:
        return json.loads(data)
    except ValueError:
        return data


def _one_line(text: str) -> str:
    return " ".join(plain_text(text).split())


DRAWERS: Mapping[str, Callable[[Mapping[str, Any]], str | Drawn]] = {
    "text": _text,
    "oral_text": _spoken,
    "code": _draw_code,
    "image": _draw_image,
    "audio": _draw_audio,
    "chart": _draw_chart,
    "json": _json,
    "thought": _thought,
    "plan": _plan,
    "progress": _progress,
    "function_call": _draw_call,
}


Scope = Literal["all", "llm", "user"]
SCOPES: tuple[Scope, ...] = ("all", "llm", "user")
Role = Literal["tool", "user", "assistant"]
ROLES: tuple[Role, ...] = ("tool", "user", "assistant")
RAW_CHARACTERS = 20_000
METRIC_NAMES = {
    "begin": ("begin", "begin_timestamp", "begin_time"),
    "end": ("end", "end_timestamp", "end_time"),
    "duration_seconds": ("duration_seconds", "duration", "total_time", "total_time(s)"),
    "first_output_seconds": ("first_output_seconds", "first_token_time", "first_token_time(s)"),
    "memory_delta_megabytes": ("memory_delta_megabytes", "memory_used", "memory_used(MB)"),
    "kernel_cpu_seconds": ("kernel_cpu_seconds",),
}
"""The names that writers of the format use for a measure."""


@dataclass(frozen=True)
class Metrics:
    """What producing something took."""

    begin: float = 0.0
    """Seconds since the epoch."""
    end: float = 0.0
    duration_seconds: float = 0.0
    """By a clock that nobody sets."""
    first_output_seconds: float | None = None
    memory_delta_megabytes: float | None = None
    kernel_cpu_seconds: float | None = None


class ContentFields(dict[str, Any]):
    """The fields of a content, to be read as keys and as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"The content has no field {name!r}.") from None


BLANK_FIELDS: Mapping[str, tuple[str, ...]] = {
    "files": ("filename", "url"),
    "image": ("filename", "url"),
    "audio": ("filename", "url"),
    "references": ("type", "doc_id", "content", "title", "source"),
}
"""What other readers of the format want to be there, were it empty."""


@dataclass(frozen=True)
class Content:
    """One typed piece of a tool's output.

    ``content`` makes one from what a tool's author wrote and says what is wrong with it.
    """

    type: ContentType
    text: Mapping[str, Any]
    """The fields of the type, such as ``info`` for text; see ``CONTENT_TYPES``."""
    name: str = ""
    """Tells apart what a tool streams at the same time."""
    visible_scope: Scope = "all"
    """``llm``: only the model reads it. ``user``: it is drawn and never sent."""
    is_error: bool = False
    raw_data: Mapping[str, Any] = field(default_factory=dict)
    """What the tool got from elsewhere; recorded, neither sent nor drawn."""
    usage: tuple[ModelUsage, ...] = ()
    """Tokens that producing it took."""
    metrics: Metrics | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", ContentFields(self.text))

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return ComponentOutput((self,))._repr_mimebundle_()

    def model_dump(self) -> dict[str, Any]:
        """The content as AppBuilder's schemas have it: plain data, in which JSON is text."""
        fields = {**dict.fromkeys(BLANK_FIELDS.get(self.type, ()), ""), **self.text}
        data = fields.get("data")
        if self.type in ("json", "chart") and not isinstance(data, str):
            fields["data"] = json.dumps(data, ensure_ascii=False, default=str)
        return {
            "type": self.type,
            "name": self.name,
            "text": fields,
            "visible_scope": self.visible_scope,
            "raw_data": dict(self.raw_data),
            "usage": _dump_usage(self.usage),
            "metrics": _dump_metrics(self.metrics),
        }


@dataclass(frozen=True)
class ComponentOutput:
    """What a tool yields at once; contents in order."""

    content: tuple[Content, ...]
    role: Role = "tool"
    final: bool = False
    """True when the run is to end with this answer (``submit``)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    usage: tuple[ModelUsage, ...] = ()
    """Tokens of all contents together, once it was merged."""
    metrics: Metrics | None = None

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ToolError(f"The role is {self.role!r}.", hint=f"Use one of {', '.join(ROLES)}.")

    def model_dump(self) -> dict[str, Any]:
        """The output as AppBuilder's schemas have it."""
        return {"role": self.role, "content": [item.model_dump() for item in self.content]}

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """What a cell shows of it: the person's part drawn, the model's part beside it."""
        shown = [item for item in self.content if item.visible_scope != "llm"]
        read = [part.text for part in for_model(self.content) if isinstance(part, TextPart)]
        bundle = {
            "text/plain": for_person(self.content),
            CONTEXT_MIME: "\n".join(read),
            OUTPUT_MIME: to_dict(replace(self, content=tuple(map(_without_copies, self.content)))),
        }
        if any("mime" in item.text or item.text.get("base64") for item in shown):
            return {**bundle, "text/html": "\n".join(map(_html, shown))}
        drawn = list(drawn_contents(shown))
        if len(drawn) == 1 and drawn[0].rich:
            return {**bundle, **drawn[0].rich}
        words = [piece.markdown or fenced(piece.plain) for piece in drawn]
        return {**bundle, "text/markdown": "\n\n".join(words)} if words else bundle


def content(
    type: str,  # noqa: A002 (the contract's name)
    text: object,
    *,
    name: str = "",
    scope: str = "all",
    raw_data: Mapping[str, Any] | None = None,
) -> Content:
    """A content, checked.

    A type that is not known is kept as ``json``, so that a newer writer's output is not lost.

    Args:
        type: One of ``ContentType``, or ``reasoning_content`` for ``thought``.
        text: The type's fields; a plain string stands for the main one where the type has it.
        name: Tells apart what is streamed at the same time.
        scope: ``all``, ``llm`` or ``user``; empty: all.
        raw_data: Recorded, neither sent nor drawn.

    Raises:
        ToolError: Fields are missing or wrong (all of them are named), or the scope is.
    """
    kind = canonical_type(type)
    if not kind:
        warnings.warn(f"The content type {type!r} is not known; kept as json.", stacklevel=2)
        kind, text = "json", {"data": text, "unknown_type": type}
    if scope not in ("", *SCOPES):
        raise ToolError(f"The scope is {scope!r}.", hint=f"Use one of {', '.join(SCOPES)}.")
    fields = _fields(kind, text)
    complaints = _complaints(kind, fields)
    if complaints:
        raise ToolError(f"The content of type {kind!r} {'; '.join(complaints)}.")
    shown = cast(Scope, scope or "all")
    return Content(cast(ContentType, kind), fields, name, shown, raw_data=capped(raw_data or {}))


def _dump_usage(usage: tuple[ModelUsage, ...]) -> dict[str, Any]:
    """The tokens of all models together, under the last one's name."""
    if not usage:
        return {}
    asked = sum(each.usage.prompt_tokens for each in usage)
    said = sum(each.usage.completion_tokens for each in usage)
    tokens = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    return {**tokens, "name": usage[-1].model}


def _dump_metrics(metrics: Metrics | None) -> dict[str, float]:
    """The measures under the last of the names that writers of the format use."""
    taken = {} if metrics is None else {n: getattr(metrics, n) for n in METRIC_NAMES}
    return {METRIC_NAMES[n][-1]: value for n, value in taken.items() if value is not None}


def text(info: str, *, scope: Scope = "all", is_error: bool = False) -> ComponentOutput:
    """A single piece of text."""
    return ComponentOutput((Content("text", {"info": info}, "", scope, is_error),))


def for_model(contents: tuple[Content, ...], *, sees_images: bool = True) -> tuple[Part, ...]:
    """The parts of a tool message: everything whose scope is not ``user``.

    Args:
        contents: What the tool said.
        sees_images: False: pictures are told of in words.
    """
    meant = [item for item in contents if item.visible_scope != "user"]
    parts = [part for item in meant for part in _parts(item, sees_images)]
    return tuple(parts) or (TextPart("(no output)"),)


def metrics_of(given: Metrics | Mapping[str, Any] | None) -> Metrics | None:
    """Metrics as tools write them, in any of their three shapes (X-04).

    Raises:
        ToolError: A measure is no number.
    """
    if given is None or isinstance(given, Metrics):
        return given
    found: dict[str, float] = {}
    for field_name, names in METRIC_NAMES.items():
        value = next((given[name] for name in names if given.get(name) is not None), None)
        if value is None:
            continue
        try:
            found[field_name] = float(value)
        except (TypeError, ValueError):
            message = f"The metric {field_name!r} is {value!r}, which is no number."
            raise ToolError(message) from None
    if not found:
        return None
    if "end" not in found and "begin" in found and "duration_seconds" in found:
        found["end"] = found["begin"] + found["duration_seconds"]
    if "duration_seconds" not in found and "end" in found:
        found["duration_seconds"] = max(0.0, found["end"] - found.get("begin", found["end"]))
    return Metrics(**found)


def capped(raw_data: Mapping[str, Any]) -> dict[str, Any]:
    """Raw data that can be recorded: JSON, and of what is too long the beginning and a hash."""
    text = json.dumps(dict(raw_data), ensure_ascii=False, default=str, skipkeys=True)
    if len(text) <= RAW_CHARACTERS:
        return cast(dict[str, Any], json.loads(text))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"sha256": digest, "characters": len(text), "beginning": text[:1_000]}


def for_person(contents: tuple[Content, ...]) -> str:
    """The text that is drawn for the person: everything whose scope is not ``llm``."""
    shown = [item for item in contents if item.visible_scope != "llm"]
    return "\n".join(filter(None, (person_text(item.type, item.text) for item in shown)))


def _fields(kind: str, text: object) -> Mapping[str, Any]:
    shorthand = CONTENT_TYPES[kind].shorthand
    if isinstance(text, Mapping):
        if kind == "json" and "data" not in text:
            return {"data": dict(text)}
        return dict(text)
    if shorthand and (isinstance(text, str) or kind == "json"):
        return {shorthand: text}
    return {}


def _complaints(kind: str, fields: Mapping[str, Any]) -> list[str]:
    rule = CONTENT_TYPES[kind]
    found = [f"has no {name!r}" for name in rule.required if name not in fields]
    if rule.one_of and not any(name in fields for name in rule.one_of):
        found.append(f"has none of {', '.join(map(repr, rule.one_of))}")
    share = fields.get("progress") if kind == "progress" else None
    if share is not None and not (isinstance(share, (int, float)) and 0 <= share <= 1):
        found.append(f"has progress {share!r}, which is not between 0 and 1")
    return found


def _parts(item: Content, sees_images: bool) -> tuple[Part, ...]:
    fields = item.text
    if item.type == "image" and fields.get("base64") and sees_images:
        return (ImagePart(_picture_mime(fields), fields["base64"], fields.get("filename", "")),)
    words = plain(item.type, fields)
    return (TextPart(words),) if words else ()


def _without_copies(item: Content) -> Content:
    """A content as a notebook keeps it: without raw data, and what is drawn only once."""
    if item.visible_scope != "user":
        return replace(item, raw_data={})
    told = {name: value for name, value in item.text.items() if name not in ("base64", "mime")}
    return replace(item, raw_data={}, text=told)


def _picture_mime(fields: Mapping[str, Any]) -> str:
    mime = str(fields.get("mime_type") or "image/png")
    return mime if "/" in mime else f"image/{mime}"


def _html(item: Content) -> str:
    drawn = item.text.get("mime", {}).get("text/html")
    if drawn:
        return str(drawn)
    words = html.escape(person_text(item.type, item.text))
    if item.type == "image" and item.text.get("base64"):
        source = f"data:{_picture_mime(item.text)};base64,{item.text['base64']}"
        return f'<img src="{html.escape(source)}" alt="{words}">'
    return f"<pre>{words}</pre>"
