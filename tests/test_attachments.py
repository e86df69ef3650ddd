import hashlib
from pathlib import Path

import pytest

from cellwright.attachments import HASH_LIMIT_BYTES, attach, human_size
from cellwright.errors import SetupError


def test_a_text_file_is_hashed_and_shown_by_its_first_lines(tmp_path: Path) -> None:
    data = "\ufeffa,b\n1,2\n3,4\n5,6\n".encode()
    (tmp_path / "t.csv").write_bytes(data)
    (found,) = attach(("t.csv",), tmp_path)
    assert found.name == "t.csv"
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.preview == "a,b\n1,2\n3,4"


@pytest.mark.parametrize("data", [b"\x89PNG\0\0abc", b"\xff\xfe\xfd\xfc" * 50])
def test_a_binary_file_has_no_preview(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.bin").write_bytes(data)
    assert attach(("t.bin",), tmp_path)[0].preview == ""


def test_a_file_outside_the_folder_keeps_its_full_path(tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "t.txt").write_text("x")
    assert attach((str(tmp_path / "t.txt"),), folder)[0].name == str(tmp_path / "t.txt")


def test_all_missing_files_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"'a\.csv'.*'b\.csv'") as caught:
        attach(("a.csv", "b.csv"), tmp_path)
    assert str(tmp_path) in caught.value.hint


def test_a_huge_file_is_described_without_being_read(tmp_path: Path) -> None:
    """Fault U6."""
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.write(b"a,b\n1,2\n")
        file.truncate(HASH_LIMIT_BYTES + 1)
    (found,) = attach(("huge.csv",), tmp_path)
    assert found.sha256 == ""
    assert found.size_bytes == HASH_LIMIT_BYTES + 1


@pytest.mark.parametrize(
    ("size", "text"),
    [(999, "999 bytes"), (12_345, "12.3 kB"), (5_000_000, "5.0 MB"), (7 * 10**15, "7000.0 TB")],
)
def test_sizes_read_well(size: int, text: str) -> None:
    assert human_size(size) == text
