"""Which lines are commands and which are questions (13.19)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_answers import Request, Wire, text
from fake_service import FakeService
from IPython.core.error import UsageError
from magics.live_kernel import LiveKernel
from magics.typed_lines import command, typed

from cellwright_magics.commands import COMMANDS, commands_help

HERE = Path(__file__).parent
QUESTIONS = (HERE / "questions.txt").read_text("utf-8").splitlines()
MISTYPED = (HERE / "mistyped_commands.txt").read_text("utf-8").splitlines()
SENT = [q for n, q in enumerate(QUESTIONS) if n % 20 == 0 or not set("$'\"%/@!->").isdisjoint(q)]
"""Questions that a kernel asks: some, and those with characters that IPython might change."""
RUN = "20261121-093015-ab12cd"
ASK_EACH = """
from IPython.core.error import UsageError
refused = {{}}
for number, line in enumerate({lines!r}):
    if number % 25 == 0:
        get_ipython().run_line_magic("agent", "reset")
    try:
        get_ipython().run_{kind}_magic("agent", {arguments})
    except UsageError as error:
        refused[line] = str(error)
"""


@pytest.mark.parametrize(
    ("line", "name", "rest", "options"),
    [
        ("chat", "chat", (), {"model": "", "mode": ""}),
        ("chat -m small --mode plan", "chat", (), {"model": "small", "mode": "plan"}),
        ("chat new", "chat new", (), {}),
        ("chats all", "chats all", (), {}),
        ("chats delete 12ab34cd", "chats delete", ("12ab34cd",), {}),
        ("resume", "resume", (), {}),
        ("resume 12ab34cd", "resume", ("12ab34cd",), {}),
        ("usage", "usage", (), {"by": "month"}),
        ("usage model --plot", "usage", ("model",), {"plot": True}),
        ("usage by chat", "usage by", ("chat",), {}),
        ("usage --by chat --budget off", "usage", (), {"by": "chat", "budget": 0.0}),
        ("runs", "runs", (), {"find": "", "widget": False}),
        ("runs 9 --widget", "runs", ("9",), {"widget": True}),
        ("runs 5 --find 'sales report'", "runs", ("5",), {"find": "sales report"}),
        ("rerun last -m other", "rerun", ("last",), {"model": "other"}),
        ("rerun -m other", "rerun", (), {"model": "other"}),
        ("undo", "undo", (), {}),
        ("undo 3", "undo", ("3",), {}),
        ("export", "export", (), {"to": "", "out": ""}),
        (f"export {RUN} --to html -o a.html", "export", (RUN,), {"to": "html", "out": "a.html"}),
        (
            'save-sample --check "x.shape == (12, 3)" --to "my tasks"',
            "save-sample",
            (),
            {"check": ["x.shape == (12, 3)"], "to": "my tasks"},
        ),
        ("cells", "cells", (), {}),
        ("doctor --send", "doctor", (), {"send": True}),
        ("doctor --provider", "doctor", (), {"provider": ""}),
        ("doctor --provider --max-tokens 9", "doctor", (), {"provider": "", "max_tokens": 9}),
        ("doctor --provider groq -m m", "doctor", (), {"provider": "groq", "model": "m"}),
        ("memory", "memory", (), {}),
        ("memory list polars", "memory list", ("polars",), {}),
        ("memory forget 3f2a1b2c", "memory forget", ("3f2a1b2c",), {}),
        ("library add docs/ notes.md --name handbook", "library add", ("docs/", "notes.md"),
         {"name": "handbook"}),
        ("library add handbook", "library add", ("handbook",), {"name": ""}),
        ("library remove 0123456789ab", "library remove", ("0123456789ab",), {}),
        ("library forget handbook --all", "library forget", ("handbook",), {"all": True}),
        ("demos from --limit 4 runs/x", "demos from", ("runs/x",), {"limit": 4, "score": ">=1"}),
        ("demos from 'my runs'", "demos from", ("my runs",), {"tokens": 2_000}),
        ("assistant use @reviewer", "assistant use", ("@reviewer",), {}),
        ("assistant new writer 'Be brief.'", "assistant new", ("writer", "Be brief."), {}),
        ("assistant set critic model gpt-5", "assistant set", ("critic", "model", "gpt-5"), {}),
        ('scene add "long text" "Sum up." @writer', "scene add",
         ("long text", "Sum up.", "@writer"), {}),
        ("tool add revenue shout", "tool add", ("revenue", "shout"), {}),
        ("tool bind margin @critic", "tool bind", ("margin", "@critic"), {}),
        ("tool connect files -- npx -y server /data", "tool connect",
         ("files", "--", "npx", "-y", "server", "/data"), {}),
        ("tool connect shop --openapi https://shop.example/openapi.json", "tool connect",
         ("shop", "--openapi", "https://shop.example/openapi.json"), {}),
        ("tool discover https://weather.example --key W", "tool discover",
         ("https://weather.example", "--key", "W"), {}),
        ("context summary clear", "context summary clear", (), {}),
        ("attach sales.csv 'my data.csv,'", "attach", ("sales.csv", "my data.csv,"), {}),
        ("attach output [5]", "attach output", ("[5]",), {}),
        ("pin 2", "pin", ("2",), {}),
        ("filters blank_lines off", "filters", ("blank_lines", "off"), {}),
        ("filters line_ends blank_lines", "filters", ("line_ends", "blank_lines"), {}),
        ("prompt clear", "prompt clear", (), {}),
        ("reset;", "reset", (), {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mark", ["", "/"])
def test_a_line_that_fits_as_a_whole_is_a_command_with_and_without_the_slash(
    mark: str, line: str, name: str, rest: tuple[str, ...], options: dict[str, object]
) -> None:
    found = command(mark + line)
    assert (found.name, found.words) == (name, (*name.split(), *rest))
    assert vars(found.arguments).items() >= options.items()


@pytest.mark.parametrize("name", ["show", "replay", "undo", "export", "cells", "pin", "unpin"])
@pytest.mark.parametrize(
    "form", ["last", RUN, "20261121", "20261121-", "20261121-0930", "093015-ab12cd", "ab12cd"]
)
def test_every_form_of_a_runs_id_is_an_id_to_every_command(name: str, form: str) -> None:
    assert command(f"{name} {form}").target == command(f"/{name} {form}").target == form
    assert command(f"rerun {form} -m other").target == form
    assert command(f"save-sample {form} --to tasks").target == form


def is_question_or_refused(line: str) -> bool:
    try:
        return typed(line) is None
    except UsageError as error:
        return f"%agent -- {line}" in str(error)


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("/later rows  look 'odd'", "later", "rows  look 'odd'"),
        ("/system show last", "system", "show last"),
        ("/prompt clear the desk", "prompt", "clear the desk"),
        ("/prompt --append Be brief.", "prompt", "Be brief."),
        ("/memory add --project Amounts are in euros", "memory add", "Amounts are in euros"),
        ("/memory edit 3f2a I prefer polars", "memory edit", "I prefer polars"),
        ("/context summary Keep the unit.", "context summary", "Keep the unit."),
        ("/library search exit codes", "library search", "exit codes"),
        ("/chats find region north", "chats find", "region north"),
        ("/chats rename 12ab Sales by region", "chats rename", "Sales by region"),
    ],
)
def test_free_text_follows_a_slash_alone(line: str, name: str, text: str) -> None:
    assert (command(line).name, command(line).text) == (name, text)
    assert is_question_or_refused(line.removeprefix("/"))


@pytest.mark.parametrize(
    ("line", "body", "name", "words"),
    [
        ("/later", "rows look odd\nfrom May on\n", "later", ("later",)),
        ("later", "rows look odd", "later", ("later",)),
        ("", "/prompt --append\nTwo\nlines.", "prompt", ("prompt",)),
        ("context summary", "All of it.", "context summary", ("context", "summary")),
        ("assistant new author", "Write.\nStop.", "assistant new", ("assistant", "new", "author")),
        ("", "runs", "runs", ("runs",)),
        ("show last", "\n", "show", ("show", "last")),
    ],
)
def test_a_cell_is_a_command_by_its_first_line(
    line: str, body: str, name: str, words: tuple[str, ...]
) -> None:
    found = command(line, body)
    assert (found.name, found.words) == (name, words)
    lines = body.strip("\n").partition("\n")[2] if body.startswith("/") else body.strip("\n")
    assert (found.body or "") in ("", lines)


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("", "runs foo\nare they random?"),
        ("", "show last\nand explain it"),
        ("show last", "as a table"),
        ("runs", "test for randomness"),
        ("df, question -> answer: str", "show last"),
        ("-m other", "undo the sort"),
        ("", "later rows look odd"),
        ("--", "/show last"),
    ],
)
def test_a_cell_of_several_lines_is_a_question(line: str, body: str) -> None:
    assert typed(line, body) is None


@pytest.mark.parametrize(
    "line",
    [
        "-- show last",
        "-- /show last",
        "-m other -- runs",
        "/data/sales.csv has odd rows",
        "/data/sales.csv",
        "df -> n: int",
        "runs -> n: int",
        "runs 中的缺失值",
        "memory and speed of both loops",
        "doctor visits increased?",
        "help me",
        "system load",
        "",
    ],
)
def test_these_lines_are_questions(line: str) -> None:
    assert typed(line) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export last --to pdf", "invalid choice: 'pdf'"),
        ("chat --mode wild", "invalid choice: 'wild'"),
        ("rerun last", "-m/--model"),
        ("/rerun last", "-m/--model"),
        ("show last --fast", "unrecognized arguments: --fast"),
        ("showw last", "Did you mean %agent show last"),
        ("show lats", "Did you mean %agent show last"),
        ("runs foo bar", r"%agent /runs \[N\]"),
        ("memory forget zzz", "%agent /memory forget ID"),
        ("memory ad I like it", r"%agent /memory add \[--project\] TEXT"),
        ("showw last", "%agent -- showw last"),
        ("show usage", "Did you mean %agent usage"),
        ("show {run.id}", "are not filled in: put the value there"),
        ("assistant set reviewer nokey 5", "'nokey' is none of description, instructions"),
        ("/showw last", "Did you mean /show"),
        ("/frobnicate", "There is no command '/frobnicate'"),
        ("/", "There is no command '/'"),
        ("/?", "There is no command '/\\?'"),
        ("/show?", "Did you mean /show"),
        ("/Show last", "Did you mean /show"),
        ("/runs foo", r"%agent /runs \[N\]"),
        ("/memory frget 3f2a", "%agent /memory forget ID"),
        ("/later", "%agent /later TEXT"),
        ("/later\n", "%agent /later TEXT"),
        ("-m other runs", "Options of a question stand before the command 'runs'"),
    ],
)
def test_what_is_nearly_a_command_is_refused_with_what_to_write(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        typed(line)


def test_text_below_a_command_that_takes_none_is_refused() -> None:
    with pytest.raises(UsageError, match="/show takes no text below it"):
        typed("/show last", "as a table")


def test_help_names_every_command_and_tells_the_rule() -> None:
    told = commands_help()
    for each in COMMANDS:
        assert f"/{each.usage}" in told
    assert "%agent -- show last" in told


def ok(request: Request) -> Wire:
    return text("Yes.")(request)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKernel]:
    """A kernel whose model answers whatever is asked, and counts."""
    with FakeService(ok) as service:
        live = LiveKernel(service, tmp_path_factory.mktemp("counted"))
        try:
            live.run("%load_ext cellwright", ok)
            yield live
        finally:
            live.close()


def asked(kernel: LiveKernel) -> list[list[str]]:
    """The lines of the newest message of all requests."""
    requests = kernel.service.requests
    return [str(request.messages[-1]["content"]).splitlines() for request in requests]


def test_none_of_500_questions_is_taken_for_a_command() -> None:
    assert len(QUESTIONS) == len(set(QUESTIONS)) == 500
    assert [q for q in QUESTIONS if typed(q) or typed("", q)] == []


@pytest.mark.kernel
@pytest.mark.parametrize(("kind", "arguments"), [("line", "line"), ("cell", "'', line")])
def test_questions_are_sent_as_they_were_typed(
    counted: LiveKernel, kind: str, arguments: str
) -> None:
    assert 30 < len(SENT) < 60
    code = ASK_EACH.format(lines=SENT, kind=kind, arguments=arguments)
    shown = counted.run(code, ok, answers=[])
    assert shown.reply["content"]["status"] == "ok", shown.reply
    requests = asked(counted)
    assert len(requests) == len(SENT)
    assert [q for q, lines in zip(SENT, requests, strict=True) if q not in lines] == []
    assert counted.value("refused") == "{}"


@pytest.mark.kernel
@pytest.mark.parametrize(("kind", "arguments"), [("line", "line"), ("cell", "'', line")])
def test_none_of_200_mistyped_commands_is_sent(
    counted: LiveKernel, kind: str, arguments: str
) -> None:
    assert len(set(MISTYPED)) == len(MISTYPED) >= 200
    code = ASK_EACH.format(lines=MISTYPED, kind=kind, arguments=arguments)
    shown = counted.run(code, ok, answers=[])
    assert shown.reply["content"]["status"] == "ok", shown.reply
    assert counted.service.requests == []
    refused = eval(counted.value("refused"))
    assert set(MISTYPED) == set(refused)
    assert all(f"%agent -- {line}" in told for line, told in refused.items())
