"""What a notebook's cell shows of each type of content (requirements 1d, 000-23, 000-26)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.record.content import (
    CONTENT_TYPES,
    CONTEXT_MIME,
    ComponentOutput,
    Content,
    Drawn,
    content,
    drawn_contents,
    progress_bar,
    source_links,
)
from cellwright.record.mime_bundles import bundle_text

VEGA = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": "bar"}
PLOTLY: dict[str, Any] = {"data": [], "layout": {}}


def drawn(kind: str, fields: Any, **options: Any) -> Drawn:
    (bundle,) = drawn_contents([content(kind, fields, **options)])
    return bundle


@pytest.mark.parametrize(
    ("kind", "fields", "markdown"),
    [
        ("text", "**3** rows", "**3** rows"),
        ("text", "<img src=x onerror=y>", "&lt;img src=x onerror=y>"),
        ("oral_text", "Done *now*.", "<small>Done &#42;now&#42;.</small>"),
        ("code", {"code": "x = 1", "language": "python"}, "```python\nx = 1\n```"),
        (
            "urls",
            {"url": "https://example.org/a", "title": "A"},
            "- [A](https://example.org/a) (example.org)",
        ),
        ("urls", "javascript:alert(1)", "- javascript:alert(1)"),
        ("files", {"filename": "a_b.csv", "url": "files/a.csv"}, "- a&#95;b.csv"),
        (
            "references",
            {"doc_id": "7", "title": "Guide", "content": "All of it"},
            "1. Guide — All of it",
        ),
        ("references", {"doc_id": "7"}, "1. 7"),
        ("image", {"url": "https://example.org/p.png"}, "[picture](https://example.org/p.png)"),
        ("image", {"base64": "PHN2Zz4=", "mime_type": "image/svg+xml"}, "picture"),
        ("audio", {"url": "https://example.org/a.mp3"}, "[audio](https://example.org/a.mp3)"),
        ("chart", {"type": "bar", "data": "a,b"}, '```json\n{\n  "type": "bar",\n  "data": "a,b"'),
        ("thought", "Hm.", "<details><summary>Thoughts</summary>\n\nHm.\n\n</details>"),
        (
            "plan",
            {"goal": "Sum", "tasks": [{"name": "load", "status": "done"}, "add"]},
            "Sum  \n☑ load  \n☐ add",
        ),
        ("plan", {"detail": "One step", "tasks": "none"}, "One step"),
        ("progress", {"progress": 0.5, "message": "half"}, "<small>▰▰▰▰▰▱▱▱▱▱ 50% half</small>"),
        ("progress", {"progress": 1}, "<small>▰▰▰▰▰▰▰▰▰▰ 100%</small>"),
        ("function_call", {"name": "f", "arguments": {"a": 1}}, "▸ f(&#123;"),
        ("browser", {"query": "q"}, '```json\n{\n  "query": "q"\n}\n```'),
    ],
)
def test_each_type_is_words_that_load_nothing(kind: str, fields: Any, markdown: str) -> None:
    bundle = drawn(kind, fields)
    assert markdown in bundle.markdown
    assert bundle.rich == {}


@pytest.mark.parametrize(
    ("kind", "fields", "rich"),
    [
        ("image", {"base64": "AAAA", "mime_type": "jpeg"}, {"image/jpeg": "AAAA"}),
        ("image", {"base64": "AAAA"}, {"image/png": "AAAA"}),
        (
            "audio",
            {"base64": "AAAA", "mime_type": 'audio/"x'},
            {"text/html": '<audio controls src="data:audio/&quot;x;base64,AAAA"></audio>'},
        ),
        ("chart", {"type": "bar", "data": VEGA}, {"application/vnd.vegalite.v5+json": VEGA}),
        (
            "chart",
            {"type": "bar", "data": '{"data": [], "layout": {}}'},
            {"application/vnd.plotly.v1+json": PLOTLY},
        ),
        ("json", [1, 2], {"application/json": [1, 2]}),
        ("json", '{"a": 1}', {"application/json": {"a": 1}}),
        ("json", "plain", {"application/json": {"data": "plain"}}),
        (
            "text",
            {"info": "a table", "mime": {"text/html": "<table>", CONTEXT_MIME: "x"}},
            {"text/html": "<table>"},
        ),
    ],
)
def test_what_the_tool_drew_is_shown_as_it_is(kind: str, fields: Any, rich: Any) -> None:
    bundle = drawn(kind, fields)
    assert bundle.rich == rich


def test_several_addresses_are_one_list_and_several_sources_are_numbered() -> None:
    links = [content("urls", f"https://example.org/{n}") for n in (1, 2)]
    sources = [content("references", {"title": name}) for name in ("A", "B")]
    one, other = drawn_contents([*links, *sources])
    assert [line[:2] for line in one.markdown.split("\n")] == ["- ", "- "]
    assert other.markdown == "1. A\n2. B"


def source(place: str, **fields: Any) -> Content:
    known = {"id": "2", "title": "[2] guide.md › Units", "type": "library", "source": place}
    return content("references", known | fields, scope="user")


def test_a_source_of_the_library_opens_its_document_from_the_notebooks_folder(
    tmp_path: Path,
) -> None:
    guide = tmp_path / "my docs" / "数据_(a).md"
    notebook = tmp_path / "docs" / "b.ipynb"
    sources = [source(str(guide)), source(str(notebook), extra={"cell_id": "c#1"})]
    (bundle,) = drawn_contents(sources, tmp_path / "work")
    first, second = bundle.markdown.split("\n")
    assert first == ("- [&#91;2&#93; guide.md › Units](../my%20docs/%E6%95%B0%E6%8D%AE_%28a%29.md)")
    assert second.endswith("](../docs/b.ipynb#cell-id=c%231)")
    assert bundle.plain == "[2] guide.md › Units\n[2] guide.md › Units"
    line = source_links([content("text", "no source"), *sources], tmp_path / "work")
    assert line.count("](../") == 2


@pytest.mark.parametrize(
    "piece",
    [
        source("guide.md"),
        source("javascript:alert(1)"),
        source("/docs/guide.md", type="web"),
        source("https://example.org/a", url="javascript:alert(1)"),
    ],
)
def test_what_is_no_document_of_the_library_opens_nothing(piece: Content) -> None:
    (bundle,) = drawn_contents([piece], Path("/docs"))
    assert "](" not in bundle.markdown
    (named,) = drawn_contents([source("/docs/guide.md")])
    assert "](" not in named.markdown, "an export has no folder"


def test_000_23_a_name_is_a_heading_once() -> None:
    pieces = [content("text", word, name="part*1") for word in ("a", "b")]
    bundles = [bundle.markdown for bundle in drawn_contents([*pieces, content("text", "c")])]
    assert bundles == ["**part&#42;1**", "a", "b", "c"]


def test_000_26_what_is_for_the_model_is_not_drawn() -> None:
    assert list(drawn_contents([content("text", "hidden", scope="llm")])) == []
    assert drawn("text", "shown", scope="user").plain == "shown"


def test_an_error_is_shown_as_it_stands_and_nothing_as_nothing() -> None:
    (bundle,) = drawn_contents([Content("text", {"info": "<b>No"}, is_error=True)])
    assert (bundle.markdown, bundle.plain) == ("```text\n✗ <b>No\n```", "✗ <b>No")
    assert list(drawn_contents([content("thought", ""), content("text", "")])) == []


def test_a_very_long_text_is_shown_as_it_stands() -> None:
    assert drawn("text", "**a** " * 5_000).markdown.startswith("```text\n**a** ")


def test_a_bar_stays_within_its_ends() -> None:
    assert [progress_bar(share)[:10].count("▰") for share in (0, 0.04, 0.5, 1)] == [0, 0, 5, 10]


@given(st.sampled_from(sorted(CONTENT_TYPES)), st.text(max_size=60))
def test_no_text_of_a_tool_becomes_markup_that_acts(kind: str, words: str) -> None:
    hostile = f"{words}<script>alert(1)</script>![x](https://evil.example/p)"
    rule = CONTENT_TYPES[kind]
    fields = {name: hostile for name in (*rule.required, *rule.one_of, *rule.optional)}
    if kind == "progress":
        fields["progress"] = 0.5  # type: ignore[assignment]
    for bundle in drawn_contents([Content(kind, fields)]):  # type: ignore[arg-type]
        outside = "".join(bundle.markdown.split("```")[::2])
        assert "<script" not in outside
        assert "![x](https://evil" not in outside
        assert not any("<script>" in str(each) for each in bundle.rich if each != "text/plain")


def test_an_output_in_a_cell_is_drawn_by_its_type() -> None:
    links = (content("urls", "https://example.org/a"), content("text", "**3**"))
    shown = ComponentOutput(links)._repr_mimebundle_()
    assert shown["text/markdown"] == "- [https://example.org/a](https://example.org/a)\n\n**3**"
    chart = ComponentOutput((content("chart", {"type": "bar", "data": VEGA}, scope="user"),))
    assert chart._repr_mimebundle_()["application/vnd.vegalite.v5+json"] == VEGA
    several = ComponentOutput((content("json", [1]), content("text", "x")))
    assert several._repr_mimebundle_()["text/markdown"] == "```\n[\n  1\n]\n```\n\nx"
    assert "text/markdown" not in ComponentOutput(())._repr_mimebundle_()


@pytest.mark.parametrize("kind", ["chart", "json", "code", "urls", "image"])
def test_000_26_what_a_cell_draws_for_the_person_is_not_read_by_the_model(kind: str) -> None:
    fields = {
        "chart": {"type": "bar", "data": VEGA},
        "json": {"secret": "VEGA"},
        "code": "vega",
        "urls": "https://vega.example/",
        "image": {"base64": "AAAA", "filename": "vega"},
    }[kind]
    shown = ComponentOutput((content(kind, fields, scope="user"),))._repr_mimebundle_()
    assert bundle_text(shown) == "(no output)"
    assert not any(mime.startswith("image/") for mime in shown)
