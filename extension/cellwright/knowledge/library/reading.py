"""What a file is, by its name, and the readers that divide it, one for each kind of file."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cellwright.errors import SetupError
from cellwright.installation import missing_extra
from cellwright.knowledge.library import CHUNK_CHARACTERS, DocumentSection
from cellwright.text.file_kinds import find_encoding

if TYPE_CHECKING:
    from bs4 import Tag
import csv
import io
import json
import logging
from dataclasses import replace
from typing import Any

from cellwright.text.cleaning import ESCAPES

# Code, divided by its definitions; put together the parts are the file, byte for byte.


DEFINITION = re.compile(
    r"^(?:export\s+|default\s+|public\s+|private\s+|pub\s+|static\s+|async\s+|abstract\s+)*"
    r"(?:function\*?|class|interface|enum|struct|trait|impl|fn|func|def|module|macro|type|object"
    r"|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index))\s+"
    r"[`\"']?(?P<name>[\w.:$]+)",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"^(?:const\s+|let\s+|var\s+)?(?P<name>[\w.]+)\s*(?:<-|=)\s*(?:async\s*)?"
                      r"(?:function\b|\([^()]*\)\s*=>)")  # fmt: skip
Mark = tuple[int, str]
"""The line, counted from 0, in which a part begins, and its name."""


def python_sections(code: str) -> tuple[DocumentSection, ...]:
    """The parts of Python code: what stands before, each function, each class or its methods."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code_sections(code)
    lines = _lines(code)
    return tuple(_divide_code(lines, list(_python_marks(tree.body, lines))))


def code_sections(code: str) -> tuple[DocumentSection, ...]:
    """The parts of code in any language: what begins a definition at the start of a line."""
    lines = _lines(code)
    marks = [(at, name) for at, line in enumerate(lines) if (name := _defined(line))]
    return tuple(_divide_code(lines, marks))


def _python_marks(body: list[ast.stmt], lines: list[str], within: str = "") -> Iterator[Mark]:
    was_definition = False
    for node in body:
        is_definition = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            decorators = [each.lineno for each in node.decorator_list]
            first = min([node.lineno, *decorators]) - 1
            name = f"{within}{node.name}"
            yield first, name
            size = sum(len(line) for line in lines[first : node.end_lineno])
            if isinstance(node, ast.ClassDef) and size > CHUNK_CHARACTERS:
                yield from _python_marks(node.body, lines, f"{name}.")
        elif was_definition:
            yield node.lineno - 1, within.rstrip(".")
        was_definition = is_definition


def _divide_code(lines: list[str], marks: list[Mark]) -> Iterator[DocumentSection]:
    starts = [(0, ""), *marks]
    ends = [*(at for at, _ in marks), len(lines)]
    for (start, name), end in zip(starts, ends, strict=True):
        text = "".join(lines[start:end])
        if text:
            yield DocumentSection(text, name, f"line {start + 1}", "code")


def _defined(line: str) -> str:
    found = DEFINITION.match(line) or ASSIGNED.match(line)
    return found["name"] if found else ""


def _lines(code: str) -> list[str]:
    # Only these end a line for Python's parser; str.splitlines knows more.
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", code)


# HTML as text, divided by its headings; nothing of it is loaded or run.


UNREAD = ("script", "style", "template", "noscript", "svg", "iframe", "nav", "form", "head")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = ("div", "li", "ul", "ol", "tr", "section", "article", "br", "dt", "dd", "main", "hr")
CELL = " | "
EDGES = {
    **dict.fromkeys(BLOCKS, ("\n", "\n")),
    **dict.fromkeys(("p", "table"), ("\n\n", "\n\n")),
    **dict.fromkeys(("td", "th"), ("", CELL)),
}
"""What stands before and after the words of a tag."""
DEEPEST = 200
"""Deeper than any page that people write; beyond it text is taken as it stands."""

WHITE = re.compile(r"\s+")
BLANKS = re.compile(r"\n{3,}")
NEWLINES = "\n"


@dataclass(frozen=True)
class _HtmlPiece:
    kind: str
    """``pre``, a heading's tag, or ``text``."""
    text: str


def html_sections(text: str) -> tuple[DocumentSection, ...]:
    """What people read of a page, under its headings.

    Raises:
        SetupError: beautifulsoup4 is missing.
    """
    try:
        from bs4 import BeautifulSoup
    except ImportError as error:
        raise missing_extra("HTML cannot be read without beautifulsoup4.", "html") from error

    page = BeautifulSoup(text, "html.parser")
    title = page.title.get_text(" ", strip=True) if page.title else ""
    for tag in page(list(UNREAD)):
        tag.decompose()
    return tuple(_divide_html(page, title))


