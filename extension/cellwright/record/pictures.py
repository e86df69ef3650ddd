"""Pictures of outputs: their size, and a smaller copy for a model that sees."""

from __future__ import annotations

import base64
import binascii
import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.record.messages import ImagePart
from cellwright.text.file_kinds import RASTER_TYPES

LONG_EDGE_PIXELS = 768
DATA_LIMIT_CHARACTERS = 2_000_000
"""A picture that could not be made smaller is not sent past this."""


@dataclass(frozen=True)
class Picture:
    """A raster picture of a MIME bundle."""

    mime: str
    data: str
    """Base64, without line breaks."""
    width: int = 0
    height: int = 0
    """Pixels; 0 when they cannot be told."""

    @property
    def words(self) -> str:
        """What it is, for a model that does not see it."""
        size = f" {self.width}x{self.height}" if self.width else ""
        return f"[{self.mime}{size}]"


def picture_in(data: Mapping[str, Any]) -> Picture | None:
    """The first raster picture of a bundle that can be decoded."""
    for mime in RASTER_TYPES:
        if isinstance(data.get(mime), str):
            text = "".join(data[mime].split())
            try:
                size = _size(mime, base64.b64decode(text[:65_536], validate=True))
            except (binascii.Error, struct.error, ValueError):
                continue
            return Picture(mime, text, *size)
    return None


def sendable(picture: Picture) -> ImagePart | None:
    """The picture at most 768 pixels long, or None when it is too big to send."""
    if max(picture.width, picture.height) > LONG_EDGE_PIXELS or not picture.width:
        picture = _smaller(picture)
    if len(picture.data) > DATA_LIMIT_CHARACTERS:
        return None
    return ImagePart(picture.mime, picture.data, picture.words)


def _size(mime: str, head: bytes) -> tuple[int, int]:
    if mime == "image/png" and head[:8] == b"\x89PNG\r\n\x1a\n":
        width, height = struct.unpack(">II", head[16:24])
        return width, height
    if mime == "image/gif" and head[:4] == b"GIF8":
        width, height = struct.unpack("<HH", head[6:10])
        return width, height
    if mime == "image/jpeg":
        return _jpeg_size(head)
    return 0, 0


def _jpeg_size(head: bytes) -> tuple[int, int]:
    """Walk the markers to the frame header; EXIF data in between may hold another picture."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return 0, 0


def _smaller(picture: Picture) -> Picture:
    """The picture scaled down, or as it is where Pillow is missing or cannot read it."""
    try:
        from PIL import Image
    except ImportError:
        return picture
    try:
        with Image.open(io.BytesIO(base64.b64decode(picture.data))) as image:
            image.thumbnail((LONG_EDGE_PIXELS, LONG_EDGE_PIXELS))
            shown = image if image.mode in ("RGB", "RGBA", "L", "P") else image.convert("RGB")
            buffer = io.BytesIO()
            shown.save(buffer, "PNG", optimize=True)
            width, height = shown.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return picture
    return Picture("image/png", base64.b64encode(buffer.getvalue()).decode(), width, height)
