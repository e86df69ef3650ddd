"""What an MCP server says: no part is lost, and each goes to whom it is meant for."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest
from fakes import make_context

from cellwright.external.mcp_session import called_output, listed
from cellwright.record.content import for_model, for_person
from cellwright.record.messages import ImagePart, TextPart
from cellwright.tools import ToolLimits


def png(width: int = 1, height: int = 1) -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\x00" + b"\x80" * width for _ in range(height)))
    whole = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + whole).decode()


def text(words: str, *audience: str) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": words}
    return {**part, "annotations": {"audience": list(audience)}} if audience else part


def image(data: str, *audience: str) -> dict[str, Any]:
    part = {"type": "image", "data": data, "mimeType": "image/png"}
    return {**part, "annotations": {"audience": list(audience)}}


def said(*parts: Any, sees: bool = True, images: int = 2, **result: Any) -> Any:
    context = make_context(sees_images=sees, limits=ToolLimits(images=images))
    return called_output({"content": list(parts), **result}, context).content


def read(contents: Any) -> list[str]:
    parts = for_model(tuple(contents))
    return [p.text if isinstance(p, TextPart) else p.mime for p in parts]


def test_000_22_all_parts_are_kept_in_their_order() -> None:
    parts = [text("one"), image(png()), text("two"), text("three")]
    contents = said(*parts)
    assert [item.type for item in contents] == ["text", "image", "text", "text"]
    assert read(contents) == ["one", "image/png", "two", "three"]


def test_000_26_an_audience_decides_who_gets_a_part() -> None:
    contents = said(
        text("all"),
        text("person", "user"),
        text("model", "assistant"),
        text("b", "assistant", "user"),
    )
    assert [item.visible_scope for item in contents] == ["all", "user", "llm", "all"]
    assert read(contents) == ["all", "model", "b"]
    assert for_person(contents) == "all\nperson\nb"


def test_resources_and_links_are_kept() -> None:
    zipped = "application/zip"
    contents = said(
        {"type": "resource", "resource": {"uri": "note://1", "text": "a note"}},
        {
            "type": "resource",
            "resource": {"uri": "f://x", "mimeType": zipped, "blob": "AAAA"},
        },
        {"type": "resource", "resource": {"uri": "p://1", "mimeType": "image/png", "blob": png()}},
        {"type": "resource_link", "uri": "f://y", "name": "y.csv", "mimeType": "text/csv"},
        {"type": "resource_link", "uri": "f://z", "name": "z"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/mp3"},
        {"type": "hologram", "data": 1},
    )
    assert [i.type for i in contents] == [
        "text", "files", "image", "references", "references", "audio", "json"
    ]  # fmt: skip
    assert contents[0].text == {"info": "[note://1]\na note"}
    assert contents[1].text == {
        "filename": "f://x",
        "size_bytes": 3,
        "mime_type": "application/zip",
    }
    assert contents[2].text["filename"] == "p://1"
    assert contents[3].text == {
        "id": "f://y",
        "url": "f://y",
        "title": "y.csv",
        "content": "text/csv",
    }
    assert "content" not in contents[4].text
    assert contents[6].text == {"data": {"type": "hologram", "data": 1}}


def test_what_is_no_picture_is_not_sent_as_one() -> None:
    broken = {"type": "image", "data": "no base64!", "mimeType": "image/png"}
    vector = {"type": "image", "data": "AAAA", "mimeType": "image/svg+xml"}
    contents = said(broken, vector)
    assert [item.type for item in contents] == ["files", "files"]
    assert all(isinstance(part, TextPart) for part in for_model(contents))


def test_a_large_picture_is_sent_small_and_shown_whole() -> None:
    pytest.importorskip("PIL")
    shown, sent = said(image(png(900, 10)))
    assert (shown.visible_scope, shown.text["width"]) == ("user", 900)
    assert sent.visible_scope == "llm"
    assert len(said(image(png(900, 10), "assistant"))) == 1


def test_pictures_that_are_too_many_are_shown_and_told_of() -> None:
    contents = said(image(png()), image(png()), image(png(), "assistant"), images=1)
    assert read(contents) == ["image/png", "[a picture more was not sent]"] + [
        "[a picture more was not sent]"
    ]
    assert [i.visible_scope for i in contents if i.type == "image"] == ["all", "user"]
    unseen = said(image(png()), image(png()), sees=False, images=1)
    assert [item.type for item in unseen] == ["image", "image"]
    assert not any(isinstance(p, ImagePart) for p in for_model(unseen, sees_images=False))


def test_structured_results_are_kept_and_not_said_twice() -> None:
    (alone,) = said(structuredContent={"a": 1})
    assert (alone.type, alone.text) == ("json", {"data": {"a": 1}})
    (same,) = said(text('{"a": 1}'), structuredContent={"a": 1})
    assert same.raw_data == {"structured": {"a": 1}}
    (plain,) = said(text("three"), structuredContent={"result": "three"})
    assert plain.raw_data == {"structured": {"result": "three"}}
    assert len(said(text("other"), structuredContent={"a": 1})) == 2
    assert len(said(text('{"a": 1}', "user"), structuredContent={"a": 1})) == 2


def test_an_error_is_one_whatever_it_says() -> None:
    (told,) = said(text("no such city"), isError=True)
    assert told.is_error
    (silent,) = said(isError=True)
    assert silent.is_error
    assert silent.text == {"info": "The tool failed without saying why."}
    picture, words = said(image(png()), isError=True)
    assert (picture.is_error, words.is_error) == (False, True)


def test_tools_are_listed_and_broken_ones_left_out() -> None:
    hints = {"readOnlyHint": True, "destructiveHint": False, "title": "C"}
    found = listed(
        [
            {"name": "a", "description": "A.", "inputSchema": {"type": "object"}},
            {"name": "a"},
            {"inputSchema": {}},
            {"name": "b", "inputSchema": {"type": "string"}},
            {
                "name": "c",
                "annotations": hints,
            },
        ]
    )
    assert [(f.name, f.description) for f in found.functions] == [("a", "A."), ("c", "C")]
    assert (found.functions[1].is_read_only, found.functions[1].is_destructive) == (True, False)
    assert found.problems == (
        "the name 'a' is there twice",
        "a tool has no name",
        "'b': its parameters are of type 'string', not 'object'",
    )
