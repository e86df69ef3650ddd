"""What a tool says to the person, piece by piece, as a notebook shows it (requirements 1d).

Words are Markdown that loads nothing and runs nothing; addresses open on a click alone. Pictures,
tables and charts are what the tool made of its own data, drawn as the output of a cell is.
"""

from __future__ import annotations

import html
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from cellwright.record.content_types import plain as plain_words
from cellwright.record.outputs import safe_json
from cellwright.text.safe_inline import as_text
from cellwright.text.safe_links import safe_link
from cellwright.text.safe_markdown import fenced, plain_text, safe_markdown

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
    return plain_words(kind, fields)


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
    draw = DRAWERS.get(first.type, _as_json)
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


def _code(fields: Mapping[str, Any]) -> str:
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


def _image(fields: Mapping[str, Any]) -> Drawn:
    mime = str(fields.get("mime_type") or "image/png")
    mime = mime if "/" in mime else f"image/{mime}"
    data, name = fields.get("base64"), plain_text(str(fields.get("filename") or "picture"))
    if data and mime in RASTER:
        return Drawn("", name, {mime: data})
    # Nothing is loaded that nobody asked for.
    return Drawn(_linked(name, str(fields.get("url") or "")), name)


def _audio(fields: Mapping[str, Any]) -> Drawn:
    mime = str(fields.get("mime_type") or "audio/wav")
    name = plain_text(str(fields.get("transcript") or fields.get("filename") or "audio"))
    if fields.get("base64") and mime.startswith("audio/"):
        source = html.escape(f"data:{mime};base64,{fields['base64']}", quote=True)
        return Drawn("", name, {"text/html": f'<audio controls src="{source}"></audio>'})
    return Drawn(_linked(name, str(fields.get("url") or "")), name)


def _chart(fields: Mapping[str, Any]) -> str | Drawn:
    spec = _parsed(fields["data"])
    if isinstance(spec, Mapping):
        schema = str(spec.get("$schema", ""))
        if VEGA_SCHEMA in schema:
            version = schema.partition(VEGA_SCHEMA)[2][:1]
            return Drawn("", "", {f"application/vnd.vegalite.v{version}+json": spec})
        if isinstance(spec.get("data"), list) and "layout" in spec:
            return Drawn("", "", {PLOTLY_MIME: spec})
    return _as_json(fields)


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


def _call(fields: Mapping[str, Any]) -> str:
    arguments = json.dumps(fields["arguments"], ensure_ascii=False, default=str)
    called = _one_line(f"{fields['name']}({arguments})")
    return f"<small>▸ {as_text(called)}</small>"


def _as_json(fields: Mapping[str, Any]) -> str:
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
    "code": _code,
    "image": _image,
    "audio": _audio,
    "chart": _chart,
    "json": _json,
    "thought": _thought,
    "plan": _plan,
    "progress": _progress,
    "function_call": _call,
}
