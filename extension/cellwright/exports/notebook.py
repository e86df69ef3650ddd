"""A run as a notebook that can be read, run again from top to bottom, and graded again.

Cells the person had run before come first, as set-up. Failed attempts stay where they were, marked
so that nbclient goes on after them; cells that never ended are not run again. The notebook of a
sample is an evaluation: a summary and what each check found stand before the run, the checks as
cells after it, and its last cell prints the grade. It carries files and checks, and cells of checks
are nbgrader's, so that nobody needs cellwright for it.
"""

from __future__ import annotations

import ast
import base64
import inspect
import json
import re
import textwrap
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports import SecretsFilter, grading
from cellwright.exports.run_plot import draw_run
from cellwright.exports.sample import SampleRecord, Score, sum_points, trimmed
from cellwright.exports.sampling import run_of
from cellwright.exports.timeline import Item, Ran, TimelineMessage, Wrote, reply_of_calls, timeline
from cellwright.record.outputs import Output, to_nbformat
from cellwright.record.run_record import RunRecord, list_checks
from cellwright.record.values import safe_json, to_dict
from cellwright.text.cleaning import plain_text, safe_markdown

WIDGET_MIMES = (
    "application/vnd.jupyter.widget-view+json",
    "application/vnd.jupyter.widget-state+json",
)
GOES_ON = "raises-exception"
"""The tag that nbclient and Jupyter Book read as: an exception here is no reason to stop."""
NOT_RUN = "skip-execution"
"""The tag of a cell that nbclient leaves out."""
CARRIED_BYTES = 10_000_000
"""Larger files are not put into a notebook, but looked for beside it."""
GRADING = "notebook_grading"
"""The module of the notebook's kernel that makes checks: no name of a variable of the run."""
OUR_MAGIC = re.compile(r"\s*(%load_ext\s+cellwright|%%?agent\b|import cellwright\b)")


@dataclass(frozen=True)
class RunMaterial:
    """What a notebook carries besides the record, so that its run can be made again."""

    contents: Mapping[str, bytes] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Names and SHA-256 of those that nobody has at hand."""
    program: str = ""
    """What the checks call besides ``exports.grading``."""


def export(record: RunRecord, redactor: SecretsFilter | None = None) -> str:
    """The run as the text of an ``.ipynb`` file."""
    return json.dumps(notebook(record, redactor), ensure_ascii=False, indent=1) + "\n"


def notebook(record: RunRecord, redactor: SecretsFilter | None = None) -> dict[str, Any]:
    """The run as an nbformat 4.5 notebook."""
    if redactor is not None:
        record = redactor.event(record)
    names = _Names()
    cells = [_prompt_cell(record, names), *_setup_cells(record, names)]
    for item in timeline(record):
        cells += _item_cells(item, names)
    _add_costs(cells, record)
    return {
        "cells": [safe_json(cell) for cell in cells],
        "metadata": safe_json(_notebook_metadata(record)),
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def sample_notebook(sample: SampleRecord, material: RunMaterial | None = None) -> dict[str, Any]:
    """A sample as a notebook that is its evaluation; the whole record is in it.

    Args:
        sample: Its scores carry their cells in ``code``.
        material: What the run was given; None: only the names of files are known.
    """
    record = run_of(sample)
    document = notebook(record)
    is_python = document["metadata"]["kernelspec"]["language"] == "python"
    if material is None:
        material = RunMaterial(elsewhere=sample.files)
    names = _Names(cell["id"] for cell in document["cells"])
    asked = document["cells"][0]
    asked["source"] = f"## What was asked\n\n{asked['source']}"
    ran = _markdown("## What was run", names.take("run"), "heading")
    head = [*_summary_cells(sample), asked, ran, *_plot_cell(sample)]
    steps = _without_our_magics(document["cells"][1:])
    if is_python and list_checks(sample.scores):
        steps = _graded(sample, steps, _grading_cell(material.program, names), names)
    if is_python and (material.contents or material.elsewhere):
        # The folder is made before the set-up, by what the first cell brings.
        at = 1 if steps and steps[0]["metadata"]["cellwright"]["role"] == "grading" else 0
        lead = [] if at else [_grading_cell("", names)]
        steps = [*steps[:at], *lead, _files_cell(material, names), *steps[at:]]
    facts = {**document["metadata"]["cellwright"], "sample": trimmed(sample)}
    return {
        **document,
        "cells": [safe_json(cell) for cell in (*head, *steps)],
        "metadata": {**document["metadata"], "cellwright": safe_json(facts)},
    }


def asks_agent(source: str) -> bool:
    """Whether a cell is there for cellwright alone, such as a question to an agent."""
    return OUR_MAGIC.match(source) is not None


def _without_our_magics(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cells of the person that only ask an agent are shown, and not run again."""
    for cell in cells:
        is_setup = cell["metadata"]["cellwright"]["role"] == "setup"
        if is_setup and asks_agent(cell["source"]):
            cell["metadata"]["tags"] = [NOT_RUN, "cellwright-setup"]
    return cells


