"""An hour in a notebook's kernel: questions, commands, slips of the finger, and what each costs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from assistant_files import write_assistant
from fake_answers import Answer, text, tool_call
from fake_service import FakeService
from magics.live_kernel import LiveKernel, Shown

pytestmark = pytest.mark.kernel

CSV = "month,region,revenue\nMay,north,10\nMay,south,20\nJune,north,30\nJune,south,5\n"


@dataclass
class Person:
    """Somebody at a notebook, who pays for each request."""

    kernel: LiveKernel
    paid: int = field(default=0)

    def ask(self, code: str, *script: Answer) -> Shown:
        """Run a cell that is to cost as many requests as the model has answers."""
        shown = self.kernel.run(code, script, answers=["y"] * 5)
        sent = len(self.kernel.service.requests)
        assert sent == len(script), (code, sent, shown.stderr)
        self.paid += sent
        return shown

    def do(self, code: str) -> str:
        """Run a command, which costs nothing; what it said."""
        shown = self.ask(code)
        assert "UsageError" not in shown.stderr, (code, shown.stderr)
        told = [data.get("text/plain", "") for data in shown.displays]
        return "\n".join([shown.stdout, *told])

    def slip(self, code: str, *words: str) -> None:
        """Run what was mistyped: it costs nothing and says what was meant."""
        told = self.ask(code).stderr
        assert told.startswith("UsageError"), (code, told)
        assert all(word in told for word in words), (code, told)

    @property
    def last_question(self) -> str:
        """What the model was asked, as it was sent."""
        return str(self.kernel.service.requests[-1].messages[-1]["content"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "returns.md").write_text("# Returns\nGoods come back in thirty days.")
    return tmp_path


@pytest.fixture
def service() -> Iterator[FakeService]:
    with FakeService() as running:
        yield running


def seated(service: FakeService, folder: Path) -> Person:
    kernel = LiveKernel(service, folder)
    person = Person(kernel)
    person.do("%load_ext cellwright")
    return person


def cell(code: str, name: str = "call_1") -> Answer:
    return tool_call("run_cell", {"code": code}, id=name)


def first_runs(person: Person) -> list[str]:
    """Three questions, two of which begin like commands; the ids of their runs."""
    code = "import pandas as pd\nsales = pd.read_csv('sales.csv')\nlen(sales)"
    runs = []
    for prompt, script in (
        ("show the rows of sales.csv", (cell(code), text("Four rows."))),
        ("compare the two months", (text("June is more."),)),
        ("undo the log transform", (text("There is none."),)),
    ):
        person.ask(f"%agent --mode auto {prompt}", *script)
        assert person.last_question.startswith(prompt) or len(script) > 1
        runs.append(person.kernel.last_run.run_id)
    assert person.kernel.value("len(sales)") == "4"
    return runs


def look_at_runs(person: Person, runs: Sequence[str]) -> None:
    """Every command about runs, with every form of an id."""
    table = person.do("%agent runs")
    assert all(run in table for run in runs)
    first = runs[0]
    day, moment, tail = first.split("-")
    same_second = sum(run.startswith(f"{day}-{moment}") for run in runs) > 1
    forms = [first, f"{moment}-{tail}", first[: -len(tail) + 3], f"{day}-{moment}-{tail[:4]}"]
    forms += [tail] if any(letter.isdigit() for letter in tail) else []
    forms += [] if same_second else [f"{day}-{moment}", moment]
    for form in forms:
        assert "Four rows." in person.do(f"%agent /show {form}"), form
    assert "There is none." in person.do("%agent show last")
    undone = person.do(f"%agent undo {first}")
    if "as they were before run" in undone:  # else it names the variables, and why
        assert "and what followed" in person.do("%agent redo")
        person.ask("%agent go on", text("Going on."))
        person.paid -= 1  # what follows is counted without it
        assert f"I have redone run {first}" in person.last_question
    else:
        assert "sales" in undone
    assert first in person.do(f"%agent export {moment}-{tail} --to html")
    assert "next cell" in person.do(f"%agent cells {first}")
    person.do("%agent usage")
    person.do("%agent usage by model")
    person.do("%agent doctor")
    person.do("%agent context")
    assert "no differences" in person.do(f"%agent replay {first}")


def slip_over_commands(person: Person) -> None:
    """What was typed in a hurry."""
    person.slip("%agent showw last", "Did you mean %agent show last", "%agent -- showw last")
    person.slip("%agent show lats", "Did you mean %agent show last")
    person.slip("%agent runs foo bar", "/runs [N]")
    person.slip("%agent memory forget zzz", "/memory forget ID")
    person.slip("%agent /exprot last", "Did you mean /export")
    person.slip("%agent export last --to pdf", "invalid choice: 'pdf'")
    person.slip("%agent /show 20200101-000000-abcdef", "There is no run")
    person.slip("%agent --mode auto runs", "Options of a question")
    person.slip("%%agent /show last\nas a table", "takes no text below it")
    person.slip("%%agent sales_typo -> n: int\nHow many rows?", "Did you mean 'sales'?")
    person.ask("%agent -- showw last", text("I cannot show it."))
    assert person.last_question.startswith("showw last")


def leave_words(person: Person) -> None:
    """Notes and instructions, and the questions that only begin like them."""
    assert "Noted" in person.do("%agent /later The unit is euros.")
    assert "Noted" in person.do("%agent /prompt --append Answer in one line.")
    person.ask("%agent later rows look odd", text("They do."))
    assert person.last_question.startswith("The unit is euros.\nlater rows look odd")
    person.ask("%agent prompt the user for a file name", text("Which file?"))
    assert person.last_question.startswith("prompt the user for a file name")
    assert "Answer in one line." in person.do("%agent prompt")
    person.do("%agent prompt clear")
    assert "Noted" in person.do("%%agent /later\nTwo lines\nof a note.")
    person.ask("%%agent\nshow last\nand explain it", text("Explained."))
    assert "Two lines\nof a note.\nshow last\nand explain it" in person.last_question


def remember_and_look_up(person: Person) -> None:
    """The memory and the library."""
    kept = person.do("%agent /memory add I prefer polars")
    found = re.search(r"Kept as (\w+)", kept)
    assert found is not None
    assert found[1] in person.do("%agent memory")
    assert "Changed" in person.do(f"%agent /memory edit {found[1][:5]} I prefer pandas")
    person.slip("%agent memory add I prefer nothing", "/memory add [--project] TEXT")
    assert "Forgotten" in person.do(f"%agent memory forget {found[1]}")
    person.do("%agent library add docs/")
    assert "thirty days" in person.do("%agent /library search goods back")
    person.slip("%agent library search goods back", "/library search TEXT")


def change_who_answers(person: Person, folder: Path) -> None:
    """Assistants, one of them with a mistake in its file."""
    write_assistant(folder, "reviewer", 'instructions = "Check the units first."')
    assert "reviewer" in person.do("%agent assistant list")
    person.ask("%agent @reviewer check it", text("Checked."))
    system = str(person.kernel.service.requests[-1].messages[0]["content"])
    assert system.endswith("Check the units first.")
    write_assistant(folder, "reviewer", 'tols = ["read_*"]')
    person.slip("%agent @reviewer check it", "reviewer.toml: tols", "did you mean 'tools'")
    person.slip("%agent -a reviewer check it", "reviewer.toml: tols")
    person.slip("%agent assistant shwo reviewer", "Did you mean %agent assistant show reviewer")
    (folder / ".cellwright" / "assistants" / "reviewer.toml").unlink()


def manage_the_chat(person: Person) -> str:
    """Pins, titles and the chat's id."""
    assert "pinned" in person.do("%agent pin 1")
    assert "show the rows" in person.do("%agent pin list")
    assert "pinned" in person.do("%agent unpin all")
    listed = person.do("%agent chats")
    found = re.search(r"(\w{16}) \*", listed)
    assert found is not None
    assert "'Sales'" in person.do(f"%agent /chats rename {found[1][:6]} Sales")
    assert "Sales" in person.do("%agent /chats find odd")
    return found[1]


