"""Files named in a prompt: found, hashed and described in a few lines; pictures are looked at."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from cellwright.errors import SetupError
from cellwright.messages import ImagePart
from cellwright.pictures import RASTER_TYPES, picture_in, sendable

__all__ = ["Attachment", "attach", "human_size", "pictures_of"]

HASH_LIMIT_BYTES = 256 * 1024 * 1024
PREVIEW_BYTES = 2_048
PREVIEW_LINES = 3
PREVIEW_LINE_CHARACTERS = 200


@dataclass(frozen=True)
class Attachment:
    """A file the person named."""

    name: str
    """The path as the kernel's code should write it, relative to its folder where possible."""
    size_bytes: int
    sha256: str
    """Empty for files over 256 MiB, which are not read."""
    preview: str
    """The first lines of a text file; empty for others."""


def attach(paths: tuple[str, ...], folder: Path) -> tuple[Attachment, ...]:
    """Describe the files, looked for from ``folder``.

    Raises:
        SetupError: Some cannot be read; all of them are named at once.
    """
    found, complaints = [], []
    for path in paths:
        try:
            found.append(_describe(folder / Path(path).expanduser(), folder))
        except OSError as error:
            complaints.append(f"{path!r} ({error.strerror or error})")
    if complaints:
        raise SetupError(
            f"Cannot read {', '.join(complaints)}.", hint=f"Files are looked for from {folder}."
        )
    return tuple(found)


def pictures_of(paths: tuple[str, ...], folder: Path) -> tuple[ImagePart, ...]:
    """Those of the files that are pictures, made small enough for a model that sees."""
    found = []
    for path in paths:
        mime = mimetypes.guess_type(path)[0] or ""
        with contextlib.suppress(OSError):
            data = (folder / Path(path).expanduser()).read_bytes() if mime in RASTER_TYPES else b""
            picture = picture_in({mime: base64.b64encode(data).decode()}) if data else None
            part = sendable(picture) if picture is not None else None
            found += [part] if part is not None else []
    return tuple(found)


def human_size(size_bytes: int) -> str:
    """Bytes as people read them: ``12.3 kB``."""
    if size_bytes < 1_000:
        return f"{size_bytes} bytes"
    size, units = size_bytes / 1_000, ["kB", "MB", "GB", "TB"]
    while size >= 1_000 and len(units) > 1:
        size /= 1_000
        units.pop(0)
    return f"{size:.1f} {units[0]}"


def _describe(path: Path, folder: Path) -> Attachment:
    with path.open("rb") as file:
        head = file.read(PREVIEW_BYTES)
        size = path.stat().st_size
        digest = ""
        if size <= HASH_LIMIT_BYTES:
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    full, base = path.resolve(), folder.resolve()
    name = str(full.relative_to(base)) if full.is_relative_to(base) else str(full)
    return Attachment(name, size, digest, _preview(head))


def _preview(head: bytes) -> str:
    if b"\0" in head:
        return ""
    text = head.decode("utf-8-sig", "replace")
    if text.count("\ufffd") > len(text) // 10:
        return ""
    lines = text.splitlines()[:PREVIEW_LINES]
    return "\n".join(line[:PREVIEW_LINE_CHARACTERS] for line in lines)
