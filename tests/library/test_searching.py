"""What is found: words, parts of words, Chinese, and the order in which it comes."""

from __future__ import annotations

import pytest
from cpu_time import quick, seconds_of
from library.shelves import Shelf

from cellwright.knowledge.library import Hit, Library, searching
from cellwright.knowledge.library.searching import QueryTerms, Scope, asks_for_library, read_query


def test_a_question_becomes_terms_without_what_every_text_says() -> None:
    assert read_query("What is the mean of read_csv in 3.11?").words == ("mean", "read_csv", "3.11")
    chinese = read_query("数据清洗怎么做，还有 清洗 吗 pandas")
    assert chinese == QueryTerms(("pandas",), ("数据清", "据清洗"), ("做", "还", "清洗"))
    assert chinese.count == 6
    assert read_query("is it?").count == 0


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("What does the library say about returns?", True),
        ("look into our documents", True),
        ("知识库里有什么", True),
        ("plot revenue by month", False),
        ("which pandas function documents a column", False),
    ],
)
def test_it_is_known_whether_the_library_is_asked_for(words: str, asks: bool) -> None:
    assert asks_for_library(words) is asks


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    """A library of three kinds of text."""
    shelf.write("returns.md", "# Returns\nGoods are returned within thirty days.")
    shelf.write("prices.md", "# Prices\nThe price of a unit has no tax. Returns are rare.")
    shelf.write("clean.md", "# 清洗\n数据清洗的步骤：删除空值，合并表格。")
    shelf.write("load.py", "def read_sales(path):\n    print(groupbyish(path))\n")
    shelf.add(".")
    return shelf


def test_002_08_words_are_found_in_other_forms_and_headings_count_more(filled: Shelf) -> None:
    assert filled.found("returning") == ["returns.md", "prices.md"]
    assert filled.found("what is the tax of a unit?") == ["prices.md"]


def test_002_08_parts_of_words_code_and_chinese_are_found(filled: Shelf) -> None:
    assert filled.found("roupbyis") == ["load.py"]
    assert filled.found("read_sales") == ["load.py"]
    assert filled.found("数据清洗怎么做") == ["clean.md"]
    assert filled.found("空值") == ["clean.md"]
    assert filled.found("合并 空值") == ["clean.md"]
    assert filled.found("没有的词语") == []


def test_signs_of_the_query_language_are_plain_words(filled: Shelf) -> None:
    assert filled.found('tax" OR (NEAR * ^ -') == ["prices.md"]
    assert filled.found("100%_ %") == []
    assert filled.found("") == []


def test_002_08_seven_pieces_at_most_and_each_text_once(shelf: Shelf) -> None:
    for number in range(12):
        shelf.write(f"{number}.md", f"zebra number {number}")
    for number in range(3):
        shelf.write(f"copy{number}.md", "zebra copied")
    shelf.add(".")
    hits = shelf.search("zebra")
    assert len(hits) == 7
    assert len({hit.text for hit in hits}) == 7
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert sum(hit.text == "zebra copied" for hit in shelf.search("zebra copied", 15)) == 1


def test_words_of_every_piece_do_not_drown_the_rare_ones(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "COMMON", 5)
    for number in range(10):
        shelf.write(f"{number}.md", f"sales figures number{number}")
    shelf.write("okapi.md", "sales okapi")
    shelf.add(".")
    assert shelf.found("sales okapi")[0] == "okapi.md"
    assert len(shelf.found("sales okapi")) == 1
    assert len(shelf.found("sales figures")) == 7
    shelf.write("report.md", "report " * 3)
    for number in range(10):
        shelf.write(f"r{number}.md", f"report of number{number}")
    shelf.update()
    assert len(shelf.found("sales report")) == 7, "no piece has both, so either counts"


def test_a_scope_leaves_out_what_may_not_be_read(filled: Shelf) -> None:
    libraries = filled.libraries

    def may_read(library: Library, hit: Hit) -> bool:
        return hit.name == "prices.md"

    scope = Scope(libraries.above(str(filled.folder)), may_read)
    assert [hit.name for hit in libraries.searcher.search(scope, "returns").hits] == ["prices.md"]
    assert libraries.searcher.search(Scope(()), "returns").hits == ()


def test_a_library_of_another_project_is_not_searched(filled: Shelf) -> None:
    other = Shelf(filled.folder.parent / "other", filled.libraries)
    (other.folder / ".git").mkdir(parents=True)
    other.write("a.md", "returns of another project")
    other.add(".")
    assert other.found("returns") == ["a.md"]
    assert "a.md" not in filled.found("returns")
    assert [each.root for each in other.libraries.around(str(other.folder.parent))] == [
        str(other.folder),
        str(filled.folder),
    ]


@pytest.mark.serial
def test_many_documents_are_read_in_seconds_and_answer_at_once(shelf: Shelf) -> None:
    words = ["revenue", "region", "units", "price", "margin", "return", "month", "customer"]
    for number in range(400):
        body = " ".join(words[(number * step) % 8] + str(number % 97) for step in range(120))
        shelf.write(f"docs/{number}.md", f"# Report {number}\n{body}\n\nsales revenue by region")
    took, added = seconds_of(lambda: shelf.add("docs"))
    assert added.changed == 400
    assert took < 15, "10,000 documents are to take minutes at most"
    # a library of 10,000 is to answer in 50 ms
    assert quick(lambda: shelf.search("What is the revenue of region units42 by month?"), 0.25)
