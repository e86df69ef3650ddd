"""All formats: what is written can be read back, and nothing of it is dangerous or secret."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from recorded_runs import analysis_run, called, record_of, replied, started
from sample_strategies import samples

from cellwright.errors import SetupError
from cellwright.exports import FORMATS, fine_tuning, inspect_log, spans, trajectories
from cellwright.exports.agentbench import sample_of_line
from cellwright.exports.evaluated_notebook import evaluated_page
from cellwright.exports.formats import FORMAT_TABLE, export_samples, write_run
from cellwright.exports.html import sample_page
from cellwright.exports.notebook import sample_notebook, sample_of_notebook
from cellwright.exports.sample import SampleRecord, SampleTask, Score
from cellwright.exports.sampling import sample_of
from cellwright.exports.spans import attributes
from cellwright.exports.tables import frame_of, read_csv, read_parquet, samples_of_frame
from cellwright.record.events import ModelAsked, RunFinished
from cellwright.record.messages import AssistantMessage, TextPart, ToolCall, ToolMessage
from cellwright.text.redaction import Redactor

SAMPLE = replace(
    sample_of(record_of(analysis_run()), "t:1:1", whole=True),
    suite="t",
    agent="oracle",
    task=SampleTask("t", 1, group="sales"),
    scores=(Score("best", 1.0, passed=True), Score("mean", None, passed=False, error="crashed")),
)
Read = Callable[[Path], Iterator[SampleRecord]]


def read_lines(path: Path) -> Iterator[SampleRecord]:
    for line in path.read_text("utf-8").split("\n"):
        if line:
            yield sample_of_line(json.loads(line))


def read_notebook(path: Path) -> Iterator[SampleRecord]:
    yield sample_of_notebook(json.loads(path.read_text("utf-8")))


READERS: dict[str, Read] = {
    "ipynb": read_notebook,
    "agentbench": read_lines,
    "inspect": inspect_log.read,
    "atif": trajectories.read,
    "openai": fine_tuning.read,
    "otel": spans.read,
    "csv": read_csv,
}


def written(name: str, given_samples: list[SampleRecord], folder: Path) -> Path:
    return FORMAT_TABLE[name].write(given_samples, folder / "out")[0]


def test_the_names_are_those_that_are_offered() -> None:
    assert tuple(FORMAT_TABLE) == FORMATS


@pytest.mark.parametrize("name", sorted(READERS))
@settings(
    deadline=None,
    max_examples=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sample=samples)
def test_any_sample_comes_back_as_it_was(name: str, tmp_path: Path, sample: SampleRecord) -> None:
    wanted = SampleRecord.from_dict(json.loads(json.dumps(sample.to_dict())))
    assert list(READERS[name](written(name, [wanted], tmp_path))) == [wanted]


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(samples, max_size=3))
def test_a_dataframe_gives_its_samples_back(given_samples: list[SampleRecord]) -> None:
    wanted = [SampleRecord.from_dict(json.loads(json.dumps(s.to_dict()))) for s in given_samples]
    assert list(samples_of_frame(frame_of(wanted))) == wanted


@settings(
    deadline=None,
    max_examples=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(samples)
def test_any_sample_is_a_valid_notebook_and_a_harmless_page(sample: SampleRecord) -> None:
    clean = SampleRecord.from_dict(json.loads(json.dumps(sample.to_dict())))
    nbformat.validate(sample_notebook(clean))
    for page in (sample_page(clean), evaluated_page(sample_notebook(clean))):
        assert not re.search(r"<(script|iframe|object|link)\b", page)
        assert not re.search(r"<[^>]* on\w+=", page)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_utf_8_and_python_s_reader_of_json_cannot_take_is_written(
    name: str, tmp_path: Path
) -> None:
    deep = '{"code": "1", "x": ' + "[1," * 3_000 + "2" + "]" * 3_000 + "}"
    call = ToolCall("c1", "run_cell", deep)
    run = record_of(
        [
            started("caf\udce9"),
            replied(AssistantMessage("", (call,))),
            ModelAsked(2, (called("c1"), ToolMessage("c1", "run_cell", (TextPart("no"),)))),
            RunFinished("completed", "half \ud83d"),
        ]
    )
    (path, *_) = write_run(run, name, tmp_path / "run", Redactor({}))
    assert path.stat().st_size


@pytest.mark.parametrize("name", sorted({*READERS} - {"atif", "ipynb"}))
def test_many_samples_are_in_one_file(name: str, tmp_path: Path) -> None:
    many = [replace(SAMPLE, id=f"t:{n}:1", task=SampleTask("t", n)) for n in (1, 2, 30)]
    assert list(READERS[name](written(name, many, tmp_path))) == many


def test_a_folder_of_results_is_written_place_by_place(tmp_path: Path) -> None:
    groups = {
        "oracle/t": lambda: iter([SAMPLE]),
        "noop/t": lambda: iter([replace(SAMPLE, id="n", agent="noop")]),
    }
    names = [path.relative_to(tmp_path).as_posix() for path in export_samples(
        "html", groups, tmp_path / "pages"
    )]  # fmt: skip
    assert names == [
        "pages/oracle/t/t-1.html",
        "pages/noop/t/t-1.html",
        "pages/index.html",
    ]
    index = (tmp_path / "pages/index.html").read_text()
    assert '<a href="oracle/t/t-1.html">t-1</a>' in index
    (notebook, *_) = export_samples("ipynb", groups, tmp_path / "books")
    nbformat.validate(nbformat.read(notebook, as_version=4))
    logs = export_samples("inspect", groups, tmp_path / "logs")
    assert [path.name for path in logs] == ["t.eval", "t.eval"]
    (table,) = export_samples("csv", groups, tmp_path / "new" / "table")
    assert table == tmp_path / "new" / "table.csv"
    assert [sample.agent for sample in read_csv(table)] == ["oracle", "noop"]


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="cannot be written"):
        export_samples("otel", {"a/t": lambda: iter([SAMPLE])}, tmp_path / "file")
    record = record_of(analysis_run())
    with pytest.raises(SetupError, match="cannot be written"):
        write_run(record, "otel", tmp_path / "none" / "x.jsonl", Redactor({}))
    write_run(record, "openai", tmp_path / "x.jsonl", Redactor({}))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "file",
        "x.jsonl",
        "x.rest.jsonl",
    ]


@pytest.mark.parametrize("name", sorted({*FORMATS} - {"parquet"}))
def test_no_format_repeats_a_secret(name: str, tmp_path: Path) -> None:
    secret = "correct-horse" + "-battery"
    record = record_of([started(f"my password is {secret}"), RunFinished("completed", secret)])
    for path in write_run(record, name, tmp_path / "run", Redactor({"PASSWORD": secret})):
        data = path.read_bytes()
        if name == "inspect":
            (sample,) = inspect_log.read(path)
            data = json.dumps(sample.to_dict()).encode()
        assert secret.encode() not in data


def test_pages_of_hostile_samples_run_nothing(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    sample = replace(
        SAMPLE,
        id=hostile,
        input=hostile,
        status=hostile,
        scores=(Score(hostile, 0.5, passed=False, explanation=hostile),),
    )
    for path in export_samples("html", {"a/t": lambda: iter([sample])}, tmp_path / "pages"):
        page = path.read_text()
        assert "<script" not in page
        assert "<img src=x" not in page
        assert "default-src 'none'" in page
    assert "could not be made" in (
        export_samples("html", {"a/t": lambda: iter([SAMPLE])}, tmp_path / "more")[0].read_text()
    )


def test_the_table_has_numbers_in_columns(tmp_path: Path) -> None:
    frame = frame_of([SAMPLE])
    row = frame.iloc[0]
    assert (row["passed"], row["score"], row["steps"], row["cells"]) == (False, 1.0, 4, 3)
    assert (row["prompt_tokens"], row["model"], row["index"]) == (1000, "demo-analyst", "1")
    formula = replace(SAMPLE, input="=1+1", result={"a": 1})
    text = written("csv", [formula], tmp_path).read_text()
    assert ",'=1+1," in text
    assert next(read_csv(tmp_path / "out")).input == "=1+1"


def test_parquet_is_read_back_or_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(SetupError, match=r"cellwright\[parquet\]"):
            written("parquet", [SAMPLE], tmp_path)
    pytest.importorskip("pyarrow")
    many = [replace(SAMPLE, id=str(number)) for number in range(3)]
    assert list(read_parquet(written("parquet", many, tmp_path))) == many


def test_a_trace_has_a_span_for_each_reply_and_call() -> None:
    (resource,) = spans.trace_of(SAMPLE)["resourceSpans"]
    found = resource["scopeSpans"][0]["spans"]
    assert [span["name"] for span in found] == [
        "invoke_agent oracle",
        "chat demo-analyst",
        "execute_tool run_cell",
        "chat demo-analyst",
        "execute_tool run_cell",
        "chat demo-analyst",
        "execute_tool run_cell",
        "chat demo-analyst",
    ]
    assert len({span["spanId"] for span in found}) == len(found)
    assert {span.get("parentSpanId") for span in found[1:]} == {found[0]["spanId"]}
    told = {a["key"]: a["value"] for a in found[1]["attributes"]}
    assert told["gen_ai.usage.input_tokens"] == {"intValue": "100"}
    assert told["gen_ai.response.finish_reasons"] == {
        "arrayValue": {"values": [{"stringValue": "tool_calls"}]}
    }
    said = json.loads(told["gen_ai.output.messages"]["stringValue"])
    assert [part["type"] for part in said[0]["parts"]] == ["text", "tool_call"]
    scored = [{a["key"]: a["value"] for a in e["attributes"]} for e in found[0]["events"]]
    assert scored[0]["gen_ai.evaluation.score.label"] == {"stringValue": "pass"}
    assert "gen_ai.evaluation.score.value" not in scored[1]
    assert found[2]["status"] == {"code": 0}
    assert int(found[2]["endTimeUnixNano"]) > int(found[2]["startTimeUnixNano"])


def test_attributes_keep_their_types() -> None:
    values = [a["value"] for a in attributes(status=True, score_value=0.5, error="")]
    assert values == [{"boolValue": True}, {"doubleValue": 0.5}]


def test_fine_tuning_data_is_what_the_service_takes(tmp_path: Path) -> None:
    silent = sample_of(record_of([started()]), "silent")
    path = written("openai", [silent, SAMPLE], tmp_path)
    (line,) = [json.loads(text) for text in path.read_text().splitlines()]
    assert set(line) == {"messages", "tools"}
    allowed = {"role", "content", "tool_calls", "tool_call_id"}
    assert all(set(message) <= allowed for message in line["messages"])
    assert line["tools"][0]["function"]["name"] == "run_cell"
    rest = [json.loads(text) for text in fine_tuning.rest_path(path).read_text().splitlines()]
    assert [entry["line"] for entry in rest] == [None, 1]
    assert list(fine_tuning.read(path)) == [silent, SAMPLE]
    path.write_text("")
    with pytest.raises(SetupError, match="no line 1"):
        list(fine_tuning.read(path))
    fine_tuning.rest_path(path).unlink()
    with pytest.raises(SetupError, match="is not there"):
        list(fine_tuning.read(path))


@pytest.mark.parametrize("read", [spans.read, inspect_log.read, trajectories.read, read_notebook])
def test_files_of_other_writers_are_refused(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "other"
    foreign: Any = {"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}], "metadata": {}}
    path.write_text(json.dumps(foreign))
    with pytest.raises(SetupError):
        list(read(path))