# Checks as cells. Each begins with the module that makes checks, whatever the run's own variables
# are called.


IMPORT = f"import {GRADING} as grading"


def check_cell(score: Score, body: str) -> Score:
    """The score with the cell that makes its check again.

    Args:
        score: What the check found; it says its points and what is expected.
        body: Python that fails where the check does; ``check`` is the check.
    """
    head = f"with grading.check({score.name!r}, points={score.points:g}, expected="
    lines = textwrap.indent(body, "    ")
    return replace(score, code=f"{IMPORT}\n\n{head}{score.expected!r}) as check:\n{lines}")


def assertion_cell(score: Score, code: str) -> Score:
    """The score of assertions with their cell, which shows what was compared."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a magic
        return check_cell(score, f"grading.run_cell({code!r})")
    tests = [node.test for node in tree.body if isinstance(node, ast.Assert)]
    expected = score.expected or "; ".join(ast.unparse(test) for test in tests) or code.strip()
    lines = textwrap.indent(code, "    ")
    block = ast.parse(f"if True:\n{lines}\n    pass").body[0]
    is_same = isinstance(block, ast.If) and [ast.dump(n) for n in block.body[:-1]] == [
        ast.dump(n) for n in tree.body
    ]
    body = code if is_same else f"grading.run_cell({code!r})"
    shown = _compared_part(tests[0]) if len(tests) == 1 else None
    if shown is not None and is_same and len(tree.body) == 1:
        body = f"check.found({ast.unparse(shown)})\n{body}"
    return check_cell(replace(score, expected=expected[:300]), body)


def _compared_part(test: ast.expr) -> ast.expr | None:
    """What a comparison is about: ``x`` of ``x == 3`` and of ``3 in x``."""
    if not isinstance(test, ast.Compare):
        return None
    is_search = isinstance(test.ops[0], (ast.In, ast.NotIn))
    return test.comparators[0] if is_search else test.left


def _graded(
    sample: SampleRecord, steps: list[dict[str, Any]], first: dict[str, Any], names: _Names
) -> list[dict[str, Any]]:
    """The cells of the run between those that make its checks."""
    # A cell that fails elsewhere, for want of a package, costs its points and not the grade.
    for cell in steps:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] == "code" and not {GOES_ON, NOT_RUN} & set(tags):
            cell["metadata"]["tags"] = [GOES_ON, *tags]
    setup = [cell for cell in steps if cell["metadata"]["cellwright"]["role"] == "setup"]
    work = steps[len(setup) :]
    begin = _ours(f"{IMPORT}\n\ngrading.start_run(globals())", names.take("begin"), "grading")
    answer = sample.result if isinstance(sample.result, str) else json.dumps(sample.result)
    told = f"{IMPORT}\n\ngrading.answer = {_quote(answer or '')}"
    text = "## Checks\n\nThe cells below make the checks again, and the last one prints the grade."
    return [
        first,
        *setup,
        begin,
        *work,
        _markdown(text, names.take("checks"), "heading"),
        _ours(told, names.take("answer"), "answer"),
        *(_check_cells(sample, names)),
        _grade_cell(sample, names),
    ]


def _quote(text: str) -> str:
    """A text as Python that a person can read and change."""
    quoted = f'"""\\\n{text}"""'
    try:
        if ast.literal_eval(quoted) == text:
            return quoted
    except (SyntaxError, ValueError):
        pass
    return repr(text)


def _ours(source: str, name: str, role: str) -> dict[str, Any]:
    """A cell that belongs to the evaluation; folded, where the reader can open it."""
    cell = _code(source, name, {"role": role}, ())
    if role == "grading":
        cell["metadata"]["jupyter"] = {"source_hidden": True}
    return cell


def _grading_cell(program: str, names: _Names) -> dict[str, Any]:
    future = "from __future__ import annotations\n"
    source = inspect.getsource(grading).replace(future, "")
    whole = f"{future}{program.replace(future, '')}\n{source}"
    packed = base64.b64encode(zlib.compress(whole.encode("utf-8"), 9)).decode("ascii")
    text = (
        "# Makes the checks of this notebook; it stands here so that nothing has to be installed.\n"
        f"# import {GRADING}; print({GRADING}.source) shows what it is.\n"
        "import base64\nimport sys\nimport types\nimport zlib\n\n"
        f'grading = sys.modules["{GRADING}"] = types.ModuleType("{GRADING}")\n'
        f'grading.source = zlib.decompress(base64.b64decode("{packed}")).decode("utf-8")\n'
        f'exec(compile(grading.source, "{GRADING}.py", "exec"), grading.__dict__)\n'
        "del base64, sys, types, zlib"
    )
    return _ours(text, names.take("grading"), "grading")


def _files_cell(files: RunMaterial, names: _Names) -> dict[str, Any]:
    small = {n: data for n, data in files.contents.items() if len(data) <= CARRIED_BYTES}
    packed = {n: base64.b64encode(zlib.compress(data)).decode() for n, data in small.items()}
    large = {n: "" for n in files.contents if n not in small} | dict(files.elsewhere)
    source = f"{IMPORT}\n\ngrading.place_files({packed!r}, {large!r})"
    return _ours(source, names.take("files"), "grading")


def _check_cells(sample: SampleRecord, names: _Names) -> Iterator[dict[str, Any]]:
    for score in list_checks(sample.scores):
        found = "" if score.value is None else f"{score.value:g}"
        code = score.code
        if not code and score.value is not None:
            why = score.explanation or score.error
            given = f"grading.given({score.name!r}, {score.points:g}, {found}, {why!r})"
            code = f"{IMPORT}\n\n{given}"
        if code:
            yield _check(code, score, names.take(f"check-{score.name}"))


def _check(code: str, score: Score, name: str) -> dict[str, Any]:
    cell = _code(code, name, {"role": "check", "score": score.name}, (GOES_ON,))
    cell["metadata"]["nbgrader"] = {
        "schema_version": 3,
        "grade": True,
        "grade_id": name,
        "locked": True,
        "points": score.points,
        "solution": False,
        "task": False,
    }
    why = score.error or score.explanation
    result = grading.headline(score.passed, score.earned, score.points)
    text = grading.describe(result, score.expected, score.found, why) + "\n"
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    if not score.code and 0 < score.earned < score.points:
        # nbgrader takes a number that a cell gives for a part of its points.
        part: dict[str, Any] = {
            "output_type": "execute_result",
            "execution_count": None,
            "metadata": {},
        }
        cell["outputs"].append({**part, "data": {"text/plain": f"{score.earned:g}"}})
    elif not score.passed:
        kind = "AssertionError"
        failed = {
            "output_type": "error",
            "ename": kind,
            "evalue": why,
            "traceback": [f"{kind}: {why}"],
        }
        cell["outputs"].append(failed)
    return cell


def _grade_cell(sample: SampleRecord, names: _Names) -> dict[str, Any]:
    grade = sum_points(sample.scores)
    cell = _ours(f"{IMPORT}\n\ngrading.grade({grade.points:g})", names.take("grade"), "grade")
    text = f"Grade: {grade}\n"
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    return cell


# What stands before the run: how it went, what was asked, what each check found.


def _summary_cells(sample: SampleRecord) -> Iterator[dict[str, Any]]:
    facts = {
        "Status": sample.status,
        "Score": str(sum_points(sample.scores)) if list_checks(sample.scores) else "not scored",
        "Time": f"{sample.time.seconds:.1f} s",
        "Tokens": f"{_tokens(sample):,}",
        "Cost": "not known" if sample.cost_dollars is None else f"${sample.cost_dollars:.4f}",
        "Model": str(sample.model.get("model") or sample.agent or "none"),
    }
    lines = [f"# {_entry(sample.title)}", "", *_table([tuple(facts), tuple(facts.values())])]
    if sample.error:
        lines += ["", _entry(sample.error)]
    yield _markdown("\n".join(lines), "summary", "summary")
    if sample.scores:
        rows: list[tuple[str, ...]] = [("Check", "Result", "Points", "Expected", "Found", "Why")]
        rows += [_score_row(score) for score in sample.scores]
        filled = [n for n in range(6) if any(row[n] for row in rows[1:])]
        kept = [tuple(row[n] for n in filled) for row in rows]
        yield _markdown("\n".join(["## Checks", "", *_table(kept)]), "scores", "scores")


def _tokens(sample: SampleRecord) -> int:
    names = ("prompt_tokens", "completion_tokens")
    return sum(int(sample.usage.get(name, 0)) for name in names)


def _score_row(score: Score) -> tuple[str, ...]:
    result = "passed" if score.passed else "failed"
    if score.value is None:
        result = "comment" if score.passed else "could not be made"
    points = f"{score.earned:g} of {score.points:g}"
    why = score.error or score.explanation
    found = score.found or ("as expected" if score.passed and score.expected else "")
    return (score.name, result, points, score.expected, found, why)


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_entry, rows[0]))} |"
    yield f"|{' --- |' * len(rows[0])}"
    for row in rows[1:]:
        yield f"| {' | '.join(map(_entry, row))} |"


def _entry(text: str) -> str:
    """A text as one line of Markdown that is nothing but text."""
    line = " ".join(plain_text(text).split())[:300]
    # As entities: a backslash before a bracket begins a formula in some readers.
    return re.sub(r"[^\w\s.,;=/'%+-]", lambda found: f"&#{ord(found[0])};", line)


def _plot_cell(sample: SampleRecord) -> Iterator[dict[str, Any]]:
    drawn = draw_run(sample)
    if drawn:
        # In the text, not as an attachment: JupyterLab draws no SVG of attachments.
        data = base64.b64encode(drawn.encode("utf-8")).decode("ascii")
        yield _markdown(f"![The run over time](data:image/svg+xml;base64,{data})", "plot", "plot")


def sample_of_notebook(document: Mapping[str, Any]) -> SampleRecord:
    """The sample in a notebook that ``sample_notebook`` made.

    Raises:
        SetupError: The notebook was made by something else.
    """
    found = (document.get("metadata") or {}).get("cellwright") or {}
    if "sample" not in found:
        raise SetupError(
            "The notebook holds no sample of cellwright.",
            hint="Export one: cellwright bench export FOLDER --to notebooks.",
        )
    return SampleRecord.from_dict(found["sample"])


def _add_costs(cells: list[dict[str, Any]], record: RunRecord) -> None:
    """Say at the first cell of each reply what the reply took."""
    replies = reply_of_calls(record)
    for cell in cells:
        facts = cell["metadata"]["cellwright"]
        reply = replies.pop(facts.get("call_id", ""), None)
        if reply is not None:
            facts["usage"] = to_dict(reply.usage)
            facts["reply_seconds"] = reply.duration_seconds
            facts["cost_dollars"] = reply.cost_dollars


class _Names:
    """Cell ids that nbformat accepts, each used once."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = {"summary", "scores", "plot", *used}

    def take(self, wanted: str) -> str:
        stem = re.sub(r"[^a-zA-Z0-9-_]", "-", wanted)[:56] or "cell"
        name, number = stem, 1
        while name in self._used:
            number += 1
            name = f"{stem}-{number}"
        self._used.add(name)
        return name


