"""What a file is: told by its bytes, narrowed down by its name, never made up by it."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator

import pytest
from babel import Locale
from PIL import Image

from cellwright.text.file_kinds import HEAD_BYTES, UNKNOWN, find_encoding, is_text, kind_of


def picture(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3)).save(buffer, kind)
    return buffer.getvalue()


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a.txt", "a")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("kind", "mime"),
    [
        ("PNG", "image/png"),
        ("JPEG", "image/jpeg"),
        ("GIF", "image/gif"),
        ("WEBP", "image/webp"),
        ("BMP", "image/bmp"),
        ("TIFF", "image/tiff"),
    ],
)
def test_002_10_a_picture_is_known_whatever_it_is_called(kind: str, mime: str) -> None:
    for name in ("a.csv", "a.pdf", "a", "a.html"):
        assert kind_of(picture(kind), name) == mime


@pytest.mark.parametrize(
    ("head", "name", "mime"),
    [
        (b"a,b\n1,2\n", "a.png", "text/plain"),
        (b"a,b\n1,2\n", "a.csv", "text/csv"),
        (b"a,b\n1,2\n", "a", "text/plain"),
        (b"\x00\x01\x02\x03", "a.png", UNKNOWN),
        (b"\x00\x01\x02\x03", "a.csv", UNKNOWN),
        (b"\x00\x01\x02\x03", "a.json", UNKNOWN),
        (b"\x00\x01\x02\x03", "a", UNKNOWN),
        (b"\x00\x01\x02\x03", "a.wasm", "application/wasm"),
        (b"<!DOCTYPE html><p>", "a.csv", "text/html"),
        (b"  <HTML>", "a.png", "text/html"),
        (b"<svg xmlns='x'>", "a.png", "image/svg+xml"),
        (b"<?xml version='1.0'?><svg/>", "a.xml", "image/svg+xml"),
        (b"<?xml version='1.0'?><a/>", "a.xml", "text/xml"),
        (b"no drawing", "a.svg", "text/plain"),
        (b'{"a": 1}', "a.json", "application/json"),
        (b"%PDF-1.7", "a.png", "application/pdf"),
        (b"\x1f\x8b\x08", "a.csv", "application/gzip"),
        (b"SQLite format 3\0", "a.txt", "application/vnd.sqlite3"),
        (b"PAR1", "a", "application/vnd.apache.parquet"),
        (b"RIFF\0\0\0\0WAVEfmt ", "a.webp", "audio/wav"),
        (b"RIFF\0\0\0\0AVI LIST", "a.webp", UNKNOWN),
        (b"\0\0\0\x18ftypmp42", "a.mp4", "video/mp4"),
        (b"BM is how this text begins", "a.txt", "text/plain"),
        ("\ufeffa,b".encode("utf-16"), "a.csv", "text/csv"),
        ("\ufeffa,b".encode("utf-16"), "a.png", UNKNOWN),
        ("数据".encode(), "数据.md", "text/markdown"),
        (b'{"cells": []}', "a.ipynb", "application/x-ipynb+json"),
    ],
)
def test_002_10_a_wrong_ending_does_not_decide(head: bytes, name: str, mime: str) -> None:
    assert kind_of(head, name) == mime


def test_002_10_the_name_tells_apart_what_begins_alike() -> None:
    sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert kind_of(archive(), "a.xlsx") == sheet
    assert kind_of(archive(), "a.zip") == "application/zip"
    assert kind_of(archive(), "a.png") == "application/zip"


def test_002_10_an_empty_file_is_called_so() -> None:
    assert kind_of(b"", "a.png") == "application/x-empty"


def test_a_sign_that_is_cut_in_two_does_not_make_text_binary() -> None:
    assert is_text(("数" * HEAD_BYTES).encode()[:HEAD_BYTES])
    assert not is_text(b"a\0b")
    assert not is_text(b"\xff\xfe\xfd\xfc" * 50)


BY_LANGUAGE = {
    "zh_Hans": ("gbk", "gb18030"),
    "zh_Hant": ("big5",),
    "ja": ("shift_jis", "euc_jp"),
    "ko": ("euc_kr",),
    "fr": ("cp1252",),
    "de": ("cp1252",),
    "es": ("cp1252",),
    "sv": ("cp1252",),
    "ru": ("cp1251",),
}
SIZES = (1, 2, 3, 5, 10, 30, 200)


def tables_of_names(language: str, encoding: str) -> Iterator[tuple[int, str, bytes]]:
    """Tables of countries and languages as CLDR names them: rows, text, bytes."""
    places = Locale.parse(language)
    names = [*places.territories.items(), *places.languages.items()]
    chance = random.Random(1)
    for rows in SIZES:
        for _ in range(80):
            chosen = chance.sample(names, rows)
            text = "code,name\n" + "".join(f"{code},{name}\n" for code, name in chosen)
            data = text.encode(encoding, "ignore")
            if not data.isascii():
                yield rows, data.decode(encoding), data


@pytest.mark.parametrize("language", BY_LANGUAGE)
def test_text_that_is_not_utf8_is_read_right_or_not_at_all(language: str) -> None:
    """Issue 13, 20: from 30 rows on nearly every table is recognised; none is misread."""
    for encoding in BY_LANGUAGE[language]:
        found = [
            (rows, find_encoding(data), data, text)
            for rows, text, data in tables_of_names(language, encoding)
        ]
        misread = [
            (name, text[:60]) for _, name, data, text in found if name and data.decode(name) != text
        ]
        assert misread == []
        long = [name for rows, name, _, _ in found if rows >= 30]
        assert sum(map(bool, long)) >= 0.9 * len(long)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"", "utf-8"),
        (b"a,b\n1,2\n", "utf-8"),
        ("\ufeffä".encode(), "utf-8-sig"),
        ("ä".encode("utf-16"), "utf-16"),
        ("ä".encode("utf-32"), "utf-32"),
        ("日本語".encode("iso2022_jp"), "iso2022_jp"),
        ("한국어".encode("iso2022_kr"), "iso2022_kr"),
        (b"\x1b$B\xff\xff", ""),
        (b"\x1b[31mred", "utf-8"),
        ("日本".encode()[:-1], "utf-8"),
        (("é" * 500).encode() + b"\xff" + b"a" * 50, "utf-8"),
        (b"caf\xe9", "cp1252"),
        (b"SQLite format 3\0", ""),
        (bytes(range(256)), ""),
    ],
)
def test_marks_stray_bytes_and_binary_data(data: bytes, encoding: str) -> None:
    assert find_encoding(data) == encoding
