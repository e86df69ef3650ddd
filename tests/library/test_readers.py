"""Kinds of documents: what is read of each, and where it says it is."""

from __future__ import annotations

import json
import sys
from io import BytesIO

import pytest

from cellwright.errors import SetupError
from cellwright.knowledge.library import DocumentSection
from cellwright.knowledge.library.reading import decoded, kind_of, kind_of_mime, sections_of


def headings(sections: tuple[DocumentSection, ...]) -> list[str]:
    return [section.heading for section in sections]


def test_the_kind_is_told_by_the_name() -> None:
    names = [
        "README.md",
        "a.PY",
        "b.ipynb",
        "c.csv",
        "d.htm",
        "e.pdf",
        "f.sql",
        "Makefile",
        "g.png",
    ]
    kinds = ["text", "python", "notebook", "table", "html", "pdf", "code", "code", ""]
    assert [kind_of(name) for name in names] == kinds
    assert kind_of_mime("text/html; charset=utf-8") == "html"
    assert kind_of_mime("text/x-rst") == "text"
    assert kind_of_mime("image/png") == ""


def test_markdown_is_divided_by_its_headings_and_not_inside_of_fences() -> None:
    text = "Before.\n# Guide\nHello.\n## Install\n```\n# no title\n```\n# Other\n"
    sections = sections_of("text", text.encode())
    assert headings(sections) == ["", "Guide", "Guide › Install", "Other"]
    assert "# no title" in sections[2].text
    assert [section.anchor for section in sections] == ["line 1", "line 2", "line 4", "line 8"]
    assert sections[3].text == "Other"


def test_underlined_titles_count_by_the_order_of_their_signs() -> None:
    text = (
        "Title\n=====\n\nWords.\n\nPart\n----\n\nMore.\n\nNext\n====\n\n- item\n---\n\n| a |\n---\n"
    )
    sections = sections_of("text", text.encode())
    assert headings(sections) == ["Title", "Title › Part", "Next"]


def test_python_is_divided_by_definitions_and_a_long_class_by_its_methods() -> None:
    method = "    def m{0}(self):\n" + "        x = 1\n" * 40
    code = (
        "import os\n\n@cache\ndef first():\n    pass\n\nX = 1\nclass Long:\n    y = 2\n"
        + method.format(1)
        + "    z = 3\n"
        + method.format(2)
    )
    sections = sections_of("python", code.encode())
    assert headings(sections) == ["", "first", "", "Long", "Long.m1", "Long", "Long.m2"]
    assert sections[1].text.startswith("@cache\n")
    assert all(section.kind == "code" for section in sections)
    assert headings(sections_of("python", b"def broken(:\n  x\ndef fine():\n")) == [
        "broken",
        "fine",
    ]


def test_other_code_is_divided_by_lines_that_begin_a_definition() -> None:
    code = "--\nCREATE TABLE sales (id INT);\nexport function go() {}\nf <- function(x) x\n"
    assert headings(sections_of("code", code.encode())) == ["", "sales", "go", "f"]


def test_a_notebook_is_divided_by_cells_with_their_ids() -> None:
    outputs = [
        {"output_type": "stream", "text": ["\x1b[31m42\x1b[0m\n"]},
        {"output_type": "execute_result", "data": {"text/plain": "Frame"}},
        {"output_type": "error", "ename": "KeyError", "evalue": "'x'"},
        "odd",
    ]
    cells = [
        {"cell_type": "markdown", "id": "m1", "source": "# Load\nHow to load."},
        {"cell_type": "code", "id": "c1", "source": ["import os\n", "os.name"], "outputs": outputs},
        {"cell_type": "code", "source": "  ", "outputs": []},
        {"cell_type": "raw", "source": 7},
    ]
    sections = sections_of("notebook", json.dumps({"cells": cells}).encode())
    assert [(section.anchor, section.heading) for section in sections] == [
        ("cell m1", "Load › cell m1"),
        ("cell c1", "Load › cell c1"),
        ("cell c1", "Load › output of cell c1"),
    ]
    assert sections[1].text == "import os\nos.name"
    assert sections[2].text == "42\n\nFrame\nKeyError: 'x'"
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "1 + 1"}]}]}
    assert sections_of("notebook", json.dumps(old).encode())[0].text == "1 + 1"


