"""What a person sees of a reply while it comes: the words, and nothing of the form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter, StringField
from cellwright.llm.adapters.sections import SectionText
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.llm.signatures import Signature
from cellwright.record.messages import Manifest, ToolCall

TOOLS = (Manifest("anything", "Takes anything.", {"type": "object"}),)


def streamed(stream: ShownText, text: str, size: int) -> str:
    pieces = [stream.feed(text[n : n + size]) for n in range(0, len(text), size)]
    return "".join([*pieces, stream.finish()])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
@pytest.mark.parametrize(
    "say",
    [
        "I look at `df[0]`.",
        "a < b & c]] > d",
        "<![CDATA[",
        "A [link](x) and [[1]]\n\n- a\n- b",
        "[",
        "é",
    ],
)
def test_004_30_only_the_words_are_shown_however_the_reply_is_cut(size: int, say: str) -> None:
    code = json.dumps({"code": "hidden = '[[ ## say ## ]]'"})
    for adapter in (ChatAdapter(), JSONAdapter(), XMLAdapter()):
        text = adapter.write_reply(say, [ToolCall("c", "run_cell", code)])
        stream = adapter.shown(TOOLS)
        assert stream is not None
        assert streamed(stream, text, size) == say


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_004_30_the_text_of_an_output_is_shown_as_it_will_be_read(size: int) -> None:
    signature = Signature.parse("-> answer, code: Code, items: list[str]")
    reply = (
        "<answer>\na &lt; b &amp; c\n</answer>\n<code>x &lt; y</code>\n"
        "<items><item>a &lt; b</item></items>"
    )
    shown = {
        name: streamed(field, reply, size)
        for name in signature.output_fields
        if (field := XMLAdapter().shown_field(signature, name)) is not None
    }
    assert shown == {
        "answer": "a < b & c",
        "code": "x &lt; y",
        "items": "<item>a &lt; b</item>",
    }


@pytest.mark.parametrize("size", [1, 4, 100])
def test_004_30_a_header_split_across_pieces_is_never_shown(size: int) -> None:
    text = (
        "[[ ## say ## ]]\nOne.\n\n[[ ## call x ## ]]\n[[ ## say ## ]]\n two [[ ## completed ## ]]"
    )
    assert streamed(SectionText(ChatNames, "say"), text, size) == "One.two"


def ChatNames(name: str) -> bool:  # noqa: N802 (stands for a predicate)
    return name in ("say", "completed") or name.startswith("call ")


@given(st.text(), st.integers(1, 9))
def test_004_30_a_json_text_is_shown_piece_by_piece(say: str, size: int) -> None:
    for ascii_only in (True, False):
        text = json.dumps({"say": say, "calls": []}, ensure_ascii=ascii_only)
        assert streamed(StringField("say"), text, size) == say


def test_a_field_that_is_not_there_shows_nothing() -> None:
    assert streamed(StringField("say"), '{"calls": []}', 3) == ""
    assert streamed(StringField("say"), '{"say": "bad \\x escape"}', 40) == ""