def _divide_html(page: Tag, title: str) -> Iterator[DocumentSection]:
    titles: dict[int, str] = {0: title} if title else {}
    pieces: list[_HtmlPiece] = []
    for piece in _pieces(page, 0):
        if piece.kind not in HEADINGS:
            pieces.append(piece)
            continue
        yield from _section(titles, pieces)
        level, pieces = int(piece.kind[1]), []
        titles = {at: known for at, known in titles.items() if at < level}
        titles[level] = " ".join(piece.text.split())
    yield from _section(titles, pieces)


def _section(titles: dict[int, str], pieces: list[_HtmlPiece]) -> Iterator[DocumentSection]:
    blocks = []
    for is_code, group in itertools.groupby(pieces, key=lambda piece: piece.kind == "pre"):
        if is_code:
            blocks += [f"```\n{piece.text.strip(NEWLINES)}\n```" for piece in group]
        else:
            blocks.append(_paragraphs("".join(piece.text for piece in group)))
    body = "\n\n".join(filter(None, blocks))
    if body.strip():
        yield DocumentSection(body, " › ".join(dict.fromkeys(titles.values())))


def _paragraphs(text: str) -> str:
    lines = (
        " ".join(line.split()).removesuffix(CELL.rstrip()).rstrip() for line in text.split("\n")
    )
    return BLANKS.sub("\n\n", "\n".join(lines)).strip(NEWLINES)


def _pieces(tag: Tag, depth: int) -> Iterator[_HtmlPiece]:
    """Text as it comes, with what it is: a heading, code, or anything else."""
    from bs4.element import PreformattedString, Tag

    for child in tag.children:
        if not isinstance(child, Tag):
            is_read = not isinstance(child, PreformattedString)  # comments, declarations
            yield _HtmlPiece("text", WHITE.sub(" ", str(child)) if is_read else "")
        elif child.name in (*HEADINGS, "pre") or depth > DEEPEST:
            kind = child.name if child.name in (*HEADINGS, "pre") else "text"
            yield _HtmlPiece(kind, child.get_text())
        else:
            before, after = EDGES.get(child.name, ("", ""))
            yield _HtmlPiece("text", before)
            yield from _pieces(child, depth + 1)
            yield _HtmlPiece("text", after)


# Markdown and plain text, divided by their headings.


HASHES = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*$")
UNDERLINE = re.compile(r"""^([=\-~^"*+])\1{2,}\s*$""")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
TITLE_CHARACTERS = 120


def text_sections(text: str) -> tuple[DocumentSection, ...]:
    """The parts of a text, each under the titles that it stands below.

    Titles are marked with ``#`` or underlined; nothing inside a fence is one.
    """
    return _Divided(text.replace("\r\n", "\n").split("\n")).sections()


class _Divided:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._titles: dict[int, str] = {}
        self._marks: list[str] = []
        """Signs that underline titles, in the order in which they came."""
        self._found: list[DocumentSection] = []
        self._kept: list[str] = []
        self._first = 1

    def sections(self) -> tuple[DocumentSection, ...]:
        fence = ""
        for number, line in enumerate(self._lines, start=1):
            mark = FENCE.match(line)
            if mark is not None and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
            if fence or not self._is_title(number, line):
                self._kept.append(line)
        self._end()
        return tuple(self._found)

    def _is_title(self, number: int, line: str) -> bool:
        hashed = HASHES.match(line)
        if hashed is not None:
            self._begin(len(hashed[1]), hashed[2], number)
            return True
        above = self._kept[-1].strip() if self._kept else ""
        underlined = UNDERLINE.match(line)
        if underlined is None or not _fits(above, line, self._kept):
            return False
        if underlined[1] not in self._marks:
            self._marks.append(underlined[1])
        self._kept.pop()
        self._begin(self._marks.index(underlined[1]) + 1, above, number - 1)
        return True

    def _begin(self, level: int, title: str, number: int) -> None:
        self._end()
        kept = {at: words for at, words in self._titles.items() if at < level}
        self._titles = {**kept, level: title.strip()[:TITLE_CHARACTERS]}
        self._first = number

    def _end(self) -> None:
        body = "\n".join(self._kept).strip("\n")
        self._kept = []
        titles = list(self._titles.values())
        if body.strip() or titles:
            # a title without words below it is still something to find
            text = "\n".join(filter(None, [titles[-1] if titles else "", body]))
            anchor = f"line {self._first}"
            self._found.append(DocumentSection(text, " › ".join(titles), anchor))


def _fits(title: str, underline: str, before: list[str]) -> bool:
    """Whether a line of signs underlines a title, and is no table, list or rule."""
    is_alone = len(before) < 2 or not before[-2].strip()
    starts_well = bool(title) and (title[0].isalnum() or title[0] in "\"'(`")
    is_long = len(underline.strip()) >= min(len(title), 3)
    return is_alone and starts_well and is_long and len(title) <= TITLE_CHARACTERS


