"""Skills: what the published specification says, and how a model gets at them step by step.

Specification: agentskills.io/specification; how clients do it: agentskills.io, "How to add skills
support to your agent"; both as of 2026-08-09 (repository agentskills/agentskills, 69ef37e).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import make_context
from project.conftest import Project, turn, words_of

from cellwright.assistants import Assistant
from cellwright.context.turn_sources import SourceQuestion
from cellwright.errors import SetupError, ToolError
from cellwright.knowledge.project import OfferedText
from cellwright.knowledge.project.skills import read_front_matter, skill_complaints
from cellwright.knowledge.project.source import READ_SKILL, ProjectSource
from cellwright.record.content import ComponentOutput

HEAD = "name: pdf\ndescription: Reads PDF files. Use it for PDFs."


def only(project: Project) -> OfferedText:
    (found,) = project.offered.texts
    return found


def read(source: ProjectSource, run_id: str = "run", **arguments: Any) -> str:
    """What the model gets of a call."""
    (tool,) = source.components()
    context = replace(make_context(), run_id=run_id)
    (output,) = tool.tool_eval(context, **arguments)
    assert isinstance(output, ComponentOutput)
    return str(output.content[0].text["info"])


# The front matter: "YAML frontmatter followed by Markdown content".


def test_the_minimal_example_is_a_skill(project: Project) -> None:
    project.skill("pdf", HEAD, "# How\n\nOpen it.")
    item = only(project).item
    assert (item.name, item.description) == ("pdf", "Reads PDF files. Use it for PDFs.")
    assert item.text == "# How\n\nOpen it."
    assert item.notes == ()


def test_optional_fields_change_nothing_that_a_model_may_do(project: Project) -> None:
    more = "license: MIT\ncompatibility: Needs git\nmetadata:\n  author: me\n  name: other\n"
    project.skill("pdf", f"{HEAD}\n{more}allowed-tools: Bash(rm:*) Read")
    item = only(project).item
    assert (item.name, item.notes) == ("pdf", ())
    project.agree_to_all()
    assert "allowed" not in words_of(project.source().look_up(turn()))


@pytest.mark.parametrize("name", ["pdf-processing", "data-analysis", "code-review", "a", "ä1"])
def test_names_that_the_specification_calls_valid(name: str) -> None:
    assert list(skill_complaints(name, "d", name)) == []


@pytest.mark.parametrize(
    ("name", "folder", "word"),
    [
        ("PDF-Processing", "PDF-Processing", "lowercase"),
        ("pdf_processing", "pdf_processing", "lowercase"),
        ("-pdf", "-pdf", "hyphen"),
        ("pdf-", "pdf-", "hyphen"),
        ("pdf--processing", "pdf--processing", "hyphen"),
        ("a" * 65, "a" * 65, "64"),
        ("pdf", "files", "folder"),
        ("", "pdf", "no name"),
    ],
)
def test_names_that_it_refuses_are_told_and_used_all_the_same(
    project: Project, name: str, folder: str, word: str
) -> None:
    project.skill(folder, f"name: {name}\ndescription: d")
    item = only(project).item
    assert any(word in note for note in item.notes)
    assert item.name == (name[:64] or folder)


def test_a_description_has_at_most_1024_characters(project: Project) -> None:
    project.skill("pdf", f"name: pdf\ndescription: {'d' * 1024}")
    assert only(project).item.notes == ()
    project.skill("pdf", f"name: pdf\ndescription: {'d' * 1025}")
    assert len(only(project).item.description) == 1024
    assert "1,024" in only(project).item.notes[0]


@pytest.mark.parametrize("head", ["name: pdf", "name: pdf\ndescription:", 'description: ""'])
def test_a_skill_without_a_description_is_none(project: Project, head: str) -> None:
    project.skill("pdf", head)
    assert project.offered.texts == ()
    assert "description" in project.offered.problems[0]


@pytest.mark.parametrize("text", ["# Only Markdown", "---\nname: pdf\ndescription: d\n", "", "---"])
def test_a_file_without_front_matter_is_a_problem(project: Project, text: str) -> None:
    project.write(".agents/skills/pdf/SKILL.md", text)
    assert project.offered.texts == ()
    assert len(project.offered.problems) == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Use this when: it is a PDF", "Use this when: it is a PDF"),
        ("'It''s: quoted'", "It's: quoted"),
        (r'"Say \"hi\": \u00e4 # no comment"  # comment', 'Say "hi": ä # no comment'),
        ("plain # comment", "plain"),
        ("C# and F#", "C# and F#"),
        (">-\n  one\n  two\n\n  three", "one two\n\nthree"),
        (">\n    deeper\n    lines", "deeper lines"),
        ("|\n  one\n  two", "one\ntwo"),
        ("first\n  second: with a colon", "first second: with a colon"),
        ('"over\n  two lines"', "over two lines"),
        ('Fill `description: ""` fields', 'Fill `description: ""` fields'),
        ("用于：处理 PDF", "用于：处理 PDF"),
    ],
)
def test_the_forms_that_descriptions_are_written_in(written: str, meant: str) -> None:
    matter = read_front_matter(f"---\nname: pdf\ndescription: {written}\nversion: 1\n---\nbody")
    assert matter.fields["description"] == meant
    assert (matter.fields["name"], matter.body) == ("pdf", "body")


def test_a_rule_in_the_text_ends_nothing() -> None:
    matter = read_front_matter("\ufeff---\r\nname: pdf\r\n---\r\none\n\n---\n\ntwo\n")
    assert matter.body == "one\n\n---\n\ntwo"


# Where skills are looked for: "subdirectories containing a file named exactly SKILL.md".


def test_skills_of_the_project_its_parents_and_the_home_are_found(project: Project) -> None:
    places = {
        "one": project.folder / ".agents/skills",
        "two": project.root / ".claude/skills",
        "three": project.root / ".cellwright/skills",
        "four": project.home / ".agents/skills",
        "five": project.home / ".claude/skills",
        "six": project.home / ".cellwright/skills",
    }
    for name, place in places.items():
        project.skill(name, f"name: {name}\ndescription: d", at=str(place))
    project.write(".agents/skills/README.md", "no skill")
    project.write(".agents/skills/.git/SKILL.md", f"---\n{HEAD}\n---")
    project.skill("seven", "name: seven\ndescription: d", at=".agents/skills/group")
    found = {each.item.name: each.state for each in project.offered.texts}
    assert set(found) - {"pdf"} == {*places, "seven"}
    assert [name for name, state in found.items() if state == "used"] == ["six"]


def test_one_skill_in_two_places_is_one(project: Project) -> None:
    project.skill("pdf", HEAD)
    (project.root / ".claude/skills").mkdir(parents=True)
    (project.root / ".claude/skills/pdf").symlink_to("../../.agents/skills/pdf")
    assert only(project).item.folder == project.root / ".agents/skills/pdf"


def test_the_projects_skill_counts_more_once_it_is_agreed_to(project: Project) -> None:
    project.skill("pdf", HEAD, "Mine.", at=str(project.home / ".cellwright/skills"))
    project.skill("pdf", HEAD, "Theirs.")
    assert [item.text for item in project.offered.used("skill")] == ["Mine."]
    project.agree_to_all()
    assert [item.text for item in project.offered.used("skill")] == ["Theirs."]


def test_skills_of_the_home_are_listed_and_not_asked_about(project: Project) -> None:
    project.skill("pdf", HEAD, at=str(project.home / ".claude/skills"))
    assert project.source().look_up(turn()).notices == ()
    assert only(project).state == "asked"


# Progressive disclosure: name and description, then the body, then files as needed.


@pytest.fixture
def source(project: Project) -> ProjectSource:
    """A project with one skill that has a few files, agreed to."""
    project.skill("pdf", HEAD, "Read references/forms.md first.")
    project.write(".agents/skills/pdf/references/forms.md", "Forms have fields.")
    project.write(".agents/skills/pdf/scripts/fill.py", "print('filled')")
    (project.root / ".agents/skills/pdf/logo.png").write_bytes(b"\x89PNG\xff\x00")
    project.agree_to_all()
    return project.source()


def test_a_skill_is_disclosed_step_by_step(source: ProjectSource) -> None:
    told = words_of(source.look_up(turn()))
    assert "pdf: Reads PDF files. Use it for PDFs." in told
    assert "references" not in told
    body = read(source, name="pdf")
    assert body.startswith("Read references/forms.md first.")
    assert "references/forms.md, scripts/fill.py" in body
    assert "fields" not in body
    assert read(source, name="pdf", file="references/forms.md") == "Forms have fields."
    assert read(source, name="pdf", file="./scripts/../scripts/fill.py") == "print('filled')"


def test_without_skills_there_is_no_list_and_no_tool(project: Project) -> None:
    project.skill("pdf", HEAD)
    source = project.source()
    assert source.look_up(turn()).blocks == ()
    assert source.components() == ()


@pytest.mark.parametrize(
    "file",
    ["../other/SKILL.md", "/etc/passwd", "key", "deep/key", "references", "no.md", "logo.png"],
)
def test_paths_are_confined_to_the_skills_folder(
    project: Project, source: ProjectSource, file: str
) -> None:
    folder = project.root / ".agents/skills/pdf"
    (project.root / "key").write_text("secret")
    (folder / "key").symlink_to(project.root / "key")
    (folder / "deep").symlink_to(project.root)
    project.agree_to_all()
    source.look_up(turn())
    with pytest.raises(ToolError):
        read(source, name="pdf", file=file)


@pytest.mark.parametrize("changed", ["SKILL.md", "scripts/fill.py", "scripts/new.py"])
def test_any_change_of_its_folder_is_asked_about(
    project: Project, source: ProjectSource, changed: str
) -> None:
    source.look_up(turn())
    path = project.root / ".agents/skills/pdf" / changed
    before = path.read_text() if path.exists() else ""
    path.write_text(f"{before}# more")
    assert only(project).state == "asked"
    found = project.source().look_up(turn(said=lambda: ""))
    assert found.blocks == ()
    assert len(found.notices) == 1
    if before:
        with pytest.raises(ToolError, match="changed"):
            read(source, name="pdf", file=changed)


def test_only_runs_that_were_told_of_a_skill_read_it(source: ProjectSource) -> None:
    source.look_up(turn())
    source.look_up(turn(run_id="guest", is_guest=True))
    for run in ("guest", "another"):
        with pytest.raises(ToolError, match="no skill"):
            read(source, run, name="pdf")
    with pytest.raises(ToolError, match="There are: pdf"):
        read(source, name="pfd")
    assert source.tool_sources(is_guest=True) == ()


@pytest.mark.parametrize(
    "who",
    [
        turn(assistant=Assistant("a", tools=("run_cell",))),
        turn(assistant=Assistant("a", library=())),
        turn(is_guest=True),
    ],
)
def test_an_assistant_that_may_not_read_is_told_of_none(
    source: ProjectSource, who: SourceQuestion
) -> None:
    assert source.look_up(who).blocks == ()
    with pytest.raises(ToolError):
        read(source, name="pdf")


def test_a_skill_that_wants_to_be_called_by_people_alone_is_not_offered(project: Project) -> None:
    project.skill("pdf", f"{HEAD}\ndisable-model-invocation: true")
    project.agree_to_all()
    assert project.source().look_up(turn()).blocks == ()


def test_a_long_skill_is_cut_and_can_be_read_on(project: Project) -> None:
    project.skill("pdf", HEAD, "line\n" * 20_000)
    project.agree_to_all()
    source = project.source()
    source.look_up(turn())
    body = read(source, name="pdf")
    assert len(body) < 30_000
    assert 'read_output("pdf"' in body


def test_many_skills_take_a_bounded_list_that_has_every_name(project: Project) -> None:
    for number in range(150):
        project.skill(f"s{number}", f"name: s{number}\ndescription: {'long ' * 200}")
    project.agree_to_all()
    told = words_of(project.source().look_up(turn()))
    assert all(f"s{number}: long" in told for number in range(150))
    assert len(told) < 20_000


def test_a_file_that_is_gone_or_outside_is_no_skill(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text(f"---\n{HEAD}\n---\nbody")
    (project.root / ".agents/skills").mkdir(parents=True)
    (project.root / ".agents/skills/pdf").symlink_to(elsewhere)
    assert project.offered.texts == ()
    assert len(project.offered.problems) == 1


def test_the_tool_is_a_reading_one(source: ProjectSource) -> None:
    (tool,) = source.components()
    assert (tool.name, tool.risk) == (READ_SKILL, "read")
    (manifest,) = tool.tool_manifests()
    assert set(manifest.parameters["properties"]) == {"name", "file"}


def test_what_was_read_before_is_not_read_when_it_was_swapped(
    project: Project, source: ProjectSource
) -> None:
    item = only(project).item
    project.write(".agents/skills/pdf/references/forms.md", "Other.")
    with pytest.raises(SetupError, match="changed"):
        item.read("references/forms.md")


def test_a_folder_that_is_full_of_files_is_not_walked_to_its_end(project: Project) -> None:
    project.skill("pdf", HEAD)
    for number in range(260):
        project.write(f".agents/skills/pdf/data/{number:03}.txt", "x")
    project.write(".agents/skills/pdf/node_modules/left.js", "x")
    project.write(".agents/skills/pdf/large.txt", "x" * 600_000)
    files = only(project).item.files
    assert 190 < len(files) <= 200
    assert "large.txt" not in files
    assert not any("node_modules" in name for name in files)
