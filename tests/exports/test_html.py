"""A run as one HTML file: what it shows, and what it cannot do (fault A19)."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hostile_runs import hostile_run, payloads
from recorded_runs import PIXEL, analysis_run, called, cell_run, record_of, replied, result, started

from cellwright.exports.html import export
from cellwright.record.content import Content
from cellwright.record.events import (
    ApprovalAnswered,
    CellAdded,
    CellFinished,
    CellStarted,
    Event,
    ModelAsked,
    RunFinished,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import AssistantMessage, ToolMessage, Usage
from cellwright.record.outputs import (
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    StreamOutput,
)
from cellwright.text.redaction import Redactor

SINK = "http://127.0.0.1:9/sink"
DRAWN = {"html", "head", "meta", "title", "style", "body", "main", "header", "footer"} | {
    *("div", "span", "small", "p", "pre", "code", "br", "hr", "img", "strong", "em", "b", "i"),
    *("u", "s", "sub", "sup", "dl", "dt", "dd", "ol", "ul", "li", "h1", "h2", "h3", "h4", "h5"),
    *("h6", "details", "summary", "blockquote", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"class", "lang", "charset", "content", "name", "http-equiv", "alt", "src"} | {
    "colspan",
    "rowspan",
    "start",
}
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")


class Inspector(HTMLParser):
    """Everything in a page that a browser could act on."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.styles: list[str] = []
        self.seen = ""
        self._in_style = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        if tag not in DRAWN:
            self.wrong.append(tag)
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.wrong.append(f"{tag} {name}")
            if name == "src" and not PICTURE.fullmatch(value or ""):
                self.wrong.append(f"{tag} src={value}")
            if tag != "meta" and name in ("content", "name", "http-equiv"):
                self.wrong.append(f"{tag} {name}")

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data)
        else:
            self.seen += data


def shown(page: str) -> str:
    return Inspector(page).seen


PAYLOADS = list(payloads(SINK))


@pytest.mark.parametrize("payload", PAYLOADS, ids=[f"payload-{n}" for n in range(len(PAYLOADS))])
def test_nothing_in_a_report_acts_whatever_the_run_holds(payload: str) -> None:
    page = export(hostile_run(payload))
    found = Inspector(page)
    assert found.wrong == []
    assert len(found.styles) == 1
    assert "url(" not in found.styles[0]
    assert "@import" not in found.styles[0]
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_a_policy_forbids_everything_but_its_own_pictures_and_styles() -> None:
    page = export(record_of(analysis_run()))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")


def test_a_report_tells_the_run_in_order() -> None:
    page = export(record_of(analysis_run()))
    text = shown(page)
    told = [
        "Which region sold most?",
        "completed",
        "demo-analyst",
        "$0.0040",
        "12.5 s",
        "I load the file.",
        "320 rows",
        "later changed and run again",
        "KeyError: 'regoin'",
        "North sold most.",
        "One file was read. See the list.",
        "abababababababab",
        "3.1.1",
    ]
    places = [text.index(item) for item in told]
    assert places == sorted(places)
    assert f"data:image/png;base64,{PIXEL}" in page
    assert '<div class="answer prose"><p>North sold <strong>most</strong>.</p></div>' in page


def test_a_data_frame_stays_a_table() -> None:
    frame = (
        "<div><style scoped>.x{color:red}</style><table border='1' class='dataframe'><thead>"
        "<tr style='text-align: right;'><th></th><th colspan='2' rowspan='999999'>a</th></tr>"
        "</thead><tbody><tr><th>0</th><td>1</td><td>x &amp; y</td></tr></tbody></table></div>"
    )
    page = export(
        record_of([started(), *cell_run("c1", "a", "df", ExecuteResult({"text/html": frame}))])
    )
    assert '<tr><th></th><th colspan="2">a</th></tr>' in page
    assert "<tr><th>0</th><td>1</td><td>x &amp; y</td></tr>" in page
    assert "color:red" not in page


def test_what_only_a_script_could_draw_is_told_in_words() -> None:
    plot = DisplayData(
        {"application/vnd.plotly.v1+json": {"data": []}, "text/html": "<script>x</script>"}
    )
    widget = DisplayData(
        {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "Slider()"}
    )
    page = export(record_of([started(), *cell_run("c1", "a", "fig", plot, widget)]))
    assert "[Plotly chart]" in shown(page)
    assert "[widget Slider()]" in shown(page)


