"""Large texts in files named by what is in them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cellwright.store.event_rows import BlobFolder

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)


def unused() -> bool:
    return False


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(text=ANY_TEXT)
def test_any_text_comes_back(text: str, tmp_path: Path) -> None:
    folder = BlobFolder(tmp_path / "blobs")
    assert folder.get(folder.put(text)) == text


def test_the_same_text_is_stored_once_and_privately(tmp_path: Path) -> None:
    folder = BlobFolder(tmp_path / "blobs")
    assert folder.put("a") == folder.put("a")
    (file,) = (item for item in folder.folder.rglob("*") if item.is_file())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.folder.stat().st_mode) == 0o700


def test_a_changed_or_missing_file_is_not_taken_for_the_text(tmp_path: Path) -> None:
    folder = BlobFolder(tmp_path / "blobs")
    name = folder.put("true")
    (file,) = (item for item in folder.folder.rglob("*") if item.is_file())
    file.write_text("false")
    assert folder.get(name) is None
    folder.remove(name, unused)
    folder.remove(name, unused)
    assert folder.get(name) is None


def test_a_write_that_fails_leaves_no_half_file(tmp_path: Path) -> None:
    folder = BlobFolder(tmp_path / "blobs")
    name = folder.put("x")
    folder.remove(name, unused)
    (folder.folder / name[:2] / name).mkdir()
    (folder.folder / name[:2] / name / "in the way").write_text("")
    with pytest.raises(OSError, match=name):
        folder._write(folder.folder / name[:2] / name, b"x")
    assert [item.name for item in (folder.folder / name[:2]).iterdir()] == [name]


def test_a_text_that_is_used_again_while_it_is_deleted_stays(tmp_path: Path) -> None:
    folder = BlobFolder(tmp_path / "blobs")
    name = folder.put("x")
    folder.remove(name, lambda: True)
    assert folder.get(name) == "x"
    folder.remove(name, lambda: not folder.has(name))
    assert folder.get(name) == "x"
