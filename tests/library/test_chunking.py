"""Documents in pieces: where they are cut, and what stays whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cellwright.knowledge.library import CHUNK_CHARACTERS, OVERLAP_CHARACTERS, DocumentSection
from cellwright.knowledge.library.chunking import chunks_of, code_pieces, prose_pieces
from cellwright.knowledge.library.reading import code_sections, python_sections


def test_002_08_pieces_have_about_a_thousand_characters_and_are_in_order() -> None:
    paragraphs = [f"Paragraph {n} " + "speaks of things. " * 20 for n in range(12)]
    pieces = prose_pieces("\n\n".join(paragraphs))
    assert all(len(piece) <= CHUNK_CHARACTERS for piece in pieces)
    numbers = [int(line.split()[1]) for piece in pieces for line in piece.split("\n\n")]
    assert numbers == list(range(12))


def test_002_08_only_a_long_paragraph_overlaps() -> None:
    words = " ".join(f"word{n}" for n in range(500))
    pieces = prose_pieces(words)
    assert len(pieces) > 3
    for before, after in zip(pieces, pieces[1:], strict=False):
        shared = after.split()[0]
        assert shared in before
        assert len(before) - before.index(shared) <= OVERLAP_CHARACTERS + 10
    two = prose_pieces("a" * 800 + "\n\n" + "b" * 800)
    assert two == ["a" * 800, "b" * 800]


def test_a_long_text_without_blanks_is_cut_too() -> None:
    pieces = prose_pieces("数据" * 1_500)
    assert len(pieces) > 2
    assert all(len(piece) <= CHUNK_CHARACTERS for piece in pieces)


def test_a_fence_is_not_cut_where_it_fits_and_keeps_its_lines_where_not() -> None:
    fence = "```python\n" + "x = 1\n\n" * 50 + "```"
    pieces = prose_pieces("words " * 150 + "\n\n" + fence + "\n\nmore words")
    assert fence in pieces[1]
    long = "~~~\n" + "y = 2\n" * 400 + "~~~"
    assert "".join(prose_pieces(long)) == long
    assert prose_pieces("```\nnever closed") == ["```\nnever closed"]
    assert prose_pieces("words\n```\na\n```\nend") == ["words\n\n```\na\n```\n\nend"]


@given(st.text(st.sampled_from("ab \n\r\t.é数"), max_size=6_000))
def test_002_08_pieces_of_code_put_together_are_the_code(code: str) -> None:
    assert "".join(code_pieces(code)) == code


@given(st.text(st.sampled_from("def a():\n class B\r x=1\f\x1c#"), max_size=400))
def test_002_08_sections_of_code_put_together_are_the_file(code: str) -> None:
    assert "".join(section.text for section in python_sections(code)) == code
    assert "".join(section.text for section in code_sections(code)) == code


def test_code_is_cut_before_an_empty_line_where_there_is_one() -> None:
    block = "a = 1\n" * 140
    pieces = code_pieces(block + "\n" + block)
    assert pieces == [block, "\n" + block]
    assert len(code_pieces("x" * 20_000)) == 3


def test_a_piece_of_code_says_its_first_line_and_every_piece_its_headings() -> None:
    section = DocumentSection("a = 1\n" * 400, "compute", "line 11", "code")
    chunks = chunks_of(
        "src/a.py", [section, DocumentSection("  \n", kind="code"), DocumentSection("Hi", "Top")]
    )
    assert [chunk.anchor for chunk in chunks] == ["line 11", "line 181", "line 351", ""]
    assert chunks[0].heading == "src/a.py › compute"
    assert chunks[-1].heading == "src/a.py › Top"
    assert chunks[0].sha256 != chunks[2].sha256