def _prompt_cell(record: RunRecord, names: _Names) -> dict[str, Any]:
    who = f"@{record.assistant}" if record.assistant else ""
    facts = [who, record.parameters.model, record.status, f"{record.duration_seconds:.1f} s"]
    if record.reason_line:
        facts.append(record.reason_line)
    quoted = "\n".join(f"> {line}".rstrip() for line in safe_markdown(record.prompt).split("\n"))
    footer = safe_markdown(" · ".join(fact for fact in facts if fact))
    return _markdown(f"{quoted}\n\n<small>{footer}</small>", names.take("prompt"), "prompt")


def _setup_cells(record: RunRecord, names: _Names) -> Iterator[dict[str, Any]]:
    for source in record.start_executed:
        yield _code(source, names.take("setup"), {"role": "setup"}, (GOES_ON, "cellwright-setup"))


def _item_cells(item: Item, names: _Names) -> Iterator[dict[str, Any]]:
    match item:
        case TimelineMessage(text=text) if text.strip():
            yield _markdown(safe_markdown(text), names.take("text"), "text")
        case Wrote(cell=cell) if cell.cell_type == "code":
            yield _code(cell.source, names.take(cell.id), {"role": "not run"}, (NOT_RUN,))
        case Wrote(cell=cell):
            yield _markdown(safe_markdown(cell.source), names.take(cell.id), "cell")
        case Ran():
            yield _ran(item, names)
        case _:
            pass


