"""Typed, scoped contents and their merge (requirements tables 1c and 1d)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cellwright.errors import ToolError
from cellwright.record import mime_bundles as mime_text
from cellwright.record.content import (
    CONTENT_TYPES,
    CONTEXT_MIME,
    OUTPUT_MIME,
    ComponentOutput,
    Content,
    Metrics,
    content,
    content_schema,
    for_model,
    for_person,
    metrics_of,
    text,
)
from cellwright.record.content_streams import merge, merged_metrics
from cellwright.record.messages import ImagePart, ModelUsage, TextPart, Usage, model_usages
from cellwright.record.values import from_dict, to_dict

EXAMPLES: dict[str, Any] = {
    "text": {"info": "hi"},
    "code": {"code": "x = 1", "language": "python"},
    "files": {"filename": "a.csv", "url": "a", "size_bytes": 1200, "mime_type": "text/csv"},
    "urls": {"url": "https://example.org", "title": "Example"},
    "oral_text": {"info": "done"},
    "references": {"doc_id": "d1", "title": "Guide", "content": "Use it."},
    "image": {"base64": "AAAA", "mime_type": "png", "filename": "plot"},
    "chart": {"type": "bar", "data": {"a": 1}},
    "audio": {"url": "a.wav", "filename": "a.wav"},
    "json": {"data": {"a": [1, 2]}},
    "thought": {"info": "hm"},
    "plan": {"goal": "win", "tasks": []},
    "function_call": {"name": "f", "arguments": {"x": 1}},
    "progress": {"progress": 0.5, "message": "half"},
    "browser": {"query": "q"},
}  # fmt: skip

READ_BY_MODEL = {
    "text": "hi",
    "code": "```python\nx = 1\n```",
    "files": "a.csv (1,200 bytes, text/csv)",
    "urls": "Example: https://example.org",
    "oral_text": "done",
    "references": "[d1] Guide: Use it.",
    "chart": 'Chart (bar): {"a":1}',
    "audio": "Audio a.wav shown to the user",
    "json": '{"a":[1,2]}',
    "plan": '{"goal":"win","tasks":[]}',
    "function_call": 'f({"x":1})',
    "browser": '{"query":"q"}',
}


@pytest.mark.parametrize("kind", CONTENT_TYPES)
def test_000_25_every_type_has_one_schema_that_its_example_fits(kind: str) -> None:
    made = content(kind, EXAMPLES[kind])
    Draft202012Validator.check_schema(content_schema())
    Draft202012Validator(content_schema()).validate(
        {"type": made.type, "text": dict(made.text), "visible_scope": made.visible_scope}
    )
    assert from_dict(Content, to_dict(made)) == made


@pytest.mark.parametrize("kind", CONTENT_TYPES)
def test_000_1d_each_type_reads_as_the_table_says(kind: str) -> None:
    parts = for_model((content(kind, EXAMPLES[kind]),))
    if kind == "image":
        assert parts == (ImagePart("image/png", "AAAA", "plot"),)
    else:
        assert parts == (TextPart(READ_BY_MODEL.get(kind, "(no output)")),)


def test_000_1d_a_picture_that_is_elsewhere_is_told_of_in_words() -> None:
    made = content("image", {"url": "p.png", "filename": "p.png", "width": 64, "height": 48})
    assert for_model((made,)) == (TextPart("Image p.png 64x48 shown to the user"),)
    assert for_person((made,)) == "p.png"


def test_000_1d_people_read_progress_and_thoughts_that_models_do_not_get() -> None:
    contents = (content("progress", EXAMPLES["progress"]), content("thought", "hm"))
    assert for_person(contents) == "50% half\nhm"
    assert for_model(contents) == (TextPart("(no output)"),)


def test_000_1d_a_fence_inside_code_does_not_end_it() -> None:
    assert for_model((content("code", "```\nx"),)) == (TextPart("~~~~\n```\nx\n~~~~"),)


@pytest.mark.parametrize(
    ("kind", "given_text", "complaint"),
    [
        ("text", {}, "type 'text' has no 'info'"),
        ("chart", {}, "type 'chart' has no 'type'; has no 'data'"),
        ("image", {"filename": "x"}, "has none of 'base64', 'url', 'file_id'"),
        ("progress", {"progress": 7}, "has progress 7, which is not between 0 and 1"),
        ("progress", {"progress": "x"}, "has progress 'x'"),
        ("files", "a.csv", "has no 'filename'"),
    ],
)
def test_000_16_wrong_fields_are_all_named(kind: str, given_text: Any, complaint: str) -> None:
    with pytest.raises(ToolError) as caught:
        content(kind, given_text)
    assert complaint in str(caught.value)


def test_000_16_a_plain_string_stands_for_the_main_field() -> None:
    assert content("code", "x").text == {"code": "x"}
    assert content("json", [1]).text == {"data": [1]}


def test_000_24_an_unknown_type_is_kept_as_json_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="'hologram' is not known"):
        made = content("hologram", {"a": 1})
    assert (made.type, made.text["unknown_type"]) == ("json", "hologram")
    assert made.text["data"] == {"a": 1}


def test_000_24_a_dict_is_good_json_and_extra_fields_stay() -> None:
    assert content("json", {"a": 1}).text == {"data": {"a": 1}}
    assert content("text", {"info": "x", "more": 1}).text["more"] == 1


@pytest.mark.parametrize("alias", ["reasoning_content", "tought", "thought"])
def test_x_05_a_thought_has_its_other_names(alias: str) -> None:
    assert content(alias, "hm").type == "thought"


def test_000_26_an_empty_scope_is_all_and_another_word_is_refused() -> None:
    assert content("text", "x", scope="").visible_scope == "all"
    with pytest.raises(ToolError, match="The scope is 'weird'"):
        content("text", "x", scope="weird")


def test_000_26_what_is_for_the_user_is_never_sent_and_what_is_for_the_model_never_drawn() -> None:
    contents = tuple(content("text", scope, scope=scope) for scope in ("all", "llm", "user"))
    assert for_model(contents) == (TextPart("all"), TextPart("llm"))
    assert for_person(contents) == "all\nuser"


def test_000_21_there_are_three_roles() -> None:
    assert ComponentOutput((), "user").role == "user"
    with pytest.raises(ToolError, match="The role is 'system'"):
        ComponentOutput((), "system")  # type: ignore[arg-type]


def test_000_20_no_content_is_legal() -> None:
    assert for_model(()) == (TextPart("(no output)"),)


def test_000_28_usage_may_be_a_dict_or_a_list_and_is_completed() -> None:
    assert model_usages({"name": "m", "prompt_tokens": 3, "completion_tokens": 2}) == (
        ModelUsage("m", Usage(3, 2)),
    )
    assert model_usages([{"model": "m", "total_tokens": 9}, {}]) == (
        ModelUsage("m", Usage(9, 0, estimated=True)),
    )
    partly = {"model": "m", "prompt_tokens": 4, "total_tokens": 9}
    assert model_usages(partly) == (ModelUsage("m", Usage(9, estimated=True)),)
    assert model_usages(model_usages({"name": "m"})) == (ModelUsage("m", Usage(estimated=True)),)


def test_000_30_two_references_become_one_group_and_each_comes_once() -> None:
    one, two = ({"doc_id": "1", "title": "A"}, {"doc_id": "2", "title": "B"})
    outputs = [
        ComponentOutput((content("references", one), content("text", "a"))),
        ComponentOutput((content("references", two), content("references", one))),
        ComponentOutput((content("text", "b"), content("text", ""))),
    ]
    (merged,) = merge(outputs)
    found = [(item.type, item.text.get("title") or item.text["info"]) for item in merged.content]
    assert found == [("references", "A"), ("references", "B"), ("text", "ab")]


def test_000_30_names_scopes_and_errors_stay_apart() -> None:
    contents = [
        content("text", "a", name="one"),
        content("text", "b", name="two"),
        content("text", "c", scope="llm"),
        Content("text", {"info": "d"}, is_error=True),
        content("text", "e", name="one"),
    ]
    (merged,) = merge(ComponentOutput((item,)) for item in contents)
    assert [item.text["info"] for item in merged.content] == ["ae", "b", "c", "d"]


def test_000_30_progress_keeps_its_last_word_and_raw_data_adds_up() -> None:
    (merged,) = merge(
        ComponentOutput((content("progress", {"progress": share}, raw_data={key: share}),))
        for share, key in ((0.1, "a"), (0.7, "b"))
    )
    assert merged.content[0].text == {"progress": 0.7}
    assert merged.content[0].raw_data == {"a": 0.1, "b": 0.7}


def test_000_30_roles_make_outputs_of_their_own() -> None:
    merged = merge([text("a"), ComponentOutput((), "assistant"), text("b")])
    assert [output.role for output in merged] == ["tool", "assistant"]


def test_x_04_metrics_go_from_the_first_begin_to_the_last_end() -> None:
    first = Metrics(1.0, 3.0, 2.0, first_output_seconds=0.5, kernel_cpu_seconds=1.0)
    second = Metrics(2.0, 7.0, 5.0, memory_delta_megabytes=4.0)
    assert merged_metrics([None, first, second]) == Metrics(1.0, 7.0, 6.0, 0.5, 4.0, 1.0)
    assert merged_metrics([None]) is None


def made(kind: str, word: str, name: str, scope: str, tokens: int) -> Content:
    usage = (ModelUsage("m", Usage(tokens)),) if tokens else ()
    raw_data = {word: 1} if word else {}
    return replace(
        content(kind, FIELDS[kind](word), name=name, scope=scope, raw_data=raw_data), usage=usage
    )


CONTENTS = st.builds(
    made,
    st.sampled_from(["text", "code", "references", "json", "progress", "urls"]),
    st.sampled_from(["", "a", "b", "c"]),
    st.sampled_from(["", "n"]),
    st.sampled_from(["all", "llm", "user"]),
    st.integers(0, 3),
)
FIELDS: dict[str, Any] = {
    "text": lambda word: word,
    "code": lambda word: word,
    "references": lambda word: {"doc_id": word, "title": word or "none"},
    "json": lambda word: {"data": word},
    "progress": lambda word: {"progress": len(word) / 2},
    "urls": lambda word: word,
}
OUTPUTS = st.lists(
    st.builds(
        ComponentOutput,
        st.lists(CONTENTS, max_size=3).map(tuple),
        st.sampled_from(["tool", "assistant"]),
    ),
    max_size=6,
)


@given(OUTPUTS)
def test_000_30_merging_twice_changes_nothing(outputs: list[ComponentOutput]) -> None:
    once = merge(outputs)
    assert merge(once) == once


@given(OUTPUTS, st.data())
def test_000_30_any_split_of_a_stream_merges_to_the_same(
    outputs: list[ComponentOutput], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(outputs)))
    assert merge([*merge(outputs[:cut]), *merge(outputs[cut:])]) == merge(outputs)


def test_000_27_raw_data_that_is_huge_or_no_json_can_be_recorded() -> None:
    odd: dict[Any, Any] = {"when": object, 3: "three"}
    kept = content("text", "x", raw_data=odd).raw_data
    assert kept == {"when": str(object), "3": "three"}
    cut = content("text", "x", raw_data={"page": "words " * 10_000}).raw_data
    assert cut["characters"] > 60_000
    assert len(cut["sha256"]) == 64
    assert cut["beginning"].startswith('{"page": "words')


@pytest.mark.parametrize(
    ("given_metrics", "expected"),
    [
        ({"begin_timestamp": 1, "end_timestamp": 3}, Metrics(1.0, 3.0, 2.0)),
        ({"begin_time": 1, "duration": 2}, Metrics(1.0, 3.0, 2.0)),
        (
            {"first_token_time(s)": 0.5, "total_time(s)": "2", "memory_used(MB)": 7},
            Metrics(0.0, 0.0, 2.0, 0.5, 7.0),
        ),
        (Metrics(1.0), Metrics(1.0)),
        ({}, None),
        (None, None),
    ],
)
def test_x_04_the_three_shapes_of_metrics_are_one(
    given_metrics: Any, expected: Metrics | None
) -> None:
    assert metrics_of(given_metrics) == expected


def test_x_04_a_metric_that_is_no_number_is_named() -> None:
    with pytest.raises(ToolError, match="'duration_seconds' is 'long', which is no number"):
        metrics_of({"duration": "long"})


def test_000_26_a_cell_shows_the_persons_part_and_keeps_the_whole_beside_it() -> None:
    assert CONTEXT_MIME == mime_text.CONTEXT
    output = ComponentOutput(
        (
            content("text", "a < b", scope="user"),
            content("text", "for the model", scope="llm"),
            content("image", {"base64": "AAAA", "filename": 'p"q'}, scope="user"),
            content("text", {"info": "table", "mime": {"text/html": "<table></table>"}}),
        )
    )
    bundle = output._repr_mimebundle_()
    assert bundle["text/plain"] == 'a < b\np"q\ntable'
    assert bundle[CONTEXT_MIME] == "for the model\ntable"
    assert bundle["text/html"].split("\n") == [
        "<pre>a &lt; b</pre>",
        '<img src="data:image/png;base64,AAAA" alt="p&quot;q">',
        "<table></table>",
    ]
    kept = from_dict(ComponentOutput, bundle[OUTPUT_MIME])
    assert kept.content[:2] == output.content[:2]
    assert kept.content[3] == output.content[3]
    assert kept.content[2].text == {"filename": 'p"q'}
    assert "text/html" not in content("text", "x")._repr_mimebundle_()


def test_000_1d_a_picture_is_words_for_a_model_that_does_not_see() -> None:
    made = content("image", {"base64": "AAAA", "filename": "p"})
    assert for_model((made,), sees_images=False) == (TextPart("Image p shown to the user"),)


def test_000_27_raw_data_does_not_get_into_the_notebook() -> None:
    made = content("text", "x", raw_data={"origin_response": "raw words"})
    assert "raw words" not in str(made._repr_mimebundle_())