def test_a_table_is_its_columns_and_first_rows() -> None:
    rows = "\n".join(f"{n};north;{n * 2}" for n in range(100))
    (section,) = sections_of("table", f"id;region;units\n{rows}".encode())
    lines = section.text.split("\n")
    assert lines[:2] == ["columns: id, region, units", "0 | north | 0"]
    assert len(lines) == 21
    assert sections_of("table", b"") == ()
    (wide,) = sections_of("table", ("a\n" + ("x" * 60 + ",") * 30 + "\n").encode())
    assert wide.text == "columns: a"


def test_html_is_what_people_read_of_it_under_its_headings() -> None:
    page = (
        "<html><head><title>Shop</title><style>p{}</style></head><body><!-- hidden -->"
        "<nav>menu</nav><p>Welcome to <b>us</b>.</p><h2>Returns</h2><p>Within 30 days.</p>"
        "<pre>code  here\n  kept</pre><table><tr><td>a</td><td>b</td></tr></table>"
        "<script>alert(1)</script></body></html>"
    )
    sections = sections_of("html", page.encode())
    assert headings(sections) == ["Shop", "Shop › Returns"]
    assert sections[0].text == "Welcome to us."
    assert "code  here\n  kept" in sections[1].text
    assert "a | b" in sections[1].text
    assert not any(word in repr(sections) for word in ("alert", "menu", "hidden", "p{}"))


def test_deeply_nested_html_ends() -> None:
    (section,) = sections_of("html", b"<div>" * 600 + b"deep" + b"</div>" * 600)
    assert section.text == "deep"


def test_pdf_is_read_by_pages() -> None:
    pytest.importorskip("pypdf")
    sections = sections_of("pdf", small_pdf("Returns within thirty days"))
    assert [(section.heading, section.anchor) for section in sections] == [("page 1", "page 1")]
    assert "thirty days" in sections[0].text
    with pytest.raises(SetupError, match="damaged"):
        sections_of("pdf", b"%PDF-1.4 broken")


def test_a_pdf_with_a_password_says_so() -> None:
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(10, 10)
    writer.encrypt("word", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    with pytest.raises(SetupError, match="needs a password"):
        sections_of("pdf", out.getvalue())


def test_a_page_of_pictures_has_no_words_and_pypdf_may_be_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(10, 10)
    out = BytesIO()
    writer.write(out)
    assert sections_of("pdf", out.getvalue()) == ()
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(SetupError, match=r"cellwright\[pdf\]"):
        sections_of("pdf", out.getvalue())


def test_reading_html_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bs4", None)
    with pytest.raises(SetupError, match=r"cellwright\[html\]"):
        sections_of("html", b"<p>thirty days</p>")


def small_pdf(text: str) -> bytes:
    """A PDF of one page, written by hand."""
    stream = f"BT /F1 24 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n"
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start)


def test_text_is_read_in_usual_encodings() -> None:
    assert decoded("\ufeffHä".encode("utf-8")) == "Hä"
    assert decoded("Hä".encode("utf-16")) == "Hä"
    words = "数据清洗是分析的第一步,先看缺失值和重复的行,再看每一列的类型和单位,最后才画图。"
    assert decoded(f"{words}{words}".encode("gb18030")) == f"{words}{words}"
    assert decoded(b"caf\xe9") == "café"
    for unknown in (b"\0\1\2", "数据清洗".encode("gb18030")):
        with pytest.raises(SetupError, match="not text in an encoding that is recognised"):
            decoded(unknown)


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("text", b"\0binary", "not text"),
        ("notebook", b"{", "cannot be read as notebook"),
        ("notebook", b"[]", "no cells"),
        ("notebook", b'{"worksheets": [1]}', "cannot be read as notebook"),
        ("text", bytes(50 * 1024 * 1024 + 1), "more than 50 MB"),
    ],
    ids=["binary", "json", "list", "odd", "large"],
)
def test_what_cannot_be_read_says_why(kind: str, data: bytes, words: str) -> None:
    with pytest.raises(SetupError, match=words):
        sections_of(kind, data)