def test_every_kind_of_output_is_drawn() -> None:
    page = export(
        record_of(
            [
                started(),
                *cell_run(
                    "c1",
                    "a",
                    "x",
                    StreamOutput("stderr", "\x1b[31mred\x1b[0m plain"),
                    DisplayData({"image/svg+xml": "<svg/>"}),
                    DisplayData({"image/svg+xml": "x" * 5_000_001, "text/plain": "big drawing"}),
                    DisplayData({"image/png": "not base64!", "text/plain": "bad picture"}),
                    DisplayData({"image/jpeg": ["AA", "AA"]}),
                    DisplayData({"text/markdown": ["# Head", "\n- item"]}),
                    DisplayData({"application/json": {"a": 1}}),
                    DisplayData({"text/latex": "$x^2$"}),
                    ExecuteResult({"text/plain": "42"}),
                    ErrorOutput("ValueError", "no trace"),
                ),
            ]
        )
    )
    assert '<pre class="stream stderr"><span class="ansi-red">red</span> plain</pre>' in page
    assert '<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="drawing">' in page
    assert '<img src="data:image/jpeg;base64,AAAA"' in page
    assert "<h3>Head</h3>\n<ul><li>item</li></ul>" in page
    text = shown(page)
    for words in ("big drawing", "bad picture", '"a": 1', "$x^2$", "42", "ValueError: no trace"):
        assert words in text, words


def test_a_flood_of_output_is_cut_in_the_middle() -> None:
    flood = StreamOutput("stdout", "begin " + "x" * 500_000 + " end")
    page = export(record_of([started(), *cell_run("c1", "a", "x", flood)]))
    assert len(page) < 200_000
    assert "begin" in page
    assert " end</pre>" in page
    assert "400,010 characters left out" in page


def test_a_run_that_broke_off_shows_what_it_had() -> None:
    page = export(
        record_of(
            [
                started("long " * 50),
                ModelAsked(1, ()),
                replied(called("c1")),
                ToolStarted("c1", "run_cell", {"code": "1"}),
                ApprovalAnswered("c1", False, "person", "too risky"),
                ToolFinished("c1", "run_cell", result("c1", "refused"), "refused"),
                CellAdded("idle", "never()"),
                CellAdded("open", "forever()"),
                CellStarted("open"),
            ]
        )
    )
    text = shown(page)
    assert '<h1 class="long">' in page
    assert 'class="status wait"' in page
    assert "refused by person: too risky" in text
    assert "added, not run" in text
    assert "running" in text


def test_numbers_are_told_as_they_are_known() -> None:
    estimated = AssistantMessage("", reasoning="hm, well")
    events: list[Event] = [
        started(),
        ModelAsked(1, ()),
        replied(estimated),
        CellStarted("a"),
        CellFinished("a", Execution("timeout", 120.0, note="stopped after 120 s")),
        RunFinished("task error", reason="The kernel died.", duration_seconds=125),
    ]
    record = replace(record_of(events), usage=Usage(10, 5, estimated=True), cost_dollars=None)
    text = shown(export(record))
    assert "~15" in text
    assert "2 min 5 s" in text
    assert "Cost" not in text
    assert "timeout · stopped after 120 s" in text
    assert "Thinking" in text
    assert "The kernel died." in text


def test_what_a_tool_says_to_the_person_is_drawn_and_what_the_model_reads_is_not() -> None:
    rich = {"info": "table", "mime": {"text/html": "<table><tr><td>7 rows</td></tr></table>"}}
    contents = (
        Content("text", rich),
        Content("urls", {"url": "https://example.com/a"}, name="Sources"),
        Content("text", {"info": "for the model"}, visible_scope="llm"),
    )
    finished = ToolFinished("c1", "look", ToolMessage("c1", "look", ()), contents=contents)
    run = record_of(
        [started(), ModelAsked(1, ()), replied(called("c1", "look")),
         ToolStarted("c1", "look", {}), finished]
    )  # fmt: skip
    page = export(run)
    assert "<td>7 rows</td>" in page
    assert "Sources" in page
    assert "example.com" in page
    assert "for the model" not in page


def test_long_arguments_are_cut() -> None:
    run = record_of(
        [
            started(),
            ModelAsked(1, ()),
            replied(called("c1", "remember")),
            ToolStarted("c1", "remember", {"text": "y" * 5_000}),
        ]
    )
    page = export(run)
    assert "y" * 280 in page
    assert "y" * 301 not in page
    assert "running" in shown(page)


def test_a_prompt_without_a_mode_or_files_makes_a_page_too() -> None:
    page = export(record_of([]))
    assert Inspector(page).wrong == []
    assert "Where it started from" not in page


def test_what_is_known_as_secret_by_now_is_taken_out() -> None:
    secret = "correct-horse"
    run = record_of([started(secret), *cell_run("c1", "a", "x", StreamOutput("stdout", secret))])
    assert secret not in export(run, Redactor({"PASSWORD": secret}))


def test_unprintable_text_can_be_written() -> None:
    export(record_of([started("half \ud83d")])).encode("utf-8")


def test_whose_answer_it_is_is_told() -> None:
    assert "Answered by" not in export(record_of(analysis_run()))
    page = export(replace(record_of(analysis_run()), assistant="the <b>reviewer</b>"))
    assert "<dt>Answered by</dt><dd>@the &lt;b&gt;reviewer&lt;/b&gt;</dd>" in page
