"""Files named in a prompt: found, hashed and described in a few lines; pictures are looked at."""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from cellwright.errors import SetupError
from cellwright.record.messages import ImagePart
from cellwright.record.mime_bundles import Picture, picture_in, sendable
from cellwright.text.file_kinds import (
    HEAD_BYTES,
    RASTER_TYPES,
    TEXT_TYPES,
    find_encoding,
    is_text,
    kind_of,
)

FETCH_HINT = (
    "Of an address, fetch the file first, or let the library read it: %agent library add ADDRESS."
)
HASH_LIMIT_BYTES = 256 * 1024 * 1024
PICTURE_HEAD_BYTES = 65_536
"""The size of a picture stands in these, also where a camera put much before it."""
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
    """The first lines of a text file, or what kind of picture it is; empty for others."""
    mime: str = ""
    """Told by what is in it, not by its name."""
    encoding: str = ""
    """Python's name of the encoding of a text that is not UTF-8; empty for everything else."""


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
        is_page = any("://" in path for path in paths)
        hint = FETCH_HINT if is_page else f"Files are looked for from {folder}."
        raise SetupError(f"Cannot read {', '.join(complaints)}.", hint=hint)
    return tuple(found)


def pictures_of(
    paths: tuple[str, ...], folder: Path, names: tuple[str, ...] = ()
) -> tuple[ImagePart, ...]:
    """Those of the files that are pictures, made small enough for a model that sees.

    Args:
        paths: The files.
        folder: Where they are looked for from.
        names: What the person calls them; empty: as they are named in ``paths``.
    """
    found = []
    for path, name in zip(paths, names or paths, strict=True):
        with contextlib.suppress(OSError):
            data = _picture_data(folder / Path(path).expanduser())
            picture = _picture(data)
            part = sendable(picture) if picture is not None else None
            if picture is not None and part is not None:
                found.append(replace(part, caption=_caption(Path(name).name, picture, len(data))))
    return tuple(found)


def _picture_data(path: Path) -> bytes:
    """What is in a picture; nothing of what is none, however large it is."""
    if not path.is_file():
        return b""  # a pipe would be waited for
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        return head + file.read() if kind_of(head, "") in RASTER_TYPES else b""


def _picture(data: bytes) -> Picture | None:
    mime = kind_of(data[:HEAD_BYTES], "")
    return picture_in({mime: base64.b64encode(data).decode()}) if mime in RASTER_TYPES else None


def _caption(name: str, picture: Picture, size_bytes: int) -> str:
    """What a model that does not see is told of a picture."""
    return f"[picture {name}: {picture.words.strip('[]')}, {human_size(size_bytes)}]"


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
    if path.exists() and not path.is_file():
        # a pipe would be waited for, and a device never ends
        raise OSError(errno.EINVAL, "it is a folder" if path.is_dir() else "it is no plain file")
    with path.open("rb") as file:
        head = file.read(PICTURE_HEAD_BYTES)
        size = path.stat().st_size
        digest = ""
        if size <= HASH_LIMIT_BYTES:
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    full, base = path.resolve(), folder.resolve()
    name = str(full.relative_to(base)) if full.is_relative_to(base) else str(full)
    mime = kind_of(head[:HEAD_BYTES], name)
    is_words = mime.startswith("text/") or mime in TEXT_TYPES or is_text(head[:HEAD_BYTES])
    encoding = find_encoding(head) if is_words else ""
    told = "" if encoding in ("utf-8", "utf-8-sig") else encoding
    return Attachment(name, size, digest, _preview(head, mime, encoding), mime, told)


def _preview(head: bytes, mime: str, encoding: str) -> str:
    if mime in RASTER_TYPES:
        picture = _picture(head)
        return picture.words if picture is not None else f"[{mime}]"
    if not encoding:
        return ""
    lines = head[:HEAD_BYTES].decode(encoding, "replace").splitlines()[:PREVIEW_LINES]
    return "\n".join(line[:PREVIEW_LINE_CHARACTERS] for line in lines)


# How files are called that are stored under the hash of what is in them.


STORED_NAME = re.compile(r"([0-9a-f]{64})(\.[a-z0-9]{1,8}){0,2}")


def stored_hashes(paths: Iterable[str]) -> tuple[str, ...]:
    """The hashes of those files that lie in a store, each once, in order."""
    found = (_hash(PurePath(path.replace("\\", "/"))) for path in paths)
    return tuple(dict.fromkeys(filter(None, found)))


def _hash(path: PurePath) -> str:
    match = STORED_NAME.fullmatch(path.name)
    return match[1] if match and path.parent.name == match[1][:2] else ""