def ask_another_model(person: Person, run: str) -> None:
    """A rerun is paid for, a rerun without a model is not."""
    person.slip(f"%agent rerun {run}", "-m/--model")
    code = "import pandas as pd\nsales = pd.read_csv('sales.csv')\nlen(sales)"
    person.ask(f"%agent rerun {run} -m other", cell(code), text("Four."))
    assert person.kernel.last_run.source_run == run


def test_an_hour_of_questions_commands_and_slips_costs_what_was_asked(
    service: FakeService, folder: Path
) -> None:
    person = seated(service, folder)
    try:
        runs = first_runs(person)
        assert person.paid == 4
        look_at_runs(person, runs)
        slip_over_commands(person)
        assert person.paid == 5
        leave_words(person)
        assert person.paid == 8
        remember_and_look_up(person)
        change_who_answers(person, folder)
        assert person.paid == 9
        chat = manage_the_chat(person)
        ask_another_model(person, runs[0])
        assert person.paid == 11
    finally:
        person.kernel.close()

    back = seated(service, folder)
    try:
        assert "'Sales' goes on" in back.do(f"%agent resume {chat[:8]}")
        back.ask("%agent resume training", text("Nothing is trained."))
        history = str(service.requests[-1].messages)
        assert "undo the log transform" in history
        assert "There is none." in history
        assert "starts anew" in back.do("%agent reset")
        assert back.paid == 1
    finally:
        back.kernel.close()
