"""The same consents from every face; replays, reruns and benchmarks as if nothing lay there."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell
from fake_service import FakeService, text
from fakes import FakeKernel
from project.conftest import Project
from scripted_model import ScriptedLM, calls, says
from traitlets.config import Config

from cellwright.errors import SetupError
from cellwright.knowledge.project.source import READ_SKILL
from cellwright.llm.keys import KeyPlaces
from cellwright.mcp_server.outside_agent import own_sources
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.server.configuration import Cellwright
from cellwright.server.service_choice import ServiceChooser
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import replay, rerun
from cellwright.session.services import ModelService
from cellwright.settings import from_env
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

RULES = "Round to one decimal."
HEAD = "name: pdf\ndescription: Reads PDF files."


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A project's folder and a record of its own."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    (folder / "AGENTS.md").write_text(RULES)
    home = str(tmp_path / "home")
    return Shell(folder, {"CELLWRIGHT_HOME": home, "HOME": home, "CELLWRIGHT_OLLAMA": "off"})


def allow_all(shell: Shell) -> list[Any]:
    """Agree to what there is, as the user of a terminal does."""
    for row in shell.run("instructions", "--json").document["texts"]:
        assert shell.run("instructions", "allow", row["id"]).code == 0
    return list(shell.run("instructions", "--json").document["texts"])


def test_a_terminal_lists_shows_allows_and_refuses(shell: Shell) -> None:
    shown = shell.run("instructions").out
    assert RULES in shown
    assert str(shell.folder / "AGENTS.md") in shown
    (row,) = allow_all(shell)
    assert (row["state"], row["kind"]) == ("used", "instructions")
    assert RULES in shell.run("instructions", "show", row["id"]).out
    assert shell.run("instructions", "refuse", row["id"]).code == 0
    assert shell.run("instructions", "list", "--json").document["texts"][0]["state"] == "refused"
    missing = shell.run("instructions", "allow", "00000000")
    assert missing.code == 2
    assert row["id"] in missing.err


def test_guests_have_nothing_to_agree_to(shell: Shell) -> None:
    guest = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_GUEST": "yes"})
    assert guest.run("instructions").code == 2


@pytest.mark.kernel
def test_a_command_sends_what_was_allowed_and_a_benchmark_never_does(shell: Shell) -> None:
    allow_all(shell)
    examples = Path(__file__).parents[2] / "examples" / "bench"
    shutil.copytree(examples, shell.folder / "tasks")
    with FakeService(text("Nothing to do.")) as service:
        asking = shell.asking(service)
        assert asking.run("run", "How much?", "--mode", "plan").code == 0
        assert RULES in json.dumps(service.requests[-1].body)
        service.requests.clear()
        done = asking.run("bench", "run", "tasks", "-o", "out", "--python", sys.executable)
        assert done.code == 0, done.err
        assert service.requests
        sent = json.dumps([request.body for request in service.requests])
        assert RULES not in sent
        assert READ_SKILL not in sent


@pytest.fixture
def place(project: Project) -> RunContext:
    store = RunStore(project.database)
    return RunContext(FakeKernel(), store, Redactor({}), "cli", sources=(project.source(),))


def ask(place: RunContext, *made: tuple[str, dict[str, Any]]) -> RunRecord:
    conversation = Conversation(place)
    script = [calls(*made), says("Done.")] if made else [says("Done.")]
    list(conversation.ask(RunRequest("Go.", Parameters("m"), mode="auto"), ScriptedLM(script)))
    return place.store.record(conversation.last_run_id)


def newest(place: RunContext) -> RunRecord:
    assert isinstance(place.store, RunStore)
    return place.store.record(place.store.last_started)


def results(record: RunRecord) -> str:
    return "\n".join(str(message) for message in record.messages)


def offered(record: RunRecord) -> set[str]:
    return {manifest.name for manifest in record.tools}


def test_a_replay_has_what_was_recorded_and_not_what_lies_there_now(
    project: Project, place: RunContext
) -> None:
    project.write("AGENTS.md", RULES)
    path = project.skill("pdf", HEAD, "Open it first.")
    project.agree_to_all()
    record = ask(place, (READ_SKILL, {"name": "pdf"}))
    assert "Open it first." in results(record)
    path.unlink()
    project.write("AGENTS.md", "Round to ten decimals.")
    project.agree_to_all()
    list(replay(record, replace(place, kernel=FakeKernel(), lane="replay")))
    again = newest(place)
    assert again.run_id != record.run_id
    assert "Open it first." in results(again)
    assert RULES in results(again)
    assert "ten decimals" not in results(again)


def test_a_rerun_has_skills_only_where_the_run_had_some(
    project: Project, place: RunContext
) -> None:
    record = ask(place)
    project.write("AGENTS.md", RULES)
    project.skill("pdf", HEAD, "Open it first.")
    project.agree_to_all()
    list(rerun(record, place, ModelService(ScriptedLM([says("Again.")]), "o")))
    assert READ_SKILL not in offered(newest(place))
    assert RULES not in results(newest(place))
    record = ask(place, (READ_SKILL, {"name": "pdf"}))
    other = ScriptedLM([calls((READ_SKILL, {"name": "pdf"})), says("Again.")])
    list(rerun(record, place, ModelService(other, "o")))
    assert READ_SKILL in offered(newest(place))
    assert results(newest(place)).count("Open it first.") == 1


def test_an_agent_of_others_has_files_of_its_own(project: Project) -> None:
    assert own_sources((project.source(),)) == ()


def test_an_administrator_switches_both_off(tmp_path: Path) -> None:
    def setting(is_allowed: bool, environ: dict[str, str]) -> bool:
        config = Config({"Cellwright": {"home": str(tmp_path), "project_files": is_allowed}})
        keys = KeyPlaces(tmp_path / "service.json", lambda: None)
        return ServiceChooser(Cellwright(config=config), environ, keys).settings().project_files

    assert setting(True, {})
    assert not setting(False, {"CELLWRIGHT_PROJECT_FILES": "yes"})
    assert not setting(True, {"CELLWRIGHT_PROJECT_FILES": "no"})


def test_the_setting_is_yes_or_no() -> None:
    assert from_env({}).project_files
    assert not from_env({"CELLWRIGHT_PROJECT_FILES": "No"}).project_files
    with pytest.raises(SetupError, match="CELLWRIGHT_PROJECT_FILES"):
        from_env({"CELLWRIGHT_PROJECT_FILES": "maybe"})
