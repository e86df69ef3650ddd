"""PDF by pages, where pypdf is installed.

Not covered: pictures of text, which have no words to find.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

from cellwright.errors import SetupError
from cellwright.knowledge.library import Section

PAGE_LIMIT = 2_000


def pdf_sections(data: bytes) -> tuple[Section, ...]:
    """The words of a PDF, page by page.

    Raises:
        SetupError: pypdf is missing, or the file needs a password.
        ValueError: It cannot be read.
    """
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise SetupError(
            "PDF cannot be read without pypdf.", hint="Install it: pip install 'cellwright[pdf]'."
        ) from error
    # It warns of every flaw of a file, and most files have some.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise SetupError("The PDF needs a password.", hint="Add a copy that needs none.")
        texts = [page.extract_text() for page, _ in zip(reader.pages, range(PAGE_LIMIT))]  # noqa: B905
    except (PyPdfError, RecursionError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"the PDF is damaged ({error})") from error
    return tuple(_sections(texts))


def _sections(texts: list[str]) -> Iterator[Section]:
    for number, text in enumerate(texts, start=1):
        if text.strip():
            yield Section(text, f"page {number}", f"page {number}")
