"""Where files of assistants may be written, and what is said where they may not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from assistant_files import write_assistant

from cellwright.assistants.editing import (
    bind_tool,
    change_assistant,
    create_assistant,
    delete_assistant,
    new_assistant,
)
from cellwright.assistants.files import read_assistant
from cellwright.assistants.writing import is_writable
from cellwright.errors import SetupError


def test_a_link_that_leads_out_of_the_folder_is_not_written(tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text("")
    folder = tmp_path / "project" / ".cellwright" / "assistants"
    folder.mkdir(parents=True)
    link = folder / "link.toml"
    link.symlink_to(outside)
    for change in (
        lambda: change_assistant(link, {"model": "x"}),
        lambda: change_assistant(link, {"model": "x"}, name="other"),
    ):
        with pytest.raises(SetupError, match="is a link that leads out of its folder"):
            change()
    assert outside.read_text() == ""
    delete_assistant(link)
    assert (outside.exists(), list(folder.iterdir())) == (True, [])


def test_a_link_beside_its_file_stays_one(tmp_path: Path) -> None:
    path = write_assistant(tmp_path, "analyst")
    link = path.with_name("link.toml")
    link.symlink_to("analyst.toml")
    change_assistant(link, {"model": "x"})
    assert link.is_symlink()
    assert path.read_text() == 'model = "x"\n'


def test_a_folder_that_leads_out_of_the_project_is_not_written_into(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    file = write_assistant(outside, "there")
    project.mkdir()
    (project / ".cellwright").symlink_to(outside / ".cellwright")
    folder = project / ".cellwright" / "assistants"
    for change in (
        lambda: new_assistant(project, "x"),
        lambda: change_assistant(folder / "there.toml", {"model": "x"}),
        lambda: delete_assistant(folder / "there.toml"),
    ):
        with pytest.raises(SetupError, match="leads out of its project"):
            change()
    assert (file.read_text(), list(file.parent.iterdir())) == ("", [file])
    assert not is_writable(folder)


def test_a_persons_own_folder_may_be_a_link(tmp_path: Path) -> None:
    kept, own = tmp_path / "dotfiles", tmp_path / "home" / "assistants"
    kept.mkdir()
    own.parent.mkdir()
    own.symlink_to(kept)
    create_assistant(own, "mine", {})
    assert (kept / "mine.toml").is_file()
    assert is_writable(own)


def test_places_that_can_be_written_to_are_known(tmp_path: Path) -> None:
    assert is_writable(tmp_path / "a" / ".cellwright" / "assistants")
    (tmp_path / "file").write_text("")
    assert not is_writable(tmp_path / "file" / "assistants")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_read_only_folder_is_told_with_what_to_do(tmp_path: Path) -> None:
    assistant = read_assistant(write_assistant(tmp_path, "analyst", 'tools = ["a"]'))
    assistant.file.parent.chmod(0o500)
    try:
        for change in (
            lambda: new_assistant(tmp_path, "other"),
            lambda: bind_tool(assistant, "plot"),
            lambda: delete_assistant(assistant.file),
        ):
            with pytest.raises(SetupError, match="Permission denied. Allow writing to it and"):
                change()
    finally:
        assistant.file.parent.chmod(0o700)
    assistant.file.chmod(0o400)
    with pytest.raises(SetupError, match="it is read-only. Allow writing to it and"):
        bind_tool(assistant, "plot")
    with pytest.raises(SetupError, match="it is read-only"):
        delete_assistant(assistant.file)
    assert read_assistant(assistant.file) == assistant


def test_what_would_make_the_file_too_large_is_not_written(tmp_path: Path) -> None:
    path = write_assistant(tmp_path, "large", "#" * 65_000)
    with pytest.raises(SetupError, match="more than 64 kB"):
        change_assistant(path, {"instructions": "i" * 4_000})
    assert path.stat().st_size == 65_000