# Notebooks, divided by their cells: each part names the cell it comes from.


OUTPUT_CHARACTERS = 500
"""Of what a cell shows; the code says more than the rest of a long output."""


def notebook_sections(text: str) -> tuple[DocumentSection, ...]:
    """The cells of a notebook with what they show in brief.

    Raises:
        ValueError: It is no notebook.
    """
    document = json.loads(text)
    cells = document.get("cells") if isinstance(document, dict) else None
    if cells is None and isinstance(document, dict) and document.get("worksheets"):
        cells = document["worksheets"][0].get("cells")
    if not isinstance(cells, list):
        raise ValueError("it has no cells")
    return tuple(_divide_notebook([cell for cell in cells if isinstance(cell, Mapping)]))


def _divide_notebook(cells: list[Mapping[str, Any]]) -> Iterator[DocumentSection]:
    title = ""
    for number, cell in enumerate(cells, start=1):
        anchor = f"cell {cell.get('id') or number}"
        source = _joined(cell.get("source", cell.get("input", "")))
        if cell.get("cell_type") == "code":
            if source.strip():
                yield DocumentSection(source, _below(title, anchor), anchor, "code")
            shown = _shown(cell.get("outputs") or ())
            if shown:
                yield DocumentSection(shown, _below(title, f"output of {anchor}"), anchor)
            continue
        for section in text_sections(source):
            title = section.heading or title
            yield replace(section, heading=_below(title, anchor), anchor=anchor)


def _below(title: str, words: str) -> str:
    return f"{title} › {words}" if title else words


def _shown(outputs: Any) -> str:
    texts = [_output_text(output) for output in outputs if isinstance(output, Mapping)]
    return ESCAPES.sub("", "\n".join(filter(None, texts)))[:OUTPUT_CHARACTERS].strip()


def _output_text(output: Mapping[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    if isinstance(data, Mapping):
        return _joined(data.get("text/plain", ""))
    return _joined(output.get("text", ""))


def _joined(text: Any) -> str:
    if isinstance(text, list):
        return "".join(str(line) for line in text)
    return text if isinstance(text, str) else ""


# PDF by pages, where pypdf is installed.
#
# Not covered: pictures of text, which have no words to find.


PAGE_LIMIT = 2_000


def pdf_sections(data: bytes) -> tuple[DocumentSection, ...]:
    """The words of a PDF, page by page.

    Raises:
        SetupError: pypdf is missing, or the file needs a password.
        ValueError: It cannot be read.
    """
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise missing_extra("PDF cannot be read without pypdf.", "pdf") from error
    # It warns of every flaw of a file, and most files have some.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise SetupError("The PDF needs a password.", hint="Add a copy that needs none.")
        texts = [page.extract_text() for page, _ in zip(reader.pages, range(PAGE_LIMIT))]  # noqa: B905
    except (PyPdfError, RecursionError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"the PDF is damaged ({error})") from error
    return tuple(_divide_pages(texts))


def _divide_pages(texts: list[str]) -> Iterator[DocumentSection]:
    for number, text in enumerate(texts, start=1):
        if text.strip():
            yield DocumentSection(text, f"page {number}", f"page {number}")


# Tables as text: the names of their columns and their first rows.


ROW_LIMIT = 20
CELL_CHARACTERS = 60
SNIFFED_CHARACTERS = 8_192
DELIMITERS = ",;\t|"


def table_sections(text: str) -> tuple[DocumentSection, ...]:
    """The columns of a table and as many of its first rows as fit into a piece."""
    sample = text[:SNIFFED_CHARACTERS]
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(sample, DELIMITERS)
    except csv.Error:
        dialect = csv.excel
    reader = csv.reader(io.StringIO(text, newline=""), dialect)
    rows = list(itertools.islice(reader, ROW_LIMIT + 1))
    if not rows:
        return ()
    lines = [f"columns: {', '.join(_cells(rows[0]))}"]
    for row in rows[1:]:
        line = " | ".join(_cells(row))
        if sum(map(len, lines)) + len(line) > CHUNK_CHARACTERS:
            break
        lines.append(line)
    return (DocumentSection("\n".join(lines), "first rows", "line 1"),)


def _cells(row: list[str]) -> list[str]:
    return [" ".join(cell.split())[:CELL_CHARACTERS] for cell in row]


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
TEXT_READERS: Mapping[str, Callable[[str], tuple[DocumentSection, ...]]] = {
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


def sections_of(kind: str, data: bytes) -> tuple[DocumentSection, ...]:
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
