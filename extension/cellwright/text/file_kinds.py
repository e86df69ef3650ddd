"""What a file is, told by its first bytes: a name can say anything."""

from __future__ import annotations

import contextlib
import mimetypes
import re
from functools import cache
from pathlib import PurePath

RASTER_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""Pictures that models take."""
UNKNOWN = "application/octet-stream"
EMPTY = "application/x-empty"
HEAD_BYTES = 2_048
"""So many first bytes are enough."""

MARKS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"(\xb5/\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf'\x1c", "application/x-7z-compressed"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"ARROW1", "application/vnd.apache.arrow.file"),
    (0, b"\x89HDF\r\n\x1a\n", "application/x-hdf5"),
    (0, b"\x93NUMPY", "application/x-numpy"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (4, b"ftyp", "video/mp4"),
    (257, b"ustar", "application/x-tar"),
)
"""Where which bytes stand, and what begins so."""

ADDED = {
    ".md": "text/markdown",
    ".ipynb": "application/x-ipynb+json",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
}
NARROWED = {
    "application/zip": ("application/vnd.", "application/epub", "application/java-archive"),
    "application/x-ole-storage": ("application/msword", "application/vnd.ms-"),
    "video/mp4": ("video/quicktime", "audio/mp4", "image/heic", "image/avif"),
}
"""What only the name can tell apart, among what begins alike."""
WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Text in UTF-16 begins with one of these; so does much that is none."""
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    # Before UTF-16, whose mark one of them begins with.
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
ASIAN_ENCODINGS = ("gb18030", "big5", "cp932", "euc_jp", "cp949")
ENCODINGS = (*ASIAN_ENCODINGS, "cp1252", "cp1251")
"""What is looked for in text that is not UTF-8: what spreadsheets save on systems whose language
is Chinese, Japanese, Korean, Western European or Russian. A longer list makes short texts
ambiguous."""
SHIFTED = re.compile(rb"\x1b(?:\$[@B]|\$\([A-Z]|\$\)[A-Z])")
"""Escapes of ISO 2022: what follows is another alphabet, in ASCII bytes."""
SHIFTED_ENCODINGS = ("iso2022_jp", "iso2022_kr")
SAMPLED_BYTES = 65_536
SURE_BY = 0.02
"""So much less disorder than the next one, as the detector counts it, the right encoding has."""
FEW_BYTES = 80
"""With fewer bytes beyond ASCII, every encoding that fits is as likely as another: Chinese of a
few words is valid Korean."""
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
ACCENTED_LETTER = re.compile(rb"(?<![\x80-\xff])[\xc0-\xff](?![\x80-\xff])")
"""A letter of Western Europe among ASCII ones; bytes of all others come in pairs or words."""
TEXT_TYPES = ("application/json", "application/xml", "application/x-sh", "application/sql")


def kind_of(head: bytes, name: str) -> str:
    """The MIME type of a file; its name only narrows down what its bytes allow.

    Args:
        head: The first bytes, ``HEAD_BYTES`` of them where there are so many.
        name: What it is called.
    """
    if not head:
        return EMPTY
    named = _named(name)
    marked = _marked(head)
    if marked:
        return named if named.startswith(NARROWED.get(marked, ())) else marked
    if head.startswith(WIDE) and named.startswith("text/"):
        return named
    if not is_text(head):
        is_claimed = named.startswith(("text/", "image/")) or named in TEXT_TYPES
        return UNKNOWN if is_claimed or not named else named
    return _text_kind(head, named)


def is_text(head: bytes) -> bool:
    """Whether these bytes are text, as far as they tell; the last sign may be cut in two."""
    if b"\0" in head or head.startswith(WIDE):
        return False
    text = head.decode("utf-8-sig", "replace")
    return text.count("\ufffd") <= len(text) // 10 or bool(find_encoding(head))


def find_encoding(data: bytes) -> str:
    """The Python name of the encoding that a text is in; empty: it cannot be told.

    Args:
        data: The text, or its first ``SAMPLED_BYTES``.
    """
    sample = data[:SAMPLED_BYTES]
    if len(sample) == SAMPLED_BYTES:
        # At the end of a line no character is cut in two.
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    for mark, encoding in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    if b"\0" in sample:
        return ""
    if SHIFTED.search(sample):
        return _of_shifted(sample)
    if _is_utf8(sample):
        return "utf-8"
    beyond_ascii = len(BEYOND_ASCII.findall(sample))
    if len(ACCENTED_LETTER.findall(sample)) >= 0.8 * beyond_ascii:
        return "cp1252"
    # Imported here: the magics load this module, and few files need it.
    from charset_normalizer import from_bytes

    found = list(from_bytes(sample, cp_isolation=list(ENCODINGS)))
    margin = SURE_BY if beyond_ascii >= FEW_BYTES else 1.0
    likely = {match.encoding for match in found if match.chaos - found[0].chaos < margin}
    if beyond_ascii < FEW_BYTES:
        # The detector leaves out what looks odd to it, which little text may well do.
        likely |= {encoding for encoding in ASIAN_ENCODINGS if _fits(sample, encoding)}
    return likely.pop() if len(likely) == 1 else ""


def _fits(sample: bytes, encoding: str) -> bool:
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _of_shifted(sample: bytes) -> str:
    """The encoding of a text that is ASCII byte for byte, and other letters behind its escapes."""
    for encoding in SHIFTED_ENCODINGS:
        with contextlib.suppress(UnicodeDecodeError):
            sample.decode(encoding)
            return encoding
    return ""


def _is_utf8(sample: bytes) -> bool:
    """Whether this is UTF-8; a stray byte in a long text does not make it anything else."""
    text = sample.decode("utf-8", "replace")
    wide = sum(not character.isascii() for character in text)
    broken = text.count("\ufffd")
    if text.endswith("\ufffd") and wide > 1:
        broken -= 1  # the sample was cut in the middle of a character
    return broken * 20 <= wide - broken


def _named(name: str) -> str:
    return _endings().guess_type(PurePath(name).name, strict=False)[0] or ""


@cache
def _endings() -> mimetypes.MimeTypes:
    """What endings say, the same on every machine: systems have tables of their own."""
    endings = mimetypes.MimeTypes()
    for ending, kind in ADDED.items():
        endings.add_type(kind, ending)
    return endings


def _marked(head: bytes) -> str:
    if head[:4] == b"RIFF" and len(head) >= 12:
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12], UNKNOWN)
    for place, mark, kind in MARKS:
        if head.startswith(mark, place) and not (mark == b"BM" and is_text(head)):
            return kind
    return ""


def _text_kind(head: bytes, named: str) -> str:
    begin = head.decode("utf-8-sig", "replace").lstrip()[:512].lower()
    if begin.startswith(("<!doctype html", "<html")):
        return "text/html"
    if begin.startswith(("<svg", "<?xml")) and "<svg" in begin:
        return "image/svg+xml"
    if named.startswith("text/") or named.endswith(("+json", "+xml")) or named in TEXT_TYPES:
        return named if named != "image/svg+xml" else "text/plain"
    return "text/plain"
