"""What a file is, by its name, and which reader divides it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from cellwright.errors import SetupError
from cellwright.knowledge.library import Section
from cellwright.knowledge.library.code_reader import code_sections, python_sections
from cellwright.knowledge.library.html_reader import html_sections
from cellwright.knowledge.library.notebook_reader import notebook_sections
from cellwright.knowledge.library.pdf_reader import pdf_sections
from cellwright.knowledge.library.table_reader import table_sections
from cellwright.knowledge.library.text_reader import text_sections
from cellwright.text.file_kinds import find_encoding

SIZE_LIMIT_BYTES = 50 * 1024 * 1024
TABLE_BYTES = 64 * 1024
"""Of a table only the first rows are read."""
ENDINGS: Mapping[str, str] = {
    "text": "md markdown mdx qmd rmd rst txt text adoc org tex log",
    "python": "py pyi pyw",
    "code": "r jl sql js mjs cjs jsx ts tsx java kt scala go rs c h cc cpp hpp cs rb php pl lua "
    "sh bash zsh ps1 m do sas stan swift json jsonl yaml yml toml ini cfg conf xml css proto "
    "graphql tf",
    "notebook": "ipynb",
    "table": "csv tsv",
    "html": "html htm xhtml",
    "pdf": "pdf",
}
WHOLE_NAMES = ("makefile", "dockerfile")
KINDS = {ending: kind for kind, endings in ENDINGS.items() for ending in endings.split()}
MIMES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/csv": "table",
    "application/x-ipynb+json": "notebook",
    "application/json": "code",
    "text/markdown": "text",
    "text/plain": "text",
}
TEXT_READERS: Mapping[str, Callable[[str], tuple[Section, ...]]] = {
    "text": text_sections,
    "python": python_sections,
    "code": code_sections,
    "notebook": notebook_sections,
    "table": table_sections,
    "html": html_sections,
}


def kind_of(name: str) -> str:
    """What a file is by its name; empty: nothing that can be read."""
    path = PurePosixPath(name.lower().replace("\\", "/"))
    return "code" if path.name in WHOLE_NAMES else KINDS.get(path.suffix.removeprefix("."), "")


def kind_of_mime(mime: str) -> str:
    """What an answer is by its MIME type; empty: nothing that can be read."""
    bare = mime.partition(";")[0].strip().lower()
    return MIMES.get(bare) or ("text" if bare.startswith("text/") else "")


def sections_of(kind: str, data: bytes) -> tuple[Section, ...]:
    """The parts of a document.

    Raises:
        SetupError: It cannot be read; the message says why.
    """
    if len(data) > SIZE_LIMIT_BYTES:
        raise SetupError("It has more than 50 MB.", hint="Add the part that matters.")
    try:
        if kind == "pdf":
            return pdf_sections(data)
        return TEXT_READERS[kind](decoded(data[:TABLE_BYTES] if kind == "table" else data))
    except SetupError:
        raise
    except Exception as error:  # one odd document must not end the reading of all others
        raise SetupError(
            f"It cannot be read as {kind}: {str(error) or type(error).__name__}."
        ) from error


def decoded(data: bytes) -> str:
    """The bytes as text, whatever usual encoding they are in.

    Raises:
        SetupError: They are no text, or in an encoding that cannot be told.
    """
    encoding = find_encoding(data)
    if not encoding:
        raise SetupError(
            "It is not text in an encoding that is recognised.", hint="Save it as UTF-8."
        )
    return data.decode(encoding, "replace")
