"""Pictures: their size without a library, and a smaller copy with one."""

from __future__ import annotations

import base64
import io
import sys

import pytest
from PIL import Image

from cellwright.record.mime_bundles import DATA_LIMIT_CHARACTERS, Picture, picture_in, sendable


def encoded(size: tuple[int, int], kind: str = "PNG", mode: str = "RGB") -> str:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, kind)
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.mark.parametrize(
    ("mime", "kind"), [("image/png", "PNG"), ("image/jpeg", "JPEG"), ("image/gif", "GIF")]
)
def test_the_size_is_read_from_the_first_bytes(mime: str, kind: str) -> None:
    picture = picture_in({mime: encoded((547, 413), kind)})
    assert picture is not None
    assert picture.words == f"[{mime} 547x413]"


def test_a_size_that_cannot_be_told_is_left_out() -> None:
    assert picture_in({"image/webp": encoded((5, 4), "WEBP")}) is not None
    for mime in ("image/webp", "image/jpeg", "image/png"):
        picture = picture_in({mime: base64.b64encode(b"no picture at all").decode()})
        assert picture is not None
        assert picture.words == f"[{mime}]"


@pytest.mark.parametrize(
    "data", [{}, {"image/png": None}, {"image/png": "?!"}, {"text/plain": "x"}]
)
def test_what_is_no_picture_is_none(data: dict[str, object]) -> None:
    assert picture_in(data) is None


def test_a_broken_header_is_no_picture() -> None:
    assert picture_in({"image/png": base64.b64encode(b"\x89PNG\r\n\x1a\nIHDR").decode()}) is None


def test_a_small_picture_is_sent_as_it_is_and_without_line_breaks() -> None:
    data = encoded((547, 413))
    picture = picture_in({"image/png": "\n".join([data[:40], data[40:], ""])})
    assert picture is not None
    part = sendable(picture)
    assert part is not None
    assert part.data == data


@pytest.mark.parametrize(("kind", "mode"), [("PNG", "RGBA"), ("JPEG", "CMYK"), ("WEBP", "RGB")])
def test_a_large_picture_is_scaled_to_768_pixels(kind: str, mode: str) -> None:
    picture = picture_in({f"image/{kind.lower()}": encoded((1_600, 800), kind, mode)})
    assert picture is not None
    part = sendable(picture)
    assert part is not None
    assert Image.open(io.BytesIO(base64.b64decode(part.data))).size == (768, 384)
    assert part.mime == "image/png"


def test_a_picture_pillow_cannot_read_is_sent_as_it_is_up_to_a_limit() -> None:
    odd = base64.b64encode(b"no picture at all").decode()
    assert sendable(Picture("image/webp", odd)) is not None
    assert sendable(Picture("image/png", "A" * (DATA_LIMIT_CHARACTERS + 4), 100, 100)) is None


def test_without_pillow_a_large_picture_is_sent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = picture_in({"image/png": encoded((1_600, 800))})
    assert picture is not None
    monkeypatch.setitem(sys.modules, "PIL", None)
    part = sendable(picture)
    assert part is not None
    assert part.data == picture.data