def _ran(item: Ran, names: _Names) -> dict[str, Any]:
    ran, ended = item.execution, item.execution.execution
    status = ended.status if ended is not None else "running"
    facts: dict[str, Any] = {"role": "step", "status": status, "origin": ran.origin}
    facts |= {"call_id": ran.call_id, "cell_id": ran.cell_id, "started_at": ran.started_at}
    if ended is not None:
        facts["duration_seconds"] = ended.duration_seconds
        facts |= {"note": ended.note} if ended.note else {}
    tags: tuple[str, ...] = ()
    if status == "error":
        tags = (GOES_ON, "cellwright-failed")
    elif status != "ok":
        tags = (NOT_RUN, "cellwright-failed")
    if item.superseded:
        tags = (*tags, "cellwright-superseded")
    cell = _code(ran.source, names.take(ran.cell_id), facts, tags)
    cell["outputs"] = [_output(output) for output in ran.outputs]
    cell["execution_count"] = ended.execution_count if ended is not None else None
    if item.superseded:
        cell["metadata"] |= {"collapsed": True, "jupyter": {"outputs_hidden": True}}
    return cell


def _output(output: Output) -> dict[str, Any]:
    plain = to_nbformat(output)
    if "data" not in plain:
        return plain
    kept = {mime: value for mime, value in plain["data"].items() if mime not in WIDGET_MIMES}
    if len(kept) < len(plain["data"]):
        # A widget's state is in the kernel; without it the view is an error message.
        kept.setdefault("text/plain", "(a widget, shown only in the live notebook)")
        metadata = {k: v for k, v in plain["metadata"].items() if k not in WIDGET_MIMES}
        plain |= {"data": kept, "metadata": metadata}
    return plain


