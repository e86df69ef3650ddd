"""An afternoon in mode auto: computing runs, deleting and installing waits for a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fake_service import FakeService, text, tool_call

from cellwright.agent.policy import ApprovalAnswer
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import ToolStarted
from cellwright.record.messages import Parameters, text_of
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

WAYS = (
    "print('begun')\nfrom os import remove\nremove('kept.csv')",
    "print('begun')\nfrom shutil import rmtree as r\nr('kept')",
    "print('begun')\n%rm kept.csv",
    "rm kept.csv",
    "%%bash\necho begun\nrm kept.csv",
    "print('begun')\nimport os as o\no.replace('other.csv', 'kept.csv')",
    "print('begun')\nfrom pathlib import Path\nfor p in Path('.').glob('k*'):\n    p.rename('x')",
    "print('begun')\nimport subprocess as s\ns.run(['mv', 'other.csv', 'kept.csv'])",
    "print('begun')\nimport pip\npip.main(['install', '--no-index', 'nothing-of-this-name'])",
    "print('begun')\nimport importlib\nimportlib.import_module('ensurepip').bootstrap()",
)
UNASKED = (
    "import os, pandas as pd\nfrom pathlib import Path\nsales = pd.read_csv('kept.csv')",
    "sales = sales.rename(columns={'a': 'b'}).replace(1, 2).drop(index=0)\nlen(sales)",
    "open('made.txt', 'w').write('made'); os.listdir('.'); Path('made.txt').read_text()",
    "%timeit -n 1 -r 1 sales.sum()",
)


def is_as_it_was(folder: Path) -> bool:
    kept = folder / "kept.csv"
    return kept.exists() and kept.read_text() == "a\n1\n2\n" and (folder / "kept").is_dir()


@dataclass
class Person:
    """Says the same to everything, and writes down what the disk was like when it was asked."""

    folder: Path
    allows: bool = False
    asked: list[str] = field(default_factory=list)
    was_there: list[bool] = field(default_factory=list)

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        self.asked.append(reason)
        self.was_there.append(is_as_it_was(self.folder))
        return ApprovalAnswer(self.allows, reason="" if self.allows else "keep it")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "folder"
    (place / "kept").mkdir(parents=True)
    (place / "kept.csv").write_text("a\n1\n2\n")
    (place / "other.csv").write_text("b\n")
    return place


@pytest.fixture
def kernel(folder: Path) -> Iterator[FreshKernel]:
    with start_kernel(cwd=str(folder)) as started:
        yield started


def ask(
    kernel: FreshKernel, codes: tuple[str, ...], person: Person | None, home: Path
) -> RunRecord:
    database = open_database(home / "runs.sqlite")
    store = RunStore(database)
    conversation = Conversation(RunContext(kernel, store, Redactor({}), "cli", approver=person))
    script = [*(tool_call("run_cell", {"code": code}) for code in codes), text("Done.")]
    with FakeService(script) as service:
        question = RunRequest("Tidy up.", Parameters("scripted"), mode="auto")
        list(conversation.ask(question, OpenAILM(service.settings())))
    record = store.record(conversation.last_run_id)
    database.close()
    return record


def test_every_way_to_delete_or_install_waits_for_the_person(
    kernel: FreshKernel, folder: Path, tmp_path: Path
) -> None:
    person = Person(folder)
    assert len(ask(kernel, UNASKED, person, tmp_path / "home").cells) == len(UNASKED)
    assert not person.asked
    assert (folder / "made.txt").read_text() == "made"

    for way in WAYS:
        record = ask(kernel, (way,), person, tmp_path / "home")
        assert not record.cells, way
    assert len(person.asked) == len(WAYS)
    assert all(person.was_there), "something ran before the person had answered"
    assert is_as_it_was(folder)


def test_what_the_person_allows_is_done(kernel: FreshKernel, folder: Path, tmp_path: Path) -> None:
    ask(kernel, WAYS[:1], Person(folder, allows=True), tmp_path / "home")
    assert not (folder / "kept.csv").exists()


def test_where_nobody_can_be_asked_nothing_is_deleted_and_the_model_is_told(
    kernel: FreshKernel, folder: Path, tmp_path: Path
) -> None:
    for way in WAYS:
        record = ask(kernel, (way,), None, tmp_path / "home")
        told = [text_of(message) for message in record.messages if message.role == "tool"]
        assert "Nobody can be asked here" in told[-1], way
    assert is_as_it_was(folder)
