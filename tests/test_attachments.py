import base64
import hashlib
import io
import os
from pathlib import Path

import pytest
from PIL import Image

from cellwright.errors import SetupError
from cellwright.record.attachments import HASH_LIMIT_BYTES, attach, human_size, pictures_of


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


def picture(size: tuple[int, int] = (40, 30), kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, kind)
    return buffer.getvalue()


def test_002_49_a_picture_is_described_for_a_model_that_does_not_see(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(picture())
    (found,) = attach(("photo.png",), tmp_path)
    assert (found.mime, found.preview) == ("image/png", "[image/png 40x30]")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_002_49_each_picture_is_a_part_with_its_name_and_size(tmp_path: Path, count: int) -> None:
    names = tuple(f"photo{number}.png" for number in range(count))
    for name in names:
        (tmp_path / name).write_bytes(picture())
    size = human_size(len(picture()))
    parts = pictures_of(names, tmp_path)
    assert [part.caption for part in parts] == [
        f"[picture {name}: image/png 40x30, {size}]" for name in names
    ]
    assert all(base64.b64decode(part.data) == picture() for part in parts)


def test_002_49_a_picture_keeps_the_name_that_the_person_gave_it(tmp_path: Path) -> None:
    (tmp_path / "0a1b.jpg").write_bytes(picture(kind="JPEG"))
    (part,) = pictures_of(("0a1b.jpg",), tmp_path, ("C:/photos/Sunday.jpg",))
    assert part.caption.startswith("[picture Sunday.jpg: image/jpeg 40x30, ")


def test_002_49_only_pictures_are_sent_as_pictures(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7 ...")
    (tmp_path / "no_picture.png").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "picture.csv").write_bytes(picture())
    names = ("report.pdf", "no_picture.png", "empty.png", "picture.csv", "gone.png")
    (part,) = pictures_of(names, tmp_path)
    assert part.caption.startswith("[picture picture.csv: image/png 40x30")
    kinds = [found.mime for found in attach(names[:4], tmp_path)]
    assert kinds == ["application/pdf", "text/plain", "application/x-empty", "image/png"]


def test_002_49_a_picture_that_is_cut_off_is_still_described(tmp_path: Path) -> None:
    (tmp_path / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\nIHDR")
    assert attach(("cut.png",), tmp_path)[0].preview == "[image/png]"
    assert pictures_of(("cut.png",), tmp_path) == ()


def test_what_is_no_file_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SetupError) as refused:
        attach(("pipe", "folder"), tmp_path)
    assert "'pipe' (it is no plain file), 'folder' (it is a folder)" in str(refused.value)
    assert pictures_of(("pipe", "folder"), tmp_path) == ()
    with pytest.raises(SetupError, match="%agent library add ADDRESS"):
        attach(("https://example.org/a.csv",), tmp_path)