def _markdown(source: str, name: str, role: str) -> dict[str, Any]:
    metadata = {"cellwright": {"role": role}}
    return {"cell_type": "markdown", "id": name, "metadata": metadata, "source": source}


def _code(
    source: str, name: str, facts: Mapping[str, Any], tags: tuple[str, ...]
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"cellwright": dict(facts)}
    if tags:
        metadata["tags"] = list(tags)
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def _notebook_metadata(record: RunRecord) -> dict[str, Any]:
    language = str(record.kernel.get("language") or "python")
    python = language == "python"
    kernel = {
        "name": "python3" if python else language,
        "display_name": "Python 3 (ipykernel)" if python else language,
        "language": language,
    }
    info = {"name": language}
    if record.kernel.get("version"):
        info["version"] = str(record.kernel["version"])
    return {"kernelspec": kernel, "language_info": info, "cellwright": {"run": _facts(record)}}


def _facts(record: RunRecord) -> dict[str, Any]:
    names = ("run_id", "schema", "version", "status", "cause", "reason", "prompt", "lane", "mode")
    more = ("parameters", "usage", "cost_dollars", "started_at", "duration_seconds")
    rest = ("files", "packages", "notices", "source_run", "continues", "answer", "assistant")
    return {name: to_dict(getattr(record, name)) for name in (*names, *more, *rest)}
